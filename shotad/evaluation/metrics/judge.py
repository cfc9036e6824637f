"""An engine as a judge: how it is named, how many short questions are asked, and how answers are read.

A plain function calls `Judge.ask`, and `map_items` runs it for many items side by side: so questions go to an
engine in batches, several in flight. An answer that cannot be read is asked for again. Replies are kept by
all that can change them (engine, model, revision, server, prompt, sampling and seed).

An answer is read strictly: a JSON object with what was asked, and nothing guessed. Two wrappings are taken
off, since they change nothing that is said: a code fence around the whole, and what a model thinks aloud
before it answers. All else is refused, with words that the engine is told when it is asked again. No template
that shows the form of an answer is an answer: weak models copy it, and a copy must count as a failure.

A judge is an engine, its model after a colon, and where or which one after an at sign: ``openai:gpt-4o``;
``openai:Meta-Llama-3-8B-Instruct@http://localhost:8000/v1``, the server that has it;
``llama3:meta-llama/Meta-Llama-3-8B-Instruct@8afb486``, the revision of the hub; ``llama3:FOLDER``;
``fake``; ``package.module:Class``. A metric by a judge is called ``METRIC@JUDGE``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any, Generic, TypeVar

from shotad.core import (
    Engine,
    Identity,
    Message,
    Reply,
    Request,
)
from shotad.core.config.words import SamplingSettings, Stage2Settings
from shotad.core.engine import (
    Stage,
    SupportsEstimates,
    SupportsNeeds,
    SupportsPreparing,
)
from shotad.core.errors import EvaluationError
from shotad.core.model_cache import ModelNeed, check_needs
from shotad.core.progress import progress_task
from shotad.core.settings import shipped_prompts
from shotad.core.workfolder import hash_key
from shotad.description.answer_text import is_placeholder, without_markup, without_thoughts
from shotad.description.answers import contains_refusal
from shotad.description.engine_pair import prepare_engine
from shotad.description.seeds import slot_seed
from shotad.description.templates import (
    check_templates,
    prompt_block,
    prompt_hash,
    prompt_messages,
)
from shotad.engines import (
    ENGINES,
    AskingPool,
    engine_class,
    is_only_thought,
    make_engine,
)
from shotad.engines.answer_log import identity_record, reply_of, reply_record
from shotad.engines.pool import are_local_models, workers_of
from shotad.evaluation.metric import JUDGE_FAILED, Json
from shotad.evaluation.store import MetricContext, Store

S = TypeVar("S")
T = TypeVar("T")

ATTEMPTS = 2
"""How often an item is asked about, where the answer cannot be read: a judge that fails twice on it, asked by
the likeliest tokens, fails on."""
_BETWEEN_TURNS = 64
"""Items at once where two local models take turns: one is asked about all of them before the other is
loaded, which may take a minute."""
_LONGEST = 1200
"""Characters of an answer that an engine is shown again, as in `shotad.description.checks`."""


@dataclass(frozen=True, slots=True)
class Question(Generic[T]):
    """What is asked, how the answer must look, and who reads it.

    ``template`` is the form of the answer as the engine is shown it again; ``read`` gives what the answer
    says, or raises Unreadable. ``tokens`` is the room that the answer needs where that may be more than the
    settings give. Where one question is asked several times, ``draw`` counts them from 0, and ``sampling``
    says how an answer is drawn (None: the likeliest).
    """

    messages: tuple[Message, ...]
    schema: Mapping[str, Any]
    template: str
    read: Callable[[str], T]
    tokens: int = 0
    draw: int = 0
    sampling: SamplingSettings | None = None


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What an engine said: a ``value``, or why there is none."""

    value: T | None
    failure: str = ""


