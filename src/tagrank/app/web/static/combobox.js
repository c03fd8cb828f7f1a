// A field for a tag with completion, as WAI-ARIA describes an editable combobox with a list.
import { get } from "./api.js";
import { element, say, words } from "./dom.js";

/**
 * `choose(tag, isNew)` is called with what was chosen; without `allowNew` only a tag that there is, or "".
 * A tag that there is not is made only when it is asked for twice, or picked from the list.
 */
export function combobox(input, { choose, leave = () => {}, allowNew = false }) {
  const list = document.getElementById(input.getAttribute("aria-controls"));
  let options = [];
  let active = -1;
  let asked = 0;
  let doubted = null;

  async function suggest() {
    const text = input.value.trim();
    const turn = ++asked;
    const { tags, known } = await get("/api/complete", { text });
    if (turn !== asked || document.activeElement !== input) return;
    options = tags.map((tag) => ({ tag, isNew: false }));
    if (allowNew && text && !known) options.push({ tag: text, isNew: true });
    show();
  }

  function show() {
    active = -1;
    input.removeAttribute("aria-activedescendant");
    list.replaceChildren(...options.map(({ tag, isNew }, i) => element("li", {
      id: `${list.id}-${i}`, role: "option", "aria-selected": "false", pointerdown: (event) => { event.preventDefault(); take(i); },
    }, words(tag), isNew ? element("small", {}, " new tag") : null)));
    open(options.length > 0);
  }

  function open(isOpen) {
    list.hidden = !isOpen;
    input.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) input.removeAttribute("aria-activedescendant");
  }

  function move(step) {
    if (list.hidden) return void suggest();
    if (options.length) choosing((active + step + options.length + (active < 0 && step < 0 ? 1 : 0)) % options.length);
  }

  function choosing(place) {
    active = place;
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === active)));
    list.children[active].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", list.children[active].id);
  }

  function take(i) {
    asked += 1;
    doubted = null;
    input.value = options[i].tag;
    open(false);
    choose(options[i].tag, options[i].isNew);
  }

  async function takeTyped() {
    const tag = input.value.trim();
    const turn = ++asked;
    open(false);
    if (tag === "") return void choose("", false);
    if (tag === doubted) { doubted = null; return void choose(tag, true); }
    // what is known may be still on its way: whether a tag is new is for the server to say
    const { tags, known, near, meant } = await get("/api/complete", { text: tag });
    if (turn !== asked || input.value.trim() !== tag) return;
    if (meant) { say(`“${tag}” is “${meant}”.`); input.value = meant; choose(meant, false); }
    else if (known) choose(tag, false);
    else if (!allowNew && tags.length) { input.value = tags[0]; choose(tags[0], false); }
    else ask(tag, [...new Set([...near, ...tags])].slice(0, 4));
  }

  /** Nobody used this tag yet: offer those that are written like it, and make it if Enter is pressed again. */
  function ask(tag, near) {
    options = near.map((known) => ({ tag: known, isNew: false }));
    const offered = near.length ? ` Did you mean ${near.map((known) => `“${known}”`).join(", ")}?` : "";
    if (allowNew) { options.push({ tag, isNew: true }); doubted = tag; }
    else input.setAttribute("aria-invalid", "true");
    input.focus();
    show();
    if (allowNew) choosing(options.length - 1);
    say(allowNew ? `“${tag}” is not a tag yet.${offered} Enter again makes it a new tag.` : `The tag “${tag}” is unknown.${offered}`, { isProblem: true });
  }

  function escape() {
    if (!list.hidden) return void open(false);
    input.value = "";
    input.blur();
    leave();
  }

  function enter() {
    clearTimeout(later);
    if (active >= 0 && !list.hidden) take(active);
    else takeTyped();
  }

  let later;
  const keys = { ArrowDown: () => move(1), ArrowUp: () => move(-1), Escape: escape, Enter: enter };
  input.addEventListener("input", () => { doubted = null; input.removeAttribute("aria-invalid"); clearTimeout(later); later = setTimeout(suggest, 80); });
  input.addEventListener("blur", () => { clearTimeout(later); asked += 1; open(false); });
  input.addEventListener("click", () => list.hidden && suggest());
  input.addEventListener("keydown", (event) => {
    if (event.isComposing || !(event.key in keys)) return;
    event.preventDefault();
    // a key that is held down must not answer the question that it asked
    if (event.key !== "Enter" || !event.repeat) keys[event.key]();
  });
  return { take: takeTyped };
}
