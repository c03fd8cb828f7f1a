// Queues and their filters come with the address; the page says which there are.
import { address, element, find, words } from "./dom.js";

const NAMES = { folder: "folder", state: "state", text: "text", start: "taken from", end: "taken to" };

/** "Only: folder harbour, from 2024-05-01", with a way back to everything. */
export function showFilters(path, choices) {
  const made = Object.entries(NAMES).filter(([key]) => choices[key]);
  const line = find("only");
  line.hidden = made.length === 0;
  const parts = made.flatMap(([key, name], i) => [`${i ? ", " : "Only: "}${name} `, words(choices[key])]);
  const rest = Object.fromEntries(Object.entries(choices).filter(([key]) => !(key in NAMES)));
  line.replaceChildren(...parts, " · ", element("a", { href: address(path, rest) }, "show all"));
}

/** Whether a queue of the list has a property, as the server wrote it beside its name. */
export const isOf = (queue, property) => [...find("queue").options].some((one) => one.value === queue && property in one.dataset);
