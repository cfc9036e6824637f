"""Text on the screen: how much of it is read, and how much that is read is right.

    python benchmarks/text.py [FOLDER]      films to read, default ../shared/data/films

Truth: tests/labels/texts.json (what stands in the supplied films, by eye). A text is right if its words are,
case, final marks and spaces between words included; "near" allows one edit in twenty letters.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from common import FILMS, LABELS, command_line, frames_at

from shotad.core.engine import TextFact
from shotad.film import open_film
from shotad.sight import FrameText, TextReader, texts_of_shots
from shotad.sight.inscriptions import likeness

STEP = 0.5


@dataclass(frozen=True)
class Label:
    first: float
    last: float
    kind: str
    text: str


def compare(facts: Sequence[TextFact], labels: Sequence[Label]) -> tuple[int, int, int]:
    """How many labels are met exactly, how many nearly, and how many of the facts met none."""
    exact = near = 0
    left = list(facts)
    for label in labels:
        best = max(left, key=lambda fact: likeness(fact.text, label.text), default=None)
        if best is None or likeness(best.text, label.text) < 0.5:
            print(f"    missed: {label.text[:60]}")
            continue
        left.remove(best)
        exact += best.text == label.text
        if best.text != label.text:
            print(f"    read: {best.text}\n    is:   {label.text}")
        near += likeness(best.text, label.text) >= 0.95
        if best.kind != label.kind:
            print(f"    kind {best.kind}, is {label.kind}: {label.text[:60]}")
    for fact in left:
        print(f"    false: {fact.text} ({fact.kind}, {fact.first:.1f} s)")
    return exact, near, len(left)


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=FILMS)
    folder = parser.parse_args().folder
    print(f"Films, one frame in {STEP} s:")
    totals = np.zeros(4, int)
    for entry in json.loads((LABELS / "texts.json").read_text(encoding="utf-8")):
        path = folder / entry["film"]
        if not path.exists():
            print(f"  {path} is not here")
            continue
        labels = [Label(**label) for label in entry["texts"]]
        with open_film(path) as film:
            seconds, pictures = zip(*frames_at(film, STEP), strict=True)
        lines = TextReader().read_all(pictures)
        facts = texts_of_shots([FrameText(0, at, found) for at, found in zip(seconds, lines, strict=True)])
        exact, near, false = compare(facts, labels)
        totals += (len(labels), exact, near, false)
        print(f"  {entry['film']}: {exact} of {len(labels)} right, {near} near, {false} false")
    count, exact, near, false = totals
    print(f"  all: recall {exact}/{count} (near {near}/{count}), false texts {false}")


if __name__ == "__main__":
    main()
