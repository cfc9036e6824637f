"""What the two models are asked: Stage I turns frames into a description, Stage II that into a line.

The content follows Algorithms 1 and 2 of Shot-by-Shot; the words are ours and
stand in ``prompts/``. Nothing here calls a model.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from shotad.config import OverlaySettings, PromptSettings
from shotad.describe.examples import EXAMPLES, draw, load_examples
from shotad.describe.templates import check_templates, cut_to_words, prompt_hash, render
from shotad.errors import PromptError
from shotad.resources import prompt_text
from shotad.types import Description, FramePlan, Grammar, Message, Role

__all__ = [
    "EXAMPLES",
    "TEMPLATES",
    "VARIABLES",
    "Character",
    "Stage1Prompt",
    "Stage2Prompt",
    "answer_keys",
    "answer_schema",
    "check_prompts",
    "effective_scale",
    "factors_for",
    "prompt_hash",
    "render",
    "stage1_messages",
    "stage2_messages",
]

Factor = Literal["face", "object", "environment"]
Form = Literal["single", "several"]

STEPS = ("characters", "actions", "interactions")
FACTORS: tuple[Factor, ...] = ("face", "object", "environment")
COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
MIDDLING_SCALE = 2.0
"""Effective scale where no shot's scale is known."""

VARIABLES: Mapping[str, tuple[str, ...]] = {
    "stage1/base": ("medium", "labels", "note", "shots", "count", "steps", "closing", "template"),
    "stage1/note": ("medium", "note"),
    "stage1/labels-number": (),
    "stage1/labels-box": (),
    "stage1/labels-none": (),
    "stage1/characters": ("characters",),
    "stage1/characters-unmarked": (),
    "stage1/character-list": ("names",),
    "stage1/actions": (),
    "stage1/interactions": (),
    "stage1/face": (),
    "stage1/object": (),
    "stage1/environment": (),
    "stage1/circles": (),
    "stage1/threads": ("threads",),
    "stage1/thread": ("shots",),
    "stage1/answer": ("steps",),
    "stage1/answer-step": ("number", "heading"),
    "stage1/answer-threads": (),
    "stage2/system": ("medium",),
    "stage2/system-several": ("medium",),
    "stage2/user": (
        "medium", "goal", "stress", "note", "story", "description", "verbs", "view", "budget", "each",
        "template", "examples",
    ),
    "stage2/note": ("medium", "note"),
    "stage2/goal-single": (),
    "stage2/goal-several": ("count",),
    "stage2/view-single": (),
    "stage2/view-several": ("count",),
    "stage2/stress": (),
    "stage2/each": (),
    "stage2/examples-single": ("examples",),
    "stage2/examples-several": ("examples",),
}  # fmt: skip
"""The templates of both stages and the variables that each has."""

TEMPLATES = VARIABLES


@dataclass(frozen=True, slots=True)
class Character:
    """Somebody marked on the frames: the name to use, and the colour of the circle."""

    name: str
    colour: str


@dataclass(frozen=True, slots=True)
class Stage1Prompt:
    """What Stage I is asked. ``steps`` are the headings that its answer has, in order."""

    messages: tuple[Message, ...]
    steps: tuple[str, ...]
    factors: tuple[Factor, ...]
    effective_scale: float


@dataclass(frozen=True, slots=True)
class Stage2Prompt:
    """What Stage II is asked, the JSON schema of its answer, and the example lines that it was shown."""

    messages: tuple[Message, ...]
    schema: Mapping[str, Any]
    examples: tuple[str, ...] = ()


def check_prompts(*more: Mapping[str, tuple[str, ...]]) -> None:
    """Raise PromptError if any template of Stage I or II, edited perhaps, cannot be filled in.

    ``more`` are the templates of other modules, as their ``TEMPLATES`` have them.
    """
    for variables in (VARIABLES, *more):
        check_templates(variables)
    for step in ("characters", "characters-unmarked", *STEPS[1:], *FACTORS):
        _heading_and_text(prompt_text(f"stage1/{step}"), step)


