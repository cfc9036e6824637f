"""The audio description that a film has already: found, told, and kept or passed over as ``existing`` says.

Many films have a description, as a track inside or as a file beside them. A machine's lines are worth less
than those of a describer, so a run stops where there is one in the language that is asked for. It goes on
where a person says so: it keeps the lines that are there and writes those that are missing, or ignores them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from shotad import __version__
from shotad.core import Config, FilmInfo, RunInputs
from shotad.core.config.languages import language_name, language_named
from shotad.core.errors import DescriptionExists, FilmError, ShotadError
from shotad.core.progress import duration, plural
from shotad.core.system import quoted
from shotad.core.workfolder import work_folder_of
from shotad.description.inputs import GivenFile
from shotad.film.beside import (
    NamedDescription,
    descriptions_named,
    is_own_script,
    names_beside,
    read_head_beside,
    stem_of,
)
from shotad.film.description_tracks import description_cues, description_tracks, probe_sound
from shotad.script import Track
from shotad.script.cue import Script, ScriptCue
from shotad.script.edits import merge_edits, with_lines_of
from shotad.script.formats import read_script
from shotad.script.track import FilmId
from shotad.script.track_files import TRACK


@dataclass(frozen=True, slots=True)
class ExistingDescription:
    """A description of a film. ``place`` is its file, as a path or an address, or the film itself.

    ``track`` is the number of the track inside the film, None for a file beside it, whose ``name`` counts
    from the film's folder: ``AD/movie.wav``. ``language`` is a short code, empty where nothing names one.
    ``cues`` (of text) and ``seconds`` are None where they are not known. ``is_readable``: its lines can be
    read; ``problem`` says why they cannot be, and what to do, where that is known. ``is_own``: shotad made
    it.
    """

    place: str
    is_text: bool
    name: str = ""
    track: int | None = None
    language: str = ""
    title: str = ""
    cues: int | None = None
    seconds: float | None = None
    is_readable: bool = False
    problem: str = ""
    is_own: bool = False

    def __str__(self) -> str:
        """``movie.en.ad.vtt, beside the film (text, English, 63 lines, 1 h 2 min)``."""
        kind = "text" if self.is_text else "sound"
        where = (
            f"{self.name}, beside the film"
            if self.track is None
            else f"{kind} track {self.track} in the film"
        )
        facts = [kind] if self.track is None else []
        facts += [f"“{self.title[:60]}”"] if self.title else []
        facts += [language_name(self.language)] if self.language else []
        facts += [plural(self.cues, "line")] if self.cues is not None else []
        facts += [duration(self.seconds)] if self.seconds else []
        facts += ["made by shotad"] if self.is_own else []
        return f"{where} ({', '.join(facts)})" if facts else where


def descriptions_beside(film: Path, names: Sequence[str] | None = None) -> list[ExistingDescription]:
    """The descriptions that lie beside a film of this machine, text first; ``names`` as `names_beside`."""
    names = names_beside(film) if names is None else names

    def read_head(name: str) -> str:
        return read_head_beside(film, name)

    descriptions: list[ExistingDescription] = []
    for named in descriptions_named(stem_of(film.name), names, read_head):
        path = film.parent / named.name
        if not path.is_file():
            continue
        if named.is_text:
            descriptions.append(_text_beside(path, named))
            continue
        with suppress(FilmError):  # what cannot be read helps no listener
            sound = probe_sound(path)
            language = sound.language or named.language
            descriptions.append(
                ExistingDescription(
                    str(path),
                    False,
                    name=named.name,
                    language=language,
                    seconds=sound.seconds,
                    is_own=sound.is_own,
                )
            )
    return descriptions


def _file_name(place: str) -> str:
    """The last name in a path or an address."""
    return place.replace("\\", "/").rpartition("/")[2]


def _text_beside(path: Path, named: NamedDescription) -> ExistingDescription:
    head = read_head_beside(path, path.name)
    lines: list[ScriptCue] = []
    is_own, problem = is_own_script(head), ""
    try:
        script = read_script(path)
    except ShotadError as error:  # one that cannot be read is a description all the same
        problem = f"{error.what} {error.hint}".strip()
    else:
        lines = [cue for cue in script.cues if cue.text]
        problem = "" if lines else f"{named.name} holds no lines."
        # The documents of Office show only inside who wrote them.
        is_own = is_own or bool(script.stamp or script.line_stamps)
    return ExistingDescription(
        str(path),
        True,
        name=named.name,
        language=named.language or _language_in_head(head),
        cues=len(lines) if not problem else None,
        seconds=max((cue.interval.end for cue in lines), default=None),
        is_readable=bool(lines),
        problem=problem,
        is_own=is_own,
    )


def _language_in_head(head: str) -> str:
    """The language that WebVTT's header or the root of TTML names; empty where none does."""
    for mark, end in (("\nLanguage:", "\n"), ('xml:lang="', '"'), ("xml:lang='", "'")):
        _, found_mark, rest = head.replace("\r\n", "\n").partition(mark)
        if found_mark:
            return language_named(rest.partition(end)[0])
    return ""


