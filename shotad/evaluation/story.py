"""Can a film's story be followed from its description? An engine answers questions about films, and is given
nothing, the dialogue, or the dialogue and a description (docs/story.md).

Asked as in STAGE (Tian et al., 2026, Task II), with the same options in the same order under all conditions.
An answer that cannot be read is wrong. What a description is worth is its gain over the dialogue, question by
question, with an interval over films. Whether the questions can tell a good description from a bad one is
tried on the human AD: it must beat itself with its lines in each other's places, and that the dialogue alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shotad.core import EvaluationError, SamplingSettings
from shotad.description import render, slot_seed
from shotad.evaluation.metric import Figure, Json, Result, Row
from shotad.evaluation.metrics.asking import (
    SENTENCE,
    YES_OR_NO,
    Pair,
    Part,
    Steps,
    numbered,
    question,
    quoted,
    word,
    worked,
)
from shotad.evaluation.metrics.judge import Answer, Question, Unreadable
from shotad.evaluation.report.intervals import FEWEST, Span, Unit, span_of
from shotad.evaluation.report.table import signed, span_words
from shotad.evaluation.screenplay_files import plain_line
from shotad.evaluation.store import MetricContext
from shotad.evaluation.story_questions import (
    CONDITIONS,
    Elements,
    Examination,
    StoryFilm,
    StoryQuestion,
    examine,
    given_lines,
)

TRIES = 5
SAMPLING = SamplingSettings(temperature=0.2, top_p=0.9)
"""How often a question is asked, and how answers are drawn: as in STAGE (section 4)."""

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Try:
    """One answer: what was said, whether it is right, the cue ids of the lines that it rests on, and why it
    could not be had (empty where it could)."""

    said: str
    right: bool
    rests_on: tuple[str, ...] = ()
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Answered:
    """A question with its answers under one condition."""

    question: StoryQuestion
    tries: tuple[Try, ...]

    @property
    def id(self) -> str:
        """The film, and the question's id."""
        return f"{self.question.film}/{self.question.id}"

    @property
    def share(self) -> float:
        """Of its answers those that are right."""
        return sum(one.right for one in self.tries) / len(self.tries)


@dataclass(frozen=True, slots=True)
class Story:
    """All answers by condition, in the order of the questions; and what was found of the questions.

    ``left_out`` says of conditions that were not asked why. ``identity`` is all that can change an answer.
    """

    films: tuple[StoryFilm, ...]
    answers: Mapping[str, tuple[Answered, ...]]
    examination: Examination
    left_out: Mapping[str, str]
    tries: int
    unit: Unit
    identity: Json

    def accuracy(self, condition: str) -> Result:
        """Average accuracy, times 100."""
        return self._result("accuracy", condition, lambda one: one.share)

    def passed(self, condition: str) -> Result:
        """Questions with a right answer among the tries, times 100."""
        return self._result(f"pass@{self.tries}", condition, lambda one: float(one.share > 0))

    def gain(self, condition: str, over: str = "dialogue") -> Result:
        """How much more is right than under another condition, times 100; both must have been asked."""
        base = {one.id: one.share for one in self.answers[over]}
        return self._result(f"over {over}", condition, lambda one: one.share - base[one.id])

    def span(self, result: Result) -> Span | None:
        """Its interval over films; of one film over its questions. None for too few of them."""
        films = {one.id: one.question.film for one in self.answers["nothing"]}
        return span_of(result, films, unit=self.unit)

    @property
    def verdict(self) -> tuple[bool | None, str]:
        """Whether these questions tell a good description from a bad one, and why; None where no human AD
        says it."""
        if not {"human", "shuffled"} <= set(self.answers):
            return None, "That needs a human AD of every film, shuffled and as it is."
        gains = {
            "the human AD over itself shuffled": self.gain("human", "shuffled"),
            "the shuffled human AD over no description": self.gain("shuffled"),
        }
        weak = []
        for name, gain in gains.items():
            span = self.span(gain)
            if span is None or span.units < FEWEST:
                weak.append(f"{name}, of fewer than {FEWEST} films or questions")
            elif span.low <= 0:
                weak.append(f"{name}, {signed('', gain.value)} ({span_words('', span)})")
        if weak:
            return False, f"Not above 0 for sure: {'; '.join(weak)}."
        return True, f"Above 0 for sure: {'; '.join(gains)}."

    def _result(self, name: str, condition: str, value: Callable[[Answered], float]) -> Result:
        rows = (
            row(one.id, value(one), 1, next((each.failure for each in one.tries if each.failure), ""))
            for one in self.answers[condition]
        )
        return figure(f"{name}, {CONDITIONS[condition]}", "questions", rows, self.identity)


