"""From statements to one sentence: which to join, how, in how many words, and in view of the last lines.

Statements are joined in film order. "As" and "while" stand only between what was measured at one time; "then"
between shots; "and" where the order within a shot is not known. Too long a sentence loses adverbials, then
takes shorter wordings, then loses its least telling statement. It is spoken while what it tells is seen.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TypeVar

from shotad.core import Character, Interval, Named
from shotad.engines.narrator_phrases import ONE_OF, PRESENT, Clause, Statement
from shotad.engines.narrator_words import (
    agree,
    bare,
    by_pronoun,
    called_together,
    capital,
    clean,
    face_of,
    resolved,
    spoken_words,
    stands_for,
    without_cast,
)
from shotad.script import LEAD, Sight, in_sight, spoken_interval

Sentence = tuple[str, tuple[tuple[Statement, int], ...]]
"""A sentence and the statements it makes, in order, each with the number of words before it."""


def plans(able: Sequence[Statement], most: int) -> Iterator[tuple[Statement, ...]]:
    """Groups of at most ``most`` statements that make a sentence, the most telling first.

    ``able``: the best first. Each leads a group once, offered whole, then without its least telling member.
    """
    for leader in able:
        group = [leader]
        for other in able:
            fits = other is not leader and all(_go_together(other, g) for g in group)
            if len(group) < most and fits and not _tells_nothing_more([*group, other]):
                group.append(other)
        yield from (tuple(group[:size]) for size in range(len(group), 0, -1))


def lines(group: Sequence[Statement], memory: Memory, budget: int | None) -> Iterator[Sentence]:
    """The group's sentences within the budget, the fullest and freshest first."""
    ordered = _in_order(group)
    # The wordings of each statement, the freshest first; a verb of an earlier clause comes last.
    choices: list[list[Clause]] = []
    for at in range(len(ordered)):
        verbs = {options[0].verb.split(" ")[0] for options in choices}
        fresh = _fresh_wordings(ordered, at, memory)
        choices.append(sorted(fresh, key=lambda clause: clause.verb.split(" ")[0] in verbs))
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
                yield text, tuple(zip(ordered, before, strict=True))


def _shortest(options: Sequence[Clause], keep_detail: bool, beside: bool) -> list[Clause]:
    """The wordings without what may be dropped (looks that tell apart stay), the fewest words first."""
    cut = [replace(clause, where=()) if keep_detail else clause.bare() for clause in options]
    if not beside:
        cut = [replace(c, subject="one") if ONE_OF in c.subject else c for c in cut]
    else:
        cut = [replace(c, verb="appear") if c.verb == "appear again" else c for c in cut]
    return sorted(cut, key=lambda clause: spoken_words(clause.body(0, True)))


def _go_together(one: Statement, other: Statement) -> bool:
    """False where a listener would take two people for one, or one for two."""
    if one.heads == other.heads == 1:
        return _two_singles(one, other)
    if _is_company_of(one, other) or _is_company_of(other, one):
        return True
    if one.heads and other.heads:
        if _same(one, other) or _is_one_of(one, other) or _is_one_of(other, one):
            return one.key != other.key
        apart = one.shot != other.shot and one.heads != other.heads
        known = len(one.names) == one.heads and len(other.names) == other.heads
        return (apart and not (one.names or other.names)) or (known and not {*one.names} & {*other.names})
    return True


def _is_one_of(one: Statement, several: Statement) -> bool:
    """True where one of those who did something together does something else."""
    said = one.heads == 1 and one.shot == several.shot and ONE_OF in one.clauses[0].subject
    return said and several.heads > 1 and several.who is not None


def _is_company_of(several: Statement, one: Statement) -> bool:
    """True where somebody named, of whom one statement says more, is seen with others."""
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


