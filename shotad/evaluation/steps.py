"""ABSEval: lists of steps, and agents that judge them by seven criteria (Liang et al., EMNLP 2024).

A script has a goal, a condition, and the steps that lead there. A film's action is a list of steps too: the
goal is that a listener can follow a passage, the condition what AD must keep to, the steps are the lines.
*Answer synthesis* writes a good script of all that a task has; the *critic* compares with it, the *executor*
follows the steps, *commonsense* looks at each. The baseline is one judge who is asked for all seven criteria
at once, in the same words, without the good answer: the two differ in how the work is divided alone.

A script without steps fails every criterion, unasked. What the judge fails to answer does not hold either,
and is told apart (``unread``). A task without a condition is not judged by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from shotad.core import EvaluationError, ScriptError
from shotad.description import render
from shotad.evaluation.datasets.tables import Table, TableRow, read_records
from shotad.evaluation.metric import Json
from shotad.evaluation.metrics.judge import (
    STRING,
    YES_OR_NO,
    Answer,
    Judge,
    Part,
    Question,
    Steps,
    alone,
    in_groups,
    listing,
    numbered,
    question,
    quoted,
    sentence,
    worked,
)
from shotad.evaluation.metrics.judged import STORY_LINES, says_something
from shotad.evaluation.predictions import NAMES, PredictionRow, read_predictions
from shotad.evaluation.store import MetricContext
from shotad.script import TRACK, read_cues

PASSAGE = 120.0
"""Seconds of a film whose lines are one script, so that tracks of one film can be laid side by side."""
HUMAN = "human"
"""The system of human ADs that stand in a file of predictions."""

_HINT = (
    "Columns: goal, steps (a list), and where there are any constraint, id, system. Or name a track, a "
    "script with times, or predictions."
)
_NUMBER = re.compile(r"\A\s*(?:step\s+)?\d+\s*[.):]\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StepScript:
    """The steps by which ``system`` reaches a goal. ``id`` is the task's: scripts of one task share it.

    ``constraint`` is empty where the task has none; without ``steps`` the system made nothing. ``is_ad``:
    the steps are lines of audio description.
    """

    id: str
    system: str
    goal: str
    constraint: str
    steps: tuple[str, ...]
    is_ad: bool = False


def read_steps(paths: Sequence[Path]) -> tuple[StepScript, ...]:
    """The scripts of all files, in order. A file's system is its name, where it does not say another; of a
    work folder the track is read.

    Raises ShotadError for a file that cannot be read or holds no steps, where one system has two different
    scripts of a task, and where a task has two goals.
    """
    stems = [path.stem for path in paths]
    found: dict[tuple[str, str], StepScript] = {}
    tasks: dict[str, tuple[str, str]] = {}
    for path, stem in zip(paths, stems, strict=True):
        file = path / TRACK if path.is_dir() else path
        for script in _of_file(file, stem if stems.count(stem) == 1 else path.name):
            task = (script.goal, script.constraint)
            if found.setdefault((script.id, script.system), script) != script:
                raise EvaluationError(
                    f"{path.name}: {script.system} has two scripts of the task {script.id!r}.",
                    "Give each task an id of its own, or each script its system.",
                )
            if tasks.setdefault(script.id, task) != task:
                raise EvaluationError(
                    f"{path.name}: the task {script.id!r} is {task} here and {tasks[script.id]} before.",
                    "Scripts of one id need the same goal and the same constraint.",
                )
    return tuple(found.values())


def _of_file(path: Path, system: str) -> list[StepScript]:
    """The scripts of a table of them, else of predictions, a track, or a script with times."""
    kind, table = path.suffix.lower(), None
    is_track = (
        kind == ".json" and path.is_file() and path.read_bytes().lstrip(b"\xef\xbb\xbf \r\n")[:1] == b"{"
    )
    if kind in (".csv", ".tsv", ".jsonl", ".json") and not is_track:
        table = read_records(path)
        if {"start", "end", "text"} <= set(table.columns):
            table = table if table.column((*NAMES["film"], *NAMES["reference"])) else None
    if table is None:
        scripts = list(_of_cues(path, system))
    elif not table.column(("goal", "steps")):
        scripts = list(_of_predictions(path, system))
    else:
        table.needed(("goal",), "the goal")
        table.needed(("steps",), "the steps")
        scripts = [_of_row(table, row, system) for row in table.rows]
    if not any(script.steps for script in scripts):
        raise EvaluationError(f"{path} holds no steps.", _HINT)
    return scripts


def _of_row(table: Table, row: TableRow, system: str) -> StepScript:
    """Steps are a list, or a text with one in each line; numbers before them are taken off."""
    goal, name, constraint, by = (
        (table.text(row, key) or "").strip() for key in ("goal", "id", "constraint", "system")
    )
    if not says_something(goal):
        raise table.error(row, "the goal is empty", "Each script says what it is for.")
    value = row.values.get("steps")
    in_lines = isinstance(value, str) and not value.lstrip().startswith(("[", "("))
    steps = str(value).splitlines() if in_lines else table.list(row, "steps") or ()
    said = _said(_NUMBER.sub("", step) for step in steps)
    return StepScript(name or goal, by or system, goal, constraint, said)


def _said(lines: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(" ".join(line.split()) for line in lines if line is not None and says_something(line))


def _of_cues(path: Path, system: str) -> Iterator[StepScript]:
    """A script for each two minutes of a film; a passage without a line is no script."""
    try:
        cues = sorted(read_cues(path), key=lambda cue: cue.interval.start)
    except ScriptError as error:
        raise EvaluationError(error.what, error.hint or _HINT) from None
    for number, those in groupby(cues, lambda cue: int(cue.interval.start // PASSAGE)):
        if steps := _said(cue.text for cue in those):
            yield _ad(f"minute {number * PASSAGE / 60:g}", system, steps)


def _of_predictions(path: Path, system: str) -> Iterator[StepScript]:
    """A script for each twelve rows of a film, and one of the human ADs beside them. What failed says
    nothing."""
    films: dict[str, list[PredictionRow]] = {}
    try:
        for row in read_predictions(path).rows:
            films.setdefault(row.film, []).append(row)
    except EvaluationError as error:
        raise EvaluationError(error.what, _HINT) from None
    for film, rows in films.items():
        if all(row.start is not None for row in rows):
            rows.sort(key=lambda row: row.start or 0.0)
        for group in in_groups(rows, STORY_LINES):
            ends = f"{group[0].id or group[0].where} to {group[-1].id or group[-1].where}"
            name = f"{film}, {ends}" if film else ends
            yield _ad(name, system, _said(row.text for row in group))
            if human := _said(row.reference for row in group):
                yield _ad(name, HUMAN, human)


def _ad(name: str, system: str, steps: tuple[str, ...]) -> StepScript:
    return StepScript(name, system, render("steps/ad-goal"), render("steps/ad-constraint"), steps, True)


CRITERIA = ("no-missing", "no-redundant", "no-duplicate", "executable", "constraint", "goal", "order")
"""The seven, in the order of the paper's Table 5. A judge is asked for what stands after ``no-``; a script
passes where the answer is no: nothing should be missing, and the goal should be reached."""

Mechanism = Mapping[str, tuple[str, ...]]
"""Which agent is asked for which criteria; each criterion has one."""
CRITIC = "critic"
AGENTS: Mechanism = {
    CRITIC: ("no-missing", "no-redundant", "no-duplicate"),
    "executor": ("constraint", "goal", "order"),
    "commonsense": ("executable",),
}
BASELINE: Mechanism = {"single": CRITERIA}

EXAMPLES = 15
"""Scripts that answer synthesis learns from at most; the paper has as many systems."""
STEP_TOKENS = 48
"""Room for one step, a short sentence, in JSON."""


GoldAnswers = Mapping[str, Answer[tuple[str, ...]]]
"""The good answer to each task by its id, or why there is none."""


def synthesize(scripts: Sequence[StepScript], judge: Judge, context: MetricContext) -> GoldAnswers:
    """A good answer to each task, learned from all its scripts, those that are judged by it included: the
    best list of steps, of at most eight, or twice the longest."""
    tasks: dict[str, list[StepScript]] = {}
    for script in scripts:
        if script.steps:
            tasks.setdefault(script.id, []).append(script)
    asked = []
    for those in tasks.values():
        shown = those[:EXAMPLES]
        most = max(8, 2 * max(len(script.steps) for script in shown))
        examples = [
            render("steps/example", number=str(number), steps=numbered(script.steps))
            for number, script in enumerate(shown, 1)
        ]
        texts = {"task": task_words(shown[0]), "scripts": "\n\n".join(examples), "most": str(most)}
        names, parts = ("steps/synthesis-system", "steps/synthesis"), {"steps": listing(most)}
        asked.append(alone(judge, question(*names, texts, parts, tokens=STEP_TOKENS * (most + 1))))
    return dict(zip(tasks, worked("Writing good answers", "tasks", asked, context), strict=True))


def judge_scripts(
    scripts: Sequence[StepScript],
    mechanism: Mechanism,
    judge: Judge,
    gold: GoldAnswers,
    context: MetricContext,
) -> list[Json]:
    """What the judge says of each script, in order, as JSON. The critic among `AGENTS` compares with
    ``gold``.

    ``criteria`` has each that applies: True, False, or None where the answer could not be read; ``score`` is
    the share that hold, 0 to 1 (the paper's Figure 9). ``reasons`` are the agents' own words, ``unread`` says
    why an answer could not be read, by agent.
    """
    asked = [_verdict(script, mechanism, judge, gold) for script in scripts]
    return list(worked(f"Judging steps by {', '.join(mechanism)}", "scripts", asked, context))


Told = tuple[Mapping[str, bool], str]
"""Which criteria hold, and why."""


def _verdict(script: StepScript, mechanism: Mechanism, judge: Judge, gold: GoldAnswers) -> Steps[Json]:
    told, unread = dict[str, Told](), dict[str, str]()
    holds: dict[str, bool | None] = dict.fromkeys(_criteria(script, CRITERIA), False)
    if script.steps:
        agents = {agent: _criteria(script, names) for agent, names in mechanism.items()}
        good = gold[script.id]
        if good.value is None and CRITIC in agents:
            unread[CRITIC] = f"there is no good answer to compare with: {good.failure}"
        asked = {
            agent: agent_question(agent, names, script, (good.value or ()) if agent == CRITIC else ())
            for agent, names in agents.items()
            if agent not in unread
        }
        answers = yield judge, list(asked.values())
        said = dict(zip(asked, answers, strict=True))
        unread |= {agent: answer.failure for agent, answer in said.items() if answer.value is None}
        told = {agent: one.value for agent, one in said.items() if one.value is not None}
        found = {name: held for those, _ in told.values() for name, held in those.items()}
        holds = {name: found.get(name) for name in holds}
    return {
        "id": script.id,
        "system": script.system,
        "steps": len(script.steps),
        "score": round(share_held(holds), 9),
        "criteria": holds,
        "reasons": {agent: reason for agent, (_, reason) in told.items()},
        "unread": unread,
    }


def share_held(criteria: Mapping[str, bool | None]) -> float:
    """The share of the criteria that hold, 0 to 1, not rounded."""
    return sum(value is True for value in criteria.values()) / len(criteria)


def _criteria(script: StepScript, names: Sequence[str]) -> list[str]:
    return [name for name in names if name != "constraint" or script.constraint]


def task_words(script: StepScript) -> str:
    """The goal and, where there is one, the condition, as a judge reads them."""
    if not script.constraint:
        return render("steps/task", goal=quoted(script.goal))
    return render("steps/task-constraint", goal=quoted(script.goal), constraint=quoted(script.constraint))


def agent_question(
    agent: str, names: Sequence[str], script: StepScript, standard: Sequence[str] = ()
) -> Question[Told]:
    """Do these criteria hold, by this agent? ``standard`` are the steps that the critic compares with."""
    asked = [name.removeprefix("no-") for name in names]

    def read(reason: str, *said: bool) -> Told:
        return {name: yes != name.startswith("no-") for name, yes in zip(names, said, strict=True)}, reason

    texts = {
        "task": task_words(script),
        "standard": f"\n\n{render('steps/standard', steps=numbered(standard))}" if standard else "",
        "steps": numbered(script.steps),
        "questions": "\n".join(f"- {render(f'steps/ask-{key}')}" for key in asked),
    }
    reason = Part('"<one or two sentences>"', STRING, sentence)
    parts = {"reason": reason, **dict.fromkeys(asked, YES_OR_NO)}
    return question(f"steps/{agent}-system", "steps/judge", texts, parts, read)
