"""The files of a track in its work folder: the track, the scripts beside it, and its translations.

``scripts.json`` holds the hash of each script as it was written. One that has another is somebody's work:
it is brought into the track before anything is written over it. While scripts are being written it holds both
hashes of each, so that a run that is killed in between leaves nothing that looks like somebody's work. It
also holds the versions of edited lines that were written into scripts (`LineVersions`), and the hashes of
scripts that were exported to other places: by these an import knows what a script without stamps came from,
and an export what it may write over.

Translations (``track.de.json`` and its scripts, ``movie.de.ad.vtt`` …) are people's files in the same way. A
line whose source was changed since it was translated is known.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from filelock import Timeout

from shotad.core import (
    Config,
    FilmInfo,
    Interval,
    ShotadError,
    WorkFolder,
)
from shotad.core.errors import (
    EditConflict,
    MissingLines,
    OtherFilm,
    WorkFolderError,
)
from shotad.core.files import (
    as_work_folder_errors,
    check_held_folder,
    lock_file,
    read_file,
    refuse_special,
    write_bytes,
    write_text,
)
from shotad.core.profiling import time_step
from shotad.core.progress import plural
from shotad.core.records import slots_of
from shotad.core.runsettings import read_settings
from shotad.core.workfolder import (
    SETTINGS_FILE,
    file_stem,
    read_record,
    readable_json,
)
from shotad.script.cue import is_changed, is_language, line_stamp
from shotad.script.edits import (
    Import,
    ImportPlan,
    LineVersions,
    PlannedKind,
    PlannedLine,
    import_script,
    missing_lines,
    plan_import,
    update_spoken_ends,
    with_lines_of,
)
from shotad.script.formats import Format, read_script, script_file, script_format
from shotad.script.newer import Hashes, Newer, find_newer, is_edited, refuse_lost
from shotad.script.track import FilmId, Track, load_track, to_json

TRACK = "track.json"

_LOCK = ".track.lock"
LOCK_SECONDS = 15.0
"""Seconds that are waited for another who is writing the track: long lists on slow disks take a few."""


@contextmanager
def track_lock(folder: Path) -> Iterator[None]:
    """A lock: nobody else reads and rewrites the tracks of ``folder`` and their scripts while it is held.

    It is held for moments only, from reading a track to having written it, also by those who do not hold the
    `WorkFolder`: so a person edits lines while a run writes others, and neither loses any. Not to be taken
    twice. Raises WorkFolderError where another holds it for longer than `LOCK_SECONDS`.
    """
    if not folder.is_dir():
        # The lock would make the folder again, empty, where a person has renamed it.
        message = f"The work folder {folder} is not there any more."
        raise WorkFolderError(message, "Name it as it was, or open it where it is.")
    check_held_folder(folder)
    lock = lock_file(folder / _LOCK, timeout=LOCK_SECONDS)
    try:
        with as_work_folder_errors(folder / _LOCK, "cannot be written"):
            lock.acquire()
    except Timeout:
        raise WorkFolderError(
            f"The track in {folder} is being written by another shotad for more than {LOCK_SECONDS:g} s.",
            "Wait until that is done; if nothing else runs, try again.",
            again=True,
        ) from None
    except FileNotFoundError as error:  # the folder was taken away just now
        raise WorkFolderError(
            f"{folder / _LOCK} cannot be written: {error.strerror}.", "Look where it is."
        ) from None
    try:
        yield
    finally:
        lock.release()


def present_track(folder: WorkFolder, film: FilmId | FilmInfo, *, with_scripts: bool = True) -> Track | None:
    """The track in the folder, edits and all; None where there is none yet.

    ``with_scripts``: also what people changed in the scripts beside it. Raises OtherFilm where the track is
    not of ``film``, EditConflict where track and scripts hold other words for the same line, and ScriptError.
    """
    path = folder.path / TRACK
    refuse_special(path)
    if not path.exists():
        if with_scripts:
            refuse_lost(path, *_remaining_scripts_of_track(folder.path, film.name))
        return None
    track = load_track_of_film(
        film,
        path,
        f"Nothing was written. Move {folder.path} away, or name another folder with --out, and this film "
        "is described from the start; or name the film that it was made for, as it was.",
    )
    return with_edited_scripts(track, folder)[0] if with_scripts else track


def load_track_of_film(film: FilmId | FilmInfo, file: Path, remedy: str) -> Track:
    """The track in ``file``. Raises OtherFilm, with ``remedy``, for one of another film, and ScriptError."""
    track = load_track(file)
    if track.film.fingerprint == film.fingerprint:
        return track
    if track.film.name == film.name:
        message = f"{file} is of another version of {film.name}: the film was replaced or changed since."
    else:
        message = f"{file} belongs to another film: {track.film.name}, not {film.name}."
    raise OtherFilm(message, remedy)


def with_edited_scripts(
    track: Track,
    folder: WorkFolder,
    except_path: Path | None = None,
    *,
    track_file_name: str = TRACK,
    times: tuple[Mapping[str, Interval], float] | None = None,
) -> tuple[Track, dict[str, int]]:
    """The track with what people changed in the scripts beside it, and the changed lines counted by file.

    ``track_file_name`` is the file of ``track``: the film's own, or a translation's. The script at
    ``except_path`` is left out. ``times`` are those of other slots than the folder's, see `slot_times`.
    Raises as `import_edited_scripts`, and EditConflict where the track is older than what lies beside it.
    """
    hashes = _read_hashes(folder.path, scripts_record(track, track_file_name))
    if except_path is None:
        refuse_older(track, folder.path, track_file_name=track_file_name)
    edited = _find_edited(scripts_of(track, folder.path, track_file_name), hashes, except_path, track)
    if not edited:
        return track, {}
    slots, seconds_per_word = times or slot_times(folder)
    versions = read_versions(folder.path, scripts_record(track, track_file_name))
    return import_edited_scripts(track, edited, slots, seconds_per_word, versions)


def with_edits_of_scripts(track: Track, folder: WorkFolder, edited: Sequence[tuple[Format, Path]]) -> Track:
    """The track with what people changed in the scripts ``edited``. Raises as `import_edited_scripts`."""
    if not edited:
        return track
    slots, seconds_per_word = slot_times(folder)
    return import_edited_scripts(track, edited, slots, seconds_per_word, read_versions(folder.path))[0]


def refuse_older(track: Track, folder: Path, *, track_file_name: str = TRACK) -> None:
    """Raise EditConflict where the track in ``file`` is older than its scripts, or than the history of its
    review: it was put back from a backup, say."""
    newer = _find_newer_files(track, folder, track_file_name)
    if newer is not None:
        raise newer.error(folder / track_file_name)


def _find_newer_files(track: Track, folder: Path, track_file_name: str) -> Newer | None:
    """What beside the track is newer than it; None where nothing is."""
    hashes = _read_hashes(folder, scripts_record(track, track_file_name))
    return find_newer(track, folder / track_file_name, scripts_of(track, folder, track_file_name), hashes)


def _remaining_scripts_of_track(folder: Path, film_name: str) -> tuple[list[tuple[Format, Path]], Hashes]:
    """The scripts that a lost track may have left in ``folder``, under any name in the record of scripts,
    and the hashes of that record."""
    hashes = _read_hashes(folder, SCRIPTS_RECORD)
    scripts = {path: file_format for file_format, path in _script_places(folder, film_name)}
    for file_format in map(script_format, BESIDE_TRACK):
        for name in hashes:
            if name.endswith(f".{file_format.ending}"):
                scripts.setdefault(folder / name, file_format)
    return [(file_format, path) for path, file_format in scripts.items()], hashes


def refuse_lost_translation(folder: Path, film_name: str, tag: str) -> None:
    """Raise EditConflict where a translation is not there any more, but scripts of it with people's lines."""
    refuse_lost(
        folder / translation_file_name(tag), *_remaining_scripts_of_translation(folder, film_name, tag)
    )


