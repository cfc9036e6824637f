"""A model that hears gets the clip's sound with its frames; nobody else does, and nothing leaves unsaid."""

from __future__ import annotations

import base64
import io
import wave
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from shotad.core import HEARING_RATE, Config, build_settings
from shotad.engines import make_engine, notice
from tests.bad_server import BadServer, echo
from tests.endpoint import request
from tests.media import SoundSpec, make_film
from tests.runs import SPEC, Talker, rows, run

BEEPS = (2.0, 9.0, 15.0)
LOUD = replace(SPEC, sounds=(SoundSpec(duration=20.0, beeps=BEEPS),))


def beeps_in(sound: np.ndarray) -> list[float]:
    """Seconds at which it begins to be loud."""
    loud = np.abs(sound) > 0.1
    starts = [i for i in np.flatnonzero(loud) if not loud[max(0, i - HEARING_RATE // 2) : i].any()]
    return [i / HEARING_RATE for i in starts]


def test_who_hears_gets_the_sound_of_the_clip_in_its_place(tmp_path: Path) -> None:
    film = make_film(LOUD).path
    _, looks, _ = run(tmp_path / "hears", looks=Talker("looks", hears=True), film=film)
    assert looks.asked
    for asked in looks.asked:
        first, last = asked.clip.seconds[[0, -1]]
        assert len(asked.clip.sound) == pytest.approx((last - first) * HEARING_RATE, abs=2)
        inside = [beep - first for beep in BEEPS if first + 0.1 < beep < last - 0.2]
        assert beeps_in(asked.clip.sound) == pytest.approx(inside, abs=0.03)
        assert "who speaks, what was just said" in asked.messages[0].text
        assert "everybody hears it" in asked.messages[0].text
    _, deaf, _ = run(tmp_path / "deaf", film=film)
    assert all(asked.clip.sound is None for asked in deaf.asked)
    assert not any("everybody hears" in text for text in deaf.texts())
    _, silent, _ = run(tmp_path / "silent", looks=Talker("looks", hears=True))
    assert all(asked.clip.sound is None for asked in silent.asked), "a film without sound"


def test_a_server_is_sent_sound_only_by_the_engine_that_says_so() -> None:
    clip = request(frames=2).clip
    assert clip is not None
    sound = (0.5 * np.sin(np.arange(8000) / 5)).astype(np.float32)
    asked = replace(request(frames=2), clip=replace(clip, sound=sound))
    with BadServer(echo) as server:
        config = build_settings(Config, {"openai": {"model": "omni", "base_url": server.url}})
        hears, deaf = (make_engine(name, config, "stage1") for name in ("openai-sound", "openai"))
        assert (hears.abilities.hears, deaf.abilities.hears) == (True, False)
        assert hears.identity.revision == f"{deaf.identity.revision} sound"
        hears.generate([asked])
        parts = server.requests[0].body["messages"][1]["content"]
    assert [part["type"] for part in parts] == ["image_url", "image_url", "input_audio", "text"]
    assert parts[2]["input_audio"]["format"] == "wav"
    with wave.open(io.BytesIO(base64.b64decode(parts[2]["input_audio"]["data"]))) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, HEARING_RATE)
        heard = np.frombuffer(file.readframes(8000), "<i2") / 32767
    np.testing.assert_allclose(heard, sound, atol=1e-4)


def test_it_is_said_that_sound_leaves_the_machine() -> None:
    config = build_settings(Config, {"openai": {"model": "omni", "base_url": "https://far.example/v1"}})
    hears, deaf = (make_engine(name, config, "stage1") for name in ("openai-sound", "openai"))
    writes = make_engine("fake", config, "stage2")
    assert notice(hears, writes) == [
        "Frames and sound of the film leave this machine: they are sent to far.example."
    ]
    assert notice(deaf, writes) == ["Frames of the film leave this machine: they are sent to far.example."]


def test_shots_are_told_in_words_where_nothing_is_painted(tmp_path: Path) -> None:
    _, looks, _ = run(tmp_path, "overlay.label=text")
    _, plain, _ = run(tmp_path / "plain", "overlay.label=none")
    for asked, other in zip(looks.asked, plain.asked, strict=True):
        np.testing.assert_array_equal(asked.clip.images, other.clip.images)
        text, numbers = asked.messages[0].text, asked.clip.shot_numbers
        for number in set(numbers.tolist()):
            frames = np.flatnonzero(numbers == number)
            told = f"Shot {number} is frames {frames[0] + 1} to {frames[-1] + 1}"
            assert told in text
    assert {row["overlay"] for row in rows(tmp_path, "stage1")} == {"text"}
