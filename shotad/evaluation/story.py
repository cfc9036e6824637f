"""Can a film's story be followed from its description? An engine answers questions about films, and is given
nothing, the dialogue, or the dialogue and a description (docs/story.md).

Asked as in STAGE (Tian et al., 2026, Task II), with the same options in the same order under all conditions.
What a description is worth is its gain over the dialogue, question by question, with an interval over films.
Whether the questions can tell a good description from a bad one is tried on the human AD: it must beat itself
with its lines in each other's places, and that the dialogue alone.

A question is lost where most tries are right with the human AD (or the full script) and not with this AD.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from shotad import __version__
from shotad.core import Interval
from shotad.core.config.words import SamplingSettings
from shotad.core.errors import EvaluationError
from shotad.core.files import write_text
from shotad.core.progress import plural, table_lines
from shotad.core.workfolder import readable_json
from shotad.description.linting.material import MISSING
from shotad.description.seeds import slot_seed
from shotad.evaluation.datasets.tables import csv_text
from shotad.evaluation.metric import Json, MetricFormula, Result, Row
from shotad.evaluation.metrics.judge import (
    SENTENCE,
    YES_OR_NO,
    Answer,
    Pair,
    Part,
    Question,
    Unreadable,
    map_items,
    question,
    word,
)
from shotad.evaluation.report.intervals import MIN_ITEMS, Span, Unit, span_of
from shotad.evaluation.report.table import percent, signed, span_words
from shotad.evaluation.screenplay_files import plain_line
from shotad.evaluation.store import MetricContext
from shotad.evaluation.story_questions import (
    CONDITIONS,
    Elements,
    StoryFilm,
    StoryQuestion,
    check_questions,
    given_lines,
)
from shotad.script.cue import timecode

TRIES = 5
SAMPLING = SamplingSettings(temperature=0.2, top_p=0.9)
"""How often a question is asked, and how answers are drawn: as in STAGE (section 4)."""

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Answered:
    """A question with its answers under one condition, each as JSON: what was ``said``, whether it is
    ``right``, the cue ids of the lines that it ``rests_on``, and why it could not be had (``failure``)."""

    question: StoryQuestion
    tries: tuple[Json, ...]

    @property
    def id(self) -> str:
        """The film, and the question's id."""
        return f"{self.question.film}/{self.question.id}"

    @property
    def share(self) -> float:
        """Of its answers those that are right."""
        return sum(bool(attempt["right"]) for attempt in self.tries) / len(self.tries)


@dataclass(frozen=True, slots=True)
class Story:
    """All answers by condition, in the order of the questions; what `check_questions` found of these; why
    conditions were left out; and all that can change an answer."""

    films: tuple[StoryFilm, ...]
    answers: Mapping[str, tuple[Answered, ...]]
    examination: Json
    left_out: Mapping[str, str]
    tries: int
    unit: Unit
    identity: Json

    def accuracy(self, condition: str) -> Result:
        """Average accuracy, times 100."""
        return self._result("accuracy", condition, lambda answered: answered.share)

    def passed(self, condition: str) -> Result:
        """Questions with a right answer among the tries, times 100."""
        return self._result(f"pass@{self.tries}", condition, lambda answered: float(answered.share > 0))

    def gain(self, condition: str, over: str = "dialogue") -> Result:
        """How much more is right than under another condition, times 100; both must have been asked."""
        baseline_shares = {answered.id: answered.share for answered in self.answers[over]}
        return self._result(
            f"over {over}", condition, lambda answered: answered.share - baseline_shares[answered.id]
        )

    def span(self, result: Result) -> Span | None:
        """Its interval over films; of one film over its questions. None for too few of them."""
        film_by_question = {answered.id: answered.question.film for answered in self.answers["nothing"]}
        return span_of(result, film_by_question, unit=self.unit)

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
            if span is None or span.units < MIN_ITEMS:
                weak.append(f"{name}, of fewer than {MIN_ITEMS} films or questions")
            elif span.low <= 0:
                weak.append(f"{name}, {signed('', gain.value)} ({span_words('', span)})")
        if weak:
            return False, f"Not above 0 for sure: {'; '.join(weak)}."
        return True, f"Above 0 for sure: {'; '.join(gains)}."

    def _result(self, name: str, condition: str, value: Callable[[Answered], float]) -> Result:
        rows = []
        for answered in self.answers[condition]:
            failures = [attempt["failure"] for attempt in answered.tries if attempt["failure"]]
            rows.append(row(answered.id, value(answered), 1, failures[0] if failures else ""))
        return figure(f"{name}, {CONDITIONS[condition]}", "questions", rows, self.identity)