def _remaining_scripts_of_translation(
    folder: Path, film_name: str, tag: str
) -> tuple[list[tuple[Format, Path]], Hashes]:
    """The scripts that a lost translation may have left in ``folder``, and their hashes as written."""
    scripts: list[tuple[Format, Path]] = []
    for file_format in map(script_format, BESIDE_TRACK):
        scripts.append((file_format, folder / f"{file_stem(film_name)}.{tag}.{file_format.ending}"))
    return scripts, _read_hashes(folder, f"scripts.{tag}.json")


def lost_translation(track: Track, folder: Path, script: Path) -> Track | None:
    """The translation of ``track`` that a script in ``folder`` is of by its name, without lines, if its own
    file is not there any more."""
    beginning = f"{file_stem(track.film.name)}."
    for file_format in map(script_format, BESIDE_TRACK):
        tag = script.name.removeprefix(beginning).removesuffix(f".{file_format.ending}")
        if script.name != f"{beginning}{tag}.{file_format.ending}" or not is_language(tag):
            continue
        if (folder / translation_file_name(tag)).exists():
            return None
        return Track(track.film, tag, (), track.version, (), translated_from=track.language)
    return None


def import_into(
    place: Path,
    script: Path,
    format_name: str | None,
    *,
    reviewers: Sequence[str] = (),
    overwrite: bool = False,
    remove_missing: bool = False,
    lost: Track | None = None,
    encoding: str | None = None,
) -> Import:
    """Bring a script's edits into the track of the work folder ``place``, or into a translation, where
    ``place`` is its file, and write the track and its scripts again.

    A script of the folder that is newer than the track takes the place of its lines. Where the folder has no
    track any more, ``lost`` is one without lines, and those of the script become its own. ``encoding`` as in
    `read_script`.

    Raises MissingLines, and writes nothing, where the script lacks lines of the track; with
    ``remove_missing`` these are removed. Raises as `import_script` and `read_script`.
    """
    is_films_track = place.is_dir()
    with WorkFolder(place if is_films_track else place.parent) as folder, track_lock(folder.path):
        track, plan = _plan_import_into(
            folder, place, script, format_name, overwrite=overwrite, lost=lost, encoding=encoding
        )
        plan.refuse_conflicts(script.name)
        result = plan.result
        if result.missing and not remove_missing:
            raise MissingLines(
                f"{missing_lines(track, result, script.name)} Nothing was imported.",
                "To remove them, add --remove-missing. If the script is only a part, add the other lines: "
                "shotad export writes them all.",
            )
        if lost is not None:
            result = replace(result, added=tuple(cue.id for cue in track.cues))
        slots, seconds_per_word = slot_times(folder)
        reviewed_by = tuple(dict.fromkeys((*result.track.reviewed_by, *reviewers)))
        new_track = update_spoken_ends(result.track, slots, seconds_per_word)
        result = replace(result, track=replace(new_track, reviewed_by=reviewed_by))
        if is_films_track:
            save_track(result.track, folder.path, track.film.name)
        else:
            save_translation(result.track, folder)
        folder.note(f"imported {script.name}: {len(result.changed)} lines changed")
    return result


