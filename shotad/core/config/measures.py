"""Settings of evaluation: models, and which definition of a metric."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from shotad.core.settings import Settings
from shotad.core.trust import UserOnly


class EmbeddingSettings(Settings):
    """Sentences as vectors, for the action score and for repetition."""

    model: Annotated[str, UserOnly(harmless="minilm|Alibaba-NLP/gte-Qwen2-7B-instruct")] = "minilm"
    """Of the manifest, a folder, or a repository (the paper's: Alibaba-NLP/gte-Qwen2-7B-instruct)."""
    instruction: Literal["none", "paper", "code"] = "none"
    """Instruction that the model gets with each text: none (minilm knows no instructions), the paper's
    sentence, or the published code's."""


class ParserSettings(Settings):
    """spaCy's model for verbs and their phrases."""

    model: Annotated[str, UserOnly(harmless="en_core_web_(sm|md|lg|trf)")] = "en_core_web_sm"
    """A package that is installed, or a folder. The published code has en_core_web_lg."""


class CriticSettings(Settings):
    """CRITIC (AutoAD-III): are the right characters named?"""

    resolver: Annotated[str, UserOnly(harmless="plain|fastcoref|lingmess")] = "plain"
    """How pronouns become names: ``plain`` (built in: names, gender and recency by the cast),
    ``fastcoref``, ``lingmess``, or a class as module:Class."""
    model: Annotated[str | None, UserOnly()] = None
    """Of the coreference library; None: the library's own."""
    rules: Literal["paper", "code", "all"] = "paper"
    """``paper``: every AD whose human line names somebody, pronouns resolved; ``code``: as the published
    code counts; ``all``: as ``paper``, and names where the human AD has none count as wrong."""


class RecallSettings(Settings):
    """Recall@k/N (AutoAD-II): is the prediction most like its own human AD among its neighbours?"""

    k: int = Field(1, ge=1, le=1000)
    """Among how many of the likeliest its own must be."""
    neighbours: int = Field(5, ge=1, le=1000)
    """N: consecutive human ADs of a window."""
    model: Annotated[str, UserOnly(harmless="minilm|roberta-large")] = "minilm"
    """BERTScore's: of the manifest, a folder, or a repository (the paper's: roberta-large)."""


class JudgeSettings(Settings):
    """Engines that judge."""

    engines: Annotated[tuple[str, ...], UserOnly()] = ()
    """Engines by name, each with its model after a colon: ``llama3:FOLDER``, ``openai:gpt-4o``. All judge
    everything, and their figures stand side by side."""


class ReportSettings(Settings):
    """What intervals are over."""

    unit: Literal["film", "ad"] = "film"
    """What intervals are over: films with all their ADs, where there are several; or single ADs, as if
    those of one film were not alike, which is too narrow for other films."""


class MeasureSettings(Settings):
    """All of them."""

    rules: Literal["paper", "code"] = "paper"
    """``paper``: as the papers word it; ``code``: as the published code counts: pieces, headings, phrases and
    omissions of the action score, recall in full windows only, LLM-AD-Eval from 0 to 5."""
    missing: Literal["zero", "skip"] = "zero"
    """A missing or failed prediction counts as 0, or is left out (the report says how many)."""
    embedding: EmbeddingSettings = EmbeddingSettings()
    parser: ParserSettings = ParserSettings()
    critic: CriticSettings = CriticSettings()
    recall: RecallSettings = RecallSettings()
    judge: JudgeSettings = JudgeSettings()
    report: ReportSettings = ReportSettings()
