"""Kokoro: voices of one small model (82 million numbers) in six languages, on the CPU (Apache-2.0).

The model takes sounds, not letters, and was trained with those of its makers' own reader, misaki;
espeak-ng's are spelled in its way here. Its Japanese and Chinese voices are left out: espeak-ng reads no
kanji, and it writes Chinese tones in another way than the model was trained with. Facts: the model's card,
``VOICES.md`` and ``config.json`` (huggingface.co/hexgrad/Kokoro-82M), ``misaki/espeak.py``
(github.com/hexgrad/misaki) and kokoro-onnx, which made the ONNX file (github.com/thewh1teagle/kokoro-onnx);
all three under Apache-2.0 or MIT.
"""

from __future__ import annotations

import re
import threading
import zipfile
from functools import cache
from pathlib import Path

import numpy as np

from shotad.core.config.sound import VoiceSettings
from shotad.core.errors import VoiceError, WeightsError, quoted
from shotad.core.onnx import Floats, OnnxModel
from shotad.core.weight_store import is_fetched, manifest, weights, weights_file
from shotad.sound.phonemes import TIE, Reader, find_reader, read_sounds
from shotad.sound.voice_engines import (
    RawSound,
    Speaker,
    VoiceInfo,
    includes_language,
    language_hint,
    language_nearness,
    unknown_voice,
)

WEIGHTS = "kokoro"
"""Its entry among the weights; the file of voices is a part of it."""
_VOICES_FILE = "voices-v1.0.bin"
_LICENCE = "Apache-2.0"
_RATE = 24000
_PACE = 0.92
"""Its own setting at which af_heart speaks 166 words a minute (30 lines of human AD, benchmarks/voices.py;
175 at 1). Other voices differ: am_michael is a tenth slower."""
_PACE_RANGE = (0.5, 2.0)
"""Settings that kokoro-onnx allows."""
_MAX_SOUNDS = 510
"""Sounds that the model takes at once; with the sign for start and end 512."""
_THREADS = 2
_GET_WEIGHTS = "Fetch Kokoro's weights (120 MB): shotad models pull kokoro."
_GET_READER = 'Install espeak-ng, or its library: pip install "shotad[kokoro]".'

_VOICES = {
    "en-US": (
        "af_heart", "af_bella", "af_nicole", "af_aoede", "af_kore", "af_sarah", "am_fenrir", "am_michael",
        "am_puck", "af_alloy", "af_nova", "af_sky", "af_jessica", "af_river", "am_echo", "am_eric",
        "am_liam", "am_onyx", "am_santa", "am_adam",
    ),
    "en-GB": (
        "bf_emma", "bf_isabella", "bm_fable", "bm_george", "bf_alice", "bf_lily", "bm_lewis", "bm_daniel",
    ),
    "es": ("ef_dora", "em_alex", "em_santa"),
    "fr-FR": ("ff_siwis",),
    "hi": ("hf_alpha", "hf_beta", "hm_omega", "hm_psi"),
    "it": ("if_sara", "im_nicola"),
    "pt-BR": ("pf_dora", "pm_alex", "pm_santa"),
}  # fmt: skip
"""Its voices by language, the best first, by their makers' grades. f and m are for female and male."""
_SAME = {"af_heart": "hibari:heart"}
"""hibari's voice was made to sound like this one (its README)."""
_LANGUAGES_OF_ESPEAK = {
    "en-US": "en-us", "en-GB": "en-gb", "es": "es", "fr-FR": "fr-fr", "hi": "hi", "it": "it",
    "pt-BR": "pt-br",
}  # fmt: skip

