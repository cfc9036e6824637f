"""Stage II: a description and a word budget to an engine, one AD sentence back, or several to choose from.

Lines are asked for, read, checked by the rules on words, budget and names, asked for again with what was
wrong, and, where that is set, looked for in the frames. Whatever comes of it stands in one record.

The same engine is asked for shorter lines where a spoken one does not fit and no whole phrase can go. Every
answer is kept in a log, so that the same line is not asked about twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import takewhile
from typing import Any

from shotad.core import (
    Config,
    Description,
    Engine,
    EngineError,
    Identity,
    Message,
    Progress,
    RecordLog,
    Reply,
    Request,
    SamplingSettings,
    ScriptError,
    WorkFolder,
    is_english,
    key_of,
    quoted,
)
from shotad.description import checks
from shotad.description.answers import parse_stage2
from shotad.description.choice import distinct, merged
from shotad.description.conversation import (
    EngineCall,
    Inquiry,
    converse,
    identity_record,
    make_ready,
    prompt_record,
    request_record,
    slot_seed,
    try_record,
    usage_record,
)
from shotad.description.engine_pair import Engines
from shotad.description.prompts import (
    NO_STORY,
    StoryContext,
    answer_form,
    answer_keys,
    answer_schema,
    check_prompts,
    stage2_messages,
)
from shotad.description.slotplan import SlotPlan, as_called, as_spoken, character_row, without_untold
from shotad.description.templates import prompt_hash, prompt_messages
from shotad.description.verify import VERDICT_TOKENS, parse_verdicts, statements_of, verify_messages
from shotad.description.wording import content_of, head_of, words_of
from shotad.engines import make_engine, stage_engines
from shotad.script import (
    DETERMINERS,
    Answer,
    Wish,
    bare,
    budget_text,
    capitals_are_names,
    cast_mentions,
    names_in,
    own_signs,
    quotations,
)

STAGE2_STEP = "stage2/1"
"""The step, and the version of how its answers are read and kept (see `key_of`)."""


def stage2_question(
    plan: SlotPlan,
    description: Description,
    history: Sequence[str],
    engine: Engine,
    config: Config,
    *,
    story: StoryContext = NO_STORY,
    looks: Identity | None = None,
    shown: str = "",
) -> Question:
    """The question; ``history`` are the last lines, given only to an engine that uses them.

    ``story`` is what else is told of the film; ``looks`` verifies; ``shown`` is the key of Stage I's record,
    which stands for the frames.
    """
    settings, presence = config.stage2, plan.presence
    description = as_called(description, presence, config.prompt)
    request = Request(
        slot_id=plan.slot.id,
        messages=stage2_messages(description, plan, config, story=story),
        scene=plan.scene,
        budget=plan.slot.max_words,
        history=tuple(history)[-settings.history :] if settings.history else (),
        sampling=settings.sampling,
        seed=slot_seed(config.seed, plan.slot.id),
        schema=answer_schema(settings.lines_an_answer),
        notes=description.notes,
    )
    repairs = engine.abilities.converses and settings.repair != "none"
    how: list[Any] = [settings.candidates, settings.draw]
    if repairs:
        how += [settings.repair, settings.attempts, config.language, prompt_hash(["stage2-again"])]
    # What a line's names are judged by; nothing where that is nobody, so that a cast makes no line stale.
    told = f"{description.text}\n{story.text}\n{config.prompt.note}"
    named = {mention.id for mention in cast_mentions(told, presence.cast)} | {c.id for c in presence.seen}
    how += [character_row(c) for c in presence.cast if c.id in named]
    if config.verify.on and looks is not None:
        how += [config.verify, identity_record(looks), shown, prompt_hash(["verify"])]
    key = key_of(STAGE2_STEP, how, request_record(request, engine.identity))
    return Question(plan, engine, config, request, repairs, key, description.text, story.text)


Asking = Generator[tuple[EngineCall, ...], tuple[Reply, ...], None]
"""Yields turns, all to the same engine; gets a reply to each."""


@dataclass(frozen=True, slots=True)
class _Try:
    """One answer: its lines, and where there are none, why."""

    messages: tuple[Message, ...]
    reply: Reply
    lines: tuple[str, ...] = ()
    wrong: checks.Complaint | None = None


@dataclass(slots=True)
class Question:
    """Stage II's question about one slot, what its lines are held to, and what has been answered.

    ``repairs``: whether a bad answer is asked for again; ``description`` is what lines are written from,
    ``story`` what else the model is told.
    """

    plan: SlotPlan
    engine: Engine
    config: Config
    request: Request
    repairs: bool
    key: str
    description: str
    story: str
    _tries: list[_Try] = field(default_factory=list)
    _looks: list[Reply] = field(default_factory=list)
    _lines: tuple[str, ...] = ()
    _unseen: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _unlooked: str = ""
    _rules_told: bool = False
    _written: dict[str, str] = field(default_factory=dict)
    """The lines as they came, by what they are without names that may not be said yet."""

    def inquiry(self) -> Inquiry:
        """Asks for the lines of one slot until they can be used; returns its record."""
        yield from self._write()
        if self.config.verify.on and self._lines:
            yield from self._verify()
        return self._record()

    def complaints(self, line: str) -> tuple[checks.Complaint, ...]:
        """What to do better, one for each rule on words and each name; nothing where it is not asked."""
        if not self.repairs:
            return ()
        language, presence, prompt = self.config.language, self.plan.presence, self.config.prompt
        found = checks.complaints_about(line, self.plan.slot.max_words, language=language)
        # Nothing is said against the very words by which the cast wants somebody to be called: a name with
        # a title (``Mr. Lee``), a descriptor (``the woman in red``).
        plain = line
        for called in (character.called for character in presence.cast if character.called):
            plain = re.sub(rf"(?<!\w){re.escape(called)}(?!\w)", "Kim", plain, flags=re.IGNORECASE)
        if plain != line and any(one.rule in ("L13", "pronoun") for one in found):
            again = checks.complaints_about(plain, self.plan.slot.max_words, language=language)
            fair = {one.rule for one in again}
            found = tuple(one for one in found if one.rule not in ("L13", "pronoun") or one.rule in fair)
        told = f"{prompt.note}\n{self.story}"
        names = checks.name_complaints(
            line, self.description, presence, self.plan.heard, told=told, language=language
        )
        # Without names for Stage II nobody has told it which of somebody's names is the one to use.
        return (*found, *(one for one in names if prompt.by_rules.stage2_names or one.rule != "L8"))

    def _write(self) -> Asking:
        """Asks until there are as many clean lines as are wanted, or no attempt is left."""
        number = self.config.stage2.candidates
        requests = self._draws(1 if self.config.stage2.lines_an_answer == number else number)
        for left in reversed(range(self.config.stage2.attempts if self.repairs else 1)):
            replies = yield tuple(EngineCall("writes", request) for request in requests)
            wanted = len((requests[0].schema or {}).get("properties", {})) or 1
            for request, reply in zip(requests, replies, strict=True):
                self._tries.append(self._read(request, reply, wanted))
            requests = self._next(len(requests)) if left else ()
            if not requests:
                break
        lines = merged([one.lines for one in self._tries], lambda line: len(self.complaints(line)), number)
        self._written = {without_untold(line, self.plan.presence): line for line in lines}
        self._lines = tuple(self._written)

    def _verify(self) -> Asking:
        """Looks for what the lines state in the frames; asks once for lines without what is not there."""
        yield from self._look(self._lines)
        blamed = [line for line in self._lines if line in self._unseen]
        if not blamed or not self.repairs:
            return
        requests = []
        for line in blamed:
            one = next(one for one in self._tries if self._written[line] in one.lines)
            told = checks.without(one.messages, one.reply.text, line, self._unseen[line], 1)
            seed = self._seed(f"without {line}")
            requests.append(replace(self.request, messages=told, seed=seed, schema=answer_schema(1)))
        replies = yield tuple(EngineCall("writes", request) for request in requests)
        instead: dict[str, str] = {}
        for line, request, reply in zip(blamed, requests, replies, strict=True):
            self._tries.append(self._read(request, reply, 1))
            new = tuple(without_untold(text, self.plan.presence) for text in self._tries[-1].lines)
            if new and new[0] not in self._lines and new[0] not in instead.values():
                instead[line] = new[0]
        if instead:
            yield from self._look(tuple(instead.values()))
            # The new line where less of it is unseen than of the old one
            better = {
                line: new
                for line, new in instead.items()
                if len(self._unseen.get(new, ())) < len(self._unseen[line])
            }
            self._lines = tuple(better.get(line, line) for line in self._lines)

    def _record(self) -> dict[str, Any]:
        """What was asked and answered, or why it failed or is silent."""
        last = self._tries[-1]
        silent = all(one.reply.finish == "silent" for one in self._tries)
        error = None if self._lines or silent else _why(self._tries)
        complaints = {str(i): [c.text for c in self.complaints(line)] for i, line in enumerate(self._lines)}
        # What the engine noted last; notes on single lines stand as the lines do.
        notes = dict(last.reply.notes)
        if "said" in notes:
            said: dict[str, Any] = {}
            for one in self._tries:
                said |= dict(zip(one.lines, one.reply.notes.get("said", ()), strict=False))
            notes["said"] = [said.get(self._written.get(line, line), []) for line in self._lines]
        unseen = {str(i): list(self._unseen[one]) for i, one in enumerate(self._lines) if one in self._unseen}
        return {
            "slot": self.plan.slot.id,
            "budget": self.request.budget,
            "history": list(self.request.history),
            "maker": identity_record(self.engine.identity),
            "seed": self.request.seed,
            "prompt": prompt_record(self.request.messages),
            "raw": last.reply.text,
            "finish": "error" if error else last.reply.finish,
            "usage": usage_record([*(one.reply for one in self._tries), *self._looks]),
            "tries": [try_record(one.reply, [one.wrong.text] if one.wrong else ()) for one in self._tries],
            **({"looks": [try_record(reply) for reply in self._looks]} if self._looks else {}),
            **({"unlooked": self._unlooked} if self._unlooked else {}),
            "error": error,
            "candidates": list(self._lines),
            "complaints": {number: texts for number, texts in complaints.items() if texts},
            "unseen": unseen,
            "notes": notes,
        }

    def _read(self, request: Request, reply: Reply, wanted: int) -> _Try:
        """What an answer holds. No line may repeat the question, but where answers are taken as they come."""
        messages = request.messages
        if reply.error is not None or reply.finish == "silent":
            return _Try(messages, reply)
        if reply.finish == "refused":
            return _Try(messages, reply, wrong=checks.Complaint("refused", reply.text or "It was refused."))

        def spoken(line: str) -> str:
            return own_signs(as_spoken(line, self.plan.presence, self.config.prompt), self.config.language)

        ours = messages if self.repairs else ()
        return _Try(messages, reply, *_lines_in(reply, wanted, spoken, ours, self.description))

    def _next(self, together: int) -> tuple[Request, ...]:
        """What is asked for next; nothing where the lines are good, or the last ``together`` calls failed."""
        last, settings = self._tries[-1], self.config.stage2
        if all(
            one.reply.error is not None or one.reply.finish == "silent" for one in self._tries[-together:]
        ):
            return ()
        every = [line for one in self._tries for line in one.lines]
        have = [every[i] for i in distinct(every)]
        faulty = [line for line in have if self.complaints(line)]
        rules = settings.repair == "all" and not self._rules_told
        missing = settings.candidates - len(have) + (len(faulty) if rules else 0)
        if missing <= 0:
            return ()
        if settings.lines_an_answer != settings.candidates:
            self._rules_told = True
            return self._draws(missing)
        asked, number = self.request.messages, settings.candidates
        about: list[tuple[str, tuple[checks.Complaint, ...]]] = []
        if last.wrong is not None:
            about = [("", (last.wrong,))]
        elif rules and faulty:
            self._rules_told = True
            about = [(line, self.complaints(line)) for line in faulty]
        messages = (
            checks.stage2_again(asked, last.reply.text, about, candidates=number, wanted=missing)
            if about
            else checks.stage2_more(asked, last.reply.text, have, missing)
        )
        seed = self._seed(str(len(self._tries)))
        return (replace(self.request, messages=messages, seed=seed, schema=answer_schema(missing)),)

    def _draws(self, number: int) -> tuple[Request, ...]:
        """The first question, by the next seeds: the slot's own is the first."""
        first = len(self._tries)
        seeds = [self._seed(str(k)) if k else self.request.seed for k in range(first, first + number)]
        return tuple(replace(self.request, seed=seed) for seed in seeds)

    def _seed(self, what: str) -> int:
        return slot_seed(self.config.seed, f"{self.plan.slot.id}/{what}")

    def _look(self, lines: Sequence[str]) -> Asking:
        """Keeps in ``_unseen`` what of these lines is not to be seen."""
        claims = [(line, claim) for line in lines for claim in statements_of(line, self.config.language)]
        if not claims:
            return
        messages, schema = verify_messages([claim for _, claim in claims], self.plan, self.config)
        request = Request(
            slot_id=self.plan.slot.id,
            messages=messages,
            scene=self.plan.scene,
            sampling=SamplingSettings(max_tokens=VERDICT_TOKENS),
            seed=self._seed(f"look {len(self._looks)}"),
            schema=schema,
            timed=self.config.prompt.times,
        )
        (reply,) = yield (EngineCall("looks", request, with_clip=True),)
        self._looks.append(reply)
        if reply.error is not None or reply.finish == "refused":
            self._unlooked = reply.error or f"it was refused: {quoted(reply.text)}"
            return
        verdicts = parse_verdicts(reply.text, len(claims))
        for (line, claim), verdict in zip(claims, verdicts, strict=True):
            if verdict is False:
                self._unseen[line] = (*self._unseen.get(line, ()), claim)


