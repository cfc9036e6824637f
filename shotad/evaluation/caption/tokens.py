"""Tokens of texts, made once for all metrics and kept between runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shotad.evaluation.caption.ptb import VERSION, tokens
from shotad.evaluation.measure.bench import Bench
from shotad.evaluation.measure.items import Corpus, Item
from shotad.evaluation.measure.store import text_key


class Tokenizer:
    """Tokens of the COCO chain (`shotad.evaluation.caption.ptb`), by text."""

    def __init__(self, bench: Bench) -> None:
        self._store = bench.store
        self._space = f"tokens/{VERSION}"
        self._known: dict[str, tuple[str, ...]] = {}

    def of(self, texts: Iterable[str]) -> list[tuple[str, ...]]:
        """The tokens of each text, in order."""
        wanted = list(texts)
        self._learn([text for text in dict.fromkeys(wanted) if text not in self._known])
        return [self._known[text] for text in wanted]

    def _learn(self, texts: Sequence[str]) -> None:
        keys = {text: text_key(text) for text in texts}
        kept = self._store.get(self._space, list(keys.values()))
        fresh: dict[str, bytes] = {}
        for text, key in keys.items():
            if key in kept:
                self._known[text] = _parted(kept[key].decode())
                continue
            self._known[text] = tokens(text)
            fresh[key] = " ".join(self._known[text]).encode()
        if fresh:
            self._store.put(self._space, fresh)

    def predictions(self, items: Sequence[Item]) -> list[tuple[str, ...]]:
        """Of what was predicted; none of a missing prediction."""
        return self.of(item.prediction or "" for item in items)

    def references(self, corpus: Corpus | Sequence[Item]) -> list[list[tuple[str, ...]]]:
        """Of every human AD of each item."""
        items = corpus.items if isinstance(corpus, Corpus) else corpus
        found = iter(self.of(text for item in items for text in item.references))
        return [[next(found) for _ in item.references] for item in items]


def words(sentences: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Tokens parted at every blank, as the COCO tools read them for CIDEr and BLEU: one that holds a
    non-breaking space is two words there."""
    return [found if " ".join(found).isascii() else tuple(" ".join(found).split()) for found in sentences]


def _parted(line: str) -> tuple[str, ...]:
    return tuple(line.split(" ")) if line else ()


def tokenizer_of(bench: Bench) -> Tokenizer:
    """The one that all metrics of a run share."""
    return bench.once("caption/tokenizer", lambda: Tokenizer(bench))
