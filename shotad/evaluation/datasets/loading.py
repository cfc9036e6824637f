"""A dataset from its files: one loader for all, told by the description how each is written.

What is odd about a dataset as a whole, though each row of it can be read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from shotad.core import DatasetError
from shotad.evaluation.datasets.actions import ToldActions, read_actions
from shotad.evaluation.datasets.ads import Ad, Dataset, Finding
from shotad.evaluation.datasets.annotation import Annotation, lost_error, read_annotation
from shotad.evaluation.datasets.casts import Casts, casts_of, read_casts
from shotad.evaluation.datasets.description import Description, read_description
from shotad.evaluation.datasets.findings import MALFORMED, MISSING, NOTE, tally
from shotad.evaluation.datasets.shotlists import ShotsByClip, read_shots


def order(ads: Iterable[Ad]) -> list[Finding]:
    """Films whose ADs are not in order of time, and neighbours that overlap: dealt with, but to be known."""
    films: dict[str, list[Ad]] = defaultdict(list)
    for ad in ads:
        films[ad.film].append(ad)
    unsorted = [film for film, those in films.items() if _starts(those) != sorted(_starts(those))]
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


def _starts(ads: Iterable[Ad]) -> list[float]:
    return [ad.interval.start for ad in ads]


_ENOUGH = 10
"""ADs that it takes to tell one edition's numbers of frames from another's."""


def edition(described: Description, read: Annotation) -> list[Finding]:
    """Says where the numbers of frames are another edition's, which run longer against the seconds."""
    rule, table = described.slot, read.table
    start, end = table.column(rule.start), table.column(rule.end)
    if rule.kind != "frames" or rule.longest is None or not start or not end or len(read.ads) < _ENOUGH:
        return []
    lost = {id(row) for row, _ in read.lost}
    rows = [row for row in table.rows if id(row) not in lost]
    rate = described.videos.frames_per_second
    try:
        spans = [(float(row.cells[end]) - float(row.cells[start])) * rate for row in rows]
    except ValueError:
        return []
    longer = [
        ad.slot.duration * rate - 1 - span
        for ad, span in zip(read.ads, spans, strict=True)
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


def completeness(described: Description, ads: Sequence[Ad]) -> list[Finding]:
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


@dataclass(frozen=True, slots=True)
class _Whereabouts:
    """Where files are looked for."""

    described: Description
    root: Path

    def find(self, what: str, names: Sequence[str], given: Path | None) -> Path | None:
        """The file that is given, or the first that is there. Raises DatasetError for a given one that is
        not."""
        if given is not None:
            if not given.is_file():
                raise DatasetError(f"{given}, the file of {what}, is not there.")
            return given
        places = (self.root / folder / name for folder in self.described.folders for name in names)
        return next((path for path in places if path.is_file()), None)

    def missing(self, what: str, names: Sequence[str], why: str, level: str = MISSING) -> list[Finding]:
        if not names:
            return []
        return [Finding(level, " or ".join(names), f"there is no file of {what}: {why}.")]


def load_dataset(
    name: str,
    root: Path,
    *,
    annotation: Path | None = None,
    actions: Path | None = None,
    shots: Path | None = None,
    casts: Path | None = None,
    strict: bool = True,
) -> Dataset:
    """The dataset ``name`` (``cmd-ad``, or the file that describes one's own) below the folder ``root``.

    Files are looked for where the description says, unless they are given. What is missing besides the
    annotation, and what is odd, is in ``findings``. Raises DatasetError where there is no annotation, or,
    unless ``strict`` is False, where a row of it cannot be read: to leave it out would change the scores.
    """
    described = read_description(name)
    here = _Whereabouts(described, root)
    path = _annotation_path(here, annotation)
    files = {"annotation": path}
    told, findings = _told(here, actions, files)
    read = read_annotation(path, described, told)
    if not read.ads or (strict and read.lost):
        raise lost_error(read) if read.lost else DatasetError(f"{path} has no ADs.", "It has a header only.")
    films = {ad.film: read.films.get(ad.film, "") for ad in read.ads}
    found_casts, about_casts = _casts(here, casts, files, films)
    found_shots, about_shots = _shots(here, shots, files, read.ads)
    odd = (*order(read.ads), *edition(described, read), *completeness(described, read.ads))
    return Dataset(
        name=described.name,
        title=described.title or described.name,
        root=root,
        ads=read.ads,
        casts=found_casts,
        shots=found_shots,
        findings=(*findings, *read.findings, *_lost(read), *about_casts, *about_shots, *odd),
        config=described.config,
        films=read.films,
        description=described,
        files=files,
    )


def _annotation_path(here: _Whereabouts, given: Path | None) -> Path:
    names = here.described.annotation.files
    found = here.find("ADs", names, given)
    if found is None:
        if not here.root.is_dir():
            raise DatasetError(f"{here.root} is no folder.", "Give the dataset's folder by --root.")
        raise DatasetError(
            f"{here.described.name} has no annotation: {' or '.join(names)} is not in {here.root}, nor below "
            f"it in {', '.join(f for f in here.described.folders if f != '.')}.",
            "Copy it there from the published repository, or name it by --annotation.",
        )
    return found


def _told(
    here: _Whereabouts, given: Path | None, files: dict[str, Path]
) -> tuple[ToldActions, list[Finding]]:
    named = here.described.actions
    path = here.find("actions", named.files, given)
    if path is None:
        why = "the action score cannot be counted; shotad evaluate actions makes one"
        return ToldActions(), here.missing("actions", named.files, why)
    files["actions"] = path
    told = read_actions(path, named)
    return told, list(told.findings)


def _lost(read: Annotation) -> list[Finding]:
    return [Finding(MALFORMED, read.table.where(row), f"this is no AD: {why}.") for row, why in read.lost]


def _casts(
    here: _Whereabouts, given: Path | None, files: dict[str, Path], films: dict[str, str]
) -> tuple[Casts, list[Finding]]:
    names = here.described.casts.files
    path = here.find("casts", names, given)
    if path is None:
        level = MISSING if here.described.casts.needed else NOTE
        return {}, here.missing("casts", names, "CRITIC cannot be counted; name one by --casts", level)
    files["casts"] = path
    casts = casts_of(films, read_casts(path))
    without = [film for film in films if film not in casts]
    what = f"films without names, of {len(films):,}"
    return casts, [Finding(MISSING, path.name, tally(what, without))] if without else []


def _shots(
    here: _Whereabouts, given: Path | None, files: dict[str, Path], ads: Sequence[Ad]
) -> tuple[ShotsByClip, list[Finding]]:
    names = here.described.shots.files
    path = here.find("shots", names, given)
    if path is None:
        return {}, here.missing("shots", names, "shots are found anew, which needs the videos", NOTE)
    files["shots"] = path
    shots, findings = read_shots(path, here.described)
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
    return {clip: shots[clip] for clip in clips if clip in shots}, findings
