"""How well shot scales are read, on stills of the supplied films and of clips labelled by eye.

    python benchmarks/scales.py [FOLDER] [--checkpoint FILE]

FOLDER holds the films (default ../shared/data/films); tests/labels/scales.json says what each still is.
Printed are coverage (share of stills with a guess); of those that have one, the accuracy, the accuracy where
a second label that can be defended counts too, the share within one scale, macro-F1; the share of all stills
whose factor of Stage I is that of the label; the confusion matrix; false guesses on black and title cards;
and what comes of always saying one scale. `middle` is the middle frame of each shot, as in the paper,
`quarters` that and, where it leaves doubt, those at a quarter and three quarters, as films are read. The
stills of clips (`clips.py`) are told apart by half, and by whether anybody is seen; the films are for tuning.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
from clips import Half, film_of, read_clips
from common import FILMS, ROOT, command_line

from shotad.core import (
    ComputeSettings,
    Image,
    NoProgress,
    PromptSettings,
    ScaleSettings,
    ShotScale,
    ShotSettings,
    ThreadSettings,
)
from shotad.description.prompts import factors_for
from shotad.film import ShotMoments, open_film, survey
from shotad.grammar import ClipReader, Readers, ShotSample, make_scale_reader
from shotad.grammar.cache import GrammarCache
from shotad.grammar.features import ScaleGuess, ScaleReader

LABELS = ROOT / "tests" / "labels" / "scales.json"
NAMES = [scale.value for scale in ShotScale]
UNKNOWN = 2.0
"""Effective scale where nothing is known."""


@dataclass(frozen=True)
class Still:
    """One labelled still. ``labels`` are scales 0 to 4, the better first; empty where nothing is shown.
    ``nobody`` is told of clips alone: no figure is seen, hands and feet at most."""

    film: str
    seconds: float
    labels: tuple[int, ...]
    middle: bool
    nobody: bool = False


@dataclass(frozen=True)
class Figures:
    """Counts over stills that show something, so that films can be added up; ``false`` over the others."""

    stills: int
    guessed: int
    right: int
    admissible: int
    near: int
    factor: int
    empty: int
    false: int
    macro_f1: float
    confusion: npt.NDArray[np.int64]
    """``int64[5, 6]``: label by guess, the last column without one."""

    def __str__(self) -> str:
        guessed = max(self.guessed, 1)
        return (
            f"{self.stills:4} stills  coverage {self.guessed / max(self.stills, 1):.2f}  "
            f"accuracy {self.right / guessed:.2f}  with second label {self.admissible / guessed:.2f}  "
            f"within one {self.near / guessed:.2f}  macro-F1 {self.macro_f1:.2f}  "
            f"right of all {self.right / max(self.stills, 1):.2f}  "
            f"factor of all {self.factor / max(self.stills, 1):.2f}  "
            f"false on empty {self.false}/{self.empty}"
        )


def read_labels(path: Path = LABELS) -> list[Still]:
    """All labelled stills of the films, film by film, in time."""
    return _stills(json.loads(path.read_text(encoding="utf-8"))["films"])


def read_clip_labels(half: Half, path: Path = LABELS) -> dict[str, list[Still]]:
    """The labelled stills of one half of the clips, clip by clip, in time."""
    clips = json.loads(path.read_text(encoding="utf-8"))["clips"]
    halves = {name: clip.half for name, clip in read_clips().items()}
    return {name: _stills({name: rows}) for name, rows in clips.items() if halves[name] == half}


def _stills(films: dict[str, Any]) -> list[Still]:
    return [
        Still(
            film,
            row["seconds"],
            _numbers(row["scale"], row.get("also")),
            row.get("middle", False),
            row.get("nobody", False),
        )
        for film, rows in films.items()
        for row in rows
    ]


def _numbers(scale: int | str, also: int | str | None) -> tuple[int, ...]:
    if scale == "none":
        return ()
    return tuple(int(n) for n in (scale, also) if n is not None and n != "none")


def pictures_of(stills: Sequence[Still], folder: Path) -> list[Image]:
    """The stills' pictures, in their order."""
    images: list[Image] = []
    for film, group in itertools.groupby(stills, key=lambda s: s.film):
        images += _pictures(list(group), folder / film)
    return images


def _pictures(stills: Sequence[Still], path: Path) -> list[Image]:
    with open_film(path) as opened:
        return [p.image for p in opened.pictures([s.seconds for s in stills])]


def clip_guesses(reader: ScaleReader, half: Half) -> tuple[list[Still], list[int | None]]:
    """The stills of one half of the clips, which are fetched, and what is guessed of each."""
    stills, guesses, clips = [], [], read_clips()
    for name, of_clip in read_clip_labels(half).items():
        stills += of_clip
        guesses += reader.of(_pictures(of_clip, film_of(clips[name], NoProgress())))
    return stills, [number(guess) for guess in guesses]