def descriptions_inside(film: Path) -> list[ExistingDescription]:
    """The descriptions inside a film, text first. Raises FilmError for a film that cannot be read."""
    descriptions: list[ExistingDescription] = []
    for track in description_tracks(film):
        cues = description_cues(film, track.number) if track.is_text and track.is_readable else ()
        descriptions.append(
            ExistingDescription(
                str(film),
                track.is_text,
                track=track.number,
                language=track.language,
                title=track.title,
                cues=len(cues) if track.is_readable and track.is_text else None,
                seconds=max((interval.end for interval, _ in cues), default=None),
                is_readable=bool(cues),
            )
        )
    return sorted(descriptions, key=lambda description: not description.is_text)


@dataclass(frozen=True, slots=True)
class ExistingChoice:
    """What a run does with the descriptions of a film: ``kept_description`` is the one whose lines it keeps
    (None: none), ``notes`` are sentences for the user."""

    kept_description: ExistingDescription | None = None
    notes: tuple[str, ...] = ()


def choose_existing(
    descriptions: Sequence[ExistingDescription],
    config: Config,
    film: str,
    has_track: Callable[[], bool],
    spoken: str = "",
) -> ExistingChoice:
    """What a run by ``config.existing`` does with the descriptions of ``film``, a path or an address.

    ``has_track``: whether a work folder has a track of an earlier run, whose exports are no reason to stop.
    A description in another language is none either, but is told. One that names no language is taken to be
    in that of the film's sound, ``spoken`` (empty: not known, then in the one asked for). Raises
    DescriptionExists where the run stops: always for ``stop``, and for ``complete`` where no lines can be
    read.
    """
    if config.existing == "ignore":
        return ExistingChoice()
    if any(description.is_own for description in descriptions) and has_track():
        descriptions = [description for description in descriptions if not description.is_own]
    if not descriptions:
        return ExistingChoice()
    own_language = language_named(spoken)
    acceptable = ("", language_named(config.language))
    same = [
        description for description in descriptions if (description.language or own_language) in acceptable
    ]
    if not same:
        return ExistingChoice(notes=(_other_language_note(descriptions, config),))
    listed, name = "; ".join(map(str, same)), _file_name(film)
    files = tuple(description.name for description in same if description.track is None)
    readable = [description for description in same if description.is_readable]
    if config.existing == "stop":
        message = f"{name} has an audio description already: {listed}."
        raise DescriptionExists(message, _advice(same, film), has_lines=bool(readable), files=files)
    if not readable:
        raise DescriptionExists(
            f"The lines of the audio description that {name} has cannot be read, so nothing can be added to "
            f"them: {listed}.",
            f"{_reading_advice(same, film)} To describe all of the film: --existing ignore.".strip(),
            files=files,
        )
    kept_description = readable[0]
    count = "" if kept_description.cues is None else f"{plural(kept_description.cues, 'line')} of "
    return ExistingChoice(
        kept_description,
        (f"Kept: {count}{kept_description}. Only slots without a line of it are described.",),
    )


