"""The wordings for people, and for movers of unknown kind.

Only what the observer measures has words here. Walking, running or standing are not measured: so people
"move", "come closer", "enter" and "leave". Who was recognised is called by name; all others are nobody's he
or she.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from shotad.core import FigureFact, PeopleFact
from shotad.engines.embedded.naming import CROWD, SEVERAL, called_together, face_of
from shotad.engines.embedded.phrases import Clause
from shotad.engines.embedded.words import counted, gerund

Level = Literal["black", "dark", "middling", "bright", "white"]

FAR = 0.25
"""Height of a person, as a fraction of the picture's, up to which they are in the distance."""
FAINT = 0.4
"""The same, up to which no more than a figure is made out in the dark."""
_OPPOSITE = {"left": "right", "right": "left"}
_HAIR = {"yellow": "blond", "orange": "red"}
_MOVES = {
    "closer": ("come closer", "move closer", "draw nearer"),
    "away": ("move away", "move farther away"),
    "left": ("move to the left", "move left"),
    "right": ("move to the right", "move right"),
    "up": ("rise", "move upward"),
    "down": ("move downward", "sink down"),
    "still": ("keep still", "stay still"),
}
_QUICK_MOVES = {
    "closer": ("rush closer", "move quickly closer"),
    "away": ("rush away", "move quickly away"),
    "left": ("rush to the left", "move quickly to the left"),
    "right": ("rush to the right", "move quickly to the right"),
    "up": ("move quickly upward",),
    "down": ("move quickly downward",),
}
_DIM: dict[Level, str] = {"black": "in the dark", "dark": "in dim light"}
_GAZE = {"left": "to the left", "right": "to the right", "ahead": "straight ahead"}


def people_clauses(fact: PeopleFact, light: Level) -> tuple[Clause, ...]:
    """What people do, or that they are there, in several wordings."""
    key = people_key(fact)
    where = _where(fact, light)
    if key == "face":
        return _face_clauses(fact, where)
    if fact.count > 1:
        verb, tail = ("face each other", "") if fact.facing else ("appear", _one_of_them(fact))
        many = fact.count < CROWD or bool(fact.names)
        clauses = _clauses(people_nouns(fact, light), (verb,), many, where)
        return tuple(replace(clause, tail=tail) for clause in clauses)
    clauses = _clauses(people_nouns(fact, light), _verbs(fact, key), False, where)
    return tuple(replace(clause, detail=description(fact)) for clause in clauses)


def figure_clauses(fact: FigureFact) -> tuple[Clause, ...]:
    """What something of unknown kind does: "something comes closer"."""
    where = ("in the distance",) if fact.size <= FAR / 2 else ()
    return _clauses(("something",), _going(fact.movement, fact.enters, fact.leaves, False), False, where)


def people_key(fact: PeopleFact) -> str:
    """The most telling thing about people, by its name in the table of worth."""
    if fact.count > 1:
        return "facing" if fact.facing else "people"
    if fact.enters or fact.leaves:
        return "passes" if fact.enters and fact.leaves else "enters" if fact.enters else "leaves"
    if fact.movement not in (None, "still"):
        return fact.movement or ""
    if fact.turns:
        return "turns"
    if fact.looks:
        return "looks"
    return "face" if is_near(fact) else (fact.movement or "person")


def people_nouns(fact: PeopleFact, light: Level) -> tuple[str, ...]:
    """How the people of a fact may be called."""
    if fact.names:
        return (called_together(fact.names, fact.unknown),)
    faint = not fact.face and (is_far(fact) or (light in _DIM and fact.size <= FAINT))
    if fact.count == 1:
        return ("a figure",) if faint and not description(fact) else ("a person", "someone")
    if fact.count >= CROWD:
        return ("a crowd",)
    if fact.count < SEVERAL:
        return (counted("figure" if faint else "person", fact.count),)
    return ("several figures",) if faint else ("several people", "a few people")


def description(fact: PeopleFact) -> str:
    """What tells a person from others: "with red hair and black clothes", "in blue", or nothing.

    A name tells enough.
    """
    if fact.names:
        return ""
    hair = f"with {_HAIR.get(fact.hair, fact.hair)} hair" if fact.hair else ""
    if fact.clothes:
        return f"{hair} and {fact.clothes} clothes" if hair else f"in {fact.clothes}"
    return hair


def is_far(fact: PeopleFact) -> bool:
    """True for people in the distance."""
    return fact.framing == "distant" or (fact.framing is None and not fact.face and fact.size <= FAR)


def is_near(fact: PeopleFact) -> bool:
    """True for one person of whom hardly more than the face is seen."""
    return fact.count == 1 and fact.face and fact.framing == "face"


