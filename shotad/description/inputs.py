"""What a person gives for a film: subtitles, slots, shots, a cast, the part to describe, files of settings.

A pass over a film takes minutes. A time behind the film's end, a file of slots that is missing, or an audio
track that is not there, is refused before it, and before a work folder is made (`check_inputs`). A run hands
on what it has read (`Inputs`): no later step reads the file again.
"""

from __future__ import annotations

import hashlib
import math
import os
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Generic, TypeVar

from shotad.core import (
    Cast,
    Config,
    FilmInfo,
    Interval,
    RunInputs,
    Shot,
    ShotadError,
)
from shotad.core.config.languages import language_named
from shotad.core.errors import (
    ScriptError,
    SubtitleError,
    UsageError,
)
from shotad.core.text_files import FileKind, read_file_bytes
from shotad.core.types import clip_all
from shotad.description.linting.check import check_lint_settings
from shotad.description.prompts import load_examples
from shotad.film import Subtitles, read_subtitles
from shotad.film.audio import choose_track
from shotad.film.beside import (
    descriptions_named,
    is_description_text,
    language_order,
    names_beside,
    passed_over_files,
    passed_over_note,
    read_head_beside,
    stem_of,
    subtitles_beside,
)
from shotad.film.description_tracks import description_cues, description_tracks
from shotad.film.speech import check_inside
from shotad.script.cue import Script, ScriptCue, timecode
from shotad.script.formats import given_shots, read_script, slot_cues
from shotad.sight import load_cast

Content = TypeVar("Content")

SlotCues = tuple[tuple[str | None, Interval], ...]
"""Id (None where there is none) and time of each slot in a file."""


@dataclass(frozen=True, slots=True)
class GivenFile(Generic[Content]):
    """A file that a person gave, read."""

    name: str
    content: Content
    digest: str
    """Hash of its bytes, so that a changed file is a changed key."""


class Inputs:
    """What was given for one film, as values. A file is read when its content is first asked for, and once.

    `check` reads all of it. A command on a finished run needs only some of the files, and the others may be
    gone by then. The values are None where nothing was given. ``run_inputs`` has the names of the files, and
    the part to describe.
    """

    def __init__(
        self, info: FilmInfo, config: Config, run_inputs: RunInputs, notes: tuple[str, ...] = ()
    ) -> None:
        """``notes`` are sentences for the user about what was found for the film."""
        self.run_inputs, self.notes = run_inputs, notes
        self._info, self._config = info, config
        self.subtitle_trouble = ""
        """Why subtitles that were found beside the film cannot be used; empty before `subtitles` is read."""

    @cached_property
    def subtitles(self) -> GivenFile[Subtitles] | None:
        """What is said in the film. Raises SubtitleError for a file that was given; one that was found beside
        the film is left out where it cannot be used (`subtitle_trouble`)."""
        path, is_found = self.run_inputs.subtitles, self.run_inputs.subtitles_found
        if path is None:
            return None
        try:
            if is_found and is_description_text(read_head_beside(path, path.name)):
                raise SubtitleError(f"{path} holds audio description, not what is said.")
            return self._read_subtitles(path)
        except SubtitleError as trouble:
            if not is_found:
                raise
            self.subtitle_trouble = trouble.what
            return None

    def _read_subtitles(self, path: Path) -> GivenFile[Subtitles]:
        settings = self._config.speech
        subtitles = read_subtitles(path, encoding=settings.encoding, frame_rate=self._info.frame_rate)
        if settings.source != "sound":
            check_inside(subtitles.utterances, self._info.duration)
        return _given_file(path, subtitles, "subtitles", SubtitleError)

    @cached_property
    def slots(self) -> GivenFile[SlotCues] | None:
        """The slots to describe, also those outside the film. Raises ScriptError."""
        path = self.run_inputs.slots
        return None if path is None else _given_file(path, tuple(slot_cues(path)), "slots", ScriptError)

    @cached_property
    def shots(self) -> GivenFile[tuple[Shot, ...]] | None:
        """The film's shots. Raises ScriptError."""
        path = self.run_inputs.shots
        if path is None:
            return None
        return _given_file(
            path, given_shots(path, self._info.duration, self._info.frame_rate), "shots", ScriptError
        )

    @cached_property
    def description(self) -> GivenFile[Script] | None:
        """The lines of a description that the film has, which are kept. Raises ScriptError, FilmError."""
        path = self.run_inputs.description
        return None if path is None else read_kept(path, self._info, self._config.language)

    @cached_property
    def cast(self) -> Cast | None:
        """The people to look for. Raises CastError."""
        cast = self.run_inputs.cast
        return None if cast is None else load_cast(cast.path, key=cast.key, photos=cast.photos)

    def check(self) -> None:
        """Read everything, and refuse what cannot be used; the film's length is not yet sure.

        Raises UsageError for times outside the film, FilmError for an audio track that it has not,
        SubtitleError, ScriptError, CastError, ConfigError for files that cannot be read or hold nothing for
        this film.
        """
        check_setting_files(self._config)
        check_start(self.run_inputs, self._info.duration, self._info.name)
        if self._config.film.audio_track is not None:
            choose_track(self._info, self._config.film.audio_track)
        # Each property reads its file, and refuses it.
        _ = self.cast, self.subtitles, self.shots, self.description
        self._check_slots()

    def _check_slots(self) -> None:
        """Refuse given slots none of which lies in the part to describe. Raises ScriptError, UsageError."""
        if self.slots is None:
            return
        path, start, end = self.run_inputs.slots, self.run_inputs.start, self.run_inputs.end
        intervals = [interval for _, interval in self.slots.content]
        if len(intervals) == 1:
            slots_lie = f"The slot in {path} lies"
        else:
            slots_lie = f"The {len(intervals)} slots in {path} lie"
        if self._info.duration > 0:
            intervals = clip_all(intervals, Interval(0.0, self._info.duration))
            if not intervals:
                raise ScriptError(
                    f"{slots_lie} outside the film, which ends at {timecode(self._info.duration)}.",
                    "Are they of another film? Give start and end of each in seconds.",
                )
        if not any(
            start <= interval.start and (end is None or interval.start < end) for interval in intervals
        ):
            raise UsageError(
                f"{slots_lie} outside the time to be described.",
                "Give other slots, or other times (--from, --to).",
            )


