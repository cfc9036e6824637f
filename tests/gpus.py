"""GPUs that this machine does not have, as torch tells of them; models that are loaded onto them stay on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
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
    """Several GPUs. ``loads`` are the names of the models that were loaded, ``device_maps`` say where to;
    ``sizes`` are the rows of each batch, ``failed`` those of the batches that were too large.

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
        self.sizes: list[int] = []
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
            monkeypatch.setattr(kind, "from_pretrained", self._loader(kind.from_pretrained, weight_bytes))
        whole_generate = transformers.GenerationMixin.generate

        def generate(model: Any, **options: Any) -> Any:
            self.sizes.append(len(options["input_ids"]))
            ids = whole_generate(model, **options)
            for card in cards:
                card.peak = ids.numel() * self.bytes_per_token if card.weights else 0
                if card.peak > card.free:
                    self.failed.append(len(ids))
                    raise torch.OutOfMemoryError("CUDA out of memory.")
            return ids

        monkeypatch.setattr(transformers.GenerationMixin, "generate", generate)

    def _loader(self, whole: Callable[..., Any], weight_bytes: Callable[[str], int]) -> Any:
        import weakref

        def load(folder: Any, **options: Any) -> Any:
            device_map = options.pop("device_map")
            self.device_maps[folder.name] = device_map
            self.loads.append(folder.name)
            model, report = whole(folder, **options)
            holders = {device.index for device in device_map.values()}
            for index in holders:
                self.cards[index].weights[folder.name] = weight_bytes(folder.name) // len(holders)

            def free() -> None:
                for index in holders:
                    self.cards[index].weights.pop(folder.name, None)

            weakref.finalize(model, free)
            return model, report

        return load
