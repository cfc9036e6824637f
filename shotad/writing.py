"""The third act: clips → Stage I → Stage II → cues. Every answer is kept as soon as it is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from shotad.config import Config
from shotad.describe import stage1, stage2
from shotad.describe.ask import ask_all, identity_record
from shotad.describe.converse import Named, Who, converse
from shotad.describe.estimate import Terms
from shotad.describe.lines import Around, cue_of
from shotad.describe.sequence import make_chooser
from shotad.describe.slotplan import SlotPlan
from shotad.describe.telling import Telling
from shotad.engines import make_engine, stage_engines
from shotad.engines.base import Engine, Foreseeable, Preparing, Reply, Request, Stage
from shotad.errors import EngineError
from shotad.film.clips import ClipPlan, clips
from shotad.language.embeddings import check_installed
from shotad.language.whichmodel import DEFAULT as EMBEDDINGS
from shotad.prepare import Bench, Prepared
from shotad.progress import Progress, Task, reported
from shotad.records import description_of
from shotad.script.cue import Cue, Maker
from shotad.types import Clip
from shotad.weights import weights_file, weights_folder
from shotad.workfolder import RecordLog, key_of

Record = Mapping[str, Any]

UNLOOKED = 64
"""Lines that are written before the engine of Stage I looks for them. Fewer, and two models that do not fit
together are loaded in turn too often; more, and a killed run loses more, for a line is kept when it has been
looked for."""
Asked = TypeVar("Asked", stage1.Question, stage2.Question)


@dataclass(frozen=True, slots=True)
class Engines:
    """Who looks (Stage I) and who writes (Stage II)."""

    looks: Engine
    writes: Engine

    @staticmethod
    def of(config: Config) -> Engines:
        """The engines that the settings name."""
        names = stage_engines(config)
        looks, writes = (
            make_engine(names.stage1, config, "stage1"),
            make_engine(names.stage2, config, "stage2"),
        )
        return Engines(looks, writes)

    def get_ready(self, config: Config, progress: Progress) -> None:
        """Refuse what cannot work and fetch what is wanted, before any work goes into the film.

        Raises EngineError, WeightsError, and ShotadError where an extra is not installed.
        """
        for engine in (self.looks, self.writes):
            if isinstance(engine, Preparing):
                engine.get_ready(progress)
            for name in engine.abilities.weights:
                weights_file(name, progress)
        if config.verify.on and not self.looks.abilities.converses:
            name = self.looks.identity.engine
            raise EngineError(
                f"verify.on asks the engine of Stage I, but {name} answers no questions.",
                "Choose a vision-language model for Stage I, or leave --verify away.",
            )
        if config.stage2.select == "sequence":
            check_installed()
            weights_folder(EMBEDDINGS, progress)
        if config.story.on and not self.writes.abilities.converses:
            name = self.writes.identity.engine
            raise EngineError(
                f"story.on tells the engine of Stage II what came before, but {name} reads no prompts.",
                "Choose a language model for Stage II, or leave --context away.",
            )

    def ready_if_here(self) -> None:
        """Make ``identity`` final where that needs nothing to be fetched."""
        for engine in (self.looks, self.writes):
            if isinstance(engine, Foreseeable):
                engine.ready_if_here()

    def in_turn(self, config: Config) -> bool:
        """Whether a line's question depends on the lines before it."""
        return self.writes.abilities.uses_history or config.story.on

    def at_work(self, config: Config) -> dict[Who, Engine]:
        """Those that Stage II asks: who writes, and who looks where lines are verified."""
        talk: dict[Who, Engine] = {"writes": self.writes}
        return {**talk, "looks": self.looks} if config.verify.on else talk

    def terms(self, config: Config) -> dict[Stage, Terms]:
        """On what terms they answer."""
        return {"stage1": Terms.of(self.looks, config), "stage2": Terms.of(self.writes, config)}

    @property
    def makers(self) -> tuple[Maker, ...]:
        """Both engines as the track names them."""
        pairs = (("Stage I", self.looks.identity), ("Stage II", self.writes.identity))
        return tuple(Maker(stage, who.engine, who.model, who.revision) for stage, who in pairs)


@dataclass(slots=True)
class Written:
    """The cues, and the records that this run made to get them: of both stages, and of choices and notes."""

    cues: list[Cue] = field(default_factory=list)
    seen: list[Record] = field(default_factory=list)
    lines: list[Record] = field(default_factory=list)
    other: list[Record] = field(default_factory=list)


