"""Engines that judge steps by rule: one that knows the good answers, and others that do not look."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from shotad.core import Abilities, Identity, Request
from tests.evaluation.judges.judging import ScriptedEngine, keys_of, quoted_after

HERE = "tests.evaluation.steps.stepjudges"
GOOD = {
    "Make tea": ("Fill the kettle.", "Boil the water.", "Pour it on the leaves.", "Wait.", "Serve it."),
    "Change a bulb": (
        "Switch off the lamp.", "Turn the old bulb out.", "Turn the new one in.", "Switch it on.",
    ),
}  # fmt: skip
"""The one good way to each goal that these judges know. For any other the first list they are shown is good."""


def steps_after(head: str, text: str) -> tuple[str, ...]:
    """The numbered list that stands below a line."""
    _, _, below = text.partition(f"{head}\n")
    lines = below.partition("\n\n")[0].splitlines()
    return tuple(json.loads(line.partition(". ")[2]) for line in lines)


def judged_steps(request: Request) -> tuple[str, ...]:
    return steps_after("The steps to be judged:", request.messages[1].text)


class Careful(ScriptedEngine):
    """Knows what is good, and says of each script what is true. It plants faults as it is told to."""

    identity = Identity("careful", "c1", "1")
    abilities = Abilities(batch=4, converses=True)

    def answer(self, request: Request) -> str:
        text = request.messages[1].text
        if keys_of(request) == ["steps"]:
            return json.dumps({"steps": self.written(text)})
        said = self.said(quoted_after("The task", text), judged_steps(request))
        return json.dumps({key: said[key] for key in keys_of(request)})

    def written(self, text: str) -> Sequence[str]:
        if "The fault:" not in text:
            return GOOD.get(quoted_after("The task", text), steps_after("List 1:", text))
        steps = steps_after("The steps:", text)
        if "take out" in text:
            return steps[1:]
        if "add one step" in text:
            return (*steps, "Paint the boat.")
        return (*steps[:-1], "Add milk." if "the condition of the task is broken" in text else "Go home.")

    def said(self, goal: str, steps: Sequence[str]) -> dict[str, Any]:
        good = GOOD.get(goal, tuple(sorted(set(steps))))
        places = [good.index(step) for step in dict.fromkeys(steps) if step in good]
        truth = {
            "missing": bool(set(good) - set(steps)),
            "redundant": bool(set(steps) - set(good)),
            "duplicate": len(set(steps)) < len(steps),
            "executable": not any("moon" in step for step in steps),
            "constraint": not any("milk" in step or "camera" in step for step in steps),
            "goal": good[-1] in steps,
            "order": places == sorted(places),
        }
        return {"reason": "I looked.", **{key: "yes" if value else "no" for key, value in truth.items()}}


class Harsh(Careful):
    """Finds every fault in everything."""

    def said(self, goal: str, steps: Sequence[str]) -> dict[str, Any]:
        bad = dict.fromkeys(("missing", "redundant", "duplicate"), "yes")
        return {"reason": "Bad.", **bad, **dict.fromkeys(("executable", "constraint", "goal", "order"), "no")}


class Mute(Careful):
    """Says nothing of the order, the goal and the condition that can be read."""

    def answer(self, request: Request) -> str:
        return "Hm." if "order" in keys_of(request) else super().answer(request)


class NoAnswer(Careful):
    """Writes no good answer."""

    def written(self, text: str) -> Sequence[str]:
        return ()


class Lazy(Careful):
    """Plants nothing in tea: gives back what it is given; takes out all but one step of the rest."""

    def written(self, text: str) -> Sequence[str]:
        steps = steps_after("The steps:", text)
        return (steps if "Make tea" in text else steps[:1]) or super().written(text)
