"""One line of a file of predictions: what was said for one AD, how it came about, and whose it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from shotad.core import Interval, seconds

Shots = Literal["published", "one", "found", ""]
"""Where the shots came from: the dataset's list; an empty list of it, which is one shot; the detector."""


@dataclass(frozen=True, slots=True)
class PredictedLine:
    """What was predicted for the AD ``id``.

    ``interval`` is its slot, in seconds of the video. ``text`` None: it failed, ``failure`` says why, and
    ``again`` whether another run may do better; a system that chose to say nothing has the empty text.
    ``status`` is the cue's (placed, shortened, silent, dropped, failed), ``reason`` what it says of it.
    ``words`` is how many it was allowed. ``scale``, ``threaded``, ``description``: the effective scale,
    whether Stage I was told of a thread, and what it said. ``terms`` and ``key`` are hashes: of what is the
    same for all lines of a run, and of all that changes this one.
    """

    id: str
    film: str
    clip: str
    interval: Interval
    text: str | None
    status: str
    terms: str
    key: str
    failure: str = ""
    reason: str = ""
    again: bool = False
    words: int | None = None
    candidates: tuple[str, ...] = ()
    description: str | None = None
    scale: float | None = None
    threaded: bool | None = None
    shots: Shots = ""
    engines: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.text is None) != bool(self.failure):
            raise ValueError(f"line {self.id!r} must have a text or a failure, and not both")

    def to_json(self) -> dict[str, Any]:
        """The line's fields as JSON, in a constant order; without its key."""
        return {
            "id": self.id,
            "film": self.film,
            "clip": self.clip,
            "start": seconds(self.interval.start),
            "end": seconds(self.interval.end),
            "text": self.text,
            "failure": self.failure,
            "status": self.status,
            "reason": self.reason,
            "words": self.words,
            "candidates": list(self.candidates),
            "description": self.description,
            "scale": self.scale,
            "threaded": self.threaded,
            "shots": self.shots,
            "engines": {stage: dict(who) for stage, who in self.engines.items()},
            "again": self.again,
            "terms": self.terms,
        }


def line_of(record: Mapping[str, Any]) -> PredictedLine:
    """The line that `PredictedLine.to_json` wrote, with its key. Raises KeyError, TypeError or ValueError for
    what is none."""
    return PredictedLine(
        id=record["id"],
        film=record["film"],
        clip=record["clip"],
        interval=Interval(float(record["start"]), float(record["end"])),
        text=record["text"],
        status=record["status"],
        terms=record["terms"],
        key=record["key"],
        failure=record["failure"],
        reason=record["reason"],
        again=record["again"],
        words=record["words"],
        candidates=tuple(record["candidates"]),
        description=record["description"],
        scale=record["scale"],
        threaded=record["threaded"],
        shots=record["shots"],
        engines=record["engines"],
    )
