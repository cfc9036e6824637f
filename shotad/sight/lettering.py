"""What a line of text is, and whether what was read can be text at all.

A recogniser always answers with something: on twigs, fences and faces with strokes (``IIl|``), single
letters and lone ideographs. The rules here are about the shape of words, not their meaning, so that
names, which no dictionary holds, pass.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from shotad.core import Box

_STROKES = frozenset("Il1|!i/\\jtfJLT[](){}.,:;'`\"-_~^ 一丨丿")
"""Characters that a single stroke, such as a twig or a pole, is taken for."""
_RINGS = frozenset("08oOQCc°.,'")
"""Characters that a wheel, a lamp or a bubble is taken for."""
_VOWELS = frozenset("aeiouy")
_IDEOGRAPHIC = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO")
_NUMBER = re.compile(r"\d[\d.,:/'-]*\d")
_EDGE = " |\\/_~^`*=<>+{}[]•·"
"""What hangs on the ends of a line by mistake: rules, bullets, edges of boxes."""


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line of text as read in one picture.

    ``score`` is the mean probability of its characters, 0 to 1. ``tilt`` is the angle of its base line in
    degrees, clockwise, -45 to 45; 0 where it is no more than the letters' own unevenness. ``ground`` is the
    standard deviation of luma (0 to 255) just around it: near 0 on a plain card, tens in a picture.
    ``around`` is the mean luma of the blocks around it, in a fixed order: what changes there while the
    text stays tells text laid over the film from writing within it.
    """

    text: str
    box: Box
    score: float
    tilt: float = 0.0
    ground: float = 0.0
    around: tuple[float, ...] = ()


def tidy(text: str) -> str:
    """``text`` with single spaces, even dashes, and no stray marks at its ends.

    ``tidy("| FOUNDATION- THE  FUND_") → "FOUNDATION - THE FUND"``
    """
    text = " ".join(text.split())
    text = re.sub(r"(?<=\w)(?:- | -)(?=\w)", " - ", text)
    return text.lstrip(_EDGE + ",:;.").rstrip(_EDGE + "-–—")


def letters(text: str) -> int:
    """How many letters and digits ``text`` has."""
    return sum(character.isalnum() for character in text)


def is_readable(text: str) -> bool:
    """True if ``text`` (tidy) has the shape of words or numbers; False for strokes, crumbs and mixed scripts.

    At least two letters or digits, and more of them than of marks; not all strokes, nor all rings; no
    letter four times running; at least half of its letters in words that could be spoken.
    """
    count = letters(text)
    marks = len(text.replace(" ", "")) - count
    if count < 2 or marks > count or _STROKES.issuperset(text) or (_RINGS | {" "}).issuperset(text):
        return False
    if re.search(r"([^\W\d])\1{3}", text, re.IGNORECASE):
        return False
    ideographs = sum(map(_is_ideograph, text))
    if ideographs:
        return ideographs >= 2 and 2 * ideographs >= count
    spoken = sum(letters(word) for word in text.split() if is_word(word))
    return 2 * spoken >= count


def is_word(word: str) -> bool:
    """True if ``word`` could be a word, a name, a short set of initials, or a number of two digits or more.

    ``SINTEL``, ``McGregor``, ``BBC``, ``1943``, ``U-571`` yes; ``xKqvL``, ``hT``, ``l1l`` no.
    """
    bare = word.strip(".,:;!?'\"()[]-–—…&#@%$£€*")
    if _NUMBER.fullmatch(bare):
        return True
    plain = "".join(c for c in unicodedata.normalize("NFKD", bare) if not unicodedata.combining(c))
    if not any(character.isalpha() for character in plain):
        return False
    if not plain.isascii():
        return True
    if any(character.isdigit() for character in plain):
        short = plain.replace("-", "")
        return len(short) <= 4 and (short.isupper() or short.rstrip("sthndr").isdigit())
    return _is_latin_word(plain)


def _is_latin_word(plain: str) -> bool:
    has_vowel = any(character in _VOWELS for character in plain.lower())
    if plain.isupper():
        return has_vowel or len(plain) <= 4
    turns = len(re.findall(r"[a-z][A-Z]", plain))
    mixed = turns > 1 or (turns == 1 and len(plain) < 4)
    return not mixed and (has_vowel or len(plain) <= 3)


def _is_ideograph(character: str) -> bool:
    return not character.isascii() and unicodedata.name(character, "").startswith(_IDEOGRAPHIC)
