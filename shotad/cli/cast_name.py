"""``shotad cast name CAST PERSON NAME``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shotad.cli.casting import cast_file, person_line, person_row, save_cast
from shotad.cli.console import Console
from shotad.cli.options import console_options
from shotad.core import CastError, UsageError

if TYPE_CHECKING:
    from shotad.core import Member, Reveal


@click.command(name="name")
@click.argument("path", metavar="CAST", type=click.Path(path_type=Path))
@click.argument("person", metavar="PERSON")
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--speak", metavar="TEXT", help="What AD says, where it is not the whole name.")
@click.option("--say-as", metavar="TEXT", help="How a voice is to say that, by ear: Sin-TELL.")
@click.option("--alias", "aliases", metavar="TEXT", multiple=True, help="Another name; repeatable.")
@click.option("--pronoun", type=click.Choice(["she", "he", "they", "it"]), help="How to refer back.")
@click.option("--descriptor", metavar="TEXT", help="For when the name may not be said: the woman in red.")
@click.option(
    "--reveal-at",
    metavar="TIME|FILM=TIME",
    multiple=True,
    help="When the name becomes known: 00:12:30, or never; repeatable, for films by their file name.",
)
@click.option("--nameless", is_flag=True, help="An extra, whom nobody needs to name.")
@console_options
def command(
    console: Console,
    path: Path,
    person: str,
    name: str | None,
    speak: str | None,
    say_as: str | None,
    aliases: tuple[str, ...],
    pronoun: str | None,
    descriptor: str | None,
    reveal_at: tuple[str, ...],
    nameless: bool,
) -> None:
    """Fill in who somebody of a cast is.

    PERSON is an id, or a number as shotad cast show counts. Names and other texts replace what was there
    (an empty one clears it), --alias adds. Comments and everything else in cast.yaml stay as they are.
    """
    from shotad.sight import chosen

    if nameless and name:
        raise UsageError(f"--nameless and the name {name!r} exclude each other.", "Give one of them.")
    file = cast_file(path)
    member = chosen(file.members, person)
    given = {"name": name, "spoken": speak, "say_as": say_as, "pronoun": pronoun, "descriptor": descriptor}
    values: dict[str, Any] = {key: text for key, text in given.items() if text is not None}
    if aliases:
        values["aliases"] = tuple(dict.fromkeys([*member.aliases, *aliases]))
    if reveal_at:
        values["reveals"] = _reveals(reveal_at)
    if nameless or (name and member.nameless):
        values["nameless"] = nameless
    if not values:
        raise UsageError(f"There is nothing to say of {member.id}.", "Give a name, or --nameless.")
    _check_free(file.members, member, [name or "", speak or "", *aliases], path)
    file.update(member.id, **values)
    save_cast(file, path)
    number = [one.id for one in file.members].index(member.id) + 1
    now = file.member(member.id)
    console.result(person_line(number, now), person_row(number, now))


def _check_free(members: Sequence[Member], member: Member, names: Sequence[str], path: Path) -> None:
    """Raises CastError where somebody else has one of the names: that is one person, or a mistake."""
    from shotad.sight import taken_name

    if (found := taken_name(members, member, names)) is not None:
        other, name = found
        raise CastError(
            f"{other.id} is called {name!r} already.",
            f"If they are one person: shotad cast merge {path} {member.id} {other.id}. "
            "Else give one of them a name that tells them apart.",
        )


def _reveals(texts: Sequence[str]) -> tuple[Reveal, ...]:
    from shotad.core import Reveal
    from shotad.sight import film_name, seconds_of

    found = {}
    for text in texts:
        film, sign, time = text.rpartition("=")
        try:
            found[film] = Reveal(seconds_of(time), film_name(film) if sign else "")
        except ValueError:
            hint = "Write 00:12:30, 12:30, seconds, or never; for one film FILM=00:12:30."
            raise UsageError(f"--reveal-at {text!r} is no time.", hint) from None
    return tuple(found.values())
