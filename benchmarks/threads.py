"""How well threads are found, against labels made by eye.

    python benchmarks/threads.py [FILMS] [--half tuning|judging] [--features grid dinov2-small FOLDER ...]

FILMS is the folder of the supplied films (default ../shared/data/films). tests/labels/threads.json says which
shots share a camera set-up, written down by one person before any score was computed on them. The supplied
films are for tuning, the others in the half that their list says; the sample film counts in no sum. Real
threads are few, so each clip is also measured in *halves*: every shot of 2 s or more is cut in two and a
second in the middle left out, so that the halves share a set-up, and all other pairs of pieces do not. Told
are, over pairs within the reach of one description's context, precision and recall of joined pairs, average
precision, and weighted clustering purity, at the threshold of the features.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import get_args

import numpy as np
import numpy.typing as npt
from clips import LABELS, Clip, Half, chosen, read_clips
from common import FILMS, ROOT, command_line

from shotad.core import Interval
from shotad.core.config.sight import ComputeSettings, ThreadSettings
from shotad.evaluation.threads import average_precision, labels_of, pure_shots, share
from shotad.film import moments_of, open_film
from shotad.film.frame_cache import PIXELS
from shotad.grammar import (
    FeatureMaker,
    Features,
    FramePosition,
    make_feature_maker,
    matching_of,
    shot_scores,
    threads_of,
)
from shotad.grammar.choices import features_at_hand
from shotad.grammar.threads import FeaturesByPlace

Bools = npt.NDArray[np.bool_]
REACH = 11
"""Shots from one to another, at most, within the context of one description of usual length."""
GAP = 1.0
"""Seconds left out between the halves of a shot."""
LEAST = 2.0
"""Seconds that a shot must last to be cut in halves."""
PLACES: tuple[FramePosition, ...] = ("first", "last")


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

    def counted(self) -> Bools:
        """Which pairs i < j count, ``bool[n, n]``."""
        place = np.arange(len(self.shots))
        ahead = place[None, :] - place[:, None]
        some = np.asarray((ahead > 0) & (ahead <= REACH))
        for pair in self.doubtful:
            some[pair] = False
        return some

    def halves(self) -> Labelled:
        """The long shots cut in two; pairs of labelled clusters count neither way here, whatever half."""
        parts = [(i, part) for i, shot in enumerate(self.shots) for part in _halves(shot)]
        places = [[k for k, (i, _) in enumerate(parts) if i == shot] for shot in range(len(self.shots))]
        open_pairs = {*self.doubtful, *((a, b) for c in self.clusters for a in c for b in c if a < b)}
        doubtful = frozenset((p, q) for a, b in open_pairs for p in places[a] for q in places[b])
        pairs = tuple(tuple(place) for place in places if len(place) == 2)
        shots = tuple(part for _, part in parts)
        return replace(self, name=f"{self.name} halves", shots=shots, clusters=pairs, doubtful=doubtful)


def _halves(shot: Interval) -> Iterator[Interval]:
    if shot.duration < LEAST:
        yield shot
        return
    yield Interval(shot.start, shot.middle - GAP / 2)
    yield Interval(shot.middle + GAP / 2, shot.end)


@dataclass(frozen=True)
class Figures:
    """What came of one clip, or of several: of the pairs that count their scores, which were joined, and
    which belong together; and of all shots how many are pure."""

    scores: npt.NDArray[np.float64]
    joined: Bools
    together: Bools
    pure: int
    shots: int

    @property
    def right(self) -> int:
        """Joined pairs that belong together."""
        return int(np.count_nonzero(self.joined & self.together))

    @property
    def wrong(self) -> int:
        """Joined pairs that do not."""
        return int(np.count_nonzero(self.joined)) - self.right

    @property
    def ap(self) -> float | None:
        return average_precision(self.scores, self.together)


def labelled_clips(films: Path) -> list[Labelled]:
    """The sample film, and the clips of tests/labels/threads.json, whether their files are here or not."""
    records, known = json.loads((LABELS / "threads.json").read_text(encoding="utf-8")), known_clips()
    clips = [sample_clip()]
    for record in records:
        name, clip = record["clip"], known.get(record["clip"])
        path, half = (clip.path, clip.half) if clip else (films / name, "tuning")
        shots = tuple(Interval(*shot) for shot in record["shots"])
        doubtful = frozenset((min(pair), max(pair)) for pair in record["doubtful"])
        clips.append(Labelled(name, path, shots, tuple(map(tuple, record["clusters"])), doubtful, half))
    return clips


def known_clips() -> dict[str, Clip]:
    return read_clips() | read_clips(LABELS / "thread_clips.yaml")


def sample_clip() -> Labelled:
    folder, name = ROOT / "tests/sample", "sample.mp4"
    truths = json.loads((folder / "sample.truths.json").read_text(encoding="utf-8"))
    shots = tuple(Interval(*shot["seconds"]) for shot in truths["shots"])
    return Labelled(name, folder / name, shots, tuple(map(tuple, truths["threads"])), made=True)


def features_of(clip: Labelled, maker: FeatureMaker) -> FeaturesByPlace:
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
    which, truth = clip.counted(), labels_of(clip.clusters, len(clip.shots))
    seen = np.where(which | which.T, scores, np.nan)
    values, together = scores[which].astype(np.float64), (truth[:, None] == truth[None, :])[which]
    threads = labels_of(threads_of(seen, threshold), len(truth))
    pure = pure_shots(threads.tolist(), truth.tolist())
    return Figures(values, values > threshold, together, pure, len(truth))


def total(rows: Sequence[Figures]) -> Figures:
    pairs = (np.concatenate([getattr(row, of) for row in rows]) for of in ("scores", "joined", "together"))
    return Figures(*pairs, sum(row.pure for row in rows), sum(row.shots for row in rows))


def line(name: str, row: Figures) -> str:
    together = int(row.together.sum())
    figures = (share(row.right, row.right + row.wrong), share(row.right, together), row.ap)
    precision, recall, ap = ("  -  " if one is None else f"{one:.3f}" for one in figures)
    return (
        f"    {name:34} {len(row.scores):5} pairs, {together:3} together, "
        f"joined {row.right:3} right {row.wrong:3} wrong; P {precision} R {recall} "
        f"AP {ap} purity {row.pure / row.shots:.3f}"
    )


def main() -> None:
    words = command_line(__doc__)
    words.add_argument("films", nargs="?", type=Path, default=FILMS)
    words.add_argument("--half", choices=get_args(Half))
    words.add_argument("--features", nargs="+", default=["grid", *features_at_hand()])
    asked = words.parse_args()
    clips = [clip for clip in labelled_clips(asked.films) if asked.half in (None, clip.half)]
    chosen(asked.half, {clip.name for clip in clips}, known_clips())
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
