"""What a browser shows of a test film at which second, and when its sound is heard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.media import BITS, COLUMNS

_PAGE = "http://shotad.test/"

_LOAD = """
async (type) => {
  const data = await (await fetch('/film')).blob();
  const video = document.createElement('video');
  video.muted = true;
  video.src = URL.createObjectURL(new Blob([data], {type}));
  document.body.append(video);
  window.film = video;
  return await new Promise(done => {
    video.addEventListener('loadeddata', () => done({duration: video.duration,
      width: video.videoWidth, height: video.videoHeight, can: video.canPlayType(type), error: null}));
    video.addEventListener('error', () => done({duration: 0, width: 0, height: 0,
      can: video.canPlayType(type), error: video.error.message || String(video.error.code)}));
  });
}
"""

_SHOW = """
async ([moments, bits, columns]) => {
  const video = window.film;
  const canvas = document.createElement('canvas');
  const paint = canvas.getContext('2d', {willReadFrequently: true});
  const read = () => {
    const width = canvas.width = video.videoWidth, height = canvas.height = video.videoHeight;
    paint.drawImage(video, 0, 0, width, height);
    let number = 0;
    for (let bit = 0; bit < bits; bit++) {
      const row = Math.floor(bit / columns), column = bit % columns;
      const x = Math.floor((column + 0.5) * width / columns);
      const y = Math.floor(2 * height / 3 + (row + 0.5) * height / 6);
      const at = paint.getImageData(x - 1, y - 1, 3, 3).data;
      let sum = 0;
      for (let i = 0; i < at.length; i += 4) sum += at[i] + at[i + 1] + at[i + 2];
      if (sum / 27 > 128) number |= 1 << bit;
    }
    return number;
  };
  const shown = [];
  for (const moment of moments) {
    // Where the picture does not change there is no new frame to wait for.
    const painted = new Promise(done => {
      video.requestVideoFrameCallback((_, about) => done(about.mediaTime));
      setTimeout(() => done(null), 400);
    });
    await new Promise(done => {
      video.addEventListener('seeked', done, {once: true});
      video.currentTime = moment;
    });
    const media = await painted;
    shown.push([read(), media, video.currentTime]);
  }
  return shown;
}
"""

_HEAR = """
async () => {
  const data = await (await fetch('/film')).arrayBuffer();
  const sound = await new OfflineAudioContext(2, 48000, 48000).decodeAudioData(data);
  const samples = sound.getChannelData(0), starts = [];
  let last = -1e9;
  for (let i = 0; i < samples.length; i++) {
    if (Math.abs(samples[i]) > 0.1) {
      if (i - last > 4800) starts.push(i / sound.sampleRate);
      last = i;
    }
  }
  return starts;
}
"""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the browser says of a film: ``can`` is its answer to ``canPlayType``, ``error`` why not."""

    duration: float
    width: int
    height: int
    can: str
    error: str | None


class BrowserFilm:
    """A film in a page of its own; ``browser`` is Playwright's. A context manager."""

    def __init__(self, browser: Any, path: Path, media_type: str) -> None:
        self._page = browser.new_page()
        self._page.route(f"{_PAGE}film", lambda route: route.fulfill(path=str(path), content_type=media_type))
        self._page.route(_PAGE, lambda route: route.fulfill(body="<!doctype html><title>film</title>"))
        self._page.goto(_PAGE)
        self.loaded = Loaded(**self._page.evaluate(_LOAD, media_type))

    def numbers_at(self, moments: Sequence[float]) -> list[int]:
        """The painted number of the frame that the browser shows after it was sent to each second."""
        return [number for number, _, _ in self.shown_at(moments)]

    def shown_at(self, moments: Sequence[float]) -> list[tuple[int, float | None, float]]:
        """For each second the painted number, the frame's time by the browser, and where it stands."""
        found = self._page.evaluate(_SHOW, [list(moments), BITS, COLUMNS])
        return [(number, media, now) for number, media, now in found]

    def beeps(self) -> list[float]:
        """Seconds of the decoded sound track at which tones begin."""
        return [float(second) for second in self._page.evaluate(_HEAR)]

    def __enter__(self) -> BrowserFilm:
        return self

    def __exit__(self, *trouble: object) -> None:
        self._page.close()
