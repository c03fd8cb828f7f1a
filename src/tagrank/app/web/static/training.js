// How a training goes on, drawn while it runs, and what it changed.
import { ask, attempt, get, pause, post } from "./api.js";
import { gapLine } from "./charts.js";
import { count, element, figure, find, several, words } from "./dom.js";

let isWatching = false;
let lookNow = () => {};

/** Ask how it goes as long as it runs; `finished` is called when it has ended. */
export async function watchTraining({ finished = () => {} } = {}) {
  if (isWatching) return;
  isWatching = true;
  for (let ran = false, training = await get("/api/training"); ; training = await get("/api/training")) {
    show(training);
    const isRunning = training.state === "running";
    if (ran && !isRunning) finished(training);
    ran = isRunning;
    // while nothing runs a look now and then is enough: a training may begin by itself
    await Promise.race([pause(isRunning ? 0.4 : document.hidden ? 30 : 4), new Promise((resume) => { lookNow = resume; })]);
  }
}

export async function train(fresh) {
  await attempt(() => post("/api/training", { fresh }));
  lookNow();
}

function show(training) {
  const isRunning = training.state === "running";
  find("cancel").hidden = !isRunning;
  find("train").disabled = isRunning;
  if (find("fresh")) find("fresh").disabled = isRunning;
  const line = sentence(training);
  if (find("training-line").textContent !== line) find("training-line").textContent = line;
  if (!find("training-bar")) return;
  showBar(training, isRunning);
  find("gap").replaceChildren(...(training.gap?.some(([, gap]) => gap > 0) ? [gapLine(training.gap), element("p", { class: "quiet small" }, "How far the solution is from the best one")] : []));
  if (!isRunning) showChanges(training.changes);
}

function sentence({ state, what, seconds, error, due_in }) {
  const due = due_in === null || due_in === undefined ? "" : due_in > 0 ? ` Learns again after ${several(due_in, "more decision")}.` : " Learns again soon.";
  return {
    running: `Learning: ${what || "starting"} …`,
    failed: `The training failed: ${error ?? "no reason was given"}. Nothing else has changed.`,
    cancelled: `The training was cancelled; nothing has changed.${due}`,
    done: `Learned in ${Math.max(0.1, seconds ?? 0).toFixed(1)} s.${due}`,
  }[state] ?? due.trim();
}

function showBar({ done, of, seconds }, isRunning) {
  const share = of ? done / of : 0;
  find("training-bar").hidden = !isRunning;
  find("training-bar").setAttribute("aria-valuenow", String(Math.round(100 * share)));
  find("training-bar").setAttribute("aria-valuetext", `${Math.round(seconds ?? 0)} seconds, step ${done} of ${of}`);
  find("training-bar").firstElementChild.style.width = `${100 * share}%`;
}

function showChanges(changes) {
  find("changes").hidden = !changes;
  if (!changes) return;
  const { model, before, metrics, tags, gained, lost, new: added, gone } = changes;
  find("changes-line").textContent = `Model ${model}${before ? ` beside model ${before}` : ""}: ${several(added, "new proposal")}, ${count(gone)} gone.`;
  find("changes-metrics").replaceChildren(beforeAndAfter(metrics));
  const lists = [["First proposals", "found", gained], ["No longer proposed", "missed", lost]].filter(([, , names]) => names?.length);
  find("changes-tags").replaceChildren(...lists.map(([title, kind, names]) => chips(title, kind, names)), proposals(tags ?? []));
}

function beforeAndAfter(metrics) {
  return element("table", {}, element("thead", {}, element("tr", {}, ...["Measure", "Before", "After", ""].map((name) => element("th", { scope: "col" }, name)))),
    element("tbody", {}, ...metrics.map(({ name, before, after }) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, figure(before)), element("td", {}, figure(after)), change(before, after)))));
}

function change(before, after) {
  const difference = typeof before === "number" && typeof after === "number" ? after - before : 0;
  const sign = difference > 0 ? "+" : "";
  return element("td", { class: "quiet" }, difference === 0 ? "" : `${sign}${Number.isInteger(difference) ? difference : difference.toFixed(3)}`);
}

function chips(title, kind, names) {
  return element("div", { class: "chips" }, element("h4", {}, title), element("ul", { class: "tags" }, ...names.slice(0, 40).map((name) => element("li", { class: `tag ${kind}` }, words(name)))));
}

function proposals(tags) {
  const moved = [...tags].sort((a, b) => Math.abs(b.proposed_after - b.proposed_before) - Math.abs(a.proposed_after - a.proposed_before)).slice(0, 8);
  if (!moved.length) return element("p", { class: "quiet" }, "No tag has more or fewer proposals.");
  return element("table", {}, element("thead", {}, element("tr", {}, ...["Proposals", "Before", "After"].map((name) => element("th", { scope: "col" }, name)))),
    element("tbody", {}, ...moved.map(({ tag, proposed_before, proposed_after }) => element("tr", {},
      element("th", { scope: "row" }, element("a", { href: `/wall?${new URLSearchParams({ queue: "missing", tag })}` }, words(tag))), element("td", {}, count(proposed_before)), element("td", {}, count(proposed_after))))));
}

find("train").addEventListener("click", () => train(false));
find("fresh")?.addEventListener("click", () => train(true));
find("cancel").addEventListener("click", () => attempt(async () => { await ask("DELETE", "/api/training"); lookNow(); }));
