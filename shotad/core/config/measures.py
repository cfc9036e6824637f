"""Settings of evaluation: models, and which definition of a metric."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from shotad.core.settings import Settings
from shotad.core.trust import UserOnly


class EmbeddingSettings(Settings):
    """Sentence embeddings, for the action score and for repetition."""

    model: Annotated[str, UserOnly(harmless="minilm|Alibaba-NLP/gte-Qwen2-7B-instruct")] = "minilm"
    """A name of `shotad models list`, a folder, or a repository (the paper's:
    Alibaba-NLP/gte-Qwen2-7B-instruct)."""
    instruction: Literal["none", "paper", "code"] = "none"
    """Instruction that the model gets with each text: none (minilm accepts none), the paper's, or the
    published code's."""


class ParserSettings(Settings):
    """spaCy's model for verbs and their phrases."""

    model: Annotated[str, UserOnly(harmless="en_core_web_(sm|md|lg|trf)")] = "en_core_web_sm"
    """An installed package, or a folder. The published code uses en_core_web_lg."""


class CriticSettings(Settings):
    """CRITIC (AutoAD-III): are the right characters named?"""

    resolver: Annotated[str, UserOnly(harmless="plain|fastcoref|lingmess")] = "plain"
    """How pronouns become names: ``plain`` (built in: names, gender and recency by the cast),
    ``fastcoref``, ``lingmess``, or a class as module:Class."""
    model: Annotated[str | None, UserOnly()] = None
    """Model of the coreference library. None: the library's default."""
    rules: Literal["paper", "code", "all"] = "paper"
    """``paper``: score every AD whose human line names somebody, with pronouns resolved; ``code``: as the
    published code does; ``all``: as ``paper``, and names where the human AD has none are wrong."""


class RecallSettings(Settings):
    """Recall@k/N (AutoAD-II): is the prediction most like its own human AD among its neighbours?"""

    k: int = Field(1, ge=1, le=1000)
    """The prediction's own human AD must be among the k most alike."""
    neighbours: int = Field(5, ge=1, le=1000)
    """N: how many consecutive human ADs form a window."""
    model: Annotated[str, UserOnly(harmless="minilm|roberta-large")] = "minilm"
    """Model of BERTScore: a name of `shotad models list`, a folder, or a repository (the paper's:
    roberta-large)."""


class JudgeSettings(Settings):
    """Language models that judge the AD."""

    engines: Annotated[tuple[str, ...], UserOnly()] = ()
    """Engines by name, each with its model after a colon: ``llama3:FOLDER``, ``openai:gpt-4o``. Each judges
    everything and has its own column."""


class ReportSettings(Settings):
    """How confidence intervals are computed."""

    unit: Literal["film", "ad"] = "film"
    """What is resampled. ``film``: films with all their ADs, if there are several. ``ad``: single ADs; this
    ignores that ADs of a film are alike, so the interval is too narrow for other films."""


class MeasureSettings(Settings):
    """Settings of all metrics of `shotad evaluate`."""

    rules: Literal["paper", "code"] = "paper"
    """``paper``: as the papers define the metrics. ``code``: as the published code computes them: parts,
    headings, phrases and omissions of the action score, recall in full windows only, LLM-AD-Eval from 0 to
    5."""
    missing: Literal["zero", "skip"] = "zero"
    """``zero``: a missing or failed prediction scores 0; ``skip``: it is left out, and the report says how
    many are."""
    embedding: EmbeddingSettings = EmbeddingSettings()
    parser: ParserSettings = ParserSettings()
    critic: CriticSettings = CriticSettings()
    recall: RecallSettings = RecallSettings()
    judge: JudgeSettings = JudgeSettings()
    report: ReportSettings = ReportSettings()
