"""What came of judging steps: scores by system, agreement with people, and the faults that a judge sees.

Against people there are two figures (ABSEval, tables 2 and 3, figures 4 and 7), each over all criteria of all
scripts that people labelled: the mean squared error, and the consistency, the share of equal answers. With
one annotator, whose labels are 0 and 1 as the judge's, the first is one minus the second. A criterion that
the judge did not answer is off by 1 and not equal.

ABSEval's perturbation test (section 4.2, tables 4 and 10), with one thing more: a judge who finds fault with
everything sees all. So each script is judged before and after, false alarms stand beside the hits, and a
judge *sees* a fault where the criterion falls by planting it more often than it rises, by McNemar's exact
test at 0.05 (one-sided). Faults are planted by rules, or by an engine where the paper asks one for it.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from shotad.core import EvaluationError, aligned, key_of, plural
from shotad.description import render
from shotad.evaluation.datasets.tables import counted, read_records
from shotad.evaluation.metric import Json
from shotad.evaluation.metrics.asking import STRINGS, Part, alone, checked_prompts, numbered, question, worked
from shotad.evaluation.metrics.judge import Judge, Question, Unreadable
from shotad.evaluation.report.table import NONE
from shotad.evaluation.steps import (
    AGENTS,
    BASELINE,
    CRITERIA,
    STEP_TOKENS,
    GoldAnswers,
    StepScript,
    Verdict,
    judge_scripts,
    synthesize,
    task_words,
)
from shotad.evaluation.store import MetricContext

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


def plant_faults(
    scripts: Sequence[StepScript], writer: Judge | None, context: MetricContext
) -> list[Planted]:
    """Each kind of fault in each script that has steps: by rules, or by the engine ``writer``.

    What a rule draws depends on the seed, the script and the fault alone.
    """
    found: list[Planted] = []
    for fault in FAULTS:
        places = [place for place, script in enumerate(scripts) if script.steps]
        if writer is None or fault not in BY_ENGINE:
            seed = context.config.seed
            found += [(place, fault, plant(scripts[place], fault, scripts, seed)) for place in places]
            continue
        if fault == "constraint":
            found += [(p, fault, _NO_CONDITION) for p in places if not scripts[p].constraint]
            places = [place for place in places if scripts[place].constraint]
        asked = [alone(writer, plant_question(scripts[place], fault)) for place in places]
        answers = worked(f"Planting faults: {fault}", "scripts", asked, context)
        for place, answer in zip(places, answers, strict=True):
            made: StepScript | str = f"the engine did not plant it: {answer.failure}"
            if answer.value:
                made = replace(scripts[place], steps=answer.value)
            found.append((place, fault, made))
    return found


def plant(script: StepScript, fault: str, scripts: Sequence[StepScript], seed: int) -> StepScript | str:
    """The script with this fault by rule, or why it cannot have it. A redundant step is one of ``scripts`` of
    another task."""
    draw = random.Random(key_of(seed, script.id, script.system, fault))
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
        strange = {step: None for other in scripts if other.id != script.id for step in other.steps}
        choice = [step for step in strange if step not in steps]
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
        steps[place] = render("steps/ad-break", line=steps[place])
    else:
        return "rules know how to break the condition of AD alone; name an engine"
    return replace(script, steps=tuple(steps))


def plant_question(script: StepScript, fault: str) -> Question[tuple[str, ...]]:
    """The steps of the script with this fault.

    Where one or two are missing, all that are left are the script's own, in order; where one is redundant,
    all of the script's own are there, in order, and one more; else at least one is another.
    """
    own = script.steps

    def is_part(few: Sequence[str], many: Sequence[str]) -> bool:
        """Whether the first stand in the second, in the same order."""
        left = iter(many)
        return all(one in left for one in few)

    def read(value: Any, key: str) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(step, str) and step.strip() for step in value):
            raise Unreadable("steps must be a list of sentences.")
        steps = tuple(" ".join(step.split()) for step in value)
        if not steps or steps == own:
            raise Unreadable("The list is empty, or the same as before: it has no fault.")
        if fault == "missing" and not (0 < len(own) - len(steps) <= 2 and is_part(steps, own)):
            raise Unreadable("The list must have the same steps, word for word, without one or two.")
        if fault == "redundant" and not (len(steps) == len(own) + 1 and is_part(own, steps)):
            raise Unreadable("The list must have all the same steps, word for word, and one more.")
        return steps

    texts = {"task": task_words(script), "steps": numbered(own), "fault": render(f"steps/plant-{fault}")}
    parts, room = {"steps": Part('["…", "…", …]', STRINGS, read)}, STEP_TOKENS * (len(own) + 2)
    return question("steps/plant-system", "steps/plant", texts, parts, tokens=room)


@dataclass(frozen=True, slots=True)
class FaultFigures:
    """What a judge says of the scripts with one kind of fault, and of the same scripts without it.

    ``seen``: the fault's criterion does not hold; ``alarms``: it did not hold without the fault either.
    ``fell``, ``rose``: it held before and does not with the fault, and the reverse. ``unread``: the judge did
    not answer, which is none of these. ``noticed``: some criterion fell, be it another. ``flagged`` counts by
    criterion how often it does not hold with the fault; ``not_planted`` the scripts that could not have it,
    by the reason.
    """

    fault: str
    planted: int
    seen: int
    alarms: int
    fell: int
    rose: int
    unread: int
    noticed: int
    flagged: Mapping[str, int]
    not_planted: Mapping[str, int]

    @property
    def p(self) -> float:
        """How likely a criterion falls so much more often than it rises, by chance.

        >>> FaultFigures("goal", 6, 5, 0, 5, 0, 0, 5, {}, {}).p == 1 / 32
        True
        """
        n = self.fell + self.rose
        return float(sum(math.comb(n, k) for k in range(self.fell, n + 1)) / 2**n)

    @property
    def sees(self) -> bool:
        """Whether the judge sees this kind of fault at all, as far as these scripts show."""
        return self.p < LEVEL

    def record(self) -> Json:
        """As JSON; ``accuracy`` is the paper's figure."""
        accuracy = round(self.seen / self.planted, 9) if self.planted else None
        return {**asdict(self), "accuracy": accuracy, "p": round(self.p, 9), "sees": self.sees}


