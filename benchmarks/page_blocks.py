"""Blocks of a page that a program fills: between ``<!-- KIND: NAME -->`` and ``<!-- KIND end -->``."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path


def _blocks(kind: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- {kind}: (\S+) -->\n)(.*?)(<!-- {kind} end -->)", re.DOTALL)


def blocks(page: str, kind: str) -> dict[str, str]:
    """What stands in the blocks of a page, by their names."""
    return {block[2]: block[3].rstrip("\n") for block in _blocks(kind).finditer(page)}


def fill(page: Path, kind: str, told: Mapping[str, str]) -> None:
    """Fill the blocks of a page anew. Ends the program where one is missing or not known."""
    try:
        text = page.read_text(encoding="utf-8")
    except OSError as error:
        sys.exit(f"{page}: {error}")
    there = sorted(block[2] for block in _blocks(kind).finditer(text))
    if there != sorted(told):
        sys.exit(f"{page} must have each of the {kind} blocks {sorted(told)} once, got {there}")
    filled = _blocks(kind).sub(lambda block: f"{block[1]}{told[block[2]]}\n{block[4]}", text)
    page.write_text(filled, encoding="utf-8")
