"""Asks the engine of Stage I about every slot: plans go in, records come out, each kept at once.

It may begin while the film's shots are still being found: a gap before the second up to which shots are final
gets its slots as it will in the end, and a slot whose clip lies there too is shown at once. Nothing depends
on these being right. What is asked is kept under its usual key: where the film turns out otherwise the
question is another one, and is put as ever.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any

from shotad.core import (
    Clip,
    Engine,
    Interval,
    NoProgress,
    RecordLog,
    Shot,
    Slot,
    Task,
    key_of,
    shot_rows,
    shots_of,
    span,
)
from shotad.description.clip_builder import ClipBuilder, ClipDraft, ClipPlans
from shotad.description.conversation import Named, ProfileNames, Who, converse, identity_record, of_other
from shotad.description.engine_pair import Engines
from shotad.description.preparing import Bench, Heard
from shotad.description.slotplan import SlotPlan
from shotad.description.stage1 import (
    Stage1Question,
    stage1_as_seen,
    stage1_inquiry,
    stage1_question,
    stage1_unread,
)
from shotad.engines import Belt, CalledOff, Flow
from shotad.film import BREATH, STILLS, ClipPlan, Frames, OnShots, Prepared, clips, plan_slots
from shotad.sight import credit_moments

Record = Mapping[str, Any]
Pair = tuple[SlotPlan, Record]
"""A slot, and what Stage I says of it."""

PLANS_AHEAD = 8
"""Plans that are made before their clips are read: the film grammar of a minute or so."""


def is_done(record: Record | None) -> bool:
    """A failed answer is asked for again on the next run, and so is a line that could not be looked for."""
    return record is not None and record["error"] is None and not record.get("unlooked")


def stage1_questions(plans: Sequence[SlotPlan], bench: Bench, engine: Engine) -> list[Stage1Question]:
    """Stage I's question about each plan."""
    pixels = key_of(bench.film_key, bench.frames.key)
    return [stage1_question(plan, engine, bench.config, pixels) for plan in plans]


def clip_as_seen(plan: SlotPlan, bench: Bench, engine: Engine) -> Clip:
    """The clip of one slot, read by itself, as the engine of Stage I is to see it."""
    ((_, clip),) = clips([ClipPlan(plan.slot.id, plan.frames)], bench.frames.pictures)
    return stage1_as_seen(clip, plan, engine, bench.config)


def reads_alone(bench: Bench) -> bool:
    """Whether one thread at a time may read the film."""
    return bench.config.film.reader == "decord" or bench.film.info.video_codec == STILLS


def tidied(log: RecordLog, keys: Sequence[str], bench: Bench, maker: Record) -> None:
    """Stale records go; but after a run over a part of the film none, for those of the rest are not stale.

    The last answers of other engines are kept aside: they may have been paid for.
    """
    if bench.given.start <= 0 and bench.given.end is None:
        log.keep(keys, lambda record: of_other(record, maker))


@dataclass(frozen=True, slots=True)
class SlotStream:
    """The slots in order: their clips, the plans that are known from the start (None: not yet), and all plans
    as they come."""

    sketches: tuple[SlotPlan, ...]
    known: tuple[SlotPlan | None, ...]
    plans: Iterable[SlotPlan]

    @staticmethod
    def of(plans: Sequence[SlotPlan]) -> SlotStream:
        """Plans that are all known."""
        return SlotStream(tuple(plans), tuple(plans), plans)

    @staticmethod
    def out_of(outline: ClipPlans, builder: ClipBuilder) -> SlotStream:
        """Plans that are still being made."""
        sketches = tuple(sketch.plan for sketch in outline.sketches)
        return SlotStream(sketches, tuple(map(builder.known, outline.sketches)), builder.plans(outline))