def plan_import_into(
    place: Path,
    script: Path,
    format_name: str | None,
    *,
    overwrite: bool = False,
    lost: Track | None = None,
    encoding: str | None = None,
) -> ImportPlan:
    """What `import_into` would do, line by line; nothing is written.

    Raises as `import_into`, but not for conflicts and lines that the script lacks, which are in the plan.
    """
    with WorkFolder(place if place.is_dir() else place.parent) as folder, track_lock(folder.path):
        return _plan_import_into(
            folder, place, script, format_name, overwrite=overwrite, lost=lost, encoding=encoding
        )[1]


def _plan_import_into(
    folder: WorkFolder,
    place: Path,
    script: Path,
    format_name: str | None,
    *,
    overwrite: bool,
    lost: Track | None,
    encoding: str | None,
) -> tuple[Track, ImportPlan]:
    """The track of ``place`` with what people changed in the scripts beside it, and what importing ``script``
    does to it. Both locks are held."""
    slots, seconds_per_word = slot_times(folder)
    is_films_track = place.is_dir()
    if lost is not None:
        imported = read_script(script, format_name, lost.language, encoding=encoding)
        _refuse_other_edited_scripts(folder.path, lost, script)
        track = with_lines_of(lost, imported, script.name)
    else:
        track = load_track(place / TRACK if is_films_track else place)
        imported = read_script(script, format_name, track.language, encoding=encoding)
    track_file_name = TRACK if is_films_track else translation_file_name(track.language)
    newer = None if lost is not None else _find_newer_files(track, folder.path, track_file_name)
    versions = read_versions(folder.path, scripts_record(track, track_file_name))
    if newer is not None:
        if script.name not in newer.files and imported.stamp not in newer.stamps:
            raise newer.error(folder.path / track_file_name)
        # All of it is newer than the track, not only what was changed since it was written.
        imported, overwrite, versions = replace(imported, stamp=None, line_stamps={}), True, {}
    track = with_edited_scripts(track, folder, script, track_file_name=track_file_name)[0]
    plan = plan_import(
        track, imported, script.name, slots=slots, seconds_per_word=seconds_per_word, overwrite=overwrite,
        versions=versions,
    )  # fmt: skip
    if lost is not None:
        added = tuple(PlannedLine(PlannedKind.ADDED, None, cue) for cue in track.cues)
        plan = replace(plan, lines=added, unchanged=0)
    return track, plan


