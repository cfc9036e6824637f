"""Text from outside as it may be shown: without hidden marks, and without orders to the terminal."""

from __future__ import annotations

import re
import unicodedata

from shotad.core.errors import FilmError

_UNSEEN = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Categories of characters that are written out: controls, halves of a pair, ends of lines."""
_HIDDEN = frozenset(
    "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # turn the direction of what follows
    "\u00ad\u034f\u180e\u200b\u2060\u2061\u2062\u2063\u2064\ufeff"  # have no width
    "\u206a\u206b\u206c\u206d\u206e\u206f\ufff9\ufffa\ufffb"
) | {chr(code) for code in range(0xE0000, 0xE0080)}
"""Marks that nobody sees, by which a text shows otherwise than it is. Joiners, and marks of direction that do
not turn letters, stay: Persian, Hebrew, Hindi and emoji are written with them."""

_LINE_END = re.compile(r"\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def printable(text: str) -> str:
    r"""``text`` with what has no place on a line written out: line ends as ``\n``, byte 255 as ``\xff``."""
    if text.isprintable():
        return text
    return "".join(_written(one) if _is_unseen(one) else one for one in text)


def seen(text: str) -> str:
    """``text`` without what nobody sees: controls, halves of a pair, hidden marks.

    Ends of lines of every kind become newlines, a tab a space. Text from outside goes through here before it
    stands in a line, a script, a page or a prompt.
    """
    if text.isprintable():
        return text
    lines = _LINE_END.sub("\n", text).replace("\t", " ")
    return "".join(one for one in lines if one == "\n" or not _is_unseen(one))


def on_terminal(text: str) -> str:
    """Text of several lines as it may be printed: newlines and tabs stay, what is not seen is written out."""
    if text.isprintable():
        return text
    return "".join(_written(one) if one not in "\n\t" and _is_unseen(one) else one for one in text)


def sentence(text: str) -> str:
    """The same of words that may go over several lines: they are put on one."""
    return printable(" ".join(filter(None, (line.strip() for line in text.split("\n")))))


def is_text(name: str) -> bool:
    """Whether a name is UTF-8; bytes of others come as halves of pairs (PEP 383)."""
    return not any("\ud800" <= one <= "\udfff" for one in name)


def unnamed(place: str) -> FilmError:
    """What is wrong with a film whose path is no text: its name stands in all that is made of it."""
    return FilmError(
        f"The name of {printable(place)} is not in UTF-8, and nothing could be called after it.",
        "Rename the film or its folder; convmv does it for many.",
    )


def _is_unseen(character: str) -> bool:
    return unicodedata.category(character) in _UNSEEN or character in _HIDDEN


def _written(character: str) -> str:
    # Bytes of a name that are no UTF-8 come as characters of their own (PEP 383).
    code = ord(character)
    byte = code - 0xDC00 if 0xDC80 <= code <= 0xDCFF else None
    return character.encode("unicode_escape").decode("ascii") if byte is None else f"\\x{byte:02x}"
