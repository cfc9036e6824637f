"""From Stage II's answers to cues: the line that fits, when it is spoken, and why not if not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shotad.config import Config
from shotad.describe.fit import Fitted, fit_words
from shotad.facts import Facts
from shotad.script.cue import (
    Cue,
    CueKind,
    CueStatus,
    Maker,
    Provenance,
    clean_text,
    count_words,
    spoken_interval,
)
from shotad.script.rules import BENCHMARK, Finding, Level, Limits, check_line
from shotad.types import Interval, Slot
from shotad.workfolder import key_of

Answers = tuple[Mapping[str, Any], Mapping[str, Any] | None]
"""The records of Stage I and Stage II."""

SILENT = "nothing worth saying was found"


@dataclass(frozen=True, slots=True)
class Around:
    """What a line is judged by: the speech of the film, the lines before it, whether its slot was given."""

    speech: Sequence[Interval] = ()
    before: Sequence[str] = ()
    given: bool = False

    @property
    def limits(self) -> Limits:
        """The benchmarks' where slots are given, whose minima do not apply."""
        return BENCHMARK if self.given else Limits()


@dataclass(frozen=True, slots=True)
class Line:
    """A candidate that was made to fit, when it is spoken, and what is still wrong with it."""

    number: int
    fitted: Fitted
    interval: Interval
    findings: tuple[Finding, ...]

    @property
    def faults(self) -> tuple[int, int, int]:
        """Errors, warnings, number: the fewest is the best line."""
        errors = sum(finding.level is Level.ERROR for finding in self.findings)
        return errors, len(self.findings) - errors, self.number

    @property
    def residue(self) -> Finding | None:
        """What of a model's chatter is left in it (L5); such a line must not be spoken."""
        return next((finding for finding in self.findings if finding.rule == "L5"), None)


def cue_of(
    slot: Slot,
    stage1: Mapping[str, Any],
    stage2: Mapping[str, Any] | None,
    config: Config,
    around: Around,
) -> Cue:
    """The slot's cue from the records of both stages."""
    answers = (stage1, stage2)
    error = stage1["error"] or (stage2 or {}).get("error")
    if error or stage2 is None:
        stage = "Stage I" if stage1["error"] else "Stage II"
        return _without_line(slot, answers, config, CueStatus.FAILED, f"{stage} failed: {error}")
    candidates = [clean_text(text).replace("\n", " ") for text in stage2["candidates"]]
    candidates = [text for text in candidates if text]
    if not candidates:
        reason = str(stage2["notes"].get("reason") or SILENT)
        return _without_line(slot, answers, config, CueStatus.SILENT, reason)
    line = _best(candidates, slot, config, around)
    if line is None:
        return _without_line(slot, answers, config, CueStatus.DROPPED, _too_long(candidates[0], slot))
    if line.residue is not None:
        reason = f"no clean line: {line.residue.message}: {line.fitted.text}"
        return _without_line(slot, answers, config, CueStatus.FAILED, reason)
    return Cue(
        id=slot.id,
        slot_id=slot.id,
        interval=line.interval,
        text=line.fitted.text,
        kind=_kind(line.fitted.text, stage1),
        language=config.language,
        status=CueStatus.SHORTENED if line.fitted.steps else CueStatus.PLACED,
        reason="; ".join((*line.fitted.steps, *map(str, line.findings))),
        candidates=tuple(candidates),
        chosen=line.number,
        spoken_length=line.interval.duration,
        fit_steps=line.fitted.steps,
        provenance=_provenance(stage1, stage2),
    )


def _best(candidates: Sequence[str], slot: Slot, config: Config, around: Around) -> Line | None:
    """The candidate that fits with the fewest faults; None where none can be made to fit."""
    lines = []
    for number, text in enumerate(candidates):
        fitted = Fitted(text) if config.stage2.fit == "none" else fit_words(text, slot.max_words)
        if fitted is not None:
            pace = config.slots.seconds_per_word
            interval = spoken_interval(slot.interval, count_words(fitted.text), pace)
            findings = check_line(
                fitted.text,
                interval=interval,
                speech=around.speech,
                previous=around.before,
                language=config.language,
                limits=around.limits,
            )
            lines.append(Line(number, fitted, interval, findings))
    return min(lines, key=lambda line: line.faults, default=None)


def _without_line(slot: Slot, answers: Answers, config: Config, status: CueStatus, reason: str) -> Cue:
    stage1, stage2 = answers
    candidates = tuple(clean_text(text) for text in (stage2 or {}).get("candidates", ()))
    return Cue(
        id=slot.id,
        slot_id=slot.id,
        interval=slot.interval,
        text="",
        language=config.language,
        status=status,
        reason=clean_text(reason).replace("\n", " "),
        candidates=candidates,
        provenance=_provenance(stage1, stage2),
    )


def _too_long(text: str, slot: Slot) -> str:
    return (
        f"{count_words(text)} words where {slot.max_words} fit, and no whole phrase is short enough: {text}"
    )


def _kind(text: str, stage1: Mapping[str, Any]) -> CueKind:
    """Text where the line reads out what stands on the screen."""
    notes = stage1["notes"]
    if "current" not in notes or '"' not in text:
        return CueKind.ACTION
    said = _letters(text)
    read = any(
        _letters(fact.text)[:12] in said for fact in Facts.from_json(notes).texts if _letters(fact.text)
    )
    return CueKind.TEXT if read else CueKind.ACTION


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _provenance(stage1: Mapping[str, Any], stage2: Mapping[str, Any] | None) -> Provenance:
    records = [("Stage I", stage1), ("Stage II", stage2)]
    makers = tuple(Maker(stage, **record["maker"]) for stage, record in records if record is not None)
    prompts = [record["prompt"] for _, record in records if record is not None]
    return Provenance(makers, key_of(prompts), stage1["seed"])