def save_track(track: Track, folder: Path, name: str) -> tuple[Path, ...]:
    """Write the film's own track and its scripts; returns their paths.

    A caller that read the track before must hold `track_lock` from reading on.
    """
    texts = script_texts(track, folder, name)
    written = write_texts(
        texts, folder, track=(folder / TRACK, to_json(track)), stamps=edited_line_stamps(track)
    )
    return (folder / TRACK, *written)


def _refuse_other_edited_scripts(folder: Path, lost: Track, script: Path) -> None:
    """Raise EditConflict where other scripts of a track that is lost were changed too: they are written anew
    from the lines of ``script``."""
    if lost.translated_from:
        scripts, hashes = _remaining_scripts_of_translation(folder, lost.film.name, lost.language)
    else:
        scripts, hashes = _remaining_scripts_of_track(folder, lost.film.name)
    for _, path in _find_edited(scripts, hashes, script):
        raise EditConflict(
            f"{path} was changed as well, and would be replaced.",
            "Move it away, import this script, and then bring that one in too.",
        )


def keep_discarded(track: Track | None, folder: Path, film_name: str, *, track_file_name: str = TRACK) -> str:
    """Copy a track whose edits are about to be thrown away, and the scripts beside it that people changed, to
    ``discarded-NAME``; returns a sentence that says so, empty where nobody has edited anything.

    ``track`` is None where only scripts are left of it.
    """
    # --discard-edits may be left in a command by mistake, and a week of work would be lost with it.
    if track is not None:
        hashes = _read_hashes(folder, scripts_record(track, track_file_name))
        scripts = _find_edited(scripts_of(track, folder, track_file_name), hashes, track=track)
    elif track_file_name == TRACK:
        scripts = _find_edited(*_remaining_scripts_of_track(folder, film_name))
    else:
        tag = track_file_name.removeprefix("track.").removesuffix(".json")
        scripts = _find_edited(*_remaining_scripts_of_translation(folder, film_name, tag))
    edits = 0 if track is None else sum(cue.edited is not None for cue in track.cues)
    copies = [folder / track_file_name] if edits else []
    copies += [path for _, path in scripts]
    for path in copies:
        write_bytes(folder / f"discarded-{path.name}", [read_file(path)])
    if not copies:
        return ""
    names = " and ".join(f"discarded-{path.name}" for path in copies)
    return f"{plural(edits, 'edited line')} thrown away; copies are kept: {names}."


SCRIPTS_RECORD = "scripts.json"

BESIDE_TRACK = ("vtt", "srt", "dapt", "csv")
"""The formats that every run writes beside ``track.json``."""

_FORMATS_WITH_LINE_STAMPS = ("vtt", "dapt", "csv")
"""The formats with a stamp for each line: of several edited scripts each shows which of its lines changed."""


def script_texts(track: Track, folder: Path, name: str) -> dict[Path, str]:
    """The texts of the scripts of ``track`` by path; nothing is written."""
    return {path: file_format.write(track) for file_format, path in _script_places(folder, name)}


