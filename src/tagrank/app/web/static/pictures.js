// All pictures. Only the rows near the window are in the document, so that a hundred thousand scroll like a hundred.
import "./page.js";
import { get } from "./api.js";
import { combobox } from "./combobox.js";
import { address, asked, count, element, find, link, note, several, showEmpty, thumbnail, words } from "./dom.js";

const A_TIME = 120;
const list = find("browse");
const filters = asked();
const items = [];
const tiles = new Map();
let [cursor, isLoading, total] = ["", false, 0];

async function load() {
  if (isLoading || cursor === null) return;
  isLoading = true;
  const found = await get("/api/pictures", { ...filters, limit: A_TIME, cursor }).catch(refuse);
  isLoading = false;
  if (!found) return;
  items.push(...found.items);
  [cursor, total] = [found.cursor ?? null, found.total];
  find("count").textContent = several(total, "picture");
  find("end").textContent = cursor === null && items.length ? "End of the list." : "";
  if (items.length === 0) showEmpty("No pictures found", "No picture matches these filters.", link("/pictures", "Show all"));
  draw();
}

/** An unknown tag, or a filter that cannot be meant: that no picture fits would not be the whole truth. */
function refuse(error) {
  cursor = null;
  showEmpty("This cannot be shown", `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`, link("/pictures", "Show all"));
}

const columnsOf = () => getComputedStyle(list).gridTemplateColumns.split(" ").length;

function draw() {
  const style = getComputedStyle(list);
  const columns = columnsOf();
  const height = parseFloat(style.gridAutoRows) + parseFloat(style.rowGap);
  const top = list.getBoundingClientRect().top;
  const n_rows = Math.ceil(items.length / columns);
  const first = Math.max(0, Math.min(n_rows - 1, Math.floor(-top / height) - 3));
  const last = Math.min(n_rows, Math.ceil((innerHeight - top) / height) + 3);
  list.style.paddingTop = `${first * height}px`;
  list.style.paddingBottom = `${Math.max(0, n_rows - last) * height}px`;
  place(first * columns, Math.min(items.length, last * columns));
  if (innerHeight - top > (n_rows - 6) * height) load();
}

/** Keep what is shown already: a picture that is taken out and put in again would flicker. */
function place(first, last) {
  const isHere = (i) => i >= first && i < last;
  for (const [i, tile] of tiles) {
    if (!isHere(i)) { tile.remove(); tiles.delete(i); }
  }
  let before = null;
  for (let i = last - 1; i >= first; i -= 1) {
    if (!tiles.has(i)) {
      tiles.set(i, makeTile(items[i], i));
      list.insertBefore(tiles.get(i), before);
    }
    before = tiles.get(i);
  }
}

function makeTile({ id, name, tags, proposed, reviewed }, i) {
  const facts = [proposed ? `${count(proposed)} proposed` : null, reviewed ? "reviewed" : null].filter(Boolean);
  const named = tags.length ? tags.flatMap((tag, k) => [k ? ", " : "", words(tag)]) : [element("i", {}, "no tags")];
  return element("li", { "aria-setsize": total, "aria-posinset": i + 1 },
    element("a", { href: `/pictures/${id}` }, element("span", { class: "box" }, thumbnail(id, "", list.clientWidth / columnsOf())),
      element("span", { class: "caption" }, words(name.split("/").at(-1))),
      element("span", { class: "named", title: tags.join(", ") }, ...named), element("small", {}, facts.join(" · "))));
}

for (const field of find("filters").elements) {
  if (field.name && filters[field.name]) field.value = filters[field.name];
}
// pairs that are decided already are in the queue of their tag only
const isDecided = filters.tag && ["present", "absent", "unknown"].includes(filters.state);
find("onward").append(
  link(address("/wall", { ...filters, queue: isDecided ? "tag" : "missing" }), "Review by tag"),
  link(address("/review", { ...filters, queue: isDecided ? "all" : "missing" }), "Review by picture"));
find("dateless").hidden = !filters.start && !filters.end;
find("filter-box").open = innerWidth > 720 || Object.keys(filters).length > 0;
function filter() {
  location.assign(`/pictures?${new URLSearchParams([...new FormData(find("filters"))].filter(([, value]) => value !== ""))}`);
}
find("filters").addEventListener("submit", (event) => { event.preventDefault(); filter(); });
combobox(find("tag"), { choose: filter });
let isDue = false;
const drawSoon = () => {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => { isDue = false; if (items.length) draw(); });
};
addEventListener("scroll", drawSoon, { passive: true });
new ResizeObserver(drawSoon).observe(document.documentElement);
note("/pictures", filters);
load();
