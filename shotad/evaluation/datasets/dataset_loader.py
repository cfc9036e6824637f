"""Loads human ADs: a known dataset, one that the user describes in a file, or a plain file of ADs.

Problems of the files become findings. A plain file needs no description, so that users can evaluate on data
of their own.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from shotad.core import Interval
from shotad.core.errors import DatasetError, UsageError
from shotad.core.records import parse_json
from shotad.core.text_files import read_text_file
from shotad.evaluation.datasets.dataset import (
    EDITION,
    FIRST_FRAME,
    ActionRow,
    Ad,
    Annotation,
    Dataset,
    DatasetDescription,
    read_actions,
    read_description,
)
from shotad.evaluation.datasets.tables import (
    MALFORMED,
    MISSING,
    NOTE,
    DatasetFinding,
    TableRow,
    pairs,
    plain_id,
    read_records,
    read_table,
    tally,
)
from shotad.sight import read_films_of_bank

ROOTS = "SHOTAD_DATASETS"
"""The environment variable that names the folder in which each dataset has a folder of its own."""

_PLAIN_SUFFIXES = (".csv", ".jsonl", ".json", ".ndjson")


def _dataset_files(described: DatasetDescription, root: Path, **named_files: Path | None) -> dict[str, Path]:
    """The dataset's files by their contents (annotation, actions, casts, …), as far as they exist.

    Each is the one that the user named, or the first that exists below ``root``. Raises DatasetError where a
    named file or the annotation does not exist.
    """
    files: dict[str, Path] = {}
    for contents, named_file in named_files.items():
        names = getattr(described, contents).files
        if named_file is not None:
            if not named_file.is_file():
                kind = "ADs" if contents == "annotation" else contents
                raise DatasetError(f"{named_file}, the file of {kind}, is not there.")
            files[contents] = named_file
            continue
        path = _first_file(root, described.folders, names)
        if path is not None:
            files[contents] = path
        elif contents == "annotation" and not root.is_dir():
            raise DatasetError(f"{root} is no folder.", "Give the dataset's folder by --root.")
        elif contents == "annotation":
            folders = ", ".join(folder for folder in described.folders if folder != ".")
            below = f", nor below it in {folders}" if folders else ""
            raise DatasetError(
                f"{described.name} has no annotation: {' or '.join(names)} is not in {root}{below}.",
                "Copy it there from the published repository, or name it by --annotation.",
            )
    return files


def _first_file(root: Path, folders: Sequence[str], names: Sequence[str]) -> Path | None:
    """The first file of these names in these folders below ``root``; None where there is none."""
    for folder in folders:
        for name in names:
            path = root / folder / name
            if path.is_file():
                return path
    return None


def _no_file(
    contents: str, names: Sequence[str], consequence: str, level: str = MISSING
) -> list[DatasetFinding]:
    """The finding that there is no file of these ``contents``; none where the dataset has no such file."""
    if not names:
        return []
    return [
        DatasetFinding(level, " or ".join(names), f"there is no file of {contents}: {consequence}.", contents)
    ]


def load_dataset(
    name: str,
    root: Path | None = None,
    *,
    annotation: Path | None = None,
    actions: Path | None = None,
    shots: Path | None = None,
    casts: Path | None = None,
    strict: bool = True,
) -> Dataset:
    """The dataset ``name`` (``cmd-ad``, or the file of a description) in the folder ``root``, or the human
    ADs of the CSV or JSONL file ``name``.

    ``root`` None: the folder of that name below ``$SHOTAD_DATASETS``, or the working directory where that is
    not set. Files that are not named are looked for where the description says. Raises DatasetError where
    ``root`` is no folder, where there is no annotation, or, unless ``strict`` is False, where a row of it
    cannot be read, since leaving it out would change the scores; UsageError for files that a plain file of
    ADs does not need.
    """
    if root is not None and not root.is_dir():
        raise DatasetError(f"{root} is no folder.", "Give the dataset's folder by --root.")
    if Path(name).suffix.lower() in _PLAIN_SUFFIXES:
        for option, value in (("--annotation", annotation), ("--actions", actions), ("--shots", shots)):
            if value is not None:
                raise UsageError(
                    f"{option} {value} belongs to a dataset, and {name} is a plain file of human ADs.",
                    "Leave it out; a plain file holds its actions itself.",
                )
        return load_references(Path(name), casts=casts)
    if root is None:
        roots = os.environ.get(ROOTS)
        root = Path(roots) / Path(name).stem if roots else Path()
    described = read_description(name)
    named_files = {"annotation": annotation, "actions": actions, "casts": casts, "shots": shots}
    files = _dataset_files(described, root, **named_files, examples=None, grammar=None)
    action_rows: dict[str, ActionRow] | None = None
    if "actions" in files:
        action_rows, action_findings = read_actions(files["actions"], described.actions)
        action_findings = [replace(finding, about="actions") for finding in action_findings]
    else:
        consequence = "the action score cannot be counted; shotad evaluate actions makes one"
        action_findings = _no_file("actions", described.actions.files, consequence)
    path = files["annotation"]
    read = Annotation(path, described, action_rows)
    ads = tuple(read.ads.values())
    if read.unreadable and (strict or not ads):
        row, reason = read.unreadable[0]
        raise DatasetError(
            f"{path}: {len(read.unreadable)} of {len(read.table.rows)} rows are no AD, "
            f"first line {row.line}: {reason}.",
            "Correct them; shotad datasets check lists them all. Leaving them out would change what is "
            "measured.",
        )
    if not ads:
        raise DatasetError(f"{path} has no ADs.", "It has a header only.")
    titles = {ad.film: read.films.get(ad.film, "") for ad in ads}
    casts_by_film, cast_findings = _casts(described, files.get("casts"), titles)
    shots_by_clip, shot_findings = _shots(described, files.get("shots"), ads)
    example_findings: list[DatasetFinding] = []
    if "examples" not in files:
        consequence = "Stage II is shown example ADs of shotad's own"
        names = described.examples.files
        example_findings = _no_file("ADs of the training set", names, consequence, NOTE)
    unreadable_findings = [
        DatasetFinding(MALFORMED, row.where, f"this is no AD: {reason}.") for row, reason in read.unreadable
    ]
    return Dataset(
        name=described.name,
        title=described.title or described.name,
        root=root,
        ads=ads,
        casts=casts_by_film,
        shots=shots_by_clip,
        findings=(
            *action_findings,
            *read.findings,
            *unreadable_findings,
            *cast_findings,
            *shot_findings,
            *example_findings,
            *_order_findings(ads),
            *_edition_findings(described, read),
            *_completeness_findings(described, ads),
        ),
        config=described.config,
        films=read.films,
        description=described,
        files=files,
    )


def _casts(
    described: DatasetDescription, path: Path | None, titles: dict[str, str]
) -> tuple[Casts, list[DatasetFinding]]:
    """The casts of the films (``titles`` by film) in the file ``path``, and what is missing of them."""
    if path is None:
        consequence = "CRITIC cannot be counted; name one by --casts"
        level = MISSING if described.casts.needed else NOTE
        return {}, _no_file("casts", described.casts.files, consequence, level)
    casts = casts_of(titles, read_casts(path))
    without_cast = [film for film in titles if film not in casts]
    if not without_cast:
        return casts, []
    message = tally(f"films without names, of {len(titles):,}", without_cast)
    return casts, [DatasetFinding(MISSING, path.name, message, "casts")]


def _shots(
    described: DatasetDescription, path: Path | None, ads: Sequence[Ad]
) -> tuple[ShotsByClip, list[DatasetFinding]]:
    """The shots of the ADs' clips in the file ``path``, and the problems found with them."""
    if path is None:
        consequence = "shots are found again, which needs the videos"
        return {}, _no_file("shots", described.shots.files, consequence, NOTE)
    shots, findings = _read_shots(path, described)
    clips = dict.fromkeys(ad.clip for ad in ads)
    without_shots = [clip for clip in clips if clip not in shots]
    uncut = [ad.id for ad in ads if ad.clip in shots and not shots[ad.clip]]
    late = [ad.id for ad in ads if shots.get(ad.clip) and ad.slot.end > shots[ad.clip][-1].end]
    for names, message in (
        (uncut, "ADs in clips without a cut"),
        (without_shots, "clips without a list of shots"),
        (late, "ADs that end after the last shot of their clip"),
    ):
        if names:
            findings.append(DatasetFinding(NOTE, path.name, tally(message, names)))
    findings = [replace(finding, about="shots") for finding in findings]
    return {clip: shots[clip] for clip in clips if clip in shots}, findings


