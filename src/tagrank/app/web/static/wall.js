// A wall of proposals: mark some, decide the whole page with one key. What becomes of the rest is a rule of the server.
import "./page.js";
import { attempt, get } from "./api.js";
import { combobox } from "./combobox.js";
import { decide, shownOf, undo, waiting, waitingPairs } from "./decisions.js";
import { asked, count, element, find, link, note, say, several, showEmpty, thumbnailAddress, words } from "./dom.js";
import { isOf, showFilters } from "./filters.js";
import { onKeys, showKeys } from "./keys.js";
import { showNothing } from "./nothing.js";
import { onSweep } from "./sweep.js";
import { answerOf, columnsOf, describe, fits, guideOf, keyOf, makeTile, markOf, spoken, widthOf } from "./tiles.js";
import { showWhy } from "./why.js";

const wall = find("wall");
const choices = { queue: "missing", ...asked() };
const NO_PAGE = { items: [], rule: "mark", right: null };
// a page is {items, rule, right}; cursor: where the next one begins, "" for the best, null behind the last
let [page, ahead, cursor, nothing, problem] = [NO_PAGE, [], "", null, ""];
let [at, anchor, n_passed] = [0, 0, 0];
// how many are left, as the server said last; n_given tells answers from before a step from those after it
let [total, n_given] = [null, 0];
const steps = [];
// decided here, though a proposal that was on its way may still name it
const gone = waitingPairs();
// marks survive a reload of the page
const MARKS = "tagrank/marks";
const marks = JSON.parse(sessionStorage.getItem(MARKS) ?? "{}");

/** Whether the queue is one of a single tag, and none was chosen yet. */
const lacksTag = () => !choices.tag && isOf(choices.queue, "needsTag");

/** Ask for pages until one with something to decide is ahead. */
async function refill(n) {
  while (ahead.length === 0 && cursor !== null && !lacksTag()) {
    const [isQuiet, before] = [waiting().length === 0, n_given];
    const found = await get("/api/wall", { ...choices, limit: n, cursor });
    if (total === null || (isQuiet && before === n_given)) total = found.total;
    [cursor, nothing] = [found.cursor, found.nothing];
    const known = new Set([page, ...ahead].flatMap(({ items }) => items.map(keyOf)));
    const items = found.items.filter((item) => !gone.has(keyOf(item)) && !known.has(keyOf(item)));
    // what is claimed of the whole page does not hold for a part of it
    const right = items.length === found.items.length ? found.right : null;
    if (items.length) ahead.push({ items, rule: found.rule, right });
  }
}

async function showNext() {
  const n = fits(wall);
  page = NO_PAGE;
  problem = "";
  await refill(n).catch((error) => { problem = error.message; });
  page = ahead.shift() ?? NO_PAGE;
  for (const item of page.items) item.mark ??= marks[keyOf(item)] ?? null;
  at = anchor = 0;
  show();
  if (problem) return;
  await attempt(() => refill(n));
  tell();
  for (const { picture } of ahead[0]?.items ?? []) new Image().src = thumbnailAddress(picture.id, widthOf(wall));
}

function show() {
  const isEmpty = page.items.length === 0;
  wall.replaceChildren(...page.items.map((item, i) => makeTile(item, page.rule, choices, widthOf(wall), i === at)));
  find("empty").hidden = true;
  for (const part of [wall, find("accept")]) part.hidden = isEmpty;
  find("guide").classList.toggle("hollow", isEmpty);
  find("explain").disabled = isEmpty;
  find("guide").replaceChildren(...guideOf(page));
  if (isEmpty) sayNothing();
  else if (!document.activeElement.closest("input, select, dialog")) wall.children[at].focus({ preventScroll: true });
  scrollTo({ top: 0 });
  tell();
}

function sayNothing() {
  if (problem) return void showEmpty("This cannot be shown", `${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`, link("/tags", "All tags"));
  if (lacksTag()) {
    return void showEmpty("Which tag?", "Choose a tag above to see its pictures, most probable first.", link("/tags", "All tags"));
  }
  if (n_passed && nothing !== "pictures") {
    const again = element("button", { type: "button", click: () => begin() }, "Show them again");
    return void showEmpty("That was the last page", `You left ${several(n_passed, "proposal")} undecided.`, again, link("/", "Start"));
  }
  return void showNothing(nothing, () => page.items.length || begin());
}

function tell() {
  const counts = { yes: 0, no: 0, skip: 0, open: 0 };
  for (const item of page.items) counts[answerOf(item, page.rule) ?? "open"] += 1;
  find("accept").textContent = spoken(counts, page.rule);
  find("reject").hidden = page.rule !== "mark" || counts.open === 0;
  find("reject").textContent = counts.yes ? `Accept ${counts.yes}, reject the rest` : "Reject all";
  find("count").textContent = total ? `${count(total)} in this queue` : "";
}

