"""How long a line takes to say in different languages, measured in English words.

Budgets are counted in words because English AD is planned so: 16 words fit into 6 seconds. Words of other
languages are longer or shorter, and some scripts have no blanks. So length is estimated from letters, and
given as the number of English words that take as long.

Rates are those at which people of 17 languages read the same texts aloud (Trauzettel-Klosinski and Dietz, The
New International Reading Speed Texts IReST, Investigative Ophthalmology & Visual Science 53, 2012). Only
their proportion to English counts, for AD is spoken slower. Other languages have the rate of a near one, or
(Korean, Thai, Vietnamese) are estimated from their syllables in a second (Coupé, Oh, Dediu and Pellegrino,
Different languages, similar encoding efficiency, Science Advances 5, 2019).

Words a minute (`tempo`) are usually measured over longer texts, where long and short words and breaths
average out. In a single line they do not: five short words are 211 words a minute at a pace of 165. So
letters are converted to words of average length (4.3 letters in English), and a breath is counted with each
line: in cinema AD it lasts 0.19 seconds (Jankowska, Ziółko, Igras-Cybulska and Psiuk, Reading rate in filmic
audio description, Rivista Internazionale di Tecnica della Traduzione 19, 2017).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from shotad.core.config.languages import is_english
from shotad.script.cue import count_words

Rate = tuple[int, int]
"""Words and letters a minute, read aloud. No words: a language written without blanks."""

_ENGLISH_WORDS, _ENGLISH_LETTERS = 228, 987

_RATES: Mapping[str, Rate] = {
    "en": (_ENGLISH_WORDS, _ENGLISH_LETTERS),
    # Measured
    "ar": (138, 612), "de": (179, 920), "es": (218, 1025), "fi": (161, 1078),
    "fr": (195, 998), "he": (187, 833), "it": (188, 950), "ja": (0, 357),
    "nl": (202, 978), "pl": (166, 916), "pt": (181, 913), "ru": (184, 986),
    "sl": (180, 885), "sv": (199, 917), "tr": (166, 1054), "zh": (0, 255),
    # By syllables
    "ko": (120, 345), "th": (0, 565), "lo": (0, 565), "vi": (263, 870),
    # Hindi and others whose vowels are marks on the letters, which are no letters themselves, and the same
    # without blanks: about 370 syllables a minute, the mean of the 17 languages
    "hi": (160, 425), "km": (0, 425),
}  # fmt: skip
_DEFAULT_RATE = (184, 950)
"""The means of those languages that are written with blanks and vowels."""

_SIMILAR_LANGUAGE: Mapping[str, str] = {
    "yue": "zh", "cmn": "zh", "fa": "ar", "ps": "ar", "ur": "ar", "sd": "ar", "ug": "ar", "yi": "he",
    "da": "sv", "nb": "sv", "nn": "sv", "no": "sv", "is": "sv", "fo": "sv", "af": "nl", "fy": "nl",
    "nds": "de", "gsw": "de", "lb": "de", "ca": "es", "gl": "es", "ast": "es", "oc": "fr", "ro": "it",
    "rm": "it", "co": "it", "sc": "it", "hr": "sl", "bs": "sl", "sr": "sl", "mk": "ru", "bg": "ru",
    "uk": "ru", "be": "ru", "cs": "pl", "sk": "pl", "hsb": "pl", "dsb": "pl", "et": "fi", "hu": "fi",
    "se": "fi", "az": "tr", "tk": "tr", "uz": "tr", "kk": "tr", "ky": "tr", "tt": "tr",
    "mr": "hi", "ne": "hi", "sa": "hi", "bn": "hi", "as": "hi", "pa": "hi", "gu": "hi", "or": "hi",
    "ta": "hi", "te": "hi", "kn": "hi", "ml": "hi", "si": "hi", "mai": "hi", "bho": "hi", "kok": "hi",
    "my": "km", "bo": "km", "dz": "km",
}  # fmt: skip
"""For a language without a rate of its own, a similar one that has one."""

_LETTERS_OF_A_DIGIT = 4
"""A digit is spoken as a word of about so many letters."""
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")


def spoken_words(text: str, language: str = "en") -> int:
    """How many English words take as long to say as this text in ``language`` (a tag); 0 for no words.

    In English the words are counted. A long German compound counts as several, and three Chinese characters
    as three.

    >>> spoken_words("She opens the door."), spoken_words("Sie öffnet die Haustür.", "de")
    (4, 5)
    """
    if is_english(language):
        return count_words(text)
    words_a_minute, letters_a_minute = _rate_of(language)
    letters = 0.0
    for char in filter(str.isalnum, text):
        if char.isdigit():
            letters += _LETTERS_OF_A_DIGIT if words_a_minute else 1
        elif not words_a_minute and _LATIN.match(char):
            # Among Chinese characters, which are syllables, a Latin letter is only a part of one.
            letters += letters_a_minute / _ENGLISH_LETTERS
        else:
            letters += 1
    if not letters:
        return 0
    return max(1, int(letters * _ENGLISH_WORDS / letters_a_minute + 0.5))


def budget_in_language_units(language: str, words: int) -> int:
    """The budget of ``words`` English words in the unit of ``language``: words, or characters in a language
    written without blanks (`has_blanks`).

    >>> budget_in_language_units("de", 16), budget_in_language_units("zh-Hans", 16)
    (12, 17)
    """
    if is_english(language):
        return words
    words_a_minute, letters_a_minute = _rate_of(language)
    return max(1, words * (words_a_minute or letters_a_minute) // _ENGLISH_WORDS)


def budget_text(language: str, words: int) -> str:
    """As `budget_in_language_units`, with its unit, for prompts and messages: ``12 words``."""
    number = budget_in_language_units(language, words)
    unit = "word" if has_blanks(language) else "character"
    return f"{number} {unit}{'' if number == 1 else 's'}"


def has_blanks(language: str) -> bool:
    """Whether a language separates its words by blanks."""
    return _rate_of(language)[0] > 0


def _rate_of(language: str) -> Rate:
    """The reading rate of a language (a tag), or of a similar one."""
    code = language.lower().replace("_", "-").split("-")[0]
    return _RATES.get(_SIMILAR_LANGUAGE.get(code, code), _DEFAULT_RATE)


BREATH_BEFORE_LINE = 0.2
"""Seconds of the breath before a line."""


def tempo(words: float, seconds: float) -> float:
    """Words a minute of a line of ``words`` words that takes ``seconds``, its breath included."""
    return words * 60 / (seconds + BREATH_BEFORE_LINE)


def usual_words(text: str, language: str = "en") -> float:
    """How many English words of average length take as long to say as this text.

    >>> round(usual_words("a cat"), 1), round(usual_words("Finnegan"), 1)
    (0.9, 1.8)
    """
    words_a_minute, letters_a_minute = _rate_of(language)
    letters = 0
    for char in filter(str.isalnum, text):
        letters += _LETTERS_OF_A_DIGIT if char.isdigit() and words_a_minute else 1
    return letters * _ENGLISH_WORDS / letters_a_minute
