"""What metrics share: settings, models that are loaded once, and a cache of what was computed of texts.

The cache is one SQLite file. A value belongs to a space (what was computed, by which model, with which
prompt) and to a key (a hash of the text). Values are written in groups, each whole or not at all. A damaged
file is renamed and started again, since everything in it can be computed again.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from shotad.core import (
    Config,
    Engine,
    NoProgress,
    Progress,
)
from shotad.core.config.measures import MeasureSettings
from shotad.core.errors import EvaluationError
from shotad.core.files import remove_file
from shotad.core.model_cache import ModelNeed
from shotad.core.progress import progress_task
from shotad.core.system import when_free
from shotad.core.weight_store import cache_folder
from shotad.core.workfolder import hash_key
from shotad.script import Embedder, make_embedder
from shotad.script.embeddings import (
    Vectors,
    check_installed,
    embedder_need,
    embedding_model,
    embedding_precision,
)
from shotad.script.parser import (
    Parse,
    Parser,
    find_parser,
)

T = TypeVar("T")


@dataclass(slots=True)
class MetricContext:
    """Settings, store and progress of an evaluation.

    ``store`` caches what was computed of texts, between metrics and between runs. ``once`` makes what several
    metrics use (a parser, an embedder, an engine) when the first of them asks for it.
    """

    config: Config
    store: Store
    progress: Progress = field(default_factory=NoProgress)
    stand_in: Callable[[Engine], Engine] | None = None
    """Gives the engine that is asked in the place of a judge's, such as one that counts."""
    _shared: dict[str, object] = field(default_factory=dict)

    @property
    def settings(self) -> MeasureSettings:
        """Settings of the metrics (``measures``)."""
        return self.config.measures

    def once(self, name: str, make: Callable[[], T]) -> T:
        """The result of ``make``, which is called once in this run for this name."""
        if name not in self._shared:
            self._shared[name] = make()
        return cast("T", self._shared[name])

    def compute_values(
        self,
        space: str,
        texts: Iterable[str],
        title: str,
        size: int,
        make: Callable[[list[str]], list[bytes]],
    ) -> dict[str, bytes]:
        """The value of each text, from this space of the store or computed now.

        ``make`` computes the values of up to ``size`` new texts at a time. ``title`` is that of the progress.
        """

        def compute_groups(new_texts: list[str]) -> Iterator[dict[str, bytes]]:
            # Texts of similar length go together, since a model pads a batch to its longest text.
            new_texts.sort(key=lambda text: (-len(text), text))
            with progress_task(self.progress, title, len(new_texts), "texts") as task:
                for first in range(0, len(new_texts), size):
                    group = new_texts[first : first + size]
                    yield dict(zip(group, make(group), strict=True))
                    task.advance(len(group))

        return self.store.get_or_compute(space, {text: hash_key(text) for text in texts}, compute_groups)