def effective_scale(grammar: Grammar, plans: Sequence[FramePlan]) -> float:
    """Mean scale of the current shots shown, 0 to 4; if none is known that of the context; else 2."""
    values = grammar.expected or {number: scale.number for number, scale in grammar.scales.items()}
    for wanted in ((Role.CURRENT,), (Role.PAST, Role.FUTURE)):
        known = [values[p.number] for p in plans if p.role in wanted and p.number in values]
        if known:
            return sum(known) / len(known)
    return MIDDLING_SCALE


def factors_for(scale: float, settings: PromptSettings) -> tuple[Factor, ...]:
    """What is asked for besides characters, actions and interactions at this effective scale.

    >>> factors_for(1.5, PromptSettings()), factors_for(1.5, PromptSettings(factor_rule="code"))
    (('face',), ('object',))
    """
    if settings.factor == "all":
        return FACTORS
    if settings.factor != "auto":
        return () if settings.factor == "none" else (settings.factor,)
    paper = settings.factor_rule == "paper"
    if scale <= 1.5 if paper else scale < 1:
        return ("face",)
    if 2 <= scale <= 3 if paper else 1.5 <= scale < 3:
        return ("object",)
    return ("environment",) if scale >= 3.5 else ()


def stage1_messages(
    plans: Sequence[FramePlan],
    grammar: Grammar,
    settings: PromptSettings,
    *,
    characters: Sequence[Character] = (),
    label: Literal["number", "box", "none"] = OverlaySettings().label,
) -> Stage1Prompt:
    """What Stage I is asked about the shots shown; ``label`` is how they are marked on the frames.

    Raises PromptError for a template that cannot be filled in, ValueError without a current shot.
    """
    current = [p.number for p in plans if p.role is Role.CURRENT]
    if not current:
        raise ValueError(f"a clip has at least one current shot, got {[p.role.value for p in plans]}")
    scale = effective_scale(grammar, plans)
    factors = factors_for(scale, settings)
    circles = bool(characters) or settings.circle_note == "always"
    steps = [_first_step(characters, circles), *(_step(name) for name in (*STEPS[1:], *factors))]
    headings = tuple(heading for heading, _ in steps)
    threads = _threads_shown(grammar, plans)
    text = render(
        "stage1/base",
        medium=settings.medium,
        labels=render(f"stage1/labels-{label}"),
        note=_note("stage1/note", settings),
        shots=_name_shots(current),
        count=COUNTS[len(steps)],
        steps="\n".join(f"{i}. {instruction}" for i, (_, instruction) in enumerate(steps, 1)),
        closing=_closing(circles, threads, settings),
        template=_answer_template(headings, bool(threads)),
    )
    return Stage1Prompt((Message("user", text, with_clip=True),), headings, factors, scale)


def stage2_messages(
    description: Description,
    budget: int,
    settings: PromptSettings,
    *,
    seed: int,
    candidates: int = 1,
    examples: Sequence[str] = (),
    expected_words: int | None = None,
    story: str = "",
) -> Stage2Prompt:
    """What Stage II is asked: one line of at most ``budget`` words, or up to ten alternatives.

    The example lines are drawn by (seed, slot id) from ``examples``, else from those that the settings
    name. ``expected_words`` is the length that they have where they are chosen by length; one less than the
    budget if None. ``story`` is what is known of the film besides the clip (`shotad.describe.story`).

    Raises PromptError for a template that cannot be filled in, ConfigError for an example file that cannot
    be read, ValueError for a budget below 1 or a number of candidates that is not 1 to 10.
    """
    if budget < 1:
        raise ValueError(f"slot {description.slot_id} must allow at least one word, got budget = {budget}")
    if not 1 <= candidates < len(COUNTS):
        raise ValueError(f"candidates must be 1 to {len(COUNTS) - 1}, got {candidates}")
    form: Form = "single" if candidates == 1 else "several"
    wanted = max(1, budget - 1 if expected_words is None else expected_words)
    chance = random.Random(f"{seed}/{description.slot_id}")
    drawn = draw(tuple(examples) or load_examples(settings), settings, wanted, chance)
    user = render(
        "stage2/user",
        medium=settings.medium,
        goal=_in_number("stage2/goal", candidates),
        stress=render("stage2/stress") if settings.stress_steps else "",
        note=_note("stage2/note", settings),
        story=_block(story),
        description=description.text,
        verbs=", ".join(settings.verbs),
        view=_in_number("stage2/view", candidates),
        budget=f"{budget} {'word' if budget == 1 else 'words'}",
        each=render("stage2/each") if candidates > 1 else "",
        template=json.dumps(dict.fromkeys(answer_keys(candidates), "..."), ensure_ascii=False),
        examples=_show_examples(drawn, form),
    )
    system = render("stage2/system" if candidates == 1 else "stage2/system-several", medium=settings.medium)
    messages = (Message("system", system), Message("user", user))
    return Stage2Prompt(messages, answer_schema(candidates), tuple(drawn))


