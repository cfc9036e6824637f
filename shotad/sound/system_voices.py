"""The voices that come with a system: those of macOS through ``say``, those of Windows through PowerShell.

Both programs are part of their system, so nothing has to be installed, and a voice that hangs or fails
takes nothing with it. On Windows it is SAPI 5 (``System.Speech``), which also has the voices that people
buy for their screen readers; the newer ones of Windows' Narrator are no SAPI voices.
"""

from __future__ import annotations

import json
import math
import os
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from shotad.core.config.sound import VoiceSettings
from shotad.core.errors import VoiceError
from shotad.core.system import find_program
from shotad.sound.kinds import PACE
from shotad.sound.voice_engines import (
    RawSound,
    Speaker,
    VoiceInfo,
    language_nearness,
    unknown_voice,
    without_brackets,
)
from shotad.sound.voice_programs import TIMEOUT, SpeakerOfMany, run_program
from shotad.sound.voice_sound import decoded

_LICENCE = "Licence of the system"
_LISTING_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class SystemVoice:
    """A voice by the name that the system gives it, and its language (BCP 47)."""

    name: str
    language: str


@dataclass(frozen=True, slots=True)
class VoicesOfSystem:
    """The voices that a system brings: the program that speaks, and what to say where one is missing.

    ``installed`` lists the voices by the program's path, the best of a language first. ``languages`` are
    those of which the system has a voice to download, ``get_voice`` says how.
    """

    kind: str
    system: str
    program: str
    installed: Callable[[str], Sequence[SystemVoice]]
    languages: Sequence[str]
    get_voice: str

    def known(self) -> tuple[VoiceInfo, ...]:
        """The installed voices, and one entry for the languages that can be added; none on other systems."""
        program = find_program(self.program)
        installed_voices = self.installed(program) if program else ()
        if not installed_voices:
            return ()
        infos = [
            VoiceInfo(f"{self.kind}:{voice.name}", self.kind, (voice.language,), _LICENCE, True)
            for voice in installed_voices
        ]
        spoken = {voice.language.partition("-")[0] for voice in installed_voices}
        languages_to_add = tuple(language for language in self.languages if language not in spoken)
        if languages_to_add:
            infos.append(VoiceInfo(self.kind, self.kind, languages_to_add, _LICENCE, False, self.get_voice))
        return tuple(infos)

    def find(self, which: str, language: str) -> tuple[str, SystemVoice]:
        """The program's path, and the voice called ``which``; with an empty name the first of those nearest
        to the language. Raises VoiceError."""
        program = find_program(self.program)
        installed_voices = self.installed(program) if program else ()
        if program is None or not installed_voices:
            message = f"The voices of {self.system} ({self.kind}) are not on this machine."
            raise VoiceError(message, "shotad voices lists others.")
        if which:
            for voice in installed_voices:
                if voice.name.casefold() == which.casefold():
                    return program, voice
            names = [voice.name for voice in installed_voices]
            where = f"shotad voices --voice {self.kind} lists them."
            raise unknown_voice(f"{self.kind} voice", which, names, where)
        nearest = max(installed_voices, key=lambda voice: language_nearness(voice.language, language))
        if language_nearness(nearest.language, language) == 0:
            raise VoiceError(f"This system has no voice that speaks {language!r}.", self.get_voice)
        return program, nearest


SAY = "say"
_GET_SAY_VOICE = "Download one: System Settings, Accessibility, Spoken Content, System Voice, Manage Voices."
_SAY_LANGUAGES = (
    "ar", "bg", "ca", "cs", "da", "de", "el", "en", "es", "fi", "fr", "he", "hi", "hr", "hu", "id", "it",
    "ja", "ko", "ms", "nb", "nl", "pl", "pt", "ro", "ru", "sk", "sv", "th", "tr", "uk", "vi", "zh",
)  # fmt: skip
_SAY_ROW = re.compile(
    r"(?P<name>\S++(?: \S++)*?)\s+(?P<language>[a-z]{2,3}(?:[_-](?:[A-Z]{2}|\d{3})\b)?)[^\s#]*\s+#.*"
)
_SAY_PACE_RANGE = (80, 400)
_SAY_RATE = 22050
_PLAYFUL = frozenset({
    "Albert", "Bad News", "Bahh", "Bells", "Boing", "Bubbles", "Cellos", "Deranged", "Fred", "Good News",
    "Hysterical", "Jester", "Junior", "Kathy", "Organ", "Pipe Organ", "Princess", "Ralph", "Superstar",
    "Trinoids", "Whisper", "Wobble", "Zarvox",
})  # fmt: skip
"""Voices of macOS for fun, and robotic ones of the 1980s: nobody's choice for a film."""
_QUALITIES = ("(Premium)", "(Enhanced)")


