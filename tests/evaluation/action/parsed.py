"""Parses written down by hand or recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from shotad.script.parser import Parse, Token

SPACY_MODEL = "en_core_web_sm"
"""The small model of the manifest, fetched where it is not installed."""
_TAGS = {"VERB": "VBZ", "NOUN": "NN", "PROPN": "NNP", "PRON": "PRP", "ADP": "RP", "CCONJ": "CC", "PUNCT": "."}


def parse_of(*words: str) -> Parse:
    """``"picks/VERB/ROOT/1/pick"``: word, part of speech, label, head and, where it differs, the lemma; ``|``
    after the word begins a sentence, a blank stands before each word but signs."""
    fields = [word.split("/") for word in words]
    following = [*(field[0].rstrip("|") for field in fields[1:]), "."]
    tokens = []
    for (word, pos, dep, head, *lemma), after in zip(fields, following, strict=True):
        text, tag = word.rstrip("|"), _TAGS.get(pos, "XX")
        own = lemma[0] if lemma else text.lower()
        tokens.append(Token(text, own, pos, tag, dep, int(head), text != word, after not in ".,;!?"))
    return Parse(tuple(tokens))


class RecordedParser:
    """What the small model says of the texts in ``parses.jsonl``, each line of it a parse's bytes: add those of
    another text with ``next(Parser(find_parser(SPACY_MODEL)).of([text])).to_bytes()``."""

    def __init__(self, *_: object) -> None:
        lines = (Path(__file__).parent / "parses.jsonl").read_bytes().splitlines()
        parses = [Parse.from_bytes(line) for line in lines]
        self._known = {"".join(t.text + " " * t.space for t in parse.tokens): parse for parse in parses}

    def of(self, texts: Sequence[str]) -> Iterator[Parse]:
        return (self._known[text] for text in texts)
