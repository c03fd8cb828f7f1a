// Who decided what and when, one step after the other.
import "./page.js";
import { attempt, get } from "./api.js";
import { undo } from "./decisions.js";
import { count, element, find, link, say, several, showEmpty, thumbnail, when, words } from "./dom.js";

const A_TIME = 200;
const SHOWN = 14;
const decisions = [];

async function load() {
  const found = await attempt(() => get("/api/history", { limit: A_TIME, before: decisions.at(-1)?.id }));
  if (!found) return;
  decisions.push(...found.decisions);
  find("more").hidden = found.decisions.length < A_TIME;
  show();
}

function show() {
  const steps = new Map();
  for (const one of decisions) {
    if (!steps.has(one.batch)) steps.set(one.batch, []);
    steps.get(one.batch).push(one);
  }
  find("history").replaceChildren(...[...steps.values()].map(makeStep));
  find("empty").hidden = true;
  if (decisions.length === 0) showEmpty("Nothing decided yet", "What is decided appears here, with who and when.", link("/", "Start"));
}

function makeStep(step) {
  const [{ by, at, undone, batch }] = step;
  const more = step.length - SHOWN;
  const rest = more > 0 ? element("li", { class: "quiet" }, `+ ${count(more)}`) : null;
  return element("li", { class: undone ? "step undone" : "step", id: `step-${batch}` },
    element("p", { class: "head" }, element("b", {}, words(by)), element("time", { datetime: at, class: "quiet" }, when(at)),
      ...answersOf(step), ...tagsOf(step), undone ? quiet("undone") : null),
    element("ul", { class: "strip" }, ...step.slice(0, SHOWN).map(makePicture), rest));
}

const quiet = (text) => element("span", { class: "quiet" }, text);

function answersOf(step) {
  const counts = Object.keys(KINDS).map((answer) => [answer, step.filter((one) => one.answer === answer).length]);
  const given = counts.filter(([, n]) => n > 0);
  return given.map(([answer, n]) => element("span", { class: `tag ${KINDS[answer]}` }, `${count(n)} ${answer}`));
}

function tagsOf(step) {
  const tags = [...new Set(step.map(({ tag }) => tag))];
  const named = tags.slice(0, 3).map((tag) => element("span", { class: "about" }, words(tag)));
  return tags.length > 3 ? [...named, quiet(`and ${several(tags.length - 3, "more tag")}`)] : named;
}

const KINDS = { yes: "found", no: "wrong", skip: "unknown" };

function makePicture({ picture, name, tag, answer, before }) {
  const title = `${name}: ${tag}, ${answer}; ${before} before`;
  return element("li", { class: answer }, element("a", { href: `/pictures/${picture}`, title }, thumbnail(picture, title)));
}

find("more").addEventListener("click", load);
find("undo").addEventListener("click", () => undo().then(({ restored }) => {
  say(`${several(restored.length, "decision")} undone.`);
  decisions.length = 0;
  return load();
}).catch(() => {}));
load();