class AnswerStore:
    """Replies of judges, kept in the evaluation's store for this run and later ones: a
    `shotad.engines.Memory`.

    A failed reply is not kept. May be used by several threads.
    """

    _SPACE = "answers"

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, key: str) -> Reply | None:
        """The reply that was kept, or None."""
        value = self._store.get(self._SPACE, [key]).get(key)
        return None if value is None else reply_of(json.loads(value))

    def add(self, key: str, stage: Stage, request: Request, identity: Identity, reply: Reply) -> Reply:
        """Keep a reply at once. Raises EvaluationError for a full disk."""
        if reply.error is None:
            self._store.put(self._SPACE, {key: json.dumps(reply_record(reply)).encode()})
        return reply

    def forget(self, keys: Iterable[str]) -> None:
        """Drop these replies: they are asked for again."""
        self._store.drop(self._SPACE, list(keys))


@dataclass(slots=True)
class _Exchange(Generic[T]):
    """A question, every request that was put for it, and the answer to the last."""

    question: Question[T]
    requests: list[Request]
    answer: Answer[T]


class Judge:
    """An engine that is asked, by its name (`JudgeName`), and its answers, kept on the context.

    Making one is cheap: no model is fetched or loaded before the first question. Raises ShotadError for
    an engine that is unknown, not installed, or cannot judge.
    """

    def __init__(self, name: str, context: MetricContext) -> None:
        self.name = name
        self.context = context
        self._sampling = SamplingSettings(max_tokens=context.config.stage2.sampling.max_tokens)
        self._key = f"engine/{name}/{hash_key(self._sampling.model_dump())}"
        # Two servers may call different models by the same name ("default").
        self._server = JudgeName.of(name).base_url or ""
        self._engine: Engine = context.once(self._key, self._make)
        self._pool: AskingPool | None = None
        self._stage: Stage = "stage2"

    @property
    def model(self) -> str:
        """The model's name, as far as it is known without fetching anything."""
        return self._engine.identity.model

    @property
    def needs(self) -> tuple[ModelNeed, ...]:
        """What its model takes of this machine; nothing where a server answers. Fetches nothing."""
        return self._engine.needs() if isinstance(self._engine, SupportsNeeds) else ()

    @property
    def sends_to(self) -> str:
        """The host that is sent the texts; empty where they stay on this machine."""
        return self._engine.abilities.sends_to

    @property
    def identity(self) -> Json:
        """All of the engine and of the way it is asked that can change an answer. Fetches the model."""
        self._get_ready()
        return {
            **identity_record(self._engine.identity),
            "server": self._server,
            "sampling": self._sampling.model_dump(),
            "attempts": ATTEMPTS,
            "seed": self.context.config.seed,
        }

    def ask(self, question: Question[T]) -> Answer[T]:
        """The answer to one question. Blocks; see `ask_all`."""
        return self.ask_all([question])[0]

    def ask_all(self, questions: Sequence[Question[T]]) -> list[Answer[T]]:
        """The answers to several questions, in order. Blocks; they may go to the engine in one call.

        Where an answer cannot be read, the engine is told so and asked again, `ATTEMPTS` times in all; what
        it said then is forgotten, so that the next run asks anew. An engine's own error is not asked about
        again: it has tried itself. Raises what an engine raises to stop the run (EngineError); what was
        answered until then is kept.
        """
        if not questions:
            return []
        if self._pool is None:
            with asking([self]):
                return self.ask_all(questions)
        exchanges = [_Exchange(question, [self._request(question)], Answer(None)) for question in questions]
        waiting = exchanges
        for _ in range(ATTEMPTS if self._engine.abilities.converses else 1):
            requests = [exchange.requests[-1] for exchange in waiting]
            replies = self._pool.ask_together(self._stage, requests)
            unreadable = []
            for exchange, reply in zip(waiting, replies, strict=True):
                if reply.error is not None:
                    exchange.answer = Answer(None, reply.error)
                    continue
                try:
                    exchange.answer = Answer(_read(exchange.question, reply))
                except Unreadable as complaint:
                    exchange.answer = Answer(None, str(complaint))
                    exchange.requests.append(
                        _asked_again(exchange.question, exchange.requests[0], reply, complaint)
                    )
                    unreadable.append(exchange)
            waiting = unreadable
        for exchange in waiting:
            self._pool.forget(self._stage, exchange.requests)
        return [exchange.answer for exchange in exchanges]

    def _make(self) -> Engine:
        judge, context = JudgeName.of(self.name), self.context
        engine_class(judge.engine)
        # Nothing of the settings of Stage II itself goes along: the judge is not the one who wrote the lines.
        stage2 = Stage2Settings(**asdict(judge), sampling=self._sampling)
        engine = make_engine(judge.engine, context.config.model_copy(update={"stage2": stage2}), "stage2")
        if not engine.abilities.converses and engine.identity.engine != "fake":
            raise EvaluationError(
                f"The engine {judge.engine} reads no questions, and cannot judge.",
                "Name one with a language model: openai:MODEL, llama3:MODEL.",
            )
        if isinstance(engine, SupportsEstimates):
            engine.ready_if_here()
        elif isinstance(engine, SupportsPreparing) and context.stand_in is None:
            engine.get_ready(context.progress)
        return engine if context.stand_in is None else context.stand_in(engine)

    def _get_ready(self) -> None:
        def ready() -> bool:
            check_needs(self.needs)
            prepare_engine(self._engine, self.context.progress)
            if self.sends_to:
                where = self._engine.abilities.destination
                note = f"Texts leave this machine: they are sent to {where}."
                self.context.progress.note(note)
            return True

        self.context.once(f"{self._key}/ready", ready)

    def _request(self, question: Question[T]) -> Request:
        name = hash_key([[message.role, message.text] for message in question.messages])
        name = hash_key([name, question.draw]) if question.draw else name
        sampling = question.sampling or self._sampling
        if question.tokens > sampling.max_tokens:
            sampling = sampling.model_copy(update={"max_tokens": question.tokens})
        return Request(
            # The server stands in the key of a reply by this name: the engine's identity does not have it.
            f"{name}@{self._server}" if self._server else name,
            question.messages,
            sampling=sampling,
            seed=slot_seed(self.context.config.seed, name),
            schema=question.schema,
        )


