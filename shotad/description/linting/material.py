"""What guidelines need to know of a film beside its lines: records, named files, text on the screen."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from shotad.core import (
    Cast,
    Config,
    Image,
    Interval,
    NoProgress,
    Progress,
    RecordLog,
    RunSettings,
)
from shotad.core.engine import TextFact
from shotad.core.errors import CastError, FilmError, WorkFolderError
from shotad.core.files import write_text
from shotad.core.progress import progress_task
from shotad.core.records import slots_of, utterances_of
from shotad.core.runsettings import read_settings
from shotad.core.workfolder import (
    SETTINGS_FILE,
    hash_key,
    read_record,
    readable_json,
    work_folder_of,
)
from shotad.description.stage_answers import Stage1Answer
from shotad.film import fit_subtitles, read_subtitles
from shotad.film.speech import check_inside
from shotad.script import (
    Cue,
    Finding,
    Level,
    Material,
    Track,
    TrackLine,
    lines_of_script,
    lines_of_track,
)
from shotad.script.cue import ScriptCue, line_stamp
from shotad.script.edits import is_by_hand
from shotad.script.guidelines import finding_of
from shotad.sight import load_cast

if TYPE_CHECKING:
    from shotad.film import Film

RENDERED = "render.json"
"""What a render found wrong with the sound and the files."""

MISSING = "missing.json"
"""Questions on the story that the track left open when `shotad evaluate story` asked them."""

Value = TypeVar("Value")

_AGAIN = "Run shotad describe on the film again; what is done is not asked for twice."


def track_material(
    track: Track,
    folder: Path | None,
    *,
    speech: Path | None = None,
    cast: Path | None = None,
    encoding: str | None = None,
    frame_rate: Fraction | None = None,
) -> tuple[Material, tuple[str, ...]]:
    """A track with what its folder knows of the film, and sentences on what is wrong with that.

    ``speech`` and ``cast`` take the place of what the folder has.
    ``speech`` is a file of subtitles in ``encoding`` (None: found from the bytes), with ``frame_rate`` frames
    a second if it counts in frames; where the folder knows what was heard in the film they are compared with
    it.

    Raises WorkFolderError for damaged records, SubtitleError and CastError for files named here.
    """
    slots = _read_record(folder, "slots.json", lambda record: slots_of(record["slots"]))
    lines = lines_of_track(track, {slot.id: slot.interval for slot in slots or ()})
    material, notes = _with_named_files(track.film.name, lines, speech, cast, encoding, frame_rate)
    if speech is not None:
        notes += _misfit_notes(material, folder, track.film.duration)
    material = replace(material, end=track.film.duration)
    material, folder_notes = _with_records(material, folder, track.film.fingerprint)
    return replace(material, is_benchmark=_has_given_slots(folder)), (*notes, *folder_notes)


def _misfit_notes(material: Material, folder: Path | None, duration: float) -> tuple[str, ...]:
    """How the subtitles in ``material`` do not fit a film of ``duration`` seconds, by ``heard.json`` in the
    folder; nothing where they fit or that record is missing.

    Raises SubtitleError where all of them lie outside the film.
    """
    utterances = tuple(material.speech or ())
    check_inside(utterances, duration)
    sound_speech = _read_record(folder, "heard.json", lambda record: record["heard"])
    if sound_speech is None:
        return ()
    subtitle_times = [utterance.interval for utterance in utterances]
    note = fit_subtitles(subtitle_times, [Interval(*pair) for pair in sound_speech], duration).note
    return (note,) if note else ()


def script_material(
    name: str,
    cues: Sequence[ScriptCue],
    language: str,
    *,
    speech: Path | None = None,
    cast: Path | None = None,
    encoding: str | None = None,
    frame_rate: Fraction | None = None,
) -> tuple[Material, tuple[str, ...]]:
    """The lines of the script called ``name``, with the files named beside it, and what is wrong with those.

    Raises SubtitleError, CastError.
    """
    return _with_named_files(name, lines_of_script(cues, language), speech, cast, encoding, frame_rate)


def with_folder_material(material: Material, folder: Path, track: Track) -> tuple[Material, tuple[str, ...]]:
    """The material of a script that lies in a work folder, such as the VTT that a person edits, with what
    the folder and its ``track`` know, and what is wrong with that. What the material has already stays."""
    film = track.film
    cues = {cue.id: cue for cue in track.cues}
    lines = []
    for line in material.lines:
        cue = cues.get(line.id)
        if cue is None:
            lines.append(line)
            continue
        # A line that was changed in the script is a person's, too.
        is_unchanged = line_stamp(line.interval, line.text) == line_stamp(cue.interval, cue.text)
        by_hand = not is_unchanged or is_by_hand(cue)
        lines.append(replace(line, seen_from=cue.seen_from, by_hand=by_hand))
    material, notes = _with_records(material, folder, film.fingerprint)
    material = replace(
        material,
        lines=tuple(lines),
        film=film.name,
        end=film.duration,
        is_benchmark=_has_given_slots(folder),
    )
    return material, notes


def _with_named_files(
    name: str,
    lines: tuple[TrackLine, ...],
    speech: Path | None,
    cast: Path | None,
    encoding: str | None,
    frame_rate: Fraction | None,
) -> tuple[Material, tuple[str, ...]]:
    """Lines with the files that the user named beside them, and what is wrong with those."""
    subtitles = None
    if speech is not None:
        subtitles = read_subtitles(speech, encoding=encoding, frame_rate=frame_rate)
    utterances = None if subtitles is None else subtitles.utterances
    material = Material(name, lines, None, utterances, load_cast(cast) if cast is not None else None)
    return material, () if subtitles is None else subtitles.notes


def _with_records(
    material: Material, folder: Path | None, fingerprint: str
) -> tuple[Material, tuple[str, ...]]:
    """The material with what a work folder knows beyond it of its film, and what is wrong with that."""
    notes: list[str] = []
    speech, cast, texts = material.speech, material.cast, material.texts
    if speech is None:
        speech = _read_record(
            folder,
            "speech.json",
            lambda record: None if record.get("source") == "none" else utterances_of(record["speech"]),
        )
    if cast is None:
        cast = _cast_of_run(folder, notes)
    if texts is None:
        texts = _recorded_texts(folder, fingerprint)
    return replace(material, speech=speech, cast=cast, texts=texts), tuple(notes)


def run_of(folder: Path | None) -> RunSettings | None:
    """What the run that wrote a work folder was asked; None where nothing says so. Raises WorkFolderError."""
    if folder is None or not (folder / SETTINGS_FILE).is_file():
        return None
    return read_settings(folder)


def recorded_findings(folder: Path, track: Track) -> tuple[Finding, ...]:
    """What the last render found wrong (``render.json``), and the story questions that the track does not
    answer (``missing.json`` of ``shotad evaluate story``); none where there was none.

    A question stands at a free slot near its moment, else at the nearest line. If that list is damaged, this
    is a finding too, at the first line. Raises WorkFolderError for a damaged ``render.json``.
    """
    render_findings = _read_record(
        folder, RENDERED, lambda record: [*map(finding_of, record.get("findings", ()))], "Render again."
    )
    # Of a line that was changed since, nobody knows any more whether it leaves others no time.
    as_rendered = {cue.id for cue in track.heard if cue.spoken is not None}
    findings = []
    for finding in render_findings or ():
        if finding.rule != "T4" or finding.cue_id in as_rendered:
            findings.append(finding)
    try:
        questions = _read_record(
            folder, MISSING, lambda record: [_story_finding(row, track) for row in record["missing"]]
        )
    except WorkFolderError as error:
        first_line = track.cues[0].id if track.cues else None
        questions = [Finding("S1", Level.WARNING, error.what.rstrip("."), first_line)]
    return (*findings, *(questions or ()))


def _story_finding(row: Mapping[str, Any], track: Track) -> Finding:
    """The finding on a story question that the track leaves open, from its row in ``missing.json``."""
    around, start = Interval(*row["around"]), float(row["start"])
    lines_now = [cue.text for cue in track.heard if cue.interval.overlaps(around)]

    def distance(cue: Cue) -> tuple[bool, bool, float]:
        return not cue.interval.overlaps(around), cue.slot_id not in row["free"], abs(cue.start - start)

    nearest = min(track.cues, key=distance, default=None)
    changed = "" if lines_now == row["lines"] else ". The lines here have changed since this was asked"
    cue_id = nearest.id if nearest else None
    return Finding("S1", Level.WARNING, row["message"] + changed, cue_id, when=around)


def _read_record(
    folder: Path | None, name: str, read: Callable[[Mapping[str, Any]], Value], hint: str = _AGAIN
) -> Value | None:
    """What ``read`` makes of the record ``name``; None where there is no such record.

    Raises WorkFolderError with ``hint`` for a record that ``read`` cannot use.
    """
    record = read_record(folder / name) if folder else None
    if folder is None or record is None:
        return None
    try:
        return read(record)
    except (KeyError, TypeError, ValueError, AttributeError) as trouble:
        raise _damaged(folder / name, trouble, hint) from None


def _cast_of_run(folder: Path | None, notes: list[str]) -> Cast | None:
    """The cast that the run was given; one that is not there any more is added to ``notes``, not refused."""
    run = run_of(folder)
    given_cast = run.given.cast if run else None
    if given_cast is None:
        return None
    try:
        return load_cast(given_cast.path, key=given_cast.key, photos=given_cast.photos)
    except CastError as error:
        notes.append(f"L7 and L8: {error.what} Give --cast CAST.")
        return None


def _has_given_slots(folder: Path | None) -> bool:
    """Whether the run was given its slots, or budgets of the paper's kind."""
    run = run_of(folder)
    return run is not None and (run.given.slots is not None or run.config.slots.budget != "fit")


