"""From a film to its audio-description track, in three acts.

prepare      film → shots, speech → slots
understand   slots → context, frames, grammar
write        clips → Stage I → Stage II → track → scripts
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from shotad.config import Config
from shotad.describe import stage1, stage2
from shotad.describe.lines import Around, cue_of
from shotad.describe.prompts import check_prompts
from shotad.describe.slotplan import SlotPlan, shown_shots
from shotad.engines import make_engine, stage_engines
from shotad.engines.base import Engine
from shotad.film.clips import ClipPlan, clips
from shotad.film.reader import Film
from shotad.outcome import Outcome
from shotad.plan.context import context_shots
from shotad.plan.sampling import plan_frames
from shotad.prepare import Bench, Given, Prepared, prepare
from shotad.progress import NoProgress, Progress, reported
from shotad.records import description_of
from shotad.script.cue import Cue, Maker
from shotad.tracking import write_track
from shotad.types import ContextShot, FramePlan, Grammar, Interval, Slot, Utterance
from shotad.weights import weights_file
from shotad.workfolder import WorkFolder, key_of

FALLBACK_RATE = Fraction(24)
"""Frames a second where a container tells none; the reader still delivers the frame of each moment."""

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Engines:
    """Who looks (Stage I) and who writes (Stage II)."""

    looks: Engine
    writes: Engine

    @staticmethod
    def of(config: Config) -> Engines:
        """The engines that the settings name."""
        names = stage_engines(config)
        return Engines(make_engine(names.stage1, config), make_engine(names.stage2, config))


def describe(
    film: Film,
    folder: WorkFolder,
    config: Config,
    given: Given | None = None,
    *,
    engines: Engines | None = None,
    progress: Progress | None = None,
    discard_edits: bool = False,
) -> Outcome:
    """Write the AD track of ``film`` into ``folder``; what is already done there is not done again."""
    given = given or Given()
    engines = engines or Engines.of(config)
    check_prompts()
    bench = Bench.of(film, folder, config, given, progress or NoProgress())
    for name in (*engines.looks.abilities.weights, *engines.writes.abilities.weights):
        weights_file(name, bench.progress)
    prepared = prepare(bench)
    plans = understand(prepared, bench, engines.looks)
    cues = write(plans, prepared, bench, engines)
    return write_track(cues, prepared, bench, makers_of(engines), discard_edits=discard_edits)


def understand(prepared: Prepared, bench: Bench, engine: Engine) -> list[SlotPlan]:
    """What is to be shown to ``engine`` for each slot of the part that is to be described."""
    stamps = bench.frames.stamps(prepared.end)
    density, settings = engine.abilities.frames_per_second, bench.config.frames
    plans = []
    for slot in wanted(prepared.slots, bench.given):
        inside = max(settings.inside, math.ceil(slot.interval.duration * density))
        context = context_shots(slot.interval, prepared.shots, bench.config.context)
        frames = plan_frames(
            slot.interval,
            context,
            settings.model_copy(update={"inside": inside}),
            prepared.info.frame_rate or FALLBACK_RATE,
            stamps=stamps,
        )
        plans.append(_plan(slot, context, frames, prepared.speech))
    return plans


def write(plans: Sequence[SlotPlan], prepared: Prepared, bench: Bench, engines: Engines) -> list[Cue]:
    """The cue of each plan: a line, silent or failed; every answer is kept as soon as it is there."""
    seen = _look(plans, bench, engines.looks)
    return _write(plans, seen, prepared, bench, engines.writes)


def wanted(slots: Sequence[Slot], given: Given) -> list[Slot]:
    """The slots that begin between ``given.start`` and ``given.end``; they are those of a full run."""
    end = float("inf") if given.end is None else given.end
    return [slot for slot in slots if given.start <= slot.interval.start < end]


def makers_of(engines: Engines) -> tuple[Maker, ...]:
    """Both engines as the track names them."""
    pairs = (("Stage I", engines.looks.identity), ("Stage II", engines.writes.identity))
    return tuple(Maker(stage, who.engine, who.model, who.revision) for stage, who in pairs)


def _plan(
    slot: Slot,
    context: Sequence[ContextShot],
    frames: tuple[FramePlan, ...],
    speech: Sequence[Utterance],
) -> SlotPlan:
    clip = Interval(min(c.clipped.start for c in context), max(c.clipped.end for c in context))
    spoken = tuple(part for u in speech if (part := u.interval.clip(clip)))
    return SlotPlan(slot, shown_shots(context, frames), frames, Grammar(), spoken)


def _look(plans: Sequence[SlotPlan], bench: Bench, engine: Engine) -> list[Record]:
    """Stage I's record of each plan. Only clips whose record is missing are read and asked about."""
    log = bench.folder.log_of_records("stage1")
    pixels = key_of(bench.film_key, bench.frames.key)
    asked = [stage1.question(plan, engine, bench.config, pixels) for plan in plans]
    missing = {q.plan.slot.id: q for q in asked if not _is_done(log.get(q.key))}
    wants = [ClipPlan(slot_id, q.plan.frames) for slot_id, q in missing.items()]
    with reported(bench.progress, "Looking at the film", len(missing), "slots") as task:
        for slot_id, clip in clips(wants, bench.frames.pictures):
            question = missing.pop(slot_id)
            log.add(question.key, stage1.answer(question, clip, engine, bench.config))
            task.advance()
    for question in missing.values():
        log.add(question.key, stage1.unread(question, engine))
    log.keep(question.key for question in asked)
    bench.frames.release()
    return [log.record(question.key) for question in asked]


def _write(
    plans: Sequence[SlotPlan], seen: Sequence[Record], prepared: Prepared, bench: Bench, engine: Engine
) -> list[Cue]:
    """The cue of each plan in turn, so that each can know the lines before it."""
    log, config = bench.folder.log_of_records("stage2"), bench.config
    speech = [utterance.interval for utterance in prepared.speech]
    cues: list[Cue] = []
    keys: list[str] = []
    with reported(bench.progress, "Writing lines", len(plans), "slots") as task:
        for plan, look in zip(plans, seen, strict=True):
            lines = last_lines(cues, config.stage2.history)
            record = None
            if not stage1.failed(look):
                said = lines if engine.abilities.uses_history else ()
                question = stage2.question(plan, description_of(plan.slot.id, look), said, engine, config)
                keys.append(question.key)
                if not _is_done(log.get(question.key)):
                    log.add(question.key, stage2.answer(question, engine, config))
                record = log.record(question.key)
            around = Around(speech, lines, given=bench.given.slots is not None)
            cues.append(cue_of(plan.slot, look, record, config, around))
            task.advance()
    log.keep(keys)
    return cues


def last_lines(cues: Sequence[Cue], number: int) -> tuple[str, ...]:
    """The last ``number`` lines that are heard, oldest first."""
    heard = [cue.text for cue in cues if cue.heard]
    return tuple(heard[-number:]) if number else ()


def _is_done(record: Record | None) -> bool:
    """A failed answer is asked for again on the next run."""
    return record is not None and record["error"] is None