def fault_figures(
    planted: Sequence[Planted], before: Sequence[Verdict], after: Sequence[Verdict]
) -> list[FaultFigures]:
    """Figures of each kind of fault: ``before`` are the verdicts on all scripts, ``after`` those on what was
    planted, both in order."""
    coming = iter(after)
    judged = [(fault, before[at], next(coming)) for at, fault, one in planted if isinstance(one, StepScript)]
    found = []
    for fault, criterion in FAULTS.items():
        left_out = Counter(why for _, name, why in planted if name == fault and isinstance(why, str))
        pairs = [(one.holds, other.holds) for name, one, other in judged if name == fault]
        own = [(one[criterion], other[criterion]) for one, other in pairs]
        found.append(
            FaultFigures(
                fault,
                planted=len(own),
                seen=sum(with_it is False for _, with_it in own),
                alarms=sum(before_it is False for before_it, _ in own),
                fell=own.count((True, False)),
                rose=own.count((False, True)),
                unread=sum(with_it is None for _, with_it in own),
                noticed=sum(any(one[c] and other[c] is False for c in one) for one, other in pairs),
                flagged={c: sum(other.get(c) is False for _, other in pairs) for c in CRITERIA},
                not_planted=dict(left_out),
            )
        )
    return found


RULES = "rules"
"""Who plants faults where no engine does."""
_TITLES = tuple(name.replace("-", " ").capitalize() for name in CRITERIA)
_HINT = f"Columns: id, system, and of {', '.join(CRITERIA)} those that people judged, 1 where it holds."

