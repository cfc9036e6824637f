"""Measures along a film's lines.

What a system does not say repeats nothing and renames nobody: lines that are missing or without words are
left out of all three and counted, and bring neither gain nor loss. The same measure of the human AD stands in
the remarks: that is what a good one has, not nought.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Self

import numpy as np

from shotad.evaluation.measure.bench import Bench
from shotad.evaluation.measure.items import Corpus, Item
from shotad.evaluation.measure.rows import Figure, Json, Row
from shotad.evaluation.measure.texts import VectorService, vectors_of
from shotad.evaluation.sequences.along import Said, before_of, human, predicted, repeated, words_of
from shotad.evaluation.sequences.naming import Naming, namings

_CHUNK = 1024
"""Lines whose vectors are asked for together."""


class _Along:
    """What the measures share. Of the item itself a row needs the prediction, and of the film what was heard
    before it."""

    name: ClassVar[str]
    title: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]
    figure = Figure("share", 100.0)
    comparable = True
    higher_is_better = False

    def __init__(self, bench: Bench) -> None:
        self._settings = bench.settings.sequence
        self._corpus: Corpus | None = None
        self._human: tuple[Corpus, float | None] | None = None

    @classmethod
    def of(cls, name: str, bench: Bench) -> Self:
        del name
        return cls(bench)

    def basis(self, corpus: Corpus) -> str:
        """Nothing: a row needs the lines before it alone."""
        del corpus
        return ""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Of the whole dataset, so that all shards say the same."""
        return () if self._corpus is None else tuple(self._remarks(self._corpus))

    def _remarks(self, corpus: Corpus) -> Iterator[str]:
        if self._human is None or self._human[0] is not corpus:
            self._human = corpus, self._share_of_human(corpus)
        if self._human[1] is not None:
            yield f"The human ADs' own: {100 * self._human[1]:.1f}."
        silent = sum(not words_of(item.prediction) for item in corpus.items)
        if silent:
            yield f"{silent} ADs with nothing said are left out; silence repeats and renames nothing."

    def _share_of_human(self, corpus: Corpus) -> float | None:
        raise NotImplementedError

    def _row(self, item: Item, sums: tuple[float, float], notes: Json) -> Row:
        """The row of a line; it says nothing (None) where the second of ``sums`` is 0."""
        failure = (item.failure or "no prediction") if item.prediction is None else ""
        value = 100 * sums[0] / sums[1] if sums[1] else None
        return Row(item.id, sums, value, failure, notes)


class Repetition(_Along):
    """Sums: runs of words that stand in one of the last lines, runs in all (see `along.repeated`)."""

    name = "repetition"
    title = "Repetition of words"
    columns = ("repeated runs", "runs")

    @property
    def identity(self) -> Json:
        return {"metric": "repetition 1", "reach": self._settings.reach, "order": self._settings.order}

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        self._corpus = corpus
        before = before_of(corpus, self._settings.reach, predicted)
        return [{"line": corpus.items[p].prediction, "before": before[p]} for p in places]

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterator[Row]:
        before = before_of(corpus, self._settings.reach, predicted)
        for place in places:
            item = corpus.items[place]
            said = repeated(item.prediction or "", before[place], self._settings.order)
            sums = (float(len(said.runs)), float(said.total)) if before[place] else (0.0, 0.0)
            yield self._row(item, sums, {"repeated": list(said.runs)} if said.runs else {})

    def _share_of_human(self, corpus: Corpus) -> float | None:
        before = before_of(corpus, self._settings.reach, human)
        said = [
            repeated(item.reference, lines, self._settings.order)
            for item, lines in zip(corpus.items, before, strict=True)
            if lines
        ]
        total = sum(line.total for line in said)
        return sum(len(line.runs) for line in said) / total if total else None


