"""``shotad record``: a line heard in a recording, listed, kept for new words, and discarded."""

from __future__ import annotations

import json
from pathlib import Path

from shotad.script import load_track
from shotad.sound.programme import RATE
from shotad.sound.takes import wav
from tests.cli.program import Shotad
from tests.rendering.described import change, fake_voice, write_folder
from tests.rendering.test_own_voice import read_line


def test_a_line_is_recorded_listed_kept_and_discarded(shotad: Shotad, tmp_path: Path) -> None:
    place = fake_voice(write_folder(tmp_path / "w"))
    sound = tmp_path / "line.wav"
    sound.write_bytes(wav(read_line().samples, RATE))
    assert shotad("record", place).out == "No line is recorded.\n"
    done = shotad("record", place, "0:01", sound)
    assert (done.code, done.out[:31]) == (0, "s00001000 is heard in your reco")
    told = json.loads(shotad("record", place, "--json").out)
    assert [(row["id"], row["state"]) for row in told["recordings"]] == [("s00001000", "used")]
    change(place / "track.json", "A cat sleeps by the window.", "A dog sleeps by the window.")
    assert "recorded for another text, not used" in shotad("record", place).out
    assert shotad("record", place, "0:01", "--keep").code == 0
    assert load_track(place / "track.json").cues[0].recording is not None
    assert shotad("record", place, "0:01", "--discard").out == "s00001000 is spoken by the voice.\n"
    assert shotad("record", place).out == "No line is recorded.\n"


def test_what_cannot_be_meant_is_refused(shotad: Shotad, tmp_path: Path) -> None:
    place = write_folder(tmp_path / "w")
    assert shotad("record", place, "0:01").code == 2
    assert "Give a sound file, --keep or --discard." in shotad("record", place, "0:01").err
    text = tmp_path / "line.wav"
    text.write_text("no sound")
    assert "no sound file that is known" in shotad("record", place, "0:01", text).err
    assert "has no recording" in shotad("record", place, "0:01", "--keep").err


def test_a_render_keeps_how_a_word_is_said(shotad: Shotad, tmp_path: Path) -> None:
    place = fake_voice(write_folder(tmp_path / "w"))
    assert shotad("render", place, "--make", "ad", "--say-as", "cat=katt").code == 0
    assert (place / "pronunciation.txt").read_text() == "cat = katt\n"
    assert shotad("render", place, "--make", "ad", "--say-as", "cat").code == 2
