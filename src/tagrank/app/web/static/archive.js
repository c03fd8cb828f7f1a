// The folder, and decisions on their way out and in; differences are shown before anything is written.
import "./page.js";
import { ask, attempt, post } from "./api.js";
import { count, element, find, several, table, words } from "./dom.js";

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

function differences(heads, rows) {
  if (rows.length === 0) return [];
  const shown = table(heads, rows.slice(0, MOST).map((row) => row.map(words)));
  const region = { class: "scroll differences", tabindex: "0", role: "region", "aria-label": "Differences" };
  const rest = rows.length > MOST ? [element("p", { class: "quiet" }, `and ${count(rows.length - MOST)} more`)] : [];
  return [element("div", region, shown), ...rest];
}

/** How many tags come and go. */
function totals({ added, removed }) {
  return removed ? `${several(added, "tag")} added, ${several(removed, "tag")} removed.` : `${several(added, "tag")} added.`;
}

/** What becomes of one file or picture. */
function changed(added, removed, action = "change") {
  const made = { create: "new", delete: "deleted" }[action];
  const parts = [made, added.length && `added: ${added.join(", ")}`, removed.length && `removed: ${removed.join(", ")}`];
  return parts.filter(Boolean).join("; ");
}

function listed(title, names, isOpen) {
  const items = names.slice(0, MOST).map((name) => element("li", {}, words(name)));
  return element("details", { open: isOpen }, element("summary", {}, title), element("ul", {}, ...items));
}

function problems(list) {
  if (!list?.length) return [];
  const sentence = (one) => [one.path ?? one.name ?? one.picture, one.reason ?? one.error].filter(Boolean).join(": ");
  return [listed(several(list.length, "problem"), list.map((one) => (typeof one === "string" ? one : sentence(one))), false)];
}

find("scan").addEventListener("click", async () => {
  const place = find("scan-result");
  const found = await work(find("scan"), place, "Scanning …", () => post("/api/scan"));
  if (!found) return;
  const moved = found.moved.map(([old, now]) => `${old} → ${now}`);
  const kinds = Object.entries({ added: found.added, moved, changed: found.changed, gone: found.gone });
  const changed = kinds.filter(([, names]) => names.length);
  place.append(
    element("p", {}, `${several(found.pictures, "picture")}. ${changed.length ? "" : "Nothing has changed."}`),
    ...changed.map(([kind, names]) => listed(`${count(names.length)} ${kind}`, names, names.length <= 10)),
    ...problems(found.problems));
});

async function sidecars(dry_run) {
  const place = find("sidecars-result");
  const saying = dry_run ? "Comparing …" : "Writing …";
  const style = find("style").value;
  const found = await work(find("sidecars-look"), place, saying, () => post("/api/sidecars", { dry_run, style }));
  if (!found) return;
  const n = several(found.changes.length, "sidecar");
  const isEqual = found.changes.length === 0;
  find("sidecars-write").hidden = !dry_run || isEqual;
  find("sidecars-write").textContent = `Write ${n}`;
  const line = dry_run ? `${n} would change. Nothing is written yet.` : `${n} written.`;
  const rows = found.changes.map(({ sidecar, action, tags, removed }) => [sidecar, changed(tags, removed, action)]);
  place.append(
    element("p", {}, isEqual ? "All sidecars are up to date." : `${line} ${totals(found)}`),
    ...differences(["Sidecar", "What changes"], rows), ...problems(found.problems));
}
find("sidecars-look").addEventListener("click", () => sidecars(true));
find("sidecars-write").addEventListener("click", () => sidecars(false));
find("style").addEventListener("change", () => {
  find("sidecars-write").hidden = true;
  find("sidecars-result").replaceChildren();
});

async function tagList(dry_run) {
  const place = find("list-result");
  const saying = dry_run ? "Comparing …" : "Writing …";
  const found = await work(find("list-look"), place, saying, () => post("/api/tag-list", { dry_run }));
  if (!found) return;
  const name = found.path.split(/[\\/]/).pop();
  const isEqual = found.action === "keep";
  find("list-write").hidden = !dry_run || isEqual;
  find("list-write").textContent = `Write ${name}`;
  const verb = found.action === "create" ? "would be created" : "would change";
  const line = dry_run ? `${name} ${verb}. Nothing is written yet.` : `${name} written.`;
  const where = found.kept ? ["in ", element("code", {}, found.kept)] : ["on the machine of the desk."];
  const kept = found.is_kept ? [element("p", {}, "A copy of the old list is kept ", ...where)] : [];
  const rows = found.changes.map(({ name, added, removed }) => [name, changed(added, removed)]);
  place.append(
    element("p", {}, isEqual ? `${name} is up to date.` : `${line} ${totals(found)}`), ...kept,
    ...differences(["Picture", "What changes"], rows));
}
find("list-look").addEventListener("click", () => tagList(true));
find("list-write").addEventListener("click", () => tagList(false));

async function bring(dry_run) {
  const file = find("file").files[0];
  const format = /\.(jsonl|ndjson)$/i.test(file.name) ? "jsonl" : "csv";
  const place = find("import-result");
  const path = `/api/import?format=${format}&dry_run=${dry_run}`;
  const found = await work(find("import-apply"), place, "Reading …", () => ask("POST", path, { file }));
  if (!found) return;
  const n = several(found.changes.length, "decision");
  const isEqual = found.changes.length === 0;
  find("import-apply").hidden = found.applied || isEqual;
  const line = found.applied ? `${n} imported.` : `${n} would change. Nothing is imported yet.`;
  const rows = found.changes.map(({ name, tag, before, after }) => [name, tag, before, after]);
  place.append(
    element("p", {}, isEqual ? "Nothing would change." : line),
    ...differences(["Picture", "Tag", "Before", "After"], rows), ...problems(found.problems));
}
find("import").addEventListener("submit", (event) => { event.preventDefault(); bring(true); });
find("import-apply").addEventListener("click", () => bring(false));
find("file").addEventListener("change", () => {
  find("import-apply").hidden = true;
  find("import-result").replaceChildren();
});