def _order_findings(ads: Iterable[Ad]) -> list[DatasetFinding]:
    """Notes on films whose ADs are not in order of time, and on ADs that overlap or stand twice.

    All of these are evaluated as they are.
    """
    ads_by_film: dict[str, list[Ad]] = defaultdict(list)
    for ad in ads:
        ads_by_film[ad.film].append(ad)
    unsorted_films, overlapping, repeated = [], [], []
    for film, ads_of_film in ads_by_film.items():
        starts = [ad.interval.start for ad in ads_of_film]
        if starts != sorted(starts):
            unsorted_films.append(film)
        for ad, following in pairwise(sorted(ads_of_film, key=lambda ad: ad.interval)):
            if ad.interval == following.interval and ad.text == following.text:
                repeated.append(ad.id)
            elif ad.interval.overlaps(following.interval):
                overlapping.append(ad.id)
    findings = []
    for names, message in (
        (unsorted_films, f"films whose ADs are not in order of time, of {len(ads_by_film):,}"),
        (overlapping, "ADs that overlap the next of their film"),
        (repeated, "ADs that stand twice, with the same time and text"),
    ):
        if names:
            findings.append(DatasetFinding(NOTE, "annotation", tally(message, names)))
    return findings


_MIN_ADS_FOR_EDITION = 10
"""ADs that are needed to recognise the edition that the numbers of frames belong to."""


