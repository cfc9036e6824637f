"""From a film to its audio-description track, in three acts.

prepare      film → shots, speech → slots
understand   slots → context, frames, grammar
write        clips → Stage I → Stage II → track → scripts, overview
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shotad.config import Config
from shotad.describe import stage1, stage2
from shotad.describe.lines import Around, cue_of
from shotad.describe.prompts import check_prompts
from shotad.describe.slotplan import SlotPlan
from shotad.engines import make_engine, stage_engines
from shotad.engines.base import Engine
from shotad.film.clips import ClipPlan, clips
from shotad.film.reader import Film
from shotad.outcome import Outcome
from shotad.prepare import Bench, Given, Prepared, prepare
from shotad.progress import NoProgress, Progress, reported
from shotad.records import description_of
from shotad.script.cue import Cue, Maker
from shotad.sheet import write_sheet
from shotad.tracking import write_track
from shotad.understand import get_ready, understand
from shotad.weights import weights_file
from shotad.workfolder import WorkFolder, key_of

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
        return Engines(
            make_engine(names.stage1, config, "stage1"), make_engine(names.stage2, config, "stage2")
        )


def describe(
    film: Film,
    folder: WorkFolder,
    config: Config,
    given: Given | None = None,
    *,
    engines: Engines | None = None,
    progress: Progress | None = None,
    discard_edits: bool = False,
    sheet: bool = True,
) -> Outcome:
    """Write the AD track of ``film`` into ``folder``; what is already done there is not done again.

    ``sheet``: whether the overview is drawn too.
    """
    given = given or Given()
    engines = engines or Engines.of(config)
    check_prompts()
    bench = Bench.of(film, folder, config, given, progress or NoProgress())
    for name in (*engines.looks.abilities.weights, *engines.writes.abilities.weights):
        weights_file(name, bench.progress)
    get_ready(bench)
    prepared = prepare(bench)
    understood = understand(prepared, bench, engines.looks.abilities.frames_per_second)
    cues = write(understood.plans, prepared, bench, engines)
    outcome = write_track(cues, prepared, bench, makers_of(engines), discard_edits=discard_edits)
    drawn = write_sheet(folder.path, bench.frames.pictures, config, bench.progress) if sheet else ()
    bench.frames.release()
    return replace(outcome, sheet=drawn, warnings=(*outcome.warnings, *understood.warnings))


def write(plans: Sequence[SlotPlan], prepared: Prepared, bench: Bench, engines: Engines) -> list[Cue]:
    """The cue of each plan: a line, silent or failed; every answer is kept as soon as it is there."""
    seen = _look(plans, bench, engines.looks)
    return _write(plans, seen, prepared, bench, engines.writes)


def makers_of(engines: Engines) -> tuple[Maker, ...]:
    """Both engines as the track names them."""
    pairs = (("Stage I", engines.looks.identity), ("Stage II", engines.writes.identity))
    return tuple(Maker(stage, who.engine, who.model, who.revision) for stage, who in pairs)


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
