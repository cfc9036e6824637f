"""From what a person names (folders, films, patterns, lists) to one job for each film.

The command line speaks for all films; what lies beside a film speaks for that film, and wins.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from glob import glob
from pathlib import Path

from shotad.batch.folders import Folders
from shotad.batch.jobs import FilmJob, FilmResult, failure
from shotad.batch.sidecars import Beside, Neighbours, beside_of
from shotad.batch.storage.fetching import brought, read_text
from shotad.batch.storage.finding import Found, films_in
from shotad.batch.storage.places import is_address, is_local, join, local_path, name_of, parent_of, shown
from shotad.batch.storage.targets import check_target
from shotad.core import Config, ShotadError, is_text, load_settings, stem_of, unnamed

STDIN = "-"


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a batch asks of all its films; fields as in `FilmJob`.

    ``out`` is the folder of the work folders (None: beside the films); with ``alone`` nothing that lies
    beside a film is used.
    """

    config: Config = field(default_factory=Config)
    configs: tuple[str, ...] = ()
    assignments: tuple[str, ...] = ()
    out: str | None = None
    cast: str | None = None
    cast_photos: str | None = None
    start: float = 0.0
    end: float | None = None
    rate: str | None = None
    makes: tuple[str, ...] = ()
    sheet: bool = True
    force: bool = False
    discard_edits: bool = False
    timed: bool = False
    scratch: str | None = None
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Planned:
    """A film of the batch: its job, its size in bytes, what lies beside it and is used, and what makes it
    impossible before it is begun."""

    job: FilmJob
    size: int = 0
    uses: tuple[str, ...] = ()
    trouble: FilmResult | None = None

    @property
    def name(self) -> str:
        """The film's name, without its folder."""
        return name_of(self.job.film)


class Planner:
    """Gives every film its job and a work folder of its own, also those that come later.

    Raises StorageError where the folder for all work folders is no place to write to.
    """

    def __init__(self, wishes: Wishes) -> None:
        if wishes.out is not None:
            check_target(wishes.out)
        self._wishes = wishes
        self._folders = Folders(wishes.out)
        self._configs: dict[tuple[str, ...], Config] = {}

    def plan(self, found: Sequence[Found], neighbours: Neighbours | None = None) -> list[Planned]:
        """The jobs of ``found`` films, in that order; ``neighbours`` knows what lies beside them."""
        near = neighbours or Neighbours()
        if not self._wishes.alone:
            near.read(parent_of(one.place) for one in found)
        folders = self._folders.of([one.place for one in found])
        return [self._one(film, folder, near) for film, folder in zip(found, folders, strict=True)]

    def lost(self, place: str, error: ShotadError) -> Planned:
        """A film of a list that is not there."""
        job = self._plain(Found(place, None, None), self._folders.of([place])[0])
        return Planned(job, trouble=_failed(job, error))

    def _plain(self, film: Found, folder: str) -> FilmJob:
        """The film's job, as the batch wishes it."""
        wishes = self._wishes
        return FilmJob(
            film.place,
            folder,
            wishes.config,
            cast=wishes.cast,
            cast_photos=wishes.cast_photos,
            cast_key=_key(wishes.cast, film.place),
            start=wishes.start,
            end=wishes.end,
            rate=wishes.rate,
            makes=wishes.makes,
            configs=wishes.configs,
            assignments=wishes.assignments,
            sheet=wishes.sheet,
            force=wishes.force,
            discard_edits=wishes.discard_edits,
            timed=wishes.timed,
            stamp=_stamp(film),
            scratch=wishes.scratch,
        )

    def _one(self, film: Found, folder: str, near: Neighbours) -> Planned:
        plain, size = self._plain(film, folder), film.size or 0
        if not is_text(film.place):
            return Planned(plain, size, trouble=_failed(plain, unnamed(film.place)))
        if self._wishes.alone:
            return Planned(plain, size)
        try:
            beside = beside_of(film.place, near, self._wishes.config.language)
            return Planned(self._with(plain, beside), size, beside.names)
        except ShotadError as error:
            return Planned(plain, size, trouble=_failed(plain, error))

    def _with(self, job: FilmJob, beside: Beside) -> FilmJob:
        """The job with what lies beside its film in place of what the batch says."""
        config = self._config(beside.settings)
        if beside.note is not None and (note := read_text(beside.note).strip()):
            prompt = config.prompt.model_copy(update={"note": note})
            config = config.model_copy(update={"prompt": prompt})
        if beside.cast is not None:
            job = replace(job, cast=beside.cast, cast_key="", cast_photos=None)
        configs = (*job.configs, *beside.settings)
        return replace(job, config=config, configs=configs, subtitles=beside.subtitles)

    def _config(self, files: tuple[str, ...]) -> Config:
        """The batch's settings under those of ``files``, the nearest to the film last."""
        if files not in self._configs:
            with tempfile.TemporaryDirectory() as folder:
                here = [str(brought(file, Path(folder, str(n)))) for n, file in enumerate(files)]
                self._configs[files] = load_settings(Config, here, under=self._wishes.config)
        return self._configs[files]


