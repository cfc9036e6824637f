"""All that could be said of a clip, weighed against what was said already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from shotad.core.observations import Facts, Named
from shotad.core.types import Interval
from shotad.engines.embedded.memory import Memory
from shotad.engines.embedded.naming import called_together, face_of
from shotad.engines.embedded.phrases import Clause
from shotad.engines.embedded.pictures import picture_statements
from shotad.engines.embedded.reading import Unread, text_statements
from shotad.engines.embedded.statement import EVENTS, PRESENT, WORTH, Statement
from shotad.engines.embedded.timing import Timing

_STATE_AGAIN = (0.2, 0.5, 0.65, 0.8, 0.9)
"""Share of its worth that a statement keeps when the last line said it, or the one before, and so on."""
_EVENT_AGAIN = (0.5, 0.65, 0.8, 0.9, 0.95)
"""The same for what somebody does: done again, it is news, though in other words."""
_MISSED = 0.6
"""Share that an event keeps which is over before the slot begins; text keeps all."""


@dataclass(frozen=True, slots=True)
class Findings:
    """All statements of a clip, the most worth first, and the texts that none of them reads."""

    statements: tuple[Statement, ...]
    unread: tuple[Unread, ...] = ()


def find_statements(
    facts: Facts, memory: Memory, room: int, sure: float, timing: Timing | None = None
) -> Findings:
    """What can be said of a clip's current shots, in ``room`` spoken words, after what was said.

    Facts less sure than ``sure`` are left out. With ``timing`` each statement has the second from which it is
    true.
    """
    facts = _certain(facts, sure)
    texts, unread = text_statements(facts, memory, room, timing)
    others = [] if facts.credits else picture_statements(facts, bool(texts))
    slot = None if timing is None else timing.slot
    weighed = [_weigh(statement, memory, slot) for statement in _unique([*texts, *others])]
    if timing is not None:
        weighed = [timing.placed(statement) for statement in weighed]
    weighed.sort(key=lambda statement: (-statement.worth, statement.order, statement.key))
    return Findings(tuple(weighed), tuple(unread))


def _certain(facts: Facts, sure: float) -> Facts:
    """The facts of current shots that are sure enough."""
    shots = set(facts.current)
    return Facts(
        current=facts.current,
        people=tuple(f for f in facts.people if f.shot in shots and f.sure >= sure and f.count > 0),
        things=tuple(f for f in facts.things if f.shot in shots and f.sure >= sure and f.count > 0),
        texts=tuple(f for f in facts.texts if f.shot in shots and f.sure >= sure),
        light=tuple(f for f in facts.light if f.shot in shots and f.sure >= sure),
        figures=tuple(f for f in facts.figures if f.shot in shots and f.sure >= sure),
        motion=tuple(f for f in facts.motion if f.shot in shots and f.sure >= sure),
        credits=facts.credits,
    )


def _weigh(statement: Statement, memory: Memory, slot: Interval | None) -> Statement:
    since = memory.since_named(statement.names)
    new = WORTH["new"] if statement.names and since is None else 0.0
    statement = _as_known(statement, memory)
    worth = (statement.worth + new) * (0.5 + 0.5 * statement.sure)
    ago = None if statement.reads else memory.lines_since_any(statement.clauses)
    if since is not None and _is_there_still(statement):
        ago = since + _shows_more(statement, memory)
    if statement.key == "people" and statement.names and ago is None:
        ago = memory.since_among(statement.names)
    if statement.key in PRESENT and statement.heads == 1 and not statement.names and memory.names_somebody():
        ago = 0  # it may be the same person
    again = _EVENT_AGAIN if statement.key in EVENTS else _STATE_AGAIN
    if ago is not None and ago < len(again):
        worth *= again[ago]
    if slot and not statement.reads and statement.time and statement.time[1] <= slot.start:
        worth *= _MISSED
    return replace(statement, worth=worth)


def _is_there_still(statement: Statement) -> bool:
    """True where it tells only that somebody is there, all of them named."""
    return statement.key in PRESENT and 0 < statement.heads == len(statement.names)


def _shows_more(statement: Statement, memory: Memory) -> bool:
    """True for somebody's face, of which no line has told yet."""
    return statement.key == "face" and statement.named is not None and not memory.saw_face(statement.named)


def _as_known(statement: Statement, memory: Memory) -> Statement:
    """Who was named lately does not appear: others appear with them, or they appear again."""
    known = [name for name in statement.names if memory.since_named((name,)) is not None]
    if not known or statement.key not in PRESENT:
        return statement
    if _shows_more(statement, memory) and statement.named:
        return replace(statement, clauses=_of_face(statement, statement.named, memory))
    among = memory.since_among(statement.names) is not None
    clauses = tuple(_among(clause, statement, known, among) for clause in statement.clauses)
    return replace(statement, clauses=clauses)


def _of_face(statement: Statement, named: Named, memory: Memory) -> tuple[Clause, ...]:
    """The wordings for a face not told yet: who was named in the last line does not appear, the face does."""
    faces = tuple(clause for clause in statement.clauses if clause.subject == face_of(named))
    again = tuple(_among(c, statement, (named,)) for c in statement.clauses if c not in faces)
    return faces if faces and memory.since_named((named,)) == 0 else (*faces, *again)


def _among(clause: Clause, statement: Statement, known: Sequence[Named], among: bool = False) -> Clause:
    """ "Celia appears with Thom"; "Thom and Celia appear together" where both are known.

    ``among``: that these are seen with others was said already.
    """
    if clause.verb != "appear" or clause.tail:
        return clause
    rest = [name for name in statement.names if name not in known]
    unknown = statement.heads - len(statement.names)
    if not rest and not unknown:
        return replace(clause, verb="appear again" if statement.heads == 1 else "appear together")
    if not rest and among:
        return replace(
            clause,
            subject=called_together(known, 0),
            verb="appear again",
            many=len(known) > 1,
            tail=f" with {called_together((), unknown)}",
        )
    verb = f"appear with {called_together(known, 0)}"
    return replace(clause, subject=called_together(rest, unknown), verb=verb, many=len(rest) + unknown > 1)


def _unique(statements: Iterable[Statement]) -> list[Statement]:
    """One statement for each thing that would be worded the same; the worthiest, then the earliest."""
    kept: dict[str, Statement] = {}
    for statement in sorted(statements, key=lambda s: (-s.worth * s.sure, s.order)):
        plainest = statement.clauses[0]
        kept.setdefault(f"{plainest.core}|{plainest.detail}|{plainest.tail}", statement)
    return list(kept.values())