def answer_keys(candidates: int) -> tuple[str, ...]:
    """Keys of Stage II's JSON answer: ``summarized_AD``, or numbered from 1 for several candidates."""
    if candidates == 1:
        return ("summarized_AD",)
    return tuple(f"summarized_AD_{k}" for k in range(1, candidates + 1))


def _first_step(characters: Sequence[Character], circles: bool) -> tuple[str, str]:
    if not circles:
        return _step("characters-unmarked")
    names = ", ".join(f"{c.name} ({c.colour})" for c in characters)
    listed = render("stage1/character-list", names=names) if names else ""
    return _heading_and_text(render("stage1/characters", characters=listed), "characters")


def _step(name: str) -> tuple[str, str]:
    return _heading_and_text(render(f"stage1/{name}"), name)


def _heading_and_text(text: str, name: str) -> tuple[str, str]:
    heading, _, instruction = text.partition("\n\n")
    if not instruction.strip() or "\n" in heading:
        raise PromptError(
            f"The prompt stage1/{name} does not begin with a heading: {text.splitlines()[:1]}.",
            "Write the heading, an empty line, then the instruction.",
        )
    return heading.strip(), instruction.strip()


def _name_shots(numbers: Sequence[int]) -> str:
    return "[" + ", ".join(f"Shot {n}" for n in numbers) + "]"


def _threads_shown(grammar: Grammar, plans: Sequence[FramePlan]) -> list[tuple[int, ...]]:
    shown = {p.number for p in plans}
    threads = (tuple(n for n in thread if n in shown) for thread in grammar.threads)
    return [thread for thread in threads if len(thread) > 1]


def _closing(circles: bool, threads: Sequence[tuple[int, ...]], settings: PromptSettings) -> str:
    """The note on circles and the thread sentence, in the order set; an empty line where neither is."""
    note = [render("stage1/circles")] if circles else []
    claims = " and ".join(render("stage1/thread", shots=_name_shots(t)) for t in threads)
    sentence = [render("stage1/threads", threads=claims)] if threads else []
    return "\n".join(sentence + note if settings.thread_sentence_first else note + sentence)


def _answer_template(headings: Sequence[str], threads: bool) -> str:
    lines = [render("stage1/answer-step", number=str(i), heading=h) for i, h in enumerate(headings, 1)]
    answer = render("stage1/answer", steps="\n".join(lines))
    return f"{answer}\n{render('stage1/answer-threads')}" if threads else answer


def _in_number(name: str, candidates: int) -> str:
    """The template for one line, or that for several with their number in words."""
    if candidates == 1:
        return render(f"{name}-single")
    return render(f"{name}-several", count=COUNTS[candidates])


def _note(template: str, settings: PromptSettings) -> str:
    """The user's note as a block of its own, or nothing."""
    note = cut_to_words(settings.note, settings.note_words)
    return _block(render(template, medium=settings.medium, note=note)) if note else ""


def _block(text: str) -> str:
    """Text after an empty line; nothing leaves no trace."""
    return f"\n\n{text.strip()}" if text.strip() else ""


def _show_examples(examples: Sequence[str], form: Form) -> str:
    """One to a line, as the answer that is asked for where that holds a single line."""
    if not examples:
        return ""
    shown = [
        json.dumps({"summarized_AD": e}, ensure_ascii=False) if form == "single" else e for e in examples
    ]
    return render(f"stage2/examples-{form}", examples="\n".join(shown))


def answer_schema(candidates: int) -> dict[str, Any]:
    """The JSON schema of an answer that holds so many lines."""
    keys = list(answer_keys(candidates))
    return {
        "type": "object",
        "properties": {key: {"type": "string"} for key in keys},
        "required": keys,
        "additionalProperties": False,
    }