@time_step("scripts")
def write_texts(
    texts: Mapping[Path, str],
    folder: Path,
    record: str = SCRIPTS_RECORD,
    *,
    track: tuple[Path, str] | None = None,
    stamps: Mapping[str, str] | None = None,
) -> tuple[Path, ...]:
    """Write scripts, and their hashes into ``record``; returns the paths.

    Hashes of other scripts in the record stay. ``track`` is the path of their track and its text, where that
    is written too: after the hashes of its scripts, so that a run that is killed in between leaves no script
    that looks newer than the track. ``stamps`` are the `edited_line_stamps` of the scripts' track.
    """
    others = _other_entries(folder, record, stamps or {})
    earlier_hashes = _read_hashes(folder, record)
    hashes = {path.name: _sha256(text.encode()) for path, text in texts.items()}
    recorded = {name: hashes.get(name, earlier[0]) for name, earlier in earlier_hashes.items()} | hashes
    before: dict[str, list[str]] = {}
    for path in texts:
        if path.name in earlier_hashes:
            hashes_before = set(earlier_hashes[path.name])
        else:
            hashes_before = {_sha256(read_file(path))} if path.is_file() else set()
        before[path.name] = sorted(hashes_before - {hashes[path.name]})
    # Until all are written, both hashes of each script are known.
    write_text(folder / record, readable_json({"scripts": recorded, "before": before, **others}))
    for path, text in (*((track,) if track else ()), *texts.items()):
        write_text(path, text)
    write_text(folder / record, readable_json({"scripts": recorded, **others}))
    return tuple(texts)


_MAX_VERSIONS = 20
"""Versions of a line that are kept: a script that is older than that many changes of a line is rare."""
_MAX_EXPORTS = 200
"""Hashes of exported scripts that are kept."""


def edited_line_stamps(track: Track) -> dict[str, str]:
    """The `line_stamp` of each heard line that a person changed, by its id."""
    return {cue.id: line_stamp(cue.interval, cue.text) for cue in track.heard if is_changed(cue)}


def read_versions(folder: Path, record: str = SCRIPTS_RECORD) -> LineVersions:
    """The versions of edited lines that were written into scripts; none where that is not known."""
    versions: dict[str, list[tuple[int, str]]] = {}
    for cue_id, rows in _entries(folder, record).get("lines", {}).items():
        versions[cue_id] = [(int(number), str(stamp)) for number, stamp in rows]
    return versions


def _other_entries(folder: Path, record: str, stamps: Mapping[str, str]) -> dict[str, Any]:
    """The entries of the record besides hashes of scripts, with new versions of lines added."""
    entries = _entries(folder, record)
    lines: dict[str, list[list[Any]]] = entries.get("lines", {})
    newest = max((rows[-1][0] for rows in lines.values() if rows), default=0)
    for cue_id, stamp in stamps.items():
        rows = lines.setdefault(cue_id, [])
        if not rows or rows[-1][1] != stamp:
            lines[cue_id] = [*rows, [newest + 1, stamp]][-_MAX_VERSIONS:]
    return {key: value for key, value in (("lines", lines), ("exports", entries.get("exports"))) if value}


def _entries(folder: Path, record: str) -> dict[str, Any]:
    """The record of the scripts; empty where there is none, or it cannot be read."""
    try:
        return dict(read_record(folder / record) or {})
    except WorkFolderError:
        return {}


def exported_hashes(track: Track, file: Path) -> frozenset[str]:
    """The hashes of the scripts that were exported from the track in ``file``, as they were written."""
    return frozenset(_entries(file.parent, scripts_record(track, file.name)).get("exports", ()))


def note_exports(track: Track, file: Path, paths: Iterable[Path]) -> None:
    """Remember the scripts in ``paths``, just exported from the track in ``file``, and its edited lines.

    Does nothing for a track that lies in no work folder.
    """
    record = scripts_record(track, file.name)
    if not (file.parent / record).is_file() or not scripts_of(track, file.parent, file.name):
        return
    with track_lock(file.parent):
        entries = _entries(file.parent, record)
        hashes = [_sha256(read_file(path)) for path in paths]
        exports = list(dict.fromkeys([*entries.get("exports", ()), *hashes]))[-_MAX_EXPORTS:]
        others = _other_entries(file.parent, record, edited_line_stamps(track))
        write_text(file.parent / record, readable_json({**entries, **others, "exports": exports}))


def are_scripts_current(texts: Mapping[Path, str], folder: Path) -> bool:
    """Whether the scripts were last written with these ``texts``, and writing them was finished."""
    written = _read_hashes(folder, SCRIPTS_RECORD)
    return all(written.get(path.name) == (_sha256(text.encode()),) for path, text in texts.items())


