"""What the embedded observer measures in a clip, and the narrator speaks from.

Only what was measured stands here; each fact carries how sure it is (0 to 1). Facts travel as JSON
in `Reply.notes`, so that a describer can read them and a second run can use them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

Place = Literal["left", "centre", "right"]
Movement = Literal["still", "left", "right", "closer", "away", "up", "down"]
TextKind = Literal["title", "credit", "sign", "subtitle"]
Framing = Literal["face", "head and shoulders", "upper body", "full figure", "distant"]
"""How much of a person is seen: from a face that fills the picture to a figure far off."""
Look = Literal["left", "right", "ahead"]
Colour = Literal[
    "black", "white", "grey", "red", "orange", "yellow", "green", "blue", "purple", "pink", "brown"
]


@dataclass(frozen=True, slots=True)
class Named:
    """Somebody of the cast whose face was recognised.

    ``called`` is what may be said: a name or, where ``named`` is False, a descriptor ("the woman in red").
    ``pronoun``: she, he, they, it, or nothing where it is not known.
    """

    id: str
    called: str
    pronoun: str = ""
    named: bool = True


@dataclass(frozen=True, slots=True)
class PeopleFact:
    """People seen in one shot. ``count`` is the number seen at once for sure.

    ``first`` and ``last`` are the film seconds of the first and last sighting; ``size`` is the
    largest height as a fraction of the picture's; ``movement`` is that of a single person, with the
    camera's own movement taken out, None where it was not measured.

    Of a single person: ``framing``; ``looks``, where the face points to, in the picture's own left and
    right; ``turns``, where the head turns to; ``quick``, a movement of more than a body height a second
    (None: not measured); ``hair`` and ``clothes``, colours that are beyond doubt. ``facing``: two
    people face each other. ``again``: the number of the earlier shot of this clip in which the same
    face was seen. ``frames`` is the number of frames with a sighting. ``names`` are those of the people
    counted who were recognised, from left to right; the others are unknown. ``since``: the second from which
    what is told of them is to be seen: all of them at once, the movement, the turn, the leaving. None:
    ``first``.
    """

    shot: int
    first: float
    last: float
    count: int
    place: Place
    size: float
    face: bool
    movement: Movement | None
    enters: bool
    leaves: bool
    sure: float
    framing: Framing | None = None
    looks: Look | None = None
    turns: Look | None = None
    quick: bool | None = None
    facing: bool = False
    again: int | None = None
    hair: Colour | None = None
    clothes: Colour | None = None
    frames: int = 0
    names: tuple[Named, ...] = ()
    since: float | None = None

    def __post_init__(self) -> None:
        if self.names and len(self.names) > self.count:
            raise ValueError(f"{self.count} people cannot have {len(self.names)} names")

    @property
    def who(self) -> Named | None:
        """Who a single person is; None for one that is unknown, and for several."""
        return self.names[0] if self.names and self.count == 1 else None

    @property
    def unknown(self) -> int:
        """How many of the people have no name."""
        return self.count - len(self.names)


@dataclass(frozen=True, slots=True)
class ThingFact:
    """An object or animal named with certainty: seen in several frames, by a wide margin. ``since``: the
    second of the first frame that shows as many (None: not known)."""

    shot: int
    name: str
    count: int
    place: Place
    sure: float
    since: float | None = None


@dataclass(frozen=True, slots=True)
class TextFact:
    """Text on the screen. ``subtitle`` is a burnt-in subtitle, which AD must not repeat. ``since``: the
    second from which all of it stands there, where it is written letter by letter or line by line (None:
    ``first``).
    """

    shot: int
    text: str
    kind: TextKind
    first: float
    last: float
    sure: float
    since: float | None = None


@dataclass(frozen=True, slots=True)
class LightFact:
    """How light a shot is, and how that changes within it.

    ``level``: mean luma: black, dark, middling, bright, white. ``change``: fade-out, fade-in, flash or None.
    ``since``: the second from which the change, or else the shot, is to be seen (None: not known).
    """

    shot: int
    level: Literal["black", "dark", "middling", "bright", "white"]
    change: Literal["fade-out", "fade-in", "flash"] | None
    sure: float
    since: float | None = None


@dataclass(frozen=True, slots=True)
class MotionFact:
    """How much moves in a shot: the whole picture (camera) apart from what moves within it."""

    shot: int
    camera: Literal["still", "left", "right", "up", "down", "in", "out", "shaky"]
    inside: Literal["none", "little", "much"]
    sure: float


@dataclass(frozen=True, slots=True)
class FigureFact:
    """Something alone and moving whose kind is not known: an animal, a machine, a person in disguise.

    ``movement``, ``enters`` and ``leaves`` as with people.
    """

    shot: int
    first: float
    last: float
    place: Place
    size: float
    movement: Movement
    enters: bool
    leaves: bool
    sure: float


@dataclass(frozen=True, slots=True)
class Facts:
    """All that was measured in the clip of one slot. ``current`` are the painted numbers of its shots."""

    current: tuple[int, ...]
    people: tuple[PeopleFact, ...] = ()
    things: tuple[ThingFact, ...] = ()
    texts: tuple[TextFact, ...] = ()
    light: tuple[LightFact, ...] = ()
    motion: tuple[MotionFact, ...] = ()
    figures: tuple[FigureFact, ...] = ()
    credits: bool = False

    def to_json(self) -> dict[str, Any]:
        """The facts as JSON values. Of people without names nothing is said of names."""
        notes = asdict(self)
        notes["people"] = tuple(_without_empty_names(fact) for fact in notes["people"])
        return notes

    @staticmethod
    def from_json(notes: Mapping[str, Any]) -> Facts:
        """The facts that `to_json` wrote."""
        return Facts(
            current=tuple(notes["current"]),
            people=tuple(_people_fact(fact) for fact in notes.get("people", ())),
            things=tuple(ThingFact(**fact) for fact in notes.get("things", ())),
            texts=tuple(TextFact(**fact) for fact in notes.get("texts", ())),
            light=tuple(LightFact(**fact) for fact in notes.get("light", ())),
            motion=tuple(MotionFact(**fact) for fact in notes.get("motion", ())),
            figures=tuple(FigureFact(**fact) for fact in notes.get("figures", ())),
            credits=bool(notes.get("credits", False)),
        )


def _without_empty_names(fact: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fact.items() if key != "names" or value}


def _people_fact(fact: Mapping[str, Any]) -> PeopleFact:
    names = tuple(Named(**name) for name in fact.get("names", ()))
    return PeopleFact(**{**fact, "names": names})
