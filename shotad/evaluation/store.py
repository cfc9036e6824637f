"""What metrics share: settings, models that are loaded once, and what was computed of texts in earlier runs.

That is kept in one file (SQLite). A value belongs to a space (what was computed, by which model, told how)
and to a key (a hash of the text). Values are written in groups, each whole or not at all; a file that is
damaged is set aside and started again, since everything in it can be computed again.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from shotad.core import (
    Config,
    EvaluationError,
    MeasureSettings,
    NoProgress,
    Progress,
    cache_folder,
    key_of,
    reported,
)
from shotad.script import (
    Embedder,
    Parse,
    Parser,
    Vectors,
    check_installed,
    embedding_model,
    find_parser,
    make_embedder,
)

T = TypeVar("T")


@dataclass(slots=True)
class MetricContext:
    """``store`` keeps what was computed of texts, between metrics and between runs. ``once`` makes what
    several metrics use (a parser, an embedder, an engine) when the first of them asks."""

    config: Config
    store: Store
    progress: Progress = field(default_factory=NoProgress)
    _made: dict[str, object] = field(default_factory=dict)

    @property
    def settings(self) -> MeasureSettings:
        """Those of the metrics."""
        return self.config.measures

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What ``make`` gives, made once in this run under this name."""
        if name not in self._made:
            self._made[name] = make()
        return cast("T", self._made[name])

    def counted(
        self, space: str, texts: Iterable[str], what: str, size: int, make: Callable[[list[str]], list[bytes]]
    ) -> dict[str, bytes]:
        """The value of each text in this space of the store; ``make`` gives those of ``size`` new ones, of
        like length, at a time. ``what`` is done, for people."""

        def groups(new: list[str]) -> Iterator[dict[str, bytes]]:
            new.sort(key=lambda text: (-len(text), text))
            with reported(self.progress, what, len(new), "texts") as task:
                for group in (new[first : first + size] for first in range(0, len(new), size)):
                    yield dict(zip(group, make(group), strict=True))
                    task.advance(len(group))

        return self.store.filled(space, {text: key_of(text) for text in texts}, groups)


class Store(AbstractContextManager["Store"]):
    """Values by space and key, both text; values are bytes.

    ``path`` None keeps them in memory, for this run. Several threads may use it, and several processes one
    file.
    """

    def __init__(self, path: Path | None = None, *, forget: bool = False) -> None:
        self._path, self._forget = path, forget
        self._known: set[str] = set()
        self._lock = threading.RLock()
        self._base: sqlite3.Connection | None = None
        self._done("keep what is computed", "Name another file by --cache.")

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        if self._base is not None:
            self._base.close()

    __del__ = close

    def get(self, space: str, keys: Sequence[str]) -> dict[str, bytes]:
        """The values that are there, by key; with ``forget`` only what this run put in."""
        known = [key for key in keys if not self._forget or f"{space}\0{key}" in self._known]
        sql = "SELECT key, value FROM kept WHERE space = ? AND key IN (SELECT value FROM json_each(?))"
        return dict(self._done("be read", "Name another by --cache.", sql, [(space, json.dumps(known))]))

    def put(self, space: str, values: Mapping[str, bytes]) -> None:
        """Keep these values, replacing those of the same key."""
        rows = [(space, key, value) for key, value in values.items()]
        sql = "INSERT OR REPLACE INTO kept VALUES (?, ?, ?)"
        self._done("be written", "Free some space, or name another by --cache.", sql, rows)
        if self._forget:
            self._known.update(f"{space}\0{key}" for _, key, _ in rows)

    def drop(self, space: str, keys: Sequence[str]) -> None:
        """Forget the values of these keys."""
        sql = "DELETE FROM kept WHERE space = ? AND key = ?"
        self._done("be written", "Name another by --cache.", sql, [(space, key) for key in keys])

    def filled(
        self, space: str, keys: Mapping[T, str], make: Callable[[list[T]], Iterable[Mapping[T, bytes]]]
    ) -> dict[T, bytes]:
        """A value for each, whose key in the space is given: those that are there, and those that ``make``
        gives for the others, group by group, which are kept as they come."""
        kept = self.get(space, list(keys.values()))
        found = {one: kept[key] for one, key in keys.items() if key in kept}
        missing = [one for one in keys if one not in found]
        for group in make(missing) if missing else ():
            self.put(space, {keys[one]: value for one, value in group.items()})
            found.update(group)
        return found

    def _done(
        self, what: str, hint: str, sql: str = "", rows: Sequence[Sequence[str | bytes]] = ()
    ) -> list[Any]:
        """What comes of ``sql`` with each of ``rows``. A file that turns out to be damaged is renamed and
        started again; its log belongs to it and would damage the next."""
        with self._lock:
            try:
                try:
                    return self._tried(sql, rows)
                except sqlite3.DatabaseError as error:
                    # A thread that comes after `close` finds no damage either.
                    if isinstance(error, sqlite3.OperationalError | sqlite3.ProgrammingError):
                        raise
                    self._set_aside()
                    return self._tried(sql, rows)
            except (OSError, sqlite3.Error) as error:
                raise EvaluationError(f"{self._path} cannot {what}: {error}.", hint) from None

    def _set_aside(self) -> None:
        """Rename a damaged file. Raises EvaluationError for one that somebody else made."""
        self.close()
        self._base = None
        if self._path is None:
            return
        if not _is_ours(self._path):
            raise EvaluationError(
                f"{self._path} holds something else than what evaluations keep.",
                "Name another file by --cache.",
            ) from None
        for part in ("-wal", "-shm"):
            self._path.with_name(self._path.name + part).unlink(missing_ok=True)
        self._path.replace(self._path.with_name(self._path.name + ".damaged"))

    def _tried(self, sql: str, rows: Sequence[Sequence[str | bytes]]) -> list[Any]:
        if self._base is None:
            if self._path is not None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
            # One that is let go may be closed by the thread in which Python collects it.
            base = sqlite3.connect(self._path or ":memory:", timeout=60, check_same_thread=False)
            try:
                if self._path is not None:
                    base.execute("PRAGMA journal_mode = WAL")
                    base.execute("PRAGMA synchronous = NORMAL")
                with base:
                    base.execute(
                        "CREATE TABLE IF NOT EXISTS kept "
                        "(space TEXT, key TEXT, value BLOB, PRIMARY KEY (space, key)) WITHOUT ROWID"
                    )
            except sqlite3.Error:
                base.close()
                raise
            self._base = base
        with self._base:
            return [found for row in rows for found in self._base.execute(sql, row)]


