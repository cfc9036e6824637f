"""Stage II: a description and a word budget to an engine, one AD sentence back, or several to choose from.

Lines are asked for, read, checked by the rules on words, budget and names, asked for again with what was
wrong, and, where that is set, looked for in the frames.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from shotad.core import (
    Config,
    Description,
    Message,
    Reply,
    Request,
)
from shotad.core.config.words import SamplingSettings
from shotad.core.errors import ScriptError, quoted
from shotad.description import checks
from shotad.description.answers import parse_stage2
from shotad.description.choice import distinct, merged
from shotad.description.english_words import with_own_words
from shotad.description.prompts import NO_STORY, StoryContext, answer_schema, stage2_messages
from shotad.description.seeds import slot_seed
from shotad.description.slotplan import SlotPlan, as_called, as_spoken, hide_names, names_of
from shotad.description.stage_answers import Attempt, Candidate, Stage2Answer, statements_of_line
from shotad.description.verify import VERDICT_TOKENS, parse_verdicts, statements_of, verify_messages
from shotad.engines import AskingPool, ClipOnDemand
from shotad.script.fit import with_native_punctuation
from shotad.script.reasons import in_english

STAGE2_STEP = "stage2/3"
"""The step, and the version of how replies are read (see `hash_key`)."""


def write_lines(
    pool: AskingPool,
    plan: SlotPlan,
    description: Description,
    config: Config,
    *,
    history: Sequence[str] = (),
    story: StoryContext = NO_STORY,
    clip: ClipOnDemand | None = None,
) -> Stage2Answer:
    """Ask Stage II for the lines of one slot until they can be used.

    ``history`` are the lines before the slot, oldest first; ``story`` is what else is told of the film.
    ``clip`` is what Stage I's engine looks at again where ``verify.on`` is set. Raises what stops the run.
    """
    conversation = _Conversation(pool, plan, description, config, history, story)
    conversation.write()
    if config.verify.on and clip is not None and conversation.lines:
        conversation.verify(clip)
    answer = conversation.answer()
    # A failed slot is asked about again by the next run, so its replies are not remembered.
    if answer.error is not None:
        pool.forget("stage2", conversation.requests)
    return answer


@dataclass(frozen=True, slots=True)
class _Reading:
    """One reply: its lines, and where there are none, why. ``messages`` are those that it answers."""

    messages: tuple[Message, ...]
    reply: Reply
    lines: tuple[str, ...] = ()
    fault: checks.Complaint | None = None


_OTHER_LANGUAGE = 100
"""Faults for which a line in another language counts."""


class _Conversation:
    """What was asked and answered about the lines of one slot.

    ``lines`` are those that are left, without names that may not be said yet; ``requests`` is all that Stage
    II was asked.
    """

    def __init__(
        self,
        pool: AskingPool,
        plan: SlotPlan,
        description: Description,
        config: Config,
        history: Sequence[str],
        story: StoryContext,
    ) -> None:
        settings = config.stage2
        engine = pool.engine("stage2")
        described = as_called(description, plan.presence, config.prompt)
        self.lines: tuple[str, ...] = ()
        self.requests: list[Request] = []
        self._pool, self._plan, self._config = pool, plan, config
        self._description, self._story = described.text, story.text
        self._repairs = engine.abilities.converses and settings.repair != "none"
        self._request = Request(
            slot_id=plan.slot.id,
            messages=stage2_messages(described, plan, config, story=story),
            scene=plan.scene,
            budget=plan.slot.max_words,
            history=tuple(history)[-settings.history :] if settings.history else (),
            sampling=settings.sampling,
            seed=slot_seed(config.seed, plan.slot.id),
            schema=answer_schema(settings.lines_an_answer),
            notes=described.notes,
        )
        self._readings: list[_Reading] = []
        self._looks: list[Reply] = []
        self._unseen: dict[str, tuple[str, ...]] = {}
        self._unlooked = ""
        self._rules_were_told = False
        # The lines as they came, by what they are without names that may not be said yet
        self._as_written: dict[str, str] = {}

    def complaints(self, line: str) -> tuple[checks.Complaint, ...]:
        """What to do better; nothing where bad lines are not asked for again."""
        if not self._repairs:
            return ()
        return complaints_about_line(
            line,
            self._plan,
            self._description,
            self._config,
            self._story,
            material=checks.words_given(self._description, self._request.messages),
        )

    def _fault_count(self, line: str) -> int:
        """How many faults a line has. Being in another language outweighs all: it cannot be spoken."""
        complaints = self.complaints(line)
        in_other_language = any(complaint.rule == "language" for complaint in complaints)
        return len(complaints) + (_OTHER_LANGUAGE if in_other_language else 0)

    def _is_to_repair(self, line: str) -> bool:
        """Whether to ask for another line. Where only answers without a line are asked for again, this is one
        in another language: it cannot be spoken."""
        complaints = self.complaints(line)
        if self._config.stage2.repair == "all":
            return bool(complaints)
        return any(complaint.rule == "language" for complaint in complaints)

    def write(self) -> None:
        """Ask until there are as many clean lines as are wanted, or no attempt is left."""
        settings = self._config.stage2
        number = settings.candidates
        # One answer with all lines, or as many answers as lines.
        requests = self._draws(1 if settings.lines_an_answer == number else number)
        for attempts_left in reversed(range(settings.attempts if self._repairs else 1)):
            replies = self._ask(requests)
            line_count = len((requests[0].schema or {}).get("properties", {})) or 1
            for request, reply in zip(requests, replies, strict=True):
                self._readings.append(self._read(request, reply, line_count))
            requests = self._next_requests(len(requests)) if attempts_left else ()
            if not requests:
                break
        lines = merged([reading.lines for reading in self._readings], self._fault_count, number)
        self._as_written = {hide_names(line, self._plan.presence): line for line in lines}
        self.lines = tuple(self._as_written)

    def verify(self, clip: ClipOnDemand) -> None:
        """Look for what the lines state in the frames; ask once for lines without what is not there."""
        self._look(self.lines, clip)
        blamed = [line for line in self.lines if line in self._unseen]
        if not blamed or not self._repairs:
            return
        requests = []
        for line in blamed:
            reading = next(r for r in self._readings if self._as_written[line] in r.lines)
            messages = checks.without(reading.messages, reading.reply.text, line, self._unseen[line], 1)
            seed = self._seed(f"without {line}")
            requests.append(replace(self._request, messages=messages, seed=seed, schema=answer_schema(1)))
        replies = self._ask(requests)
        new_lines: dict[str, str] = {}
        for line, request, reply in zip(blamed, requests, replies, strict=True):
            reading = self._read(request, reply, 1)
            self._readings.append(reading)
            texts = [hide_names(text, self._plan.presence) for text in reading.lines]
            if texts and texts[0] not in self.lines and texts[0] not in new_lines.values():
                new_lines[line] = texts[0]
        if not new_lines:
            return
        # The new lines may state something else that is not there.
        self._look(tuple(new_lines.values()), clip)
        better_lines = []
        for line in self.lines:
            new_line = new_lines.get(line, line)
            # The new line where less of it is unseen than of the old one
            is_better = len(self._unseen.get(new_line, ())) < len(self._unseen.get(line, ()))
            better_lines.append(new_line if is_better else line)
        self.lines = tuple(better_lines)

    def answer(self) -> Stage2Answer:
        """The lines with all that was asked, or why there are none."""
        last = self._readings[-1].reply
        is_silent = all(reading.reply.finish == "silent" for reading in self._readings)
        notes = dict(last.notes)
        statements = self._narrators_notes()
        if "said" in notes:  # notes on single lines stand as the lines do
            notes["said"] = statements
        candidates = []
        for number, line in enumerate(self.lines):
            complaints = tuple(complaint.text for complaint in self.complaints(line))
            unseen = self._unseen.get(line, ())
            # Last of all: the checks know the people of the film by the names that it has for them.
            text = with_own_words(line, self._config.prompt.own_words)
            candidates.append(Candidate(text, complaints, unseen, statements_of_line(statements, number)))
        return Stage2Answer(
            slot_id=self._plan.slot.id,
            max_words=self._request.budget,
            history=self._request.history,
            maker=self._pool.engine("stage2").identity,
            seed=self._request.seed,
            prompt=self._request.messages,
            attempts=tuple(
                Attempt(reading.reply, (reading.fault.text,) if reading.fault else ())
                for reading in self._readings
            ),
            raw=last.text,
            candidates=tuple(candidates),
            error=None if self.lines or is_silent else _why_no_line(self._readings),
            is_silent=is_silent,
            looks=tuple(Attempt(reply) for reply in self._looks),
            unlooked=self._unlooked,
            notes=notes,
        )

    def _narrators_notes(self) -> list[Any]:
        """The engine's notes on each line, in the order of the lines; empty where it has none."""
        notes_of_texts: dict[str, Any] = {}
        for reading in self._readings:
            notes_of_texts |= dict(zip(reading.lines, reading.reply.notes.get("said", ()), strict=False))
        return [notes_of_texts.get(self._as_written.get(line, line), []) for line in self.lines]

    def _ask(self, requests: Sequence[Request]) -> list[Reply]:
        self.requests += requests
        return self._pool.ask_together("stage2", requests)

    def _read(self, request: Request, reply: Reply, line_count: int) -> _Reading:
        """What an answer holds, at most ``line_count`` lines. No line may repeat the question, but where
        answers are taken as they come."""
        messages = request.messages
        if reply.error is not None or reply.finish == "silent":
            return _Reading(messages, reply)
        if reply.finish == "refused":
            fault = checks.Complaint("refused", reply.text or "It was refused.")
            return _Reading(messages, reply, fault=fault)

        def spoken(line: str) -> str:
            called = as_spoken(line, self._plan.presence, self._config.prompt)
            return with_native_punctuation(called, self._config.language)

        ours = messages if self._repairs else ()
        return _Reading(messages, reply, *_read_lines(reply, line_count, spoken, ours, self._description))

    def _next_requests(self, together: int) -> tuple[Request, ...]:
        """What is asked for next; nothing where the lines are good, or the last ``together`` calls failed."""
        settings = self._config.stage2
        last_readings = self._readings[-together:]
        if all(r.reply.error is not None or r.reply.finish == "silent" for r in last_readings):
            return ()
        all_lines = [line for reading in self._readings for line in reading.lines]
        distinct_lines = [all_lines[number] for number in distinct(all_lines)]
        faulty = [line for line in distinct_lines if self._is_to_repair(line)]
        tells_rules = not self._rules_were_told
        missing = settings.candidates - len(distinct_lines) + (len(faulty) if tells_rules else 0)
        if missing <= 0:
            return ()
        if settings.lines_an_answer != settings.candidates:
            self._rules_were_told = True
            return self._draws(missing)
        last = self._readings[-1]
        about: list[tuple[str, tuple[checks.Complaint, ...]]] = []
        if last.fault is not None:
            about = [("", (last.fault,))]
        elif tells_rules and faulty:
            self._rules_were_told = True
            about = [(line, self.complaints(line)) for line in faulty]
        first, number = self._request.messages, settings.candidates
        if about:
            messages = checks.stage2_again(first, last.reply.text, about, candidates=number, number=missing)
        else:
            messages = checks.stage2_more(first, last.reply.text, distinct_lines, missing)
        seed = self._seed(str(len(self._readings)))
        return (replace(self._request, messages=messages, seed=seed, schema=answer_schema(missing)),)

    def _draws(self, number: int) -> tuple[Request, ...]:
        """The first question, by the next seeds: the slot's own is the first."""
        first = len(self._readings)
        seeds = [self._seed(str(k)) if k else self._request.seed for k in range(first, first + number)]
        return tuple(replace(self._request, seed=seed) for seed in seeds)

    def _seed(self, name: str) -> int:
        return slot_seed(self._config.seed, f"{self._plan.slot.id}/{name}")

    def _look(self, lines: Sequence[str], clip: ClipOnDemand) -> None:
        """Keep in ``_unseen`` what of these lines is not to be seen."""
        claims = [(line, claim) for line in lines for claim in statements_of(line, self._config.language)]
        if not claims:
            return
        messages, schema = verify_messages([claim for _, claim in claims], self._plan, self._config)
        request = Request(
            slot_id=self._plan.slot.id,
            messages=messages,
            scene=self._plan.scene,
            sampling=SamplingSettings(max_tokens=VERDICT_TOKENS),
            seed=self._seed(f"look {len(self._looks)}"),
            schema=schema,
            timed=self._config.prompt.times,
        )
        reply = self._pool.ask("stage1", request, clip)
        self._looks.append(reply)
        if reply.error is not None or reply.finish == "refused":
            self._unlooked = reply.error or in_english("failure.refused_look", text=quoted(reply.text))
            self._pool.forget("stage1", [request], clip)
            return
        verdicts = parse_verdicts(reply.text, len(claims))
        for (line, claim), verdict in zip(claims, verdicts, strict=True):
            if verdict is False:
                self._unseen[line] = (*self._unseen.get(line, ()), claim)


