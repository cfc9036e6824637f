"""Check all that a person gave for a film before anything is read of it.

A pass over a film takes minutes. A time behind the film's end, a file of slots that is missing, or an audio
track that is not there, is refused before it, and before a work folder is made.
"""

from __future__ import annotations

from pathlib import Path

from shotad.core import Config, FilmInfo, Given, Interval, ScriptError, UsageError
from shotad.description.lint_check import check_lint_settings
from shotad.description.preparing import check_start
from shotad.description.prompts import load_examples
from shotad.film import check_inside, choose_track, read_subtitles
from shotad.script import given_shots, slot_cues, timecode
from shotad.sight import load_cast


def check_inputs(info: FilmInfo, config: Config, given: Given) -> None:
    """Refuse what cannot be used of the settings' files, and of what was given for this film.

    Raises UsageError for times outside the film, FilmError for an audio track that it has not, SubtitleError,
    ScriptError, CastError, ConfigError for files that cannot be read or hold nothing for this film.
    """
    check_setting_files(config)
    check_start(given, info.duration, info.name)
    if config.film.audio_track is not None:
        choose_track(info, config.film.audio_track)
    if given.cast is not None:
        load_cast(given.cast.path, key=given.cast.key, photos=given.cast.photos)
    if given.subtitles is not None:
        subtitles = read_subtitles(
            given.subtitles, encoding=config.speech.encoding, frame_rate=info.frame_rate
        )
        if config.speech.source != "sound":
            check_inside(subtitles.utterances, info.duration)
    if given.shots is not None and info.duration > 0:
        given_shots(given.shots, info.duration)
    if given.slots is not None:
        _check_slots(given.slots, given, info)


def check_setting_files(config: Config) -> None:
    """Refuse files named by settings that cannot be read: example ADs, words of lint. Raises ConfigError,
    PromptError."""
    load_examples(config.prompt)
    check_lint_settings(config.lint)


def _check_slots(path: Path, given: Given, info: FilmInfo) -> None:
    intervals = [interval for _, interval in slot_cues(path)]
    number = (
        f"The slot in {path} lies" if len(intervals) == 1 else f"The {len(intervals)} slots in {path} lie"
    )
    if info.duration > 0:
        film = Interval(0.0, info.duration)
        intervals = [inside for interval in intervals if (inside := interval.clip(film)) is not None]
        if not intervals:
            raise ScriptError(
                f"{number} outside the film, which ends at {timecode(info.duration)}.",
                "Are they of another film? Give start and end of each in seconds.",
            )
    end = float("inf") if given.end is None else given.end
    if not any(given.start <= interval.start < end for interval in intervals):
        raise UsageError(
            f"{number} outside the time to be described.", "Give other slots, or other times (--from, --to)."
        )
