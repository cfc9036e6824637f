"""Stage II and the cues: every line is kept as soon as it is there, and made into a cue in its turn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from shotad.core import Clip, RecordLog, Reply, Request, Task, description_of, reported, span, waiting
from shotad.description import stage1, stage2
from shotad.description.ask import ask_all, identity_record
from shotad.description.conversation import Named, Rooms, converse
from shotad.description.lines import Around, cue_of
from shotad.description.preparing import Bench
from shotad.description.sequence import make_chooser
from shotad.description.slotplan import SlotPlan
from shotad.description.story_prompt import Telling
from shotad.description.writing.engines import Engines
from shotad.description.writing.stage1_runner import Pair, Record, clip_as_seen, is_done, tidied
from shotad.engines import Flow
from shotad.film import Prepared
from shotad.script import Cue

UNLOOKED = 64
"""Lines that are written before the engine of Stage I looks for them. Fewer, and two models that do not fit
together are loaded in turn too often; more, and a killed run loses more, for a line is kept when it has been
looked for."""


@dataclass(slots=True)
class Written:
    """The cues, and the records that this run made to get them: of both stages, and of choices and notes.

    ``early`` counts the slots that were looked at while shots were still being found, ``in_vain`` those of
    them whose answers were of no use.
    """

    cues: list[Cue] = field(default_factory=list)
    seen: list[Record] = field(default_factory=list)
    lines: list[Record] = field(default_factory=list)
    other: list[Record] = field(default_factory=list)
    early: int = 0
    in_vain: int = 0


def around_of(last_lines: Sequence[str], prepared: Prepared, bench: Bench) -> Around:
    """What a line of this run is judged by; a benchmark's slots and budgets have limits of their own."""
    given = bench.given.slots is not None or bench.config.slots.budget == "paper"
    return Around([utterance.interval for utterance in prepared.speech], last_lines, given=given)


@dataclass(frozen=True, slots=True)
class _Place:
    """A slot in its order, with what Stage II is asked; nothing where Stage I could not describe it."""

    plan: SlotPlan
    look: Record
    question: stage2.Question | None


class Stage2Runner:
    """Where Stage II is asked and cues are made, with what was said before at hand."""

    def __init__(
        self, bench: Bench, engines: Engines, prepared: Prepared, written: Written, flow: Flow
    ) -> None:
        self._bench, self._engines, self._prepared = bench, engines, prepared
        self._config, self._written, self._flow = bench.config, written, flow
        self._log = bench.folder.log_of_records("stage2")
        self._places: list[_Place] = []
        self._plans: dict[str, SlotPlan] = {}
        self._settled: set[str] = set()
        writes = engines.writes.identity
        choices, story = (self._kept(name, wanted) for name, wanted in self._logs())
        self._chooser = make_chooser(
            self._config, self._ask, choices.known, choices.keep, bench.progress, identity=writes
        )
        self._telling = Telling(prepared.speech, self._config, writes, self._ask, story.known, story.keep)

    def write(self, pairs: Iterable[Pair], number: int) -> None:
        """The cue of each of ``number`` slots, in order, as they come. Where a question depends on the lines
        before, one at a time."""
        in_turn = self._engines.in_turn(self._config)
        with reported(self._bench.progress, "Writing lines", number, "slots") as task:
            # Where no question depends on a line before it, all of them go out together.
            for group in ([pair] for pair in _waited_for(pairs)) if in_turn else [pairs]:
                self._answer(group, task)
        keys = [place.question.key for place in self._places if place.question is not None]
        tidied(self._log, keys, self._bench, identity_record(self._engines.writes.identity))

    def _answer(self, pairs: Iterable[Pair], task: Task) -> None:
        """Puts the questions that have no answer yet, keeps the answers and makes the cues."""
        # Verification goes from one engine to the other: many lines are written before any is looked for.
        window = max(UNLOOKED, self._engines.writes.abilities.batch) if self._config.verify.on else None
        answers = converse(
            self._inquiries(pairs),
            self._engines.at_work(self._config),
            window=window,
            clip_of=self._clip_of,
            rooms=Rooms("stage2", "stage1"),
            flow=self._flow,
        )
        with closing(answers):
            for key, record in answers:
                self._written.lines.append(self._log.add(key, record))
                self._settled.add(key)
                self._make_cues(task)
        self._make_cues(task)

    def _inquiries(self, pairs: Iterable[Pair]) -> Iterator[Named]:
        """The inquiries of lines that are missing; of those that failed before last."""
        again: list[stage2.Question] = []
        for plan, look in pairs:
            question = None if stage1.failed(look) else self._question(plan, look)
            record = self._log.get(question.key) if question is not None else None
            if question is not None and is_done(record):
                self._settled.add(question.key)
            self._plans[plan.slot.id] = plan
            self._places.append(_Place(plan, look, question))
            if question is None or is_done(record):
                continue
            if record is None:
                yield self._inquiry(question)
            else:
                again.append(question)
        for question in again:
            yield self._inquiry(question)

    def _inquiry(self, question: stage2.Question) -> Named:
        return question.key, stage2.inquiry(question, self._engines.writes, self._config)

    def _question(self, plan: SlotPlan, look: Record) -> stage2.Question:
        writes, config = self._engines.writes, self._config
        return stage2.question(
            plan,
            description_of(plan.slot.id, look),
            self._last_lines() if writes.abilities.uses_history else (),
            writes,
            config,
            story=self._telling.text(plan.slot, plan.presence),
            looks=self._engines.looks.identity,
            shown=str(look["key"]),
        )

    def _make_cues(self, task: Task) -> None:
        """The cues of all slots up to the first whose line is still to come."""
        while len(self._written.cues) < len(self._places):
            place = self._places[len(self._written.cues)]
            key = place.question.key if place.question is not None else None
            if key is not None and key not in self._settled:
                return
            self._add(place.plan, place.look, self._log.record(key) if key is not None else None)
            task.advance()

    def _add(self, plan: SlotPlan, look: Record, record: Record | None) -> None:
        around = around_of(self._last_lines(), self._prepared, self._bench)
        said, presence = self._said(), plan.presence
        cue = cue_of(plan.slot, look, record, self._config, around, self._chooser, said, presence)
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
        with span("stage2"):
            return ask_all(self._engines.writes, [request])[0]

    def _clip_of(self, slot_id: str) -> Clip:
        with span("frames"):
            return clip_as_seen(self._plans[slot_id], self._bench, self._engines.looks)


def _waited_for(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """The same; in the profile Stage II waits while they are drawn."""
    source = iter(pairs)
    while True:
        with waiting("stage2", "stage1"):
            pair = next(source, None)
        if pair is None:
            return
        yield pair


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