def _is_ours(path: Path) -> bool:
    """Whether a file that cannot be read may be put aside: not where somebody named a wrong one."""
    if path == kept_file() or path.suffix == ".sqlite":
        return True
    with path.open("rb") as file:
        return file.read(16) in (b"", b"SQLite format 3\0")


def kept_file() -> Path:
    """The file that evaluations share, in the user's cache folder."""
    return cache_folder().parent / "evaluation.sqlite"


Json = dict[str, Any]

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
LONGEST = 1000
"""Characters of a text that are used (published code)."""
_GROUP = 4
"""Batches whose vectors are written out together: more leave a slow machine without progress for minutes."""


class VectorService:
    """Unit vectors of texts by the model of ``measures.embedding``, each text counted once for all runs.

    May be called by several threads: one at a time counts.
    """

    def __init__(self, context: MetricContext) -> None:
        self._context = context
        self._lock = threading.Lock()
        self._settings = context.settings.embedding
        check_installed()

    @cached_property
    def identity(self) -> Json:
        """The model, its revision and how long a text may be; without the instruction, which is a prompt."""
        found = embedding_model(self._settings.model, self._context.progress)
        return {**found, "longest": LONGEST, "precision": self._context.config.compute.precision}

    @property
    def instruction(self) -> str:
        """The prompt that ``measures.embedding.instruction`` names."""
        return INSTRUCTIONS[self._settings.instruction]

    def of(self, texts: Sequence[str], *, prompt: str = "") -> Vectors:
        """float32[n, d], a unit vector to each text, in order; [0, 0] of no text. ``prompt`` stands before
        each text."""
        cut = [text[:LONGEST] for text in texts]
        unique = list(dict.fromkeys(cut))
        if not unique:
            return np.zeros((0, 0), np.float32)
        with self._lock:
            values = self._context.counted(
                f"vectors/{key_of(self.identity, prompt)}",
                unique,
                "Comparing by meaning",
                VECTORS_AT_ONCE * _GROUP,
                lambda new: [vector.tobytes() for vector in self._embedder.of(new, prompt=prompt)],
            )
        table = np.stack([np.frombuffer(values[text], np.float32) for text in unique])
        places = {text: place for place, text in enumerate(unique)}
        return table if len(cut) == len(unique) else table[[places[text] for text in cut]]

    @cached_property
    def _embedder(self) -> Embedder:
        compute, progress = self._context.config.compute, self._context.progress
        return make_embedder(self._settings.model, compute, progress, batch=VECTORS_AT_ONCE)


class ParseService:
    """Texts taken apart by the model of ``measures.parser``, each counted once for all runs."""

    def __init__(self, context: MetricContext) -> None:
        self._context = context
        self._model = find_parser(context.settings.parser.model, context.progress)

    @property
    def identity(self) -> Json:
        """The model, its version and spaCy's."""
        return dict(self._model.identity)

    def of(self, texts: Iterable[str]) -> dict[str, Parse]:
        """The parse of each text, by text."""
        kept = self._context.counted(
            f"parses/{key_of(self.identity)}",
            texts,
            "Parsing sentences",
            PARSED_AT_ONCE * _GROUP,
            lambda new: [parse.to_bytes() for parse in self._parser.of(new)],
        )
        return {text: Parse.from_bytes(value) for text, value in kept.items()}

    @cached_property
    def _parser(self) -> Parser:
        return Parser(self._model, PARSED_AT_ONCE)


def vectors_of(context: MetricContext) -> VectorService:
    """The context's vectors. Raises ShotadError, naming the extra, where they cannot be counted here."""
    return context.once("vectors", lambda: VectorService(context))


def parser_of(context: MetricContext) -> ParseService:
    """The context's parses. Raises ShotadError without spaCy, WeightsError without its model."""
    return context.once("parses", lambda: ParseService(context))
