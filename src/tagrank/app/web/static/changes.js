// What a training has changed.
import { address, count, element, figure, find, several, table, words } from "./dom.js";
import { measureName, ofHundred } from "./quality.js";

const MOST_NAMES = 40;
const MOST_TAGS = 8;

/** Fill the section; without changes it is not shown. */
export function showChanges(changes) {
  find("changes").hidden = !changes;
  if (!changes) return;
  const { model, before, quality, metrics, tags, gained, lost, new: added, gone } = changes;
  const models = before ? `Model ${model} compared with model ${before}` : `Model ${model}`;
  find("changes-line").textContent = `${models}: ${several(added, "new proposal")}, ${count(gone)} gone.`;
  find("changes-quality").replaceChildren(table(["", "Before", "After", ""], qualityRows(quality ?? {})));
  find("changes-on").hidden = !before;
  find("changes-metrics").replaceChildren(table(["Metric", "Before", "After", ""], metrics.map(metricRow)));
  const lists = [["First proposals", "found", gained], ["No longer proposed", "missed", lost]];
  const parts = lists.filter(([, , names]) => names?.length).map(([title, kind, names]) => chips(title, kind, names));
  find("changes-tags").replaceChildren(...parts, proposals(tags ?? []));
}

function qualityRows({ before, after }) {
  const right = after?.kind === "at least" ? "right at least" : "right";
  return [[`Of 100 predicted tags, ${right}:`, "right"], ["Of 100 true tags, predicted:", "found"]].map(([text, name]) => {
    const [old, now] = [before?.[name], after?.[name]].map(ofHundred);
    const change = Number(now) - Number(old);
    return [text, old, now, element("span", { class: "quiet" }, change ? `${change > 0 ? "+" : ""}${change}` : "")];
  });
}

function metricRow({ name, before, after }) {
  const difference = typeof before === "number" && typeof after === "number" ? after - before : 0;
  const size = Number.isInteger(difference) ? String(difference) : difference.toFixed(3);
  const change = difference === 0 ? "" : difference > 0 ? `+${size}` : size;
  return [measureName(name), figure(before), figure(after), element("span", { class: "quiet" }, change)];
}

function chips(title, kind, names) {
  const list = names.slice(0, MOST_NAMES).map((name) => element("li", { class: `tag ${kind}` }, words(name)));
  return element("div", { class: "chips" }, element("h4", {}, title), element("ul", { class: "tags" }, ...list));
}

function proposals(tags) {
  const change = ({ proposed_before, proposed_after }) => Math.abs(proposed_after - proposed_before);
  const moved = [...tags].sort((a, b) => change(b) - change(a)).slice(0, MOST_TAGS);
  if (!moved.length) return element("p", { class: "quiet" }, "The number of proposals did not change for any tag.");
  return table(["Proposals", "Before", "After"], moved.map(({ tag, proposed_before, proposed_after }) => {
    const wall = element("a", { href: address("/wall", { queue: "missing", tag }) }, words(tag));
    return [wall, count(proposed_before), count(proposed_after)];
  }));
}
