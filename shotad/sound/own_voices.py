"""The voices that need no program and no server: the embedded one, and one for tests and trials.

The embedded voice is hibari-tts, a small English voice that runs on the CPU (Apache-2.0). Only its voice
``heart`` is in its package. It would fetch others from the network by itself, so no other is ever asked for,
and the model's file is handed to it by path.

The fake voice says no words, but gives sound as long as they would be, the same every time. Each text has a
sound of its own, noise in the band of speech that swells with each syllable, so that a line is found in a mix
by cross-correlation.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import re
import threading
import unicodedata
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shotad.core.config.sound import VoiceSettings
from shotad.core.errors import VoiceError
from shotad.core.installation import install_command
from shotad.script.letters import words_in_other_scripts
from shotad.sound.voice_engines import (
    ANY_LANGUAGE,
    RawSound,
    Reading,
    Speaker,
    VoiceInfo,
    includes_language,
    language_hint,
    unknown_voice,
)

PACKAGE = "hibari-tts"
VERSION = "0.2.1"
_MODEL = "5f70741d4e90"
"""Its model in that version, by which kept takes are found."""

_VOICE = "heart"
_LANGUAGES = ("en-US",)
_NOISE_SEED = 0
"""Of the noise in the voice; with it the same text is the same sound."""
_PACE = 0.81
"""Its own setting at which it speaks 167 words a minute (60 lines of human AD, benchmarks/voices.py; 192 at
1), understood as well as at 1 and as the same slowed by stretching. At 0.8 short sounds grow by a whole step
of its clock: 152."""
_PACE_RANGE = (0.5, 2.0)
"""Settings that its makers name."""
_INSTALL = f"{install_command('shotad[voice]')}."


class HibariVoice(Speaker):
    """The voice ``hibari:heart``. May be used by several threads; they take turns."""

    languages = _LANGUAGES
    reads = Reading.NUMBERS
    """Of units it knows only those of several letters."""

    def __init__(self) -> None:
        """Raises VoiceError where the package is missing or is not the one that is known."""
        version = installed_version()
        spec = importlib.util.find_spec("hibari") if version is not None else None
        if version is None or spec is None or spec.origin is None:
            raise VoiceError(f"The voice hibari:{_VOICE} is not installed.", f"Install it: {_INSTALL}")
        if version != VERSION:
            message = f"{PACKAGE} {version} is installed; {VERSION} is known to work."
            raise VoiceError(message, f"Install it: {_INSTALL}")
        self.name = f"hibari:{_VOICE}"
        self.identity = f"{self.name} {VERSION} {_MODEL} {_PACE}"
        self._lock = threading.Lock()
        self._made = _load_model(Path(spec.origin).parent / "assets" / "hibari.onnx")

    @classmethod
    def known(cls) -> tuple[VoiceInfo, ...]:
        version = installed_version()
        is_installed = version == VERSION
        version_note = "" if version is None else f"Version {version} is installed, {VERSION} is needed: "
        note = (
            "The embedded voice." if is_installed else f"{version_note or 'The embedded voice: '}{_INSTALL}"
        )
        return (VoiceInfo(f"hibari:{_VOICE}", "hibari", _LANGUAGES, "Apache-2.0", is_installed, note),)

    @classmethod
    def named(cls, which: str, language: str, settings: VoiceSettings) -> HibariVoice:
        """The voice, under its name or none. Raises VoiceError for another."""
        if which not in ("", _VOICE):
            error = unknown_voice("hibari voice", which, [_VOICE])
            raise VoiceError(error.what, "Only hibari:heart is in the package; others would be fetched.")
        if not includes_language(_LANGUAGES, language):
            message = f"The voice hibari:{_VOICE} speaks English, not {language!r}."
            raise VoiceError(message, language_hint(language))
        return cls()

    def left_out(self, text: str) -> tuple[str, ...]:
        """Words of which the package's own reading has no sound that the model knows.

        It reads words that are not in its lexicon letter by letter, and drops the letters that it does not
        know without a word: all of Chinese, most of Arabic (``hibari/g2p``).
        """
        normalized = importlib.import_module("hibari.g2p").normalize
        words: list[str] = []
        with self._lock:
            reader, sounds = self._made.g2p, self._made.vocab
            for sentence in self._made.split_sentences(_without_orders(text)):
                for token in reader.phonemize_tokens(reader.tokenize(normalized(sentence))):
                    if not any(sound in sounds for sound in token.phonemes or ""):
                        words.append(_spoken_characters(token.text))
                        continue
                    # A word may be written in two scripts, of which one is heard.
                    for word in words_in_other_scripts(token.text, _LANGUAGES[0]):
                        if not any(letter in reader.oov.cin for letter in word):
                            words.append(word)
        return tuple(dict.fromkeys(filter(None, words)))

    def _sound(self, text: str, speed: float) -> RawSound:
        """The text at ``speed``, at 24000 samples a second. Raises VoiceError."""
        setting = min(max(speed * _PACE, _PACE_RANGE[0]), _PACE_RANGE[1])
        with self._lock:
            try:
                samples = self._made(_without_orders(text), speed=setting, seed=_NOISE_SEED)
            except (RuntimeError, ValueError, KeyError, IndexError, TypeError) as error:
                message = f"The voice {self.name} cannot say {text[:80]!r}: {error}."
                raise VoiceError(message, "Write the line in other words.") from None
        return samples, int(self._made.sample_rate), setting / _PACE


def _without_orders(text: str) -> str:
    """``text`` without brackets: the package reads ``[word](/sounds/)`` as an order how to say a word."""
    return text.translate({ord("["): " ", ord("]"): " "})


def _spoken_characters(text: str) -> str:
    """``text`` without punctuation and signs: its letters, the marks on them, and digits."""
    return "".join(character for character in text if unicodedata.category(character)[0] in "LMN")


def installed_version() -> str | None:
    """The version of the package that is installed; None where there is none."""
    try:
        return metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return None


@cache
def _load_model(model: Path) -> Any:
    """The package's own object; with ``model`` given it looks for no file and fetches none."""
    try:
        hibari = importlib.import_module("hibari").Hibari(voice=_VOICE, model=str(model), threads=1)
    except (ImportError, AttributeError, OSError, RuntimeError, ValueError, TypeError) as error:
        message = f"The voice hibari:{_VOICE} cannot be loaded: {error}."
        raise VoiceError(message, f"Install it again: {_INSTALL}") from None
    return hibari


