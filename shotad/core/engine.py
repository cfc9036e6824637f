"""What an engine is: one method, for Stage I and Stage II alike.

A failure is a reply with ``error`` set, never an exception that takes the rest of the batch along.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from shotad.core.clip_cast import NOBODY, Presence
from shotad.core.config import SamplingSettings
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
    ``notes`` what Stage I measured (for Stage II), ``scene`` the shots of the clip.
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
    """The host to which frames and words go; empty where they stay on this machine."""


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
    """What an engine may offer besides, to be called before any work goes into the film."""

    def get_ready(self, progress: Progress) -> None:
        """Refuse what cannot work, and fetch what is wanted; ``identity`` is final afterwards.

        Raises ShotadError.
        """
        ...


@runtime_checkable
class Foreseeable(Protocol):
    """What an engine offers besides whose ``identity`` is final only when it is ready, for estimates: by it
    the answers of earlier runs are found."""

    def ready_if_here(self) -> None:
        """As `Preparing.get_ready` where nothing has to be fetched for it; else nothing happens.

        Raises ShotadError.
        """
        ...


@runtime_checkable
class Counting(Protocol):
    """What an engine may offer besides, for estimates."""

    def image_tokens(self, width: int, height: int, frames: int) -> int:
        """How many tokens a clip of ``frames`` images of this size takes."""
        ...


Stage = Literal["stage1", "stage2"]
