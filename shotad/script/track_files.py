"""The files of a track in its work folder: the track, the scripts beside it, and its translations.

``scripts.json`` holds the hash of each script as it was written. One that has another is somebody's work:
it is brought into the track before anything is written over it. While scripts are being written it holds both
hashes of each, so that a run that is killed in between leaves nothing that looks like somebody's work.

Translations (``track.de.json`` and its scripts, ``movie.de.ad.vtt`` …) are people's files in the same way. A
line whose source was changed since it was translated is known.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

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
from shotad.script.cue import is_language
from shotad.script.edits import Import, import_script, missing_lines, update_spoken_ends, with_lines_of
from shotad.script.formats import Format, read_script, script_file, script_format
from shotad.script.newer import Hashes, Newer, find_newer, is_edited, refuse_lost
from shotad.script.track import FilmId, Track, load_track, to_json

TRACK = "track.json"

_LOCK = ".track.lock"
LOCK_SECONDS = 15.0
"""Seconds that are waited for another who is writing the track: long lists on slow disks take a few."""


@contextmanager
def track_lock(folder: Path) -> Iterator[None]:
    """Nobody else reads and rewrites the tracks of ``folder`` and their scripts meanwhile.

    It is held for moments only, from reading a track to having written it, also by those who do not hold the
    `WorkFolder`: so a person edits lines while a run writes others, and neither loses any. Not to be taken
    twice. Raises WorkFolderError where another holds it for longer than `LOCK_SECONDS`.
    """
    if not folder.is_dir():
        # The lock would make the folder again, empty, where a person has renamed it.
        what = f"The work folder {folder} is not there any more."
        raise WorkFolderError(what, "Name it as it was, or open it where it is.")
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
            refuse_lost(path, *_left_of_track(folder.path, film.name))
        return None
    track = track_of(
        film,
        path,
        f"Nothing was written. Move {folder.path} away, or name another folder with --out, and this film "
        "is described from the start; or name the film that it was made for, as it was.",
    )
    return with_edited_scripts(track, folder)[0] if with_scripts else track


def track_of(film: FilmId | FilmInfo, file: Path, remedy: str) -> Track:
    """The track in ``file``. Raises OtherFilm, with ``remedy``, for one of another film, and ScriptError."""
    track = load_track(file)
    if track.film.fingerprint == film.fingerprint:
        return track
    if track.film.name == film.name:
        what = f"{file} is of another version of {film.name}: the film was replaced or changed since."
    else:
        what = f"{file} belongs to another film: {track.film.name}, not {film.name}."
    raise OtherFilm(what, remedy)


def with_edited_scripts(
    track: Track,
    folder: WorkFolder,
    but: Path | None = None,
    *,
    file: str = TRACK,
    times: tuple[Mapping[str, Interval], float] | None = None,
) -> tuple[Track, dict[str, int]]:
    """The track in ``file`` (the film's own, or a translation's) with what people changed in the scripts
    beside it, all ``but`` one, and how many lines by file; ``times`` are those of other slots than the
    folder's, see `slot_times`. Raises as `import_edited_scripts`, and EditConflict where the track is older
    than what lies beside it."""
    written = _written(folder.path, SCRIPTS_RECORD if file == TRACK else _written_of(track))
    if but is None:
        refuse_older(track, folder.path, file=file)
    edited = _edited(scripts_of(track, folder.path, file), written, but, track)
    return import_edited_scripts(track, edited, *(times or slot_times(folder))) if edited else (track, {})


def with_scripts(track: Track, folder: WorkFolder, edited: Sequence[tuple[Format, Path]]) -> Track:
    """The track with what people changed in just these scripts. Raises as `import_edited_scripts`."""
    return import_edited_scripts(track, edited, *slot_times(folder))[0] if edited else track


def refuse_older(track: Track, folder: Path, *, file: str = TRACK) -> None:
    """Raise EditConflict where the track in ``file`` is older than its scripts, or than the history of its
    review: it was put back from a backup, say."""
    newer = _newer(track, folder, file)
    if newer is not None:
        raise newer.error(folder / file)


def _newer(track: Track, folder: Path, file: str) -> Newer | None:
    hashes = _written(folder, SCRIPTS_RECORD if file == TRACK else _written_of(track))
    return find_newer(track, folder / file, scripts_of(track, folder, file), hashes)


def _left_of_track(folder: Path, film_name: str) -> tuple[list[tuple[Format, Path]], Hashes]:
    """The scripts that may be left of the track of a film, under the names that were noted too, and how they
    were written."""
    hashes = _written(folder, SCRIPTS_RECORD)
    scripts = {path: form for form, path in _places(folder, film_name)}
    for form in map(script_format, BESIDE_TRACK):
        for name in hashes:
            if name.endswith(f".{form.ending}"):
                scripts.setdefault(folder / name, form)
    return [(form, path) for path, form in scripts.items()], hashes


def refuse_lost_translation(folder: Path, film_name: str, tag: str) -> None:
    """Raise EditConflict where a translation is not there any more, but scripts of it with people's lines."""
    refuse_lost(folder / track_name(tag), *_left_of_translation(folder, film_name, tag))


