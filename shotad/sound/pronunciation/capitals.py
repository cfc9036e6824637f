"""Words in capitals: titles are read as words, initials by their letters. Pure logic."""

from __future__ import annotations

import re

from shotad.sound.pronunciation.words import Words
from shotad.sound.voices.base import Reading

_LETTER = r"[^\W\d_a-zß-öø-ÿ]"
_SHOUTED = re.compile(
    rf"(?<![\w.&'’-])(?:{_LETTER}['’])?{_LETTER}{{2,}}(?:['’-]{_LETTER}+)*(?![\w&])(?!\.\w)"
)
"""A word all in capitals. With a digit or a small letter in it (R2D2, TVs) it is left alone."""
_VOWEL = re.compile(r"[AEIOUYÀ-ÆÈ-ÏÒ-ÖØÙ-ÝŒАЕЁИОУЫЭЮЯΑΕΗΙΟΥΩ]")
_SHORT = 3
"""Letters up to which a single word in capitals is taken for initials (SUV, TJ), if it is not known."""


def capitals_said(text: str, words: Words, reads: frozenset[Reading]) -> str:
    """``SINTEL → Sintel``, ``TEARS OF STEEL → Tears Of Steel``, ``FBI → F.B.I.`` (as it is, for a voice that
    reads capitals by their letters)."""
    # Scripts without capitals (Arabic, Chinese) never shout; _LETTER knows small letters of Latin-1 alone.
    found = [match for match in _SHOUTED.finditer(text) if match[0].isupper()]
    parts, at = [], 0
    for index, match in enumerate(found):
        near = _neighbours(text, found, index)
        parts += [text[at : match.start()], _word(match, text, near, words, reads)]
        at = match.end()
    return "".join([*parts, text[at:]])


def _neighbours(text: str, found: list[re.Match[str]], index: int) -> bool:
    """Whether the next or the last word is in capitals too, with nothing but a space between."""
    here = found[index]
    pairs = [(found[index - 1], here)] if index else []
    pairs += [(here, found[index + 1])] if index + 1 < len(found) else []
    return any(not re.search(r"[^\s,'’&:-]", text[one.end() : other.start()]) for one, other in pairs)


def _word(match: re.Match[str], text: str, near: bool, words: Words, reads: frozenset[Reading]) -> str:
    word = match.group()
    plain = word if word[1] in "'’" else re.split(r"['’]", word)[0]
    alone = not near and any(c.islower() for c in text)
    short = len(plain) <= _SHORT and plain not in words.spoken and alone
    if plain in words.spelled or not _VOWEL.search(plain) or (short and "-" not in plain):
        return word if Reading.LETTERS in reads else _by_letters(match, text)
    return _lowered(word)


def _by_letters(match: re.Match[str], text: str) -> str:
    """``FBI → F.B.I.``, ``CIA's → C.I.A.'s``; before a full stop without a second one."""
    word, behind = match.group(), text[match.end() : match.end() + 1]
    letters, mark, rest = re.match(r"([^'’-]+)(['’-]?)(.*)", word, re.DOTALL).groups()  # type: ignore[union-attr]
    return ".".join(letters) + ("" if behind == "." else ".") + mark + rest.lower()


def _lowered(word: str) -> str:
    """``O'BRIEN → O'Brien``, ``SINTEL'S → Sintel's``."""
    parts = re.split(r"(['’-])", word)
    said = [part[:1] + part[1:].lower() for part in parts]
    if len(parts) > 2 and parts[-2] in "'’" and len(parts[-1]) <= 2:
        said[-1] = parts[-1].lower()
    return "".join(said)