class Stage1Runner:
    """Asks the engine of Stage I about each slot whose answer is missing.

    ``made`` are the records that this run made. ``early`` counts those that were asked for while shots were
    being found, ``in_vain`` those of them that were of no use.
    """

    def __init__(self, bench: Bench, engine: Engine, flow: Flow) -> None:
        self.made: list[Record] = []
        self.early = self.in_vain = 0
        self._bench, self._engine, self._flow = bench, engine, flow
        self._pixels = key_of(bench.film_key, bench.frames.key)
        self._log = bench.folder.log_of_records("stage1")
        self._stream: Belt[SlotStream] = flow.belt(maker="shots", taker="frames")
        self._news: Belt[str] = flow.belt()
        self._sketches: Belt[ClipDraft] | None = None
        self._builder: ClipBuilder | None = None
        self._order: list[tuple[SlotPlan, str]] = []
        self._settled: set[str] = set()
        self._slots: dict[str, str] = {}
        self._asked_early: set[str] = set()
        self._unread: list[Stage1Question] = []
        self._counted: set[str] = set()
        self._task: Task = NoProgress().task("", None, "")

    def begin_early(self, builder: ClipBuilder) -> Belt[ClipDraft]:
        """Begin to look, in a thread, at what is laid on the belt that is returned."""
        sketches: Belt[ClipDraft] = self._flow.belt(maker="shots", taker="grammar")
        self._builder, self._sketches = builder, sketches
        self._flow.begin(self._look, name="stage1", asks=True)
        return sketches

    def pairs(self, stream: SlotStream, *, beside: bool) -> Iterator[Pair]:
        """What Stage I says of each slot, in order: ``beside`` other work, as soon as it is there, or when
        all is. Raises what stops the run, after what can still be had."""
        self._stream.put(stream)
        if self._sketches is not None:
            # Of these all is known now: they come with the others, so that Stage II waits for none of them.
            self._sketches.cut()
        elif beside:
            self._flow.begin(self._look, name="stage1", asks=True)
        else:
            self._look()
        if not beside:
            for _ in self._news:
                pass
        for place in range(len(stream.sketches)):
            while not self._is_ready(place) and next(self._news, None) is not None:
                pass
            plan, key = self._order[place]
            yield plan, self._log.record(key)
        self._finish()

    def _is_ready(self, place: int) -> bool:
        return place < len(self._order) and self._order[place][1] in self._settled

    def _finish(self) -> None:
        keys = [key for _, key in self._order]
        self.in_vain = len(self._asked_early.difference(keys))
        tidied(self._log, keys, self._bench, identity_record(self._engine.identity))

    def _look(self) -> None:
        """Ask about all that comes. Answers that come when nobody waits any more are kept all the same."""
        error: BaseException | None = None
        try:
            for key in self._answers():
                with suppress(CalledOff):
                    self._news.put(key)
        except BaseException as trouble:  # noqa: BLE001  handed over to who takes the records
            error = trouble
        self._task.done()
        self._news.end(error)

    def _answers(self) -> Iterator[str]:
        """The key of each record that is new."""
        talks: dict[Who, Engine] = {"looks": self._engine}
        profile = ProfileNames("stage1", "frames", feeds="frames")
        with closing(converse(self._inquiries(), talks, profile=profile, flow=self._flow)) as answers:
            for key, record in answers:
                self.made.append(self._flow.kept(self._log.add, key, record))
                yield self._settle(key)
        for question in self._unread:
            self._flow.kept(self._log.add, question.key, stage1_unread(question, self._engine))
            yield self._settle(question.key)

    def _settle(self, key: str) -> str:
        self._settled.add(key)
        if self._slots[key] in self._counted:
            self._task.advance()
        return key

    def _inquiries(self) -> Iterator[Named]:
        """What is to be asked; clips are read as it is drawn."""
        if self._builder is not None and self._sketches is not None:
            plans = self._builder.early(self._sketches)
            for plan in self._flow.ahead(plans, PLANS_AHEAD, name="grammar", maker="grammar", taker="frames"):
                yield from self._early(plan)
        yield from self._all(next(self._stream))

    def _early(self, plan: SlotPlan) -> Iterator[Named]:
        """The inquiry of a slot that is not there yet, and has not failed before: that one is asked last."""
        question = self._question(plan)
        clip = None if self._log.get(question.key) else self._clip(plan)
        if clip is not None:
            self.early += 1
            self._asked_early.add(question.key)
            yield self._inquiry(question, clip)

    def _all(self, stream: SlotStream) -> Iterator[Named]:
        """The inquiries of all slots whose answers are missing; of those that failed before last."""
        sure = self._surely_missing(stream)
        read = _InOrder(
            clips([ClipPlan(p.slot.id, p.frames) for p in sure], self._bench.frames.pictures), sure
        )
        self._announce(stream)
        again: list[Stage1Question] = []
        for plan in self._flowing(stream):
            question = self._question(plan)
            self._order.append((plan, question.key))
            record = self._log.get(question.key)
            if question.key in self._asked_early:
                if question.key in self._settled:
                    # It was told before anybody knew its place.
                    self._news.put(question.key)
                continue
            if is_done(record):
                self._news.put(self._settle(question.key))
            elif record is not None:
                again.append(question)
            else:
                with span("frames"):
                    clip = read.clip(plan.slot.id) if plan.slot.id in read else self._clip(plan)
                if clip is not None:
                    yield self._inquiry(question, clip)
                else:
                    self._unread.append(question)
        yield from self._again(again)

    def _again(self, questions: Sequence[Stage1Question]) -> Iterator[Named]:
        left = {question.plan.slot.id: question for question in questions}
        wants = [ClipPlan(name, question.plan.frames) for name, question in left.items()]
        for name, clip in clips(wants, self._bench.frames.pictures):
            yield self._inquiry(left.pop(name), clip)
        self._unread += left.values()

    def _surely_missing(self, stream: SlotStream) -> list[SlotPlan]:
        """The slots whose clips are wanted whatever their film grammar is: one pass reads them all. The
        clips of others are read one by one, if it turns out that they are wanted."""
        recorded = {str(record.get("slot")) for record in self._log.records()}
        recorded.update(self._slots.values())
        missing = []
        for sketch, plan in zip(stream.sketches, stream.known, strict=True):
            if plan is None:
                wanted = sketch.slot.id not in recorded
            else:
                key = self._question(plan).key
                wanted = self._log.get(key) is None and key not in self._asked_early
            if wanted:
                missing.append(sketch)
        return missing

    def _announce(self, stream: SlotStream) -> None:
        """A task for the slots that are not settled yet, as far as that is known."""
        done = {plan.slot.id for plan in stream.known if plan is not None and self._is_answered(plan)}
        self._counted = {sketch.slot.id for sketch in stream.sketches} - done
        if self._counted:
            self._task = self._bench.progress.task("Looking at the film", len(self._counted), "slots")

    def _is_answered(self, plan: SlotPlan) -> bool:
        return is_done(self._log.get(self._question(plan).key))

    def _flowing(self, stream: SlotStream) -> Iterable[SlotPlan]:
        """The plans, which are made while the clips of those before them are read and asked about."""
        if None not in stream.known:
            return stream.plans
        if self._bench.config.compute.overlap == "none" or reads_alone(self._bench):
            return list(stream.plans)
        return self._flow.ahead(stream.plans, PLANS_AHEAD, name="grammar", maker="grammar", taker="frames")

    def _question(self, plan: SlotPlan) -> Stage1Question:
        question = stage1_question(plan, self._engine, self._bench.config, self._pixels)
        self._slots[question.key] = plan.slot.id
        return question

    def _inquiry(self, question: Stage1Question, clip: Clip) -> Named:
        with span("frames"):
            seen = stage1_as_seen(clip, question.plan, self._engine, self._bench.config)
        return question.key, stage1_inquiry(question, seen, self._engine, self._bench.config)

    def _clip(self, plan: SlotPlan) -> Clip | None:
        """The clip read by itself; None where no frame of it can be had."""
        with span("frames"):
            found = list(clips([ClipPlan(plan.slot.id, plan.frames)], self._bench.frames.pictures))
        return found[0][1] if found else None


