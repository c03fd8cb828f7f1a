// Small drawings: an interval on a line, and a line that falls on a logarithmic scale.
import { drawn } from "./dom.js";

/** An estimate with its interval, between 0 and what would be the most. */
export function interval({ estimate, low, high }) {
  const most = Math.max(high * 1.15, 1);
  const at = (value) => `${2 + 96 * (value / most)}%`;
  return drawn("svg", { class: "interval", role: "img", "aria-label": `between ${Math.round(low)} and ${Math.round(high)}` },
    drawn("line", { x1: "2%", x2: "98%", y1: 9, y2: 9, class: "axis-line" }),
    drawn("line", { x1: at(low), x2: at(high), y1: 9, y2: 9, class: "range" }),
    drawn("circle", { cx: at(estimate), cy: 9, r: 5, class: "dot" }));
}

/** How the gap falls: [[pass, gap], ...]. */
export function gapLine(points) {
  const seen = points.filter(([, gap]) => gap > 0);
  if (seen.length < 2) return drawn("svg", { viewBox: "0 0 300 90", class: "gap", "aria-hidden": "true" });
  const logs = seen.map(([, gap]) => Math.log10(gap));
  const [top, bottom] = [Math.ceil(Math.max(...logs)), Math.min(Math.floor(Math.min(...logs)), Math.ceil(Math.max(...logs)) - 1)];
  const [first, last] = [seen[0][0], seen.at(-1)[0]];
  const x = (pass) => 40 + 252 * ((pass - first) / Math.max(1, last - first));
  const y = (log) => 8 + 68 * ((top - log) / (top - bottom));
  const decades = Array.from({ length: top - bottom + 1 }, (_, k) => bottom + k);
  const step = Math.ceil(decades.length / 4);
  const ruled = decades.filter((_, k) => k % step === 0).flatMap((log) => [
    drawn("line", { x1: 40, x2: 292, y1: y(log), y2: y(log), class: "grid" }),
    drawn("text", { x: 34, y: y(log) + 4, "text-anchor": "end" }, `1e${log}`)]);
  const path = seen.map(([pass], k) => `${x(pass).toFixed(1)},${y(logs[k]).toFixed(1)}`).join(" ");
  return drawn("svg", { viewBox: "0 0 300 90", class: "gap", role: "img", "aria-label": `The gap to the best solution fell to ${seen.at(-1)[1].toPrecision(2)}` },
    ...ruled, drawn("polyline", { points: path, class: "falling" }), drawn("circle", { cx: x(last), cy: y(logs.at(-1)), r: 3.5, class: "dot" }));
}