def _edition_findings(described: DatasetDescription, annotation: Annotation) -> list[DatasetFinding]:
    """A note where the numbers of frames are another edition's: its slots are longer than the seconds."""
    rule, table = described.slot, annotation.table
    start_column, end_column = table.column(rule.start), table.column(rule.end)
    if rule.kind != "frames" or rule.longest is None or not start_column or not end_column:
        return []
    if len(annotation.ads) < _MIN_ADS_FOR_EDITION:
        return []
    unreadable = {id(row) for row, _ in annotation.unreadable}
    rows_of_ads = [row for row in table.rows if id(row) not in unreadable]
    rate = described.videos.frames_per_second
    excesses = []  # frames by which a slot is longer than start to end
    try:
        for ad, row in zip(annotation.ads.values(), rows_of_ads, strict=True):
            frames = (float(row.values[end_column]) - float(row.values[start_column])) * rate
            # Slots at the beginning of the clip may have been cut.
            if ad.slot.start > 0:
                excesses.append(ad.slot.duration * rate - 1 - frames)
    except ValueError:
        return []
    mean = sum(excesses) / max(len(excesses), 1)
    if not excesses or mean <= rule.longest:
        return []
    message = (
        f"the numbers of frames are those of another edition (AutoAD-Zero's run about a frame longer than "
        f"Shot-by-Shot's; here {mean:+.2f} frames against the seconds, at most {rule.longest:+.2f} there). "
        "Slots differ by up to 2 frames; for Shot-by-Shot's, take its annotation."
    )
    where = f"{table.path.name}, {' or '.join(rule.frames)}"
    return [DatasetFinding(NOTE, where, message, EDITION)]


def _completeness_findings(described: DatasetDescription, ads: Sequence[Ad]) -> list[DatasetFinding]:
    """Findings where the counts differ from those of the dataset as published."""
    known_actions = [ad.actions for ad in ads if ad.actions is not None]
    counts = {
        "ads": (len(ads), "ADs"),
        "clips": (len({ad.clip for ad in ads}), "clips"),
        "films": (len({ad.film for ad in ads}), "films or episodes"),
        "actions": (sum(map(len, known_actions)), "actions"),
        "without_actions": (len(ads) - len(known_actions), "ADs without actions"),
    }
    findings = []
    for key, (count, name) in counts.items():
        published = getattr(described.published, key)
        if published is None or published == count:
            continue
        # Without any actions there is no file of them, which is a finding already.
        if "actions" in key and not known_actions:
            continue
        level = MISSING if key == "ads" and count < published else NOTE
        message = f"{count:,} {name}; {described.title} as published has {published:,}."
        findings.append(DatasetFinding(level, "in all", message))
    return findings


NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "anno_idx"),
    "text": ("text", "text_gt", "reference"),
    "references": ("references",),
    "film": ("film", "imdbid"),
    "clip": ("clip",),
    "title": ("title", "movie_title"),
    "start": ("start",),
    "end": ("end",),
    "actions": ("actions", "gt_action"),
}
"""Names that a column of a plain file may have."""


