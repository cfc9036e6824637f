"""What guidelines need to know of a film beside its lines: records, named files, text on the screen."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
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
from shotad.core.errors import CastError, WorkFolderError
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
    read_cues,
)
from shotad.script.cue import line_stamp
from shotad.script.edits import is_by_hand
from shotad.script.guidelines import finding_of
from shotad.sight import load_cast

if TYPE_CHECKING:
    from shotad.film import Film

RENDERED = "render.json"
"""What a render found wrong with the sound and the files."""

MISSING = "missing.json"
"""Questions on the story that the track left open when `shotad evaluate story` asked them."""

Made = TypeVar("Made")

_AGAIN = "Run shotad describe on the film again; what is done is not asked for twice."


def track_material(
    track: Track,
    folder: Path | None,
    *,
    speech: Path | None = None,
    cast: Path | None = None,
    encoding: str | None = None,
) -> tuple[Material, tuple[str, ...]]:
    """A track with what its folder knows, and what is wrong with that; ``speech`` and ``cast`` go before it.

    ``speech`` is a file of subtitles in ``encoding`` (None: found from the bytes); where the folder knows
    what was heard in the film they are compared with it.

    Raises WorkFolderError for damaged records, SubtitleError and CastError for files named here.
    """
    slots = _made_of(folder, "slots.json", lambda record: slots_of(record["slots"]))
    lines = lines_of_track(track, {slot.id: slot.interval for slot in slots or ()})
    named, speech_notes = _named(track.film.name, lines, speech, cast, encoding)
    if speech is not None:
        speech_notes += _misfit(named, folder, track.film.duration)
    material, noted = _filled(replace(named, end=track.film.duration), folder, track.film.fingerprint)
    return replace(material, is_benchmark=_is_benchmark(folder)), (*speech_notes, *noted)


def _misfit(material: Material, folder: Path | None, duration: float) -> tuple[str, ...]:
    """How named subtitles do not fit the film; by what ``heard.json`` says, where it is there.

    Raises SubtitleError where all of them lie outside the film.
    """
    utterances = tuple(material.speech or ())
    check_inside(utterances, duration)
    heard = _made_of(folder, "heard.json", lambda record: record["heard"])
    if heard is None:
        return ()
    intervals = [utterance.interval for utterance in utterances]
    note = fit_subtitles(intervals, [Interval(*pair) for pair in heard], duration).note
    return (note,) if note else ()


def script_material(
    path: Path,
    language: str,
    *,
    speech: Path | None = None,
    cast: Path | None = None,
    encoding: str | None = None,
) -> tuple[Material, tuple[str, ...]]:
    """A script of any format, with what is given beside it, and what is wrong with that.

    Raises ScriptError, SubtitleError, CastError.
    """
    return _named(path.name, lines_of_script(read_cues(path), language), speech, cast, encoding)


def in_folder(material: Material, folder: Path, track: Track) -> tuple[Material, tuple[str, ...]]:
    """The material of a script that lies in a work folder, such as the VTT that a person edits, with what
    the folder and its ``track`` know, and what is wrong with that. What the material has already stays."""
    film, cues, lines = track.film, {cue.id: cue for cue in track.cues}, []
    for line in material.lines:
        if (cue := cues.get(line.id)) is not None:
            # A person's, too, where it was changed in the script
            same = line_stamp(line.interval, line.text) == line_stamp(cue.interval, cue.text)
            line = replace(line, seen_from=cue.seen_from, by_hand=not same or is_by_hand(cue))  # noqa: PLW2901
        lines.append(line)
    more, noted = _filled(material, folder, film.fingerprint)
    is_benchmark, shown = _is_benchmark(folder), tuple(lines)
    return replace(more, lines=shown, film=film.name, end=film.duration, is_benchmark=is_benchmark), noted


def _named(
    name: str, lines: tuple[TrackLine, ...], speech: Path | None, cast: Path | None, encoding: str | None
) -> tuple[Material, tuple[str, ...]]:
    """Lines with the files that were named beside them, and what is wrong with those."""
    subtitles = read_subtitles(speech, encoding=encoding) if speech is not None else None
    spoken = None if subtitles is None else subtitles.utterances
    material = Material(name, lines, None, spoken, load_cast(cast) if cast is not None else None)
    return material, () if subtitles is None else subtitles.notes


def _filled(material: Material, folder: Path | None, fingerprint: str) -> tuple[Material, tuple[str, ...]]:
    """The material with what a work folder knows beyond it of its film, and what is wrong with that."""
    noted: list[str] = []
    speech = material.speech
    if speech is None:
        speech = _made_of(
            folder,
            "speech.json",
            lambda record: None if record.get("source") == "none" else utterances_of(record["speech"]),
        )
    filled = replace(
        material,
        speech=speech,
        cast=material.cast if material.cast is not None else _cast_of(folder, noted),
        texts=material.texts if material.texts is not None else _screen(folder, fingerprint),
    )
    return filled, tuple(noted)


def run_of(folder: Path | None) -> RunSettings | None:
    """What the run that wrote a work folder was asked; None where nothing says so. Raises WorkFolderError."""
    if folder is None or not (folder / SETTINGS_FILE).is_file():
        return None
    return read_settings(folder)


def kept_findings(folder: Path, track: Track) -> tuple[Finding, ...]:
    """What the last render found wrong (``render.json``), and the story questions that the track does not
    answer (``missing.json`` of ``shotad evaluate story``); none where there was none.

    A question stands at a free slot near its moment, else at the nearest line. If that list is damaged, this
    is a finding too, at the first line. Raises WorkFolderError for a damaged ``render.json``.
    """

    found = _made_of(
        folder, RENDERED, lambda record: [*map(finding_of, record.get("findings", ()))], "Render again."
    )
    # Of a line that was changed since, nobody knows any more whether it leaves others no time.
    as_rendered = {cue.id for cue in track.heard if cue.spoken is not None}
    found = [one for one in found or () if one.rule != "T4" or one.cue_id in as_rendered]
    try:
        lost = _made_of(folder, MISSING, lambda record: [_missing(row, track) for row in record["missing"]])
    except WorkFolderError as error:
        lost = [
            Finding("S1", Level.WARNING, error.what.rstrip("."), track.cues[0].id if track.cues else None)
        ]
    return (*found, *(lost or ()))


def _missing(row: Mapping[str, Any], track: Track) -> Finding:
    around, start = Interval(*row["around"]), float(row["start"])
    told = [cue.text for cue in track.heard if cue.interval.overlaps(around)]

    def distance(cue: Cue) -> tuple[bool, bool, float]:
        return not cue.interval.overlaps(around), cue.slot_id not in row["free"], abs(cue.start - start)

    place = min(track.cues, key=distance, default=None)
    changed = "" if told == row["lines"] else ". The lines here have changed since this was asked"
    name = place.id if place else None
    return Finding("S1", Level.WARNING, row["message"] + changed, name, when=around)


def _made_of(
    folder: Path | None, name: str, make: Callable[[Mapping[str, Any]], Made], hint: str = _AGAIN
) -> Made | None:
    """What is made of a record; None where there is none."""
    record = read_record(folder / name) if folder else None
    if folder is None or record is None:
        return None
    try:
        return make(record)
    except (KeyError, TypeError, ValueError, AttributeError) as trouble:
        raise _damaged(folder / name, trouble, hint) from None


def _cast_of(folder: Path | None, noted: list[str]) -> Cast | None:
    """The cast that the run was given; one that is not there any more is noted, not refused."""
    run = run_of(folder)
    given = run.given.cast if run else None
    if given is None:
        return None
    try:
        return load_cast(given.path, key=given.key, photos=given.photos)
    except CastError as error:
        noted.append(f"L7 and L8: {error.what} Give --cast CAST.")
        return None


def _is_benchmark(folder: Path | None) -> bool:
    """Whether the run was given its slots, or budgets of the paper's kind."""
    run = run_of(folder)
    return run is not None and (run.given.slots is not None or run.config.slots.budget != "fit")


