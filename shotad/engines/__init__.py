"""Engines by name. A module is imported only when one of its engines is asked for."""

from __future__ import annotations

import difflib
import importlib
from dataclasses import dataclass

from shotad.config import Config
from shotad.engines.base import Engine
from shotad.errors import EngineError

ENGINES = {
    "fake": "shotad.engines.fake:FakeEngine",
    "narrator": "shotad.engines.narrator:Narrator",
    "observer": "shotad.describe.observer:Observer",
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


def make_engine(name: str, config: Config) -> Engine:
    """A ready engine by name."""
    return engine_class(name)(config)  # type: ignore[call-arg]  # a Protocol declares no constructor


def stage_engines(config: Config) -> Preset:
    """The engines' names for both stages: ``stage1.engine`` and ``stage2.engine`` override the preset."""
    pair = preset(config.engine)
    return Preset(config.stage1.engine or pair.stage1, config.stage2.engine or pair.stage2)


def _unknown(what: str, name: str, known: list[str]) -> tuple[str, str]:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    return f"There is no {what} called {name!r}.", f"{hint}Known: {', '.join(known)}."
