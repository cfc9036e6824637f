"""Batches of workers that are at once ready (`tests.catalogue.batch_workers`), and what came of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from shotad.batch import Batch, BatchProgress, Planned, Row, Terms
from shotad.batch.jobs import FilmJob, FilmResult
from shotad.core import NoProgress
from tests.catalogue.batch_workers import work


def planned(folder: Path, *names: str) -> list[Planned]:
    """Films by name; what they do goes to their work folders in ``folder``."""
    return [
        Planned(FilmJob(str(folder / f"{name}.mp4"), str(folder / f"{name}.shotad")), 1000) for name in names
    ]


def quiet_board() -> BatchProgress:
    """A board that nobody looks at."""
    return BatchProgress(NoProgress(), False)


def batch(terms: Terms, board: BatchProgress | None = None) -> Batch:
    """A batch of these workers."""
    return Batch(terms, board or quiet_board(), work=work)


def results(rows: Sequence[Row]) -> dict[str, FilmResult]:
    """By film, without folder and ending."""
    return {Path(row.film.job.film).stem: row.result for row in rows if row.result is not None}
