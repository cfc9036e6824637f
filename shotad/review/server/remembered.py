"""What the review page remembers of a work folder between two sessions, in ``review.json``: who reviews, and
the voice that was chosen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shotad.core import parse_json, readable_json, write_text

REMEMBERED = "review.json"


def remembered(folder: Path) -> dict[str, Any]:
    """What was remembered; nothing where that is not known or cannot be read."""
    try:
        found = parse_json((folder / REMEMBERED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def remember(folder: Path, **values: Any) -> None:
    """Remember these values and those before. Raises WorkFolderError."""
    write_text(folder / REMEMBERED, readable_json(remembered(folder) | values))
