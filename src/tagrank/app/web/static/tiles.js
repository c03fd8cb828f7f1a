// Tiles of the wall. A mark is null, "other" (not what Enter says for the page) or "skip".
import { element, percent, thumbnail, words } from "./dom.js";

export const keyOf = ({ picture, tag }) => `${picture.id} ${tag}`;

/** What Enter decides about an item: a listed tag that is probably wrong goes unless it is marked. */
export function answerOf({ mark }, queue) {
  if (mark === "skip") return "skip";
  return (mark === "other") === (queue === "wrong") ? "yes" : "no";
}

const WORDS = { yes: "yes", no: "no", skip: "skip" };
const WORDS_OF_WRONG = { yes: "keep", no: "remove", skip: "skip" };
const wordsOf = (queue) => (queue === "wrong" ? WORDS_OF_WRONG : WORDS);

/** The label of the button that decides the page. */
export function spoken({ yes, no, skip }, queue) {
  const parts = queue === "wrong"
    ? [[no, `Remove ${no}`], [yes, `keep ${yes}`], [skip, `skip ${skip}`]]
    : [[yes, `Accept ${yes}`], [no, `reject ${no}`], [skip, `skip ${skip}`]];
  const text = parts.filter(([n]) => n > 0).map(([, part]) => part).join(", ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A tile; its tag stands on it where the wall has several. */
export function makeTile(item, choices, isActive) {
  const { picture, tag, probability } = item;
  const caption = element("span", { class: "caption" }, choices.tag ? null : words(tag), element("span", { class: "share" }, percent(probability)));
  const image = thumbnail(picture.id, "");
  const tile = element("li", { role: "option", class: "tile", tabindex: isActive ? "0" : "-1" }, element("span", { class: "box" }, image, element("span", { class: "mark", "aria-hidden": "true" })), caption);
  image.addEventListener("error", () => tile.classList.add("broken"));
  describe(tile, item, choices);
  return tile;
}

/** Show and name what will be decided about an item. */
export function describe(tile, item, choices) {
  const answer = answerOf(item, choices.queue);
  const word = wordsOf(choices.queue)[answer];
  tile.dataset.answer = answer;
  tile.classList.toggle("marked", item.mark !== null && item.mark !== undefined);
  tile.querySelector(".mark").textContent = item.mark ? word : "";
  tile.setAttribute("aria-selected", String(Boolean(item.mark)));
  tile.setAttribute("aria-label", `${word}: ${item.tag}, ${percent(item.probability)}, ${item.picture.name}`);
}

export const columnsOf = (wall) => getComputedStyle(wall).gridTemplateColumns.split(" ").length;

/** How many tiles one look takes in. */
export function fits(wall) {
  wall.hidden = false;
  const style = getComputedStyle(wall);
  const columns = style.gridTemplateColumns.split(" ");
  const height = parseFloat(columns[0]) + parseFloat(style.getPropertyValue("--caption")) + parseFloat(style.rowGap);
  const room = innerHeight - wall.getBoundingClientRect().top - scrollY - parseFloat(style.getPropertyValue("--below"));
  const rows = Math.max(columns.length < 4 ? 4 : 2, Math.floor(room / height));
  return Math.min(60, rows * columns.length);
}
