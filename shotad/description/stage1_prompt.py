"""What Stage I is asked: from frames to a dense description in steps.

The content follows Algorithm 1 of Shot-by-Shot; the words are ours and stand in ``prompts/stage1/``. Nothing
here calls a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from shotad.core import (
    NOBODY,
    FramePlan,
    Grammar,
    Message,
    OverlaySettings,
    Presence,
    PromptError,
    PromptSettings,
    Role,
    prompt_text,
)
from shotad.description.blocks import COUNTS, name_shots, note_block, question
from shotad.description.castlist import (
    MARKS,
    PLURALS,
    SHAPES,
    STAGE1_TEMPLATES,
    Marks,
    heard_block,
    people_told,
    without_untold,
)
from shotad.description.hints import Heard
from shotad.description.templates import render

Factor = Literal["face", "object", "environment"]

STEPS = ("characters", "actions", "interactions")
FACTORS: tuple[Factor, ...] = ("face", "object", "environment")
MIDDLING_SCALE = 2.0
"""Effective scale where no shot's scale is known."""

VARIABLES: Mapping[str, tuple[str, ...]] = {
    "stage1/base": ("medium", "labels", "note", "heard", "shots", "count", "steps", "closing", "template"),
    "stage1/note": ("medium", "note"),
    "stage1/labels-number": (),
    "stage1/labels-box": (),
    "stage1/labels-none": (),
    "stage1/characters": ("mark", "characters"),
    "stage1/characters-listed": ("characters",),
    "stage1/characters-unmarked": (),
    **STAGE1_TEMPLATES,
    "stage1/actions": (),
    "stage1/interactions": (),
    "stage1/face": (),
    "stage1/object": (),
    "stage1/environment": (),
    "stage1/circles": ("marks",),
    "stage1/threads": ("threads",),
    "stage1/thread": ("shots",),
    "stage1/answer": ("steps",),
    "stage1/answer-step": ("number", "heading"),
    "stage1/answer-threads": (),
}
"""The templates of Stage I and the variables that each has."""


@dataclass(frozen=True, slots=True)
class Stage1Prompt:
    """What Stage I is asked. ``steps`` are the headings that its answer has, in order."""

    messages: tuple[Message, ...]
    steps: tuple[str, ...]
    factors: tuple[Factor, ...]
    effective_scale: float


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
    presence: Presence = NOBODY,
    heard: Sequence[Heard] = (),
    label: Literal["number", "box", "none"] = OverlaySettings().label,
    marks: Marks = MARKS,
) -> Stage1Prompt:
    """What Stage I is asked about the shots shown.

    ``presence`` are the people recognised on the frames, ``heard`` the names in the dialogue near them;
    ``label`` is how shots are marked on the frames, ``marks`` how people are.
    Raises PromptError for a template that cannot be filled in, ValueError without a current shot.
    """
    current = [p.number for p in plans if p.role is Role.CURRENT]
    if not current:
        raise ValueError(f"a clip has at least one current shot, got {[p.role.value for p in plans]}")
    scale = effective_scale(grammar, plans)
    factors = factors_for(scale, settings)
    told = people_told(presence, settings, marks, current)
    circled = marks != "none" and (bool(told) or settings.circle_note == "always")
    shape = SHAPES[marks] if circled else ""
    steps = [_first_step(told, shape), *(_step(name) for name in (*STEPS[1:], *factors))]
    headings = tuple(heading for heading, _ in steps)
    threads = _threads_shown(grammar, plans)
    text = render(
        "stage1/base",
        medium=settings.medium,
        labels=render(f"stage1/labels-{label}"),
        note=without_untold(note_block("stage1/note", settings), presence),
        heard=heard_block(heard, presence, settings),
        shots=name_shots(current),
        count=COUNTS[len(steps)],
        steps="\n".join(f"{i}. {instruction}" for i, (_, instruction) in enumerate(steps, 1)),
        closing=_closing(shape, threads, settings),
        template=_answer_template(headings, bool(threads)),
    )
    return Stage1Prompt((question(text, with_clip=True),), headings, factors, scale)


def check_headings() -> None:
    """Raise PromptError where the template of a step has no heading."""
    for step in ("characters", "characters-listed", "characters-unmarked", *STEPS[1:], *FACTORS):
        _heading_and_text(prompt_text(f"stage1/{step}"), step)


def _first_step(told: Sequence[str], shape: str) -> tuple[str, str]:
    """Who the characters are; ``shape`` is that of the marks on the frames, empty where nobody is marked."""
    if shape:
        name, text = "characters", render("stage1/characters", mark=shape, characters=". ".join(told))
    elif told:
        name, text = "characters-listed", render("stage1/characters-listed", characters=". ".join(told))
    else:
        return _step("characters-unmarked")
    return _heading_and_text(text, name)


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


def _threads_shown(grammar: Grammar, plans: Sequence[FramePlan]) -> list[tuple[int, ...]]:
    shown = {p.number for p in plans}
    threads = (tuple(n for n in thread if n in shown) for thread in grammar.threads)
    return [thread for thread in threads if len(thread) > 1]


def _closing(shape: str, threads: Sequence[tuple[int, ...]], settings: PromptSettings) -> str:
    """The note on circles and the thread sentence, in the order set; an empty line where neither is."""
    note = [render("stage1/circles", marks=PLURALS[shape])] if shape else []
    claims = " and ".join(render("stage1/thread", shots=name_shots(t)) for t in threads)
    sentence = [render("stage1/threads", threads=claims)] if threads else []
    return "\n".join(sentence + note if settings.thread_sentence_first else note + sentence)


def _answer_template(headings: Sequence[str], threads: bool) -> str:
    lines = [render("stage1/answer-step", number=str(i), heading=h) for i, h in enumerate(headings, 1)]
    answer = render("stage1/answer", steps="\n".join(lines))
    return f"{answer}\n{render('stage1/answer-threads')}" if threads else answer
