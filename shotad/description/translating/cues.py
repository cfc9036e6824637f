"""From translations to the lines of a track: what is spoken, when, and why not if not."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from shotad.core import Interval
from shotad.description.translating.judging import quotes
from shotad.description.translating.prompt import Task
from shotad.description.translating.wanted import Wanted
from shotad.script import (
    Cue,
    CueKind,
    CueStatus,
    Maker,
    Provenance,
    Track,
    budget_in,
    fit_spoken,
    spoken_words,
)


@dataclass(frozen=True, slots=True)
class FailedLine:
    """A line that is heard in the one language and not in the other, and why."""

    id: str
    start: float
    reason: str


def cue_of(
    cue: Cue,
    heard: tuple[Wanted, Mapping[str, Any]] | None,
    task: Task,
    maker: Maker,
    seconds_per_word: float,
) -> Cue:
    """The cue in the other language. ``heard`` is the line and the record of its translation; None for a cue
    that is not heard.

    It starts where the cue does. It ends with its own spoken end, within the line's room; times that a
    person set stay.
    """
    language = task.target.tag
    if heard is None:
        return _unspoken(cue, language, cue.status, cue.reason, None)
    line, record = heard
    made = _provenance(cue, record, maker)
    if record["error"]:
        return _unspoken(cue, language, CueStatus.FAILED, f"Not translated: {record['error']}", made)
    text = str(record["text"])
    fitted = fit_spoken(text, line.words, language=language)
    if fitted is None:
        room = budget_in(language, line.words)
        reason = f"The translation is longer than the {room} that fit: {text}"
        return _unspoken(cue, language, CueStatus.DROPPED, reason, made, (text,))
    length = max(1, spoken_words(fitted.text, language)) * seconds_per_word
    interval = cue.interval if line.timed_by_hand else _spoken(line.room, length)
    faults = [fault for fault in record["faults"] if not fault.startswith("It takes too long")]
    return Cue(
        id=cue.id,
        slot_id=cue.slot_id,
        interval=interval,
        text=fitted.text,
        kind=_kind(cue, text, fitted.text),
        language=language,
        status=CueStatus.SHORTENED if fitted.steps else CueStatus.PLACED,
        reason="; ".join((*fitted.steps, *faults)),
        candidates=(text,),
        chosen=0,
        spoken_length=min(length, interval.duration),
        fit_steps=fitted.steps,
        provenance=made,
        seen_from=cue.seen_from,
    )


def failures(track: Track, heard: Collection[str]) -> tuple[FailedLine, ...]:
    """The lines of ``track`` that are not heard though those of the ids ``heard`` were."""
    return tuple(
        FailedLine(cue.id, cue.interval.start, cue.reason)
        for cue in track.cues
        if cue.id in heard and not cue.heard
    )


def _kind(cue: Cue, text: str, said: str) -> CueKind:
    """A line that was cut before what it reads from the screen reads nothing any more."""
    return CueKind.ACTION if quotes(text) and not quotes(said) else cue.kind


def _spoken(room: Interval, length: float) -> Interval:
    return Interval(room.start, min(room.end, room.start + length))


def _unspoken(
    cue: Cue,
    language: str,
    status: CueStatus,
    reason: str,
    made: Provenance | None,
    candidates: tuple[str, ...] = (),
) -> Cue:
    return Cue(
        id=cue.id,
        slot_id=cue.slot_id,
        interval=cue.interval,
        text="",
        kind=cue.kind,
        language=language,
        status=status,
        reason=reason,
        candidates=candidates,
        provenance=made,
    )


def _provenance(cue: Cue, record: Mapping[str, Any], maker: Maker) -> Provenance:
    """Those who made the line, and who translated it."""
    before = cue.provenance.makers if cue.provenance is not None else ()
    return Provenance((*before, maker), record["prompt_hash"], record["seed"])