def figure(name: str, of: str, rows: Iterable[Row], identity: Json, factor: float = 100.0) -> Result:
    """A figure: ``factor`` times the first sum of all rows over the second, which counts ``of``."""
    figure = MetricFormula(factor=factor)
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
    """The questions asked under each condition, always from nothing and the dialogue. ``engine`` answers,
    ``judge`` checks open answers (default: the engine too).

    Raises EvaluationError for questions of a film that is not here, and for a set of questions that is of no
    use, unless ``anyway``; EngineError for what stops an engine.
    """
    questions = matched(films, questions)
    examination = _checked_examination(questions, None, anyway=anyway)
    pair, seed = Pair(engine, judge, context, "questions"), context.config.seed
    answers: dict[str, tuple[Answered, ...]] = {}
    lines_by_condition, left_out = _given_by_condition(films, questions, conditions, seed)
    for name, lines in lines_by_condition.items():
        answers[name] = _answer_all(questions, name, lines, tries, pair, seed)
        if name == "nothing":
            blind = sum(answered.share for answered in answers[name]) / len(questions)
            examination = _checked_examination(questions, blind, anyway=anyway)
    sampling = SAMPLING.model_dump() if tries > 1 else None
    identity = {**pair.identity, "tries": tries, "sampling": sampling}
    unit = context.settings.report.unit
    names = {story_question.film for story_question in questions}
    used = tuple(film for film in films if film.name in names)
    return Story(used, answers, examination, left_out, tries, unit, identity)


def _checked_examination(questions: Sequence[StoryQuestion], blind: float | None, *, anyway: bool) -> Json:
    """What `check_questions` finds. Raises EvaluationError where it finds faults, unless they are
    accepted.
    """
    examination = check_questions(questions, blind)
    if examination["faults"] and not anyway:
        hint = "Mend the questions, or add --anyway to use them as they are."
        raise EvaluationError(
            f"These questions measure something else. {' '.join(examination['faults'])}", hint
        )
    return examination


def matched(films: Sequence[StoryFilm], questions: Sequence[StoryQuestion]) -> tuple[StoryQuestion, ...]:
    """The questions, each of a film that is here. Of one film are also questions of one other name. Raises
    EvaluationError."""
    film_names = {film.name for film in films}
    films_asked_about = {story_question.film for story_question in questions}
    if len(films) == 1 and len(films_asked_about) == 1:
        return tuple(replace(story_question, film=films[0].name) for story_question in questions)
    films_not_here = sorted(films_asked_about - film_names)
    if films_not_here or not questions:
        examples = ", ".join(films_not_here[:3]) or "none at all"
        raise EvaluationError(
            f"There are questions of films that are not here: {examples}.",
            f"Films: {', '.join(sorted(film_names)[:5])}. The column film of both must agree.",
        )
    return tuple(questions)


