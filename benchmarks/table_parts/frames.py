"""Frames for every AD: one sorted pass over the film, beside seeking for each AD by PyAV and by decord."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from table_parts.contests import Contest, Done, Entrant, FilmAt, Stage, Steps
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
            yield _contest(film, kind, share, _plans(stage, share, film))
    plans = partial(_plans, stage, 1.0)
    yield from stage.growth("frames", "frames of every AD", one_pass, turns=3, plans=plans)


def _contest(film: FilmAt, kind: str, share: float, plans: Path) -> Contest:
    given = {"film": film.path, "plans": plans}
    missing = "" if importlib.util.find_spec("decord") else "decord is not installed"
    # Where AD is sparse most of the film need not be decoded: that is another way, no limit.
    whole = ("decoding alone", "limit") if share == 1 else ("decoding the whole film", "rival")
    entrants = [
        Entrant("one pass", "ours", one_pass, given),
        Entrant("seeking per AD, PyAV", "rival", by_pyav, given),
        Entrant("seeking per AD, decord", "rival", by_decord, given, missing),
        Entrant(*whole, decoding, {"film": film.path, "threads": THREADS[0]}),
    ]
    return Contest("frames", f"{film.label}, {kind}", entrants, film.seconds, ("frames of clips",), turns=3)


def _plans(stage: Stage, share: float, film: FilmAt) -> Path:
    """A file of the moments of each AD, frame by frame: slots of `SPOKEN` seconds, evenly over the film, that
    fill ``share`` of it; shots are found once, here."""
    from shotad.core import Config, Interval
    from shotad.film import context_shots, detect_shots_in_pass, open_film, plan_frames

    path = stage.folder / f"{film.path.stem}-{share:g}.plans.json"
    if path.exists():
        return path
    config = Config()
    with open_film(film.path) as opened:
        found = detect_shots_in_pass(opened, config.shots)
        rate = opened.info.frame_rate or Fraction(24)
    step, rows = SPOKEN / share, []
    for start in (step * number for number in range(int(found.end / step) or 1)):
        slot = Interval(start, min(start + SPOKEN, found.end))
        plans = plan_frames(slot, context_shots(slot, found.shots, config.context), config.frames, rate)
        rows.append([[plan.number, plan.seconds.tolist()] for plan in plans])
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


# Works


def _moments(plans: str) -> list[list[float]]:
    rows = json.loads(Path(plans).read_text(encoding="utf-8"))
    return [[moment for _, moments in row for moment in moments] for row in rows]


def one_pass(scratch: Path, film: str, plans: str) -> Steps:
    """Ours: one ascending pass that seeks over long gaps, shared by all clips."""
    import numpy as np

    from shotad.core import FramePlan
    from shotad.core.types import Role
    from shotad.film import clips, open_film

    opened, planned = open_film(Path(film)), []
    for i, row in enumerate(json.loads(Path(plans).read_text(encoding="utf-8"))):
        frames = (FramePlan(number, Role.CURRENT, np.array(moments)) for number, moments in row)
        planned.append((f"s{i:08d}", tuple(frames)))
    yield None
    shown = sum(len(c) for _, c in clips(planned, lambda moments: opened.pictures(moments, height=LINES)))
    yield Done({"frames of clips": shown, "ADs": len(planned)})


def by_pyav(scratch: Path, film: str, plans: str) -> Steps:
    """For each AD: seek to the key frame before its first moment, decode up to its last, keep what is wanted.

    The container is opened once, which is kinder than once for each AD, as is found in published code.
    """
    import av

    rows = [sorted(row) for row in _moments(plans)]
    container = av.open(film)
    stream = container.streams.video[0]
    stream.thread_type = "AUTO"
    start, shown = float((stream.start_time or 0) * (stream.time_base or 0)), 0
    yield None
    for moments in rows:
        container.seek(int((moments[0] + start) / stream.time_base), stream=stream)
        shown += len(_shown(container.decode(stream), moments, start, _size(stream)))
    yield Done({"frames of clips": shown, "ADs": len(rows)})


def _size(stream: Any) -> tuple[int, int]:
    return round(stream.width * LINES / stream.height / 2) * 2, LINES


def _shown(frames: Any, moments: Sequence[float], start: float, size: tuple[int, int]) -> list[Any]:
    """For each ascending moment the frame on the screen then, RGB, made small."""
    found: list[Any] = []
    last, image = None, None
    for frame in frames:
        while last and len(found) < len(moments) and frame.time - start > moments[len(found)] + 1e-6:
            image = last.to_ndarray(width=size[0], height=size[1], format="rgb24") if image is None else image
            found.append(image)
        if len(found) == len(moments):
            return found
        last, image = frame, None
    if last is not None:
        image = last.to_ndarray(width=size[0], height=size[1], format="rgb24")
        found += [image] * (len(moments) - len(found))
    return found


def by_decord(scratch: Path, film: str, plans: str) -> Steps:
    """For each AD ``get_batch`` of its frames by number; the reader is opened once, too."""
    import av
    import decord

    with av.open(film) as container:
        width, height = _size(container.streams.video[0])
    reader = decord.VideoReader(film, width=width, height=height)
    rate, last = reader.get_avg_fps(), len(reader) - 1
    rows = [[min(int(moment * rate + 1e-6), last) for moment in row] for row in _moments(plans)]
    yield None
    shown = sum(len(reader.get_batch(numbers).asnumpy()) for numbers in rows)
    yield Done({"frames of clips": shown, "ADs": len(rows)})
