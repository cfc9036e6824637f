"""What flows between the rooms of the review page."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shotad.film import SlotChange
from shotad.script import Cue

Json = Mapping[str, Any]
"""Values of JSON by name."""

Asked = tuple[str, int]
"""By what an act of a page is known: the tab that asked for it, and its number among the acts of that tab."""

SOURCE = "review page"
"""Source of edits that are made on the page."""


@dataclass(frozen=True, slots=True)
class Change:
    """What an act does to a track: ``cues`` replace those with the same ids or are new, ``gone`` ids leave
    it.

    ``said`` is one sentence for a person on what happened; ``focus`` the line to go to afterwards;
    ``slots`` come and go with it: who keeps the change keeps these too (`shotad.film.change_slots`).
    """

    said: str
    cues: tuple[Cue, ...] = ()
    gone: tuple[str, ...] = ()
    focus: str | None = None
    slots: SlotChange = field(default_factory=SlotChange)


@dataclass(frozen=True, slots=True)
class Done:
    """A change that is in the track and on the disk.

    ``revision`` counts the changes of this session; ``origin`` names the tab that asked, ``disk`` a change
    that was found on the disk, ``job`` one that a job made. ``view`` is what all tabs were told of it.
    """

    revision: int
    change: Change
    origin: str = ""
    view: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Picture:
    """A JPEG for the page. ``key`` changes whenever its bytes would."""

    data: bytes
    key: str


def jpeg_picture(data: bytes) -> Picture:
    """The bytes of a JPEG for the page."""
    return Picture(data, hashlib.sha256(data).hexdigest()[:16])
