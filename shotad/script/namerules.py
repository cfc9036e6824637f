"""Rules on names for whole tracks: L7, a name that is nobody's or that the film has not told yet; L8, two
names for one person. Pure functions; the cast and the reader of names are handed in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from difflib import get_close_matches

from shotad.core import NAME_TITLES, Character
from shotad.script.nameruns import key_of
from shotad.script.people import CastMention, cast_mentions, words_of
from shotad.script.rules import Finding, Level

CastAt = Callable[[float], Sequence[Character]]
"""Everybody of the cast as they may be spoken of at a second of the film."""

PeopleIn = Callable[[str, Callable[[str], bool]], Sequence[tuple[int, int]]]
"""Spans of a line that are names of people, without those that have a known word (in small letters)."""

_MISSPELT = 0.75


def check_names(
    lines: Sequence[tuple[float, str]], cast: CastAt, people: PeopleIn | None = None
) -> tuple[tuple[Finding, ...], ...]:
    """What is wrong with the names of a track: findings of each of ``lines`` (start second, text).

    L7, an error: somebody is named before the film reveals it, or (with ``people``, which finds names of
    people in the line's language) a name is nobody's of the cast. L8, a warning: somebody has another name
    than in most lines; a longer name that holds the usual one is no fault where they are first named. An
    empty cast knows nobody, and nothing is found.
    """
    casts = [tuple(cast(second)) for second, _ in lines]
    named = [cast_mentions(text, people_then) for (_, text), people_then in zip(lines, casts, strict=True)]
    usual = _usual(named, casts)
    first: set[str] = set()
    found: list[tuple[Finding, ...]] = []
    for (_, text), then, those in zip(lines, casts, named, strict=True):
        unknown = _nobodys(text, then, people) if people is not None and then else []
        found.append((*_too_early(those), *unknown, *_two_names(those, usual, first)))
        first |= {mention.id for mention in those}
    return tuple(found)


def _too_early(found: Sequence[CastMention]) -> list[Finding]:
    return [
        Finding("L7", Level.ERROR, f"named before the film reveals it: {m.text!r}", span=(m.start, m.end))
        for m in found
        if m.hidden
    ]


def _nobodys(text: str, cast: Sequence[Character], people: PeopleIn) -> list[Finding]:
    names = [character.called for character in cast if character.named]
    found: list[Finding] = []
    for start, end in people(text, words_of(cast).__contains__):
        near = get_close_matches(text[start:end], names, 1, _MISSPELT)
        meant = f"; is it {near[0]!r}?" if near else ""
        found.append(
            Finding("L7", Level.ERROR, f"not in the cast: {text[start:end]!r}{meant}", span=(start, end))
        )
    return found


def _usual(named: Sequence[Sequence[CastMention]], casts: Sequence[Sequence[Character]]) -> dict[str, str]:
    """What each is called most often; of equals the name to speak, then the first."""
    says = {c.id: _core(c.called) for cast in casts for c in cast if c.named}
    count: dict[str, Counter[str]] = {}
    for mention in (mention for those in named for mention in those if not mention.hidden):
        count.setdefault(mention.id, Counter())[_core(mention.text)] += 1
    return {person: _commonest(names, says.get(person, "")) for person, names in count.items()}


def _core(name: str) -> str:
    """A name as it is compared, without titles: ``Inspector Hubbard`` is no other name than ``Hubbard``."""
    words = key_of(name).split()
    return " ".join([word for word in words if word not in NAME_TITLES] or words)


def _commonest(names: Counter[str], says: str) -> str:
    return max(names, key=lambda name: (names[name], name == says))


def _two_names(found: Sequence[CastMention], usual: dict[str, str], first: set[str]) -> list[Finding]:
    findings: list[Finding] = []
    seen = set(first)
    for mention in (mention for mention in found if not mention.hidden):
        name, wanted = _core(mention.text), usual[mention.id]
        introduces = mention.id not in seen and set(wanted.split()) <= set(name.split())
        if name != wanted and not introduces:
            message = f"{mention.text!r} has another name in most lines: {wanted.title()!r}"
            findings.append(Finding("L8", Level.WARNING, message, span=(mention.start, mention.end)))
        seen.add(mention.id)
    return findings