def complaints_about_line(
    line: str, plan: SlotPlan, description: str, config: Config, story: str = "", *, material: str = ""
) -> tuple[checks.Complaint, ...]:
    """What to do better in a line: a complaint for each rule on words and for each wrong name.

    ``description`` is what the line was written from, ``story`` what else the model got of the film, and
    words of ``material`` may be in any script (`checks.words_given`).
    """
    language, presence, max_words = config.language, plan.presence, plan.slot.max_words
    check = partial(
        checks.complaints_about,
        max_words=max_words,
        language=language,
        names=names_of(presence),
        material=material,
    )
    about_words = check(line)
    # No complaint is made about the very words by which the cast wants somebody to be called: a name with a
    # title (``Mr. Lee``), a descriptor (``the woman in red``).
    plain = line
    for called in (character.called for character in presence.cast if character.called):
        plain = re.sub(rf"(?<!\w){re.escape(called)}(?!\w)", "Kim", plain, flags=re.IGNORECASE)
    if plain != line:
        about_plain = check(plain)
        fair_rules = {complaint.rule for complaint in about_plain}
        about_words = tuple(
            complaint
            for complaint in about_words
            if complaint.rule not in ("L13", "pronoun") or complaint.rule in fair_rules
        )
    about_names = checks.name_complaints(
        line,
        description,
        presence,
        plan.nearby_names,
        context=f"{config.prompt.note}\n{story}",
        language=language,
    )
    return (*about_words, *about_names)


