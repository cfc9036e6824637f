"""The cluster that a run works on: one that is there, or one started on this machine for the run's time."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from shotad.catalogue.ray.register import Register
from shotad.catalogue.ray.settings import RaySettings
from shotad.compute import need
from shotad.errors import EngineError, UsageError


def need_ray() -> Any:
    """Ray with its Data library. Raises ShotadError, naming the extra, where it is missing."""
    ray = need("ray", "A run on a cluster", "ray")
    need("ray.data", "A run on a cluster", "ray")
    for name in ("ray", "ray.data"):
        if logging.getLogger(name).getEffectiveLevel() < logging.ERROR:
            logging.getLogger(name).setLevel(logging.ERROR)
    return ray


@contextmanager
def connected(address: str | None, settings: RaySettings) -> Iterator[Any]:
    """Ray, connected to the cluster at ``address``; None: to the one that the environment names
    (``RAY_ADDRESS``), else to one started here, which is taken down again.

    A program that is connected already stays so. Raises EngineError where there is none at the address.
    """
    ray = need_ray()
    if ray.is_initialized():
        yield ray
        return
    _start(ray, address, settings)
    try:
        yield ray
    finally:
        ray.shutdown()


def _start(ray: Any, address: str | None, settings: RaySettings) -> None:
    if address is not None and address.startswith("ray://"):
        raise UsageError(
            f"{address} is for Ray's client, which Ray Data does not work through.",
            "Run the command on a machine of the cluster (ray job submit), with --ray auto.",
        )
    # Nobody's habits are sent anywhere by our own doing, and a run says what there is to say itself.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    # Without an address Ray would take any cluster that happens to run here.
    here = address == "local" or (address is None and not os.environ.get("RAY_ADDRESS"))
    own: dict[str, Any] = {
        "num_cpus": settings.cpus,
        "object_store_memory": settings.object_store,
        "include_dashboard": False,
    }
    try:
        ray.init(
            address="local" if here else address,
            log_to_driver=False,
            logging_level=logging.ERROR,
            **(own if here else {}),
        )
    except (ConnectionError, RuntimeError, ValueError) as trouble:
        raise EngineError(
            f"No Ray cluster could be reached at {address or 'this machine'}: {_first_line(trouble)}",
            "Is it running (ray status)? Without an address one is started here.",
        ) from None


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


@contextmanager
def quiet_data(ray: Any) -> Iterator[None]:
    """Ray Data as a run wants it, for the time of a block.

    One row to a block: so a slot goes on as soon as it is ready, and an attempt that is made again has its
    rows where the first had them. A film, or a film's lines, may take hours without a row.
    """
    context = ray.data.DataContext.get_current()
    wanted: dict[str, Any] = {
        "target_max_block_size": 1,
        "target_min_block_size": 0,
        "enable_progress_bars": False,
        "print_on_execution_start": False,
        "execution_no_progress_timeout_s": -1,
        "max_consecutive_actor_init_deaths": 16,
    }
    if hasattr(context, "autoscaling_config"):
        # A worker that has one film to do is busy: that is reason enough for another one.
        wanted["autoscaling_config"] = replace(
            context.autoscaling_config, actor_pool_util_upscaling_threshold=1.0
        )
    before = {name: getattr(context, name) for name in wanted if hasattr(context, name)}
    for name in before:
        setattr(context, name, wanted[name])
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(context, name, value)


class Calls:
    """The register from afar: the same methods, each answered by the one process that holds it."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(Register, name):
            raise AttributeError(name)

        def call(*given: Any) -> Any:
            import ray

            return ray.get(getattr(self._handle, name).remote(*given))

        return call

    def __getstate__(self) -> Any:
        return self._handle

    def __setstate__(self, handle: Any) -> None:
        self._handle = handle


def register_of_run(ray: Any) -> Calls:
    """A register on this very machine, so that it lives as long as the run does."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    remote = ray.remote(num_cpus=0, max_restarts=0, scheduling_strategy=here)(Register)
    return Calls(remote.remote())
