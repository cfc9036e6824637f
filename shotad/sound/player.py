"""Plays a sound file through whatever the system has for it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from shotad.core.errors import VoiceError
from shotad.core.files import write_bytes
from shotad.core.system import find_program
from shotad.sound.kinds import Take
from shotad.sound.takes import wav
from shotad.sound.voice_programs import run_program

_FILE_VARIABLE = "SHOTAD_SOUND_FILE"
_PLAYERS = (
    ("afplay", "{file}"),
    ("pw-play", "{file}"),
    ("paplay", "{file}"),
    ("aplay", "-q", "{file}"),
    ("ffplay", "-nodisp", "-autoexit", "-loglevel", "error", "{file}"),
    ("powershell", "-NoProfile", "-NonInteractive", "-Command",
     f"(New-Object System.Media.SoundPlayer $env:{_FILE_VARIABLE}).PlaySync()"),
)  # fmt: skip
"""macOS, PipeWire, PulseAudio, ALSA, FFmpeg, Windows; those that are installed are tried in this order."""


def play(file: Path, seconds: float) -> None:
    """Play a WAV file of so many seconds to its end. Raises VoiceError where nothing here can.

    A player that is installed may still fail, for no sound server runs, say; then the next is tried.
    """
    reasons: list[str] = []
    environment = {**os.environ, _FILE_VARIABLE: str(file)}
    for name, *options in _PLAYERS:
        program = find_program(name)
        if program is None:
            continue
        command = [program, *(option.replace("{file}", str(file)) for option in options)]
        try:
            run_program(command, voice="player", timeout=seconds + 30, environment=environment)
        except VoiceError as error:
            reasons.append(error.what)
        else:
            return
    hint = "Write a file and play it elsewhere: --out voice.wav."
    if not reasons:
        names = ", ".join(name for name, *_ in _PLAYERS)
        raise VoiceError(f"No program that plays sound is installed ({names}).", hint)
    raise VoiceError(f"The sound cannot be played. {' '.join(reasons)}", hint)


def play_take(take: Take) -> None:
    """Play a spoken take to its end. Raises VoiceError where nothing here can."""
    with tempfile.TemporaryDirectory(prefix="shotad-play-") as folder:
        file = Path(folder) / "voice.wav"
        write_bytes(file, [wav(take.samples, take.rate)])
        play(file, take.seconds)
