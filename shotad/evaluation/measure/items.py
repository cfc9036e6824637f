"""What is scored: one human AD with what was predicted for it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from shotad.core import Interval


@dataclass(frozen=True, slots=True)
class Item:
    """One AD of a dataset, and the prediction for it.

    ``id`` is unique in the dataset; ``film`` groups what is read along one film or episode; ``interval`` is
    when the human AD is spoken there, in its seconds. ``references`` are the human ADs, the dataset's own
    first: at least one. ``prediction`` None is a missing or failed one, ``failure`` says why.
    ``candidates`` are all lines that were offered for it, ``description`` is Stage I's text. ``actions`` are
    the human AD's, without characters and with one verb each; None where none are known.
    """

    id: str
    film: str
    interval: Interval
    references: tuple[str, ...]
    prediction: str | None = None
    failure: str = ""
    candidates: tuple[str, ...] = ()
    description: str | None = None
    actions: tuple[str, ...] | None = None
    clip: str = ""
    scale: float | None = None
    """Effective shot scale, where the prediction's file has it."""
    threaded: bool | None = None
    """Whether the clip has a thread, where the prediction's file has it."""

    def __post_init__(self) -> None:
        if not self.references:
            raise ValueError(f"item {self.id!r} has no reference")

    @property
    def reference(self) -> str:
        """The dataset's own AD."""
        return self.references[0]


@dataclass(frozen=True, slots=True)
class Corpus:
    """All items of one evaluation, in the order of the films and of their time, and who is in the films.
    No two items have one id.

    ``items`` is the whole dataset also where only a shard of it is scored: frequencies of words and windows
    of neighbours are those of the whole. ``casts`` has the characters' names of each film, by `Item.film`.
    """

    items: tuple[Item, ...]
    casts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    dataset: str = ""

    def __post_init__(self) -> None:
        counts = Counter(item.id for item in self.items)
        if len(counts) < len(self.items):
            name, times = counts.most_common(1)[0]
            raise ValueError(f"{times} items of the corpus have the id {name!r}")

    def films(self) -> dict[str, list[int]]:
        """The places in ``items`` of each film's ADs, in order of time, those at the same time in order of
        their ids (numbers by size): whatever the order of the items is."""
        found: dict[str, list[int]] = {}
        for place, item in enumerate(self.items):
            found.setdefault(item.film, []).append(place)
        for places in found.values():
            places.sort(key=lambda place: _when(self.items[place]))
        return found


def _when(item: Item) -> tuple[float, float, int, str]:
    return item.interval.start, item.interval.end, len(item.id), item.id
