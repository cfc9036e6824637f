"""Shots: ours beside decoding alone and beside PySceneDetect, as a library and as commands."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from table_parts.contests import Contest, Done, Entrant, FilmAt, Stage, Steps, Target, command, shotad

DECODING = "decoding alone"
MOST = {1080: 1.15, 720: 1.25}
"""The project's own limits by lines of the picture: wall time of the shots against decoding alone."""
THREADS: tuple[tuple[str, int], ...] = (("AUTO", 0), ("FRAME", 2), ("FRAME", 3), ("FRAME", 4), ("SLICE", 0))
"""Settings of the decoder that are tried, kind and number (0: its own choice); the quickest is the rival."""
SAME = ("frames", "cuts", "sum of the cuts' frames")
"""Counts in which all must agree: the last is the same only where the cuts are, but by chance."""
OURS = shotad("shots", "{film}", "--set", "shots.detector=adaptive", "--out", "{out}", "--quiet")
PROGRAM = [sys.executable, "-m", "scenedetect", "-q", "-i", "{film}", "detect-adaptive", "list-scenes", "-q"]


def plan(stage: Stage) -> Iterator[Contest]:
    """Contests at 720 and 1080 lines, and growth of decoding and of both paths."""
    # Long enough for the two decoders to part the work evenly.
    for film in stage.films((720, 90), (1080, 72)):
        yield from _of_film(film)
    yield from stage.growth("shots", DECODING, decoding, turns=3, threads=THREADS[0])
    for path in ("exact", "fast"):
        yield from stage.growth("shots", f"shots, {path}", ours, turns=3, path=path)


def _of_film(film: FilmAt) -> Iterator[Contest]:
    """The pass alone, in a process in which all is loaded; the default, which finds other cuts; and commands,
    with the start of Python and what is written."""
    given = {"film": film.path}

    def own(path: str) -> Entrant:
        return Entrant(path, "ours", ours, {**given, "path": path})

    def limit() -> Entrant:
        return Entrant(DECODING, "limit", decoding, {**given, "threads": best_threads(film.path)})

    other = Entrant("PySceneDetect, library", "rival", library, given)
    most = MOST.get(film.height)
    targets = tuple(Target(name, DECODING, "wall", most) for name in ("exact", "fast") if most)
    entrants = [own("exact"), own("fast"), limit(), other]
    yield Contest("shots", film.label, entrants, film.seconds, SAME, targets)
    entrants = [own("learned"), limit()]
    yield Contest("shots", f"{film.label}, by default", entrants, film.seconds, SAME[:1], turns=3)
    entrants = [
        Entrant("shotad shots", "ours", command, {**given, "words": OURS}),
        Entrant("PySceneDetect's command", "rival", command, {**given, "words": PROGRAM}),
    ]
    yield Contest("shots", f"{film.label}, whole commands", entrants, film.seconds, turns=3)


def best_threads(path: Path) -> tuple[str, int]:
    """The setting that decodes the film's first frames soonest, the least of two tries in turns."""
    spent = []
    for threads in THREADS * 2:
        began = time.perf_counter()
        decode(path, threads, most=200)
        spent.append((time.perf_counter() - began, threads))
    return min(spent)[1]


def decode(path: str | Path, threads: Sequence[str | int], most: int | None = None) -> int:
    """Decode the picture and nothing else; the number of frames."""
    from itertools import islice

    import av

    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_type, number = threads
        if number:
            stream.codec_context.thread_count = number
        return sum(1 for _ in islice(container.decode(stream), most))


# Works


def decoding(scratch: Path, film: str, threads: Sequence[str | int]) -> Steps:
    """The picture alone, by PyAV."""
    import av  # noqa: F401

    yield None
    yield Done({"frames": decode(film, threads)})


def ours(scratch: Path, film: str, path: str) -> Steps:
    """The one pass of `shotad describe`, without frames kept."""
    import cv2  # noqa: F401

    from shotad.core.config.film import ShotSettings
    from shotad.film import detect_shots_in_pass, open_film

    opened, settings = open_film(Path(film)), ShotSettings()
    if path != "learned":
        settings = ShotSettings.model_validate({"detector": "adaptive", "path": path})
    yield None
    found = detect_shots_in_pass(opened, settings)
    yield _told(found.frame_count, found.cuts)


def _told(frames: int, cuts: Sequence[int]) -> Done:
    return Done({"frames": frames, "cuts": len(cuts), SAME[-1]: sum(cuts)})


def library(scratch: Path, film: str) -> Steps:
    """PySceneDetect's AdaptiveDetector as its documentation calls it."""
    from scenedetect import AdaptiveDetector, SceneManager, open_video

    video = open_video(film)
    manager = SceneManager()
    manager.add_detector(AdaptiveDetector())
    yield None
    frames = manager.detect_scenes(video)
    yield _told(frames, [start.frame_num for start, _ in manager.get_scene_list()[1:]])
