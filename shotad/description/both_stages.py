"""Both stages over the slots of a film: every clip is described, every line written, and made a cue.

All that engines answer is in the work folder's memory (``answers.jsonl``), so a run that was killed asks the
same again and goes on. What people read of it, ``stage1.jsonl`` and ``stage2.jsonl``, is written beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from shotad.core import (
    Config,
    Engine,
    RecordLog,
    Slot,
    Task,
    WorkFolder,
)
from shotad.core.progress import progress_task
from shotad.core.workfolder import hash_key
from shotad.description.choice import Situation, make_chooser
from shotad.description.cues import cue_of
from shotad.description.engine_pair import Engines, EngineUsage, engine_usage
from shotad.description.preparation import RunContext
from shotad.description.slotplan import SlotPlan
from shotad.description.stage1 import STAGE1_STEP, clip_of, describe_clip
from shotad.description.stage2 import STAGE2_STEP, write_lines
from shotad.description.stage_answers import Stage1Answer, Stage2Answer
from shotad.description.story import StoryTeller
from shotad.engines import (
    AnswerLog,
    AskingPool,
    ClipOnDemand,
    Memory,
    NoMemory,
)
from shotad.engines.answer_log import ANSWERS_RECORD
from shotad.film import Prepared
from shotad.film.singing import is_left_empty
from shotad.script import Cue
from shotad.script.track_texts import texts_in

LINES_BEFORE_LOOKS = 64
"""Lines that are written before Stage I looks for them, where both engines are models of this machine: fewer,
and the two are loaded in turn too often; more, and a killed run loses more."""


@dataclass(frozen=True, slots=True)
class DescribedSlot:
    """What both stages answered about the slot of a plan; ``stage2`` is None where no line was asked for."""

    plan: SlotPlan
    stage1: Stage1Answer
    stage2: Stage2Answer | None = None


@dataclass(frozen=True, slots=True)
class WrittenSlots:
    """The slots of a film as both stages described them, the cue of each, both in order; and the calls and
    tokens of the engines."""

    slots: tuple[DescribedSlot, ...]
    cues: tuple[Cue, ...]
    used: EngineUsage


ClipOf = Callable[[SlotPlan, RunContext, Engine], ClipOnDemand]
"""Gives the clip of a slot as an engine sees it; see `clip_of`."""


def ignore_cue(_cue: Cue) -> None:
    """Does nothing with a line."""


def write_slots(
    plans: Iterable[SlotPlan],
    number: int,
    prepared: Prepared,
    context: RunContext,
    engines: Engines,
    *,
    memory: Memory | None = None,
    clip_of: ClipOf = clip_of,
    films: AskingPool | None = None,
    on_cue: Callable[[Cue], object] = ignore_cue,
) -> WrittenSlots:
    """Describe and write the slots of ``plans``, of which there are ``number``; they may come one by one.

    Clips are described side by side, and lines too, unless each is told the lines before it. ``memory`` knows
    what was answered before (None: that of the work folder, which is tidied after a run over the whole film).
    ``films`` is the pool of a run over many films, whose questions go to the engines together. ``on_cue`` is
    called with each cue as soon as it is written, in order and in this thread; people's edits are not in it
    yet. Raises what stops the run, what ``on_cue`` raises too; all that was answered till then is kept.
    """
    config, folder = context.config, context.folder
    answers = AnswerLog(folder.log_of_records(ANSWERS_RECORD)) if memory is None else None
    records = StageRecords(folder)
    is_whole_film = context.run_inputs.start <= 0 and context.run_inputs.end is None
    # A benchmark's slots and budgets have limits of their own.
    is_benchmark = context.run_inputs.slots is not None or config.slots.budget != "fit"
    speech = [utterance.interval for utterance in prepared.speech]
    slots: list[DescribedSlot] = []
    cues: list[Cue] = []

    own_memory = answers or memory or NoMemory()
    with (
        engines.pool(config, own_memory) if films is None else films.nested(own_memory) as pool,
        progress_task(context.progress, "Looking at the film", number, "slots") as looking,
        ExitStack() as tasks,
    ):
        writing: Task | None = None
        choose = make_chooser(config, pool, context.progress)
        story = StoryTeller(prepared.speech, config, pool, folder.log_of_records("story"))

        def describe(plan: SlotPlan) -> DescribedSlot:
            stage1 = describe_clip(pool, plan, config, clip_of(plan, context, engines.stage1))
            records.add_stage1(stage1)
            return DescribedSlot(plan, stage1)

        def write(described: DescribedSlot) -> DescribedSlot:
            plan, stage1 = described.plan, described.stage1
            # No line is asked for where there is no description, or where somebody sings.
            if stage1.error is not None or is_left_empty(plan.slot, config.speech):
                return described
            lines_before = [cue.text for cue in cues if cue.heard]
            stage2 = write_lines(
                pool,
                plan,
                stage1.description,
                config,
                history=lines_before if engines.stage2.abilities.uses_history else (),
                story=story.context(plan.slot, stage1.description.text, plan.presence),
                clip=clip_of(plan, context, engines.stage1),
            )
            records.add_stage2(stage2)
            return replace(described, stage2=stage2)

        looking_at_once = min(pool.workers("stage1"), max(number, 1))
        described_slots = pool.map(describe, plans, workers=looking_at_once, advance=looking.advance)
        written_slots: Iterator[DescribedSlot]
        if engines.in_turn(config):
            # Each question is told the lines before it, so it is put when those have become cues, below.
            written_slots = map(write, described_slots)
        else:
            side_by_side = max(pool.workers("stage1"), pool.workers("stage2"))
            if engines.take_turns:
                side_by_side = max(LINES_BEFORE_LOOKS, pool.workers("stage2"))
            written_slots = pool.map(write, described_slots, workers=min(side_by_side, max(number, 1)))
        for described in written_slots:
            # The task begins with the first line: till then only Stage I is at work.
            if writing is None:
                writing = tasks.enter_context(
                    progress_task(context.progress, "Writing lines", number, "slots")
                )
            lines_before = tuple(cue.text for cue in cues if cue.heard)
            slot, presence = described.plan.slot, described.plan.presence
            situation = Situation(slot, lines_before, speech, presence, is_benchmark)
            unwritten = _why_left_empty(slot, config)
            cue = cue_of(situation, described.stage1, described.stage2, config, choose, unwritten=unwritten)
            if cue.heard:
                story.add_line(cue)
            slots.append(described)
            cues.append(cue)
            writing.advance()
            # The caller of a function that raises waits for its error, not for answers that take a minute.
            with pool.stopped_soon_by_errors():
                on_cue(cue)

    if is_whole_film and answers is not None:
        # Of a part of the film one cannot know which records are stale.
        answers.tidy()
        records.tidy(slots)
    return WrittenSlots(tuple(slots), tuple(cues), engine_usage(pool.usage, engines.terms(config)))


class StageRecords:
    """``stage1.jsonl`` and ``stage2.jsonl`` of a work folder: what both stages answered, for people to read.

    May be called by several threads. Records are made again by every run, so they need not be on the disk
    before the next begins.
    """

    def __init__(self, folder: WorkFolder) -> None:
        self._stage1 = folder.log_of_records("stage1", durable=False)
        self._stage2 = folder.log_of_records("stage2", durable=False)
        self._last_stage1 = _last_keys(self._stage1)
        self._last_stage2 = _last_keys(self._stage2)

    def add_stage1(self, answer: Stage1Answer) -> None:
        """Write the record of a slot, unless it is its last one already."""
        _add(self._stage1, self._last_stage1, STAGE1_STEP, answer)

    def add_stage2(self, answer: Stage2Answer) -> None:
        """Write the record of a slot, unless it is its last one already."""
        _add(self._stage2, self._last_stage2, STAGE2_STEP, answer)

    def tidy(self, slots: Sequence[DescribedSlot]) -> None:
        """Keep the records of these slots, in their order; stale ones go."""
        self._stage1.keep(hash_key(STAGE1_STEP, slot.stage1.to_json()) for slot in slots)
        self._stage2.keep(
            hash_key(STAGE2_STEP, slot.stage2.to_json()) for slot in slots if slot.stage2 is not None
        )


def _last_keys(log: RecordLog) -> dict[str, str]:
    """The key of the last record of each slot, which is the one that readers take."""
    return {str(record.get("slot")): record["key"] for record in log.records()}


def _add(
    log: RecordLog, last_keys: Mapping[str, str], step: str, answer: Stage1Answer | Stage2Answer
) -> None:
    record = answer.to_json()
    key = hash_key(step, record)
    present = {name: value for name, value in (log.get(key) or {}).items() if name != "key"}
    # A person may have changed the record that is there.
    if last_keys.get(answer.slot_id) != key or hash_key(step, present) != key:
        log.add(key, record)


def _why_left_empty(slot: Slot, config: Config) -> str:
    """Why no line is written in a slot unless a person asks for one; empty where one is written."""
    if not is_left_empty(slot, config.speech):
        return ""
    return texts_in(config.language)(f"reason.{slot.voice}")