def quarter_guesses(
    reader: ScaleReader, films: Iterable[str], folder: Path
) -> dict[str, list[ScaleGuess | None]]:
    """For each film the guess of each shot, by its middle and, where that leaves doubt, its quarters."""
    found = {}
    for film in films:
        with open_film(folder / film) as opened:
            shots = [(shot.index, shot.interval) for shot in survey(opened, ShotSettings()).shots]
        moments = {i: [s.start + s.duration * at for at in (0, 0.25, 0.5, 0.75, 1)] for i, s in shots}
        looks = [ShotSample(i, ShotMoments(*seconds)) for i, seconds in moments.items()]
        book = GrammarCache()
        with open_film(folder / film) as opened:
            ClipReader(book, Readers(None, reader), ThreadSettings()).read(looks, opened.pictures)
        found[film] = [book.guesses[look] for look in looks]
    return found


def compare(stills: Sequence[Still], guesses: Sequence[int | None]) -> Figures:
    """Guessed scales against labels."""
    confusion = np.zeros((5, 6), np.int64)
    shown = [(s, g) for s, g in zip(stills, guesses, strict=True) if s.labels]
    empty = [g for s, g in zip(stills, guesses, strict=True) if not s.labels]
    for still, guess in shown:
        confusion[still.labels[0], 5 if guess is None else guess] += 1
    known = [(s, g) for s, g in shown if g is not None]
    return Figures(
        stills=len(shown),
        guessed=len(known),
        right=sum(g == s.labels[0] for s, g in known),
        admissible=sum(g in s.labels for s, g in known),
        near=sum(abs(g - s.labels[0]) <= 1 for s, g in known),
        factor=sum(factor_of(g) in {factor_of(label) for label in s.labels} for s, g in shown),
        empty=len(empty),
        false=sum(g is not None for g in empty),
        macro_f1=macro_f1(confusion),
        confusion=confusion,
    )


def factor_of(scale: float | None) -> tuple[str, ...]:
    """What Stage I asks for at a clip of one shot of this scale."""
    return factors_for(UNKNOWN if scale is None else scale, PromptSettings())


def macro_f1(confusion: npt.NDArray[np.int64]) -> float:
    """Mean F1 over the scales that are labelled at all; of the stills with a guess."""
    square = confusion[:, :5].astype(float)
    hits, labelled, guessed = np.diag(square), square.sum(1), square.sum(0)
    f1 = 2 * hits / np.maximum(labelled + guessed, 1)
    return float(f1[labelled > 0].mean()) if labelled.any() else 0.0


def table(confusion: npt.NDArray[np.int64]) -> str:
    """The confusion matrix, label by guess."""
    head = f"{'label / guess':>18}" + "".join(f"{name[:9]:>11}" for name in (*NAMES, "no guess"))
    rows = [
        f"{name:>18}" + "".join(f"{n:>11}" for n in row)
        for name, row in zip(NAMES, confusion.tolist(), strict=True)
    ]
    return "\n".join([head, *rows])


def number(guess: ScaleGuess | None) -> int | None:
    return None if guess is None else guess.scale.number


def _print(title: str, stills: Sequence[Still], guesses: Sequence[int | None]) -> None:
    found = compare(stills, guesses)
    print(f"\n== {title}\n{found}\n{table(found.confusion)}")
    common = Counter(s.labels[0] for s in stills if s.labels).most_common(1)[0][0]
    for always in sorted({2, common}):
        told = compare(stills, [always if s.labels else None for s in stills])
        print(f"always {NAMES[always]}: {told}")


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=FILMS)
    parser.add_argument("--checkpoint", help="a file from `shotad train scale`: read with the classifier")
    given = parser.parse_args()
    stills = read_labels()
    reader = make_scale_reader(ScaleSettings(checkpoint=given.checkpoint), ComputeSettings())
    assert reader is not None
    print(reader.identity)
    guesses = [number(guess) for guess in reader.of(pictures_of(stills, given.folder))]
    _print("all stills", stills, guesses)
    middles = [(still, guess) for still, guess in zip(stills, guesses, strict=True) if still.middle]
    shots = [still for still, _ in middles]
    _print("middle: one still a shot", shots, [guess for _, guess in middles])
    by_film = quarter_guesses(reader, dict.fromkeys(s.film for s in stills), given.folder)
    quarters = [number(guess) for guesses in by_film.values() for guess in guesses]
    _print("quarters: three stills a shot", shots, quarters)
    for half in get_args(Half):
        stills, guesses = clip_guesses(reader, half)
        _print(f"clips for {half}", stills, guesses)
        for told, nobody in (("with somebody", False), ("without anybody", True)):
            some = [(s, g) for s, g in zip(stills, guesses, strict=True) if s.nobody is nobody]
            print(f"{told}: {compare([s for s, _ in some], [g for _, g in some])}")


if __name__ == "__main__":
    main()
