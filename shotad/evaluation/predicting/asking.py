"""What is asked about one clip: its slots and its shots as files that the pipeline reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from shotad.core import Given, GivenCast, Interval, WorkFolder
from shotad.evaluation.datasets.ads import Ad
from shotad.evaluation.predicting.choosing import ClipTask
from shotad.evaluation.predicting.lines import PredictedLine, Shots
from shotad.evaluation.predicting.shots import since

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
        return since(self.begins, ad.slot)

    def within(self, duration: float) -> list[Ad]:
        """The ADs of whose slots something can be seen in a video of ``duration`` seconds; where that is 0 it
        is not known beforehand."""
        return [ad for ad in self.task.ads if _lies_within(self.slot(ad), duration)]

    def given(self, folder: WorkFolder, ads: Sequence[Ad]) -> Given:
        """The slots of these ADs and the shots, written into ``folder``. Slots are labelled with ids."""
        slots = _written(folder, "asked-slots", ({"id": ad.id, **_times(self.slot(ad))} for ad in ads))
        shots = None if self.shots is None else _written(folder, "asked-shots", map(_times, self.shots))
        return Given(slots=slots, shots=shots, cast=self.cast)

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


def _lies_within(slot: Interval, duration: float) -> bool:
    end = min(slot.end, duration) if duration > 0 else slot.end
    return end - max(slot.start, 0.0) >= SHORTEST


def _times(interval: Interval) -> dict[str, str]:
    """To the last digit: it decides whether a slot overlaps a shot or touches it."""
    return {
        "start": f"{Decimal(repr(max(interval.start, 0.0))):f}",
        "end": f"{Decimal(repr(interval.end)):f}",
    }


def _written(folder: WorkFolder, name: str, rows: Iterable[Mapping[str, str]]) -> Path:
    folder.write_text(f"{name}.json", json.dumps(list(rows), ensure_ascii=False, indent=1) + "\n")
    return folder.path / f"{name}.json"
