"""Corpora and metrics for tests of evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from shotad.core import Interval
from shotad.evaluation import Corpus, Figure, Item, Metric, Row
from shotad.evaluation.metric import Json


def corpus_of(
    pairs: Iterable[tuple[str, str | None]],
    *,
    film: str = "film",
    actions: Sequence[tuple[str, ...]] | None = None,
    casts: dict[str, tuple[str, ...]] | None = None,
) -> Corpus:
    """One film whose k-th AD is spoken from second 10 k on; pairs are the human AD and the prediction."""
    items = [
        Item(
            f"{film}-{k}",
            film,
            Interval(10.0 * k, 10.0 * k + 3),
            (reference,),
            prediction,
            actions=None if actions is None else actions[k],
        )
        for k, (reference, prediction) in enumerate(pairs)
    ]
    return Corpus(tuple(items), casts or {})


_SHARE = Figure("share", 100.0)


@dataclass
class Lengths(Metric):
    """A metric for tests: how many of the human AD's words the prediction has, by number. Counts its work."""

    name: str = "lengths"
    title: str = "Lengths"
    columns: tuple[str, ...] = ("words", "ads")
    figure: Figure = _SHARE
    version: int = 1
    fails_at: str = ""
    breaks_at: str = ""
    counted: list[str] = field(default_factory=list)

    @property
    def identity(self) -> Json:
        return {"version": self.version}

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        return [{"pair": [corpus.items[p].reference, corpus.items[p].prediction]} for p in places]

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterator[Row]:
        for place in places:
            item = corpus.items[place]
            if item.id == self.breaks_at:
                raise RuntimeError("broken")
            self.counted.append(item.id)
            score = len((item.prediction or "").split()) / len(item.reference.split())
            failure = "judge: silent" if item.id == self.fails_at else ""
            failure = failure or (item.failure or "no prediction" if item.prediction is None else "")
            yield Row(item.id, (score, 1.0), 100 * score, failure)
