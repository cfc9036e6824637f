"""From a film to its track: `shotad describe` as a user starts it, beside decoding picture and sound."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from shotad.core import Abilities, Given, Identity, NoProgress, Reply, Request, WorkFolder, load_config
from table_parts.contests import Contest, Done, Entrant, FilmAt, Ready, Stage, Target, command, shotad

LIMIT = "decoding picture and sound"
ANSWERS = (0.5, 0.3)
"""Seconds of an answer of Stage I and of Stage II, where what overlapping spares is measured."""
READING = 1.6
"""The project's own limit at 1080 lines: processor time of all that is read against decoding."""


def plan(stage: Stage) -> Iterator[Contest]:
    """Both engines that need no GPU, and what is read before them; growth of each."""
    for film in stage.own or (stage.longer(1, 20.0),):
        yield _describing(film, "fake", "embedded")
    if not stage.own:
        yield _describing(stage.made(720, 30), "fake")
    yield from map(_reading, stage.films((1080, 24)))
    yield _overlap(stage.films((720, 30))[0])
    for engine in ("fake", "embedded"):
        given = partial(_command, engine)
        yield from stage.growth("end to end", f"describe, {engine} engine", command, given)
    yield from stage.growth("end to end", "speech, shots and frames", reading, base=40.0)


def _describing(film: FilmAt, *engines: str) -> Contest:
    """The whole command with the start of Python, overview and scripts."""
    ours = [Entrant(f"describe, {one} engine", "ours", command, _command(one, film)) for one in engines]
    entrants = [*ours, Entrant(LIMIT, "limit", decoding, {"film": str(film.path)})]
    return Contest("end to end", film.label, entrants, film.seconds, turns=3)


def _command(engine: str, film: FilmAt) -> dict[str, Any]:
    return shotad("describe", film.path, "--out", "{out}", "--engine", engine, "--quiet")


def _reading(film: FilmAt) -> Contest:
    """All that is read of a film before an engine looks, whatever the engine."""
    given, name = {"film": str(film.path)}, "speech, shots and frames of every slot"
    entrants = [Entrant(name, "ours", reading, given), Entrant(LIMIT, "limit", decoding, given)]
    targets = (Target(name, LIMIT, "cpu", READING),) if film.height == 1080 else ()
    return Contest("end to end", f"{film.label}, no engine", entrants, film.seconds, targets=targets, turns=3)


def _overlap(film: FilmAt) -> Contest:
    """Engines that take their time as servers do: what it spares that both stages overlap. A word is said
    every 10 s, by subtitles."""
    given = {"film": str(film.path), "seconds": film.seconds}
    alone = {**given, "way": "in turn", "bound": True}
    entrants = [
        Entrant("acts at once", "ours", overlapped, {**given, "way": "at once"}),
        Entrant("one step after the other", "rival", overlapped, {**given, "way": "in turn"}),
        Entrant("the longest step of those alone", "limit", overlapped, alone),
    ]
    name = f"{film.label}, engines that take {ANSWERS[0]:g} and {ANSWERS[1]:g} s an answer"
    return Contest("end to end", name, entrants, film.seconds, turns=3)


# Works


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

    from shotad.description import RunContext, prepare
    from shotad.film import clips, context_shots, open_film, plan_frames

    film, folder = open_film(Path(given["film"])), WorkFolder(scratch / "work")
    folder.__enter__()
    config = load_config(None, ["slots.find_credits=false"])
    bench = RunContext.of(film, folder, config, Given(), NoProgress())
    bench.frames.share(overview=False)
    rate = film.info.frame_rate or Fraction(24)

    def run() -> Done:
        found = prepare(bench)
        stamps = bench.frames.stamps(found.end)
        plans = [
            (
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
        bench.frames.expect("frames", [float(s) for _, frames in plans for f in frames for s in f.seconds])
        shown = sum(len(clip) for _, clip in clips(plans, bench.frames.pictures))
        return Done({"slots": len(found.slots), "frames of clips": shown})

    return run


class Sleepy:
    """An engine that answers what the fake one does, after ``seconds``: elsewhere, or as a model of this
    machine, which takes turns with the other stage's."""

    def __init__(self, name: str, seconds: float, *, elsewhere: bool) -> None:
        self.identity = Identity(name, name, "1")
        self.abilities = Abilities(accepts_images=True, **({"sends_to": "elsewhere"} if elsewhere else {}))
        self._seconds = seconds

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply for each request, each after its time."""
        from shotad.engines.fake import plain_answer

        found = []
        for request in requests:
            time.sleep(self._seconds)
            found.append(Reply(plain_answer(request)))
        return found


def overlapped(given: Mapping[str, Any], scratch: Path) -> Ready:
    """A run whose engines take their time, one ``way`` or the other. ``bound``: only its longest room counts,
    for no order of work can be shorter."""
    from shotad.core import profiled
    from shotad.description import Engines, describe
    from shotad.film import open_film

    spoken = scratch / "spoken.vtt"
    cues = ["WEBVTT\n"]
    for second in range(9, int(given["seconds"]) - 1, 10):
        start, end = (f"{s // 3600:02d}:{s // 60 % 60:02d}:{s % 60:02d}.000" for s in (second, second + 1))
        cues.append(f"{start} --> {end}\nWell.\n")
    spoken.write_text("\n".join(cues))
    settings = ("engine=fake", "slots.find_credits=false", "scale.method=none", "slots.detail=rich")
    looks, writes = (
        Sleepy(name, seconds, elsewhere=given["way"] == "at once")
        for name, seconds in zip(("looks", "writes"), ANSWERS, strict=True)
    )

    def run() -> Done:
        began = time.perf_counter()
        with (
            profiled(True) as found,
            open_film(Path(given["film"])) as film,
            WorkFolder(scratch / "work") as work,
        ):
            config, subtitles = load_config(None, settings), Given(subtitles=spoken)
            describe(film, work, config, subtitles, engines=Engines(looks, writes), sheet=False)
        wall, longest = time.perf_counter() - began, max(row.lasted for row in found.rows())
        return Done(less_wall=wall - longest if given.get("bound") else 0.0)

    return run
