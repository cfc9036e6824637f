"""Where in a line somebody stands: as who acts, as whom it is done to, or as whose something is. Pure logic.

Read from the order of words and from commas, without a parser: AD is short, active and in the present.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from shotad.script import (
    AFTER_OBJECT,
    CLAUSE_WORDS,
    NAME_DETERMINERS,
    NAME_PREPOSITIONS,
    SUBJECT_PRONOUNS,
    Mention,
    NameToken,
    acts,
)

Role = Literal["subject", "object", "oblique", "owner"]


@dataclass(frozen=True, slots=True)
class Place:
    """Of one mention: its role, its clause in the line (from 0), and its sentence in the line. ``fronted``:
    it stands in a part without a subject before the comma (``Wiping his brow, Tony …``). ``joined``: it goes
    on a row (``Tony and Mark``) that began with the mention before. ``thing``: its clause begins with what is
    nobody (``…, the scissors deep in him``). ``start`` is the word with which its clause begins."""

    role: Role
    clause: int
    sentence: int
    fronted: bool = False
    joined: bool = False
    thing: bool = False
    start: int = 0


def places(line: Sequence[NameToken], found: Sequence[Mention]) -> tuple[Place, ...]:
    """The place of each mention of a line."""
    starts = _clauses(line, found)
    result: list[Place] = []
    for at, mention in enumerate(found):
        clause = sum(start <= mention.start for start in starts) - 1
        before = found[at - 1] if at else None
        joined = before is not None and _joined(line, before, mention, found[at + 1 : at + 2])
        role = (
            result[-1].role
            if joined and mention.kind != "pronoun"
            else _role(line, mention, starts[clause], before)
        )
        if joined and before is not None:
            clause = result[-1].clause
        sentence = sum(token.opens for token in line[: mention.start + 1])
        result.append(Place(role, clause, sentence, joined=joined))
    subjects = {place.clause for place in result if place.role == "subject"}
    return tuple(
        replace(
            place,
            fronted=_fronted(line, starts, place, subjects),
            start=starts[place.clause],
            thing=place.clause not in subjects and line[starts[place.clause]].key in NAME_DETERMINERS,
        )
        for place in result
    )


def _clauses(line: Sequence[NameToken], found: Sequence[Mention]) -> list[int]:
    """Places of the words that begin a clause."""
    starts = {0}
    begins = {mention.start for mention in found}
    ends = {mention.end for mention in found}
    for at, token in enumerate(line):
        if token.opens or re.search(r"[,;:—–()]| - ", token.gap):
            starts.add(at)
        elif token.key in CLAUSE_WORDS:
            row = token.key in ("and", "or") and at in ends and at + 1 in begins
            if not row or _new_subject(line, at + 1, found):
                starts.add(at)
    return sorted(starts)


def _new_subject(line: Sequence[NameToken], at: int, found: Sequence[Mention]) -> bool:
    """Whether somebody behind ``and`` does something of their own: ``Tony hits Mark and Margot screams``."""
    mention = next(mention for mention in found if mention.start == at)
    if mention.key in SUBJECT_PRONOUNS:
        return True
    before = next((m for m in reversed(found) if m.end < at), None)
    behind = before is not None and before.start > 0 and not line[before.start].opens
    return behind and acts(line, mention.end - 1)


def _joined(line: Sequence[NameToken], before: Mention, mention: Mention, after: Sequence[Mention]) -> bool:
    """Whether two stand in one row: ``Tony, Mark and Margot``; a comma makes one only if ``and`` follows."""
    between = line[before.end : mention.start]
    gap = line[mention.start].gap
    if (
        mention.kind == "pronoun"
        or before.kind == "pronoun"
        or line[mention.start].opens
        or before.possessive
    ):
        return False
    if not between:
        more = gap.strip() == "," and any(_joined(line, mention, one, ()) for one in after)
        return more or gap.strip() in ("/", "&")
    return len(between) == 1 and between[0].key in ("and", "or") and gap == " "


def _role(line: Sequence[NameToken], mention: Mention, start: int, before: Mention | None) -> Role:
    if mention.kind == "pronoun":
        return _of_pronoun(line, mention)
    if mention.possessive:
        return "owner"
    between = line[start : mention.start]
    if before is not None and start <= before.start < mention.start and before.possessive:
        between = line[start : before.start]
    elif before is not None and start <= before.start and before.end <= mention.start:
        return "oblique" if between and between[-1].key in NAME_PREPOSITIONS else "object"
    if any(word.key in NAME_PREPOSITIONS - {"as"} for word in between):
        return "oblique"
    moved = any(acts(line, at) for at in range(start, max(start, mention.start - 1)))
    return "object" if moved or any(word.key.endswith("ing") for word in between) else "subject"


def _of_pronoun(line: Sequence[NameToken], mention: Mention) -> Role:
    word = mention.key
    if word in SUBJECT_PRONOUNS:
        return "subject"
    if word in ("his", "their", "theirs", "hers"):
        return "owner"
    if word == "her":
        after = line[mention.end] if mention.end < len(line) else None
        ends = after is None or after.gap != " " or after.opens
        return (
            "object" if ends or (after is not None and (after.key in AFTER_OBJECT or _by(after))) else "owner"
        )
    return "object"


def _by(after: NameToken) -> bool:
    """Whether a word tells how and is not what is hers: ``looks at her warily``."""
    return after.key.endswith("ly") and after.key not in ("belly", "family", "jelly", "only")


def _fronted(line: Sequence[NameToken], starts: Sequence[int], place: Place, subjects: set[int]) -> bool:
    if place.clause in subjects or place.role == "subject":
        return False
    start = starts[place.clause]
    return line[start].opens and place.clause + 1 < len(starts) and "," in line[starts[place.clause + 1]].gap
