"""The fourth act: what is made, what is spoken again and what not, and that no model is ever asked."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from shotad.core import FilmError, Interval, UsageError, VoiceError, WorkFolderError, load_config
from shotad.description import lint_track
from shotad.film import open_film
from shotad.script import TRACK
from shotad.sound import Rendered
from shotad.sound.film_copy import write_copy
from shotad.sound.mix import resampled
from shotad.sound.own_voices import FakeVoice
from tests.media import SoundSpec
from tests.rendering.described import (
    BEEPS,
    LINES,
    change,
    film_with,
    rendered,
    sound_of,
    track_of,
    write_folder,
)
from tests.sound.muxmedia import describe_tracks
from tests.sound.tones import onset

RATE = 48000


def test_every_kind_is_made_and_reads_back_and_text_alone_needs_no_voice(place: Path) -> None:
    alone, voice = rendered(place, "text", settings=("voice.name=no such voice",))
    assert (voice.calls, alone.voice, alone.sound) == ([], None, None)
    assert [t.kind for t in describe_tracks(alone.made[0].wanted.path)] == ["video", "audio", "subtitle"]
    done, _ = rendered(place, "film+text", "text:mkv", "ad", "mix:flac")
    endings = ("described.mp4", "descriptions.mkv", "ad.wav", "mix.flac")
    assert [one.wanted.path.name for one in done.made] == [f"{film_with().stem}.{rest}" for rest in endings]
    film, text, _, _ = (one.wanted.path for one in done.made)
    tracks = describe_tracks(film)
    assert [t.kind for t in tracks] == ["video", "audio", "audio", "subtitle"]
    assert ["visual_impaired" in t.marks for t in tracks] == [False, False, True, True]
    assert [t.language for t in tracks[1:]] == ["eng", "eng", "eng"]
    assert [t.handler for t in tracks[2:]] == ["Audio Description", "Audio Description (text)"]
    assert [t.kind for t in describe_tracks(text)] == ["video", "audio", "subtitle"]
    assert not done.findings
    assert len(done.spoken) == len(LINES)


def check_lines(path: Path, number: int, done: Rendered, voice: FakeVoice, within: float) -> None:
    """Each line is heard where the track says."""
    sound = sound_of(path, number)
    for cue in done.spoken:
        assert cue.spoken is not None
        assert cue.spoken.interval is not None
        start = cue.spoken.interval.start
        take = resampled(voice.speak(cue.spoken.text, cue.spoken.speed), RATE)
        at = onset(sound, take, round(start * RATE), RATE // 2)
        assert at / RATE == pytest.approx(start, abs=within), path


def test_lines_are_heard_where_the_track_says_and_a_second_render_speaks_and_writes_nothing(place):
    before = track_of(place)
    done, voice = rendered(place, "film", "mix", "ad")
    for one, number in zip(done.made, (1, 0, 0), strict=True):
        check_lines(one.wanted.path, number, done, voice, 0.005)
    after = track_of(place)
    assert done.track == after
    one, other = ([(c.text, c.interval, c.status, c.edited) for c in of.cues] for of in (before, after))
    assert one == other
    stamps = [one.wanted.path.stat().st_mtime_ns for one in done.made]
    second, again = rendered(place, "film", "mix", "ad")
    assert again.calls == []
    assert [one.fresh for one in second.made] == [False] * 3
    assert [one.wanted.path.stat().st_mtime_ns for one in second.made] == stamps
    assert second.sound == done.sound


LATE = SoundSpec(duration=20.0, beeps=BEEPS, layout="5.1", language="eng")
JITTER = tuple(float(t) for t in np.cumsum(np.tile([1 / 24, 1 / 30, 1 / 60, 1 / 15], 110)))


@pytest.mark.parametrize(("changes", "ending"), [
    ({"shift": 5.0, "sounds": (LATE,), "suffix": ".mkv"}, "mkv"),
    ({"shift": 1.4, "sounds": (replace(LATE, codec="ac3"),), "suffix": ".ts"}, "ts"),
    ({"sounds": (LATE,), "times": JITTER, "frames": len(JITTER), "time_base": Fraction(1, 90000)}, "mp4"),
    ({"sounds": (replace(LATE, layout="stereo", start=0.7, rate=44100),)}, "mov"),
], ids=["late start, 5.1, mkv", "ts", "vfr, 5.1", "sound begins late, 44.1 kHz"])  # fmt: skip
def test_onsets_hold_for_films_that_are_odd(tmp_path: Path, changes: dict[str, object], ending: str) -> None:
    film = film_with(**changes)
    place = write_folder(tmp_path / "w", film)
    done, voice = rendered(place, f"film:{ending}", film=film)
    assert not done.findings
    path = done.made[0].wanted.path
    check_lines(path, 1, done, voice, 0.02)
    with open_film(path) as copy, open_film(film) as own:
        assert copy.info.duration == pytest.approx(own.info.duration, abs=0.04)


@pytest.mark.parametrize("name", [TRACK, "vtt", "csv"])
def test_only_a_changed_line_is_spoken_again(place: Path, name: str) -> None:
    rendered(place, "ad")
    file = place / name if name == TRACK else next(place.glob(f"*.ad.{name}"))
    change(file, "A cat sleeps by the window.", "A dog sleeps by the window.")
    done, voice = rendered(place, "ad")
    assert [text for text, _ in voice.calls] == ["A dog sleeps by the window."]
    assert done.made[0].fresh
    line = track_of(place).cues[0]
    assert line.edited is not None
    assert line.spoken is not None
    assert line.spoken.text == "A dog sleeps by the window."
    assert "A dog sleeps" in next(place.glob("*.ad.vtt")).read_text()


def test_what_makes_files_anew_and_what_speaks_anew(place: Path) -> None:
    done, _ = rendered(place, "ad", "mix:flac")
    done.made[0].wanted.path.unlink()
    done.made[1].wanted.path.write_bytes(b"somebody's")
    again, voice = rendered(place, "ad", "mix:flac")
    assert [one.fresh for one in again.made] == [True, True]
    louder, voice_too = rendered(place, "mix:flac", settings=("mix.profile=ebu-r128",))
    assert voice.calls == voice_too.calls == []
    assert louder.made[0].fresh
    assert louder.sound is not None
    assert louder.sound.measures["target"] == -23.0
    assert not louder.findings
    forced, voice = rendered(place, "ad", force=True)
    assert len(voice.calls) == len(LINES)
    assert forced.made[0].fresh


def test_a_film_that_pauses_has_the_line_that_did_not_fit_and_is_copied_once(tmp_path, monkeypatch):
    long = "She walks along the endless corridor, past doors, lamps, and a row of empty chairs."
    lines = {8.4: long, 15.0: "Rain falls."}
    place = write_folder(tmp_path / "w", lines=lines, speech=(Interval(5, 8), Interval(11, 14)))
    copies = []

    def counted(film: object, pauses: object, target: Path, *rest: object) -> Path:
        copies.append(target.suffix)
        return write_copy(film, pauses, target, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr("shotad.sound.making.write_copy", counted)
    monkeypatch.setattr("shotad.sound.pauses.SHARE", 0.5)
    monkeypatch.setattr("shotad.sound.placing.variants", lambda text, language: iter(()))
    done, voice = rendered(place, "film:mkv", "ad", "mix:flac", settings=("extended.on=true",))
    assert (len(done.pauses), copies) == (1, [".mkv"])
    path = done.made[0].wanted.path
    with open_film(path) as copy, open_film(film_with()) as own:
        assert copy.info.duration == pytest.approx(own.info.duration + done.pauses[0].length, abs=0.1)
    told = json.loads(next(place.glob("*.pauses.json")).read_text())
    starts = told["pauses"][0]["copy_starts"]
    take = resampled(voice.speak(long), RATE)
    at = onset(sound_of(path, 1), take, round(starts * RATE), RATE // 2)
    assert at / RATE == pytest.approx(starts, abs=0.02)
    assert not list(place.glob(".tmp-*"))


def test_a_voice_that_breaks_off_loses_nothing(place: Path) -> None:
    class Hoarse(FakeVoice):
        def speak(self, text: str, speed: float = 1.0):  # type: ignore[no-untyped-def]
            if len(self.calls) >= 2:
                raise VoiceError("The voice is gone.")
            return super().speak(text, speed)

    with pytest.raises(VoiceError, match="gone"):
        rendered(place, "ad", voice=Hoarse())
    _, voice = rendered(place, "ad")
    assert len(voice.calls) == len(LINES) - 2


def test_what_cannot_be_rendered_is_refused(place: Path, tmp_path: Path) -> None:
    other = film_with(frames=300, sounds=())
    with pytest.raises(WorkFolderError, match="belongs to another film"):
        rendered(place, "ad", film=other)
    (place / "speech.json").unlink()
    with pytest.raises(WorkFolderError, match=r"speech\.json is missing"):
        rendered(place, "ad")
    with pytest.raises(UsageError, match="nothing that can be made"):
        rendered(place, "poem")
    with pytest.raises(FilmError):
        rendered(place, "ad", film=tmp_path / "none.mp4")


def test_lint_shows_what_the_render_found(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shotad.sound.mix.OVER", 60.0)
    rendered(place, "mix")
    report = lint_track(track_of(place), place, load_config(None, ["lint.parse=words"]))
    assert {finding.rule for finding in report.findings} >= {"A3"}
