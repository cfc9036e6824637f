"""A run without settings works on every processor of a cluster of three nodes, with the embedded engine."""

from __future__ import annotations

import os
import shutil
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from shotad.batch import describe_on_ray
from shotad.batch.jobs import FilmJob
from shotad.core import load_config
from tests.conftest import ROOT
from tests.media import FilmSpec, make_film
from tests.runs import Heard

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    # On a machine with much else to do, nine workers take minutes to load their libraries.
    pytest.mark.timeout(1800),
    # Ray's own: it opens files and sockets that it leaves to the collector, and tells of what will change.
    pytest.mark.filterwarnings(
        "ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning"
    ),
]

PROCESSORS = (2, 3, 4)
FILMS = 15
STORE = 90 << 20


@pytest.fixture
def nodes() -> Iterator[dict[int, Any]]:
    """Three nodes on this machine, by the processors that Ray counts on them; connected."""
    ray = pytest.importorskip("ray", reason='runs on a cluster need Ray: pip install "shotad[ray]"')
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        # As any program: Ray's workers would wait for all others of a busy machine.
        patch.setenv("RAY_worker_niceness", "0")
        patch.setenv("RAY_raylet_start_wait_time_s", "200")
        patch.setenv("PYTHONPATH", os.pathsep.join((ROOT, os.environ.get("PYTHONPATH", ""))))
        head = {"num_cpus": PROCESSORS[0], "object_store_memory": STORE, "include_dashboard": False}
        cluster = Cluster(initialize_head=True, connect=True, head_node_args=head)
        try:
            made = {PROCESSORS[0]: cluster.head_node}
            for count in PROCESSORS[1:]:
                made[count] = cluster.add_node(num_cpus=count, object_store_memory=STORE)
            yield made
        finally:
            ray.shutdown()
            cluster.shutdown()


def busy_workers(node: Any) -> int:
    """How many workers of a node are at work now: Ray puts what they do into the names of their processes."""
    busy = 0
    for raylet in node.all_processes["raylet"]:
        for worker in psutil.Process(raylet.process.pid).children():
            with suppress(psutil.Error):
                title = " ".join(worker.cmdline())
                busy += "MapWorker" in title and ".submit" in title
    return busy


@contextmanager
def most_busy(nodes: Mapping[int, Any]) -> Iterator[Counter[int]]:
    """The most workers that were at work at a time on each node, by its processors, during the block."""
    peaks: Counter[int] = Counter()
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.1):
            for count, node in nodes.items():
                peaks[count] = max(peaks[count], busy_workers(node))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield peaks
    finally:
        ended.set()
        watcher.join()


def test_a_run_without_settings_works_on_every_processor_of_three_nodes(
    nodes: dict[int, Any], tmp_path: Path
) -> None:
    config = load_config(None, ("engine=embedded",))
    source = make_film(FilmSpec(frames=160, cuts=(60, 110))).path
    jobs = []
    for number in range(FILMS):
        film = tmp_path / f"{number}.mp4"
        shutil.copyfile(source, film)
        jobs.append(FilmJob(str(film), str(tmp_path / f"{number}.shotad"), config, sheet=False))
    progress = Heard()
    with most_busy(nodes) as peaks:
        results = describe_on_ray(jobs, progress=progress)
    assert [result.state for result in results] == ["done"] * FILMS, results
    assert "3 nodes, 9 CPUs: preparing 5, looking 2, writing 2" in progress.notes[0]
    assert dict(peaks) == {count: count for count in PROCESSORS}
