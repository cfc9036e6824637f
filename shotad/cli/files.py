"""``shotad sample`` and ``shotad files``: what comes with the program, copied to where it can be used."""

from __future__ import annotations

from pathlib import Path

import click

from shotad.cli.options import PATH, Console, console_options
from shotad.core.errors import UsageError
from shotad.core.shipped_files import (
    SAMPLE_FILM,
    copy_shipped,
    named_files,
    replacement_of,
    shipped_file,
    shipped_files,
)
from shotad.core.system import quoted


@click.command(name="sample")
@click.argument("folder", type=PATH, default=Path())
@console_options
def sample_command(console: Console, folder: Path) -> None:
    """Copy the sample film into FOLDER (default: this folder).

    sample.mp4 has 44.5 seconds: titles, an astronaut, a cat, a rocket. It is free of rights (CC0).
    """
    film = folder / Path(SAMPLE_FILM).name
    copy_shipped({SAMPLE_FILM: film})
    command = f"shotad describe {quoted([str(film)])} --voice auto"
    text = f"{film}: 44.5 seconds, free of rights (CC0 1.0).\nNext: {command}"
    console.result(text, {"film": str(film)})


@click.command(name="files")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--to", "folder", type=PATH, help="Folder to copy into (default: this folder).")
@console_options
def files_command(console: Console, names: tuple[str, ...], folder: Path | None) -> None:
    """List the files that come with shotad, or copy those of NAME.

    NAME is a file or folder of the list, such as prompts/stage1.j2 or configs/ray. A copy keeps its path, so
    prompts/stage1.j2 --to mine becomes mine/prompts/stage1.j2. SHOTAD_DATA=mine uses what is changed there.
    """
    if not names:
        if folder is not None:
            raise UsageError(
                "--to names a folder, but no file is named.", "Name one: shotad files prompts --to mine"
            )
        _list(console)
        return
    targets = {name: (folder or Path()) / name for name in named_files(names)}
    copy_shipped(targets)
    copies = [str(path) for path in targets.values()]
    console.result("\n".join(copies), {"copies": copies})


def _list(console: Console) -> None:
    lines, records = [], []
    for name in shipped_files():
        own = replacement_of(name)
        lines.append(name if own is None else f"{name}  (yours is used: {own})")
        records.append({"name": name, "path": str(own or shipped_file(name)), "own": own is not None})
    console.result("\n".join(lines), {"files": records})
