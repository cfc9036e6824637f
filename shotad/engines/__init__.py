"""Engines by name. A module is imported only when one of its engines is asked for."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable
from dataclasses import dataclass

from shotad.config import Config
from shotad.engines.base import Engine, Stage
from shotad.errors import EngineError

ENGINES = {
    "fake": "shotad.engines.fake:FakeEngine",
    "llama3": "shotad.engines.local.chat:ChatModel",
    "narrator": "shotad.engines.narrator:Narrator",
    "observer": "shotad.describe.observer:Observer",
    "openai": "shotad.engines.openai.engine:OpenAI",
    "qwen2-vl": "shotad.engines.local.vision:VisionModel",
}
"""Name → ``module:Class``. A class is made with the whole `Config`."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A pair of engines: who looks (Stage I) and who writes (Stage II)."""

    stage1: str
    stage2: str


PRESETS = {
    "embedded": Preset("observer", "narrator"),
    "fake": Preset("fake", "fake"),
    "gpt-4o": Preset("openai", "openai"),
    "openai": Preset("openai", "openai"),
    "paper": Preset("qwen2-vl", "llama3"),
}

AUTO = "embedded"
"""What ``auto`` takes: the best that this version has on every machine."""


def preset(name: str) -> Preset:
    """The pair called ``name``; ``auto`` takes the best that the machine has."""
    chosen = AUTO if name == "auto" else name
    if chosen not in PRESETS:
        raise EngineError(*_unknown("engine preset", name, ["auto", *PRESETS]))
    return PRESETS[chosen]


def engine_class(name: str) -> type[Engine]:
    """The class called ``name``, or written out as ``module:Class``."""
    if name not in ENGINES and ":" not in name:
        raise EngineError(*_unknown("engine", name, list(ENGINES)))
    module, _, attribute = ENGINES.get(name, name).partition(":")
    try:
        found: type[Engine] = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise EngineError(f"The engine {name} cannot be loaded: {error}.", "Install what it needs.") from None
    return found


def make_engine(name: str, config: Config, stage: Stage) -> Engine:
    """A ready engine by name.

    A class that has a ``for_stage(config, stage)`` is made by it, for it may serve both stages with
    different models; any other by its constructor, which gets the whole config.
    """
    made = engine_class(name)
    for_stage: Callable[[Config, Stage], Engine] | None = getattr(made, "for_stage", None)
    if for_stage is not None:
        return for_stage(config, stage)
    return made(config)  # type: ignore[call-arg]  # a Protocol declares no constructor


def stage_engines(config: Config) -> Preset:
    """The engines' names for both stages: ``stage1.engine`` and ``stage2.engine`` override the preset."""
    pair = preset(config.engine)
    return Preset(config.stage1.engine or pair.stage1, config.stage2.engine or pair.stage2)


def _unknown(what: str, name: str, known: list[str]) -> tuple[str, str]:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    return f"There is no {what} called {name!r}.", f"{hint}Known: {', '.join(known)}."
