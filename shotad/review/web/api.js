/** The server, seen from the page: JSON by GET and POST, and news by Server-Sent Events. */

import { faultText, problemText } from "./sentences.js";
import { text } from "./texts.js";

/** @typedef {import("./sentences.js").Fault} Fault */

const randomBytes = crypto.getRandomValues(new Uint8Array(8));
/** Id of this tab: changes that come back with it are our own. */
export const tab = Array.from(randomBytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Where this page lies on its server: "/", or "/films/ID/" where the server has the films of a folder. */
export const base = location.pathname.replace(/[^/]*$/u, "");

/**
 * @param {string} path As the server's answers have it, such as "/media/film".
 * @returns {string} Its address, below that of this page.
 */
export const addressOf = (path) => (path.startsWith("/") ? base + path.slice(1) : path);

/** An answer that is no success. `status` 0: the server was not reached at all. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {Fault} fault
   * @param {import("./store.js").Line[]} [lines] The lines as they are now, when the answer is a conflict (409).
   */
  constructor(status, fault, lines = []) {
    super(faultText(fault));
    this.name = "ApiError";
    this.status = status;
    this.what = problemText(fault);
    this.lines = lines;
  }
}

/** @type {Fault} */
export const GONE = {
  what: text("server.gone"),
  hint: text("server.gone.hint"),
};

/**
 * @param {string} path
 * @param {RequestInit} options
 * @returns {Promise<any>} The JSON of the answer. Throws ApiError.
 */
async function request(path, options) {
  let response;
  try {
    response = await fetch(addressOf(path), { credentials: "same-origin", cache: "no-store", ...options });
  } catch {
    throw new ApiError(0, GONE);
  }
  let body = null;
  try {
    body = await response.json();
  } catch (error) {
    // An answer cut off in the middle, or one that is no JSON at all.
    const isCut = response.ok && response.status !== 204;
    if (isCut) throw new ApiError(0, { what: text("server.cut_off"), hint: String(error) });
  }
  if (response.ok) return body;
  const fault = body?.error ?? { what: text("server.answered", { status: String(response.status) }), hint: "" };
  throw new ApiError(response.status, fault, body?.lines ?? []);
}

/**
 * @param {string} path
 * @returns {Promise<any>} The JSON of the answer. Throws ApiError.
 */
export const get = (path) => request(path, { headers: { Accept: "application/json" } });

/** Sends a body. The header tells the server that its own page asks. */
function send(path, type, body) {
  const headers = { Accept: "application/json", "Content-Type": type, "X-Shotad": "page" };
  return request(path, { method: "POST", headers, body });
}

/**
 * @param {string} path
 * @param {object} [data]
 * @returns {Promise<any>} The JSON of the answer. Throws ApiError.
 */
export const post = (path, data = {}) => send(path, "application/json", JSON.stringify(data));

/**
 * Sends a file as it is.
 *
 * @param {string} path
 * @param {Blob} file
 * @returns {Promise<any>} The JSON of the answer. Throws ApiError.
 */
export const upload = (path, file) => send(path, "application/octet-stream", file);

/** Names of events that the server sends. */
const EVENTS = [
  "hello", "change", "findings", "job", "playable", "heard", "film", "reviewer", "trouble", "bye", "waveform", "lengths",
  "subtitles", "films",
];
/** Milliseconds without a connection after which people are told. */
const PATIENCE = 1500;
/** Milliseconds until the page connects again where the browser has given up. */
const RETRY = 2000;
/** Milliseconds out of sight after which a tab gives its connection back: browsers have six for one server. */
const HIDDEN = 5000;

/**
 * Listens to the server's news until `close()`; not while the tab is out of sight. Each connection begins with
 * `hello` {revision, findings}, by which a page knows whether it missed something.
 *
 * @param {Record<string, (data: any) => void>} handlers By name of event; besides these `open` (connected, again or
 *   for the first time), `lost` (no connection for a while; once for each loss) and `rested` (the tab was out of
 *   sight and got no news meanwhile; `open` follows).
 * @returns {{close: () => void, retry: () => void}} `retry` tries at once.
 */
export function listen(handlers) {
  /** @type {EventSource|null} */
  let source = null;
  let lossTimer = 0; // runs while there is no connection and nobody has been told
  let retryTimer = 0;
  let hiddenTimer = 0;
  let isLossTold = false;

  const onLoss = () => {
    lossTimer = 0;
    isLossTold = true;
    handlers.lost?.();
  };
  const stopLossTimer = () => {
    clearTimeout(lossTimer);
    lossTimer = 0;
  };
  const connect = () => {
    clearTimeout(retryTimer);
    source?.close();
    const connection = new EventSource(addressOf("/api/events"));
    source = connection;
    connection.onopen = () => {
      stopLossTimer();
      isLossTold = false;
      handlers.open?.();
    };
    connection.onerror = () => {
      // A browser tries again by itself, each time with such an error; people are told once.
      if (!isLossTold && !lossTimer) lossTimer = setTimeout(onLoss, PATIENCE);
      // It gives up for good on an answer that is no event stream (a refusal, say): then the page connects again.
      if (source !== connection || connection.readyState !== EventSource.CLOSED) return;
      clearTimeout(retryTimer);
      retryTimer = setTimeout(connect, RETRY);
    };
    for (const name of EVENTS)
      connection.addEventListener(name, (event) => handlers[name]?.(event.data ? JSON.parse(event.data) : {}));
  };
  const close = () => {
    stopLossTimer();
    clearTimeout(retryTimer);
    source?.close();
    source = null;
  };
  const wake = () => {
    handlers.rested?.();
    connect();
  };
  document.addEventListener("visibilitychange", () => {
    clearTimeout(hiddenTimer);
    if (document.hidden) hiddenTimer = setTimeout(close, HIDDEN);
    else if (!source) wake();
  });
  addEventListener("pagehide", close); // a page that is left needs no banner about it
  addEventListener("pageshow", (event) => event.persisted && wake());
  connect();
  return { retry: connect, close };
}
