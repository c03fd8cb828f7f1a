// One picture: its tags, those that are proposed and those that are perhaps wrong.
import "./page.js";
import { attempt, get } from "./api.js";
import { combobox } from "./combobox.js";
import { decide, shownOf, undo } from "./decisions.js";
import { asked, find, note, say, several, showEmpty, words } from "./dom.js";
import { isOf, showFilters } from "./filters.js";
import { onKeys, showKeys } from "./keys.js";
import { showNothing } from "./nothing.js";
import { describe, makeSections } from "./rows.js";
import { showWhy } from "./why.js";

const given = asked();
const start = find("review").dataset.picture || given.picture;
const filters = { queue: find("review").dataset.picture ? "all" : "missing", ...given };
delete filters.picture;
let [shown, rows, at, upcoming] = [null, [], 0, null];
const visited = [];
const steps = [];

async function ahead(after) {
  const found = await get("/api/next", { ...filters, after });
  // behind the last one the queue begins again, with what was passed over
  return found.picture === null && after ? get("/api/next", filters) : found;
}

function show(found) {
  shown = found.picture;
  find("empty").hidden = shown !== null;
  find("review").classList.toggle("nothing", shown === null);
  if (shown === null) return void sayNothing(found.nothing);
  note("/review", { ...filters, picture: shown.id });
  find("image").src = `/images/${shown.id}?side=1600`;
  find("image").alt = `The picture ${shown.name}`;
  find("frame").style.setProperty("--shape", shown.width && shown.height ? `${shown.width} / ${shown.height}` : "auto");
  find("name").replaceChildren(words(shown.name));
  const facts = [shown.date, shown.reviewed ? "reviewed" : null, shown.changed ? "the file has changed since it was tagged" : null];
  find("about").textContent = facts.filter(Boolean).join(" · ");
  showLeft(found);
  rows = makeSections(find("rows"), found, isOf(filters.queue, "keepsTags"), { answer, explain, focus: (row) => { at = rows.indexOf(row); mark(); } });
  at = Math.max(0, rows.findIndex((row) => row.isOpen()));
  go(at);
  upcoming = null;
  lookAhead(shown.id);
}

async function lookAhead(id) {
  const coming = ahead(id);
  upcoming = coming;
  const found = await coming.catch(() => null);
  if (found?.picture && upcoming === coming) new Image().src = `/images/${found.picture.id}?side=1600`;
}

/** How many pictures are left, as the server said last. */
function showLeft({ left }) {
  if (left !== undefined) find("left").textContent = left ? `${several(left, "picture")} left` : "";
}

function sayNothing(reason) {
  note("/review", filters);
  find("left").textContent = "";
  showNothing(reason, () => shown ?? begin());
}

function mark() {
  rows.forEach((row, i) => row.setActive(i === at));
}

function go(i) {
  if (i < 0 || i >= rows.length) return;
  at = i;
  mark();
  if (!document.activeElement.closest("input, select, dialog")) rows[at].node.focus();
}

function answer(row, value) {
  const before = row.pair.answer;
  row.pair.answer = value;
  describe(row);
  remember({ queue: filters.queue, answers: [{ picture: shown.id, tag: row.pair.tag, answer: value }] })
    .catch(() => { row.pair.answer = before; describe(row); });
  const next = rows.findIndex((other, i) => i > at && other.isOpen());
  const open = next >= 0 ? next : rows.findIndex((other) => other.isOpen());
  if (open >= 0) go(open);
  else say(isOf(filters.queue, "keepsTags") ? "All doubtful tags of this picture are decided. Press Enter for the next one." : "All proposals for this picture are decided. Press Enter for the next one.");
}

function remember(step) {
  const entry = { picture: shown.id };
  steps.push(entry);
  return decide({ ...step, shown: shownOf(filters) }).then((told) => { showLeft(told); showMoved(told, entry.picture); }).catch((error) => { steps.splice(steps.indexOf(entry), 1); throw error; });
}

