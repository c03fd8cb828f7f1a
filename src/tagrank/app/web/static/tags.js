// The table of tags.
import "./page.js";
import { attempt, get } from "./api.js";
import { count, element, find, link, several, showEmpty, words } from "./dom.js";
import { aboutTag, editButton, readVocabulary, showVocabulary } from "./vocabulary.js";

const AT_FIRST = 300;
const body = document.querySelector("#tags tbody");
let [tags, key, direction, isWhole] = [[], "proposed", -1, false];

const order = (a, b) => {
  const difference = key === "tag" ? a.tag.localeCompare(b.tag) : Number(a[key]) - Number(b[key]);
  return direction * difference || a.tag.localeCompare(b.tag);
};

function show() {
  const text = find("find").value.trim().toLowerCase();
  const found = tags.filter(({ tag }) => [tag, ...aboutTag(tag).synonyms].some((word) => word.toLowerCase().includes(text))).sort(order);
  const shown = isWhole ? found : found.slice(0, AT_FIRST);
  body.replaceChildren(...shown.map(makeRow));
  find("count").textContent = several(found.length, "tag");
  find("more").hidden = shown.length === found.length;
  find("more").textContent = `Show all ${count(found.length)}`;
}

function makeRow({ tag, present, proposed, yes, no, complete }) {
  const wall = (queue) => `/wall?${new URLSearchParams({ queue, tag })}`;
  return element("tr", {},
    element("th", { scope: "row" },
      element("span", { class: "named" }, element("a", { href: wall("tag") }, words(tag)), editButton(tag)), aboutTag(tag).line()),
    element("td", {}, element("a", { href: `/pictures?${new URLSearchParams({ tag, state: "present" })}` }, count(present))),
    element("td", {}, proposed ? element("a", { href: wall("missing") }, count(proposed)) : "0"),
    element("td", {}, count(yes)), element("td", {}, count(no)),
    element("td", {}, complete ? element("span", { class: "tag found" }, "✓", element("span", { class: "unseen" }, "complete")) : ""));
}

for (const head of document.querySelectorAll("#tags th[data-sort]")) {
  head.firstElementChild.addEventListener("click", () => {
    direction = head.dataset.sort === key ? -direction : head.dataset.sort === "tag" ? 1 : -1;
    key = head.dataset.sort;
    for (const other of document.querySelectorAll("#tags th")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
    show();
  });
}
find("find").addEventListener("input", show);
find("more").addEventListener("click", () => { isWhole = true; show(); });

async function load() {
  const found = await attempt(async () => { await readVocabulary(); return get("/api/tags"); });
  if (!found) return;
  tags = found.tags;
  show();
  showVocabulary(load);
  const first = link("/review?queue=untagged", "Type the first tags");
  if (tags.length === 0) showEmpty("No tags yet", "Type the first tags while you look at pictures.", first);
}
await load();