def _given_by_condition(
    films: Sequence[StoryFilm], questions: Sequence[StoryQuestion], conditions: Sequence[str], seed: int
) -> tuple[dict[str, dict[str, Elements]], dict[str, str]]:
    """What is given of each film that is asked about, by condition and film; why others cannot be asked.
    Raises EvaluationError for an unknown name."""
    unknown = [name for name in conditions if name not in CONDITIONS]
    if unknown:
        hint = f"Known: {', '.join(CONDITIONS)}."
        raise EvaluationError(f"There is no condition {unknown[0]!r}.", hint, usage=True)
    films_asked_about = {story_question.film for story_question in questions}
    lines_by_condition, left_out = {}, {}
    for name in CONDITIONS:
        # Gains are counted over the dialogue, and the questions are checked by the answers from nothing.
        if name not in ("nothing", "dialogue", *conditions):
            continue
        lines = {
            film.name: given_lines(name, film, films, seed)
            for film in films
            if film.name in films_asked_about
        }
        without = [film for film, elements in lines.items() if elements is None]
        if without:
            left_out[name] = (
                f"not there for {len(without)} of {len(films_asked_about)} films ({', '.join(without[:3])})"
            )
        else:
            lines_by_condition[name] = {film: elements or () for film, elements in lines.items()}
    return lines_by_condition, left_out


def _answer_all(
    questions: Sequence[StoryQuestion],
    condition: str,
    lines: Mapping[str, Elements],
    tries: int,
    pair: Pair,
    seed: int,
) -> tuple[Answered, ...]:
    """The questions answered under a condition, from the lines of each film."""
    shown = {film: [plain_line(element) for element in elements] for film, elements in lines.items()}

    def answer(story_question: StoryQuestion) -> Answered:
        return _ask_story_question(
            story_question, lines[story_question.film], shown[story_question.film], tries, pair, seed
        )

    title = f"Asking with {CONDITIONS[condition]}"
    return tuple(map_items(answer, questions, pair.judges, title, "questions"))


def _ask_story_question(
    story_question: StoryQuestion, lines: Elements, shown: Sequence[str], tries: int, pair: Pair, seed: int
) -> Answered:
    """A question, story_question so many times; equal answers to an open one are judged once."""
    answers = pair.actor.ask_all(
        [_question_of_try(story_question, shown, draw, tries, seed) for draw in range(tries)]
    )
    verdicts: dict[str, Answer[bool]] = {}
    if not story_question.options:
        texts = list(dict.fromkeys(answer.value[0] for answer in answers if answer.value))
        checks = [
            answer_check(story_question.text, story_question.answer, story_question.reason, text)
            for text in texts
        ]
        verdicts = dict(zip(texts, pair.judge.ask_all(checks), strict=True))
    records = []
    for answer in answers:
        text, places = answer.value or ("", ())
        verdict = verdicts.get(text, Answer(text == story_question.answer, answer.failure))
        is_right = answer.value is not None and bool(verdict.value)
        rests_on = tuple(lines[place].cue for place in places if lines[place].cue)
        records.append({"said": text, "right": is_right, "rests_on": rests_on, "failure": verdict.failure})
    return Answered(story_question, tuple(records))


def _question_of_try(
    story_question: StoryQuestion, shown: Sequence[str], draw: int, tries: int, seed: int
) -> Question[tuple[str, tuple[int, ...]]]:
    """A question for the ``draw``-th time: the answer, and the places of its lines, from 0."""
    options = list(story_question.options)
    random.Random(slot_seed(seed, f"{story_question.film}/{story_question.id}/{draw}")).shuffle(options)
    letters = LETTERS[: len(options)]

    def read_lines(value: Any, key: str) -> tuple[int, ...]:
        if not isinstance(value, list) or any(
            type(number) is not int or not 1 <= number <= len(shown) for number in value
        ):
            raise Unreadable(f"{key} must be a list of numbers from 1 to {len(shown)}.")
        return tuple(dict.fromkeys(number - 1 for number in value))

    answer = SENTENCE
    choices = list(zip(letters, options, strict=True))
    if options:
        answer = word(dict(choices), f'"<{letters[0]} to {letters[-1]}>"')
    numbers = Part("[<numbers>]", {"type": "array", "items": {"type": "integer"}}, read_lines)
    values = {"lines": shown, "question": story_question.text, "options": choices}
    parts = {"lines": numbers, "answer": answer}
    story_prompt = question(
        "question-answer", values, parts, lambda places, answer_text: (answer_text, places)
    )
    return replace(story_prompt, draw=draw, sampling=SAMPLING if tries > 1 else None)


