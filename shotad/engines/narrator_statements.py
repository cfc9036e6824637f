"""All that could be said of a clip, weighed against what was said already.

People, things, light and movement become statements, shot by shot; text on the screen becomes statements that
read it aloud, and what is not read is kept with the reason. That nobody is there is no statement: detectors
miss people. The camera's movement is none either: it is not told to listeners.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

from shotad.core import Facts, Interval, Named, PeopleFact, TextFact, ThingFact
from shotad.engines.narrator_phrases import (
    EVENTS,
    PRESENT,
    START,
    WORTH,
    Clause,
    Statement,
    appear_clauses,
    description,
    is_near,
    people_clauses,
    people_key,
    people_nouns,
    text_clauses,
    text_words,
    thing_moves,
    thing_noun,
)
from shotad.engines.narrator_sentence import Memory, Timing, same_text
from shotad.engines.narrator_words import Quote, called_together, clean, face_of, fit_quote, listed
from shotad.script import Sight
from shotad.sight import BESIDE, OUTFITS, Level

Unread = dict[str, str]
"""A text that nobody reads out, and the reason."""


def text_statements(
    facts: Facts, memory: Memory, room: int, timing: Timing | None = None
) -> tuple[list[Statement], list[Unread]]:
    """What can be read aloud in ``room`` words, one statement for each kind, and what cannot.

    In end credits all that is neither title nor sign counts as credits. ``timing`` cuts late texts.
    """
    new = _new_texts(facts, memory)
    statements: list[Statement] = []
    unread: list[Unread] = []
    for kinds in (("title",), ("sign", "text")):
        found, left = _read_out([text for text in new if text.kind in kinds], room, timing)
        statements += [found] if found else []
        unread += left
    named = [text for text in new if text.kind == "credit"]
    if named or facts.credits:
        found, left = _credits(named, facts, memory, room, timing)
        statements += [found] if found else []
        unread += left
    return statements, unread


def _new_texts(facts: Facts, memory: Memory) -> list[TextFact]:
    """Speakable texts in film order, each once, without subtitles and what was read before."""
    new: list[TextFact] = []
    for text in sorted(facts.texts, key=lambda f: (f.shot, f.first, f.text)):
        known = any(same_text(text.text, other.text) for other in new)
        if text.kind != "subtitle" and clean(text.text) and not known and not memory.has_read(text.text):
            new.append(text)
    return new


def _read_out(
    texts: list[TextFact], room: int, timing: Timing | None
) -> tuple[Statement | None, list[Unread]]:
    """One statement that reads as many of these texts, all of one kind, as there is room for."""
    if not texts:
        return None, []
    left_over = room - text_words(texts[0])
    chosen: list[tuple[TextFact, Quote]] = []
    for text in sorted(texts, key=lambda f: -f.sure * (f.last - f.first)):
        late = room if timing is None else timing.words_from(_since(text))
        quote = fit_quote(text.text, min(left_over, late - text_words(text)) - len(chosen[:1]))
        if quote and (quote.whole or not (chosen or text.kind == "credit")):
            chosen.append((text, quote))
            left_over -= quote.spoken + (len(chosen) > 1)
    chosen.sort(key=lambda pair: (pair[0].shot, pair[0].first, pair[0].text))
    read = [text for text, _ in chosen]
    unread = _unread([text for text in texts if text not in read], room)
    if not chosen:
        return None, unread
    quotes = tuple(quote for _, quote in chosen)
    together = all(a.shot == b.shot and b.first < a.last for a, b in pairwise(read))
    clauses = text_clauses(read[0].kind, quotes, ("and" if together else "then"), appearing=False)
    first, last = min(t.first for t in read), max(t.last for t in read)
    kind = read[0].kind
    sure = min(t.sure for t in read)
    sight = _sight(chosen, timing)
    statement = Statement(kind, read[0].shot, WORTH[kind], clauses, time=(first, last), sure=sure)
    return replace(statement, since=sight.since, until=sight.until), unread


def _since(text: TextFact) -> float:
    return text.first if text.since is None else text.since


def _sight(chosen: list[tuple[TextFact, Quote]], timing: Timing | None) -> Sight:
    """When it can be begun to read texts, one after the other, each while it stands there."""
    words = accumulate((quote.spoken for _, quote in chosen), initial=text_words(chosen[0][0]))
    parts = [(n, _since(text), text.last) for (text, _), n in zip(chosen, words, strict=False)]
    sight = Sight.of(parts, 0.0 if timing is None else timing.pace)
    assert sight is not None
    # The words before the first text are no reason to begin before it is there.
    return Sight(max(sight.since, _since(chosen[0][0])), sight.until)


def _credits(
    texts: list[TextFact], facts: Facts, memory: Memory, room: int, timing: Timing | None
) -> tuple[Statement | None, list[Unread]]:
    """A credit that fits is read; of end credits one that names the maker; else only that they appear."""
    wanted = [text for text in texts if not facts.credits or "by" in clean(text.text).lower().split()[1:-1]]
    found, _ = _read_out(wanted[:1] if facts.credits else wanted, room, timing)
    if found and not facts.credits:
        return found, _unread([t for t in texts if not _reads(found, t)], room)
    if memory.lines_since("credits appear") is not None:
        return None, [{"text": text.text, "reason": "more credits"} for text in texts]
    quotes = found.clauses[0].quotes if found else ()
    shot = texts[0].shot if texts else facts.current[0]
    clauses = text_clauses("credit", quotes, "and", appearing=True)
    time = (texts[0].first, texts[-1].last) if texts else None
    since, until = time or (None, None)
    if found:
        since, until = found.since, found.until
    statement = Statement("credits", shot, WORTH["credits"], clauses, time=time, since=since, until=until)
    return statement, _unread([t for t in texts if not _reads(statement, t)], room)


def _reads(statement: Statement, text: TextFact) -> bool:
    return any(quote.words == clean(text.text) for quote in statement.clauses[0].quotes)


def _unread(texts: list[TextFact], room: int) -> list[Unread]:
    return [{"text": text.text, "reason": f"does not fit into {room} words"} for text in texts]


_STATE_AGAIN = (0.2, 0.5, 0.65, 0.8, 0.9)
"""Share of its worth that a statement keeps when the last line said it, or the one before, and so on."""
_EVENT_AGAIN = (0.5, 0.65, 0.8, 0.9, 0.95)
"""The same for what somebody does: done again, it is news, though in other words."""
_MISSED = 0.6
"""Share that an event keeps which is over before the slot begins; text keeps all."""


def find_statements(
    facts: Facts, memory: Memory, room: int, sure: float, timing: Timing | None = None
) -> tuple[list[Statement], list[Unread]]:
    """What can be said of a clip, after what was said, the most worth first, and texts that nothing reads.

    Facts less sure than ``sure`` are left out. ``timing`` says from which second each statement is true.
    """
    shots = set(facts.current)
    facts = Facts(
        current=facts.current,
        people=tuple(f for f in facts.people if f.shot in shots and f.sure >= sure and f.count > 0),
        things=tuple(f for f in facts.things if f.shot in shots and f.sure >= sure and f.count > 0),
        texts=tuple(f for f in facts.texts if f.shot in shots and f.sure >= sure),
        light=tuple(f for f in facts.light if f.shot in shots and f.sure >= sure),
        credits=facts.credits,
    )
    texts, unread = text_statements(facts, memory, room, timing)
    others = [] if facts.credits else picture_statements(facts)
    slot = None if timing is None else timing.slot
    weighed = [_weigh(statement, memory, slot) for statement in _unique([*texts, *others])]
    if timing is not None:
        weighed = [timing.placed(statement) for statement in weighed]
    weighed.sort(key=lambda statement: (-statement.worth, statement.order, statement.key))
    return weighed, unread


def _weigh(statement: Statement, memory: Memory, slot: Interval | None) -> Statement:
    since = memory.since_named(statement.names)
    new = WORTH["new"] if statement.names and since is None else 0.0
    statement = _as_known(statement, memory)
    worth = (statement.worth + new) * (0.5 + 0.5 * statement.sure)
    ago = None if statement.reads else memory.lines_since_any(statement.clauses)
    if since is not None and statement.key in PRESENT and 0 < statement.heads == len(statement.names):
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


def _shows_more(statement: Statement, memory: Memory) -> bool:
    """True for somebody's face, of which no line has told yet."""
    return statement.key == "face" and statement.named is not None and not memory.saw_face(statement.named)


