// Why a tag is proposed: the training pictures and the features that spoke for and against it.
import { get } from "./api.js";
import { bar, element, find, percent, small, thumbnail, words } from "./dom.js";

/** Open the dialog for one pair; its probability is that of the page, by models that did not see the picture. */
export async function showWhy(picture, name, { tag, probability }) {
  const content = find("why-content");
  find("why-title").replaceChildren("Why “", words(tag), "”?");
  content.replaceChildren(element("p", { class: "quiet" }, "Loading …"));
  find("why").showModal();
  try {
    const found = await get("/api/why", { picture, tag });
    const sides = [side("For the tag", "for", found.for), side("Against the tag", "against", found.against)];
    const parts = [subject(picture, name, probability, found.note), others(found.known), ...sides, shares(found.features)];
    content.replaceChildren(...parts.filter((part) => part !== null));
  } catch (error) {
    content.replaceChildren(element("p", { class: "problem" }, error.message));
  }
}

function subject(picture, name, probability, note) {
  const about = [element("p", { class: "big" }, percent(probability)), element("p", { class: "quiet" }, words(name))];
  return element("div", { class: "subject" }, thumbnail(picture, name),
    element("div", {}, ...about, note ? element("p", {}, note) : null));
}

/** The tags of the picture that speak for this one, and those that speak against it. */
function others(known) {
  const told = (isFor) => (known ?? []).filter(({ contribution }) => (contribution > 0) === isFor)
    .flatMap(({ tag, present }, i) => [i ? ", " : "", present ? "" : "not ", words(tag)]);
  const [up, down] = [told(true), told(false)];
  if (!up.length && !down.length) return null;
  return element("p", {}, ...(up.length ? ["More probable because of the tags ", ...up, ". "] : []),
    ...(down.length ? ["Less probable because of the tags ", ...down, "."] : []));
}

function side(title, kind, pictures) {
  if (!pictures?.length) return null;
  const most = Math.max(...pictures.map(({ contribution }) => Math.abs(contribution)), 1e-12);
  const items = pictures.map((one) => element("li", {}, pictureOf(one), bar(Math.abs(one.contribution) / most),
    small(one.present ? "has the tag" : "does not have the tag")));
  return element("section", { class: `side ${kind}` }, element("h3", {}, title), element("ul", {}, ...items));
}

function pictureOf({ picture, name }) {
  if (!picture) return element("span", { class: "no-picture" }, words(name));
  return element("a", { href: `/pictures/${picture}` }, thumbnail(picture, name));
}

/** What each set of features adds to the score: above zero it speaks for the tag. */
function shares(features) {
  const rows = Object.entries(features ?? {}).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  const whole = rows.reduce((sum, [, value]) => sum + Math.abs(value), 0);
  if (!(whole > 0)) return null;
  const lines = rows.map(([name, value]) => {
    const [share, kind] = [Math.abs(value) / whole, value < 0 ? "against" : "for"];
    const figures = element("dd", {}, bar(share), element("span", {}, `${percent(share)} ${kind}`));
    return element("div", { class: kind }, element("dt", {}, words(name)), figures);
  });
  return element("section", { class: "shares" }, element("h3", {}, "Features"), element("dl", {}, ...lines));
}
