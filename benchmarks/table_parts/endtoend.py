"""From a film to its track: `shotad describe` as a user starts it, beside decoding picture and sound."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from table_parts.child import Done, Ready
from table_parts.kinds import Contest, Entrant
from table_parts.stage import FilmAt, Plan, Stage, film_growth, full_only, shotad

COMMAND = "table_parts.stage:command"
ANSWERS = (0.5, 0.3)
"""Seconds of an answer of Stage I and of Stage II, where what overlapping spares is measured."""
GAPS = "a word is said every 10 s, by subtitles; benchmarks/overlap.py"


def plan(stage: Stage) -> Plan:
    """Both engines that need no GPU; growth of each."""
    films = stage.own or (stage.longer(1, 12.0 if stage.quick else 20.0),)
    contests = [_contest(stage, film, ("fake", "embedded")) for film in films]
    if stage.quick:
        return Plan(tuple(contests), left_out=full_only("end to end", "720p", "overlap", "growth"))
    if not stage.own:
        contests.append(_contest(stage, stage.made(720, 30), ("fake",)))
    contests.append(_overlap(stage, stage.own[0] if stage.own else stage.made(720, 30)))
    growths = [
        growth
        for engine in ("fake", "embedded")
        for growth in film_growth(
            stage,
            "end to end",
            f"describe, {engine} engine",
            COMMAND,
            partial(_of, engine),
            base=12.0,
            turns=2,
        )
    ]
    return Plan(tuple(contests), tuple(growths))


def _overlap(stage: Stage, film: FilmAt) -> Contest:
    """Engines that take their time as servers do: what it spares that the acts overlap."""
    given = {"film": str(film.path), "seconds": film.seconds}
    work = "table_parts.endtoend:overlapped"
    entrants = (
        Entrant("acts at once, early looks", "ours", work, {**given, "way": "early"}),
        Entrant("acts at once", "ours", work, {**given, "way": "acts"}),
        Entrant("one step after the other", "rival", work, {**given, "way": "none"}),
        Entrant("the longest step of those alone", "limit", "table_parts.endtoend:longest", given),
    )
    name = f"{film.label}, engines that take {ANSWERS[0]:g} and {ANSWERS[1]:g} s an answer"
    about = f"{film.cost}; {GAPS}"
    return Contest("end to end", name, entrants, about, film.seconds, turns=stage.turns(3))


def _of(engine: str, film: FilmAt) -> dict[str, Any]:
    return _describe(film.path, engine)


def _describe(film: Path, engine: str) -> dict[str, Any]:
    return shotad("describe", film, "--out", "{out}", "--engine", engine, "--quiet")


def _contest(stage: Stage, film: FilmAt, engines: Sequence[str]) -> Contest:
    ours = [Entrant(f"describe, {one} engine", "ours", COMMAND, _describe(film.path, one)) for one in engines]
    alone = {"film": str(film.path)}
    return Contest(
        "end to end",
        film.label,
        (
            *ours,
            Entrant("decoding picture and sound", "limit", "table_parts.endtoend:decoding", alone),
        ),
        f"{film.cost}; the whole command with the start of Python, overview and scripts",
        film.seconds,
        turns=stage.turns(3),
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


def _run(given: Mapping[str, Any], scratch: Path, way: str) -> Callable[[], float]:
    """A run of `benchmarks/overlap.py`; gives the seconds of its longest room."""
    import overlap

    spoken = scratch / "spoken.vtt"
    overlap.subtitles(spoken, given["seconds"])
    options = argparse.Namespace(stage1=ANSWERS[0], stage2=ANSWERS[1], in_flight=1)

    def run() -> float:
        table = overlap.run(Path(given["film"]), spoken, way, options, scratch / "work")
        return max(row.lasted for row in table.rows)

    return run


def overlapped(given: Mapping[str, Any], scratch: Path) -> Ready:
    """One way of the three, from the beginning."""
    run = _run(given, scratch, given["way"])

    def whole() -> Done:
        run()
        return Done()

    return whole


def longest(given: Mapping[str, Any], scratch: Path) -> Ready:
    """The longest room of a run in which one step follows the other: no order of work can be shorter."""
    run = _run(given, scratch, "none")

    def whole() -> Done:
        began = time.perf_counter()
        room = run()
        return Done(less_wall=time.perf_counter() - began - room)

    return whole
