"""From a film to its track: `shotad describe` as a user starts it, beside decoding picture and sound."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

from table_parts.contests import Contest, Done, Entrant, FilmAt, Stage, Steps, Target, command, shotad

from shotad.core import Abilities, Identity, NoProgress, Reply, Request, RunInputs, WorkFolder, load_config

LIMIT = "decoding picture and sound"
ANSWERS = (0.5, 0.3)
"""Seconds of an answer of Stage I and of Stage II, where what overlapping spares is measured."""
DESCRIBING = {"adaptive": 2.0, "learned": 2.4}
"""The project's own limits by detector of cuts: time of a run whose engine takes none, against decoding."""
DESCRIBING_SMALL = 5.0
"""The same for films of at most `SMALL` lines, whose decoding is nearly nothing."""
SMALL = 576
READING = 1.6
"""The project's own limit at 1080 lines: processor time of all that is read against decoding."""


def plan(stage: Stage) -> Iterator[Contest]:
    """Both engines that need no GPU, and what is read before them; growth of each."""
    yield from map(_describing, stage.real())
    yield from map(_reading, stage.films((1080, 24)))
    yield _overlap(stage.films((720, 30))[0])
    for engine in ("fake", "embedded"):
        words = _command(engine)
        yield from stage.growth("end to end", f"describe, {engine} engine", command, words=words)
    yield from stage.growth("end to end", "speech, shots and frames", reading, base=40.0)
    yield from stage.growth("threads", "threads and scales of every clip (grid features)", grammar)


def _describing(film: FilmAt) -> Contest:
    """The whole command with the start of Python, worksheet and scripts; cuts by both detectors."""
    given = {"film": film.path}
    fake = {detector: f"describe, fake engine, cuts by {detector}" for detector in DESCRIBING}
    commands = {name: _command("fake", f"shots.detector={detector}") for detector, name in fake.items()}
    commands["describe, embedded engine"] = _command("embedded")
    entrants = [
        *(Entrant(name, "ours", command, {**given, "words": words}) for name, words in commands.items()),
        Entrant(LIMIT, "limit", decoding, given),
    ]
    limits = dict.fromkeys(DESCRIBING, DESCRIBING_SMALL) if film.height <= SMALL else DESCRIBING
    targets = tuple(Target(fake[detector], LIMIT, "wall", most) for detector, most in limits.items())
    return Contest("end to end", film.label, entrants, film.seconds, targets=targets, turns=3)


def _command(engine: str, *assignments: str) -> list[str]:
    settings = [word for assignment in assignments for word in ("--set", assignment)]
    return shotad("describe", "{film}", "--out", "{out}", "--engine", engine, "--quiet", *settings)


def _reading(film: FilmAt) -> Contest:
    """All that is read of a film before an engine looks, whatever the engine."""
    given, name = {"film": film.path}, "speech, shots and frames of every slot"
    entrants = [Entrant(name, "ours", reading, given), Entrant(LIMIT, "limit", decoding, given)]
    targets = (Target(name, LIMIT, "cpu", READING),) if film.height == 1080 else ()
    return Contest("end to end", f"{film.label}, no engine", entrants, film.seconds, targets=targets, turns=3)


def _overlap(film: FilmAt) -> Contest:
    """Engines that take their time as servers do: what it spares that both stages overlap."""
    given = {"film": film.path, "seconds": film.seconds}
    entrants = [
        Entrant("acts at once", "ours", overlapped, {**given, "at_once": True}),
        Entrant("one step after the other", "rival", overlapped, given),
        Entrant("the longest step of those alone", "limit", overlapped, {**given, "bound": True}),
    ]
    name = f"{film.label}, engines that take {ANSWERS[0]:g} and {ANSWERS[1]:g} s an answer"
    return Contest("end to end", name, entrants, film.seconds, turns=3)


# Works


