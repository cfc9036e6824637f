/**
 * The film's sound, which the server makes while it is played, and the picture beside it: the sound leads, the muted
 * picture follows.
 */

import { text } from "./texts.js";

/** Seconds that the picture may be off before it is made to run faster or slower. */
const DRIFT = 0.08;
/** Seconds at which it jumps instead. */
const JUMP = 0.5;
/** Seconds within which it runs at its own pace again. */
const NEAR = 0.03;
/** Share by which it runs faster or slower: at least, at most. */
const [LEAST_HASTE, MOST_HASTE] = [0.05, 0.25];
/** Seconds that it jumps ahead of the sound: it needs about that long to jump. */
const JUMP_LEAD = 0.05;
/** Milliseconds to wait for the picture: the sound does not wait for ever. */
const PATIENCE = 1500;
/** Seconds that a new sound may be off when it takes over. */
const SEAM = 0.1;
/** Seconds before the end of what is loaded from which the browser may have to wait. */
const LOADED_EDGE = 0.2;

/**
 * How much faster the picture should run than the sound, and whether it should jump.
 *
 * @param {number} drift  Seconds by which the picture is ahead of the sound.
 * @param {number} haste  How much faster it runs now; 1 as fast.
 * @returns {{haste: number, jump: boolean}}
 */
function pictureCorrection(drift, haste) {
  const distance = Math.abs(drift);
  if (distance > JUMP) return { haste: 1, jump: true };
  const isCorrecting = haste !== 1;
  if (distance <= DRIFT && !(isCorrecting && distance > NEAR)) return { haste: 1, jump: false };
  const share = Math.min(MOST_HASTE, Math.max(LEAST_HASTE, distance));
  return { haste: 1 - Math.sign(drift) * share, jump: false };
}

/**
 * Waits for an event of an element.
 *
 * @param {EventTarget} target
 * @param {string} name
 * @param {{signal: AbortSignal, limit?: number}} options  Ends at the latest with the signal, or after `limit` ms.
 * @returns {Promise<void>}
 */
