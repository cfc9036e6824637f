"""One clip of a dataset through the pipeline: its slots and shots go in, its lines come back by id."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from shotad.core import Config, Given, GivenCast, Interval, Progress, WorkFolder, description_of
from shotad.description import (
    Engines,
    GrammarReaders,
    RunContext,
    Used,
    check_cast,
    prepare,
    understand,
    write,
    write_track,
)
from shotad.evaluation.datasets.dataset import Ad, Dataset
from shotad.evaluation.datasets.loading import touching
from shotad.evaluation.predicting.choosing import ClipTask
from shotad.evaluation.predicting.lines import PredictedLine, Shots
from shotad.film import Film, Prepared, word_budget
from shotad.script import Cue, CueStatus

LONGEST_FRAME = 1.0
"""Seconds for which the last frame may stand, or the sound may go on, in a file that is whole."""

_SMALL = 1 << 12
"""Pixels of a frame that nobody looks at."""


def describe_clip(
    asked: ClipRequest,
    film: Film,
    folder: WorkFolder,
    config: Config,
    engines: Engines,
    readers: GrammarReaders,
    progress: Progress,
    *,
    scripts: bool = False,
) -> tuple[tuple[PredictedLine, ...], Used | None, tuple[str, ...]]:
    """The line of each AD of a clip, in the task's order; what the engines took; and what is to be told."""
    end, promised = _picture_end(film), film.info.duration
    short = f"The picture ends at {end:.1f} s of {promised:.1f} s: the file is cut off or damaged."
    warnings = (short,) if end != promised else ()
    ads, lines, spent = asked.within(end), dict[str, PredictedLine](), None
    told: tuple[str, ...] = ()
    if ads:
        context = RunContext.of(film, folder, config, asked.given(folder, ads), progress)
        context.frames.share(overview=False)
        check_cast(context)
        prepared = prepare(context)
        words = {ad.id: word_budget(ad.interval.duration, config.slots) for ad in ads}  # Algorithm 2
        slots = tuple(replace(slot, max_words=words[slot.label]) for slot in prepared.slots)
        prepared = replace(prepared, slots=slots)
        density = engines.looks.abilities.frames_per_second
        plans, amiss = understand(prepared, context, density, readers=readers)
        written = write(plans, prepared, context, engines)
        if scripts:
            write_track(written.cues, prepared, context, engines.makers, discard_edits=True)
        context.frames.release()
        spent = written.used
        lines = _lines(asked, folder, prepared, {cue.id: cue for cue in written.cues})
        told = (*warnings, *prepared.warnings, *amiss)
    every = []
    for ad in asked.task.ads:
        line = lines.get(ad.id)
        if line is None:  # nothing of its slot can be seen
            outside = f"its slot {asked.slot(ad)} lies outside the video, which ends at {end:.3f} s"
            line = asked.line(ad, None, "failed", failure=next(iter(warnings), outside))
        every.append(line)
    return tuple(every), spent, told


def _picture_end(film: Film) -> float:
    """The second at which a video's picture ends; 0: not known.

    Of a file that is cut off the reader shows the last frame at every later moment: what nobody can see
    must not be described from it. Raises FilmError where there is no picture.
    """
    promised = film.info.duration
    if promised <= 0:
        return promised
    last = next(film.pictures([promised], max_pixels=_SMALL)).seconds
    return last if promised - last > LONGEST_FRAME else promised


def _lines(
    asked: ClipRequest, folder: WorkFolder, prepared: Prepared, cues: Mapping[str, Cue]
) -> dict[str, PredictedLine]:
    """What the run says of each AD that was asked for, by id: the slots carry the ids as labels."""
    records = {}
    for name in ("stage1", "stage2"):
        path = folder.path / f"{name}.jsonl"
        rows = map(json.loads, path.read_bytes().splitlines() if path.is_file() else ())
        records[name] = {row["slot"]: row for row in rows}
    ads = {ad.id: ad for ad in asked.task.ads}
    found = {}
    for slot in prepared.slots:
        cue, look, line = cues[slot.id], records["stage1"][slot.id], records["stage2"].get(slot.id)
        engines = {"stage1": look["maker"], **({} if line is None else {"stage2": line["maker"]})}
        known = {
            "words": slot.max_words,
            "candidates": cue.candidates,
            "description": None if look["error"] else description_of(cue.id, look).text,
            "scale": look["effective_scale"],
            "threaded": bool(look["threads"]),
            "engines": engines,
        }
        if cue.status is CueStatus.FAILED:
            again = bool(look["error"]) or line is None or bool(line["error"])  # another run asks it again
            failed = {"failure": cue.reason, "again": again}
            found[slot.label] = asked.line(ads[slot.label], None, "failed", **failed, **known)
        else:
            text = cue.text if cue.heard else ""
            said = asked.line(ads[slot.label], text, cue.status.value, reason=cue.reason, **known)
            found[slot.label] = said
    return found


SHORTEST = 0.001
"""Seconds of a slot that lie within the video, below which it cannot be described (a line lasts 1 ms)."""


@dataclass(frozen=True, slots=True)
class ClipRequest:
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
        found = []
        for ad in self.task.ads:
            slot = self.slot(ad)
            end = min(slot.end, duration) if duration > 0 else slot.end
            if end - max(slot.start, 0.0) >= SHORTEST:
                found.append(ad)
        return found

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


def _times(interval: Interval) -> dict[str, str]:
    """To the last digit: it decides whether a slot overlaps a shot or touches it."""
    ends = {"start": max(interval.start, 0.0), "end": interval.end}
    return {name: f"{Decimal(repr(second)):f}" for name, second in ends.items()}


def _written(folder: WorkFolder, name: str, rows: Iterable[Mapping[str, str]]) -> Path:
    folder.write_text(f"{name}.json", json.dumps(list(rows), ensure_ascii=False, indent=1) + "\n")
    return folder.path / f"{name}.json"


GivenShots = tuple[tuple[Interval, ...] | None, Shots]


def published_shots(
    dataset: Dataset, clip: str, duration: float, begins: float = 0.0, *, gaps: bool = False
) -> GivenShots:
    """The shots to be given for a video of ``duration`` seconds that begins at second ``begins`` of its clip,
    in the video's own seconds, and what they are.

    An empty list means a clip without cuts, which is one shot. None where the dataset has no list of the
    clip, or one of which nothing lies within the video: the shots are found. ``gaps``: published shots keep
    the short gaps between them, for those who count touching shots as overlapping.
    """
    published = dataset.shots.get(clip)
    if published is None or duration <= 0:
        return None, "found"
    if not published:
        return (Interval(0.0, duration),), "one"
    gap = dataset.description.shots.gap if dataset.description is not None else 0.0
    whole = begins + duration
    shots = published if gaps else touching(published, gap, whole)
    part = Interval(begins, whole)
    inside = [cut for shot in shots if (cut := shot.clip(part)) is not None]
    moved = tuple(since(begins, cut) for cut in inside)
    return (moved, "published") if moved else (None, "found")


def since(begins: float, interval: Interval) -> Interval:
    """The interval in seconds of a video that begins at second ``begins``, without the noise of the floats.

    As it is where that is 0: thirds of a second have no last digit.
    """
    if not begins:
        return interval
    return Interval(round(interval.start - begins, 9), round(interval.end - begins, 9))
