"""``shotad cast show CAST``."""

from __future__ import annotations

from pathlib import Path

import click

from shotad.cli.casting import person_line, person_row
from shotad.cli.console import Console
from shotad.cli.options import console_options


@click.command(name="show")
@click.argument("path", metavar="CAST", type=click.Path(path_type=Path))
@click.option("--cast-photos", type=click.Path(path_type=Path), help="Pictures that go with a bank (JSON).")
@click.option("--cast-key", metavar="KEY", default="", help="Which film of a bank.")
@console_options
def command(console: Console, path: Path, cast_photos: Path | None, cast_key: str) -> None:
    """Say who is in a cast, one line for each, and what is amiss with it.

    CAST is a cast folder, a cast.yaml, a folder of photos, or a character bank. The numbers and ids are
    those by which other commands know the people. A mistake in the file is told with its line.
    """
    from shotad.sight import load_cast

    cast = load_cast(path, key=cast_key, photos=cast_photos)
    lines = [f"{cast.source}: {len(cast)} {'person' if len(cast) == 1 else 'people'}."]
    lines += [person_line(number, member) for number, member in enumerate(cast, 1)]
    lines += [f"Note: {warning}" for warning in cast.warnings]
    people = [person_row(number, member) for number, member in enumerate(cast, 1)]
    value = {"source": str(cast.source), "people": people, "warnings": list(cast.warnings)}
    console.result("\n".join(lines), value)
