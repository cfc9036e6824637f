"""The films of a folder, and how far each is: what the first screen lists.

What the server itself keeps lies in a hidden folder beside the films: the secret that lets a browser in, the
films that wait, why films failed, and uploads under way.
"""

from __future__ import annotations

import hashlib
import os
import threading
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shotad.batch import STDIN, FilmJob, PlannedFilm, Planner, existing_choice, film_labels, find_films
from shotad.core import Config, ShotadError, load_config
from shotad.core.errors import DescriptionExists, FilmError, WorkFolderError
from shotad.core.files import as_work_folder_errors, inner_folder
from shotad.core.progress import printable
from shotad.core.runsettings import read_settings
from shotad.core.settings import assignments_of
from shotad.core.workfolder import SETTINGS_FILE
from shotad.review.messages import refusal, with_texts
from shotad.review.session_files import Signature, signature
from shotad.script import load_track
from shotad.script.cue import REDO, is_changed
from shotad.script.track_files import TRACK

OWN_FOLDER = ".shotad"
"""The hidden folder beside the films. Names that begin with a dot are never searched for films."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What a person chose for a film on the page; empty: as ``shotad describe`` does by itself.

    ``engine`` is what ``--engine`` takes, ``language`` a tag such as ``de``, ``existing`` what ``--existing``
    takes, for a film that has a description.
    """

    engine: str = ""
    language: str = ""
    existing: str = ""

    def as_flags(self) -> dict[str, str]:
        """The settings that were chosen, by name."""
        flags = {"engine": self.engine, "language": self.language, "existing": self.existing}
        return {name: value for name, value in flags.items() if value}

    def config(self) -> Config:
        """The settings of a run. Raises ConfigError for a choice that is not known."""
        return load_config((), (), **self.as_flags())


@dataclass(frozen=True, slots=True)
class ListedFilm:
    """A film of the folder. ``id`` is the same as long as the film stays at its place, and is safe in an
    address; ``label`` is its name for people."""

    id: str
    label: str
    planned: PlannedFilm

    @property
    def path(self) -> Path:
        """Where the film is."""
        return Path(self.planned.job.film)

    @property
    def work_folder(self) -> Path:
        """Where its work folder is, or will be."""
        return Path(self.planned.job.folder)