class Store(AbstractContextManager["Store"]):
    """A cache of values (bytes) by space and key (both text), in an SQLite file.

    ``path`` None keeps the values in memory, for this run. With ``forget`` values of earlier runs are not
    read. Several threads may use one store, and several processes one file.
    """

    def __init__(self, path: Path | None = None, *, forget: bool = False) -> None:
        self._path, self._forget = path, forget
        self._keys_of_this_run: set[str] = set()
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        # Opens the file, so that a path that cannot be used is an error before anything is computed.
        self._execute("keep what is computed", "Name another file by --cache.")

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()

    __del__ = close

    def get(self, space: str, keys: Sequence[str]) -> dict[str, bytes]:
        """The values in the store, by key; with ``forget`` only those that this run put in."""
        if self._forget:
            keys = [key for key in keys if f"{space}\0{key}" in self._keys_of_this_run]
        # The keys go in as one JSON list: SQLite limits the number of parameters.
        sql = "SELECT key, value FROM kept WHERE space = ? AND key IN (SELECT value FROM json_each(?))"
        rows = [(space, json.dumps(list(keys)))]
        return dict(self._execute("be read", "Name another by --cache.", sql, rows))

    def put(self, space: str, values: Mapping[str, bytes]) -> None:
        """Keep these values, replacing those of the same key."""
        rows = [(space, key, value) for key, value in values.items()]
        sql = "INSERT OR REPLACE INTO kept VALUES (?, ?, ?)"
        self._execute("be written", "Free some space, or name another by --cache.", sql, rows)
        if self._forget:
            self._keys_of_this_run.update(f"{space}\0{key}" for key in values)

    def drop(self, space: str, keys: Sequence[str]) -> None:
        """Delete the values of these keys."""
        sql = "DELETE FROM kept WHERE space = ? AND key = ?"
        self._execute("be written", "Name another by --cache.", sql, [(space, key) for key in keys])

    def get_or_compute(
        self, space: str, keys: Mapping[T, str], make: Callable[[list[T]], Iterable[Mapping[T, bytes]]]
    ) -> dict[T, bytes]:
        """The value of each entry of ``keys``, which gives the entries' keys in the space.

        Values that are not in the store are computed by ``make``, from the list of their entries; each group
        that it yields is put into the store at once.
        """
        stored = self.get(space, list(keys.values()))
        values = {entry: stored[key] for entry, key in keys.items() if key in stored}
        missing = [entry for entry in keys if entry not in values]
        if missing:
            for group in make(missing):
                self.put(space, {keys[entry]: value for entry, value in group.items()})
                values.update(group)
        return values

    def _execute(
        self, action: str, hint: str, sql: str = "", rows: Sequence[Sequence[str | bytes]] = ()
    ) -> list[Any]:
        """All rows that ``sql`` returns for each of the parameters in ``rows``.

        A damaged file is renamed and started again. Raises EvaluationError, which says that the file cannot
        ``action``, with ``hint``.
        """
        with self._lock:
            try:
                try:
                    return self._execute_once(sql, rows)
                except sqlite3.DatabaseError as error:
                    # These two are no sign of damage: a locked or full disk, a connection that was closed.
                    if isinstance(error, sqlite3.OperationalError | sqlite3.ProgrammingError):
                        raise
                    self._rename_damaged_file()
                    return self._execute_once(sql, rows)
            except (OSError, sqlite3.Error) as error:
                raise EvaluationError(f"{self._path} cannot {action}: {error}.", hint) from None

    def _rename_damaged_file(self) -> None:
        """Rename the file, so that a new one is begun. Raises EvaluationError where it is not our store."""
        self.close()
        self._connection = None
        if self._path is None:
            return
        if not _is_store(self._path):
            raise EvaluationError(
                f"{self._path} holds something else than what evaluations keep.",
                "Name another file by --cache.",
            ) from None
        # SQLite's log files belong to the damaged file, and would damage the new one.
        for suffix in ("-wal", "-shm"):
            remove_file(self._path.with_name(self._path.name + suffix))
        damaged = self._path.with_name(self._path.name + ".damaged")
        when_free(partial(self._path.replace, damaged))

    def _execute_once(self, sql: str, rows: Sequence[Sequence[str | bytes]]) -> list[Any]:
        if self._connection is None:
            self._connection = self._open()
        results: list[Any] = []
        with self._connection:
            for row in rows:
                results += self._connection.execute(sql, row)
        return results

    def _open(self) -> sqlite3.Connection:
        """A connection to the file, which is created if need be. Raises OSError, sqlite3.Error."""
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        # A store that nobody closed is closed in whichever thread Python collects it.
        connection = sqlite3.connect(self._path or ":memory:", timeout=60, check_same_thread=False)
        try:
            if self._path is not None:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
            with connection:
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS kept "
                    "(space TEXT, key TEXT, value BLOB, PRIMARY KEY (space, key)) WITHOUT ROWID"
                )
        except sqlite3.Error:
            connection.close()
            raise
        return connection


def _is_store(path: Path) -> bool:
    """Whether a damaged file was a store, and not another file that the user named by mistake."""
    if path == store_file() or path.suffix == ".sqlite":
        return True
    with path.open("rb") as file:
        return file.read(16) in (b"", b"SQLite format 3\0")


def store_file() -> Path:
    """Path of the store that all evaluations of a user share, in the cache folder."""
    return cache_folder().parent / "evaluation.sqlite"


Json = dict[str, Any]

INSTRUCTIONS = {
    "none": "",
    "paper": "Instruct: Retrieve relevant passages that involve similar actions, with particular focus on "
    "the verbs.\nQuery: ",
    "code": "Instruct: Given a sentence, retrieve relevant passages that involve similar actions, focus "
    "particularly on the verbs\nQuery: ",
}
"""Prompts that stand before each text, human and predicted alike, in the form that the gte models expect: the
sentence of the paper (Shot-by-Shot, section 4.2), or that of its published code."""