Labels = Mapping[tuple[str, str], Mapping[str, float]]
"""What people say of each script, by id and system (empty where no system is named): of each criterion the
share of annotators who say that it holds."""


def read_labels(path: Path) -> Labels:
    """People's labels from CSV or JSON Lines: ``id``, perhaps ``system`` and ``annotator``, and a column for
    each criterion, 1 where it holds and 0 where not; an empty cell is no label. Annotators are averaged.

    Raises DatasetError for a file or a cell that cannot be read, EvaluationError for what cannot be meant.
    """
    table = read_records(path)
    columns = [name for name in CRITERIA if name in table.columns]
    if not columns or "id" not in table.columns:
        raise EvaluationError(f"{path.name} has the columns {', '.join(table.columns) or 'none'}.", _HINT)
    told: dict[tuple[str, str], dict[str, list[bool]]] = {}
    seen = set()
    for row in table.rows:
        name, system, who = ((table.text(row, key) or "").strip() for key in ("id", "system", "annotator"))
        if (name, system, who) in seen:
            raise EvaluationError(
                f"{table.where(row)}: {name!r} was labelled before.", "Name who labels in a column annotator."
            )
        seen.add((name, system, who))
        for column in columns:
            holds = table.truth(row, column)
            if holds is not None:
                told.setdefault((name, system), {}).setdefault(column, []).append(holds)
    if not told:
        raise EvaluationError(f"{path.name} holds no labels.", _HINT)
    return {key: {c: sum(v) / len(v) for c, v in labels.items()} for key, labels in told.items()}


@dataclass(frozen=True, slots=True)
class PeopleFigures:
    """A judge against people: labels compared (``cells``), ``mse``, and ``consistency`` over the ``decided``
    ones, of which more annotators say one thing than the other. None where there is nothing to compare."""

    cells: int
    mse: float | None
    decided: int
    consistency: float | None

    @classmethod
    def of(cls, pairs: Sequence[tuple[bool | None, float]]) -> PeopleFigures:
        """Of the judge's answers, and the shares of annotators who say that the criterion holds.

        >>> PeopleFigures.of([(True, 1.0), (False, 1.0), (None, 0.0), (True, 0.5)])
        PeopleFigures(cells=4, mse=0.5625, decided=3, consistency=0.333333333)
        """
        errors = [1.0 if own is None else (own - share) ** 2 for own, share in pairs]
        equal = [own is not None and own == (share > 0.5) for own, share in pairs if share != 0.5]
        return cls(len(errors), _mean(errors), len(equal), _mean(equal))


def against_people(verdicts: Sequence[Verdict], labels: Labels) -> dict[str, PeopleFigures]:
    """The figures of ``all`` criteria and of each, on the scripts that people labelled."""
    pairs: dict[str, list[tuple[bool | None, float]]] = {name: [] for name in CRITERIA}
    for verdict in verdicts:
        told = labels.get((verdict.script.id, verdict.script.system), {})
        for name in verdict.holds.keys() & told.keys():
            pairs[name].append((verdict.holds[name], told[name]))
    every = [pair for those in pairs.values() for pair in those]
    return {name: PeopleFigures.of(those) for name, those in {"all": every, **pairs}.items()}


def _joined(labels: Labels, scripts: Sequence[StepScript]) -> tuple[Labels, tuple[str, ...]]:
    """Labels by id and system, and the ids of which there is no script."""
    found, unknown = {}, []
    for (name, system), told in labels.items():
        meant = [one.system for one in scripts if one.id == name and system in ("", one.system)]
        if len(meant) > 1:
            what = f"People label the task {name!r}, of which there are {len(meant)} scripts."
            raise EvaluationError(what, f"Say which in a column system: {', '.join(meant)}.")
        if meant and (name, meant[0]) in found:
            raise EvaluationError(f"People label the task {name!r} with its system and without.", _HINT)
        if meant:
            found[name, meant[0]] = told
        else:
            unknown.append(f"{name} ({system})" if system else name)
    if not found:
        what = f"None of the {plural(len(unknown), 'labelled script')} is here: {counted(unknown)}."
        raise EvaluationError(what, "Give the ids of the scripts, as --json shows them.")
    return found, tuple(unknown)


