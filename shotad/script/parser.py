"""Parses of sentences: verbs, what depends on them, and where sentences begin, through spaCy.

A `Parse` needs no spaCy: it can be kept in a file, and read where spaCy is not installed.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from shotad.core import NoProgress, Progress
from shotad.core.errors import WeightsError
from shotad.core.model_loading import first_message_line, require_module
from shotad.core.weight_store import manifest, weights_folder

PARSING_EXTRA = "evaluate"
"""The extra of the package that brings spaCy."""
_PURPOSE = "Parsing sentences"
_UNUSED = ("ner", "senter", "entity_linker", "textcat")
"""Components of spaCy's pipelines that say nothing about verbs."""
_META = "meta.json"
_GET = "Name a package that is installed, a folder with a model, or get one: python -m spacy download {}."


@dataclass(frozen=True, slots=True)
class Token:
    """One word or sign.

    ``head`` is the position of the word that it depends on, its own for a root; ``space``: a blank follows in
    the text. Labels are those of Universal Dependencies (``pos``), the Penn Treebank (``tag``) and ClearNLP
    (``dep``), as spaCy's English models give them.
    """

    text: str
    lemma: str
    pos: str
    tag: str
    dep: str
    head: int
    begins_sentence: bool
    space: bool


@dataclass(frozen=True)
class Parse:
    """A parsed text of one or more sentences."""

    tokens: tuple[Token, ...] = ()

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """For each token the positions of those that depend on it, in order of the text."""
        children_of_tokens: list[list[int]] = [[] for _ in self.tokens]
        for position, token in enumerate(self.tokens):
            # A root is its own head.
            if token.head != position:
                children_of_tokens[token.head].append(position)
        return tuple(tuple(children) for children in children_of_tokens)

    def subtree(self, root: int) -> Iterator[int]:
        """The positions of a token and of all that depends on it: first what does so from the left, then the
        token, then what does so from the right (the order of the text, but where branches cross)."""
        # A stack of positions; with True where the token's left side has been put on the stack before it.
        stack = [(root, False)]
        while stack:
            position, is_expanded = stack.pop()
            if is_expanded:
                yield position
                continue
            children = self.children[position]
            # Reversed, since what is put on the stack last comes off first.
            stack += [(child, False) for child in reversed(children) if child > position]
            stack.append((position, True))
            stack += [(child, False) for child in reversed(children) if child < position]

    def sentences(self) -> Iterator[range]:
        """The positions of the tokens of each sentence."""
        starts = [
            position for position, token in enumerate(self.tokens) if token.begins_sentence or position == 0
        ]
        for start, end in pairwise([*starts, len(self.tokens)]):
            yield range(start, end)

    def text(self, positions: Sequence[int]) -> str:
        """The words at ``positions`` as they stand in the text, a blank wherever some are left out."""
        words: list[str] = []
        previous: int | None = None
        for position in positions:
            if previous is not None and (self.tokens[previous].space or position != previous + 1):
                words.append(" ")
            words.append(self.tokens[position].text)
            previous = position
        return "".join(words)

    def to_bytes(self) -> bytes:
        """Compact JSON, a list for each token."""
        rows: list[list[str | int]] = []
        for token in self.tokens:
            labels = [token.text, token.lemma, token.pos, token.tag, token.dep]
            rows.append([*labels, token.head, token.begins_sentence, token.space])
        return json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()

    @staticmethod
    def from_bytes(value: bytes) -> Parse:
        """The parse that `to_bytes` wrote."""
        return Parse(tuple(Token(*row) for row in json.loads(value)))


@dataclass(frozen=True, slots=True)
class ParserModel:
    """A spaCy model on this machine: its name in records, its version, and what spaCy loads it from
    (``source``: a folder, or the name of an installed package)."""

    name: str
    version: str
    source: str

    @property
    def identity(self) -> dict[str, str]:
        """All that changes a parse."""
        return {"model": self.name, "version": self.version, "spacy": importlib.metadata.version("spacy")}


