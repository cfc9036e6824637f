"""How well the cuts of real film are found, by the labels of tests/labels/cuts.yaml; made clips apart.

    python benchmarks/cuts.py [--half tuning|judging] [--set shots.KEY=VALUE ...] [FILM ...]

A hard cut is found by a cut at most two frames away, a gradual transition by one within it, or at most two
frames beside it; each label by one cut, each further cut is false. Cuts where none and one can be defended
count neither way. `hard` leaves out what was found of gradual ones, so a false cut counts against it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, get_args

import yaml
from clips import LABELS, Half, chosen, read_clips
from common import FILMS, command_line

from shotad.core.config.film import ShotSettings
from shotad.film import detect_shots_in_pass, open_film

NEAR = 2
"""Frames by which a cut may be off."""


@dataclass(frozen=True)
class Truth:
    """Frames of hard cuts; spans ``[first, last)`` of gradual transitions, and where either is right."""

    hard: Sequence[int] = ()
    gradual: Sequence[tuple[int, int]] = ()
    either: Sequence[tuple[int, int]] = ()


@dataclass
class Count:
    """Labels found and not, and false cuts; counts of clips can be added."""

    hard: int = 0
    hard_found: int = 0
    gradual: int = 0
    gradual_found: int = 0
    false: int = 0
    wrong: list[str] = field(default_factory=list)

    def __add__(self, other: Count) -> Count:
        return Count(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    def __str__(self) -> str:
        found, labels = self.hard_found + self.gradual_found, self.hard + self.gradual
        return (
            f"{_scores(found, labels, self.false)}   hard {_scores(self.hard_found, self.hard, self.false)}"
            f" ({self.hard_found}/{self.hard}), gradual {self.gradual_found}/{self.gradual},"
            f" false {self.false}"
        )


def _scores(found: int, labels: int, false: int) -> str:
    precision = found / (found + false) if found + false else 1.0
    recall = found / labels if labels else 1.0
    f1 = 2 * found / (found + false + labels) if labels + false else 1.0
    return f"P {precision:.3f} R {recall:.3f} F1 {f1:.3f}"


def count(cuts: Sequence[int], truth: Truth) -> Count:
    """Match cuts, in frames, to labels: the nearest first, hard cuts before gradual ones."""
    left, done = set(cuts), Count(hard=len(truth.hard), gradual=len(truth.gradual))
    pairs = sorted((abs(cut - hard), hard, cut) for cut in cuts for hard in truth.hard)
    met: set[int] = set()
    for gap, hard, cut in pairs:
        if gap <= NEAR and cut in left and hard not in met:
            met.add(hard)
            left.remove(cut)
    done.hard_found = len(met)
    done.wrong += [f"missed {hard}" for hard in truth.hard if hard not in met]
    for first, last in truth.gradual:
        within = [cut for cut in sorted(left) if first - NEAR <= cut < last + NEAR]
        done.gradual_found += bool(within)
        left -= set(within[:1])
        done.wrong += [] if within else [f"missed {first}-{last}"]
    false = [cut for cut in sorted(left) if not any(a <= cut < b for a, b in truth.either)]
    done.false = len(false)
    done.wrong += [f"false {cut}" for cut in false]
    return done


def truths() -> dict[str, Truth]:
    """Of each real clip what cuts.yaml says."""
    rows: dict[str, dict[str, Any]] = yaml.safe_load((LABELS / "cuts.yaml").read_text("utf-8"))
    return {name: Truth(**row) for name, row in rows.items()}


def made_truth(rows: Sequence[Sequence[Any]], rate: float = 25.0) -> Truth:
    """Of a made clip, from its rows in seen.yaml."""
    fades = [(round(rate * row[0]), round(rate * row[1])) for row in rows if row[2:3] == ["light"]]
    hard = [round(rate * row[1]) for row in rows if list(row[2:4]) == ["cut", "hard"]]
    return Truth(hard, (), fades)


def measure(
    path: Path, settings: ShotSettings, truth: Truth, start: float, end: float
) -> tuple[Count, float]:
    """The count of a film between two seconds, and the processor seconds that its shots took."""
    began = time.process_time()
    with open_film(path) as film:
        found = detect_shots_in_pass(film, settings)
    spent = time.process_time() - began
    cuts = zip(found.cuts, found.shots[1:], strict=True)
    return count([cut for cut, shot in cuts if start <= shot.interval.start < end], truth), spent


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command_line(__doc__)
    parser.add_argument("names", nargs="*", metavar="FILM")
    parser.add_argument("--half", choices=get_args(Half))
    parser.add_argument("--set", action="append", default=[], metavar="shots.KEY=VALUE")
    options = parser.parse_args(arguments)
    pairs = (pair.removeprefix("shots.").split("=", 1) for pair in options.set)
    settings = ShotSettings.model_validate({key: yaml.safe_load(value) for key, value in pairs})
    seen, real = yaml.safe_load((LABELS / "seen.yaml").read_text("utf-8")), truths()
    known = read_clips()
    found = {clip.name: clip for clip in chosen(options.half, options.names)}
    totals: dict[str, Count] = {}
    for name in (*real, *(name for name in known if name not in real)):
        clip = found.get(name)
        path, half, span = FILMS / name, "tuning", (0.0, float("inf"))
        if clip:
            path, half, span = clip.path, clip.half, (clip.start, clip.end)
        elif name in known or options.half == "judging" or name not in (options.names or [name]):
            continue
        truth = real[name] if name in real else made_truth(seen[name])
        done, spent = measure(path, settings, truth, *span)
        kind = f"{half}, {'real' if name in real else 'made'}"
        totals[kind] = totals.get(kind, Count()) + done
        if done.hard or done.gradual or done.false:
            print(f"{name:28} {done}   {spent:6.2f} CPU s   {', '.join(done.wrong)}", flush=True)
    for kind, total in totals.items():
        print(f"{kind:28} {total}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
