// How a training goes on, drawn while it runs.
import { ask, attempt, get, pause, post } from "./api.js";
import { showChanges } from "./changes.js";
import { gapLine } from "./charts.js";
import { find, several } from "./dom.js";

let isWatching = false;
let lookNow = () => {};

/** Ask how it goes as long as it runs; `started` is called when one has begun, `finished` when it has ended. */
export async function watchTraining({ started = () => {}, finished = () => {} } = {}) {
  if (isWatching) return;
  isWatching = true;
  for (let ran = false, training = await get("/api/training"); ; training = await get("/api/training")) {
    show(training);
    const isRunning = training.state === "running";
    if (isRunning && !ran) started(training);
    if (ran && !isRunning) finished(training);
    ran = isRunning;
    // while nothing runs a look now and then is enough: a training may begin by itself
    const seconds = isRunning ? 0.4 : document.hidden ? 30 : 4;
    await Promise.race([pause(seconds), new Promise((resume) => { lookNow = resume; })]);
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
  showGap(training.gap ?? []);
  if (!isRunning) showChanges(training.changes);
}

function showGap(points) {
  const isDrawn = points.some(([, gap]) => gap > 0);
  find("gap-details").hidden = !isDrawn;
  if (isDrawn) find("gap").replaceChildren(gapLine(points));
}

function sentence({ state, what, seconds, error, due_in }) {
  const isPlanned = due_in !== null && due_in !== undefined;
  const soon = due_in > 0 ? ` Next training after ${several(due_in, "more decision")}.` : " The next training starts soon.";
  const due = isPlanned ? soon : "";
  return {
    running: `Training: ${what || "starting"} …`,
    failed: `The training failed: ${error ?? "no reason was given"}. Nothing else has changed.`,
    cancelled: `The training was cancelled; nothing has changed.${due}`,
    done: `Trained in ${Math.max(0.1, seconds ?? 0).toFixed(1)} s.${due}`,
  }[state] ?? due.trim();
}

function showBar({ done, of, seconds }, isRunning) {
  const share = of ? done / of : 0;
  find("training-bar").hidden = !isRunning;
  find("training-bar").setAttribute("aria-valuenow", String(Math.round(100 * share)));
  find("training-bar").setAttribute("aria-valuetext", `${Math.round(seconds ?? 0)} seconds, step ${done} of ${of}`);
  find("training-bar").firstElementChild.style.width = `${100 * share}%`;
}

find("train").addEventListener("click", () => train(false));
find("fresh")?.addEventListener("click", () => train(true));
find("cancel").addEventListener("click", () => attempt(async () => { await ask("DELETE", "/api/training"); lookNow(); }));
