"""Times, money, units, ranges, years and other numbers as words. Pure logic.

What a voice reads by itself is left to it, and what no word is known for stays in digits, which every voice
reads in some way.
"""

from __future__ import annotations

import re

from shotad.sound.pronunciation.numerals import cardinal, digits, ordinal, plural, year
from shotad.sound.pronunciation.patterns import any_of, key_of
from shotad.sound.pronunciation.words import Pair, Words
from shotad.sound.voice_engines.base import Reading, plain_language

_YEAR = re.compile(r"(?<![\w.,:/#-])(1[1-9]\d\d|20\d\d)(?![\w,:/%]\d|\w|[.,]\d)")
_DECADE = re.compile(r"(?<![\w.])((?:1[1-9]|20)\d0)['’]?s\b")
_SHORT_DECADE = re.compile(r"(?<!\w)['’]?([2-9]0)s\b")
_ORDINAL = re.compile(r"(?<![\w.,])(\d{1,6})(?:st|nd|rd|th)\b", re.IGNORECASE)
_PHONE = re.compile(r"(?<![\w.-])(?:\d{3}-)?\d{3}-\d{4}(?![\w-])")
_ZEROS = re.compile(r"(?<![\w.,:/-])0\d+(?![\w,:/-]|\.\d)")


def quantities_said(text: str, words: Words, language: str, reads: frozenset[Reading]) -> str:
    """All quantities that the voice does not read by itself, in words.

    Of a language that has no words here all is left to the voice.
    """
    if not words.signs:
        return text
    english = plain_language(language) == "en"
    if Reading.TIMES not in reads:
        text = _times_said(text, words, language)
    if Reading.MONEY not in reads:
        text = _money_said(text, words)
    if Reading.UNITS not in reads:
        text = _units_said(text, words)
    text = _zeros_said(text, words, language)
    text = _ranges_said(text, words)
    if Reading.NUMBERS in reads:
        return text
    if english:
        text = _english_said(text, words)
    text = _YEAR.sub(lambda m: year(int(m[1]), language) or m[0], text)
    return _numbers_said(text, words, language)


def _times_said(text: str, words: Words, language: str) -> str:
    rule = words.times
    hours, half = r"(?<![\w.:,])([01]?\d|2[0-4])", r"(?:\s?([AaPp])\.?[Mm]\b\.?)?"
    marks, word = rule.separators.replace(".", ""), re.escape(rule.o_clock)
    behind = rf"(?:\s{word}\b)?" if word else ""

    def said(match: re.Match[str]) -> str:
        return _time(match[1], match[2], match[3] or "", words, language) or match[0]

    text = re.sub(rf"{hours}[{re.escape(marks)}]([0-5]\d)(?![\d:]|\.\d){half}{behind}", said, text)
    if "." in rule.separators and word:  # 15.30 may be a number: a time only with the word behind it
        text = re.sub(rf"{hours}\.([0-5]\d)()\s{word}\b", said, text)
    return re.sub(r"(?<=\d)\s?([AaPp])\.?[Mm]\b\.?(?=\W|$)", lambda m: f" {m[1].lower()}.m.", text)


def _time(hours: str, minutes: str, half: str, words: Words, language: str) -> str | None:
    """A time in words; ``half`` is the A or P of English."""
    rule = words.times
    h, m = cardinal(str(int(hours)), language), cardinal(str(int(minutes)), language)
    if h is None or m is None:
        return None
    if int(minutes) == 0:
        form = rule.with_half if half else rule.hour
    else:
        form = rule.early if int(minutes) < 10 else rule.other
    return form.format(h=h, m=m) + (f" {half.lower()}.m." if half else "")


