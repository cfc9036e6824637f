"""``shotad doctor``."""

from __future__ import annotations

from dataclasses import asdict

import click

from shotad.cli.console import Console
from shotad.cli.options import console_options
from shotad.core import ShotadError

_MARKS = {True: "ok", False: "TROUBLE", None: "-"}


@click.command(name="doctor")
@console_options
def command(console: Console) -> None:
    """Say what this machine can do: GPU, libraries, weights, endpoint. Exit code 1 on trouble."""
    from shotad.cli.machine import examine

    checks = examine()
    width = max(len(check.topic) for check in checks)
    lines = [f"{_MARKS[check.ok]:7}  {check.topic:{width}}  {check.finding}" for check in checks]
    console.result("\n".join(lines), [asdict(check) for check in checks])
    troubles = [check.topic for check in checks if check.ok is False]
    if troubles:
        raise ShotadError(f"Trouble with {', '.join(troubles)}.", "See the lines above.")