def figure(name: str, of: str, rows: Iterable[Row], identity: Json, factor: float = 100.0) -> Result:
    """A figure: ``factor`` times the first sum of all rows over the second, which counts ``of``."""
    figure = Figure(factor=factor)
    return Result(name, name, ("points", of), figure, identity, tuple(rows))


def row(name: str, points: float, of: float, failure: str = "", *, factor: float = 100.0) -> Row:
    """What one item adds to a figure; of nothing it says nothing."""
    return Row(name, (float(points), float(of)), factor * points / of if of else None, failure)


def evaluate_story(
    films: Sequence[StoryFilm],
    questions: Sequence[StoryQuestion],
    engine: str,
    context: MetricContext,
    *,
    judge: str = "",
    tries: int = TRIES,
    conditions: Sequence[str] = tuple(CONDITIONS),
    anyway: bool = False,
) -> Story:
    """The questions asked under each condition. ``engine`` answers, ``judge`` checks open answers (default:
    the engine too); both are named as `JudgeName` says.

    Nothing and the dialogue are always asked. Raises EvaluationError for questions of a film that is not
    here, and for a set of questions that is of no use, unless ``anyway``; EngineError for what stops an
    engine.
    """
    questions = matched(films, questions)
    examine(questions).check(anyway=anyway)
    pair, seed = Pair(engine, judge, context, "questions"), context.config.seed
    answers: dict[str, tuple[Answered, ...]] = {}
    given, left_out = _given(films, questions, conditions, seed)
    blind: float | None = None
    for name, lines in given.items():
        shown = {film: numbered([plain_line(one) for one in those]) for film, those in lines.items()}
        asked = [_answered(one, lines[one.film], shown[one.film], tries, pair, seed) for one in questions]
        answers[name] = tuple(worked(f"Asking with {CONDITIONS[name]}", "questions", asked, context))
        if name == "nothing":
            blind = sum(one.share for one in answers[name]) / len(questions)
            examine(questions, blind).check(anyway=anyway)
    sampling = SAMPLING.model_dump() if tries > 1 else None
    identity = {**pair.identity, "tries": tries, "sampling": sampling}
    unit = context.settings.report.unit
    used = tuple(film for film in films if any(one.film == film.name for one in questions))
    return Story(used, answers, examine(questions, blind), left_out, tries, unit, identity)


def matched(films: Sequence[StoryFilm], questions: Sequence[StoryQuestion]) -> tuple[StoryQuestion, ...]:
    """The questions, each of a film that is here. Where there is one film, questions of one other name (or
    of none) are taken to be of it. Raises EvaluationError."""
    names = {film.name for film in films}
    asked = {one.film for one in questions}
    if len(films) == 1 and len(asked) == 1:
        return tuple(replace(one, film=films[0].name) for one in questions)
    strange = sorted(asked - names)
    if strange or not questions:
        raise EvaluationError(
            f"There are questions of films that are not here: {', '.join(strange[:3]) or 'none at all'}.",
            f"Films: {', '.join(sorted(names)[:5])}. The column film of both must agree.",
        )
    return tuple(questions)


def _given(
    films: Sequence[StoryFilm], questions: Sequence[StoryQuestion], wanted: Sequence[str], seed: int
) -> tuple[dict[str, dict[str, Elements]], dict[str, str]]:
    """What is given of each film that is asked about, by condition and film; of conditions that cannot be
    asked, why not. Raises EvaluationError for an unknown name."""
    strange = [name for name in wanted if name not in CONDITIONS]
    if strange:
        known = f"Known: {', '.join(CONDITIONS)}."
        raise EvaluationError(f"There is no condition {strange[0]!r}.", known, usage=True)
    asked = {one.film for one in questions}
    here, left_out = {}, {}
    for name in (name for name in CONDITIONS if name in ("nothing", "dialogue", *wanted)):
        lines = {one.name: given_lines(name, one, films, seed) for one in films if one.name in asked}
        without = [film for film, elements in lines.items() if elements is None]
        if without:
            left_out[name] = f"not there for {len(without)} of {len(asked)} films ({', '.join(without[:3])})"
        else:
            here[name] = {film: elements or () for film, elements in lines.items()}
    return here, left_out


