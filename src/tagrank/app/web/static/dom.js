// Small parts of every page. Whatever comes from data goes in as text, never as markup.

export const find = (id) => document.getElementById(id);

/** An element with attributes and children; strings become text. */
export function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same for drawings. */
export function drawn(name, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(key, value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** Text from data, kept apart from the direction of the text around it; what cannot be seen is shown by its number. */
export const words = (text) => element("bdi", {}, visible(String(text)));

// all but the two joiners, which scripts and pictograms need
const HIDDEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;
const visible = (text) =>
  text.replace(HIDDEN, (hidden) => `‹U+${hidden.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}›`);

export const small = (...children) => element("small", {}, ...children);

/** A table of texts and elements; the first of a row is its heading. On a telephone each cell stands below its head. */
export function table(heads, rows) {
  const head = element("tr", {}, ...heads.map((name) => element("th", { scope: "col" }, name)));
  const lines = rows.map(([first, ...rest]) =>
    element("tr", {}, element("th", { scope: "row" }, first), ...rest.map((cell, i) => element("td", { "data-head": heads[i + 1] }, cell))));
  return element("table", {}, element("thead", {}, head), element("tbody", {}, ...lines));
}

/** A bar of a share between 0 and 1. */
export function bar(share) {
  const inner = element("i");
  inner.style.width = `${100 * Math.min(1, Math.max(0, share))}%`;
  return element("span", { class: "bar", "aria-hidden": "true" }, inner);
}

/** Where a picture that is `width` pixels wide on the page comes from; the server keeps two sizes. */
export const thumbnailAddress = (id, width = 150) => `/thumbnails/${id}?side=${width * devicePixelRatio > 190 ? 512 : 256}`;

/** A small picture whose box does not depend on when it comes. */
export function thumbnail(id, name, width) {
  const box = { width: 256, height: 256, loading: "lazy", decoding: "async", draggable: "false" };
  return element("img", { src: thumbnailAddress(id, width), alt: name, ...box });
}

const NUMBER = new Intl.NumberFormat("en");
export const count = (number) => NUMBER.format(number);
export const several = (number, one, more = `${one}s`) => `${count(number)} ${number === 1 ? one : more}`;

/** A probability in words; a model never is quite sure. */
export function percent(share) {
  if (share === null || share === undefined) return "–";
  return share > 0.995 ? "> 99 %" : share < 0.005 ? "< 1 %" : `${Math.round(100 * share)} %`;
}

/** A figure of quality with three digits. */
export function figure(value) {
  if (typeof value !== "number") return String(value ?? "–");
  return Number.isInteger(value) ? count(value) : value.toFixed(3);
}

/** When it was, as people say it. */
export function when(text) {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return String(text ?? "");
  const minutes = Math.round((Date.now() - date) / 60000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${several(minutes, "minute")} ago`;
  const isToday = new Date().toDateString() === date.toDateString();
  return date.toLocaleString("en-GB", isToday ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" });
}

let quietAgain;

/** Say what happened, to eyes and to screen readers. */
export function say(text, { isProblem = false } = {}) {
  const said = find("said");
  said.textContent = text;
  said.classList.toggle("problem", isProblem);
  clearTimeout(quietAgain);
  quietAgain = setTimeout(() => { said.textContent = ""; }, isProblem ? 12000 : 5000);
}

/** What stands where there is nothing to show. */
export function showEmpty(title, text, ...links) {
  find("empty").replaceChildren(element("h2", {}, title), element("p", {}, text), element("p", { class: "buttons" }, ...links));
  find("empty").hidden = false;
}

export const link = (href, text, kind = "button") => element("a", { href, class: kind }, text);

/** What the address of the page asks for. */
export const asked = () => Object.fromEntries(new URLSearchParams(location.search));

/** An address with those choices that are made. */
export function address(path, choices) {
  const made = Object.entries(choices).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return made.length ? `${path}?${new URLSearchParams(made)}` : path;
}

/** Note the choices in the address of the page, so that it can be loaded again. */
export const note = (path, choices) => history.replaceState(null, "", address(path, choices));
