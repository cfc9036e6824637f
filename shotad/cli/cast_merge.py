"""``shotad cast merge CAST PERSON INTO``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from shotad.cli.casting import cast_file, person_line, person_row, renew, save_cast
from shotad.cli.console import Console
from shotad.cli.options import console_options
from shotad.core import ShotadError, UsageError


@click.command(name="merge")
@click.argument("path", metavar="CAST", type=click.Path(path_type=Path))
@click.argument("person", metavar="[PERSON]", required=False)
@click.argument("into", metavar="[INTO]", required=False)
@click.option("--undo", is_flag=True, help="Take the last merge back.")
@click.option("--yes", is_flag=True, help="Do not ask, also where both have names.")
@console_options
def command(
    console: Console, path: Path, person: str | None, into: str | None, undo: bool, yes: bool
) -> None:
    """Make two entries of a cast one person: PERSON's photos and names go to INTO.

    Both are ids, names, or numbers as shotad cast show counts. What both have stays as INTO has it. No
    file is moved. Where both have names you are asked first. --undo takes the last merge back.
    """
    from shotad.sight import chosen, keep_for_undo, merge, undo as take_back

    if undo == bool(person or into) or bool(person) != bool(into):
        raise UsageError("Two people are to be merged, or the last merge undone.", "Name both, or --undo.")
    file = cast_file(path)
    if undo:
        take_back(file)
        renew(path)
        console.result(f"The last merge of {file.path} is undone.", {"undone": str(file.path)})
        return
    gone, kept = chosen(file.members, person or ""), chosen(file.members, into or "")
    merge(file, gone, kept)
    if gone.name and kept.name and not yes:
        _ask(f"{gone.id} is called {gone.name}, and {kept.id} is called {kept.name}.")
    keep_for_undo(file)
    save_cast(file, path)
    number = [member.id for member in file.members].index(kept.id) + 1
    now = file.member(kept.id)
    console.result(person_line(number, now), person_row(number, now))


def _ask(both: str) -> None:
    if not sys.stdin.isatty():
        raise UsageError(
            f"{both} Nothing was merged: nobody is there to be asked.", "If they are one person: add --yes."
        )
    if not click.confirm(f"{both} Are they one person?", err=True):
        raise ShotadError("Nothing was merged.")
