// Who did what and when, step by step: what stands here can be undone, and nothing else can.
import "./page.js";
import { attempt, get } from "./api.js";
import { undo } from "./decisions.js";
import { count, element, find, link, say, showEmpty, thumbnail, when, words } from "./dom.js";

const A_TIME = 30;
const { person } = document.body.dataset;
let [steps, next] = [[], null];

async function load() {
  const found = await attempt(() => get("/api/steps", { limit: A_TIME, before: steps.at(-1)?.batch }));
  if (!found) return;
  steps.push(...found.steps);
  next = found.next;
  find("more").hidden = found.steps.length < A_TIME;
  show();
}

function show() {
  find("history").replaceChildren(...steps.map(makeStep));
  find("undo").disabled = next === null;
  const what = steps.find(({ batch }) => batch === next);
  find("next").textContent = next === null ? "You have nothing to undo." : what ? `Your last step: ${what.said}, ${when(what.at)}.` : "";
  find("empty").hidden = true;
  if (steps.length === 0) showEmpty("No decisions yet", "Decisions appear here, with the name of the person and the time.", link("/", "Start"));
}

function makeStep(step) {
  const { by, at, undone, undone_by, batch, said, shown, reviewed, answers, n_reviewed } = step;
  const more = Object.values(answers).reduce((sum, n) => sum + n, n_reviewed) - shown.length - reviewed.length;
  const rest = more > 0 ? element("li", { class: "quiet" }, `+ ${count(more)}`) : null;
  const about = { type: "button", class: "link", "aria-label": `Undo: ${said}`, click: () => takeBack(batch) };
  const end = undone ? quiet(undone_by === by ? "undone" : `undone by ${undone_by}`) : by === person ? element("button", about, "Undo") : null;
  return element("li", { class: undone ? "step undone" : "step", id: `step-${batch}` },
    element("p", { class: "head" }, element("b", {}, words(by)), element("time", { datetime: at, class: "quiet" }, when(at)),
      element("span", { class: "about" }, words(said)), ...answersOf(step), end),
    element("ul", { class: "strip" }, ...shown.map(makePicture), ...reviewed.map(makeDone), rest));
}

const quiet = (text) => element("span", { class: "quiet" }, text);
const KINDS = { yes: "found", no: "wrong", skip: "unknown" };

function answersOf({ answers }) {
  const given = Object.keys(KINDS).filter((answer) => answers[answer]);
  return given.map((answer) => element("span", { class: `tag ${KINDS[answer]}` }, `${count(answers[answer])} ${answer}`));
}

function makePicture({ picture, name, tag, answer, before }) {
  const title = `${name}: ${tag}, ${answer}; ${before} before`;
  return element("li", { class: answer }, element("a", { href: `/pictures/${picture}`, title }, thumbnail(picture, title)));
}

function makeDone({ picture, name }) {
  const title = `${name}: marked as done`;
  return element("li", { class: "done" }, element("a", { href: `/pictures/${picture}`, title }, thumbnail(picture, title)));
}

/** Take back a step; it is named, so that what is undone is what was read. */
const takeBack = (batch) => undo({ batch }).then(({ said }) => {
  say(said);
  steps = [];
  return load();
}).catch(() => {});

find("more").addEventListener("click", load);
find("undo").addEventListener("click", () => next !== null && takeBack(next));
load();