def decoding(scratch: Path, film: str) -> Steps:
    """Picture, then sound, with PyAV and nothing else."""
    import av

    yield None
    frames = 0
    for kind in ("video", "audio"):
        with av.open(film) as container:
            for stream in getattr(container.streams, kind)[:1]:
                stream.thread_type = "AUTO"
                frames += sum(1 for _ in container.decode(stream))
    yield Done({"frames": frames})


def reading(scratch: Path, film: str) -> Steps:
    """Speech, the pass over the picture, slots, and the frames of each slot's clip."""
    import cv2  # noqa: F401
    import onnxruntime  # noqa: F401

    from shotad.description import RunContext, prepare
    from shotad.film import clips, context_shots, open_film, plan_frames

    config = load_config(None, ["slots.find_credits=false"])
    with open_film(Path(film)) as opened, WorkFolder(scratch / "work") as folder:
        bench = RunContext.of(opened, folder, config, RunInputs(), NoProgress())
        rate, plans = opened.info.frame_rate or Fraction(24), []
        yield None
        found = prepare(bench)
        stamps = bench.frames.stamps(found.end)
        for slot in found.slots:
            context = context_shots(slot.interval, found.shots, config.context)
            frames = plan_frames(slot.interval, context, config.frames, rate, stamps=stamps)
            plans.append((slot.id, frames))
        shown = sum(len(clip) for _, clip in clips(plans, bench.frames.pictures))
        yield Done({"slots": len(found.slots), "frames of clips": shown})


def grammar(scratch: Path, film: str) -> Steps:
    """Building clips, after a preparation that is not counted: frames of shots, features, scores, scales."""
    from shotad.description import RunContext, plan_clips, prepare
    from shotad.film import open_film

    config = load_config(None, ["threads.features=grid"])
    with open_film(Path(film)) as opened, WorkFolder(scratch / "work") as folder:
        bench = RunContext.of(opened, folder, config, RunInputs(), NoProgress())
        prepared = prepare(bench)
        yield None
        yield Done({"slots": len(plan_clips(prepared, bench)[0])})


class Sleepy:
    """An engine that answers what the fake one does, after ``seconds``: elsewhere, or as a model of this
    machine, which takes turns with the other stage's."""

    def __init__(self, name: str, seconds: float, *, elsewhere: bool) -> None:
        self.identity = Identity(name, name, "1")
        self.abilities = Abilities(accepts_images=True, **({"sends_to": "elsewhere"} if elsewhere else {}))
        self._seconds = seconds

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        from shotad.engines.fake import plain_answer

        time.sleep(self._seconds * len(requests))
        return [Reply(plain_answer(request)) for request in requests]


def overlapped(scratch: Path, film: str, seconds: float, at_once: bool = False, bound: bool = False) -> Steps:
    """A run whose engines take their time, and in which a word is said every 10 s, by subtitles. ``bound``:
    only its longest room counts, for no order of work can be shorter."""
    from shotad.core.profiling import profile_steps
    from shotad.description import Engines, describe
    from shotad.film import open_film
    from shotad.script.cue import timecode

    spoken = scratch / "spoken.vtt"
    cues = (f"{timecode(at)} --> {timecode(at + 1)}\nWell.\n" for at in range(9, int(seconds) - 1, 10))
    spoken.write_text("\n".join(["WEBVTT\n", *cues]))
    settings = ("engine=fake", "slots.find_credits=false", "scale.method=none", "slots.detail=rich")
    config, given = load_config(None, settings), RunInputs(subtitles=spoken)
    looks, writes = (Sleepy(f"after {wait} s", wait, elsewhere=at_once) for wait in ANSWERS)
    yield None
    began = time.perf_counter()
    with (
        profile_steps(True) as found,
        open_film(Path(film)) as opened,
        WorkFolder(scratch / "work") as work,
    ):
        describe(opened, work, config, given, engines=Engines(looks, writes), sheet=False)
    wall, longest = time.perf_counter() - began, max(row.lasted for row in found.rows())
    yield Done(less_wall=wall - longest if bound else 0.0)
