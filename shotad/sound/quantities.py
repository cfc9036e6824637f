"""Times, money, units, ranges, years and other numbers in words, by num2words and the files in
``configs/saying``.

What a voice reads by itself is left to it. A number for which no word is known stays in digits, which every
voice reads in some way.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Literal

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
_SPACED_THOUSANDS = re.compile(r"(?<![\w.,:/-])(?<!\d\s)[1-9]\d{0,2}(?:\s\d{3}){1,9}(?![\w:/]|\s\d)")
_ROUND_THOUSANDS = re.compile(r"(?<![\w.,:/-])(?<!\d\s)[1-9]\d{0,2}(?:\s\d{3}){0,8}\s000(?![\w:/]|\s\d)")
"""Where a language writes thousands otherwise, ``5 200`` may be two numbers."""
_MINUS = re.compile(r"(?:(?<![^\s(«»„“\"])(?<!\d\s)[-–]|(?<![\w.,)])−\s?)(?=\d)")
"""A hyphen between numbers is a range."""
_AREA_PHONE = re.compile(r"(?<![\w.,:/-])0\d{1,5}(?:[-/]|\s)\d{4,}(?:[ -]\d+)*(?![\w,/-]|\.\d)")
"""``030-123456``"""
_SCORE = re.compile(
    r"(?<![\w.,:/-])(?:(\d{1,3}):(\d|\d{3}|[6-9]\d)|(2[5-9]|[3-9]\d|\d{3}):(\d\d))(?![\w:/]|[.,-]\d)"
)
"""``2:1``: of a time of day the minutes have two digits and are below 60, and the hours are below 25."""
_TIMECODE = re.compile(r"(?<![\w.,:/-])(\d{1,2}):(\d\d):(\d\d)(?![\w:/-]|[.,]\d)")
_PARTS_OF_DURATION = r"(?<![\w.,:/-])(\d{1,3}):([0-5]\d)"
_BETWEEN_FACTORS = re.compile(r"(?<=\d)\s?[x×]\s?(?=\d)")
_MIXED_FRACTION = re.compile(
    r"(?<![\w.,:/-])(?P<whole>\d{1,3})(?P<fraction>[½¼¾]|\s(?:1/2|1/4|3/4)(?![\w/]))"
    r"(?:\s(?P<noun>[^\W\d]+))?"
)
_FRACTION_NAMES = {
    "½": "half", "1/2": "half", "¼": "quarter", "1/4": "quarter", "¾": "three_quarters",
    "3/4": "three_quarters",
}  # fmt: skip
_ZEROS = re.compile(r"(?<![\w.,:/-])0\d+(?![\w,:/-]|\.\d)")


def spell_out_quantities(text: str, words: LanguageWords, language: str, reads: Reading) -> str:
    """``text`` with the quantities in words that the voice does not read by itself (``reads``).

    A text in a language that has no file of words is returned as it is.

    >>> spell_out_quantities("At 3 pm she runs 10 km.", words_of("en"), "en", Reading.WORDS)
    'At three p.m. she runs ten kilometres.'
    """
    if not words.signs:
        return text
    # Before all that looks at zeros or at single numbers: ``10 000``.
    thousands = _SPACED_THOUSANDS if words.thousands == " " else _ROUND_THOUSANDS
    text = thousands.sub(lambda m: "".join(m[0].split()), text)
    text = _spell_out_durations(text, words)
    text = _TIMECODE.sub(lambda m: ", ".join(str(int(part)) for part in m.groups()), text)
    if words.score:
        text = _SCORE.sub(lambda m: f"{m[1] or m[3]} {words.score} {m[2] or m[4]}", text)
    if "×" in words.signs:
        text = _BETWEEN_FACTORS.sub(f" {words.signs['×']} ", text)
    text = _spell_out_mixed_fractions(text, words, language)
    if words.minus:
        text = _MINUS.sub(f"{words.minus} ", text)
    if reads is Reading.WORDS:
        text = _spell_out_money(_spell_out_times(text, words, language), words, language)
    if reads is Reading.WORDS:
        # Before units: ``3° piano`` is a floor, ``3°.`` an angle.
        text = _spell_out_ordinals(text, words, language)
    if reads is not Reading.UNITS:
        pattern = (
            rf"(?<![\w.,])({_number_pattern(words)})([\s-]?)({any_of_pattern(words.units)})(?![\w²³/]|\.\w)"
        )

        def with_unit(match: re.Match[str]) -> str:
            pair = words.units[matching_key(match[3], words.units)]
            return f"{match[1]} {pair[0]}" if match[2] == "-" else _with_noun(match[1], pair)

        text = re.sub(pattern, with_unit, text)
    # Numbers that are names: ``007``, telephone numbers.
    text = _PHONE.sub(lambda m: " ".join(digits(part, language) or part for part in m[0].split("-")), text)
    text = _AREA_PHONE.sub(lambda m: digits("".join(filter(str.isdigit, m[0])), language) or m[0], text)
    text = _ZEROS.sub(lambda m: digits(m[0], language) or " ".join(m[0]), text)
    # No voice has a word for such a number, and some fail.
    text = _ENDLESS.sub(lambda m: digits(m[0], language) or " ".join(m[0]), text)
    number = _number_pattern(words)
    pattern = rf"(?<![\w.,-])({number})\s?[–-]\s?({number})(?![\w–-]|[.,]\d)"
    text = re.sub(pattern, lambda m: f"{m[1]} {words.range} {m[2]}", text)
    if reads is not Reading.WORDS:
        return text
    if plain_language(language) == "en":
        text = _spell_out_english(text, words)
    text = _spell_out_compounds(text, words, language)
    text = _spell_out_dotted_ordinals(text, words, language)
    text = _spell_out_decades(text, words, language)
    text = _spell_out_halves(text, words, language)
    text = _spell_out_before_nouns(text, words, language)
    text = _YEAR.sub(lambda m: year(int(m[1]), language) or m[0], text)
    return _spell_out_numbers(text, words, language)


def _spell_out_durations(text: str, words: LanguageWords) -> str:
    """``10:45 minutes → 10 minutes and 45 seconds``: no time of day. Of ``9:58 seconds`` nobody knows whether
    the larger part are minutes, so both numbers stay."""
    rule = words.durations
    if not rule.joint:
        return text
    minutes = {*rule.minute, *(unit for unit, pair in words.units.items() if pair == rule.minute)}
    for nouns, large_noun, small_noun in (
        (minutes, rule.minute, rule.second),
        (set(rule.hour), rule.hour, rule.minute),
    ):

        def in_words(
            match: re.Match[str], large_noun: Pair = large_noun, small_noun: Pair = small_noun
        ) -> str:
            large, small = str(int(match[1])), str(int(match[2]))
            parts = [_with_noun(large, large_noun)] if large != "0" or small == "0" else []
            if small != "0":
                parts.append(_with_noun(small, small_noun))
            return f" {rule.joint} ".join(parts)

        text = re.sub(rf"{_PARTS_OF_DURATION}\s({any_of_pattern(nouns)})(?!\w)", in_words, text)
    seconds = any_of_pattern(rule.second)
    return re.sub(rf"{_PARTS_OF_DURATION}(?=\s{seconds}(?!\w))", r"\1 \2", text)


def _spell_out_mixed_fractions(text: str, words: LanguageWords, language: str) -> str:
    """``1½ hours → one and a half hours``, ``2½ Meter → zweieinhalb Meter``, ``2½ mètres → 2 mètres et
    demi``: that number agrees with its noun later."""
    rule = words.mixed_fractions
    if not rule.half[0]:
        return text

    def in_words(match: re.Match[str]) -> str:
        masculine, feminine = getattr(rule, _FRACTION_NAMES[match["fraction"].strip()])
        noun, whole = match["noun"] or "", cardinal(match["whole"], language)
        if noun in words.units:
            noun = words.units[noun][0 if int(match["whole"]) == 1 else 1]
        if whole is None:
            return match[0]
        if not rule.behind_noun or not noun or noun.lower() in words.agreement.no_nouns:
            return f"{rule.whole_forms.get(whole, whole)}{masculine} {noun}".rstrip()
        if int(match["whole"]) == 1:
            noun = rule.singular.get(noun, noun)
        return f"{match['whole']} {noun}{feminine if _is_feminine(noun, words) else masculine}"

    return _MIXED_FRACTION.sub(in_words, text)


def _spell_out_compounds(text: str, words: LanguageWords, language: str) -> str:
    """``8-jährig → achtjährig``, ``8-year-old → eight-year-old``."""
    if words.compound is None:
        return text
    joint, joined_forms = words.compound, words.mixed_fractions.whole_forms

    def in_words(match: re.Match[str]) -> str:
        number = cardinal(match[1], language)
        if number is None:
            return match[0]
        # ``20-Euro-Schein``: a noun stays apart.
        return f"{joined_forms.get(number, number)}{'-' if match[2].isupper() else joint}{match[2]}"

    return re.sub(r"(?<![\w.,:/-])(\d{1,3})-([^\W\d])(?=[^\W\d]{2})", in_words, text)


def _spell_out_times(text: str, words: LanguageWords, language: str) -> str:
    """``at 15:30 → at fifteen thirty``; ``am`` and ``pm`` become ``a.m.`` and ``p.m.``."""
    rule = words.times
    hour_pattern, half_pattern = r"(?<![\w.:,])([01]?\d|2[0-4])", r"(?:\s?([AaPp])\.?[Mm]\b\.?)?"
    separators, o_clock = rule.separators.replace(".", ""), re.escape(rule.o_clock)
    optional_o_clock = rf"(?:\s{o_clock}\b)?" if o_clock else ""

    def time_in_words(match: re.Match[str]) -> str:
        half, minute = match[3] or "", int(match[2])
        hours, minutes = cardinal(str(int(match[1])), language), cardinal(str(minute), language)
        if hours is None or minutes is None:
            return match[0]
        hours = _agreeing(hours, words, rule.hours_agree)
        minutes = _agreeing(minutes, words, rule.minutes_agree)
        noun = rule.noun[0 if int(match[1]) <= 1 else 1]
        if minute == 0:
            form = rule.with_half if half else rule.hour
        else:
            form = rule.early if minute < 10 else rule.other
        in_words = form.format(h=hours, m=minutes, n=noun)
        if half:
            in_words += f" {half.lower()}.m."
        return in_words or match[0]

    # 14 h 30: a letter between hours and minutes may stand apart.
    letters = "".join(filter(str.isalpha, separators))
    separator_pattern = rf"[{re.escape(separators)}]" + (rf"|\s[{letters}]\s" if letters else "")
    time_pattern = (
        rf"{hour_pattern}(?:{separator_pattern})([0-5]\d)(?![\d:]|\.\d){half_pattern}{optional_o_clock}"
    )
    text = re.sub(time_pattern, time_in_words, text)
    if "." in rule.separators and o_clock:
        # 15.30 may be a number: it is a time only with the word behind it.
        text = re.sub(rf"{hour_pattern}\.([0-5]\d)()\s{o_clock}\b", time_in_words, text)
    return re.sub(r"(?<=\d)\s?([AaPp])\.?[Mm]\b\.?(?=\W|$)", lambda m: f" {m[1].lower()}.m.", text)


def _agreeing(in_words: str, words: LanguageWords, gender: Gender) -> str:
    """A number before a noun of a gender, which may be left out: ``vingt et un → vingt et une``."""
    start, space, last_word = in_words.rpartition(" ")
    forms = words.agreement.forms
    if gender == "none" or last_word not in forms:
        return in_words
    return start + space + forms[last_word][1 if gender == "feminine" else 0]


def _spell_out_money(text: str, words: LanguageWords, language: str) -> str:
    """``$3.50 → 3 dollars fifty``, ``$5m → 5 million dollars``; before a noun the numbers stay in digits."""
    number_pattern, mark_pattern = _number_pattern(words), any_of_pattern(words.money)
    scale_pattern = rf"(?:\s?({any_of_pattern(words.scales)})(?!\w))?" if words.scales else "()"

    def amount(match: re.Match[str], mark: str, number: str, scale: str | None) -> str:
        key = matching_key(mark, words.money)
        large = words.scales[matching_key(scale, words.scales)] if scale else ""
        if large:
            return f"{number} {large} {words.money[key][1]}"
        # ``3.50`` dollars: ``3 dollars 50``.
        units, point, decimals = number.partition(words.decimal)
        if not point or len(decimals) != 2 or not decimals.isdigit():
            return _with_noun(number, words.money[key])
        large = "" if int(units or "0") == 0 else _with_noun(units, words.money[key])
        if int(decimals) == 0:
            return large or _with_noun("0", words.money[key])
        bare_cents, cents_noun = str(int(decimals)), words.cents.get(key)
        if large or cents_noun is None:
            # In words: what follows is neither their noun nor makes them an ordinal.
            small = cardinal(bare_cents, language) or bare_cents
        else:
            small = _with_noun(bare_cents, cents_noun)
        return f"{large} {small}".strip()

    mark_first = rf"({mark_pattern})\s?({number_pattern}){scale_pattern}(?![\w])"
    text = re.sub(mark_first, lambda m: amount(m, m[1], m[2], m[3]), text)
    mark_last = rf"(?<![\w.,])({number_pattern}){scale_pattern}\s?({mark_pattern})(?!\w)"
    return re.sub(mark_last, lambda m: amount(m, m[3], m[1], m[2]), text)


def _with_noun(number: str, pair: Pair) -> str:
    """``1 metre``, ``2 metres``."""
    return f"{number} {pair[0] if number in ('1', '-1') else pair[1]}"


def _spell_out_english(text: str, words: LanguageWords) -> str:
    """``May 3rd → May third``, ``the 1950s → the nineteen fifties``, ``2nd → second``."""

    def ordinal_of(number: str) -> str:
        return ordinal(int(number), "en") or number

    months = any_of_pattern(words.months)
    pattern = rf"\b({months})\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?![:.,]?\d)"
    text = re.sub(pattern, lambda m: f"{m[1]} {ordinal_of(m[2])}", text)
    pattern = rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({months})\b"
    text = re.sub(pattern, lambda m: f"{ordinal_of(m[1])} of {m[2]}", text)
    text = _DECADE.sub(lambda m: _decade_in_words(int(m[1]), m[0]), text)
    text = _SHORT_DECADE.sub(lambda m: _decade_in_words(int(m[1]), m[0]), text)
    text = re.sub(r"(?<![\w.,/])(?:½|1/2)(?=\san?\b)", "half", text)
    return _ORDINAL.sub(lambda m: ordinal_of(m[1]), text)


def _spell_out_ordinals(text: str, words: LanguageWords, language: str) -> str:
    """Numbers and numerals with the ending of an ordinal: ``2e → deuxième``, ``XXe → vingtième``, ``1ª →
    primera``."""
    rule = words.ordinals
    endings = dict.fromkeys(rule.feminine, "feminine")
    endings.update(dict.fromkeys(rule.masculine, "masculine"))
    endings.update(dict.fromkeys(rule.shortened, "shortened"))
    if not endings:
        return text

    def in_words(match: re.Match[str]) -> str:
        number = int(match[1]) if match[1].isdigit() else roman_value(match[1])
        if not number or (match[2] == "°" and number > _MAX_BARE_ORDINAL):
            return match[0]
        word = ordinal(number, language)
        if word is None:
            return match[0]
        form = endings[matching_key(match[2], endings)]
        if form == "feminine":
            return feminine_ordinal(word, words)
        return rule.short_forms.get(word, word) if form == "shortened" else word

    # Of numerals only those in I, V and X: "Le" and "Ce" are words. A degree sign needs a noun behind it.
    no_nouns = any_of_pattern(words.agreement.no_nouns) if words.agreement.no_nouns else r"(?!)"
    has_noun = rf"(?:(?<!°)|(?=\s(?!{no_nouns}\b)[^\W\dA-ZÀ-ÖØ-Þ]))"
    pattern = rf"(?<![\w.,-])(\d{{1,4}}|[IVX]+)({any_of_pattern(endings)}){has_noun}(?!\w)"
    return re.sub(pattern, in_words, text)


def feminine_ordinal(word: str, words: LanguageWords) -> str:
    """``segundo → segunda``, ``premier → première``: by the longest ending that the language's file has."""
    forms = words.ordinals.feminine_forms
    parts: list[str] = []
    for part in word.split():
        ending = max((key for key in forms if part.endswith(key)), key=len, default="")
        parts.append(part.removesuffix(ending) + forms[ending] if ending else part)
    return " ".join(parts)