@contextmanager
def asking(judges: Sequence[Judge]) -> Iterator[AskingPool]:
    """Until the block ends these judges, of two engines at most, are asked by the pool that it gives.

    They share one, which sees who waits for whom: a batch goes to an engine when nobody is left to fill it.
    """
    for judge in judges:
        judge._get_ready()
    engines = _engines_of(judges)
    # The pool calls engines by the stages of a description, and asks the last of them first.
    names: tuple[Stage, ...] = ("stage2",) if len(engines) == 1 else ("stage1", "stage2")
    stages = dict(zip(names, engines, strict=True))
    context = judges[0].context
    usual_server = context.config.openai.base_url
    servers = {(judge._engine.identity.engine, judge._server or usual_server) for judge in judges}
    with AskingPool(
        stages,
        AnswerStore(context.store),
        shared=len(servers) == 1,
        take_turns=are_local_models(engines),
    ) as pool:
        for judge in judges:
            judge._pool = pool
            judge._stage = next(name for name, engine in stages.items() if engine is judge._engine)
        try:
            yield pool
        finally:
            for judge in judges:
                judge._pool = None


def _engines_of(judges: Sequence[Judge]) -> list[Engine]:
    """The engines of these judges, each once."""
    return list({id(judge._engine): judge._engine for judge in judges}.values())


def map_items(
    function: Callable[[S], T],
    items: Sequence[S],
    judges: Sequence[Judge],
    title: str = "",
    unit: str = "items",
) -> Iterator[T]:
    """``function`` of every item, in order; many run side by side, in threads, and ask any of ``judges``.

    How many follows from what the engines can take. With a ``title`` progress is shown, in these units.
    Raises what an engine or a function raises; nothing more is asked then, and what was answered is kept.
    Who does not draw all results closes the iterator, for asking goes on until then.
    """
    if not items:
        return
    engines = _engines_of(judges)
    workers = _BETWEEN_TURNS if are_local_models(engines) else sum(map(workers_of, engines))
    progress = judges[0].context.progress
    with progress_task(progress, title, len(items) if title else 0, unit) as task, asking(judges) as pool:
        for result in pool.map(function, items, workers=min(workers, len(items))):
            yield result
            task.advance(1)


