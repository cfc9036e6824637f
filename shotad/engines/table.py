"""Engines by name, imported when asked for, and this machine's model servers: known, running, chosen.

Each server's own documentation says where it listens and how it lists models: Ollama (``/api/tags``,
``/api/show``), LM Studio (``/api/v0/models``), llama.cpp (``/v1/models``, ``/props``), vLLM (``/v1/models``).
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import json
import os
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shotad.core import Config, Engine, EngineError, Stage, did_you_mean, user_folder

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
    """A pair of engines for Stage I and II; their model and server, where the settings name none."""

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
    word = best_here() if name == "auto" else name
    if (local := named(word)) is not None:
        kind, model = local
        return Preset(kind.engine, kind.engine, model, kind.url)
    if word not in PRESETS:
        known = ["auto", *PRESETS, *(f"{kind.word}:MODEL" for kind in KINDS)]
        raise EngineError(*_unknown("engine preset", name, known), again=False, usage=True)
    return PRESETS[word]


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

    A class with a ``for_stage(config, stage)`` is made by it; any other by its constructor, which gets the
    config. What the preset says of its engines' model and server counts where the settings say nothing.
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


@functools.cache
def best_here() -> str:
    """The server's model that the user chose, if it runs; ``paper`` where that can run; else ``embedded``."""
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


PATIENCE = 0.3
"""Seconds that looking for servers takes at most, all together."""
_MOST = 1 << 20
"""Bytes of an answer that are read."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A program that serves models: its ``word`` in ``--engine WORD:MODEL``, its name, address and engine."""

    word: str
    title: str
    usual: str
    engine: str = "openai"

    @property
    def url(self) -> str:
        """Where the server is: on this machine, or where ``OLLAMA_HOST`` says that Ollama is."""
        host = os.environ.get("OLLAMA_HOST", "").strip() if self.word == "ollama" else ""
        if not host:
            return self.usual
        site = host.partition("://")[2] or host
        # What a server listens to ("every address of this machine") is nowhere to call.
        site = site.rstrip("/").replace("0.0.0.0", "localhost")
        scheme = "https" if host.startswith("https://") else "http"
        return f"{scheme}://{site}" if ":" in site or "://" in host else f"http://{site}:11434"


KINDS = (
    Kind("ollama", "Ollama", "http://localhost:11434", "ollama"),
    Kind("lmstudio", "LM Studio", "http://localhost:1234/v1"),
    Kind("llamacpp", "llama.cpp", "http://localhost:8080/v1"),
    Kind("vllm", "vLLM", "http://localhost:8000/v1"),
)


def named(word: str) -> tuple[Kind, str] | None:
    """The kind of server and model that ``KIND:MODEL`` names (``ollama:qwen2.5vl:7b``); None for others."""
    kind, _, model = word.partition(":")
    found = next((one for one in KINDS if one.word == kind), None)
    return (found, model) if found and model else None


def _told(kind: Kind, models: Mapping[str, bool | None]) -> str:
    """A server for people: ``Ollama, with vision: ollama:qwen2.5vl:7b``."""
    able = [word for word, sees in models.items() if sees]
    unknown = [word for word, sees in models.items() if sees is None]
    if able:
        return f"{kind.title}, with vision: {', '.join(able)}"
    if unknown:
        return f"{kind.title}, which does not tell whether its models see: {', '.join(unknown)}"
    return f"{kind.title}, without a model that sees"


@functools.cache
def running() -> dict[str, tuple[str, ...]]:
    """What to tell of each server that answers on this machine, in the order of `KINDS`, and its models, as
    ``--engine`` takes them; looked for once, `PATIENCE` at most.

    Nothing but questions for their lists of models is sent.
    """
    found: dict[str, dict[str, bool | None]] = {}

    def ask(kind: Kind) -> None:
        try:
            models = dict(_models_of(kind, kind.url.removesuffix("/v1")))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return  # nobody there, or somebody else
        found[kind.word] = models

    threads = [threading.Thread(target=ask, args=(kind,), daemon=True) for kind in KINDS]
    until = time.monotonic() + PATIENCE
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    seen = dict(found)
    here = [(kind, seen[kind.word]) for kind in KINDS if seen.get(kind.word)]
    return {_told(kind, models): tuple(models) for kind, models in here}


def _fetch(url: str, body: Mapping[str, Any] | None = None) -> Any:
    """What a local server answers, as JSON. Raises OSError and ValueError."""
    data = None if body is None else json.dumps(body).encode()
    straight = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with straight.open(urllib.request.Request(url, data), timeout=PATIENCE) as answer:
        return json.loads(answer.read(_MOST))


def _models_of(kind: Kind, url: str) -> Iterator[tuple[str, bool | None]]:
    """The models that a server lists; for another program at its address nothing, or an error."""
    if kind.word == "ollama":
        for entry in _fetch(f"{url}/api/tags")["models"]:
            able = entry.get("capabilities")
            if able is None:  # before 2026 the list did not say
                able = _fetch(f"{url}/api/show", {"model": entry["name"]}).get("capabilities", ())
            if not able or "completion" in able:
                yield f"{kind.word}:{entry['name']}", "vision" in able if able else None
        return
    for entry in _fetch(f"{url}/{'api/v0' if kind.word == 'lmstudio' else 'v1'}/models")["data"]:
        word = f"{kind.word}:{entry['id']}"
        if kind.word == "lmstudio" and entry["type"] in ("llm", "vlm"):
            yield word, entry["type"] == "vlm"
        elif kind.word == "vllm" and entry.get("owned_by") == "vllm":
            yield word, None
        elif kind.word == "llamacpp" and entry.get("owned_by") == "llamacpp":
            yield word, _fetch(f"{url}/props").get("modalities", {}).get("vision")


def _choice_file() -> Path:
    return user_folder() / "engine"


def chosen() -> str:
    """The server's model that ``auto`` shall take, as ``shotad doctor --use`` noted it; empty: none."""
    try:
        word = _choice_file().read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""
    return word if named(word) else ""


def choose(word: str) -> None:
    """Note what ``auto`` shall take from now on; an empty word: none. Raises EngineError if not here."""
    file = _choice_file()
    if not word:
        file.unlink(missing_ok=True)
        return
    if not answers(word):
        here = [word for models in running().values() for word in models]
        hint = f"Running now: {', '.join(here)}." if here else "No model server runs on this machine now."
        raise EngineError(f"No running server has {word!r}.", hint, again=False, usage=True)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(word + "\n", encoding="utf-8")


def answers(word: str) -> bool:
    """Whether the server of this word runs now and has the model."""
    latest = ":latest"  # what Ollama adds to a name without a tag
    here = {one.removesuffix(latest) for models in running().values() for one in models}
    return word.removesuffix(latest) in here
