"""Who of the cast is on the frames of a clip, as it flows between the rooms: whoever reads faces makes it,
whoever paints, asks and writes takes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from shotad.core.types import Sighting


@dataclass(frozen=True, slots=True)
class Mark:
    """What tells a character apart on the frames: ``red``, ``dashed green``, ``blue, tagged 23``."""

    colour: str
    style: Literal["solid", "dashed", "double"] = "solid"
    tag: str = ""
    """Painted beside the ellipse, where colours and styles are used up."""

    def __str__(self) -> str:
        words = self.colour if self.style == "solid" else f"{self.style} {self.colour}"
        return f"{words}, tagged {self.tag}" if self.tag else words


@dataclass(frozen=True, slots=True)
class Character:
    """Somebody of the cast, as they may be spoken of in one slot.

    ``called`` is what AD says: the name to speak or, while the film has not revealed it, a descriptor
    (``the woman in red``; ``named`` is False then), or nothing. ``full`` is the name in full, ``others`` are
    further names of the same person that must not stand for it in a line, ``hidden`` those that may not be
    said yet.
    """

    id: str
    called: str
    full: str
    others: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    pronoun: str = ""
    """``she``, ``he``, ``they``, ``it``, or nothing."""
    named: bool = True


@dataclass(frozen=True, slots=True)
class Presence:
    """Who of the cast is on the frames of one clip.

    ``cast`` is everybody, seen or not, as they may be spoken of in the slot. ``current`` are the ids of those
    recognised in the current shots, ``others`` of those recognised elsewhere in the clip only, both in the
    order of the cast; all of these have something to be called by, and a mark. ``sightings`` are their
    faces: ``name`` is the id, ``seconds`` those of a frame of the clip.
    """

    cast: tuple[Character, ...] = ()
    current: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    marks: Mapping[str, Mark] = field(default_factory=dict)
    sightings: tuple[Sighting, ...] = ()

    def __post_init__(self) -> None:
        known = {character.id for character in self.cast}
        for name in (*self.current, *self.others, *(s.name for s in self.sightings)):
            if name not in known or name not in self.marks:
                raise ValueError(f"{name!r} is on the frames but not in the cast, or has no mark")

    @property
    def seen(self) -> tuple[Character, ...]:
        """Everybody recognised in the clip, those of the current shots first."""
        by_id = {character.id: character for character in self.cast}
        return tuple(by_id[name] for name in (*self.current, *self.others))


NOBODY = Presence()
"""Of a clip without a cast."""
