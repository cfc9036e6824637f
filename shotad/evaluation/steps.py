"""ABSEval: lists of steps, and agents that judge them by seven criteria (Liang et al., EMNLP 2024;
docs/abseval.md).

*Answer synthesis* writes a good script of all that a task has; the *critic* compares with it, the *executor*
follows the steps, *commonsense* looks at each. The baseline is one judge who is asked for all criteria at
once, in the same words: the two differ in how the work is divided alone.

A script without steps fails every criterion, unasked. What the judge fails to answer does not hold either,
and is told apart (``unread``). A judge who finds fault with everything sees every planted fault: so each
script is judged before and after, and false alarms stand beside the hits.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from shotad.core.errors import EvaluationError, ScriptError
from shotad.core.progress import plural, table_lines
from shotad.core.text_files import read_file_bytes
from shotad.core.workfolder import hash_key
from shotad.description.templates import prompt_block
from shotad.evaluation.datasets.tables import TableRow, first_of, read_records
from shotad.evaluation.metric import Json, says_something
from shotad.evaluation.metrics.judge import (
    STRINGS,
    YES_OR_NO,
    Answer,
    Judge,
    Part,
    Question,
    Unreadable,
    checked_prompts,
    listing,
    map_items,
    question,
    text_part,
)
from shotad.evaluation.metrics.judged import in_passages
from shotad.evaluation.predictions import NAMES, PredictionRow, read_predictions
from shotad.evaluation.report.table import NONE
from shotad.evaluation.store import MetricContext
from shotad.script import read_cues
from shotad.script.track_files import TRACK

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
    """The scripts of all files, in order. A file's system is its name, where it does not say another.

    Raises ShotadError for a file that cannot be read or holds no steps, where one system has two different
    scripts of a task, and where a task has two goals.
    """
    stems = Counter(path.stem for path in paths)
    scripts: dict[tuple[str, str], StepScript] = {}
    tasks: dict[str, tuple[str, str]] = {}
    for path in paths:
        file = path / TRACK if path.is_dir() else path
        for script in _scripts_of_file(file, path.stem if stems[path.stem] == 1 else path.name):
            task = (script.goal, script.constraint)
            if scripts.setdefault((script.id, script.system), script) != script:
                raise EvaluationError(
                    f"{path.name}: {script.system} has two scripts of the task {script.id!r}.",
                    "Give each task an id of its own, or each script its system.",
                )
            if tasks.setdefault(script.id, task) != task:
                raise EvaluationError(
                    f"{path.name}: the task {script.id!r} is {task} here and {tasks[script.id]} before.",
                    "Scripts of one id need the same goal and the same constraint.",
                )
    return tuple(scripts.values())


def _scripts_of_file(path: Path, system: str) -> list[StepScript]:
    """The scripts of a table of them, else of predictions, a track, or a script with times."""
    kind, table = path.suffix.lower(), None
    is_track = (
        kind == ".json"
        and path.is_file()
        and read_file_bytes(path, "table", EvaluationError).lstrip(b"\xef\xbb\xbf \r\n")[:1] == b"{"
    )
    if kind in (".csv", ".tsv", ".jsonl", ".json") and not is_track:
        table = read_records(path)
        if {"start", "end", "text"} <= set(table.columns):
            table = table if table.column((*NAMES["film"], *NAMES["reference"])) else None
    if table is None:
        scripts = list(_scripts_of_cues(path, system))
    elif not table.column(("goal", "steps")):
        scripts = list(_scripts_of_predictions(path, system))
    else:
        table.needed(("goal",), "the goal")
        table.needed(("steps",), "the steps")
        scripts = [_script_of_row(row, system) for row in table.rows]
    if not any(script.steps for script in scripts):
        raise EvaluationError(f"{path} holds no steps.", _HINT)
    return scripts


def _script_of_row(row: TableRow, system: str) -> StepScript:
    """Steps are a list, or a text with one in each line; numbers before them are taken off."""
    goal, name, constraint, named_system = (
        (row.text(key) or "").strip() for key in ("goal", "id", "constraint", "system")
    )
    if not says_something(goal):
        raise row.error("the goal is empty", "Each script says what it is for.")
    value = row.values.get("steps")
    in_lines = isinstance(value, str) and not value.lstrip().startswith(("[", "("))
    steps = str(value).splitlines() if in_lines else row.list("steps") or ()
    step_texts = _step_texts_of(_NUMBER.sub("", step) for step in steps)
    return StepScript(name or goal, named_system or system, goal, constraint, step_texts)


def _step_texts_of(lines: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(" ".join(line.split()) for line in lines if line is not None and says_something(line))


def _scripts_of_cues(path: Path, system: str) -> Iterator[StepScript]:
    """A script for each two minutes of a film; a passage without a line is no script."""
    try:
        cues = sorted(read_cues(path), key=lambda cue: cue.interval.start)
    except ScriptError as error:
        raise EvaluationError(error.what, error.hint or _HINT) from None
    for number, passage_cues in groupby(cues, lambda cue: int(cue.interval.start // PASSAGE)):
        if step_texts := _step_texts_of(cue.text for cue in passage_cues):
            yield _ad_script(f"minute {number * PASSAGE / 60:g}", system, step_texts)


def _scripts_of_predictions(path: Path, system: str) -> Iterator[StepScript]:
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
        for group in in_passages(rows):
            ends = f"{group[0].id or group[0].where} to {group[-1].id or group[-1].where}"
            name = f"{film}, {ends}" if film else ends
            yield _ad_script(name, system, _step_texts_of(row.text for row in group))
            if human := _step_texts_of(row.reference for row in group):
                yield _ad_script(name, HUMAN, human)


def _ad_script(name: str, system: str, steps: tuple[str, ...]) -> StepScript:
    goal, constraint = (prompt_block("steps-ad", block) for block in ("goal", "constraint"))
    return StepScript(name, system, goal, constraint, steps, True)


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


def synthesize(scripts: Sequence[StepScript], judge: Judge) -> GoldAnswers:
    """A good answer to each task, learned from all its scripts, those that are judged by it included: the
    best list of steps, of at most eight, or twice the longest."""
    tasks: dict[str, list[StepScript]] = {}
    for script in scripts:
        if script.steps:
            tasks.setdefault(script.id, []).append(script)

    def write(examples: Sequence[StepScript]) -> Answer[tuple[str, ...]]:
        return judge.ask(synthesis_question(examples[:EXAMPLES]))

    answers = map_items(write, list(tasks.values()), [judge], "Writing good answers", "tasks")
    return dict(zip(tasks, answers, strict=True))


def synthesis_question(examples: Sequence[StepScript]) -> Question[tuple[str, ...]]:
    """What are the best steps for a task of which these scripts were written?"""
    most = max(8, 2 * max(len(script.steps) for script in examples))
    values = {**task_of(examples[0]), "lists": [script.steps for script in examples], "most": most}
    return question("steps-synthesis", values, {"steps": listing(most)}, tokens=STEP_TOKENS * (most + 1))


def judge_scripts(
    scripts: Sequence[StepScript], mechanism: Mechanism, judge: Judge, gold: GoldAnswers
) -> list[Json]:
    """What the judge says of each script, in order, as JSON; the critic compares with ``gold``.

    ``criteria`` has each that applies: True, False, or None where the answer could not be read; ``score`` is
    the share that hold (the paper's Figure 9). ``reasons`` are the agents' own words, ``unread`` says why an
    answer could not be read, by agent.
    """

    def judge_script(script: StepScript) -> Json:
        return _verdict(script, mechanism, judge, gold)

    title = f"Judging steps by {', '.join(mechanism)}"
    return list(map_items(judge_script, scripts, [judge], title, "scripts"))


AgentVerdict = tuple[Mapping[str, bool], str]
"""Which criteria hold by an agent, and why."""


def _verdict(script: StepScript, mechanism: Mechanism, judge: Judge, gold: GoldAnswers) -> Json:
    """Ask the agents about a script; see `judge_scripts`."""
    verdicts: dict[str, AgentVerdict] = {}
    unread: dict[str, str] = {}
    holds: dict[str, bool | None] = dict.fromkeys(_criteria(script, CRITERIA), False)
    if script.steps:
        questions: dict[str, Question[AgentVerdict]] = {}
        for agent, names in mechanism.items():
            standard: Sequence[str] = ()
            if agent == CRITIC:
                good_answer = gold[script.id]
                if good_answer.value is None:
                    unread[CRITIC] = f"there is no good answer to compare with: {good_answer.failure}"
                    continue
                standard = good_answer.value
            questions[agent] = agent_question(agent, _criteria(script, names), script, standard)
        answers = judge.ask_all(list(questions.values()))
        holds = dict.fromkeys(holds, None)
        for agent, answer in zip(questions, answers, strict=True):
            if answer.value is None:
                unread[agent] = answer.failure
            else:
                verdicts[agent] = answer.value
                holds |= answer.value[0]
    return {
        "id": script.id,
        "system": script.system,
        "steps": len(script.steps),
        "score": round(share_held(holds), 9),
        "criteria": holds,
        "reasons": {agent: reason for agent, (_, reason) in verdicts.items()},
        "unread": unread,
    }


def share_held(criteria: Mapping[str, bool | None]) -> float:
    """The share of the criteria that hold, 0 to 1, not rounded."""
    return sum(value is True for value in criteria.values()) / len(criteria)


def _criteria(script: StepScript, names: Sequence[str]) -> list[str]:
    return [name for name in names if name != "constraint" or script.constraint]


def task_of(script: StepScript) -> dict[str, str]:
    """The goal and the condition, which is empty where there is none, as the prompts take them."""
    return {"goal": script.goal, "constraint": script.constraint}


def agent_question(
    agent: str, names: Sequence[str], script: StepScript, standard: Sequence[str] = ()
) -> Question[AgentVerdict]:
    """Do these criteria hold, by this agent? ``standard`` are the steps that the critic compares with."""
    asked_criteria = [name.removeprefix("no-") for name in names]

    def read(reason: str, *replies: bool) -> AgentVerdict:
        holds = {name: is_yes != name.startswith("no-") for name, is_yes in zip(names, replies, strict=True)}
        return holds, reason

    values = {
        **task_of(script),
        "agent": agent,
        "standard": standard,
        "steps": script.steps,
        "questions": asked_criteria,
    }
    parts = {"reason": text_part('"<one or two sentences>"'), **dict.fromkeys(asked_criteria, YES_OR_NO)}
    return question("steps-judge", values, parts, read)


FAULTS = {name.removeprefix("no-"): name for name in CRITERIA if name != "executable"}
"""The criterion that each kind of fault breaks, in the order of the paper's Table 4."""
PAPER_SEEN = dict(zip(FAULTS, (0.84, 0.96, 0.96, 0.85, 0.92, 0.84), strict=True))
"""Accuracy by Qwen-110B-Chat on 50 scripts of each kind (Table 4)."""
BY_ENGINE = ("missing", "redundant", "constraint", "goal")
"""What an engine is asked for (Table 10)."""
LEVEL = 0.05
_NO_CONDITION = "its task has no condition"


Planted = tuple[int, str, StepScript | str]
"""A script with one fault: its place among the scripts, the kind of fault, and what the script became, or why
it cannot have this fault."""


def plant_faults(scripts: Sequence[StepScript], writer: Judge | None, seed: int) -> list[Planted]:
    """Each kind of fault in each script that has steps: by rules, or by the engine ``writer``.

    What a rule draws depends on the seed, the script and the fault alone.
    """
    planted: list[Planted] = []
    for fault in FAULTS:
        places = [place for place, script in enumerate(scripts) if script.steps]
        if writer is None or fault not in BY_ENGINE:
            for place in places:
                planted.append((place, fault, plant(scripts[place], fault, scripts, seed)))
            continue
        if fault == "constraint":
            planted += [(place, fault, _NO_CONDITION) for place in places if not scripts[place].constraint]
            places = [place for place in places if scripts[place].constraint]
        planted += _plant_by_engine(scripts, places, fault, writer)
    return planted


def _plant_by_engine(
    scripts: Sequence[StepScript], places: Sequence[int], fault: str, writer: Judge
) -> Iterator[Planted]:
    """A fault in the scripts at these places, by an engine."""

    def write(place: int) -> Answer[tuple[str, ...]]:
        return writer.ask(plant_question(scripts[place], fault))

    answers = map_items(write, places, [writer], f"Planting faults: {fault}", "scripts")
    for place, answer in zip(places, answers, strict=True):
        if answer.value:
            yield place, fault, replace(scripts[place], steps=answer.value)
        else:
            yield place, fault, f"the engine did not plant it: {answer.failure}"


def plant(script: StepScript, fault: str, scripts: Sequence[StepScript], seed: int) -> StepScript | str:
    """The script with this fault by rule, or why it cannot have it. A redundant step is one of ``scripts`` of
    another task."""
    draw = random.Random(hash_key(seed, script.id, script.system, fault))
    steps, n = list(script.steps), len(script.steps)
    if fault in ("missing", "goal") and n < 2:
        return "it has one step"
    if fault == "constraint" and not script.constraint:
        return _NO_CONDITION
    if fault == "missing":
        del steps[draw.randrange(n)]
    elif fault == "goal":  # it stops halfway
        del steps[n // 2 :]
    elif fault == "duplicate":  # with another step between the two where there is one
        place = draw.randrange(max(1, n - 1))
        steps.insert(draw.randint(min(place + 2, n), n), steps[place])
    elif fault == "redundant":
        choice = _foreign_steps(script, scripts)
        if not choice:
            return "there is no other task to take a step from"
        steps.insert(draw.randint(0, n), draw.choice(choice))
    elif fault == "order":  # two steps that stand half the list apart change places
        places = [place for place in range(n - n // 2) if steps[place] != steps[place + n // 2]]
        if not places:
            return "it has no two different steps to change places"
        place = draw.choice(places)
        steps[place], steps[place + n // 2] = steps[place + n // 2], steps[place]
    elif script.is_ad:
        place = draw.randrange(n)
        steps[place] = prompt_block("steps-ad", "broken_line", line=steps[place])
    else:
        return "rules know how to break the condition of AD alone; name an engine"
    return replace(script, steps=tuple(steps))


def _foreign_steps(script: StepScript, scripts: Sequence[StepScript]) -> list[str]:
    """The steps of other tasks that the script does not have, in order, each once."""
    foreign: dict[str, None] = {}  # a dict keeps the order, so that the draw can be repeated
    for other_script in scripts:
        if other_script.id != script.id:
            foreign |= dict.fromkeys(other_script.steps)
    return [step for step in foreign if step not in script.steps]


def plant_question(script: StepScript, fault: str) -> Question[tuple[str, ...]]:
    """The steps of the script with this fault: all its own in order but one or two, all and one more, or at
    least one that is another."""
    script_steps = script.steps

    def is_part(few: Sequence[str], many: Sequence[str]) -> bool:
        """Whether the first stand in the second, in the same order."""
        remaining = iter(many)
        return all(step in remaining for step in few)

    def read(value: Any, key: str) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(step, str) and step.strip() for step in value):
            raise Unreadable("steps must be a list of sentences.")
        steps = tuple(" ".join(step.split()) for step in value)
        if not steps or steps == script_steps:
            raise Unreadable("The list is empty, or the same as before: it has no fault.")
        if fault == "missing" and not (
            0 < len(script_steps) - len(steps) <= 2 and is_part(steps, script_steps)
        ):
            raise Unreadable("The list must have the same steps, word for word, without one or two.")
        if fault == "redundant" and not (
            len(steps) == len(script_steps) + 1 and is_part(script_steps, steps)
        ):
            raise Unreadable("The list must have all the same steps, word for word, and one more.")
        return steps

    values = {**task_of(script), "steps": script_steps, "fault": fault}
    parts, tokens = {"steps": Part('["…", "…", …]', STRINGS, read)}, STEP_TOKENS * (len(script_steps) + 2)
    return question("steps-plant", values, parts, tokens=tokens)


def fault_figures(
    planted: Sequence[Planted], before: Sequence[Json], after: Sequence[Json]
) -> Iterator[Json]:
    """What a judge says of the scripts with each kind of fault, and of the same scripts without it, as JSON:
    ``before`` are the verdicts on all scripts, ``after`` those on what was planted, both in order.

    ``seen``: the fault's criterion does not hold; ``alarms``: it did not hold without the fault either.
    ``fell``, ``rose``: it held before and does not with the fault, and the reverse. ``noticed``: some
    criterion fell, be it another. ``flagged`` counts by criterion how often it does not hold with the fault.
    ``accuracy`` is the paper's figure; ``p``: how likely a criterion falls so much more often than it rises,
    by chance (McNemar's exact test, one-sided); ``sees``: below `LEVEL`.
    """
    verdicts_after = iter(after)
    pairs_by_fault: dict[str, list[tuple[Json, Json]]] = {fault: [] for fault in FAULTS}
    reasons_by_fault: dict[str, list[str]] = {fault: [] for fault in FAULTS}
    for place, fault, faulty_script in planted:
        if isinstance(faulty_script, StepScript):
            pair = before[place]["criteria"], next(verdicts_after)["criteria"]
            pairs_by_fault[fault].append(pair)
        else:
            reasons_by_fault[fault].append(faulty_script)
    for fault, criterion in FAULTS.items():
        pairs = pairs_by_fault[fault]
        # The fault's criterion, without the fault and with it.
        broken = [(without_fault[criterion], with_fault[criterion]) for without_fault, with_fault in pairs]
        n = len(broken)
        hits = sum(after_it is False for _, after_it in broken)
        fell, rose = broken.count((True, False)), broken.count((False, True))
        noticed = 0
        for without_fault, with_fault in pairs:
            noticed += any(without_fault[name] and with_fault[name] is False for name in without_fault)
        # McNemar's exact test counts only the scripts whose verdict changed.
        changed = fell + rose
        p = sum(math.comb(changed, k) for k in range(fell, changed + 1)) / 2**changed
        yield {
            "fault": fault,
            "planted": n,
            "seen": hits,
            "alarms": sum(before_it is False for before_it, _ in broken),
            "fell": fell,
            "rose": rose,
            "unread": sum(after_it is None for _, after_it in broken),
            "noticed": noticed,
            "flagged": {
                name: sum(with_fault.get(name) is False for _, with_fault in pairs) for name in CRITERIA
            },
            "not_planted": dict(Counter(reasons_by_fault[fault])),
            "accuracy": round(hits / n, 9) if n else None,
            "p": round(p, 9),
            "sees": p < LEVEL,
        }


RULES = "rules"
"""Who plants faults where no engine does."""
_TITLES = tuple(name.replace("-", " ").capitalize() for name in CRITERIA)
_LABELS = f"Columns: id, system, and of {', '.join(CRITERIA)} those that people judged, 1 where it holds."

StepLabels = Mapping[tuple[str, str], Mapping[str, float]]
"""What people say of each script, by id and system (empty where no system is named): of each criterion the
share of annotators who say that it holds."""


def read_labels(path: Path) -> StepLabels:
    """People's labels from CSV or JSON Lines: ``id``, perhaps ``system`` and ``annotator``, and a column for
    each criterion, 1 where it holds and 0 where not; an empty cell is no label. Annotators are averaged.

    Raises DatasetError for a file or a cell that cannot be read, EvaluationError for what cannot be meant.
    """
    table = read_records(path)
    columns = [name for name in CRITERIA if name in table.columns]
    if not columns or "id" not in table.columns:
        raise EvaluationError(f"{path.name} has the columns {', '.join(table.columns) or 'none'}.", _LABELS)
    labels: dict[tuple[str, str], dict[str, list[bool]]] = {}
    labelled = set()
    for row in table.rows:
        name, system, annotator = ((row.text(key) or "").strip() for key in ("id", "system", "annotator"))
        if (name, system, annotator) in labelled:
            raise EvaluationError(
                f"{row.where}: {name!r} was labelled before.", "Name who labels in a column annotator."
            )
        labelled.add((name, system, annotator))
        for column in columns:
            holds = row.truth(column)
            if holds is not None:
                labels.setdefault((name, system), {}).setdefault(column, []).append(holds)
    if not labels:
        raise EvaluationError(f"{path.name} holds no labels.", _LABELS)
    shares: dict[tuple[str, str], dict[str, float]] = {}
    for script_key, by_criterion in labels.items():
        shares[script_key] = {name: sum(values) / len(values) for name, values in by_criterion.items()}
    return shares


def against_people(verdicts: Sequence[Json], labels: StepLabels) -> dict[str, Json]:
    """A judge against people, over ``all`` criteria and by each, on the scripts that people labelled: labels
    compared (``cells``), ``mse``, and ``consistency`` over the ``decided`` ones, of which more annotators say
    one thing than the other. An answer that could not be read is off by 1 and not equal."""
    pairs: dict[str, list[tuple[bool | None, float]]] = {name: [] for name in ("all", *CRITERIA)}
    for verdict in verdicts:
        labels_of_script = labels.get((verdict["id"], verdict["system"]), {})
        criteria = verdict["criteria"]
        for name in CRITERIA:
            if name in criteria and name in labels_of_script:
                pairs[name].append((criteria[name], labels_of_script[name]))
    pairs["all"] = [pair for label_pairs in pairs.values() for pair in label_pairs]
    figures_by_criterion = {}
    for name, label_pairs in pairs.items():
        errors = [1.0 if holds is None else (holds - share) ** 2 for holds, share in label_pairs]
        # At one half the annotators are undecided: there is nothing to agree with.
        equal = [holds is not None and holds == (share > 0.5) for holds, share in label_pairs if share != 0.5]
        figures = {"cells": len(errors), "mse": _mean(errors), "decided": len(equal)}
        figures_by_criterion[name] = {**figures, "consistency": _mean(equal)}
    return figures_by_criterion


def _labels_of_scripts(
    labels: StepLabels, scripts: Sequence[StepScript]
) -> tuple[StepLabels, tuple[str, ...]]:
    """Labels by id and system, and the ids of which there is no script."""
    joined, unknown = {}, []
    for (name, system), criteria in labels.items():
        systems = [script.system for script in scripts if script.id == name and system in ("", script.system)]
        if len(systems) > 1:
            message = f"People label the task {name!r}, of which there are {len(systems)} scripts."
            raise EvaluationError(message, f"Say which in a column system: {', '.join(systems)}.")
        if systems and (name, systems[0]) in joined:
            raise EvaluationError(f"People label the task {name!r} with its system and without.", _LABELS)
        if systems:
            joined[name, systems[0]] = criteria
        else:
            unknown.append(f"{name} ({system})" if system else name)
    if not joined:
        message = f"None of the {plural(len(unknown), 'labelled script')} is here: {first_of(unknown)}."
        raise EvaluationError(message, "Give the ids of the scripts, as --json shows them.")
    return joined, tuple(unknown)


def _scores(verdicts: Mapping[str, Sequence[Json]]) -> Iterator[Json]:
    """Of each system by each mechanism: the share of its scripts of which each criterion holds, and the mean
    score."""
    for system in dict.fromkeys(verdict["system"] for verdict in verdicts["agents"]):
        for name, all_verdicts in verdicts.items():
            of_system = [verdict for verdict in all_verdicts if verdict["system"] == system]
            criteria = [verdict["criteria"] for verdict in of_system]
            shares: dict[str, float | None] = {}
            for criterion in CRITERIA:
                shares[criterion] = _mean(
                    [holds[criterion] is True for holds in criteria if criterion in holds]
                )
            yield {
                "system": system,
                "by": name,
                "scripts": len(of_system),
                "without_steps": sum(not verdict["steps"] for verdict in of_system),
                "unread": sum(bool(verdict["unread"]) for verdict in of_system),
                "criteria": shares,
                "score": _mean([share_held(holds) for holds in criteria]),
            }


def steps_text(record: Json) -> str:
    """What `evaluate_steps` found, for people."""
    verdicts, judge = record["verdicts"], record["judge"]
    ids = [verdict["id"] for verdict in verdicts["agents"]]
    rows = []
    for score in record["scores"]:
        shares = map(_figure_cell, (*score["criteria"].values(), score["score"]))
        rows.append((score["system"], score["by"], str(score["scripts"]), *shares))
    lines = [
        f"{plural(len(ids), 'script')} of {plural(len(set(ids)), 'task')}, judged by {judge}.",
        "",
        *table_lines(("System", "By", "Scripts", *_TITLES, "Score"), rows, range(2, 11)),
        "Shares of scripts of which the criterion holds. Score: the mean share of criteria that hold.",
    ]
    for name, of_mechanism in verdicts.items():
        unread = [f"{verdict['id']} ({verdict['system']})" for verdict in of_mechanism if verdict["unread"]]
        if unread:
            lines.append(f"Not all answered, counts as 0 ({name}): {len(unread)}: {first_of(unread)}.")
    if record["people"]:
        lines += _people_text(record["people"], record["not_here"])
    if record["faults"]:
        lines += _faults_text(record["faults"])
        identity = record["identity"]
        lines.append(f"Faults planted by {identity['planted']}, seed {identity['seed']}.")
    return "\n".join(lines)


def _people_text(people: Mapping[str, Mapping[str, Json]], unknown: Sequence[str]) -> Iterator[str]:
    rows = [
        (title, name, *(_figure_cell(figure[key]) for figure in figures.values()))
        for title, key in (("Mean squared error", "mse"), ("Consistency", "consistency"))
        for name, figures in people.items()
    ]
    yield ""
    yield from table_lines(("Against people", "By", "All", *_TITLES), rows, range(2, 10))
    yield f"Labels compared: {people['agents']['all']['cells']:,}."
    if unknown:
        yield f"Labelled, and not here: {len(unknown)} ({first_of(unknown)})."
    yield "From the paper, Table 2, Qwen-110B-Chat: mean squared error 0.087 by agents, 0.257 by one judge."


def _faults_text(faults: Mapping[str, Sequence[Json]]) -> Iterator[str]:
    rows = []
    for name, figures in faults.items():
        for figure in figures:
            fault, n = figure["fault"], figure["planted"]
            shares = [_figure_cell(figure[key] / n if n else None) for key in ("seen", "alarms", "noticed")]
            sees = (
                (_figure_cell(figure["p"]), "yes" if figure["sees"] else "not shown") if n else (NONE, NONE)
            )
            rows.append((fault, name, str(n), *shares, *sees, f"{PAPER_SEEN[fault]:.2f}"))
    heads = (
        "Planted fault", "By", "Scripts", "Seen", "Without it", "Any fell", "p", "Sees it", "Paper seen",
    )  # fmt: skip
    yield ""
    yield from table_lines(heads, rows, (2, 3, 4, 5, 6, 8))
    yield "Seen: the fault's criterion does not hold. Without it: it did not hold before either."
    yield "Any fell: some criterion held before, and does not now. Sees it: the fault's own criterion fell"
    yield f"more often than it rose, p < {LEVEL} (McNemar's exact test). Paper: Table 4, Qwen-110B-Chat."
    for figure in faults["agents"]:
        for reason, number in figure["not_planted"].items():
            yield f"Not planted: {figure['fault']} in {plural(number, 'script')}: {reason}."


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 9) if values else None


def _figure_cell(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"


def evaluate_steps(
    scripts: Sequence[StepScript],
    name: str,
    context: MetricContext,
    *,
    baseline: bool = False,
    planted: str = "",
    labels: StepLabels | None = None,
) -> Json:
    """What the judge of this name says of scripts: by ABSEval's agents, and by its ``baseline``; with faults
    ``planted`` by ``rules`` or the engine of that name; against people's ``labels``. One of the judges in
    ``steps.json``; ``verdicts``, ``people`` and ``faults`` are by mechanism, ``agents`` and ``single``.

    Raises ShotadError for an engine that cannot judge and for labels that fit no script, before anything is
    asked, and what an engine raises to stop the run.
    """
    prompts = checked_prompts("steps")
    judge, seed = Judge(name, context), context.config.seed
    writer = Judge(planted, context) if planted not in ("", RULES) else None
    used_labels, not_here = _labels_of_scripts(labels, scripts) if labels is not None else ({}, ())
    gold = synthesize(scripts, judge)
    mechanisms = {"agents": AGENTS, "single": BASELINE} if baseline else {"agents": AGENTS}
    verdicts: dict[str, list[Json]] = {}
    for key, mechanism in mechanisms.items():
        verdicts[key] = judge_scripts(scripts, mechanism, judge, gold)
    faults = {}
    if planted:
        plants = plant_faults(scripts, writer, seed)
        faulty = [script for _, _, script in plants if isinstance(script, StepScript)]
        for key, mechanism in mechanisms.items():
            after = judge_scripts(faulty, mechanism, judge, gold)
            faults[key] = list(fault_figures(plants, verdicts[key], after))
    identity: Json = {"version": 1, "prompts": prompts, "judge": judge.identity}
    identity |= {"planted": planted or None, "writer": writer.identity if writer else None, "seed": seed}
    return {
        "judge": name,
        "identity": identity,
        "scores": list(_scores(verdicts)),
        "people": {key: against_people(of_mechanism, used_labels) for key, of_mechanism in verdicts.items()}
        if used_labels
        else {},
        "not_here": list(not_here),
        "faults": faults,
        "good_answers": {task: answer.value or answer.failure for task, answer in gold.items()},
        "verdicts": verdicts,
    }
