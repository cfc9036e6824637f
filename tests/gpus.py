"""GPUs that this machine does not have, as torch tells of them; models that are loaded onto them stay on the CPU."""

from __future__ import annotations

import importlib
import importlib.util
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest


def show_gpus(
    monkeypatch: pytest.MonkeyPatch, count: int, *, capability: tuple[int, int] = (8, 0), memory: int = 0
) -> None:
    """Have torch tell of so many CUDA devices, each with so many bytes of ``memory``."""
    cuda = pytest.importorskip("torch").cuda
    told = {
        "is_available": lambda: count > 0,
        "device_count": lambda: count,
        "get_device_capability": lambda device: capability,
        "get_device_properties": lambda device: SimpleNamespace(total_memory=memory),
    }
    for name, answer in told.items():
        monkeypatch.setattr(cuda, name, answer)


@dataclass
class Card:
    """A GPU: its bytes, what it can do, what other programs take, and what models and batches of ours take."""

    memory: int
    capability: tuple[int, int] = (8, 0)
    taken_by_others: int = 0
    weights: dict[str, int] = field(default_factory=dict)
    """By the names of the folders of the models that are loaded here."""
    peak: int = 0

    @property
    def allocated(self) -> int:
        return sum(self.weights.values())

    @property
    def free(self) -> int:
        return self.memory - self.taken_by_others - self.allocated


class Cards:
    """Several GPUs. ``loads`` are the names of the models that were loaded, ``device_maps`` say where to,
    ``together`` which were on a card when one was loaded; ``sizes`` are the rows of each batch of answers, ``encoded``
    those of each batch of an embedder, ``failed`` those
    of the batches that were too large.

    ``weight_bytes`` is what a model's folder takes of them; a batch takes ``bytes_per_token`` on each card.
    """

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        cards: list[Card],
        weight_bytes: Callable[[str], int] = lambda name: 0,
        bytes_per_token: int = 0,
    ) -> None:
        import torch
        import transformers

        self.cards = cards
        self.device_maps: dict[str, dict[str, torch.device]] = {}
        self.loads: list[str] = []
        self.together: list[set[str]] = []
        self._weight_bytes = weight_bytes
        self.sizes: list[int] = []
        self.encoded: list[int] = []
        self.failed: list[int] = []
        self.bytes_per_token = bytes_per_token
        show_gpus(monkeypatch, len(cards))

        def number(device: Any) -> int:
            return device if isinstance(device, int) else torch.device(device).index or 0

        told: dict[str, Callable[[Any], Any]] = {
            "get_device_capability": lambda device: cards[number(device)].capability,
            "mem_get_info": lambda device: (cards[number(device)].free, cards[number(device)].memory),
            "memory_reserved": lambda device: cards[number(device)].allocated,
            "memory_allocated": lambda device: cards[number(device)].allocated,
            "max_memory_allocated": lambda device: (
                cards[number(device)].allocated + cards[number(device)].peak
            ),
            "reset_peak_memory_stats": lambda device: setattr(cards[number(device)], "peak", 0),
        }
        for name, answer in told.items():
            monkeypatch.setattr(torch.cuda, name, answer)
        monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)

        for kind in (transformers.AutoModelForCausalLM, transformers.AutoModelForImageTextToText):
            monkeypatch.setattr(kind, "from_pretrained", self._loader(kind.from_pretrained))
        self._take_encoders(monkeypatch)
        whole_generate = transformers.GenerationMixin.generate

        def generate(model: Any, **options: Any) -> Any:
            self.sizes.append(len(options["input_ids"]))
            ids = whole_generate(model, **options)
            self._work(len(ids), ids.numel())
            return ids

        monkeypatch.setattr(transformers.GenerationMixin, "generate", generate)

    def _work(self, rows: int, tokens: int) -> None:
        """Let a batch take memory. Raises OutOfMemoryError where a card has not so much."""
        import torch

        for card in self.cards:
            card.peak = tokens * self.bytes_per_token if card.weights else 0
            if card.peak > card.free:
                self.failed.append(rows)
                raise torch.OutOfMemoryError("CUDA out of memory.")

    def _hold(self, model: Any, name: str, holders: set[int]) -> None:
        """Let a model take memory of these cards until nobody has it any more."""
        for index in holders:
            self.cards[index].weights[name] = self._weight_bytes(name) // len(holders)
            self.together.append(set(self.cards[index].weights))

        def free() -> None:
            for index in holders:
                self.cards[index].weights.pop(name, None)

        weakref.finalize(model, free)

    def _loader(self, whole: Callable[..., Any]) -> Any:
        def load(folder: Any, **options: Any) -> Any:
            device_map = options.pop("device_map")
            self.device_maps[folder.name] = device_map
            self.loads.append(folder.name)
            model, report = whole(folder, **options)
            self._hold(model, folder.name, {device.index for device in device_map.values()})
            return model, report

        return load

    def _take_encoders(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The same of sentence-transformers models, and of encoders that are moved to a card by ``to``."""
        import torch

        whole_to = torch.nn.Module.to

        def to(module: torch.nn.Module, *places: Any, **options: Any) -> torch.nn.Module:
            device = places[0] if places else options.get("device")
            if not isinstance(device, torch.device) or device.type != "cuda":
                return whole_to(module, *places, **options)
            name = Path(module.name_or_path).name
            self.loads.append(name)
            self._hold(module, name, {device.index or 0})
            return module

        monkeypatch.setattr(torch.nn.Module, "to", to)
        if importlib.util.find_spec("sentence_transformers") is None:
            return
        library = importlib.import_module("sentence_transformers").SentenceTransformer
        whole_init, whole_encode = library.__init__, library.encode

        def init(model: Any, folder: str, *, device: str, **options: Any) -> None:
            whole_init(model, folder, device="cpu", **options)
            if device != "cpu":
                self.loads.append(Path(folder).name)
                self._hold(model, Path(folder).name, {torch.device(device).index or 0})

        def encode(model: Any, texts: list[str], *, prompt: str | None = None, **options: Any) -> Any:
            whole_texts = [(prompt or "") + text for text in texts]
            tokens = max(len(ids) for ids in model.tokenizer(whole_texts)["input_ids"])
            self.encoded.append(len(texts))
            self._work(len(texts), len(texts) * tokens)
            return whole_encode(model, texts, prompt=prompt, **options)

        monkeypatch.setattr(library, "__init__", init)
        monkeypatch.setattr(library, "encode", encode)
