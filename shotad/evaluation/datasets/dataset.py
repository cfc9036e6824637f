"""Datasets: their descriptions, and their human ADs as read from the rows of an annotation file.

A description (``configs/datasets/*.yaml``, or a user's own file) holds everything that differs between
datasets, so that one loader reads them all and a new one needs no code. Actions are joined by id, never by
row.
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
    Interval,
    Settings,
)
from shotad.core.errors import DatasetError, UsageError
from shotad.core.progress import plural
from shotad.core.settings import (
    build_settings,
    config_path,
    dataset_path,
    is_known_config,
    load_settings,
    read_settings_yaml,
)
from shotad.core.text_files import read_text_file
from shotad.core.trust import (
    is_inside,
    is_trusted,
    refuse_foreign,
)
from shotad.evaluation.datasets.tables import (
    MALFORMED,
    MISSING,
    NOTE,
    DatasetFinding,
    Table,
    TableRow,
    finding_of_rows,
    number,
    numbers,
    plain_id,
    read_table,
    texts,
)


@dataclass(frozen=True, slots=True)
class Ad:
    """One human AD.

    ``id`` is its number in the annotation (``anno_idx``), as text: unique in the dataset. ``film`` is the
    film or episode, by which casts are found and neighbours are grouped; ``clip`` names the video.
    ``interval`` is in seconds of the film or episode; ``slot`` is the part of the video to describe, in its
    seconds. ``actions`` None: none are known (the published files hold "0").
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
    """A clip's picture: a film file, or a folder or tar of numbered frames with their rate.

    ``piece``: it is an AD's own short piece of film, which begins at the second ``begins`` of the clip.
    """

    path: Path
    frames_per_second: float | None = None
    begins: float = 0.0
    piece: bool = False


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset's ADs in the annotation's order, with its casts and shots.

    ``shots`` are the published ones of each clip, in seconds of the video, with the published gaps between
    them (`touching` closes them); empty for a clip without a cut. ``casts`` has the names for CRITIC, by
    `Ad.film`. ``findings`` are the problems of its files. ``description`` is None for a plain file of ADs.
    """

    name: str
    title: str
    root: Path
    ads: tuple[Ad, ...]
    casts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    shots: dict[str, tuple[Interval, ...]] = field(default_factory=dict)
    findings: tuple[DatasetFinding, ...] = ()
    config: str = ""
    """The name of the dataset's own settings (``cmd-ad``)."""
    films: dict[str, str] = field(default_factory=dict)
    """Titles, by `Ad.film`, where the annotation has them."""
    description: DatasetDescription | None = None
    files: dict[str, Path] = field(default_factory=dict)
    """The dataset's files by their contents: annotation, actions, casts, shots, examples, grammar."""


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
        """The names of this part's groups. ``sizes`` are the groups' sizes by name, the largest first.

        Each group goes to the part that is smallest so far, so that all machines divide them alike.
        """
        part_sizes = [0] * self.of
        names: set[str] = set()
        for name, size in sizes.items():
            smallest = part_sizes.index(min(part_sizes))
            part_sizes[smallest] += size
            if smallest == self.number - 1:
                names.add(name)
        return names

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


WHOLE: Shard = Shard()


Columns = tuple[str, ...]
"""Names that a column may have; the first that the file has is read."""


class AnnotationFile(Settings):
    """The table of human ADs: a row for each."""

    files: tuple[str, ...] = ()
    id: Columns = ()
    """Empty: the number of the row, from 0, by which the published files count (``anno_idx``)."""
    text: Columns = ("text",)
    film: Columns = ("film",)
    clip: Columns = ()
    """Empty: the film itself is the video."""
    title: Columns = ()
    start: Columns = ("start",)
    end: Columns = ("end",)
    file: Columns = ()
    """Name of the AD's own short piece of film."""
    editions: dict[str, str] = Field(default_factory=dict)
    """Remarks on the editions of the file, by a column that only that edition has."""