def _left_of_translation(folder: Path, film_name: str, tag: str) -> tuple[list[tuple[Format, Path]], Hashes]:
    """The scripts that may be left of a translation, and how they were written."""
    forms = map(script_format, BESIDE_TRACK)
    scripts = [(form, folder / f"{file_stem(film_name)}.{tag}.{form.ending}") for form in forms]
    return scripts, _written(folder, f"scripts.{tag}.json")


def lost_translation(track: Track, folder: Path, script: Path) -> Track | None:
    """The translation of ``track`` that a script in ``folder`` is of by its name, without lines, if its own
    file is not there any more."""
    beginning = f"{file_stem(track.film.name)}."
    for form in map(script_format, BESIDE_TRACK):
        tag = script.name.removeprefix(beginning).removesuffix(f".{form.ending}")
        if script.name != f"{beginning}{tag}.{form.ending}" or not is_language(tag):
            continue
        if (folder / track_name(tag)).exists():
            return None
        return Track(track.film, tag, (), track.version, (), translated_from=track.language)
    return None


def import_into(
    place: Path,
    script: Path,
    form: str | None,
    *,
    reviewers: Sequence[str] = (),
    overwrite: bool = False,
    remove_missing: bool = False,
    lost: Track | None = None,
) -> Import:
    """Bring a script's edits into the track of the work folder ``place``, or into a translation, where
    ``place`` is its file, and write the track and its scripts again.

    A script of the folder that is newer than the track takes the place of its lines. Where the folder has no
    track any more, ``lost`` is one without lines, and those of the script become its own.

    Raises MissingLines, and writes nothing, where the script lacks lines of the track; with
    ``remove_missing`` these are removed. Raises as `import_script` and `read_script`.
    """
    own = place.is_dir()
    with WorkFolder(place if own else place.parent) as folder, track_lock(folder.path):
        slots, pace = slot_times(folder)
        if lost is not None:
            given = read_script(script, form, lost.language)
            _refuse_others(folder.path, lost, script)
            track = with_lines_of(lost, given, script.name)
        else:
            track = load_track(place / TRACK if own else place)
            given = read_script(script, form, track.language)
        name, file = track.film.name, TRACK if own else track_name(track.language)
        newer = None if lost is not None else _newer(track, folder.path, file)
        if newer is not None:
            if script.name not in newer.files and given.stamp not in newer.stamps:
                raise newer.error(folder.path / file)
            # All of it is newer than the track, not only what was changed since it was written.
            given, overwrite = replace(given, stamp=None, line_stamps={}), True
        track = with_edited_scripts(track, folder, script, file=file)[0]
        done = import_script(
            track, given, script.name, slots=slots, seconds_per_word=pace, overwrite=overwrite,
        )  # fmt: skip
        if done.missing and not remove_missing:
            raise MissingLines(
                f"{missing_lines(track, done, script.name)} Nothing was imported.",
                "To remove them, add --remove-missing. If the script is only a part, add the other lines: "
                "shotad export writes them all.",
            )
        if lost is not None:
            done = replace(done, added=tuple(cue.id for cue in track.cues))
        people = tuple(dict.fromkeys((*done.track.reviewed_by, *reviewers)))
        done = replace(done, track=replace(update_spoken_ends(done.track, slots, pace), reviewed_by=people))
        if own:
            save_track(done.track, folder.path, name)
        else:
            save_translation(done.track, folder)
        folder.note(f"imported {script.name}: {len(done.changed)} lines changed")
    return done


def save_track(track: Track, folder: Path, name: str) -> tuple[Path, ...]:
    """Write the track and its scripts; their paths. Who read the track before holds `track_lock` by now."""
    texts = script_texts(track, folder, name)
    return (folder / TRACK, *write_texts(texts, folder, track=(folder / TRACK, to_json(track))))


def _refuse_others(folder: Path, lost: Track, script: Path) -> None:
    """Raise EditConflict where other scripts of a track that is lost were changed too: they are written anew
    from the lines of ``script``."""
    if lost.translated_from:
        scripts, hashes = _left_of_translation(folder, lost.film.name, lost.language)
    else:
        scripts, hashes = _left_of_track(folder, lost.film.name)
    for _, path in _edited(scripts, hashes, script):
        raise EditConflict(
            f"{path} was changed as well, and would be replaced.",
            "Move it away, import this script, and then bring that one in too.",
        )


