"""Asks the engine of Stage II for every line and makes it a cue: what is spoken, when, or why not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from shotad.core import (
    NOBODY,
    Clip,
    Config,
    Facts,
    Interval,
    Presence,
    RecordLog,
    Reply,
    Request,
    Slot,
    Task,
    description_of,
    is_english,
    key_of,
    language_of,
    reported,
    span,
    waiting,
)
from shotad.description import stage1, stage2
from shotad.description.choice import Around, ByRules, Chooser, Line, Situation, make_chooser
from shotad.description.conversation import Named, ProfileNames, ask_all, converse, identity_record
from shotad.description.engine_pair import Engines
from shotad.description.language_id import other_language
from shotad.description.preparing import Bench
from shotad.description.slotplan import SlotPlan
from shotad.description.stage1_runner import Pair, Record, clip_as_seen, is_done, tidied
from shotad.description.story import Telling
from shotad.description.wording import Rows, sight_of
from shotad.engines import Flow
from shotad.film import Prepared, word_budget
from shotad.script import (
    Cue,
    CueKind,
    CueStatus,
    Fitted,
    Maker,
    Provenance,
    Sight,
    budget_in,
    check_line,
    clean_text,
    count_words,
    fit_spoken,
    in_sight,
    keys_of,
    spoken_interval,
    spoken_words,
)

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
            profile=ProfileNames("stage2", "stage1"),
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


Answers = tuple[Mapping[str, Any], Mapping[str, Any] | None]
"""The records of Stage I and Stage II."""

SILENT = "nothing worth saying was found"


def cue_of(
    slot: Slot,
    stage1: Mapping[str, Any],
    stage2: Mapping[str, Any] | None,
    config: Config,
    around: Around,
    chooser: Chooser | None = None,
    said: Sequence[str] = (),
    presence: Presence = NOBODY,
) -> Cue:
    """The slot's cue from the records of both stages.

    ``chooser`` takes one of the candidates that were made to fit (None: `ByRules`); ``said`` are all lines
    heard so far in the film, oldest first (empty: those of ``around``); ``presence`` is who of the cast is on
    the frames. The line starts when what it tells is seen, as far as that is known, and is shortened where
    its slot ends too soon. A cue without a line says why.
    """
    answers = (stage1, stage2)
    error = stage1["error"] or (stage2 or {}).get("error")
    if error or stage2 is None:
        stage = "Stage I" if stage1["error"] else "Stage II"
        return _without_line(
            slot, answers, config, CueStatus.FAILED, f"{stage} failed: {error or 'no record'}"
        )
    drafts = _drafts(stage2)
    candidates = [draft.text for draft in drafts]
    if not candidates:
        return _lineless(slot, answers, config)
    if (strange := _in_another_language(candidates, config)) is not None:
        return _without_line(slot, answers, config, CueStatus.FAILED, strange)

    def sight(text: str, rows: Rows) -> Sight | None:
        return sight_of(text, rows, stage1, config.slots.seconds_per_word, config.language, presence)

    lines = _fitting(drafts, slot, config, around, sight)
    if not lines:
        shortest = min(drafts, key=lambda draft: spoken_words(draft.text, config.language))
        seen = sight(shortest.text, shortest.said)
        reason = _too_long(shortest.text, seen, slot, config)
        return _without_line(slot, answers, config, CueStatus.DROPPED, reason)
    description = description_of(slot.id, stage1).text
    situation = Situation(slot, tuple(said or around.before), description, around)
    line = lines[(chooser or ByRules()).choose(lines, situation)]
    if line.residue is not None:
        reason = f"no clean line: {line.residue.message}: {line.text}"
        return _without_line(slot, answers, config, CueStatus.FAILED, reason)
    return Cue(
        id=slot.id,
        slot_id=slot.id,
        interval=line.interval,
        text=line.text,
        kind=_kind(line.text, stage1),
        language=config.language,
        status=CueStatus.SHORTENED if line.fitted.steps else CueStatus.PLACED,
        reason="; ".join(
            (
                *line.fitted.steps,
                *_not_seen(line),
                *_not_looked(stage2),
                *_invented(line, stage1),
                *map(str, line.findings),
            )
        ),
        candidates=tuple(candidates),
        chosen=line.number,
        spoken_length=line.interval.duration,
        fit_steps=line.fitted.steps,
        provenance=_provenance(stage1, stage2),
        seen_from=None if line.sight is None else line.sight.since,
    )


@dataclass(frozen=True, slots=True)
class _Draft:
    """A candidate as it can be spoken, what the frames do not show of it, and the narrator's notes on it."""

    text: str
    unseen: tuple[str, ...]
    said: Rows