def answer_check(question_text: str, right_answer: str, reason: str, given_answer: str) -> Question[bool]:
    """Is what was said to an open question right? The right answer and its reason stand beside it."""
    values = {"question": question_text, "answer": right_answer, "reason": reason, "given": given_answer}
    parts = {"why": SENTENCE, "right": YES_OR_NO}
    return question("question-check", values, parts)


def estimate_story(
    films: Sequence[StoryFilm],
    questions: Sequence[StoryQuestion],
    seed: int,
    *,
    tries: int = TRIES,
    conditions: Sequence[str] = tuple(CONDITIONS),
) -> dict[str, int]:
    """What `evaluate_story` would ask if nothing were kept: ``answers`` of the engine, ``characters`` of the
    lines sent, and ``checks`` by the judge."""
    questions = matched(films, questions)
    lines_by_condition, _ = _given_by_condition(films, questions, conditions, seed)
    characters = 0
    for lines in lines_by_condition.values():
        size = {
            film: sum(len(plain_line(element)) for element in elements) for film, elements in lines.items()
        }
        characters += tries * sum(size[story_question.film] for story_question in questions)
    times = tries * len(lines_by_condition)
    checks = times * sum(not story_question.options for story_question in questions)
    return {"answers": times * len(questions), "characters": characters, "checks": checks}


_SHOWN = 10
"""Lost questions that the terminal shows; the files have all."""


def write_story(folder: Path, story: Story) -> tuple[Path, ...]:
    """Write ``story.json``, and where this AD was held against another, ``missing.csv`` and the list of each
    film in its work folder (``missing.json``). Their paths."""
    files = {folder / "story.json": readable_json(story_record(story))}
    if _known_by(story):
        lost = lost_questions(story)
        files[folder / "missing.csv"] = csv_text(COLUMNS, (tuple(record.values()) for record, _ in lost))
        for film in story.films:
            if film.folder is not None:
                findings = [finding for record, finding in lost if record["film"] == film.name]
                files[film.folder / MISSING] = readable_json({"missing": findings})
    for path, text in files.items():
        write_text(path, text)
    return tuple(files)


def story_record(story: Story) -> Json:
    """``story.json``: figures, the examination of the questions, every answer, and what was lost."""
    (tells_good_from_bad, why), answers = story.verdict, story.answers.items()
    conditions: Json = {}
    for name, answered_questions in answers:
        condition_record: Json = {"given": CONDITIONS[name]}
        results = (story.accuracy(name), story.passed(name), story.gain(name))
        for key, result in zip(("accuracy", f"pass@{story.tries}", "gain"), results, strict=True):
            span = story.span(result)
            condition_record |= {key: result.value, f"{key}_interval": None if span is None else asdict(span)}
        failed = sum(
            bool(attempt["failure"]) for answered in answered_questions for attempt in answered.tries
        )
        conditions[name] = {**condition_record, "failed": failed}
    return {
        "schema": 1,
        "shotad": __version__,
        "identity": story.identity,
        "examination": story.examination,
        "conditions": conditions,
        "left_out": dict(story.left_out),
        "tells_good_from_bad": {"answer": tells_good_from_bad, "why": why},
        "missing": [record for record, _ in lost_questions(story)],
        "questions": [
            {
                "film": answered.question.film,
                "id": answered.question.id,
                "question": answered.question.text,
                "answer": answered.question.answer,
                "answers": {name: list(of_condition[place].tries) for name, of_condition in answers},
            }
            for place, answered in enumerate(story.answers["nothing"])
        ],
    }


