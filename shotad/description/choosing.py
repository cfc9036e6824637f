"""Which of the numbered lines an engine's answer names; models bend the form they were asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any


def choice_in(answer: str, lines: Sequence[str]) -> int | None:
    """Index of the line that an answer names by its number, counted from 1, or by its words; None if none.

    Understands JSON with any key, fenced or in other text, ``Candidate 2``, ``the second one``, a bare
    number, and a line that is written out. An answer that could mean two lines names none.

    >>> choice_in('Sure! {"choice": "2"}', ["He sits.", "He stands."])
    1
    """
    text = _THOUGHTS.sub(" ", answer).strip()
    for reading in (_in_json, _in_words):
        numbers = reading(text)
        if len(numbers) == 1:
            (number,) = numbers
            return number - 1 if 1 <= number <= len(lines) else None
        if numbers:
            return None
    return _written_out(text, lines)


_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_OBJECT = re.compile(r"\{[^{}]*\}|\[[^\[\]]*\]")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NUMERALS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SPELT = {word: n for words in (_ORDINALS, _NUMERALS) for n, word in enumerate(words, 1)}
_BEFORE = r"(?:no\.? ?|number |nr\.? ?|#|option |candidate |sentence )*[\"'(]*"
_NUMBER = rf"{_BEFORE}(\d{{1,2}}|{'|'.join(_NUMERALS[1:])})\b"
_CHOSEN = re.compile(
    rf"\b(?:choice|choose|chosen|chose|select(?:ed)?|answer|best|pick(?:ed)?|prefer|take)\b[^\d\n.]{{0,30}}?{_NUMBER}",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"\b(?:candidate|option|number|no\.?|sentence)s? ?[\"'(#]*(\d{1,2})\b(?:(?:,| and| or) (\d{1,2})\b)?",
    re.IGNORECASE,
)
_ORDINAL = re.compile(
    rf"\bthe ({'|'.join(_ORDINALS)})\b(?: (?:one|candidate|option|sentence))?", re.IGNORECASE
)
_BARE = re.compile(r"\W*(\d{1,2}|[a-z]+)\W*(?:\n.*)?", re.IGNORECASE | re.DOTALL)
_LEADING = re.compile(r"(?:(?<!\W)\W+)?(\d{1,2})[.):]?\s+\S")


def _in_json(text: str) -> set[int]:
    """The numbers that stand as values in JSON; those under a key that speaks of choosing before others."""
    found: set[int] = set()
    for match in _OBJECT.finditer(text):
        try:
            value = json.loads(match.group())
        except ValueError:
            continue
        values = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
        if isinstance(value, dict):
            named = [
                v for key, v in value.items() if re.search(r"choi|chose|select|answer|best|pick", key, re.I)
            ]
            values = named or values
        found |= {number for number in map(_as_number, values) if number is not None}
    return found


def _as_number(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float) and value == int(value):
        return int(value)
    if isinstance(value, str):
        digits = re.fullmatch(r"\D{0,12}(\d{1,2})\D?", value.strip())
        return int(digits.group(1)) if digits else _SPELT.get(value.strip().lower())
    return None


def _in_words(text: str) -> set[int]:
    """The numbers of the first way of naming that the text uses."""
    bare = _BARE.fullmatch(text)
    if bare and (number := _as_number(bare.group(1))) is not None:
        return {number}
    for pattern in (_CHOSEN, _ORDINAL, _NAMED, _LEADING):
        named = (group for match in pattern.finditer(text) for group in match.groups() if group)
        numbers = {number for number in map(_as_number, named) if number is not None}
        if numbers:
            return numbers
    return set()


def _written_out(text: str, lines: Sequence[str]) -> int | None:
    """The one line that stands in the text word for word; of lines within each other the longest."""
    letters = _letters(text)
    found = [index for index, line in enumerate(lines) if _letters(line) and _letters(line) in letters]
    longest = [i for i in found if not any(_letters(lines[i]) in _letters(lines[j]) for j in found if j != i)]
    return longest[0] if len(longest) == 1 else None


def _letters(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
