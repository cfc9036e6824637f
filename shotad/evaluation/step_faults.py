"""Which faults does a judge see at all? Faults are planted into scripts, and the judge is asked again.

ABSEval's perturbation test (section 4.2, tables 4 and 10), with one thing more: a judge who finds fault with
everything sees all. So each script is judged before and after, false alarms stand beside the hits, and a
judge *sees* a fault where the criterion falls by planting it more often than it rises, by McNemar's exact
test at 0.05 (one-sided). Faults are planted by rules, or by an engine where the paper asks one for it.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from shotad.core import key_of
from shotad.description import render
from shotad.evaluation.metric import Json
from shotad.evaluation.metrics.asking import STRINGS, Part, alone, numbered, question, worked
from shotad.evaluation.metrics.judge import Judge, Question, Unreadable
from shotad.evaluation.steps import CRITERIA, STEP_TOKENS, StepScript, Verdict, task_words
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
            found += [
                (place, fault, plant(scripts[place], fault, scripts, context.config.seed)) for place in places
            ]
            continue
        if fault == "constraint":
            found += [(p, fault, _NO_CONDITION) for p in places if not scripts[p].constraint]
            places = [place for place in places if scripts[place].constraint]
        asked = [alone(writer, plant_question(scripts[place], fault)) for place in places]
        answers = worked(f"Planting faults: {fault}", "scripts", asked, context)
        for place, answer in zip(places, answers, strict=True):
            failed = f"the engine did not plant it: {answer.failure}"
            steps = answer.value
            found.append((place, fault, replace(scripts[place], steps=steps) if steps else failed))
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

    def read(value: Any, key: str) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(step, str) and step.strip() for step in value):
            raise Unreadable("steps must be a list of sentences.")
        steps = tuple(" ".join(step.split()) for step in value)
        if not steps or steps == own:
            raise Unreadable("The list is empty, or the same as before: it has no fault.")
        if fault == "missing" and not (0 < len(own) - len(steps) <= 2 and _is_part(steps, own)):
            raise Unreadable("The list must have the same steps, word for word, without one or two.")
        if fault == "redundant" and not (len(steps) == len(own) + 1 and _is_part(own, steps)):
            raise Unreadable("The list must have all the same steps, word for word, and one more.")
        return steps

    texts = {"task": task_words(script), "steps": numbered(own), "fault": render(f"steps/plant-{fault}")}
    parts, room = {"steps": Part('["…", "…", …]', STRINGS, read)}, STEP_TOKENS * (len(own) + 2)
    return question("steps/plant-system", "steps/plant", texts, parts, tokens=room)


def _is_part(few: Sequence[str], many: Sequence[str]) -> bool:
    """Whether the first stand in the second, in the same order."""
    left = iter(many)
    return all(one in left for one in few)


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
    pairs: dict[str, list[tuple[Verdict, Verdict]]] = {fault: [] for fault in FAULTS}
    left_out = {fault: Counter[str]() for fault in FAULTS}
    for place, fault, script in planted:
        if isinstance(script, str):
            left_out[fault][script] += 1
        else:
            pairs[fault].append((before[place], next(coming)))
    return [_figures(fault, those, left_out[fault]) for fault, those in pairs.items()]


def _figures(
    fault: str, pairs: Sequence[tuple[Verdict, Verdict]], left_out: Mapping[str, int]
) -> FaultFigures:
    own = [(before.holds.get(FAULTS[fault]), after.holds.get(FAULTS[fault])) for before, after in pairs]
    return FaultFigures(
        fault,
        planted=len(own),
        seen=sum(after is False for _, after in own),
        alarms=sum(before is False for before, _ in own),
        fell=own.count((True, False)),
        rose=own.count((False, True)),
        unread=sum(after is None for _, after in own),
        noticed=sum(
            any(holds and after.holds[name] is False for name, holds in before.holds.items())
            for before, after in pairs
        ),
        flagged={name: sum(after.holds.get(name) is False for _, after in pairs) for name in CRITERIA},
        not_planted=dict(left_out),
    )
