"""The program as a function: words in; exit code, standard output and standard error out."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import NamedTuple

from click.testing import CliRunner, Result

from shotad.core import ShotadError


class Terminal(io.StringIO):
    """Somebody at a terminal who types this."""

    def isatty(self) -> bool:
        return True


class Said(NamedTuple):
    """What a command left behind: exit code, standard output, standard error."""

    code: int
    out: str
    err: str


Shotad = Callable[..., Said]


def invoke(*words: object) -> Result:
    """Calls a command and raises its error, also where no `shotad` fixture is at hand."""
    from shotad.cli.main import cli

    result = CliRunner().invoke(cli, [str(word) for word in words])
    if isinstance(result.exception, ShotadError):
        raise result.exception
    return result


FAKE = (
    "--engine",
    "fake",
    *(
        word
        for setting in (
            "slots.find_credits=false", "speech.source=none", "shots.detector=adaptive", "scale.method=none", "threads.features=grid",
        )
        for word in ("--set", setting)
    ),
)  # fmt: skip
"""Options by which a film is described at once and without weights."""
