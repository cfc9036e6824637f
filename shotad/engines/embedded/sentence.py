"""From statements to one sentence: which to join, how, and in how many words.

Statements are joined in film order. "As" and "while" stand only between what was measured at one time;
"then" between shots; "and" where the order within a shot is not known. Too long a sentence loses
adverbials, then takes shorter wordings, then loses its least telling statement; no phrase is cut.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from shotad.core import Named
from shotad.engines.embedded.memory import Memory
from shotad.engines.embedded.naming import called_together, face_of
from shotad.engines.embedded.phrases import Clause
from shotad.engines.embedded.statement import PRESENT, Statement
from shotad.engines.embedded.words import capital, spoken_words


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence and the statements it makes, in order, each with the number of words before it."""

    text: str
    told: tuple[tuple[Statement, int], ...] = ()

    @property
    def statements(self) -> tuple[Statement, ...]:
        """What it states."""
        return tuple(statement for statement, _ in self.told)


def plans(able: Sequence[Statement], most: int) -> Iterator[tuple[Statement, ...]]:
    """Groups of at most ``most`` statements that make a sentence, the most telling first.

    ``able`` are those worth saying, the best first. Each leads a group once, which is offered whole, then
    without its least telling member, until its leader is alone.
    """
    for leader in able:
        group = [leader]
        for other in able:
            fits = other is not leader and all(_go_together(other, g) for g in group)
            if len(group) < most and fits and not _tells_nothing_more([*group, other]):
                group.append(other)
        yield from (tuple(group[:size]) for size in range(len(group), 0, -1))


def lines(group: Sequence[Statement], memory: Memory, budget: int | None) -> Iterator[Line]:
    """The group's sentences within the budget, the fullest and freshest first."""
    ordered = _in_order(group)
    choices = _choices(ordered, memory)
    telling_apart = sum(statement.heads == 1 for statement in ordered) > 1
    shortest = [_shortest(options, telling_apart, len(ordered) > 1) for options in choices]
    most = max((len(c.where) for options in choices for c in options), default=0)
    told: set[str] = set()
    for pick in range(max(len(options) for options in choices)):
        for options, adverbials in [*((choices, n) for n in range(most, -1, -1)), (shortest, 0)]:
            clauses = [option[min(pick, len(option) - 1)] for option in options]
            text, before = _realise(ordered, clauses, adverbials, memory)
            if text not in told and (budget is None or spoken_words(text) <= budget):
                told.add(text)
                yield Line(text, tuple(zip(ordered, before, strict=True)))


def _shortest(options: Sequence[Clause], keep_detail: bool, beside: bool) -> list[Clause]:
    """The wordings without what may be dropped, the fewest words first; looks stay where they tell apart.

    ``beside`` others, "appears again" may lose its last word.
    """
    cut = [replace(clause, where=()) if keep_detail else clause.bare() for clause in options]
    if beside:
        cut = [replace(c, verb="appear") if c.verb == "appear again" else c for c in cut]
    return sorted(cut, key=lambda clause: spoken_words(clause.body(0, True)))


def _go_together(one: Statement, other: Statement) -> bool:
    """False where a listener would take two people for one, or one for two."""
    if {one.key, other.key} <= {"fade-in", "fade-out", "contrast", "level", "flash"}:
        return one.key != other.key and one.shot != other.shot
    if "motion" in (one.key, other.key):
        return False
    if one.heads == other.heads == 1:
        return _two_singles(one, other)
    if _is_company_of(one, other) or _is_company_of(other, one):
        return True
    if one.heads and other.heads:
        apart = one.shot != other.shot and one.heads != other.heads
        return (apart and not (one.names or other.names)) or _all_told_apart(one, other)
    return True


def _is_company_of(several: Statement, one: Statement) -> bool:
    """True where somebody named, of whom one statement tells more, is seen with others."""
    together = several.key == "people" and several.shot == one.shot and several.heads > 1
    others = several.heads > len(several.names) or len(several.names) > 1
    return together and others and one.named in several.names and one.key not in PRESENT


def _tells_nothing_more(group: Sequence[Statement]) -> bool:
    """True where everybody of those seen together is told of one by one."""
    return any(
        several.heads == sum(_is_company_of(several, one) for one in group)
        for several in group
        if several.heads > 1 and several.names
    )