def find_parser(name: str, progress: Progress | None = None) -> ParserModel:
    """The model ``name``: an installed package, a folder, or a name of the manifest, fetched if need be.

    Nothing is loaded. Raises ShotadError without spaCy, WeightsError for a model that cannot be had.
    """
    if importlib.util.find_spec("spacy") is None:
        require_module("spacy", _PURPOSE, PARSING_EXTRA)
    folder = Path(name).expanduser()
    if (folder / _META).is_file():
        return _model_in_folder(folder.resolve(), "")
    package = importlib.util.find_spec(name) if name.isidentifier() else None
    if package is not None and package.origin is not None:
        return replace(_model_in_folder(Path(package.origin).parent, name), source=name)
    manifest_name = name.replace("_", "-")
    if manifest_name in manifest():
        folder = weights_folder(manifest_name, progress or NoProgress())
        return _model_in_folder(folder, manifest_name.replace("-", "_"))
    raise WeightsError(f"There is no spaCy model {name!r}.", _GET.format(name))


def _model_in_folder(folder: Path, name: str) -> ParserModel:
    """The model in a folder; without a ``name`` by that in its ``meta.json``. Raises WeightsError."""
    try:
        meta = json.loads((folder / _META).read_text(encoding="utf-8"))
        model_name = name or f"{meta['lang']}_{meta['name']}"
        return ParserModel(model_name, str(meta["version"]), str(folder))
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"{folder / _META} cannot be read: {first_message_line(error)}."
        raise WeightsError(message, "Give a folder that spaCy wrote.") from None


class Parser:
    """A loaded model. Texts go through it ``batch`` at a time.

    All parsers of a model share what was loaded, so threads take turns: spaCy does not promise that one
    pipeline can be used by two at once.
    """

    def __init__(self, model: ParserModel, batch: int = 256) -> None:
        """Raises WeightsError for a model that cannot be loaded, ShotadError without spaCy."""
        self.model, self._batch = model, batch
        self._pipeline = _load_pipeline(model)

    def of(self, texts: Sequence[str]) -> Iterator[Parse]:
        """The parse of each text, in order, as they come."""
        for first in range(0, len(texts), self._batch):
            batch = texts[first : first + self._batch]
            with _ONE_AT_A_TIME:
                parses = [Parse(tuple(map(_token, doc))) for doc in self._pipeline.pipe(batch)]
            yield from parses


_ONE_AT_A_TIME = threading.Lock()


@lru_cache(maxsize=2)
def _load_pipeline(model: ParserModel) -> Any:
    """spaCy's pipeline; loaded once, for that takes longer than parsing a whole track.

    Raises WeightsError for a model that cannot be loaded, ShotadError without spaCy.
    """
    spacy = require_module("spacy", _PURPOSE, PARSING_EXTRA)
    try:
        pipeline = spacy.load(model.source, exclude=_UNUSED)
    except (OSError, ValueError, LookupError, TypeError, ImportError) as error:
        raise WeightsError(
            f"The spaCy model {model.name} cannot be loaded: {first_message_line(error)}.",
            "Install a model that fits spaCy's version: python -m spacy validate.",
        ) from None
    missing = {"tagger", "parser", "lemmatizer"} - set(pipeline.pipe_names)
    if missing:
        message = f"The spaCy model {model.name} has no {' and no '.join(sorted(missing))}."
        raise WeightsError(message, _GET.format("en_core_web_sm"))
    return pipeline


def _token(token: Any) -> Token:
    """A token of spaCy as one of ours, which needs no spaCy to be read again."""
    return Token(
        token.text,
        token.lemma_,
        token.pos_,
        token.tag_,
        token.dep_,
        token.head.i,
        bool(token.is_sent_start),
        bool(token.whitespace_),
    )