class SlotRule(Settings):
    """Which part of the video is an AD's slot.

    ``own``: the AD's own seconds. ``centred``: as long as the AD, around the middle of ``start`` to ``end``,
    clipped at 0. ``frames``: from the least to the greatest number in ``frames`` (from 1), both included.
    """

    kind: Literal["own", "centred", "frames"] = "own"
    start: Columns = ()
    end: Columns = ()
    frames: Columns = ()
    longest: float | None = Field(None, ge=-1_000_000, le=1_000_000)
    """For ``frames``: the number of frames by which slots may be longer than ``start`` to ``end`` on average;
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


class GrammarFile(Settings):
    """The table of shot scales and threads: a row for each shot that an AD's clip shows, oldest first.

    A scale is the number of its class, 0 extreme close-up to 4 long. A thread is a list of rows, counted from
    0 within the AD; all threads of an AD stand in each of its rows.
    """

    files: tuple[str, ...] = ()
    id: str = "anno_idx"
    start: str = "scaled_start"
    end: str = "scaled_end"
    frames: str = ""
    """In place of start and end: the column with the numbers of the shot's frames."""
    scale: str = "shot_scale"
    threads: str = "thread"


class ExampleFile(Settings):
    """The human ADs of the training set: Stage II is shown some of them (``prompt.example_file``)."""

    files: tuple[str, ...] = ()


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
    """Counts of the dataset as published, to recognise an incomplete copy; None where they are not known."""

    ads: int | None = Field(None, ge=0, le=1_000_000_000)
    clips: int | None = Field(None, ge=0, le=1_000_000_000)
    films: int | None = Field(None, ge=0, le=1_000_000_000)
    actions: int | None = Field(None, ge=0, le=1_000_000_000)
    without_actions: int | None = Field(None, ge=0, le=1_000_000_000)


class DatasetDescription(Settings):
    """The description of a dataset. ``name`` is that of the file, unless the file gives another."""

    name: str = ""
    title: str = ""
    config: str = ""
    """The dataset's own settings of the pipeline, by name or file."""
    folders: tuple[str, ...] = (".",)
    """Folders below the root in which the files are looked for."""
    annotation: AnnotationFile = AnnotationFile()
    slot: SlotRule = SlotRule()
    shots: ShotFile = ShotFile()
    actions: ActionFile = ActionFile()
    casts: CastFile = CastFile()
    examples: ExampleFile = ExampleFile()
    grammar: GrammarFile = GrammarFile()
    videos: VideoPlaces = VideoPlaces()
    published: Published = Published()


def read_description(name_or_file: str) -> DatasetDescription:
    """The description of a known dataset (``cmd-ad``), or the one in a file. Raises DatasetError, ConfigError
    for an unknown key."""
    path = dataset_path(name_or_file)
    try:
        text = read_text_file(path, "settings", DatasetError, encoding="utf-8").text
        tree = read_settings_yaml(DatasetDescription, text)
    except yaml.YAMLError as error:
        raise DatasetError(f"The description {path} cannot be read: {error}.") from None
    if not isinstance(tree, Mapping):
        raise DatasetError(
            f"The description {path} is not a mapping of keys to values.", "See configs/datasets/cmd-ad.yaml."
        )
    described = build_settings(DatasetDescription, {"name": path.stem, **tree})
    if not (is_known_config(path) or is_trusted(path)):
        _check_choices(described, path)
    if not described.annotation.files:
        raise DatasetError(f"{path} names no annotation.files.", "Say what the table of ADs is called.")
    slot = described.slot
    needed_columns = {"own": (), "centred": ("start", "end"), "frames": ("frames",)}
    for key in needed_columns[slot.kind]:
        if not getattr(slot, key):
            raise DatasetError(f"{path}: slot.kind = {slot.kind} needs slot.{key}.", "Name its column.")
    placeholders = ("clip", "file", "film", "title")
    for pattern in (*described.videos.films, *described.videos.pieces, *described.videos.frames):
        try:
            pattern.format_map(dict.fromkeys(placeholders, ""))
        except (KeyError, ValueError, IndexError) as error:
            raise DatasetError(
                f"{path}: the place {pattern!r} cannot be filled in: {error}.",
                f"Use {', '.join(f'{{{name}}}' for name in placeholders)}.",
            ) from None
    return described