def keep_discarded(track: Track | None, folder: Path, film_name: str, *, file: str = TRACK) -> str:
    """Copy a track whose edits are about to be thrown away, and the scripts beside it that people changed, to
    ``discarded-NAME``; a sentence that says so, empty where nobody has edited anything.

    ``track`` is None where only scripts are left of it.

    ``--discard-edits`` may be left in a command by mistake, and a week of work with it.
    """
    if track is not None:
        written = _written(folder, SCRIPTS_RECORD if file == TRACK else _written_of(track))
        scripts = _edited(scripts_of(track, folder, file), written, track=track)
    elif file == TRACK:
        scripts = _edited(*_left_of_track(folder, film_name))
    else:
        tag = file.removeprefix("track.").removesuffix(".json")
        scripts = _edited(*_left_of_translation(folder, film_name, tag))
    edits = 0 if track is None else sum(cue.edited is not None for cue in track.cues)
    copies = [folder / file] if edits else []
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

_STAMPED = ("vtt", "dapt", "csv")
"""Those that say of each line how it was written, so that several edited ones can be told apart."""


def script_texts(track: Track, folder: Path, name: str) -> dict[Path, str]:
    """What the scripts of ``track`` hold, by where they stand; nothing is written."""
    return {path: form.write(track) for form, path in _places(folder, name)}


@time_step("scripts")
def write_texts(
    texts: Mapping[Path, str],
    folder: Path,
    record: str = SCRIPTS_RECORD,
    *,
    track: tuple[Path, str] | None = None,
) -> tuple[Path, ...]:
    """Write scripts, and down in ``record`` how they were written; their paths. Of others it stays as it is
    noted.

    ``track`` is the file that they are of, and its text, where that is written too. It comes after the note
    of what its scripts will be: where all ends in between, nobody takes them for newer than the track.
    """
    known = _written(folder, record)
    hashes = {path.name: _hash(text.encode()) for path, text in texts.items()}
    noted = {name: hashes.get(name, own[0]) for name, own in known.items()} | hashes
    before: dict[str, list[str]] = {}
    for path in texts:
        there = (_hash(read_file(path)),) if path.is_file() and path.name not in known else ()
        before[path.name] = sorted({*known.get(path.name, there)} - {hashes[path.name]})
    write_text(folder / record, readable_json({"scripts": noted, "before": before}))
    for path, text in (*((track,) if track else ()), *texts.items()):
        write_text(path, text)
    write_text(folder / record, readable_json({"scripts": noted}))
    return tuple(texts)


def are_scripts_current(texts: Mapping[Path, str], folder: Path) -> bool:
    """Whether scripts were last written just so, and wholly."""
    written = _written(folder, SCRIPTS_RECORD)
    return all(written.get(path.name) == (_hash(text.encode()),) for path, text in texts.items())


def script_places(folder: Path, name: str) -> tuple[Path, ...]:
    """Where the scripts beside a track are, there or not."""
    return tuple(path for _, path in _places(folder, name))


def edited_scripts(folder: Path, name: str, track: Track | None = None) -> tuple[tuple[Format, Path], ...]:
    """The scripts beside the ``track`` that are not as they were written."""
    return _edited(_places(folder, name), _written(folder, SCRIPTS_RECORD), track=track)


def _edited(
    places: Iterable[tuple[Format, Path]],
    written: Hashes,
    but: Path | None = None,
    track: Track | None = None,
) -> tuple[tuple[Format, Path], ...]:
    found = []
    for form, path in places:
        if not path.is_file() or (but is not None and path.resolve() == but.resolve()):
            continue
        if is_edited(form, path, read_file(path), written, track):
            found.append((form, path))
    return tuple(found)


def import_edited_scripts(
    track: Track,
    edited: Sequence[tuple[Format, Path]],
    slots: Mapping[str, Interval],
    seconds_per_word: float,
) -> tuple[Track, dict[str, int]]:
    """The track with the edits of scripts beside it, and how many lines each of them changed, by file name.

    Raises EditConflict where two of them, or one and the track, hold other words for the same line, and where
    it cannot be told which of two is meant; MissingLines where one lacks lines of the track; ScriptError for
    a script that cannot be read any more.
    """
    unsure = [path.name for form, path in edited if form.name not in _STAMPED]
    if unsure and len(edited) > 1:
        names = " and ".join(path.name for _, path in edited)
        raise EditConflict(
            f"{names} were all changed, and {unsure[0]} does not say which of its lines were.",
            f"Bring one in with shotad import, and delete or undo the changes of {unsure[0]}.",
        )
    counts: dict[str, int] = {}
    for form, path in edited:
        script = read_script(path, form.name, track.language)
        done = import_script(track, script, path.name, slots=slots, seconds_per_word=seconds_per_word)
        if done.missing:
            raise MissingLines(
                f"{missing_lines(track, done, path.name)} Nothing was written.",
                f"To remove them: shotad import {path.parent} {path} --remove-missing. To keep them, delete "
                f"{path.name} or put the lines back.",
            )
        counts[path.name] = len(done.changed) + len(done.added) + len(done.removed)
        track = done.track if counts[path.name] else track
    return track, counts


