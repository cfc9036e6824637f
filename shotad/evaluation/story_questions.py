"""What a story is told by, and asked about: films with what is said in each, its descriptions and its script;
questions from files, made by an engine, and examined before anybody is scored by them.

A file of questions is CSV or JSON Lines. Ours has ``film``, ``id``, ``question``, ``answer``, and where they
are known ``options`` (a list with the answer in it), ``start`` and ``end`` of the evidence, and ``reason``.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from shotad.core import Interval, Slot
from shotad.core.errors import DatasetError, EvaluationError
from shotad.core.records import slots_of
from shotad.core.types import slot_id
from shotad.core.workfolder import read_record, work_folder_of
from shotad.description.linting.check import is_film
from shotad.description.seeds import slot_seed
from shotad.evaluation.datasets.tables import csv_text, first_of, read_records
from shotad.evaluation.metric import Json
from shotad.evaluation.metrics.judge import (
    STRING,
    STRINGS,
    Answer,
    Judge,
    Part,
    Question,
    Unreadable,
    checked_prompts,
    entries_schema,
    map_items,
    question,
    record_in,
    sentence,
    whole_number,
)
from shotad.evaluation.metrics.judged import in_passages
from shotad.evaluation.screenplay import Element, described_elements, recorded_speech, said_elements
from shotad.evaluation.screenplay_files import plain_line, read_screenplay
from shotad.evaluation.store import MetricContext
from shotad.film import read_subtitles
from shotad.script import load_track, read_cues
from shotad.script.cue import parse_time
from shotad.script.track_files import TRACK

Elements = tuple[Element, ...]

CONDITIONS: Mapping[str, str] = {
    "nothing": "nothing",
    "dialogue": "dialogue",
    "ad": "dialogue + this AD",
    "other": "dialogue + another film's AD",
    "shuffled": "dialogue + shuffled AD",
    "human": "dialogue + human AD",
    "script": "full script",
}
"""What a reader is given, by name, and in words; in the order in which they are asked."""


@dataclass(frozen=True, slots=True)
class StoryFilm:
    """A film: its AD under test, what is said in it, a human AD, and its script as one row of elements.
    ``slots`` is None where it is not known where lines could stand, ``folder`` where ``ad`` has no work
    folder."""

    name: str
    ad: Elements = ()
    dialogue: Elements = ()
    human: Elements = ()
    script: Elements = ()
    slots: tuple[Slot, ...] | None = None
    folder: Path | None = None
    notes: tuple[str, ...] = ()
    """What was wrong with its subtitles."""


def read_film(
    name: str,
    ad: Path | None = None,
    subtitles: Path | None = None,
    human: Path | None = None,
    script: Path | None = None,
    *,
    encoding: str | None = None,
) -> StoryFilm:
    """A film from its files. ``ad`` is a film, a work folder, or a script of AD in any format. Without
    ``subtitles`` the dialogue is that of the work folder, else of the script. ``encoding`` is that of the
    subtitles (None: found from the bytes). Raises ShotadError."""
    places = () if ad is None else (ad, work_folder_of(ad))
    folder = next((place for place in places if (place / TRACK).is_file()), None)
    described: Elements = ()
    slots = None
    if folder is not None:
        described = tuple(described_elements(load_track(folder / TRACK)))
        record = read_record(folder / "slots.json")
        slots = None if record is None else slots_of(record["slots"])
    elif ad is not None:
        if not ad.is_file() or is_film(ad):
            message = (
                f"{ad} is no script of AD, and has no track: there is no {TRACK} in {work_folder_of(ad)}."
            )
            raise EvaluationError(message, "Run shotad describe on the film first, or name a script.")
        described = _script_lines(ad)
    written: list[Element] = []
    for scene in read_screenplay(script).scenes if script else ():
        written += [Element("action", scene.heading, interval=scene.interval), *scene.elements]
    notes: tuple[str, ...] = ()
    if subtitles is not None:
        file = read_subtitles(subtitles, encoding=encoding)
        dialogue, notes = said_elements(file.utterances), file.notes
    elif folder is not None:
        dialogue = said_elements(recorded_speech(folder))
    else:
        dialogue = [element for element in written if element.kind == "dialogue"]
    lines = _script_lines(human) if human else ()
    return StoryFilm(name, described, tuple(dialogue), lines, tuple(written), slots, folder, notes)


def _script_lines(path: Path) -> Elements:
    return tuple(
        Element("action", cue.text, interval=cue.interval, cue=cue.id or slot_id(cue.interval.start))
        for cue in read_cues(path)
    )


FILES = ("ad", "subtitles", "human", "script")


def read_films(table: Path, *, encoding: str | None = None) -> tuple[StoryFilm, ...]:
    """The films of a table (CSV or JSON Lines) with the columns film, ad, subtitles, human, script. Paths
    count from the table's folder; a cell may be empty. Raises ShotadError."""
    rows = read_records(table)
    name = rows.needed(("film",), "films")
    films = []
    for row in rows.rows:
        cells = {column: row.text(column) for column in FILES}
        paths = {column: table.parent / cell for column, cell in cells.items() if cell}
        films.append(read_film(row.text(name) or "", **paths, encoding=encoding))
    film_names = [film.name for film in films]
    times_used = Counter(film_names)
    repeated = sorted(name for name, times in times_used.items() if times > 1 or not name)
    if repeated or not films:
        raise EvaluationError(
            f"{table} must have films with a name each, got {first_of(repeated) or 'none'} several times.",
            "Columns: film, ad, subtitles, human, script.",
        )
    return tuple(films)