def write(plans: Sequence[SlotPlan], prepared: Prepared, bench: Bench, engines: Engines) -> Written:
    """The cue of each plan: a line, silent or failed."""
    written = Written()
    seen = _look(plans, bench, engines.looks, written.seen)
    desk = _Desk(bench, engines, prepared, written)
    desk.write(plans, seen)
    return written


def stage1_questions(plans: Sequence[SlotPlan], bench: Bench, engine: Engine) -> list[stage1.Question]:
    """Stage I's question about each plan."""
    pixels = key_of(bench.film_key, bench.frames.key)
    return [stage1.question(plan, engine, bench.config, pixels) for plan in plans]


def around_of(last_lines: Sequence[str], prepared: Prepared, bench: Bench) -> Around:
    """What a line of this run is judged by; a benchmark's slots and budgets have limits of their own."""
    given = bench.given.slots is not None or bench.config.slots.budget == "paper"
    return Around([utterance.interval for utterance in prepared.speech], last_lines, given=given)


def clip_as_seen(plan: SlotPlan, bench: Bench, engine: Engine) -> Clip:
    """The clip of one slot, read by itself, as the engine of Stage I is to see it."""
    ((_, clip),) = clips([ClipPlan(plan.slot.id, plan.frames)], bench.frames.pictures)
    return stage1.as_seen(clip, plan, engine, bench.config)


def is_done(record: Record | None) -> bool:
    """A failed answer is asked for again on the next run, and so is a line that could not be looked for."""
    return record is not None and record["error"] is None and not record.get("unlooked")


def failed_last(open_: Iterable[Asked], log: RecordLog) -> tuple[list[Asked], list[Asked]]:
    """Questions that were never answered, then those that failed before: these must not stop every run
    before the others have been asked."""
    new: list[Asked] = []
    old: list[Asked] = []
    for question in open_:
        (new if log.get(question.key) is None else old).append(question)
    return new, old


def _look(plans: Sequence[SlotPlan], bench: Bench, engine: Engine, made: list[Record]) -> list[Record]:
    """Stage I's record of each plan. Only clips whose record is missing are read and asked about."""
    log = bench.folder.log_of_records("stage1")
    asked = stage1_questions(plans, bench, engine)
    missing = {q.plan.slot.id: q for q in asked if not is_done(log.get(q.key))}
    unread = dict(missing)

    def inquiries() -> Iterator[Named]:
        for group in failed_last(missing.values(), log):
            wants = [ClipPlan(q.plan.slot.id, q.plan.frames) for q in group]
            for slot_id, clip in clips(wants, bench.frames.pictures):
                question = missing[slot_id]
                seen = stage1.as_seen(clip, question.plan, engine, bench.config)
                yield slot_id, stage1.inquiry(question, seen, engine, bench.config)

    with reported(bench.progress, "Looking at the film", len(missing), "slots") as task:
        for slot_id, record in converse(inquiries(), {"looks": engine}):
            made.append(log.add(unread.pop(slot_id).key, record))
            task.advance()
    for question in unread.values():
        log.add(question.key, stage1.unread(question, engine))
    _tidied(log, [question.key for question in asked], bench, identity_record(engine.identity))
    return [log.record(question.key) for question in asked]


def _of_other(record: Record, maker: Record) -> tuple[str, str] | None:
    """Slot and maker of an answer by another engine; None for one of ``maker`` and for a failed one."""
    if record.get("error") is not None or record.get("maker") == maker:
        return None
    return str(record.get("slot")), key_of(record.get("maker"))


def _tidied(log: RecordLog, keys: Sequence[str], bench: Bench, maker: Record) -> None:
    """Stale records go; but after a run over a part of the film none, for those of the rest are not stale.

    The last answers of other engines are kept aside: they may have been paid for.
    """
    if bench.given.start <= 0 and bench.given.end is None:
        log.keep(keys, lambda record: _of_other(record, maker))


