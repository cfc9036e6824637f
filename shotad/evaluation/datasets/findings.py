"""Findings, gathered: many of one kind become one that says how many."""

from __future__ import annotations

from collections.abc import Sequence

from shotad.evaluation.datasets.ads import Finding
from shotad.evaluation.datasets.tables import Table, TableRow

_NAMED = 5

MISSING, MALFORMED, NOTE = "missing", "malformed", "note"


def of_rows(level: str, table: Table, rows: Sequence[TableRow], what: str) -> list[Finding]:
    """One finding about all these rows, or none where there are none."""
    if not rows:
        return []
    lines = counted([str(row.line) for row in rows])
    return [Finding(level, f"{table.path.name}, line{'s' * (len(rows) > 1)} {lines}", what)]


def counted(names: Sequence[str], most: int = _NAMED) -> str:
    """The first of them, and how many more: ``a, b and 3 more``."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"


def tally(what: str, names: Sequence[str]) -> str:
    """``ADs without a prediction: 7 (3, 9, 12, 14, 15 and 2 more).``"""
    return f"{what}: {len(names):,} ({counted(names)})."


def number_of(count: int, one: str, many: str = "") -> str:
    """``1 AD``, ``7,316 ADs``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
