"""What a dataset is: its description, and its human ADs once they are read.

A description (``configs/datasets/*.yaml``, or one's own file) says what the files are called and what
stands in them. It says everything that differs between datasets, so that one loader reads them all and a
new one needs no code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import yaml
from pydantic import Field

from shotad.core import DatasetError, Interval, Settings, build_settings, dataset_path, read_yaml


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


Columns = tuple[str, ...]
"""Names that a column may have; the first that is in the file is read."""


class AnnotationFile(Settings):
    """The table of human ADs: a row for each."""

    files: tuple[str, ...] = ()
    id: Columns = ()
    """None: the number of the row, from 0, by which the published files count (``anno_idx``)."""
    text: Columns = ("text",)
    film: Columns = ("film",)
    clip: Columns = ()
    """None: the film itself is the video."""
    title: Columns = ()
    start: Columns = ("start",)
    end: Columns = ("end",)
    file: Columns = ()
    """Name of the AD's own short piece of film."""
    editions: dict[str, str] = Field(default_factory=dict)
    """What is to be known of an edition, by a column that it alone has."""


class SlotRule(Settings):
    """When in the video an AD is meant to be described.

    ``own``: the AD's own seconds. ``centred``: as long as the AD, around the middle of ``start`` to ``end``,
    clipped at 0. ``frames``: from the least to the greatest number in ``frames`` (from 1), both within.
    """

    kind: Literal["own", "centred", "frames"] = "own"
    start: Columns = ()
    end: Columns = ()
    frames: Columns = ()
    longest: float | None = None
    """Of ``frames``: by how many frames an AD's stretch may be longer than ``start`` to ``end`` on average;
    above it the numbers are another edition's."""


class ShotFile(Settings):
    """The table of shots: a row for each clip, with a list of pairs in one cell.

    Seconds, or 1-based numbers of frames of which the last belongs to the shot.
    """

    files: tuple[str, ...] = ()
    clip: Columns = ("clip",)
    list: Columns = ("shot_list",)
    unit: Literal["seconds", "frames"] = "seconds"
    gap: float = Field(0.0, ge=0)
    """Seconds that are left out between two shots."""


class ActionFile(Settings):
    """The table of the human ADs' actions, joined by ``id``."""

    files: tuple[str, ...] = ()
    id: Columns = ("anno_idx",)
    text: Columns = ("text_gt",)
    actions: Columns = ("gt_action",)


class CastFile(Settings):
    """Names by film, in JSON."""

    files: tuple[str, ...] = ()
    needed: bool = True
    """False: CRITIC is not counted on this dataset as a rule."""


class VideoPlaces(Settings):
    """Where videos may be below the root; ``{clip}``, ``{film}``, ``{title}``, ``{file}`` are filled in."""

    films: tuple[str, ...] = ()
    """Of whole clips, without their suffix."""
    pieces: tuple[str, ...] = ()
    """Of an AD's own short piece of film, without its suffix."""
    suffixes: tuple[str, ...] = (".mkv", ".mp4", ".webm", ".avi", ".mov", ".m4v")
    frames: tuple[str, ...] = ()
    """Of folders or tars of numbered frames, whole."""
    frames_per_second: float = Field(3.0, gt=0)


class Published(Settings):
    """What the whole dataset has, to tell a part of it; None where that is not known."""

    ads: int | None = None
    clips: int | None = None
    films: int | None = None
    actions: int | None = None
    without_actions: int | None = None


class Description(Settings):
    """All of it. ``name`` is the file's own."""

    name: str = ""
    title: str = ""
    config: str = ""
    """The dataset's own settings of the pipeline, by name or file."""
    folders: tuple[str, ...] = (".",)
    """Where files may be, below the root."""
    annotation: AnnotationFile = AnnotationFile()
    slot: SlotRule = SlotRule()
    shots: ShotFile = ShotFile()
    actions: ActionFile = ActionFile()
    casts: CastFile = CastFile()
    videos: VideoPlaces = VideoPlaces()
    published: Published = Published()


def read_description(name_or_file: str) -> Description:
    """The description of a known dataset (``cmd-ad``), or of one's own by file.

    Raises DatasetError for an unknown name and a file that cannot be read, ConfigError for an unknown key.
    """
    path = dataset_path(name_or_file)
    try:
        tree = read_yaml(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise DatasetError(f"The description {path} cannot be read: {error}.") from None
    if not isinstance(tree, Mapping):
        raise DatasetError(
            f"The description {path} is not a mapping of keys to values.", "See configs/datasets/cmd-ad.yaml."
        )
    described = build_settings(Description, {"name": path.stem, **tree})
    if not described.annotation.files:
        raise DatasetError(f"{path} names no annotation.files.", "Say what the table of ADs is called.")
    slot = described.slot
    for key in {"own": (), "centred": ("start", "end"), "frames": ("frames",)}[slot.kind]:
        if not getattr(slot, key):
            raise DatasetError(f"{path}: slot.kind = {slot.kind} needs slot.{key}.", "Name its column.")
    known = {"clip", "film", "title", "file"}
    for pattern in (*described.videos.films, *described.videos.pieces, *described.videos.frames):
        try:
            pattern.format_map(dict.fromkeys(known, ""))
        except (KeyError, ValueError, IndexError) as error:
            raise DatasetError(
                f"{path}: the place {pattern!r} cannot be filled in: {error}.",
                f"Use {', '.join(f'{{{name}}}' for name in sorted(known))}.",
            ) from None
    return described
