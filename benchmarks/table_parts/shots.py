"""Shots: ours beside decoding alone and beside PySceneDetect, as a library and as commands."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from table_parts.contests import (
    Contest,
    Done,
    Entrant,
    FilmAt,
    Ready,
    Stage,
    Target,
    command,
    shotad,
)

DECODING = "decoding alone"
MOST = {1080: 1.15, 720: 1.25}
"""The project's own limits by lines of the picture: wall time of the shots against decoding alone."""
THREADS: tuple[tuple[str, int], ...] = (("AUTO", 0), ("FRAME", 2), ("FRAME", 3), ("FRAME", 4), ("SLICE", 0))
"""Settings of the decoder that are tried, kind and number (0: its own choice); the quickest is the rival."""

SAME = ("frames", "cuts", "sum of the cuts' frames")
"""Counts in which all must agree: the last is the same only where the cuts are, but by chance."""


def plan(stage: Stage) -> Iterator[Contest]:
    """Contests at 720 and 1080 lines, and growth of decoding and of both paths."""
    # Long enough for the two decoders to part the work evenly.
    for film in stage.films((720, 90), (1080, 72)):
        yield from (_inside(film), _learned(film), _outside(film))
    works: list[tuple[str, Any, dict[str, Any]]] = [
        (DECODING, decoding, {"threads": THREADS[0]}),
        ("shots, exact", ours, {"path": "exact"}),
        ("shots, fast", ours, {"path": "fast"}),
    ]
    for name, work, more in works:
        yield from stage.growth(
            "shots", name, work, lambda film, more=more: {"film": str(film.path), **more}, turns=3
        )


def _inside(film: FilmAt) -> Contest:
    """The pass alone, in a process in which all is loaded."""
    path = str(film.path)
    entrants = [
        Entrant("exact", "ours", ours, {"film": path, "path": "exact"}),
        Entrant("fast", "ours", ours, {"film": path, "path": "fast"}),
        Entrant(DECODING, "limit", decoding, {"film": path, "threads": best_threads(film.path)}),
        Entrant("PySceneDetect, library", "rival", library, {"film": path}),
    ]
    most = MOST.get(film.height)
    targets = tuple(Target(name, DECODING, "wall", most) for name in ("exact", "fast") if most)
    return Contest("shots", film.label, entrants, film.seconds, SAME, targets)


def _learned(film: FilmAt) -> Contest:
    """The default, which finds other cuts."""
    path = str(film.path)
    entrants = [
        Entrant("learned", "ours", ours, {"film": path, "path": "learned"}),
        Entrant(DECODING, "limit", decoding, {"film": path, "threads": best_threads(film.path)}),
    ]
    return Contest("shots", f"{film.label}, by default", entrants, film.seconds, SAME[:1], turns=3)


def _outside(film: FilmAt) -> Contest:
    """As commands, with the start of Python and what is written."""
    path = str(film.path)
    adaptive = shotad("shots", path, "--set", "shots.detector=adaptive", "--out", "{out}", "--quiet")
    program = [sys.executable, "-m", "scenedetect", "-q", "-i", path, "detect-adaptive", "list-scenes", "-q"]
    entrants = [
        Entrant("shotad shots", "ours", command, adaptive),
        Entrant("PySceneDetect's command", "rival", command, {"words": program}),
    ]
    return Contest("shots", f"{film.label}, whole commands", entrants, film.seconds, turns=3)


def best_threads(path: Path) -> tuple[str, int]:
    """The setting that decodes the film's first frames soonest, the least of two tries in turns."""
    spent: dict[tuple[str, int], float] = dict.fromkeys(THREADS, float("inf"))
    for _ in range(2):
        for kind in THREADS:
            began = time.perf_counter()
            decode(path, kind, most=200)
            spent[kind] = min(spent[kind], time.perf_counter() - began)
    return min(spent, key=lambda kind: spent[kind])


def decode(path: Path, threads: tuple[str, int], most: int | None = None) -> int:
    """Decode the picture and nothing else; the number of frames."""
    import av

    count = 0
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_type = threads[0]
        if threads[1]:
            stream.codec_context.thread_count = threads[1]
        for _ in container.decode(stream):
            count += 1
            if most is not None and count >= most:
                break
    return count


# Works


def decoding(given: Mapping[str, Any], scratch: Path) -> Ready:
    """The picture alone, by PyAV."""
    import av  # noqa: F401

    kind, number = given["threads"]
    return lambda: Done({"frames": decode(Path(given["film"]), (kind, number))})


def ours(given: Mapping[str, Any], scratch: Path) -> Ready:
    """The one pass of `shotad describe`, without frames kept."""
    import cv2  # noqa: F401

    from shotad.core import ShotSettings
    from shotad.film import open_film, survey

    film = open_film(Path(given["film"]))
    settings = ShotSettings()
    if given["path"] != "learned":
        settings = ShotSettings.model_validate({"detector": "adaptive", "path": given["path"]})

    def run() -> Done:
        found = survey(film, settings)
        return _told(found.frame_count, found.cuts)

    return run


def _told(frames: int, cuts: Sequence[int]) -> Done:
    return Done({"frames": frames, "cuts": len(cuts), SAME[-1]: sum(cuts)})


def library(given: Mapping[str, Any], scratch: Path) -> Ready:
    """PySceneDetect's AdaptiveDetector as its documentation calls it."""
    from scenedetect import AdaptiveDetector, SceneManager, open_video

    video = open_video(given["film"])
    manager = SceneManager()
    manager.add_detector(AdaptiveDetector())

    def run() -> Done:
        frames = manager.detect_scenes(video)
        return _told(frames, [start.frame_num for start, _ in manager.get_scene_list()[1:]])

    return run
