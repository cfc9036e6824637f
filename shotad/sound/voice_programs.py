"""Voices that are programs, espeak-ng and piper: run where they are installed, text in, sound out.

Both are under the GPL and never part of this one. espeak-ng knows a hundred languages, robotic, quick; what
it offers is asked from the program itself. piper's voices are files, ``NAME.onnx`` with ``NAME.onnx.json``
beside it, found where people keep them or named by their path.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from shotad.core.cancellation import run_process
from shotad.core.config.sound import VoiceSettings
from shotad.core.errors import VoiceError
from shotad.core.system import find_program
from shotad.sound.kinds import Take
from shotad.sound.voice_engines import (
    RawSound,
    Speaker,
    VoiceInfo,
    includes_language,
    joined_takes,
    language_nearness,
    require_words,
    split_into_pieces,
    unknown_voice,
)
from shotad.sound.voice_sound import decoded

TIMEOUT = 120.0
"""Seconds that a program may take, and a tenth more for each character."""
_PER_CHARACTER = 0.1
_MAX_REASON = 300


def run_program(
    command: Sequence[str],
    text: str = "",
    *,
    voice: str,
    timeout: float = TIMEOUT,
    environment: Mapping[str, str] | None = None,
) -> bytes:
    """What a program writes when it is given ``text``. Raises VoiceError, with its own last words.

    The text goes in by standard input: on the command line others could read it, and a leading ``-`` would be
    an option.
    """
    program = Path(command[0]).name
    limit = timeout + _PER_CHARACTER * len(text)
    try:
        done = run_process(command, data=text.encode(), timeout=limit, env=environment)
    except subprocess.TimeoutExpired:
        raise VoiceError(
            f"{program} took more than {limit:.0f} s for a line, and was stopped (voice {voice}).",
            "Is the machine busy? Run again: what is spoken is kept.",
        ) from None
    except FileNotFoundError:
        raise VoiceError(f"There is no program {program} any more.", "Install it again.") from None
    except (OSError, ValueError) as error:
        raise VoiceError(f"{program} cannot be run: {error}.", "Try another voice: shotad voices.") from None
    code = done.returncode
    if code == 0:
        sound: bytes = done.stdout
        return sound
    if code > 0:
        lines = done.stderr.decode("utf-8", "replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "it says nothing")
        reason = f"{last[:_MAX_REASON].rstrip('.')} (exit code {code})"
    elif -code in set(signal.Signals):
        reason = f"it was ended by {signal.Signals(-code).name}"
    else:
        reason = f"it was ended by signal {-code}"
    raise VoiceError(f"{program} failed (voice {voice}): {reason}.", "Try another voice.")


class SpeakerOfMany(Speaker):
    """A voice that is given all lines in one go, for its program takes long to start."""

    def speak_all(self, texts: Sequence[str], speed: float = 1.0) -> list[Take]:
        """One take for each text; the program is started but once. Raises VoiceError."""
        for text in texts:
            require_words(text, self.name)
        pieces = [split_into_pieces(text, self.longest) for text in texts]
        sounds = iter(self._sounds([piece for some in pieces for piece in some], speed))
        return [joined_takes([self._take(*next(sounds)) for _ in some], self.name) for some in pieces]

    def _sound(self, text: str, speed: float) -> RawSound:
        return self._sounds([text], speed)[0]

    def _sounds(self, texts: Sequence[str], speed: float) -> list[RawSound]:
        """Each text as the voice gives it. Raises VoiceError."""
        raise NotImplementedError


ESPEAK = "espeak-ng"
_ESPEAK_LICENCE = "GPL-3.0, a program of its own"
_GET_ESPEAK = "Install espeak-ng (apt install espeak-ng, brew install espeak-ng)."
_USUAL_PACE = 149
"""Its own setting at which it speaks 166 words of AD a minute, with pauses (60 lines of human AD,
benchmarks/voices.py); left to itself, at 175, it speaks 195."""
_PACE_RANGE = (80, 450)
"""Settings that it knows."""
_PACE_OF_LANGUAGES = {"de": 0.88, "fr": 0.88}
"""The factor of its setting in languages that it speaks faster than English at the same setting, counted in
the words of `shotad.script.pace.usual_words` (benchmarks/pace.py). Spanish needs none."""
_ROW = re.compile(r"\s*\d+\s+(?P<language>\S+)\s+\S+\s+(?P<name>\S+)\s+(?P<file>\S+)\s*(?P<others>.*)")
_OTHER_LANGUAGE = re.compile(r"\(([\w-]+) \d+\)")
_VARIANT = re.compile(r"[\w.-]*")


@dataclass(frozen=True, slots=True)
class EspeakVoice:
    """One row of ``espeak-ng --voices``. The first of its ``languages`` is also what it is asked for by."""

    name: str
    languages: tuple[str, ...]

    @property
    def language(self) -> str:
        return self.languages[0]


def espeak_program() -> str | None:
    """The path of the program; None where it is not installed.

    Its installer for Windows puts it into a folder of its own, and not on the PATH.
    """
    windows_folders = (os.environ.get(name) for name in ("ProgramFiles", "ProgramFiles(x86)"))
    usual = (str(Path(folder) / "eSpeak NG") for folder in windows_folders if folder)
    return find_program(ESPEAK) or next(
        filter(None, (find_program(ESPEAK, path=place) for place in usual)), None
    )


class Espeak(Speaker):
    """``espeak-ng:de``, ``espeak-ng:en-gb``; variants as the program names them: ``espeak-ng:en-gb+f3``."""

    at_once = 2

    def __init__(self, program: str, entry: EspeakVoice, variant: str = "") -> None:
        self._program, self.languages = program, entry.languages
        self._which = entry.language + (f"+{variant}" if variant else "")
        self.name = f"{ESPEAK}:{self._which}"
        code = entry.language.split("-")[0]
        self._usual_pace = round(_USUAL_PACE * _PACE_OF_LANGUAGES.get(code, 1))
        self.identity = f"{self.name} {espeak_version(program)} {self._usual_pace}"

    @classmethod
    def known(cls) -> tuple[VoiceInfo, ...]:
        """All that the program lists; where it is missing, one entry that says how to get it."""
        program = espeak_program()
        rows = espeak_voices(program) if program else ()
        unlike = {row.language: row for row in reversed(rows)}
        if not rows:
            return (VoiceInfo(ESPEAK, ESPEAK, _ESPEAK_LANGUAGES, _ESPEAK_LICENCE, False, _GET_ESPEAK),)
        return tuple(
            VoiceInfo(
                f"{ESPEAK}:{row.language}",
                ESPEAK,
                row.languages,
                _ESPEAK_LICENCE,
                True,
                row.name.replace("_", " ").strip() + ".",
            )
            for row in reversed(unlike.values())
        )

    @classmethod
    def named(cls, which: str, language: str, settings: VoiceSettings) -> Espeak:
        """By language or by the program's own name of a voice, else the nearest to ``language``."""
        program = espeak_program()
        if program is None:
            raise VoiceError(f"The voice {ESPEAK} is not installed.", _GET_ESPEAK)
        rows = espeak_voices(program)
        base, _, variant = which.partition("+")
        if not _VARIANT.fullmatch(variant):
            raise VoiceError(f"{variant!r} is no variant of a voice.", "Write, for example, espeak-ng:en+f3.")
        if base:
            wanted_name = base.replace("_", "-").casefold()
            for row in rows:
                if wanted_name in (row.language.casefold(), row.name.replace("_", "-").casefold()):
                    return cls(program, row, variant)
            near = max(rows, key=lambda row: language_nearness(row.language, base), default=None)
            if near is not None and language_nearness(near.language, base) > 0:
                return cls(program, near, variant)
            names = [name for row in rows for name in (row.language, row.name)]
            raise unknown_voice("espeak-ng voice", base, names, "espeak-ng --voices lists them.")
        best = max(
            rows,
            key=lambda row: max(
                language_nearness(spoken_language, language) for spoken_language in row.languages
            ),
            default=None,
        )
        if best is None or not includes_language(best.languages, language):
            raise VoiceError(f"{ESPEAK} does not speak {language!r}.", "It lists: espeak-ng --voices.")
        return cls(program, best)

    def _sound(self, text: str, speed: float) -> RawSound:
        """The text at ``speed``, at 22050 samples a second as a rule. Raises VoiceError."""
        pace = min(max(round(self._usual_pace * speed), _PACE_RANGE[0]), _PACE_RANGE[1])
        command = [self._program, "-v", self._which, "-s", str(pace)]
        command += ["-b", "1", "-z", "--stdin", "--stdout"]
        return *decoded(run_program(command, text, voice=self.name), self.name), pace / self._usual_pace


