"""How many workers of each kind a run has, by what the nodes of the cluster have and what a worker needs.

A worker takes a processor and a gigabyte; one that loads a model takes a GPU, or, where there is none, half
the processors of a node. Of three processors that are left, two go to preparing, which is most of the work,
until the films, the servers or the nodes allow no more. What the settings say wins.

The sizes are those at the start. Where no setting and no server bounds a kind, Ray Data adds workers when
nodes come, and when a kind has ended whose place they can take.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shotad.batch.ray.cluster import RaySettings, WorkerSettings
from shotad.batch.ray.servers import asks_server
from shotad.core import Config
from shotad.core.engine import Stage
from shotad.engines import make_engine, stage_engines

WORKER_MEMORY = 1e9
"""Bytes of a node that a worker takes: preparing a film took 0.25 to 1 GB."""
SHARES = {"preparing": 2.0, "looking": 1.0, "writing": 1.0}
"""How the processors of the cluster are divided where all kinds work on them."""
SHARES_OF_GPUS = {"preparing": 2.0, "looking": 3.0, "writing": 1.0}
"""The same where a kind takes GPUs: a film has many slots to look at, and short texts to write."""
_HAIR = 1e-9


@dataclass(frozen=True, slots=True)
class Node:
    """A machine of the cluster: its address and what it has by Ray's book-keeping; memory in bytes."""

    id: str
    host: str
    cpus: float
    gpus: float = 0.0
    memory: float = math.inf


@dataclass(frozen=True, slots=True)
class StageNeeds:
    """What an engine needs of the worker in which it is called: a model is loaded there, or servers answer,
    that many calls at once; by its own work it needs neither."""

    loads_model: bool = False
    calls: int | None = None


@dataclass(frozen=True, slots=True)
class Workers:
    """The workers of a kind: how many there are at the start, and between how many (None: no bound, as many
    as Ray has place for), with what each takes of its node."""

    start: int
    least: int
    most: int | None
    cpus: float
    gpus: float


def stage_needs(config: Config, stage: Stage, settings: RaySettings) -> StageNeeds:
    """What the engine of a stage needs of its workers. Raises ShotadError as `make_engine`."""
    crew = settings.looking if stage == "stage1" else settings.writing
    name = getattr(stage_engines(config), stage)
    engine = make_engine(name, config, stage)
    if not asks_server(engine):
        return StageNeeds(loads_model=type(engine).__module__.startswith("shotad.engines.local"))
    if crew.serve.command is not None:
        return StageNeeds(loads_model=True)
    return StageNeeds(calls=engine.abilities.in_flight * max(len(settings.servers), 1))


def plan_workers(
    settings: RaySettings,
    nodes: Sequence[Node],
    films: int,
    needs: Mapping[str, StageNeeds],
) -> dict[str, Workers]:
    """The workers of ``preparing``, ``looking`` and ``writing`` for so many films on these nodes.

    ``needs`` are those of ``looking`` and ``writing``. Each kind has one worker at least, also where no node
    has place for it: others may come.
    """
    kinds = {"preparing": settings.preparing, "looking": settings.looking, "writing": settings.writing}
    gpus = _gpus_of_workers(kinds, nodes, needs)
    workers = {}
    free = [_Free(node.cpus, node.gpus, node.memory) for node in nodes]
    for kind, crew in kinds.items():
        of_kind = needs.get(kind, StageNeeds())
        most = _most(kind, crew, nodes, films, of_kind, gpus[kind])
        least = crew.least or 1 if most is None else min(crew.least or 1, most)
        cpus = crew.cpus if crew.cpus is not None else _cpus(kind, nodes, of_kind, gpus[kind])
        if of_kind.loads_model and not gpus[kind] and crew.least is None:
            # One on each node, before small workers take the place.
            least = min(max(len(nodes), 1), most or 1)
        workers[kind] = Workers(least, least, most, cpus, gpus[kind])
        for _ in range(least):
            _place(workers[kind], free)

    shares = SHARES_OF_GPUS if any(gpus.values()) else SHARES
    # Nodes are never full of workers that take nothing.
    growing = [kind for kind, of_kind in workers.items() if of_kind.cpus or of_kind.gpus]
    while growing:
        # The kind that has least of its share is next.
        kind = min(growing, key=lambda kind: workers[kind].start * workers[kind].cpus / shares[kind])
        of_kind_now = workers[kind]
        has_most = of_kind_now.most is not None and of_kind_now.start >= of_kind_now.most
        if has_most or not _place(of_kind_now, free):
            growing.remove(kind)
            continue
        start = of_kind_now.start + 1
        # Where no setting says less, the workers of the start stay: a model is not loaded twice.
        least = start if kinds[kind].least is None else of_kind_now.least
        workers[kind] = replace(of_kind_now, start=start, least=least)
    return workers