def _money_said(text: str, words: Words) -> str:
    if not words.money:
        return text
    number, mark = _number(words), any_of(words.money)
    scale = rf"(?:\s?({any_of(words.scales)})(?!\w))?" if words.scales else "()"

    def said(match: re.Match[str], mark: str, number: str, scale: str | None) -> str:
        key = key_of(mark, words.money)
        large = words.scales[key_of(scale, words.scales)] if scale else ""
        if large:
            return f"{number} {large} {words.money[key][1]}"
        return _with_cents(number, key, words) or _counted(number, words.money[key])

    text = re.sub(rf"({mark})\s?({number}){scale}(?![\w])", lambda m: said(m, m[1], m[2], m[3]), text)
    return re.sub(
        rf"(?<![\w.,])({number}){scale}\s?({mark})(?!\w)", lambda m: said(m, m[3], m[1], m[2]), text
    )


def _with_cents(number: str, key: str, words: Words) -> str:
    """``3.50`` dollars: ``3 dollars 50``; nothing where there are no cents."""
    whole, point, rest = number.partition(words.decimal)
    if not point or len(rest) != 2 or not rest.isdigit():
        return ""
    large = "" if int(whole or "0") == 0 else _counted(whole, words.money[key])
    if int(rest) == 0:
        return large or _counted("0", words.money[key])
    small = str(int(rest)) if large or key not in words.cents else _counted(str(int(rest)), words.cents[key])
    return f"{large} {small}".strip()


def _units_said(text: str, words: Words) -> str:
    if not words.units:
        return text
    found = rf"(?<![\w.,])({_number(words)})([\s-]?)({any_of(words.units)})(?![\w²³/]|\.\w)"

    def said(match: re.Match[str]) -> str:
        pair = words.units[key_of(match[3], words.units)]
        return f"{match[1]} {pair[0]}" if match[2] == "-" else _counted(match[1], pair)

    return re.sub(found, said, text)


def _counted(number: str, pair: Pair) -> str:
    return f"{number} {pair[0] if number in ('1', '-1') else pair[1]}"


def _zeros_said(text: str, words: Words, language: str) -> str:
    """Numbers that are names: ``007``, telephone numbers."""
    text = _PHONE.sub(lambda m: " ".join(digits(part, language) or part for part in m[0].split("-")), text)
    return _ZEROS.sub(lambda m: digits(m[0], language) or " ".join(m[0]), text)


def _ranges_said(text: str, words: Words) -> str:
    if not words.range:
        return text
    number = _number(words)
    return re.sub(
        rf"(?<![\w.,-])({number})\s?[–-]\s?({number})(?![\w–-]|[.,]\d)",
        lambda m: f"{m[1]} {words.range} {m[2]}",
        text,
    )


def _english_said(text: str, words: Words) -> str:
    def ranked(number: str) -> str:
        return ordinal(int(number), "en") or number

    if words.months:
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
    return plural(said) if said else written


def _numbers_said(text: str, words: Words, language: str) -> str:
    """What is left: whole numbers and decimals that stand alone."""

    def said(match: re.Match[str]) -> str:
        number = match[0].replace(words.thousands, "") if words.thousands else match[0]
        return cardinal(number.replace(words.decimal, "."), language, words.point) or match[0]

    if words.point:
        found = r"(?<![\w.,])[.](\d+)(?![\w.,])" if words.decimal == "." else r"(?!)"
        text = re.sub(found, lambda m: f"{words.point} {digits(m[1], language) or m[1]}", text)
    # A full stop behind may be an ordinal's, as in German; such voices know it.
    ordinals = "" if plain_language(language) in ("en", "fr", "es", "it", "nl") else r"(?!\.(?:\s+\w|\d))"
    return re.sub(rf"(?<![\w.,/'’-])(?:{_number(words)})(?![\w/]|[.,-]\w){ordinals}", said, text)


def _number(words: Words) -> str:
    """A whole number or a decimal, with marks of thousands."""
    thousands = rf"\d{{1,3}}(?:{re.escape(words.thousands)}\d{{3}})+(?!\d)|" if words.thousands else ""
    return rf"(?:{thousands}\d+)(?:{re.escape(words.decimal)}\d+)?"
