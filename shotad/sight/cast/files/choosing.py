"""Which person of a cast is meant. Pure logic."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from shotad.core import CastError, Member


def chosen(members: Sequence[Member], text: str) -> Member:
    """Who is meant by an id, a number as ``shotad cast show`` counts, or a name. Raises CastError."""
    for found in (_by_id(members, text), _by_number(members, text), *_by_name(members, text)):
        if found is not None:
            return found
    words = {word: member for member in members for word in (member.id, *names_of(member))}
    near = difflib.get_close_matches(text, words, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    some = ", ".join(member.id for member in members[:10]) + (", …" if members[10:] else "")
    raise CastError(
        f"The cast has nobody called {text!r}.",
        f"{hint}There are: {some}." if members else "There is nobody in it.",
    )


def names_of(member: Member) -> tuple[str, ...]:
    """All names of a person, in the order in which they stand."""
    return tuple(dict.fromkeys(n for n in (member.name, member.spoken, *member.aliases) if n))


def taken_name(members: Sequence[Member], member: Member, names: Sequence[str]) -> tuple[Member, str] | None:
    """Who else has one of the ``names`` that ``member`` shall have, and which; None: they are free.

    Extras do not count: they may share a name.
    """
    wanted = {" ".join(name.split()).casefold() for name in names} - {""}
    others = ((other, name) for other in members if other.id != member.id for name in names_of(other))
    return next(((o, name) for o, name in others if name.casefold() in wanted and not o.nameless), None)


def _by_id(members: Sequence[Member], text: str) -> Member | None:
    return next((member for member in members if member.id.casefold() == text.casefold()), None)


def _by_number(members: Sequence[Member], text: str) -> Member | None:
    if not text.isdecimal() or not 1 <= int(text) <= len(members):
        return None
    return members[int(text) - 1]


def _by_name(members: Sequence[Member], text: str) -> list[Member]:
    """Nobody where several answer to it: extras may share a name."""
    wanted = text.casefold()
    found = [m for m in members if wanted in (name.casefold() for name in names_of(m))]
    if len(found) > 1:
        some = ", ".join(member.id for member in found)
        raise CastError(f"Several people of the cast are called {text!r}.", f"Give the id: {some}.")
    return found
