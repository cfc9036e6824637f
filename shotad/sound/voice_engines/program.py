"""Programs that speak, run as programs of their own: text in, sound out, and what may go wrong between."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from shotad.core import VoiceError

TIMEOUT = 120.0
"""Seconds that a program may take, and a tenth more for each character."""
_PER_CHARACTER = 0.1
_LONGEST = 300


def found(program: str) -> Path | None:
    """Where a program is; None where it is not installed."""
    place = shutil.which(program)
    return Path(place) if place else None


def run(command: Sequence[str], text: str = "", *, voice: str, timeout: float = TIMEOUT) -> bytes:
    """What a program writes when it is given ``text``. Raises VoiceError, with its own last words.

    The text goes in by standard input: on the command line others could read it, and a leading ``-`` would be
    an option.
    """
    program = Path(command[0]).name
    limit = timeout + _PER_CHARACTER * len(text)
    try:
        done = subprocess.run(
            list(command), input=text.encode(), capture_output=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        raise VoiceError(
            f"{program} took more than {limit:.0f} s for a line, and was stopped (voice {voice}).",
            "Is the machine busy? Run again: what is spoken is kept.",
        ) from None
    except FileNotFoundError:
        raise VoiceError(f"There is no program {program} any more.", "Install it again.") from None
    except (OSError, ValueError) as error:
        raise VoiceError(f"{program} cannot be run: {error}.", "Try another voice: shotad voices.") from None
    if done.returncode != 0:
        raise VoiceError(f"{program} failed (voice {voice}): {_reason(done)}.", "Try another voice.")
    return done.stdout


def _reason(done: subprocess.CompletedProcess[bytes]) -> str:
    if done.returncode < 0:
        try:
            return f"it was ended by {signal.Signals(-done.returncode).name}"
        except ValueError:
            return f"it was ended by signal {-done.returncode}"
    lines = done.stderr.decode("utf-8", "replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "it says nothing")
    return f"{last[:_LONGEST].rstrip('.')} (exit code {done.returncode})"