def _in_order(group: Sequence[Statement]) -> list[Statement]:
    """In film order; who is seen with somebody comes after what that one does."""
    ordered = sorted(group, key=lambda statement: statement.order)
    company = [s for s in ordered if any(_is_company_of(s, one) for one in ordered)]
    found = [s for s in ordered if s not in company]
    for several in company:
        last = max(i for i, one in enumerate(found) if _is_company_of(several, one))
        found.insert(last + 1, several)
    return found


def _all_told_apart(one: Statement, other: Statement) -> bool:
    """True where all of both have names, and nobody is in both."""
    known = len(one.names) == one.heads and len(other.names) == other.heads
    return known and set(one.names).isdisjoint(other.names)


def _two_singles(one: Statement, other: Statement) -> bool:
    """Two statements about one person each: about the same, beside each other, or told apart by looks."""
    later = max(one, other, key=lambda statement: statement.order)
    if one.who is not None and one.who == other.who:
        return later.key not in ("person", "face", "thing") and one.key != other.key
    if one.beside(other):
        return True
    if one.names or other.names:
        return bool(one.names and other.names)
    return one.near != other.near or _told_apart(one, other)


def _told_apart(one: Statement, other: Statement) -> bool:
    looks = {statement.clauses[0].detail for statement in (one, other)}
    return len(looks) == 2 and "" not in looks


def _choices(ordered: Sequence[Statement], memory: Memory) -> list[list[Clause]]:
    """The wordings of each statement, the freshest first; a verb of an earlier clause comes last."""
    choices: list[list[Clause]] = []
    for at in range(len(ordered)):
        verbs = {options[0].verb.split(" ")[0] for options in choices}
        options = _fresh_wordings(ordered, at, memory)
        choices.append(sorted(options, key=lambda clause: clause.verb.split(" ")[0] in verbs))
    return choices


def _fresh_wordings(ordered: Sequence[Statement], at: int, memory: Memory) -> list[Clause]:
    statement = ordered[at]
    clauses: Sequence[Clause] = statement.clauses
    before = [other for other in ordered[:at] if other.heads == 1]
    told = [s.named for s in ordered[:at] if s.named and _is_company_of(statement, s)]
    if told:
        clauses = [_of_others(clause, statement, told, memory) for clause in clauses]
    elif statement.named:
        clauses = _by_name(ordered, at, statement.named, memory)
    elif any(_same(other, statement) for other in before):
        clauses = [clause.of_same(_same(ordered[at - 1], statement)) for clause in clauses]
    elif any(_is_another(other, statement) for other in before):
        clauses = [clause.another(named=any(other.names for other in before)) for clause in clauses]
    elif statement.near and any(_open_whose(other, statement) for other in ordered):
        clauses = [clause.of_face() for clause in clauses]
    elif at and any(other.key.startswith("figure") for other in ordered[:at]):
        clauses = (
            [replace(clause, subject="a figure") for clause in clauses] if statement.is_figure else clauses
        )
    places = memory.places(statement.named)
    unique = list(dict.fromkeys(_not_again(clause, places) for clause in clauses))
    return memory.order(unique, f"{statement.key}:{statement.shot}")


def _of_others(clause: Clause, several: Statement, told: Sequence[Named], memory: Memory) -> Clause:
    """The same of those of whom nothing was told yet: "as another person appears"."""
    rest = [name for name in several.names if name not in told]
    unknown = several.heads - len(several.names)
    many = len(rest) + unknown > 1
    verb = "appear again" if not unknown and memory.since_named(rest) is not None else "appear"
    return replace(clause, subject=called_together(rest, unknown), verb=verb, many=many, tail="")


def _by_name(ordered: Sequence[Statement], at: int, named: Named, memory: Memory) -> Sequence[Clause]:
    """The wordings with the name or, where nobody else can be meant, with its pronoun or no subject."""
    statement = ordered[at]
    opened = _opens_by_pronoun(ordered, memory)
    if at and _same(ordered[at - 1], statement):
        return [clause.going_on(named, opened and ordered[0].named == named) for clause in statement.clauses]
    if at == 0 and opened:
        return [clause.of_pronoun(named) for clause in statement.clauses]
    return statement.clauses


