"""How well threads are found in the supplied films and the sample film, against labels made by eye.

    python benchmarks/threads.py [FILMS] [--features grid dinov2-small FOLDER ...] [--worst 5]

FILMS is the folder of films (default ../shared/data/films); tests/labels/threads.json says which of their
shots share a camera set-up. Real threads are few in them, so each clip is also measured in *halves*: every
shot of 2 s or more is cut in two and a second in the middle left out, so that the halves share a set-up (a
moving camera has moved on, people have moved), and all other pairs of pieces do not. For each kind of
features and choice of frames: pairs, precision and recall of joined pairs, average precision over all pairs,
and weighted clustering purity; pairs within the reach of one description's context (11 shots) and all pairs.
The threshold is that of the features; for whole frames, which have none, the one with the best F1 over these
very clips, so those figures flatter. The best F1 of each is printed beside, and for patches what a threshold
gives that was chosen on all clips but the one.
"""

from __future__ import annotations

import argparse
import functools
import json
import operator
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from shotad.core import ComputeSettings, Interval, ThreadSettings
from shotad.evaluation.thread_figures import PairCounts, average_precision, labels_of, pure_shots
from shotad.film import moments_of, open_film
from shotad.film.framing import PIXELS
from shotad.grammar import (
    FeatureMaker,
    Features,
    Matching,
    Place,
    ShotFeatures,
    make_feature_maker,
    places,
    shot_scores,
    threads_of,
    whole_scores,
)
from shotad.grammar.choices import features_at_hand
from shotad.grammar.threads import FrameChoice

ROOT = Path(__file__).resolve().parents[1]
FILMS = ROOT.parent / "shared/data/films"

Match = Literal["patches", "whole"]
Scores = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]

REACH = 11
"""Shots from one to another, at most, within the context of one description of usual length."""
GAP = 1.0
"""Seconds left out between the halves of a shot."""
LEAST = 2.0
"""Seconds that a shot must last to be cut in halves."""
ASKED: tuple[tuple[FrameChoice, Match], ...] = (
    ("side", "patches"),
    ("mid", "patches"),
    ("all", "patches"),
    ("side", "whole"),
)
"""Choice of frames, and what is matched."""


@dataclass(frozen=True)
class Labelled:
    """A clip, its shots, which of them share a set-up, and pairs that count neither way."""

    name: str
    path: Path
    shots: tuple[Interval, ...]
    clusters: tuple[tuple[int, ...], ...]
    doubtful: frozenset[tuple[int, int]] = frozenset()

    @property
    def truth(self) -> npt.NDArray[np.int64]:
        """For each shot the number of its cluster."""
        return labels_of(self.clusters, len(self.shots))

    def counted(self, reach: int | None) -> Bools:
        """Which pairs i < j count, ``bool[n, n]``."""
        n = len(self.shots)
        ahead = np.arange(n)[None, :] - np.arange(n)[:, None]
        some = (ahead > 0) & (ahead <= (reach or n))
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
        return Labelled(f"{self.name} halves", self.path, tuple(p for _, p in parts), pairs, doubtful)


@dataclass(frozen=True)
class Figures:
    """What came of one clip, or of several: counts, and scores with truths of the pairs that count."""

    pairs: PairCounts
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
            self.pairs + other.pairs,
            np.concatenate([self.scores, other.scores]),
            np.concatenate([self.together, other.together]),
            self.pure + other.pure,
            self.shots + other.shots,
        )


def labelled_clips(films: Path) -> list[Labelled]:
    """The clips of tests/labels/threads.json that are in ``films``, and the sample film."""
    records = json.loads((ROOT / "tests/labels/threads.json").read_text(encoding="utf-8"))
    clips = [
        Labelled(
            record["clip"],
            films / record["clip"],
            tuple(Interval(*shot) for shot in record["shots"]),
            tuple(map(tuple, record["clusters"])),
            frozenset((min(pair), max(pair)) for pair in record["doubtful"]),
        )
        for record in records
    ]
    return [sample_clip(), *(clip for clip in clips if clip.path.exists())]


def sample_clip() -> Labelled:
    """The sample film by its own truths."""
    folder = ROOT / "tests/sample"
    truths = json.loads((folder / "sample.truths.json").read_text(encoding="utf-8"))
    shots = tuple(Interval(*shot["seconds"]) for shot in truths["shots"])
    return Labelled("sample.mp4", folder / "sample.mp4", shots, tuple(map(tuple, truths["threads"])))


PLACES: tuple[Place, ...] = ("first", "middle", "last")


def features_of(clip: Labelled, maker: FeatureMaker, some: Sequence[Place] = PLACES) -> ShotFeatures:
    """Features of some frames of each shot, read from the film as large as `shotad describe` reads them."""
    with open_film(clip.path) as film:
        found = [moments_of(shot, film.info.frame_rate or Fraction(25)) for shot in clip.shots]
        moments = {place: [getattr(m, place) for m in found if m] for place in some}
        wanted = sorted({t for times in moments.values() for t in times})
        made = {p.wanted: maker.of([p.image]) for p in film.pictures(wanted, max_pixels=PIXELS)}
    return ShotFeatures(**{place: _joined([made[t] for t in times]) for place, times in moments.items()})


def scores_of(kinds: ShotFeatures, frames: FrameChoice, match: Match) -> Scores:
    """Scores of all pairs, ``float32[n, n]``."""
    if match == "whole":
        return whole_scores(kinds, frames)
    grid = kinds.at(places(frames)[0]).grid
    return shot_scores(kinds, Matching(grid), frames)