def _check_choices(described: DatasetDescription, path: Path) -> None:
    """Raise DatasetError, ConfigError where a description chooses what only the user may choose.

    These are places outside of the dataset's root, and certain settings: the description may have come with
    the dataset, from somebody who is not trusted.
    """
    places: list[str] = []
    for table in (
        described.annotation,
        described.shots,
        described.actions,
        described.casts,
        described.examples,
        described.grammar,
    ):
        places += table.files
    videos = described.videos
    places += [*described.folders, *videos.films, *videos.pieces, *videos.frames]
    for place in places:
        if Path(place).anchor or ".." in Path(place).parts:
            raise DatasetError(
                f"{path} names {place!r}, which lies outside of the dataset's root.",
                "Name places below the root, or trust the folder if the file is your own: "
                f"shotad doctor --trust {path.parent}",
            )
    if described.config:
        config_file = config_path(described.config)
        if not (is_known_config(config_file) or is_inside(config_file, path.parent)):
            raise DatasetError(
                f"{path} names the config {described.config!r}, which lies outside of its folder.",
                "Put it beside the description, or name it with --config.",
            )
        config = load_settings(Config, [described.config], confined=[described.config])
        refuse_foreign(Config(), config, str(config_file), str(path.parent))


FIRST_FRAME = 1
"""Published frames are counted from 1."""