def load_references(path: Path, *, casts: Path | None = None) -> Dataset:
    """The human ADs of a plain CSV or JSON Lines file; ``casts`` is a file of casts by film.

    Its columns are id, text (or references, a list), film, start, end, and others of `NAMES`. Raises
    DatasetError for a file that cannot be read, and for ids that are missing or stand twice.
    """
    records = read_records(path)
    columns = {}
    for key, names in NAMES.items():
        column = records.column(names)
        if column:
            columns[key] = column
    if "id" not in columns or not {"text", "references"} & set(columns):
        raise DatasetError(
            f"{path} needs a column id, and text or references; it has: {', '.join(records.columns)}.",
            "Predictions are joined by id.",
        )
    ads: dict[str, Ad] = {}
    for place, row in enumerate(records.rows):
        ad = _ad(row, columns, place)
        if ad.id in ads:
            raise row.error(f"the id {ad.id!r} stands twice", "Give each AD its own.")
        ads[ad.id] = ad
    if not ads:
        raise DatasetError(f"{path} has no ADs.", "It has a header only.")
    titles = {}
    for ad, row in zip(ads.values(), records.rows, strict=True):
        title = row.text(columns.get("title"))
        if title:
            titles[ad.film] = title
    known_casts = read_casts(casts) if casts else {}
    films = list(dict.fromkeys(ad.film for ad in ads.values()))
    return Dataset(
        path.stem,
        path.stem,
        path.parent,
        tuple(ads.values()),
        {film: known_casts[film] for film in films if film in known_casts},
        findings=(
            *records.findings,
            *_plain_file_findings(
                path,
                columns,
                has_actions=any(ad.actions is not None for ad in ads.values()),
                without_cast=[film for film in films if film not in known_casts],
            ),
        ),
        films=titles,
        files={"annotation": path} | ({"casts": casts} if casts else {}),
    )


def _plain_file_findings(
    path: Path, columns: Mapping[str, str], *, has_actions: bool, without_cast: Sequence[str]
) -> list[DatasetFinding]:
    """What a plain file of ADs lacks; ``without_cast`` are the films of which no names are known."""
    findings = []
    if "film" not in columns:
        message = "there is no column film: all ADs are taken for one film's."
        findings.append(DatasetFinding(NOTE, path.name, message))
    if "start" not in columns or "end" not in columns:
        message = "there are no times: the order of the rows is taken for theirs."
        findings.append(DatasetFinding(NOTE, path.name, message))
    if not has_actions:
        message = (
            "there are no actions: the action score cannot be counted; shotad evaluate actions makes them."
        )
        findings.append(DatasetFinding(MISSING, path.name, message, "actions"))
    if without_cast:
        message = (
            f"{len(without_cast)} films have no names ({without_cast[0]}), CRITIC needs them: name a file by "
            "--casts."
        )
        findings.append(DatasetFinding(MISSING, path.name, message, "casts"))
    return findings


def _ad(row: TableRow, columns: Mapping[str, str], place: int) -> Ad:
    """The AD in ``row``, which is row number ``place`` of the file. Raises DatasetError."""

    def text(key: str) -> str:
        return (row.text(columns.get(key)) or "").strip()

    references = [text("text"), *(row.list(columns.get("references")) or ())]
    # Each text once, the column ``text`` first; empty ones are left out.
    texts = tuple(dict.fromkeys(reference for reference in references if reference))
    ad_id = plain_id(text("id"))
    if not ad_id or not texts:
        raise row.error(f"there is no {'text' if ad_id else 'id'}", "Each AD needs both.")
    film = text("film") or row.path.stem
    start, end = row.number(columns.get("start")), row.number(columns.get("end"))
    if start is None and end is None:
        # One second for each AD, which keeps the order of the file.
        start, end = float(place), place + 1.0
    if start is None or end is None or start >= end:
        message = f"start {start} and end {end} are no stretch of time"
        raise row.error(message, "Give both, in seconds.")
    interval = Interval(start, end)
    actions = row.list(columns.get("actions")) or None
    return Ad(ad_id, film, text("clip") or film, interval, interval, texts[0], actions, texts[1:])


Casts = dict[str, tuple[str, ...]]
"""Names of the characters by film."""

_ROLE_REMARK = re.compile(r"(?:(?<!\s)\s+)?\((?:as|uncredited|voice|credit only)\b[^()]*\)", re.IGNORECASE)
"""Remarks in published roles, some without a space before: ``Robert(as Alan Marshall)``."""