def given_lines(condition: str, film: StoryFilm, films: Sequence[StoryFilm], seed: int) -> Elements | None:
    """What a reader is given of a film, in order; None where there is nothing to give. ``other`` is the AD of
    the next film that has one, at its own times. ``shuffled`` is the human AD (where there is none, this AD)
    with its lines in each other's places: the same words without their order."""
    if condition in ("nothing", "dialogue"):
        return () if condition == "nothing" else film.dialogue
    if condition == "script":
        return film.script or None
    described = film.human if condition == "human" else film.ad
    if condition == "other":
        film_index = films.index(film)
        following = (*films[film_index + 1 :], *films[:film_index])
        described = next((other_film.ad for other_film in following if other_film.ad), ())
    elif condition == "shuffled":
        order = film.human or film.ad
        shuffled = list(order)
        random.Random(slot_seed(seed, f"shuffled/{film.name}")).shuffle(shuffled)
        described = tuple(
            replace(element, interval=position.interval)
            for element, position in zip(shuffled, order, strict=True)
        )
    if not described:
        return None
    elements = (*film.dialogue, *described)
    return tuple(sorted(elements, key=lambda element: element.interval.start if element.interval else 0.0))


COLUMNS = ("film", "id", "question", "answer", "options", "start", "end", "reason", "kind")
"""What `write_questions` writes."""
FILM, REASON = ("film", "movie_id", "imdbid"), ("reason", "evidence_or_reason")
KIND = ("kind", "question_type")
MOST_OPTIONS = 26
"""Each is called by a letter."""
_HINT = "Columns: film, id, question, answer, options, start, end."


@dataclass(frozen=True, slots=True)
class StoryQuestion:
    """A question with its right answer; ``id`` is unique within the film. ``options`` hold the answer; none
    for an open question. ``evidence`` is when the film shows or says it, ``reason`` why the answer is right,
    ``kind`` what sort of question it is."""

    film: str
    id: str
    text: str
    answer: str
    options: tuple[str, ...] = ()
    evidence: Interval | None = None
    reason: str = ""
    kind: str = ""

    def __post_init__(self) -> None:
        if self.options and self.answer not in self.options:
            raise ValueError(f"the answer {self.answer!r} is none of the options {list(self.options)}")
        count = len(self.options)
        if count == 1 or len(set(self.options)) < count or count > MOST_OPTIONS:
            limits = f"options must be 2 to {MOST_OPTIONS}, all different"
            raise ValueError(f"{limits}, got {count}: {list(self.options)[:5]}")

    @property
    def chance(self) -> float:
        """How often a guess is right."""
        return 1.0 / len(self.options) if self.options else 0.0


