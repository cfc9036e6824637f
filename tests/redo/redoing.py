"""Runs and redos with the fake engine, on a small film."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shotad.core import (
    Engine,
    Identity,
    Request,
    RunInputs,
    WorkFolder,
    load_config,
)
from shotad.core.runsettings import (
    config_with_changes,
    read_settings,
    write_settings,
)
from shotad.description import Engines, RewrittenLine, describe, redo
from shotad.engines.fake import FakeEngine, plain_answer
from shotad.film import open_film
from shotad.script import Track, load_track
from tests.media import FilmSpec, make_film

SPEC = FilmSpec(frames=500, cuts=(100, 210, 330, 420))
SETTINGS = (
    "engine=fake", "speech.source=none", "shots.detector=adaptive", "slots.find_credits=false", "scale.method=none",
    "threads.features=grid", "frames.min_pixels=12544", "frames.max_pixels=25088",
)  # fmt: skip

Answer = Callable[[Request], str]


def film_path() -> Path:
    return make_film(SPEC).path


def run(
    place: Path, *more: str, given: RunInputs | None = None, writes: Engine | None = None, **options: Any
) -> Track:
    """A run of describe into ``place``, with its settings kept."""
    config, given = load_config(None, (*SETTINGS, *more)), given or RunInputs()
    engines = Engines(FakeEngine(), writes or FakeEngine())
    with open_film(film_path()) as film, WorkFolder(place) as folder:
        write_settings(folder, config, film_path(), given, assignments=more)
        return describe(film, folder, config, given, engines=engines, sheet=False, **options).track


def again(
    place: Path,
    *names: str,
    looks: Answer | None = None,
    writes: Answer | None = None,
    identity: Identity | None = None,
    more: tuple[str, ...] = (),
    sheet: bool = False,
    **options: Any,
) -> tuple[RewrittenLine, FakeEngine, FakeEngine]:
    """A redo in ``place``; what came of it and both engines."""
    told = read_settings(place)
    engines = Engines(FakeEngine(answer=looks or plain_answer), FakeEngine(answer=writes or fresh))
    if identity is not None:
        engines.stage2.identity = identity
    config = config_with_changes(told.config, assignments=more)
    with open_film(film_path()) as film, WorkFolder(place) as folder:
        done = redo(film, folder, told, names, config=config, engines=engines, sheet=sheet, **options)
    return done, engines.stage1, engines.stage2  # type: ignore[return-value]


def fresh(request: Request) -> str:
    """A line that tells the seed."""
    if request.schema is None:
        return plain_answer(request)
    return json.dumps(dict.fromkeys(request.schema["properties"], f"A cat sits by {request.seed}."))


def rows(place: Path, name: str = "redo") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (place / f"{name}.jsonl").read_text().splitlines()]


def track_of(place: Path) -> Track:
    return load_track(place / "track.json")


def by_hand(place: Path, change: Callable[[Any], object]) -> None:
    """A person with an editor: ``change`` gets the track's file as it is read from JSON."""
    tree = json.loads((place / "track.json").read_text())
    change(tree)
    (place / "track.json").write_text(json.dumps(tree))
