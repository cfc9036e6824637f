"""What was seen of a work folder when its two sides were last alike, kept in a file from run to run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from shotad.core.wholefiles import write_text

State = tuple[int, int]
"""Size in bytes and time of writing in ns, by which a file here is known to be untouched."""


@dataclass(frozen=True, slots=True)
class Seen:
    """How a file was when both sides were last alike: None where a side had none."""

    mark: str | None
    state: State | None


def read_seen(notes: Path) -> dict[str, Seen]:
    """What was written down, by the name of the file; nothing where it cannot be read."""
    try:
        rows = json.loads(notes.read_text(encoding="utf-8"))
        return {
            str(name): Seen(mark, None if state is None else (int(state[0]), int(state[1])))
            for name, (mark, state) in rows.items()
        }
    except (OSError, ValueError, TypeError, AttributeError, IndexError):
        return {}


def write_seen(notes: Path, seen: Mapping[str, Seen]) -> None:
    """Write it down."""
    rows = {name: [one.mark, one.state] for name, one in sorted(seen.items())}
    write_text(notes, json.dumps(rows))