function nextEvent(target, name, { signal, limit = Infinity }) {
  return new Promise((resolve) => {
    const timer = limit < Infinity ? setTimeout(resolve, limit) : 0;
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    target.addEventListener(name, end, { once: true, signal });
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}

/** Waits until an element can play on. Throws where its sound cannot be played. */
async function whenPlayable(audio, signal) {
  if (audio.readyState >= HTMLMediaElement.HAVE_FUTURE_DATA) return;
  await Promise.race([nextEvent(audio, "canplay", { signal }), nextEvent(audio, "error", { signal })]);
  if (!signal.aborted && audio.error) throw new Error(audio.error.message || text("player.unreadable"));
}

/** Lets go of what an element plays: the server stops making it. */
function unload(audio) {
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
   * @param {{onMoment: (seconds: number) => void, onEnd: () => void, onBreak: () => void}} handlers  onMoment: with
   *   each picture of the screen while it plays.
   */
  constructor(audio, spare, video, handlers) {
    [this.audio, this.spare, this.video, this.handlers] = [audio, spare, video, handlers];
    /** Film second of the sound's first sample. */
    this.offset = 0;
    this.speed = 1;
    this.haste = 1;
    this.isRunning = false;
    /** Whether the film is shown beside the sound. */
    this.hasPicture = false;
    this.playing = new AbortController();
    this.changing = new AbortController();
    for (const element of [audio, spare]) {
      const isHeard = () => element === this.audio && this.isRunning;
      element.addEventListener("ended", () => isHeard() && handlers.onEnd());
      element.addEventListener("error", () => isHeard() && handlers.onBreak());
      // Where nothing is drawn, as in a tab out of sight, only this says how far it is.
      element.addEventListener("timeupdate", () => isHeard() && handlers.onMoment(this.seconds));
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
   * @param {boolean} hasPicture  Whether there is a film that can be shown.
   * @returns {Promise<boolean>} False if it was stopped before it began. Throws where it cannot be played.
   */
  async start(url, start, hasPicture) {
    this.stop();
    const { audio, video } = this;
    const playing = new AbortController();
    this.playing = playing;
    [this.offset, this.hasPicture] = [start, hasPicture];
    audio.src = url;
    this.setSpeed(this.speed);
    const waits = [whenPlayable(audio, playing.signal)];
    if (hasPicture && Math.abs(video.currentTime - start) > 0.01) {
      video.currentTime = start;
      waits.push(nextEvent(video, "seeked", { signal: playing.signal, limit: PATIENCE }));
    }
    await Promise.all(waits);
    if (playing.signal.aborted) return false;
    if (hasPicture) video.play().catch(() => {}); // the sound does not wait for it
    await audio.play();
    if (playing.signal.aborted) return false;
    this.isRunning = true;
    this.watch(playing);
    return true;
  }

  /**
   * Lets another sound take over where this one is: it is loaded beside it and begins when it can.
   *
   * @param {(seconds: number) => string} urlFrom  Address of the new sound from a film second on.
   * @returns {Promise<boolean>} Whether it took over; not where it was stopped or changed again meanwhile. Throws
   *   where it cannot be played.
   */
  async change(urlFrom) {
    this.changing.abort();
    const changing = new AbortController();
    this.changing = changing;
    const signal = AbortSignal.any([changing.signal, this.playing.signal]);
    const { audio: old, spare } = this;
    const start = Math.floor(this.seconds * 1000) / 1000;
    unload(spare);
    spare.src = urlFrom(start);
    spare.playbackRate = this.speed;
    try {
      await whenPlayable(spare, signal);
      await this.catchUp(spare, start, signal);
      if (!signal.aborted) await spare.play();
    } catch (error) {
      unload(spare);
      throw error;
    }
    if (signal.aborted) {
      if (this.spare === spare && this.changing === changing) unload(spare);
      return false;
    }
    [this.audio, this.spare, this.offset] = [spare, old, start];
    unload(old);
    return true;
  }

  /** Brings a new sound, which begins at a film second, to where the old one is, which goes on meanwhile. */
  async catchUp(spare, start, signal) {
    const isOff = () => Math.abs(this.seconds - start - spare.currentTime) > SEAM;
    while (!signal.aborted && isOff()) {
      const seeked = nextEvent(spare, "seeked", { signal });
      spare.currentTime = this.seconds - start;
      await seeked;
      await whenPlayable(spare, signal);
    }
  }

  /**
   * Goes to another second of what is played.
   *
   * @param {number} seconds  Of the film.
   * @returns {boolean} False where the browser does not have it: it must be started from there.
   */
  seek(seconds) {
    const { audio } = this;
    const place = seconds - this.offset;
    if (!this.isRunning || !this.isLoaded(place)) return false;
    audio.currentTime = place;
    if (this.hasPicture) this.video.currentTime = seconds;
    return true;
  }

  /** Whether the browser has a place of the sound, in seconds from its first sample. */
  isLoaded(place) {
    const { buffered } = this.audio;
    for (let i = 0; i < buffered.length; i += 1)
      if (place >= buffered.start(i) && place < buffered.end(i) - LOADED_EDGE) return true;
    return false;
  }

  /** With each picture of the screen: brings film and sound together, and says where they are. */
  watch(playing) {
    if (playing.signal.aborted) return;
    const { audio, video } = this;
    const isPictureReady = this.hasPicture && !video.seeking && video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA;
    const isSoundGoing = audio.currentTime > 0 && !audio.paused && !audio.seeking;
    if (isPictureReady && isSoundGoing) this.correctPicture();
    this.handlers.onMoment(this.seconds);
    requestAnimationFrame(() => this.watch(playing));
  }

  correctPicture() {
    const { video } = this;
    const { haste, jump } = pictureCorrection(video.currentTime - this.seconds, this.haste);
    if (jump) video.currentTime = this.seconds + JUMP_LEAD * this.speed;
    this.haste = haste;
    const rate = this.speed * haste;
    if (video.playbackRate !== rate) video.playbackRate = rate;
    if (video.paused && !video.ended) video.play().catch(() => {});
  }

  /** Stops both. */
  stop() {
    this.playing.abort();
    this.changing.abort();
    this.isRunning = false;
    for (const audio of [this.audio, this.spare]) unload(audio);
    if (this.hasPicture) this.video.pause();
    this.haste = 1;
  }
}
