"""An engine as a judge: how it is named, how many short questions are asked, and how answers are read.

Questions are batched, several in flight, asked again, and each answer that could be read is kept, by all that
can change it (engine, model, revision, prompt, sampling and seed).

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
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Generic, TypeVar, cast

from shotad.core import (
    Engine,
    EvaluationError,
    Foreseeable,
    Message,
    Preparing,
    Request,
    SamplingSettings,
    Stage2Settings,
    key_of,
    reported,
    shipped_prompts,
)
from shotad.description import (
    EngineCall,
    Inquiry,
    check_templates,
    converse,
    identity_record,
    is_placeholder,
    make_ready,
    prompt_block,
    prompt_hash,
    prompt_messages,
    refuses,
    request_record,
    slot_seed,
    without_markup,
)
from shotad.engines import ENGINES, engine_class, make_engine
from shotad.evaluation.metric import JUDGE_FAILED, Json
from shotad.evaluation.store import MetricContext

T = TypeVar("T")

ATTEMPTS = 2
"""How often an item is asked about, where the answer cannot be read: a judge that fails twice on it, asked by
the likeliest tokens, fails on."""
_GROUP = 256
"""Questions that are looked up together, and whose answers wait for each other."""
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


class Judge:
    """An engine that is asked, by its name (`JudgeName`), and its answers, kept on the context.

    Making one is cheap: no model is fetched or loaded before the first question. Raises ShotadError for
    an engine that is unknown, not installed, or cannot judge.
    """

    def __init__(self, name: str, context: MetricContext) -> None:
        self.name = name
        self._context = context
        self._sampling = SamplingSettings(max_tokens=context.config.stage2.sampling.max_tokens)
        self._key = f"engine/{name}/{key_of(self._sampling.model_dump())}"
        # Two servers may call different models by the same name ("default").
        self._server = JudgeName.of(name).base_url or ""
        self._engine: Engine = context.once(self._key, self._make)

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
            "attempts": ATTEMPTS,
            "seed": self._context.config.seed,
        }

    def answers(self, questions: Sequence[Question[T]]) -> Iterator[Answer[T]]:
        """The answer to each question, in order, as soon as it is there.

        Raises what an engine raises to stop the run (EngineError); whatever was answered until then is kept.
        """
        self._get_ready()
        who, store = self._engine.identity, self._context.store
        space = f"answers/{who.engine}/{who.model}/{self._server}"
        attempts = ATTEMPTS if self._engine.abilities.converses else 1
        for first in range(0, len(questions), _GROUP):
            group = questions[first : first + _GROUP]
            requests = [self._request(question) for question in group]
            keys = [key_of(request_record(request, who)) for request in requests]
            asked = dict(zip(keys, zip(group, requests, strict=True), strict=True))
            found: dict[str, Answer[T]] = {}
            for key, value in store.get(space, keys).items():
                answer = _read(asked[key][0], json.loads(value)["said"][-1])
                if not answer.failure:
                    found[key] = answer
            left = [(key, _inquiry(*one, attempts)) for key, one in asked.items() if key not in found]
            coming = converse(left, {"writes": self._engine})
            for key in keys:
                while key not in found:
                    name, record = next(coming)
                    if record["failure"]:
                        found[name] = Answer(None, record["failure"])
                    else:
                        store.put(space, {name: json.dumps(record).encode()})
                        found[name] = _read(asked[name][0], record["said"][-1])
                yield found[key]

    def _make(self) -> Engine:
        judge, context = JudgeName.of(self.name), self._context
        engine_class(judge.engine)
        # Nothing of the settings of Stage II itself goes along: the judge is not the one who wrote the lines.
        stage2 = Stage2Settings(**asdict(judge), sampling=self._sampling)
        engine = make_engine(judge.engine, context.config.model_copy(update={"stage2": stage2}), "stage2")
        if not engine.abilities.converses and engine.identity.engine != "fake":
            raise EvaluationError(
                f"The engine {judge.engine} reads no questions, and cannot judge.",
                "Name one with a language model: openai:MODEL, llama3:MODEL.",
            )
        if isinstance(engine, Foreseeable):
            engine.ready_if_here()
        elif isinstance(engine, Preparing):
            engine.get_ready(context.progress)
        return engine

    def _get_ready(self) -> None:
        def ready() -> bool:
            make_ready(self._engine, self._context.progress)
            if self.sends_to:
                where = self._engine.abilities.destination
                note = f"Texts leave this machine: they are sent to {where}."
                self._context.progress.note(note)
            return True

        self._context.once(f"{self._key}/ready", ready)

    def _request(self, question: Question[T]) -> Request:
        name = key_of([[message.role, message.text] for message in question.messages])
        name = key_of([name, question.draw]) if question.draw else name
        sampling = question.sampling or self._sampling
        if question.tokens > sampling.max_tokens:
            sampling = sampling.model_copy(update={"max_tokens": question.tokens})
        seed = slot_seed(self._context.config.seed, name)
        return Request(name, question.messages, sampling=sampling, seed=seed, schema=question.schema)


def _inquiry(question: Question[T], request: Request, attempts: int) -> Inquiry:
    """Asks until the answer can be read. The record: what was said each time, and why the last is of no use.
    An engine's own error is not asked about again: it has tried itself."""
    said: list[str] = []
    failure = ""
    *before, last = question.messages
    for _ in range(attempts):
        (reply,) = yield (EngineCall("writes", request),)
        if reply.error is not None:
            return {"said": [*said, reply.text], "failure": reply.error}
        said.append(reply.text)
        wrong: Unreadable = Refused("The answer is a refusal.")
        if reply.finish != "refused":
            try:
                question.read(reply.text)
                return {"said": said, "failure": ""}
            except Unreadable as error:
                wrong = error
        refused, failure = isinstance(wrong, Refused), str(wrong)
        if reply.finish == "length" and not refused:
            failure = "The answer is too long, and was cut off."
        # The question with what was wrong with the last answer alone, so that it does not grow.
        if refused:
            told = prompt_block("judge-again", "refused", answer_form=question.template)
            messages = (*before, replace(last, text=f"{last.text}\n\n{told}"))
        else:
            told = prompt_block("judge-again", "wrong", complaint=failure, answer_form=question.template)
            answered = Message("assistant", reply.text[:_LONGEST] or "…")
            messages = (*before, last, answered, Message("user", told))
        request = replace(request, messages=messages)
    return {"said": said, "failure": failure}


