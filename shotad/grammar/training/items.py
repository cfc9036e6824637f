"""The items of a data set of shot scale, of whichever layout."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from shotad.core import DatasetError
from shotad.grammar.training import folders, movieshots
from shotad.grammar.training.data import RATIOS, SPLITS, ScaleData


def read_items(
    folder: Path,
    *,
    seed: int = 42,
    ratios: Sequence[float] = RATIOS,
    annotation: str | None = None,
    missing: float = 0.02,
) -> ScaleData:
    """The data set in ``folder``: MovieShots as MovieNet publishes it, or one folder of pictures per scale.

    ``ratios`` (train, val, test) and ``seed`` matter only where the data brings no split of its own.
    ``annotation`` names the JSON file, inside ``folder``, where MovieShots has several; ``missing`` is the
    largest share, 0 to 1, of annotated shots whose files may be absent. Raises DatasetError for what is
    neither, for unknown labels, for missing files, and for a split or a training class without items.
    """
    if len(ratios) != 3 or any(ratio < 0 for ratio in ratios) or not sum(ratios):
        raise ValueError(f"ratios must be three numbers of 0 or more, got {tuple(ratios)}")
    if not 0 <= missing <= 1:
        raise ValueError(f"missing must be a share from 0 to 1, got {missing}")
    if not folder.is_dir():
        raise DatasetError(f"{folder} is not a folder.", "Name the folder that holds the data set.")
    data = movieshots.read(folder, annotation=annotation, seed=seed, ratios=ratios, missing=missing)
    if data is None:
        data = folders.read(folder, seed=seed, ratios=ratios)
    _check(data, folder)
    return data


def _check(data: ScaleData, folder: Path) -> None:
    for split in SPLITS:
        if not data.of(split):
            raise DatasetError(
                f"The {split} split of {folder} is empty ({data.layout}, {len(data.items)} items).",
                "Add pictures, or leave the split's folder out so that it is taken out of train.",
            )
    without = [scale.value for scale, count in data.counts("train").items() if not count]
    if without:
        raise DatasetError(
            f"The train split of {folder} has no item of {', '.join(without)}.",
            "All five scales must be there: a class that is never seen cannot be learnt.",
        )
