"""The embedded voice; what needs its package is skipped where that is not installed."""

from __future__ import annotations

import socket
import sys
import types
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from shotad.core import VoiceError, VoiceSettings
from shotad.sound import hibari, make_voice, voices
from shotad.sound.hibari import HibariVoice, installed_version
from shotad.sound.voice_engines import EVERYTHING, Reading

TEXT = "A woman climbs the snowy ridge, leaning on a spear."
needs_it = pytest.mark.skipif(
    installed_version() != hibari.VERSION,
    reason=f"hibari-tts {hibari.VERSION} is not installed: shotad[voice]",
)


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opens a connection fails the test."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("name", ["hibari:emma", "hibari:bella", "hibari:../x"])
def test_other_voices_which_it_would_fetch_are_refused_before_it_is_loaded(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "hibari", None)
    with pytest.raises(VoiceError, match="no hibari voice called") as error:
        make_voice(VoiceSettings(name=name), "en")
    assert "would be fetched" in error.value.hint


def test_another_language_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(VoiceError, match="speaks English, not 'de'"):
        make_voice(VoiceSettings(name="hibari"), "de")


def test_without_its_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    with pytest.raises(VoiceError, match="not installed") as error:
        HibariVoice()
    assert "shotad[voice]" in error.value.hint
    info = next(info for info in voices("en") if info.kind == "hibari")
    assert not info.installed


def test_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda name: "9.9")
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: types.SimpleNamespace(origin="/x/__init__.py")
    )
    with pytest.raises(VoiceError, match=r"hibari-tts 9\.9 is installed"):
        HibariVoice()


def test_a_model_that_is_not_the_known_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "hibari.onnx").write_bytes(b"another")
    origin = str(tmp_path / "__init__.py")
    monkeypatch.setattr(metadata, "version", lambda name: hibari.VERSION)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: types.SimpleNamespace(origin=origin))
    with pytest.raises(VoiceError, match="not the model that is known"):
        HibariVoice()


@needs_it
@pytest.mark.usefixtures("offline")
def test_it_speaks_without_a_network_the_same_way_every_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIBARI_HOME", str(tmp_path / "cache"))
    hibari._loaded.cache_clear()
    voice = make_voice(VoiceSettings(name="hibari"), "en-GB")
    take, again = voice.speak(TEXT), voice.speak(TEXT)
    assert (voice.name, voice.reads, take.rate) == ("hibari:heart", EVERYTHING - {Reading.UNITS}, 24000)
    assert np.array_equal(take.samples, again.samples)
    assert 2 < take.seconds < 5
    assert 0.05 < float(np.abs(take.samples).max()) < 1
    assert not (tmp_path / "cache").exists()


@needs_it
def test_its_own_speed_is_used_within_what_its_makers_name() -> None:
    voice = HibariVoice()
    slow, fast = voice.speak(TEXT), voice.speak(TEXT, 1.15)
    assert slow.seconds / fast.seconds == pytest.approx(1.12, abs=0.06)
    assert voice.speak(TEXT, 5.0).speed == pytest.approx(2.0 / 0.81)


@needs_it
def test_brackets_in_a_line_are_no_orders_to_it() -> None:
    voice = HibariVoice()
    assert voice.speak("[Anna](/zzz/) runs.").seconds > voice.speak("Anna runs.").seconds


@needs_it
def test_a_line_without_a_word_is_a_clear_error() -> None:
    with pytest.raises(VoiceError):
        HibariVoice().speak("…")


@needs_it
def test_auto_takes_it_for_english() -> None:
    assert make_voice(VoiceSettings(), "en").name == "hibari:heart"
