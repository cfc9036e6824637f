"""Many short questions to one engine: batched, several in flight, asked again, and each answer kept.

An answer that was read once is found in the store by all that can change it: engine, model, revision,
prompt, sampling and seed. Answers that could not be read are not kept, so that they are asked for again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from shotad.core import (
    Engine,
    EvaluationError,
    Foreseeable,
    Message,
    Preparing,
    Progress,
    Reply,
    Request,
    SamplingSettings,
    key_of,
)
from shotad.description import (
    Inquiry,
    Named,
    Turn,
    converse,
    identity_record,
    render,
    request_record,
    slot_seed,
)
from shotad.engines import engine_class, make_engine
from shotad.evaluation.judges.answers import Refused, Unreadable
from shotad.evaluation.judges.names import JudgeName
from shotad.evaluation.measure.bench import Bench
from shotad.evaluation.measure.rows import Json

T = TypeVar("T")

TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "judge/again": ("complaint", "template"),
    "judge/again-refused": ("template",),
}
"""The templates of this module and their variables."""

_GROUP = 256
"""Questions that are looked up together, and whose answers wait for each other."""
_LONGEST = 1200
"""Characters of an answer that an engine is shown again, as in `shotad.description.checks`."""


@dataclass(frozen=True, slots=True)
class Question(Generic[T]):
    """What is asked, how the answer must look, and who reads it.

    ``template`` is the form of the answer as the engine is shown it again; ``read`` gives what the answer
    says, or raises Unreadable. ``tokens`` is the room that the answer needs where that may be more than the
    settings give.
    """

    messages: tuple[Message, ...]
    schema: Mapping[str, Any]
    template: str
    read: Callable[[str], T]
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What an engine said: a ``value``, or why there is none."""

    value: T | None
    failure: str = ""


class Judge:
    """An engine that is asked, by its name (`JudgeName`), and its answers, kept on the bench.

    Making one is cheap: no model is fetched or loaded before the first question. Raises ShotadError for
    an engine that is unknown, not installed, or cannot judge.
    """

    def __init__(self, name: str, bench: Bench, sampling: SamplingSettings | None = None) -> None:
        self.name = name
        self._bench = bench
        self._sampling = sampling or bench.settings.judge.sampling
        self._key = f"engine/{name}/{key_of(self._sampling.model_dump())}"
        # Two servers may call different models by the same name ("default").
        self._server = JudgeName.of(name).base_url or ""
        self._engine: Engine = bench.once(self._key, lambda: _made(name, bench, self._sampling))

    @property
    def model(self) -> str:
        """The model's name, as far as it is known without fetching anything."""
        return self._engine.identity.model

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
            "attempts": self._bench.settings.judge.attempts,
            "seed": self._bench.config.seed,
        }

    def answers(self, questions: Sequence[Question[T]]) -> Iterator[Answer[T]]:
        """The answer to each question, in order, as soon as it is there.

        Raises what an engine raises to stop the run (EngineError); whatever was answered until then is kept.
        """
        self._get_ready()
        for first in range(0, len(questions), _GROUP):
            yield from self._group(questions[first : first + _GROUP])

    def _get_ready(self) -> None:
        self._bench.once(f"{self._key}/ready", lambda: _ready(self._engine, self._bench.progress))

    def _group(self, questions: Sequence[Question[T]]) -> Iterator[Answer[T]]:
        requests = [self._request(question) for question in questions]
        keys = [key_of(request_record(request, self._engine.identity)) for request in requests]
        found = self._kept(dict(zip(keys, questions, strict=True)))
        open_ones = {
            key: (question, request)
            for key, question, request in zip(keys, questions, requests, strict=True)
            if key not in found
        }
        coming = self._asked(open_ones)
        for key in keys:
            while key not in found:
                name, answer = next(coming)
                found[name] = answer
            yield found[key]

    def _request(self, question: Question[T]) -> Request:
        name = key_of([[message.role, message.text] for message in question.messages])
        sampling = self._sampling
        if question.tokens > sampling.max_tokens:
            sampling = sampling.model_copy(update={"max_tokens": question.tokens})
        seed = slot_seed(self._bench.config.seed, name)
        return Request(name, question.messages, sampling=sampling, seed=seed, schema=question.schema)

    def _kept(self, questions: Mapping[str, Question[T]]) -> dict[str, Answer[T]]:
        found: dict[str, Answer[T]] = {}
        for key, value in self._bench.store.get(self._space, list(questions)).items():
            answer = _read(questions[key], json.loads(value)["said"][-1])
            if not answer.failure:
                found[key] = answer
        return found

    def _asked(self, questions: Mapping[str, tuple[Question[T], Request]]) -> Iterator[tuple[str, Answer[T]]]:
        attempts = self._bench.settings.judge.attempts if self._engine.abilities.converses else 1
        inquiries: Iterator[Named] = (
            (key, _inquiry(question, request, attempts)) for key, (question, request) in questions.items()
        )
        for key, record in converse(inquiries, {"writes": self._engine}):
            question, _ = questions[key]
            answer = _read(question, record["said"][-1]) if not record["failure"] else None
            if answer is not None:
                self._bench.store.put(self._space, {key: json.dumps(record).encode()})
            yield key, answer or Answer(None, record["failure"])

    @property
    def _space(self) -> str:
        who = self._engine.identity
        return f"answers/{who.engine}/{who.model}/{self._server}"


