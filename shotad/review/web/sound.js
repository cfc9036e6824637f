/**
 * A prepared sound and the film beside it: the sound leads, the muted picture follows.
 */

/** Seconds that the picture may be off before it is made to run faster or slower. */
const DRIFT = 0.08;
/** Seconds at which it jumps instead. */
const JUMP = 0.5;
/** Seconds within which it runs at its own pace again. */
const NEAR = 0.03;
/** Share by which it runs faster or slower, at most. */
const HASTE = 0.25;
/** Milliseconds to wait for the picture: the sound does not wait for ever. */
const PATIENCE = 1500;

/**
 * How fast the picture should run, and whether it should jump.
 *
 * @param {number} drift  Seconds by which the picture is ahead of the sound.
 * @param {number} rate  Its pace now.
 * @returns {{rate: number, jump: boolean}}
 */
export function follow(drift, rate) {
  const off = Math.abs(drift);
  if (off > JUMP) return { rate: 1, jump: true };
  if (off > DRIFT || (rate !== 1 && off > NEAR))
    return { rate: 1 - Math.sign(drift) * Math.min(HASTE, Math.max(0.05, off)), jump: false };
  return { rate: 1, jump: false };
}

/** Waits for an event, but not for ever. */
const once = (target, name, limit = PATIENCE) =>
  new Promise((go) => {
    const timer = setTimeout(go, limit);
    target.addEventListener(name, () => (clearTimeout(timer), go()), { once: true });
  });

/** Sound and picture side by side. */
export class Beside {
  /**
   * @param {HTMLAudioElement} audio
   * @param {HTMLVideoElement} video
   * @param {{moment: (seconds: number) => void, ended: () => void}} told
   */
  constructor(audio, video, told) {
    [this.audio, this.video, this.told] = [audio, video, told];
    this.offset = 0;
    this.running = false;
    this.picture = false;
    this.turn = 0;
    audio.addEventListener("ended", () => this.running && told.ended());
  }

  /** Film second that is heard now. */
  get seconds() {
    return this.offset + this.audio.currentTime;
  }

  /**
   * Starts both. False if it was stopped before it began, or the sound cannot be played (thrown as the browser says).
   *
   * @param {string} url
   * @param {number} start  Film second of the sound's first sample.
   * @param {boolean} picture  Whether there is a film that can be shown.
   */
  async start(url, start, picture) {
    const turn = (this.turn += 1);
    const { audio, video } = this;
    [this.offset, this.picture] = [start, picture];
    audio.src = url;
    const waits = [once(audio, "canplay", 10000)];
    if (picture) {
      video.pause();
      [video.muted, video.playbackRate] = [true, 1];
      if (Math.abs(video.currentTime - start) > 0.01) {
        waits.push(once(video, "seeked"));
        video.currentTime = start;
      }
    }
    await Promise.all(waits);
    if (turn !== this.turn) return false;
    await Promise.all([audio.play(), picture ? video.play().catch(() => {}) : null]);
    if (turn !== this.turn) return false;
    this.running = true;
    this.watch(turn);
    return true;
  }

  /** Looks after each picture of the screen whether both are together. */
  watch(turn) {
    if (turn !== this.turn || !this.running) return;
    const { audio, video } = this;
    if (this.picture && !video.seeking && video.readyState >= 2 && audio.currentTime > 0 && !audio.paused) {
      const { rate, jump } = follow(video.currentTime - this.seconds, video.playbackRate);
      if (jump) video.currentTime = this.seconds + 0.05;
      if (video.playbackRate !== rate) video.playbackRate = rate;
      if (video.paused && !video.ended) video.play().catch(() => {});
    }
    this.told.moment(this.seconds);
    requestAnimationFrame(() => this.watch(turn));
  }

  /** Stops both. */
  stop() {
    this.turn += 1;
    this.running = false;
    this.audio.pause();
    this.audio.removeAttribute("src");
    this.audio.load();
    if (this.picture) this.video.pause();
    this.video.playbackRate = 1;
    this.video.muted = false;
  }
}