def _recorded_texts(folder: Path | None, fingerprint: str) -> tuple[TextFact, ...] | None:
    """What was read from the screen, of the whole film or around the slots; None where nothing looked."""
    film_texts = known_screen_texts(folder, fingerprint)
    path = folder / "stage1.jsonl" if folder else None
    if film_texts is not None or path is None or not path.is_file():
        return film_texts
    texts: dict[TextFact, None] = {}
    has_looked = False
    for record in RecordLog(path).records():
        try:
            facts = Stage1Answer.from_json(record).facts
        except (KeyError, TypeError, ValueError, AttributeError) as trouble:
            raise _damaged(path, trouble) from None
        if facts is not None:
            has_looked = True
            texts |= dict.fromkeys(replace(text, shot=0) for text in facts.texts)
    return tuple(texts) if has_looked else None


def _damaged(path: Path, trouble: Exception, hint: str = _AGAIN) -> WorkFolderError:
    return WorkFolderError(f"{path} is damaged: {trouble!r}.", hint)


def frame_rate_of_film(film: Path | None) -> Fraction | None:
    """Frames a second of a film, by which subtitles may count; None where there is none that can be read."""
    from shotad.film import open_film

    if film is None:
        return None
    with suppress(FilmError), open_film(film) as opened:
        return opened.info.frame_rate
    return None


