"""How an engine is asked for an answer in parts, and many things step by step, by an engine and a judge.

No template that shows the form of an answer is an answer: weak models copy it, and a copy must count as a
failure.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from shotad.core import Message, reported, shipped_prompts
from shotad.description import check_templates, prompt_hash, render, variables_in
from shotad.evaluation.metric import JUDGE_FAILED, Json
from shotad.evaluation.metrics.judge import (
    Answer,
    Judge,
    Question,
    one_of,
    record_in,
    sentence,
    sentences,
    whole_number,
)
from shotad.evaluation.store import MetricContext

T = TypeVar("T")


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


def numbered(lines: Sequence[str]) -> str:
    """The lines, quoted, one under the other, with numbers from 1."""
    return "\n".join(
        render("judge/line", number=str(number), line=quoted(line)) for number, line in enumerate(lines, 1)
    )


def quoted(text: str) -> str:
    """A text in quotes, on one line, so that it is plain where it begins and ends."""
    return json.dumps(" ".join(text.split()), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Part:
    """What stands under a key of an answer: its ``form`` as an engine is shown it, its JSON schema, and who
    reads it, told the value and the key. ``read`` raises Unreadable."""

    form: str
    schema: Mapping[str, Any]
    read: Callable[[Any, str], Any]


STRING = {"type": "string"}
STRINGS = {"type": "array", "items": STRING}
SENTENCE = Part('"<one sentence>"', STRING, sentence)


def word(meanings: Mapping[str, Any], form: str) -> Part:
    """One of these words, in small or capital letters, read as what it means."""
    known = {name.lower(): meaning for name, meaning in meanings.items()}
    schema = STRING | {"enum": list(meanings)}
    return Part(form, schema, lambda value, key: known[one_of(value, key, tuple(known))])


YES_OR_NO = word({"yes": True, "no": False}, '<"yes" or "no">')


def points(lowest: int, highest: int) -> Part:
    """A whole number of a scale."""
    schema = {"type": "integer", "minimum": lowest, "maximum": highest}
    form = f"<{lowest} to {highest}>"
    return Part(form, schema, lambda value, key: whole_number(value, key, lowest, highest))


def listing(most: int, form: str = '["…", "…", …]', *, empty: bool = False) -> Part:
    """Sentences, at most so many; none where the list may be empty."""

    def read(value: Any, key: str) -> tuple[str, ...]:
        return () if empty and value == [] else sentences(value, key, most)

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
    system: str,
    name: str,
    texts: Mapping[str, str],
    parts: Mapping[str, Part],
    read: Callable[..., Any] = lambda *said: said[-1],
    tokens: int = 0,
) -> Question[Any]:
    """What is asked by these two templates, the second with ``texts`` filled in.

    The answer is an object with these ``parts`` and no others. ``read`` is given what they say, in order, and
    gives what the answer says: where nothing is named, the last of them.
    """
    form = f"{{{', '.join(f'{json.dumps(key)}: {part.form}' for key, part in parts.items())}}}"

    def read_all(answer: str) -> Any:
        record = record_in(answer, list(parts))
        return read(*(part.read(record[key], key) for key, part in parts.items()))

    schema = entries_schema({key: part.schema for key, part in parts.items()})
    asked = Message("user", render(name, **texts, template=form))
    return Question((Message("system", render(system)), asked), schema, form, read_all, tokens)


def checked_prompts(*folders: str) -> str:
    """The hash of the prompts in these folders, and of how a judge is asked.

    Raises PromptError where one of them, edited perhaps, has other variables than the one that ships.
    """
    shipped = {name: text for one in ("judge", *folders) for name, text in shipped_prompts(one).items()}
    check_templates({name: variables_in(text) for name, text in shipped.items()})
    return prompt_hash(shipped)


TOGETHER = 16
"""Items that are asked about together: a killed run loses little, and a server is kept busy."""


class Pair:
    """The engine that is scored, and the judge (default: the engine too); both as `JudgeName` says.
    ``identity`` is all of both, and of the prompts in these folders, that can change an answer.

    Raises ShotadError for one that is unknown or cannot answer, PromptError for prompts that do not fit.
    """

    def __init__(self, engine: str, judge: str, context: MetricContext, *folders: str) -> None:
        prompts = checked_prompts(*folders)
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
