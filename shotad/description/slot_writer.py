"""Takes the slots of a film through both stages and makes their cues: what is spoken, when, or why not.

Each answer is kept at once. A line is asked for when the descriptions up to its own have come.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from types import TracebackType
from typing import Any, Self

from shotad.core import (
    Clip,
    Config,
    Engine,
    Facts,
    NoProgress,
    RecordLog,
    Slot,
    Task,
    description_of,
    is_english,
    key_of,
    language_of,
    span,
)
from shotad.description import choice, stage1, stage2
from shotad.description.conversation import Inquiry, Named, Scheduler, Who, identity_record, is_done, of_other
from shotad.description.doubt import doubt_of, signs_of
from shotad.description.engine_pair import Engines, Used, used
from shotad.description.preparing import RunContext
from shotad.description.prompts import StoryContext
from shotad.description.slotplan import SlotPlan
from shotad.description.story import Telling
from shotad.description.wording import Rows, letters_of, other_language, sight_of
from shotad.film import Prepared, clips, left_to_people, word_budget
from shotad.script import (
    BENCHMARK,
    Cue,
    CueKind,
    CueStatus,
    Fitted,
    Limits,
    Maker,
    Provenance,
    Sight,
    budget_text,
    check_line,
    clean_text,
    count_words,
    fit_spoken,
    in_sight,
    keys_of,
    spoken_interval,
    spoken_words,
)

Record = Mapping[str, Any]

UNLOOKED = 64
"""Lines that are written before Stage I looks for them, where both engines are models of this machine: fewer,
and the two are loaded in turn too often; more, and a killed run loses more."""


class SlotWriter:
    """Both stages of one run, in a ``with`` block: tell `go_on` of each record that `begin` gives.

    ``sketches`` are the clips of all slots, in order; ``known`` their plans with film grammar, None where
    that is still to be measured. ``looks`` keeps Stage I's records (None: the folder's own).
    """

    looks_first = False
    """Whether no line is asked for before all clips have been described."""

    def __init__(
        self,
        sketches: Sequence[SlotPlan],
        known: Sequence[SlotPlan | None],
        prepared: Prepared,
        context: RunContext,
        engines: Engines,
        *,
        looks: RecordLog | None = None,
    ) -> None:
        self.cues: list[Cue] = []
        # The records that this run made: of both stages, and of choices and notes
        self._new_looks: list[Record] = []
        self._new_lines: list[Record] = []
        self._others: list[Record] = []
        self.scheduler = engines.scheduler(context.config, self._clip_of)
        self._prepared, self._context = prepared, context
        self._engines, self._config = engines, context.config
        self._looks = looks or context.folder.log_of_records("stage1")
        self._lines = context.folder.log_of_records("stage2")
        self._pixels = key_of(context.film_key, context.frames.key)
        self._sketches = {sketch.slot.id: sketch for sketch in sketches}
        self._keys = {plan.slot.id: self._look(plan).key for plan in known if plan is not None}
        done = {name for name, key in self._keys.items() if is_done(self._looks.get(key))}
        self._counted = self._sketches.keys() - done
        self._places: list[stage1.Stage1Question] = []
        self._asked: dict[str, str] = {}
        self._looked: set[str] = set()
        self._settled: set[str] = set()
        self._again: deque[stage2.Question] = deque()
        self._passed = self._open = 0
        unlooked = max(UNLOOKED, engines.writes.abilities.batch)
        room = max(self.scheduler.room("looks"), self.scheduler.room("writes"))
        self._room = unlooked if engines.alternate else room
        self._in_turn = engines.in_turn(self._config)
        self._looking: Task = NoProgress()
        self._writing: Task | None = None
        self._chooser = self._make_chooser(self._config)
        who, ask = engines.writes.identity, partial(self.scheduler.ask, "writes")
        self._telling = Telling(prepared.speech, self._config, who, ask, *self._kept("story"))

    def __enter__(self) -> Self:
        self._looking = self._task("Looking at the film", len(self._counted))
        self.scheduler.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.scheduler.__exit__(kind, error, trace)
        for task in filter(None, (self._looking, self._writing)):
            task.done()
        if error is None:
            looks, writes = self._engines.looks, self._engines.writes
            self._tidy(self._looks, looks, [place.key for place in self._places])
            self._tidy(self._lines, writes, list(self._asked.values()))

    def _tidy(self, log: RecordLog, engine: Engine, keys: Sequence[str]) -> None:
        """Stale records go after a run over the whole film; last answers of other engines stay aside."""
        if self._context.given.start <= 0 and self._context.given.end is None:
            maker = identity_record(engine.identity)
            log.keep(keys, lambda record: of_other(record, maker))

    @property
    def used(self) -> Used:
        """What the engines took for it."""
        terms = self._engines.terms(self._config)
        return used(self._new_looks, self._new_lines, terms, self._others)

    def _make_chooser(self, config: Config) -> choice.Chooser:
        who, ask = self._engines.writes.identity, partial(self.scheduler.ask, "writes")
        return choice.make_chooser(config, ask, *self._kept("choices"), who, self._context.progress)

    def _kept(self, name: str) -> tuple[choice.Known, choice.Keep]:
        """The answers of ``NAME.jsonl``, which are kept for the next run."""
        log = self._context.folder.log_of_records(name)
        return log.get, lambda key, record: self._others.append(log.add(key, record))

    def begin(self, plans: Iterable[SlotPlan]) -> Scheduler:
        """Have Stage I asked about ``plans``, drawn one by one; clips surely wanted are read in one pass."""
        self.scheduler.read(self._asked_of_looks(plans))
        return self.scheduler

    def _asked_of_looks(self, plans: Iterable[SlotPlan]) -> Iterator[Named]:
        """What Stage I is asked of each slot, by its id; of those that failed before last."""
        # The slots whose clips are wanted whatever their film grammar is
        recorded = {str(record.get("slot")) for record in self._looks.records()}
        missing = {
            name: sketch
            for name, sketch in self._sketches.items()
            if (name not in recorded if name not in self._keys else self._looks.get(self._keys[name]) is None)
        }
        pictures, able = self._context.frames.pictures, self._engines.looks.abilities
        read = clips([sketch.clip(able) for sketch in missing.values()], pictures)
        ahead: list[tuple[str, Clip]] = []
        again: dict[str, stage1.Stage1Question] = {}
        for plan in plans:
            name, question = plan.slot.id, self._look(plan)
            self._places.append(question)
            record = self._looks.get(question.key)
            if is_done(record):
                yield name, _answered()
            elif record is not None:
                again[name] = question
            elif name in missing:
                with span("frames"):
                    ahead = ahead or list(islice(read, 1))
                # A clip of which no frame can be had is left out. None is held here once it is handed out.
                mine = bool(ahead) and ahead[0][0] == name
                yield name, self._seen(question, ahead.pop()[1] if mine else None)
            else:
                with span("frames"):
                    alone = next(clips([plan.clip(able)], pictures), None)
                yield name, self._seen(question, alone[1] if alone else None)
        for name, clip in clips([question.plan.clip(able) for question in again.values()], pictures):
            yield name, self._seen(again.pop(name), clip)
        for name, question in again.items():
            yield name, self._seen(question, None)

    def _look(self, plan: SlotPlan) -> stage1.Stage1Question:
        return stage1.stage1_question(plan, self._engines.looks, self._settings(plan), self._pixels)

    def _seen(self, question: stage1.Stage1Question, clip: Clip | None) -> Inquiry:
        """Asks Stage I about a clip, and keeps what it says; None: no frame of it can be had."""
        if clip is None:
            return _kept(_answered(question.unread()), self._looks, question.key, [])
        with span("frames"):
            seen = stage1.stage1_as_seen(clip, question.plan, question.engine, self._config)
            seen = stage1.with_sound(seen, self._context, question.engine)
        return _kept(question.inquiry(seen), self._looks, question.key, self._new_looks)

    def go_on(self, name: str) -> None:
        """Do what can be done now that the record of this name is there."""
        if name in self._sketches:
            self._looked.add(name)
            if name in self._counted:
                self._looking.advance()
            if len(self._looked) == len(self._sketches):
                self._looking.done()
                self._looking = NoProgress()
        else:
            self._settled.add(name)
            self._open -= 1
        while self._pass_on() or self._make_cue():
            pass

    def _pass_on(self) -> bool:
        """Ask for the next line where it can be asked for by now; those that failed before come last."""
        if self._open >= self._room:
            return False
        if self._passed == len(self._sketches) and self._again:
            self._begin(self._again.popleft())
            return True
        # The next line waits for its description, and for all that it depends on.
        after_lines = self._in_turn and len(self.cues) < self._passed
        looks_first = self.looks_first or self._engines.alternate
        after_looks = looks_first and len(self._looked) < len(self._sketches)
        if after_lines or after_looks or self._passed == len(self._places):
            return False
        plan, key = self._places[self._passed].plan, self._places[self._passed].key
        if plan.slot.id not in self._looked:
            return False
        if self._writing is None:
            self._writing = self._task("Writing lines", len(self._sketches))
        self._passed += 1
        seen = self._looks.record(key)
        if seen["error"] or self._left_to_people(plan):
            return True
        writes, described = self._engines.writes, description_of(plan.slot.id, seen)
        question = stage2.stage2_question(
            plan,
            described,
            self._said(plan) if writes.abilities.uses_history else (),
            writes,
            self._settings(plan),
            story=self._story(plan, described.text),
            looks=self._engines.looks.identity,
            shown=str(seen["key"]),
        )
        self._asked[plan.slot.id] = question.key
        record = self._lines.get(question.key)
        if is_done(record):
            self._settled.add(question.key)
        elif record is None or self._in_turn:
            self._begin(question)
        else:
            self._again.append(question)
        return True

    def _begin(self, question: stage2.Question) -> None:
        self._open += 1
        asked = _kept(question.inquiry(), self._lines, question.key, self._new_lines)
        self.scheduler.begin((question.key, asked))

    def _make_cue(self) -> bool:
        """Make the next cue, if all is known of it."""
        number = len(self.cues)
        if number == self._passed:
            return False
        plan, seen = self._places[number].plan, self._places[number].key
        key = self._asked.get(plan.slot.id)
        if key is not None and key not in self._settled:
            return False
        line = None if key is None else self._lines.record(key)
        self.cues.append(self._cue(plan, self._looks.record(seen), line))
        if self._writing is not None:
            self._writing.advance()
        return True

    def _cue(self, plan: SlotPlan, seen: Record, line: Record | None) -> Cue:
        """The slot's cue from the records of both stages."""
        cue = self._chosen(plan, seen, line, self._chooser)
        if cue.heard:
            self._telling.heard(cue)
        return cue

    def _chosen(self, plan: SlotPlan, seen: Record, line: Record | None, chooser: choice.Chooser) -> Cue:
        settings, speech = self._settings(plan), [said.interval for said in self._prepared.speech]
        # A benchmark's slots and budgets have limits of their own.
        given = self._context.given.slots is not None or settings.slots.budget != "fit"
        situation = choice.Situation(plan.slot, self._said(plan), "", speech, plan.presence, given)
        return cue_of(situation, seen, line, settings, chooser, unwritten=self._left_to_people(plan))

    def _left_to_people(self, plan: SlotPlan) -> str:
        """Why no line is written in the slot unless a person wants one there; empty where one is written."""
        return left_to_people(plan.slot, self._settings(plan).speech)

    def _settings(self, plan: SlotPlan) -> Config:
        """Under which settings a slot is described."""
        return self._config

    def _said(self, plan: SlotPlan) -> tuple[str, ...]:
        """All lines that are heard before a slot, oldest first."""
        return tuple(cue.text for cue in self.cues if cue.heard)

    def _story(self, plan: SlotPlan, description: str) -> StoryContext:
        """What Stage II is told of the film besides the slot's description."""
        return self._telling.context(plan.slot, description, plan.presence)

    def _clip_of(self, who: Who, slot_id: str) -> Clip:
        """The clip for a second look at a line."""
        with span("frames"):
            return stage1.clip_as_seen(self._sketches[slot_id], self._context, self._engines.all[who])

    def _task(self, name: str, number: int) -> Task:
        return self._context.progress.task(name, number, "slots") if number else NoProgress()


