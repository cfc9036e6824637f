"""Frames for every AD: one sorted pass over the film, beside seeking for each AD by PyAV and by decord."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from table_parts.contests import Contest, Done, Entrant, FilmAt, Ready, Stage
from table_parts.shots import THREADS, decoding

SPARSE = 0.18
"""Part of a film that AD fills where it is sparse."""
LINES = 480
"""Lines at which frames are wanted."""
SPOKEN = 5.0
"""Seconds of an AD's slot."""


def plan(stage: Stage) -> Iterator[Contest]:
    """Slots all along the film, and in `SPARSE` of it, each with the 32 frames of the published method."""
    for length, kind, share in ((30, "AD all along", 1.0), (90, f"AD in {SPARSE:.0%} of it", SPARSE)):
        for film in stage.films((720, length)):
            yield _contest(stage, film, kind, share)
    yield from stage.growth(
        "frames",
        "frames of every AD",
        one_pass,
        lambda film: {"film": str(film.path), "plans": str(_plans(stage, film, 1.0))},
        turns=3,
    )


def _contest(stage: Stage, film: FilmAt, kind: str, share: float) -> Contest:
    given = {"film": str(film.path), "plans": str(_plans(stage, film, share))}
    missing = "" if importlib.util.find_spec("decord") else "decord is not installed"
    whole = {"film": given["film"], "threads": THREADS[0]}
    entrants = [
        Entrant("one pass", "ours", one_pass, given),
        Entrant("seeking per AD, PyAV", "rival", by_pyav, given),
        Entrant("seeking per AD, decord", "rival", by_decord, given, missing),
        # Where AD is sparse most of the film need not be decoded: that is another way, no limit.
        Entrant("decoding alone", "limit", decoding, whole)
        if share == 1
        else Entrant("decoding the whole film", "rival", decoding, whole),
    ]
    return Contest("frames", f"{film.label}, {kind}", entrants, film.seconds, ("frames of clips",), turns=3)


def _plans(stage: Stage, film: FilmAt, share: float) -> Path:
    """A file of the moments of each AD; shots are found once, here."""
    from shotad.core import Config
    from shotad.film import context_shots, open_film, plan_frames, survey

    path = stage.folder / f"{film.path.stem}-{share:g}.plans.json"
    if path.exists():
        return path
    config = Config()
    with open_film(film.path) as opened:
        found = survey(opened, config.shots)
        rate = opened.info.frame_rate or Fraction(24)
    rows = []
    for slot in slots(found.end, share):
        context = context_shots(slot, found.shots, config.context)
        plans = plan_frames(slot, context, config.frames, rate)
        rows.append([[plan.number, plan.seconds.tolist()] for plan in plans])
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def slots(end: float, share: float) -> list[Any]:
    """Slots of `SPOKEN` seconds, evenly over the film, that fill ``share`` of it."""
    from shotad.core import Interval

    step = SPOKEN / share
    starts = [step * i for i in range(int(end / step) or 1)]
    return [Interval(start, min(start + SPOKEN, end)) for start in starts if start < end]


# Works


def _moments(given: Mapping[str, Any]) -> list[list[tuple[int, list[float]]]]:
    rows: list[list[tuple[int, list[float]]]] = json.loads(Path(given["plans"]).read_text(encoding="utf-8"))
    return rows


def one_pass(given: Mapping[str, Any], scratch: Path) -> Ready:
    """Ours: one ascending pass that seeks over long gaps, shared by all clips."""
    import numpy as np

    from shotad.core import FramePlan, Role
    from shotad.film import clips, open_film

    film = open_film(Path(given["film"]))
    plans = [
        (
            f"s{i:08d}",
            tuple(FramePlan(number, Role.CURRENT, np.array(moments)) for number, moments in row),
        )
        for i, row in enumerate(_moments(given))
    ]

    def run() -> Done:
        shown = sum(len(c) for _, c in clips(plans, lambda moments: film.pictures(moments, height=LINES)))
        return Done({"frames of clips": shown, "ADs": len(plans)})

    return run


def by_pyav(given: Mapping[str, Any], scratch: Path) -> Ready:
    """For each AD: seek to the key frame before its first moment, decode up to its last, keep what is wanted.

    The container is opened once, which is kinder than once for each AD, as is found in published code.
    """
    import av

    rows = [sorted(m for _, moments in row for m in moments) for row in _moments(given)]
    container = av.open(given["film"])
    stream = container.streams.video[0]
    stream.thread_type = "AUTO"
    start = float((stream.start_time or 0) * (stream.time_base or 0))

    def run() -> Done:
        shown = 0
        for moments in rows:
            container.seek(int((moments[0] + start) / stream.time_base), stream=stream)
            shown += len(_shown(container.decode(stream), moments, start, _size(stream)))
        return Done({"frames of clips": shown, "ADs": len(rows)})

    return run


def _size(stream: Any) -> tuple[int, int]:
    return round(stream.width * LINES / stream.height / 2) * 2, LINES


def _shown(frames: Any, moments: Sequence[float], start: float, size: tuple[int, int]) -> list[Any]:
    """For each ascending moment the frame on the screen then, RGB, made small."""
    found: list[Any] = []
    last, image = None, None
    for frame in frames:
        while (
            last is not None and len(found) < len(moments) and frame.time - start > moments[len(found)] + 1e-6
        ):
            image = last.to_ndarray(width=size[0], height=size[1], format="rgb24") if image is None else image
            found.append(image)
        if len(found) == len(moments):
            return found
        last, image = frame, None
    if last is not None:
        image = last.to_ndarray(width=size[0], height=size[1], format="rgb24")
        found += [image] * (len(moments) - len(found))
    return found


def by_decord(given: Mapping[str, Any], scratch: Path) -> Ready:
    """For each AD ``get_batch`` of its frames by number; the reader is opened once, too."""
    import av
    import decord

    with av.open(given["film"]) as container:
        width, height = _size(container.streams.video[0])
    reader = decord.VideoReader(given["film"], width=width, height=height)
    rate, count = reader.get_avg_fps(), len(reader)
    rows = [
        [min(int(m * rate + 1e-6), count - 1) for _, moments in row for m in moments]
        for row in _moments(given)
    ]

    def run() -> Done:
        shown = sum(len(reader.get_batch(numbers).asnumpy()) for numbers in rows)
        return Done({"frames of clips": shown, "ADs": len(rows)})

    return run
