"""Offers of several lines, and metrics that are read off the lines themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from shotad.core import Interval, load_config
from shotad.evaluation import Corpus, MetricContext, Store
from shotad.evaluation.metric import Figure, Item, Json, Metric, Row


def bench(*settings: str) -> MetricContext:
    """One that keeps nothing."""
    return MetricContext(load_config(None, settings), Store())


def item(
    name: str, *lines: str, prediction: str | None = "", failure: str = "", reference: str = "r"
) -> Item:
    """An AD that was offered these lines; its prediction is the first of them unless one is given."""
    text = (lines[0] if lines else None) if prediction == "" else prediction
    return Item(
        name,
        "film",
        Interval(float(len(name)), len(name) + 1.0),
        (reference,),
        text,
        failure,
        candidates=lines,
    )


def corpus(*items: Item) -> Corpus:
    return Corpus(items, dataset="cmd-ad")


class Told(Metric):
    """The number that stands in a line at the metric's place: ``"3 50"`` is 3 by `one` and 50 by `two`. A line
    ``x`` says nothing about the metric. Counts what it is asked."""

    figure = Figure()
    asked: ClassVar[list[tuple[str, str]]] = []

    def __init__(self, name: str, context: MetricContext) -> None:
        super().__init__(name, context)
        self.title = name.capitalize()

    @property
    def identity(self) -> Json:
        return {"name": self.name}

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        return [{"text": corpus.items[p].prediction, "why": corpus.items[p].failure} for p in places]

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterator[Row]:
        for place in places:
            text = corpus.items[place].prediction
            Told.asked.append((self.name, text or ""))
            if text is None:
                yield Row(corpus.items[place].id, (0.0, 1.0), 0.0, corpus.items[place].failure)
            elif self.number(text) is None:
                yield Row(corpus.items[place].id, (0.0, 0.0), None)
            else:
                value = self.number(text) or 0.0
                yield Row(corpus.items[place].id, (value, 1.0), value)

    def number(self, text: str) -> float | None:
        told = text.split()[("one", "two").index(self.name.partition("-")[0])]
        return None if told == "x" else float(told)
