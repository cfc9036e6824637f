"""From what a person names (folders, films, patterns, lists) to one job for each film.

The command line speaks for all films; what lies beside a film speaks for that film. It wins over what
``--config`` says, but not over settings that options name. Files beside a film may have come with it: they
choose no server, key or program, unless the user trusts their folder.

Each film has a work folder, and never one with another. It keeps the folder that an earlier run gave it,
whatever films come beside it later: the folder's own ``settings.json`` says whose it is.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from glob import glob
from pathlib import Path

from shotad.batch.downloads import brought, read_text
from shotad.batch.films import Beside, FilesBeside, beside_of, films_in, names_elsewhere
from shotad.batch.jobs import FilmJob, FilmResult, failure
from shotad.batch.places import (
    WEB,
    is_address,
    is_local,
    join,
    local_path,
    name_of,
    parent_of,
    scheme_of,
    shown,
    without_query,
    work_place_of,
)
from shotad.batch.store import Store, StoredObject, check_target
from shotad.core import Config, ShotadError
from shotad.core.errors import ConfigError, FilmError, WorkFolderError
from shotad.core.files import read_file
from shotad.core.progress import film_name_problem, is_text
from shotad.core.records import parse_json
from shotad.core.settings import assignments_of, load_settings
from shotad.core.trust import is_trusted, refuse_foreign
from shotad.core.workfolder import SETTINGS_FILE, file_stem
from shotad.film.beside import is_film_name, refuse_link_out

STDIN = "-"


@dataclass(frozen=True, slots=True)
class PlannedFilm:
    """A film of the batch: its job, its size in bytes, what lies beside it and is used, and what makes it
    impossible before it is begun."""

    job: FilmJob
    size: int = 0
    uses: tuple[str, ...] = ()
    trouble: FilmResult | None = None


class Planner:
    """Gives every film its job and a work folder of its own, also those that come later.

    ``shared`` is what is asked of all of them: a job whose film and folder do not count. ``out`` is the
    folder of the work folders (None: beside the films); with ``alone`` nothing that lies beside a film is
    used. ``explicit`` are the settings that options name, as ``KEY=VALUE``: no file beside a film changes
    them. Raises StorageError where the folder for all work folders is no place to write to.
    """

    def __init__(
        self, shared: FilmJob, out: str | None = None, *, alone: bool = False, explicit: Sequence[str] = ()
    ) -> None:
        if out is not None:
            check_target(out)
        self._shared, self._alone = shared, alone
        self._explicit = tuple(explicit)
        if any(text.partition("=")[0].strip() == "engine" for text in explicit):
            # An engine that is named for both stages is not replaced for one of them by a file.
            stages = {
                "stage1.engine": shared.config.stage1.engine,
                "stage2.engine": shared.config.stage2.engine,
            }
            self._explicit = (*assignments_of(stages), *explicit)
        self._folders = Folders(out)
        self._configs: dict[tuple[str, ...], Config] = {}

    def plan(self, films: Sequence[StoredObject]) -> list[PlannedFilm]:
        """The jobs of ``films``, in that order; those of lost ones come last, with their failures."""
        films_there = [film for film in films if not film.lost]
        near = FilesBeside()
        if not self._alone:
            near.read(parent_of(film.place) for film in films_there)
        folders = self._folders.of([film.place for film in films_there])
        planned = []
        for film, folder in zip(films_there, folders, strict=True):
            job, size = self._plain(film, folder), film.size or 0
            uses: tuple[str, ...] = ()
            trouble = None
            try:
                if not is_text(film.place):
                    raise film_name_problem(film.place)
                if not self._alone:
                    beside = beside_of(film.place, near, self._shared.config.language)
                    job, uses = self._with(job, beside), beside.names
            except ShotadError as error:
                trouble = _failed(job, error)
            planned.append(PlannedFilm(job, size, uses, trouble))
        for film, why in [(film, film.lost) for film in films if film.lost]:
            job = self._plain(film, self._folders.of([film.place])[0])
            planned.append(PlannedFilm(job, trouble=_failed(job, why)))
        return planned

    def _with(self, job: FilmJob, beside: Beside) -> FilmJob:
        """The job with what lies beside its film in place of what the batch says."""
        for place in (beside.note, beside.cast):
            if place is not None and is_local(place):
                refuse_link_out(local_path(place), local_path(job.film))
        files = beside.settings
        if files not in self._configs:
            self._configs[files] = self._config_with(files)
        config = self._configs[files]
        if beside.note is not None and (note := read_text(beside.note, "note").strip()):
            prompt = config.prompt.model_copy(update={"note": note})
            config = config.model_copy(update={"prompt": prompt})
        wants_subtitles = config.speech.source in ("auto", "subtitles")
        if beside.cast is not None:
            job = replace(job, cast=beside.cast, cast_key="", cast_photos=None)
        return replace(
            job,
            config=config,
            configs=(*job.configs, *files),
            subtitles=beside.subtitles,
            descriptions=beside.descriptions,
            notes=(beside.passed_over,) if beside.passed_over and wants_subtitles else (),
        )

    def _config_with(self, files: Sequence[str]) -> Config:
        """The batch's settings with those of files beside a film over them, the nearest to the film last, and
        those that options name over all.

        Raises ConfigError for a file that chooses what only the user may choose and lies in no folder that
        the user trusts.
        """
        config = self._shared.config
        with tempfile.TemporaryDirectory() as folder:
            copies = [str(brought(file, Path(folder, str(n)))) for n, file in enumerate(files)]
            strangers = [copy for file, copy in zip(files, copies, strict=True) if not is_trusted(file)]
            for count, (file, copy) in enumerate(zip(files, copies, strict=True), 1):
                before = config
                try:
                    config = load_settings(
                        Config, copies[:count], self._explicit, under=self._shared.config, confined=strangers
                    )
                except ConfigError as error:
                    # The files before it were taken: what is wrong stands in this one.
                    name = shown(file)
                    message = error.what if name in error.what else f"{name}: {error.what}"
                    raise ConfigError(message, error.hint) from None
                if copy in strangers:
                    refuse_foreign(before, config, shown(file), shown(parent_of(file)))
        return config

    def _plain(self, film: StoredObject, folder: str) -> FilmJob:
        # Of a bank of many films' casts: that of this film is called as the film.
        is_bank = (self._shared.cast or "").lower().endswith(".json")
        key = file_stem(name_of(film.place)) if is_bank else ""
        # What tells a version of a film elsewhere; one of this machine is looked at itself.
        version = f"{film.size} {film.changed.isoformat() if film.changed else ''}"
        stamp = "" if is_local(film.place) else version
        return replace(self._shared, film=film.place, folder=folder, cast_key=key, stamp=stamp)


def _failed(job: FilmJob, error: ShotadError) -> FilmResult:
    return failure(job, error.what, error.hint, kind=type(error).__name__, attempts=0)


def films_named(films: Iterable[StoredObject], names: Iterable[str]) -> tuple[StoredObject, ...]:
    """Those of ``films`` with these ``names``, which are as in reports: without keys."""
    wanted_names = frozenset(names)
    return tuple(film for film in films if shown(film.place) in wanted_names)


Download = Callable[[str], Path | None]
"""Downloads the film on a page of the web and returns its file, or only names it and returns None. Raises
FilmError."""


def find_films(
    sources: Iterable[str],
    listed: Iterable[str] = (),
    rate: str | None = None,
    download: Download | None = None,
) -> tuple[StoredObject, ...]:
    """The films of ``sources`` and of the lines of lists, in that order, each once.

    ``rate``: a folder without films is one of numbered frames. ``download`` is called for pages of the web;
    with None they are refused. Raises FilmError where there is nothing by the name of a source; lines of a
    list with nothing there come last (`StoredObject.lost`).
    """
    films: dict[str, StoredObject] = {}
    lost: dict[str, StoredObject] = {}
    for source in sources:
        for film in _films_of(source, rate, download):
            films.setdefault(film.place, film)
    for line in listed:
        try:
            for film in _films_of(line, rate, download):
                films.setdefault(film.place, film)
        except ShotadError as error:
            lost[_absolute(line)] = StoredObject(_absolute(line), lost=error)
    return (*films.values(), *lost.values())


def _films_of(source: str, rate: str | None, download: Download | None) -> Iterator[StoredObject]:
    place, has_films = _absolute(source), False
    if download is not None and scheme_of(place) in WEB and not is_film_name(name_of(place)):
        # Its server is not asked what it is: some answer nobody but a browser.
        yield from _film_of_page(place, download)
        return
    for film in films_in(place):
        has_films = True
        # Names do not tell: https://commons.wikimedia.org/wiki/File:Sintel.webm is a page.
        if film.is_page:
            yield from _film_of_page(place, download)
        else:
            yield film
    if not has_films and rate is not None and is_local(place) and Path(place).is_dir():
        yield StoredObject(place)


def _film_of_page(address: str, download: Download | None) -> Iterator[StoredObject]:
    """The film on a page of the web, as a file of this machine; none where it is only to be named."""
    if download is None:
        raise FilmError(
            f"{shown(address)} is a page, not the file of a film.",
            "Add --download to have the film on it downloaded by yt-dlp; only what you may copy.",
        )
    path = download(address)
    if path is not None:
        yield from films_in(path.absolute())


def _absolute(place: str) -> str:
    return os.path.abspath(local_path(place)) if is_local(place) else place


def read_list(name: str, text: str) -> list[str]:
    """The places that a list names, one a line; empty lines and those that begin with # say nothing.

    Paths are in relation to the folder of the list or, where nothing is there, that of the command.
    """
    folder = None if name == STDIN else parent_of(name)
    places = []
    for line in (os.path.expanduser(line.strip()) for line in text.splitlines()):
        if not line or line.startswith("#"):
            continue
        place = line
        if folder is not None and not is_address(line) and not os.path.isabs(line):
            beside = join(folder, line)
            place = line if not is_address(beside) and not glob(beside) and glob(line) else beside
        places.append(place)
    return places


_ENDING = ".shotad"
_SIDE_BY_SIDE = 16
"""Folders elsewhere that are asked for at a time."""


class Folders:
    """Gives out work folders: beside the films, or all in the folder ``out``."""

    def __init__(self, out: str | None = None) -> None:
        self._out = out
        self._given: dict[str, str] = {}
        self._taken: set[str] = set()
        self._known: set[str] = set()
        self._owners: dict[str, str | None] = {}

    def of(self, films: Sequence[str]) -> list[str]:
        """The folder of each film, in order; a film that comes again gets the one that it has."""
        new_films = [film for film in films if film not in self._given]
        self._known.update(new_films)
        films_of_stem = Counter((parent_of(film), _stem(film)) for film in [*self._given, *new_films])
        candidates: dict[str, list[str]] = {}
        for film in new_films:
            has_twin = films_of_stem[parent_of(film), _stem(film)] > 1
            candidates[film] = list(self._names(film, has_twin))
        self._read_owners(folder for folders in candidates.values() for folder in folders)

        def has_folder(film: str) -> bool:
            return any(self._is_own(folder, film) for folder in candidates[film])

        # A film that has a folder keeps it, before the others take one.
        for film in sorted(new_films, key=lambda film: not has_folder(film)):
            free = [
                folder
                for folder in candidates[film]
                if folder not in self._taken and self._is_free(folder, film)
            ]
            own = [folder for folder in free if self._is_own(folder, film)]
            self._given[film] = folder = (own or free or candidates[film][-1:])[0]
            self._taken.add(folder)
        return [self._given[film] for film in films]

    def _read_owners(self, folders: Iterable[str]) -> None:
        """Find whose the folders elsewhere are, many at a time: each costs a request, so only those are asked
        for that a list of their parent names."""
        unknown = [
            folder for folder in dict.fromkeys(folders) if folder not in self._owners and not is_local(folder)
        ]
        parents = dict.fromkeys(parent_of(folder) for folder in unknown)
        with ThreadPoolExecutor(_SIDE_BY_SIDE, "owners") as pool:
            names_by_parent = dict(zip(parents, pool.map(names_elsewhere, parents), strict=True))
            self._owners.update(dict.fromkeys(unknown))
            present = [folder for folder in unknown if name_of(folder) in names_by_parent[parent_of(folder)]]
            owners = pool.map(lambda folder: _owner(folder, self._known), present)
            self._owners.update(zip(present, owners, strict=True))

    def _is_own(self, folder: str, film: str) -> bool:
        return self._owner(folder) == without_query(film)

    def _owner(self, folder: str) -> str | None:
        if folder not in self._owners:
            self._owners[folder] = _owner(folder, self._known)
        return self._owners[folder]

    def _is_free(self, folder: str, film: str) -> bool:
        """Whether a folder is nobody's, or the film's: also that of a copy which lies elsewhere, as in a
        library that was copied with its work folders."""
        owner = self._owner(folder)
        if owner in (None, without_query(film)):
            return True
        if owner is None or owner in self._known or not is_local(film) or name_of(film) != name_of(owner):
            return False
        with suppress(OSError):
            return local_path(film).stat().st_size == Path(owner).stat().st_size
        return False

    def _names(self, film: str, has_twin: bool) -> Iterator[str]:
        """Folders that a film may have, the plainest first; no other film has the last one."""
        parent = parent_of(film) if self._out is None else self._out
        stem, name, above = _stem(film), name_of(film), name_of(parent_of(film))
        yield work_place_of(film, self._out)
        if has_twin or self._out is None:
            yield join(parent, f"{file_stem(f'{name}.x')}{_ENDING}")
        if self._out is not None:
            yield join(parent, f"{file_stem(f'{above}-{stem}.x')}{_ENDING}")
            yield join(parent, f"{file_stem(f'{above}-{name}.x')}{_ENDING}")
        yield join(parent, f"{stem}-{hashlib.sha256(os.fsencode(film)).hexdigest()[:8]}{_ENDING}")


def _stem(film: str) -> str:
    return file_stem(name_of(film))


def _owner(folder: str, films: Container[str]) -> str | None:
    """The film that a work folder is of; None: nobody's, or one of a film that has moved.

    ``films`` are there and not asked for. Raises StorageError where a store cannot be asked.
    """
    try:
        here = is_local(folder)
        place = join(folder, SETTINGS_FILE)
        record = parse_json(read_file(local_path(place)) if here else Store(folder).read(place))
        film = record["film"]["path"]
    except (OSError, WorkFolderError, ValueError, KeyError, TypeError):
        return None
    if not isinstance(film, str):
        return None
    if film in films:
        is_there = True
    elif is_local(film):
        is_there = local_path(film).exists()
    else:
        # The web is not asked: keys are gone.
        is_there = scheme_of(film) in WEB or Store(film).find(film) is not None
    return without_query(film) if is_there else None


class PrivacyNotices:
    """Says once, and before it does, what leaves this machine for films, and which engines describe them;
    films may have settings, and so engines and voices, of their own."""

    def __init__(self) -> None:
        self._told_lines: set[str] = set()
        self._lines: dict[tuple[str, ...], list[str]] = {}

    def of(self, films: Iterable[PlannedFilm]) -> list[str]:
        """What leaves this machine and was not said yet, in the order of the films. What holds for some of
        these films alone names them."""
        return self._new(films, "leaving", _leaving)

    def engines_of(self, films: Iterable[PlannedFilm]) -> list[str]:
        """The same of the engines that describe the films, and what is wrong with their settings."""
        return self._new(films, "engines", _engines)

    def _new(
        self, films: Iterable[PlannedFilm], kind: str, lines_of: Callable[[FilmJob], list[str]]
    ) -> list[str]:
        jobs = [film.job for film in films if film.trouble is None]
        all_films = {job.film for job in jobs}
        films_by_line: dict[str, dict[str, None]] = {}
        for job in jobs:
            # Films differ in their notes, of which only the length is ever spoken of.
            note_words = str(len(job.config.prompt.note.split()))
            terms = (kind, job.config.model_dump_json(exclude={"prompt"}), note_words, *job.makes)
            if terms not in self._lines:
                self._lines[terms] = lines_of(job)
            for line in self._lines[terms]:
                films_by_line.setdefault(line, {})[job.film] = None
        new_lines = []
        for line, films_of_line in films_by_line.items():
            if line in self._told_lines:
                continue
            self._told_lines.add(line)
            names = _some([name_of(film) for film in films_of_line])
            new_lines.append(line if films_of_line.keys() == all_films else f"{names}: {line}")
        return new_lines


def _leaving(job: FilmJob) -> list[str]:
    from shotad.description import Engines
    from shotad.engines import privacy_notice
    from shotad.sound import make_voice
    from shotad.sound.outputs import parse_wanted
    from shotad.sound.voice_engines import privacy_notes as voice_notice

    notices: list[str] = []
    # Nothing of an engine or a voice that cannot be had: its run says why.
    with suppress(ShotadError):
        engines = Engines.of(job.config)
        notices += privacy_notice(engines.stage1, engines.stage2)
    with suppress(ShotadError):
        if job.makes and any(kind.is_heard for kind, _ in parse_wanted(job.makes)):
            notices += voice_notice(make_voice(job.config.voice, job.config.language))
    return notices


def _engines(job: FilmJob) -> list[str]:
    from shotad.description import Engines
    from shotad.description.engine_pair import engine_names, engine_warnings

    with suppress(ShotadError):
        engines = Engines.of(job.config)
        return [*engine_names(engines), *engine_warnings(job.config, engines)]
    return []


_NAMED = 3
"""Films that a line names at most."""


def _some(names: Sequence[str]) -> str:
    """``a.mp4, b.mp4, c.mp4 and 4 more``."""
    listed, more = ", ".join(names[:_NAMED]), len(names) - _NAMED
    return f"{listed} and {more} more" if more > 0 else listed
