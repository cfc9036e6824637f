"""How well threads are found, against labels made by eye.

    python benchmarks/threads.py [FILMS] [--half tuning|judging] [--features grid dinov2-small FOLDER ...]

FILMS is the folder of the supplied films (default ../shared/data/films). tests/labels/threads.json says
which shots share a camera set-up: same place, same angle, though the camera moved a little. One person
wrote it down from the first, the last and one or two frames between of each shot, before any score was
computed on them; shots are those of cuts.yaml, or were read the same way. The supplied films are for
tuning, the others in the half that clips.yaml or thread_clips.yaml says; the sample film is made and counts
in no sum. Real threads are few, so each clip is also measured in *halves*: every shot of 2 s or more is cut
in two and a second in the middle left out, so that the halves share a set-up (a moving camera has moved on,
people have moved), and all other pairs of pieces do not. Told are, over pairs within the reach of one
description's context (11 shots), precision and recall of joined pairs, average precision, and weighted
clustering purity, at the threshold of the features.
"""

from __future__ import annotations

import functools
import json
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import get_args

import numpy as np
import numpy.typing as npt
from clips import LABELS, Clip, Half, film_of, read_clips
from common import FILMS, ROOT, command_line

from shotad.core import ComputeSettings, Interval, NoProgress, ThreadSettings
from shotad.evaluation.threads import average_precision, labels_of, pure_shots, share
from shotad.film import moments_of, open_film
from shotad.film.framing import PIXELS
from shotad.grammar import (
    FeatureMaker,
    Features,
    Kinds,
    Place,
    make_feature_maker,
    matching_of,
    shot_scores,
    threads_of,
)
from shotad.grammar.choices import features_at_hand

Bools = npt.NDArray[np.bool_]

REACH = 11
"""Shots from one to another, at most, within the context of one description of usual length."""
GAP = 1.0
"""Seconds left out between the halves of a shot."""
LEAST = 2.0
"""Seconds that a shot must last to be cut in halves."""


@dataclass(frozen=True)
class Labelled:
    """A clip, its shots, which of them share a set-up, and pairs that count neither way."""

    name: str
    path: Path
    shots: tuple[Interval, ...]
    clusters: tuple[tuple[int, ...], ...]
    doubtful: frozenset[tuple[int, int]] = frozenset()
    half: Half = "tuning"
    made: bool = False

    @property
    def truth(self) -> npt.NDArray[np.int64]:
        """For each shot the number of its cluster."""
        return labels_of(self.clusters, len(self.shots))

    def counted(self, reach: int = REACH) -> Bools:
        """Which pairs i < j count, ``bool[n, n]``."""
        n = len(self.shots)
        ahead = np.arange(n)[None, :] - np.arange(n)[:, None]
        some = (ahead > 0) & (ahead <= reach)
        for i, j in self.doubtful:
            some[i, j] = False
        return np.asarray(some)

    def halves(self) -> Labelled:
        """The long shots cut in two; pairs of labelled clusters count neither way here, whatever half."""
        parts = [(i, part) for i, shot in enumerate(self.shots) for part in _halves(shot)]
        places = [[k for k, (i, _) in enumerate(parts) if i == shot] for shot in range(len(self.shots))]
        open_pairs = {*self.doubtful, *((a, b) for c in self.clusters for a in c for b in c if a < b)}
        doubtful = frozenset((p, q) for a, b in open_pairs for p in places[a] for q in places[b])
        pairs = tuple(tuple(place) for place in places if len(place) == 2)
        return Labelled(
            f"{self.name} halves",
            self.path,
            tuple(p for _, p in parts),
            pairs,
            doubtful,
            self.half,
            self.made,
        )


@dataclass(frozen=True)
class Figures:
    """What came of one clip, or of several: counts, and scores with truths of the pairs that count."""

    right: int
    wrong: int
    missed: int
    scores: npt.NDArray[np.float64]
    together: Bools
    pure: int
    shots: int

    @property
    def ap(self) -> float | None:
        """Average precision; None where no pair belongs together."""
        return average_precision(self.scores, self.together)

    @property
    def purity(self) -> float:
        """Weighted clustering purity of the threads."""
        return self.pure / self.shots

    def __add__(self, other: Figures) -> Figures:
        return Figures(
            self.right + other.right,
            self.wrong + other.wrong,
            self.missed + other.missed,
            np.concatenate([self.scores, other.scores]),
            np.concatenate([self.together, other.together]),
            self.pure + other.pure,
            self.shots + other.shots,
        )


