"""What is looked at before a run on a cluster, without one: its address, its nodes, what Ray says itself."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from shotad import __version__
from shotad.batch.jobs import FilmJob
from shotad.batch.ray.cluster import (
    RaySettings,
    WorkerSettings,
    _own_words,
    connected,
    least_cpus,
    quiet_data,
)
from shotad.batch.ray.run import Node, _places, check_nodes, nodes_of, short_of
from shotad.core import EngineError, UsageError

SMALL = RaySettings(
    preparing=WorkerSettings(least=2, most=4, cpus=2),
    looking=WorkerSettings(least=1, most=1, cpus=1, gpus=1),
    writing=WorkerSettings(least=1, most=2, cpus=0.5),
)


def node(cpus: float, gpus: float = 0.0, name: str = "a") -> Node:
    return Node(name, f"10.0.0.{name}", cpus, gpus)


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        ([node(4), node(2, 1)], ""),
        ([node(8)], "No node has the 1 CPU and 1 GPU that a worker of looking takes."),
        ([node(1, 1), node(1), node(8)][:2], "No node has the 2 CPUs that a worker of preparing takes."),
        ([node(2), node(2, 1)], "The least workers of all kinds take 5.5 CPUs and 1 GPU; there are 2 nodes"),
        ([], "No node has the 2 CPUs"),
    ],
)
def test_least_workers_that_find_no_room_are_told(nodes: Sequence[Node], why: str) -> None:
    found = short_of(SMALL, nodes)
    assert found.startswith(why)
    assert bool(found) is bool(why)
    assert least_cpus(SMALL) == 5.5


@dataclass
class Cluster:
    """Stands in for Ray: its nodes answer with what ``answers`` says of them, or not at all (None)."""

    answers: dict[str, tuple[str, list[str]] | None] = field(default_factory=dict)
    asked: list[list[str]] = field(default_factory=list)

    def nodes(self) -> list[dict[str, Any]]:
        rows = [
            {
                "NodeID": name * 56,
                "NodeManagerAddress": f"10.0.0.{name}",
                "Alive": True,
                "Resources": {"CPU": 4.0},
            }
            for name in self.answers
        ]
        return [*rows, {"NodeID": "head", "Alive": True, "Resources": {}}, {"NodeID": "gone", "Alive": False}]

    def remote(self, **how: Any) -> Callable[[Any], Any]:
        name = how["scheduling_strategy"].node_id[0]

        class Look:
            @staticmethod
            def remote(places: list[str]) -> str:
                self.asked.append(places)
                return str(name)

        return lambda _: Look

    def wait(self, refs: list[str], **_: Any) -> tuple[list[str], list[str]]:
        there = [ref for ref in refs if self.answers[ref] is not None]
        return there, [ref for ref in refs if ref not in there]

    def get(self, ref: str) -> Any:
        return self.answers[ref]


def checked(cluster: Cluster, *jobs: FilmJob) -> None:
    pytest.importorskip("ray", reason='nodes are asked by Ray: pip install "shotad[ray]"')
    check_nodes(cluster, nodes_of(cluster), jobs)


def test_a_node_without_shotad_with_another_or_without_the_films_is_named(tmp_path: Path) -> None:
    film = tmp_path / "film.mp4"
    film.touch()
    job = FilmJob(str(film), str(tmp_path / "out" / "film.shotad"))
    well: tuple[str, list[str]] = (__version__, [])
    checked(Cluster({"1": well, "2": None}), job)
    with pytest.raises(EngineError, match=r"Node 10.0.0.2 has shotad 0.0.1; this machine has"):
        checked(Cluster({"1": well, "2": ("0.0.1", [])}), job)
    with pytest.raises(EngineError, match=r"Node 10.0.0.1 has no shotad"):
        checked(Cluster({"1": ("", [])}), job)
    with pytest.raises(EngineError, match=r"Node 10.0.0.2 does not see /films/a.mp4"):
        checked(Cluster({"1": well, "2": (__version__, ["/films/a.mp4"])}), job)


def test_nodes_are_asked_for_few_places_that_are_there(tmp_path: Path) -> None:
    jobs = []
    for number in range(60):
        folder = tmp_path / f"season {number}"
        folder.mkdir()
        (folder / "a.mp4").touch()
        jobs += [FilmJob(str(folder / name), str(folder / "x.shotad")) for name in ("a.mp4", "gone.mp4")]
    found = _places([*jobs, FilmJob("s3://films/b.mp4", "s3://films/b.shotad")])
    assert 1 <= len(found) <= 21
    assert all(Path(place).exists() for place in found)
    assert _places([FilmJob("s3://films/b.mp4", "s3://films/b.shotad")]) == []


class NotConnected:
    """Ray before it is connected; it must not be asked to connect."""

    @staticmethod
    def is_initialized() -> bool:
        return False


@pytest.fixture
def no_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason='Ray is connected to: pip install "shotad[ray]"')
    monkeypatch.setattr("shotad.batch.ray.cluster.need_ray", lambda: NotConnected)


@pytest.mark.usefixtures("no_ray")
@pytest.mark.parametrize("address", ["foo", "host:port", ":6379", "host:0", "host:70000"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="no address of a Ray cluster"), connected(address, RaySettings()):
        pass


@pytest.mark.usefixtures("no_ray")
@pytest.mark.parametrize("by_environment", [False, True])
def test_where_nobody_listens_that_is_said_at_once(
    monkeypatch: pytest.MonkeyPatch, by_environment: bool
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but it does not listen
        there = f"127.0.0.1:{taken.getsockname()[1]}"
        if by_environment:
            monkeypatch.setenv("RAY_ADDRESS", there)
        with (
            pytest.raises(EngineError, match=f"reached at {there}"),
            connected(None if by_environment else there, RaySettings()),
        ):
            pass


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_figures_on_each_row_are_not_kept_for_the_time_of_a_run() -> None:
    ray = pytest.importorskip("ray", reason='Ray Data is told: pip install "shotad[ray]"')
    pytest.importorskip("ray.data", reason='Ray Data is told: pip install "shotad[ray]"')
    from ray.data._internal.execution.operators import map_operator
    from ray.data.block import BlockMetadata

    row = BlockMetadata(num_rows=1, size_bytes=5, input_files=[], exec_stats=None)
    with quiet_data(ray):
        assert map_operator.to_stats([row]) == []
    assert len(map_operator.to_stats([row])) == 1


def test_what_ray_tells_of_lost_workers_does_not_stand_among_results(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("ray", reason='Ray is told: pip install "shotad[ray]"')
    from ray._private import worker

    line = {"lines": ["A worker died."], "pid": "raylet", "is_err": False}
    with _own_words():
        worker.print_to_stdstream(line, ignore_prefix=False)
    assert capsys.readouterr() == ("", "")
    worker.print_to_stdstream(line, ignore_prefix=False)
    assert "A worker died." in capsys.readouterr().out
