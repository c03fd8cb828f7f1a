// What tags mean: a dialog to change it, what was changed, and answers that contradict each other.
import { ask, attempt, get, post } from "./api.js";
import { count, element, find, say, several, small, when, words } from "./dom.js";
import { newWord } from "./decisions.js";

const NONE = { synonyms: [], parents: [], listed_parents: [], description: "", is_deleted: false };
// what is asked for beside the tag; null for nothing
const FIELDS = {
  rename: "New name", merge: "Merge into", synonym: "Synonym", "no synonym": "Synonym", parent: "Parent tag",
  "no parent": "Parent tag", describe: "Description", delete: null, restore: null,
};
let [vocabulary, known, edited, checked, reload] = [null, new Map(), "", "", () => {}];

export async function readVocabulary() {
  vocabulary = await get("/api/vocabulary");
  known = new Map(vocabulary.tags.map((one) => [one.tag, one]));
  find("known-tags").replaceChildren(...vocabulary.tags.slice(0, 2000).map(({ tag }) => element("option", { value: tag })));
}

/** What is known of a tag beside its numbers, and the same as a line. */
export function aboutTag(tag) {
  const one = known.get(tag) ?? NONE;
  const parents = one.parents.map((name) => (one.listed_parents.includes(name) ? `${name} (from files)` : name));
  const parts = [
    one.synonyms.length ? `synonyms: ${one.synonyms.join(", ")}` : "", parents.length ? `parents: ${parents.join(", ")}` : "", one.description,
  ].filter(Boolean);
  return { ...one, line: () => (parts.length ? small(words(parts.join(" · "))) : null) };
}

export const editButton = (tag) =>
  element("button", { type: "button", class: "edit-tag", "aria-label": `Change ${tag}`, title: `Change ${tag}`, click: () => open(tag) }, "⋯");

function open(tag) {
  edited = tag;
  const { is_deleted } = aboutTag(tag);
  find("edit-title").replaceChildren(words(tag));
  find("edit-about").replaceChildren(aboutTag(tag).line() ?? "");
  find("verb").value = is_deleted ? "restore" : "rename";
  find("other").value = "";
  choose();
  find("edit").showModal();
  find("verb").focus();
}

function choose() {
  const verb = find("verb").value;
  const label = FIELDS[verb];
  find("other-label").hidden = label === null;
  find("other-name").textContent = label ?? "";
  if (verb === "describe") find("other").value = aboutTag(edited).description;
  forget();
}

/** What was checked is another change now. */
function forget() {
  checked = "";
  find("effect").textContent = "";
  find("apply").textContent = "Check";
}

function wanted() {
  const [verb, other] = [find("verb").value, FIELDS[find("verb").value] === null ? "" : find("other").value.trim()];
  if (verb === "synonym") return { verb, tag: other, other: edited };
  if (verb === "no synonym") return { verb, tag: other };
  return { verb, tag: edited, other };
}

/** The first time it is told what would happen, the second time it happens. */
async function submit(event) {
  event.preventDefault();
  const change = wanted();
  const text = JSON.stringify(change);
  const isSure = text === checked;
  let answer;
  try {
    answer = await post("/api/vocabulary", { ...change, request: newWord(), dry_run: !isSure });
  } catch (error) {
    checked = "";
    find("effect").textContent = `${error.message}.`;
    return;
  }
  if (!isSure) {
    checked = text;
    find("effect").textContent = `${answer.effects.join("; ")}.`;
    find("apply").textContent = "Apply";
    return;
  }
  find("edit").close();
  say(`${answer.effects.join("; ")}.`);
  await reload();
}

async function takeBack(batch) {
  const done = await attempt(() => ask("POST", "/api/undo", { body: { request: newWord(), batch } }));
  if (done) {
    say("The change was undone.");
    await reload();
  }
}

/** Show what was changed and what contradicts itself; `again` reads all anew. */
export function showVocabulary(again) {
  reload = again;
  const { history, conflicts, n_conflicts, circles, tags } = vocabulary;
  const deleted = tags.filter(({ is_deleted }) => is_deleted);
  find("change-box").hidden = history.length === 0;
  find("changes").replaceChildren(...history.map(({ batch, by, at, undone_by, sentences }) =>
    element("li", { class: undone_by ? "change undone" : "change" },
      element("span", {}, words(sentences.slice(0, 3).join("; ")), sentences.length > 3 ? ` and ${count(sentences.length - 3)} more` : ""),
      small(words(by), ", ", element("time", { datetime: at }, when(at)), undone_by ? ", undone" : ""),
      undone_by ? null : element("button", { type: "button", click: () => takeBack(batch) }, "Undo"))),
    ...deleted.map(({ tag }) => element("li", { class: "change" }, element("span", {}, "Deleted: ", words(tag)), editButton(tag))));
  find("conflict-box").hidden = n_conflicts === 0 && circles.length === 0;
  find("conflict-count").textContent = n_conflicts ? `${several(n_conflicts, "pair")}. The latest decision counts. To resolve a pair, decide one of the two again.` : "";
  find("conflicts").replaceChildren(
    ...circles.map((circle) => element("li", {}, "These parents form a circle and are ignored: ", words(circle.join(", ")))),
    ...conflicts.slice(0, 200).map((one) => element("li", {},
      element("a", { href: `/pictures/${one.picture}` }, words(one.name)), ": ", words(one.present), ` yes (${one.present_by ?? "files"}), `,
      words(one.absent), ` no (${one.absent_by}); ${one.holds === "present" ? "yes" : "no"} counts`)));
}

find("edit-form").addEventListener("submit", submit);
find("verb").addEventListener("change", choose);
find("other").addEventListener("input", forget);