def _made(name: str, bench: Bench, sampling: SamplingSettings) -> Engine:
    judge = JudgeName.of(name)
    engine_class(judge.engine)
    engine = make_engine(judge.engine, judge.config(bench.config, sampling), "stage2")
    if not engine.abilities.converses and engine.identity.engine != "fake":
        raise EvaluationError(
            f"The engine {judge.engine} reads no questions, and cannot judge.",
            "Name one with a language model: openai:MODEL, llama3:MODEL.",
        )
    if isinstance(engine, Foreseeable):
        engine.ready_if_here()
    elif isinstance(engine, Preparing):
        engine.get_ready(bench.progress)
    return engine


def _ready(engine: Engine, progress: Progress) -> bool:
    if isinstance(engine, Preparing):
        engine.get_ready(progress)
    if engine.abilities.sends_to:
        progress.note(f"Texts leave this machine: they are sent to {engine.abilities.sends_to}.")
    return True


def _inquiry(question: Question[T], request: Request, attempts: int) -> Inquiry:
    """Asks until the answer can be read. The record: what was said each time, and why the last is of no use.

    An engine's own error is not asked about again: what may pass (a busy server) it has tried itself.
    """
    said: list[str] = []
    failure = ""
    for _ in range(attempts):
        (reply,) = yield (Turn("writes", request),)
        if reply.error is not None:
            return {"said": [*said, reply.text], "failure": reply.error}
        said.append(reply.text)
        wrong = _wrong(question, reply)
        if wrong is None:
            return {"said": said, "failure": ""}
        failure = str(wrong)
        request = replace(request, messages=_again(question, reply.text, wrong))
    return {"said": said, "failure": failure}


def _wrong(question: Question[T], reply: Reply) -> Unreadable | None:
    if reply.finish == "refused":
        return Refused("The answer is a refusal.")
    try:
        question.read(reply.text)
    except Unreadable as error:
        cut = reply.finish == "length" and not isinstance(error, Refused)
        return Unreadable("The answer is too long, and was cut off.") if cut else error
    return None


def _read(question: Question[T], text: str) -> Answer[T]:
    try:
        return Answer(question.read(text))
    except Unreadable as error:
        return Answer(None, str(error))


def _again(question: Question[T], said: str, wrong: Unreadable) -> tuple[Message, ...]:
    """The question with what was wrong with the last answer alone, so that it does not grow."""
    if isinstance(wrong, Refused):
        told = render("judge/again-refused", template=question.template)
        return (*question.messages[:-1], _with(question.messages[-1], told))
    told = render("judge/again", complaint=str(wrong), template=question.template)
    return (*question.messages, Message("assistant", said[:_LONGEST] or "…"), Message("user", told))


def _with(message: Message, told: str) -> Message:
    return replace(message, text=f"{message.text}\n\n{told}")