def _fresh_wordings(ordered: Sequence[Statement], at: int, memory: Memory) -> list[Clause]:
    statement = ordered[at]
    clauses: Sequence[Clause] = statement.clauses
    before = [other for other in ordered[:at] if other.heads == 1 or _same(other, statement)]
    told = [s.named for s in ordered[:at] if s.named and _is_company_of(statement, s)]
    if told:
        clauses = [_of_others(clause, statement, told, memory) for clause in clauses]
    elif statement.named:
        clauses = _by_name(ordered, at, statement.named, memory)
    elif any(_same(other, statement) for other in before):
        again = not _same(ordered[at - 1], statement)
        clauses = [
            replace(c, subject=("they" if c.many else "the same person") if again else "", detail="")
            for c in clauses
        ]
    elif ONE_OF in clauses[0].subject:
        if any(other.heads == 1 and not _same(other, statement) for other in ordered):
            clauses = [clause for clause in clauses if ONE_OF in clause.subject]
    elif statement.heads == 1 and any(
        other.beside(statement) and "thing" not in (other.key, statement.key) for other in before
    ):
        second = "another person" if any(other.names for other in before) else "another"
        clauses = [replace(clause, subject=second, many=False) for clause in clauses]
    elif statement.near and any(_open_whose(other, statement) for other in ordered):
        # Whose it is stays open where it may be that of the person told before.
        clauses = [replace(clause, subject="a face", detail="", many=False) for clause in clauses]
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
    first = ordered[0].named
    opened = first is not None and ordered[0].key != "thing" and memory.means(first)
    if at and _same(ordered[at - 1], statement):
        many = opened and ordered[0].named == named and named.pronoun == "they"
        return [replace(clause, subject="", many=many) for clause in statement.clauses]
    if at == 0 and opened:
        told = [(clause, by_pronoun(clause.subject, named)) for clause in statement.clauses]
        return [replace(clause, subject=subject, many=subject == "they") for clause, subject in told]
    return statement.clauses


def _same(before: Statement, statement: Statement) -> bool:
    return statement.who is not None and before.who == statement.who


def _open_whose(other: Statement, statement: Statement) -> bool:
    """True where a face may be that of the person that the other statement is about, or not."""
    if other is statement or other.heads != 1 or _same(other, statement) or other.beside(statement):
        return False
    return not other.near and not _told_apart(other, statement)


def _realise(
    statements: Sequence[Statement], clauses: Sequence[Clause], adverbials: int, memory: Memory
) -> tuple[str, list[int]]:
    """The sentence, and how many words of it come before each of its clauses."""
    joints = _joints(statements, clauses, memory)
    text = _opening(clauses[0], adverbials, alone=len(clauses) == 1)
    before = [0]
    for at, joint in enumerate(joints, 1):
        before.append(spoken_words(text))
        extra = _not_again(clauses[at], [place for other in clauses[:at] for place in other.where])
        whole = extra.body(min(adverbials, 1), at == len(joints))
        # "Thom appears, then Celia", where all who follow do the same.
        alike = all(_does_the_same(statements, clauses, i) for i in range(at, len(clauses)))
        text = _joined(text, joint, extra.subject if alike else whole)
    return capital(text) if text.endswith('"') else f"{capital(text)}.", before


def _does_the_same(statements: Sequence[Statement], clauses: Sequence[Clause], at: int) -> bool:
    """True where one with a name does after another what that one did."""
    before, after = statements[at - 1 : at + 1]
    one, other = clauses[at - 1 : at + 1]
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


def _joints(statements: Sequence[Statement], clauses: Sequence[Clause], memory: Memory) -> list[str]:
    """What stands between the clauses: "A as B, and C", "A, then B, and then C", "A, B, and C".

    After words read aloud "and" stays, or what follows is heard as more of them; without a subject too.
    """
    pairs = zip(pairwise(statements), clauses[1:], strict=True)
    joints = [_joint(before, after, bool(clause.subject), memory) for (before, after), clause in pairs]
    later = [", and then " if joint == ", then " else ", and " for joint in joints[1:]]
    if later and joints[0] == later[0] == ", and " and not statements[0].reads:
        joints[0] = ", "
    return [*joints[:1], *later]


