"""What is looked at before a run on a cluster, without one: its address, its nodes, what Ray says itself."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from shotad import __version__
from shotad.batch.jobs import FilmJob
from shotad.batch.ray.cluster import RaySettings, WorkerSettings, _own_words, connected, quiet_data
from shotad.batch.ray.run import Node, _places, check_nodes, nodes_of, short_of
from shotad.core import EngineError, ShotadError, UsageError

SMALL = RaySettings(
    preparing=WorkerSettings(least=2, most=4, cpus=2),
    looking=WorkerSettings(least=1, most=1, cpus=1, gpus=1),
    writing=WorkerSettings(least=1, most=2, cpus=0.5),
)


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        ([(4, 0), (2, 1)], ""),
        ([(8, 0)], "No node has the 1 CPU and 1 GPU that a worker of looking takes."),
        ([(1, 1), (1, 0)], "No node has the 2 CPUs that a worker of preparing takes."),
        ([(2, 0), (2, 1)],
         "The least workers of all kinds take 5.5 CPUs and 1 GPU; there are 2 nodes with 4 CPUs and 1 GPU."),
        ([], "No node has the 2 CPUs that a worker of preparing takes."),
    ],
)  # fmt: skip
def test_least_workers_that_find_no_room_are_told(nodes: list[tuple[float, float]], why: str) -> None:
    assert short_of(SMALL, [Node("a", "10.0.0.1", cpus, gpus) for cpus, gpus in nodes]) == why


@dataclass
class Cluster:
    """Stands in for Ray: its nodes answer with what ``answers`` says of them, or not at all (None)."""

    answers: dict[str, tuple[str, list[str]] | None] = field(default_factory=dict)

    def nodes(self) -> list[dict[str, Any]]:
        alive = {"Alive": True, "Resources": {"CPU": 4.0}}
        rows = [{"NodeID": one * 56, "NodeManagerAddress": f"10.0.0.{one}", **alive} for one in self.answers]
        return [*rows, {"NodeID": "head", "Alive": True, "Resources": {}}, {"NodeID": "gone", "Alive": False}]

    def remote(self, **how: Any) -> Callable[[Any], Any]:
        name = how["scheduling_strategy"].node_id[0]

        class Look:
            @staticmethod
            def remote(places: list[str]) -> str:
                return str(name)

        return lambda _: Look

    def wait(self, refs: list[str], **_: Any) -> tuple[list[str], list[str]]:
        there = [ref for ref in refs if self.answers[ref] is not None]
        return there, [ref for ref in refs if ref not in there]

    def get(self, ref: str) -> Any:
        return self.answers[ref]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (None, ""),
        (("0.0.1", []), r"Node 10.0.0.2 has shotad 0.0.1; this machine has"),
        (("", []), r"Node 10.0.0.2 has no shotad"),
        ((__version__, ["/films/a.mp4"]), r"Node 10.0.0.2 does not see /films/a.mp4"),
    ],
)
def test_a_node_of_another_shotad_or_no_films_is_named(
    answer: tuple[str, list[str]] | None, why: str
) -> None:
    pytest.importorskip("ray", reason='nodes are asked by Ray: pip install "shotad[ray]"')
    cluster = Cluster({"1": (__version__, []), "2": answer})
    told: AbstractContextManager[object] = (
        pytest.raises(EngineError, match=f"^{why}") if why else nullcontext()
    )
    with told:
        check_nodes(cluster, nodes_of(cluster), [FilmJob("/films/a.mp4", "/out/a.shotad")])


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


class NotConnected:
    """Ray before it is connected; it must not be asked to connect."""

    @staticmethod
    def is_initialized() -> bool:
        return False


REFUSED: list[tuple[str, type[ShotadError], str]] = [
    *((one, UsageError, "no address of a Ray cluster") for one in ("foo", "host:port", ":6379", "host:70000")),
    ("ray://host:10001", UsageError, "ray job submit"),
    ("", EngineError, "reached at 127.0.0.1:"),
    ("of the environment", EngineError, "reached at 127.0.0.1:"),
]  # fmt: skip


@pytest.mark.parametrize(("address", "kind", "why"), REFUSED)
def test_what_is_no_address_and_where_nobody_listens_is_said_at_once(
    address: str, kind: type[ShotadError], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray", reason='Ray is connected to: pip install "shotad[ray]"')
    monkeypatch.setattr("shotad.batch.ray.cluster.need_ray", lambda: NotConnected)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but it does not listen
        there = f"127.0.0.1:{taken.getsockname()[1]}"
        if " " in address:
            monkeypatch.setenv("RAY_ADDRESS", there)
        asked = None if " " in address else address or there
        with pytest.raises(kind, match=why), connected(asked, RaySettings()):
            pass


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_ray_keeps_no_figures_on_rows_nor_speaks_of_lost_workers(capsys: pytest.CaptureFixture[str]) -> None:
    ray = pytest.importorskip("ray", reason='Ray is told: pip install "shotad[ray]"')
    pytest.importorskip("ray.data", reason='Ray Data is told: pip install "shotad[ray]"')
    from ray._private import worker
    from ray.data._internal.execution.operators import map_operator
    from ray.data.block import BlockMetadata

    row = BlockMetadata(num_rows=1, size_bytes=5, input_files=[], exec_stats=None)
    line = {"lines": ["A worker died."], "pid": "raylet", "is_err": False}
    with _own_words(), quiet_data(ray):
        assert map_operator.to_stats([row]) == []
        worker.print_to_stdstream(line, ignore_prefix=False)
    assert capsys.readouterr() == ("", "")
    assert len(map_operator.to_stats([row])) == 1
    worker.print_to_stdstream(line, ignore_prefix=False)
    assert "A worker died." in capsys.readouterr().out