class Annotation:
    """The ADs of an annotation file.

    ``ads`` are by id, in the file's order; ``films`` has the titles by film; ``unreadable`` are the rows that
    are no AD, with the reason; ``findings`` are the problems of the file. ``action_rows`` are the rows of the
    file of actions by id (None: there is no such file). Raises DatasetError for a file without the columns.
    """

    def __init__(
        self, path: Path, described: DatasetDescription, action_rows: Mapping[str, ActionRow] | None
    ) -> None:
        self.table = read_table(path)
        self.ads: dict[str, Ad] = {}
        self.films: dict[str, str] = {}
        self.unreadable: list[tuple[TableRow, str]] = []
        self.findings: list[DatasetFinding] = []
        self._described, self._action_rows = described, action_rows
        self._columns = _column_names(self.table, described, action_rows or {}, self.findings)
        # Rows that are noted in the findings, by the keys of `_NOTES`.
        self._noted_rows: defaultdict[str, list[TableRow]] = defaultdict(list)
        ids: set[str] = set()
        for place, row in enumerate(self.table.rows):
            # Without a column of ids an AD's id is the number of its row, counted with unreadable rows.
            ad_id = plain_id(self._cell(row, "id")) if "id" in self._columns else str(place)
            ids.add(ad_id)
            try:
                ad = self._ad(row, ad_id)
                if ad.id in self.ads:
                    raise ValueError(f"the id {ad.id!r} stands twice")
            except ValueError as error:
                self.unreadable.append((row, str(error)))
                continue
            self.ads[ad.id] = ad
            title = self._cell(row, "title")
            if title:
                self.films.setdefault(ad.film, title)
        surplus = [action.row for ad_id, action in (action_rows or {}).items() if ad_id not in ids]
        message = f"rows whose id is not in {path.name}: {len(surplus):,}."
        self.findings += finding_of_rows(MALFORMED, surplus, message, "actions")
        for kind, rows in self._noted_rows.items():
            level, note = _NOTES[kind]
            about = "actions" if kind in _NOTES_ON_ACTIONS else ""
            self.findings += finding_of_rows(level, rows, f"{plural(len(rows), 'AD')}: {note}", about)

    def _cell(self, row: TableRow, name: str) -> str:
        """The cell in the column that `_column_names` has for ``name``; empty where there is none."""
        return str(row.values.get(self._columns.get(name, ""), "")).strip()

    def _number(self, row: TableRow, name: str) -> float:
        """The number in that cell. Raises ValueError, naming the column."""
        try:
            return number(self._cell(row, name))
        except ValueError as error:
            raise ValueError(f"{self._columns[name]}: {error}") from None

    def _ad(self, row: TableRow, ad_id: str) -> Ad:
        """The AD in ``row``. Raises ValueError with the reason where it is none."""
        if row.wrong:
            raise ValueError(row.wrong)
        film = self._cell(row, "film")
        clip = self._cell(row, "clip") if "clip" in self._columns else film
        for name, value in (("id", ad_id), ("film", film), ("clip", clip)):
            if not value:
                raise ValueError(f"the {name} is empty")
        interval = Interval(self._number(row, "start"), self._number(row, "end"))
        slot = self._slot(row, interval)
        action_row = (self._action_rows or {}).get(ad_id)
        actions_text = action_row.text if action_row else ""
        text = self._text(row, actions_text)
        actions = action_row.actions if action_row else None
        if action_row is None and self._action_rows is not None:
            self._noted_rows["without a row of actions"].append(row)
        elif actions_text and not same_text(actions_text, text):
            if may_be_same_ad(actions_text, text):
                self._noted_rows["reworded"].append(row)
            else:
                self._noted_rows["another text"].append(row)
                actions = None  # they are another AD's
        return Ad(ad_id, film, clip, interval, slot, text, actions, file=self._cell(row, "file"))

    def _text(self, row: TableRow, actions_text: str) -> str:
        """The AD's text in ``row``. Raises ValueError where it is empty.

        ``actions_text``, that of the file of actions, replaces it where the annotation has no texts or this
        one was not UTF-8.
        """
        if "text" not in self._columns:
            if not actions_text:
                raise ValueError("no text is known of this id")
            return actions_text
        text = self._cell(row, "text")
        if row.mended:
            if may_be_same_ad(text, actions_text):
                self._noted_rows["mended from the file of actions"].append(row)
                text = actions_text
            else:
                self._noted_rows["mended"].append(row)
        if not text:
            raise ValueError("the text is empty")
        return text

    def _slot(self, row: TableRow, interval: Interval) -> Interval:
        """The AD's slot in seconds of the video, by the `SlotRule`. Raises ValueError."""
        if self._described.slot.kind == "own":
            return interval
        if self._described.slot.kind == "centred":
            start, end = self._number(row, "slot start"), self._number(row, "slot end")
            middle, half = (start + end) / 2, (interval.end - interval.start) / 2
            if start < 0:
                self._noted_rows["early"].append(row)
            if middle + half <= 0:
                raise ValueError(f"it ends {-(middle + half):.3f} s before its clip begins")
            return Interval(max(middle - half, 0.0), middle + half)
        frames = numbers(self._cell(row, "frames"))
        first, last = min(frames), max(frames)
        if first < FIRST_FRAME:
            self._noted_rows["early frames"].append(row)
        if last < FIRST_FRAME:
            raise ValueError(f"its last frame is {last:g}, and the first of a clip is {FIRST_FRAME}")
        rate = self._described.videos.frames_per_second
        return Interval((max(first, FIRST_FRAME) - FIRST_FRAME) / rate, (last - FIRST_FRAME + 1) / rate)


def _column_names(
    table: Table,
    described: DatasetDescription,
    action_rows: Mapping[str, ActionRow],
    findings: list[DatasetFinding],
) -> dict[str, str]:
    """The file's name for each column that is needed or optional. Remarks are added to ``findings``.

    Raises DatasetError where a column is missing, or where no file has texts.
    """
    annotation, slot, path = described.annotation, described.slot, table.path
    needed: dict[str, Columns] = {
        "film": annotation.film,
        "start": annotation.start,
        "end": annotation.end,
    }
    if slot.kind == "centred":
        needed |= {"slot start": slot.start, "slot end": slot.end}
    if slot.kind == "frames":
        needed["frames"] = slot.frames
    if annotation.clip:
        needed["clip"] = annotation.clip
    if annotation.id:
        needed["id"] = annotation.id
    columns = {name: table.needed(candidates, f"the {name}") for name, candidates in needed.items()}
    optional = {"text": annotation.text, "title": annotation.title, "file": annotation.file}
    for name, candidates in optional.items():
        column = table.column(candidates)
        if column:
            columns[name] = column
    if "text" not in columns:
        if not any(action.text for action in action_rows.values()):
            raise DatasetError(
                f"{path} has no column {' or '.join(annotation.text)}, and there is no file of actions with "
                "the texts.",
                "Put the dataset's file of actions (text_gt) beside it, name it by --actions, or take "
                "Shot-by-Shot's annotation, which has the texts.",
            )
        message = "it has no texts; they are taken from the file of actions, by number."
        findings.append(DatasetFinding(NOTE, path.name, message))
    for column, remark in annotation.editions.items():
        if column in table.columns:
            where = f"{path.name}, column {column}"
            findings.append(DatasetFinding(NOTE, where, remark, EDITION))
    return columns


