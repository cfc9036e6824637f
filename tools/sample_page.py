"""Makes what the README shows of the sample film: docs/sample/strip.png and docs/sample/described.mp4.

    python tools/sample_page.py

Describes tests/sample/sample.mp4 with the embedded engine, speaks the lines, and draws each line under
a frame of it.
"""

from __future__ import annotations

import tempfile
import textwrap
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

import shotad

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "docs" / "sample"
WIDTH, MARGIN, LETTERS = 320, 10, 34


def tile(film: shotad.Film, cue: shotad.Cue) -> Image.Image:
    """One line: the frame in its middle, the second, the words."""
    (found,) = film.frames_at([(cue.start + cue.end) / 2])
    frame = Image.fromarray(found.rgb())
    frame = frame.resize((WIDTH, round(WIDTH * frame.height / frame.width)))
    made = Image.new("RGB", (WIDTH, frame.height + 110), "white")
    made.paste(frame)
    draw, font = ImageDraw.Draw(made), ImageFont.load_default(16)
    minutes, seconds = divmod(cue.start, 60)
    draw.text((MARGIN, frame.height + 6), f"{minutes:.0f}:{seconds:04.1f}", "#777777", font)
    draw.text((MARGIN, frame.height + 26), "\n".join(textwrap.wrap(cue.text, LETTERS)), "black", font)
    return made


def main() -> int:
    OUT.mkdir(exist_ok=True)
    film = ROOT / "tests" / "sample" / "sample.mp4"
    with tempfile.TemporaryDirectory() as folder:
        track = shotad.describe(film, engine="embedded", out=folder)
        shotad.render(film, track, OUT / "described.mp4", out=folder, voice="auto")
    with shotad.open_film(film) as opened:
        tiles = [tile(opened, cue) for cue in track.heard]
    strip = Image.new("RGB", ((WIDTH + MARGIN) * len(tiles) - MARGIN, tiles[0].height), "white")
    for i, one in enumerate(tiles):
        strip.paste(one, (i * (WIDTH + MARGIN), 0))
    strip.save(OUT / "strip.png", optimize=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
