"""How a judge is named: an engine, its model after a colon, and where or which one after an at sign.

``openai:gpt-4o``; ``openai:Meta-Llama-3-8B-Instruct@http://localhost:8000/v1``, the server that has it;
``llama3:meta-llama/Meta-Llama-3-8B-Instruct@8afb486``, the revision of the hub; ``llama3:FOLDER``; ``fake``;
``package.module:Class``. A metric by a judge is called ``METRIC@JUDGE``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from shotad.core import Config, EvaluationError, JudgeSettings, SamplingSettings, Stage2Settings
from shotad.engines import ENGINES

_PLACE = re.compile(r"(?P<model>.*?)@(?P<url>https?://.*)", re.DOTALL)
_REVISION = re.compile(r"(?P<model>[\w.-]+(?:/[\w.-]+)?)@(?P<revision>[\w./-]+)")


@dataclass(frozen=True, slots=True)
class JudgeName:
    """A judge's name taken apart. None: the engine's own."""

    engine: str
    model: str | None = None
    revision: str | None = None
    base_url: str | None = None

    @classmethod
    def of(cls, text: str) -> JudgeName:
        """The judge that is named so. Raises EvaluationError for a name that holds a password, or nothing.

        >>> JudgeName.of("openai:gpt-4o")
        JudgeName(engine='openai', model='gpt-4o', revision=None, base_url=None)
        >>> JudgeName.of("llama3:org/name@v2").revision
        'v2'
        >>> JudgeName.of("my.module:Judge:large").engine
        'my.module:Judge'
        """
        engine, model = _engine_and_model(text.strip())
        if not engine:
            raise EvaluationError(f"{text!r} names no engine.", f"Known: {', '.join(ENGINES)}.")
        placed = _PLACE.fullmatch(model)
        if placed is not None:
            if "@" in placed["url"]:
                raise EvaluationError(
                    "A judge's address holds a user or a password, and names are written into reports.",
                    "Set openai.base_url instead, or the key in the environment.",
                )
            return cls(engine, placed["model"] or None, base_url=placed["url"])
        revised = _REVISION.fullmatch(model)
        if revised is not None:
            return cls(engine, revised["model"], revised["revision"])
        return cls(engine, model or None)

    def config(self, config: Config, sampling: SamplingSettings) -> Config:
        """The settings with which the engine is made, as that of Stage II. Nothing of the settings of Stage
        II itself goes along, for the judge is not the one who wrote the lines."""
        stage = Stage2Settings(
            engine=self.engine,
            model=self.model,
            revision=self.revision,
            base_url=self.base_url,
            sampling=sampling,
        )
        return config.model_copy(update={"stage2": stage})


def _engine_and_model(text: str) -> tuple[str, str]:
    first, _, rest = text.partition(":")
    if first in ENGINES or "." not in first:
        return first, rest
    name, _, model = rest.partition(":")
    return f"{first}:{name}", model


def judge_names(name: str, settings: JudgeSettings) -> list[str]:
    """The metric ``name`` by each judge of the settings; a name that has its judge already stands alone.

    >>> judge_names("llm-action", JudgeSettings(engines=("fake", "openai:gpt-4o")))
    ['llm-action@fake', 'llm-action@openai:gpt-4o']
    """
    if "@" in name:
        return [name]
    return [f"{name}@{engine}" for engine in dict.fromkeys(settings.engines)]


def judge_of(name: str, engines: Iterable[str]) -> str:
    """The judge of the metric ``name``: what stands after its at sign, else the only one of ``engines``.

    Raises EvaluationError where there is none, or more than one.
    """
    metric, _, judge = name.partition("@")
    if judge:
        return judge
    named = list(dict.fromkeys(engines))
    if len(named) == 1:
        return named[0]
    known = f"Several are set: {', '.join(named)}. " if named else ""
    raise EvaluationError(
        f"The metric {metric} asks an engine, and it is not said which.",
        f"{known}Write {metric}@openai:gpt-4o, say, or set one as measures.judge.engines.",
    )
