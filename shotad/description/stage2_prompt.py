"""What Stage II is asked: from a description to a line of AD, or to several.

The content follows Algorithm 2 of Shot-by-Shot; the words are ours and stand in ``prompts/stage2/``. Nothing
here calls a model.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from shotad.core import NOBODY, Description, Message, Presence, PromptSettings, is_english, language_of
from shotad.description.blocks import COUNTS, block, note_block, question
from shotad.description.castlist import STAGE2_TEMPLATES, called_block, without_untold
from shotad.description.examples import draw, load_examples
from shotad.description.language_id import looks_english
from shotad.description.templates import render
from shotad.script import budget_in

Form = Literal["single", "several"]

VARIABLES: Mapping[str, tuple[str, ...]] = {
    "stage2/system": ("medium",),
    "stage2/system-several": ("medium",),
    "stage2/user": (
        "medium", "goal", "stress", "note", "story", "people", "description", "verbs", "view", "budget",
        "each", "language", "template", "examples",
    ),
    "stage2/note": ("medium", "note"),
    **STAGE2_TEMPLATES,
    "stage2/goal-single": (),
    "stage2/goal-several": ("count",),
    "stage2/view-single": (),
    "stage2/view-several": ("count",),
    "stage2/stress": (),
    "stage2/each": (),
    "stage2/examples-single": ("examples",),
    "stage2/examples-several": ("examples",),
    "stage2/language": ("language",),
    "stage2/examples-single-language": ("examples", "language"),
    "stage2/examples-several-language": ("examples", "language"),
}  # fmt: skip
"""The templates of Stage II and the variables that each has."""


@dataclass(frozen=True, slots=True)
class Stage2Prompt:
    """What Stage II is asked, and the JSON schema of its answer."""

    messages: tuple[Message, ...]
    schema: Mapping[str, Any]


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
    presence: Presence = NOBODY,
    language: str = "en",
) -> Stage2Prompt:
    """What Stage II is asked: one line of at most ``budget`` words, or up to ten alternatives.

    The example lines are drawn by (seed, slot id) from ``examples``, else from those that the settings
    name. ``expected_words`` is the length that they have where they are chosen by length; one less than the
    budget if None. ``story`` is what is known of the film besides the clip (`shotad.description.story`),
    ``presence`` who of the cast is on the clip's frames. ``language`` is the tag of that in which lines are
    wanted; the prompt is English, and the budget, in English words, is told in what takes as long to say.

    Raises PromptError for a template that cannot be filled in, ConfigError for an example file that cannot
    be read, UsageError for a tag that is none, ValueError for a budget below 1 or a number of candidates that
    is not 1 to 10.
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
        note=without_untold(note_block("stage2/note", settings), presence),
        story=block(story),
        people=called_block(description.text, presence, settings),
        description=description.text,
        verbs=", ".join(settings.verbs),
        view=_in_number("stage2/view", candidates),
        budget=str(budget_in(language, budget)),
        each=render("stage2/each") if candidates > 1 else "",
        language="" if is_english(language) else f"\n{render('stage2/language', language=_named(language))}",
        template=json.dumps(dict.fromkeys(answer_keys(candidates), "..."), ensure_ascii=False),
        examples=_show_examples(drawn, form, language),
    )
    system = render("stage2/system" if candidates == 1 else "stage2/system-several", medium=settings.medium)
    messages = (Message("system", system), question(user))
    return Stage2Prompt(messages, answer_schema(candidates))


def answer_keys(candidates: int) -> tuple[str, ...]:
    """Keys of Stage II's JSON answer: ``summarized_AD``, or numbered from 1 for several candidates."""
    if candidates == 1:
        return ("summarized_AD",)
    return tuple(f"summarized_AD_{k}" for k in range(1, candidates + 1))


def answer_schema(candidates: int) -> dict[str, Any]:
    """The JSON schema of an answer that holds so many lines."""
    keys = list(answer_keys(candidates))
    return {
        "type": "object",
        "properties": {key: {"type": "string"} for key in keys},
        "required": keys,
        "additionalProperties": False,
    }


def _in_number(name: str, candidates: int) -> str:
    """The template for one line, or that for several with their number in words."""
    if candidates == 1:
        return render(f"{name}-single")
    return render(f"{name}-several", count=COUNTS[candidates])


def _named(language: str) -> str:
    return language_of(language).name


def _show_examples(examples: Sequence[str], form: Form, language: str) -> str:
    """One to a line, as the answer that is asked for where that holds a single line."""
    if not examples:
        return ""
    shown = [
        json.dumps({"summarized_AD": e}, ensure_ascii=False) if form == "single" else e for e in examples
    ]
    if not is_english(language) and looks_english(examples):
        name = f"stage2/examples-{form}-language"
        return render(name, examples="\n".join(shown), language=_named(language))
    return render(f"stage2/examples-{form}", examples="\n".join(shown))
