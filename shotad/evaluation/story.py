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
from shotad.evaluation.report.intervals import FEWEST, Span, Unit, span_of
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
        return sum(bool(one["right"]) for one in self.tries) / len(self.tries)


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
            row(one.id, value(one), 1, next((each["failure"] for each in one.tries if each["failure"]), ""))
            for one in self.answers[condition]
        )
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
    examination = _examined(questions, None, anyway=anyway)
    pair, seed = Pair(engine, judge, context, "questions"), context.config.seed
    answers: dict[str, tuple[Answered, ...]] = {}
    given, left_out = _given(films, questions, conditions, seed)
    for name, lines in given.items():
        answers[name] = _answer_all(questions, name, lines, tries, pair, seed)
        if name == "nothing":
            blind = sum(answered.share for answered in answers[name]) / len(questions)
            examination = _examined(questions, blind, anyway=anyway)
    sampling = SAMPLING.model_dump() if tries > 1 else None
    identity = {**pair.identity, "tries": tries, "sampling": sampling}
    unit = context.settings.report.unit
    names = {story_question.film for story_question in questions}
    used = tuple(film for film in films if film.name in names)
    return Story(used, answers, examination, left_out, tries, unit, identity)


def _examined(questions: Sequence[StoryQuestion], blind: float | None, *, anyway: bool) -> Json:
    """What `check_questions` finds. Raises EvaluationError where it finds faults, unless they are
    accepted.
    """
    found = check_questions(questions, blind)
    if found["faults"] and not anyway:
        hint = "Mend the questions, or add --anyway to use them as they are."
        raise EvaluationError(f"These questions measure something else. {' '.join(found['faults'])}", hint)
    return found


def matched(films: Sequence[StoryFilm], questions: Sequence[StoryQuestion]) -> tuple[StoryQuestion, ...]:
    """The questions, each of a film that is here. Of one film are also questions of one other name. Raises
    EvaluationError."""
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
    """What is given of each film that is asked about, by condition and film; why others cannot be asked.
    Raises EvaluationError for an unknown name."""
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
        return _answered(
            story_question, lines[story_question.film], shown[story_question.film], tries, pair, seed
        )

    title = f"Asking with {CONDITIONS[condition]}"
    return tuple(map_items(answer, questions, pair.judges, title, "questions"))


