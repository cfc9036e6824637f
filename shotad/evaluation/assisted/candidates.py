"""What was offered for each AD, and the dataset with one of it in the place of the prediction. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from shotad.evaluation.measure.items import Corpus, Item

NONE_OFFERED = "no candidate"


@dataclass(frozen=True, slots=True)
class Offers:
    """``lines[place]`` are the candidates of ``corpus.items[place]``, in the order of the offer.

    An item without candidates is offered its prediction alone, and nothing where that failed.
    """

    corpus: Corpus
    lines: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, corpus: Corpus) -> Offers:
        """Those of a corpus that was joined with its predictions."""
        return cls(corpus, tuple(map(_offered, corpus.items)))

    @property
    def most(self) -> int:
        """The largest number of candidates of an item."""
        return max(map(len, self.lines), default=0)

    def sizes(self, places: Sequence[int]) -> Mapping[int, int]:
        """How many items have how many candidates, the largest number first."""
        counted = Counter(len(self.lines[place]) for place in places)
        return {size: counted[size] for size in sorted(counted, reverse=True)}

    def rank(self, number: int) -> Corpus:
        """The corpus in which every item has its candidate ``number``, from 0, as the prediction; those with
        fewer have none."""
        return self.chosen([number if number < len(lines) else None for lines in self.lines])

    def having(self, number: int, places: Sequence[int]) -> list[int]:
        """Those of ``places`` whose items have a candidate ``number``."""
        return [place for place in places if number < len(self.lines[place])]

    def chosen(self, numbers: Sequence[int | None]) -> Corpus:
        """The corpus with the candidate of this number for each item; with none where it is None."""
        pairs = zip(self.corpus.items, self.lines, numbers, strict=True)
        return replace(self.corpus, items=tuple(_with(item, lines, number) for item, lines, number in pairs))


def _offered(item: Item) -> tuple[str, ...]:
    if item.candidates:
        return item.candidates
    return () if item.prediction is None else (item.prediction,)


def _with(item: Item, lines: Sequence[str], number: int | None) -> Item:
    if number is None:
        return replace(item, prediction=None, failure=item.failure or NONE_OFFERED)
    return replace(item, prediction=lines[number], failure="")