def script_places(folder: Path, name: str) -> tuple[Path, ...]:
    """The paths of the scripts beside a track, whether they exist or not."""
    return tuple(path for _, path in _script_places(folder, name))


def edited_scripts(folder: Path, name: str, track: Track | None = None) -> tuple[tuple[Format, Path], ...]:
    """The scripts beside the ``track`` that somebody changed since they were written."""
    return _find_edited(_script_places(folder, name), _read_hashes(folder, SCRIPTS_RECORD), track=track)


def _find_edited(
    places: Iterable[tuple[Format, Path]],
    hashes: Hashes,
    except_path: Path | None = None,
    track: Track | None = None,
) -> tuple[tuple[Format, Path], ...]:
    """Those of the scripts ``places`` that exist and were changed since they were written, without the one
    at ``except_path``."""
    edited = []
    for file_format, path in places:
        if not path.is_file() or (except_path is not None and path.resolve() == except_path.resolve()):
            continue
        if is_edited(file_format, path, read_file(path), hashes, track):
            edited.append((file_format, path))
    return tuple(edited)


def import_edited_scripts(
    track: Track,
    edited: Sequence[tuple[Format, Path]],
    slots: Mapping[str, Interval],
    seconds_per_word: float,
    versions: LineVersions | None = None,
) -> tuple[Track, dict[str, int]]:
    """The track with the edits of scripts beside it, and the count of changed lines by file name.

    Raises EditConflict where two of them, or one and the track, hold other words for the same line, and where
    it cannot be told which of two is meant; MissingLines where one lacks lines of the track; ScriptError for
    a script that cannot be read any more.
    """
    unsure = [path.name for file_format, path in edited if file_format.name not in _FORMATS_WITH_LINE_STAMPS]
    if unsure and len(edited) > 1:
        names = " and ".join(path.name for _, path in edited)
        raise EditConflict(
            f"{names} were all changed, and {unsure[0]} does not say which of its lines were.",
            f"Bring one in with shotad import, and delete or undo the changes of {unsure[0]}.",
        )
    counts: dict[str, int] = {}
    for file_format, path in edited:
        script = read_script(path, file_format.name, track.language)
        result = import_script(
            track, script, path.name, slots=slots, seconds_per_word=seconds_per_word, versions=versions
        )
        if result.missing:
            raise MissingLines(
                f"{missing_lines(track, result, path.name)} Nothing was written.",
                f"To remove them: shotad import {path.parent} {path} --remove-missing. To keep them, delete "
                f"{path.name} or put the lines back.",
            )
        counts[path.name] = len({*result.changed, *result.added, *result.removed, *result.noted})
        track = result.track if counts[path.name] else track
    return track, counts


def _read_hashes(folder: Path, name: str) -> dict[str, tuple[str, ...]]:
    """Hashes by file name from the record ``name``; empty where there is none, or it cannot be read.

    First the hash of the script as it was written last, then those of its earlier content, which it may
    still have where writing was interrupted.
    """
    try:
        record = read_record(folder / name) or {"scripts": {}}
    except WorkFolderError:
        return {}
    before = record.get("before", {})
    return {name: (value, *before.get(name, ())) for name, value in record["scripts"].items()}


def _script_places(folder: Path, name: str) -> list[tuple[Format, Path]]:
    """The formats and paths of the scripts beside the film's own track."""
    places: list[tuple[Format, Path]] = []
    for file_format in map(script_format, BESIDE_TRACK):
        places.append((file_format, folder / f"{file_stem(name)}.{file_format.ending}"))
    return places


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def translation_file_name(tag: str) -> str:
    """The file of a translated track: ``de → track.de.json``."""
    return f"track.{tag}.json"


def is_translation(path: Path, track: Track) -> bool:
    """Whether ``path`` is the file of a translated track, which has scripts of its own."""
    return path.name == translation_file_name(track.language)


def scripts_of(track: Track, folder: Path, track_file_name: str) -> list[tuple[Format, Path]]:
    """The formats and paths of the scripts beside a track, whether they exist or not.

    Empty for a file that is neither the film's own track nor a translation.
    """
    if track_file_name == TRACK:
        return _script_places(folder, track.film.name)
    if track_file_name != translation_file_name(track.language):
        return []
    places: list[tuple[Format, Path]] = []
    for file_format in map(script_format, BESIDE_TRACK):
        places.append((file_format, script_file(track, file_format, folder, is_translation=True)))
    return places


