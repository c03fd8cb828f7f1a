// Keys of a page; they rest while something is typed or a dialog is open.
import { find } from "./dom.js";

const TYPING = "input, textarea, select, [contenteditable]";
const PRESSED = "button, a, summary";

/** Bind {key: action}; "Ctrl+z" and "z" are different keys. Held keys repeat only for `repeating`. */
export function onKeys(actions, { repeating = [] } = {}) {
  document.addEventListener("keydown", (event) => {
    const key = `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${event.key.length === 1 ? event.key.toLowerCase() : event.key}`;
    const action = actions[key];
    if (!action || event.altKey || event.isComposing || event.defaultPrevented) return;
    if (event.target.closest(TYPING) || document.querySelector("dialog[open]")) return;
    if ((key === "Enter" || key === " ") && event.target.closest(PRESSED)) return;
    event.preventDefault();
    // a key that is held down must not decide pages that nobody has seen
    if (!event.repeat || repeating.includes(key)) action(event);
  });
}

/** The list of keys, for the key and the button. */
export function showKeys() {
  find("keys").showModal();
}

for (const dialog of document.querySelectorAll("dialog")) {
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
}
