"""Voices that tell how they are used, by the names `slow`, `counted` and `latin` while `own_voices` holds."""

from __future__ import annotations

import threading
import time

import pytest

from shotad.core.config.sound import VoiceSettings
from shotad.script.letters import words_in_other_scripts
from shotad.sound import Take
from shotad.sound.own_voices import FakeVoice
from shotad.sound.voice_engines import VOICE_KINDS, VoiceKind


def add_own_voices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have settings name the voices of this module."""
    for name, kind in (("slow", "SlowToLoad"), ("counted", "Counted"), ("latin", "LatinOnly")):
        monkeypatch.setitem(VOICE_KINDS, name, VoiceKind(f"{__name__}:{kind}"))


class SlowToLoad(FakeVoice):
    """Takes a while to be loaded."""

    is_loading, is_loaded = threading.Event(), threading.Event()

    @classmethod
    def named(cls, which: str, language: str, settings: VoiceSettings) -> FakeVoice:
        cls.is_loading.set()
        time.sleep(0.3)
        cls.is_loaded.set()
        return cls(which)


class LatinOnly(FakeVoice):
    """Has no sound for letters of other scripts, as the embedded voice has none for Chinese."""

    def left_out(self, text: str) -> tuple[str, ...]:
        return words_in_other_scripts(text, "en")


class Counted(FakeVoice):
    """Takes its time to speak, and knows how many speak at once, and what was spoken."""

    speaking = most_at_once = 0
    spoken: list[tuple[str, float]] = []  # noqa: RUF012  of all voices that were made

    def speak(self, text: str, speed: float = 1.0) -> Take:
        kind = type(self)
        kind.speaking += 1
        kind.most_at_once = max(kind.most_at_once, kind.speaking)
        time.sleep(0.02)
        kind.speaking -= 1
        kind.spoken.append((text, speed))
        return super().speak(text, speed)
