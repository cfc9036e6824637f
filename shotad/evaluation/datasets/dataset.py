"""What a dataset is: its description, and its human ADs once they are read from the rows of its annotation.

A description (``configs/datasets/*.yaml``, or one's own file) says everything that differs between datasets,
so that one loader reads them all and a new one needs no code. Actions are joined by id, never by row.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import yaml
from pydantic import Field

from shotad.core import (
    Config,
    DatasetError,
    Interval,
    Settings,
    UsageError,
    build_settings,
    config_path,
    dataset_path,
    is_inside,
    is_known_config,
    is_trusted,
    load_settings,
    plural,
    read_text_file,
    read_yaml,
    refuse_foreign,
)
from shotad.evaluation.datasets.tables import (
    MALFORMED,
    MISSING,
    NOTE,
    Finding,
    Table,
    TableRow,
    number,
    numbers,
    of_rows,
    plain_id,
    read_table,
    texts,
)


@dataclass(frozen=True, slots=True)
class Ad:
    """One human AD.

    ``id`` is its number in the annotation (``anno_idx``), as text: unique in the dataset. ``film`` is the
    film or episode, by which casts are found and neighbours are grouped; ``clip`` names the video.
    ``interval`` is in seconds of the film or episode; ``slot`` in seconds of the video, as the dataset means
    it to be described. ``actions`` None: none are known (the published files hold "0").
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
    ``piece``: it is an AD's own short piece of film, which begins at the second ``begins`` of the clip."""

    path: Path
    frames_per_second: float | None = None
    begins: float = 0.0
    piece: bool = False


@dataclass(frozen=True, slots=True)
class Dataset:
    """All ADs in the annotation's order.

    ``shots`` are the published ones of each clip, in seconds of the video, with the published gaps between
    them (`touching` closes them); none for a clip whose list is empty, which has no cut. ``casts`` has the
    names for CRITIC, by `Ad.film`. ``findings`` is what reading it brought to light, ``description`` what it
    was read by, ``files`` what was read.
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


@dataclass(frozen=True, slots=True)
class Shard:
    """Part ``number`` of ``of`` parts; numbers count from 1."""

    number: int = 1
    of: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of:
            raise ValueError(f"a shard is one of {self.of}, got {self.number}")

    @classmethod
    def parse(cls, text: str) -> Shard:
        """The shard that ``2/8`` names. Raises UsageError."""
        # At most 99,999 parts: a list is made of all of them.
        match = re.fullmatch(r"(\d{1,5})/(\d{1,5})", text.strip()) if isinstance(text, str) else None
        with suppress(ValueError):
            if match is not None:
                return cls(int(match[1]), int(match[2]))
        raise UsageError(f"--shard {str(text)[:80]!r} is no shard.", "Write the second of eight as 2/8.")

    def of_groups(self, sizes: Mapping[str, int]) -> set[str]:
        """Its groups, of these names and sizes, the largest first: each is dealt to the part that has the
        least so far, so that all machines come to the same division."""
        loads, mine = [0] * self.of, set()
        for name, size in sizes.items():
            least = loads.index(min(loads))
            loads[least] += size
            if least == self.number - 1:
                mine.add(name)
        return mine

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


WHOLE: Shard = Shard()


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
    longest: float | None = Field(None, ge=-1_000_000, le=1_000_000)
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
    gap: float = Field(0.0, ge=0, le=3600)
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
    frames_per_second: float = Field(3.0, ge=0.001, le=1000)


class Published(Settings):
    """What the whole dataset has, to tell a part of it; None where that is not known."""

    ads: int | None = Field(None, ge=0, le=1_000_000_000)
    clips: int | None = Field(None, ge=0, le=1_000_000_000)
    films: int | None = Field(None, ge=0, le=1_000_000_000)
    actions: int | None = Field(None, ge=0, le=1_000_000_000)
    without_actions: int | None = Field(None, ge=0, le=1_000_000_000)


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
    """The description of a known dataset (``cmd-ad``), or of one's own by file. Raises DatasetError,
    ConfigError for an unknown key."""
    path = dataset_path(name_or_file)
    try:
        tree = read_yaml(read_text_file(path, "settings", DatasetError, encoding="utf-8").text)
    except yaml.YAMLError as error:
        raise DatasetError(f"The description {path} cannot be read: {error}.") from None
    if not isinstance(tree, Mapping):
        raise DatasetError(
            f"The description {path} is not a mapping of keys to values.", "See configs/datasets/cmd-ad.yaml."
        )
    described = build_settings(Description, {"name": path.stem, **tree})
    if not (is_known_config(path) or is_trusted(path)):
        _check_choices(described, path)
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


def _check_choices(described: Description, path: Path) -> None:
    """Refuse what the description of a dataset may not choose, which may have come with the dataset: places
    outside of its root, and settings that are the user's alone. Raises DatasetError, ConfigError."""
    named = described
    tables = (named.annotation, named.shots, named.actions, named.casts)
    places = [place for table in tables for place in table.files]
    places += [*named.folders, *named.videos.films, *named.videos.pieces, *named.videos.frames]
    for place in places:
        if Path(place).is_absolute() or ".." in Path(place).parts:
            raise DatasetError(
                f"{path} names {place!r}, which lies outside of the dataset's root.",
                "Name places below the root, or trust the folder if the file is your own: "
                f"shotad doctor --trust {path.parent}",
            )
    if named.config:
        own = config_path(named.config)
        if not (is_known_config(own) or is_inside(own, path.parent)):
            raise DatasetError(
                f"{path} names the config {named.config!r}, which lies outside of its folder.",
                "Put it beside the description, or name it with --config.",
            )
        after = load_settings(Config, [named.config], confined=[named.config])
        refuse_foreign(Config(), after, str(own), str(path.parent))