class SayVoice(Speaker):
    """``say:Anna``: a voice of macOS, by the name that ``say -v ?`` lists."""

    at_once = 2

    def __init__(self, program: str, voice: SystemVoice) -> None:
        self._program, self._voice = program, voice
        self.languages = (voice.language,)
        self.name = f"{SAY}:{voice.name}"
        self.identity = f"{self.name} {PACE} {_SAY_RATE}"

    @classmethod
    def known(cls) -> tuple[VoiceInfo, ...]:
        """The voices of this Mac, the best first; none elsewhere."""
        return _of_macos().known()

    @classmethod
    def named(cls, which: str, language: str, settings: VoiceSettings) -> SayVoice:
        """The voice of this name, else the best for the language. Raises VoiceError."""
        return cls(*_of_macos().find(which, language))

    def _sound(self, text: str, speed: float) -> RawSound:
        """The text at ``speed``, at 22050 samples a second. Raises VoiceError."""
        pace = min(max(round(PACE * speed), _SAY_PACE_RANGE[0]), _SAY_PACE_RANGE[1])
        with tempfile.TemporaryDirectory(prefix="shotad-say-") as folder:
            file = Path(folder) / "line.wav"
            command = [self._program, "-v", self._voice.name, "-r", str(pace), "-o", str(file)]
            command += ["--file-format=WAVE", f"--data-format=LEI16@{_SAY_RATE}", "-f", "-"]
            # It takes [[rate 300]] in a text for an order.
            run_program(command, without_brackets(text), voice=self.name)
            data = file.read_bytes() if file.is_file() else b""
        return *decoded(data, self.name), pace / PACE


@cache
def say_voices(program: str) -> tuple[SystemVoice, ...]:
    """What ``say -v ?`` lists, the best of a language first; nothing where it fails or is another program."""
    try:
        listing = run_program([program, "-v", "?"], voice=SAY, timeout=_LISTING_SECONDS)
    except VoiceError:
        return ()
    rows = (_SAY_ROW.fullmatch(line.strip()) for line in listing.decode("utf-8", "replace").splitlines())
    voices = [SystemVoice(row["name"], row["language"].replace("_", "-")) for row in rows if row]
    return tuple(sorted(voices, key=_say_rank))


def _say_rank(voice: SystemVoice) -> int:
    """Lower for better voices: large ones to download, then usual ones, then robotic ones."""
    for rank, quality in enumerate(_QUALITIES):
        if voice.name.endswith(quality):
            return rank
    if voice.name in _PLAYFUL:
        return 4
    # Eloquence, which some know from their screen readers: ``Reed (English (US))``.
    return 3 if "(" in voice.name else 2


def _of_macos() -> VoicesOfSystem:
    return VoicesOfSystem(SAY, "macOS", SAY, say_voices, _SAY_LANGUAGES, _GET_SAY_VOICE)


SAPI = "sapi"
_POWERSHELL = "powershell"
"""Windows PowerShell 5, which each Windows has. PowerShell 7 (``pwsh``) has no System.Speech."""
_GET_SAPI_VOICE = "Add one: Settings, Time & language, Speech, Add voices."
_SAPI_LANGUAGES = ("de", "en", "es", "fr", "it", "ja", "ko", "pl", "pt", "ru", "zh")
_FOLDER_VARIABLE = "SHOTAD_SPEECH_FOLDER"
_JOB, _LIST = "job.json", "voices.txt"
_MAX_RATE = 10
_RATE_STEP = 3 ** (1 / _MAX_RATE)
"""SAPI's rate goes from -10 to 10; 10 is three times a voice's own pace (SAPI 5.3, XML TTS Tutorial)."""
_SCRIPT = """
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
try {
    Add-Type -AssemblyName System.Speech
    $folder = $env:SHOTAD_SPEECH_FOLDER
    $job = [IO.File]::ReadAllText([IO.Path]::Combine($folder, 'job.json')) | ConvertFrom-Json
    $synthesizer = New-Object System.Speech.Synthesis.SpeechSynthesizer
    if ($job.voice) {
        $synthesizer.SelectVoice($job.voice)
        $synthesizer.Rate = $job.rate
        $number = 0
        foreach ($text in $job.texts) {
            $file = [IO.Path]::Combine($folder, ('{0:d4}.wav' -f $number))
            $synthesizer.SetOutputToWaveFile($file)
            $synthesizer.Speak([string]$text)
            $number = $number + 1
        }
        $synthesizer.SetOutputToNull()
    } else {
        $lines = @()
        foreach ($voice in $synthesizer.GetInstalledVoices()) {
            if ($voice.Enabled) { $lines += $voice.VoiceInfo.Culture.Name + [char]9 + $voice.VoiceInfo.Name }
        }
        [IO.File]::WriteAllLines([IO.Path]::Combine($folder, 'voices.txt'), [string[]]$lines)
    }
    $synthesizer.Dispose()
} catch {
    [Console]::Error.WriteLine($_.Exception.Message)
    exit 1
}
"""
"""Speaks the texts of a job into files, or lists the voices. Without double quotes, which a command line
changes.

What is asked is in a file, for other users of a machine can read command lines; PowerShell reads JSON's
``\\u00e4`` whatever the code page is. ``Speak`` takes a text as it is, without markup.
"""