class FilmFolder:
    """A folder of films on this machine, with all folders below it. May be used by several threads."""

    def __init__(self, path: Path) -> None:
        """Raises WorkFolderError where the hidden folder cannot be made, or is a link."""
        self.path = path.absolute()
        self.own_folder = inner_folder(self.path, OWN_FOLDER)
        with as_work_folder_errors(self.own_folder, "cannot be made"):
            self.own_folder.mkdir(exist_ok=True)
        # One planner for as long as the server runs: a film keeps the work folder that it was given.
        self._planner = Planner(_shared_job(Choices()))
        self._lock = threading.Lock()
        self._counts: dict[Path, tuple[Signature, dict[str, Any]]] = {}
        self._existing: dict[Path, tuple[Any, dict[str, Any] | None]] = {}

    def films(self) -> list[ListedFilm]:
        """The films that are there now, sorted by path. Raises FilmError where the folder is gone."""
        if not self.path.is_dir():
            raise with_texts(
                FilmError, "films.folder_gone", folder=printable(self.path.name or str(self.path))
            )
        with self._lock:
            planned_films = self._planner.plan(find_films((str(self.path),)))
        labels = film_labels(planned_films)
        return [
            ListedFilm(_film_id(self.path, planned.job.film), label, planned)
            for label, planned in zip(labels, planned_films, strict=True)
        ]

    def film(self, film_id: str) -> ListedFilm:
        """The film with this id. Raises ReviewError where there is none (any more)."""
        for film in self.films():
            if film.id == film_id:
                return film
        raise refusal("films.not_there")

    def plan(self, film_id: str, choices: Choices) -> PlannedFilm:
        """The film, with everything that a run by ``choices`` is asked to do.

        What lies beside the film applies as in ``shotad batch``, and what was chosen goes before it. Raises
        ReviewError for a film that is gone, ConfigError for choices that cannot be.
        """
        film = self.film(film_id)
        if not choices.existing and os.path.lexists(film.work_folder / TRACK):
            # What was chosen for the description that the film had holds on.
            with suppress(ShotadError):
                last_run = read_settings(film.work_folder)
                choices = replace(choices, existing=last_run.config.existing)
        planner = Planner(_shared_job(choices), explicit=assignments_of(choices.as_flags()))
        # All films are planned, so that each gets the work folder that the list shows.
        for planned in planner.plan(find_films((str(self.path),))):
            if planned.job.film == film.planned.job.film:
                return planned
        raise refusal("films.moved", film=film.label)

    def state_of(self, film: ListedFilm) -> dict[str, Any]:
        """How far a film is, by its work folder: ``state``, ``counts`` of its lines, ``error`` if any.

        The states: ``new``, ``has_description`` (not made here; ``can_complete`` says whether its lines can
        be read), ``begun`` (records but no track), ``described``, ``edited``, ``failed``.
        """
        trouble = film.planned.trouble
        if trouble is not None and trouble.error is not None:
            return _failed(*trouble.error)
        track_file = film.work_folder / TRACK
        if not os.path.lexists(track_file):
            existing = self._existing_view(film)
            if existing is not None:
                return existing
            is_begun = os.path.lexists(film.work_folder / SETTINGS_FILE)
            return {"state": "begun" if is_begun else "new", "counts": None, "error": None}
        mark = signature(track_file)
        with self._lock:
            last_count = self._counts.get(track_file)
        if last_count is not None and last_count[0] == mark:
            return last_count[1]
        try:
            state_view = _state_of_track(track_file)
        except ShotadError as error:
            state_view = _failed(error.what, error.hint)
        with self._lock:
            self._counts[track_file] = (mark, state_view)
        return state_view

    def _existing_view(self, film: ListedFilm) -> dict[str, Any] | None:
        """The state of a film that has a description; None for one that has none."""
        job = film.planned.job
        # Opening every film for every list would take long.
        files = [film.path, *map(Path, job.descriptions)]
        mark = (*(signature(file) for file in files), job.config.language, job.config.existing)
        with self._lock:
            last_view = self._existing.get(film.path)
        if last_view is not None and last_view[0] == mark:
            return last_view[1]
        view: dict[str, Any] | None = None
        try:
            existing_choice(job, film.path)
        except DescriptionExists as error:
            view = {
                "state": "has_description",
                "counts": None,
                "error": None,
                "descriptions": [printable(name) for name in error.files],
                "can_complete": error.has_lines,
            }
        except ShotadError:
            pass  # what is wrong with the film is said when it is described
        with self._lock:
            self._existing[film.path] = (mark, view)
        return view


def _shared_job(choices: Choices) -> FilmJob:
    """A job whose film and folder do not count, as `Planner` takes it."""
    return FilmJob(STDIN, STDIN, config=choices.config())


def _film_id(folder: Path, film: str) -> str:
    """12 hexadecimal digits for a film, by its path from the folder on."""
    relative = os.path.relpath(film, folder)
    return hashlib.sha256(os.fsencode(relative)).hexdigest()[:12]


def _failed(problem: str, hint: str) -> dict[str, Any]:
    error = {"what": printable(problem), "hint": printable(hint)}
    return {"state": "failed", "counts": None, "error": error}


def _state_of_track(track_file: Path) -> dict[str, Any]:
    """The state of a film that is described, and how many lines it has, and to write, edited, accepted.

    Raises ShotadError for a track that cannot be read.
    """
    track = load_track(track_file)
    edited = sum(
        1 for cue in track.cues if is_changed(cue) and cue.edited is not None and cue.edited.source != REDO
    )
    accepted = sum(1 for cue in track.heard if cue.review is not None)
    to_write = sum(1 for cue in track.cues if not cue.heard and not cue.text)
    counts = {"lines": len(track.heard), "to_write": to_write, "edited": edited, "accepted": accepted}
    return {"state": "edited" if edited or accepted else "described", "counts": counts, "error": None}


def check_films_folder(path: Path) -> None:
    """Raises WorkFolderError where nothing can be written in a folder of films."""
    if not os.access(path, os.W_OK | os.X_OK):
        raise WorkFolderError(
            f"Nothing can be written in {path}.", "Name a folder of yours: work folders go beside the films."
        )