def with_film_material(material: Material, film: Path) -> Material:
    """A script's material with what is known of its film: the records beside it, else its own subtitles.

    What the material has already stays. Raises FilmError for a film that cannot be read.
    """
    from shotad.film import open_film
    from shotad.film.subtitles import embedded_track

    with open_film(film) as opened:
        info = opened.info
    material, _ = _with_records(material, work_folder_of(film), info.fingerprint)
    speech = material.speech
    if speech is None and info.path is not None:
        track = embedded_track(info.path)
        speech = track[0].utterances if track is not None else None
    # Subtitles inside the film are not checked: nobody chose them.
    if material.speech is not None:
        check_inside(tuple(material.speech), info.duration)
    return replace(material, name=film.name, end=info.duration or None, speech=speech)


RECORD = "screen.json"
"""What was read, in the work folder."""
EVERY = 0.5
"""Seconds between frames: a text is taken for one that is read in two of them."""
PIXELS = 854 * 480
"""Size of the frames; small letters are no titles."""
_SECONDS_AS_SHOT = 10.0
"""Seconds that count as a shot: what stays in a corner over three is a sender's mark."""


def read_screen(
    path: Path,
    folder: Path | None,
    config: Config,
    speech: Sequence[Interval] = (),
    *,
    progress: Progress | None = None,
) -> tuple[TextFact, ...]:
    """The texts that a film shows, by first sighting, from `RECORD` in ``folder`` where they stand already.

    ``speech`` is when people speak, by which subtitles are recognised. Without a folder nothing is kept.
    Raises FilmError for a film that cannot be read, WeightsError without the reader's weights.
    """
    from shotad.film import open_film

    with open_film(path, reader=config.film.reader) as film:
        speech_times = [[round(interval.start, 3), round(interval.end, 3)] for interval in speech]
        key = hash_key("screen/2", film.info.fingerprint, [EVERY, PIXELS], speech_times)
        known_texts = known_screen_texts(folder, film.info.fingerprint, key)
        if known_texts is not None:
            return known_texts
        texts = _read_texts(film, speech, progress or NoProgress())
        if folder is not None and folder.is_dir():
            rows = [dataclasses.asdict(text) for text in texts]
            record = {"film": film.info.fingerprint, "key": key, "texts": rows}
            write_text(folder / RECORD, readable_json(record))
        return texts


def known_screen_texts(
    folder: Path | None, fingerprint: str, key: str | None = None
) -> tuple[TextFact, ...] | None:
    """What was read of this film before, by these settings (None: any), if at all. Raises WorkFolderError."""

    def texts_of(record: Mapping[str, Any]) -> tuple[TextFact, ...] | None:
        if record["film"] != fingerprint or key not in (None, record["key"]):
            return None
        return tuple(TextFact(**row) for row in record["texts"])

    return _read_record(folder, RECORD, texts_of, "Delete it.")


def _read_texts(film: Film, speech: Sequence[Interval], progress: Progress) -> tuple[TextFact, ...]:
    from shotad.sight import (
        FrameText,
        TextReader,
        texts_of_shots,
    )
    from shotad.sight.text import plain_fraction

    moments = [i * EVERY for i in range(int(film.info.duration / EVERY) + 1)]
    reader = TextReader()
    frame_texts: list[FrameText] = []
    latest: list[Image] = []  # the picture that was read last, alone
    with progress_task(progress, "Reading the screen", film.info.duration, "s") as task:

        def images() -> Iterator[Image]:
            for picture in film.pictures(moments, max_pixels=PIXELS):
                latest[:] = [picture.image]
                yield picture.image
                task.advance(EVERY)

        for second, lines in zip(moments, reader.read_all(images()), strict=False):
            plain = plain_fraction(latest[0], lines)
            frame_texts.append(FrameText(int(second // _SECONDS_AS_SHOT) + 1, second, lines, plain))
    return texts_of_shots(frame_texts, speech=speech)