def read_questions(paths: Iterable[Path]) -> tuple[StoryQuestion, ...]:
    """The questions in files, in order. Raises DatasetError with file and line."""
    questions = [story_question for path in paths for story_question in questions_in(path)]
    if not questions:
        raise DatasetError("The files hold no questions.", _HINT)
    ids = Counter((story_question.film, story_question.id) for story_question in questions)
    repeated = sorted(f"{film}/{name}" for (film, name), times in ids.items() if times > 1)
    if repeated:
        message = f"Questions stand several times: {first_of(repeated)}."
        raise DatasetError(message, "Give each an id of its own.")
    return tuple(questions)


def questions_in(path: Path) -> Iterator[StoryQuestion]:
    """The questions in a file, in order, whatever their ids. Raises DatasetError with file and line."""
    table = read_records(path)
    text, answer = table.needed(("question",), "questions"), table.needed(("answer",), "answers")
    film, reason, kind = (table.column(names) for names in (FILM, REASON, KIND))
    for number, row in enumerate(table.rows, 1):
        question_text, answer_text = row.text(text), row.text(answer)
        if not question_text or not answer_text:
            raise row.error("the question or its answer is empty", _HINT)
        try:
            start, end = (row.text(name) for name in ("start", "end"))
            yield StoryQuestion(
                row.text(film) or "",
                row.text(table.column(("id",))) or str(number),
                question_text,
                answer_text,
                row.list(table.column(("options",))) or (),
                Interval(parse_time(start or "none"), parse_time(end or "none")) if start or end else None,
                row.text(reason) or "",
                row.text(kind) or "",
            )
        except ValueError as error:
            raise row.error(str(error), 'Write a list of texts: ["…", "…"].') from None


def write_questions(questions: Iterable[StoryQuestion]) -> str:
    """The questions as CSV, which `read_questions` reads back equal."""

    def cells(story_question: StoryQuestion) -> tuple[str, ...]:
        times = (
            (repr(story_question.evidence.start), repr(story_question.evidence.end))
            if story_question.evidence
            else ("", "")
        )
        options = json.dumps(story_question.options, ensure_ascii=False) if story_question.options else ""
        return (
            story_question.film,
            story_question.id,
            story_question.text,
            story_question.answer,
            options,
            *times,
            story_question.reason,
            story_question.kind,
        )

    return csv_text(COLUMNS, map(cells, questions))


_WRONG = 3
"""Wrong answers beside the right one: a guess is right in a quarter of the questions."""
_TOKENS = 600

Drafts = tuple[tuple[str, str, tuple[str, ...], int], ...]
"""Questions, each with its answer, wrong answers, and the place of the line that has it, from 0."""


def make_story_questions(
    films: Sequence[StoryFilm], engine: str, context: MetricContext
) -> list[StoryQuestion]:
    """Questions that an engine makes of each film's human AD (where there is none, of its script): one or two
    of each passage, with the line that has the answer. The options' order is drawn by the seed. Raises
    EvaluationError for a film with neither, EngineError for what stops an engine."""
    checked_prompts("question")
    judge, seed = Judge(engine, context), context.config.seed

    def draft(passage: Sequence[Element]) -> Answer[Drafts]:
        return judge.ask(_drafts(passage))

    questions: list[StoryQuestion] = []
    for film in films:
        passages = list(in_passages(film.human or film.script))
        if not passages:
            message = f"{film.name} has no human AD and no script."
            raise EvaluationError(message, "Name one by --human or --script.")
        answers = map_items(draft, passages, [judge], f"Questions on {film.name}", "passages")
        count = 0
        for passage, answer in zip(passages, answers, strict=True):
            for text, right, wrong, place in answer.value or ():
                count += 1
                name, line, options = f"q{count}", passage[place], [right, *wrong]
                random.Random(slot_seed(seed, f"{film.name}/{name}")).shuffle(options)
                cells = (film.name, name, text, right, tuple(options), line.interval, line.text)
                questions.append(StoryQuestion(*cells))
    return questions