def _read(question: Question[T], reply: Reply) -> T:
    """What a reply says. Raises Unreadable, Refused for a refusal."""
    if reply.finish == "refused":
        raise Refused("The answer is a refusal.")
    try:
        return question.read(reply.text)
    except Refused:
        raise
    except Unreadable:
        if reply.finish == "length":
            raise Unreadable("The answer is too long, and was cut off.") from None
        raise


def _asked_again(question: Question[T], first: Request, reply: Reply, complaint: Unreadable) -> Request:
    """The ``first`` request with what is wrong with the last reply alone, so that it does not grow."""
    *before, last = question.messages
    if isinstance(complaint, Refused):
        plea = prompt_block("judge-again", "refused", answer_form=question.template)
        return replace(first, messages=(*before, replace(last, text=f"{last.text}\n\n{plea}")))
    correction = prompt_block("judge-again", "wrong", complaint=str(complaint), answer_form=question.template)
    answered = Message("assistant", reply.text[:_LONGEST] or "…")
    return replace(first, messages=(*before, last, answered, Message("user", correction)))


_FENCE = re.compile(r"```[ \t]*+(?:json)?(?P<body>.*)```", re.DOTALL | re.IGNORECASE)


class Unreadable(ValueError):  # noqa: N818  what an answer is, as the engine is told
    """An answer that is not in the form asked for; the text says what is wrong with it, as a sentence."""


class Refused(Unreadable):
    """An answer that declines to answer."""


