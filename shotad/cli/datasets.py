"""``shotad datasets …``: the AD benchmarks, and the options that name one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from shotad.cli.lazy import LazyGroup
from shotad.cli.options import PATH, Console, console_options, together

_KINDS = {"check": ("shotad.cli.datasets:check_command", "Check the files of a dataset.")}


@click.group(name="datasets", cls=LazyGroup, table=_KINDS)
def command() -> None:
    """Check the files of AD datasets."""


@click.command(name="check")
@click.argument("name", metavar="NAME|FILE")
@click.option("--root", type=PATH, default=Path(), help="Folder of the dataset (default: this one).")
@click.option("--annotation", type=PATH, help="File of the human ADs.")
@click.option("--actions", type=PATH, help="File of the actions in the human ADs.")
@click.option("--shots", type=PATH, help="File of the shots.")
@click.option("--casts", type=PATH, help="Character names by film (JSON).")
@click.option("--video-root", type=PATH, help="Folder of the videos, if elsewhere.")
@click.option("--videos", is_flag=True, help="Also open every video.")
@console_options
def check_command(console: Console, **options: Any) -> None:
    """Check the files of a dataset: what is there, missing, or malformed.

    NAME is cmd-ad, mad-eval or tv-ad; FILE describes your own dataset, like those in configs/datasets. It
    looks below --root, also in the folders of the published repositories.

    Exit code 0 if everything that evaluation needs can be read, else 1. Prediction also needs the videos.
    """
    from shotad.evaluation import check_dataset, check_text, load_dataset

    files = {name: options[name] for name in ("annotation", "actions", "shots", "casts")}
    dataset = load_dataset(options["name"], options["root"], **files, strict=False)
    check = check_dataset(dataset, console, videos=options["video_root"], need_videos=options["videos"])
    console.result(check_text(check), check)
    if not check["whole"]:
        click.get_current_context().exit(1)


dataset_options = together(
    click.argument("dataset", metavar="DATASET"),
    click.option("--root", type=PATH, help="Dataset folder (default: $SHOTAD_DATASETS/DATASET or here)."),
    click.option("--annotation", type=PATH, help="File of the human ADs, if elsewhere."),
    click.option("--actions", type=PATH, help="File of the actions in the human ADs, if elsewhere."),
    click.option("--casts", type=PATH, help="Character names by film (JSON), if elsewhere."),
)
"""DATASET, and where its files are."""

prediction_options = together(
    click.option(
        "--predictions",
        type=PATH,
        multiple=True,
        required=True,
        help="Predictions, CSV or JSON Lines; repeatable for shards.",
    ),
    click.option("--id-column", metavar="NAME", help="Column of the ids in the predictions."),
    click.option("--text-column", metavar="NAME", help="Column of the texts in the predictions."),
    click.option("--descriptions", type=PATH, help="Texts of Stage I, if in a separate file."),
)