class _InOrder:
    """Clips that are read in the order of ``plans``, some of which may not be had."""

    def __init__(self, source: Iterator[tuple[str, Clip]], plans: Sequence[SlotPlan]) -> None:
        self._source = source
        self._places = {plan.slot.id: place for place, plan in enumerate(plans)}
        self._next: tuple[str, Clip] | None = None

    def __contains__(self, slot_id: str) -> bool:
        return slot_id in self._places

    def clip(self, slot_id: str) -> Clip | None:
        """The clip of a slot that comes after those asked for before; None where it cannot be had."""
        if self._next is None:
            self._next = next(self._source, None)
        if self._next is None or self._places[self._next[0]] > self._places[slot_id]:
            return None
        (_, clip), self._next = self._next, None
        return clip


UNSURE_END = 5.0
"""Seconds by which the film may end before its container says so: end credits are looked for from its end."""

UNREAD = 12.0
"""Seconds by which the frames that can be read are behind, where nobody says how far they are: they are kept
in blocks."""


class EarlyLooks:
    """Hands Stage I those slots that will not change any more."""

    def __init__(self, bench: Bench, engines: Engines, runner: Stage1Runner, builder: ClipBuilder) -> None:
        self._bench, self._engines = bench, engines
        self._runner, self._builder = runner, builder

    def watch(self, heard: Heard) -> OnShots | None:
        """Who is to be told of shots, where early looks are of use; asked before the pass over the picture.

        Not with a cast, which needs the whole film; nor where a part is described, slots are given or a
        person changed them.
        """
        given, frames = self._bench.given, self._bench.frames
        part = given.start > 0 or given.end is not None
        fixed = given.slots is not None or given.cast is not None or bool(heard.hand)
        if part or fixed or frames.exact or not self._engines.gains_early(self._bench.config):
            return None
        return _Watch(self._bench, heard, self._builder, self._runner.begin_early(self._builder)).on_shots


