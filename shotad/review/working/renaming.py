"""What a line says once somebody in it has a name, where that is certain. Pure logic."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from shotad.core.clip_cast import Character
from shotad.core.members import Member
from shotad.description.naming import spoken
from shotad.script.people import mentions

_ARTICLE = re.compile(r"\A(?:an?|the)\s+", re.IGNORECASE)


def renamed(
    text: str, before: Member, after: Member, others: Sequence[Member], film: str, at: float, *, seen: bool
) -> str:
    """The line at second ``at`` of ``film`` with somebody called as they are called now.

    Names that they had before become the new one; where they are ``seen`` then, so does their descriptor
    (``the woman in red``). Nobody else's name is changed, and none is said before the film reveals it.
    """
    now = after.character(film, at)
    if now is None or not now.named:
        return text
    was = before.character(film, at)
    old = (was.called, was.full, *was.others) if was is not None and was.named else ()
    person = replace(
        now, others=tuple(dict.fromkeys(name for name in (*now.others, *old) if name != now.called))
    )
    text = spoken(text, [person, *_silent(others, film, at)])
    return _described(text, before.descriptor or after.descriptor, now.called) if seen else text


def names(text: str, member: Member, others: Sequence[Member], film: str, at: float) -> bool:
    """Whether a line says somebody's name."""
    own = member.character(film, at)
    if own is None or not own.named:
        return False
    return any(mention.id == own.id for mention in mentions(text, [own, *_silent(others, film, at)]))


def _silent(others: Sequence[Member], film: str, at: float) -> list[Character]:
    """Everybody else, known by their names so that none is taken for somebody else's, but left as written."""
    found = (member.character(film, at) for member in others)
    return [
        replace(one, called="", others=(one.called, *one.others))
        for one in found
        if one is not None and one.named
    ]


def _described(text: str, descriptor: str, name: str) -> str:
    core = _ARTICLE.sub("", " ".join(descriptor.split()).rstrip("."))
    if not core:
        return text
    words = r"\s+".join(re.escape(word) for word in core.split())
    return re.sub(rf"(?<!\w)(?:an?|the)\s+{words}(?!\w)", lambda _: name, text, flags=re.IGNORECASE)