def _drafts(stage2: Mapping[str, Any]) -> list[_Draft]:
    noted: Mapping[str, Sequence[str]] = stage2.get("unseen") or {}
    said: Sequence[Rows] = (stage2.get("notes") or {}).get("said", ())
    found = [
        _Draft(one_line(text), tuple(noted.get(str(at), ())), said[at] if at < len(said) else ())
        for at, text in enumerate(stage2["candidates"])
    ]
    return [draft for draft in found if count_words(draft.text)]


def _fitting(
    drafts: Sequence[_Draft],
    slot: Slot,
    config: Config,
    around: Around,
    sight: Callable[[str, Rows], Sight | None],
) -> list[Line]:
    """Those of the candidates that fit, or can be made to. ``sight`` tells when a line may start."""
    lines = []
    for number, draft in enumerate(drafts):
        fitted = _in_time(draft, slot, config, sight)
        foreign = not is_english(config.language) and other_language(draft.text, config.language)
        if fitted is not None and not foreign:
            seen = sight(fitted.text, draft.said)
            interval = _spoken(fitted.text, slot, seen, config)
            findings = check_line(
                fitted.text,
                interval=interval,
                speech=around.speech,
                previous=around.before,
                language=config.language,
                limits=around.limits,
            )
            lines.append(Line(number, fitted, interval, findings, draft.unseen, seen))
    return lines


def _in_time(
    draft: _Draft, slot: Slot, config: Config, sight: Callable[[str, Rows], Sight | None]
) -> Fitted | None:
    """The candidate, or the longest whole form of it that can be said in its slot once it is seen."""
    if config.stage2.fit == "none":
        return Fitted(draft.text)
    words = slot.max_words
    while (fitted := fit_spoken(draft.text, words, language=config.language)) is not None:
        room = _words_from(sight(fitted.text, draft.said), slot, config)
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


def _spoken(text: str, slot: Slot, seen: Sight | None, config: Config) -> Interval:
    if seen is not None and in_sight(slot.interval, seen.since) is None:
        seen = None
    words = spoken_words(text, config.language)
    return spoken_interval(slot.interval, words, config.slots.seconds_per_word, seen)


def _in_another_language(candidates: Sequence[str], config: Config) -> str | None:
    """Why no line can be spoken, where all are plainly in another language than the one wanted."""
    if is_english(config.language):
        return None
    found = [other_language(text, config.language) for text in candidates]
    if not all(found):
        return None
    wanted = language_of(config.language).name
    return f"Stage II failed: the line is in {found[0]}, not in {wanted}: {candidates[0]}"


def _not_seen(line: Line) -> tuple[str, ...]:
    return (f"not seen in the frames: {one_line('; '.join(line.unseen))}",) if line.unseen else ()


def _not_looked(stage2: Mapping[str, Any]) -> tuple[str, ...]:
    why = stage2.get("unlooked")
    return (f"the second look at the frames failed: {one_line(why)}",) if why else ()


def _invented(line: Line, stage1: Mapping[str, Any]) -> tuple[str, ...]:
    """Names in the line that a model gave by itself."""
    words = set(keys_of(line.text))
    names = [name for name in stage1.get("invented", ()) if words & set(keys_of(name))]
    return (f"named by the model alone: {one_line(', '.join(names))}",) if names else ()


def _lineless(slot: Slot, answers: Answers, config: Config) -> Cue:
    """Silent where the engine said so, failed where it only gave no line."""
    record = answers[1] or {}
    reason = record["notes"].get("reason")
    if record.get("finish") == "silent" or reason:
        return _without_line(slot, answers, config, CueStatus.SILENT, str(reason or SILENT))
    trouble = "Stage II failed: its answer holds no line that can be spoken"
    return _without_line(slot, answers, config, CueStatus.FAILED, trouble)


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
        reason=one_line(reason),
        candidates=candidates,
        provenance=_provenance(stage1, stage2),
    )


def one_line(text: str) -> str:
    """Text as it is spoken, without line ends and control characters."""
    return clean_text(text).replace("\n", " ")


def _too_long(text: str, seen: Sight | None, slot: Slot, config: Config) -> str:
    words = _words_from(seen, slot, config)
    late = ""
    if seen is not None and words < slot.max_words:
        late = f" after what it tells is seen, at {seen.since:.1f} s"
    if not is_english(config.language):
        room = budget_in(config.language, words)
        return f"longer than the {room} that fit{late}, and no whole phrase is short enough: {text}"
    return f"{count_words(text)} words where {words} fit{late}, and no whole phrase is short enough: {text}"


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
