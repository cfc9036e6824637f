"""What the user sees while work goes on and when it is done.

A terminal gets bars; where output is no terminal, or with ``--plain``, plain lines that a screen
reader can follow. Results go to standard output, everything else to standard error.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import click

from shotad.core import Display, Mode, UsageError, display_mode, on_terminal
from shotad.script import parse_time


def mode_of(*, plain: bool, as_json: bool, quiet: bool) -> Mode:
    """How to speak, from the flags and from whether a person's terminal listens."""
    if sum((plain, as_json, quiet)) > 1:
        raise UsageError("--plain, --json and --quiet exclude each other.", "Give one of them.")
    if as_json:
        return "json"
    if quiet:
        return "quiet"
    return "plain" if plain else display_mode()


@dataclass(frozen=True, slots=True)
class Console(Display):
    """A front end for progress and results."""

    def result(self, text: str, value: Any) -> None:
        """The command's result: text for people, or JSON; with ``--quiet`` nothing."""
        if self.mode == "json":
            text = json.dumps(value, ensure_ascii=False, indent=2)
            # JSON has a way of its own to write what is not seen, and programs read the same.
            click.echo(text if on_terminal(text) == text else json.dumps(value, indent=2))
        elif self.mode != "quiet":
            click.echo(on_terminal(text))


def asked_time(text: str) -> float:
    """Seconds from ``83.5``, ``1:23.5`` or ``0:01:23,5``. Raises UsageError."""
    try:
        return parse_time(text)
    except ValueError as error:
        raise UsageError(
            f"{text!r} is no time: {error}.", "Write seconds (83.5), 1:23.5 or 0:01:23.5."
        ) from None
