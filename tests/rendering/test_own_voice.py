"""Lines in a person's own recording, and lines with a voice and a pace of their own, in what a render makes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from shotad.core import WorkFolder
from shotad.core.errors import SoundError
from shotad.script import Cue, CueStatus, EditField, LineState
from shotad.sound.kinds import OWN_VOICE
from shotad.sound.mix import resampled
from shotad.sound.outputs import summary
from shotad.sound.own_voices import FakeVoice
from shotad.sound.programme import RATE
from shotad.sound.recordings import (
    RecordedSound,
    change_line,
    kept_for_new_words,
    read_recording,
    record_line,
    with_recording,
)
from shotad.sound.takes import wav
from tests.rendering.described import change, rendered, retrack, sound_of, track_of
from tests.sound.tones import noise, onset

CAT, DOOR, RAIN = "s00001000", "s00009000", "s00014000"


def read_line(seconds: float = 1.5, seed: int = 5) -> RecordedSound:
    """A recording of this length, as the page keeps it."""
    voice = noise(seconds, seed=seed, low=150)[:, 0] * np.float32(0.1)
    return read_recording(wav(np.pad(voice, RATE // 2), RATE))


def record(place: Path, line: str, sound: RecordedSound) -> Cue:
    with WorkFolder(place) as folder:
        return record_line(folder, line, sound)


def test_a_recorded_line_is_heard_in_place_of_the_voice_and_ducked_as_others(place: Path) -> None:
    sound = read_line()
    cue = record(place, CAT, sound)
    assert (cue.state, cue.edited.fields if cue.edited else ()) == (LineState.EDITED, (EditField.VOICE,))
    done, voice = rendered(place, "mix", "ad")
    assert [text for text, _ in voice.calls] == [cue.text for cue in done.track.cues[1:]]
    line = done.track.cues[0].spoken
    assert line is not None
    assert line.interval is not None
    assert (line.voice, line.text) == (OWN_VOICE, "A cat sleeps by the window.")
    assert line.interval.duration == pytest.approx(sound.seconds, abs=0.002)
    mixed = sound_of(done.made[0].output.path)
    at = onset(mixed, sound.samples, round(line.interval.start * RATE), RATE // 2)
    assert at / RATE == pytest.approx(line.interval.start, abs=0.005)
    assert "Of these, heard in your own recording: 1." in summary(done)
    row = done.as_json()["lines"][0]
    assert (row["voice"], done.as_json()["counts"]["recorded"]) == (OWN_VOICE, 1)
    # The level is matched: it stands as far over the film as the lines of the voice.
    assert done.sound is not None
    over = [one["voice"] - one["ducked"] for one in done.sound.measures["lines"]]
    assert max(over) - min(over) < 3
    again, voice = rendered(place, "mix", "ad")
    assert (voice.calls, [one.fresh for one in again.made]) == ([], [False, False])


def test_a_changed_text_is_spoken_by_the_voice_until_the_recording_is_kept(place: Path) -> None:
    record(place, CAT, read_line())
    change(place / "track.json", "A cat sleeps by the window.", "A dog sleeps by the window.")
    done, voice = rendered(place, "ad")
    assert "A dog sleeps by the window." in [text for text, _ in voice.calls]
    (note,) = (one for one in done.warnings if "recorded for another text" in one)
    assert note.startswith("1 line recorded for another text, spoken by the voice instead: 00:00:01.000.")
    with WorkFolder(place) as folder:
        change_line(folder, CAT, lambda cue: kept_for_new_words(cue, "x"))
    done, voice = rendered(place, "ad")
    assert (voice.calls, len(done.recorded)) == ([], 1)
    with WorkFolder(place) as folder:
        change_line(folder, CAT, lambda cue: with_recording(cue, None, "x"))
    done, _ = rendered(place, "ad")
    assert not done.recorded


def test_a_recording_is_a_little_faster_where_that_makes_it_fit_else_it_says_that_it_does_not(
    place: Path,
) -> None:
    # From 6 s on people speak; the line may begin at 1 s less one, and must be over before.
    record(place, CAT, read_line(5.9))
    done, _ = rendered(place, "ad")
    spoken = done.track.cues[0].spoken
    assert spoken is not None
    assert spoken.text == "A cat sleeps by the window."
    assert any("times faster" in step for step in spoken.steps)
    record(place, CAT, read_line(9.0))
    done, voice = rendered(place, "ad")
    (cue,) = done.unspoken
    assert cue.spoken is not None
    assert "your recording does not fit: it takes" in cue.spoken.steps[-1]
    assert "record it again, shorter" in summary(done)
    # No shorter wording is tried: nobody can read it.
    assert voice.calls == []


def test_a_recording_that_is_gone_is_told_and_the_voice_speaks(place: Path) -> None:
    record(place, CAT, read_line())
    for file in (place / "voice" / "own").iterdir():
        file.unlink()
    done, voice = rendered(place, "ad")
    assert "A cat sleeps by the window." in [text for text, _ in voice.calls]
    assert any("of which the recording is gone" in one for one in done.warnings)


def test_only_lines_that_are_heard_are_recorded_and_force_keeps_recordings(place: Path) -> None:
    record(place, CAT, read_line())
    done, _ = rendered(place, "ad", force=True)
    assert len(done.recorded) == 1

    def silenced(cue: Cue) -> Cue:
        return replace(cue, text="", status=CueStatus.SILENT) if cue.id == RAIN else cue

    retrack(place, silenced)
    with pytest.raises(SoundError, match="not heard"):
        record(place, RAIN, read_line())


def test_a_line_has_a_voice_and_a_pace_of_its_own(place: Path) -> None:
    def other(cue: Cue) -> Cue:
        if cue.id == CAT:
            return replace(cue, voice="fake:deep")
        return replace(cue, pace=1.25) if cue.id == RAIN else cue

    retrack(place, other)
    assert [(cue.voice, cue.pace) for cue in track_of(place).cues] == [("fake:deep", 1), ("", 1), ("", 1.25)]
    done, voice = rendered(place, "mix", settings=("voice.speed=1.04",))
    assert sorted(voice.calls) == [
        ("Rain falls on the empty street.", 1.3),
        ("She opens the old door. A lamp goes out.", 1.04),
    ]
    assert [cue.spoken.voice for cue in done.track.cues if cue.spoken] == ["fake:deep", "fake", "fake"]
    spoken = done.track.cues[0].spoken
    assert spoken is not None
    assert spoken.interval is not None
    take = resampled(FakeVoice("deep").speak(spoken.text, 1.04))
    at = onset(sound_of(done.made[0].output.path), take, round(spoken.interval.start * RATE), RATE // 2)
    assert at / RATE == pytest.approx(spoken.interval.start, abs=0.005)


def test_a_track_chooses_no_voice_that_sends_lines_away(place: Path) -> None:
    with pytest.raises(ValueError, match="not of this machine"):
        replace(track_of(place).cues[0], voice="openai:nova")
