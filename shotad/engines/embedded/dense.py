"""The observer's facts as a dense description in numbered steps, as a VLM would give it. Pure logic."""

from __future__ import annotations

from collections.abc import Iterable

from shotad.core import Facts, FigureFact, LightFact, MotionFact, PeopleFact, TextFact, ThingFact

_NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
_PLACES = {"left": "on the left", "centre": "in the middle", "right": "on the right"}
_FRAMINGS = {
    "face": "the face close up",
    "head and shoulders": "head and shoulders",
    "upper body": "the upper body",
    "full figure": "the whole figure",
    "distant": "small, in the distance",
}
_MOVES = {
    "left": "moves to the left",
    "right": "moves to the right",
    "closer": "comes closer",
    "away": "moves away",
    "up": "moves up",
    "down": "moves down",
    "still": "stays in place",
}
_PLURALS = {
    "left": "move to the left",
    "right": "move to the right",
    "closer": "come closer",
    "away": "move away",
    "up": "move up",
    "down": "move down",
    "still": "stay in place",
}
_LOOKS = {"left": "to the left", "right": "to the right", "ahead": "straight ahead"}
_LEVELS = {
    "black": "black",
    "dark": "dark",
    "middling": "neither dark nor bright",
    "bright": "bright",
    "white": "white",
}
_CHANGES = {
    "fade-out": "and darkens to black",
    "fade-in": "and brightens out of black",
    "flash": "with a flash",
}


def describe(facts: Facts) -> str:
    """Numbered steps: main characters, actions, interactions, environment; empty steps say so."""
    several = len(facts.current) > 1
    steps = {
        "Main characters": [_where(f.shot, several) + _who(f) for f in facts.people],
        "Actions": [
            *(_where(f.shot, several) + _deed(f) for f in facts.people if _deed(f)),
            *(_where(f.shot, several) + _figure(f) for f in facts.figures),
        ],
        "Interactions": [_where(f.shot, several) + _look(f) for f in facts.people if _look(f)],
        "Environment": [
            *(_where(f.shot, several) + _text(f) for f in facts.texts),
            *(_where(f.shot, several) + _thing(f) for f in facts.things),
            *(_where(f.shot, several) + _light(f) for f in facts.light),
            *(_where(f.shot, several) + _motion(f) for f in facts.motion if _motion(f)),
        ],
    }
    lines = (f"{head}: {_joined(sentences)}" for head, sentences in steps.items())
    return "\n".join(f"{i}. {line}" for i, line in enumerate(lines, 1))


def _joined(sentences: Iterable[str]) -> str:
    return " ".join(f"{s[0].upper()}{s[1:]}." for s in sentences) or "None measured."


def _where(shot: int, several: bool) -> str:
    return f"in Shot {shot}, " if several else ""


def _who(fact: PeopleFact) -> str:
    parts = [f"{_people(fact)} {_PLACES[fact.place]}"]
    if fact.framing:
        parts.append(_FRAMINGS[fact.framing])
    if fact.hair:
        parts.append(f"with {fact.hair} hair")
    if fact.clothes:
        parts.append(f"dressed in {fact.clothes}")
    if fact.again is not None:
        parts.append(f"the same as in Shot {fact.again}")
    return ", ".join(parts)


def _people(fact: PeopleFact) -> str:
    """ "One person", "Thom", "Thom and Celia", "Thom and two other people"."""
    names = [name.called for name in fact.names]
    number = _NUMBERS.get(fact.unknown, str(fact.unknown))
    noun = "person" if fact.unknown == 1 else "people"
    if not names:
        return f"{number} {noun}"
    return _listed([*names, f"{number} other {noun}"] if fact.unknown else names)


def _listed(nouns: list[str]) -> str:
    *before, last = nouns
    return f"{', '.join(before)} and {last}" if before else last


def _subject(fact: PeopleFact) -> str:
    """Who a single person is once they were introduced."""
    return fact.who.called if fact.who else "the person"


def _deed(fact: PeopleFact) -> str:
    parts = []
    if fact.enters:
        parts.append("comes into view")
    if fact.movement:
        parts.append(_MOVES[fact.movement] + (" fast" if fact.quick else ""))
    if fact.leaves:
        parts.append("goes out of view")
    if fact.turns:
        parts.append(f"turns the head {_LOOKS[fact.turns]}")
    if fact.count == 1:
        return f"{_subject(fact)} {' and '.join(parts)}" if parts else ""
    them = _people(fact) if fact.names else "they"
    return f"{them} {_PLURALS[fact.movement]}" if fact.movement else ""


def _look(fact: PeopleFact) -> str:
    if fact.facing:
        return f"{_people(fact) if fact.names else 'the two'} face each other"
    return f"{_subject(fact)} looks {_LOOKS[fact.looks]}" if fact.looks else ""


def _figure(fact: FigureFact) -> str:
    return f"a figure {_PLACES[fact.place]} {_MOVES[fact.movement]}"


def _text(fact: TextFact) -> str:
    return f'{fact.kind} on the screen: "{fact.text}"'


def _thing(fact: ThingFact) -> str:
    number = _NUMBERS.get(fact.count, str(fact.count))
    return f"{number} {fact.name}{'' if fact.count == 1 else 's'} {_PLACES[fact.place]}"


def _light(fact: LightFact) -> str:
    return f"it is {_LEVELS[fact.level]}" + (f" {_CHANGES[fact.change]}" if fact.change else "")


def _motion(fact: MotionFact) -> str:
    return "much moves" if fact.inside == "much" else ""
