"""Model servers of this machine: which are known, which run, and which one the user chose once.

Where each listens, and what it says of its models, is as its own documentation has it: Ollama
(``/api/tags``, ``/api/show``), LM Studio (``/api/v0/models``), llama.cpp's server (``/v1/models``,
``/props``), vLLM (``/v1/models``).
"""

from __future__ import annotations

import functools
import json
import os
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from shotad.core import EngineError

PATIENCE = 0.3
"""Seconds that looking for servers takes at most, all together."""
_MOST = 1 << 20
"""Bytes of an answer that are read."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A program that serves models: its ``word`` for ``--engine WORD:MODEL``, its name, where it listens by
    default, and the engine that speaks with it."""

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
    """The kind of server and the model that ``KIND:MODEL`` names, as in ``ollama:qwen2.5vl:7b``; None for a
    word of another form."""
    kind, _, model = word.partition(":")
    found = next((one for one in KINDS if one.word == kind), None)
    return (found, model) if found and model else None


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers. ``models``, as ``--engine`` takes them: whether each takes pictures, None where
    the server does not tell."""

    kind: Kind
    models: Mapping[str, bool | None]

    @property
    def told(self) -> str:
        """For people: ``Ollama, with vision: ollama:qwen2.5vl:7b``."""
        able = [word for word, sees in self.models.items() if sees]
        unknown = [word for word, sees in self.models.items() if sees is None]
        if able:
            return f"{self.kind.title}, with vision: {', '.join(able)}"
        if unknown:
            return f"{self.kind.title}, which does not tell whether its models see: {', '.join(unknown)}"
        return f"{self.kind.title}, without a model that sees"


@functools.cache
def running() -> tuple[Server, ...]:
    """The servers that answer on this machine, in the order of `KINDS`; looked for once, `PATIENCE` at most.

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
    return tuple(Server(kind, seen[kind.word]) for kind in KINDS if seen.get(kind.word))


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
    folder = os.environ.get("SHOTAD_CONFIG") or platformdirs.user_config_dir("shotad")
    return Path(folder) / "engine"


def chosen() -> str:
    """The server's model that ``auto`` shall take, as ``shotad doctor --use`` noted it; empty: none."""
    try:
        word = _choice_file().read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""
    return word if named(word) else ""


def choose(word: str) -> None:
    """Note that ``auto`` shall take this server's model from now on; an empty word: none.

    Raises EngineError for a word of another form, and for a model that no running server has.
    """
    file = _choice_file()
    if not word:
        file.unlink(missing_ok=True)
        return
    if not answers(word):
        here = [word for server in running() for word in server.models]
        hint = f"Running now: {', '.join(here)}." if here else "No model server runs on this machine now."
        raise EngineError(f"No running server has {word!r}.", hint, again=False, usage=True)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(word + "\n", encoding="utf-8")


def answers(word: str) -> bool:
    """Whether the server of this word runs now and has the model."""
    latest = ":latest"  # what Ollama adds to a name without a tag
    here = {one.removesuffix(latest) for server in running() for one in server.models}
    return word.removesuffix(latest) in here