RATE = 24000
_BAND = (200.0, 4000.0)
"""Hz."""
_SYLLABLE = 0.2
_WORD_GAP = 0.05
_PAUSE_AFTER = {".": 0.3, "!": 0.3, "?": 0.3, ",": 0.15, ";": 0.2, ":": 0.2, "…": 0.3}
"""Seconds, at speed 1: together 169 words of AD a minute in English."""
_LOUDNESS = 0.1
_VOWELS = re.compile(r"[aeiouyäöüåæøáàâéèêëíìîïóòôõúùûýœаеёиоуыэюяіїєαεηιουω]+", re.IGNORECASE)


class FakeVoice(Speaker):
    """See the module. ``fake:deep`` and any other name sound different from ``fake``."""

    reads = Reading.UNITS
    speaks_words = False

    def __init__(self, which: str = "", rate: int = RATE) -> None:
        """``rate`` in samples a second."""
        self.name = f"fake:{which}" if which else "fake"
        self.identity = f"{self.name} 1 {rate}"
        self.rate = rate
        self.calls: list[tuple[str, float]] = []
        """Every text that was spoken, with its speed."""

    @classmethod
    def known(cls) -> tuple[VoiceInfo, ...]:
        """Itself; its other names need not be listed."""
        return (
            VoiceInfo("fake", "fake", (ANY_LANGUAGE,), "Apache-2.0", True, "No words: for tests and trials."),
        )

    @classmethod
    def named(cls, which: str, language: str, settings: VoiceSettings) -> FakeVoice:
        return cls(which)

    def _sound(self, text: str, speed: float) -> RawSound:
        """Noise as long as the text would take."""
        self.calls.append((text, speed))
        parts: list[npt.NDArray[np.float64]] = [np.zeros(0)]
        for word in text.split():
            if any(c.isalnum() for c in word):
                long = self._samples(_SYLLABLE / speed)
                swell = 0.25 + 0.75 * np.sin(np.pi * (np.arange(long) + 0.5) / long)
                # About how many syllables it has; digits have one each.
                count = max(1, len(_VOWELS.findall(word)) + sum(c.isdigit() for c in word))
                parts += [swell] * count + [np.zeros(self._samples(_WORD_GAP / speed))]
            parts.append(np.zeros(self._samples(_PAUSE_AFTER.get(word[-1], 0.0) / speed)))
        gain = np.concatenate(parts)
        seed = int.from_bytes(hashlib.sha256(f"{self.name} {text}".encode()).digest()[:8], "big")
        spectrum = np.fft.rfft(np.random.default_rng(seed).standard_normal(gain.size))
        hertz = np.fft.rfftfreq(gain.size, 1 / self.rate)
        spectrum[(hertz < _BAND[0]) | (hertz > _BAND[1])] = 0
        noise = np.fft.irfft(spectrum, gain.size)
        band_noise: npt.NDArray[np.float64] = noise * (_LOUDNESS / max(float(noise.std()), 1e-9))
        return band_noise * gain, self.rate, speed

    def _samples(self, seconds: float) -> int:
        return round(seconds * self.rate)
