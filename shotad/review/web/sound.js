/**
 * The film's sound, which the server makes while it is played, and the picture beside it: the sound leads, the muted
 * picture follows.
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
/** Seconds that a new sound may be off when it takes over. */
const SEAM = 0.1;

/**
 * How much faster the picture should run than the sound, and whether it should jump.
 *
 * @param {number} drift  Seconds by which the picture is ahead of the sound.
 * @param {number} haste  How much faster it runs now; 1 as fast.
 * @returns {{haste: number, jump: boolean}}
 */
export function pictureCorrection(drift, haste) {
  const off = Math.abs(drift);
  if (off > JUMP) return { haste: 1, jump: true };
  if (off > DRIFT || (haste !== 1 && off > NEAR))
    return { haste: 1 - Math.sign(drift) * Math.min(HASTE, Math.max(0.05, off)), jump: false };
  return { haste: 1, jump: false };
}

/**
 * Waits for an event of an element.
 *
 * @param {EventTarget} target
 * @param {string} name
 * @param {{signal: AbortSignal, limit?: number}} options  Ends at the latest with the signal, or after `limit` ms.
 * @returns {Promise<void>}
 */
function event(target, name, { signal, limit = Infinity }) {
  return new Promise((resolve) => {
    const timer = limit < Infinity ? setTimeout(resolve, limit) : 0;
    const done = () => (clearTimeout(timer), resolve());
    target.addEventListener(name, done, { once: true, signal });
    if (signal.aborted) done();
    else signal.addEventListener("abort", done, { once: true });
  });
}

/** Waits until an element can play on. Throws where its sound cannot be played. */
async function playable(audio, signal) {
  if (audio.readyState >= HTMLMediaElement.HAVE_FUTURE_DATA) return;
  const failing = event(audio, "error", { signal });
  await Promise.race([event(audio, "canplay", { signal }), failing]);
  if (!signal.aborted && audio.error) throw new Error(audio.error.message || "it cannot be read");
}

/** Lets go of what an element plays: the server stops making it. */
function drop(audio) {
  audio.pause();
  if (!audio.hasAttribute("src")) return;
  audio.removeAttribute("src");
  audio.load();
}

/** Sound and picture side by side. */
export class Sound {
  /**
   * @param {HTMLAudioElement} audio
   * @param {HTMLAudioElement} spare  Plays what takes over from `audio`, and the other way round.
   * @param {HTMLVideoElement} video  Always muted.
   * @param {{moment: (seconds: number) => void, ended: () => void, broken: () => void}} told
   */
  constructor(audio, spare, video, told) {
    [this.audio, this.spare, this.video, this.told] = [audio, spare, video, told];
    this.offset = 0;
    this.speed = 1;
    this.haste = 1;
    this.running = false;
    this.picture = false;
    this.playing = new AbortController();
    this.changing = new AbortController();
    for (const element of [audio, spare]) {
      element.addEventListener("ended", () => element === this.audio && this.running && told.ended());
      element.addEventListener("error", () => element === this.audio && this.running && told.broken());
      // Where nothing is drawn, as in a tab out of sight, this is all that tells how far it is.
      element.addEventListener("timeupdate", () => element === this.audio && this.running && told.moment(this.seconds));
    }
  }

  /** Film second that is heard now. */
  get seconds() {
    return this.offset + this.audio.currentTime;
  }

  /** @param {number} level  0 to 1. */
  set volume(level) {
    this.audio.volume = this.spare.volume = level;
  }

  /** @param {number} speed  Times as fast; the pitch stays. */
  setSpeed(speed) {
    this.speed = speed;
    for (const audio of [this.audio, this.spare]) audio.playbackRate = audio.defaultPlaybackRate = speed;
    this.video.playbackRate = speed * this.haste;
  }