def _failed(job: FilmJob, error: ShotadError) -> FilmResult:
    return failure(job, error.what, error.hint, kind=type(error).__name__, attempts=0)


def _key(cast: str | None, film: str) -> str:
    """Of a bank of many films' casts: that of this film is called as the film."""
    return stem_of(name_of(film)) if cast is not None and cast.lower().endswith(".json") else ""


def _stamp(film: Found) -> str:
    """What tells a version of a film elsewhere; one of this machine is looked at itself."""
    if is_local(film.place):
        return ""
    return f"{film.size} {film.changed.isoformat() if film.changed else ''}"


@dataclass(frozen=True, slots=True)
class Gathered:
    """The films that were named, each once; ``lost`` are lines of a list with nothing there, and why."""

    found: tuple[Found, ...] = ()
    lost: tuple[tuple[str, ShotadError], ...] = ()

    def planned(self, planner: Planner) -> list[Planned]:
        """A job for each film, and for each that is lost its failure."""
        return [*planner.plan(self.found), *(planner.lost(place, error) for place, error in self.lost)]

    def only(self, films: Iterable[str]) -> Gathered:
        """Those of ``films`` alone, which are named as reports do: without keys."""
        wanted = frozenset(films)
        lost = tuple(one for one in self.lost if shown(one[0]) in wanted)
        return Gathered(tuple(film for film in self.found if shown(film.place) in wanted), lost)


def gather(sources: Iterable[str], listed: Iterable[str] = (), rate: str | None = None) -> Gathered:
    """The films of ``sources`` and of the lines of lists, in that order.

    ``rate``: a folder without films is one of numbered frames. Raises FilmError where there is nothing by the
    name of a source; of a list the others are taken.
    """
    found: dict[str, Found] = {}
    lost: dict[str, ShotadError] = {}
    for source in sources:
        found.update((film.place, film) for film in _films_of(source, rate) if film.place not in found)
    for line in listed:
        try:
            found.update((film.place, film) for film in _films_of(line, rate) if film.place not in found)
        except ShotadError as error:
            lost[_absolute(line)] = error
    return Gathered(tuple(found.values()), tuple(lost.items()))


def _films_of(source: str, rate: str | None) -> Iterator[Found]:
    place, found = _absolute(source), False
    for film in films_in(place):
        found = True
        yield film
    if not found and rate is not None and is_local(place) and Path(place).is_dir():
        yield Found(place, None, None)


def _absolute(place: str) -> str:
    return os.path.abspath(local_path(place)) if is_local(place) else place


def read_list(name: str, text: str) -> list[str]:
    """The places that a list names, one a line; empty lines and those that begin with # say nothing.

    Paths are in relation to the folder of the list or, where nothing is there, that of the command.
    """
    folder = None if name == STDIN else parent_of(name)
    lines = (line.strip() for line in text.splitlines())
    return [_placed(line, folder) for line in lines if line and not line.startswith("#")]


def _placed(line: str, folder: str | None) -> str:
    line = os.path.expanduser(line)
    if folder is None or is_address(line) or os.path.isabs(line):
        return line
    beside = join(folder, line)
    return line if not is_address(beside) and not glob(beside) and glob(line) else beside
