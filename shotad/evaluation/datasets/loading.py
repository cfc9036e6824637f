"""Loads whatever a person names as human ADs: a known dataset, the description of one's own, or a plain file.

What is odd or missing is a finding. A plain file needs no description, so anybody can measure on own data.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from shotad.core import DatasetError, Interval, UsageError, parse_json, read_text_file
from shotad.evaluation.datasets.dataset import (
    FIRST_FRAME,
    ActionRow,
    Ad,
    Annotation,
    Dataset,
    Description,
    read_actions,
    read_description,
)
from shotad.evaluation.datasets.tables import (
    MALFORMED,
    MISSING,
    NOTE,
    Finding,
    TableRow,
    pairs,
    plain_id,
    read_records,
    read_table,
    tally,
)

ROOTS = "SHOTAD_DATASETS"
"""The environment variable that names the folder in which each dataset has a folder of its own."""

_PLAIN = (".csv", ".jsonl", ".json", ".ndjson")


def _found(described: Description, root: Path, **named: Path | None) -> dict[str, Path]:
    """By what they hold, the files that are named, or the first that are there."""
    files: dict[str, Path] = {}
    for what, given in named.items():
        if given is not None and not given.is_file():
            called = "ADs" if what == "annotation" else what
            raise DatasetError(f"{given}, the file of {called}, is not there.")
        names = getattr(described, what).files
        places = (root / folder / name for folder in described.folders for name in names)
        if path := given or next((path for path in places if path.is_file()), None):
            files[what] = path
        elif what == "annotation" and not root.is_dir():
            raise DatasetError(f"{root} is no folder.", "Give the dataset's folder by --root.")
        elif what == "annotation":
            below = ", ".join(folder for folder in described.folders if folder != ".")
            raise DatasetError(
                f"{described.name} has no annotation: {' or '.join(names)} is not in {root}, "
                f"nor below it in {below}.",
                "Copy it there from the published repository, or name it by --annotation.",
            )
    return files


def _missing(what: str, names: Sequence[str], why: str, level: str = MISSING) -> list[Finding]:
    about = f"there is no file of {what}: {why}."
    return [Finding(level, " or ".join(names), about, what)] if names else []


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
    """The dataset ``name`` (``cmd-ad``, or the file that describes one's own) below the folder ``root``, or
    the human ADs of the CSV or JSONL file ``name``.

    ``root`` None: the folder of that name below ``$SHOTAD_DATASETS``, or this one where that is not set.
    Files are looked for where the description says, unless they are given. Raises DatasetError where there is
    no annotation, or, unless ``strict`` is False, where a row of it cannot be read: to leave it out would
    change the scores; UsageError for files that a plain file has no use for.
    """
    if Path(name).suffix.lower() in _PLAIN:
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
    files = _found(described, root, annotation=annotation, actions=actions, casts=casts, shots=shots)
    told: dict[str, ActionRow] | None = None
    path = files["annotation"]
    if "actions" in files:
        told, findings = read_actions(files["actions"], described.actions)
        findings = [replace(finding, about="actions") for finding in findings]
    else:
        why = "the action score cannot be counted; shotad evaluate actions makes one"
        findings = _missing("actions", described.actions.files, why)
    read = Annotation(path, described, told)
    ads = tuple(read.ads.values())
    if read.lost and (strict or not ads):
        row, why = read.lost[0]
        raise DatasetError(
            f"{path}: {len(read.lost)} of {len(read.table.rows)} rows are no AD, first line {row.line}: "
            f"{why}.",
            "Correct them; shotad datasets check lists them all. Leaving them out would change what is "
            "measured.",
        )
    if not ads:
        raise DatasetError(f"{path} has no ADs.", "It has a header only.")
    films = {ad.film: read.films.get(ad.film, "") for ad in ads}
    found_casts, about_casts = _casts(described, files.get("casts"), films)
    found_shots, about_shots = _shots(described, files.get("shots"), ads)
    lost = [Finding(MALFORMED, row.where, f"this is no AD: {why}.") for row, why in read.lost]
    odd = (*_order(ads), *_edition(described, read), *_completeness(described, ads))
    return Dataset(
        name=described.name,
        title=described.title or described.name,
        root=root,
        ads=ads,
        casts=found_casts,
        shots=found_shots,
        findings=(*findings, *read.findings, *lost, *about_casts, *about_shots, *odd),
        config=described.config,
        films=read.films,
        description=described,
        files=files,
    )


def _casts(described: Description, path: Path | None, films: dict[str, str]) -> tuple[Casts, list[Finding]]:
    if path is None:
        why, level = "CRITIC cannot be counted; name one by --casts", MISSING
        return {}, _missing("casts", described.casts.files, why, level if described.casts.needed else NOTE)
    casts = casts_of(films, read_casts(path))
    without = [film for film in films if film not in casts]
    what = f"films without names, of {len(films):,}"
    return casts, [Finding(MISSING, path.name, tally(what, without), "casts")] if without else []


def _shots(described: Description, path: Path | None, ads: Sequence[Ad]) -> tuple[ShotsByClip, list[Finding]]:
    if path is None:
        why = "shots are found again, which needs the videos"
        return {}, _missing("shots", described.shots.files, why, NOTE)
    shots, findings = _read_shots(path, described)
    clips = dict.fromkeys(ad.clip for ad in ads)
    without = [clip for clip in clips if clip not in shots]
    uncut = [ad.id for ad in ads if ad.clip in shots and not shots[ad.clip]]
    late = [ad.id for ad in ads if shots.get(ad.clip) and ad.slot.end > shots[ad.clip][-1].end]
    notes = (
        (uncut, "ADs in clips without a cut"),
        (without, "clips without a list of shots"),
        (late, "ADs that end after the last shot of their clip"),
    )
    findings += [Finding(NOTE, path.name, tally(what, names)) for names, what in notes if names]
    findings = [replace(finding, about="shots") for finding in findings]
    return {clip: shots[clip] for clip in clips if clip in shots}, findings


def _order(ads: Iterable[Ad]) -> list[Finding]:
    """Films whose ADs are not in order of time, and neighbours that overlap: dealt with, but to be known."""
    films: dict[str, list[Ad]] = defaultdict(list)
    for ad in ads:
        films[ad.film].append(ad)
    starts = {film: [ad.interval.start for ad in those] for film, those in films.items()}
    unsorted = [film for film, those in starts.items() if those != sorted(those)]
    pairs = [pair for those in films.values() for pair in pairwise(sorted(those, key=lambda ad: ad.interval))]
    same = [(one, other) for one, other in pairs if one.interval == other.interval and one.text == other.text]
    twice = [one.id for one, _ in same]
    overlaps = [one.id for one, other in pairs if one.interval.overlaps(other.interval)]
    overlaps = [name for name in overlaps if name not in twice]
    notes = (
        (unsorted, f"films whose ADs are not in order of time, of {len(films):,}"),
        (overlaps, "ADs that overlap the next of their film"),
        (twice, "ADs that stand twice, with the same time and text"),
    )
    return [Finding(NOTE, "annotation", tally(what, names)) for names, what in notes if names]


_ENOUGH = 10
"""ADs that it takes to tell one edition's numbers of frames from another's."""


def _edition(described: Description, read: Annotation) -> list[Finding]:
    """Says where the numbers of frames are another edition's, which run longer against the seconds."""
    rule, table = described.slot, read.table
    start, end = table.column(rule.start), table.column(rule.end)
    if rule.kind != "frames" or rule.longest is None or not start or not end or len(read.ads) < _ENOUGH:
        return []
    lost = {id(row) for row, _ in read.lost}
    rows = [row for row in table.rows if id(row) not in lost]
    rate = described.videos.frames_per_second
    try:
        spans = [(float(row.values[end]) - float(row.values[start])) * rate for row in rows]
    except ValueError:
        return []
    longer = [
        ad.slot.duration * rate - 1 - span
        for ad, span in zip(read.ads.values(), spans, strict=True)
        if ad.slot.start > 0
    ]
    mean = sum(longer) / max(len(longer), 1)
    if not longer or mean <= rule.longest:
        return []
    what = (
        f"the numbers of frames are those of another edition (AutoAD-Zero's run about a frame longer than "
        f"Shot-by-Shot's; here {mean:+.2f} frames against the seconds, at most {rule.longest:+.2f} there). "
        "Slots differ by up to 2 frames; for Shot-by-Shot's, take its annotation."
    )
    return [Finding(NOTE, f"{table.path.name}, {' or '.join(rule.frames)}", what)]


def _completeness(described: Description, ads: Sequence[Ad]) -> list[Finding]:
    """Says where this is not all that was published."""
    told = [ad.actions for ad in ads if ad.actions is not None]
    have = {
        "ads": (len(ads), "ADs"),
        "clips": (len({ad.clip for ad in ads}), "clips"),
        "films": (len({ad.film for ad in ads}), "films or episodes"),
        "actions": (sum(map(len, told)), "actions"),
        "without_actions": (len(ads) - len(told), "ADs without actions"),
    }
    found = []
    for key, (count, what) in have.items():
        published = getattr(described.published, key)
        if published is not None and published != count and (told or "actions" not in key):
            says = f"{count:,} {what}; {described.title} as published has {published:,}."
            found.append(Finding(MISSING if key == "ads" and count < published else NOTE, "in all", says))
    return found


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
"""What each thing may be called."""


def load_references(path: Path, *, casts: Path | None = None) -> Dataset:
    """Human ADs from CSV or JSON Lines: id, text (or references, a list), film, start, end, perhaps actions.
    Raises DatasetError for what cannot be read, and for ids that are missing or stand twice."""
    records = read_records(path)
    columns = {key: name for key, names in NAMES.items() if (name := records.column(names))}
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
    films = {
        ad.film: title
        for ad, row in zip(ads.values(), records.rows, strict=True)
        if (title := row.text(columns.get("title")))
    }
    found = read_casts(casts) if casts else {}
    without = [film for film in dict.fromkeys(ad.film for ad in ads.values()) if film not in found]
    findings = list(records.findings)
    if "film" not in columns:
        what = "there is no column film: all ADs are taken for one film's."
        findings.append(Finding(NOTE, path.name, what))
    if not {"start", "end"} <= set(columns):
        what = "there are no times: the order of the rows is taken for theirs."
        findings.append(Finding(NOTE, path.name, what))
    if all(ad.actions is None for ad in ads.values()):
        what = "there are no actions: the action score cannot be counted; shotad evaluate actions makes them."
        findings.append(Finding(MISSING, path.name, what, "actions"))
    if without:
        what = (
            f"{len(without)} films have no names ({''.join(without[:1])}), CRITIC needs them: name a file by "
            "--casts."
        )
        findings.append(Finding(MISSING, path.name, what, "casts"))
    return Dataset(
        path.stem,
        path.stem,
        path.parent,
        tuple(ads.values()),
        {ad.film: found[ad.film] for ad in ads.values() if ad.film in found},
        findings=tuple(findings),
        films=films,
        files={"annotation": path} | ({"casts": casts} if casts else {}),
    )


def _ad(row: TableRow, columns: Mapping[str, str], place: int) -> Ad:
    def text(key: str) -> str:
        return (row.text(columns.get(key)) or "").strip()

    said = [text("text"), *(row.list(columns.get("references")) or ())]
    texts = tuple(dict.fromkeys(one for one in said if one))
    name = plain_id(text("id"))
    if not name or not texts:
        raise row.error(f"there is no {'text' if name else 'id'}", "Each AD needs both.")
    film = text("film") or row.path.stem
    start, end = (row.number(columns.get(side)) for side in ("start", "end"))
    if start is None and end is None:
        start, end = float(place), place + 1.0
    if start is None or end is None or start >= end:
        what = f"start {start} and end {end} are no stretch of time"
        raise row.error(what, "Give both, in seconds.")
    interval = Interval(start, end)
    actions = row.list(columns.get("actions")) or None
    return Ad(name, film, text("clip") or film, interval, interval, texts[0], actions, texts[1:])


Casts = dict[str, tuple[str, ...]]

_REMARK = re.compile(r"(?:(?<!\s)\s+)?\((?:as|uncredited|voice|credit only)\b[^()]*\)", re.IGNORECASE)
"""Glued to some published roles: ``Robert(as Alan Marshall)``."""


def read_casts(path: Path) -> Casts:
    """Names by film, each once and in the file's order: ``{film: [name, …]}`` as in AutoAD's list for CRITIC,
    or ``{film: [{id, name, role}, …]}`` as in the character banks, whose names are the roles. Raises
    DatasetError."""
    hint = 'Write JSON: {"film": ["name", …], …}.'
    try:
        tree = parse_json(read_text_file(path, "cast", DatasetError, hint=hint, encoding="utf-8").text)
    except ValueError as error:
        raise DatasetError(f"The cast {path} cannot be read: {error}.", hint) from None
    if not isinstance(tree, Mapping):
        raise DatasetError(f"The cast {path} has no films: it is a {type(tree).__name__}.", hint)
    found: Casts = {}
    for film, entries in tree.items():
        if not isinstance(entries, list):
            what = f"The cast {path}, film {film!r}: {entries!r} is no list of names."
            raise DatasetError(what, 'Write ["name", …].')
        names: dict[str, None] = {}
        for entry in entries:
            role = entry.get("role") if isinstance(entry, Mapping) else entry
            if not isinstance(role, str):
                what = f"The cast {path}, film {film!r}: {entry!r} is no name."
                raise DatasetError(what, 'Write a text, or {"role": text}.')
            names[" ".join(_REMARK.sub("", role).split())] = None
        found[film] = tuple(filter(None, names))
    return found


def casts_of(films: Mapping[str, str], read: Casts) -> Casts:
    """The casts of these films (title by film), whose keys in the file are the film or its title."""
    found = {film: read.get(film) or read.get(title) for film, title in films.items()}
    return {film: names for film, names in found.items() if names}


ShotsByClip = dict[str, tuple[Interval, ...]]

_MS = 0.001
"""Seconds: published times are whole milliseconds with the noise of floats."""


def _read_shots(path: Path, described: Description) -> tuple[ShotsByClip, list[Finding]]:
    """The shots of each clip as published, half-open in seconds, and what is wrong with them: a clip whose
    list cannot be read, or does not ascend, is left out. Raises DatasetError for a file without the columns.
    """
    table = read_table(path)
    clips = table.needed(described.shots.clip, "the clip")
    lists = table.needed(described.shots.list, "the list of shots")
    rate = described.videos.frames_per_second
    found: ShotsByClip = {}
    findings: list[Finding] = []
    for row in table.rows:
        clip = row.values.get(clips, "").strip()
        try:
            if row.wrong or not clip:
                raise ValueError(row.wrong or "the clip is empty")
            if clip in found:
                raise ValueError(f"the clip {clip!r} stands twice")
            spans = pairs(row.values[lists])
            if described.shots.unit == "frames":  # (9, 14) at 3 a second is [2.667, 4.667)
                spans = tuple(((a - FIRST_FRAME) / rate, (b - FIRST_FRAME + 1) / rate) for a, b in spans)
            shots = tuple(Interval(a, b) for a, b in spans)
            for one, other in pairwise(shots):
                if other.start < one.end - _MS:
                    raise ValueError(f"the shot {other} begins before {one} ends")
        except ValueError as error:
            findings.append(Finding(MALFORMED, row.where, f"no shots can be read: {error}."))
            continue
        found[clip] = shots
        if not shots:
            what = f"{clip} has an empty list: no cut was found, it is one shot."
            findings.append(Finding(NOTE, row.where, what))
    return found, findings


def touching(shots: Sequence[Interval], gap: float, end: float | None = None) -> tuple[Interval, ...]:
    """The same shots, one or more, without the gaps: each ends where the next begins, half-way in the gap.
    The first begins at 0 if what is missing there is half a gap; the last ends half a gap later, or at
    ``end``, the film's, where that is known. A hole that is wider than the gap is left as it is."""
    half = gap / 2
    edge = gap + _MS
    starts = [0.0 if shots[0].start <= half + _MS else round(shots[0].start - half, 6)]
    ends: list[float] = []
    for one, other in pairwise(shots):
        near = other.start - one.end <= edge
        middle = one.end if one.end == other.start else round((one.end + other.start) / 2, 6)
        ends.append(middle if near else round(one.end + half, 6))
        starts.append(middle if near else round(other.start - half, 6))
    last = round(shots[-1].end + half, 6)
    ends.append(end if end is not None and end > starts[-1] else last)
    return tuple(map(Interval, starts, ends))