def _spell_out_dotted_ordinals(text: str, words: LanguageWords, language: str) -> str:
    """German: ``der 3. Mann → der dritte Mann``, ``am 3. Oktober → am dritten Oktober``.

    The word before the number says which ending it has; without such a word only dates are spelled out, and
    other numbers are left to the voice, for the full stop may end the sentence.
    """
    rule = words.ordinals
    if not rule.dotted:
        return text

    def date_in_words(match: re.Match[str]) -> str:
        day, month, number = int(match["day"]), int(match["month"]), int(match["year"])
        day_word, month_word = ordinal(day, language), ordinal(month, language)
        year_word = year(number, language)
        if not (1 <= day <= 31 and 1 <= month <= 12 and day_word and month_word and year_word):
            return match[0]
        article = (match["article"] or "").lower()
        ending = "n" if article in rule.ending_n else "" if article in rule.ending_e else "r"
        start = match[0][: match.start("day") - match.start()]
        return f"{start}{day_word}{ending} {month_word}{ending} {year_word}"

    text = re.sub(
        r"(?<!\w)(?:(?P<article>[^\W\d]+),?\s+)?(?<![\d.,])"
        r"(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4})(?![\w]|[.,]\d)",
        date_in_words,
        text,
    )
    months = any_of_pattern(words.months)
    pattern = (
        r"(?<!\w)(?:(?:(?P<before>[^\W\d]+)\s+)?(?P<article>[^\W\d]+)\s+)?(?<![\d.,])(?P<number>\d{1,3})\."
        rf"(?=\s+(?:(?P<month>{months})\b|(?P<next>{NAME_START}\w*|[^\W\d]+)))"
    )

    def in_words(match: re.Match[str]) -> str:
        word = ordinal(int(match["number"]), language)
        article, before = (match["article"] or "").lower(), (match["before"] or "").lower()
        is_after_preposition = article in rule.ending_e and before in rule.prepositions
        if article in rule.ending_n or is_after_preposition:
            ending = "n"
        elif article in rule.ending_e:
            ending = ""
        elif match["month"]:
            ending = "r"
        elif not article and match["next"] in rule.bare_endings:
            ending = rule.bare_endings[match["next"]]
        else:
            return match[0]
        if word is None:
            return match[0]
        start = match[0].removesuffix(f"{match['number']}.")
        # "Er kommt am 3. Sie wartet.": the full stop ends the sentence, too.
        stop = "." if match["next"] in words.starts else ""
        return f"{start}{word}{ending}{stop}"

    return re.sub(pattern, in_words, text)


