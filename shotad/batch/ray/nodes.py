"""What the nodes of a cluster are like, looked at before any film is begun: room, versions, disks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shotad import __version__
from shotad.batch.jobs import FilmJob
from shotad.batch.ray.settings import Crew, RaySettings
from shotad.batch.storage.places import is_local, local_path
from shotad.core import EngineError

_SAMPLE = 20
"""Films, each of another folder, that every node is asked for."""
_PATIENCE = 120.0
"""Seconds for the answers of all nodes; one that is only just starting is not waited for longer."""


@dataclass(frozen=True, slots=True)
class Node:
    """A machine of the cluster: its address and what it has by Ray's book-keeping."""

    id: str
    host: str
    cpus: float
    gpus: float = 0.0


def nodes_of(ray: Any) -> list[Node]:
    """The nodes that are there now and take work."""
    found = []
    for row in ray.nodes():
        has = row.get("Resources", {})
        if row.get("Alive") and has.get("CPU", 0) > 0:
            host = str(row.get("NodeManagerAddress", ""))
            found.append(Node(str(row["NodeID"]), host, float(has["CPU"]), float(has.get("GPU", 0))))
    return found


def described(nodes: Sequence[Node]) -> str:
    """``3 nodes with 24 CPUs and 2 GPUs``."""
    cpus, gpus = sum(node.cpus for node in nodes), sum(node.gpus for node in nodes)
    return f"{_count(len(nodes), 'node')} with {_take(cpus, gpus)}"


def least_cpus(settings: RaySettings) -> float:
    """What the least workers of all crews take together."""
    return sum(crew.least * crew.cpus for crew in _crews(settings).values())


def short_of(settings: RaySettings, nodes: Sequence[Node]) -> str:
    """Why the least workers do not find room on ``nodes``; empty where they do."""
    crews = _crews(settings)
    for name, crew in crews.items():
        if not any(node.cpus >= crew.cpus and node.gpus >= crew.gpus for node in nodes):
            return f"No node has the {_take(crew.cpus, crew.gpus)} that a worker of {name} takes."
    cpus, gpus = least_cpus(settings), sum(crew.least * crew.gpus for crew in crews.values())
    if sum(node.cpus for node in nodes) < cpus or sum(node.gpus for node in nodes) < gpus:
        return f"The least workers of all kinds take {_take(cpus, gpus)}; there are {described(nodes)}."
    return ""


def check_nodes(ray: Any, nodes: Sequence[Node], jobs: Sequence[FilmJob]) -> None:
    """Raises EngineError where a node has no shotad, another one, or does not see the films."""
    from ray.exceptions import RayError

    places = _places(jobs)
    asked = {_look(ray, node).remote(places): node for node in nodes}
    answers, _ = ray.wait(list(asked), num_returns=len(asked), timeout=_PATIENCE)
    for answer in answers:
        try:
            version, missing = ray.get(answer)
        except RayError:
            continue  # the node has gone; Ray goes on with the others
        where = f"Node {asked[answer].host}"
        if version != __version__:
            has = f"shotad {version}" if version else "no shotad that can be loaded"
            raise EngineError(
                f"{where} has {has}; this machine has {__version__}.",
                "Install the same version on every node.",
            )
        if missing:
            raise EngineError(
                f"{where} does not see {missing[0]}.",
                "Films and work folders must lie at the same path for all nodes (on a shared disk), "
                "or at addresses (s3://…).",
            )


def _look(ray: Any, node: Node) -> Any:
    """A question to one node. The function within travels as a whole: a node may have no shotad."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    def look(places: list[str]) -> tuple[str, list[str]]:
        import os

        try:
            import shotad
        except ImportError:
            return "", []
        return shotad.__version__, [place for place in places if not os.path.exists(place)]

    there = NodeAffinitySchedulingStrategy(node.id, soft=False)
    return ray.remote(num_cpus=0, max_retries=0, scheduling_strategy=there)(look)


def _places(jobs: Sequence[FilmJob]) -> list[str]:
    """A film of each folder, and the nearest folder above each work folder that is there; not too many."""
    found: dict[Path, str] = {}
    for job in jobs:
        if is_local(job.film):
            film = local_path(job.film)
            if film.exists():
                found.setdefault(film.parent, str(film))
        if is_local(job.folder):
            above = next(one for one in local_path(job.folder).absolute().parents if one.exists())
            found.setdefault(above, str(above))
        if len(found) >= _SAMPLE:
            break
    return list(found.values())


def _crews(settings: RaySettings) -> Mapping[str, Crew]:
    return {
        "preparing": settings.preparing,
        "looking": settings.looking,
        "writing": settings.writing,
    }


def _take(cpus: float, gpus: float) -> str:
    text = _count(cpus, "CPU")
    return f"{text} and {_count(gpus, 'GPU')}" if gpus else text


def _count(number: float, what: str) -> str:
    return f"{number:g} {what}" if number == 1 else f"{number:g} {what}s"
