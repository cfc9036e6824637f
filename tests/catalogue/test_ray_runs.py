"""Films on a real Ray cluster of several nodes and processes on this machine, some of which are killed."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from shotad.batch import describe_film, describe_on_ray, load_ray_settings
from shotad.batch.jobs import FilmJob, FilmResult
from shotad.core import load_config
from tests.bad_server import Act, BadServer, Seen, answer
from tests.conftest import ROOT
from tests.media import FilmSpec, make_film
from tests.ray_engine import VARIABLE, calls

pytestmark = [
    pytest.mark.slow,
    # Ray's own: it opens files and sockets that it leaves to the collector, and tells of what will change.
    pytest.mark.filterwarnings(
        "ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning"
    ),
]

SPEC = FilmSpec(frames=500, cuts=(100, 210, 330, 420))
SLOTS = ("s00000200", "s00010240", "s00015360")
ENGINE = "tests.ray_engine:Watched"
SETTINGS = (
    "engine=fake", "speech.source=none", "shots.detector=adaptive", "slots.find_credits=false", "scale.method=none",
    "frames.min_pixels=12544", "frames.max_pixels=25088",
)  # fmt: skip
TEAMS = load_ray_settings(
    (),
    ("preparing.most=1", "looking.least=2", "looking.most=2", "writing.most=1", "attempts=2"),
)
STORE = 90 << 20


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A head of six CPUs, connected; nodes may be added. Its workers find the tests' engine and orders."""
    ray = pytest.importorskip("ray", reason='runs on a cluster need Ray: pip install "shotad[ray]"')
    from ray.cluster_utils import Cluster

    path = os.pathsep.join((ROOT, os.environ.get("PYTHONPATH", "")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("PYTHONPATH", path)
        patch.setenv("OMP_NUM_THREADS", "1")
        patch.setenv(VARIABLE, str(tmp_path_factory.mktemp("orders")))
        made = Cluster(
            initialize_head=True,
            connect=True,
            head_node_args={"num_cpus": 6, "object_store_memory": STORE, "include_dashboard": False},
        )
        try:
            yield made
        finally:
            ray.shutdown()
            made.shutdown()


@pytest.fixture
def orders(cluster: Any) -> Iterator[Path]:
    """The folder of calls and orders, empty."""
    folder = Path(os.environ[VARIABLE])
    yield folder
    for file in folder.iterdir():
        file.unlink()


def job(place: Path, note: str, *assignments: str, film: Path | None = None) -> FilmJob:
    engines = (f"stage1.engine={ENGINE}", f"stage2.engine={ENGINE}")
    config = load_config(None, (*SETTINGS, *engines, f"prompt.note={note}", *assignments))
    return FilmJob(str(film or make_film(SPEC).path), str(place / note), config=config)


def alone(job: FilmJob, place: Path) -> Path:
    """The folder of the same film, described on one machine in one process."""
    found = describe_film(replace(job, folder=str(place / Path(job.folder).name)))
    assert found.state == "done", found
    return Path(found.folder)


def same(folder: str, other: Path, but: Collection[str] = ()) -> None:
    """Both folders hold the same files with the same bytes, the log apart, and those that are named."""
    found: list[dict[str, bytes]] = [
        {
            str(path.relative_to(place)): path.read_bytes()
            for path in place.rglob("*")
            if path.is_file() and path.name not in ("log.txt", ".lock", ".track.lock")
        }
        for place in (Path(folder), other)
    ]
    here, there = found
    assert here.keys() ^ there.keys() == set()
    assert {name for name in here if here[name] != there[name]} == set(but)
    assert "track.json" in here


def repeated(orders: Path) -> list[tuple[str, ...]]:
    found = Counter(tuple(call[:3]) for call in calls(orders))
    return [call for call, number in found.items() if number > 1]


@pytest.fixture(scope="module")
def lone(cluster: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folders of two films, each described on one machine in one process."""
    place = tmp_path_factory.mktemp("one")
    made = {name: alone(job(place, name), place) for name in ("a", "half")}
    (Path(os.environ[VARIABLE]) / "calls").unlink()
    return made


def test_killed_workers_and_broken_films_stop_no_other(
    orders: Path, lone: dict[str, Path], tmp_path: Path
) -> None:
    once = (f"kill-stage1-a-{SLOTS[1]}", f"kill-stage2-a-{SLOTS[1]}")
    always = f"kill-stage1-half-{SLOTS[1]}-always"
    for name in (*once, always, "kill-preparing"):
        (orders / name).touch()
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"no film")
    jobs = [job(tmp_path, name) for name in ("a", "half", "preparing")]
    jobs.append(job(tmp_path, "broken", film=broken))
    as_they_came: list[FilmResult] = []

    results = describe_on_ray(jobs, settings=TEAMS, on_result=as_they_came.append)

    assert sorted(as_they_came, key=lambda result: result.folder) == sorted(
        results, key=lambda result: result.folder
    )
    assert [result.kind for result in results] == ["", "killed", "killed", "FilmError"], results
    assert not any((orders / name).exists() for name in once), "nobody was killed"
    for result, reason in zip(
        results[1:],
        (f"slot {SLOTS[1]} was lost 2 times", "preparing the film was lost 2 times", "broken.mp4"),
        strict=True,
    ):
        assert result.error is not None
        assert reason in result.error[0]
    same(results[0].folder, lone["a"])
    # What was answered for a film that failed is kept for the next run, which asks the rest.
    (orders / always).unlink()
    (half,) = describe_on_ray(jobs[1:2], settings=TEAMS)
    assert half.state == "done", half
    assert repeated(orders) == []
    assert [call[2] for call in calls(orders) if call[:2] == ["stage1", "half"]][-1] == SLOTS[1]
    same(half.folder, lone["half"])


@pytest.mark.long
def test_a_node_that_dies_costs_no_finished_slot(
    cluster: Any, orders: Path, lone: dict[str, Path], tmp_path: Path
) -> None:
    node = cluster.add_node(num_cpus=4, object_store_memory=STORE)
    (orders / "hold").touch()
    killed: list[int] = []
    killer = threading.Thread(target=_kill, args=(cluster, node, orders, killed))
    killer.start()
    found = describe_on_ray([job(tmp_path, name) for name in lone], settings=TEAMS)
    killer.join()
    assert killed, "no worker of the node was in the middle of a call"
    assert [one.state for one in found] == ["done", "done"], found
    assert repeated(orders) == []
    assert len(calls(orders)) == 2 * 2 * len(SLOTS)
    for one in found:
        same(one.folder, lone[Path(one.folder).name])


def _kill(cluster: Any, node: Any, orders: Path, killed: list[int]) -> None:
    """Kills all processes of a node, when one of them is in the middle of a call, then lets all calls go on."""
    held = orders / "waiting"
    until = time.monotonic() + 120
    while time.monotonic() < until and not (held.exists() and node.node_id in held.read_text()):
        time.sleep(0.1)
    is_held = held.exists() and node.node_id in held.read_text()
    # What was answered before has been written down by now.
    time.sleep(0.5)
    for process in node.all_processes["raylet"]:
        for worker in psutil.Process(process.process.pid).children(recursive=True):
            worker.kill()
            killed += [worker.pid] if is_held else []
    cluster.remove_node(node, allow_graceful=False)
    (orders / "hold").unlink()


def _said(seen: Seen) -> Act:
    """An answer that depends on the question alone, whichever server is asked."""
    shown = len(seen.pictures)
    if shown:
        return answer(f"1. Main characters: A man.\n2. Actions: A man walks past {shown} trees in a row.")
    return answer('{"summarized_AD": "A man walks past some trees."}')


@pytest.mark.long
def test_stage_one_against_servers_one_of_which_goes(cluster: Any, tmp_path: Path) -> None:
    asked = ("stage1.engine=openai", "stage2.engine=openai", "openai.model=tiny", "openai.retries=0")
    asked = (*asked, "openai.in_flight=2", "prompt.example_count=0")

    def gone_after_one(seen: Seen) -> Act:
        return replace(_said(seen), end="die") if seen.number == 1 else _said(seen)

    with BadServer(gone_after_one) as first, BadServer(_said) as second:
        one_worker = TEAMS.looking.model_copy(update={"least": 1, "most": 1})
        settings = TEAMS.model_copy(update={"servers": (first.url, second.url), "looking": one_worker})
        (found,) = describe_on_ray([job(tmp_path / "many", "f", *asked)], settings=settings)
        assert found.state == "done", found
        assert len(first.requests) >= 1
        one = job(tmp_path / "one", "f", *asked, f"openai.base_url={second.url}")
        # The settings name the server, and the mark is made of them.
        same(found.folder, alone(one, tmp_path / "one"), but=("settings.json", "done.json"))