def read_casts(path: Path) -> Casts:
    """Names by film, each once and in the file's order, from a JSON file or MAD-Eval's character bank.

    It is ``{film: [name, …]}`` as in AutoAD's list for CRITIC, or ``{film: [{id, name, role}, …]}`` as in the
    character banks, whose names are the roles. Raises DatasetError, and CastError for a
    pickle that is no bank.
    """
    hint = 'Write JSON: {"film": ["name", …], …}.'
    tree: Any
    try:
        if path.suffix.lower() in (".pkl", ".pickle"):
            tree = read_films_of_bank(path)
        else:
            tree = parse_json(read_text_file(path, "cast", DatasetError, hint=hint, encoding="utf-8").text)
    except ValueError as error:
        raise DatasetError(f"The cast {path} cannot be read: {error}.", hint) from None
    if not isinstance(tree, Mapping):
        raise DatasetError(f"The cast {path} has no films: it is a {type(tree).__name__}.", hint)
    casts: Casts = {}
    for film, entries in tree.items():
        if not isinstance(entries, list):
            message = f"The cast {path}, film {film!r}: {entries!r} is no list of names."
            raise DatasetError(message, 'Write ["name", …].')
        names: dict[str, None] = {}  # as an ordered set
        for entry in entries:
            role = entry.get("role") if isinstance(entry, Mapping) else entry
            if not isinstance(role, str):
                message = f"The cast {path}, film {film!r}: {entry!r} is no name."
                raise DatasetError(message, 'Write a text, or {"role": text}.')
            name = " ".join(_ROLE_REMARK.sub("", role).split())
            if name:
                names[name] = None
        casts[film] = tuple(names)
    return casts


def casts_of(films: Mapping[str, str], read: Casts) -> Casts:
    """The casts in ``read`` of these films (title by film), found by the film or its title."""
    casts = {}
    for film, title in films.items():
        names = read.get(film) or read.get(title)
        if names:
            casts[film] = names
    return casts


ShotsByClip = dict[str, tuple[Interval, ...]]
"""Shots of each clip in seconds of its video; empty for a clip without a cut."""

_MS = 0.001
"""Tolerance in seconds: published times are whole milliseconds, with the rounding errors of floats."""


def _read_shots(path: Path, described: DatasetDescription) -> tuple[ShotsByClip, list[DatasetFinding]]:
    """The shots of each clip as published, half-open in seconds, and the problems found.

    A clip whose list cannot be read, or does not ascend, is left out. Raises DatasetError for a file without
    the columns.
    """
    table = read_table(path)
    clip_column = table.needed(described.shots.clip, "the clip")
    list_column = table.needed(described.shots.list, "the list of shots")
    rate = described.videos.frames_per_second
    shots_by_clip: ShotsByClip = {}
    findings: list[DatasetFinding] = []
    for row in table.rows:
        clip = row.values.get(clip_column, "").strip()
        try:
            if row.wrong or not clip:
                raise ValueError(row.wrong or "the clip is empty")
            if clip in shots_by_clip:
                raise ValueError(f"the clip {clip!r} stands twice")
            bounds = pairs(row.values[list_column])
            if described.shots.unit == "frames":
                # The last frame belongs to the shot: (9, 14) at 3 frames per second is [2.667, 4.667).
                bounds = tuple(
                    ((first - FIRST_FRAME) / rate, (last - FIRST_FRAME + 1) / rate) for first, last in bounds
                )
            shots = tuple(Interval(start, end) for start, end in bounds)
            for shot, following in pairwise(shots):
                if following.start < shot.end - _MS:
                    raise ValueError(f"the shot {following} begins before {shot} ends")
        except ValueError as error:
            findings.append(DatasetFinding(MALFORMED, row.where, f"no shots can be read: {error}."))
            continue
        shots_by_clip[clip] = shots
        if not shots:
            message = f"{clip} has an empty list: no cut was found, it is one shot."
            findings.append(DatasetFinding(NOTE, row.where, message))
    return shots_by_clip, findings


def touching(shots: Sequence[Interval], gap: float, end: float | None = None) -> tuple[Interval, ...]:
    """The same shots, one or more, without the gaps: each ends where the next begins, half-way in the gap.

    Times are in seconds. The first shot begins at 0 if no more than half a gap is missing there; the last
    ends half a gap later, or at ``end``, that of the film, where it is known. Wider holes stay: the shots at
    both sides grow by half a gap.
    """
    half = gap / 2
    starts = [0.0 if shots[0].start <= half + _MS else round(shots[0].start - half, 6)]
    ends: list[float] = []
    for shot, following in pairwise(shots):
        if following.start - shot.end > gap + _MS:
            ends.append(round(shot.end + half, 6))
            starts.append(round(following.start - half, 6))
            continue
        # Rounded only where there is a gap: shots that touch keep their times to the last digit.
        middle = shot.end
        if shot.end != following.start:
            middle = round((shot.end + following.start) / 2, 6)
        ends.append(middle)
        starts.append(middle)
    if end is not None and end > starts[-1]:
        ends.append(end)
    else:
        ends.append(round(shots[-1].end + half, 6))
    return tuple(map(Interval, starts, ends))
