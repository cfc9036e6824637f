"""What a loaded dataset is."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from shotad.core import Interval
from shotad.evaluation.datasets.description import Description


@dataclass(frozen=True, slots=True)
class Ad:
    """One human AD.

    ``id`` is its number in the annotation (``anno_idx``), as text: unique in the dataset. ``film`` is the
    film or episode, by which casts are found and neighbours are grouped; ``clip`` names the video.
    ``interval`` is half-open in seconds of the film or episode; ``slot`` the same in seconds of the video,
    as the dataset means it to be described. ``actions`` None: none are known for it (the published files
    hold "0").
    """

    id: str
    film: str
    clip: str
    interval: Interval
    slot: Interval
    text: str
    text_without_names: str = ""
    actions: tuple[str, ...] | None = None
    others: tuple[str, ...] = ()
    """Further human ADs of the same moment, where there are any."""
    file: str = ""
    """The AD's own short piece of film, where the dataset has such (LSMDC)."""


@dataclass(frozen=True, slots=True)
class Video:
    """Where a clip's picture is: a film file, or a folder or tar of numbered frames with their rate.

    ``piece``: it is an AD's own short piece of film, and begins at the second ``begins`` of the clip; 0
    otherwise.
    """

    path: Path
    frames_per_second: float | None = None
    begins: float = 0.0
    piece: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check found. ``level`` is missing, malformed or note; ``where`` names file and
    line."""

    level: str
    where: str
    what: str


@dataclass(frozen=True, slots=True)
class Dataset:
    """All ADs in the annotation's order.

    ``shots`` are the published ones of each clip, where there are any, in seconds of the video, with the
    published gaps between them; none for a clip whose list is empty, which has no cut (`touching` closes the
    gaps). ``casts`` has the names for CRITIC, by `Ad.film`. ``findings`` is what reading it brought to light,
    ``description`` what it was read by, ``files`` what was read.
    """

    name: str
    title: str
    root: Path
    ads: tuple[Ad, ...]
    casts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    shots: dict[str, tuple[Interval, ...]] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    config: str = ""
    """The name of the dataset's own settings (``cmd-ad``)."""
    films: dict[str, str] = field(default_factory=dict)
    """Titles, by `Ad.film`, where the annotation has them."""
    description: Description | None = None
    files: dict[str, Path] = field(default_factory=dict)
    """By what they hold: annotation, actions, casts, shots."""