def _lines_in(
    reply: Reply, wanted: int, spoken: Callable[[str], str], messages: Sequence[Message], quoted: str
) -> tuple[tuple[str, ...], checks.Complaint | None]:
    """The lines of an answer, ``spoken`` and without repeats (`original`), or what is wrong with it."""
    try:
        read = parse_stage2(reply.text, wanted, cut=reply.finish == "length")
    except ScriptError as trouble:
        return (), checks.unreadable(trouble, reply.finish)
    lines = checks.original([spoken(line) for line in read], reply.text, messages, quoted)
    return lines, None if lines else checks.REPEATED


def _why(tries: Sequence[_Try]) -> str:
    """Why there is no line, for people: what was wrong last."""
    last = next((one for one in reversed(tries) if one.reply.error or one.wrong), tries[-1])
    if last.reply.error is not None:
        return last.reply.error
    if last.wrong is None:
        return "no line was found in the answer"
    if last.wrong.rule == "refused":
        return f"the model refused to write a line: {quoted(last.reply.text)}"
    return f"{_TROUBLES.get(last.wrong.rule, 'no line could be read')}: {quoted(last.reply.text)}"


_TROUBLES = {
    "example": "the model repeated a sentence of the question, or one that was written for another clip",
    "cut off": "the answer was cut off before a line was whole",
    "unreadable": "no line could be read",
}