class _Watch:
    """What is final so far: gaps with their slots, of which the first ``_waiting`` are not shown yet."""

    def __init__(self, bench: Bench, heard: Heard, builder: ClipBuilder, sketches: Belt[ClipDraft]) -> None:
        self._bench, self._heard, self._builder, self._sketches = bench, heard, builder, sketches
        self._end = bench.film.info.duration
        moments = credit_moments(self._end - UNSURE_END) if bench.config.slots.find_credits else []
        self._until = moments[0] - BREATH if moments else self._end - UNSURE_END
        self._gaps = deque(gap for gap in heard.free if gap.end <= self._until)
        self._waiting: deque[Slot] = deque()

    def on_shots(self, shots: tuple[Shot, ...], until: float) -> None:
        """Lay the sketches of slots that are final now on the belt. ``shots`` are those with both ends, and
        no cut will be found before second ``until``."""
        known = shots_of(shot_rows(shots, range(1, len(shots)))) if shots else ()
        open_from = known[-1].interval.end if known else 0.0
        if until <= open_from or not (self._gaps or self._waiting):
            return
        # The shot that has not ended: as it stands it counts as the rest of the film.
        all_ = (*known, Shot(len(known), Interval(open_from, max(self._end, until) + UNSURE_END)))
        while self._gaps and self._gaps[0].end <= until:
            gap = self._gaps.popleft()
            self._waiting += plan_slots(
                [gap], _near(gap, all_), self._bench.config.slots, film=Interval(0.0, self._end)
            )
        prepared = Prepared(self._bench.film.info, self._end, all_, self._heard.speech, (), ())
        while self._waiting:
            sketch = self._builder.sketch(self._waiting[0], prepared)
            if not _is_final(sketch, len(known), _readable(self._bench.frames, until)):
                return
            self._sketches.put(sketch)
            self._waiting.popleft()


def _near(gap: Interval, shots: Sequence[Shot]) -> list[Shot]:
    """The shots that matter for where slots of ``gap`` begin."""
    return [shot for shot in shots if gap.start - 1 <= shot.interval.start <= gap.end]


def _readable(frames: Frames, until: float) -> float:
    """The second up to which frames can be read without decoding them anew."""
    filled = frames.filled_until
    return until - UNREAD if filled is None else min(until, filled)


def _is_final(sketch: ClipDraft, ended: int, until: float) -> bool:
    """Whether all shots that the clip shows have ended, and all their frames can be read."""
    return all(piece.shot.index < ended and piece.shot.interval.end <= until for piece in sketch.context)
