"""Asking Stage II's engine for a shorter line, where a spoken one does not fit and no whole phrase can go.

Whoever fits the spoken lines asks, where a shorter line was wished for and the run has an engine that reads
words. Every answer is kept in a log, so that the same line is not asked about twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from shotad.core import (
    Config,
    Engine,
    EngineError,
    Message,
    Progress,
    RecordLog,
    Request,
    ScriptError,
    WorkFolder,
    is_english,
    key_of,
)
from shotad.description.answers import parse_stage2
from shotad.description.checks import (
    REPEATED,
    Complaint,
    complaints_about,
    original,
    stage2_again,
    unreadable,
)
from shotad.description.conversation import (
    EngineCall,
    Inquiry,
    identity_record,
    make_ready,
    prompt_record,
    request_record,
    slot_seed,
    try_record,
)
from shotad.description.engine_pair import Engines
from shotad.description.prompts import answer_keys, answer_schema, check_prompts
from shotad.description.scheduler import converse
from shotad.description.templates import material, question, render
from shotad.description.wording import content_of, head_of, words_of
from shotad.engines import make_engine, stage_engines
from shotad.script import (
    DETERMINERS,
    Answer,
    Wish,
    bare,
    budget_in,
    capitals_are_names,
    names_in,
    own_signs,
    quotations,
)


class Shortener:
    """Answers wishes for shorter lines (a `shotad.script.fit.Shorten`), by an engine that is ready and reads
    messages. ``log`` keeps what was asked and answered."""

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
                messages=_messages(wish, self._config),
                budget=wish.words,
                sampling=self._config.stage2.sampling,
                seed=slot_seed(self._config.seed, what),
                schema=answer_schema(1),
            )
            keys.append(key_of("shorter/1", request_record(request, self._engine.identity)))
            asked[keys[-1]] = wish, request
        kept = {key: self._log.get(key) for key in asked} if self._log is not None else {}
        found = {key: record for key, record in kept.items() if record and record["error"] is None}
        missing = [(key, _inquiry(*asked[key], self._engine)) for key in asked if key not in found]
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
        return Answer(line, tuple(complaint.text for complaint in _complaints(line, wish)))


def _messages(wish: Wish, config: Config) -> tuple[Message, ...]:
    """The question; after an answer that was no use, the conversation goes on with what was wrong with it."""
    form = json.dumps(dict.fromkeys(answer_keys(1), "..."), ensure_ascii=False)
    user = render(
        "shorter/line",
        line=material(json.dumps(wish.text, ensure_ascii=False)),
        budget=str(budget_in(wish.language, wish.words)),
        template=form,
    )
    first = (Message("system", render("shorter/system", medium=config.prompt.medium)),
             question(user))  # fmt: skip
    if wish.before is None:
        return first
    too_long = f"It takes too long to say. At most {budget_in(wish.language, wish.words)} may be used."
    wrong = [Complaint("budget", too_long)] if not wish.before.complaints else []
    wrong += [Complaint("again", text) for text in wish.before.complaints]
    said = json.dumps(dict(zip(answer_keys(1), [wish.before.text], strict=True)), ensure_ascii=False)
    return stage2_again(first, said, [(wish.before.text, tuple(wrong))], candidates=1, wanted=1)


def _inquiry(wish: Wish, request: Request, engine: Engine) -> Inquiry:
    (reply,) = yield (EngineCall("writes", request),)
    line, error = "", reply.error
    complaints: tuple[Complaint, ...] = ()
    if error is None:
        try:
            read = parse_stage2(reply.text, 1, cut=reply.finish == "length")
            line = own_signs(read[0], wish.language)
            if not original([line], reply.text, request.messages, wish.text):
                line, complaints = "", (REPEATED,)
        except ScriptError as trouble:
            complaints = (unreadable(trouble, reply.finish),)
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
        "tries": [try_record(reply, [complaint.text for complaint in complaints])],
        "error": error,
        "shorter": line,
    }


def _complaints(line: str, wish: Wish) -> Iterator[Complaint]:
    """What is wrong with an answer; of the rules on words those that the line itself kept."""
    broken = {one.rule for one in complaints_about(wish.text, 10_000, language=wish.language)}
    for one in complaints_about(line, wish.words, language=wish.language):
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
        yield Complaint("name", f"You wrote {listed}. Say nothing that the sentence above does not say.")
    if not is_english(wish.language):
        return
    _, verb = head_of(wish.text)
    before = {word.lemma for word in takewhile(lambda word: word.lemma != verb, words_of(wish.text))}
    if verb and before and not before & {word.lemma for word in words_of(line)} - DETERMINERS:
        yield Complaint("who", "Keep who acts.")
    said = content_of(line)
    if 2 * (said & content_of(wish.text)).total() < said.total():
        yield Complaint("what", "It says something else. Say only what the sentence above says.")


LOG = "shorter"
"""Of ``shorter.jsonl``: what was asked and answered, so that no second render asks again."""


def shortener(
    folder: WorkFolder, config: Config, progress: Progress, engines: Engines | None = None
) -> Shortener | None:
    """Who is asked for shorter lines, as ``fit.ask`` has it; None where nobody is.

    ``engines`` are those of a run that has just described the film. Raises EngineError where the engine of
    Stage II is to be asked and reads no prompts.
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