class Shortener:
    """Answers wishes for shorter lines (a `Shorten`) by a ready engine; ``log`` keeps the answers."""

    def __init__(self, engine: Engine, config: Config, log: RecordLog | None = None) -> None:
        self._engine, self._config, self._log = engine, config, log
        self.made: list[Mapping[str, Any]] = []
        """The records of what the engine was asked, for the bill."""
        self.trouble = ""
        """Why the engine stopped answering, where it did; nothing more is asked of it then."""

    def __call__(self, wishes: Sequence[Wish]) -> list[Answer | None]:
        """An answer to each wish, in order; None where the engine has none."""
        asked: dict[str, tuple[Wish, Request]] = {}
        keys = []
        for wish in wishes:
            what = f"{wish.id}/shorter/{wish.words}/{wish.before.text if wish.before else ''}"
            request = Request(
                slot_id=wish.id,
                messages=shorter_messages(wish, self._config),
                budget=wish.words,
                sampling=self._config.stage2.sampling,
                seed=slot_seed(self._config.seed, what),
                schema=answer_schema(1),
            )
            keys.append(key_of("shorter/1", request_record(request, self._engine.identity)))
            asked[keys[-1]] = wish, request
        kept = {key: self._log.get(key) for key in asked} if self._log is not None else {}
        found = {key: record for key, record in kept.items() if record and record["error"] is None}
        missing = [(key, _shorter(*asked[key], self._engine)) for key in asked if key not in found]
        if missing and not self.trouble:
            try:
                for key, record in converse(missing, {"writes": self._engine}):
                    found[key] = self._log.add(key, record) if self._log is not None else record
                    self.made.append(found[key])
            except EngineError as error:
                self.trouble = str(error)
        return [self._answer(wish, found.get(key)) for wish, key in zip(wishes, keys, strict=True)]

    def _answer(self, wish: Wish, record: Mapping[str, Any] | None) -> Answer | None:
        """What a record answers, judged by the rules as they are now; None where it holds no line."""
        if record is None or record["error"] is not None or not record["shorter"]:
            return None
        line = str(record["shorter"])
        return Answer(line, tuple(complaint.text for complaint in _about_shorter(line, wish)))


