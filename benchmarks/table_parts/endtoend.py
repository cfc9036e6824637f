"""From a film to its track: `shotad describe` as a user starts it, beside decoding picture and sound."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from table_parts.child import Done, Ready
from table_parts.kinds import Contest, Entrant, Target
from table_parts.stage import FilmAt, Plan, Stage, film_growth, full_only, shotad

COMMAND, READ = "table_parts.stage:command", "table_parts.endtoend:reading"
ANSWERS = (0.5, 0.3)
"""Seconds of an answer of Stage I and of Stage II, where what overlapping spares is measured."""
READING = 1.6
"""The project's own limit at 1080 lines: processor time of all that is read against decoding."""
GAPS = "a word is said every 10 s, by subtitles; benchmarks/overlap.py"


def plan(stage: Stage) -> Plan:
    """Both engines that need no GPU, and what is read before them; growth of each."""
    films = stage.own or (stage.longer(1, 12.0 if stage.quick else 20.0),)
    contests = [_contest(stage, film, ("fake", "embedded")) for film in films]
    if stage.quick:
        left_out = full_only("end to end", "720p", "reading at 1080p", "overlap", "growth")
        return Plan(tuple(contests), left_out=left_out)
    if not stage.own:
        contests.append(_contest(stage, stage.made(720, 30), ("fake",)))
    contests += [_reading(stage, film) for film in stage.films((1080, 24))]
    contests.append(_overlap(stage, stage.own[0] if stage.own else stage.made(720, 30)))
    growths = [
        growth
        for name, work, given, base in (
            ("describe, fake engine", COMMAND, partial(_of, "fake"), 12.0),
            ("describe, embedded engine", COMMAND, partial(_of, "embedded"), 12.0),
            ("speech, shots and frames", READ, lambda film: {"film": str(film.path)}, 40.0),
        )
        for growth in film_growth(stage, "end to end", name, work, given, base=base, turns=2)
    ]
    return Plan(tuple(contests), tuple(growths))


def _reading(stage: Stage, film: FilmAt) -> Contest:
    """All that is read of a film before an engine looks, whatever the engine."""
    given = {"film": str(film.path)}
    name, limit = "speech, shots and frames of every slot", "decoding picture and sound"
    return Contest(
        "end to end",
        f"{film.label}, no engine",
        (
            Entrant(name, "ours", READ, given),
            Entrant(limit, "limit", "table_parts.endtoend:decoding", given),
        ),
        f"{film.cost}; as `shotad describe` reads, 32 frames for each slot",
        film.seconds,
        targets=(Target(name, limit, "cpu", READING),) if film.height == 1080 else (),
        turns=stage.turns(3),
    )


def _overlap(stage: Stage, film: FilmAt) -> Contest:
    """Engines that take their time as servers do: what it spares that both stages overlap."""
    given = {"film": str(film.path), "seconds": film.seconds}
    work = "table_parts.endtoend:overlapped"
    entrants = (
        Entrant("acts at once", "ours", work, {**given, "way": "at once"}),
        Entrant("one step after the other", "rival", work, {**given, "way": "in turn"}),
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


def reading(given: Mapping[str, Any], scratch: Path) -> Ready:
    """Speech, the pass over the picture, slots, and the frames of each slot's clip."""
    from fractions import Fraction

    import cv2  # noqa: F401
    import onnxruntime  # noqa: F401

    from shotad.core import Given, NoProgress, WorkFolder, load_config
    from shotad.description import Bench, prepare
    from shotad.film import ClipPlan, clips, context_shots, open_film, plan_frames

    film, folder = open_film(Path(given["film"])), WorkFolder(scratch / "work")
    folder.__enter__()
    config = load_config(None, ["slots.find_credits=false"])
    bench = Bench.of(film, folder, config, Given(), NoProgress())
    bench.frames.share(overview=False)
    rate = film.info.frame_rate or Fraction(24)

    def run() -> Done:
        found = prepare(bench)
        stamps = bench.frames.stamps(found.end)
        plans = [
            ClipPlan(
                slot.id,
                plan_frames(
                    slot.interval,
                    context_shots(slot.interval, found.shots, config.context),
                    config.frames,
                    rate,
                    stamps=stamps,
                ),
            )
            for slot in found.slots
        ]
        bench.frames.expect("frames", [float(s) for p in plans for f in p.frames for s in f.seconds])
        shown = sum(len(clip) for _, clip in clips(plans, bench.frames.pictures))
        return Done({"slots": len(found.slots), "frames of clips": shown})

    return run


def _run(given: Mapping[str, Any], scratch: Path, way: str) -> Callable[[], float]:
    """A run of `benchmarks/overlap.py`; gives the seconds of its longest room."""
    import overlap

    spoken = scratch / "spoken.vtt"
    overlap.subtitles(spoken, given["seconds"])
    options = argparse.Namespace(stage1=ANSWERS[0], stage2=ANSWERS[1], in_flight=1)

    def run() -> float:
        table = overlap.run(Path(given["film"]), spoken, way, options, scratch / "work").table
        return max(row.lasted for row in table.rows)

    return run


def overlapped(given: Mapping[str, Any], scratch: Path) -> Ready:
    """One way of the two, from the beginning."""
    run = _run(given, scratch, given["way"])

    def whole() -> Done:
        run()
        return Done()

    return whole


def longest(given: Mapping[str, Any], scratch: Path) -> Ready:
    """The longest room of a run in which one step follows the other: no order of work can be shorter."""
    run = _run(given, scratch, "in turn")

    def whole() -> Done:
        began = time.perf_counter()
        room = run()
        return Done(less_wall=time.perf_counter() - began - room)

    return whole
