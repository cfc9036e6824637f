"""piper, run as a program where it is installed (it is under the GPL and never part of this one).

Its voices are files, ``NAME.onnx`` with ``NAME.onnx.json`` beside it, found where people keep them or named
by their path.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from shotad.core import VoiceError, VoiceSettings
from shotad.sound.kinds import Take
from shotad.sound.voice_engines.base import Reading, VoiceInfo, nearness, speaks_one, unknown
from shotad.sound.voice_engines.program import found, run
from shotad.sound.voice_engines.takes import cleaned, decoded, need_words

PROGRAM = "piper"
FOLDERS = "SHOTAD_PIPER_VOICES"
"""Environment variable with further folders, as in PATH."""
_LICENCE = "GPL-3.0, a program of its own; each voice has its own licence"
_GET = "Install piper (pip install piper-tts, in an environment of its own) and put it on the PATH."
_GET_VOICE = f"Fetch a voice (python -m piper.download_voices) into ~/.local/share/piper, or set {FOLDERS}."
_SCALE = 1.3
"""How much longer than by itself it is let speak: 165 words a minute with en_US-joe-medium (60 lines of human
AD, benchmarks/voices.py; 195 by itself). Other models have paces of their own, most near that one."""
_SCALES = (0.4, 2.5)
"""How much longer or shorter it can be let speak; beyond, words melt."""


@dataclass(frozen=True, slots=True)
class Model:
    """A voice's files. ``language`` is BCP 47, ``quality`` its makers' word."""

    path: Path
    language: str
    speakers: int

    @property
    def stem(self) -> str:
        """Its name: ``en_US-joe-medium``."""
        return self.path.name.removesuffix(".onnx")


class Piper:
    """``piper:en_US-joe-medium`` or ``piper:/path/model.onnx``; of several speakers one: ``…#3``."""

    together = 24

    def __init__(self, program: Path, model: Model, speaker: int | None = None) -> None:
        self._program, self._model, self._speaker = program, model, speaker
        self.name = f"{PROGRAM}:{model.stem}" + ("" if speaker is None else f"#{speaker}")
        self.identity = f"{self.name} {_fingerprint(model.path)} {_SCALE}"
        self.reads: frozenset[Reading] = frozenset()
        self.at_once = 2
        self.sends_to = ""

    @classmethod
    def known(cls) -> tuple[VoiceInfo, ...]:
        """The voices whose files are found; where there are none, one entry that says how to get one."""
        program = found(PROGRAM)
        note = "" if program else _GET
        seen = {model.stem: model for model in models()}
        if not seen:
            return (VoiceInfo(PROGRAM, PROGRAM, _USUAL, _LICENCE, False, f"{note} {_GET_VOICE}".strip()),)
        return tuple(
            VoiceInfo(
                f"{PROGRAM}:{stem}",
                PROGRAM,
                (m.language,),
                _LICENCE,
                program is not None,
                note or str(m.path),
            )
            for stem, m in seen.items()
        )

    @classmethod
    def named(cls, which: str, language: str, settings: VoiceSettings) -> Piper:
        """By name or path, else the first for the language. Raises VoiceError."""
        program = found(PROGRAM)
        if program is None:
            raise VoiceError("piper is not installed.", _GET)
        base, _, number = which.partition("#")
        model = _by_name(base) if base else _for_language(language)
        return cls(program, model, _speaker(number, model))

    def speaks(self, language: str) -> bool:
        """Whether the voice is for this language."""
        return speaks_one((self._model.language,), language)

    def speak(self, text: str, speed: float = 1.0) -> Take:
        """The text at ``speed``, at the model's own rate. Raises VoiceError."""
        return self.speak_all([text], speed)[0]

    def speak_all(self, texts: Sequence[str], speed: float = 1.0) -> list[Take]:
        """One take for each text; the model is loaded but once. Raises VoiceError."""
        scale = min(max(_SCALE / speed, _SCALES[0]), _SCALES[1])
        for text in texts:
            need_words(text, self.name)
        lines = [" ".join(text.split()) for text in texts]
        with tempfile.TemporaryDirectory(prefix="shotad-piper-") as folder:
            command = [str(self._program), "--model", str(self._model.path), "--output_dir", folder]
            command += ["--length_scale", f"{scale:.4f}"]
            command += [] if self._speaker is None else ["--speaker", str(self._speaker)]
            run(command, "\n".join(lines) + "\n", voice=self.name)
            files = sorted(Path(folder).glob("*.wav"), key=lambda path: (len(path.name), path.name))
            if len(files) != len(lines):
                raise VoiceError(f"piper spoke {len(files)} of {len(lines)} lines (voice {self.name}).")
            pairs = zip(texts, files, strict=True)
            return [self._take(text, file, _SCALE / scale) for text, file in pairs]

    def _take(self, text: str, file: Path, speed: float) -> Take:
        samples, rate = decoded(file.read_bytes(), self.name)
        return Take(cleaned(samples, rate, self.name), rate, self.name, text, speed)