def shorter_messages(wish: Wish, config: Config) -> tuple[Message, ...]:
    """The question; after an answer that was no use, the conversation goes on with what was wrong with it."""
    first = prompt_messages(
        "shorter",
        medium=config.prompt.medium,
        line=wish.text,
        budget=budget_text(wish.language, wish.words),
        answer_form=answer_form(1),
    )
    if wish.before is None:
        return first
    too_long = f"It takes too long to say. At most {budget_text(wish.language, wish.words)} may be used."
    wrong = [checks.Complaint("budget", too_long)] if not wish.before.complaints else []
    wrong += [checks.Complaint("again", text) for text in wish.before.complaints]
    said = json.dumps(dict(zip(answer_keys(1), [wish.before.text], strict=True)), ensure_ascii=False)
    return checks.stage2_again(first, said, [(wish.before.text, tuple(wrong))], candidates=1, wanted=1)


def _shorter(wish: Wish, request: Request, engine: Engine) -> Inquiry:
    (reply,) = yield (EngineCall("writes", request),)
    lines: tuple[str, ...] = ()
    wrong: checks.Complaint | None = None
    if reply.error is None:
        signs = partial(own_signs, language=wish.language)
        lines, wrong = _lines_in(reply, 1, signs, request.messages, wish.text)
    return {
        "slot": wish.id,
        "line": wish.text,
        "budget": wish.words,
        "maker": identity_record(engine.identity),
        "seed": request.seed,
        "prompt": prompt_record(request.messages),
        "raw": reply.text,
        "finish": reply.finish,
        "usage": try_record(reply)["usage"],
        "tries": [try_record(reply, [wrong.text] if wrong else ())],
        "error": reply.error,
        "shorter": lines[0] if lines else "",
    }


