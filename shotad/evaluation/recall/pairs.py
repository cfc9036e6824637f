"""Scores of pairs of texts: each text is encoded once, each pair matched once, and what is known is kept."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

from shotad.core import EvaluationError, RecallSettings, key_of, reported
from shotad.evaluation.measure.bench import Bench
from shotad.evaluation.measure.store import text_key
from shotad.evaluation.recall.bertscore import PUBLISHED, f_scores, published
from shotad.script import EncoderPlace, TokenEncoder, TokenVectors, locate

Pair = tuple[str, str]
"""A prediction and a reference."""

_BLOCK = 32
"""Predictions that are matched together, with the references of all: neighbours share theirs."""
AT_ONCE = 64
"""Texts that are encoded together; it changes no figure."""
_BATCHES = 8
"""Batches between two reports of progress."""
_ROOM = 1 << 29
"""Bytes of vectors that stay in memory, for the texts that come again."""


class PairScores:
    """BERTScore's F of pairs, before any rescaling, kept in `Bench.store` by model and layer.

    The model is located when its identity or a score is asked for, and loaded when
    the first text has to be encoded.
    """

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._settings: RecallSettings = bench.settings.recall
        self._place: EncoderPlace | None = None
        self._encoder: TokenEncoder | None = None
        self._vectors: dict[str, TokenVectors] = {}

    @property
    def place(self) -> EncoderPlace:
        """Where the model is, fetched if it is not here."""
        if self._place is None:
            self._place = locate(source_of(self._settings.model), self._bench.progress)
        return self._place

    @property
    def layer(self) -> int:
        """The layer that is set, else the one of BERTScore's authors, else the last.

        Raises EvaluationError for one that the model has not.
        """
        known, layers = published(self._settings.model), self.place.layers
        wanted = self._settings.layer
        if wanted is not None and not 0 <= wanted <= layers:
            raise EvaluationError(
                f"recall.layer = {wanted}, and {self._settings.model} has {layers} layers.",
                f"Name one of 0 to {layers}.",
            )
        return wanted if wanted is not None else min(known.layer if known else layers, layers)

    @property
    def identity(self) -> dict[str, str | int]:
        """All that changes a score besides its texts."""
        model = self.place.identity
        half = self._bench.config.compute.precision == "bfloat16"
        return {
            "score": "BERTScore F 1",
            "model": model.model,
            "revision": model.revision,
            "layer": self.layer,
            "precision": "bfloat16" if half else "float32",
        }

    def of(self, pairs: Iterable[Pair]) -> dict[Pair, float]:
        """The score of each pair."""
        keys = {pair: text_key("\0".join(pair)) for pair in dict.fromkeys(pairs)}
        space = f"bertscore/{key_of(self.identity)}"
        kept = self._bench.store.get(space, list(keys.values()))
        found = {pair: struct.unpack("<d", kept[key])[0] for pair, key in keys.items() if key in kept}
        fresh = self._matched([pair for pair in keys if pair not in found])
        self._bench.store.put(space, [(keys[pair], struct.pack("<d", f)) for pair, f in fresh.items()])
        return {**found, **fresh}

    def _matched(self, pairs: Sequence[Pair]) -> dict[Pair, float]:
        against: dict[str, list[str]] = {}
        for prediction, reference in pairs:
            against.setdefault(prediction, []).append(reference)
        self._encode(text for pair in pairs for text in pair)
        predictions = list(against)
        found: dict[Pair, float] = {}
        for first in range(0, len(predictions), _BLOCK):
            found |= self._block({text: against[text] for text in predictions[first : first + _BLOCK]})
        self._make_room()
        return found

    def _block(self, against: dict[str, list[str]]) -> dict[Pair, float]:
        columns = {
            text: i for i, text in enumerate(dict.fromkeys(t for texts in against.values() for t in texts))
        }
        scores = f_scores([self._vectors[t] for t in against], [self._vectors[t] for t in columns])
        return {
            (prediction, reference): float(scores[row, columns[reference]])
            for row, (prediction, references) in enumerate(against.items())
            for reference in references
        }

    def _encode(self, texts: Iterable[str]) -> None:
        missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        missing.sort(key=lambda text: (len(text), text))
        size = AT_ONCE * _BATCHES
        with reported(self._bench.progress, "Comparing words", len(missing), "texts") as task:
            for group in (missing[first : first + size] for first in range(0, len(missing), size)):
                self._vectors.update(zip(group, self._loaded().of(group), strict=True))
                task.advance(len(group))

    def _loaded(self) -> TokenEncoder:
        if self._encoder is None:
            compute = self._bench.config.compute
            self._encoder = TokenEncoder(self.place, self.layer, compute, AT_ONCE)
        return self._encoder

    def _make_room(self) -> None:
        """Forget the texts that came first, until the others take no more than `_ROOM`."""
        size = sum(text.vectors.nbytes for text in self._vectors.values())
        for key in list(self._vectors):
            if size <= _ROOM:
                return
            size -= self._vectors.pop(key).vectors.nbytes


def source_of(model: str) -> str:
    """Where a model is looked for: its repository, where only its short name is given."""
    return PUBLISHED[model].repo if model in PUBLISHED and not Path(model).is_dir() else model


def pair_scores(bench: Bench) -> PairScores:
    """Those of this run."""
    return bench.once("pair scores", lambda: PairScores(bench))
