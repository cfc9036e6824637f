"""From a film to its track: `shotad describe` as a user starts it, beside decoding picture and sound."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from table_parts.child import Done, Ready
from table_parts.kinds import Contest, Entrant, Growth
from table_parts.stage import FilmAt, Plan, Stage, entrants_by_length, shotad

COMMAND = "table_parts.stage:command"


def plan(stage: Stage) -> Plan:
    """Both engines that need no GPU; growth of each."""
    films = stage.own or (stage.longer(1, 12.0 if stage.quick else 45.0),)
    contests = tuple(_contest(stage, film) for film in films)
    base = {"fake": 8.0 if stage.quick else 45.0, "embedded": 12.0}
    engines = ("fake",) if stage.quick else ("fake", "embedded")
    growths = tuple(
        Growth(
            "end to end",
            f"describe, {engine} engine",
            "s of film",
            base[engine],
            entrants_by_length(COMMAND, lambda n, e=engine: _describe(stage.longer(n, base[e]).path, e)),
            turns=stage.turns(2),
        )
        for engine in engines
    )
    left_out = (
        (("growth of describe with the embedded engine", "left to the full run: 15 times its shortest film"),)
        if stage.quick
        else ()
    )
    return Plan(contests, growths, left_out)


def _describe(film: Path, engine: str) -> dict[str, Any]:
    return shotad("describe", film, "--out", "{out}", "--engine", engine, "--quiet")


def _contest(stage: Stage, film: FilmAt) -> Contest:
    return Contest(
        "end to end",
        film.label,
        (
            Entrant("describe, fake engine", "ours", COMMAND, _describe(film.path, "fake")),
            Entrant("describe, embedded engine", "ours", COMMAND, _describe(film.path, "embedded")),
            Entrant(
                "decoding picture and sound",
                "limit",
                "table_parts.endtoend:decoding",
                {"film": str(film.path)},
            ),
        ),
        f"{film.cost}; the whole command with the start of Python, overview and scripts",
        film.seconds,
        turns=stage.turns(2 if stage.quick else 3),
    )


def decoding(given: Mapping[str, Any], scratch: Path) -> Ready:
    """Picture, then sound, with PyAV and nothing else."""
    import av

    def run() -> Done:
        frames = 0
        for kind in ("video", "audio"):
            with av.open(given["film"]) as container:
                for stream in getattr(container.streams, kind)[:1]:
                    stream.thread_type = "AUTO"
                    frames += sum(1 for _ in container.decode(stream))
        return Done({"frames": frames})

    return run