def _spell_out_decades(text: str, words: LanguageWords, language: str) -> str:
    """German: ``1920er → neunzehnhundertzwanziger``, ``20er → zwanziger``."""
    ending = words.decade_ending
    if not ending:
        return text

    def in_words(match: re.Match[str]) -> str:
        number = int(match[1])
        word = year(number, language) if number >= 1000 else cardinal(match[1], language)
        return f"{word}{ending}" if word else match[0]

    return re.sub(rf"(?<![\w.,])((?:1[1-9]|20)?\d0){ending}(?!\w)", in_words, text)


def _spell_out_before_nouns(text: str, words: LanguageWords, language: str) -> str:
    """Numbers that agree with the noun behind them: ``1 Frau → eine Frau``, ``21 años → veintiún años``.

    Where the form cannot be known, the number stays in digits: ``Er hat 1 Koffer`` means *einen*.
    """
    rule = words.agreement
    if not rule.forms:
        return text

    def with_noun(match: re.Match[str]) -> str:
        before, written, noun = (match["before"] or "").lower(), match["number"], match["noun"]
        if words.decimal in written or noun.lower() in rule.no_nouns:
            return match[0]
        number = written.replace(words.thousands, "") if words.thousands else written
        in_words = cardinal(number, language)
        if in_words is None:
            return match[0]
        if before in rule.labels:
            return f"{match['gap']}{in_words} {noun}"
        start, joint, last_word = re.fullmatch(r"(?:(.*)([ -]))?(.+)", in_words).groups("")  # type: ignore[union-attr]
        if last_word in rule.before_of:
            is_elided = rule.of_before_vowel and noun[0].lower() in _VOWELS
            return f"{match['gap']}{in_words} {rule.of_before_vowel if is_elided else rule.of + ' '}{noun}"
        form = _agreeing_form(last_word, match, words)
        if form is None:
            return match[0]
        blank = "" if form.endswith("'") else " "
        return f"{match['gap']}{start}{joint}{form}{blank}{noun}"

    return re.sub(_before_noun_pattern(_number_pattern(words), words), with_noun, text)


