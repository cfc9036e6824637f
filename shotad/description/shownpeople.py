"""Who of the cast an engine of Stage I is shown, for the records and their keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shotad.core import Abilities, Character, Config, Mark, Presence, seconds
from shotad.description.castlist import told_of


@dataclass(frozen=True, slots=True)
class ShownPeople:
    """The people of one clip as an engine gets them. All is empty where nobody is recognised.

    ``rows`` stand in the record; ``known`` is all that can change the answer besides the prompt, for its key;
    ``marks`` are those painted, ``boxes`` whether as boxes.
    """

    rows: tuple[dict[str, Any], ...] = ()
    known: tuple[Any, ...] = ()
    marks: tuple[Mark, ...] = ()
    boxes: bool = False


def shown_people(presence: Presence, abilities: Abilities, config: Config) -> ShownPeople:
    """What an engine with these abilities gets: painted marks, or the faces themselves where it measures."""
    paints = abilities.wants_overlay and config.overlay.characters != "none"
    told = told_of(presence, config.prompt) if abilities.wants_overlay else presence
    rows = tuple(
        {
            "id": c.id,
            "called": c.called,
            "mark": str(told.marks[c.id]) if paints else "",
            "current": c.id in told.current,
        }
        for c in told.seen
    )
    if not rows:
        return ShownPeople()
    faces = _faces(told, scores=not paints) if paints or not abilities.wants_overlay else []
    known = (rows, [character_row(c) for c in told.seen], faces)
    marks = tuple(told.marks[c.id] for c in told.seen) if paints else ()
    return ShownPeople(rows, known, marks, config.overlay.characters == "boxes")


def character_row(character: Character) -> list[Any]:
    """All of somebody, as JSON."""
    c = character
    return [c.id, c.called, c.full, list(c.others), list(c.hidden), c.pronoun, c.named]


def names_of(presence: Presence) -> tuple[str, ...]:
    """Every name of the cast that may be said."""
    named = (c for c in presence.cast if c.named)
    return tuple(dict.fromkeys(name for c in named for name in (c.called, c.full, *c.others)))


def _faces(presence: Presence, *, scores: bool) -> list[list[Any]]:
    return [
        [s.name, s.box.left, s.box.top, s.box.right, s.box.bottom, seconds(s.seconds)] + [s.score] * scores
        for s in presence.sightings
    ]