def _screen(folder: Path | None, fingerprint: str) -> tuple[TextFact, ...] | None:
    """What was read from the screen, of the whole film or around the slots; None where nothing looked."""
    whole = kept_texts(folder, fingerprint)
    path = folder / "stage1.jsonl" if folder else None
    if whole is not None or path is None or not path.is_file():
        return whole
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


def beside_film(material: Material, film: Path) -> Material:
    """A script's material with what is known of its film: the records beside it, else its own subtitles.

    What the material has already stays. Raises FilmError for a film that cannot be read.
    """
    from shotad.film import open_film
    from shotad.film.subtitles import embedded_track

    with open_film(film) as opened:
        info = opened.info
    material, _ = _filled(material, work_folder_of(film), info.fingerprint)
    track = embedded_track(info.path) if material.speech is None and info.path is not None else None
    speech = track[0].utterances if track is not None else material.speech
    if material.speech is not None:
        check_inside(tuple(material.speech), info.duration)
    return replace(material, name=film.name, end=info.duration or None, speech=speech)


RECORD = "screen.json"
"""What was read, in the work folder."""
EVERY = 0.5
"""Seconds between frames: a text is taken for one that is read in two of them."""
PIXELS = 854 * 480
"""Size of the frames; small letters are no titles."""
_STRETCH = 10.0
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

    ``speech`` is when people speak, by which subtitles are told. Without a folder nothing is kept. Raises
    FilmError for a film that cannot be read, WeightsError without the reader's weights.
    """
    from shotad.film import open_film

    with open_film(path, reader=config.film.reader) as film:
        spoken = [[round(one.start, 3), round(one.end, 3)] for one in speech]
        key = hash_key("screen/2", film.info.fingerprint, [EVERY, PIXELS], spoken)
        known = kept_texts(folder, film.info.fingerprint, key)
        if known is not None:
            return known
        found = _read_texts(film, speech, progress or NoProgress())
        if folder is not None and folder.is_dir():
            texts = [dataclasses.asdict(text) for text in found]
            record = {"film": film.info.fingerprint, "key": key, "texts": texts}
            write_text(folder / RECORD, readable_json(record))
        return found


def kept_texts(folder: Path | None, fingerprint: str, key: str | None = None) -> tuple[TextFact, ...] | None:
    """What was read of this film before, by these settings (None: any), if at all. Raises WorkFolderError."""

    def texts(record: Mapping[str, Any]) -> tuple[TextFact, ...] | None:
        if record["film"] != fingerprint or key not in (None, record["key"]):
            return None
        return tuple(TextFact(**row) for row in record["texts"])

    return _made_of(folder, RECORD, texts, "Delete it.")


def _read_texts(film: Film, speech: Sequence[Interval], progress: Progress) -> tuple[TextFact, ...]:
    from shotad.sight import (
        FrameText,
        TextReader,
        texts_of_shots,
    )
    from shotad.sight.text import plain_fraction

    moments = [i * EVERY for i in range(int(film.info.duration / EVERY) + 1)]
    reader = TextReader()
    read: list[FrameText] = []
    latest: list[Image] = []  # the picture that was read last, alone
    with progress_task(progress, "Reading the screen", film.info.duration, "s") as task:

        def images() -> Iterator[Image]:
            for picture in film.pictures(moments, max_pixels=PIXELS):
                latest[:] = [picture.image]
                yield picture.image
                task.advance(EVERY)

        for second, lines in zip(moments, reader.read_all(images()), strict=False):
            plain = plain_fraction(latest[0], lines)
            read.append(FrameText(int(second // _STRETCH) + 1, second, lines, plain))
    return texts_of_shots(read, speech=speech)
