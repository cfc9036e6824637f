"""Sessions over small work folders, and a hub that keeps what tabs would be told."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shotad.core import read_settings
from shotad.film import open_film
from shotad.review.session import Session


class Tabs:
    """A hub that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Mapping[str, Any]]] = []

    def tell(self, kind: str, data: Mapping[str, Any]) -> None:
        self.told.append((kind, data))

    def of(self, kind: str) -> list[Mapping[str, Any]]:
        return [data for name, data in self.told if name == kind]


def session_of(
    place: Path, film: Path | None = None, reviewer: str = "Ann", hub: Tabs | None = None
) -> Session:
    """A session over a work folder; its film is the one that its run had."""
    run = read_settings(place)
    path = film or run.film
    assert path is not None
    with open_film(path, reader=run.config.film.reader) as opened:
        info = opened.info
    return Session(place, info, run, reviewer=reviewer, hub=hub)