def labelled_clips(films: Path) -> list[Labelled]:
    """The sample film, and the clips of tests/labels/threads.json, whether their files are here or not."""
    records, known = json.loads((LABELS / "threads.json").read_text(encoding="utf-8")), known_clips()
    clips = [sample_clip()]
    for record in records:
        clip = known.get(record["clip"])
        clips.append(
            Labelled(
                record["clip"],
                clip.path if clip else films / record["clip"],
                tuple(Interval(*shot) for shot in record["shots"]),
                tuple(map(tuple, record["clusters"])),
                frozenset((min(pair), max(pair)) for pair in record["doubtful"]),
                clip.half if clip else "tuning",
            )
        )
    return clips


def known_clips() -> dict[str, Clip]:
    """The clips of clips.yaml and of thread_clips.yaml, by name."""
    return read_clips() | read_clips(LABELS / "thread_clips.yaml")


def sample_clip() -> Labelled:
    """The sample film by its own truths."""
    folder = ROOT / "tests/sample"
    truths = json.loads((folder / "sample.truths.json").read_text(encoding="utf-8"))
    shots = tuple(Interval(*shot["seconds"]) for shot in truths["shots"])
    return Labelled(
        "sample.mp4", folder / "sample.mp4", shots, tuple(map(tuple, truths["threads"])), made=True
    )


PLACES: tuple[Place, ...] = ("first", "last")


def features_of(clip: Labelled, maker: FeatureMaker) -> Kinds:
    """Features of each shot's side frames, read as large as `shotad describe` reads them."""
    with open_film(clip.path) as film:
        found = [moments_of(shot, film.info.frame_rate or Fraction(25)) for shot in clip.shots]
        moments = {place: [getattr(m, place) for m in found if m] for place in PLACES}
        wanted = sorted({t for times in moments.values() for t in times})
        made = maker.of([picture.image for picture in film.pictures(wanted, max_pixels=PIXELS)])
    at = {place: [wanted.index(t) for t in times] for place, times in moments.items()}
    return {place: Features(made.patches[of], made.whole[of], made.grid) for place, of in at.items()}


def judged(clip: Labelled, maker: FeatureMaker) -> Figures:
    """The figures of one clip. Doubtful pairs, and pairs out of reach, join nothing and count nothing."""
    kinds, threshold = features_of(clip, maker), maker.threshold
    scores = shot_scores(kinds, matching_of(maker, kinds["first"].grid))
    which, truth = clip.counted(), clip.truth
    seen = np.where(which | which.T, scores, np.nan)
    values, together = scores[which].astype(np.float64), (truth[:, None] == truth[None, :])[which]
    threads = labels_of(threads_of(seen, threshold), len(truth))
    pure = pure_shots(threads.tolist(), truth.tolist())
    joined = values > threshold
    right, found, true = (int(np.count_nonzero(p)) for p in (joined & together, joined, together))
    return Figures(right, found - right, true - right, values, together, pure, len(truth))


def line(name: str, row: Figures) -> str:
    """One row of a table."""
    precision = share(row.right, row.right + row.wrong)
    recall = share(row.right, row.right + row.missed)
    return (
        f"    {name:34} {len(row.scores):5} pairs, {int(row.together.sum()):3} together, "
        f"joined {row.right:3} right {row.wrong:3} wrong; P {_share(precision)} R {_share(recall)} "
        f"AP {_share(row.ap)} purity {row.purity:.3f}"
    )


def _share(value: float | None) -> str:
    return "  -  " if value is None else f"{value:.3f}"


def total(rows: Sequence[Figures]) -> Figures:
    """The figures of all clips together."""
    return functools.reduce(operator.add, rows)


def _halves(shot: Interval) -> Iterator[Interval]:
    if shot.duration < LEAST:
        yield shot
        return
    yield Interval(shot.start, shot.middle - GAP / 2)
    yield Interval(shot.middle + GAP / 2, shot.end)


def main() -> None:
    """Print the tables."""
    words = command_line(__doc__)
    words.add_argument("films", nargs="?", type=Path, default=FILMS)
    words.add_argument("--half", choices=get_args(Half))
    words.add_argument("--features", nargs="+", default=["grid", *features_at_hand()])
    asked = words.parse_args()
    clips = [clip for clip in labelled_clips(asked.films) if asked.half in (None, clip.half)]
    for name in known_clips().keys() & {clip.name for clip in clips}:
        film_of(known_clips()[name], NoProgress())
    for name in asked.features:
        maker = make_feature_maker(ThreadSettings(features=name), ComputeSettings())
        for title, some in (("labelled", clips), ("halves", [clip.halves() for clip in clips])):
            if maker is not None:
                print(f"\n{maker.identity}, {title}, above {maker.threshold:.3f}")
                rows = {clip: judged(clip, maker) for clip in some if clip.path.exists()}
                for clip, row in rows.items():
                    print(line(clip.name, row))
                for half in get_args(Half):
                    real = [row for clip, row in rows.items() if clip.half == half and not clip.made]
                    if real:
                        print(line(f"real, {half}", total(real)))


if __name__ == "__main__":
    main()
