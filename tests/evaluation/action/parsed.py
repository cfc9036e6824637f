"""Parses written down by hand or recorded, and vectors without a model."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from shotad.core import Identity
from shotad.script import Parse, Token, Vectors

SPACY_MODEL = "en_core_web_sm"
"""The small model of the manifest, fetched where it is not installed."""
_TAGS = {"VERB": "VBZ", "NOUN": "NN", "PROPN": "NNP", "PRON": "PRP", "ADP": "RP", "CCONJ": "CC", "PUNCT": "."}


def parse_of(*words: str) -> Parse:
    """``"picks/VERB/ROOT/1/pick"``: word, part of speech, label, head and, where it differs, the lemma; ``|``
    after the word begins a sentence, a blank stands before each word but signs."""
    fields = [word.split("/") for word in words]
    following = [*(field[0].rstrip("|") for field in fields[1:]), "."]
    return Parse(
        tuple(
            Token(
                text=field[0].rstrip("|"),
                lemma=field[4] if len(field) > 4 else field[0].rstrip("|").lower(),
                pos=field[1],
                tag=_TAGS.get(field[1], "XX"),
                dep=field[2],
                head=int(field[3]),
                begins=field[0].endswith("|"),
                space=after not in ".,;!?",
            )
            for field, after in zip(fields, following, strict=True)
        )
    )


class RecordedParser:
    """What the small model says of the texts in ``parses.jsonl``, each line of it a parse's bytes: add those of
    another text with ``next(Parser(find_parser(SPACY_MODEL)).of([text])).to_bytes()``."""

    def __init__(self, *_: object) -> None:
        lines = (Path(__file__).parent / "parses.jsonl").read_bytes().splitlines()
        parses = [Parse.from_bytes(line) for line in lines]
        self._known = {"".join(t.text + " " * t.space for t in parse.tokens): parse for parse in parses}

    def of(self, texts: Sequence[str]) -> Iterator[Parse]:
        return (self._known[text] for text in texts)


class WordVectors:
    """Texts as the sum of a random direction for each word: alike as far as they share words."""

    def __init__(self) -> None:
        self.identity = Identity("fake", "words")
        self.counted: list[str] = []

    def of(self, texts: Sequence[str], *, prompt: str = "") -> Vectors:
        self.counted += [prompt + text for text in texts]
        return np.stack([self._vector(prompt + text) for text in texts]).astype(np.float32)

    def _vector(self, text: str) -> np.ndarray:
        words = re.findall(r"\w+", text.lower()) or ["nothing"]
        seeds = [zlib.crc32(word.encode()) for word in words]
        found = sum(np.random.default_rng(seed).standard_normal(64) for seed in seeds)
        return np.asarray(found / np.linalg.norm(found))