def _spell_out_halves(text: str, words: LanguageWords, language: str) -> str:
    """``½ Stunde → eine halbe Stunde``, ``½ hora → media hora``; as it is where the form is not known."""
    rule, word_for_one = words.agreement, cardinal("1", language)
    if not rule.halves or word_for_one is None:
        return text

    def with_noun(match: re.Match[str]) -> str:
        noun = match["noun"]
        small = noun.lower()
        form = None if small in rule.no_nouns else _agreeing_form(word_for_one, match, words)
        if form is None:
            return match[0]
        half = rule.halves[form]
        if rule.half_neuter and form == rule.forms[word_for_one][0]:
            if small in rule.neuter:
                half = rule.half_neuter
            elif small not in rule.masculine:
                return match[0]
        return f"{match['gap']}{half}{'' if half.endswith('-') else ' '}{noun}"

    return re.sub(_before_noun_pattern("½|1/2", words), with_noun, text)


def _before_noun_pattern(number_pattern: str, words: LanguageWords) -> str:
    """A pattern for a ``number`` before a ``noun``, with the word ``before`` it, if any, in ``gap``."""
    noun_pattern = rf"{NAME_START}[\w-]+" if words.agreement.capital else r"(?!\d)[^\W\dA-ZÀ-ÖØ-Þ][\w-]+"
    return (
        rf"(?P<gap>(?:(?<![\w'’])(?P<before>[^\W\d]+)\s+)?)"
        rf"(?<![\w.,:/'’-])(?P<number>{number_pattern})\s(?P<noun>{noun_pattern})"
    )


