"""What was measured in a shot, in words, for those who do not see its pictures."""

from __future__ import annotations

from shotad.core import Facts, FigureFact, LightFact, PeopleFact, TextFact, ThingFact

_NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}
_FRAMINGS = {
    "face": "the face fills the picture",
    "head and shoulders": "head and shoulders",
    "upper body": "upper body",
    "full figure": "full figure",
    "distant": "far off",
}
_PLACES = {"left": "on the left", "centre": "in the middle", "right": "on the right"}
_LEVELS = {"black": "black", "dark": "dark", "bright": "bright", "white": "white"}
_CHANGES = {"fade-out": "fades to black", "fade-in": "fades in", "flash": "flashes"}


def in_words(facts: Facts | None) -> dict[int, str]:
    """What ``facts`` tell of each shot, by painted number; a shot of which they tell nothing is absent.

    ``{0: "one person, upper body, on the left; text: READY; dark"}``
    """
    told: dict[int, list[str]] = {}
    if facts is None:
        return {}
    for person in facts.people:
        told.setdefault(person.shot, []).append(_people(person))
    for thing in facts.things:
        told.setdefault(thing.shot, []).append(_thing(thing))
    for figure in facts.figures:
        told.setdefault(figure.shot, []).append(_figure(figure))
    for text in facts.texts:
        told.setdefault(text.shot, []).append(_text(text))
    for light in facts.light:
        if words := _light(light):
            told.setdefault(light.shot, []).append(words)
    return {shot: "; ".join(dict.fromkeys(parts)) for shot, parts in told.items()}


def _people(fact: PeopleFact) -> str:
    count = _NUMBERS.get(fact.count, str(fact.count))
    known = ", ".join(person.called for person in fact.names)
    if fact.count != 1:
        return f"{count} people" + (f" ({known})" if known else "")
    parts = [known or f"{count} person", _FRAMINGS.get(fact.framing or "", ""), _PLACES[fact.place]]
    return ", ".join(part for part in parts if part)


def _thing(fact: ThingFact) -> str:
    if fact.count == 1:
        return f"{'an' if fact.name[:1] in 'aeiou' else 'a'} {fact.name}, {_PLACES[fact.place]}"
    return f"{fact.name}, {_NUMBERS.get(fact.count, str(fact.count))} times"


def _figure(fact: FigureFact) -> str:
    return f"something moving, {_PLACES[fact.place]}"


def _text(fact: TextFact) -> str:
    return f"{'subtitle' if fact.kind == 'subtitle' else 'text'}: {fact.text}"


def _light(fact: LightFact) -> str:
    parts = (_LEVELS.get(fact.level, ""), _CHANGES.get(fact.change or "", ""))
    return ", ".join(part for part in parts if part)
