"""Text of names and errors as it may be printed: on one line, and without orders to the terminal."""

from __future__ import annotations

import re
import unicodedata

from shotad.errors import FilmError

_UNSEEN = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Categories of characters that are written out: controls, halves of a pair, ends of lines."""
_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Marks that turn the direction of what follows them, beyond the name that they stand in."""


def printable(text: str) -> str:
    r"""``text`` with what has no place on a line written out: line ends as ``\n``, byte 255 as ``\xff``."""
    if text.isprintable():
        return text
    return "".join(_written(one) if _is_unseen(one) else one for one in text)


def sentence(text: str) -> str:
    """The same of words that may go over several lines: they are put on one."""
    return printable(re.sub(r"\s*\n\s*", " ", text.strip()))


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
    return unicodedata.category(character) in _UNSEEN or character in _TURNS


def _written(character: str) -> str:
    # Bytes of a name that are no UTF-8 come as characters of their own (PEP 383).
    code = ord(character)
    byte = code - 0xDC00 if 0xDC80 <= code <= 0xDCFF else None
    return character.encode("unicode_escape").decode("ascii") if byte is None else f"\\x{byte:02x}"