@cache
def espeak_voices(program: str) -> tuple[EspeakVoice, ...]:
    """What the program lists; nothing where it fails. MBROLA's are left out: they need another program."""
    try:
        lines = run_program([program, "--voices"], voice=ESPEAK, timeout=20).decode("utf-8", "replace")
    except VoiceError:
        return ()
    rows = (match for line in lines.splitlines() if (match := _ROW.fullmatch(line)))
    return tuple(
        EspeakVoice(row["name"], (row["language"], *_OTHER_LANGUAGE.findall(row["others"])))
        for row in rows
        if not row["file"].startswith("mb/")
    )


@cache
def espeak_version(program: str) -> str:
    try:
        output = run_program([program, "--version"], voice=ESPEAK, timeout=20).decode("utf-8", "replace")
    except VoiceError:
        return ""
    match = re.search(r"(?<![\d.])\d+(?:\.\d+)+", output)
    return match.group() if match else ""


_ESPEAK_LANGUAGES = (
    "af", "ar", "bg", "bn", "ca", "cs", "cy", "da", "de", "el", "en", "eo", "es", "et", "eu", "fa", "fi",
    "fr", "ga", "gu", "he", "hi", "hr", "hu", "hy", "id", "is", "it", "ja", "ka", "kn", "ko", "lt", "lv",
    "mk", "ml", "mr", "ms", "nb", "ne", "nl", "pa", "pl", "pt", "ro", "ru", "sk", "sl", "sq", "sr", "sv",
    "sw", "ta", "te", "th", "tr", "uk", "ur", "vi", "zh",
)  # fmt: skip
"""Languages that it is known to speak, for who has yet to install it."""