def story_text(story: Story) -> str:
    """The figures for people, with what was found of the questions above them."""
    rows = []
    for name in story.answers:
        accuracy, gain = story.accuracy(name), story.gain(name)
        worth = f"{signed('', gain.value)} ({span_words('', story.span(gain))})"
        average = f"{accuracy.value or 0:.1f} ({span_words('', story.span(accuracy))})"
        passed = f"{story.passed(name).value or 0:.1f}"
        rows.append((CONDITIONS[name], average, passed, "" if name in ("nothing", "dialogue") else worth))
    heads = ("Given", "Average accuracy", f"Pass@{story.tries}", "Gain over dialogue")
    tells_good_from_bad, why = story.verdict
    answer = {True: "Yes.", False: "No, it cannot.", None: "Not known."}[tells_good_from_bad]
    span = story.span(story.accuracy("nothing"))
    if span is None:
        basis = "There are too few questions or films for intervals."
    elif span.unit == "film":
        few = " Of so few films they are wide, and rough." if span.units < MIN_ITEMS else ""
        basis = f"Intervals (95 %) are over {span.units} films, each left out once with its questions.{few}"
    else:
        basis = "Intervals (95 %) are over the questions of one film, and say nothing of other films."
    lines = [*_opening(story), "", *table_lines(heads, rows, [2]), ""]
    lines += [f"Does this set tell a good description from a bad one? {answer} {why}", basis]
    lines += [f"Not asked: {CONDITIONS[name]}, {why}." for name, why in story.left_out.items()]
    tries = (
        attempt
        for answered_questions in story.answers.values()
        for answered in answered_questions
        for attempt in answered.tries
    )
    failures = [attempt["failure"] for attempt in tries if attempt["failure"]]
    if failures:
        # The first failure stands for all: a broken engine fails every question alike.
        lines.append(f"{plural(len(failures), 'answer')} could not be had, and count as wrong: {failures[0]}")
    lost = lost_questions(story)
    lines += ["", f"Missing in this AD: {plural(len(lost), 'question')} lost."] if lost else []
    for record, _ in lost[:_SHOWN]:
        moment = f"{record['film']} {record['time'][:8] or 'at an unknown time'}"
        lines.append(f"- {moment}, {record['room']}: {record['question']} {record['answer']}")
    return "\n".join([*lines, *([f"- and {len(lost) - _SHOWN} more"] if len(lost) > _SHOWN else [])])


def _opening(story: Story) -> list[str]:
    examination, reader = story.examination, story.identity["engine"]
    lines = [
        f"{plural(examination['questions'], 'question')} on {plural(len(story.films), 'film')}, answered by "
        f"{reader['model'] or reader['engine']}, {plural(story.tries, 'try', 'tries')} each.",
        "The questions:",
        f"- answered from nothing: {percent(examination['blind'])} "
        f"(by chance {percent(examination['chance'])})",
    ]
    if examination["with_options"]:
        chance = percent(examination["longest_chance"])
        which = ", ".join(f"{place} in {times}" for place, times in examination["positions"])
        lines += [
            f"- the longest option is right: {percent(examination['longest'])} (by chance {chance})",
            f"- the right option is number {which} questions; they are shuffled before each try",
        ]
    return [*lines, *(f"- FAULT: {fault}" for fault in examination["faults"])]


COLUMNS = (
    "film", "time", "start", "end", "question", "answer", "said", "known_by", "room", "slots", "lines",
)  # fmt: skip
"""Of ``missing.csv``."""
MOST = 0.5
"""Share of the tries that must be right for a question to count as answered."""
NEAR = 5.0
"""Seconds around a moment in which a line may still tell of it: describers speak before or after what they
cannot say over the dialogue."""


Lost = tuple[Json, Json]
"""A question that this AD does not answer, and another description does: a row of ``missing.csv``, and what
the work folder keeps of it for lint and the review page
(`shotad.description.linting.material.recorded_findings`)."""


