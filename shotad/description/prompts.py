"""What the two models are asked: Stage I turns frames into a description, Stage II that into a line.

The two prompts are made in `shotad.description.stage1_prompt` and `shotad.description.stage2_prompt`; here
they stand together, and are checked before a run. Nothing here calls a model.
"""

from __future__ import annotations

from collections.abc import Mapping

from shotad.description import blocks, stage1_prompt, stage2_prompt
from shotad.description.blocks import COUNTS
from shotad.description.examples import EXAMPLES
from shotad.description.stage1_prompt import (
    FACTORS,
    Stage1Prompt,
    effective_scale,
    factors_for,
    stage1_messages,
)
from shotad.description.stage2_prompt import Stage2Prompt, answer_keys, answer_schema, stage2_messages
from shotad.description.templates import check_templates, prompt_hash, render

__all__ = [
    "COUNTS",
    "EXAMPLES",
    "FACTORS",
    "TEMPLATES",
    "VARIABLES",
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

VARIABLES: Mapping[str, tuple[str, ...]] = {
    **blocks.TEMPLATES,
    **stage1_prompt.VARIABLES,
    **stage2_prompt.VARIABLES,
}
"""The templates of both stages and the variables that each has."""

TEMPLATES = VARIABLES


def check_prompts(*more: Mapping[str, tuple[str, ...]]) -> None:
    """Raise PromptError if any template of Stage I or II, edited perhaps, cannot be filled in.

    ``more`` are the templates of other modules, as their ``TEMPLATES`` have them.
    """
    for variables in (VARIABLES, *more):
        check_templates(variables)
    stage1_prompt.check_headings()
