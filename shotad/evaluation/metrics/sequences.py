"""Measures along a film's lines: repetition in words and in meaning, and names that are kept.

Lines that are missing or without words are left out of all three and counted: silence repeats nothing and
renames nobody. The same measure of the human AD stands in the remarks: that is what a good one has, not
nought.

Somebody who is Tony in one line and Wendice in the next is two people to who cannot see. What a name is and
whose is read as for CRITIC (`shotad.script.line_mentions`), from the film's cast list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from shotad.core.model_cache import ModelNeed
from shotad.evaluation.metric import Corpus, Json, Metric, Row
from shotad.evaluation.store import EMBEDDER, MetricContext, VectorService, embedder_needs, vectors_of
from shotad.script.cast_members import TITLES, members
from shotad.script.english_words import listed
from shotad.script.line_mentions import (
    find_mentions,
    index_names,
    tokens_of,
)

REACH = 5
"""Lines before that a line is held against: as many as the narrator knows (``stage2.history``)."""
ORDER = 3
"""Words in a row that count as repeated: two are often a name or "into the", three a turn of speech."""
_CHUNK = 1024
"""Lines whose vectors are asked for together."""


Lines = Sequence[str | None]
"""What is read along a film: the predictions, or the human ADs."""
Figures = Iterator[tuple[tuple[float, float], Json]]
"""Sums and notes."""


class _SequenceMetric(Metric):
    """Base class of these metrics: a row depends on the item's prediction, and on those before it in the
    film."""

    higher_is_better = False

    def __init__(self, name: str, context: MetricContext) -> None:
        super().__init__(name, context)
        self._corpus: Corpus | None = None

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        self._corpus = corpus
        before = before_of(corpus, _predicted(corpus))
        return [{"line": corpus.items[p].prediction, "before": before[p]} for p in places]

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterator[Row]:
        """The value of a row is None where the second of its sums is 0."""
        figures = self._figures(corpus, _predicted(corpus), places)
        for place, (sums, notes) in zip(places, figures, strict=True):
            item = corpus.items[place]
            value = 100 * sums[0] / sums[1] if sums[1] else None
            yield Row(item.id, sums, value, item.missing, notes)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Of the whole dataset, so that all shards say the same."""
        return () if self._corpus is None else tuple(self._remarks(self._corpus))

    def _remarks(self, corpus: Corpus) -> Iterator[str]:
        lines = [item.reference for item in corpus.items]
        sums = [row_sums for row_sums, _ in self._figures(corpus, lines, range(len(lines)))]
        total = sum(row_sums[1] for row_sums in sums)
        if total:
            yield f"The human ADs' own: {100 * (sum(row_sums[0] for row_sums in sums) / total):.1f}."
        empty = sum(not words_of(item.prediction) for item in corpus.items)
        if empty:
            yield f"{empty} ADs with nothing said are left out; silence repeats and renames nothing."

    def _figures(self, corpus: Corpus, lines: Lines, places: Sequence[int]) -> Figures:
        """The sums and notes of each place, where ``lines`` are the texts of the corpus's items."""
        raise NotImplementedError


class Repetition(_SequenceMetric):
    """Sums: runs of words that stand in one of the last lines, runs in all (see `repeated`)."""

    title = "Repetition of words"
    columns = ("repeated runs", "runs")

    @property
    def identity(self) -> Json:
        return {"metric": "repetition 1", "reach": REACH, "order": ORDER}

    def _figures(self, corpus: Corpus, lines: Lines, places: Sequence[int]) -> Figures:
        before = before_of(corpus, lines)
        for place in places:
            runs, total = repeated(lines[place] or "", before[place])
            sums = (float(len(runs)), float(total)) if before[place] else (0.0, 0.0)
            yield sums, {"repeated": list(runs)} if runs else {}


class RepetitionOfMeaning(_SequenceMetric):
    """Sums: the cosine of a line with the most similar one of the last lines, and 1."""

    title = "Repetition of meaning"
    columns = ("cosine", "lines")
    model = EMBEDDER

    def __init__(self, name: str, context: MetricContext) -> None:
        super().__init__(name, context)
        self._vectors: VectorService = vectors_of(context)

    @classmethod
    def needs(cls, name: str, context: MetricContext) -> tuple[ModelNeed, ...]:
        return embedder_needs(context)

    @property
    def identity(self) -> Json:
        return {"metric": "repetition-meaning 1", "reach": REACH, **self._vectors.identity}

    def _figures(self, corpus: Corpus, lines: Lines, places: Sequence[int]) -> Figures:
        before = before_of(corpus, lines)
        for first in range(0, len(places), _CHUNK):
            chunk: list[tuple[str, tuple[str, ...]]] = []
            texts: dict[str, None] = {}
            for place in places[first : first + _CHUNK]:
                line = lines[place] or ""
                earlier_lines = before[place] if words_of(line) else ()
                chunk.append((line, earlier_lines))
                if earlier_lines:
                    texts.update(dict.fromkeys((line, *earlier_lines)))
            vectors = dict(zip(texts, self._vectors.of(list(texts)), strict=True))
            for line, earlier_lines in chunk:
                # The latest first, so that of equals it is the nearest.
                cosines = [
                    (float(vectors[line] @ vectors[earlier]), earlier) for earlier in reversed(earlier_lines)
                ]
                if cosines:
                    cosine, nearest = max(cosines, key=lambda pair: pair[0])
                    yield (cosine, 1.0), {"like": nearest}
                else:
                    yield (0.0, 0.0), {}