def _answered(record: Record | None = None) -> Inquiry:
    """Nothing is asked: the record is there."""
    yield from ()
    return dict(record or {})


def _kept(asked: Inquiry, log: RecordLog, key: str, made: list[Record]) -> Inquiry:
    """The same, with its record written down as soon as it is there."""
    record = log.add(key, (yield from asked))
    made.append(record)
    return record


SILENT = "nothing worth saying was found"


def cue_of(
    situation: choice.Situation,
    stage1: Mapping[str, Any],
    stage2: Mapping[str, Any] | None,
    config: Config,
    chooser: choice.Chooser = choice.by_rules,
    *,
    unwritten: str = "",
) -> Cue:
    """The slot's cue from the records of both stages; its description is taken from there.

    ``chooser`` takes one of the candidates that were made to fit. The line starts when what it tells is seen,
    as far as that is known, and is shortened where its slot ends too soon. A cue without a line says why.
    ``unwritten`` is the reason where no line was asked for.
    """
    slot, presence = situation.slot, situation.presence
    both = [("Stage I", stage1), *([("Stage II", stage2)] if stage2 is not None else [])]
    unspoken = Cue(
        id=slot.id,
        slot_id=slot.id,
        interval=slot.interval,
        text="",
        language=config.language,
        status=CueStatus.FAILED,
        candidates=tuple(clean_text(text) for text in (stage2 or {}).get("candidates", ())),
        provenance=Provenance(
            tuple(Maker(stage, **record["maker"]) for stage, record in both),
            key_of([record["prompt"] for _, record in both]),
            stage1["seed"],
        ),
    )

    def without_line(reason: str, status: CueStatus = CueStatus.FAILED) -> Cue:
        return replace(unspoken, status=status, reason=one_line(reason))

    error = stage1["error"] or (stage2 or {}).get("error")
    if unwritten or error or stage2 is None:
        stage = "Stage I" if stage1["error"] else "Stage II"
        reason = unwritten or f"{stage} failed: {error or 'no record'}"
        return without_line(reason, CueStatus.SILENT if unwritten else CueStatus.FAILED)
    drafts = _drafts(stage2)
    candidates = [text for text, _, _ in drafts]
    if not candidates:
        reason = stage2["notes"].get("reason")
        silent = stage2.get("finish") == "silent" or reason
        trouble = "Stage II failed: its answer holds no line that can be spoken"
        return without_line(str(reason or SILENT), CueStatus.SILENT) if silent else without_line(trouble)
    english = is_english(config.language)
    others = [None if english else other_language(text, config.language) for text in candidates]
    if all(others):
        wanted = language_of(config.language).name
        return without_line(f"Stage II failed: the line is in {others[0]}, not in {wanted}: {candidates[0]}")

    def sight(text: str, rows: Rows) -> Sight | None:
        return sight_of(text, rows, stage1, config.slots.seconds_per_word, config.language, presence)

    lines = _fitting(drafts, situation, config, sight)
    if not lines:
        shortest, _, said = min(drafts, key=lambda draft: spoken_words(draft[0], config.language))
        return without_line(_too_long(shortest, sight(shortest, said), slot, config), CueStatus.DROPPED)
    situation = replace(situation, description=description_of(slot.id, stage1).text)
    line = lines[chooser(lines, situation)]
    if line.residue is not None:
        return without_line(f"no clean line: {line.residue.message}: {line.text}")
    said = drafts[line.number][2]
    signs = signs_of(
        line.text, stage1, stage2, said=said, unseen=line.unseen, presence=presence, language=config.language
    )
    return replace(
        unspoken,
        interval=line.interval,
        text=line.text,
        kind=_kind(line.text, stage1),
        status=CueStatus.SHORTENED if line.fitted.steps else CueStatus.PLACED,
        reason="; ".join((*line.fitted.steps, *_doubts(line, stage1, stage2), *map(str, line.findings))),
        candidates=tuple(candidates),
        chosen=line.number,
        spoken_length=line.interval.duration,
        fit_steps=line.fitted.steps,
        seen_from=None if line.sight is None else line.sight.since,
        doubted=doubt_of(line.text, signs),
    )