def _advice(descriptions: Sequence[ExistingDescription], film: str) -> str:
    advice: list[str] = []
    readable = [description for description in descriptions if description.is_readable]
    if readable:
        advice.append(
            "To keep its lines, review, translate and speak them, and have only the gaps described: "
            "--existing complete."
        )
        if readable[0].track is None:
            script = quoted([readable[0].place])
            advice.append(f"To check them: shotad lint {script} --film {quoted([film])}.")
    else:
        advice.append(_reading_advice(descriptions, film))
    advice.append("To describe the film all the same: --existing ignore.")
    return " ".join(filter(None, advice))


def _reading_advice(descriptions: Sequence[ExistingDescription], film: str) -> str:
    """How lines that cannot be read become such that can; empty where nobody knows."""
    problem = next((description.problem for description in descriptions if description.problem), "")
    return " ".join(filter(None, (problem, _align_advice(descriptions, film))))


def _align_advice(descriptions: Sequence[ExistingDescription], film: str) -> str:
    sounds = [description for description in descriptions if not description.is_text]
    files = [description for description in sounds if description.track is None]
    if not files:
        return ""
    words = quoted([film, files[0].place])
    return f"To write down when its lines are spoken: shotad align {words}."


def _other_language_note(descriptions: Sequence[ExistingDescription], config: Config) -> str:
    listed = "; ".join(map(str, descriptions))
    note = (
        f"There is an audio description in another language: {listed}. The film is described in "
        f"{language_name(config.language)} all the same."
    )
    readable = [description for description in descriptions if description.is_readable]
    if readable and readable[0].language:
        note += (
            f" To translate that one: describe with --language {readable[0].language} --existing complete, "
            f"then shotad translate --to {config.language}."
        )
    return note


def find_existing(
    info: FilmInfo, config: Config, folder: Path, run_inputs: RunInputs
) -> tuple[RunInputs, tuple[str, ...]]:
    """``run_inputs`` with the description whose lines are kept, and notes for the user.

    ``folder`` is the work folder, which need not be there yet. Raises DescriptionExists where the run stops.
    """
    if info.path is None or config.existing == "ignore":
        return run_inputs, ()
    descriptions = [*descriptions_beside(info.path), *descriptions_inside(info.path)]
    spoken = info.default_audio.language if info.default_audio is not None else None
    # The film's usual folder counts too: a trial elsewhere, or a track for another taste, follows its run.
    folders = (folder, work_folder_of(info.path))

    def has_track() -> bool:
        return any((place / TRACK).is_file() for place in folders)

    choice = choose_existing(descriptions, config, str(info.path), has_track, spoken or "")
    return with_kept(run_inputs, choice), choice.notes


def with_kept(run_inputs: RunInputs, choice: ExistingChoice) -> RunInputs:
    """``run_inputs`` with the description that is kept."""
    return (
        run_inputs
        if choice.kept_description is None
        else replace(run_inputs, description=Path(choice.kept_description.place))
    )


def with_kept_lines(previous: Track | None, kept: GivenFile[Script], film: FilmId, language: str) -> Track:
    """``previous`` with the lines of a description as a person's lines.

    They are brought in once: what people do to them afterwards stays. A line of ``previous`` at the time of
    one of them is dropped, with the reason.
    """
    empty = Track(film, language, (), __version__, ())
    described = with_lines_of(empty, kept.content, kept.name)
    if previous is None:
        return described
    ids = {cue.id for cue in described.cues}
    if any(cue.id in ids for cue in previous.cues):
        return previous
    return merge_edits(described, previous).track
