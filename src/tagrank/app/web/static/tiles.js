// Tiles of the wall. A mark is null, "no" or "skip".
import { element, percent, thumbnail, words } from "./dom.js";

export const keyOf = ({ picture, tag }) => `${picture.id} ${tag}`;

/** What Enter decides about an item. */
export const answerOf = ({ mark }) => mark ?? "yes";

const WORDS = { yes: "yes", no: "no", skip: "skip" };
const WORDS_OF_WRONG = { yes: "keep", no: "remove", skip: "skip" };
const wordsOf = (queue) => (queue === "wrong" ? WORDS_OF_WRONG : WORDS);

/** The label of the button that decides the page. */
export function spoken({ yes, no, skip }, queue) {
  const parts = queue === "wrong"
    ? [[yes, `Keep ${yes}`], [no, `remove ${no}`], [skip, `skip ${skip}`]]
    : [[yes, `Accept ${yes}`], [no, `reject ${no}`], [skip, `skip ${skip}`]];
  const text = parts.filter(([n]) => n > 0).map(([, part]) => part).join(", ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A tile; its tag stands on it where the wall has several. */
export function makeTile(item, choices, width, isActive) {
  const { picture, tag, probability } = item;
  const share = element("span", { class: "share" }, percent(probability));
  const caption = element("span", { class: "caption" }, choices.tag ? null : words(tag), share);
  const image = thumbnail(picture.id, "", width);
  const box = element("span", { class: "box" }, image, element("span", { class: "mark", "aria-hidden": "true" }));
  const tile = element("li", { role: "option", class: "tile", tabindex: isActive ? "0" : "-1" }, box, caption);
  image.addEventListener("error", () => tile.classList.add("broken"));
  describe(tile, item, choices);
  return tile;
}

/** Show and name what will be decided about an item. */
export function describe(tile, item, choices) {
  const answer = answerOf(item);
  const word = wordsOf(choices.queue)[answer];
  tile.dataset.answer = answer;
  tile.classList.toggle("marked", item.mark !== null && item.mark !== undefined);
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
