// A wall of proposals: mark those that are wrong, decide the whole page with one key.
import "./page.js";
import { attempt, get } from "./api.js";
import { combobox } from "./combobox.js";
import { decide, undo, waitingPairs } from "./decisions.js";
import { asked, count, element, find, link, note, say, several, showEmpty, thumbnailAddress, words } from "./dom.js";
import { showFilters } from "./filters.js";
import { onKeys, showKeys } from "./keys.js";
import { showNothing } from "./nothing.js";
import { onSweep } from "./sweep.js";
import { answerOf, columnsOf, describe, fits, keyOf, makeTile, spoken, widthOf } from "./tiles.js";
import { showWhy } from "./why.js";

const wall = find("wall");
const choices = { queue: "missing", ...asked() };
// cursor: where the next proposals are, "" for the best ones, null behind the last
let [page, ahead, cursor, total, at, anchor] = [[], [], "", 0, 0, 0];
const steps = [];
// decided here, though a proposal that was on its way may still name it
const gone = waitingPairs();
// marks survive a reload of the page
const MARKS = "tagrank/marks";
const marks = JSON.parse(sessionStorage.getItem(MARKS) ?? "{}");

async function refill(n) {
  while (ahead.length < n && cursor !== null && (choices.queue !== "tag" || choices.tag)) {
    const found = await get("/api/wall", { ...choices, limit: 2 * n, cursor });
    const known = new Set([...page, ...ahead].map(keyOf));
    [cursor, total] = [found.cursor, found.total];
    // a picture about which the model says nothing has no tag to decide
    ahead.push(...found.items.filter((item) => item.tag !== null && !gone.has(keyOf(item)) && !known.has(keyOf(item))));
  }
}

async function showNext() {
  const n = fits(wall);
  page = [];
  await attempt(() => refill(n));
  page = ahead.splice(0, n);
  for (const item of page) item.mark ??= marks[keyOf(item)] ?? null;
  at = anchor = 0;
  show();
  await attempt(() => refill(n));
  for (const { picture } of ahead.slice(0, n)) new Image().src = thumbnailAddress(picture.id, widthOf(wall));
}

function show() {
  wall.replaceChildren(...page.map((item, i) => makeTile(item, choices, widthOf(wall), i === at)));
  find("empty").hidden = true;
  for (const part of [wall, find("accept"), find("guide")]) part.hidden = page.length === 0;
  find("explain").disabled = page.length === 0;
  if (page.length === 0) sayNothing();
  else if (!document.activeElement.closest("input, select, dialog")) wall.children[at].focus({ preventScroll: true });
  scrollTo({ top: 0 });
  tell();
}

function sayNothing() {
  if (choices.queue === "tag" && !choices.tag) {
    showEmpty("Which tag?", "Choose a tag above, and its pictures come, the likeliest first.", link("/tags", "All tags"));
  } else {
    const links = [link("/", "Start"), link("/review?queue=untagged", "Untagged pictures")];
    showNothing("Nothing left here", "All proposals of this queue are decided.", links, () => page.length || begin());
  }
}

function tell() {
  const counts = { yes: 0, no: 0, skip: 0 };
  for (const item of page) counts[answerOf(item)] += 1;
  find("accept").textContent = spoken(counts, choices.queue);
  find("count").textContent = total ? `${count(Math.max(total, page.length))} in this queue` : "";
}

function mark(i, value) {
  const item = page[i];
  item.mark = value;
  if (value) marks[keyOf(item)] = value;
  else delete marks[keyOf(item)];
  sessionStorage.setItem(MARKS, JSON.stringify(marks));
  describe(wall.children[i], item, choices);
  tell();
}

function go(i) {
  if (i < 0 || i >= page.length) return;
  wall.children[at].tabIndex = -1;
  at = i;
  wall.children[at].tabIndex = 0;
  wall.children[at].focus();
}

function accept() {
  if (page.length === 0) return;
  const step = page;
  const answers = step.map((item) => ({ picture: item.picture.id, tag: item.tag, answer: answerOf(item) }));
  steps.push(step);
  for (const item of step) { gone.add(keyOf(item)); delete marks[keyOf(item)]; }
  sessionStorage.setItem(MARKS, JSON.stringify(marks));
  total -= step.length;
  say(`${several(step.length, "decision")} made; u takes them back.`);
  decide({ queue: choices.queue, answers }).catch(() => bringBack(step));
  showNext();
}

/** Show a page of before again, in front of what is shown now. */
function bringBack(step) {
  steps.splice(steps.indexOf(step), 1);
  for (const item of step) gone.delete(keyOf(item));
  ahead = [...page, ...ahead];
  page = step;
  total += step.length;
  at = 0;
  show();
}

async function takeBack() {
  const { restored, kept } = await undo();
  const step = steps.at(-1);
  const keys = new Set(restored.map(({ picture, tag }) => `${picture} ${tag}`));
  say(`${several(restored.length, "decision")} undone${kept.length ? `; ${kept.length} kept, because somebody decided them later` : ""}.`);
  if (step?.some((item) => keys.has(keyOf(item)))) return void bringBack(step);
  for (const key of keys) gone.delete(key);
  begin();
}

function begin() {
  [page, ahead, cursor] = [[], [], ""];
  note("/wall", choices);
  find("queue").value = choices.queue;
  find("tag").value = choices.tag ?? "";
  find("title").replaceChildren(choices.tag ? words(choices.tag) : "By tag");
  find("guide").replaceChildren(...(choices.queue === "wrong"
    ? ["Mark the tags that are ", element("b", {}, "wrong"), ". The rest is kept."]
    : ["Mark what is ", element("b", {}, "wrong"), ". The rest is accepted."]));
  showFilters("/wall", choices);
  return showNext();
}

const tap = (i) => { go(i); mark(i, page[i].mark ? null : "no"); anchor = i; };
onSweep(wall, {
  tap: (i, event) => {
    if (!event.shiftKey) return tap(i);
    for (let k = Math.min(i, anchor); k <= Math.max(i, anchor); k += 1) mark(k, "no");
    go(i);
  },
  start: (i) => (page[i].mark ? null : "no"),
  over: mark,
});
const explain = () => page[at] && showWhy(page[at].picture.id, page[at].picture.name, page[at]);
const undoAloud = () => takeBack().catch(() => {});
onKeys({
  ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1),
  ArrowUp: () => go(at - columnsOf(wall)), ArrowDown: () => go(Math.min(at + columnsOf(wall), page.length - 1)),
  Home: () => go(0), End: () => go(page.length - 1),
  " ": () => page[at] && tap(at), s: () => page[at] && mark(at, page[at].mark === "skip" ? null : "skip"),
  Enter: accept, u: undoAloud, "Ctrl+z": undoAloud, w: explain, "?": showKeys,
  o: () => page[at] && location.assign(`/pictures/${page[at].picture.id}`),
}, { repeating: ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"] });
find("accept").addEventListener("click", accept);
find("undo").addEventListener("click", undoAloud);
find("explain").addEventListener("click", explain);
find("help").addEventListener("click", showKeys);
find("queue").addEventListener("change", (event) => { choices.queue = event.target.value; begin(); });
find("choices").addEventListener("submit", (event) => event.preventDefault());
combobox(find("tag"), { choose: (tag) => { choices.tag = tag; find("tag").blur(); begin(); } });
begin();