PIPER = "piper"
FOLDERS_VARIABLE = "SHOTAD_PIPER_VOICES"
"""Environment variable with further folders, as in PATH."""
_PIPER_LICENCE = "GPL-3.0, a program of its own; each voice has its own licence"
_GET_PIPER = "Install piper (pip install piper-tts, in an environment of its own) and put it on the PATH."
_GET_VOICE = (
    f"Fetch a voice (python -m piper.download_voices) into ~/.local/share/piper, or set {FOLDERS_VARIABLE}."
)
_USUAL_SCALE = 1.3
"""How much longer than by itself it is let speak: 165 words a minute with en_US-joe-medium (60 lines of human
AD, benchmarks/voices.py; 195 by itself). Other models have paces of their own, most near that one."""
_SCALE_RANGE = (0.4, 2.5)
"""How much longer or shorter it can be let speak; beyond, words melt."""


@dataclass(frozen=True, slots=True)
class PiperModel:
    """A voice's files. ``language`` is BCP 47, ``quality`` its makers' word."""

    path: Path
    language: str
    speakers: int

    @property
    def stem(self) -> str:
        """Its name: ``en_US-joe-medium``."""
        return self.path.name.removesuffix(".onnx")


class Piper(SpeakerOfMany):
    """``piper:en_US-joe-medium`` or ``piper:/path/model.onnx``; of several speakers one: ``…#3``."""

    at_once = 2
    together = 24

    def __init__(self, program: str, model: PiperModel, speaker: int | None = None) -> None:
        self._program, self._model, self._speaker = program, model, speaker
        self.languages = (model.language,)
        self.name = f"{PIPER}:{model.stem}" + ("" if speaker is None else f"#{speaker}")
        self.identity = f"{self.name} {_fingerprint(model.path)} {_USUAL_SCALE}"

    @classmethod
    def known(cls) -> tuple[VoiceInfo, ...]:
        """The voices whose files are found; where there are none, one entry that says how to get one."""
        program = find_program(PIPER)
        note = "" if program else _GET_PIPER
        by_stem = {model.stem: model for model in piper_models()}
        if not by_stem:
            return (
                VoiceInfo(
                    PIPER, PIPER, _PIPER_LANGUAGES, _PIPER_LICENCE, False, f"{note} {_GET_VOICE}".strip()
                ),
            )
        return tuple(
            VoiceInfo(
                f"{PIPER}:{stem}",
                PIPER,
                (m.language,),
                _PIPER_LICENCE,
                program is not None,
                note or str(m.path),
            )
            for stem, m in by_stem.items()
        )

    @classmethod
    def named(cls, which: str, language: str, settings: VoiceSettings) -> Piper:
        """By name or path, else the first for the language. Raises VoiceError."""
        program = find_program(PIPER)
        if program is None:
            raise VoiceError("piper is not installed.", _GET_PIPER)
        base, _, number = which.partition("#")
        model: PiperModel | None
        if base.endswith(".onnx") or "/" in base or os.sep in base:
            path = Path(base).expanduser()
            model = _read_model(path) if path.is_file() else None
            if model is None:
                message = f"{path} is no piper voice that can be read."
                raise VoiceError(message, f"A voice is NAME.onnx with NAME.onnx.json beside it. {_GET_VOICE}")
        elif base:
            by_stem = {model.stem: model for model in piper_models()}
            if base not in by_stem:
                raise unknown_voice("piper voice", base, sorted(by_stem), _GET_VOICE)
            model = by_stem[base]
        else:
            model = max(
                piper_models(), key=lambda model: language_nearness(model.language, language), default=None
            )
            if model is None or language_nearness(model.language, language) == 0:
                raise VoiceError(f"There is no piper voice for {language!r}.", _GET_VOICE)
        if number and (not number.isdigit() or int(number) >= model.speakers):
            raise VoiceError(f"{model.stem} has no speaker {number!r}.", f"It has 0 to {model.speakers - 1}.")
        return cls(program, model, int(number) if number else None)

    def _sounds(self, texts: Sequence[str], speed: float) -> list[RawSound]:
        """Each text at ``speed``, at the model's own rate."""
        scale = min(max(_USUAL_SCALE / speed, _SCALE_RANGE[0]), _SCALE_RANGE[1])
        lines = [" ".join(text.split()) for text in texts]
        with tempfile.TemporaryDirectory(prefix="shotad-piper-") as folder:
            command = [self._program, "--model", str(self._model.path), "--output_dir", folder]
            command += ["--length_scale", f"{scale:.4f}"]
            command += [] if self._speaker is None else ["--speaker", str(self._speaker)]
            run_program(command, "\n".join(lines) + "\n", voice=self.name)
            files = sorted(Path(folder).glob("*.wav"), key=lambda path: (len(path.name), path.name))
            if len(files) != len(lines):
                raise VoiceError(f"piper spoke {len(files)} of {len(lines)} lines (voice {self.name}).")
            return [(*decoded(file.read_bytes(), self.name), _USUAL_SCALE / scale) for file in files]


