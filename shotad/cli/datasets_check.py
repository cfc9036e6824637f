"""``shotad datasets check NAME --root DIR``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from shotad.cli.console import Console
from shotad.cli.options import console_options


@click.command(name="check")
@click.argument("name", metavar="NAME|FILE")
@click.option(
    "--root",
    type=click.Path(path_type=Path),
    default=Path(),
    help="The dataset's folder (default: this one).",
)
@click.option("--annotation", type=click.Path(path_type=Path), help="The table of human ADs.")
@click.option("--actions", type=click.Path(path_type=Path), help="The table of their actions.")
@click.option("--shots", type=click.Path(path_type=Path), help="The table of shots.")
@click.option("--casts", type=click.Path(path_type=Path), help="Characters' names by film, in JSON.")
@click.option("--video-root", type=click.Path(path_type=Path), help="The folder of the videos, if another.")
@click.option("--videos", is_flag=True, help="Videos are needed: open them all.")
@console_options
def command(console: Console, **options: Any) -> None:
    """Say what is there of a dataset, what is missing, and what is malformed.

    NAME is cmd-ad, mad-eval or tv-ad; FILE describes a dataset of your own, like those in configs/datasets.
    The files are looked for below --root, in the folders of the published repositories too.

    Exit code 0 if all that evaluation needs is there and can be read, else 1. Predicting needs the videos.
    """
    from shotad.evaluation import check_dataset, load_dataset

    files = {name: options[name] for name in ("annotation", "actions", "shots", "casts")}
    dataset = load_dataset(options["name"], options["root"], **files, strict=False)
    check = check_dataset(dataset, console, videos=options["video_root"], need_videos=options["videos"])
    console.result(check.text, check.record())
    if not check.whole:
        click.get_current_context().exit(1)
