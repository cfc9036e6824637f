"""A dataset from its files: one loader for all, told by the description how each is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shotad.core.errors import DatasetError
from shotad.evaluation.datasets.actions import ToldActions, read_actions
from shotad.evaluation.datasets.ads import Ad, Dataset, Finding
from shotad.evaluation.datasets.annotation import Annotation, lost_error, read_annotation
from shotad.evaluation.datasets.casts import Casts, casts_of, read_casts
from shotad.evaluation.datasets.description import Description, read_description
from shotad.evaluation.datasets.findings import MALFORMED, MISSING, NOTE, tally
from shotad.evaluation.datasets.oddities import completeness, edition, order
from shotad.evaluation.datasets.shotlists import ShotsByClip, read_shots


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