/** What is known of one tag makes others more or less probable, at once. */
function showMoved({ proposed = [] }, picture) {
  if (shown?.id !== picture) return;
  for (const pair of proposed) {
    const row = rows.find((one) => one.pair.tag === pair.tag);
    if (!row) rows.propose(pair);
    else if (!row.pair.answer) row.setProbability(pair.probability);
  }
  mark();
}

function add(tag, isNew) {
  find("new-tag").value = "";
  if (tag === "" || shown === null) return;
  let row = rows.find(({ pair }) => pair.tag === tag);
  if (!row) {
    row = rows.add({ tag, probability: null, state: "unknown", listed: false, answer: null, by: null });
    mark();
  }
  const kept = at;
  at = rows.indexOf(row);
  answer(row, "yes");
  at = kept;
  mark();
  say(isNew ? `“${tag}” was added as a new tag.` : `“${tag}” was added.`);
}

const wantsAll = () => isOf(filters.queue, "wantsAll");

/** Where a picture is complete once it is done, proposals that nobody accepted are wrong. */
function rest() {
  if (!wantsAll()) return [];
  const open = rows.filter(({ pair }) => !pair.answer && pair.state === "unknown");
  return open.map(({ pair }) => ({ picture: shown.id, tag: pair.tag, answer: "no" }));
}

/** What it means to be done with a picture of this queue. */
function showMeaning() {
  find("wants-all").hidden = !wantsAll();
  find("done").textContent = wantsAll() ? "Complete, next" : "Done, next";
}

async function done() {
  if (shown === null) return;
  const id = shown.id;
  remember({ queue: filters.queue, answers: rest(), reviewed: [id] }).catch(() => {});
  await onward();
}

/** The next picture, which was asked for while this one was looked at: how many are left is told by what is decided. */
async function onward() {
  visited.push(shown.id);
  const found = await attempt(() => upcoming ?? ahead(shown.id));
  if (found) show(found.picture ? { ...found, left: undefined } : found);
}

const begin = () => ahead().then(show).catch((error) => {
  find("review").classList.add("nothing");
  showEmpty("This cannot be shown", `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`);
});
const open = async (id) => {
  const found = await attempt(() => get(`/api/pictures/${id}`));
  if (found) show(found);
};
const back = () => visited.length && open(visited.pop());

async function takeBack() {
  const told = await undo({ shown: shownOf(filters) });
  const step = steps.pop();
  say(told.said);
  const picture = told.restored[0]?.picture ?? told.reviewed[0] ?? step?.picture;
  if (picture) await open(picture);
  showLeft(told);
}

function explain(row) {
  if (row.pair.probability === null) say("No model has judged this tag yet.");
  else showWhy(shown.id, shown.name, row.pair);
}

const undoAloud = () => takeBack().catch(() => {});
const reply = (value) => () => rows[at] && answer(rows[at], value);
const typeTag = () => find("new-tag").focus();
onKeys({
  y: reply("yes"), n: reply("no"), s: reply("skip"), w: () => rows[at] && explain(rows[at]), u: undoAloud, "Ctrl+z": undoAloud,
  ArrowUp: () => go(at - 1), ArrowDown: () => go(at + 1), ArrowLeft: back, ArrowRight: () => shown && onward(),
  a: typeTag, "/": typeTag, Enter: done, "?": showKeys,
}, { repeating: ["ArrowUp", "ArrowDown"] });
find("done").addEventListener("click", done);
find("undo").addEventListener("click", undoAloud);
find("back").addEventListener("click", back);
find("pass").addEventListener("click", () => shown && onward());
find("help").addEventListener("click", showKeys);
find("queue").value = filters.queue;
showMeaning();
showFilters("/review", filters);
find("queue").addEventListener("change", (event) => { filters.queue = event.target.value; showMeaning(); begin(); });
find("choices").addEventListener("submit", (event) => event.preventDefault());
const field = combobox(find("new-tag"), { choose: add, leave: () => go(at), allowNew: true });
find("add").addEventListener("submit", (event) => { event.preventDefault(); field.take(); });
if (start) open(start).then(() => shown ?? begin());
else begin();