FIRST_FRAME = 1
"""Published frames are counted from 1."""


class Annotation:
    """The ADs of an annotation file by id, in its order, with the actions that are ``told`` of them (None:
    there is no file of actions); titles by film; and what was found.

    A row that makes no AD is in ``lost``, with the reason, and keeps its number. Raises DatasetError for a
    file without the columns.
    """

    def __init__(self, path: Path, described: Description, told: Mapping[str, ActionRow] | None) -> None:
        self.table = read_table(path)
        self.ads: dict[str, Ad] = {}
        self.films: dict[str, str] = {}
        self.lost: list[tuple[TableRow, str]] = []
        self.findings: list[Finding] = []
        self._described, self._told = described, told
        self._columns = _columns(self.table, described, told or {}, self.findings)
        # Rows with something odd, by what it is.
        self._notes: defaultdict[str, list[TableRow]] = defaultdict(list)
        seen: set[str] = set()
        for place, row in enumerate(self.table.rows):
            name = plain_id(self._cell(row, "id")) if "id" in self._columns else str(place)
            seen.add(name)
            try:
                ad = self._ad(row, name)
                if ad.id in self.ads:
                    raise ValueError(f"the id {ad.id!r} stands twice")
            except ValueError as error:
                self.lost.append((row, str(error)))
                continue
            self.ads[ad.id] = ad
            if title := self._cell(row, "title"):
                self.films.setdefault(ad.film, title)
        rest = [one.row for name, one in (told or {}).items() if name not in seen]
        what = f"rows whose id is not in {path.name}: {len(rest):,}."
        self.findings += of_rows(MALFORMED, rest, what, "actions")
        for kind, rows in self._notes.items():
            level, says = _NOTES[kind]
            about = "actions" if kind in _OF_ACTIONS else ""
            self.findings += of_rows(level, rows, f"{plural(len(rows), 'AD')}: {says}", about)

    def _cell(self, row: TableRow, name: str) -> str:
        return str(row.values.get(self._columns.get(name, ""), "")).strip()

    def _number(self, row: TableRow, name: str) -> float:
        try:
            return number(self._cell(row, name))
        except ValueError as error:
            raise ValueError(f"{self._columns[name]}: {error}") from None

    def _ad(self, row: TableRow, name: str) -> Ad:
        """Raises ValueError, saying what makes it none."""
        if row.wrong:
            raise ValueError(row.wrong)
        film = self._cell(row, "film")
        clip = self._cell(row, "clip") if "clip" in self._columns else film
        for what, value in (("id", name), ("film", film), ("clip", clip)):
            if not value:
                raise ValueError(f"the {what} is empty")
        interval = Interval(self._number(row, "start"), self._number(row, "end"))
        slot = self._slot(row, interval)
        told = (self._told or {}).get(name)
        # The annotation's text; the other file's where the row has none, or was not UTF-8.
        text, other = self._cell(row, "text"), told.text if told else ""
        if "text" not in self._columns:
            text = other
        elif row.mended:
            found = alike(text, other)
            self._notes["mended from the file of actions" if found else "mended"].append(row)
            text = other if found else text
        if not text:
            has_texts = "text" in self._columns
            raise ValueError("the text is empty" if has_texts else "no text is known of this id")
        actions = told.actions if told else None
        if told is None and self._told is not None:
            self._notes["untold"].append(row)
        elif other and not same_text(other, text):
            same = alike(other, text)
            self._notes["reworded" if same else "strange"].append(row)
            actions = actions if same else None  # else they are another AD's
        return Ad(name, film, clip, interval, slot, text, actions, file=self._cell(row, "file"))

    def _slot(self, row: TableRow, interval: Interval) -> Interval:
        """When in the video it is to be described, by the `SlotRule`."""
        if self._described.slot.kind == "own":
            return interval
        if self._described.slot.kind == "centred":
            start, end = self._number(row, "slot start"), self._number(row, "slot end")
            middle, half = (start + end) / 2, (interval.end - interval.start) / 2
            if start < 0:
                self._notes["early"].append(row)
            if middle + half <= 0:
                raise ValueError(f"it ends {-(middle + half):.3f} s before its clip begins")
            return Interval(max(middle - half, 0.0), middle + half)
        found = numbers(self._cell(row, "frames"))
        first, last = min(found), max(found)
        if first < FIRST_FRAME:
            self._notes["early frames"].append(row)
        if last < FIRST_FRAME:
            raise ValueError(f"its last frame is {last:g}, and the first of a clip is {FIRST_FRAME}")
        rate = self._described.videos.frames_per_second
        return Interval((max(first, FIRST_FRAME) - FIRST_FRAME) / rate, (last - FIRST_FRAME + 1) / rate)