def scripts_record(track: Track, track_file_name: str) -> str:
    """The name of the file with the hashes of a track's scripts."""
    return SCRIPTS_RECORD if track_file_name == TRACK else f"scripts.{track.language}.json"


def translation_of(script: Path, folder: Path) -> Path | None:
    """The file of the translated track in ``folder`` that ``script`` belongs to by its name; None where it
    belongs to none."""
    for path in sorted(folder.glob(translation_file_name("*"))):
        try:
            track = load_track(path)
        except ShotadError:
            continue  # a command that needs this track says what is wrong with it
        if script.name in [place.name for _, place in scripts_of(track, folder, path.name)]:
            return path
    return None


def slot_times(folder: WorkFolder) -> tuple[dict[str, Interval], float]:
    """The times of the folder's slots by id, and the seconds per word of the run that planned them (the
    default where that is not known)."""
    if folder.is_outdated:
        return {}, Config().slots.seconds_per_word
    planned = (folder.read_json("slots.json") or {}).get("slots", ())
    has_settings = (folder.path / SETTINGS_FILE).is_file()
    config = read_settings(folder.path).config if has_settings else Config()
    return {slot.id: slot.interval for slot in slots_of(planned)}, config.slots.seconds_per_word


def save_translation(track: Track, folder: WorkFolder) -> tuple[Path, ...]:
    """Write a translated track and its scripts, each with its language in its name; returns their paths."""
    track_file = folder.path / translation_file_name(track.language)
    texts: dict[Path, str] = {}
    for file_format, path in scripts_of(track, folder.path, track_file.name):
        texts[path] = file_format.write(track)
    record = scripts_record(track, track_file.name)
    script_paths = write_texts(
        texts, folder.path, record, track=(track_file, to_json(track)), stamps=edited_line_stamps(track)
    )
    return (track_file, *script_paths)


def outdated_lines(track: Track, folder: WorkFolder) -> tuple[str, ...]:
    """The ids of lines whose source has changed since they were translated: it has another text, is new, or
    is not spoken any more.

    Empty for a track that is no translation, or whose source is not in the folder any more.
    """
    source: Track | None = None
    try:
        for name in (TRACK, translation_file_name(track.translated_from)) if track.translated_from else ():
            path = folder.path / name
            candidate = load_track(path) if path.is_file() else None
            if candidate is not None and candidate.language == track.translated_from:
                source = with_edited_scripts(candidate, folder)[0] if name == TRACK else candidate
                break
    except ShotadError:
        return ()  # a command that needs the source says what is wrong with it
    if source is None or not any(cue.translation for cue in track.cues):
        return ()
    cues = {cue.id: cue for cue in track.cues}
    lines = {cue.id: " ".join(cue.text.split()) for cue in source.heard}
    changed = set()
    for cue_id, line in lines.items():
        cue = cues.get(cue_id)
        # Of a person's own line nobody knows what it translates.
        is_by_person = cue is not None and cue.translation is None and cue.edited is not None
        translated = cue.translation.line if cue is not None and cue.translation is not None else None
        if translated != line and not is_by_person:
            changed.add(cue_id)
    for cue in track.heard:
        is_by_person = cue.edited is not None and cue.machine is None
        if cue.id not in lines and not is_by_person:
            changed.add(cue.id)
    return tuple(sorted(changed))


def outdated_note(track: Track, folder: WorkFolder) -> str | None:
    """A sentence about the `outdated_lines`, and what to do; None where there are none."""
    lines = outdated_lines(track, folder)
    if not lines:
        return None
    count = plural(len(lines), "line was", "lines were")
    shown = ", ".join(lines[:_MAX_SHOWN_IDS]) + (" …" if len(lines) > _MAX_SHOWN_IDS else "")
    return (
        f"{count} changed in the source since this was translated ({shown}): run shotad translate with "
        f"--to {track.language} again; only these are asked for."
    )


_MAX_SHOWN_IDS = 5
"""Ids that a message names; more help nobody."""
