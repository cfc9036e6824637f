"""Which ADs of a dataset are described, clip by clip, and which clips are a shard's. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from shotad.core import UsageError
from shotad.evaluation.datasets.ads import Ad, Dataset

_SHARD = re.compile(r"(\d+)/(\d+)")
_NAMED = 5
"""How many unknown names an error lists."""


@dataclass(frozen=True, slots=True)
class ClipTask:
    """The ADs of one video that are to be described, in the dataset's order: at least one."""

    clip: str
    film: str
    ads: tuple[Ad, ...]

    def __post_init__(self) -> None:
        if not self.ads:
            raise ValueError(f"nothing of the clip {self.clip!r} is to be described")


@dataclass(frozen=True, slots=True)
class Shard:
    """Part ``number`` of ``of`` parts; numbers count from 1."""

    number: int = 1
    of: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of:
            raise ValueError(f"a shard is one of {self.of}, got {self.number}")

    @classmethod
    def parse(cls, text: str) -> Shard:
        """The shard that ``2/8`` names. Raises UsageError."""
        match = _SHARD.fullmatch(text.strip())
        try:
            if match is not None:
                return cls(int(match[1]), int(match[2]))
        except ValueError:
            pass
        raise UsageError(f"--shard {text!r} is no shard.", "Write the second of eight as 2/8.")

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for: these ids, of these films (None: all), and of what is left the first ``limit``."""

    ids: frozenset[str] | None = None
    films: frozenset[str] | None = None
    limit: int | None = None


def choose(dataset: Dataset, wanted: Wanted, shard: Shard | None = None) -> tuple[ClipTask, ...]:
    """The clips of the shard, with those of their ADs that are wanted, in the dataset's order.

    Clips are whole: the shards of the same ``wanted`` have no clip in common, and together all of them.
    Raises UsageError for ids and films that the dataset has not.
    """
    _check("ids", wanted.ids, (ad.id for ad in dataset.ads), dataset)
    _check("films", wanted.films, (ad.film for ad in dataset.ads), dataset)
    ads = [
        ad
        for ad in dataset.ads
        if (wanted.ids is None or ad.id in wanted.ids) and (wanted.films is None or ad.film in wanted.films)
    ]
    clips: dict[str, list[Ad]] = {}
    for ad in ads[: wanted.limit]:
        clips.setdefault(ad.clip, []).append(ad)
    tasks = [ClipTask(clip, own[0].film, tuple(own)) for clip, own in clips.items()]
    return tuple(tasks if shard is None else _share(tasks, shard))


def _share(tasks: Sequence[ClipTask], shard: Shard) -> list[ClipTask]:
    """The shard's clips: the largest are dealt first, each to the shard that has the fewest ADs so far."""
    loads = [0] * shard.of
    mine: set[str] = set()
    for task in sorted(tasks, key=lambda task: -len(task.ads)):
        least = loads.index(min(loads))
        loads[least] += len(task.ads)
        if least == shard.number - 1:
            mine.add(task.clip)
    return [task for task in tasks if task.clip in mine]


def _check(what: str, asked: frozenset[str] | None, there: Iterable[str], dataset: Dataset) -> None:
    unknown = sorted((asked or frozenset()) - set(there))
    if unknown:
        some = ", ".join(unknown[:_NAMED]) + (", …" if len(unknown) > _NAMED else "")
        raise UsageError(
            f"{dataset.title} has not all of the {what} asked for: {some} ({len(unknown)} in all).",
            f"shotad datasets check {dataset.name} says what there is.",
        )