def _read_lines(
    reply: Reply, line_count: int, spoken: Callable[[str], str], messages: Sequence[Message], quoted: str
) -> tuple[tuple[str, ...], checks.Complaint | None]:
    """The lines of an answer, ``spoken`` and without repeats (`checks.original`), or what is wrong in it."""
    try:
        texts = parse_stage2(reply.text, line_count, cut=reply.finish == "length")
    except ScriptError as trouble:
        return (), checks.unreadable(trouble, reply.finish)
    lines = checks.original([spoken(text) for text in texts], reply.text, messages, quoted)
    return lines, None if lines else checks.REPEATED


def _why_no_line(readings: Sequence[_Reading]) -> str:
    """Why there is no line, for people: what was wrong last."""
    faulty = [reading for reading in readings if reading.reply.error or reading.fault]
    last = faulty[-1] if faulty else readings[-1]
    if last.reply.error is not None:
        return last.reply.error
    if last.fault is None:
        return in_english("failure.no_line")
    if last.fault.rule == "refused":
        return in_english("failure.refused_line", text=quoted(last.reply.text))
    key = _TROUBLES.get(last.fault.rule, "failure.unreadable")
    return in_english(key, text=quoted(last.reply.text))


_TROUBLES = {
    "example": "failure.example",
    "thoughts": "failure.thoughts",
    "cut off": "failure.cut_off",
}