  /**
   * Plays a sound, and the film beside it.
   *
   * @param {string} url
   * @param {number} start  Film second of the sound's first sample.
   * @param {boolean} picture  Whether there is a film that can be shown.
   * @returns {Promise<boolean>} False if it was stopped before it began. Throws where it cannot be played.
   */
  async start(url, start, picture) {
    this.stop();
    const { audio, video } = this;
    const playing = (this.playing = new AbortController());
    [this.offset, this.picture] = [start, picture];
    audio.src = url;
    this.setSpeed(this.speed);
    const waits = [playable(audio, playing.signal)];
    if (picture && Math.abs(video.currentTime - start) > 0.01) {
      video.currentTime = start;
      waits.push(event(video, "seeked", { signal: playing.signal, limit: PATIENCE }));
    }
    await Promise.all(waits);
    if (playing.signal.aborted) return false;
    if (picture) video.play().catch(() => {}); // the sound does not wait for it
    await audio.play();
    if (playing.signal.aborted) return false;
    this.running = true;
    this.watch(playing);
    return true;
  }

  /**
   * Lets another sound take over where this one is: it is loaded beside it and begins when it can.
   *
   * @param {(seconds: number) => string} urlFrom  Address of the new sound from a film second on.
   * @returns {Promise<boolean>} Whether it took over; not where it was stopped or changed again meanwhile.
   */
  async change(urlFrom) {
    this.changing.abort();
    const changing = (this.changing = new AbortController());
    const signal = AbortSignal.any([changing.signal, this.playing.signal]);
    const { audio: old, spare } = this;
    const start = Math.floor(this.seconds * 1000) / 1000;
    drop(spare);
    spare.src = urlFrom(start);
    spare.playbackRate = this.speed;
    try {
      await playable(spare, signal);
      // The old sound went on meanwhile.
      for (let late = this.seconds - start; !signal.aborted && Math.abs(late - spare.currentTime) > SEAM; late = this.seconds - start) {
        const sought = event(spare, "seeked", { signal });
        spare.currentTime = late;
        await sought;
        await playable(spare, signal);
      }
      if (!signal.aborted) await spare.play();
    } catch (error) {
      drop(spare);
      throw error;
    }
    if (signal.aborted) {
      if (this.spare === spare && this.changing === changing) drop(spare);
      return false;
    }
    [this.audio, this.spare, this.offset] = [spare, old, start];
    drop(old);
    return true;
  }

  /**
   * Goes to another second of what is played.
   *
   * @param {number} seconds  Of the film.
   * @returns {boolean} False where the browser does not have it: it must be started from there.
   */
  seek(seconds) {
    const { audio } = this;
    const at = seconds - this.offset;
    const loaded = Array.from({ length: audio.buffered.length }, (_, i) => [audio.buffered.start(i), audio.buffered.end(i)]);
    if (!this.running || !loaded.some(([from, to]) => at >= from && at < to - 0.2)) return false;
    audio.currentTime = at;
    if (this.picture) this.video.currentTime = seconds;
    return true;
  }

  /** Looks at each picture of the screen whether both are together. */
  watch(playing) {
    if (playing.signal.aborted) return;
    const { audio, video } = this;
    if (this.picture && !video.seeking && video.readyState >= 2 && audio.currentTime > 0 && !audio.paused && !audio.seeking) {
      const { haste, jump } = pictureCorrection(video.currentTime - this.seconds, this.haste);
      if (jump) video.currentTime = this.seconds + 0.05 * this.speed;
      this.haste = haste;
      const pace = this.speed * haste;
      if (video.playbackRate !== pace) video.playbackRate = pace;
      if (video.paused && !video.ended) video.play().catch(() => {});
    }
    this.told.moment(this.seconds);
    requestAnimationFrame(() => this.watch(playing));
  }

  /** Stops both. */
  stop() {
    this.playing.abort();
    this.changing.abort();
    this.running = false;
    for (const audio of [this.audio, this.spare]) drop(audio);
    if (this.picture) this.video.pause();
    this.haste = 1;
  }
}
