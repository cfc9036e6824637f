"""Abbreviations and Roman numerals as words. Pure logic."""

from __future__ import annotations

import re

from shotad.sound.pronunciation.numerals import cardinal, ordinal, roman
from shotad.sound.pronunciation.patterns import ENDS_SENTENCE, NAME, any_of, key_of
from shotad.sound.pronunciation.words import Words

_NUMERAL = r"([IVXLC]+)"
_BEHIND_NAME = re.compile(rf"(?<!^)(?<![\w'’]){NAME}[\w'’]*\s+$")
_SMALL = r"([IVX]{2,})"
"""Of a sequel (``Rocky II``): with L, C, D and M too many are words (MIX, CIVIL) or initials."""


def abbreviations_said(text: str, words: Words) -> str:
    """``Mr. Lee → Mister Lee``, ``Main St. → Main Street``, ``No. 5 → number 5``."""
    if words.before_name:
        shouted = {key.upper(): value for key, value in words.before_name.items() if len(key) > 2}
        table = {**shouted, **words.before_name}
        keys = {key.rstrip("."): value for key, value in table.items()}
        pair = rf"|{re.escape(words.signs['&'])}\s+{any_of(keys)}\.?\s" if "&" in words.signs else ""
        found = rf"(?<![\w.'’])({any_of(keys)})(?P<stop>\.)?(?=\s+(?:{NAME}{pair}))"
        text = re.sub(found, lambda m: _title(m, keys, words), text)
    if words.before_number:
        found = rf"(?<![\w.])({any_of(words.before_number)})\s*(?=\d)"
        text = re.sub(found, lambda m: words.before_number[key_of(m[1], words.before_number)] + " ", text)
    if words.after_name:
        found = rf"(?<!\w)({NAME}[\w'’]*,?\s+)({any_of(words.after_name)})(?P<end>{ENDS_SENTENCE})?(?!\w)"
        text = re.sub(found, lambda m: m[1] + _ended(m, 2, words.after_name), text)
    if words.anywhere:
        found = rf"(?<![\w.])({any_of(words.anywhere)})(?P<end>{ENDS_SENTENCE})?(?!\w)"
        text = re.sub(found, lambda m: _ended(m, 1, words.anywhere), text)
    if words.within:
        found = rf"(?<![\w.])({any_of(words.within)})(?!\w)"
        text = re.sub(found, lambda m: words.within[key_of(m[1], words.within)], text)
    return text


def _title(match: re.Match[str], table: dict[str, str], words: Words) -> str:
    """A title of one letter is one only with its stop: ``M. Dupont``, not the M of initials. What may also be
    a street is one behind a name and before a new sentence: ``on Main St. She waves``."""
    key = key_of(match[1], table)
    behind = match.string[match.end() :].split(maxsplit=1)
    street = key + "." in words.after_name and _BEHIND_NAME.search(match.string[: match.start()])
    if (street and behind and behind[0].strip(",") in words.starts) or (len(key) == 1 and not match["stop"]):
        return match.group()
    return table[key]


def _ended(match: re.Match[str], group: int, table: dict[str, str]) -> str:
    """The word for an abbreviation; its full stop stays where it ends the sentence, too."""
    key = key_of(match[group], table)
    return table[key] + ("." if match["end"] is not None and key.endswith(".") else "")


def romans_said(text: str, words: Words, language: str) -> str:
    """``Henry VIII → Henry the eighth``, ``Chapter III → Chapter three``, ``Rocky II → Rocky two``.

    Behind any other name only numerals of two letters and more are taken for numbers: ``Malcolm X`` stays.
    """
    rule = words.roman
    stop = r"\.?" if rule.dotted else ""
    if rule.counted:
        found = rf"(?<!\w)({any_of(rule.counted)}\s+){_NUMERAL}(?![\w.]\w|\w)"
        text = re.sub(found, lambda m: m[1] + _counted(m[2], language), text, flags=0)
    if rule.titles:
        found = rf"(?i:(?<!\w){any_of(rule.titles)})\s+{NAME}[\w'’-]*\s+(?=[IVXLC])"
        text = re.sub(
            rf"({found}){_NUMERAL}{stop}(?!\w)", lambda m: m[1] + _ranked(m[2], words, language), text
        )
    if rule.names:
        found = rf"(?<!\w)({any_of(rule.names)}\s+){_NUMERAL}{stop}(?!\w)"
        text = re.sub(found, lambda m: m[1] + _ranked(m[2], words, language), text)
    found = rf"(?<!\w)({NAME}(?=\w*[^\W\dA-Z]|[^\w])[\w'’-]*\s+){_SMALL}(?!\w)"
    return re.sub(found, lambda m: m[1] + _counted(m[2], language), text)


def _counted(numeral: str, language: str) -> str:
    number = roman(numeral)
    return numeral if number is None else cardinal(str(number), language) or str(number)


def _ranked(numeral: str, words: Words, language: str) -> str:
    rule, number = words.roman, roman(numeral)
    if number is None or number > rule.up_to:
        return numeral
    if rule.said != "ordinal" or number > rule.ordinals_to:
        return _counted(numeral, language)
    word = ordinal(number, language)
    if word is None:
        return numeral
    return rule.as_.format(word[:1].upper() + word[1:] if rule.capital else word)
