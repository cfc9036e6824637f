"""Voices by name, and by what they speak."""

from __future__ import annotations

import subprocess
import sys

import pytest

from shotad.core import VoiceError, VoiceSettings
from shotad.sound import VoiceInfo, kind_class, make_voice, notice, plain_language, voices
from shotad.sound.voice_engines import KINDS, nearness, speaks_one


def test_every_kind_lists_itself() -> None:
    kinds = {info.kind for info in voices()}
    assert kinds == set(KINDS)
    for info in voices():
        assert info.name.partition(":")[0] == info.kind
        assert info.licence
        assert info.languages
        assert info.installed or info.note, "how to get it must be said"
    assert len({info.name for info in voices()}) == len(voices())


def test_an_unknown_name_is_answered_with_the_nearest_and_the_list() -> None:
    with pytest.raises(VoiceError) as error:
        make_voice(VoiceSettings(name="espeakng"), "en")
    assert error.value.what == "There is no voice or kind of voices called 'espeakng'."
    assert error.value.hint == "Did you mean espeak-ng? Known: auto, espeak-ng, fake, hibari, openai, piper."
    with pytest.raises(VoiceError) as error:
        kind_class("nope")
    assert error.value.hint.startswith("Known:")


def test_the_fake_speaks_all_and_sends_nothing_away() -> None:
    voice = make_voice(VoiceSettings(name="fake:deep"), "tlh")
    assert (voice.name, notice(voice)) == ("fake:deep", [])


def test_auto_never_sends_lines_away_and_never_takes_the_fake(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("hibari", "piper", "espeak-ng"):
        info = VoiceInfo(kind, kind, ("en",), "x", False, f"Install {kind}.")
        monkeypatch.setattr(kind_class(kind), "known", classmethod(lambda cls, info=info: (info,)))
    with pytest.raises(VoiceError) as error:
        make_voice(VoiceSettings(), "en")
    assert error.value.what == "No voice that speaks 'en' is installed."
    assert error.value.hint == "Install hibari. Or: Install espeak-ng. shotad voices lists all."


def test_languages_meet_whatever_their_region_or_their_other_name() -> None:
    assert speaks_one(("en-us",), "en-GB")
    assert speaks_one(("cmn",), "zh-Hant")
    assert speaks_one(("nb",), "no")
    assert speaks_one(("all",), "xx")
    assert not speaks_one(("de",), "en")
    assert not speaks_one((), "en")
    assert plain_language("pt_BR") == "pt"


def test_the_same_region_is_nearer_than_none_and_none_nearer_than_another() -> None:
    assert nearness("pt-br", "pt-BR") > nearness("pt", "pt-BR") > nearness("pt-pt", "pt-BR") > 0
    assert nearness("en-us", "en") > nearness("en-gb", "en")
    assert nearness("de", "en") == 0


def test_listing_loads_no_model() -> None:
    code = (
        "import sys; from shotad.sound.voice_engines import voices; voices();"
        "print([m for m in ('onnxruntime', 'hibari', 'torch', 'piper') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
