/** Films that are sent into the folder: one after the other, each with its progress. */

import { addressOf, post } from "./api.js";
import { make, setText } from "./build.js";
import { alert, say } from "./say.js";
import { faultText } from "./sentences.js";
import { percent, text } from "./texts.js";
import { about, sizeText } from "./wording.js";

const byId = (id) => document.getElementById(id);

let sendingCount = 0;

/**
 * Sends a file. `fetch` does not tell how far it is.
 *
 * @param {File} file
 * @param {(share: number) => void} onProgress  From 0 to 1.
 * @param {AbortSignal} signal
 * @returns {Promise<{name: string}>} Throws an Error with the reason for people.
 */
function sendFile(file, onProgress, signal) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", addressOf(`/api/films?name=${encodeURIComponent(file.name)}`));
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.setRequestHeader("Accept", "application/json");
    request.setRequestHeader("X-Shotad", "page");
    request.responseType = "json";
    request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(total ? loaded / total : 0));
    request.addEventListener("load", () => {
      if (request.status === 200) return resolve(request.response);
      const answered = text("server.answered", { status: String(request.status) });
      return reject(new Error(faultText(request.response?.error ?? { what: answered })));
    });
    request.addEventListener("error", () => reject(new Error(text("upload.broke_off"))));
    request.addEventListener("abort", () => reject(new Error(text("upload.cancelled_sentence"))));
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}

/** Makes the row of a file that is sent. */
function makeRow(file) {
  const title = make("p", {}, [file.name, sizeText(file.size)].join(", "));
  const bar = make("progress", { max: 1, value: 0, "aria-label": text("upload.progress", { file: file.name }) });
  const state = make("span", {}, text("upload.waiting"));
  const cancelLabel = text("upload.cancel_file", { file: file.name });
  const cancel = make("button", { type: "button", "aria-label": cancelLabel }, text("upload.cancel"));
  const progress = make("div", { className: "film-progress" }, bar, state, cancel);
  return { row: make("li", { className: "upload" }, title, progress), bar, state, cancel, name: file.name };
}

/** Ends a row: its button becomes one that takes it away. */
function endRow({ row, bar, state, cancel, name }, outcome, words) {
  row.dataset.state = outcome;
  bar.hidden = true;
  setText(state, words);
  state.classList.toggle("fault", outcome === "failed");
  cancel.textContent = text("upload.dismiss");
  cancel.setAttribute("aria-label", text("upload.dismiss_file", { file: name }));
  cancel.addEventListener("click", () => {
    row.remove();
    byId("upload-files").focus();
  });
}

/**
 * Sends one file of the queue, and says what came of it.
 *
 * @returns {Promise<boolean>} Whether it is in the folder now.
 */
async function upload(file, parts, signal) {
  try {
    signal.throwIfAborted();
    await post("/api/films/check", { name: file.name, size: file.size });
    setText(parts.state, text("upload.sending"));
    const showShare = (share) => {
      parts.bar.value = share;
      setText(
        parts.state,
        share < 1 ? text("upload.sending_share", { share: percent(share) }) : text("upload.checking"),
      );
    };
    const { name } = await sendFile(file, showShare, signal);
    endRow(parts, "done", name === file.name ? text("upload.done") : text("upload.done_as", { name }));
    say(text("upload.done_said", { file: name }));
    return true;
  } catch (error) {
    if (signal.aborted) {
      endRow(parts, "stopped", text("upload.cancelled"));
      say(text("upload.cancelled_said", { file: file.name }));
      return false;
    }
    endRow(parts, "failed", error.message);
    alert(about(file.name, error.message));
    return false;
  }
}

/**
 * Lets the form send films.
 *
 * @param {() => void} onAdded  Called when a film has arrived.
 */
export function startUploads(onAdded) {
  const form = byId("upload-form");
  const input = byId("upload-files");
  let lastUpload = Promise.resolve();
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const chosen = [...input.files];
    if (chosen.length === 1) say(text("upload.sending_film", { file: chosen[0].name }));
    else if (chosen.length) say(text("upload.sending_films", { count: chosen.length }));
    for (const file of chosen) {
      const stopping = new AbortController();
      const parts = makeRow(file);
      byId("uploads").append(parts.row);
      parts.cancel.addEventListener("click", () => stopping.abort(), { once: true });
      sendingCount += 1;
      lastUpload = lastUpload.then(async () => {
        const isAdded = await upload(file, parts, stopping.signal);
        sendingCount -= 1;
        if (isAdded) onAdded();
      });
    }
    form.reset();
  });
  addEventListener("beforeunload", (event) => sendingCount && event.preventDefault());
}
