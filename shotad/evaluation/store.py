"""What metrics share: settings, models that are loaded once, and what was computed of texts in earlier runs.

That is kept in one file that any program can read (SQLite). A value belongs to a space (what was computed,
by which model, told how) and to a key (a hash of the text). Values are written in groups, each whole or not
at all; a file that is damaged is set aside and begun anew, since everything in it can be computed again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar, cast

from shotad.core import Config, EvaluationError, MeasureSettings, NoProgress, Progress, cache_folder, key_of

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


_CHUNK = 500
"""Keys that are asked for at once; SQLite takes at least 999."""


class Store:
    """Values by space and key, both text; values are bytes.

    ``path`` None keeps them in memory, for this run. Several processes may use one file.
    """

    def __init__(self, path: Path | None = None, *, forget: bool = False) -> None:
        self._path = path
        self._forget = forget
        self._known: set[str] = set()
        self._base = _opened(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._base.close()

    def __del__(self) -> None:
        if "_base" in vars(self):  # else it was never opened
            self.close()

    def get(self, space: str, keys: Sequence[str]) -> dict[str, bytes]:
        """The values that are there, by key. A store that was told to forget finds only what this run put
        in."""
        wanted = list(dict.fromkeys(keys))
        if self._forget:
            wanted = [key for key in wanted if f"{space}\0{key}" in self._known]
        found: dict[str, bytes] = {}
        for first in range(0, len(wanted), _CHUNK):
            chunk = wanted[first : first + _CHUNK]
            marks = ",".join("?" * len(chunk))
            sql = f"SELECT key, value FROM kept WHERE space = ? AND key IN ({marks})"
            found.update(self._rows(sql, (space, *chunk)))
        return found

    def put(self, space: str, values: Mapping[str, bytes] | Iterable[tuple[str, bytes]]) -> None:
        """Keep these values, replacing those of the same key."""
        pairs = values.items() if isinstance(values, Mapping) else values
        rows = [(space, key, value) for key, value in pairs]
        try:
            try:
                self._write(rows)
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:
                self._begin_anew()
                self._write(rows)
        except sqlite3.Error as error:
            raise EvaluationError(
                f"{self._path} cannot be written: {error}.",
                "Free some space, or name another by --cache.",
            ) from None
        if self._forget:
            self._known.update(f"{space}\0{key}" for _, key, _ in rows)

    def _write(self, rows: Sequence[tuple[str, str, bytes]]) -> None:
        with self._base:
            self._base.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?, ?)", rows)

    def _rows(self, sql: str, words: Sequence[str]) -> list[tuple[str, bytes]]:
        """What is found; nothing in a file that turns out to be damaged."""
        try:
            with closing(self._base.execute(sql, words)) as rows:
                return rows.fetchall()
        except sqlite3.OperationalError as error:
            raise EvaluationError(
                f"{self._path} cannot be read: {error}.", "Name another by --cache."
            ) from None
        except sqlite3.DatabaseError:
            self._begin_anew()
            return []

    def _begin_anew(self) -> None:
        """Set a damaged file aside, with what SQLite keeps beside it."""
        self._base.close()
        if self._path is not None:
            _set_aside(self._path)
        self._base = _opened(self._path)


def kept_file() -> Path:
    """The file that evaluations share, in the user's cache folder."""
    return cache_folder().parent / "evaluation.sqlite"


def text_key(text: str) -> str:
    """The key of a text."""
    return key_of(text)


def _opened(path: Path | None) -> sqlite3.Connection:
    if path is None:
        return _table(":memory:")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            return _table(path)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            _set_aside(path)
            return _table(path)
    except (OSError, sqlite3.Error) as error:
        raise EvaluationError(
            f"{path} cannot keep what is computed: {error}.", "Name another file by --cache."
        ) from None


def _set_aside(path: Path) -> None:
    """Rename a damaged file; its log belongs to it and would damage the next."""
    for part in ("-wal", "-shm"):
        path.with_name(path.name + part).unlink(missing_ok=True)
    path.replace(path.with_name(path.name + ".damaged"))


def _table(path: Path | str) -> sqlite3.Connection:
    base = sqlite3.connect(path, timeout=60)
    try:
        if path != ":memory:":
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
    return base
