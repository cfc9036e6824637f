"""Options that name a dataset, or human ADs of one's own, and the predictions for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

Command = Callable[..., Any]

_PATH = click.Path(path_type=Path)

_DATASET_OPTIONS = (
    click.argument("dataset", metavar="DATASET"),
    click.option(
        "--root",
        type=_PATH,
        help="The dataset's folder (default: $SHOTAD_DATASETS/DATASET, else this one).",
    ),
    click.option("--annotation", type=_PATH, help="The table of human ADs, if it is elsewhere."),
    click.option("--actions", type=_PATH, help="The table of the human ADs' actions, if it is elsewhere."),
    click.option("--casts", type=_PATH, help="Characters' names by film (JSON), if they are elsewhere."),
)

_PREDICTION_OPTIONS = (
    click.option(
        "--predictions",
        type=_PATH,
        multiple=True,
        required=True,
        help="The file of predictions, CSV or JSON Lines; repeatable for shards.",
    ),
    click.option("--id-column", metavar="NAME", help="Where the predictions' ids stand."),
    click.option("--text-column", metavar="NAME", help="Where their texts stand."),
    click.option("--descriptions", type=_PATH, help="Stage I's texts, where they have a file of their own."),
)


def dataset_options(function: Command) -> Command:
    """Add DATASET and the options that say where its files are."""
    for option in reversed(_DATASET_OPTIONS):
        function = option(function)
    return function


def prediction_options(function: Command) -> Command:
    """Add ``--predictions`` and the names of its columns."""
    for option in reversed(_PREDICTION_OPTIONS):
        function = option(function)
    return function
