"""Loaded models are shared, and put away where another does not fit beside them."""

from __future__ import annotations

import threading
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch

from shotad.core import ComputeSettings, EngineError, LocalSettings
from shotad.engines.local_loading import Loaded, ModelCache, Way
from shotad.engines.local_model import ModelPlace

CPU = ComputeSettings(device="cpu", precision="float32")
GB = 1_000_000_000


class Model:
    """Takes memory while it lives."""


class Machine:
    """Models take the memory that their size says, and give it back when they die."""

    def __init__(self, total: int, told: bool = True, **sizes: int) -> None:
        self.total_bytes, self.sizes, self.told = total * GB, sizes, told
        self.loads = ""
        self._alive: list[tuple[weakref.ref[Model], int]] = []
        self.cache = ModelCache(self.read, self.size, lambda _: self.left() if self.told else None)

    def size(self, way: Way) -> int:
        return self.sizes[way.place.label] * GB

    def read(self, way: Way) -> Loaded:
        self.loads += way.place.label
        if self.size(way) > self.left():
            raise torch.OutOfMemoryError("CUDA out of memory.")
        model = Model()
        self._alive.append((weakref.ref(model), self.size(way)))
        return Loaded(model, way.device, way.dtype, way.place.label)

    def left(self) -> int:
        return self.total_bytes - sum(size for model, size in self._alive if model() is not None)

    def take(self, label: str, **local: Any) -> Loaded:
        place = ModelPlace(Path("/models") / label, label, "1")
        return self.cache.take(place, "text", CPU, LocalSettings(**local))


@pytest.mark.parametrize(
    ("machine", "taken", "loads"),
    [
        (Machine(100, a=16, b=16), "aababab", "ab"),
        (Machine(24, a=16, b=16), "aba", "aba"),
        (Machine(24, told=False, a=16, b=16), "ab", "abb"),  # memory runs out at loading
    ],
)
def test_models_stay_where_they_fit_and_give_way_elsewhere(machine: Machine, taken: str, loads: str) -> None:
    assert [machine.take(label).label for label in taken] == list(taken)
    assert machine.loads == loads


def test_one_that_does_not_fit_is_refused_and_other_errors_pass() -> None:
    machine = Machine(24, a=16, g=140)
    machine.take("a")
    with pytest.raises(EngineError, match=r"g does not fit .* about 140\.0 GB in float32") as caught:
        machine.take("g")
    assert "4bit" in caught.value.hint
    assert machine.take("a").label == "a", "and the cache still works"

    def broken(way: Way) -> Loaded:
        raise ValueError("no model")

    with pytest.raises(ValueError, match="no model"):
        take(ModelCache(broken, lambda way: 1), "a")


def test_threads_take_turns() -> None:
    cache = Machine(24, a=16, b=16).cache
    busy, most, wrong = [0], [0], []

    def use(label: str) -> None:
        place = ModelPlace(Path("/models") / label, label, "1")
        for _ in range(30):
            with cache.lent(place, "text", CPU, LocalSettings()) as loaded:
                busy[0] += 1
                most[0] = max(most[0], busy[0])
                if loaded.model is None or loaded.label != label:
                    wrong.append(label)
                busy[0] -= 1

    threads = [threading.Thread(target=use, args=(label,)) for label in "abab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, wrong) == ([1], [])


def take(cache: ModelCache, label: str, **local: Any) -> Loaded:
    return cache.take(ModelPlace(Path("/models") / label, label, "1"), "text", CPU, LocalSettings(**local))
