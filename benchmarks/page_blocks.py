"""Blocks of a page that a program fills: between ``<!-- KIND: NAME -->`` and ``<!-- KIND end -->``."""

from __future__ import annotations

import re
from collections.abc import Mapping


def _blocks(kind: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- {kind}: (\S+) -->\n)(.*?)(<!-- {kind} end -->)", re.DOTALL)


def blocks(page: str, kind: str) -> dict[str, str]:
    """What stands in the blocks of a page, by their names."""
    return {block[2]: block[3].rstrip("\n") for block in _blocks(kind).finditer(page)}


def put_into(page: str, kind: str, told: Mapping[str, str]) -> str:
    """``page`` with its blocks filled anew. Raises ValueError for one that is missing or not known."""
    there = sorted(block[2] for block in _blocks(kind).finditer(page))
    if there != sorted(told):
        raise ValueError(f"the page must have each of the {kind} blocks {sorted(told)} once, got {there}")
    return _blocks(kind).sub(lambda block: f"{block[1]}{told[block[2]]}\n{block[4]}", page)
