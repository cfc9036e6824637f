"""``shotad cast merge CAST PERSON INTO``."""

from __future__ import annotations

from pathlib import Path

import click

from shotad.cli.casting import cast_file, person_line, person_row, save_cast
from shotad.cli.console import Console
from shotad.cli.options import console_options


@click.command(name="merge")
@click.argument("path", metavar="CAST", type=click.Path(path_type=Path))
@click.argument("person", metavar="PERSON")
@click.argument("into", metavar="INTO")
@console_options
def command(console: Console, path: Path, person: str, into: str) -> None:
    """Make two entries of a cast one person: PERSON's photos and names go to INTO.

    Both are ids, names, or numbers as shotad cast show counts. What both have stays as INTO has it. No
    file is moved.
    """
    from shotad.cast.files.choosing import chosen
    from shotad.cast.files.merging import merge

    file = cast_file(path)
    members = file.members
    merge(file, chosen(members, person), kept := chosen(members, into))
    save_cast(file, path)
    number = [member.id for member in file.members].index(kept.id) + 1
    now = file.member(kept.id)
    console.result(person_line(number, now), person_row(number, now))
