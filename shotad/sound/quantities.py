"""Times, money, units, ranges, years and other numbers as words, by num2words and the files in
``configs/saying``.

What a voice reads by itself is left to it, and what no word is known for stays in digits, which every voice
reads in some way.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable
from functools import cache

import yaml
from pydantic import BaseModel, ConfigDict, Field

from shotad.core.settings import read_yaml, spoken_signs_file
from shotad.sound.voice_engines import Reading, plain_language

_YEAR = re.compile(r"(?<![\w.,:/#-])(1[1-9]\d\d|20\d\d)(?![\w,:/%]\d|\w|[.,]\d)")
_DECADE = re.compile(r"(?<![\w.])((?:1[1-9]|20)\d0)['’]?s\b")
_SHORT_DECADE = re.compile(r"(?<!\w)['’]?([2-9]0)s\b")
_ORDINAL = re.compile(r"(?<![\w.,])(\d{1,6})(?:st|nd|rd|th)\b", re.IGNORECASE)
_PHONE = re.compile(r"(?<![\w.-])(?:\d{3}-)?\d{3}-\d{4}(?![\w-])")
_ENDLESS = re.compile(r"(?<!\d)\d{31,}(?!\d)")
_ZEROS = re.compile(r"(?<![\w.,:/-])0\d+(?![\w,:/-]|\.\d)")


def quantities_said(text: str, words: Words, language: str, reads: Reading) -> str:
    """All quantities that the voice does not read by itself, in words.

    Of a language that has no words here all is left to the voice.
    """
    if not words.signs:
        return text
    english = plain_language(language) == "en"
    if reads is Reading.WORDS:
        text = _money_said(_times_said(text, words, language), words)
    if reads is not Reading.UNITS:
        found = rf"(?<![\w.,])({_number(words)})([\s-]?)({any_of(words.units)})(?![\w²³/]|\.\w)"

        def with_unit(match: re.Match[str]) -> str:
            pair = words.units[key_of(match[3], words.units)]
            return f"{match[1]} {pair[0]}" if match[2] == "-" else _counted(match[1], pair)

        text = re.sub(found, with_unit, text)
    # Numbers that are names: ``007``, telephone numbers.
    text = _PHONE.sub(lambda m: " ".join(digits(part, language) or part for part in m[0].split("-")), text)
    text = _ZEROS.sub(lambda m: digits(m[0], language) or " ".join(m[0]), text)
    # No voice has a word for such a number, and some fail.
    text = _ENDLESS.sub(lambda m: digits(m[0], language) or " ".join(m[0]), text)
    number = _number(words)
    found = rf"(?<![\w.,-])({number})\s?[–-]\s?({number})(?![\w–-]|[.,]\d)"
    text = re.sub(found, lambda m: f"{m[1]} {words.range} {m[2]}", text)
    if reads is not Reading.WORDS:
        return text
    if english:
        text = _english_said(text, words)
    text = _YEAR.sub(lambda m: year(int(m[1]), language) or m[0], text)
    return _numbers_said(text, words, language)


def _times_said(text: str, words: Words, language: str) -> str:
    rule = words.times
    hours, noon = r"(?<![\w.:,])([01]?\d|2[0-4])", r"(?:\s?([AaPp])\.?[Mm]\b\.?)?"
    marks, word = rule.separators.replace(".", ""), re.escape(rule.o_clock)
    behind = rf"(?:\s{word}\b)?" if word else ""

    def said(match: re.Match[str]) -> str:
        half, minutes = match[3] or "", int(match[2])
        h, m = cardinal(str(int(match[1])), language), cardinal(str(minutes), language)
        if h is None or m is None:
            return match[0]
        if minutes == 0:
            form = rule.with_half if half else rule.hour
        else:
            form = rule.early if minutes < 10 else rule.other
        return (form.format(h=h, m=m) + (f" {half.lower()}.m." if half else "")) or match[0]

    text = re.sub(rf"{hours}[{re.escape(marks)}]([0-5]\d)(?![\d:]|\.\d){noon}{behind}", said, text)
    if "." in rule.separators and word:  # 15.30 may be a number: a time only with the word behind it
        text = re.sub(rf"{hours}\.([0-5]\d)()\s{word}\b", said, text)
    return re.sub(r"(?<=\d)\s?([AaPp])\.?[Mm]\b\.?(?=\W|$)", lambda m: f" {m[1].lower()}.m.", text)


def _money_said(text: str, words: Words) -> str:
    number, mark = _number(words), any_of(words.money)
    scale = rf"(?:\s?({any_of(words.scales)})(?!\w))?" if words.scales else "()"

    def said(match: re.Match[str], mark: str, number: str, scale: str | None) -> str:
        key = key_of(mark, words.money)
        large = words.scales[key_of(scale, words.scales)] if scale else ""
        if large:
            return f"{number} {large} {words.money[key][1]}"
        # ``3.50`` dollars: ``3 dollars 50``.
        whole, point, rest = number.partition(words.decimal)
        if not point or len(rest) != 2 or not rest.isdigit():
            return _counted(number, words.money[key])
        large = "" if int(whole or "0") == 0 else _counted(whole, words.money[key])
        if int(rest) == 0:
            return large or _counted("0", words.money[key])
        bare, cents = str(int(rest)), words.cents.get(key)
        small = bare if large or cents is None else _counted(bare, cents)
        return f"{large} {small}".strip()

    text = re.sub(rf"({mark})\s?({number}){scale}(?![\w])", lambda m: said(m, m[1], m[2], m[3]), text)
    return re.sub(
        rf"(?<![\w.,])({number}){scale}\s?({mark})(?!\w)", lambda m: said(m, m[3], m[1], m[2]), text
    )


def _counted(number: str, pair: Pair) -> str:
    return f"{number} {pair[0] if number in ('1', '-1') else pair[1]}"


def _english_said(text: str, words: Words) -> str:
    def ranked(number: str) -> str:
        return ordinal(int(number), "en") or number

    months = any_of(words.months)
    found = rf"\b({months})\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?![:.,]?\d)"
    text = re.sub(found, lambda m: f"{m[1]} {ranked(m[2])}", text)
    found = rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({months})\b"
    text = re.sub(found, lambda m: f"{ranked(m[1])} of {m[2]}", text)
    text = _DECADE.sub(lambda m: _decade(int(m[1]), m[0]), text)
    text = _SHORT_DECADE.sub(lambda m: _decade(int(m[1]), m[0]), text)
    return _ORDINAL.sub(lambda m: ranked(m[1]), text)


def _decade(number: int, written: str) -> str:
    said = year(number, "en") if number >= 1000 else cardinal(str(number), "en")
    if not said:
        return written
    return f"{said[:-1]}ies" if said.endswith("y") else f"{said}s"


def _numbers_said(text: str, words: Words, language: str) -> str:
    """What is left: whole numbers and decimals that stand alone."""

    def said(match: re.Match[str]) -> str:
        number = match[0].replace(words.thousands, "") if words.thousands else match[0]
        return cardinal(number.replace(words.decimal, "."), language, words.point) or match[0]

    found = r"(?<![\w.,])[.](\d+)(?![\w.,])" if words.decimal == "." else r"(?!)"
    text = re.sub(found, lambda m: f"{words.point} {digits(m[1], language) or m[1]}", text)
    # A full stop behind may be an ordinal's, as in German; such voices know it.
    ordinals = "" if plain_language(language) in ("en", "fr", "es", "it", "nl") else r"(?!\.(?:\s+\w|\d))"
    return re.sub(rf"(?<![\w.,/'’-])(?:{_number(words)})(?![\w/]|[.,-]\w){ordinals}", said, text)


def _number(words: Words) -> str:
    """A whole number or a decimal, with marks of thousands."""
    thousands = rf"\d{{1,3}}(?:{re.escape(words.thousands)}\d{{3}})+(?!\d)|" if words.thousands else ""
    return rf"(?:{thousands}\d+)(?:{re.escape(words.decimal)}\d+)?"


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


def roman(numeral: str) -> int | None:
    """``"XIV" → 14``; None for what is none."""
    if not numeral or not _WELL_FORMED.fullmatch(numeral):
        return None
    values = [_ROMAN[letter] for letter in numeral]
    return sum(-v if v < after else v for v, after in zip(values, [*values[1:], 0], strict=True))


@cache
def _said(number: int, language: str, form: str) -> str | None:
    short = plain_language(language)
    if short in _ERAS:
        return None
    try:
        said = str(importlib.import_module("num2words").num2words(number, lang=short, to=form))
    except (
        ImportError,
        NotImplementedError,
        LookupError,
        ValueError,
        OverflowError,
        TypeError,
        AttributeError,
    ):
        return None
    return " ".join(said.replace(",", " ").split())


Pair = tuple[str, str]
"""One and many: ``(metre, metres)``."""


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Times(_Table):
    """How a time of day is said: ``{h}`` are the hours, ``{m}`` the minutes, in words."""

    hour: str = "{h}"
    """On the hour."""
    early: str = "{h} {m}"
    """Up to nine minutes past."""
    other: str = "{h} {m}"
    with_half: str = "{h}"
    """On the hour, where morning or evening is told behind it."""
    separators: str = ":"
    """Characters between hours and minutes: ``:h`` for 15:30 and 15h30."""
    o_clock: str = ""
    """What may stand behind already, and is said once."""


class Roman(_Table):
    """How Roman numerals behind names are said: ``Henry VIII → Henry the eighth``."""

    said: str = "cardinal"
    """``ordinal`` or ``cardinal``."""
    as_: str = Field("{}", alias="as")
    capital: bool = False
    """Whether the ordinal is written with a capital letter."""
    dotted: bool = False
    """Whether the numeral has a full stop, as in German."""
    ordinals_to: int = 1000
    """Above it the cardinal is said."""
    up_to: int = 50
    titles: tuple[str, ...] = ()
    """``King NAME VIII`` is an ordinal whatever the name."""
    names: tuple[str, ...] = ()
    counted: tuple[str, ...] = ()
    """Behind these the cardinal is said: ``Chapter VIII``."""


class Words(_Table):
    """All of one language; what is empty is left as it is written."""

    before_name: dict[str, str] = {}
    """Titles, before a word with a capital letter; their full stop may be missing."""
    after_name: dict[str, str] = {}
    """Behind a word with a capital letter."""
    before_number: dict[str, str] = {}
    anywhere: dict[str, str] = {}
    within: dict[str, str] = {}
    """As ``anywhere``, but never at the end of a sentence: ``vs.``."""
    starts: frozenset[str] = frozenset()
    """Words that begin a sentence rather than a name."""
    months: tuple[str, ...] = ()
    """Behind which a number is the day's ordinal."""
    units: dict[str, Pair] = {}
    """Behind a number."""
    money: dict[str, Pair] = {}
    cents: dict[str, Pair] = {}
    scales: dict[str, str] = {}
    """``$5m``: five million dollars."""
    signs: dict[str, str] = {}
    point: str = ""
    """In decimals; without it they are left in digits."""
    dot: str = ""
    """In addresses of the web."""
    range: str = ""
    """Between two numbers: ``10–15``."""
    decimal: str = "."
    thousands: str = ""
    times: Times = Times()
    roman: Roman = Roman()
    spelled: frozenset[str] = frozenset()
    """In capitals, read letter by letter."""
    spoken: frozenset[str] = frozenset()
    """In capitals, short, and yet read as words."""