def _answered(
    asked: StoryQuestion, lines: Elements, shown: str, tries: int, pair: Pair, seed: int
) -> Steps[Answered]:
    """A question, asked so many times; equal answers to an open one are judged once."""
    answers = yield pair.actor, [_asked(asked, shown, len(lines), draw, tries, seed) for draw in range(tries)]
    said = () if asked.options else dict.fromkeys(answer.value[0] for answer in answers if answer.value)
    checks = [answer_check(asked.text, asked.answer, asked.reason, one) for one in said]
    verdicts = dict(zip(said, (yield pair.judge, checks), strict=True))
    found = []
    for answer in answers:
        text, places = answer.value or ("", ())
        checked = verdicts.get(text, Answer(text == asked.answer, answer.failure))
        rests_on = tuple(lines[place].cue for place in places if lines[place].cue)
        right = answer.value is not None and bool(checked.value)
        found.append(Try(text, right, rests_on, checked.failure))
    return Answered(asked, tuple(found))


def _asked(
    asked: StoryQuestion, shown: str, count: int, draw: int, tries: int, seed: int
) -> Question[tuple[str, tuple[int, ...]]]:
    """A question for the ``draw``-th time: the answer, and the places of its lines, from 0."""
    options = list(asked.options)
    random.Random(slot_seed(seed, f"{asked.film}/{asked.id}/{draw}")).shuffle(options)
    letters = LETTERS[: len(options)]

    def read_lines(value: Any, key: str) -> tuple[int, ...]:
        if not isinstance(value, list) or any(type(one) is not int or not 1 <= one <= count for one in value):
            raise Unreadable(f"{key} must be a list of numbers from 1 to {count}.")
        return tuple(dict.fromkeys(number - 1 for number in value))

    texts = {"lines": shown or render("questions/none"), "question": quoted(asked.text)}
    answer = SENTENCE
    if options:
        answer = word(dict(zip(letters, options, strict=True)), f'"<{letters[0]} to {letters[-1]}>"')
        texts["options"] = "\n".join(
            render("questions/option", letter=letter, text=quoted(text))
            for letter, text in zip(letters, options, strict=True)
        )
    numbers = Part("[<numbers>]", {"type": "array", "items": {"type": "integer"}}, read_lines)
    name, parts = "questions/choose" if options else "questions/open", {"lines": numbers, "answer": answer}
    made = question("questions/system", name, texts, parts, lambda places, said: (said, places))
    return replace(made, draw=draw, sampling=SAMPLING if tries > 1 else None)


def answer_check(question_text: str, right: str, reason: str, said: str) -> Question[bool]:
    """Is what was said to an open question right? The right answer and its reason stand beside it."""
    given = {"question": question_text, "answer": right, "reason": reason, "given": said}
    texts = {name: quoted(text) for name, text in given.items()}
    parts = {"why": SENTENCE, "right": YES_OR_NO}
    return question("questions/judge-system", "questions/judge", texts, parts)


def estimate_story(
    films: Sequence[StoryFilm],
    questions: Sequence[StoryQuestion],
    seed: int,
    *,
    tries: int = TRIES,
    conditions: Sequence[str] = tuple(CONDITIONS),
) -> dict[str, int]:
    """What `evaluate_story` would ask if nothing were kept: ``answers`` of the engine, ``characters`` of the
    lines sent, and ``checks`` by the judge. Asks nothing."""
    questions = matched(films, questions)
    given, _ = _given(films, questions, conditions, seed)
    characters = 0
    for lines in given.values():
        size = {film: sum(len(plain_line(one)) for one in elements) for film, elements in lines.items()}
        characters += tries * sum(size[one.film] for one in questions)
    times = tries * len(given)
    checks = times * sum(not one.options for one in questions)
    return {"answers": times * len(questions), "characters": characters, "checks": checks}
