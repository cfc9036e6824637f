"""Sessions over small work folders, and a progress that keeps what it was told."""

from __future__ import annotations

from pathlib import Path

from shotad.core import read_settings
from shotad.film import open_film
from shotad.review.session import Session


def session_of(place: Path, film: Path | None = None, reviewer: str = "Ann") -> Session:
    """A session over a work folder; its film is the one that its run had."""
    run = read_settings(place)
    path = film or run.film
    assert path is not None
    with open_film(path, reader=run.config.film.reader) as opened:
        info = opened.info
    return Session(place, info, run, reviewer=reviewer)
