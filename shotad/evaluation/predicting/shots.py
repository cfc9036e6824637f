"""Which shots of a clip are given: the published ones, where a dataset has them, as the paper had them."""

from __future__ import annotations

from shotad.core import Interval
from shotad.evaluation.datasets.ads import Dataset
from shotad.evaluation.datasets.shotlists import touching
from shotad.evaluation.predicting.lines import Shots

GivenShots = tuple[tuple[Interval, ...] | None, Shots]


def published_shots(
    dataset: Dataset, clip: str, duration: float, begins: float = 0.0, *, gaps: bool = False
) -> GivenShots:
    """The shots to be given for a video of ``duration`` seconds that begins at second ``begins`` of its clip,
    in the video's own seconds, and what they are.

    An empty list means a clip without cuts, which is one shot. None where the dataset has no list of the
    clip, or one of which nothing lies within the video: the shots are found. ``gaps``: published shots keep
    the short gaps between them, for those who count touching shots as overlapping.
    """
    published = dataset.shots.get(clip)
    if published is None or duration <= 0:
        return None, "found"
    if not published:
        return (Interval(0.0, duration),), "one"
    gap = dataset.description.shots.gap if dataset.description is not None else 0.0
    whole = begins + duration
    shots = published if gaps else [shot.interval for shot in touching(published, gap, whole)]
    part = Interval(begins, whole)
    inside = [cut for shot in shots if (cut := shot.clip(part)) is not None]
    moved = tuple(since(begins, cut) for cut in inside)
    return (moved, "published") if moved else (None, "found")


def since(begins: float, interval: Interval) -> Interval:
    """The interval in seconds of a video that begins at second ``begins``, without the noise of the floats.

    As it is where that is 0: thirds of a second have no last digit.
    """
    if not begins:
        return interval
    return Interval(round(interval.start - begins, 9), round(interval.end - begins, 9))
