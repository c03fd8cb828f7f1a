// Requests to the server. A lost connection is waited out; everything else is an error with one sentence.
import { address, element, find, say } from "./dom.js";

export class Refused extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

// the server is away, restarts, or is asked too often: the same request may succeed later
const PASSING = new Set([0, 429, 502, 503, 504]);
export const isPassing = (error) => error instanceof Refused && PASSING.has(error.status);
export const pause = (seconds) => new Promise((resume) => setTimeout(resume, 1000 * seconds));

/** Ask once; `Refused` with status 0 if nobody answers. */
export async function ask(method, path, { body, file, ...options } = {}) {
  const headers = body === undefined ? {} : { "Content-Type": "application/json" };
  if (file) headers["Content-Type"] = "application/octet-stream";
  let response;
  try {
    response = await fetch(path, { method, headers, body: file ?? (body && JSON.stringify(body)), redirect: "error", ...options });
  } catch (error) {
    throw new Refused(0, "no connection");
  }
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  if (response.status === 401) showSignIn();
  throw new Refused(response.status, answer.error ?? `the server answered ${response.status}`);
}

/** Get an answer, however long the connection is away. */
export async function get(path, choices = {}) {
  for (;;) {
    try {
      return await ask("GET", address(path, choices));
    } catch (error) {
      if (!isPassing(error)) throw error;
      say("No connection. The page continues as soon as it is back.", { isProblem: true });
      await Promise.race([pause(2), new Promise((resume) => addEventListener("online", resume, { once: true }))]);
    }
  }
}

export const post = (path, body = {}) => ask("POST", path, { body });

/** Run an action of a button; its error becomes a sentence. */
export async function attempt(action) {
  try {
    return await action();
  } catch (error) {
    say(error.message, { isProblem: true });
    if (!(error instanceof Refused)) throw error;
    return undefined;
  }
}

/** Nothing is lost by signing in again: the page comes back to where it was. */
export function showSignIn() {
  const next = address("/sign-in", { next: location.pathname + location.search });
  find("waiting").replaceChildren("You are signed out. ", element("a", { href: next }, "Sign in again"), ". Nothing is lost.");
  find("waiting").hidden = false;
}
