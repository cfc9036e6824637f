"""``shotad datasets …``: the AD benchmarks, and the options that name one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from shotad.cli.lazy import LazyGroup
from shotad.cli.options import PATH, Console, console_options, together

_KINDS = {
    "check": (
        "shotad.cli.datasets:check_command",
        "Say what is there of a dataset, what is missing, what is malformed.",
    ),
}


@click.group(name="datasets", cls=LazyGroup, table=_KINDS)
def command() -> None:
    """Look at the datasets that AD is measured on."""


@click.command(name="check")
@click.argument("name", metavar="NAME|FILE")
@click.option("--root", type=PATH, default=Path(), help="The dataset's folder (default: this one).")
@click.option("--annotation", type=PATH, help="The table of human ADs.")
@click.option("--actions", type=PATH, help="The table of their actions.")
@click.option("--shots", type=PATH, help="The table of shots.")
@click.option("--casts", type=PATH, help="Characters' names by film, in JSON.")
@click.option("--video-root", type=PATH, help="The folder of the videos, if another.")
@click.option("--videos", is_flag=True, help="Videos are needed: open them all.")
@console_options
def check_command(console: Console, **options: Any) -> None:
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


dataset_options = together(
    click.argument("dataset", metavar="DATASET"),
    click.option(
        "--root", type=PATH, help="The dataset's folder (default: $SHOTAD_DATASETS/DATASET, else this one)."
    ),
    click.option("--annotation", type=PATH, help="The table of human ADs, if it is elsewhere."),
    click.option("--actions", type=PATH, help="The table of the human ADs' actions, if it is elsewhere."),
    click.option("--casts", type=PATH, help="Characters' names by film (JSON), if they are elsewhere."),
)

"""DATASET, and where its files are."""

prediction_options = together(
    click.option(
        "--predictions",
        type=PATH,
        multiple=True,
        required=True,
        help="The file of predictions, CSV or JSON Lines; repeatable for shards.",
    ),
    click.option("--id-column", metavar="NAME", help="Where the predictions' ids stand."),
    click.option("--text-column", metavar="NAME", help="Where their texts stand."),
    click.option("--descriptions", type=PATH, help="Stage I's texts, where they have a file of their own."),
)