def _agreeing_form(number: str, match: re.Match[str], words: LanguageWords) -> str | None:
    """The form of a number's last word before a noun, both of `_before_noun_pattern`; None: not known."""
    rule, noun, before = words.agreement, match["noun"], (match["before"] or "").lower()
    small = noun.lower()
    if number not in rule.forms:
        return None
    masculine, feminine = rule.forms[number]
    has_cases = number in rule.dative
    # "In einer Minute", but "in eine Kiste" and "in einer Kiste".
    is_dative = has_cases and (before in rule.dative_behind or (before == "in" and small in rule.measures))
    if before in rule.two_way and not is_dative:
        return None
    if _is_feminine(noun, words):
        if is_dative:
            return rule.dative[number][1]
        if rule.feminine_before_vowel and small[0] in _VOWELS:
            return rule.feminine_before_vowel
        return feminine
    if small not in rule.masculine and rule.unsure_endings and small.endswith(rule.unsure_endings):
        return None
    if number in rule.dative:
        if small in rule.uninflected:
            return masculine
        if is_dative:
            return rule.dative[number][0]
        if small in rule.neuter:
            return masculine
        # "Er hat einen Koffer"; in "da hat ein Koffer Platz" the word before the verb is no subject.
        before_verb = match.string[: match.start()].lower().split()[-1:]
        is_object = before in rule.with_object and not rule.subjects.isdisjoint(before_verb)
        if (is_object or before in rule.accusative_behind) and small in rule.masculine:
            return rule.accusative[number]
        # "Da liegt ein Brief", but "da liegt er einen Tag".
        is_subject = before in rule.without_object and small not in rule.measures
        text_before = match.string[: match.start("number")].rstrip()
        begins_sentence = not text_before or text_before[-1] in ".!?:…"
        return masculine if begins_sentence or is_subject or small in rule.nominative_anywhere else None
    if rule.long_before and re.match(rule.long_before, small):
        return number
    return masculine


def _is_feminine(noun: str, words: LanguageWords) -> bool:
    rule, small = words.agreement, noun.lower()
    if small in rule.feminine:
        return True
    return (
        bool(rule.feminine_endings) and small.endswith(rule.feminine_endings) and small not in rule.masculine
    )


_VOWELS = frozenset("aeiouàâäéèêëîïôöûüh")


def _decade_in_words(number: int, written: str) -> str:
    """``1950 → nineteen fifties``, ``50 → fifties``; ``written`` where no word is known."""
    words = year(number, "en") if number >= 1000 else cardinal(str(number), "en")
    if not words:
        return written
    return f"{words[:-1]}ies" if words.endswith("y") else f"{words}s"


def _spell_out_numbers(text: str, words: LanguageWords, language: str) -> str:
    """Put the numbers into words that no other rule has: whole ones and decimals that stand alone."""

    def number_in_words(written: str) -> str:
        number = written.replace(words.thousands, "") if words.thousands else written
        return cardinal(number.replace(words.decimal, "."), language, words.point) or written

    pattern = r"(?<![\w.,])[.](\d+)(?![\w.,])" if words.decimal == "." else r"(?!)"
    text = re.sub(pattern, lambda m: f"{words.point} {digits(m[1], language) or m[1]}", text)
    if words.ordinals.dotted:
        text = _spell_out_before_full_stops(text, words, number_in_words)
    # A full stop behind may be an ordinal's, as in German, or end the sentence: the number stays in digits.
    no_ordinal = "" if plain_language(language) in _NO_DOTTED_ORDINALS else r"(?!\.(?:\s+\w|\d))"
    # A 1 that could not be made to agree with its noun is left to the voice.
    noun = NAME_START if words.agreement.capital else r"[^\W\dA-ZÀ-ÖØ-Þ]"
    has_unsure = words.agreement.unsure_endings or words.agreement.dative
    no_nouns = any_of_pattern(words.agreement.no_nouns) if words.agreement.no_nouns else "(?!)"
    no_unsure = rf"(?!(?<=(?<![\d.,])1)\s(?!{no_nouns}\b){noun})" if has_unsure else ""
    if words.elides:
        # ``l'8 marzo``
        behind_elision = r"(?<=[^\W\d]['’])(\d{1,3})(?![\w/]|[.,:-]\w)"
        of_decade = r"(?<![\w'’])['’]([2-9]0)(?!\w)"
        text = re.sub(behind_elision, lambda m: number_in_words(m[1]), text)
        text = re.sub(of_decade, lambda m: number_in_words(m[1]), text)
    ending = rf"(?![\w/]|[.,-]\w){no_unsure}{no_ordinal}"
    number_alone = rf"(?<![\w.,/'’-])(?:{_number_pattern(words)}){ending}"
    return re.sub(number_alone, lambda m: number_in_words(m[0]), text)