def folders() -> Iterator[Path]:
    """Where people keep voices, those that are there."""
    home = Path.home()
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    named = [Path(text) for text in os.environ.get(FOLDERS, "").split(os.pathsep) if text]
    usual = [data / "piper", data / "piper-voices", data / "piper-tts"]
    usual += [home / "piper", home / "piper-voices"]
    shared = [Path(place) / "piper-voices" for place in ("/usr/local/share", "/usr/share", "/opt")]
    yield from (folder for folder in (*named, *usual, *shared) if folder.is_dir())


def models() -> tuple[Model, ...]:
    """All voices in these folders, whole ones only."""
    paths = (path for folder in folders() for path in sorted(folder.rglob("*.onnx")))
    return tuple(model for path in paths if (model := _read(path)) is not None)


def _read(path: Path) -> Model | None:
    """A voice, if its description is beside it and says what it must."""
    try:
        told = json.loads(path.with_name(path.name + ".json").read_text(encoding="utf-8"))
        language = told.get("language", {}).get("code") or told["espeak"]["voice"]
        return Model(path, str(language).replace("_", "-"), int(told.get("num_speakers") or 1))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _by_name(base: str) -> Model:
    if base.endswith(".onnx") or "/" in base:
        path = Path(base).expanduser()
        model = _read(path) if path.is_file() else None
        if model is None:
            what = f"{path} is no piper voice that can be read."
            raise VoiceError(what, f"A voice is NAME.onnx with NAME.onnx.json beside it. {_GET_VOICE}")
        return model
    seen = {model.stem: model for model in models()}
    if base not in seen:
        raise unknown("piper voice", base, sorted(seen), _GET_VOICE)
    return seen[base]


def _for_language(language: str) -> Model:
    best = max(models(), key=lambda model: nearness(model.language, language), default=None)
    if best is None or nearness(best.language, language) == 0:
        raise VoiceError(f"There is no piper voice for {language!r}.", _GET_VOICE)
    return best


def _speaker(number: str, model: Model) -> int | None:
    if not number:
        return None
    if not number.isdigit() or int(number) >= model.speakers:
        raise VoiceError(f"{model.stem} has no speaker {number!r}.", f"It has 0 to {model.speakers - 1}.")
    return int(number)


@cache
def _fingerprint(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            for block in iter(lambda: file.read(1 << 20), b""):
                digest.update(block)
    except OSError as error:
        raise VoiceError(f"{path} cannot be read: {error.strerror}.") from None
    return digest.hexdigest()[:12]


_USUAL = (
    "ar", "ca", "cs", "cy", "da", "de", "el", "en", "es", "fa", "fi", "fr", "hu", "is", "it", "ka", "kk",
    "lb", "lv", "ne", "nl", "no", "pl", "pt", "ro", "ru", "sk", "sl", "sr", "sv", "sw", "tr", "uk", "vi",
    "zh",
)  # fmt: skip
"""Languages that voices are published for."""