def _as_known(statement: Statement, memory: Memory) -> Statement:
    """Who was named lately does not appear: others appear with them, or they appear again."""
    known = [name for name in statement.names if memory.since_named((name,)) is not None]
    if not known or statement.key not in PRESENT:
        return statement
    if _shows_more(statement, memory) and (named := statement.named):
        # Who was named in the last line does not appear, the face does.
        faces = tuple(clause for clause in statement.clauses if clause.subject == face_of(named))
        again = tuple(_among(c, statement, (named,)) for c in statement.clauses if c not in faces)
        alone = faces and memory.since_named((named,)) == 0
        return replace(statement, clauses=faces if alone else (*faces, *again))
    among = memory.since_among(statement.names) is not None
    clauses = tuple(_among(clause, statement, known, among) for clause in statement.clauses)
    return replace(statement, clauses=clauses)


def _among(clause: Clause, statement: Statement, known: Sequence[Named], among: bool = False) -> Clause:
    """ "Celia appears with Thom", "Thom and Celia appear together"; ``among``: that was said already."""
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


_LIVELY = frozenset(
    {
        *("bird", "cat", "dog", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe"),
        *("car", "bus", "train", "truck", "boat", "airplane", "bicycle", "motorcycle"),
    }
)
"""Animals and vehicles are told before furniture, which is not told where people are."""
_USED = {"bookshelf": "before"} | dict.fromkeys(
    ("bicycle", "motorcycle", *(kind for kind in BESIDE if kind != "bookshelf")), "with"
)
"""Things that say what people are at or by, and how."""
_PLACES = frozenset({"lake", "seashore", "mountain", "cliff", "old building", "bookshelf"})
"""What is there and does not appear."""
_HAND = "hand"
"""What moves by itself, and is told of so."""
_CLOSE = 0.04
"""Share of the picture that a palm has from which its hand is near."""
_FILLS = 0.45
"""Share of the picture from which a thing is all that is seen."""


def picture_statements(facts: Facts) -> list[Statement]:
    """Statements about all that is no text, shot by shot."""
    levels: dict[int, Level] = {fact.shot: fact.level for fact in facts.light}
    brightening = {fact.shot for fact in facts.light if fact.change == "fade-in"}
    same = _identities(facts.people)
    statements: list[Statement] = []
    for shot in facts.current:
        people = _once([fact for fact in facts.people if fact.shot == shot])
        people = [fact for fact in people if not _may_be_named(fact, facts.people)]
        # One fact for each kind of thing, that of most, then the surest: shaken shots have several.
        things, kinds = [fact for fact in facts.things if fact.shot == shot], dict[str, ThingFact]()
        for fact in sorted(things, key=lambda fact: (-fact.count, -fact.sure)):
            kinds.setdefault(fact.name, fact)
        things = [fact for fact in things if kinds[fact.name] is fact]
        seen = list(_seen(people, things, levels.get(shot, "middling"), same))
        if shot in brightening and any(_shows(statement) for statement in seen):
            seen = _out_of_the_dark(seen)
        statements += seen
    return statements


def _identities(people: tuple[PeopleFact, ...]) -> dict[int, int]:
    """For each shot with one single unknown person: that shot, or the first one with the same face."""
    single = [f for f in people if f.count == 1 and not f.names and not f.among]
    alone = [f for f in single if all(g in single for g in people if g.shot == f.shot)]
    alone = [f for f in alone if sum(g.shot == f.shot and not g.deed for g in alone) == 1]
    first = {fact.shot: fact.shot for fact in alone}
    for fact in sorted(alone, key=lambda f: f.shot):
        if fact.again is not None:
            root = first.get(fact.again, fact.again)
            first[fact.again] = first[fact.shot] = root
    return first


def _once(people: list[PeopleFact]) -> list[PeopleFact]:
    """The facts of one shot with nobody told twice: less those of somebody named among others who does
    nothing else, and those of several who do nothing together and of whom each does something."""
    among = {name for fact in people if fact.count > 1 for name in fact.names}
    doing = {fact.who for fact in people if fact.who and people_key(fact) not in PRESENT}
    kept = [f for f in people if f.who not in among or f.who in doing]
    return [
        f
        for f in kept
        if f.facing or f.deed or not (f.count == len(f.names) > 1 and doing.issuperset(f.names))
    ]


def _may_be_named(fact: PeopleFact, people: tuple[PeopleFact, ...]) -> bool:
    """True for an idle unknown who may be one named at other moments of the shot, or faceless in others."""
    if fact.count > 1 or fact.names or people_key(fact) not in PRESENT:
        return False
    named = [other for other in people if other.names and (other.shot == fact.shot or not fact.face)]
    return any(f.shot != fact.shot or f.last < fact.first or fact.last < f.first for f in named)


def _seen(
    people: list[PeopleFact], things: list[ThingFact], light: Level, same: dict[int, int]
) -> Iterator[Statement]:
    """People and things of one shot; those that are merely there share one clause."""
    yield from (_hands(fact) for fact in things if fact.name == _HAND)
    *before, things = _at_one_time([fact for fact in things if fact.name != _HAND])
    yield from (_company([], gone, light, seen=bool(people)) for gone in before)
    if (
        things
        and len(people) == 1
        and all(c.verb == "appear" and not c.tail for c in people_clauses(people[0], light))
    ):
        yield _company(people, things, light, seen=True)
        return
    yield from (_people(fact, light, same) for fact in people)
    if things:
        yield _company([], things, light, seen=bool(people))


def _at_one_time(things: list[ThingFact]) -> list[list[ThingFact]]:
    """The things in groups that are seen together, one after the other; one group at least."""
    groups: list[list[ThingFact]] = [[]]
    for fact in sorted(things, key=lambda fact: fact.since or 0.0):
        gone = [o for o in groups[-1] if o.last is not None and o.last < (fact.since or 0.0)]
        if gone:
            groups.append([])
        groups[-1].append(fact)
    return groups


def _people(fact: PeopleFact, light: Level, same: dict[int, int]) -> Statement:
    key = people_key(fact)
    described = fact.count == 1 and bool(description(fact))
    way = "dressed" if fact.clothes in OUTFITS else "described"
    return Statement(
        key=key,
        shot=fact.shot,
        worth=WORTH[key] + (WORTH["named"] if fact.names else WORTH[way] * described),
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


def _who(fact: PeopleFact, same: dict[int, int]) -> int | str | None:
    if fact.count != 1:
        return f"{fact.shot} {fact.count}" if fact.deed and not fact.names else None
    if fact.among and not fact.who:
        return f"{fact.shot} {fact.place}"
    return fact.who.id if fact.who else same.get(fact.shot)


def _hands(fact: ThingFact) -> Statement:
    """ "A hand moves close up.": of pictures in which nobody else is to be seen."""
    where = ("close up",) if (fact.area or 0.0) >= _CLOSE else ()
    clause = Clause(thing_noun(fact), "move", fact.count > 1, where)
    return Statement("hands", fact.shot, WORTH["hands"], (clause,), sure=fact.sure, since=fact.since)


def _company(people: list[PeopleFact], things: list[ThingFact], light: Level, *, seen: bool) -> Statement:
    """ "A person and two dogs appear.": idle people, and things, of one shot; ``seen``: it has people."""
    things = sorted(things, key=lambda f: (-f.sure, f.name))[:3]
    at = bool(people) and all(f.name in _USED for f in things)
    nouns = _nouns(people, things, light, at)
    counts = sum(f.count for f in people) + (0 if at else sum(f.count for f in things))
    alone = not at and len(nouns) == 1 and things[0].count == 1 and things[0].place != "centre"
    where = (f"on the {things[0].place}",) if alone else ()
    names = tuple(name for fact in people for name in fact.names)
    clauses = appear_clauses(nouns, counts > 1, where, named=bool(names))
    fills = not at and len(nouns) == counts == 1 and (things[0].area or 0.0) >= _FILLS
    clauses = (Clause(nouns[0], "fill the picture"),) if fills else clauses
    clauses = clauses[-1:] if any(fact.name in _PLACES for fact in things) else clauses
    lively = any(f.name in _LIVELY for f in things)
    moves = lively and len(nouns) == counts == 1 and things[0].movement
    clauses = thing_moves(nouns[0], things[0]) if moves else clauses
    worth = WORTH["thing" if lively or at or not seen else "furniture"] + WORTH["lively"] * (
        lively + bool(moves)
    )
    worth += WORTH["accompanied"] * bool(people) + WORTH["named"] * bool(names)
    heads = sum(fact.count for fact in people)
    sure = min([f.sure for f in people] + [f.sure for f in things])
    known = [f.since for f in things if f.since is not None]
    known += [f.first if f.since is None else f.since for f in people]
    since = max(known, default=None)
    gone = [f.last for f in things if f.last is not None and since is not None]
    time = (since or 0.0, min(gone)) if gone else None
    return Statement(
        "thing", things[0].shot, worth, clauses, heads=heads, names=names, sure=sure, since=since, time=time
    )


def _nouns(people: list[PeopleFact], things: list[ThingFact], light: Level, at: bool) -> list[str]:
    """People first, but last where their looks might be the things'; one noun for people ``at`` things."""
    them = [f"{people_nouns(fact, light)[0]} {description(fact)}".rstrip() for fact in people]
    others = [thing_noun(fact) for fact in things]
    if at:
        return [f"{listed(them)} {_USED[things[0].name]} {listed(others)}"]
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