def _answered(
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
    made = question("question-answer", values, parts, lambda places, said: (said, places))
    return replace(made, draw=draw, sampling=SAMPLING if tries > 1 else None)


def answer_check(question_text: str, right: str, reason: str, said: str) -> Question[bool]:
    """Is what was said to an open question right? The right answer and its reason stand beside it."""
    values = {"question": question_text, "answer": right, "reason": reason, "given": said}
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
    given, _ = _given(films, questions, conditions, seed)
    characters = 0
    for lines in given.values():
        size = {film: sum(len(plain_line(one)) for one in elements) for film, elements in lines.items()}
        characters += tries * sum(size[one.film] for one in questions)
    times = tries * len(given)
    checks = times * sum(not one.options for one in questions)
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
                found = [finding for record, finding in lost if record["film"] == film.name]
                files[film.folder / MISSING] = readable_json({"missing": found})
    for path, text in files.items():
        write_text(path, text)
    return tuple(files)


def story_record(story: Story) -> Json:
    """``story.json``: figures, the examination of the questions, every answer, and what was lost."""
    (told, why), answers = story.verdict, story.answers.items()
    conditions: Json = {}
    for name, each in answers:
        found: Json = {"given": CONDITIONS[name]}
        results = (story.accuracy(name), story.passed(name), story.gain(name))
        for key, result in zip(("accuracy", f"pass@{story.tries}", "gain"), results, strict=True):
            span = story.span(result)
            found |= {key: result.value, f"{key}_interval": None if span is None else asdict(span)}
        failed = sum(bool(one["failure"]) for answered in each for one in answered.tries)
        conditions[name] = {**found, "failed": failed}
    return {
        "schema": 1,
        "shotad": __version__,
        "identity": story.identity,
        "examination": story.examination,
        "conditions": conditions,
        "left_out": dict(story.left_out),
        "tells_good_from_bad": {"answer": told, "why": why},
        "missing": [record for record, _ in lost_questions(story)],
        "questions": [
            {
                "film": one.question.film,
                "id": one.question.id,
                "question": one.question.text,
                "answer": one.question.answer,
                "answers": {name: list(all_of[place].tries) for name, all_of in answers},
            }
            for place, one in enumerate(story.answers["nothing"])
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
    told, why = story.verdict
    answer = {True: "Yes.", False: "No, it cannot.", None: "Not known."}[told]
    span = story.span(story.accuracy("nothing"))
    if span is None:
        basis = "There are too few questions or films for intervals."
    elif span.unit == "film":
        few = " Of so few films they are wide, and rough." if span.units < FEWEST else ""
        basis = f"Intervals (95 %) are over {span.units} films, each left out once with its questions.{few}"
    else:
        basis = "Intervals (95 %) are over the questions of one film, and say nothing of other films."
    lines = [*_opening(story), "", *table_lines(heads, rows, [2]), ""]
    lines += [f"Does this set tell a good description from a bad one? {answer} {why}", basis]
    lines += [f"Not asked: {CONDITIONS[name]}, {why}." for name, why in story.left_out.items()]
    tries = (one for each in story.answers.values() for answered in each for one in answered.tries)
    if failures := [one["failure"] for one in tries if one["failure"]]:
        lines.append(f"{plural(len(failures), 'answer')} could not be had, and count as wrong: {failures[0]}")
    lost = lost_questions(story)
    lines += ["", f"Missing in this AD: {plural(len(lost), 'question')} lost."] if lost else []
    for one, _ in lost[:_SHOWN]:
        at = f"{one['film']} {one['time'][:8] or 'at an unknown time'}"
        lines.append(f"- {at}, {one['room']}: {one['question']} {one['answer']}")
    return "\n".join([*lines, *([f"- and {len(lost) - _SHOWN} more"] if len(lost) > _SHOWN else [])])


def _opening(story: Story) -> list[str]:
    found, reader = story.examination, story.identity["engine"]
    lines = [
        f"{plural(found['questions'], 'question')} on {plural(len(story.films), 'film')}, answered by "
        f"{reader['model'] or reader['engine']}, {plural(story.tries, 'try', 'tries')} each.",
        "The questions:",
        f"- answered from nothing: {percent(found['blind'])} (by chance {percent(found['chance'])})",
    ]
    if found["with_options"]:
        chance = percent(found["longest_chance"])
        which = ", ".join(f"{place} in {times}" for place, times in found["positions"])
        lines += [
            f"- the longest option is right: {percent(found['longest'])} (by chance {chance})",
            f"- the right option is number {which} questions; they are shuffled before each try",
        ]
    return [*lines, *(f"- FAULT: {fault}" for fault in found["faults"])]


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
the work folder keeps of it for lint and the review page (`shotad.description.recorded_findings`)."""


def _lost(film: StoryFilm, asked: StoryQuestion, known_by: str, said: str, moment: Interval | None) -> Lost:
    """``moment`` is when the film answers it, None where that is not known; ``said`` a wrong answer with this
    AD. Slots are those near the moment, each with this AD's line there."""

    def told(time: Interval) -> list[str]:
        return [one.text for one in film.ad if one.interval and one.interval.overlaps(time)]

    whole = Interval(0.0, max((one.interval.end for one in film.ad if one.interval), default=1.0))
    near = Interval((moment or whole).start - NEAR, (moment or whole).end + NEAR)
    # With all of each slot that begins or ends there.
    spans = [near, *(slot.interval for slot in film.slots or () if slot.interval.overlaps(near))]
    around = Interval(min(span.start for span in spans), max(span.end for span in spans))
    slots: dict[str, str] = {}
    room = "unknown"
    if film.slots is not None and moment is not None:
        here = (slot for slot in film.slots if slot.interval.overlaps(around))
        slots = {slot.id: " ".join(told(slot.interval)) for slot in here}
        room = "no slot" if not slots else "slot with a line" if all(slots.values()) else "free slot"
    time = timecode(max(moment.start, 0.0)) if moment else ""
    times = (moment.start, moment.end) if moment else (None, None)
    lines = " / ".join(filter(None, slots.values()))
    cells = (asked.text, asked.answer, said, known_by, room, " ".join(slots), lines)
    speech = (one.interval for one in film.dialogue if one.interval)
    talk = room == "no slot" and any(each.overlaps(around) for each in speech)
    at = f"at {time[:8]} ({room}{': dialogue runs here' * talk})" if moment else "at an unknown time"
    return dict(zip(COLUMNS, (asked.film, time, *times, *cells), strict=True)), {
        "message": f"{at}: {asked.text} Answer: {asked.answer}",
        "start": moment.start if moment else 0.0,
        "around": [around.start, around.end],
        "free": [name for name, line in slots.items() if not line],
        "lines": told(around),
    }


def _known_by(story: Story) -> str:
    """The condition that this AD is held against; empty where neither human AD nor script was asked."""
    return next((name for name in ("human", "script") if {name, "ad"} <= set(story.answers)), "")


def lost_questions(story: Story) -> tuple[Lost, ...]:
    """The questions lost, by film and moment; none where neither a human AD nor a script was asked."""
    known_by, found = _known_by(story), []
    for film in story.films if known_by else ():
        elements = film.human if known_by == "human" else film.script
        those = []
        for known, own in zip(story.answers[known_by], story.answers["ad"], strict=True):
            if known.question.film != film.name or not known.share >= MOST > own.share:
                continue
            moment = known.question.evidence
            for one in known.tries:  # from the first to the last line that a right answer names
                times = [each.interval for each in elements if each.cue in one["rests_on"] and each.interval]
                if moment is None and one["right"] and times:
                    moment = Interval(min(time.start for time in times), max(time.end for time in times))
            said = next(one["said"] or one["failure"] for one in own.tries if not one["right"])
            those.append(_lost(film, known.question, known_by, said, moment))
        found += sorted(those, key=lambda one: one[0]["time"] or "~")
    return tuple(found)