def _gpus_of_workers(
    kinds: Mapping[str, WorkerSettings], nodes: Sequence[Node], needs: Mapping[str, StageNeeds]
) -> dict[str, float]:
    """The GPUs that a worker of each kind takes: one for a model, half of one where both kinds of models have
    to share a single GPU."""
    loading = [kind for kind in kinds if kind in needs and needs[kind].loads_model]
    total = sum(node.gpus for node in nodes)
    share = 0.0
    if total >= 1 and loading:
        share = 1.0 if total >= len(loading) else 0.5
    gpus = {}
    for kind, crew in kinds.items():
        own_share = share if kind in loading else 0.0
        gpus[kind] = crew.gpus if crew.gpus is not None else own_share
    return gpus


def _cpus(kind: str, nodes: Sequence[Node], needs: StageNeeds, gpus: float) -> float:
    """The processors of a worker; a model that runs on them gets its part of the smallest node."""
    if not needs.loads_model or gpus or not nodes:
        return 1.0
    part = 2 if kind == "looking" else 4
    return float(max(1, int(min(node.cpus for node in nodes)) // part))


def _most(
    kind: str, crew: WorkerSettings, nodes: Sequence[Node], films: int, needs: StageNeeds, gpus: float
) -> int | None:
    """The most workers of a kind; None: no bound."""
    bounds = []
    if crew.most is not None:
        bounds.append(crew.most)
    elif needs.calls is not None:
        # One worker that looks keeps all calls open that the servers take; one that writes may have one.
        bounds.append(max(1 if kind == "looking" else needs.calls, crew.least or 1))
    elif needs.loads_model and not gpus:
        # Nobody knows whether the memory of a node holds a model twice.
        bounds.append(max(len(nodes), crew.least or 1))
    if kind != "looking":
        bounds.append(films)  # a film has one worker of these kinds at a time
    return max(min(bounds), 1) if bounds else None


@dataclass(slots=True)
class _Free:
    """What is left of a node."""

    cpus: float
    gpus: float
    memory: float


def _place(workers: Workers, free: Sequence[_Free]) -> bool:
    """Put a worker on the node with the most processors left; False where none has place."""
    fitting = [
        node
        for node in free
        if node.cpus + _HAIR >= workers.cpus
        and node.gpus + _HAIR >= workers.gpus
        and node.memory >= WORKER_MEMORY
    ]
    if not fitting:
        return False
    node = max(fitting, key=lambda node: node.cpus)
    node.cpus -= workers.cpus
    node.gpus -= workers.gpus
    node.memory -= WORKER_MEMORY
    return True


def waits_for(workers: Mapping[str, Workers], nodes: Sequence[Node]) -> str:
    """Which worker finds place on no node, so that the run has to wait for others; empty where none."""
    for kind, of_kind in workers.items():
        if not any(node.cpus >= of_kind.cpus and node.gpus >= of_kind.gpus for node in nodes):
            return f"No node has the {resources(of_kind.cpus, of_kind.gpus)} that a worker of {kind} takes."
    return ""


def short_of(workers: Mapping[str, Workers], nodes: Sequence[Node]) -> str:
    """Why the least workers of all kinds find no place at once on nodes that each kind finds place on; empty
    where they do."""
    cpus = sum(of_kind.least * of_kind.cpus for of_kind in workers.values())
    gpus = sum(of_kind.least * of_kind.gpus for of_kind in workers.values())
    if sum(node.cpus for node in nodes) < cpus or sum(node.gpus for node in nodes) < gpus:
        has = described(nodes)
        return f"The least workers of all kinds take {resources(cpus, gpus)}; there are {has}."
    return ""


def described(nodes: Sequence[Node]) -> str:
    """``3 nodes, 24 CPUs, 2 GPUs``."""
    gpus = sum(node.gpus for node in nodes)
    parts = [_count(len(nodes), "node"), _count(sum(node.cpus for node in nodes), "CPU")]
    return ", ".join([*parts, _count(gpus, "GPU")] if gpus else parts)


def plan_line(workers: Mapping[str, Workers], nodes: Sequence[Node]) -> str:
    """``3 nodes, 12 CPUs: preparing 6, looking 3, writing 3``."""
    kinds = ", ".join(f"{kind} {of_kind.start}" for kind, of_kind in workers.items())
    return f"{described(nodes)}: {kinds}"


def resources(cpus: float, gpus: float) -> str:
    """``2 CPUs and 1 GPU``."""
    text = _count(cpus, "CPU")
    return f"{text} and {_count(gpus, 'GPU')}" if gpus else text


def _count(number: float, noun: str) -> str:
    return f"{number:g} {noun}" if number == 1 else f"{number:g} {noun}s"


def nodes_of(ray: Any) -> list[Node]:
    """The nodes that are there now and take work."""
    nodes = []
    for row in ray.nodes():
        has = row.get("Resources", {})
        if row.get("Alive") and has.get("CPU", 0) > 0:
            node = Node(
                str(row["NodeID"]),
                str(row.get("NodeManagerAddress", "")),
                float(has["CPU"]),
                float(has.get("GPU", 0)),
                float(has.get("memory", math.inf)),
            )
            nodes.append(node)
    return nodes
