"""Numbers in words, by num2words; without it, or where it does not know, digits are left to the voice."""

from __future__ import annotations

import importlib
import re
from functools import cache
from typing import Any

from shotad.sound.voice_engines.base import plain_language

_LONGEST = 15
"""Digits; what is longer is no quantity."""
_YEARS = frozenset({"en", "de", "nl", "da", "no"})
"""Languages that say years of four digits in another way than numbers, which the library knows."""
_ERAS = frozenset({"ja", "zh", "ko", "th"})
"""Where digits are best left alone."""
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_WELL_FORMED = re.compile(r"M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")


def cardinal(number: str, language: str, point_word: str = "") -> str | None:
    """``"1234" → one thousand two hundred and thirty-four``; also decimals, ``"3.50"``, digit by digit behind
    ``point_word``."""
    whole, point, rest = number.partition(".")
    if not point:
        return _said(int(whole), language, "cardinal") if len(whole) <= _LONGEST else digits(whole, language)
    if len(whole) > _LONGEST or len(rest) > _LONGEST:
        return None
    before, behind = _said(int(whole or "0"), language, "cardinal"), digits(rest, language)
    return f"{before} {point_word} {behind}" if point_word and before and behind else None


def ordinal(number: int, language: str) -> str | None:
    """``3 → third``."""
    return _said(number, language, "ordinal")


def year(number: int, language: str) -> str | None:
    """``1995 → nineteen ninety-five``, where years differ from numbers; else the number."""
    differs = plain_language(language) in _YEARS
    return _said(number, language, "year" if differs else "cardinal")


def digits(number: str, language: str) -> str | None:
    """``"007" → zero zero seven``."""
    said = [_said(int(digit), language, "cardinal") for digit in number]
    return " ".join(word for word in said if word) if all(said) else None


def plural(word: str) -> str:
    """Of an English number, for decades: ``eighty → eighties``, ``nineteen hundred → nineteen hundreds``."""
    return word[:-1] + "ies" if word.endswith("y") else word + "s"


def roman(numeral: str) -> int | None:
    """``"XIV" → 14``; None for what is none."""
    if not numeral or not _WELL_FORMED.fullmatch(numeral):
        return None
    values = [_ROMAN[letter] for letter in numeral]
    return sum(-v if v < after else v for v, after in zip(values, [*values[1:], 0], strict=True))


def is_at_hand() -> bool:
    """Whether the library is installed."""
    return _library() is not None


@cache
def _said(number: int, language: str, form: str) -> str | None:
    library, short = _library(), plain_language(language)
    if library is None or short in _ERAS:
        return None
    try:
        said = str(library.num2words(number, lang=short, to=form))
    except (NotImplementedError, KeyError, ValueError, OverflowError, IndexError, TypeError, AttributeError):
        return None
    return " ".join(said.replace(",", " ").split())


@cache
def _library() -> Any:
    try:
        return importlib.import_module("num2words")
    except ImportError:
        return None
