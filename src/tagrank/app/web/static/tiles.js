// Tiles of the wall. A mark is null, "yes", "no" or "skip"; what becomes of tiles without one is the rule of their page.
import { count, element, percent, thumbnail, words } from "./dom.js";

export const keyOf = ({ picture, tag }) => `${picture.id} ${tag}`;

/** What Enter decides about an item, null for nothing. */
export const answerOf = ({ mark }, rule) => mark ?? (rule === "mark" ? null : "yes");

/** What a tap on a tile says. */
export const markOf = (rule) => (rule === "mark" ? "yes" : "no");

const WORDS = { yes: "yes", no: "no", skip: "skip", open: "undecided" };
const WORDS_OF_KEPT = { yes: "keep", no: "remove", skip: "skip" };
const GUIDES = {
  accept: ["Mark what is ", "wrong", ". The rest is accepted."],
  mark: ["Mark what is ", "right", ". The rest stays undecided."],
  keep: ["Mark the tags that are ", "wrong", ". The rest is kept."],
};

/** What to mark, what becomes of the rest, and how many are right, as far as the model can tell. */
export function guideOf({ items, rule, right }) {
  const [before, what, after] = GUIDES[rule];
  const claim = right === null || rule === "keep" ? "" : ` About ${count(Math.round(right))} of ${count(items.length)} are right.`;
  return [before, element("b", {}, what), after, claim];
}

/** The label of the button that decides the page. */
export function spoken({ yes, no, skip, open }, rule) {
  if (rule === "mark" && yes + no + skip === 0) return "Leave all undecided";
  const names = rule === "keep" ? ["Keep", "remove", "skip"] : ["Accept", "reject", "skip"];
  const counts = [yes, no, skip];
  const text = names.map((name, i) => (counts[i] ? `${name} ${counts[i]}` : null)).filter(Boolean).join(", ");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${open ? ", leave the rest undecided" : ""}`;
}

/** A tile; its tag stands on it where the wall has several. */
export function makeTile(item, rule, choices, width, isActive) {
  const { picture, tag, probability } = item;
  const share = element("span", { class: "share" }, percent(probability));
  const caption = element("span", { class: "caption" }, choices.tag ? null : words(tag), share);
  const image = thumbnail(picture.id, "", width);
  const box = element("span", { class: "box" }, image, element("span", { class: "mark", "aria-hidden": "true" }));
  const tile = element("li", { role: "option", class: "tile", tabindex: isActive ? "0" : "-1" }, box, caption);
  image.addEventListener("error", () => tile.classList.add("broken"));
  describe(tile, item, rule);
  return tile;
}

/** Show and name what will be decided about an item. */
export function describe(tile, item, rule) {
  const answer = answerOf(item, rule) ?? "open";
  const word = (rule === "keep" ? WORDS_OF_KEPT : WORDS)[answer];
  tile.dataset.answer = answer;
  tile.classList.toggle("marked", Boolean(item.mark));
  tile.querySelector(".mark").textContent = item.mark ? word : "";
  tile.setAttribute("aria-selected", String(Boolean(item.mark)));
  tile.setAttribute("aria-label", `${word}: ${item.tag}, ${percent(item.probability)}, ${item.picture.name}`);
}

/** How wide one column is. */
export const widthOf = (wall) => wall.clientWidth / columnsOf(wall);

export const columnsOf = (wall) => getComputedStyle(wall).gridTemplateColumns.split(" ").length;

const MOST = 60;

/** How many tiles one look takes in; the columns are as wide as fills the window best. */
export function fits(wall) {
  wall.hidden = false;
  const style = getComputedStyle(wall);
  const [caption, gap, below] = ["--caption", "row-gap", "--below"].map((name) => parseFloat(style.getPropertyValue(name)));
  const { width, top } = wall.getBoundingClientRect();
  const room = innerHeight - top - scrollY - below;
  const [smallest, largest] = width < 500 ? [100, 130] : width < 1900 ? [140, 200] : [170, 250];
  let best = { unused: Infinity };
  for (let columns = Math.ceil(width / (largest + gap)); columns <= Math.floor((width + gap) / (smallest + gap)); columns += 1) {
    const height = (width - (columns - 1) * gap) / columns + caption + gap;
    const rows = Math.max(2, Math.floor((room + gap) / height));
    const unused = Math.abs(room - rows * height);
    if (rows * columns <= MOST && unused < best.unused) best = { unused, columns, rows };
  }
  const { columns = 6, rows = 2 } = best;
  wall.style.setProperty("--columns", columns);
  return columns * rows;
}
