"""What a person gives for a film: subtitles, slots, shots, a cast, the part to describe, files of settings.

A pass over a film takes minutes. A time behind the film's end, a file of slots that is missing, or an audio
track that is not there, is refused before it, and before a work folder is made (`check_inputs`). A run hands
on what it has read (`Inputs`): no later step reads the file again.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
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
from shotad.core.errors import (
    ScriptError,
    SubtitleError,
    UsageError,
)
from shotad.core.text_files import FileKind, read_file_bytes
from shotad.description.linting.check import check_lint_settings
from shotad.description.prompts import load_examples
from shotad.film import Subtitles, read_subtitles
from shotad.film.audio import choose_track
from shotad.film.speech import check_inside
from shotad.script.cue import timecode
from shotad.script.formats import given_shots, slot_cues
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

    def __init__(self, info: FilmInfo, config: Config, run_inputs: RunInputs) -> None:
        self.run_inputs = run_inputs
        self._info, self._config = info, config

    @cached_property
    def subtitles(self) -> GivenFile[Subtitles] | None:
        """What is said in the film. Raises SubtitleError."""
        path, settings = self.run_inputs.subtitles, self._config.speech
        if path is None:
            return None
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
        _ = self.cast, self.subtitles, self.shots
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
            film = Interval(0.0, self._info.duration)
            clipped = [interval.clip(film) for interval in intervals]
            intervals = [interval for interval in clipped if interval is not None]
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


def _given_file(path: Path, content: Content, kind: FileKind, error: type[ShotadError]) -> GivenFile[Content]:
    data = read_file_bytes(path, kind, error, hint="Check the name.")
    return GivenFile(path.name, content, hashlib.sha256(data).hexdigest())
