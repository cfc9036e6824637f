"""Sessions over small work folders, and tabs that keep the events they are sent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shotad.core.runsettings import read_settings
from shotad.film import open_film
from shotad.review.session import Session


class Tabs:
    """Open tabs that keep the events that are sent to them, (kind, data)."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Mapping[str, Any]]] = []

    def send(self, kind: str, data: Mapping[str, Any]) -> None:
        self.events.append((kind, data))

    def of(self, kind: str) -> list[Mapping[str, Any]]:
        return [data for name, data in self.events if name == kind]


def session_of(
    place: Path, film: Path | None = None, reviewer: str = "Ann", tabs: Tabs | None = None
) -> Session:
    """A session over a work folder; its film is the one that its run had."""
    run = read_settings(place)
    path = film or run.film
    assert path is not None
    with open_film(path, reader=run.config.film.reader) as opened:
        info = opened.info
    return Session(place, info, run, reviewer=reviewer, tabs=tabs)
