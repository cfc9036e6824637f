"""Ray without a cluster: workers are objects of this process, called one after another, which may be lost.

``install`` puts it in Ray's place for the time of a test. `FakeRay.nodes_there` are its machines. A worker is
lost when its work raises `WorkerLost`: another one is made and handed the same rows, of whose results it
leaves out those that were handed on before, as Ray does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

Batch = dict[str, list[Any]]


class WorkerLost(BaseException):
    """The worker that is at work is gone."""


class RayError(Exception):
    """As Ray calls its own."""


@dataclass
class FakeNode:
    """A machine: what it has, the shotad on it (None: it does not answer, empty: none) and what it misses."""

    cpus: float = 8.0
    gpus: float = 0.0
    shotad: str | None = "here"
    misses: Sequence[str] = ()


@dataclass
class FakeRay:
    """The cluster, and what was asked of it."""

    nodes_there: list[FakeNode] = field(default_factory=lambda: [FakeNode()])
    started_with: dict[str, Any] | None = None
    """The arguments of ``ray.init``; None: nobody connected."""
    places_looked_for: list[str] = field(default_factory=list)
    workers: list[str] = field(default_factory=list)
    """The class of each worker that was made, in order."""
    on_start: Callable[[], None] = lambda: None
    """Called when the rows begin to flow."""

    # What a run calls

    def is_initialized(self) -> bool:
        return False

    def init(self, **arguments: Any) -> None:
        self.started_with = arguments

    def shutdown(self) -> None:
        """Nothing was started."""

    def nodes(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = [
            {
                "NodeID": f"{number:056x}",
                "NodeManagerAddress": f"10.0.0.{number}",
                "Alive": True,
                "Resources": {"CPU": node.cpus, "GPU": node.gpus},
            }
            for number, node in enumerate(self.nodes_there, 1)
        ]
        # One that takes no work, and one that is gone
        rows.append({"NodeID": "e" * 56, "Alive": True, "Resources": {}})
        rows.append({"NodeID": "f" * 56, "Alive": False})
        return rows

    def get_runtime_context(self) -> Any:
        return SimpleNamespace(get_node_id=lambda: f"{1:056x}")

    def remote(self, **options: Any) -> Callable[[Any], Any]:
        affinity = options["scheduling_strategy"]

        def decorate(work: Any) -> Any:
            if isinstance(work, type):
                return SimpleNamespace(remote=lambda: _Actor(work()))
            return SimpleNamespace(remote=lambda places: self._look(affinity.node_id, places))

        return decorate

    def _look(self, node_id: str, places: list[str]) -> _Answer:
        from shotad import __version__

        self.places_looked_for = places
        node = self.nodes_there[int(node_id, 16) - 1]
        if node.shotad is None:
            return _Answer(RayError("The node is gone."), is_there=False)
        version = __version__ if node.shotad == "here" else node.shotad
        return _Answer((version, list(node.misses)))

    def wait(self, answers: list[_Answer], **_: Any) -> tuple[list[_Answer], list[_Answer]]:
        there = [answer for answer in answers if answer.is_there]
        return there, [answer for answer in answers if not answer.is_there]

    def get(self, answer: _Answer) -> Any:
        if isinstance(answer.value, RayError):
            raise answer.value
        return answer.value


@dataclass(eq=False)
class _Answer:
    value: Any
    is_there: bool = True


class _Actor:
    """An object whose methods are called from afar."""

    def __init__(self, held: Any) -> None:
        self._held = held

    def __getattr__(self, name: str) -> Any:
        return SimpleNamespace(remote=lambda *given: _Answer(getattr(self._held, name)(*given)))


class _Dataset:
    """Rows on their way: batches as they come."""

    def __init__(self, ray: FakeRay, batches: Callable[[], Iterator[Batch]]) -> None:
        self._ray, self._batches = ray, batches

    def map_batches(
        self, work: type, *, batch_size: int, fn_constructor_args: tuple[Any, ...], **_: Any
    ) -> _Dataset:
        def batches() -> Iterator[Batch]:
            worker: Any = None
            for batch in _grouped(self._batches(), batch_size):
                handed_on = 0
                while True:
                    try:
                        if worker is None:
                            self._ray.workers.append(work.__name__)
                            worker = work(*fn_constructor_args)
                        for number, result in enumerate(worker(batch)):
                            if number >= handed_on:
                                handed_on += 1
                                yield result
                        break
                    except WorkerLost:
                        worker = None

        return _Dataset(self._ray, batches)

    def iter_batches(self, **_: Any) -> Iterator[Batch]:
        self._ray.on_start()
        return self._batches()


def _grouped(batches: Iterator[Batch], size: int) -> Iterator[Batch]:
    """The same rows, ``size`` at a time; fewer where no more come."""
    rows: list[dict[str, Any]] = []
    for batch in batches:
        names = list(batch)
        rows += [dict(zip(names, values, strict=True)) for values in zip(*batch.values(), strict=True)]
        while len(rows) >= size:
            yield {name: [row[name] for row in rows[:size]] for name in rows[0]}
            rows = rows[size:]
    if rows:
        yield {name: [row[name] for row in rows] for name in rows[0]}


def install(monkeypatch: pytest.MonkeyPatch) -> FakeRay:
    """Put a cluster of one machine in the place of Ray."""
    cluster = FakeRay()
    ray, data = ModuleType("ray"), ModuleType("ray.data")
    methods = ("is_initialized", "init", "shutdown", "nodes", "get_runtime_context", "remote", "wait", "get")
    for name in methods:
        setattr(ray, name, getattr(cluster, name))
    exceptions, data_exceptions = ModuleType("ray.exceptions"), ModuleType("ray.data.exceptions")
    exceptions.RayError = RayError  # type: ignore[attr-defined]
    data_exceptions.SystemException = type("SystemException", (Exception,), {})  # type: ignore[attr-defined]
    strategies = ModuleType("ray.util.scheduling_strategies")
    strategies.NodeAffinitySchedulingStrategy = (  # type: ignore[attr-defined]
        lambda node_id, soft: SimpleNamespace(node_id=node_id)
    )
    members: dict[str, Any] = {
        "DataContext": SimpleNamespace(get_current=SimpleNamespace),
        "ActorPoolStrategy": lambda **_: None,
        "from_items": lambda items, **_: _Dataset(
            cluster, lambda: iter([{name: [row[name] for row in items] for name in items[0]}])
        ),
        "exceptions": data_exceptions,
    }
    for name, value in members.items():
        setattr(data, name, value)
    ray.data, ray.exceptions = data, exceptions  # type: ignore[attr-defined]
    modules = {
        "ray": ray,
        "ray.data": data,
        "ray.data.exceptions": data_exceptions,
        "ray.exceptions": exceptions,
        "ray.util": ModuleType("ray.util"),
        "ray.util.scheduling_strategies": strategies,
    }
    for path, member in (
        ("ray._private", "worker"),
        ("ray.data._internal.execution.operators", "map_operator"),
    ):
        # Where the real ones were loaded, a run silences these; a stand-in has nothing to silence.
        if path not in sys.modules:
            modules[path] = ModuleType(path)
            setattr(modules[path], member, SimpleNamespace())
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    return cluster
