"""Names in what the models write: said as the cast wants them, and only those that the film has told."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shotad.script.people import SENTENCE_START, Mention, mentions
from shotad.script.rules import quotations
from shotad.types import Character

_ARTICLE = re.compile(
    r"\b(?:an?|the|(?:(?:an?|the|his|her|their) )?(?:young|younger|old|older|little|elderly)) \Z",
    re.IGNORECASE,
)
"""What may stand before a name, and not before a descriptor, which has an article of its own."""


def spoken(text: str, characters: Sequence[Character]) -> str:
    """``text`` with everybody called what they are to be called.

    Names in full, aliases, titles with a name, and parts of a name that only one of the cast has become the
    name to speak; names that may not be said yet become the descriptor, with a capital letter where a
    sentence begins, or stay where there is none. A name that would then stand twice side by side
    (``Celia (Celia)``) stands once. Text in quotation marks stays.

    >>> celia = Character("c", "Celia", "Celia Smith", ("Dr. Smith",))
    >>> spoken("Dr. Celia Smith's hand rests on a door marked 'Dr. Smith'.", [celia])
    "Celia's hand rests on a door marked 'Dr. Smith'."
    """
    called = {character.id: character.called for character in characters}
    pieces: list[str] = []
    at = 0
    for mention in mentions(text, characters):
        if not called[mention.id]:
            continue
        start, name = _fitted(text[: mention.start], mention, called[mention.id])
        pieces += [text[at : max(start, at)], name]
        at = mention.end
        if mention.text[-1:] in "sz" and name[-1:] not in "sz" and re.match(r"['’](?!\w)", text[at:]):
            pieces.append(f"{text[at]}s")
            at += 1
    changed = "".join([*pieces, text[at:]])
    for name in dict.fromkeys(filter(None, called.values())):
        changed = _once(changed, name)
    return changed


def _fitted(before: str, mention: Mention, called: str) -> tuple[int, str]:
    """Where what is replaced begins, and what takes its place after ``before``."""
    start = mention.start
    if not called[0].islower():
        return start, called
    article = _ARTICLE.search(before) if mention.hidden else None
    if article is not None:
        start = article.start()
    if SENTENCE_START.search(before[:start]) and not before[:start].rstrip().endswith(":"):
        called = called[0].upper() + called[1:]
    return start, called


def _once(text: str, name: str) -> str:
    """``Celia (Celia)``, ``Celia, also known as Celia,`` and ``Celia, Celia,`` as ``Celia``."""
    one = rf"{re.escape(name)}(?:['’]s)?"
    known = r",? (?:also )?(?:known as|called|a\.?k\.?a\.?)"
    again = (
        rf" ?[(\[]{one}[)\]]",
        rf" ?/ ?{one}(?!\w)",
        rf"(?:{known}|,) {one}(?:,|(?=[.!?;]|\Z))",
        rf" {one}(?!\w)",
    )
    twice = re.compile(rf"(?<!\w)({one})(?:{'|'.join(again)})", re.IGNORECASE)
    closed = quotations(text)
    return twice.sub(lambda m: m[0] if any(start <= m.start() < end for start, end in closed) else m[1], text)