def _columns(
    table: Table, described: Description, told: Mapping[str, ActionRow], findings: list[Finding]
) -> dict[str, str]:
    """The names that this file has for what is needed, and for what is welcome."""
    named, slot, path = described.annotation, described.slot, table.path
    needed: dict[str, Columns] = {"film": named.film, "start": named.start, "end": named.end}
    if slot.kind == "centred":
        needed |= {"slot start": slot.start, "slot end": slot.end}
    if slot.kind == "frames":
        needed["frames"] = slot.frames
    needed |= {name: columns for name, columns in (("clip", named.clip), ("id", named.id)) if columns}
    found = {name: table.needed(columns, f"the {name}") for name, columns in needed.items()}
    for name, columns in (("text", named.text), ("title", named.title), ("file", named.file)):
        if column := table.column(columns):
            found[name] = column
    if "text" not in found:
        if not any(one.text for one in told.values()):
            raise DatasetError(
                f"{path} has no column {' or '.join(named.text)}, and there is no file of actions with the "
                "texts.",
                "Put the dataset's file of actions (text_gt) beside it, name it by --actions, or take "
                "Shot-by-Shot's annotation, which has the texts.",
            )
        what = "it has no texts; they are taken from the file of actions, by number."
        findings.append(Finding(NOTE, path.name, what))
    for name, says in named.editions.items():
        if name in table.columns:
            findings.append(Finding(NOTE, f"{path.name}, column {name}", says))
    return found


_NOTES = {
    "mended": (NOTE, "bytes that are not UTF-8 are read as Windows-1252."),
    "mended from the file of actions": (
        NOTE,
        "the line is not UTF-8; the text is taken from the file of actions.",
    ),
    "early": (NOTE, "the padded interval begins before the clip; the slot is cut to begin with it."),
    "early frames": (NOTE, "a frame's number is below 1; it is taken for the first."),
    "reworded": (NOTE, "the text differs from that in the file of actions; the annotation's is kept."),
    "strange": (
        MALFORMED,
        "the file of actions has quite another text under this number; its actions are not used. Is the file "
        "that of another edition?",
    ),
    "untold": (MISSING, "the file of actions says nothing of this AD."),
}


_OF_ACTIONS = ("reworded", "strange", "untold")
"""Which of these concern the file of actions alone."""

_ALIKE = 0.5
"""Share of words that two texts of the same AD have in common at least; another AD's hardly has a third."""


@dataclass(frozen=True, slots=True)
class ActionRow:
    """What the file of actions says of one AD. ``actions`` None: nothing that can be read."""

    text: str
    actions: tuple[str, ...] | None
    row: TableRow


def read_actions(path: Path, columns: ActionFile) -> tuple[dict[str, ActionRow], list[Finding]]:
    """What the file of actions says, by id of the AD, and what was found: cells that are no list, such as the
    published ``0``, and ids that stand twice. Raises DatasetError for a file without the columns."""
    table = read_table(path)
    ids = table.needed(columns.id, "the ids of the ADs")
    actions = table.needed(columns.actions, "the actions")
    text = table.column(columns.text)
    told: dict[str, ActionRow] = {}
    findings: list[Finding] = []
    double, broken = [], []
    for row in table.rows:
        name = plain_id(row.values.get(ids))
        if row.wrong or not name:
            broken.append(row)
            continue
        if name in told:
            double.append(row)
            continue
        why = "the list is empty"
        try:
            found: tuple[str, ...] | None = texts(row.values[actions]) or None
        except ValueError as error:
            found, why = None, str(error)
        if found is None:
            findings.append(Finding(NOTE, row.where, f"no actions are known of this AD: {why}."))
        told[name] = ActionRow((row.values.get(text, "") if text else "").strip(), found, row)
    mended = [row for row in table.rows if row.mended]
    for level, rows, what in (
        (MALFORMED, broken, "rows without an id, or without the header's cells"),
        (MALFORMED, double, "rows whose id stood before, where the first is kept"),
        (NOTE, mended, "rows that are not UTF-8, and are read as Windows-1252"),
    ):
        findings += of_rows(level, rows, f"{what}: {len(rows):,}.")
    return told, findings


def same_text(one: str, other: str) -> bool:
    """Whether two texts are one but for white space."""
    return one.split() == other.split()


def alike(one: str, other: str) -> bool:
    """Whether two texts can be of one AD: at least half of their words are in both."""
    first, second = (set(re.findall(r"\w+", text.lower())) for text in (one, other))
    return len(first & second) >= _ALIKE * len(first | second)
