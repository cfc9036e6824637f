"""The report of a batch: a JSON file with a row for each film, whole at any time."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from shotad import __version__
from shotad.batch.table import Row, as_json
from shotad.core import UsageError, WorkFolderError, parse_json, write_text

NAME = "shotad-batch.json"
SCHEMA = 1

_EVERY = 5.0
"""Seconds between two writings, for there may be very many films."""


class Report:
    """Is written while the batch goes on. ``kept`` are an earlier report's rows of films not in this one."""

    def __init__(
        self,
        path: Path,
        kept: Sequence[Mapping[str, Any]] = (),
        clock: Callable[[], float] = time.monotonic,
        told: Callable[[str], None] = lambda text: None,
    ) -> None:
        """``told`` hears it once where the report cannot be written."""
        self.path, self._kept, self._clock, self._told = path, kept, clock, told
        self._last: float | None = None
        self.trouble: str | None = None
        """Why it cannot be written, if so; the films go on."""

    def write(self, rows: Callable[[], Sequence[Row]], seconds: float, *, ended: bool = False) -> None:
        """Write the rows, unless that was done a moment ago; at the end always."""
        if not ended and self._last is not None and self._clock() - self._last < _EVERY:
            return
        text = json.dumps(self.content(rows(), seconds, ended=ended), ensure_ascii=False, indent=1)
        try:
            # Names that are no UTF-8 have halves of pairs in them, which JSON can write out.
            write_text(self.path, text.encode("utf-8", "backslashreplace").decode("utf-8"))
        except (WorkFolderError, OSError) as error:
            self._failed(getattr(error, "what", str(error)))
        else:
            self.trouble = None
        self._last = self._clock()

    def _failed(self, what: str) -> None:
        trouble = f"{what} Name another file with --report."
        if self.trouble is None:
            self._told(f"No report: {trouble}")
        self.trouble = trouble

    def content(self, rows: Sequence[Row], seconds: float, *, ended: bool) -> dict[str, Any]:
        """What is written."""
        films = as_json(rows)
        new = {film["film"] for film in films}
        before = [dict(film) for film in self._kept if film["film"] not in new]
        return {
            "schema_version": SCHEMA,
            "shotad": __version__,
            "ended": ended,
            "seconds": round(seconds, 3),
            "films": [*before, *films],
        }


def read_report(path: Path) -> list[dict[str, Any]]:
    """The rows of a report. Raises UsageError where there is none that can be read."""
    remedy = "Run the batch without --only-failed first, or name its report with --report."
    try:
        found = parse_json(path.read_text(encoding="utf-8"))
        films = [dict(film) for film in found["films"]]
        if not all(isinstance(film["film"], str) and isinstance(film["state"], str) for film in films):
            raise TypeError("a film without name or state")
    except FileNotFoundError:
        raise UsageError(f"There is no report {path}.", remedy) from None
    except (OSError, ValueError, KeyError, TypeError) as trouble:
        raise UsageError(f"{path} is no report of shotad batch: {trouble!r}.", remedy) from None
    return films


def failed_in(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The films that failed, in order."""
    return [row["film"] for row in rows if row["state"] == "failed"]