def record_in(answer: str, keys: Sequence[str]) -> dict[str, Any]:
    """The answer's JSON object, which has just these keys. Raises Unreadable, Refused for a refusal.

    >>> record_in('```json\\n{"score": 3}\\n```', ["score"])
    {'score': 3}
    """
    text = without_thoughts(answer).strip()
    fenced = _FENCE.fullmatch(text)
    text = fenced["body"].strip() if fenced else text
    if not text:
        only_thought = ": it holds nothing but thoughts" if is_only_thought(answer) else ""
        raise Unreadable(f"The answer is empty{only_thought}.")
    if not text.startswith("{"):
        if contains_refusal(text):
            raise Refused("The answer is a refusal.")
        raise Unreadable("The answer does not begin with the JSON object.")
    try:
        record, end = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_number).raw_decode(text)
    except Unreadable:
        raise
    except (ValueError, RecursionError) as error:
        where = f" at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else ""
        raise Unreadable(f"The answer is not valid JSON{where}.") from None
    if text[end:].strip():
        raise Unreadable("There is text after the JSON object.")
    assert isinstance(record, dict), "text that begins with a brace is an object, or no JSON"
    missing = [key for key in keys if key not in record]
    if missing:
        raise Unreadable(f"The JSON object has no {_listed(missing)}.")
    others = [key for key in record if key not in keys]
    if others:
        raise Unreadable(f"The JSON object has {_listed(others)}, which was not asked for.")
    return record


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The JSON object of these keys and values. Raises Unreadable where a key stands twice."""
    values = dict(pairs)
    if len(values) != len(pairs):
        names = [key for key, _ in pairs]
        raise Unreadable(f"{_listed([n for n in values if names.count(n) > 1])} stands in the answer twice.")
    return values


def _no_number(name: str) -> float:
    raise Unreadable(f"{name} is no number.")


def whole_number(value: Any, label: str, lowest: int, highest: int) -> int:
    """The value as a number of the scale; ``4.0``, ``"4"``, ``"4/5"`` and ``true`` are none."""
    if type(value) is not int or not lowest <= value <= highest:
        raise Unreadable(
            f"{label} must be a whole number from {lowest} to {highest}, and is {_shown(value)}."
        )
    return value


def sentence(value: Any, label: str) -> str:
    """The value as text on one line that says something, without HTML and Markdown."""
    text = " ".join(without_markup(value).split()) if isinstance(value, str) else ""
    if is_placeholder(text):
        raise Unreadable(f"{label} must be a sentence, and is {_shown(value)}.")
    return text


def _listed(names: Sequence[str], last: str = "and") -> str:
    quoted = [json.dumps(name, ensure_ascii=False) for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} {last} {quoted[-1]}"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:59]}…"


_PLACE = re.compile(r"(?P<model>.*?)@(?P<url>https?://.*)", re.DOTALL)
_REVISION = re.compile(r"(?P<model>[\w.-]+(?:/[\w.-]+)?)@(?P<revision>[\w./-]+)")


@dataclass(frozen=True, slots=True)
class JudgeName:
    """A judge's name taken apart. None: the engine's own."""

    engine: str
    model: str | None = None
    revision: str | None = None
    base_url: str | None = None

    @classmethod
    def of(cls, text: str) -> JudgeName:
        """The judge that is named so. Raises EvaluationError for a name that holds a password, or nothing.

        >>> JudgeName.of("openai:gpt-4o")
        JudgeName(engine='openai', model='gpt-4o', revision=None, base_url=None)
        >>> JudgeName.of("llama3:org/name@v2").revision
        'v2'
        >>> JudgeName.of("my.module:Judge:large").engine
        'my.module:Judge'
        """
        engine, _, model = text.strip().partition(":")
        if engine not in ENGINES and "." in engine:  # package.module:Class:MODEL
            name, _, model = model.partition(":")
            engine = f"{engine}:{name}"
        if not engine:
            raise EvaluationError(f"{text!r} names no engine.", f"Known: {', '.join(ENGINES)}.")
        placed = _PLACE.fullmatch(model)
        if placed is not None:
            if "@" in placed["url"]:
                raise EvaluationError(
                    "A judge's address holds a user or a password, and names are written into reports.",
                    "Set openai.base_url instead, or the key in the environment.",
                )
            return cls(engine, placed["model"] or None, base_url=placed["url"])
        revised = _REVISION.fullmatch(model)
        if revised is not None:
            return cls(engine, revised["model"], revised["revision"])
        return cls(engine, model or None)


def judge_of(name: str, engines: Iterable[str]) -> str:
    """The judge of the metric ``name``: what stands after its at sign, else the only one of ``engines``.

    Raises EvaluationError where there is none, or more than one.
    """
    metric, _, judge = name.partition("@")
    if judge:
        return judge
    named = list(dict.fromkeys(engines))
    if len(named) == 1:
        return named[0]
    several = f"Several are set: {', '.join(named)}. " if named else ""
    raise EvaluationError(
        f"The metric {metric} asks an engine, and it is not said which.",
        f"{several}Write {metric}@openai:gpt-4o, say, or set one as measures.judge.engines.",
    )


def by_judge(answers: Sequence[Answer[T]]) -> str:
    """What went wrong with the judge, as a row's failure; empty where nothing did."""
    wrong = failed(answers)
    return f"{JUDGE_FAILED} {wrong}" if wrong else ""


def failed(answers: Sequence[Answer[T]]) -> str:
    """How many answers failed, and why the first did; empty where none did."""
    wrong = [answer.failure for answer in answers if answer.value is None]
    some = f"{len(wrong)} of {len(answers)} answers: " if len(answers) > 1 else ""
    return f"{some}{wrong[0]}" if wrong else ""


@dataclass(frozen=True, slots=True)
class Part:
    """What stands under a key of an answer: its ``form`` as an engine is shown it, its JSON schema, and who
    reads it, told the value and the key. ``read`` raises Unreadable."""

    form: str
    schema: Mapping[str, Any]
    read: Callable[[Any, str], Any]


STRING = {"type": "string"}
STRINGS = {"type": "array", "items": STRING}


def text_part(form: str) -> Part:
    """A text that says something, on one line."""
    return Part(form, STRING, sentence)