def _spell_out_before_full_stops(text: str, words: LanguageWords, in_words: Callable[[str], str]) -> str:
    """German numbers whose full stop ends the sentence: ``Zimmer 12. Anna klopft. → Zimmer zwölf. …``.

    Ordinals with an article are in words already. Another number is none if a new sentence clearly begins
    behind it, if a noun stands before it, or if it is larger than days, floors and kings have.
    """
    rule = words.ordinals
    sentence_starts = {word.lower() for word in words.starts}
    before_ordinals = rule.ending_n | rule.ending_e | rule.prepositions | rule.before_bare | sentence_starts

    def without_full_stop(match: re.Match[str]) -> str:
        before, next_word = match["before"] or "", match["next"]
        begins_sentence = next_word in words.starts
        is_behind_noun = before[:1].isupper() and before.lower() not in before_ordinals
        is_quantity = not match["number"].isdigit() or int(match["number"]) > _MAX_BARE_ORDINAL
        is_large = is_quantity and before.lower() not in before_ordinals
        is_date = next_word in words.months
        if is_date or not (begins_sentence or is_behind_noun or is_large):
            return match[0]
        return match["gap"] + in_words(match["number"])

    pattern = (
        rf"(?P<gap>(?:(?<!\w)(?P<before>[^\W\d]+)\s+)?)(?<![\w.,/'’-])(?P<number>{_number_pattern(words)})"
        rf"(?=\.[\"”“’»«)]*\s+[\"„“‘«»(]*(?P<next>{NAME_START}\w*))"
    )
    return re.sub(pattern, without_full_stop, text)


_MAX_BARE_ORDINAL = 31
"""An ordinal without an article is a day, a floor, a king."""
_NO_DOTTED_ORDINALS = frozenset({"en", "fr", "es", "it", "nl"})
"""Languages in which a full stop behind a number always ends the sentence."""


def _number_pattern(words: LanguageWords) -> str:
    """A pattern for a whole number or a decimal, with marks of thousands."""
    thousands = rf"\d{{1,3}}(?:{re.escape(words.thousands)}\d{{3}})+(?!\d)|" if words.thousands else ""
    return rf"(?:{thousands}\d+)(?:{re.escape(words.decimal)}\d+)?"


_MAX_DIGITS = 15
"""Digits; what is longer is no quantity."""
_LANGUAGES_WITH_YEARS = frozenset({"en", "de", "nl", "da", "no"})
"""Languages that say years of four digits in another way than numbers, which the library knows."""
_LANGUAGES_IN_DIGITS = frozenset({"ja", "zh", "ko", "th"})
"""Where digits are best left alone."""
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_WELL_FORMED = re.compile(r"M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")


def cardinal(number: str, language: str, point_word: str = "") -> str | None:
    """``"1234" → one thousand two hundred and thirty-four``; also decimals, ``"3.50"``, digit by digit behind
    ``point_word``; None where no word is known."""
    whole, point, decimals = number.partition(".")
    if not point:
        if len(whole) > _MAX_DIGITS:
            return digits(whole, language)
        return _in_words(int(whole), language, "cardinal")
    if len(whole) > _MAX_DIGITS or len(decimals) > _MAX_DIGITS:
        return None
    whole_words, decimal_words = (
        _in_words(int(whole or "0"), language, "cardinal"),
        digits(decimals, language),
    )
    if not (point_word and whole_words and decimal_words):
        return None
    return f"{whole_words} {point_word} {decimal_words}"


def ordinal(number: int, language: str) -> str | None:
    """``3 → third``; None where no word is known."""
    return _in_words(number, language, "ordinal")


def year(number: int, language: str) -> str | None:
    """``1995 → nineteen ninety-five``, where years differ from numbers; else the number."""
    has_years = plain_language(language) in _LANGUAGES_WITH_YEARS
    return _in_words(number, language, "year" if has_years else "cardinal")


def digits(number: str, language: str) -> str | None:
    """``"007" → zero zero seven``; None where no word is known."""
    names = [_in_words(int(digit), language, "cardinal") for digit in number]
    return " ".join(word for word in names if word) if all(names) else None


def roman_value(numeral: str) -> int | None:
    """``"XIV" → 14``; None for text that is no Roman numeral."""
    if not numeral or not _WELL_FORMED.fullmatch(numeral):
        return None
    values = [_ROMAN[letter] for letter in numeral]
    total = 0
    for value, next_value in zip(values, [*values[1:], 0], strict=True):
        # A smaller letter before a larger one is taken from it: IX is 9.
        total += -value if value < next_value else value
    return total


