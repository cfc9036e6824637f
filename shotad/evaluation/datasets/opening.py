"""Whatever a person names as human ADs: a known dataset, the description of one's own, or a plain file."""

from __future__ import annotations

import os
from pathlib import Path

from shotad.core.errors import UsageError
from shotad.evaluation.datasets.ads import Dataset
from shotad.evaluation.datasets.loading import load_dataset
from shotad.evaluation.datasets.references import load_references

ROOTS = "SHOTAD_DATASETS"
"""The environment variable that names the folder in which each dataset has a folder of its own."""

_PLAIN = (".csv", ".jsonl", ".json", ".ndjson")


def open_dataset(
    name: str,
    root: Path | None = None,
    *,
    annotation: Path | None = None,
    actions: Path | None = None,
    shots: Path | None = None,
    casts: Path | None = None,
    strict: bool = True,
) -> Dataset:
    """The dataset ``name`` in the folder ``root``, or the human ADs of the CSV or JSONL file ``name``.

    ``root`` None: the folder of that name below ``$SHOTAD_DATASETS``, or this one where that is not set.

    Raises DatasetError, and UsageError for files that a plain file has no use for.
    """
    if Path(name).suffix.lower() not in _PLAIN:
        roots = os.environ.get(ROOTS)
        here = root or (Path(roots) / Path(name).stem if roots else Path())
        return load_dataset(
            name, here, annotation=annotation, actions=actions, shots=shots, casts=casts, strict=strict
        )
    for option, value in (("--annotation", annotation), ("--actions", actions), ("--shots", shots)):
        if value is not None:
            raise UsageError(
                f"{option} {value} belongs to a dataset, and {name} is a plain file of human ADs.",
                "Leave it out; a plain file holds its actions itself.",
            )
    return load_references(Path(name), casts=casts)