_SYMBOLS = {
    symbol: number
    for start, symbols in {
        1: ";:,.!?", 9: "—…", 16: " \u0303ʣʥʦʨᵝ\uab67AI", 31: "O", 33: "Q", 35: "ST", 39: "W",
        41: "Yᵊabcdef", 50: "hijklmnopqrstuvwxyzɑɐɒæ", 75: "βɔɕ", 78: "ç", 80: "ɖðʤə", 85: "ɚɛɜ", 90: "ɟ",
        92: "ɡ", 99: "ɥ", 101: "ɨɪʝ", 110: "ɯɰŋɳɲɴ", 116: "ø", 118: "ɸθœ", 123: "ɹ", 125: "ɾɻ",
        128: "ʁɽʂʃʈʧ", 135: "ʊʋ", 138: "ʌɣɤ", 142: "χʎ", 147: "ʒʔ", 156: "ˈˌː", 162: "ʰ", 164: "ʲ",
        169: "↓", 171: "→↗↘", 177: "ᵻ",
    }.items()
    for number, symbol in enumerate(symbols, start)
}  # fmt: skip
"""The model's number of each sound and sign; those of quotes and brackets are left out (``vocab`` in its
``config.json``)."""

_SPELLINGS = (
    ("a^ɪ", "I"), ("a^ʊ", "W"), ("d^z", "ʣ"), ("d^ʒ", "ʤ"), ("e^ɪ", "A"), ("o^ʊ", "O"), ("ə^ʊ", "Q"),
    ("t^s", "ʦ"), ("t^ʃ", "ʧ"), ("ɔ^ɪ", "Y"),
)  # fmt: skip
"""Sounds as espeak-ng and as the model writes them, in every language."""
_ENGLISH_SPELLINGS = (
    ("ʔˌn\u0329", "ʔn"), ("ʔn\u0329", "ʔn"), ("ə^l", "ᵊl"), ("ʲo", "jo"), ("ʲə", "jə"), ("ʲ", ""),
    ("ɚ", "əɹ"), ("e", "A"), ("r", "ɹ"), ("x", "k"), ("ç", "k"), ("ɐ", "ə"), ("ɬ", "l"), ("\u0303", ""),
    ("o", "ɔ"), ("ɾ", "T"), ("ʔ", "t"),
)  # fmt: skip
_BRITISH_SPELLINGS = (("e^ə", "ɛː"), ("i^ə", "ɪə"), ("iə", "ɪə"))
_AMERICAN_SPELLINGS = (("ɜːɹ", "ɜɹ"), ("ɜː", "ɜɹ"), ("ɪə", "iə"), ("ː", ""))
_SYLLABIC = re.compile(r"(\S)\u0329")
"""A consonant that is a syllable, as in “button”."""


