/** Films that are sent into the folder: one after the other, each with its progress. */

import { addressOf, post } from "./api.js";
import { make, setText } from "./build.js";
import { alert, say } from "./say.js";
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
      const { what: problem, hint } = request.response?.error ?? { what: `The server answered ${request.status}.` };
      return reject(new Error([problem, hint].filter(Boolean).join(" ")));
    });
    request.addEventListener("error", () => reject(new Error("The connection broke off. Send it again.")));
    request.addEventListener("abort", () => reject(new Error("Cancelled.")));
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}

/** Makes the row of a file that is sent. */
function makeRow(file) {
  const title = make("p", {}, `${file.name}, ${sizeText(file.size)}`);
  const bar = make("progress", { max: 1, value: 0, "aria-label": `Upload: ${file.name}` });
  const text = make("span", {}, "Waiting");
  const cancel = make("button", { type: "button", "aria-label": `Cancel: ${file.name}` }, "Cancel");
  const progress = make("div", { className: "film-progress" }, bar, text, cancel);
  return { row: make("li", { className: "upload" }, title, progress), bar, text, cancel };
}

/** Ends a row: its button becomes one that takes it away. */
function endRow({ row, bar, text, cancel }, state, words) {
  row.dataset.state = state;
  bar.hidden = true;
  setText(text, words);
  text.classList.toggle("fault", state === "failed");
  cancel.textContent = "Dismiss";
  cancel.setAttribute("aria-label", cancel.getAttribute("aria-label").replace("Cancel", "Dismiss"));
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
    setText(parts.text, "Sending");
    const showShare = (share) => {
      parts.bar.value = share;
      setText(parts.text, share < 1 ? `Sending ${Math.floor(share * 100)} %` : "Checking the film");
    };
    const { name } = await sendFile(file, showShare, signal);
    endRow(parts, "done", name === file.name ? "In the folder" : `In the folder, as ${name}`);
    say(`${name} is in the folder.`);
    return true;
  } catch (error) {
    if (signal.aborted) {
      endRow(parts, "stopped", "Cancelled");
      say(`${file.name}: cancelled.`);
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
    if (chosen.length) say(chosen.length === 1 ? `Sending ${chosen[0].name}.` : `Sending ${chosen.length} films.`);
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
