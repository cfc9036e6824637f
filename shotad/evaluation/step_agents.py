"""ABSEval: agents that judge lists of steps by seven criteria (Liang et al., EMNLP 2024).

1. *Answer synthesis* learns from all scripts of a task and writes a good one. 2. The *critic* compares a
script with that one: are steps missing, redundant, said twice? 3. The *executor* follows the steps: is the
condition kept, the goal reached, the order right? 4. *Commonsense*: does every step agree with it? The
baseline is one judge who is asked for all seven at once, without the good answer.

All agents are one engine. Each criterion holds or does not; a script's score is the share that holds. The
words of the questions are our own, in ``prompts/steps``, and the baseline is asked for each criterion in the
same words as the agents, so that the two differ in how the work is divided and in nothing else.

A script without steps fails every criterion, unasked. What the judge fails to answer does not hold either,
and is told apart (`Verdict.unread`). A task without a condition is not judged by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from shotad.core import Progress, reported
from shotad.description import render
from shotad.evaluation.metric import Json
from shotad.evaluation.metrics.judge import Answer, Judge, Question, sentence
from shotad.evaluation.metrics.judged import STRING, YES_OR_NO, Part, listing, numbered, question, quoted
from shotad.evaluation.steps import StepScript

T = TypeVar("T")


CRITERIA = ("no-missing", "no-redundant", "no-duplicate", "executable", "constraint", "goal", "order")
"""The seven, in the order of the paper's Table 5. A judge is asked for what stands after ``no-``; a script
passes where the answer is no: nothing should be missing, and the goal should be reached."""

Mechanism = Mapping[str, tuple[str, ...]]
"""Which agent is asked for which criteria."""
CRITIC = "critic"
AGENTS: Mechanism = {
    CRITIC: ("no-missing", "no-redundant", "no-duplicate"),
    "executor": ("constraint", "goal", "order"),
    "commonsense": ("executable",),
}
BASELINE: Mechanism = {"single": CRITERIA}

AGENT_TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "judge/line": ("number", "line"),
    "steps/task": ("goal",),
    "steps/task-constraint": ("goal", "constraint"),
    "steps/synthesis": ("task", "scripts", "most", "template"),
    "steps/example": ("number", "steps"),
    "steps/standard": ("steps",),
    "steps/judge": ("task", "standard", "steps", "questions", "template"),
    **{f"steps/{agent}-system": () for agent in ("synthesis", *AGENTS, *BASELINE)},
    **{f"steps/ask-{name.removeprefix('no-')}": () for name in CRITERIA},
}
"""The templates of this module and their variables."""

EXAMPLES = 15
"""Scripts that answer synthesis learns from at most; the paper has as many systems."""
STEP_TOKENS = 48
"""Room for one step, a short sentence, in JSON."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge says of a script.

    ``holds`` has each criterion that applies: True, False, or None where the answer could not be read.
    ``reasons`` are the agents' own words, ``unread`` says why an answer could not be read, by agent.
    """

    script: StepScript
    holds: Mapping[str, bool | None]
    reasons: Mapping[str, str]
    unread: Mapping[str, str]

    @property
    def score(self) -> float:
        """The share of the criteria that hold, 0 to 1 (the paper's Figure 9)."""
        return sum(value is True for value in self.holds.values()) / len(self.holds)

    def record(self) -> Json:
        """As JSON."""
        return {
            "id": self.script.id,
            "system": self.script.system,
            "steps": len(self.script.steps),
            "score": round(self.score, 9),
            "criteria": dict(self.holds),
            "reasons": dict(self.reasons),
            "unread": dict(self.unread),
        }


GoldAnswers = Mapping[str, Answer[tuple[str, ...]]]
"""The good answer to each task by its id, or why there is none."""


def ask(judge: Judge, questions: Sequence[Question[T]], what: str, progress: Progress) -> list[Answer[T]]:
    """The answers, in order. Raises what an engine raises to stop the run (EngineError); what was answered
    until then is kept."""
    found = []
    with reported(progress, f"{what} ({judge.name})", len(questions), "questions") as task:
        for answer in judge.answers(questions):
            found.append(answer)
            task.advance(1)
    return found


def synthesize(scripts: Sequence[StepScript], judge: Judge, progress: Progress) -> GoldAnswers:
    """A good answer to each task, learned from all its scripts, those that are judged by it included."""
    tasks: dict[str, list[StepScript]] = {}
    for script in scripts:
        if script.steps:
            tasks.setdefault(script.id, []).append(script)
    questions = [synthesis_question(those) for those in tasks.values()]
    return dict(zip(tasks, ask(judge, questions, "Writing good answers", progress), strict=True))


def judge_scripts(
    scripts: Sequence[StepScript], mechanism: Mechanism, judge: Judge, gold: GoldAnswers, progress: Progress
) -> list[Verdict]:
    """The verdict on each script, in order. The critic among `AGENTS` compares with ``gold``."""
    asked = [_asked(script, mechanism, gold) for script in scripts]
    questions = [one for those in asked for one in those.values() if isinstance(one, Question)]
    answers = iter(ask(judge, questions, f"Judging steps by {', '.join(mechanism)}", progress))
    found = []
    for script, those in zip(scripts, asked, strict=True):
        said = {agent: next(answers) if isinstance(one, Question) else one for agent, one in those.items()}
        found.append(_verdict(script, mechanism, said))
    return found


Told = tuple[Mapping[str, bool], str]
"""Which criteria hold, and why."""


def _asked(
    script: StepScript, mechanism: Mechanism, gold: GoldAnswers
) -> dict[str, Question[Told] | Answer[Told]]:
    """What each agent is asked about a script; an answer where it cannot be asked."""
    found: dict[str, Question[Told] | Answer[Told]] = {}
    for agent, names in mechanism.items() if script.steps else ():
        standard = gold[script.id] if agent == CRITIC else Answer(())
        if standard.value is None:
            found[agent] = Answer(None, f"there is no good answer to compare with: {standard.failure}")
        else:
            found[agent] = agent_question(agent, _criteria(script, names), script, standard.value)
    return found


def _verdict(script: StepScript, mechanism: Mechanism, said: Mapping[str, Answer[Told]]) -> Verdict:
    if not script.steps:
        return Verdict(script, dict.fromkeys(_criteria(script, CRITERIA), False), {}, {})
    holds: dict[str, bool | None] = {}
    for agent, answer in said.items():
        names = _criteria(script, mechanism[agent])
        holds.update(dict.fromkeys(names) if answer.value is None else answer.value[0])
    return Verdict(
        script,
        {name: holds[name] for name in CRITERIA if name in holds},
        {agent: answer.value[1] for agent, answer in said.items() if answer.value is not None},
        {agent: answer.failure for agent, answer in said.items() if answer.value is None},
    )


def _criteria(script: StepScript, names: Sequence[str]) -> list[str]:
    """Those that a script is judged by."""
    return [name for name in names if name != "constraint" or script.constraint]


def task_words(script: StepScript) -> str:
    """The goal and, where there is one, the condition, as a judge reads them."""
    if not script.constraint:
        return render("steps/task", goal=quoted(script.goal))
    return render("steps/task-constraint", goal=quoted(script.goal), constraint=quoted(script.constraint))


def synthesis_question(scripts: Sequence[StepScript]) -> Question[tuple[str, ...]]:
    """What is the best list of steps for the task of these scripts? At most eight, or twice the longest."""
    shown = scripts[:EXAMPLES]
    most = max(8, 2 * max(len(script.steps) for script in shown))

    examples = (
        render("steps/example", number=str(number), steps=numbered(script.steps))
        for number, script in enumerate(shown, 1)
    )
    texts = {"task": task_words(shown[0]), "scripts": "\n\n".join(examples), "most": str(most)}
    names, parts = ("steps/synthesis-system", "steps/synthesis"), {"steps": listing(most)}
    return question(*names, texts, parts, tokens=STEP_TOKENS * (most + 1))


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