def piper_models() -> tuple[PiperModel, ...]:
    """All voices in the folders where people keep them, whole ones only."""
    home = Path.home()
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    named = [Path(text) for text in os.environ.get(FOLDERS_VARIABLE, "").split(os.pathsep) if text]
    usual = [data / "piper", data / "piper-voices", data / "piper-tts"]
    usual += [home / "piper", home / "piper-voices"]
    shared = [Path(place) / "piper-voices" for place in ("/usr/local/share", "/usr/share", "/opt")]
    folders = (folder for folder in (*named, *usual, *shared) if folder.is_dir())
    paths = (path for folder in folders for path in sorted(folder.rglob("*.onnx")))
    return tuple(model for path in paths if (model := _read_model(path)) is not None)


def _read_model(path: Path) -> PiperModel | None:
    """A voice, if its description is beside it and says what it must."""
    try:
        description = json.loads(path.with_name(path.name + ".json").read_text(encoding="utf-8"))
        language = description.get("language", {}).get("code") or description["espeak"]["voice"]
        return PiperModel(path, str(language).replace("_", "-"), int(description.get("num_speakers") or 1))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


@cache
def _fingerprint(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:12]
    except OSError as error:
        raise VoiceError(f"{path} cannot be read: {error.strerror}.") from None


_PIPER_LANGUAGES = (
    "ar", "ca", "cs", "cy", "da", "de", "el", "en", "es", "fa", "fi", "fr", "hu", "is", "it", "ka", "kk",
    "lb", "lv", "ne", "nl", "no", "pl", "pt", "ro", "ru", "sk", "sl", "sr", "sv", "sw", "tr", "uk", "vi",
    "zh",
)  # fmt: skip
"""Languages that voices are published for."""
