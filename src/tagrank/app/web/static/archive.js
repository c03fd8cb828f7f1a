// The folder, and decisions on their way out and in; differences are shown before anything is written.
import "./page.js";
import { ask, attempt, post } from "./api.js";
import { count, element, find, several, words } from "./dom.js";

const MOST = 200;

/** Run an action that takes a while: its button rests, its place says so. */
async function work(button, place, saying, action) {
  const buttons = [button, ...place.parentNode.querySelectorAll("button")];
  buttons.forEach((one) => { one.disabled = true; });
  place.replaceChildren(element("p", { class: "quiet" }, saying));
  const found = await attempt(action);
  buttons.forEach((one) => { one.disabled = false; });
  place.replaceChildren();
  return found;
}

function table(heads, rows) {
  const shown = rows.slice(0, MOST);
  const parts = [element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Differences" }, element("table", {},
    element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col", class: "word" }, head)))),
    element("tbody", {}, ...shown.map((row) => element("tr", {}, ...row.map((text) => element("td", { class: "word" }, words(text))))))))];
  if (rows.length > MOST) parts.push(element("p", { class: "quiet" }, `and ${count(rows.length - MOST)} more`));
  return parts;
}

function problems(list) {
  if (!list?.length) return [];
  const rows = list.slice(0, MOST).map((one) => element("li", {}, words(typeof one === "string" ? one : [one.path ?? one.name ?? one.picture, one.reason ?? one.error].filter(Boolean).join(": "))));
  return [element("details", { class: "problems" }, element("summary", {}, several(list.length, "problem")), element("ul", {}, ...rows))];
}

find("scan").addEventListener("click", async () => {
  const place = find("scan-result");
  const found = await work(find("scan"), place, "Looking …", () => post("/api/scan"));
  if (!found) return;
  const kinds = [["added", found.added], ["moved", found.moved.map(([old, now]) => `${old} → ${now}`)], ["changed", found.changed], ["gone", found.gone]];
  const changed = kinds.filter(([, names]) => names.length);
  place.append(element("p", {}, `${several(found.pictures, "picture")}. ${changed.length ? "" : "Nothing has changed."}`),
    ...changed.map(([kind, names]) => element("details", { open: names.length <= 10 }, element("summary", {}, `${count(names.length)} ${kind}`), element("ul", {}, ...names.slice(0, MOST).map((name) => element("li", {}, words(name)))))),
    ...problems(found.problems));
});

async function sidecars(dry_run) {
  const place = find("sidecars-result");
  const found = await work(find("sidecars-look"), place, dry_run ? "Comparing …" : "Writing …", () => post("/api/sidecars", { dry_run }));
  if (!found) return;
  const n = found.changes.length;
  find("sidecars-write").hidden = !dry_run || n === 0;
  find("sidecars-write").textContent = `Write ${several(n, "sidecar")}`;
  const line = n === 0 ? "All sidecars are as they should be." : dry_run ? `${several(n, "sidecar")} would change. Nothing is written yet.` : `${several(n, "sidecar")} written.`;
  place.append(element("p", {}, line), ...(n ? table(["Sidecar", "What happens", "Tags"], found.changes.map(({ sidecar, action, tags }) => [sidecar, action, tags.join(", ")])) : []), ...problems(found.problems));
}
find("sidecars-look").addEventListener("click", () => sidecars(true));
find("sidecars-write").addEventListener("click", () => sidecars(false));

async function bring(dry_run) {
  const file = find("file").files[0];
  const format = /\.(jsonl|ndjson)$/i.test(file.name) ? "jsonl" : "csv";
  const place = find("import-result");
  const found = await work(find("import-apply"), place, "Reading …", () => ask("POST", `/api/import?format=${format}&dry_run=${dry_run}`, { file }));
  if (!found) return;
  const n = found.changes.length;
  find("import-apply").hidden = found.applied || n === 0;
  const line = n === 0 ? "Nothing would change." : found.applied ? `${several(n, "decision")} taken over.` : `${several(n, "decision")} would change. Nothing is taken over yet.`;
  place.append(element("p", {}, line), ...(n ? table(["Picture", "Tag", "Before", "After"], found.changes.map(({ name, tag, before, after }) => [name, tag, before, after])) : []), ...problems(found.problems));
}
find("import").addEventListener("submit", (event) => { event.preventDefault(); bring(true); });
find("import-apply").addEventListener("click", () => bring(false));
find("file").addEventListener("change", () => { find("import-apply").hidden = true; find("import-result").replaceChildren(); });