class SapiVoice(SpeakerOfMany):
    """``sapi:Microsoft Hedda Desktop``: a voice of Windows (SAPI 5). Its own pace counts as 1."""

    together = 16
    """PowerShell takes about a second to start."""

    def __init__(self, program: str, voice: SystemVoice) -> None:
        self._program, self._voice = program, voice
        self.languages = (voice.language,)
        self.name = self.identity = f"{SAPI}:{voice.name}"

    @classmethod
    def known(cls) -> tuple[VoiceInfo, ...]:
        """The voices of this Windows; none elsewhere."""
        return _of_windows().known()

    @classmethod
    def named(cls, which: str, language: str, settings: VoiceSettings) -> SapiVoice:
        """The voice of this name, else the first for the language. Raises VoiceError."""
        return cls(*_of_windows().find(which, language))

    def _sounds(self, texts: Sequence[str], speed: float) -> list[RawSound]:
        """Each text at the step of SAPI's rate that is nearest to ``speed``, at the voice's own sample
        rate."""
        rate = min(max(round(math.log(speed, _RATE_STEP)), -_MAX_RATE), _MAX_RATE)
        with tempfile.TemporaryDirectory(prefix="shotad-sapi-") as folder:
            seconds = TIMEOUT + sum(map(len, texts)) / 10
            job = {"voice": self._voice.name, "rate": rate, "texts": list(texts)}
            _run_script(self._program, Path(folder), job, voice=self.name, timeout=seconds)
            files = sorted(Path(folder).glob("*.wav"))
            if len(files) != len(texts):
                raise VoiceError(f"Windows spoke {len(files)} of {len(texts)} lines (voice {self.name}).")
            return [(*decoded(file.read_bytes(), self.name), _RATE_STEP**rate) for file in files]


@cache
def sapi_voices(program: str) -> tuple[SystemVoice, ...]:
    """The voices that are switched on; nothing where PowerShell fails or has no System.Speech."""
    with tempfile.TemporaryDirectory(prefix="shotad-sapi-") as folder:
        try:
            _run_script(program, Path(folder), {}, voice=SAPI, timeout=_LISTING_SECONDS)
            listing = (Path(folder) / _LIST).read_text(encoding="utf-8")
        except (VoiceError, OSError, UnicodeDecodeError):
            return ()
    rows = (line.partition("\t") for line in listing.splitlines())
    return tuple(SystemVoice(name, language) for language, _, name in rows if language and name)


def _of_windows() -> VoicesOfSystem:
    return VoicesOfSystem(SAPI, "Windows", _POWERSHELL, sapi_voices, _SAPI_LANGUAGES, _GET_SAPI_VOICE)


def _run_script(program: str, folder: Path, job: object, *, voice: str, timeout: float) -> None:
    """Run `_SCRIPT` for a job. Raises VoiceError, with what PowerShell says."""
    (folder / _JOB).write_text(json.dumps(job), encoding="ascii")
    command = [
        program,
        "-NoLogo",
        "-NoProfile",
        "-NonInteractive",
        "-OutputFormat",
        "Text",
        "-Command",
        _SCRIPT,
    ]
    environment = {**os.environ, _FOLDER_VARIABLE: str(folder)}
    run_program(command, voice=voice, timeout=timeout, environment=environment)
