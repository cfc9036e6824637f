"""What an engine is: one method, for Stage I and Stage II alike; and what the embedded observer measures.

A failure is a reply with ``error`` set, never an exception that takes the rest of the batch along. Of the
facts only what was measured stands here; each carries how sure it is (0 to 1). They travel as JSON in
`Reply.notes`, so that a describer can read them and a second run can use them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from pydantic import TypeAdapter

from shotad.core.cast import NOBODY, Presence
from shotad.core.config.words import SamplingSettings
from shotad.core.progress import Progress
from shotad.core.types import Clip, ContextShot, Interval, Message


@dataclass(frozen=True, slots=True)
class Scene:
    """What is known about a clip besides its pixels: the slot's time and the shots shown."""

    slot: Interval
    context: tuple[ContextShot, ...]
    credits: bool = False
    speech: tuple[Interval, ...] = ()
    """Where people speak, near the clip."""
    presence: Presence = NOBODY
    """Who of the cast is on its frames."""


@dataclass(frozen=True, slots=True)
class Request:
    """One question to an engine.

    ``budget`` is the number of words the answer may have (None: no limit), ``history`` the last AD
    lines, oldest first, ``seed`` that of (run, slot), ``schema`` the JSON schema of the answer,
    ``notes`` what Stage I measured (for Stage II), ``scene`` the shots of the clip. ``timed``: the model is
    told when each frame stands.
    """

    slot_id: str
    messages: tuple[Message, ...]
    clip: Clip | None = None
    scene: Scene | None = None
    budget: int | None = None
    history: tuple[str, ...] = ()
    sampling: SamplingSettings = field(default_factory=SamplingSettings)
    seed: int = 0
    schema: Mapping[str, Any] | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)
    timed: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """What a reply cost, in tokens; 0 where an engine has none."""

    tokens_in: int = 0
    tokens_out: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.tokens_in + other.tokens_in, self.tokens_out + other.tokens_out)


LONGEST = 100_000
"""Characters of an answer that are read: those of the longest thoughts that models are let have, and more."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An engine's answer. ``finish``: stop, length (cut off), silent (nothing worth saying), refused (the
    model or its server will not answer), error.

    A text of more than `LONGEST` characters is cut off there, whoever made it.
    ``notes`` is what the engine measured; it must be JSON. ``batch`` are the slots that were answered
    together with this one, itself among them, where several were.
    """

    text: str
    finish: Literal["stop", "length", "silent", "refused", "error"] = "stop"
    usage: Usage = Usage()
    error: str | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)
    batch: tuple[str, ...] = ()
    calls: int = 1
    """How many calls it took, where an engine asks again by itself."""
    shown: str = ""
    """How the clip was shown: video, stills, timed stills. Of a server: where it was told times."""

    def __post_init__(self) -> None:
        if len(self.text) > LONGEST:
            object.__setattr__(self, "text", self.text[:LONGEST])
            if self.finish == "stop":
                object.__setattr__(self, "finish", "length")


@dataclass(frozen=True, slots=True)
class Identity:
    """Who answered: engine name, model and revision. All that changes its answers belongs here."""

    engine: str
    model: str = ""
    revision: str = ""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What an engine can take. ``wants_overlay`` is False for one that must see the raw frames."""

    accepts_images: bool = False
    wants_overlay: bool = True
    wants_context: bool = True
    """Whether it looks at the shots around those of the slot too; False: it gets the current shots alone."""
    max_images: int | None = None
    frames_per_second: float = 0.0
    """How densely it wants a slot sampled; it gets more frames inside the slot than the settings say
    where they are fewer."""
    weights: tuple[str, ...] = ()
    """Names of the weights in the manifest that it needs; they are fetched before it is asked."""
    uses_history: bool = False
    """True for an engine whose answer depends on the last lines; others get none, so that a changed line
    makes no other stale."""
    converses: bool = True
    """It reads the messages, and answers otherwise when it is told what was wrong. False for one that
    measures, or composes by rule."""
    batch: int = 1
    """How many requests it likes to get in one call."""
    in_flight: int = 1
    """How many calls may run at once, each in a thread of its own."""
    sends_to: str = ""
    """The host to which frames, sound and words go; empty where they stay on this machine."""
    key_name: str = ""
    """The environment variable that holds the key which goes there too; empty where none does."""
    hears: bool = False
    """Whether it gets a clip's sound with the frames."""

    @property
    def destination(self) -> str:
        """The host, and by which key it is asked, for what is told before anything is sent."""
        return destination(self.sends_to, self.key_name)


def destination(host: str, key_name: str) -> str:
    """``api.openai.com, with the key in OPENAI_API_KEY``; without a key the host alone."""
    return f"{host}, with the key in {key_name}" if key_name else host


