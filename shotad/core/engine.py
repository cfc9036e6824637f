"""What an engine is: one method, for Stage I and Stage II alike; and what the embedded observer measures.

A failure is a reply with ``error`` set, never an exception that takes the rest of the batch along. Of the
facts only what was measured stands here; each carries how sure it is (0 to 1). They travel as JSON in
`Reply.notes`, so that a describer can read them and a second run can use them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from pydantic import TypeAdapter

from shotad.core.cast import EMPTY_PRESENCE, Presence
from shotad.core.config.words import SamplingSettings
from shotad.core.progress import Progress
from shotad.core.types import Clip, ContextShot, Interval, Message, Utterance

if TYPE_CHECKING:
    from shotad.core.model_cache import ModelNeed


@dataclass(frozen=True, slots=True)
class Scene:
    """What is known about a clip besides its pixels: the slot's time and the shots shown."""

    slot: Interval
    context: tuple[ContextShot, ...]
    credits: bool = False
    speech: tuple[Utterance, ...] = ()
    """Where people speak while the clip lasts, with their words where subtitles tell them."""
    presence: Presence = EMPTY_PRESENCE
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
    ``notes`` is what the engine measured; of a failed reply, ``problem`` is what a server says in full. They
    must be JSON. ``batch`` are the slots that were answered
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
    """How the clip was shown: ``video``, ``stills``, ``timed stills``, and how many of its frames where an
    engine takes fewer (``timed stills, 5 of 32 frames``)."""

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
    most_calls: int = 1
    """How many calls it may make of one request: a server is asked again where it thinks and says nothing."""
    token_growth: int = 1
    """How many times the tokens of the request an answer may have."""

    @property
    def destination(self) -> str:
        """The host, and by which key it is asked, for what is told before anything is sent."""
        return server_description(self.sends_to, self.key_name)


def server_description(host: str, key_name: str) -> str:
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
class SupportsPreparing(Protocol):
    """What else an engine may offer, to be called before any work goes into the film."""

    def get_ready(self, progress: Progress) -> None:
        """Refuse what cannot work, and fetch what is wanted; ``identity`` is final afterwards.

        Raises ShotadError.
        """
        ...


@runtime_checkable
class SupportsEstimates(Protocol):
    """What else an engine offers whose ``identity`` is final only when it is ready, for estimates: by it
    the answers of earlier runs are found."""

    def ready_if_here(self) -> None:
        """As `SupportsPreparing.get_ready` where nothing has to be fetched for it; else nothing happens.

        Raises ShotadError.
        """
        ...


@runtime_checkable
class SupportsNeeds(Protocol):
    """What else an engine with a model on this machine may offer, to be asked before any work is done."""

    def needs(self) -> tuple[ModelNeed, ...]:
        """What its model takes of this machine; nothing where that is not known before it is fetched.

        Fetches nothing. Raises ShotadError for a model that this machine cannot run.
        """
        ...


@runtime_checkable
class SupportsCounting(Protocol):
    """What else an engine may offer, for estimates."""

    def image_tokens(self, width: int, height: int, frames: int) -> int:
        """How many tokens a clip of ``frames`` images of this size takes."""
        ...


Stage = Literal["stage1", "stage2"]


TextKind = Literal["title", "caption", "credit", "scene", "subtitle"]
"""What a text on the screen is. ``title``: on a card, or laid over the picture in its middle; ``caption``:
laid over the picture elsewhere, such as a place or a date; ``scene``: lettering on something in the scene, or
of which it is not known that it is anything else; ``subtitle``: burnt in, which AD must not repeat."""


@dataclass(frozen=True, slots=True)
class NamedFace:
    """Somebody of the cast whose face was recognised.

    ``called`` is what may be said: a name or, where ``named`` is False, a descriptor ("the woman in red").
    ``pronoun``: she, he, they, it, or nothing where it is not known.
    """

    id: str
    called: str
    pronoun: str = ""
    named: bool = True


@dataclass(frozen=True, slots=True)
class TextFact:
    """A text on the screen, seen from second ``first`` to second ``last`` of the film.

    ``since``: the second from which all of it stands there, where it is written letter by letter or line by
    line (None: ``first``). ``fills``: it fills most of the picture, as a letter shown on its own. ``spoken``:
    somebody in the film reads it out meanwhile.
    """

    shot: int
    text: str
    kind: TextKind
    first: float
    last: float
    sure: float
    since: float | None = None
    fills: bool = False
    spoken: bool = False

    @property
    def is_for_viewers(self) -> bool:
        """True for what a viewer is meant to read: titles, captions, and lettering that fills the picture."""
        return self.kind in ("title", "caption") or (self.kind == "scene" and self.fills)


@dataclass(frozen=True, slots=True)
class FacesFact:
    """The faces in one shot, by its painted number.

    ``count`` is the most faces seen at once, ``names`` who of the cast is among those seen. ``first`` and
    ``last`` are the film seconds of the first and the last frame with a face.
    """

    shot: int
    count: int
    names: tuple[NamedFace, ...]
    first: float
    last: float


@dataclass(frozen=True, slots=True)
class EntranceFact:
    """Who of the cast is seen in a shot for the first time in a while (`Presence.lately`), from second
    ``first`` to second ``last`` of the film."""

    shot: int
    names: tuple[NamedFace, ...]
    first: float
    last: float


@dataclass(frozen=True, slots=True)
class Facts:
    """All that was measured in the clip of one slot. ``current`` are the painted numbers of its shots;
    ``credits`` is True where credits roll."""

    current: tuple[int, ...]
    texts: tuple[TextFact, ...] = ()
    faces: tuple[FacesFact, ...] = ()
    entrances: tuple[EntranceFact, ...] = ()
    credits: bool = False

    def to_json(self) -> dict[str, Any]:
        """The facts as JSON values."""
        return asdict(self)

    @staticmethod
    def from_json(notes: Mapping[str, Any]) -> Facts:
        """The facts that `to_json` wrote. Raises ValueError for what is none."""
        return _FACTS.validate_python(notes)


_FACTS = TypeAdapter(Facts)
