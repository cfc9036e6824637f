"""``shotad cast …``: the people of a film, found, named and forgotten.

Each command is a module of its own, imported when it runs: one line in `_COMMANDS`.
"""

from __future__ import annotations

import click

from shotad.cli.lazy import LazyGroup

_COMMANDS = {
    "discover": ("shotad.cli.cast_discover", "Find the people of a film by their faces."),
    "forget": ("shotad.cli.cast_forget", "Delete somebody's photos, and what is kept of the face."),
    "merge": ("shotad.cli.cast_merge", "Make two entries of a cast one person."),
    "name": ("shotad.cli.cast_name", "Fill in somebody's name."),
    "show": ("shotad.cli.cast_show", "Say who is in a cast, and what is amiss with it."),
}


@click.group(name="cast", cls=LazyGroup, table=_COMMANDS)
def command() -> None:
    """Find, name and forget the people of a film.

    A cast is a folder with cast.yaml and photos of faces. shotad cast discover makes one of a film,
    shotad cast name fills in who they are, and shotad describe --cast says their names.
    """