@runtime_checkable
class Engine(Protocol):
    """The interface that every engine keeps."""

    identity: Identity
    abilities: Abilities

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply for each request, in order.

        A request that fails is a reply with ``error``. Raises EngineError only for what makes all further
        calls useless (a key that is refused, a quota that is spent, a server that is gone): the run stops,
        and goes on later.
        """
        ...


@runtime_checkable
class Preparing(Protocol):
    """What else an engine may offer, to be called before any work goes into the film."""

    def get_ready(self, progress: Progress) -> None:
        """Refuse what cannot work, and fetch what is wanted; ``identity`` is final afterwards.

        Raises ShotadError.
        """
        ...


@runtime_checkable
class Foreseeable(Protocol):
    """What else an engine offers whose ``identity`` is final only when it is ready, for estimates: by it
    the answers of earlier runs are found."""

    def ready_if_here(self) -> None:
        """As `Preparing.get_ready` where nothing has to be fetched for it; else nothing happens.

        Raises ShotadError.
        """
        ...


@runtime_checkable
class Counting(Protocol):
    """What else an engine may offer, for estimates."""

    def image_tokens(self, width: int, height: int, frames: int) -> int:
        """How many tokens a clip of ``frames`` images of this size takes."""
        ...


Stage = Literal["stage1", "stage2"]


Place = Literal["left", "centre", "right"]
Movement = Literal["still", "left", "right", "closer", "away", "up", "down"]
Posture = Literal["stands", "sits", "lies"]
Deed = Literal[
    "stands up", "sits down", "crouches", "bends forward", "raises a hand", "raises both arms",
    "spreads the arms", "puts a hand to the face", "walks to the left", "walks to the right",
    "turns round", "turns away",
    "smiles", "opens the mouth wide", "lowers the head", "raises the head", "tilts the head",
]  # fmt: skip
TextKind = Literal["title", "credit", "sign", "text", "subtitle"]
"""``text`` is writing of which is not known what it is: a card, a screen, a caption."""
Framing = Literal["face", "head and shoulders", "upper body", "full figure", "distant"]
"""How much of a person is seen: from a face that fills the picture to a figure far off."""
Look = Literal["left", "right", "ahead", "away"]
"""Where a face points to; ``away`` where the back is turned to us."""
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
    (None: not measured); ``clothes``, an outfit or a colour that is beyond doubt. ``facing``: two
    people face each other. ``again``: the number of the earlier shot of this clip in which the same
    face was seen. ``frames`` is the number of frames with a sighting. ``names`` are those of the people
    counted who were recognised, from left to right; the others are unknown. ``since``: the second from which
    what is told of them is seen: all of them at once, the movement, the turn, the leaving. None:
    ``first``. ``posture``: of all of them, all the time; ``deed``: what all of them do together, or
    one alone, who may be one ``among`` others that are seen at that moment. ``walks``: a single person moves
    by steps.
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
    clothes: str | None = None
    frames: int = 0
    names: tuple[Named, ...] = ()
    since: float | None = None
    posture: Posture | None = None
    deed: Deed | None = None
    among: int = 0
    walks: bool = False

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


MANY = 4
"""Count of things from which on their number is not known."""


@dataclass(frozen=True, slots=True)
class ThingFact:
    """An object or animal named with certainty: seen in several frames, by a wide margin. ``since``: the
    second of the first frame that shows as many, or from which one moves, ``last`` that of the last, ``area``
    its share of the picture (None: not known), ``movement`` left, right, up or down, by itself."""

    shot: int
    name: str
    count: int
    place: Place
    sure: float
    since: float | None = None
    area: float | None = None
    movement: Movement | None = None
    last: float | None = None


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
    ``since``: the second from which the change, or else the shot, is seen (None: not known).
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
    """Something alone and moving whose kind is not known: an animal, a machine, a person in disguise."""

    shot: int
    first: float
    last: float
    place: Place
    size: float
    movement: Movement


@dataclass(frozen=True, slots=True)
class FacesFact:
    """The faces of one shot, which is named by its painted number.

    ``count`` is the most faces seen at once, ``names`` who of the cast is among them, ``first`` and ``last``
    the film seconds of the first and the last frame with a face.
    """

    shot: int
    count: int
    names: tuple[Named, ...]
    first: float
    last: float


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
    faces: tuple[FacesFact, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The facts as JSON values. Of people without names nothing is said of names."""
        notes = asdict(self)
        notes["people"] = tuple(
            {key: value for key, value in fact.items() if key != "names" or value} for fact in notes["people"]
        )
        return notes

    @staticmethod
    def from_json(notes: Mapping[str, Any]) -> Facts:
        """The facts that `to_json` wrote. Raises ValueError for what is none."""
        return _FACTS.validate_python(notes)


_FACTS = TypeAdapter(Facts)
