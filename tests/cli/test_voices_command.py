"""``shotad voices``."""

from __future__ import annotations

import json
import wave
from pathlib import Path

import av
import pytest

from shotad.sound.voice_engines import KINDS
from tests.bad_server import BadServer
from tests.cli.program import Shotad
from tests.speech_server import refusal, sound, tone


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def test_each_kind_has_a_line_of_plain_words(shotad: Shotad) -> None:
    said = shotad("voices")
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    for kind in KINDS:
        assert any(line.startswith(kind) for line in lines)
    assert "fake. Speaks any language. Apache-2.0. Installed. No words: for tests and trials." in lines
    assert lines[-1].endswith(" installed.")
    assert len(lines) < 60, "a kind with many voices is told in one line"
    assert shotad("voices", "--voice", "fake").out.splitlines()[-1] == "1 voice, 1 installed."


def test_a_text_is_spoken_into_a_file_as_a_line_would_be(shotad: Shotad, tmp_path: Path) -> None:
    out = tmp_path / "x.wav"
    said = shotad("voices", "--say", "Dr. Lee sees SINTEL.", "--voice", "fake", "--out", out)
    assert said.code == 0
    assert said.out.startswith("fake says 'Doctor Lee sees Sintel.' in ")
    assert said.out.rstrip().endswith(str(out))
    with wave.open(str(out)) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 24000)
        assert 1 < file.getnframes() / 24000 < 4


def test_an_endpoint_is_named_by_settings(shotad: Shotad, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("httpx", reason="the endpoint's client is not installed: pip install .[openai]")
    with BadServer([sound(tone(0.5))]) as server:
        settings = ("--set", f"voice.base_url={server.url}", "--set", "voice.model=kokoro")
        said = shotad("voices", "--say", "Hallo.", "--voice", "openai:nova", "--language", "de", *settings)
    assert said.code == 0
    assert [server.requests[0].body[name] for name in ("voice", "model")] == ["nova", "kokoro"]
    with BadServer([refusal(400, "Unknown voice.")]) as server:
        said = shotad(
            "voices", "--say", "Hallo.", "--voice", "openai:x", "--set", f"voice.base_url={server.url}"
        )
    assert said.code == 1
    assert "Unknown voice (status 400)" in said.err


def test_flac_speed_and_lexicon(shotad: Shotad, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("Sintel = Sin-TELL\n", encoding="utf-8")
    options = ("--voice", "fake", "--speed", "1.25", "--lexicon", "words.txt", "--json")
    said = shotad("voices", "--say", "Sintel runs.", "--out", "x.flac", *options)
    found = json.loads(said.out)
    assert (found["said"], found["speed"]) == ("Sin-TELL runs.", 1.25)
    with av.open("x.flac") as container:
        assert container.streams.audio[0].codec_context.name == "flac"