@dataclass(frozen=True, slots=True)
class StepsReport:
    """What one judge says. ``verdicts``, ``people`` and ``faults`` are by mechanism: ``agents``, and
    ``single`` where the baseline was asked too. ``unknown`` scripts have labels and are not here."""

    judge: str
    identity: Json
    gold: GoldAnswers
    verdicts: Mapping[str, Sequence[Verdict]]
    people: Mapping[str, Mapping[str, PeopleFigures]]
    unknown: tuple[str, ...]
    faults: Mapping[str, Sequence[FaultFigures]]

    @property
    def unread(self) -> int:
        """How many verdicts are not whole, because an answer could not be read."""
        verdicts = sum(bool(verdict.unread) for those in self.verdicts.values() for verdict in those)
        return verdicts + sum(one.unread for figures in self.faults.values() for one in figures)

    @property
    def text(self) -> str:
        """All of it for people."""
        ids = [verdict.script.id for verdict in self.verdicts["agents"]]
        tasks = plural(len(set(ids)), "task")
        lines = [f"{plural(len(ids), 'script')} of {tasks}, judged by {self.judge}.", "", *self._scores()]
        for name, those in self.verdicts.items():
            wrong = [f"{verdict.script.id} ({verdict.script.system})" for verdict in those if verdict.unread]
            if wrong:
                lines.append(f"Not all answered, counts as 0 ({name}): {len(wrong)}: {counted(wrong)}.")
        people = self._people() if self.people else ()
        return "\n".join([*lines, *people, *(self._faults() if self.faults else ())])

    def scores(self) -> Iterator[Json]:
        """Of each system by each mechanism: the share of its scripts of which each criterion holds, and the
        mean score."""
        for system in dict.fromkeys(verdict.script.system for verdict in self.verdicts["agents"]):
            for name, every in self.verdicts.items():
                those = [verdict for verdict in every if verdict.script.system == system]
                held = {c: [v.holds[c] is True for v in those if c in v.holds] for c in CRITERIA}
                yield {
                    "system": system,
                    "by": name,
                    "scripts": len(those),
                    "without_steps": sum(not verdict.script.steps for verdict in those),
                    "unread": sum(bool(verdict.unread) for verdict in those),
                    "criteria": {criterion: _mean(values) for criterion, values in held.items()},
                    "score": _mean([verdict.score for verdict in those]),
                }

    def _scores(self) -> list[str]:
        rows = []
        for one in self.scores():
            shares = map(_cell, (*one["criteria"].values(), one["score"]))
            rows.append((one["system"], one["by"], str(one["scripts"]), *shares))
        said = "Shares of scripts of which the criterion holds. Score: the mean share of criteria that hold."
        return [*aligned(("System", "By", "Scripts", *_TITLES, "Score"), rows, range(2, 11)), said]

    def _people(self) -> list[str]:
        rows = [
            (title, name, *(_cell(getattr(one, key)) for one in figures.values()))
            for title, key in (("Mean squared error", "mse"), ("Consistency", "consistency"))
            for name, figures in self.people.items()
        ]
        lines = ["", *aligned(("Against people", "By", "All", *_TITLES), rows, range(2, 10))]
        lines.append(f"Labels compared: {self.people['agents']['all'].cells:,}.")
        if self.unknown:
            lines.append(f"Labelled, and not here: {len(self.unknown)} ({counted(self.unknown)}).")
        paper = "Table 2, Qwen-110B-Chat: mean squared error 0.087 by agents, 0.257 by one judge."
        return [*lines, f"From the paper, {paper}"]

    def _faults(self) -> list[str]:
        rows, left = [], []
        for name, figures in self.faults.items():
            for one in figures:
                n = one.planted
                shares = [_cell(k / n if n else None) for k in (one.seen, one.alarms, one.noticed)]
                sees = (_cell(one.p), "yes" if one.sees else "not shown") if n else (NONE, NONE)
                rows.append((one.fault, name, str(n), *shares, *sees, f"{PAPER_SEEN[one.fault]:.2f}"))
        for one in self.faults["agents"]:
            for reason, number in one.not_planted.items():
                left.append(f"Not planted: {one.fault} in {plural(number, 'script')}: {reason}.")
        heads = (
            "Planted fault", "By", "Scripts", "Seen", "Without it", "Any fell", "p", "Sees it", "Paper seen",
        )  # fmt: skip
        return [
            "",
            *aligned(heads, rows, (2, 3, 4, 5, 6, 8)),
            "Seen: the fault's criterion does not hold. Without it: it did not hold before either.",
            "Any fell: some criterion held before, and does not now. Sees it: the fault's own criterion fell",
            f"more often than it rose, p < {LEVEL} (McNemar's exact test). Paper: Table 4, Qwen-110B-Chat.",
            *left,
            f"Faults planted by {self.identity['planted']}, seed {self.identity['seed']}.",
        ]

    def record(self) -> Json:
        """As JSON, one of the judges in ``steps.json``."""
        people = {name: {key: asdict(one) for key, one in told.items()} for name, told in self.people.items()}
        return {
            "judge": self.judge,
            "identity": self.identity,
            "scores": list(self.scores()),
            "people": people,
            "not_here": list(self.unknown),
            "faults": {name: [one.record() for one in found] for name, found in self.faults.items()},
            "good_answers": {name: one.value or one.failure for name, one in self.gold.items()},
            "verdicts": {name: [one.record() for one in found] for name, found in self.verdicts.items()},
        }


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 9) if values else None