def _drafts(passage: Sequence[Element]) -> Question[Drafts]:
    def draft(row: object) -> tuple[str, str, tuple[str, ...], int]:
        record = record_in(json.dumps(row), list(entry))
        right = sentence(record["answer"], "answer")
        wrong = record["wrong"] if isinstance(record["wrong"], list) else []
        wrong_answers = tuple(sentence(wrong_answer, "each of wrong") for wrong_answer in wrong)
        if len({right, *wrong_answers}) != _WRONG + 1:
            raise Unreadable(f"wrong must be {_WRONG} different answers, none of them the right one.")
        place = whole_number(record["line"], "line", 1, len(passage)) - 1
        return sentence(record["question"], "question"), right, wrong_answers, place

    def read(rows: Any, key: str) -> Drafts:
        if not isinstance(rows, list) or not 1 <= len(rows) <= 2:
            raise Unreadable(f"{key} must be a list of one or two.")
        return tuple(map(draft, rows))

    entry = {
        "question": STRING,
        "answer": STRING,
        "wrong": STRINGS | {"minItems": _WRONG, "maxItems": _WRONG},
        "line": {"type": "integer", "minimum": 1, "maximum": len(passage)},
    }
    form = '[{"question": "…", "answer": "…", "wrong": ["…", "…", "…"], "line": <number>}]'
    drafts = Part(form, {"type": "array", "items": entries_schema(entry)}, read)
    lines = [plain_line(wrong_answer) for wrong_answer in passage]
    return question("question-make", {"lines": lines}, {"questions": drafts}, tokens=_TOKENS)


RARE = 0.01
"""A bias counts where guessing would show it in fewer than one of a hundred sets as large as this."""
BIAS = 0.1
"""And where it is that much above chance: of many questions a bias that helps nobody is rare too."""
KNOWN = 1 / 3
"""Share of the questions, beyond chance, that may be answered from nothing. Above, a third of the set asks
what the engine knows or guesses without the film, and no description can gain there."""


def check_questions(questions: Sequence[StoryQuestion], blind: float | None = None) -> Json:
    """What may be wrong with a set of questions before a description is scored by it, as JSON.

    ``chance`` is the share that guessing gets right. ``longest`` is the share of the questions with options
    in which the right one alone is the longest, ``longest_chance`` what guessing would give there, and
    ``rare`` how often guessing gives as much or more. ``positions`` counts the place of the right option,
    from 1; they are shuffled before anybody is asked, so no place can be learned. ``blind`` is the share
    answered from nothing, None before that was asked. ``faults`` say why the set should not be used.
    """
    with_options = [story_question for story_question in questions if story_question.options]
    longest_is_right = 0
    for story_question in with_options:
        wrong_options = set(story_question.options) - {story_question.answer}
        if len(story_question.answer) > max(map(len, wrong_options)):
            longest_is_right += 1
    chances = [story_question.chance for story_question in with_options]
    # probabilities[k]: how likely guessing has k of them right. Each question has a chance of its own.
    probabilities = np.ones(1)
    for chance in chances:
        probabilities = np.convolve(probabilities, [1 - chance, chance])
    positions = Counter(
        story_question.options.index(story_question.answer) + 1 for story_question in with_options
    )
    chance = sum(chances) / len(questions) if questions else 0.0
    share = longest_is_right / len(with_options) if with_options else 0.0
    longest_chance = sum(chances) / len(with_options) if with_options else 0.0
    rare = float(probabilities[longest_is_right:].sum())
    faults = []
    if rare < RARE and share > longest_chance + BIAS:
        faults.append(
            f"The longest option is the right one in {share:.0%} of the questions (by chance "
            f"{longest_chance:.0%}; {longest_chance + BIAS:.0%} is accepted)."
        )
    most_blind = chance + (1 - chance) * KNOWN
    if blind is not None and blind > most_blind:
        faults.append(
            f"{blind:.0%} of the questions are answered from nothing (by chance {chance:.0%}; "
            f"{most_blind:.0%} is accepted)."
        )
    return {
        "questions": len(questions),
        "with_options": len(with_options),
        "chance": chance,
        "longest": share,
        "longest_chance": longest_chance,
        "rare": rare,
        "positions": sorted(positions.items()),
        "blind": blind,
        "faults": faults,
    }
