"""What threads and scales cost along a film, as they are read there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from table_parts.running import Done, Ready
from table_parts.stage import Plan, Stage


def plan(stage: Stage) -> Plan:
    """Growth along a film."""
    name = "threads and scales of every clip (grid features)"
    return Plan((), stage.growth("threads", name, "table_parts.threadscores:grammar"))


def grammar(given: Mapping[str, Any], scratch: Path) -> Ready:
    """The second act after a first that is not counted: frames of shots, features, scores, scales."""
    from shotad.core import Given, NoProgress, WorkFolder, load_config
    from shotad.description import Bench, prepare, understand
    from shotad.film import open_film

    film, folder = open_film(Path(given["film"])), WorkFolder(scratch / "work")
    folder.__enter__()
    bench = Bench.of(film, folder, load_config(None, ["threads.features=grid"]), Given(), NoProgress())
    prepared = prepare(bench)

    def run() -> Done:
        return Done({"slots": len(understand(prepared, bench).plans)})

    return run
