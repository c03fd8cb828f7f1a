// Why a tag is proposed: the training pictures and the features that spoke for and against it.
import { get } from "./api.js";
import { bar, element, find, percent, thumbnail, words } from "./dom.js";

/** Open the dialog for one pair. */
export async function showWhy(picture, name, tag) {
  const content = find("why-content");
  find("why-title").replaceChildren("Why “", words(tag), "”?");
  content.replaceChildren(element("p", { class: "quiet" }, "Looking …"));
  find("why").showModal();
  try {
    const found = await get("/api/why", { picture, tag });
    const parts = [subject(picture, name, found), side("Speak for it", "for", found.for), side("Speak against it", "against", found.against), shares(found.features)];
    content.replaceChildren(...parts.filter((part) => part !== null));
  } catch (error) {
    content.replaceChildren(element("p", { class: "problem" }, error.message));
  }
}

function subject(picture, name, { probability, note }) {
  return element("div", { class: "subject" }, thumbnail(picture, name),
    element("div", {}, element("p", { class: "big" }, percent(probability)), element("p", { class: "quiet" }, words(name)), note ? element("p", {}, note) : null));
}

function side(title, kind, pictures) {
  if (!pictures?.length) return null;
  const most = Math.max(...pictures.map(({ contribution }) => Math.abs(contribution)), 1e-12);
  return element("section", { class: `side ${kind}` }, element("h3", {}, title), element("ul", {}, ...pictures.map((one) => element("li", {},
    one.picture ? element("a", { href: `/pictures/${one.picture}` }, thumbnail(one.picture, one.name)) : element("span", { class: "no-picture" }, words(one.name)),
    bar(Math.abs(one.contribution) / most),
    element("small", {}, one.present ? "has the tag" : "has it not")))));
}

/** What each set of features adds to the score: above zero it speaks for the tag. */
function shares(features) {
  const rows = Object.entries(features ?? {}).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  const whole = rows.reduce((sum, [, value]) => sum + Math.abs(value), 0);
  if (!(whole > 0)) return null;
  return element("section", { class: "shares" }, element("h3", {}, "What it looked at"), element("dl", {}, ...rows.map(([name, value]) =>
    element("div", { class: value < 0 ? "against" : "for" }, element("dt", {}, words(name)),
      element("dd", {}, bar(Math.abs(value) / whole), element("span", {}, `${percent(Math.abs(value) / whole)} ${value < 0 ? "against" : "for"}`))))));
}
