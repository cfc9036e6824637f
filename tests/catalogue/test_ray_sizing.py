"""How many workers a run on a cluster has, by its nodes, engines, servers, films and settings."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings, strategies as st

from shotad.batch import load_ray_settings
from shotad.batch.ray.cluster import RaySettings
from shotad.batch.ray.worker_counts import (
    Node,
    StageNeeds,
    Workers,
    plan_line,
    plan_workers,
    short_of,
    stage_needs as needs_of_stage,
    waits_for,
)
from shotad.core import load_config
from shotad.core.settings import data_root

MODELS = {"looking": StageNeeds(loads_model=True), "writing": StageNeeds(loads_model=True)}
SERVERS = {"looking": StageNeeds(calls=4), "writing": StageNeeds(calls=4)}


def nodes(*cpus: float, gpus: float = 0, memory: float = math.inf) -> list[Node]:
    return [Node(f"{n}", f"10.0.0.{n}", count, gpus, memory) for n, count in enumerate(cpus, 1)]


def planned(
    machines: list[Node],
    *assignments: str,
    films: int = 1000,
    needs: dict[str, StageNeeds] | None = None,
) -> dict[str, Workers]:
    return plan_workers(load_ray_settings((), assignments), machines, films, needs or {})


def counts(workers: dict[str, Workers]) -> tuple[int, ...]:
    return tuple(of_kind.start for of_kind in workers.values())


@pytest.mark.parametrize(("machines", "films", "needs", "workers"), [
    (nodes(4, 4, 4), 1000, {}, (6, 3, 3)),
    (nodes(16), 1000, {}, (8, 4, 4)),
    (nodes(*[100] * 10), 10_000, {}, (500, 250, 250)),
    (nodes(2, 3, 4), 1000, {}, (5, 2, 2)),
    # Where there are fewer films, all others look.
    (nodes(*[100] * 10), 50, {}, (50, 900, 50)),
    # Servers are kept busy by one that looks, and each that writes has a call of its own.
    (nodes(4, 4, 4), 1000, SERVERS, (7, 1, 4)),
    # Two that look, then one of each kind at a time, until the memory of the nodes is full.
    (nodes(16, memory=4.5e9), 1000, {}, (2, 1, 1)),
    # A GPU for each model; both models on a single GPU
    (nodes(8, 8, gpus=2), 1000, MODELS, (12, 3, 1)),
    (nodes(8, gpus=1), 1000, MODELS, (6, 1, 1)),
    # Without GPUs a model of each kind on each node, and preparing on what they leave
    (nodes(8, 8), 1000, MODELS, (4, 2, 2)),
    # Nothing is there yet.
    ([], 1000, {}, (1, 1, 1)),
])  # fmt: skip
def test_workers_fill_the_nodes(
    machines: list[Node], films: int, needs: dict[str, StageNeeds], workers: tuple[int, ...]
) -> None:
    assert counts(planned(machines, films=films, needs=needs)) == workers


def test_what_a_model_takes() -> None:
    gpus = planned(nodes(8, 8, gpus=2), needs=MODELS)
    assert [(of_kind.cpus, of_kind.gpus) for of_kind in gpus.values()] == [(1, 0), (1, 1), (1, 1)]
    shared = planned(nodes(8, gpus=1), needs=MODELS)
    assert [of_kind.gpus for of_kind in shared.values()] == [0, 0.5, 0.5]
    processors = planned(nodes(8, 16), needs=MODELS)
    assert [of_kind.cpus for of_kind in processors.values()] == [1, 4, 2]


def test_settings_win_and_a_kind_without_a_most_grows_with_the_cluster() -> None:
    machines = nodes(16, 16)
    free = planned(machines)
    assert free["looking"].most is None
    assert free["preparing"].most == 1000, "one for each film"
    # A worker that is there at the start stays, unless the settings say that fewer may do.
    assert free["looking"].least == free["looking"].start == 8
    said = planned(machines, "looking.least=2", "preparing.most=3", "writing.cpus=4", "looking.gpus=0.5")
    assert (said["looking"].least, said["looking"].start > 2, said["looking"].gpus) == (2, False, 0.5)
    assert (said["preparing"].start, said["preparing"].most) == (3, 3)
    assert said["writing"].cpus == 4
    # Also what servers would bound
    assert counts(planned(machines, "looking.least=5", "looking.most=9", needs=SERVERS))[1] >= 5
    assert counts(planned(machines, "looking.least=5", needs=SERVERS))[1] == 5


def test_the_plan_is_said_in_a_line() -> None:
    machines = nodes(4, 4, 4)
    workers = planned(machines)
    assert plan_line(workers, machines) == "3 nodes, 12 CPUs: preparing 6, looking 3, writing 3"
    with_gpus = nodes(4, gpus=1)
    assert plan_line(planned(with_gpus), with_gpus).startswith("1 node, 4 CPUs, 1 GPU: ")


def test_a_run_waits_only_where_a_worker_fits_on_no_node() -> None:
    machines = nodes(2, 2)
    assert waits_for(planned(machines), machines) == short_of(planned(machines), machines) == ""
    wide = planned(machines, "preparing.cpus=4")
    assert waits_for(wide, machines) == "No node has the 4 CPUs that a worker of preparing takes."
    # All fit on the node, but not at once.
    narrow = nodes(2)
    assert waits_for(planned(narrow), narrow) == ""
    assert short_of(planned(narrow), narrow).endswith("take 3 CPUs; there are 1 node, 2 CPUs.")
    # A setting for many films does not make a run over few wait.
    few = planned(machines, "preparing.least=8", films=2)
    assert short_of(few, machines) == ""


@pytest.mark.parametrize(("assignments", "pool", "looking", "writing"), [
    (("engine=embedded",), (), StageNeeds(), StageNeeds()),
    (("engine=paper",), (), StageNeeds(loads_model=True), StageNeeds(loads_model=True)),
    (("engine=openai", "openai.model=m", "openai.in_flight=8"), (), StageNeeds(calls=8), StageNeeds(calls=8)),
    (("engine=openai", "openai.model=m", "openai.in_flight=8"), ("http://a/v1", "http://b/v1"),
     StageNeeds(calls=16), StageNeeds(calls=16)),
])  # fmt: skip
def test_what_engines_need(
    assignments: tuple[str, ...], pool: tuple[str, ...], looking: StageNeeds, writing: StageNeeds
) -> None:
    config, run = load_config(None, assignments), RaySettings(servers=pool)
    assert needs_of_stage(config, "stage1", run) == looking
    assert needs_of_stage(config, "stage2", run) == writing


def test_a_worker_with_a_server_of_its_own_takes_a_gpu() -> None:
    config = load_config(None, ("engine=openai", "openai.model=m"))
    run = load_ray_settings((), ("looking.serve.command=serve {port}",))
    assert needs_of_stage(config, "stage1", run) == StageNeeds(loads_model=True)
    assert needs_of_stage(config, "stage2", run) == StageNeeds(calls=config.openai.in_flight)


def test_the_example_for_nodes_without_gpus_fits_the_node_that_it_names() -> None:
    run = load_ray_settings([str(data_root() / "configs/ray/run-cpus.yaml")])
    workers = plan_workers(run, nodes(16, 16, memory=32e9), 1000, {})
    assert sum(counts(workers)) == 2 * 12
    assert workers["preparing"].least == workers["looking"].least == 1, "they go when nodes go"
    assert workers["looking"].most is None


@given(
    cpus=st.lists(st.integers(1, 64), min_size=1, max_size=6),
    films=st.integers(1, 300),
    needs=st.sampled_from([{}, MODELS, SERVERS]),
    gpus=st.integers(0, 4),
)
@settings(max_examples=40, deadline=None)
def test_nodes_are_full_and_not_overfull(
    cpus: list[int], films: int, needs: dict[str, StageNeeds], gpus: int
) -> None:
    machines = nodes(*cpus, gpus=gpus)
    workers = planned(machines, films=films, needs=needs)
    taken = sum(of_kind.start * of_kind.cpus for of_kind in workers.values())
    least = sum(of_kind.cpus for of_kind in workers.values())
    assert taken <= max(sum(cpus), least)
    assert sum(of_kind.start * of_kind.gpus for of_kind in workers.values()) <= max(gpus * len(cpus), 1)
    if any(of_kind.most is None and not of_kind.gpus for of_kind in workers.values()):
        assert taken >= sum(cpus), "a core that nobody uses"
