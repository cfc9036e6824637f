"""Sentences taken apart: verbs, what depends on them, and where sentences begin, through spaCy.

What a parse is here needs no spaCy: it can be kept, and read by whoever has it.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from shotad.core import NoProgress, Progress
from shotad.core.errors import WeightsError
from shotad.core.model_loading import first_message_line, require_module
from shotad.core.weight_store import manifest, weights_folder

EXTRA = "evaluate"
"""The extra of the package that brings spaCy."""
_PURPOSE = "Parsing sentences"
_UNUSED = ("ner", "senter", "entity_linker", "textcat")
"""Components of spaCy's pipelines that say nothing about verbs."""
_META = "meta.json"
_GET = "Name a package that is installed, a folder with a model, or get one: python -m spacy download {}."


@dataclass(frozen=True, slots=True)
class Token:
    """One word or sign. ``head`` is the place of the word it depends on, its own for a root; ``begins``: a
    sentence begins here; ``space``: a blank follows in the text. Labels are those of Universal Dependencies
    (``pos``), the Penn Treebank (``tag``) and ClearNLP (``dep``), as spaCy's English models give them."""

    text: str
    lemma: str
    pos: str
    tag: str
    dep: str
    head: int
    begins: bool
    space: bool


@dataclass(frozen=True)
class Parse:
    """A text taken apart, in one or more sentences."""

    tokens: tuple[Token, ...] = ()

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """For each token the places of those that depend on it, in order of the text."""
        found: list[list[int]] = [[] for _ in self.tokens]
        for place, token in enumerate(self.tokens):
            if token.head != place:
                found[token.head].append(place)
        return tuple(tuple(row) for row in found)

    def subtree(self, place: int) -> Iterator[int]:
        """The places of a token and of all that depends on it: what does so from the left, itself, what
        does so from the right (the order of the text, but where branches cross)."""
        waiting = [(place, False)]
        while waiting:
            here, told = waiting.pop()
            if told:
                yield here
                continue
            below = self.children[here]
            waiting += [(child, False) for child in reversed(below) if child > here]
            waiting.append((here, True))
            waiting += [(child, False) for child in reversed(below) if child < here]

    def sentences(self) -> Iterator[range]:
        """The places of each sentence."""
        starts = [place for place, token in enumerate(self.tokens) if token.begins or place == 0]
        for first, end in pairwise([*starts, len(self.tokens)]):
            yield range(first, end)

    def text(self, places: Sequence[int]) -> str:
        """The words at ``places`` as they stand in the text, a blank wherever some are left out."""
        words = []
        for last, place in zip([-1, *places], places, strict=False):
            gap = last >= 0 and (self.tokens[last].space or place != last + 1)
            words.append(" " * gap + self.tokens[place].text)
        return "".join(words)

    def to_bytes(self) -> bytes:
        """Compact JSON, a list for each token."""
        rows = [[t.text, t.lemma, t.pos, t.tag, t.dep, t.head, t.begins, t.space] for t in self.tokens]
        return json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()

    @staticmethod
    def from_bytes(value: bytes) -> Parse:
        """The parse that `to_bytes` wrote."""
        return Parse(tuple(Token(*row) for row in json.loads(value)))


@dataclass(frozen=True, slots=True)
class ParserModel:
    """A spaCy model that is here: what it is called in records, its version, and where it is."""

    name: str
    version: str
    place: str

    @property
    def identity(self) -> dict[str, str]:
        """All that changes a parse."""
        return {"model": self.name, "version": self.version, "spacy": importlib.metadata.version("spacy")}


def find_parser(name: str, progress: Progress | None = None) -> ParserModel:
    """The model ``name``: an installed package, a folder, or a name of the manifest, fetched if need be.

    Nothing is loaded. Raises ShotadError without spaCy, WeightsError for a model that cannot be had.
    """
    if importlib.util.find_spec("spacy") is None:
        require_module("spacy", _PURPOSE, EXTRA)
    folder = Path(name).expanduser()
    if (folder / _META).is_file():
        return _of_folder(folder.resolve(), "")
    package = importlib.util.find_spec(name) if name.isidentifier() else None
    if package is not None and package.origin is not None:
        return replace(_of_folder(Path(package.origin).parent, name), place=name)
    entry = name.replace("_", "-")
    if entry in manifest():
        return _of_folder(weights_folder(entry, progress or NoProgress()), entry.replace("-", "_"))
    raise WeightsError(f"There is no spaCy model {name!r}.", _GET.format(name))


def _of_folder(folder: Path, name: str) -> ParserModel:
    try:
        meta = json.loads((folder / _META).read_text(encoding="utf-8"))
        called = name or f"{meta['lang']}_{meta['name']}"
        return ParserModel(called, str(meta["version"]), str(folder))
    except (OSError, ValueError, KeyError, TypeError) as error:
        what = f"{folder / _META} cannot be read: {first_message_line(error)}."
        raise WeightsError(what, "Give a folder that spaCy wrote.") from None


class Parser:
    """A loaded model. Texts go through it in batches."""

    def __init__(self, model: ParserModel, batch: int = 256) -> None:
        self.model, self._batch = model, batch
        spacy = require_module("spacy", _PURPOSE, EXTRA)
        try:
            self._pipeline = spacy.load(model.place, exclude=_UNUSED)
        except (OSError, ValueError, LookupError, TypeError, ImportError) as error:
            raise WeightsError(
                f"The spaCy model {model.name} cannot be loaded: {first_message_line(error)}.",
                "Install a model that fits spaCy's version: python -m spacy validate.",
            ) from None
        lacking = {"tagger", "parser", "lemmatizer"} - set(self._pipeline.pipe_names)
        if lacking:
            what = f"The spaCy model {model.name} has no {' and no '.join(sorted(lacking))}."
            raise WeightsError(what, _GET.format("en_core_web_sm"))

    def of(self, texts: Sequence[str]) -> Iterator[Parse]:
        """The parse of each text, in order, as they come."""
        for doc in self._pipeline.pipe(texts, batch_size=self._batch):
            yield Parse(
                tuple(
                    Token(
                        t.text, t.lemma_, t.pos_, t.tag_, t.dep_, t.head.i, bool(t.is_sent_start),
                        bool(t.whitespace_),
                    )
                    for t in doc
                )
            )  # fmt: skip
