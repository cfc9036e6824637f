"""JSON of which the place of each part is known, for errors with a line. Pure logic."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()

Placed = tuple[str, Any, int]
"""Key, value, and index of where the value begins."""


def line_at(text: str, index: int) -> int:
    """The line of an index, from 1."""
    return text.count("\n", 0, index) + 1


def parts_of_object(text: str, index: int = 0) -> Iterator[tuple[str, int]]:
    """Each key of the object at ``index``, with where its value begins; the document must be sound JSON."""
    index = _skip(text, _skip(text, index) + 1)
    while text[index] != "}":
        key, end = _DECODER.raw_decode(text, index)
        start = _skip(text, _skip(text, end) + 1)
        yield key, start
        index = _next(text, _DECODER.raw_decode(text, start)[1])


def parts_of_array(text: str, index: int) -> Iterator[tuple[Any, int]]:
    """Each value of the array at ``index``, with where it begins."""
    index = _skip(text, _skip(text, index) + 1)
    while text[index] != "]":
        value, end = _DECODER.raw_decode(text, index)
        yield value, index
        index = _next(text, end)


def _next(text: str, end: int) -> int:
    index = _skip(text, end)
    return _skip(text, index + 1) if text[index] == "," else index


def _skip(text: str, index: int) -> int:
    found = _SPACE.match(text, index)
    return found.end() if found else index
