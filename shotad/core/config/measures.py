"""Settings of evaluation: models, and which definition of a metric."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from shotad.core.settings import Settings


class EmbeddingSettings(Settings):
    """Sentences as vectors, for the action score and for repetition."""

    model: str = "minilm"
    """Of the manifest, a folder, or a repository (the paper's: Alibaba-NLP/gte-Qwen2-7B-instruct)."""
    instruction: Literal["none", "paper", "code"] = "none"
    """What the model is told that vectors are for: nothing (minilm knows no instructions), the paper's
    sentence, or the published code's."""
    former: ClassVar[dict[str, Any]] = {"revision": None, "longest": 1000, "batch": 64}


class ParserSettings(Settings):
    """spaCy's model for verbs and their phrases."""

    model: str = "en_core_web_sm"
    """A package that is installed, or a folder. The published code has en_core_web_lg."""

    former: ClassVar[dict[str, Any]] = {"batch": 256}


class ActionSettings(Settings):
    """The action score (Shot-by-Shot, section 4.2)."""

    rules: Literal["paper", "code"] = "paper"
    """``code``: pieces, headings, phrases and omissions as in the published code."""
    former: ClassVar[dict[str, Any]] = {"similarity": 0.8}


class CriticSettings(Settings):
    """CRITIC (AutoAD-III): are the right characters named?"""

    resolver: str = "plain"
    """Who says whom pronouns mean: ``plain`` (built in: names, gender and recency by the cast),
    ``fastcoref``, ``lingmess``, or a class as module:Class."""
    model: str | None = None
    """Of the coreference library; None: the library's own."""
    rules: Literal["paper", "code", "all"] = "paper"
    """``paper``: every AD whose human line tells of somebody, pronouns resolved; ``code``: as the published
    code counts; ``all``: as ``paper``, and names where the human AD has none count as wrong."""


class RecallSettings(Settings):
    """Recall@k/N (AutoAD-II): is the prediction most like its own human AD among its neighbours?"""

    k: int = Field(1, ge=1)
    """Among how many of the likeliest its own must be."""
    neighbours: int = Field(5, ge=1)
    """N: consecutive human ADs of a window."""
    windows: Literal["all", "full"] = "all"
    """``all``: none is lost at the end, and a film shorter than N is one window; ``full``: only full windows,
    as in the published code."""
    model: str = "minilm"
    """BERTScore's: of the manifest, a folder, or a repository (the paper's: roberta-large)."""
    former: ClassVar[dict[str, Any]] = {"layer": None, "rescale": True, "batch": 64}


class JudgeSettings(Settings):
    """Engines that judge."""

    engines: tuple[str, ...] = ()
    """Engines by name, each with its model after a colon: ``llama3:FOLDER``, ``openai:gpt-4o``. All judge
    everything, and their figures stand side by side."""
    lowest: Literal[0, 1] = 1
    """Of LLM-AD-Eval's scale: 1 to 5 (Shot-by-Shot), or 0 to 5 (published code)."""

    former: ClassVar[dict[str, Any]] = {
        "sampling": {"temperature": 0.0, "top_p": 1.0, "max_tokens": 256},
        "attempts": 2,
        "story_lines": 12,
    }


class ReportSettings(Settings):
    """What intervals are over."""

    unit: Literal["film", "ad"] = "film"
    """What intervals are over: films with all their ADs, where there are several; or single ADs, as if
    those of one film were not alike, which is too narrow for other films."""
    former: ClassVar[dict[str, Any]] = {"level": 0.95, "listed": 20}


class MeasureSettings(Settings):
    """All of them."""

    missing: Literal["zero", "skip"] = "zero"
    """What is predicted for nothing, or failed: counts as 0, or is left out (and told how many)."""
    embedding: EmbeddingSettings = EmbeddingSettings()
    parser: ParserSettings = ParserSettings()
    action: ActionSettings = ActionSettings()
    critic: CriticSettings = CriticSettings()
    recall: RecallSettings = RecallSettings()
    judge: JudgeSettings = JudgeSettings()
    report: ReportSettings = ReportSettings()

    former: ClassVar[dict[str, Any]] = {"sequence": {"reach": 5, "order": 3}}
