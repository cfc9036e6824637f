"""A cast file to read and to change, and a photo to go with it."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from shotad.core import Cast
from shotad.sight.castfile import read_cast

WHOLE = """\
# The cast of the film.

people:
  # The heroine, whoever says otherwise.
  - id: anna
    name: "Anna Lee"   # as in the credits
    speak: Anna
    aliases:
      - Doctor Lee   # at work
      - Annie
    pronoun: she
    descriptor: the woman in red
    reveal_at: 12:30
    photos: [anna, extra/anna-*.png]

  # --- villains ---

  - {id: thom, name: Thom, photos: thom.jpg, reveal_at: {pilot.mp4: 1:02:03.5, others: never}}
  #: 3 shots
  - id: person-03
    name:
  - name: No
    nameless: yes
# the end
"""


def picture(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (8, 8), (200, 100, len(path.name))).save(path)
    return path


def read(folder: Path, text: str) -> Cast:
    path = folder / "cast.yaml"
    path.write_text(text, encoding="utf-8")
    return read_cast(path)
