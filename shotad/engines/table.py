"""Engines by name, and the model servers on this machine: which are running, and which the user chose.

The module of an engine is imported when the engine is made. The documentation of each server says where it
listens and how it lists models: Ollama (``/api/tags``,
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

from shotad.core import Config, Engine
from shotad.core.engine import Stage
from shotad.core.errors import EngineError, did_you_mean
from shotad.core.files import remove_file
from shotad.core.installation import missing_library_error
from shotad.core.trust import user_folder

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
"""The class of each engine, as ``module:Class``. It is called with the whole `Config`."""


@dataclass(frozen=True, slots=True)
class Preset:
    """The engines of Stage I and II by name; ``model`` and ``url`` count where the settings name none."""

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

_ENGINE_HINT = "An engine is a class whose objects have identity, abilities and generate (docs/engines.md)."

FALLBACK_PRESET = "embedded"
"""The preset that ``auto`` stands for where nothing better can run: it runs on every machine."""
PAPER_MODELS = ("qwen2-vl-7b", "llama3-8b")
PAPER_MEMORY = 20e9
"""Bytes of GPU memory that the larger of the two models needs; they are loaded one after the other."""


def preset(name: str) -> Preset:
    """The preset called ``name``; ``auto`` is the best that this machine can run without fetching models.

    ``KIND:MODEL`` is a model of a server on this machine, for both stages. Raises EngineError for other
    names.
    """
    preset_name = best_preset() if name == "auto" else name
    server_model = named(preset_name)
    if server_model is not None:
        kind, model = server_model
        return Preset(kind.engine, kind.engine, model, kind.url)
    if preset_name not in PRESETS:
        names = ["auto", *PRESETS, *[f"{kind.word}:MODEL" for kind in KINDS]]
        raise EngineError(*_unknown_name("engine preset", name, names), again=False, usage=True)
    return PRESETS[preset_name]


def engine_class(name: str) -> type[Engine]:
    """The class of an engine by name, or by ``module:Class``. Raises EngineError."""
    if name not in ENGINES and ":" not in name:
        raise EngineError(*_unknown_name("engine", name, list(ENGINES)), again=False, usage=True)
    module, _, attribute = ENGINES.get(name, name).partition(":")
    try:
        engine_type: type[Engine] = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        missing = missing_library_error(error)
        if missing is not None:
            problem = f"The engine {name} cannot be loaded. {missing.what}"
            raise EngineError(problem, missing.hint, again=False) from None
        raise EngineError(
            f"The engine {name} cannot be loaded: {error}.", "Install what it needs.", again=False
        ) from None
    if not callable(engine_type):
        raise EngineError(f"{name} is no class.", _ENGINE_HINT, again=False)
    return engine_type


def make_engine(name: str, config: Config, stage: Stage) -> Engine:
    """The engine called ``name`` for a stage. Raises EngineError.

    It is made by ``for_stage(config, stage)`` where its class has that, else by the constructor, which gets
    the config. Model and server of the preset count where the settings name none.
    """
    engine_type = engine_class(name)
    pair = preset(config.engine)
    # A preset says nothing of an engine that the settings chose in place of its own.
    if name.removesuffix("-sound") == getattr(pair, stage):
        stage_settings = config.stage1 if stage == "stage1" else config.stage2
        url = stage_settings.base_url or config.openai.base_url or pair.url
        changes = {"model": stage_settings.model or pair.model, "base_url": url}
        # An engine may depend on the kind of its server, which "auto" does not name.
        preset_name = best_preset() if config.engine == "auto" else config.engine
        stage_settings = stage_settings.model_copy(update=changes)
        config = config.model_copy(update={"engine": preset_name, stage: stage_settings})
    for_stage: Callable[[Config, Stage], Engine] | None = getattr(engine_type, "for_stage", None)
    if for_stage is not None:
        return for_stage(config, stage)
    engine: object = engine_type(config)  # type: ignore[call-arg]  # a Protocol declares no constructor
    if not isinstance(engine, Engine):
        raise EngineError(f"{name} is no engine.", _ENGINE_HINT, again=False)
    return engine


def stage_engines(config: Config) -> Preset:
    """The names of the engines of both stages: ``stage1.engine`` and ``stage2.engine``, else those of the
    preset."""
    pair = preset(config.engine)
    return Preset(config.stage1.engine or pair.stage1, config.stage2.engine or pair.stage2)


@functools.cache
def best_preset() -> str:
    """The preset that ``auto`` stands for: the server's model that the user chose, if it runs; ``paper``
    where it can run; else ``embedded``."""
    model = chosen_model()
    if model and is_running(model):
        return model
    if not all(importlib.util.find_spec(module) for module in ("torch", "transformers")):
        return FALLBACK_PRESET
    # Imports in the order of their cost: torch takes seconds.
    from shotad.engines.local_model import place_on_disk

    if not all(place_on_disk(model) for model in PAPER_MODELS):
        return FALLBACK_PRESET
    import torch

    if not torch.cuda.is_available():
        return FALLBACK_PRESET
    # A model too large for one card is spread over all.
    cards = range(torch.cuda.device_count())
    memory = sum(torch.cuda.get_device_properties(card).total_memory for card in cards)
    return "paper" if memory >= PAPER_MEMORY else FALLBACK_PRESET


def _unknown_name(kind: str, name: str, names: list[str]) -> tuple[str, str]:
    """Message and hint for a ``name`` that is not among ``names``."""
    suggestion = did_you_mean(name, names)
    return f"There is no {kind} called {name!r}.", f"{suggestion}Known: {', '.join(names)}."


PATIENCE = 0.3
"""Seconds that the search for servers may take, for all together."""
_MAX_ANSWER_BYTES = 1 << 20
"""Bytes that are read of an answer: another program may listen there, and send without end."""


@dataclass(frozen=True, slots=True)
class EngineKind:
    """A program that serves models.

    ``word`` stands for it in ``--engine WORD:MODEL``, ``title`` is its name, ``usual`` its default address,
    ``engine`` the name of the engine that calls it.
    """

    word: str
    title: str
    usual: str
    engine: str = "openai"

    @property
    def url(self) -> str:
        """The address of the server: the default one, or that of ``OLLAMA_HOST`` for Ollama."""
        host = os.environ.get("OLLAMA_HOST", "").strip() if self.word == "ollama" else ""
        if not host:
            return self.usual
        site = host.partition("://")[2] or host
        # Ollama's own server reads the variable too: 0.0.0.0 means that it listens at every address of this
        # machine, and cannot be called.
        site = site.rstrip("/").replace("0.0.0.0", "localhost")
        scheme = "https" if host.startswith("https://") else "http"
        return f"{scheme}://{site}" if ":" in site or "://" in host else f"http://{site}:11434"


KINDS = (
    EngineKind("ollama", "Ollama", "http://localhost:11434", "ollama"),
    EngineKind("lmstudio", "LM Studio", "http://localhost:1234/v1"),
    EngineKind("llamacpp", "llama.cpp", "http://localhost:8080/v1"),
    EngineKind("vllm", "vLLM", "http://localhost:8000/v1"),
)


def named(word: str) -> tuple[EngineKind, str] | None:
    """Kind of server and model of ``KIND:MODEL``, such as ``ollama:qwen2.5vl:7b``; None for other names."""
    kind_word, _, model = word.partition(":")
    for kind in KINDS:
        if kind.word == kind_word and model:
            return kind, model
    return None


def _server_text(kind: EngineKind, models: Mapping[str, bool | None]) -> str:
    """A line about a server: ``Ollama, with vision: ollama:qwen2.5vl:7b``.

    ``models``: whether each model takes images; None where the server does not say.
    """
    with_vision = [word for word, sees in models.items() if sees]
    not_known = [word for word, sees in models.items() if sees is None]
    if with_vision:
        return f"{kind.title}, with vision: {', '.join(with_vision)}"
    if not_known:
        return f"{kind.title}, which does not tell whether its models see: {', '.join(not_known)}"
    return f"{kind.title}, without a model that sees"


@functools.cache
def running_servers() -> dict[str, tuple[str, ...]]:
    """The models of each server that answers on this machine, as ``--engine`` takes them, by a line about the
    server, in the order of `KINDS`.

    The servers are searched once per process, for `PATIENCE` seconds at most. Only requests for their lists
    of models are sent.
    """
    models_of_kinds: dict[str, dict[str, bool | None]] = {}

    def ask(kind: EngineKind) -> None:
        try:
            models = dict(_models_of(kind, kind.url.removesuffix("/v1")))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return  # no server, or another program
        models_of_kinds[kind.word] = models

    threads = [threading.Thread(target=ask, args=(kind,), daemon=True) for kind in KINDS]
    deadline = time.monotonic() + PATIENCE
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    # A copy: a thread that is late may still add to it.
    answered = dict(models_of_kinds)
    servers: dict[str, tuple[str, ...]] = {}
    for kind in KINDS:
        models = answered.get(kind.word)
        if models:
            servers[_server_text(kind, models)] = tuple(models)
    return servers


def _fetch(url: str, body: Mapping[str, Any] | None = None) -> Any:
    """The answer of a local server, read as JSON, to a POST of ``body``, or to a GET without one.

    Raises OSError and ValueError.
    """
    data = None if body is None else json.dumps(body).encode()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # no proxy for this machine
    with opener.open(urllib.request.Request(url, data), timeout=PATIENCE) as answer:
        return json.loads(answer.read(_MAX_ANSWER_BYTES))


def _models_of(kind: EngineKind, url: str) -> Iterator[tuple[str, bool | None]]:
    """Yield each model of a server as ``KIND:MODEL``, and whether it takes images (None: not known).

    Where another program has that address, it yields nothing or raises an error (see `running_servers`).
    """
    if kind.word == "ollama":
        for entry in _fetch(f"{url}/api/tags")["models"]:
            capabilities = entry.get("capabilities")
            if capabilities is None:  # the list has them since 2026 only
                details = _fetch(f"{url}/api/show", {"model": entry["name"]})
                capabilities = details.get("capabilities", ())
            # Models without completion make embeddings.
            if not capabilities or "completion" in capabilities:
                sees = "vision" in capabilities if capabilities else None
                yield f"{kind.word}:{entry['name']}", sees
        return
    # LM Studio says only there whether a model takes images.
    path = "api/v0" if kind.word == "lmstudio" else "v1"
    for entry in _fetch(f"{url}/{path}/models")["data"]:
        word = f"{kind.word}:{entry['id']}"
        if kind.word == "lmstudio" and entry["type"] in ("llm", "vlm"):
            yield word, entry["type"] == "vlm"
        elif kind.word == "vllm" and entry.get("owned_by") == "vllm":
            yield word, None
        elif kind.word == "llamacpp" and entry.get("owned_by") == "llamacpp":
            modalities = _fetch(f"{url}/props").get("modalities", {})
            yield word, modalities.get("vision")


def _choice_file() -> Path:
    """The file of the user that holds the choice of `choose_model`."""
    return user_folder() / "engine"


def chosen_model() -> str:
    """The server's model that the user chose for ``auto`` (``shotad doctor --use``); empty without one."""
    try:
        word = _choice_file().read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""
    return word if named(word) else ""


def choose_model(word: str) -> None:
    """Save the server's model that ``auto`` takes from now on; an empty word removes the choice.

    Raises EngineError for a model that no running server has.
    """
    file = _choice_file()
    if not word:
        remove_file(file)
        return
    if not is_running(word):
        running_models: list[str] = []
        for models in running_servers().values():
            running_models += models
        hint = "No model server runs on this machine now."
        if running_models:
            hint = f"Running now: {', '.join(running_models)}."
        raise EngineError(f"No running server has {word!r}.", hint, again=False, usage=True)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(word + "\n", encoding="utf-8")


def is_running(word: str) -> bool:
    """Whether a server runs now that has the model ``word`` (``KIND:MODEL``)."""
    latest = ":latest"  # Ollama adds it to a name without a tag
    for models in running_servers().values():
        if word.removesuffix(latest) in [model.removesuffix(latest) for model in models]:
            return True
    return False
