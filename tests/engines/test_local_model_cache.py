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
LOCAL = LocalSettings()
GB = 1_000_000_000


class Model:
    """Takes memory while it lives."""


class Machine:
    """Models take the memory that their size says, and give it back when they die."""

    def __init__(self, total: int, sizes: dict[str, int], told: bool = True) -> None:
        self.total_bytes, self.sizes, self.told = total, sizes, told
        self.loads: list[str] = []
        self._alive: list[tuple[weakref.ref[Model], int]] = []

    def cache(self) -> ModelCache:
        told = (lambda _: self.left()) if self.told else (lambda _: None)
        return ModelCache(self.read, lambda way: self.sizes[way.place.label], told)

    def read(self, way: Way) -> Loaded:
        label = way.place.label
        self.loads.append(label)
        if self.sizes[label] > self.left():
            raise torch.OutOfMemoryError("CUDA out of memory.")
        model = Model()
        self._alive.append((weakref.ref(model), self.sizes[label]))
        return Loaded(model, way.device, way.dtype, label)

    def left(self) -> int:
        return self.total_bytes - sum(size for model, size in self._alive if model() is not None)


def take(cache: ModelCache, label: str, **local: Any) -> Loaded:
    return cache.take(ModelPlace(Path("/models") / label, label, "1"), "text", CPU, LocalSettings(**local))


def test_a_model_is_loaded_once_and_both_stay_where_both_fit() -> None:
    machine = Machine(100 * GB, {"a": 16 * GB, "b": 16 * GB})
    cache = machine.cache()
    assert take(cache, "a") is take(cache, "a")
    for _ in range(3):
        take(cache, "a")
        take(cache, "b")
    assert machine.loads == ["a", "b"]
    assert cache.labels == ("a", "b")


def test_the_other_is_put_away_where_they_do_not() -> None:
    machine = Machine(24 * GB, {"a": 16 * GB, "b": 16 * GB})
    cache = machine.cache()
    take(cache, "a")
    take(cache, "b")
    assert cache.labels == ("b",)
    take(cache, "a")
    assert cache.labels == ("a",)
    assert machine.loads == ["a", "b", "a"]


def test_that_used_longest_ago_goes_first_and_no_more_than_must() -> None:
    machine = Machine(50 * GB, {"a": 10 * GB, "b": 10 * GB, "c": 10 * GB, "d": 20 * GB})
    cache = machine.cache()
    for label in "abca":
        take(cache, label)
    take(cache, "d")
    assert cache.labels == ("c", "a", "d")


def test_memory_that_runs_out_while_loading_puts_the_others_away() -> None:
    machine = Machine(24 * GB, {"a": 16 * GB, "b": 16 * GB}, told=False)
    cache = machine.cache()
    take(cache, "a")
    take(cache, "b")
    assert machine.loads == ["a", "b", "b"]
    assert cache.labels == ("b",)


def test_one_that_does_not_fit_even_alone_is_refused() -> None:
    machine = Machine(24 * GB, {"a": 16 * GB, "giant": 140 * GB})
    cache = machine.cache()
    take(cache, "a")
    with pytest.raises(EngineError, match=r"giant does not fit .* about 140\.0 GB in float32") as caught:
        take(cache, "giant")
    assert "4bit" in caught.value.hint
    assert take(cache, "a").label == "a", "and the cache still works"


def test_other_errors_pass() -> None:
    def broken(way: Way) -> Loaded:
        raise ValueError("no model")

    with pytest.raises(ValueError, match="no model"):
        take(ModelCache(broken, lambda way: 1), "a")


def test_all_but_one_are_put_away_when_it_needs_room_to_work() -> None:
    machine = Machine(100 * GB, {"a": GB, "b": GB, "c": GB})
    cache = machine.cache()
    for label in "abc":
        take(cache, label)
    cache.keep_only(take(cache, "b"))
    assert cache.labels == ("b",)
    assert machine.left() == 99 * GB


def test_threads_take_turns() -> None:
    cache = Machine(24 * GB, {"a": 16 * GB, "b": 16 * GB}).cache()
    busy, most, wrong = [0], [0], []

    def use(label: str) -> None:
        place = ModelPlace(Path("/models") / label, label, "1")
        for _ in range(30):
            with cache.lent(place, "text", CPU, LOCAL) as loaded:
                busy[0] += 1
                most[0] = max(most[0], busy[0])
                if cache.labels[-1] != label or loaded.label != label:
                    wrong.append(label)
                busy[0] -= 1

    threads = [threading.Thread(target=use, args=(label,)) for label in "abab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, wrong) == ([1], [])