function mark(i, value) {
  const item = page.items[i];
  item.mark = value;
  if (value) marks[keyOf(item)] = value;
  else delete marks[keyOf(item)];
  sessionStorage.setItem(MARKS, JSON.stringify(marks));
  describe(wall.children[i], item, page.rule);
  tell();
}

function go(i) {
  if (i < 0 || i >= page.items.length) return;
  wall.children[at].tabIndex = -1;
  at = i;
  wall.children[at].tabIndex = 0;
  wall.children[at].focus();
}

/** Decide what the rule of the page and the marks say; with `rest` also what would stay undecided. */
function accept({ rest = null } = {}) {
  if (page.items.length === 0) return;
  const step = page;
  const decided = step.items.map((item) => [item, answerOf(item, step.rule) ?? rest]).filter(([, answer]) => answer);
  step.n_passed = step.items.length - decided.length;
  n_passed += step.n_passed;
  if (decided.length) record(step, decided.map(([item, answer]) => ({ picture: item.picture.id, tag: item.tag, answer })));
  else say(`${several(step.items.length, "proposal")} left undecided.`);
  showNext();
}

function record(step, answers) {
  steps.push(step);
  for (const { picture, tag } of answers) { gone.add(`${picture} ${tag}`); delete marks[`${picture} ${tag}`]; }
  sessionStorage.setItem(MARKS, JSON.stringify(marks));
  n_given += 1;
  say(`${several(answers.length, "decision")} saved. Press u to undo.`);
  // what nobody marked may be what nobody looked at: no model takes it for a confirmation
  const unmarked = step.rule === "accept" && step.items.every(({ mark }) => !mark);
  decide({ queue: choices.queue, answers, unmarked, shown: shownOf(choices) }).then(setTotal).catch(() => bringBack(step));
}

function setTotal(told) {
  if (told.total !== undefined) total = told.total;
  tell();
}

/** Show a page of before again, in front of what is shown now. */
function bringBack(step) {
  steps.splice(steps.indexOf(step), 1);
  for (const item of step.items) gone.delete(keyOf(item));
  n_passed -= step.n_passed;
  ahead = [page, ...ahead].filter(({ items }) => items.length);
  page = step;
  at = 0;
  show();
}

async function takeBack() {
  n_given += 1;
  const told = await undo({ shown: shownOf(choices) });
  const step = steps.at(-1);
  const keys = new Set(told.restored.map(({ picture, tag }) => `${picture} ${tag}`));
  say(told.said);
  setTotal(told);
  if (step?.items.some((item) => keys.has(keyOf(item)))) return void bringBack(step);
  for (const key of keys) gone.delete(key);
  begin();
}

function begin() {
  [page, ahead, cursor, n_passed] = [NO_PAGE, [], "", 0];
  note("/wall", choices);
  find("queue").value = choices.queue;
  find("tag").value = choices.tag ?? "";
  find("title").replaceChildren(choices.tag ? words(choices.tag) : "By tag");
  showFilters("/wall", choices);
  return showNext();
}

/** Another queue or tag: nothing is known of it yet. */
function change(what) {
  Object.assign(choices, what);
  total = null;
  begin();
}

const toggle = (i, value) => mark(i, page.items[i].mark === value ? null : value);
const tap = (i) => { go(i); mark(i, page.items[i].mark ? null : markOf(page.rule)); anchor = i; };
onSweep(wall, {
  tap: (i, event) => {
    if (!event.shiftKey) return tap(i);
    for (let k = Math.min(i, anchor); k <= Math.max(i, anchor); k += 1) mark(k, markOf(page.rule));
    go(i);
  },
  start: (i) => (page.items[i].mark ? null : markOf(page.rule)),
  over: mark,
});
const current = () => page.items[at];
const explain = () => current() && showWhy(current().picture.id, current().picture.name, current());
const undoAloud = () => takeBack().catch(() => {});
const rejectRest = () => { if (!find("reject").hidden) accept({ rest: "no" }); };
onKeys({
  ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1),
  ArrowUp: () => go(at - columnsOf(wall)), ArrowDown: () => go(Math.min(at + columnsOf(wall), page.items.length - 1)),
  Home: () => go(0), End: () => go(page.items.length - 1),
  " ": () => current() && tap(at), n: () => current() && toggle(at, "no"), s: () => current() && toggle(at, "skip"),
  Enter: () => accept(), r: rejectRest, u: undoAloud, "Ctrl+z": undoAloud, w: explain, "?": showKeys,
  o: () => current() && location.assign(`/pictures/${current().picture.id}`),
}, { repeating: ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"] });
find("accept").addEventListener("click", () => accept());
find("reject").addEventListener("click", rejectRest);
find("undo").addEventListener("click", undoAloud);
find("explain").addEventListener("click", explain);
find("help").addEventListener("click", showKeys);
find("queue").addEventListener("change", (event) => change({ queue: event.target.value }));
find("choices").addEventListener("submit", (event) => event.preventDefault());
combobox(find("tag"), { choose: (tag) => { find("tag").blur(); change({ tag }); } });
begin();
