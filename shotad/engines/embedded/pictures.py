"""People, things, light and movement become statements, shot by shot.

That nobody is there is no statement: detectors miss people, so their absence is not measured.
The camera's movement is none either: it is not told to listeners.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from shotad.core import Facts, FigureFact, LightFact, MotionFact, PeopleFact, ThingFact
from shotad.engines.embedded import phrases
from shotad.engines.embedded.people import (
    Level,
    description,
    figure_clauses,
    is_near,
    people_clauses,
    people_key,
    people_nouns,
)
from shotad.engines.embedded.statement import END, MIDDLE, PRESENT, START, WORTH, Statement

_LIVELY = frozenset(
    {
        *("bird", "cat", "dog", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe"),
        *("car", "bus", "train", "truck", "boat", "airplane", "bicycle", "motorcycle"),
    }
)
"""Animals and vehicles are told before furniture."""


def picture_statements(facts: Facts, has_text: bool) -> list[Statement]:
    """Statements about all that is no text, shot by shot."""
    levels: dict[int, Level] = {fact.shot: fact.level for fact in facts.light}
    brightening = {fact.shot for fact in facts.light if fact.change == "fade-in"}
    same = _identities(facts.people)
    statements: list[Statement] = []
    for shot in facts.current:
        people = _once([fact for fact in facts.people if fact.shot == shot])
        people = [fact for fact in people if not _may_be_named(fact, facts.people)]
        things = [fact for fact in facts.things if fact.shot == shot]
        seen = list(_seen(people, things, levels.get(shot, "middling"), same))
        seen += [_figure(fact) for fact in facts.figures if fact.shot == shot]
        if shot in brightening and any(_shows(statement) for statement in seen):
            seen = _out_of_the_dark(seen)
            brightening.discard(shot)
        elif not seen:
            seen = [_motion(f) for f in facts.motion if f.shot == shot and f.inside == "much"]
        statements += seen
    blank = not statements and not has_text
    lights = (_light(fact, blank, facts) for fact in facts.light if _tells(fact, brightening))
    statements += [light for light in lights if light]
    return statements + list(_contrasts(facts))


def _identities(people: tuple[PeopleFact, ...]) -> dict[int, int]:
    """For each shot with one single unknown person whose face was seen again: their first shot."""
    single = [f for f in people if f.count == 1 and not f.names]
    alone = [f for f in single if sum(g.shot == f.shot for g in people) == 1]
    first: dict[int, int] = {}
    for fact in sorted(alone, key=lambda f: f.shot):
        if fact.again is not None:
            root = first.get(fact.again, fact.again)
            first[fact.again] = first[fact.shot] = root
    return first


def _once(people: list[PeopleFact]) -> list[PeopleFact]:
    """The facts of one shot with nobody told twice: less those of somebody named among others who does
    nothing besides, and those of several of whom each does something."""
    among = {name for fact in people if fact.count > 1 for name in fact.names}
    doing = {fact.who for fact in people if fact.who and people_key(fact) not in PRESENT}
    kept = [f for f in people if f.who not in among or f.who in doing]
    return [f for f in kept if f.facing or not (f.count == len(f.names) > 1 and doing.issuperset(f.names))]


def _may_be_named(fact: PeopleFact, people: tuple[PeopleFact, ...]) -> bool:
    """True for somebody unknown who is merely there, and may be one who is named at other moments of the
    shot or, where no face is seen, in other shots."""
    if fact.count > 1 or fact.names or people_key(fact) not in PRESENT:
        return False
    named = [other for other in people if other.names and (other.shot == fact.shot or not fact.face)]
    return any(f.shot != fact.shot or f.last < fact.first or fact.last < f.first for f in named)


def _seen(
    people: list[PeopleFact], things: list[ThingFact], light: Level, same: dict[int, int]
) -> Iterator[Statement]:
    """People and things of one shot; those that are merely there share one clause."""
    if (
        things
        and len(people) == 1
        and all(c.verb == "appear" and not c.tail for c in people_clauses(people[0], light))
    ):
        yield _company(people, things, light)
        return
    yield from (_people(fact, light, same) for fact in people)
    if things:
        yield _company([], things, light)


def _people(fact: PeopleFact, light: Level, same: dict[int, int]) -> Statement:
    key = people_key(fact)
    return Statement(
        key=key,
        shot=fact.shot,
        worth=WORTH[key] + _extra(fact),
        clauses=people_clauses(fact, light),
        heads=fact.count,
        near=is_near(fact),
        who=_who(fact, same),
        names=fact.names,
        time=(fact.first, fact.last),
        sure=fact.sure,
        since=fact.first if fact.since is None else fact.since,
        until=fact.last,
    )


def _extra(fact: PeopleFact) -> float:
    described = fact.count == 1 and description(fact)
    return WORTH["named"] if fact.names else WORTH["described"] * bool(described)


def _who(fact: PeopleFact, same: dict[int, int]) -> int | str | None:
    if fact.count != 1:
        return None
    return fact.who.id if fact.who else same.get(fact.shot)


def _figure(fact: FigureFact) -> Statement:
    key = "figure passes" if fact.enters or fact.leaves else "figure"
    time = (fact.first, fact.last)
    clauses = figure_clauses(fact)
    return Statement(
        key, fact.shot, WORTH[key], clauses, time=time, sure=fact.sure, since=fact.first, until=fact.last
    )


def _company(people: list[PeopleFact], things: list[ThingFact], light: Level) -> Statement:
    """ "A person and two dogs appear.": people who do nothing measured, and things, of one shot."""
    things = sorted(things, key=lambda f: (-f.sure, f.name))[:3]
    nouns = _nouns(people, things, light)
    counts = sum(f.count for f in people) + sum(f.count for f in things)
    alone = len(nouns) == 1 and things[0].count == 1 and things[0].place != "centre"
    where = (f"on the {things[0].place}",) if alone else ()
    names = tuple(name for fact in people for name in fact.names)
    clauses = phrases.appear_clauses(nouns, counts > 1, where, named=bool(names))
    worth = WORTH["thing"] + WORTH["lively"] * any(f.name in _LIVELY for f in things)
    worth += WORTH["accompanied"] * bool(people) + WORTH["named"] * bool(names)
    heads = sum(fact.count for fact in people)
    sure = min([f.sure for f in people] + [f.sure for f in things])
    known = [f.since for f in things if f.since is not None]
    known += [f.first if f.since is None else f.since for f in people]
    since = max(known, default=None)
    return Statement(
        "thing", things[0].shot, worth, clauses, heads=heads, names=names, sure=sure, since=since
    )


def _nouns(people: list[PeopleFact], things: list[ThingFact], light: Level) -> list[str]:
    """People first, but last where a description would seem to go on with the things."""
    them = [f"{people_nouns(fact, light)[0]} {description(fact)}".rstrip() for fact in people]
    others = [phrases.thing_noun(fact) for fact in things]
    return [*others, *them] if any(description(fact) for fact in people) else [*them, *others]


def _out_of_the_dark(seen: list[Statement]) -> list[Statement]:
    """A fade-in is told with the first thing that it shows."""
    at = next(i for i, statement in enumerate(seen) if _shows(statement))
    shown = tuple(
        replace(clause, where=("out of the dark",)) for clause in seen[at].clauses if clause.verb == "appear"
    )
    return [*seen[:at], replace(seen[at], clauses=shown, phase=START), *seen[at + 1 :]]


def _shows(statement: Statement) -> bool:
    return any(clause.verb == "appear" for clause in statement.clauses)


def _tells(fact: LightFact, brightening: set[int]) -> bool:
    return fact.change != "fade-in" or fact.shot in brightening


def _light(fact: LightFact, blank: bool, facts: Facts) -> Statement | None:
    """A change of light; a mere level only where nothing else was measured in all of the clip."""
    levels = {light.level for light in facts.light}
    if fact.change is None and not (blank and len(levels) == 1):
        return None
    clauses = phrases.light_clauses(fact)
    if not clauses:
        return None
    key = fact.change or "level"
    phase = {"fade-in": START, "fade-out": END}.get(key, MIDDLE)
    return Statement(key, fact.shot, WORTH[key], clauses, phase=phase, sure=fact.sure, since=fact.since)


def _contrasts(facts: Facts) -> Iterator[Statement]:
    """Cuts from dark to bright or back, where no fade does the same slowly."""
    lights = sorted(facts.light, key=lambda fact: fact.shot)
    for before, after in pairwise(lights):
        steady = before.change is None and after.change is None
        ends = {before.level in ("black", "dark"), after.level in ("black", "dark")}
        bright = {before.level in ("bright", "white"), after.level in ("bright", "white")}
        if steady and ends == {True, False} and bright == {True, False}:
            to_light = after.level in ("bright", "white")
            clauses = phrases.contrast_clauses(to_light, "black" in (before.level, after.level))
            sure = min(before.sure, after.sure)
            key, since = "contrast", after.since
            yield Statement(key, after.shot, WORTH[key], clauses, phase=START, sure=sure, since=since)


def _motion(fact: MotionFact) -> Statement:
    return Statement("motion", fact.shot, WORTH["motion"], phrases.motion_clauses(), sure=fact.sure)
