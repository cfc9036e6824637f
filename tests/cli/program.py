"""The program as a function: words in; exit code, standard output and standard error out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Said:
    """What a command left behind: exit code, standard output, standard error."""

    code: int
    out: str
    err: str


Shotad = Callable[..., Said]