def _joint(before: Statement, after: Statement, has_subject: bool, memory: Memory) -> str:
    if before.beside(after) and (after.heads or before.heads):
        words = (" as ", " while ") if has_subject else (" and ",)
        return memory.choose(words, f"{before.key}:{after.key}:{before.shot}")
    return ", then " if before.precedes(after) else ", and "


_SETTINGS = ("out of the dark", "up close", "close by")
_NEAR = ("up close", "close by")
"""How near somebody is: of one person, not of the scene."""
_OTHERS = re.compile(r"\b(?:another person|other people|several others|many others)\b")
_SAME_WORD = 0.8
"""Likeness of letters from which two readings are of one word, if it is long enough for a misread letter."""
_LONG_WORD = 5

T = TypeVar("T")


class Memory:
    """The last lines, newest first, and a fair coin: its throws follow from the seed alone.

    ``known`` are those who may be named, ``cast`` all whose names a line may have. ``spoken`` is True where
    somebody has spoken since the last line, so that it is not in mind any more.
    """

    def __init__(
        self,
        history: Sequence[str],
        seed: int,
        known: Sequence[Named] = (),
        cast: Sequence[Character] = (),
        spoken: bool = False,
    ) -> None:
        told = [resolved(line, before, known, cast) for before, line in pairwise(["", *history])]
        self._lines = [bare(line) for line in reversed(told)]
        self._told = [bare(re.sub(r'"[^"]*"', " ", line)) for line in reversed(told)]
        self._texts = [bare(without_cast(line, cast)) for line in reversed(history)]
        self._last = history[-1] if history and not spoken else ""
        self._cast = cast
        self._known = [bare(name.called) for name in known]
        self._plurals = any(name.pronoun == "they" for name in known)
        self._quotes = [bare(q) for line in history for q in re.findall(r'"([^"]+)"', line)]
        self._seed = seed

    def lines_since(self, phrase: str) -> int | None:
        """How many lines ago a phrase was said, 0 for the last line; None where it was not."""
        return _since(phrase, self._lines)

    def since_named(self, names: Sequence[Named]) -> int | None:
        """How many lines ago these were named, the first of them, but read aloud; None where one was not."""
        since = [_since(name.called, self._told) for name in names]
        known = [ago for ago in since if ago is not None]
        return max(known) if known and len(known) == len(since) else None

    def saw_face(self, named: Named) -> bool:
        """True where one of the last lines has told of this person's face, or of them up close."""
        told = _since(face_of(named), self._told) is not None
        return told or any("up close" in line for line in self._about(named))

    def means(self, named: Named) -> bool:
        """True where a pronoun can only be heard as of this person."""
        return stands_for(named, self._last, self._cast)

    def names_somebody(self) -> bool:
        """True where the last line told of somebody known."""
        return any(f" {called} " in f" {line} " for line in self._told[:1] for called in self._known)

    def since_among(self, names: Sequence[Named]) -> int | None:
        """How many lines ago all of these were said to be with people who have no name."""
        called = [f" {bare(name.called)} " for name in names]
        for ago, line in enumerate(self._told):
            if _OTHERS.search(line) and all(name in f" {line} " for name in called):
                return ago
        return None

    def places(self, named: Named | None = None) -> list[str]:
        """Settings that the last lines have given; how near ``named`` is, only where they were told of."""
        told = [place for place in _SETTINGS if self.lines_since(place) is not None]
        if named is None:
            return told
        about = self._about(named)
        return [place for place in told if place not in _NEAR or any(place in line for line in about)]

    def lines_since_any(self, clauses: Sequence[Clause]) -> int | None:
        """The same for a statement in any of its wordings."""
        patterns = [_with_detail(clause, self._plurals) for clause in clauses]
        for ago, line in enumerate(self._lines):
            if any(pattern.search(line) for pattern in patterns):
                return ago
        return None

    def has_read(self, text: str) -> bool:
        """True where these words, or a like reading, were said in one of the last lines, as no name alone."""
        words = bare(clean(text))
        told = any(f" {words} " in f" {line} " for line in self._texts)
        return told or any(same_text(words, quote) for quote in self._quotes)

    def order(self, clauses: Sequence[Clause], tag: str) -> list[Clause]:
        """The wordings, those least lately used first; equals in an order that the seed gives."""
        return sorted(clauses, key=lambda clause: (self._freshness(clause), self._coin(tag + clause.core)))

    def choose(self, options: Sequence[T], tag: str) -> T:
        """One of the options, the same for the same seed and tag."""
        return min(options, key=lambda option: self._coin(f"{tag}:{option}"))

    def _about(self, named: Named) -> list[str]:
        return [line for line in self._told if _since(named.called, [line]) is not None]

    def _freshness(self, clause: Clause) -> int:
        """0 for a verb not heard in the last lines; more the later it was heard."""
        forms = (agree(clause.verb, False), agree(clause.verb, True), clause.core)
        heard = [ago for form in forms if (ago := self.lines_since(form)) is not None]
        return len(self._lines) - min(heard) if heard else 0

    def _coin(self, tag: str) -> bytes:
        return hashlib.blake2b(f"{self._seed}:{tag}".encode(), digest_size=8).digest()