Draft = tuple[str, tuple[str, ...], Rows]
"""A candidate as it can be spoken, what the frames do not show of it, and the narrator's notes on it."""


def _drafts(stage2: Mapping[str, Any]) -> list[Draft]:
    noted: Mapping[str, Sequence[str]] = stage2.get("unseen") or {}
    said: Sequence[Rows] = (stage2.get("notes") or {}).get("said", ())
    found = [
        (one_line(text), tuple(noted.get(str(at), ())), said[at] if at < len(said) else ())
        for at, text in enumerate(stage2["candidates"])
    ]
    return [draft for draft in found if count_words(draft[0])]


def _fitting(
    drafts: Sequence[Draft],
    situation: choice.Situation,
    config: Config,
    sight: Callable[[str, Rows], Sight | None],
) -> list[choice.FittedLine]:
    """Those of the candidates that fit, or can be made to. ``sight`` says when a line may start."""
    lines, slot, history = [], situation.slot, config.stage2.history
    before = situation.said[-history:] if history else ()
    for number, (text, unseen, said) in enumerate(drafts):
        fitted = _in_time(text, said, slot, config, sight)
        foreign = not is_english(config.language) and other_language(text, config.language)
        if fitted is not None and not foreign:
            seen = sight(fitted.text, said)
            in_time = None if seen is None or in_sight(slot.interval, seen.since) is None else seen
            words = spoken_words(fitted.text, config.language)
            interval = spoken_interval(slot.interval, words, config.slots.seconds_per_word, in_time)
            findings = check_line(
                fitted.text,
                interval=interval,
                speech=situation.speech,
                previous=before,
                language=config.language,
                limits=BENCHMARK if situation.given else Limits(),
            )
            lines.append(choice.FittedLine(number, fitted, interval, findings, unseen, seen))
    return lines


