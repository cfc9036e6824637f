"""Signs that are no words: dashes, brackets, markup, addresses, symbols. Pure logic."""

from __future__ import annotations

import re
import unicodedata

from shotad.sound.pronunciation.patterns import any_of, key_of
from shotad.sound.pronunciation.words import Words

_LINE_END = re.compile(r"(\w[\"”’']?)?(?:(?<!\s)\s*)?\n\s*")
_DASH = re.compile(
    r"(?<!\s)\s+(?:-{1,3}|[–—―])\s+|(?:(?<!\s)\s+)?(?:[—―]|--+)\s*|(?<=[^\W\d])\s*–\s*(?=[^\W\d])"
)
_BRACKETS = re.compile(r"(?:(?<!\s)\s+)?[()\[\]{}]\s*")
_DOTS = re.compile(r"(?:(?<!\s)\s+)?(?:…|\.{2,})(?:\s*(?:…|\.{2,}))*+")
_LEADING = re.compile(r"^[\s,;:.…!?)\-–—]+")
_MARKUP = re.compile(r"[*_~^|\\<>`]+")
_SLASH = re.compile(r"(?<=[^\W\d])\s*/\s*(?=[^\W\d])")
_ADDRESS = re.compile(
    r"(?<![\w@-])(?<![\w-]\.)(?:https?://)?((?:[\w-]+\.)+(?:com|org|net|edu|gov|info|tv|io|eu|de|fr|es|it|nl|uk|us|ch|at))"
    r"(?:/[\w/.-]*)?(?!\w|\.\w)",
    re.IGNORECASE,
)
_COMMAS = re.compile(r"(?:(?<!\s)\s+)?,(?:\s*,)++")
_BEFORE_END = re.compile(r"(?<![\s,;])[\s,;]+(?=[.!?…:](?!\d))")
_SPACE_BEFORE = re.compile(r"(?<!\s)\s+(?=[,.;!?:…](?!\d))")
_AFTER_END = re.compile(r"(?<=[.!?…:])(?<![A-Z]\.),")
_SILENT = frozenset({"So", "Cf", "Cc", "Cn", "Cs", "Sk"})
"""Kinds of characters that nobody says: pictures, marks of formatting, controls. (Those of private use are
the marks of a lexicon.)"""


def without_markup(text: str) -> str:
    """The text on one line, without pictures and markup; where a line ended without a stop is a comma."""
    line = _LINE_END.sub(lambda m: f"{m[1]}, " if m[1] else " ", unicodedata.normalize("NFC", text))
    said = "".join(c if unicodedata.category(c) not in _SILENT or c in "°\t" else " " for c in line)
    return " ".join(_MARKUP.sub(" ", said).split())


def signs_said(text: str, words: Words) -> str:
    """Signs as words, and those that only part a sentence as commas."""
    text = _ADDRESS.sub(lambda match: _dotted(match, words), text)
    if words.signs:
        found = any_of(words.signs)
        text = re.sub(rf"(?<![\w/]){found}(?!/)|{found}(?=\s|\d|$)", lambda m: _sign(m, words), text)
    text = _SLASH.sub(" ", text)
    text = _BRACKETS.sub(", ", _DASH.sub(", ", text))
    return _DOTS.sub("…", text)


def tidied(text: str) -> str:
    """Without the double commas and spaces that rules leave behind."""
    text = _AFTER_END.sub("", _SPACE_BEFORE.sub("", _BEFORE_END.sub("", _COMMAS.sub(",", text))))
    return " ".join(_LEADING.sub("", text).split()).rstrip(" ,;-–")


def _dotted(match: re.Match[str], words: Words) -> str:
    host = match.group(1).removeprefix("www.")
    return host.replace(".", f" {words.dot} ") if words.dot else match.group()


def _sign(match: re.Match[str], words: Words) -> str:
    return f" {words.signs[key_of(match.group(), words.signs)]} "
