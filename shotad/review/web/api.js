/**
 * The server, seen from the page: JSON by GET and POST, and news by Server-Sent Events.
 *
 * @typedef {{what: string, hint: string}} Fault  What went wrong, and what to do.
 */

/** Id of this tab: changes that come back with it are our own. */
export const tab = Array.from(crypto.getRandomValues(new Uint8Array(8)), (b) => b.toString(16).padStart(2, "0")).join("");

/** Milliseconds without a connection after which people are told. */
const PATIENCE = 1500;
const RETRY = 2000;

/** An answer that is no success. `status` 0: the server was not reached at all. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {Fault} fault
   * @param {object[]} [lines] The lines as they are now, when the answer is a conflict (409).
   */
  constructor(status, fault, lines = []) {
    super(fault.hint ? `${fault.what} ${fault.hint}` : fault.what);
    this.name = "ApiError";
    this.status = status;
    this.what = fault.what;
    this.hint = fault.hint || "";
    this.lines = lines;
  }
}

export const GONE = { what: "The server is gone.", hint: "Start “shotad review” again; what you did is kept here." };

/**
 * @param {string} path
 * @param {RequestInit} init
 * @returns {Promise<any>}
 */
async function ask(path, init) {
  let answer;
  try {
    answer = await fetch(path, { credentials: "same-origin", cache: "no-store", ...init });
  } catch {
    throw new ApiError(0, GONE);
  }
  let body = null;
  try {
    body = await answer.json();
  } catch (error) {
    // An answer cut off in the middle, or one that is no JSON at all.
    if (answer.ok && answer.status !== 204) throw new ApiError(0, { what: "The server's answer was cut off.", hint: String(error) });
  }
  if (answer.ok) return body;
  const fault = body?.error ?? { what: `The server answered ${answer.status}.`, hint: "" };
  throw new ApiError(answer.status, fault, body?.lines ?? []);
}

/**
 * @param {string} path
 * @returns {Promise<any>} The JSON of the answer. Throws ApiError.
 */
export const get = (path) => ask(path, { headers: { Accept: "application/json" } });

/**
 * @param {string} path
 * @param {object} [body]
 * @returns {Promise<any>} The JSON of the answer. Throws ApiError.
 */
export const post = (path, body = {}) =>
  ask(path, {
    method: "POST",
    headers: { Accept: "application/json", "Content-Type": "application/json", "X-Shotad": "page" },
    body: JSON.stringify(body),
  });

/** Names of events that the server sends. */
const KINDS = ["hello", "change", "findings", "job", "playable", "heard", "film", "reviewer", "trouble", "bye", "waveform"];

/** Milliseconds out of sight after which a tab gives its connection back: browsers have six for one server. */
const HIDDEN = 5000;

/**
 * Listens to the server's news until `close()`; not while the tab is out of sight. Each connection begins with
 * `hello` {revision, findings}, by which a page knows whether it missed something.
 *
 * @param {Record<string, (data: any) => void>} handlers By kind of event; besides these `open` (connected,
 *   again or for the first time), `lost` (no connection for a while, told once for each loss) and `rested` (the
 *   tab was out of sight and heard nothing meanwhile; `open` follows).
 * @returns {{close: () => void, retry: () => void}} `retry` tries at once.
 */
export function events(handlers) {
  let source = null;
  let patience = 0; // runs while there is no connection and nobody has been told
  let again = 0;
  let told = false;

  const lost = () => {
    patience = 0;
    told = true;
    handlers.lost?.();
  };
  const calm = () => {
    clearTimeout(patience);
    patience = 0;
  };
  const connect = () => {
    clearTimeout(again);
    source?.close();
    const made = (source = new EventSource("/api/events"));
    source.onopen = () => {
      calm();
      told = false;
      handlers.open?.();
    };
    source.onerror = () => {
      // A browser tries again by itself, each time with such an error; people are told once.
      if (!told && !patience) patience = setTimeout(lost, PATIENCE);
      // It gives up for good on an answer that is no event stream (a refusal, say): then we ask again.
      if (source !== made || made.readyState !== EventSource.CLOSED) return;
      clearTimeout(again);
      again = setTimeout(connect, RETRY);
    };
    for (const kind of KINDS)
      source.addEventListener(kind, (event) => handlers[kind]?.(event.data ? JSON.parse(event.data) : {}));
  };
  const close = () => {
    calm();
    clearTimeout(again);
    source?.close();
    source = null;
  };
  const wake = () => {
    handlers.rested?.();
    connect();
  };
  let resting = 0;
  const seen = () => {
    clearTimeout(resting);
    if (document.hidden) resting = setTimeout(close, HIDDEN);
    else if (!source) wake();
  };
  document.addEventListener("visibilitychange", seen);
  addEventListener("pagehide", close); // a page that is left needs no banner about it
  addEventListener("pageshow", (event) => event.persisted && wake());
  connect();
  return { retry: connect, close };
}
