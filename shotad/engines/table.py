"""Engines by name. A module is imported only when one of its engines is asked for."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from shotad.core import Config, Engine, EngineError, Stage, did_you_mean
from shotad.engines.local_servers import KINDS, answers, chosen, named

ENGINES = {
    "fake": "shotad.engines.fake:FakeEngine",
    "llama3": "shotad.engines.local_engines:ChatModel",
    "narrator": "shotad.engines.narrator:Narrator",
    "observer": "shotad.engines.observer:Observer",
    "ollama": "shotad.engines.ollama:Ollama",
    "openai": "shotad.engines.openai_engine:OpenAI",
    "openai-sound": "shotad.engines.openai_engine:OpenAIWithSound",
    "qwen2-vl": "shotad.engines.local_engines:VisionModel",
}
"""Name → ``module:Class``. A class is made with the whole `Config`."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A pair of engines: who looks (Stage I) and who writes (Stage II); their model, and the address of their
    server, where the settings name none."""

    stage1: str
    stage2: str
    model: str | None = None
    url: str | None = None


PRESETS = {
    "embedded": Preset("observer", "narrator"),
    "fake": Preset("fake", "fake"),
    "gpt-4o": Preset("openai", "openai"),
    "openai": Preset("openai", "openai"),
    "paper": Preset("qwen2-vl", "llama3"),
    "small": Preset("qwen2-vl", "qwen2-vl", "qwen3-vl-2b"),
}

_WANTED = "An engine is a class whose objects have identity, abilities and generate (docs/engines.md)."

EVERYWHERE = "embedded"
"""What ``auto`` takes where nothing better is at hand."""
PAPER_MODELS = ("qwen2-vl-7b", "llama3-8b")
PAPER_MEMORY = 20e9
"""Bytes of a GPU that holds the larger of the two with its work; they are loaded one after the other."""


def preset(name: str) -> Preset:
    """The pair called ``name``; ``auto`` takes the best that the machine has, and fetches nothing for it."""
    chosen = best_here() if name == "auto" else name
    if (local := named(chosen)) is not None:
        kind, model = local
        return Preset(kind.engine, kind.engine, model, kind.url)
    if chosen not in PRESETS:
        known = ["auto", *PRESETS, *(f"{kind.word}:MODEL" for kind in KINDS)]
        raise EngineError(*_unknown("engine preset", name, known), again=False, usage=True)
    return PRESETS[chosen]


def engine_class(name: str) -> type[Engine]:
    """The class called ``name``, or written out as ``module:Class``."""
    if name not in ENGINES and ":" not in name:
        raise EngineError(*_unknown("engine", name, list(ENGINES)), again=False, usage=True)
    module, _, attribute = ENGINES.get(name, name).partition(":")
    try:
        found: type[Engine] = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise EngineError(
            f"The engine {name} cannot be loaded: {error}.", "Install what it needs.", again=False
        ) from None
    if not callable(found):
        raise EngineError(f"{name} is no class.", _WANTED, again=False)
    return found


def make_engine(name: str, config: Config, stage: Stage) -> Engine:
    """A ready engine by name.

    A class that has a ``for_stage(config, stage)`` is made by it, for it may serve both stages with
    different models; any other by its constructor, which gets the whole config. What the preset says of its
    engines' model and server counts where the settings say nothing.
    """
    made = engine_class(name)
    pair = preset(config.engine)
    if name.removesuffix("-sound") == getattr(pair, stage):
        own = config.stage1 if stage == "stage1" else config.stage2
        url = own.base_url or config.openai.base_url or pair.url
        more = {"model": own.model or pair.model, "base_url": url}
        # What ``auto`` stands for: an engine may go by the kind of its server.
        word = best_here() if config.engine == "auto" else config.engine
        config = config.model_copy(update={"engine": word, stage: own.model_copy(update=more)})
    for_stage: Callable[[Config, Stage], Engine] | None = getattr(made, "for_stage", None)
    if for_stage is not None:
        return for_stage(config, stage)
    engine: object = made(config)  # type: ignore[call-arg]  # a Protocol declares no constructor
    if not isinstance(engine, Engine):
        raise EngineError(f"{name} is no engine.", _WANTED, again=False)
    return engine


def stage_engines(config: Config) -> Preset:
    """The engines' names for both stages: ``stage1.engine`` and ``stage2.engine`` override the preset."""
    pair = preset(config.engine)
    return Preset(config.stage1.engine or pair.stage1, config.stage2.engine or pair.stage2)


@cache
def best_here() -> str:
    """The local server's model that the user chose once, where that runs; ``paper`` where both of its models
    and a GPU that holds them are; else ``embedded``."""
    if (word := chosen()) and answers(word):
        return word
    if not all(importlib.util.find_spec(module) for module in ("torch", "transformers")):
        return EVERYWHERE
    from shotad.engines.local_model import at_hand

    if not all(at_hand(model) for model in PAPER_MODELS):
        return EVERYWHERE
    import torch

    if not torch.cuda.is_available():
        return EVERYWHERE
    memory = torch.cuda.get_device_properties(0).total_memory
    return "paper" if memory >= PAPER_MEMORY else EVERYWHERE


def _unknown(what: str, name: str, known: list[str]) -> tuple[str, str]:
    meant = did_you_mean(name, known)
    return f"There is no {what} called {name!r}.", f"{meant}Known: {', '.join(known)}."
