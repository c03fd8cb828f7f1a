// Decisions are kept in this browser until the server has acknowledged them.
// Each batch has a word of its own, so that sending it twice does not count twice.
import { ask, isPassing, pause } from "./api.js";
import { find, say, several } from "./dom.js";

const { person, archive } = document.body.dataset;
// of this archive and this person: another one signing in does not inherit what is waiting
const MINE = `tagrank/${encodeURIComponent(archive)}/${encodeURIComponent(person)}/`;
const LONGEST_PAUSE = 4;
// an error of the server itself may pass; after so many tries it is a refusal
const TRIES = 4;

const store = openStore();
const promises = new Map();
let isSending = false;
let n_given = 0;

/** Record answers; resolves once they are on the server's disk, rejects if they are refused. */
export function decide({ queue = "", answers = [], reviewed = [], unmarked = false, shown }) {
  return keep("/api/decisions", { request: newWord(), queue, answers, reviewed, unmarked, shown });
}

/** Take back the last step, or the one of a number, after everything that waits has been sent. */
export const undo = ({ batch, shown } = {}) => keep("/api/undo", { request: newWord(), batch, shown });

/** The queue and filters of a page, with which the server answers how much is left of them. */
export function shownOf(choices) {
  const made = ["queue", "tag", "folder", "state", "text", "start", "end"].filter((name) => choices[name]);
  return Object.fromEntries(made.map((name) => [name, choices[name]]));
}

/** What is not acknowledged yet, oldest first. */
export function waiting() {
  return store.keys().filter((key) => key.startsWith(MINE)).sort().map((key) => ({ key, ...JSON.parse(store.get(key)) }));
}

/** The pairs among them, as "picture tag": the server may still propose them. */
export function waitingPairs() {
  return new Set(waiting().flatMap(({ body }) => (body.answers ?? []).map(({ picture, tag }) => `${picture} ${tag}`)));
}

function keep(path, body) {
  n_given += 1;
  const key = `${MINE}${String(Date.now()).padStart(15, "0")}-${String(n_given).padStart(6, "0")}-${body.request}`;
  store.set(key, JSON.stringify({ path, body }));
  const promise = new Promise((resolve, reject) => promises.set(key, { resolve, reject }));
  deliver();
  return promise;
}

/** Send everything in order, one after the other; ends when nothing waits or nobody is signed in. */
export async function deliver() {
  if (isSending || !person) return;
  isSending = true;
  let reason = "";
  const slow = setTimeout(() => showWaiting(reason), 1500);
  let seconds = 1;
  let tries = 0;
  for (let [next] = waiting(); next; [next] = waiting()) {
    try {
      settle(next, "resolve", await ask("POST", next.path, { body: next.body, keepalive: true }));
      [seconds, tries] = [1, 0];
    } catch (error) {
      if (error.status === 401) break;
      tries += error.status >= 500 && !isPassing(error) && error.status !== 507 ? 1 : 0;
      if (isPassing(error) || (tries > 0 && tries < TRIES)) {
        reason = error.status === 0 ? ": no connection" : ": the server is busy";
        showWaiting(reason);
        await Promise.race([pause(seconds), new Promise((resume) => addEventListener("online", resume, { once: true }))]);
        seconds = Math.min(LONGEST_PAUSE, 2 * seconds);
      } else {
        settle(next, "reject", error);
        tries = 0;
      }
    }
  }
  clearTimeout(slow);
  isSending = false;
  if (waiting().length === 0) find("waiting").hidden = true;
}

function settle({ key, path }, how, result) {
  store.remove(key);
  if (how === "reject") say(`${path === "/api/undo" ? "Not undone" : "Not recorded"}: ${result.message}`, { isProblem: true });
  promises.get(key)?.[how](result);
  promises.delete(key);
}

function showWaiting(reason) {
  const n_decisions = waiting().reduce((sum, { body }) => sum + Math.max(1, body.answers?.length ?? 1), 0);
  if (n_decisions === 0) return;
  find("waiting").textContent = `${several(n_decisions, "decision is", "decisions are")} waiting to be saved${reason}`;
  find("waiting").hidden = false;
}

export function newWord() {
  // randomUUID exists only where the page came encrypted or from this machine
  if (crypto.randomUUID) return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function openStore() {
  const kept = new Map();
  const memory = {
    keys: () => [...kept.keys()],
    get: (key) => kept.get(key),
    set: (key, text) => kept.set(key, text),
    remove: (key) => kept.delete(key),
  };
  try {
    localStorage.setItem("tagrank/test", "");
    localStorage.removeItem("tagrank/test");
  } catch (error) {
    return memory;
  }
  return {
    keys: () => [...new Set([...Object.keys(localStorage), ...kept.keys()])],
    get: (key) => localStorage.getItem(key) ?? kept.get(key),
    // a full store must not stop the work: the batch then lives as long as the page
    set: (key, text) => { try { localStorage.setItem(key, text); } catch (error) { memory.set(key, text); } },
    remove: (key) => { localStorage.removeItem(key); kept.delete(key); },
  };
}

addEventListener("online", deliver);
document.addEventListener("visibilitychange", () => document.hidden || deliver());
deliver();