_NEARNESS = {"face": ["up close"], "head and shoulders": ["close by"]}
"""How near somebody is by what is seen of them."""


def _clauses(
    subjects: Iterable[str], verbs: Iterable[str], many: bool, where: tuple[str, ...]
) -> tuple[Clause, ...]:
    return tuple(Clause(subject, verb, many, where) for subject in subjects for verb in verbs)


def _where(fact: PeopleFact, light: Level) -> tuple[str, ...]:
    """Distance, dim light, the side for someone who is merely there, and where one looks meanwhile."""
    places = ["in the distance"] if is_far(fact) else []
    if fact.count == 1 and fact.face and fact.movement not in ("closer", "away"):
        places += _NEARNESS.get(fact.framing or "", [])
    if light in _DIM:
        places.append(_DIM[light])
    key = people_key(fact)
    if key in ("person", "still") and fact.place != "centre":
        places.append(f"on the {fact.place}")
    return (*places, *_meanwhile(fact, key))


def _meanwhile(fact: PeopleFact, key: str) -> tuple[str, ...]:
    """What a single person's head does besides: ", turning to the left", ", looking straight ahead"."""
    way, verb = (fact.turns, "turn") if fact.turns else (fact.looks, "look")
    if way is None or way == fact.movement or fact.count != 1 or key in ("turns", "looks"):
        return ()
    if verb == "turn" and way == "ahead":
        return ()
    return (f", {gerund(verb)} {_GAZE[way]}",)


def _face_clauses(fact: PeopleFact, where: tuple[str, ...]) -> tuple[Clause, ...]:
    if fact.who:
        whole = fact.who.pronoun == "they"  # a face goes on as "it", a person as "they"
        subjects = (fact.who.called,) if whole else (fact.who.called, face_of(fact.who))
        return _clauses(subjects, ("appear",), False, where)
    told = description(fact)
    if told:
        return (Clause("the face of a person", "appear", where=where, detail=told),)
    return _clauses(("a face", "a person's face"), ("appear",), False, where)


def _one_of_them(fact: PeopleFact) -> str:
    """Of several people, the movement of one is measured: ", one coming closer"."""
    one = "one person" if fact.count >= CROWD else "one"
    if fact.leaves and not fact.enters:
        return f", {one} leaving"
    if fact.movement in (None, "still") or fact.enters:
        return ""
    return f", {one} {gerund(_MOVES[fact.movement][0])}"


def _verbs(fact: PeopleFact, key: str) -> tuple[str, ...]:
    if key == "turns" and fact.turns:
        return (f"turn {_GAZE[fact.turns]}",) if fact.turns != "ahead" else ("turn to face forward",)
    if key == "looks" and fact.looks:
        gaze = _GAZE[fact.looks]
        return (f"look {gaze}", f"gaze {gaze}") if fact.looks != "ahead" else (f"look {gaze}",)
    return _going(fact.movement, fact.enters, fact.leaves, bool(fact.quick))


def _going(movement: str | None, enters: bool, leaves: bool, quick: bool) -> tuple[str, ...]:
    if enters and leaves:
        return _passing(movement, quick)
    if enters:
        return _entering(movement, quick)
    if leaves:
        return _leaving(movement, quick)
    if movement is None:
        return ("appear",)
    return _QUICK_MOVES.get(movement, _MOVES[movement]) if quick else _MOVES[movement]


def _passing(movement: str | None, quick: bool) -> tuple[str, ...]:
    if movement in _OPPOSITE:
        way = f"from {_OPPOSITE[movement]} to {movement}"
        return (f"rush past {way}",) if quick else (f"pass {way}", f"cross {way}", "pass by")
    return ("appear, then leave", "come & go")


def _entering(movement: str | None, quick: bool) -> tuple[str, ...]:
    if movement in _OPPOSITE:
        side = _OPPOSITE[movement]
        return (
            (f"rush in from the {side}",) if quick else (f"enter from the {side}", f"come in from the {side}")
        )
    if movement in ("closer", "away"):
        return tuple(f"enter & {verb}" for verb in _MOVES[movement][:2])
    return ("enter", "come into sight")


def _leaving(movement: str | None, quick: bool) -> tuple[str, ...]:
    if movement in _OPPOSITE:
        return (
            (f"rush off to the {movement}",)
            if quick
            else (f"leave to the {movement}", f"go off to the {movement}")
        )
    if movement == "closer":
        return ("come closer, then leave", "come near, then leave")
    if movement == "away":
        return ("move away & leave", "go away")
    return ("leave", "go away")