PARSED_AT_ONCE = 256
"""Batch size of the parser, in texts; a larger one is no faster. It changes no score."""
VECTORS_AT_ONCE = 256
"""Texts whose vectors are computed, and stored, together: a run that is killed loses no more."""
LONGEST = 1000
"""Characters of a text that are used (published code)."""
_GROUP = 4
"""Batches of the parser whose values are stored together: more leave a slow machine without progress for
minutes."""
EMBEDDER = "embedder"
"""The embedder as `Metric.model`."""
_SMALLER_EMBEDDER = (
    "Set measures.embedding.model to another embedder: Alibaba-NLP/gte-Qwen2-1.5B-instruct takes 3.6 GB in "
    "bfloat16, minilm 0.1 GB (neither is comparable with the paper's figures). With "
    "compute.precision=bfloat16 a model takes half of what it takes in float32."
)


class VectorService:
    """Unit vectors of texts by the model of ``measures.embedding``, each computed once for all runs.

    Several threads may use it; one at a time computes.
    """

    def __init__(self, context: MetricContext) -> None:
        self._context = context
        self._lock = threading.Lock()
        self._settings = context.settings.embedding
        check_installed()

    @cached_property
    def identity(self) -> Json:
        """The model, its revision, precision and longest text; without the instruction, which is a prompt.

        The precision is that of this machine: in another one the vectors are others.
        """
        model = embedding_model(self._settings.model, self._context.progress)
        precision = embedding_precision(self._settings.model, self._context.config.compute)
        return {**model, "longest": LONGEST, "precision": precision}

    @property
    def instruction(self) -> str:
        """The prompt that ``measures.embedding.instruction`` names."""
        return INSTRUCTIONS[self._settings.instruction]

    def of(self, texts: Sequence[str], *, prompt: str = "") -> Vectors:
        """``float32[n, d]``: a unit vector for each text, in order; ``[0, 0]`` for no texts.

        ``prompt`` is put before each text.
        """
        shortened = [text[:LONGEST] for text in texts]
        unique = list(dict.fromkeys(shortened))
        if not unique:
            return np.zeros((0, 0), np.float32)
        with self._lock:
            values = self._context.compute_values(
                f"vectors/{hash_key(self.identity, prompt)}",
                unique,
                "Comparing by meaning",
                VECTORS_AT_ONCE,
                lambda new_texts: [
                    vector.tobytes() for vector in self._embedder.of(new_texts, prompt=prompt)
                ],
            )
        vectors = np.stack([np.frombuffer(values[text], np.float32) for text in unique])
        if len(unique) == len(shortened):
            return vectors
        row_of_text = {text: row for row, text in enumerate(unique)}
        return vectors[[row_of_text[text] for text in shortened]]

    @cached_property
    def _embedder(self) -> Embedder:
        compute, progress = self._context.config.compute, self._context.progress
        return make_embedder(self._settings.model, compute, progress, smaller=_SMALLER_EMBEDDER)


class ParseService:
    """Dependency parses of texts by the model of ``measures.parser``, each computed once for all runs."""

    def __init__(self, context: MetricContext) -> None:
        self._context = context
        self._model = find_parser(context.settings.parser.model, context.progress)

    @property
    def identity(self) -> Json:
        """The model, its version and spaCy's."""
        return dict(self._model.identity)

    def of(self, texts: Iterable[str]) -> dict[str, Parse]:
        """The parse of each text, by text."""
        values = self._context.compute_values(
            f"parses/{hash_key(self.identity)}",
            texts,
            "Parsing sentences",
            PARSED_AT_ONCE * _GROUP,
            lambda new_texts: [parse.to_bytes() for parse in self._parser.of(new_texts)],
        )
        return {text: Parse.from_bytes(value) for text, value in values.items()}

    @cached_property
    def _parser(self) -> Parser:
        return Parser(self._model, PARSED_AT_ONCE)


def embedder_needs(context: MetricContext) -> tuple[ModelNeed, ...]:
    """What the embedder takes of this machine; nothing where it is small. See `embedder_need`."""
    model, compute = context.settings.embedding.model, context.config.compute
    need = embedder_need(model, compute, context.progress, _SMALLER_EMBEDDER)
    return () if need is None else (need,)


def vectors_of(context: MetricContext) -> VectorService:
    """The context's embedder. Raises ShotadError, naming the extra to install, where it cannot run here."""
    return context.once("vectors", lambda: VectorService(context))


def parser_of(context: MetricContext) -> ParseService:
    """The context's parser. Raises ShotadError without spaCy, WeightsError without its model."""
    return context.once("parses", lambda: ParseService(context))
