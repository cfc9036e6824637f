"""What of the action score differs from the paper's measure, in words."""

from __future__ import annotations

from pathlib import PurePath

from shotad.core.config import MeasureSettings
from shotad.evaluation.measure.rows import Json

PAPER_MODEL = "gte-Qwen2-7B-instruct"
"""The paper's embeddings (Alibaba-NLP), float32[3584]."""
PAPER_PARSER = "en_core_web_lg"
"""The published code's parser."""
PAPER_WEIGHT = 0.8
_VERSIONS = (
    f"{PAPER_MODEL} runs as the library's own Qwen2 with attention both ways, which transformers 5.2 and "
    "later do by its config; the published numbers come from the repository's own code (transformers 4.44.2, "
    "flash-attn 2.5.6, spaCy 3.8.2), which fails from transformers 4.56 on. It wants bfloat16 or float32."
)

_LEFT_OUT = (
    "What failed, and what scores below 0, is left out, as in the published code: that raises the number."
)


def is_paper_model(name: str) -> bool:
    """Whether this names the paper's embedding model, as a repository or a folder."""
    return PurePath(name).name == PAPER_MODEL


def comparable(settings: MeasureSettings, parser: Json) -> bool:
    """Whether the number may stand beside published ones: models, instruction and weight are theirs."""
    return not _differences(settings, parser)


def remarks(settings: MeasureSettings, parser: Json) -> tuple[str, ...]:
    """Each difference as a sentence, and on what the paper's model runs."""
    found = [f"{what}: not comparable with the paper's numbers." for what in _differences(settings, parser)]
    if settings.action.rules == "code":
        found.append(_LEFT_OUT)
    if is_paper_model(settings.embedding.model):
        found.append(_VERSIONS)
    return tuple(found)


def _differences(settings: MeasureSettings, parser: Json) -> list[str]:
    embedding, found = settings.embedding, []
    if not is_paper_model(embedding.model):
        found.append(f"{_called(embedding.model)} instead of {PAPER_MODEL}")
    elif embedding.instruction == "none":
        found.append(f"{PAPER_MODEL} without an instruction")
    if parser["model"] != PAPER_PARSER:
        found.append(f"spaCy's {parser['model']} instead of {PAPER_PARSER}")
    if settings.action.similarity != PAPER_WEIGHT:
        found.append(f"the meaning weighs {settings.action.similarity:g} instead of {PAPER_WEIGHT:g}")
    return found


def _called(model: str) -> str:
    return "all-MiniLM-L6-v2" if model == "minilm" else PurePath(model).name
