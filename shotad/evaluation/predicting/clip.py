"""One clip of a dataset through the pipeline; its lines come back by their ids."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from shotad.core import Config, Progress, Slot, WorkFolder, description_of
from shotad.description import (
    Bench,
    Engines,
    GrammarReaders,
    Used,
    check_cast,
    prepare,
    understand,
    used,
    write,
    write_track,
)
from shotad.evaluation.datasets.ads import Ad
from shotad.evaluation.predicting.asking import Asked
from shotad.evaluation.predicting.lines import PredictedLine
from shotad.film import Film, Prepared, word_budget
from shotad.script import Cue, CueStatus

Record = Mapping[str, Any]


LONGEST_FRAME = 1.0
"""Seconds for which the last frame may stand, or the sound may go on, in a file that is whole."""

_SMALL = 1 << 12
"""Pixels of a frame that nobody looks at."""


@dataclass(frozen=True, slots=True)
class Means:
    """What describes a clip: the same for all clips of a run, so that no model is loaded for each.

    ``scripts``: whether its track is written too, for people to look at.
    """

    config: Config
    engines: Engines
    readers: GrammarReaders
    progress: Progress
    scripts: bool = False


@dataclass(frozen=True, slots=True)
class Described:
    """The line of each AD of a clip, in the task's order; what the engines took, and what is to be told."""

    lines: tuple[PredictedLine, ...]
    used: Used | None = None
    warnings: tuple[str, ...] = ()


def describe_clip(asked: Asked, film: Film, folder: WorkFolder, means: Means) -> Described:
    """The three acts of `description.pipeline`, for the slots that are asked for, with as many words as the
    human ADs have time for: a slot may be longer than the AD that it was made for."""
    end = _picture_end(film)
    ads = asked.within(end.seconds)
    if not ads:
        return Described(_lines(asked, {}, end))
    config, engines = means.config, means.engines
    bench = Bench.of(film, folder, config, asked.given(folder, ads), means.progress)
    bench.frames.share(overview=False)
    check_cast(bench)
    prepared = _with_budgets(prepare(bench), ads, config)
    density = engines.looks.abilities.frames_per_second
    understood = understand(prepared, bench, density, readers=means.readers)
    written = write(understood.plans, prepared, bench, engines)
    if means.scripts:
        write_track(written.cues, prepared, bench, engines.makers, discard_edits=True)
    bench.frames.release()
    spent = used(written.seen, written.lines, engines.terms(config), written.other)
    lines = _lines(asked, _told(folder, prepared, {cue.id: cue for cue in written.cues}), end)
    return Described(lines, spent, (*end.warnings, *prepared.warnings, *understood.warnings))


@dataclass(frozen=True, slots=True)
class _End:
    """Where a video's picture ends, in seconds, and where the file says that it does; 0: not known."""

    seconds: float
    promised: float

    @property
    def warnings(self) -> tuple[str, ...]:
        """That it ends too early, if it does."""
        if self.seconds == self.promised:
            return ()
        ends = f"{self.seconds:.1f} s of {self.promised:.1f} s"
        return (f"The picture ends at {ends}: the file is cut off or damaged.",)


def _picture_end(film: Film) -> _End:
    """Of a file that is cut off the reader shows the last frame at every later moment: what nobody can see
    must not be described from it. Raises FilmError where there is no picture."""
    promised = film.info.duration
    if promised <= 0:
        return _End(promised, promised)
    last = next(film.pictures([promised], max_pixels=_SMALL)).seconds
    return _End(last if promised - last > LONGEST_FRAME else promised, promised)


def _with_budgets(prepared: Prepared, ads: list[Ad], config: Config) -> Prepared:
    """The slots with the words that the ADs' own durations allow (Shot-by-Shot, Algorithm 2)."""
    words = {ad.id: word_budget(ad.interval.duration, config.slots) for ad in ads}
    slots = (replace(slot, max_words=words[slot.label]) for slot in prepared.slots)
    return replace(prepared, slots=tuple(slots))


@dataclass(frozen=True, slots=True)
class _Told:
    """What the run has of one slot: its cue, and the records of both stages."""

    slot: Slot
    cue: Cue
    look: Record
    line: Record | None

    @property
    def went_wrong(self) -> bool:
        """Whether an engine failed, so that another run asks it again."""
        return bool(self.look["error"]) or self.line is None or bool(self.line["error"])

    @property
    def known(self) -> dict[str, Any]:
        """What a line tells besides its text."""
        written = {} if self.line is None else {"stage2": self.line["maker"]}
        return {
            "words": self.slot.max_words,
            "candidates": self.cue.candidates,
            "description": None if self.look["error"] else description_of(self.cue.id, self.look).text,
            "scale": self.look["effective_scale"],
            "threaded": bool(self.look["threads"]),
            "engines": {"stage1": self.look["maker"], **written},
        }


def _told(folder: WorkFolder, prepared: Prepared, cues: Mapping[str, Cue]) -> dict[str, _Told]:
    """By AD: the slots carry their ids as labels."""
    looks = {row["slot"]: row for row in _rows(folder, "stage1")}
    lines = {row["slot"]: row for row in _rows(folder, "stage2")}
    return {
        slot.label: _Told(slot, cues[slot.id], looks[slot.id], lines.get(slot.id)) for slot in prepared.slots
    }


def _lines(asked: Asked, told: Mapping[str, _Told], end: _End) -> tuple[PredictedLine, ...]:
    return tuple(_line(asked, ad, told.get(ad.id), end) for ad in asked.task.ads)


def _line(asked: Asked, ad: Ad, told: _Told | None, end: _End) -> PredictedLine:
    if told is None:
        outside = f"its slot {asked.slot(ad)} lies outside the video, which ends at {end.seconds:.3f} s"
        return asked.line(ad, None, "failed", failure=next(iter(end.warnings), outside))
    cue = told.cue
    if cue.status is CueStatus.FAILED:
        return asked.line(ad, None, "failed", failure=cue.reason, again=told.went_wrong, **told.known)
    text = cue.text if cue.heard else ""
    return asked.line(ad, text, cue.status.value, reason=cue.reason, **told.known)


def _rows(folder: WorkFolder, name: str) -> Iterator[dict[str, Any]]:
    """The records of ``NAME.jsonl``."""
    path = folder.path / f"{name}.jsonl"
    for line in path.read_bytes().splitlines() if path.is_file() else ():
        yield json.loads(line)