def _written(folder: Path, name: str) -> dict[str, tuple[str, ...]]:
    """Hashes by file name: of a script as it was written last, then as it may still be where that was not
    finished; none where nothing is known of them."""
    try:
        record = read_record(folder / name) or {"scripts": {}}
    except WorkFolderError:
        return {}
    before = record.get("before", {})
    return {name: (value, *before.get(name, ())) for name, value in record["scripts"].items()}


def _places(folder: Path, name: str) -> list[tuple[Format, Path]]:
    return [(form, folder / f"{file_stem(name)}.{form.ending}") for form in map(script_format, BESIDE_TRACK)]


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def track_name(tag: str) -> str:
    """The file of a translated track: ``de → track.de.json``."""
    return f"track.{tag}.json"


def is_translation(path: Path, track: Track) -> bool:
    """Whether a track's file is one that stands beside a film's own, with scripts of its own."""
    return path.name == track_name(track.language)


def scripts_of(track: Track, folder: Path, file: str) -> list[tuple[Format, Path]]:
    """The scripts beside a track in the file of this name, there or not; none where that is neither the
    film's own nor a translation's."""
    if file == TRACK:
        return _places(folder, track.film.name)
    forms = map(script_format, BESIDE_TRACK if file == track_name(track.language) else ())
    return [(form, script_file(track, form, folder, is_translation=True)) for form in forms]


def _written_of(track: Track) -> str:
    return f"scripts.{track.language}.json"


def translation_of(script: Path, folder: Path) -> Path | None:
    """The translated track in ``folder`` whose script a file is by its name; None where it is of none."""
    for path in sorted(folder.glob(track_name("*"))):
        try:
            track = load_track(path)
        except ShotadError:
            continue  # whoever works with it is told what is wrong with it
        if script.name in [place.name for _, place in scripts_of(track, folder, path.name)]:
            return path
    return None


def slot_times(folder: WorkFolder) -> tuple[dict[str, Interval], float]:
    """Times of the folder's slots by id, and the seconds a word of the run that planned them; the default
    where that is not known."""
    if folder.is_outdated:
        return {}, Config().slots.seconds_per_word
    planned = (folder.read_json("slots.json") or {}).get("slots", ())
    known = (folder.path / SETTINGS_FILE).is_file()
    config = read_settings(folder.path).config if known else Config()
    return {slot.id: slot.interval for slot in slots_of(planned)}, config.slots.seconds_per_word


def save_translation(track: Track, folder: WorkFolder) -> tuple[Path, ...]:
    """Write the track and its scripts, each with its language in its name; their paths."""
    own = folder.path / track_name(track.language)
    texts = {path: form.write(track) for form, path in scripts_of(track, folder.path, own.name)}
    return (own, *write_texts(texts, folder.path, _written_of(track), track=(own, to_json(track))))


def outdated(track: Track, folder: WorkFolder) -> tuple[str, ...]:
    """The lines of a translation whose source has changed since: ids of those that were retold, of those that
    came, and of those that are heard no more.

    Nothing for a track that is no translation, or whose source is not in the folder any more.
    """
    source: Track | None = None
    try:
        for name in (TRACK, track_name(track.translated_from)) if track.translated_from else ():
            path = folder.path / name
            candidate = load_track(path) if path.is_file() else None
            if candidate is not None and candidate.language == track.translated_from:
                source = with_edited_scripts(candidate, folder)[0] if name == TRACK else candidate
                break
    except ShotadError:
        return ()  # whoever works with it is told what is wrong with it
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
    """The same as a sentence for people; None where every line is as it was translated."""
    lines = outdated(track, folder)
    if not lines:
        return None
    what = plural(len(lines), "line was", "lines were")
    shown = ", ".join(lines[:_SHOWN]) + (" …" if len(lines) > _SHOWN else "")
    return (
        f"{what} changed in the source since this was translated ({shown}): run shotad translate with "
        f"--to {track.language} again; only these are asked for."
    )


_SHOWN = 5
"""Ids that are named; more help nobody."""