def judged(clip: Labelled, scores: Scores, threshold: float, reach: int | None) -> Figures:
    """The figures of one clip. Doubtful pairs, and pairs out of reach, join nothing and count nothing."""
    which, truth = clip.counted(reach), clip.truth
    seen = np.where(which | which.T, scores, np.nan)
    values, together = scores[which].astype(np.float64), (truth[:, None] == truth[None, :])[which]
    threads = labels_of(threads_of(seen, threshold), len(truth))
    pure = pure_shots(threads.tolist(), truth.tolist())
    return Figures(PairCounts.of(values > threshold, together), values, together, pure, len(truth))


def best_threshold(some: Sequence[Figures]) -> float:
    """The threshold with the best F1 over all pairs of some clips."""
    values = np.concatenate([f.scores for f in some])
    together = np.concatenate([f.together for f in some])
    tried = np.arange(-0.2, 1.0, 0.005)
    counts = [PairCounts.of(values > t, together) for t in tried]
    return float(tried[int(np.argmax([_f1(c) for c in counts]))])


def main() -> None:
    """Print the tables."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    words.add_argument("films", nargs="?", type=Path, default=FILMS)
    words.add_argument("--features", nargs="+", default=["grid", *features_at_hand()])
    words.add_argument("--worst", type=int, default=0, help="print so many of the worst pairs of each clip")
    asked = words.parse_args()
    clips = labelled_clips(asked.films)
    for name in asked.features:
        maker = make_feature_maker(ThreadSettings(features=name), ComputeSettings())
        if maker is not None:
            _report(clips, maker, asked.worst)


def _report(clips: Sequence[Labelled], maker: FeatureMaker, worst: int) -> None:
    print(f"\n{maker.identity}, threshold {maker.threshold}")
    for title, some in (("labelled", clips), ("halves", [clip.halves() for clip in clips])):
        kinds = [features_of(clip, maker) for clip in some]
        for frames, match in ASKED:
            scores = [scores_of(k, frames, match) for k in kinds]
            whole = [judged(c, s, maker.threshold, None) for c, s in zip(some, scores, strict=True)]
            threshold = maker.threshold if match == "patches" else best_threshold(whole)
            print(f"\n{title}: {frames}, {match}, above {threshold:.3f}")
            for reach in (None, REACH):
                print(f"  {'all pairs' if reach is None else f'{reach} shots apart at most'}")
                rows = [judged(c, s, threshold, reach) for c, s in zip(some, scores, strict=True)]
                for clip, row in zip(some, rows, strict=True):
                    print(line(clip.name, row))
                print(line("together", total(rows)))
            best = best_threshold(whole)
            print(f"  best F1 at {best:.3f}: {_told(_counts(whole, [best] * len(whole)))}", end="")
            left = [best_threshold(whole[:k] + whole[k + 1 :]) for k in range(len(whole))]
            print(f"; threshold from the other clips: {_told(_counts(whole, left))}")
            if worst and match == "patches":
                for clip, score in zip(some, scores, strict=True):
                    _print_worst(clip, score, threshold, worst)


def _print_worst(clip: Labelled, scores: Scores, threshold: float, most: int) -> None:
    counted, truth = clip.counted(None), clip.truth
    together = truth[:, None] == truth[None, :]
    wrong, missed = counted & ~together & (scores > threshold), counted & together & ~(scores > threshold)
    for title, which, sign in (("joined wrongly", wrong, -1), ("missed", missed, 1)):
        pairs = sorted((sign * float(scores[i, j]), int(i), int(j)) for i, j in np.argwhere(which))
        told = ", ".join(f"{i}-{j} {abs(s):.2f}" for s, i, j in pairs[:most])
        if told:
            print(f"    {clip.name}: {title} {len(pairs)}: {told}")


def _counts(rows: Sequence[Figures], thresholds: Sequence[float]) -> PairCounts:
    pairs = [PairCounts.of(r.scores > t, r.together) for r, t in zip(rows, thresholds, strict=True)]
    return sum(pairs, PairCounts())


def _told(counts: PairCounts) -> str:
    return f"precision {_share(counts.precision)}, recall {_share(counts.recall)}"


def line(name: str, row: Figures) -> str:
    """One row of a table."""
    c = row.pairs
    return (
        f"    {name:34} {len(row.scores):5} pairs, {int(row.together.sum()):3} together, "
        f"joined {c.right:3} right {c.wrong:3} wrong; P {_share(c.precision)} R {_share(c.recall)} "
        f"AP {_share(row.ap)} purity {row.purity:.3f}"
    )


def _share(value: float | None) -> str:
    return "  -  " if value is None else f"{value:.3f}"


def total(rows: Sequence[Figures]) -> Figures:
    """The figures of all clips together."""
    return functools.reduce(operator.add, rows)


def _f1(counts: PairCounts) -> float:
    return 2 * counts.right / max(2 * counts.right + counts.wrong + counts.missed, 1)


def _halves(shot: Interval) -> Iterator[Interval]:
    if shot.duration < LEAST:
        yield shot
        return
    yield Interval(shot.start, shot.middle - GAP / 2)
    yield Interval(shot.middle + GAP / 2, shot.end)


def _joined(some: Sequence[Features]) -> Features:
    """One record of several; tensors come back to numpy."""
    patches, whole = (
        np.concatenate([_numpy(getattr(f, part)) for f in some]) for part in ("patches", "whole")
    )
    return Features(patches, whole, some[0].grid)


def _numpy(values: object) -> npt.NDArray[np.float32]:
    host = values.detach().cpu().float().numpy() if hasattr(values, "detach") else values
    return np.asarray(host, np.float32)


if __name__ == "__main__":
    main()
