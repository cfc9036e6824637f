"""What stands in a cell: numbers, and lists as Python or JSON writes them."""

from __future__ import annotations

import ast
import json
import math
from typing import Any


def plain_id(cell: str | None) -> str:
    """An id as it is compared: ``12.0``, which programs make of 12 beside an empty cell, is ``12``."""
    text = (cell or "").strip()
    return text[:-2] if text.endswith(".0") and text[:-2].isdigit() else text


def number(cell: str | None) -> float:
    """A finite number. Raises ValueError, saying what stands there."""
    try:
        value = float(cell or "")
    except ValueError:
        raise ValueError(f"{_short(cell)} is no number") from None
    if not math.isfinite(value):
        raise ValueError(f"{_short(cell)} is no finite number")
    return value


def listed(cell: str | None) -> list[Any]:
    """A list written in JSON or in Python. Raises ValueError, saying what stands there."""
    text = (cell or "").strip()
    if text[:1] not in ("[", "("):
        raise ValueError(f"{_short(cell)} is no list")
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            raise ValueError(f"{_short(cell)} is no list that can be read") from None
    if not isinstance(value, list | tuple):
        raise ValueError(f"{_short(cell)} is no list")
    return list(value)


def texts(cell: str | None) -> tuple[str, ...]:
    """A list of texts without empty ones. Raises ValueError."""
    found = listed(cell)
    for item in found:
        if not isinstance(item, str):
            raise ValueError(f"{_short(repr(item))} in the list is no text")
    return tuple(text for item in found if (text := item.strip()))


def numbers(cell: str | None) -> tuple[float, ...]:
    """A list of numbers, at least one. Raises ValueError."""
    found = listed(cell)
    if not found or not all(_is_number(item) for item in found):
        raise ValueError(f"{_short(cell)} is no list of numbers")
    return tuple(float(item) for item in found)


def pairs(cell: str | None) -> tuple[tuple[float, float], ...]:
    """A list of pairs of numbers, perhaps empty. Raises ValueError."""
    found = listed(cell)
    for item in found:
        if not isinstance(item, list | tuple) or len(item) != 2 or not all(_is_number(x) for x in item):
            raise ValueError(f"{_short(repr(item))} in the list is no pair of numbers")
    return tuple((float(a), float(b)) for a, b in found)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _short(cell: str | None) -> str:
    if cell is None or not cell.strip():
        return "an empty cell"
    return repr(cell if len(cell) <= 60 else cell[:57] + "…")
