"""One clip of a dataset through the pipeline: slots and shots are given, lines come back by their ids."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shotad.config import Config
from shotad.evaluation.datasets.ads import Ad
from shotad.evaluation.predicting.choosing import ClipTask
from shotad.evaluation.predicting.lines import PredictedLine, Shots
from shotad.film.reader import Film
from shotad.outcome import Outcome
from shotad.pipeline import describe
from shotad.prepare import Given, GivenCast
from shotad.progress import Progress
from shotad.records import description_of
from shotad.script.cue import Cue, CueStatus
from shotad.types import Interval
from shotad.workfolder import WorkFolder
from shotad.writing import Engines

Record = Mapping[str, Any]

SHORTEST = 0.001
"""Seconds of a slot that lie within the video, below which it cannot be described (a line lasts 1 ms)."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A clip whose video is open: what is asked about it, and on what terms.

    ``shots`` None: they are found. ``keys`` are the lines', by id. The video begins at second ``begins`` of
    the clip.
    """

    task: ClipTask
    shots: tuple[Interval, ...] | None
    origin: Shots
    cast: GivenCast | None
    terms: str
    keys: Mapping[str, str]
    begins: float = 0.0

    def slot(self, ad: Ad) -> Interval:
        """The slot of ``ad`` in seconds of the video."""
        return Interval(ad.slot.start - self.begins, ad.slot.end - self.begins) if self.begins else ad.slot

    def line(self, ad: Ad, text: str | None, status: str, **more: Any) -> PredictedLine:
        """The line of ``ad``."""
        return PredictedLine(
            id=ad.id,
            film=ad.film,
            clip=ad.clip,
            interval=ad.slot,
            text=text,
            status=status,
            terms=self.terms,
            key=self.keys[ad.id],
            shots=self.origin,
            **more,
        )


def describe_clip(
    asked: Asked, film: Film, folder: WorkFolder, config: Config, engines: Engines, progress: Progress
) -> tuple[list[PredictedLine], Outcome | None]:
    """The line of each AD, in the task's order, and what the pipeline says of its run (None: not needed)."""
    duration = film.info.duration
    inside = [ad for ad in asked.task.ads if _lies_within(asked.slot(ad), duration)]
    outcome, told = None, {}
    if inside:
        given = Given(
            slots=_slots_file(folder, asked, inside), shots=_shots_file(folder, asked), cast=asked.cast
        )
        outcome = describe(
            film,
            folder,
            config,
            given,
            engines=engines,
            progress=progress,
            discard_edits=True,
            sheet=False,
        )
        told = _told(folder, outcome)
    return [_line(asked, ad, told.get(ad.id), duration) for ad in asked.task.ads], outcome


@dataclass(frozen=True, slots=True)
class _Told:
    """What the work folder has of one slot."""

    cue: Cue
    look: Record
    line: Record | None

    @property
    def went_wrong(self) -> bool:
        """Whether an engine failed, so that another run asks it again."""
        return bool(self.look["error"]) or self.line is None or bool(self.line["error"])

    @property
    def engines(self) -> dict[str, Record]:
        """Who answered, by stage."""
        written = {} if self.line is None else {"stage2": self.line["maker"]}
        return {"stage1": self.look["maker"], **written}


def _told(folder: WorkFolder, outcome: Outcome) -> dict[str, _Told]:
    """By AD: the slots carry their ids as labels."""
    planned = folder.read_json("slots.json") or {}
    cues = {cue.slot_id: cue for cue in outcome.track.cues}
    looks = {row["slot"]: row for row in _rows(folder, "stage1")}
    lines = {row["slot"]: row for row in _rows(folder, "stage2")}
    return {
        row["label"]: _Told(cues[slot], looks[slot], lines.get(slot))
        for row in planned.get("slots", ())
        if (slot := row["id"]) in cues
    }


def _line(asked: Asked, ad: Ad, told: _Told | None, duration: float) -> PredictedLine:
    if told is None:
        outside = f"its slot {asked.slot(ad)} lies outside the video, which ends at {duration:.3f} s"
        return asked.line(ad, None, "failed", failure=outside)
    cue, look = told.cue, told.look
    known: dict[str, Any] = {
        "candidates": cue.candidates,
        "description": description_of(cue.id, look).text if not look["error"] else None,
        "scale": look["effective_scale"],
        "threaded": bool(look["threads"]),
        "engines": told.engines,
    }
    if cue.status is CueStatus.FAILED:
        return asked.line(ad, None, "failed", failure=cue.reason, again=told.went_wrong, **known)
    text = cue.text if cue.heard else ""
    return asked.line(ad, text, cue.status.value, reason=cue.reason, **known)


def _lies_within(slot: Interval, duration: float) -> bool:
    """Whether something of the slot can be seen; a duration of 0 is not known beforehand."""
    end = min(slot.end, duration) if duration > 0 else slot.end
    return end - max(slot.start, 0.0) >= SHORTEST


def _slots_file(folder: WorkFolder, asked: Asked, ads: Sequence[Ad]) -> Path:
    slots = [{"id": ad.id, **_times(asked.slot(ad))} for ad in ads]
    return _written(folder, "asked-slots.json", slots)


def _shots_file(folder: WorkFolder, asked: Asked) -> Path | None:
    if asked.shots is None:
        return None
    return _written(folder, "asked-shots.json", [_times(shot) for shot in asked.shots])


def _times(interval: Interval) -> dict[str, str]:
    return {"start": f"{max(interval.start, 0.0):.6f}", "end": f"{interval.end:.6f}"}


def _written(folder: WorkFolder, name: str, rows: Sequence[Mapping[str, str]]) -> Path:
    folder.write_text(name, json.dumps(list(rows), ensure_ascii=False, indent=1) + "\n")
    return folder.path / name


def _rows(folder: WorkFolder, name: str) -> Iterator[dict[str, Any]]:
    """The records of ``NAME.jsonl``."""
    path = folder.path / f"{name}.jsonl"
    for line in path.read_bytes().splitlines() if path.is_file() else ():
        yield json.loads(line)