class KokoroVoice(Speaker):
    """``kokoro:af_heart``. May be used by several threads; they take turns."""

    longest = 300
    """So that few texts have more sounds than the model takes at once."""

    def __init__(self, which: str) -> None:
        """Raises VoiceError where the weights are not here or cannot be loaded, and where nothing reads
        text."""
        self.languages = (_language_of(which),)
        self.name = f"kokoro:{which}"
        reader = find_reader()
        if reader is None:
            raise VoiceError(f"The voice {self.name} needs espeak-ng to read text.", f"{_GET_READER}")
        if not is_fetched(WEIGHTS):
            raise VoiceError(f"The weights of the voice {self.name} are not here.", _GET_WEIGHTS)
        self._reader: Reader = reader
        self.identity = f"{self.name} {weights(WEIGHTS).sha256[:12]} {_PACE} {reader.version}"
        self._lock = threading.Lock()
        try:
            path = weights_file(WEIGHTS)
            self._model = _load_model(path)
            self._styles = _styles(path.with_name(_VOICES_FILE), which)
        except WeightsError as error:
            raise VoiceError(error.what, error.hint) from None

    @classmethod
    def known(cls) -> tuple[VoiceInfo, ...]:
        """All its voices, whether the weights are here or not."""
        if WEIGHTS not in manifest():  # one's own list of weights (SHOTAD_DATA), older than these voices
            return ()
        has_reader, has_weights = find_reader() is not None, is_fetched(WEIGHTS)
        missing = [
            note for note, is_here in ((_GET_WEIGHTS, has_weights), (_GET_READER, has_reader)) if not is_here
        ]
        note = " ".join(missing)
        return tuple(
            VoiceInfo(
                f"kokoro:{name}", "kokoro", (language,), _LICENCE, not missing, note, _SAME.get(name, "")
            )
            for language, names in _VOICES.items()
            for name in names
        )

    @classmethod
    def named(cls, which: str, language: str, settings: VoiceSettings) -> KokoroVoice:
        """The voice of this name, else the best for the language. Raises VoiceError."""
        if which:
            names = [name for names in _VOICES.values() for name in names]
            if which not in names:
                raise unknown_voice("kokoro voice", which, names, "shotad voices --voice kokoro lists them.")
            return cls(which)
        best = max(_VOICES, key=lambda spoken_language: language_nearness(spoken_language, language))
        if not includes_language([best], language):
            raise VoiceError(f"No kokoro voice speaks {language!r}.", language_hint(language))
        return cls(_VOICES[best][0])

    def _sound(self, text: str, speed: float) -> RawSound:
        """The text at ``speed``, at 24000 samples a second. Raises VoiceError."""
        language = self.languages[0]
        sounds = read_sounds(text, _LANGUAGES_OF_ESPEAK[language], self._reader, self.name)
        symbols = [symbol for symbol in spelled_sounds(sounds, language) if symbol in _SYMBOLS]
        # Blanks and signs alone are breath.
        if not any(symbol.isalpha() for symbol in symbols):
            raise VoiceError(
                f"The voice {self.name} has no sound for {quoted(text)}.", "Write it in other words."
            )
        setting = min(max(speed * _PACE, _PACE_RANGE[0]), _PACE_RANGE[1])
        parts = [self._spoken(group, setting) for group in _groups([_SYMBOLS[symbol] for symbol in symbols])]
        return np.concatenate(parts), _RATE, setting / _PACE

    def _spoken(self, numbers: list[int], setting: float) -> Floats:
        """``float32[n]`` of so many sounds as the model takes. Raises VoiceError."""
        tokens = np.array([[0, *numbers, 0]], np.int64)
        # Each voice has a style for every length of text.
        style = self._styles[len(numbers) - 1]
        with self._lock:
            try:
                (samples,) = self._model.all(
                    tokens=tokens, style=style, speed=np.array([setting], np.float32)
                )
            except Exception as error:  # noqa: BLE001 - onnxruntime's own errors have no public base class
                raise VoiceError(
                    f"The voice {self.name} failed: {error}.", "Write the line in other words."
                ) from None
        return samples.reshape(-1)


def spelled_sounds(sounds: str, language: str) -> str:
    """Sounds as espeak-ng writes them in the model's spelling. ``language`` is one of the voices'.

    >>> spelled_sounds("hˈa^ʊ klˈa^ɪmz", "en-US")
    'hˈW klˈImz'
    """
    spellings = list(_SPELLINGS)
    if language.startswith("en"):
        # Those of the region first: ``e`` alone becomes another sound than in ``e^ə``.
        spellings += _BRITISH_SPELLINGS if language == "en-GB" else _AMERICAN_SPELLINGS
        spellings += _ENGLISH_SPELLINGS
    for espeak, own in spellings:
        sounds = sounds.replace(espeak, own)
    return _SYLLABIC.sub(r"ᵊ\1", sounds).replace(TIE, "").replace("-", "")


def _groups(numbers: list[int]) -> list[list[int]]:
    """Numbers in groups that the model takes at once, parted between words where there is one."""
    groups: list[list[int]] = []
    remaining = numbers
    while len(remaining) > _MAX_SOUNDS:
        blanks = [place for place in range(_MAX_SOUNDS) if remaining[place] == _SYMBOLS[" "]]
        cut = blanks[-1] if blanks else _MAX_SOUNDS
        groups.append(remaining[:cut])
        remaining = remaining[cut:]
    return [*groups, remaining]


def _language_of(which: str) -> str:
    return next(language for language, names in _VOICES.items() if which in names)


@cache
def _load_model(path: Path) -> OnnxModel:
    return OnnxModel(path, _THREADS)


def _styles(path: Path, which: str) -> Floats:
    """``float32[510, 1, 256]``: the voice's style for each number of sounds. Raises WeightsError."""
    try:
        with np.load(path, allow_pickle=False) as voices:
            styles: Floats = voices[which]
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise WeightsError(f"The voices in {path} cannot be read: {error}.", _GET_WEIGHTS) from None
    return styles