def _read(question: Question[T], text: str) -> Answer[T]:
    try:
        return Answer(question.read(text))
    except Unreadable as error:
        return Answer(None, str(error))


_THOUGHTS = re.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
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
    text = _THOUGHTS.sub("", answer).strip()
    fenced = _FENCE.fullmatch(text)
    text = fenced["body"].strip() if fenced else text
    if not text:
        raise Unreadable("The answer is empty.")
    if not text.startswith("{"):
        if refuses(text):
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
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [key for key, _ in pairs]
        raise Unreadable(f"{_listed([n for n in found if names.count(n) > 1])} stands in the answer twice.")
    return found


def _no_number(name: str) -> float:
    raise Unreadable(f"{name} is no number.")


def whole_number(value: Any, what: str, lowest: int, highest: int) -> int:
    """The value as a number of the scale; ``4.0``, ``"4"``, ``"4/5"`` and ``true`` are none."""
    if type(value) is not int or not lowest <= value <= highest:
        raise Unreadable(f"{what} must be a whole number from {lowest} to {highest}, and is {_shown(value)}.")
    return value


def sentence(value: Any, what: str) -> str:
    """The value as text on one line that says something, without HTML and Markdown."""
    text = " ".join(without_markup(value).split()) if isinstance(value, str) else ""
    if is_placeholder(text):
        raise Unreadable(f"{what} must be a sentence, and is {_shown(value)}.")
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
    known = f"Several are set: {', '.join(named)}. " if named else ""
    raise EvaluationError(
        f"The metric {metric} asks an engine, and it is not said which.",
        f"{known}Write {metric}@openai:gpt-4o, say, or set one as measures.judge.engines.",
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


def in_groups(these: Sequence[T], size: int = 128) -> Iterator[Sequence[T]]:
    """These in order, ``size`` at a time."""
    for first in range(0, len(these), size):
        yield these[first : first + size]


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
    known = {name.lower(): meaning for name, meaning in meanings.items()}

    def read(value: Any, key: str) -> Any:
        if not isinstance(value, str) or value.strip().lower() not in known:
            raise Unreadable(f"{key} must be {_listed(list(known), 'or')}, and is {_shown(value)}.")
        return known[value.strip().lower()]

    return Part(form, STRING | {"enum": list(meanings)}, read)


YES_OR_NO = word({"yes": True, "no": False}, '<"yes" or "no">')


def points(lowest: int, highest: int) -> Part:
    """A whole number of a scale."""
    schema = {"type": "integer", "minimum": lowest, "maximum": highest}
    form = f"<{lowest} to {highest}>"
    return Part(form, schema, lambda value, key: whole_number(value, key, lowest, highest))


def listing(most: int, form: str = '["…", "…", …]', *, empty: bool = False) -> Part:
    """Sentences, one to ``most``, or none where the list may be empty. One that stands twice is one."""

    def read(value: Any, key: str) -> tuple[str, ...]:
        if not isinstance(value, list) or not (value or empty):
            raise Unreadable(f"{key} must be a list of sentences, and is {_shown(value)}.")
        first: dict[str, str] = {}
        for said in (sentence(one, f"each of {key}") for one in value):
            first.setdefault(said.casefold(), said)
        found = tuple(first.values())
        if len(found) > most:
            raise Unreadable(f"{key} may have {most} entries at most, and has {len(found)}.")
        return found

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


TOGETHER = 16
"""Items that are asked about together: a killed run loses little, and a server is kept busy."""


class Pair:
    """The engine that is scored, and the judge (default: the engine too). ``identity`` is all of both, and of
    the prompts of these kinds, that can change an answer. Raises as `Judge` and `checked_prompts` do."""

    def __init__(self, engine: str, judge: str, context: MetricContext, *kinds: str) -> None:
        prompts = checked_prompts(*kinds)
        self.actor, self.judge = Judge(engine, context), Judge(judge or engine, context)
        engines = {"engine": self.actor.identity, "judge": self.judge.identity}
        self.identity: Json = {"version": 1, **engines, "prompts": prompts}


Steps = Generator[tuple[Judge, list[Question[Any]]], list[Answer[Any]], T]
"""How one item is asked about: it yields whom to ask what, gets the answers, and returns what it found."""


def alone(judge: Judge, one: Question[T]) -> Steps[Answer[T]]:
    """The answer to a single question."""
    (answer,) = yield judge, [one]
    return answer


def together(items: Iterable[Steps[T]]) -> list[T]:
    """What each item found, in order. The questions of all items at one step are asked at once."""
    steps = list(items)
    found: dict[int, T] = {}
    answers: dict[int, list[Answer[Any]] | None] = dict.fromkeys(range(len(steps)))
    while answers:
        wanted: dict[int, tuple[Judge, list[Question[Any]]]] = {}
        for place, those in answers.items():
            try:
                wanted[place] = next(steps[place]) if those is None else steps[place].send(those)
            except StopIteration as stop:
                found[place] = stop.value
        answers = {place: [] for place in wanted}
        for who in {id(who): who for who, _ in wanted.values()}.values():
            asked = [(place, one) for place, (of, those) in wanted.items() if of is who for one in those]
            for (place, _), answer in zip(asked, who.answers([one for _, one in asked]), strict=True):
                cast("list[Answer[Any]]", answers[place]).append(answer)
    return [found[place] for place in range(len(steps))]


def worked(what: str, of: str, items: Sequence[Steps[T]], context: MetricContext) -> Iterator[T]:
    """What each item found, in order, with progress; `TOGETHER` items at a time."""
    with reported(context.progress, what, len(items), of) as task:
        for group in in_groups(items, TOGETHER):
            yield from together(group)
            task.advance(len(group))