@cache
def _in_words(number: int, language: str, form: str) -> str | None:
    """A number by num2words, without commas, or None; ``form``: cardinal, ordinal or year."""
    short = plain_language(language)
    if short in _LANGUAGES_IN_DIGITS:
        return None
    if short == "pt" and not language.lower().endswith(("-pt", "_pt")):
        # Brazil says "dezesseis", Portugal "dezasseis".
        short = "pt_BR"
    try:
        words = str(importlib.import_module("num2words").num2words(number, lang=short, to=form))
    # The package's languages fail in many ways at numbers and forms that they do not know.
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
    return " ".join(words.replace(",", " ").split())


Gender = Literal["none", "masculine", "feminine"]
Pair = tuple[str, str]
"""One and many: ``(metre, metres)``."""


class _Table(BaseModel):
    """A part of a language's file; an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Times(_Table):
    """How a time of day is spoken: ``{h}`` are the hours, ``{m}`` the minutes, in words, ``{n}`` the noun."""

    hour: str = "{h}"
    """On the hour."""
    early: str = "{h} {m}"
    """Up to nine minutes past."""
    other: str = "{h} {m}"
    with_half: str = "{h}"
    """On the hour, where ``a.m.`` or ``p.m.`` follows."""
    noun: Pair = ("", "")
    """Behind the hours: ``une heure``, ``deux heures``; none is one."""
    hours_agree: Gender = "none"
    minutes_agree: Gender = "none"
    """Whether ``one`` has the form that it has before a noun of that gender."""
    separators: str = ":"
    """Characters between hours and minutes: ``:h`` for 15:30 and 15h30."""
    o_clock: str = ""
    """A word that may stand behind the time already, and is spoken once: ``Uhr``."""


class Ordinals(_Table):
    """How ordinals are written: with an ending (``2e``, ``1ª``), or, as in German, with a full stop."""

    masculine: tuple[str, ...] = ()
    feminine: tuple[str, ...] = ()
    shortened: tuple[str, ...] = ()
    """Endings of the short form before a noun: ``3er piso``."""
    feminine_forms: dict[str, str] = {}
    """The feminine by the ending of the masculine: ``o`` is ``a``."""
    short_forms: dict[str, str] = {}
    dotted: bool = False
    ending_n: frozenset[str] = frozenset()
    """German words behind which the ordinal ends in ``-en``."""
    ending_e: frozenset[str] = frozenset()
    """Behind which it ends in ``-e``, or, behind a preposition, in ``-en``: ``der``."""
    prepositions: frozenset[str] = frozenset()
    bare_endings: dict[str, str] = {}
    """The ending where no word stands before the number, by the noun behind: ``18. Jahrhundert``."""
    before_bare: frozenset[str] = frozenset()
    """Further words behind which a number with a full stop may be an ordinal: ``ihr 100. Film``."""


class MixedFractions(_Table):
    """What ``1½``, ``2¼`` and ``3¾`` have behind the whole number, masculine and feminine.

    Without ``half`` they are left as they are written.
    """

    half: Pair = ("", "")
    quarter: Pair = ("", "")
    three_quarters: Pair = ("", "")
    behind_noun: bool = False
    """Whether the noun stands between: ``deux mètres et demi``."""
    whole_forms: dict[str, str] = {}
    """Whole numbers where something is joined to them: ``eins`` is ``ein``."""
    singular: dict[str, str] = {}
    """Nouns behind 1½, which people write in the plural: ``horas`` is ``hora``."""


class Durations(_Table):
    """How ``10:45 minutes`` is spoken; without ``joint`` it is left as it is written."""

    hour: Pair = ("", "")
    minute: Pair = ("", "")
    second: Pair = ("", "")
    joint: str = ""


class Agreement(_Table):
    """Numbers that agree with the noun behind them."""

    forms: dict[str, Pair] = {}
    """By the last word of the number: the masculine, which is the neuter too, and the feminine."""
    feminine: frozenset[str] = frozenset()
    """Nouns, in small letters."""
    feminine_endings: tuple[str, ...] = ()
    masculine: frozenset[str] = frozenset()
    """Nouns that have a feminine ending all the same."""
    no_nouns: frozenset[str] = frozenset()
    """Words behind a number that are no nouns."""
    capital: bool = False
    """Whether nouns are written with a capital letter."""
    unsure_endings: tuple[str, ...] = ()
    """Of nouns whose gender is not known if they stand in no list: their number stays in digits."""
    labels: frozenset[str] = frozenset()
    """Words behind which a number is a name, and agrees with nothing: ``room 101``."""
    dative: dict[str, Pair] = {}
    """As ``forms``, behind the words ``dative_behind``. With it, masculine and neuter forms are used only
    where the case is sure."""
    dative_behind: frozenset[str] = frozenset()
    accusative: dict[str, str] = {}
    """Of nouns in ``masculine``, behind the words ``accusative_behind``."""
    accusative_behind: frozenset[str] = frozenset()
    nominative_anywhere: frozenset[str] = frozenset()
    """Nouns with which the nominative is said wherever no other case is sure: ``zahlt ein Euro zehn``."""
    neuter: frozenset[str] = frozenset()
    """Nouns whose nominative and accusative are the same."""
    two_way: frozenset[str] = frozenset()
    """Words behind which either case may stand: ``in eine Kiste``, ``in einer Kiste``."""
    measures: frozenset[str] = frozenset()
    """Nouns of time and way: dative behind ``in``, and no subjects behind a verb (``er bleibt 1 Tag``)."""
    subjects: frozenset[str] = frozenset()
    """Subjects; behind these and a verb ``with_object`` stands the accusative: ``er hat 1 Hut``."""
    with_object: frozenset[str] = frozenset()
    without_object: frozenset[str] = frozenset()
    """Verbs behind which a noun is the subject: ``da liegt 1 Brief``."""
    halves: dict[str, str] = {}
    """A half before a noun, by the form of one that the noun has: ``una`` is ``media``."""
    half_neuter: str = ""
    """Where the neuter of one is its masculine, and that of a half is not."""
    uninflected: frozenset[str] = frozenset()
    """Nouns with which the number never has another form: ``um ein Uhr``."""
    feminine_before_vowel: str = ""
    """``un'`` (Italian)."""
    long_before: str = ""
    """A pattern of nouns before which the masculine is the number itself: ``uno studente``."""
    before_of: frozenset[str] = frozenset()
    """Numbers that are nouns, with ``of`` behind them: ``un millón de euros``."""
    of: str = ""
    of_before_vowel: str = ""