class _Desk:
    """Where Stage II is asked and cues are made, with what was said before at hand."""

    def __init__(self, bench: Bench, engines: Engines, prepared: Prepared, written: Written) -> None:
        self._bench, self._engines, self._prepared = bench, engines, prepared
        self._config, self._written = bench.config, written
        self._log = bench.folder.log_of_records("stage2")
        self._keys: list[str] = []
        self._plans: dict[str, SlotPlan] = {}
        writes = engines.writes.identity
        choices, story = (self._kept(name, wanted) for name, wanted in self._logs())
        self._chooser = make_chooser(
            self._config, self._ask, choices.known, choices.keep, bench.progress, identity=writes
        )
        self._telling = Telling(prepared.speech, self._config, writes, self._ask, story.known, story.keep)

    def write(self, plans: Sequence[SlotPlan], seen: Sequence[Record]) -> None:
        """The cue of each plan, in order. Where a question depends on the lines before, one at a time."""
        self._plans = {plan.slot.id: plan for plan in plans}
        pairs = list(zip(plans, seen, strict=True))
        with reported(self._bench.progress, "Writing lines", len(plans), "slots") as task:
            # Where no question depends on a line before it, all of them go out together.
            for group in [[pair] for pair in pairs] if self._engines.in_turn(self._config) else [pairs]:
                asked = self._questions(group)
                task.advance(len(group) - self._answer(asked, task))
                for plan, look in group:
                    question = asked.get(plan.slot.id)
                    self._add(plan, look, self._log.record(question.key) if question else None)
                self._keys += [question.key for question in asked.values()]
        maker = identity_record(self._engines.writes.identity)
        _tidied(self._log, self._keys, self._bench, maker)

    def _questions(self, pairs: Iterable[tuple[SlotPlan, Record]]) -> dict[str, stage2.Question]:
        """By slot; none about a slot that Stage I could not describe."""
        writes, config = self._engines.writes, self._config
        return {
            plan.slot.id: stage2.question(
                plan,
                description_of(plan.slot.id, look),
                self._last_lines() if writes.abilities.uses_history else (),
                writes,
                config,
                story=self._telling.text(plan.slot, plan.presence),
                looks=self._engines.looks.identity,
                shown=str(look["key"]),
            )
            for plan, look in pairs
            if not stage1.failed(look)
        }

    def _answer(self, asked: Mapping[str, stage2.Question], task: Task) -> int:
        """Puts those questions that have no answer yet and keeps the answers; how many those were."""
        open_ = [q for q in asked.values() if not is_done(self._log.get(q.key))]
        missing = {q.plan.slot.id: q for group in failed_last(open_, self._log) for q in group}
        named = ((k, stage2.inquiry(q, self._engines.writes, self._config)) for k, q in missing.items())
        talks = self._engines.at_work(self._config)
        # Verification goes from one engine to the other: many lines are written before any is looked for.
        window = max(UNLOOKED, self._engines.writes.abilities.batch) if self._config.verify.on else None
        for slot_id, record in converse(named, talks, window=window, clip_of=self._clip_of):
            self._written.lines.append(self._log.add(missing[slot_id].key, record))
            task.advance()
        return len(missing)

    def _add(self, plan: SlotPlan, look: Record, record: Record | None) -> None:
        around = around_of(self._last_lines(), self._prepared, self._bench)
        cue = cue_of(plan.slot, look, record, self._config, around, self._chooser, self._said())
        self._written.cues.append(cue)
        if cue.heard:
            self._telling.heard(cue)

    def _said(self) -> tuple[str, ...]:
        """All lines that are heard so far, oldest first."""
        return tuple(cue.text for cue in self._written.cues if cue.heard)

    def _last_lines(self) -> tuple[str, ...]:
        number = self._config.stage2.history
        return self._said()[-number:] if number else ()

    def _logs(self) -> tuple[tuple[str, bool], ...]:
        return ("choices", self._config.stage2.select == "engine"), ("story", self._config.story.on)

    def _kept(self, name: str, wanted: bool) -> Kept:
        return Kept(self._bench.folder.log_of_records(name) if wanted else None, self._written.other)

    def _ask(self, request: Request) -> Reply:
        return ask_all(self._engines.writes, [request])[0]

    def _clip_of(self, slot_id: str) -> Clip:
        return clip_as_seen(self._plans[slot_id], self._bench, self._engines.looks)


@dataclass(frozen=True, slots=True)
class Kept:
    """Answers that are kept for the next run, where there is a log for them."""

    log: RecordLog | None
    made: list[Record]

    def known(self, key: str) -> Record | None:
        return self.log.get(key) if self.log is not None else None

    def keep(self, key: str, record: Record) -> None:
        if self.log is not None:
            self.made.append(self.log.add(key, record))
