"""A film as a screenplay: scenes, in them what is done and what is said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shotad.core import Interval


@dataclass(frozen=True, slots=True)
class Element:
    """What is told or said at once.

    An action has no ``character``; ``manner`` is how a dialogue is spoken, without brackets. ``interval`` is
    its place in the film, ``cue`` the id of the AD line or subtitle that it comes from; both only where they
    are known.
    """

    kind: Literal["action", "dialogue"]
    text: str
    character: str = ""
    manner: str = ""
    interval: Interval | None = None
    cue: str = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """A scene under its ``heading``, such as ``INT. KITCHEN - DAY``."""

    heading: str
    elements: tuple[Element, ...]
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class Screenplay:
    """Scenes in the order in which they are told; ``language`` is a BCP 47 code, empty if unknown."""

    title: str
    scenes: tuple[Scene, ...]
    language: str = ""
