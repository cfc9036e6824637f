"""Options that name a dataset, or human ADs of one's own, and the predictions for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from shotad.evaluation.datasets.ads import Dataset
    from shotad.evaluation.predictions.joining import Joined

Command = Callable[..., Any]

ROOTS = "SHOTAD_DATASETS"
"""The environment variable that names the folder in which each dataset has a folder of its own."""

MADE_BY = "made_by"
"""The column in which `evaluate actions` says by what it made an action."""

_PATH = click.Path(path_type=Path)

_DATASET_OPTIONS = (
    click.argument("dataset", metavar="DATASET"),
    click.option(
        "--root", type=_PATH, help=f"The dataset's folder (default: ${ROOTS}/DATASET, else this one)."
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


def dataset_of(options: Mapping[str, Any]) -> Dataset:
    """The dataset that is named, or the human ADs of a file (CSV or JSON Lines)."""
    from shotad.evaluation.datasets.opening import open_dataset

    name = options["dataset"]
    files = {key: options[key] for key in ("annotation", "actions", "casts")}
    return open_dataset(name, options["root"] or _root(name), **files)


def joined_of(dataset: Dataset, options: Mapping[str, Any]) -> Joined:
    """The dataset's ADs with what the files predict for each."""
    from shotad.evaluation.predictions.joining import join, with_descriptions
    from shotad.evaluation.predictions.reading import read_predictions

    columns = {key: options[key] for key in ("text_column", "id_column")}
    joined = join(dataset, read_predictions(*options["predictions"], **columns))
    if options["descriptions"] is None:
        return joined
    return with_descriptions(joined, dataset, read_predictions(options["descriptions"]))


def makers_of_actions(dataset: Dataset) -> tuple[str, ...]:
    """By what the human ADs' actions were made, where their file says so, as `evaluate actions` does."""
    from shotad.evaluation.datasets.records import read_records

    path = dataset.files.get("actions") or dataset.files.get("annotation")
    if path is None or not any(ad.actions for ad in dataset.ads):
        return ()
    told = {row.values.get(MADE_BY) for row in read_records(path).rows}
    return tuple(sorted(one for one in told if isinstance(one, str) and one))


def _root(name: str) -> Path:
    roots = os.environ.get(ROOTS)
    return Path(roots) / Path(name).stem if roots else Path()
