"""What metrics know of texts: their vectors and their parses, counted once and kept in the bench's store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np

from shotad.core import key_of, reported
from shotad.evaluation.metric import Json
from shotad.evaluation.store import MetricContext, text_key
from shotad.script import (
    Embedder,
    Parse,
    Parser,
    ParserModel,
    Vectors,
    check_installed,
    embedding_model,
    find_parser,
    make_embedder,
)

INSTRUCTIONS = {
    "none": "",
    "paper": "Instruct: Retrieve relevant passages that involve similar actions, with particular focus on "
    "the verbs.\nQuery: ",
    "code": "Instruct: Given a sentence, retrieve relevant passages that involve similar actions, focus "
    "particularly on the verbs\nQuery: ",
}
"""What stands before each text, human and predicted alike, in the form that the gte models were trained with:
the sentence of the paper (Shot-by-Shot, section 4.2), or that of its published code."""

VECTORS_AT_ONCE, PARSED_AT_ONCE = 64, 256
"""Texts that go through a model together; more is no faster, and neither changes a figure."""
_GROUP = 16
"""Batches whose vectors are written out together."""


class VectorService:
    """Unit vectors of texts by the model of ``measures.embedding``, each text counted once for all runs.

    The model is loaded when a text comes that is not known yet.
    """

    def __init__(self, bench: MetricContext) -> None:
        self._bench = bench
        self._settings = bench.settings.embedding
        self._embedder: Embedder | None = None
        self._identity: Json | None = None
        check_installed()

    @property
    def identity(self) -> Json:
        """The model, its revision and how long a text may be; without the instruction, which is a prompt."""
        if self._identity is None:
            found = embedding_model(self._settings.model, self._settings.revision, self._bench.progress)
            self._identity = {
                **found,
                "longest": self._settings.longest,
                "precision": self._bench.config.compute.precision,
            }
        return self._identity

    @property
    def instruction(self) -> str:
        """The prompt that ``measures.embedding.instruction`` names."""
        return INSTRUCTIONS[self._settings.instruction]

    def of(self, texts: Sequence[str], *, prompt: str = "") -> Vectors:
        """float32[n, d], a unit vector to each text, in order; [0, 0] of no text.

        ``prompt`` stands before each text. Texts that come twice cost nothing.
        """
        cut = [text[: self._settings.longest] for text in texts]
        unique = list(dict.fromkeys(cut))
        if not unique:
            return np.zeros((0, 0), np.float32)
        space = f"vectors/{key_of(self.identity, prompt)}"
        keys = [text_key(text) for text in unique]
        known = {
            key: np.frombuffer(value, np.float32) for key, value in self._bench.store.get(space, keys).items()
        }
        self._count(
            [t for t, key in zip(unique, keys, strict=True) if key not in known], prompt, space, known
        )
        table = np.stack([known[key] for key in keys])
        places = {text: place for place, text in enumerate(unique)}
        return table if len(cut) == len(unique) else table[[places[text] for text in cut]]

    def _count(self, texts: list[str], prompt: str, space: str, known: dict[str, np.ndarray]) -> None:
        """Encode new texts, those of like length together, and keep them group by group."""
        if not texts:
            return
        texts = sorted(texts, key=lambda text: (-len(text), text))
        with reported(self._bench.progress, "Comparing by meaning", len(texts), "texts") as task:
            size = VECTORS_AT_ONCE * _GROUP
            for group in (texts[first : first + size] for first in range(0, len(texts), size)):
                vectors = self._encoded(group, prompt)
                new = dict(zip((text_key(text) for text in group), vectors, strict=True))
                self._bench.store.put(space, {key: vector.tobytes() for key, vector in new.items()})
                known.update(new)
                task.advance(len(group))

    def _encoded(self, texts: Sequence[str], prompt: str) -> Vectors:
        if self._embedder is None:
            self._embedder = make_embedder(
                self._settings.model,
                self._bench.config.compute,
                self._bench.progress,
                revision=self._settings.revision,
                batch=VECTORS_AT_ONCE,
            )
        return self._embedder.of(texts, prompt=prompt)


class ParseService:
    """Texts taken apart by the model of ``measures.parser``, each counted once for all runs."""

    def __init__(self, bench: MetricContext) -> None:
        self._bench = bench
        self._settings = bench.settings.parser
        self._found: ParserModel | None = None
        self._parser: Parser | None = None

    @property
    def identity(self) -> Json:
        """The model, its version and spaCy's."""
        return dict(self._model().identity)

    def of(self, texts: Iterable[str]) -> dict[str, Parse]:
        """The parse of each text, by text."""
        unique = list(dict.fromkeys(texts))
        space = f"parses/{key_of(self.identity)}"
        keys = {text: text_key(text) for text in unique}
        kept = self._bench.store.get(space, list(keys.values()))
        found = {text: Parse.from_bytes(kept[key]) for text, key in keys.items() if key in kept}
        new = sorted(text for text in unique if text not in found)
        if new:
            self._count(new, space, found)
        return found

    def _count(self, texts: list[str], space: str, found: dict[str, Parse]) -> None:
        if self._parser is None:
            self._parser = Parser(self._model(), PARSED_AT_ONCE)
        with reported(self._bench.progress, "Taking sentences apart", len(texts), "texts") as task:
            parses = zip(texts, self._parser.of(texts), strict=True)
            while group := dict(islice(parses, PARSED_AT_ONCE * _GROUP)):
                self._bench.store.put(
                    space, {text_key(text): parse.to_bytes() for text, parse in group.items()}
                )
                found.update(group)
                task.advance(len(group))

    def _model(self) -> ParserModel:
        if self._found is None:
            self._found = find_parser(self._settings.model, self._bench.progress)
        return self._found


def vectors_of(bench: MetricContext) -> VectorService:
    """The bench's vectors. Raises ShotadError, naming the extra, where they cannot be counted here."""
    return bench.once("vectors", lambda: VectorService(bench))


def parser_of(bench: MetricContext) -> ParseService:
    """The bench's parses. Raises ShotadError without spaCy, WeightsError without its model."""

    def make() -> ParseService:
        service = ParseService(bench)
        service.identity  # noqa: B018  a model that is not here is said now
        return service

    return bench.once("parses", make)