SENTENCE = text_part('"<one sentence>"')


def word(meanings: Mapping[str, Any], form: str) -> Part:
    """One of these words, in small or capital letters, read as what it means."""
    meaning_by_word = {name.lower(): meaning for name, meaning in meanings.items()}

    def read(value: Any, key: str) -> Any:
        if not isinstance(value, str) or value.strip().lower() not in meaning_by_word:
            raise Unreadable(f"{key} must be {_listed(list(meaning_by_word), 'or')}, and is {_shown(value)}.")
        return meaning_by_word[value.strip().lower()]

    return Part(form, STRING | {"enum": list(meanings)}, read)


YES_OR_NO = word({"yes": True, "no": False}, '<"yes" or "no">')


def points(lowest: int, highest: int) -> Part:
    """A whole number of a scale."""
    schema = {"type": "integer", "minimum": lowest, "maximum": highest}
    form = f"<{lowest} to {highest}>"
    return Part(form, schema, lambda value, key: whole_number(value, key, lowest, highest))


def listing(most: int, form: str = '["…", "…", …]', *, empty: bool = False) -> Part:
    """A list of 1 to ``most`` sentences, or of none where it may be ``empty``; equal sentences count once."""

    def read(value: Any, key: str) -> tuple[str, ...]:
        if not isinstance(value, list) or not (value or empty):
            raise Unreadable(f"{key} must be a list of sentences, and is {_shown(value)}.")
        distinct: dict[str, str] = {}
        for entry in value:
            text = sentence(entry, f"each of {key}")
            distinct.setdefault(text.casefold(), text)
        entries = tuple(distinct.values())
        if len(entries) > most:
            raise Unreadable(f"{key} may have {most} entries at most, and has {len(entries)}.")
        return entries

    return Part(form, STRINGS, read)


def entries_schema(entry: Mapping[str, Any]) -> Json:
    """The JSON schema of an object with these entries, and no others."""
    return {
        "type": "object",
        "properties": dict(entry),
        "required": list(entry),
        "additionalProperties": False,
    }


def question(
    name: str,
    values: Mapping[str, Any],
    parts: Mapping[str, Part],
    read: Callable[..., Any] = lambda *said: said[-1],
    tokens: int = 0,
) -> Question[Any]:
    """What is asked by the prompt ``name``, filled in with ``values``. The answer is an object with these
    ``parts``; ``read`` makes what it says of theirs, in order (default: the last of them)."""
    form = f"{{{', '.join(f'{json.dumps(key)}: {part.form}' for key, part in parts.items())}}}"

    def read_all(answer: str) -> Any:
        record = record_in(answer, list(parts))
        return read(*(part.read(record[key], key) for key, part in parts.items()))

    schema = entries_schema({key: part.schema for key, part in parts.items()})
    messages = prompt_messages(name, **values, answer_form=form)
    return Question(messages, schema, form, read_all, tokens)


def checked_prompts(*kinds: str) -> str:
    """The hash of the prompts of these kinds (``steps``: ``steps-judge``, …), and of how a judge is asked.

    Raises PromptError where one of them, edited perhaps, cannot be filled in.
    """
    names = [name for kind in ("judge", *kinds) for name in shipped_prompts(f"{kind}-")]
    check_templates(names)
    return prompt_hash(names)


class Pair:
    """The engine that is scored, and the judge (default: the engine too). ``identity`` is all of both, and of
    the prompts of these kinds, that can change an answer. Raises as `Judge` and `checked_prompts` do."""

    def __init__(self, engine: str, judge: str, context: MetricContext, *kinds: str) -> None:
        prompts = checked_prompts(*kinds)
        self.actor, self.judge = Judge(engine, context), Judge(judge or engine, context)
        engines = {"engine": self.actor.identity, "judge": self.judge.identity}
        self.identity: Json = {"version": 1, **engines, "prompts": prompts}

    @property
    def judges(self) -> tuple[Judge, Judge]:
        """Both, the one that is scored first."""
        return self.actor, self.judge
