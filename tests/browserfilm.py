"""What a browser shows of a test film at which second."""

from __future__ import annotations

from collections.abc import Sequence
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
    video.addEventListener('loadeddata', () => done([video.videoWidth, video.videoHeight]));
    video.addEventListener('error', () => done(video.error.message || String(video.error.code)));
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
      video.requestVideoFrameCallback(done);
      setTimeout(done, 400);
    });
    await new Promise(done => {
      video.addEventListener('seeked', done, {once: true});
      video.currentTime = moment;
    });
    await painted;
    shown.push(read());
  }
  return shown;
}
"""


def shown(browser: Any, path: Path, media_type: str, moments: Sequence[float]) -> tuple[Any, list[int]]:
    """The size that a browser has of a film, or why it does not play; and the painted number of the frame that
    it shows after it was sent to each second. ``browser`` is Playwright's."""
    page = browser.new_page()
    page.route(f"{_PAGE}film", lambda route: route.fulfill(path=str(path), content_type=media_type))
    page.route(_PAGE, lambda route: route.fulfill(body="<!doctype html><title>film</title>"))
    page.goto(_PAGE)
    loaded = page.evaluate(_LOAD, media_type)
    numbers = page.evaluate(_SHOW, [list(moments), BITS, COLUMNS]) if isinstance(loaded, list) else []
    page.close()
    return loaded, numbers