def _about_shorter(line: str, wish: Wish) -> Iterator[checks.Complaint]:
    """What is wrong with an answer; of the rules on words those that the line itself kept."""
    broken = {one.rule for one in checks.complaints_about(wish.text, 10_000, language=wish.language)}
    for one in checks.complaints_about(line, wish.words, language=wish.language):
        if one.rule == "budget" or one.rule not in broken:
            yield one
    # What the answer says that the line does not, and the subject that it lost
    quotes = [line[start:end].strip("\"“”'‘’ .,") for start, end in quotations(line)]
    strange = [quote for quote in quotes if quote.lower() not in wish.text.lower()]
    if capitals_are_names(wish.language):
        known = {bare(word).removesuffix("'s") for word in wish.text.split()}
        strange += [name for name in names_in([line]) if not {bare(word) for word in name.split()} <= known]
    if strange:
        listed = ", ".join(json.dumps(one, ensure_ascii=False) for one in strange)
        yield checks.Complaint(
            "name", f"You wrote {listed}. Say nothing that the sentence above does not say."
        )
    if not is_english(wish.language):
        return
    _, verb = head_of(wish.text)
    before = {word.lemma for word in takewhile(lambda word: word.lemma != verb, words_of(wish.text))}
    if verb and before and not before & {word.lemma for word in words_of(line)} - DETERMINERS:
        yield checks.Complaint("who", "Keep who acts.")
    said = content_of(line)
    if 2 * (said & content_of(wish.text)).total() < said.total():
        yield checks.Complaint("what", "It says something else. Say only what the sentence above says.")


LOG = "shorter"
"""Of ``shorter.jsonl``: what was asked and answered, so that no second render asks again."""


def shortener(
    folder: WorkFolder, config: Config, progress: Progress, engines: Engines | None = None
) -> Shortener | None:
    """Who is asked for shorter lines, as ``fit.ask`` has it; None where nobody is.

    ``engines`` are those of a run that has just described the film. Raises EngineError if none reads prompts.
    """
    at_hand = engines is not None and engines.writes.abilities.converses
    if not (at_hand if config.fit.ask is None else config.fit.ask):
        return None
    engine = engines.writes if engines else make_engine(stage_engines(config).stage2, config, "stage2")
    check_prompts("shorter")
    if not engines:
        make_ready(engine, progress)
    if not engine.abilities.converses:
        raise EngineError(
            f"{engine.identity.engine} reads no prompts and cannot be asked for shorter lines.",
            "Name a language model: --set stage2.engine=openai, or leave --ask away.",
        )
    return Shortener(engine, config, folder.log_of_records(LOG))
