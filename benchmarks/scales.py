"""How well shot scales are read, on stills of the supplied films and of clips labelled by eye.

    python benchmarks/scales.py [FOLDER] [--checkpoint FILE]

FOLDER holds the films (default ../shared/data/films); tests/labels/scales.json says what each still is.
Printed are coverage (share of stills with a guess), and of those that have one what is right; the share of
all stills whose factor of Stage I is that of the label; false guesses on black and title cards; and what
comes of always saying one scale. Of the films, which are for tuning, each shot counts, by its middle and
quarters as films are read; the stills of clips are told apart by half, and by whether anybody is seen.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, get_args

from clips import Half, chosen
from common import FILMS, LABELS, command_line

from shotad.core import ShotScale
from shotad.core.config.film import ShotSettings
from shotad.core.config.sight import (
    ComputeSettings,
    ScaleSettings,
    ThreadSettings,
)
from shotad.core.config.words import PromptSettings
from shotad.description.prompts import factors_for
from shotad.film import detect_shots_in_pass, open_film
from shotad.film.sampling import ShotMoments
from shotad.grammar import ClipReader, GrammarCache, GrammarModels, ShotSample, make_scale_reader
from shotad.grammar.features import ScaleReader

NAMES = [scale.value for scale in ShotScale]
UNKNOWN = 2.0
"""Effective scale where nothing is known."""


@dataclass(frozen=True)
class Still:
    """One labelled still. ``labels`` are scales 0 to 4, the better first; empty where nothing is shown.
    ``nobody`` is told of clips alone: no figure is seen, hands and feet at most."""

    seconds: float
    labels: tuple[int, ...]
    middle: bool
    nobody: bool = False


@dataclass(frozen=True)
class Figures:
    """Counts over stills that show something; ``false`` over the others."""

    stills: int
    guessed: int
    right: int
    admissible: int
    near: int
    factor: int
    empty: int
    false: int
    macro_f1: float

    def __str__(self) -> str:
        guessed, stills = max(self.guessed, 1), max(self.stills, 1)
        return (
            f"{self.stills:4} stills  coverage {self.guessed / stills:.2f}  "
            f"accuracy {self.right / guessed:.2f}  with second label {self.admissible / guessed:.2f}  "
            f"within one {self.near / guessed:.2f}  macro-F1 {self.macro_f1:.2f}  "
            f"factor of all {self.factor / stills:.2f}  false on empty {self.false}/{self.empty}"
        )


def read_labels(kind: Literal["films", "clips"]) -> dict[str, list[Still]]:
    """The labelled stills of each film or clip, in time."""
    rows = json.loads((LABELS / "scales.json").read_text(encoding="utf-8"))[kind]
    return {name: [_still(row) for row in of_film] for name, of_film in rows.items()}


def _still(row: dict[str, Any]) -> Still:
    labels = tuple(int(n) for n in (row["scale"], row.get("also")) if n is not None and n != "none")
    shows = row["scale"] != "none"
    return Still(row["seconds"], labels if shows else (), row.get("middle", False), row.get("nobody", False))


def guesses_of(reader: ScaleReader, stills: Sequence[Still], path: Path) -> list[int | None]:
    """What is guessed of each still of one film."""
    with open_film(path) as opened:
        pictures = [picture.image for picture in opened.pictures([still.seconds for still in stills])]
    return [guess and guess.scale.number for guess in reader.of(pictures)]


def shot_guesses(reader: ScaleReader, path: Path) -> list[int | None]:
    """The guess of each shot, by its middle and, where that leaves doubt, its quarters."""
    book, looks = GrammarCache(), []
    with open_film(path) as opened:
        for shot in detect_shots_in_pass(opened, ShotSettings(detector="adaptive")).shots:
            time = shot.interval
            moments = (time.start + time.duration * at for at in (0, 0.25, 0.5, 0.75, 1))
            looks.append(ShotSample(shot.index, ShotMoments(*moments)))
    with open_film(path) as opened:
        ClipReader(book, GrammarModels(None, reader), ThreadSettings()).read(looks, opened.pictures)
    guesses = (book.guesses[look] for look in looks)
    return [guess and guess.scale.number for guess in guesses]


def compare(stills: Sequence[Still], guesses: Sequence[int | None]) -> Figures:
    pairs = list(zip(stills, guesses, strict=True))
    shown = [(still.labels, guess) for still, guess in pairs if still.labels]
    empty = [guess for still, guess in pairs if not still.labels]
    known = [(labels, guess) for labels, guess in shown if guess is not None]
    return Figures(
        stills=len(shown),
        guessed=len(known),
        right=sum(guess == labels[0] for labels, guess in known),
        admissible=sum(guess in labels for labels, guess in known),
        near=sum(abs(guess - labels[0]) <= 1 for labels, guess in known),
        factor=sum(factor_of(guess) in map(factor_of, labels) for labels, guess in shown),
        empty=len(empty),
        false=sum(guess is not None for guess in empty),
        macro_f1=macro_f1([(labels[0], guess) for labels, guess in known]),
    )


def factor_of(scale: float | None) -> tuple[str, ...]:
    """What Stage I asks for at a clip of one shot of this scale."""
    return factors_for(UNKNOWN if scale is None else scale, PromptSettings())


def macro_f1(pairs: Sequence[tuple[int, int]]) -> float:
    """Mean F1 over the scales that are labelled at all, of labels and guesses."""
    found = []
    for scale in {label for label, _ in pairs}:
        hits = sum(pair == (scale, scale) for pair in pairs)
        found.append(2 * hits / sum((label == scale) + (guess == scale) for label, guess in pairs))
    return fmean(found) if found else 0.0


def _print(title: str, stills: Sequence[Still], guesses: Sequence[int | None]) -> None:
    print(f"\n== {title}\n{compare(stills, guesses)}")
    common = Counter(s.labels[0] for s in stills if s.labels).most_common(1)[0][0]
    for always in sorted({2, common}):
        told = compare(stills, [always if s.labels else None for s in stills])
        print(f"always {NAMES[always]}: {told}")


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=FILMS)
    parser.add_argument("--checkpoint", help="a file from `shotad train scale`: read with the classifier")
    given = parser.parse_args()
    reader = make_scale_reader(ScaleSettings(checkpoint=given.checkpoint), ComputeSettings())
    assert reader is not None
    print(reader.identity)
    films = read_labels("films")
    shots = [still for stills in films.values() for still in stills if still.middle]
    by_shot = [guess for name in films for guess in shot_guesses(reader, given.folder / name)]
    _print("films, shot by shot", shots, by_shot)
    labelled = read_labels("clips")
    for half in get_args(Half):
        stills: list[Still] = []
        guesses: list[int | None] = []
        for clip in chosen(half, labelled):
            stills += labelled[clip.name]
            guesses += guesses_of(reader, labelled[clip.name], clip.path)
        _print(f"clips for {half}", stills, guesses)
        for told, nobody in (("with somebody", False), ("without anybody", True)):
            some = [(s, g) for s, g in zip(stills, guesses, strict=True) if s.nobody is nobody]
            print(f"{told}: {compare([s for s, _ in some], [g for _, g in some])}")


if __name__ == "__main__":
    main()
