// Rows of tags beside a picture, each with its probability and three answers.
import { bar, element, percent, small, words } from "./dom.js";

const ANSWERS = [["yes", "✓", "Yes"], ["no", "✕", "No"], ["skip", "–", "Skip"]];

/**
 * Draw proposed, perhaps wrong, present and rejected tags; answers the rows in the order in which keys walk them.
 * Where tags are looked at because they are perhaps wrong, these come first, and only these are asked about.
 */
export function makeSections(place, { proposed, doubtful, tags, rejected = [] }, isOfDoubts, actions) {
  const doubted = new Set(doubtful.map(({ tag }) => tag));
  const asked = [["Proposed", proposed, !isOfDoubts], ["Possibly wrong", doubtful, true]];
  const present = ["Tags", tags.filter(({ tag }) => !doubted.has(tag)), false];
  const sections = [...(isOfDoubts ? asked.reverse() : asked), present, ["Rejected or skipped", rejected, false]];
  const rows = [];
  const lists = sections.map(([title, pairs, isAsked]) => {
    const made = pairs.map((pair) => makeRow(pair, isAsked, actions));
    rows.push(...made);
    return element("section", { class: "rows", hidden: pairs.length === 0 }, element("h2", {}, title), ...made.map(({ node }) => node));
  });
  place.replaceChildren(...lists);
  rows.add = (pair) => {
    const row = makeRow(pair, false, actions);
    rows.push(row);
    lists[2].append(row.node);
    lists[2].hidden = false;
    return row;
  };
  rows.propose = (pair) => {
    const row = makeRow({ listed: false, answer: null, by: null, ...pair }, !isOfDoubts, actions);
    rows.push(row);
    const list = lists[isOfDoubts ? 1 : 0];
    list.append(row.node);
    list.hidden = false;
  };
  return rows;
}

function makeRow(pair, isAsked, { answer, explain, focus }) {
  const row = { pair, isOpen: () => isAsked && !pair.answer };
  row.buttons = ANSWERS.map(([value, sign, name]) => element("button", {
    type: "button", class: value, "aria-label": name, title: name, click: () => { focus(row); answer(row, value); },
  }, sign));
  const why = element("button", { type: "button", class: "why", "aria-label": "Why", title: "Why", click: () => explain(row) }, "?");
  row.buttons.push(why);
  row.node = element("div", { class: "row", role: "group", tabindex: "-1", pointerdown: () => focus(row) },
    element("span", { class: "tag-name" }, words(pair.tag), element("small", { class: "by" })),
    element("span", { class: "share" }),
    element("span", { class: "answers" }, ...row.buttons));
  row.setActive = (isActive) => {
    row.node.classList.toggle("active", isActive);
    for (const node of [row.node, ...row.buttons]) node.tabIndex = isActive ? 0 : -1;
  };
  row.setProbability = (probability) => {
    pair.probability = probability;
    const shown = [probability === null ? null : bar(probability), small(percent(probability))];
    row.node.querySelector(".share").replaceChildren(...shown.filter(Boolean));
    describe(row);
  };
  row.setProbability(pair.probability);
  return row;
}

const STATES = { present: "is present", absent: "is known absent", unknown: "is not decided" };
const SAID = { yes: "yes", no: "no", skip: "skipped" };

/** Show and name what is decided about a row. */
export function describe({ node, buttons, pair }) {
  node.dataset.answer = pair.answer ?? "";
  node.dataset.state = pair.state;
  for (const [i, [value]] of ANSWERS.entries()) buttons[i].setAttribute("aria-pressed", String(pair.answer === value));
  const who = pair.answer && pair.by ? ` by ${pair.by}` : "";
  node.querySelector(".by").textContent = pair.answer ? `${SAID[pair.answer]}${who}` : "";
  const share = pair.probability === null ? "" : `, ${percent(pair.probability)}`;
  node.setAttribute("aria-label", `${pair.tag}${share}: ${pair.answer ? SAID[pair.answer] + who : STATES[pair.state]}`);
}
