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

/** How the gap falls: [[pass, gap], ...]; where the passes begin again, another solution is looked for. */
export function gapLine(points) {
  const seen = points.filter(([, gap]) => gap > 0).map(([pass, gap]) => [pass, Math.log10(gap)]);
  const logs = seen.map(([, log]) => log);
  const top = Math.ceil(Math.max(...logs));
  const bottom = Math.min(Math.floor(Math.min(...logs)), top - 1);
  const last = Math.max(2, ...seen.map(([pass]) => pass));
  const x = (pass) => 40 + 252 * (pass / last);
  const y = (log) => 8 + 68 * ((top - log) / (top - bottom));
  const step = Math.ceil((top - bottom) / 3);
  const ruled = Array.from({ length: Math.floor((top - bottom) / step) + 1 }, (_, k) => top - k * step).flatMap((log) => [
    drawn("line", { x1: 40, x2: 292, y1: y(log), y2: y(log), class: "grid" }),
    drawn("text", { x: 34, y: y(log) + 3, "text-anchor": "end" }, `1e${log}`)]);
  const runs = runsOf(seen);
  const lines = runs.map((run, k) => drawn("polyline", {
    points: run.map(([pass, log]) => `${x(pass).toFixed(1)},${y(log).toFixed(1)}`).join(" "),
    class: k === runs.length - 1 ? "falling last" : "falling",
  }));
  const [pass, log] = seen.at(-1);
  const label = `The distance to the best solution fell to ${(10 ** log).toPrecision(2)}`;
  return drawn("svg", { viewBox: "0 0 300 90", class: "gap", role: "img", "aria-label": label },
    ...ruled, ...lines, drawn("circle", { cx: x(pass), cy: y(log), r: 3.5, class: "dot" }));
}

function runsOf(points) {
  const runs = [];
  for (const point of points) {
    const run = runs.at(-1);
    if (run && run.at(-1)[0] < point[0]) run.push(point);
    else runs.push([point]);
  }
  return runs;
}