def _lost_question(
    film: StoryFilm, story_question: StoryQuestion, known_by: str, wrong_answer: str, moment: Interval | None
) -> Lost:
    """The record of a lost question. ``moment`` is when the film answers it, None where that is not known;
    ``wrong_answer`` what was said with this AD. Slots are those near the moment, each with this AD's line
    there."""

    def lines_within(time: Interval) -> list[str]:
        return [element.text for element in film.ad if element.interval and element.interval.overlaps(time)]

    ends = [element.interval.end for element in film.ad if element.interval]
    asked_about = moment or Interval(0.0, max(ends, default=1.0))
    near = Interval(asked_about.start - NEAR, asked_about.end + NEAR)
    # With all of each slot that begins or ends there.
    spans = [near, *(slot.interval for slot in film.slots or () if slot.interval.overlaps(near))]
    around = Interval(min(span.start for span in spans), max(span.end for span in spans))
    slots: dict[str, str] = {}
    room = "unknown"
    if film.slots is not None and moment is not None:
        slots_around = (slot for slot in film.slots if slot.interval.overlaps(around))
        slots = {slot.id: " ".join(lines_within(slot.interval)) for slot in slots_around}
        if not slots:
            room = "no slot"
        elif all(slots.values()):
            room = "slot with a line"
        else:
            room = "free slot"
    time = timecode(max(moment.start, 0.0)) if moment else ""
    times = (moment.start, moment.end) if moment else (None, None)
    lines = " / ".join(filter(None, slots.values()))
    cells = (story_question.text, story_question.answer, wrong_answer, known_by, room, " ".join(slots), lines)
    speech = (element.interval for element in film.dialogue if element.interval)
    talk = room == "no slot" and any(speech_interval.overlaps(around) for speech_interval in speech)
    at = f"at {time[:8]} ({room}{': dialogue runs here' * talk})" if moment else "at an unknown time"
    return dict(zip(COLUMNS, (story_question.film, time, *times, *cells), strict=True)), {
        "message": f"{at}: {story_question.text} Answer: {story_question.answer}",
        "start": moment.start if moment else 0.0,
        "around": [around.start, around.end],
        "free": [name for name, line in slots.items() if not line],
        "lines": lines_within(around),
    }


def _known_by(story: Story) -> str:
    """The condition that this AD is held against; empty where neither human AD nor script was asked."""
    return next((name for name in ("human", "script") if {name, "ad"} <= set(story.answers)), "")


def lost_questions(story: Story) -> tuple[Lost, ...]:
    """The questions lost, by film and moment; none where neither a human AD nor a script was asked."""
    known_by, lost = _known_by(story), []
    for film in story.films if known_by else ():
        elements = film.human if known_by == "human" else film.script
        lost_of_film = []
        for reference_answers, ad_answers in zip(story.answers[known_by], story.answers["ad"], strict=True):
            if (
                reference_answers.question.film != film.name
                or not reference_answers.share >= MOST > ad_answers.share
            ):
                continue
            moment = reference_answers.question.evidence
            for (
                attempt
            ) in reference_answers.tries:  # from the first to the last line that a right answer names
                intervals = [
                    element.interval
                    for element in elements
                    if element.cue in attempt["rests_on"] and element.interval
                ]
                if moment is None and attempt["right"] and intervals:
                    moment = Interval(
                        min(time.start for time in intervals), max(time.end for time in intervals)
                    )
            wrong_answer = next(
                attempt["said"] or attempt["failure"] for attempt in ad_answers.tries if not attempt["right"]
            )
            lost_of_film.append(
                _lost_question(film, reference_answers.question, known_by, wrong_answer, moment)
            )
        # "~" sorts behind all digits: questions without a moment come last.
        lost += sorted(lost_of_film, key=lambda question_lost: question_lost[0]["time"] or "~")
    return tuple(lost)
