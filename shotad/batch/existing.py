"""The audio description that a film of a batch has already, on this machine or on object storage."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from shotad.batch.downloads import read_text
from shotad.batch.films import name_beside
from shotad.batch.jobs import FilmJob, FilmResult, failure
from shotad.batch.places import is_local, join, local_path, name_of, shown
from shotad.batch.store import Store
from shotad.core import ShotadError
from shotad.core.errors import DescriptionExists, FilmError
from shotad.description.existing import (
    ExistingChoice,
    ExistingDescription,
    choose_existing,
    descriptions_beside,
    descriptions_inside,
)
from shotad.film.beside import descriptions_named, is_own_script, stem_of
from shotad.film.container import spoken_language
from shotad.script.track_files import TRACK


def existing_choice(job: FilmJob, film: Path | None) -> ExistingChoice:
    """What the run of ``job`` does with the descriptions that its film has, beside it and inside ``film``.

    ``film`` is the file on this machine; None: only what lies beside it is looked at. Raises
    DescriptionExists where the run stops, FilmError for a film that cannot be read.
    """
    if job.config.existing == "ignore":
        return ExistingChoice()
    descriptions = _beside(job)
    if film is not None:
        descriptions += descriptions_inside(film)

    def has_track() -> bool:
        place = join(job.folder, TRACK)
        return local_path(place).is_file() if is_local(place) else Store(place).find(place) is not None

    # Only for a description that names no language a look into the sound is worth its time.
    is_unnamed = any(not description.language for description in descriptions)
    spoken = spoken_language(film) if film is not None and is_unnamed else None
    return choose_existing(descriptions, job.config, shown(job.film), has_track, spoken or "")


def foreseen_by_existing(job: FilmJob) -> tuple[FilmResult | None, tuple[str, ...]]:
    """The result of a film that would not be described, for it has a description; None for any other. And
    notes on descriptions of one that would be.

    Nothing is fetched: of a film elsewhere only what lies beside it is looked at.
    """
    try:
        choice = existing_choice(job, local_path(job.film) if is_local(job.film) else None)
    except DescriptionExists as error:
        return failure(job, error.what, error.hint, kind=DescriptionExists.__name__, attempts=0), ()
    except FilmError:
        return None, ()  # its run says what is wrong
    return None, choice.notes


def _beside(job: FilmJob) -> list[ExistingDescription]:
    places = {name_beside(job.film, place): place for place in job.descriptions}
    names = [*places]
    if is_local(job.film):
        return descriptions_beside(local_path(job.film), names) if names else []
    heads: dict[str, str] = {}

    def read_head(name: str) -> str:
        heads[name] = ""
        with suppress(ShotadError):
            heads[name] = read_text(places[name])
        return heads[name]

    named = descriptions_named(stem_of(name_of(job.film)), names, read_head, opens_all=False)
    return [
        ExistingDescription(
            shown(places[description.name]),
            description.is_text,
            name=description.name,
            language=description.language,
            is_readable=description.is_readable,
            is_own=is_own_script(heads.get(description.name, "")),
        )
        for description in named
    ]