@cache
def words_of(language: str) -> Words:
    """The words of a language, none where there is no file."""
    name = plain_language(language)
    text = spoken_signs_file(name)
    # All as text: to YAML, NO and ON are truths, and 12:30 is a number.
    return Words() if text is None else Words.model_validate(read_yaml(text, yaml.BaseLoader))


FIRST_MARK = 0xE000
LAST_MARK = 0xF8FF
"""Characters of private use: each stands for a word whose saying is settled while all else is written out."""
MARKS = f"{chr(FIRST_MARK)}-{chr(LAST_MARK)}"
"""All of them, for within the brackets of a pattern."""
NAME = rf"[A-ZÀ-ÖØ-ÞŒŠŽА-ЯΑ-Ω{MARKS}]"
"""The first letter of a name, or the mark of one whose saying is settled."""

_CLOSING = r"[\"”’'»)\]]*"
ENDS_SENTENCE = rf"(?={_CLOSING}(?:\s*$|\s+[\"“‘'«(]?{NAME}))"
"""Where a full stop also ends the sentence, as far as can be seen."""


def any_of(words: Iterable[str]) -> str:
    """A pattern for any of the words, the longest first; spaces may be of any length."""
    ordered = sorted(words, key=lambda word: (-len(word), word))
    return "(?:" + "|".join(re.escape(word).replace(r"\ ", r"\s*") for word in ordered) + ")"


def key_of(found: str, table: Iterable[str]) -> str:
    """The word of a table that `any_of` found, whatever the spaces in it."""
    plain = "".join(found.split())
    return next(word for word in table if "".join(word.split()) == plain)