def _in_time(
    text: str, said: Rows, slot: Slot, config: Config, sight: Callable[[str, Rows], Sight | None]
) -> Fitted | None:
    """The candidate, or the longest whole form of it that can be said in its slot once it is seen."""
    if config.stage2.fit == "none":
        return Fitted(text)
    words = slot.max_words
    while (fitted := fit_spoken(text, words, language=config.language)) is not None:
        room = _words_from(sight(fitted.text, said), slot, config)
        if spoken_words(fitted.text, config.language) <= room:
            return fitted
        # What is left out may be what comes late: then the rest has more time again.
        words = max(room, spoken_words(fitted.text, config.language) - 1) if room else 0
        if not words:
            return None
    return None


def _words_from(seen: Sight | None, slot: Slot, config: Config) -> int:
    """How many words can be said in a slot of what is ``seen`` then."""
    room = in_sight(slot.interval, None if seen is None else seen.since)
    if room is None:
        return 0
    return slot.max_words if room == slot.interval else word_budget(room.duration, config.slots)


def _doubts(line: choice.FittedLine, stage1: Mapping[str, Any], stage2: Mapping[str, Any]) -> Iterator[str]:
    """What was not seen or not looked for, and names in the line that a model gave by itself."""
    if line.unseen:
        yield f"not seen in the frames: {one_line('; '.join(line.unseen))}"
    if why := stage2.get("unlooked"):
        yield f"the second look at the frames failed: {one_line(why)}"
    words = set(keys_of(line.text))
    if names := [name for name in stage1.get("invented", ()) if words & set(keys_of(name))]:
        yield f"named by the model alone: {one_line(', '.join(names))}"


def one_line(text: str) -> str:
    """Text as it is spoken, without line ends and control characters."""
    return clean_text(text).replace("\n", " ")


def _too_long(text: str, seen: Sight | None, slot: Slot, config: Config) -> str:
    words = _words_from(seen, slot, config)
    late = ""
    if seen is not None and words < slot.max_words:
        late = f" after it is seen, at {seen.since:.1f} s"
    if not is_english(config.language):
        room = budget_text(config.language, words)
        return f"longer than the {room} that fit{late}, and no whole phrase is short enough: {text}"
    return f"{count_words(text)} words where {words} fit{late}, and no whole phrase is short enough: {text}"


def _kind(text: str, stage1: Mapping[str, Any]) -> CueKind:
    """Text where the line reads out what stands on the screen."""
    notes = stage1["notes"]
    if "current" not in notes or '"' not in text:
        return CueKind.ACTION
    said = letters_of(text)
    read = any(
        letters_of(fact.text)[:12] in said for fact in Facts.from_json(notes).texts if letters_of(fact.text)
    )
    return CueKind.TEXT if read else CueKind.ACTION