def _since(phrase: str, lines: Sequence[str]) -> int | None:
    words = f" {bare(phrase)} "
    return next((ago for ago, line in enumerate(lines) if words in f" {line} "), None)


def _with_detail(clause: Clause, plurals: bool) -> re.Pattern[str]:
    """The clause as it may stand in a line, whatever tells the person; ``plurals``: somebody is "they"."""
    forms = (clause.many, True) if plurals else (clause.many,)
    verbs = "|".join(re.escape(bare(agree(clause.verb, many))) for many in dict.fromkeys(forms))
    return re.compile(rf"\b{re.escape(bare(clause.subject))}( (with|in) [a-z ]{{1,40}}?)? (?:{verbs})\b")


def same_text(first: str, second: str) -> bool:
    """True for two readings of one text, give or take misread letters or spaces.

    SINTEL and SINTEI are one; CHAPTER ONE and CHAPTER TWO, or PART 1 and PART 2, are not.
    """
    a, b = bare(first).split(), bare(second).split()
    if not a or not b:
        return False
    if "".join(a) == "".join(b):
        return True
    return len(a) == len(b) and all(_same_word(x, y) for x, y in zip(a, b, strict=True))


def _same_word(x: str, y: str) -> bool:
    if x == y:
        return True
    plain = x.isalpha() and y.isalpha() and min(len(x), len(y)) >= _LONG_WORD
    return plain and SequenceMatcher(None, x, y, autojunk=False).ratio() >= _SAME_WORD


_LATE = 1.0
"""Seconds after something is gone within which it is still told beside something else."""


@dataclass(frozen=True, slots=True)
class Timing:
    """A slot, the pace at which is spoken in it (seconds a word), and when each of its shots begins."""

    slot: Interval
    pace: float
    shots: Mapping[int, float]

    def words_from(self, second: float) -> int:
        """How many words can be said in the slot of something that is seen from ``second`` on."""
        room = in_sight(self.slot, second)
        return 0 if room is None else int(room.duration / self.pace + 1e-9)

    def placed(self, statement: Statement) -> Statement:
        """The statement with the second from which it is true: that of its shot where none was measured."""
        if statement.since is not None:
            return statement
        return replace(statement, since=self.shots.get(statement.shot, self.slot.start))

    def allows(self, line: Sentence) -> bool:
        """True where each thing is told when it is seen, at most `LEAD` before, and the line ends in time."""
        text, told = line
        parts = ((words, s.since, s.until) for s, words in told if s.since is not None)
        sight = Sight.of(parts, self.pace)
        if sight is None:
            return True
        words = spoken_words(text)
        if sight.since - LEAD > self.slot.start and words > self.words_from(sight.since):
            return False
        begins = spoken_interval(self.slot, words, self.pace, sight).start
        return len(told) == 1 or sight.until is None or begins <= sight.until + _LATE
