"""Characters of a text by what they may be part of, for the Penn Treebank tokeniser.

The rules of `shotad.evaluation.caption.ptb` are written for ASCII and a few stand-ins: each other
character is looked at as the stand-in of its kind (any accented letter as ``é``). A text and its image are
equally long.
"""

from __future__ import annotations

import unicodedata

LETTER = "é"
CAPITAL = "É"
MARK = "ˆ"
"""Accents that stand by themselves and vowel signs: part of a plain word, of nothing with hyphens."""
DIGIT = "٠"
CURRENCY = "¢"
HIGH = "²"
LOW = "₂"
FRACTION = "½"
SYMBOL = "§"
"""Always a token of its own."""
CLOSING = "’"
"""A curly quotation mark that is also an apostrophe."""
OPENING = "‘"
"""One that may stand in a word by mistake."""
QUOTE = "“"
"""Any other curly or angular one."""
DASH = "–"
HYPHEN = "‐"
BLANK = "\u2003"
ODD_NEWLINE = "\u2028"
DROPPED = "\u200b"
"""Invisible ones that part tokens and are no part of any; and all that the tokeniser does not know."""

_SINGLE = {
    CLOSING: "\x92’",
    OPENING: "\x91‘‛",
    QUOTE: "\x93\x94«»‚“”„‟‹›",
    DASH: "\x96\x97–—―",
    HYPHEN: "\u058a‐\u2011",
    CURRENCY: "\x80¢£¤¥؋฿₠₤€￠￡￥￦",
    HIGH: "¹²³⁰⁴⁵⁶⁷⁸⁹",
    LOW: "₀₁₂₃₄₅₆₇₈₉",
    ODD_NEWLINE: "\x0b\x0c\x85\u2028\u2029",
    SYMBOL: "¡¿\u037e\u0589\u061f\u06d4\u0700\u0701\u0702\u07fa。¦§¨©¬®¯°±´¶·¸×÷\u0387\u05be\u05c0\u05c3"
    "\u05c6\u05f3\u05f4\u0600\u0601\u0602\u0603\u0606\u0607\u0608\u0609"
    "\u060a\u060c\u0614\u061b\u061e\u066a\u066d\u07f6\u07f7\u07f8"
    "।॥๏\u1fbd‖‗†‡•‣‰‱′″‴‵‶‷‸※‾‿⁀⁁⁂⁼⁽⁾₌₍₎〒・",
}
_RANGES = (
    (BLANK, 0x2000, 0x200A),
    (BLANK, 0x3000, 0x3000),
    (FRACTION, 0xBC, 0xBE),
    (FRACTION, 0x2153, 0x215E),
    (SYMBOL, 0x0703, 0x070D),
    (SYMBOL, 0x2100, 0x214F),
    (SYMBOL, 0x2190, 0x2BFF),
    (SYMBOL, 0xFF01, 0xFF0F),
    (SYMBOL, 0xFF1A, 0xFF20),
    (SYMBOL, 0xFF3B, 0xFF40),
    (SYMBOL, 0xFF5B, 0xFF65),
)
_AS_THEY_ARE = "\u00a0\u00ad\u2026\u2044\u3001\u066b\u066c\u207a\u207b\u208a\u208b"
_LAST = 0xFFFF
"""Java's tokeniser reads characters beyond as two that it does not know."""
_LAST_MARK = 0x0ECD
"""Marks of later scripts are not known to be part of words."""


class Kinds(dict[int, str]):
    """A table for `str.translate` that finds the stand-in of a character when it is first met."""

    def __missing__(self, code: int) -> str:
        self[code] = found = _kind(code)
        return found


def image(text: str) -> str:
    """The text with each character beyond ASCII replaced by the stand-in of its kind."""
    return text if text.isascii() and text.isprintable() else text.translate(_KINDS)


def _kind(code: int) -> str:
    character = chr(code)
    if code < 0x80:
        return _ascii(character)
    if character in _AS_THEY_ARE:
        return character
    return _ONE_BY_ONE.get(character) or _by_category(code) or _by_range(code)


def _ascii(character: str) -> str:
    if character in "\x0b\x0c":
        return ODD_NEWLINE
    return character if character.isprintable() or character in "\t\n\r" else DROPPED


def _by_category(code: int) -> str:
    category = unicodedata.category(chr(code))
    if code > _LAST:
        return DROPPED
    if category[0] == "L":
        return CAPITAL if category == "Lu" else LETTER
    if category == "Nd":
        return DIGIT
    return MARK if category in {"Mn", "Mc", "Sk"} and code <= _LAST_MARK else ""


def _by_range(code: int) -> str:
    return next((kind for kind, first, last in _RANGES if first <= code <= last), DROPPED)


_ONE_BY_ONE = {member: kind for kind, members in _SINGLE.items() for member in members}
_KINDS = Kinds()