EDITION = "edition"
"""What findings are about that tell of another edition of the annotation than Shot-by-Shot's."""

_NOTES = {
    "mended": (NOTE, "bytes that are not UTF-8 are read as Windows-1252."),
    "mended from the file of actions": (
        NOTE,
        "the line is not UTF-8; the text is taken from the file of actions.",
    ),
    "early": (NOTE, "the padded interval begins before the clip; the slot is cut to begin with it."),
    "early frames": (NOTE, "a frame's number is below 1; it is taken for the first."),
    "reworded": (NOTE, "the text differs from that in the file of actions; the annotation's is kept."),
    "another text": (
        MALFORMED,
        "the file of actions has quite another text under this number; its actions are not used. Is the file "
        "that of another edition?",
    ),
    "without a row of actions": (MISSING, "the file of actions says nothing of this AD."),
}
"""Level and text of the findings on rows of the annotation, by kind."""


_NOTES_ON_ACTIONS = ("reworded", "another text", "without a row of actions")
"""Kinds that concern the file of actions alone."""

_ALIKE = 0.5
"""Least share of common words in two texts of the same AD; texts of two ADs hardly share a third."""


@dataclass(frozen=True, slots=True)
class ActionRow:
    """The row of one AD in the file of actions. ``actions`` None: none that can be read."""

    text: str
    actions: tuple[str, ...] | None
    row: TableRow


def read_actions(path: Path, columns: ActionFile) -> tuple[dict[str, ActionRow], list[DatasetFinding]]:
    """The rows of a file of actions, by the AD's id, and its problems.

    Problems are cells that are no list, such as the published ``0``, and ids that stand twice. Raises
    DatasetError for a file without the columns.
    """
    table = read_table(path)
    id_column = table.needed(columns.id, "the ids of the ADs")
    actions_column = table.needed(columns.actions, "the actions")
    text_column = table.column(columns.text)
    action_rows: dict[str, ActionRow] = {}
    findings: list[DatasetFinding] = []
    repeated, broken = [], []
    for row in table.rows:
        ad_id = plain_id(row.values.get(id_column))
        if row.wrong or not ad_id:
            broken.append(row)
            continue
        if ad_id in action_rows:
            repeated.append(row)
            continue
        actions: tuple[str, ...] | None = None
        reason = "the list is empty"
        try:
            actions = texts(row.values[actions_column]) or None
        except ValueError as error:
            reason = str(error)
        if actions is None:
            findings.append(DatasetFinding(NOTE, row.where, f"no actions are known of this AD: {reason}."))
        text = row.values.get(text_column, "") if text_column else ""
        action_rows[ad_id] = ActionRow(text.strip(), actions, row)
    mended = [row for row in table.rows if row.mended]
    for level, rows, message in (
        (MALFORMED, broken, "rows without an id, or without the header's cells"),
        (MALFORMED, repeated, "rows whose id stood before, where the first is kept"),
        (NOTE, mended, "rows that are not UTF-8, and are read as Windows-1252"),
    ):
        findings += finding_of_rows(level, rows, f"{message}: {len(rows):,}.")
    return action_rows, findings


def same_text(text: str, other: str) -> bool:
    """Whether two texts are equal but for white space."""
    return text.split() == other.split()


def may_be_same_ad(text: str, other: str) -> bool:
    """Whether two texts can be of one AD: at least half of their words are in both."""
    words, other_words = set(re.findall(r"\w+", text.lower())), set(re.findall(r"\w+", other.lower()))
    return len(words & other_words) >= _ALIKE * len(words | other_words)
