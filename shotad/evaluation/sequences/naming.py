"""Whether people keep their names along a film. Pure logic.

Somebody who is Tony in one line and Wendice in the next is two people to who cannot see. What a name is and
whose is read as for CRITIC (`shotad.script.names.mentions`), from the film's cast list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shotad.script.names.members import TITLES, members
from shotad.script.names.mentions import Mention, book_of, mentions
from shotad.script.names.tokens import Token, tokens_of

_ARTICLES = frozenset(("the", "a", "an"))


@dataclass(frozen=True, slots=True)
class Naming:
    """Somebody of the cast in a line, and how. ``label`` is compared: without article and titles, unless it
    has nothing else; ``last`` the label before, None where they are named for the first time; ``kept``: it
    is the last one, or (behind a first mention by a longer name) a part of that."""

    who: str
    label: str
    last: str | None
    kept: bool


def namings(lines: Sequence[str | None], cast: tuple[str, ...]) -> list[tuple[Naming, ...]]:
    """Of each line of a film, in order, those of the cast who are named in it, each time.

    Names that may be several people's are not counted.
    """
    people = members(cast)
    tokens = [tokens_of(line or "") for line in lines]
    book = book_of(people, tokens)
    last: dict[str, str] = {}
    settled: set[str] = set()
    found = []
    for line in tokens:
        named = []
        for mention in mentions(line, people, book):
            if mention.kind == "cast" and len(mention.members) == 1:
                who = people[mention.members[0]].name
                named.append(_naming(who, _label(line, mention), last, settled))
        found.append(tuple(named))
    return found


def _label(line: Sequence[Token], mention: Mention) -> str:
    words = [token.key for token in line[mention.start : mention.end]]
    bare = [word for word in words if word not in _ARTICLES]
    return " ".join([word for word in bare if word not in TITLES] or bare or words)


def _naming(who: str, label: str, last: dict[str, str], settled: set[str]) -> Naming:
    """The naming, which becomes the last one; ``settled`` are those who were named more than once."""
    before = last.get(who)
    shortened = before is not None and who not in settled and set(label.split()) < set(before.split())
    if before is not None:
        settled.add(who)
    last[who] = label
    return Naming(who, label, before, before in (None, label) or shortened)
