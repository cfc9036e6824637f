"""The writing systems of languages, and words of a text in letters that its language is not written in.

Which language is written in which script is after Unicode's CLDR (supplemental data, languages and scripts).
The script of a letter is read from its name in the Unicode database, which Python has.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_LATIN = "LATIN"
_SCRIPTS_OF_LANGUAGES = {
    language: frozenset(scripts.split())
    for languages, scripts in {
        "ru uk be bg mk kk ky tg ab av ba ce cv kv os tt cu": "CYRILLIC",
        "sr bs uz az tk": "CYRILLIC LATIN",
        "mn": "CYRILLIC MONGOLIAN",
        "el": "GREEK",
        "he yi": "HEBREW",
        "ar fa ur ps ug sd": "ARABIC",
        "ku": "LATIN ARABIC",
        "ks": "ARABIC DEVANAGARI",
        "pa": "GURMUKHI ARABIC",
        "hi mr ne sa mai bho": "DEVANAGARI",
        "kok": "DEVANAGARI LATIN",
        "bn as": "BENGALI",
        "mni": "BENGALI MEETEI",
        "sat": "OL DEVANAGARI",
        "gu": "GUJARATI",
        "or": "ORIYA",
        "ta": "TAMIL",
        "te": "TELUGU",
        "kn": "KANNADA",
        "ml": "MALAYALAM",
        "si": "SINHALA",
        "th": "THAI",
        "lo": "LAO",
        "my": "MYANMAR",
        "km": "KHMER",
        "ka": "GEORGIAN",
        "hy": "ARMENIAN",
        "am ti": "ETHIOPIC",
        "bo dz": "TIBETAN",
        "dv": "THAANA",
        "chr": "CHEROKEE",
        "iu cr": "CANADIAN LATIN",
        "ii": "YI",
        "zh cmn yue": "CJK BOPOMOFO",
        "ja": "CJK HIRAGANA KATAKANA",
        "ko": "HANGUL CJK",
    }.items()
    for language in languages.split()
}
"""By the first word of their letters' names. Languages that are not here are written in Latin letters."""
_SCRIPTS_OF_TAGS = {
    "latn": "LATIN", "cyrl": "CYRILLIC", "arab": "ARABIC", "deva": "DEVANAGARI", "hebr": "HEBREW",
    "grek": "GREEK", "guru": "GURMUKHI", "beng": "BENGALI",
}  # fmt: skip
"""Scripts that a tag may name: ``sr-Cyrl``."""
_SCRIPTS = frozenset({_LATIN, *_SCRIPTS_OF_TAGS.values()}).union(*_SCRIPTS_OF_LANGUAGES.values())
_COMMON_WORD = re.compile(r"[a-zß-öø-ÿ]{3,}")
"""A Latin word that is no name, no unit and no abbreviation: those stay Latin in most scripts."""


def script_of_tag(language: str) -> str | None:
    """The script that a tag itself names, as the first word of its letters' names; else None."""
    parts = language.lower().replace("_", "-").split("-")
    return next((_SCRIPTS_OF_TAGS[part] for part in parts if part in _SCRIPTS_OF_TAGS), None)


def script_of(letter: str) -> str | None:
    """The script of a letter, as the first word of its name; None for letters of no script."""
    name = unicodedata.name(letter, "").removeprefix("FULLWIDTH ").removeprefix("HALFWIDTH ")
    first_word = re.split(r"[ -]", name)[0]
    if first_word == "IDEOGRAPHIC":
        return "CJK"
    return first_word if first_word in _SCRIPTS else None


def words_in_other_scripts(text: str, language: str) -> tuple[str, ...]:
    """The words, or parts of words, in letters that ``language`` (a tag) is not written in; each once.

    Latin names and abbreviations stay as they are in other scripts, and so does a Greek letter alone.

    >>> words_in_other_scripts("A woman 微笑着 smiles.", "en")
    ('微笑着',)
    >>> words_in_other_scripts("安娜 smiles 在 IMAX。", "zh")
    ('smiles',)
    """
    named_script = script_of_tag(language)
    code = language.lower().replace("_", "-").split("-")[0]
    own_scripts = _SCRIPTS_OF_LANGUAGES.get(code, frozenset({_LATIN}))
    if named_script is not None:
        own_scripts = frozenset({named_script})
    words: list[str] = []
    for script, word in _words_by_script(text):
        is_own = script in own_scripts
        is_latin_name = script == _LATIN and not _COMMON_WORD.fullmatch(word)
        is_symbol = script == "GREEK" and len(word) == 1
        if not (is_own or is_latin_name or is_symbol):
            words.append(word)
    return tuple(dict.fromkeys(words))


def _words_by_script(text: str) -> Iterator[tuple[str, str]]:
    """Runs of letters of one script, each with the script; marks belong to the letter before them."""
    script, word = None, ""
    for character in text:
        kind = unicodedata.category(character)[0]
        if kind == "M" and word:
            word += character
            continue
        letter_script = script_of(character) if kind == "L" else None
        if letter_script is None or letter_script != script:
            if script is not None:
                yield script, word
            script, word = letter_script, ""
        if script is not None:
            word += character
    if script is not None:
        yield script, word