class NamesKept(_SequenceMetric):
    """Sums: how often a character is named again by the name that they had last, and how often they are named
    again. For films with a cast list; see `namings`."""

    title = "Names kept"
    columns = ("kept", "named again")
    higher_is_better = True

    @property
    def identity(self) -> Json:
        return {"metric": "names-kept 1"}

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        """The namings of each line: a row depends on nothing else."""
        self._corpus = corpus
        by_item = _namings(corpus, _predicted(corpus))
        return [{"missing": corpus.items[p].prediction is None, "named": by_item[p]} for p in places]

    def _figures(self, corpus: Corpus, lines: Lines, places: Sequence[int]) -> Figures:
        by_item = _namings(corpus, lines)
        for place in places:
            again = [naming for naming in by_item[place] if naming[2] is not None]
            changed = [f"{last} → {label}" for _, label, last, is_kept in again if not is_kept]
            sums = (float(len(again) - len(changed)), float(len(again)))
            yield sums, {"changed": changed} if changed else {}

    def _remarks(self, corpus: Corpus) -> Iterator[str]:
        yield from super()._remarks(corpus)
        without = {item.film for item in corpus.items} - {film for film, cast in corpus.casts.items() if cast}
        if without:
            yield f"{len(without)} films have no cast list, and no names are read in them."


def _predicted(corpus: Corpus) -> list[str | None]:
    return [item.prediction for item in corpus.items]


def _namings(corpus: Corpus, lines: Lines) -> list[tuple[Naming, ...]]:
    """For each item the namings in its line; none for films without a cast list."""
    by_item: list[tuple[Naming, ...]] = [()] * len(corpus.items)
    for film, places in corpus.films().items():
        cast = corpus.casts.get(film)
        if not cast:
            continue
        film_namings = namings([lines[place] for place in places], cast)
        for place, line_namings in zip(places, film_namings, strict=True):
            by_item[place] = line_namings
    return by_item


def before_of(corpus: Corpus, lines: Lines) -> list[tuple[str, ...]]:
    """For each item the last `REACH` lines of its film before it that have words, oldest first."""
    by_item: list[tuple[str, ...]] = [()] * len(corpus.items)
    for places in corpus.films().values():
        earlier_lines: list[str] = []
        for place in places:
            by_item[place] = tuple(earlier_lines[-REACH:])
            line = lines[place]
            if line is not None and words_of(line):
                earlier_lines.append(line)
    return by_item


def repeated(line: str, before: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """The runs of `ORDER` words of a line that stand in a line before it, and the number of all its runs.

    A shorter line is one run of all its words. Runs of `FUNCTION_WORDS` alone do not count. A run that stands
    twice in the line counts twice.

    >>> repeated("She smiles at Bob.", ["He turns.", "Ann smiles at Bob again."])
    (('smiles at bob',), 2)
    """
    words = words_of(line)
    size = min(ORDER, len(words))
    runs = [run for run in _runs(words, size) if not FUNCTION_WORDS.issuperset(run)]
    runs_before: set[tuple[str, ...]] = set()
    for earlier_line in before:
        runs_before.update(_runs(words_of(earlier_line), size))
    return tuple(" ".join(run) for run in runs if run in runs_before), len(runs)


def _runs(words: Sequence[str], size: int) -> list[tuple[str, ...]]:
    """All runs of ``size`` words; none for size 0."""
    return [tuple(words[start : start + size]) for start in range(len(words) - size + 1)] if size else []


def words_of(text: str | None) -> tuple[str, ...]:
    """The words of a line in small letters.

    >>> words_of("Ann's T-shirt: red!")
    ("ann's", 't-shirt', 'red')
    """
    return tuple(word.lower().replace("’", "'") for word in _WORD.findall(text or ""))


_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


FUNCTION_WORDS = listed(
    """
    a an the and or but as so than then that which who whom whose this these those there here not no nor
    he him his himself she her hers herself it its itself they them their theirs themselves we us our you
    your i me my one another other each both all some any
    is are was were be been being am has have had having do does did can could will would may might must
    at by for from in into of off on onto out over to up with without about above across after against along
    around away back before behind below beneath beside between beyond down inside near outside past through
    toward towards under until upon within while when where if because
    """
)
"""Words that any line may share with any other: by themselves they repeat nothing (``out of the``)."""


Naming = tuple[str, str, str | None, bool]
"""A character in a line; the label that they have there, without article and titles, unless it has nothing
else; the label before, None where they are named for the first time; and whether it is kept: the same again,
or (after a first mention by a longer name) a part of that."""


def namings(lines: Sequence[str | None], cast: tuple[str, ...]) -> list[tuple[Naming, ...]]:
    """For each line of a film, in order, the namings of characters in it, without names that several
    share."""
    characters = members(cast)
    tokens = [tokens_of(line or "") for line in lines]
    name_index = index_names(characters, tokens)
    last_labels: dict[str, str] = {}
    named_twice: set[str] = set()
    by_line = []
    for line in tokens:
        line_namings = []
        for mention in find_mentions(line, characters, name_index):
            if mention.kind != "cast" or len(mention.members) != 1:
                continue
            character = characters[mention.members[0]].name
            words = [token.key for token in line[mention.start : mention.end]]
            without_article = [word for word in words if word not in ("the", "a", "an")]
            without_title = [word for word in without_article if word not in TITLES]
            label = " ".join(without_title or without_article or words)
            before = last_labels.get(character)
            # ``Tony Stark`` and later ``Tony``: only the first change to a shorter name is usual.
            shortened = (
                before is not None
                and character not in named_twice
                and set(label.split()) < set(before.split())
            )
            if before is not None:
                named_twice.add(character)
            last_labels[character] = label
            line_namings.append((character, label, before, before in (None, label) or shortened))
        by_line.append(tuple(line_namings))
    return by_line
