"""A voice for tests and trials: no words, but sound as long as they would be, the same every time.

Each text has a sound of its own, noise in the band of speech that swells with each syllable, so that a line
is found in a mix by cross-correlation.
"""

from __future__ import annotations

import hashlib
import re

import numpy as np
import numpy.typing as npt

from shotad.core import VoiceSettings
from shotad.sound.kinds import Take
from shotad.sound.takes import cleaned, need_words
from shotad.sound.voice_engines import ALL, EVERYTHING, Reading, VoiceInfo

RATE = 24000
_BAND = (200.0, 4000.0)
"""Hz."""
_SYLLABLE = 0.2
_WORD_GAP = 0.05
_PAUSE = {".": 0.3, "!": 0.3, "?": 0.3, ",": 0.15, ";": 0.2, ":": 0.2, "…": 0.3}
"""Seconds, at speed 1: together 169 words of AD a minute in English."""
_LOUDNESS = 0.1
_VOWELS = re.compile(r"[aeiouyäöüåæøáàâéèêëíìîïóòôõúùûýœаеёиоуыэюяіїєαεηιουω]+", re.IGNORECASE)


class FakeVoice:
    """See the module. ``fake:deep`` and any other name sound different from ``fake``."""

    def __init__(self, which: str = "", rate: int = RATE) -> None:
        """``rate`` in samples a second."""
        self.name = f"fake:{which}" if which else "fake"
        self.identity = f"{self.name} 1 {rate}"
        self.reads: frozenset[Reading] = EVERYTHING
        self.at_once = 1
        self.sends_to = ""
        self.rate = rate
        self.calls: list[tuple[str, float]] = []
        """Every text that was spoken, with its speed."""

    @classmethod
    def known(cls) -> tuple[VoiceInfo, ...]:
        """Itself; its other names need not be listed."""
        return (VoiceInfo("fake", "fake", (ALL,), "Apache-2.0", True, "No words: for tests and trials."),)

    @classmethod
    def named(cls, which: str, language: str, settings: VoiceSettings) -> FakeVoice:
        return cls(which)

    def speaks(self, language: str) -> bool:
        """It does, whatever it is."""
        return True

    def speak(self, text: str, speed: float = 1.0) -> Take:
        """Noise as long as the text would take. Raises VoiceError for a text without a word."""
        need_words(text, self.name)
        self.calls.append((text, speed))
        parts: list[npt.NDArray[np.float64]] = [np.zeros(0)]
        for word in text.split():
            if any(c.isalnum() for c in word):
                long = self._samples(_SYLLABLE / speed)
                swell = 0.25 + 0.75 * np.sin(np.pi * (np.arange(long) + 0.5) / long)
                # About how many syllables it has; digits have one each.
                count = max(1, len(_VOWELS.findall(word)) + sum(c.isdigit() for c in word))
                parts += [swell] * count + [np.zeros(self._samples(_WORD_GAP / speed))]
            parts.append(np.zeros(self._samples(_PAUSE.get(word[-1], 0.0) / speed)))
        gain = np.concatenate(parts)
        seed = int.from_bytes(hashlib.sha256(f"{self.name} {text}".encode()).digest()[:8], "big")
        spectrum = np.fft.rfft(np.random.default_rng(seed).standard_normal(gain.size))
        hertz = np.fft.rfftfreq(gain.size, 1 / self.rate)
        spectrum[(hertz < _BAND[0]) | (hertz > _BAND[1])] = 0
        noise = np.fft.irfft(spectrum, gain.size)
        found: npt.NDArray[np.float64] = noise * (_LOUDNESS / max(float(noise.std()), 1e-9))
        samples = cleaned(found * gain, self.rate, self.name)
        return Take(samples, self.rate, self.name, text, speed)

    def _samples(self, seconds: float) -> int:
        return round(seconds * self.rate)