class Roman(_Table):
    """How Roman numerals behind names are spoken: ``Henry VIII → Henry the eighth``."""

    said: str = "cardinal"
    """``ordinal`` or ``cardinal``."""
    as_: str = Field("{}", alias="as")
    as_feminine: str = ""
    """Behind the name of a woman; empty: as behind that of a man."""
    as_genitive: str = ""
    """Behind a name with the genitive's s: ``Wilhelms II.``; empty: there is none."""
    capital: bool = False
    """Whether the ordinal is written with a capital letter."""
    dotted: bool = False
    """Whether the numeral has a full stop, as in German."""
    ordinals_to: int = 1000
    """Above it the cardinal is spoken."""
    up_to: int = 50
    titles: tuple[str, ...] = ()
    """``King NAME VIII`` is an ordinal whatever the name."""
    names: tuple[str, ...] = ()
    feminine_titles: tuple[str, ...] = ()
    feminine_names: tuple[str, ...] = ()
    as_dative: Pair = ("", "")
    """Behind the words ``dative_behind`` of the agreement, of a man and a woman: ``von Ludwig XIV.``"""
    as_accusative: Pair = ("", "")
    counted: tuple[str, ...] = ()
    """Words behind which the cardinal is spoken: ``Chapter VIII``."""
    ordinal_before: dict[str, Gender] = {}
    """Words before which the ordinal is spoken, with their gender: ``XIX secolo``, ``II Guerra``."""


class LanguageWords(_Table):
    """The file of one language: abbreviations, units and signs by how they are spoken.

    Where a table is empty, its kind of text is left as it is written.
    """

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
    minus: str = ""
    """Before a number: ``-5``."""
    decimal: str = "."
    thousands: str = ""
    word_ends: dict[str, str] = {}
    """At the end of a word: ``Hauptstr.``."""
    score: str = ""
    """Between the numbers of a score: ``2:1``."""
    compound: str | None = None
    """What joins a number to the rest of its word, ``8-jährig``; without it such words are left alone."""
    elides: bool = False
    """Whether numbers stand behind an apostrophe: ``l'8 marzo``, ``anni '80``."""
    mixed_fractions: MixedFractions = MixedFractions()
    decade_ending: str = ""
    """Behind a year or a number: ``1920er``."""
    times: Times = Times()
    durations: Durations = Durations()
    ordinals: Ordinals = Ordinals()
    agreement: Agreement = Agreement()
    roman: Roman = Roman()
    spelled: frozenset[str] = frozenset()
    """In capitals, read letter by letter."""
    spoken: frozenset[str] = frozenset()
    """In capitals, short, and yet read as words."""


@cache
def words_of(language: str) -> LanguageWords:
    """The words of a language; empty tables where there is no file for it."""
    name = plain_language(language)
    text = spoken_signs_file(name)
    # All as text: to YAML, NO and ON are truths, and 12:30 is a number.
    return LanguageWords() if text is None else LanguageWords.model_validate(read_yaml(text, yaml.BaseLoader))


FIRST_MARK = 0xE000
LAST_MARK = 0xF8FF
"""Characters of private use: each stands for a word of the lexicon while all other rules are applied."""
MARKS = f"{chr(FIRST_MARK)}-{chr(LAST_MARK)}"
"""All of them, for within the brackets of a pattern."""
NAME_START = rf"[A-ZÀ-ÖØ-ÞŒŠŽА-ЯΑ-Ω{MARKS}]"
"""The first letter of a name, or the mark of a name from the lexicon."""

_CLOSING = r"[\"”’'»)\]]*"
ENDS_SENTENCE = rf"(?={_CLOSING}(?:\s*$|\s+[\"“‘'«(]?{NAME_START}))"
"""Where a full stop also ends the sentence, as far as can be seen."""


def any_of_pattern(words: Iterable[str]) -> str:
    """A pattern for any of the words, the longest first; spaces may be of any length."""
    ordered = sorted(words, key=lambda word: (-len(word), word))
    return "(?:" + "|".join(re.escape(word).replace(r"\ ", r"\s*") for word in ordered) + ")"


def matching_key(matched: str, table: Iterable[str]) -> str:
    """The word of a table that `any_of_pattern` matched, whatever the spaces in it."""
    without_spaces = "".join(matched.split())
    return next(word for word in table if "".join(word.split()) == without_spaces)