class RepetitionOfMeaning(_Along):
    """Sums: the cosine of a line to that of the last lines which is most like it, and 1."""

    name = "repetition-meaning"
    title = "Repetition of meaning"
    columns = ("cosine", "lines")

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        self._vectors: VectorService = vectors_of(bench)

    @property
    def identity(self) -> Json:
        return {"metric": "repetition-meaning 1", "reach": self._settings.reach, **self._vectors.identity}

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        self._corpus = corpus
        before = before_of(corpus, self._settings.reach, predicted)
        return [{"line": corpus.items[p].prediction, "before": before[p]} for p in places]

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterator[Row]:
        before = before_of(corpus, self._settings.reach, predicted)
        for first in range(0, len(places), _CHUNK):
            chunk = places[first : first + _CHUNK]
            lines = [(corpus.items[p].prediction or "", before[p]) for p in chunk]
            for place, found in zip(chunk, self._nearest(lines), strict=True):
                if found is None:
                    yield self._row(corpus.items[place], (0.0, 0.0), {})
                    continue
                cosine, line = found
                yield self._row(corpus.items[place], (cosine, 1.0), {"like": line})

    def _nearest(self, lines: Sequence[tuple[str, Sequence[str]]]) -> list[tuple[float, str] | None]:
        """Of each line the one before that is most like it, and its cosine; None where there is none."""
        asked = [(line, before) for line, before in lines if before and words_of(line)]
        texts = list(dict.fromkeys(text for line, before in asked for text in (line, *before)))
        vectors = dict(zip(texts, self._vectors.of(texts), strict=True))
        return [
            _most_like(line, before, vectors) if before and words_of(line) else None for line, before in lines
        ]

    def _share_of_human(self, corpus: Corpus) -> float | None:
        before = before_of(corpus, self._settings.reach, human)
        lines = [(item.reference, those) for item, those in zip(corpus.items, before, strict=True)]
        cosines = [found[0] for found in self._nearest(lines) if found is not None]
        return float(np.mean(cosines)) if cosines else None


def _most_like(
    line: str, before: Sequence[str], vectors: dict[str, np.typing.NDArray[np.float32]]
) -> tuple[float, str]:
    """Of equals the latest."""
    return max(
        ((float(vectors[line] @ vectors[text]), text) for text in reversed(before)),
        key=lambda found: found[0],
    )


class NamesKept(_Along):
    """Sums: how often somebody is named again by the name that they had last, how often they are named again.

    For films with a cast list; see `naming.namings`.
    """

    name = "names-kept"
    title = "Names kept"
    columns = ("kept", "named again")
    higher_is_better = True

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        self._found: list[tuple[Naming, ...]] = []

    @property
    def identity(self) -> Json:
        return {"metric": "names-kept 1"}

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        """What was read of names, which says all."""
        found = self._predicted(corpus)
        return [
            {
                "missing": corpus.items[p].prediction is None,
                "named": [(n.who, n.label, n.last, n.kept) for n in found[p]],
            }
            for p in places
        ]

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterator[Row]:
        found = self._predicted(corpus)
        for place in places:
            again = [naming for naming in found[place] if naming.last is not None]
            changed = [f"{n.last} → {n.label}" for n in again if not n.kept]
            sums = (float(len(again) - len(changed)), float(len(again)))
            yield self._row(corpus.items[place], sums, {"changed": changed} if changed else {})

    def _predicted(self, corpus: Corpus) -> list[tuple[Naming, ...]]:
        if self._corpus is not corpus:
            self._found, self._corpus = _namings(corpus, predicted), corpus
        return self._found

    def _remarks(self, corpus: Corpus) -> Iterator[str]:
        yield from super()._remarks(corpus)
        without = {item.film for item in corpus.items} - {film for film, cast in corpus.casts.items() if cast}
        if without:
            yield f"{len(without)} films have no cast list, and no names are read in them."

    def _share_of_human(self, corpus: Corpus) -> float | None:
        again = [n for line in _namings(corpus, human) for n in line if n.last is not None]
        return sum(naming.kept for naming in again) / len(again) if again else None


def _namings(corpus: Corpus, said: Said) -> list[tuple[Naming, ...]]:
    """For each item who is named in it."""
    found: list[tuple[Naming, ...]] = [()] * len(corpus.items)
    for film, places in corpus.films().items():
        if cast := corpus.casts.get(film):
            lines = namings([said(corpus.items[p]) for p in places], cast)
            for place, line in zip(places, lines, strict=True):
                found[place] = line
    return found