def with_subtitles_beside(info: FilmInfo, config: Config, run_inputs: RunInputs) -> RunInputs:
    """``run_inputs`` with the subtitles that lie beside the film, where none were given and some are wanted.

    They go before those inside the film: who puts a file there means it, as with players.
    """
    if run_inputs.subtitles is not None or info.path is None or info.path.is_dir():
        return run_inputs
    if config.speech.source not in ("auto", "subtitles"):
        return run_inputs
    spoken = info.default_audio.language if info.default_audio is not None else None
    path = subtitles_beside(info.path, language_order(spoken, config.language))
    return run_inputs if path is None else replace(run_inputs, subtitles=path, subtitles_found=True)


def passed_over_beside(info: FilmInfo, config: Config, run_inputs: RunInputs) -> tuple[str, ...]:
    """A note on files beside the film that look as if they were meant for it and are not used.

    None where the user named the subtitles, or wants none. ``run_inputs`` as `with_subtitles_beside`.
    """
    path, subtitles = info.path, run_inputs.subtitles
    if path is None or path.is_dir() or config.speech.source not in ("auto", "subtitles"):
        return ()
    if subtitles is not None and not run_inputs.subtitles_found:
        return ()
    try:
        names = [*names_beside(path), *os.listdir(path.parent)]
    except OSError:
        return ()
    stem = stem_of(path.name)
    used = [] if subtitles is None else [subtitles.relative_to(path.parent).as_posix()]
    read_head = partial(read_head_beside, path)
    used += [description.name for description in descriptions_named(stem, names, read_head)]
    note = passed_over_note(stem, passed_over_files(stem, names, used, read_head))
    return (note,) if note else ()


def check_inputs(info: FilmInfo, config: Config, run_inputs: RunInputs) -> None:
    """Refuse what cannot be used of the settings' files, and of what was given for this film. Raises as
    `Inputs.check`."""
    Inputs(info, config, run_inputs).check()


def check_setting_files(config: Config) -> None:
    """Refuse files named by settings that cannot be read: example ADs, words of lint. Raises ConfigError,
    PromptError."""
    load_examples(config.prompt)
    check_lint_settings(config.lint)


def check_start(run_inputs: RunInputs, end: float, film: str) -> None:
    """Refuse a start that is not before the film's end, in seconds (0: not known). Raises UsageError."""
    if end > 0 and run_inputs.start >= end:
        raise UsageError(
            f"The start {timecode(run_inputs.start)} is not before the end of {film}, {timecode(end)}.",
            "Give an earlier time (--from).",
        )


def digest_of(file: GivenFile[Content] | None) -> str | None:
    """What stands for a given file in keys."""
    return None if file is None else file.digest


def read_kept(path: Path, info: FilmInfo, language: str) -> GivenFile[Script]:
    """The lines of a description that are kept, by start: of a script, or of the film's own text track.

    Lines that begin after the film's end are left out. Raises ScriptError where no line is inside the film,
    and for a file that cannot be read; FilmError.
    """
    if info.path is not None and path == info.path:
        cues = _cues_inside(path, language)
        text = "\n".join(f"{cue.interval} {cue.text}" for cue in cues)
        digest = hashlib.sha256(text.encode()).hexdigest()
        name = f"text track of {path.name}"
    else:
        cues = read_script(path).cues
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        name = path.name
    end = info.duration or math.inf
    lines = [cue for cue in cues if cue.text and cue.interval.start < end]
    if not lines:
        raise ScriptError(
            f"No line of {path} lies inside {info.name}.",
            "Is it of this film? To describe the film all the same: --existing ignore.",
        )
    lines.sort(key=lambda cue: cue.interval)
    return GivenFile(name, Script(tuple(lines)), digest)


def _cues_inside(film: Path, language: str) -> tuple[ScriptCue, ...]:
    """The lines of the film's text track of description in ``language``, else of one that names none."""
    code = language_named(language)
    tracks = [track for track in description_tracks(film) if track.is_text and track.is_readable]
    for track in sorted(tracks, key=lambda track: track.language != code):
        cues = description_cues(film, track.number) if track.language in ("", code) else ()
        if cues:
            return tuple(ScriptCue(None, interval, text) for interval, text in cues)
    return ()


def _given_file(path: Path, content: Content, kind: FileKind, error: type[ShotadError]) -> GivenFile[Content]:
    data = read_file_bytes(path, kind, error, hint="Check the name.")
    return GivenFile(path.name, content, hashlib.sha256(data).hexdigest())