def _opens_by_pronoun(ordered: Sequence[Statement], memory: Memory) -> bool:
    first = ordered[0].named
    return first is not None and ordered[0].key != "thing" and memory.means(first)


def _same(before: Statement, statement: Statement) -> bool:
    return statement.who is not None and before.who == statement.who


def _is_another(before: Statement, statement: Statement) -> bool:
    people = statement.heads == 1 and before.beside(statement)
    return people and "thing" not in (before.key, statement.key)


def _open_whose(other: Statement, statement: Statement) -> bool:
    """True where a face may be that of the person that the other statement is about, or not."""
    if other is statement or other.heads != 1 or _same(other, statement) or other.beside(statement):
        return False
    return not other.near and not _told_apart(other, statement)


def _realise(
    statements: Sequence[Statement], clauses: Sequence[Clause], adverbials: int, memory: Memory
) -> tuple[str, list[int]]:
    """The sentence, and how many words of it come before each of its clauses."""
    joints = _joints(statements, memory)
    text = _opening(clauses[0], adverbials, alone=len(clauses) == 1)
    before = [0]
    for at, joint in enumerate(joints, 1):
        before.append(spoken_words(text))
        extra = _not_again(clauses[at], [place for other in clauses[:at] for place in other.where])
        whole = extra.body(min(adverbials, 1), at == len(joints))
        text = _joined(text, joint, extra.subject if _does_as(statements, clauses, at) else whole)
    return capital(text) if text.endswith('"') else f"{capital(text)}.", before


def _does_as(statements: Sequence[Statement], clauses: Sequence[Clause], at: int) -> bool:
    """True where one with a name does after another what that one did, and so do all who follow: "Thom
    appears, then Celia"."""
    return all(
        _does_the_same(statements[i - 1], statements[i], clauses[i - 1], clauses[i])
        for i in range(at, len(clauses))
    )


def _does_the_same(before: Statement, after: Statement, one: Clause, other: Clause) -> bool:
    alike = (one.verb, one.where, one.tail) == (other.verb, other.where, "")
    if not (alike and before.precedes(after) and before.named and after.named):
        return False
    return (
        before.named != after.named
        and other.subject == after.named.called
        and one.subject != face_of(before.named)
    )


def _joined(text: str, joint: str, more: str) -> str:
    """Both with the joint between; its comma goes inside a closing quotation mark."""
    if joint.startswith(",") and text.endswith('"'):
        text = text if text[-2] in "!?…" else f'{text[:-1]},"'
        joint = joint[1:]
    return f"{text}{joint}{more}"


def _opening(clause: Clause, adverbials: int, alone: bool) -> str:
    """The first clause, with its first adverbial in front, where that sets the place."""
    if not clause.where or adverbials == 0 or clause.quotes:
        return clause.body(0, alone)
    front, rest = clause.where[0], clause.where[1:]
    if front.startswith(("on the ", ",")) or "face" in clause.subject:
        return clause.body(adverbials, alone)
    return f"{front}, {replace(clause, where=rest).body(adverbials - 1, alone)}"


def _not_again(clause: Clause, said: Collection[str]) -> Clause:
    """The clause without adverbials that were said already."""
    return replace(clause, where=tuple(place for place in clause.where if place not in said))


def _joints(statements: Sequence[Statement], memory: Memory) -> list[str]:
    """What stands between the clauses: "A as B, and C", "A, then B, and then C", "A, B, and C".

    After words read aloud "and" stays, so that what follows is not heard as more of them.
    """
    joints = [_joint(before, after, memory) for before, after in pairwise(statements)]
    later = [", and then " if joint == ", then " else ", and " for joint in joints[1:]]
    if later and joints[0] == later[0] == ", and " and not statements[0].reads:
        joints[0] = ", "
    return [*joints[:1], *later]


def _joint(before: Statement, after: Statement, memory: Memory) -> str:
    if before.beside(after) and (after.heads or before.heads):
        return memory.choose((" as ", " while "), f"{before.key}:{after.key}:{before.shot}")
    return ", then " if before.precedes(after) else ", and "