def _cell(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"


def evaluate_steps(
    scripts: Sequence[StepScript],
    name: str,
    context: MetricContext,
    *,
    baseline: bool = False,
    planted: str = "",
    labels: Labels | None = None,
) -> StepsReport:
    """What the judge of this name says of scripts: by ABSEval's agents, and by its ``baseline``; with faults
    ``planted`` by ``rules`` or the engine of that name; against people's ``labels``. Answers are kept in the
    context's store.

    Raises ShotadError for an engine that cannot judge and for labels that fit no script, before anything is
    asked, and what an engine raises to stop the run.
    """
    prompts = checked_prompts("steps")
    judge, seed = Judge(name, context), context.config.seed
    writer = Judge(planted, context) if planted not in ("", RULES) else None
    known, unknown = _joined(labels, scripts) if labels is not None else ({}, ())
    gold = synthesize(scripts, judge, context)
    mechanisms = {"agents": AGENTS, "single": BASELINE} if baseline else {"agents": AGENTS}
    verdicts = {key: judge_scripts(scripts, who, judge, gold, context) for key, who in mechanisms.items()}
    plants = plant_faults(scripts, writer, context) if planted else []
    faulty = [script for _, _, script in plants if isinstance(script, StepScript)]
    faults = {}
    for key, who in mechanisms.items() if planted else ():
        after = judge_scripts(faulty, who, judge, gold, context)
        faults[key] = fault_figures(plants, verdicts[key], after)
    people = {key: against_people(those, known) for key, those in verdicts.items()} if known else {}
    identity: Json = {"version": 1, "prompts": prompts, "judge": judge.identity}
    identity |= {"planted": planted or None, "writer": writer.identity if writer else None, "seed": seed}
    return StepsReport(name, identity, gold, verdicts, people, unknown, faults)
