"""The shelf: models are shared, and put away where another does not fit beside them."""

from __future__ import annotations

import threading
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch

from shotad.core import ComputeSettings, EngineError, LocalSettings
from shotad.engines.local.loading import Loaded, Way
from shotad.engines.local.model_cache import Shelf
from shotad.engines.local.names import ModelPlace

CPU = ComputeSettings(device="cpu", precision="float32")
LOCAL = LocalSettings()
GB = 1_000_000_000


class Model:
    """Takes memory while it lives."""


class Machine:
    """A meter and a loader: models take the memory that their size says, and give it back when they die."""

    def __init__(self, total: int, sizes: dict[str, int], told: bool = True) -> None:
        self.total_bytes, self.sizes, self.told = total, sizes, told
        self.loads: list[str] = []
        self._alive: list[tuple[weakref.ref[Model], int]] = []

    def shelf(self) -> Shelf:
        return Shelf(self, self.read, lambda way: self.sizes[way.place.label])

    def free(self, device: torch.device) -> int | None:
        return self._left() if self.told else None

    def total(self, device: torch.device) -> int | None:
        return self.total_bytes

    def read(self, way: Way) -> Loaded:
        label = way.place.label
        self.loads.append(label)
        if self.sizes[label] > self._left():
            raise torch.OutOfMemoryError("CUDA out of memory.")
        model = Model()
        self._alive.append((weakref.ref(model), self.sizes[label]))
        return Loaded(model, way.device, way.dtype, label)

    def _left(self) -> int:
        return self.total_bytes - sum(size for model, size in self._alive if model() is not None)


def take(shelf: Shelf, label: str, **local: Any) -> Loaded:
    return shelf.take(ModelPlace(Path("/models") / label, label, "1"), "text", CPU, LocalSettings(**local))


def test_a_model_is_loaded_once() -> None:
    machine = Machine(100 * GB, {"a": 10 * GB})
    shelf = machine.shelf()
    assert take(shelf, "a") is take(shelf, "a")
    assert machine.loads == ["a"]
    take(shelf, "a", attention="eager")
    assert machine.loads == ["a", "a"], "another attention is another model"


def test_both_stay_where_both_fit() -> None:
    machine = Machine(100 * GB, {"a": 16 * GB, "b": 16 * GB})
    shelf = machine.shelf()
    for _ in range(3):
        take(shelf, "a")
        take(shelf, "b")
    assert machine.loads == ["a", "b"]
    assert shelf.labels == ("a", "b")


def test_the_other_is_put_away_where_they_do_not() -> None:
    machine = Machine(24 * GB, {"a": 16 * GB, "b": 16 * GB})
    shelf = machine.shelf()
    take(shelf, "a")
    take(shelf, "b")
    assert shelf.labels == ("b",)
    take(shelf, "a")
    assert shelf.labels == ("a",)
    assert machine.loads == ["a", "b", "a"]


def test_that_used_longest_ago_goes_first_and_no_more_than_must() -> None:
    machine = Machine(50 * GB, {"a": 10 * GB, "b": 10 * GB, "c": 10 * GB, "d": 20 * GB})
    shelf = machine.shelf()
    for label in "abca":
        take(shelf, label)
    take(shelf, "d")
    assert shelf.labels == ("c", "a", "d")


def test_memory_that_runs_out_while_loading_puts_the_others_away() -> None:
    machine = Machine(24 * GB, {"a": 16 * GB, "b": 16 * GB}, told=False)
    shelf = machine.shelf()
    take(shelf, "a")
    take(shelf, "b")
    assert machine.loads == ["a", "b", "b"]
    assert shelf.labels == ("b",)


def test_one_that_does_not_fit_even_alone_is_refused() -> None:
    machine = Machine(24 * GB, {"a": 16 * GB, "giant": 140 * GB})
    shelf = machine.shelf()
    take(shelf, "a")
    with pytest.raises(EngineError, match=r"giant does not fit .* about 140\.0 GB in float32") as caught:
        take(shelf, "giant")
    assert "4bit" in caught.value.hint
    assert take(shelf, "a").label == "a", "and the shelf still works"


def test_other_errors_pass() -> None:
    def broken(way: Way) -> Loaded:
        raise ValueError("no model")

    with pytest.raises(ValueError, match="no model"):
        take(Shelf(Machine(GB, {"a": 1}), broken, lambda way: 1), "a")


def test_all_but_one_are_put_away_when_it_needs_room_to_work() -> None:
    machine = Machine(100 * GB, {"a": GB, "b": GB, "c": GB})
    shelf = machine.shelf()
    for label in "abc":
        take(shelf, label)
    shelf.keep_only(take(shelf, "b"))
    assert shelf.labels == ("b",)
    assert machine.free(torch.device("cpu")) == 99 * GB


def test_threads_take_turns() -> None:
    shelf = Machine(24 * GB, {"a": 16 * GB, "b": 16 * GB}).shelf()
    busy, most, wrong = [0], [0], []

    def use(label: str) -> None:
        place = ModelPlace(Path("/models") / label, label, "1")
        for _ in range(30):
            with shelf.lent(place, "text", CPU, LOCAL) as loaded:
                busy[0] += 1
                most[0] = max(most[0], busy[0])
                if shelf.labels[-1] != label or loaded.label != label:
                    wrong.append(label)
                busy[0] -= 1

    threads = [threading.Thread(target=use, args=(label,)) for label in "abab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, wrong) == ([1], [])
