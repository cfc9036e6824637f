"""The cluster that a run works on: one that is there, or one started on this machine for the run's time."""

from __future__ import annotations

import logging
import math
import os
import signal
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

from shotad.batch.ray.nodes import least_cpus
from shotad.batch.ray.register import Register
from shotad.batch.ray.settings import RaySettings
from shotad.core import EngineError, UsageError, need, processors

_KNOCK = 5.0
"""Seconds for which a cluster's port is waited for. Ray itself waits for many minutes, without a word."""


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
    with ExitStack() as stack:
        stack.enter_context(_own_words())
        _start(ray, address, settings)
        stack.callback(ray.shutdown)
        yield ray


def is_own(address: str | None) -> bool:
    """Whether `connected` starts a cluster here: Ray would take any that happens to run on this machine."""
    return address == "local" or (address is None and not os.environ.get("RAY_ADDRESS"))


def _start(ray: Any, address: str | None, settings: RaySettings) -> None:
    here, there = is_own(address), address or os.environ.get("RAY_ADDRESS", "")
    if not here:
        _check_address(there)
    # Nobody's habits are sent anywhere by our own doing, and a run says what there is to say itself.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    own: dict[str, Any] = {
        # Only what Ray counts by: with less than all crews take, some would never begin.
        "num_cpus": settings.cpus or max(processors(), math.ceil(least_cpus(settings))),
        "object_store_memory": settings.object_store,
        "include_dashboard": False,
    }
    try:
        with _hushed(), _same_signals():
            ray.init(
                address="local" if here else there,
                log_to_driver=False,
                logging_level=logging.ERROR,
                **(own if here else {}),
            )
    except Exception as trouble:  # noqa: BLE001  Ray raises just that where a node does not start in time
        with _hushed():
            ray.shutdown()
        if here:
            what, hint = "Ray could not be started on this machine", "Its logs are in /tmp/ray."
        else:
            what, hint = (
                f"No Ray cluster could be reached at {there}",
                "Is it running (ray status)? Without an address one is started here.",
            )
        raise EngineError(f"{what}: {_first_line(trouble)}", hint) from None


def _check_address(address: str) -> None:
    """Raises UsageError for what is no address, EngineError where nobody listens."""
    if address.startswith("ray://"):
        raise UsageError(
            f"{address} is for Ray's client, which Ray Data does not work through.",
            "Run the command on a machine of the cluster (ray job submit), with --ray auto.",
        )
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    if not (host and port.isascii() and port.isdigit() and 0 < int(port) < 1 << 16):
        raise UsageError(f"{address!r} is no address of a Ray cluster.", "Write host:6379, or auto.")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _KNOCK):
            return
    except OSError as trouble:
        raise EngineError(
            f"No Ray cluster could be reached at {address}: {trouble.strerror or trouble}.",
            "Is it running there (ray status), and is this its port? Without an address one is started here.",
        ) from None


@contextmanager
def _own_words() -> Iterator[None]:
    """Ray prints what its nodes tell of lost workers among a program's results; the register counts them."""
    from ray._private import worker

    with _replaced(worker, {"print_to_stdstream": lambda *_, **__: None}):
        yield


@contextmanager
def _replaced(owner: Any, values: Mapping[str, Any]) -> Iterator[None]:
    """What ``owner`` has of these names is another for the time of a block; what it has not stays away."""
    before = {name: getattr(owner, name) for name in values if hasattr(owner, name)}
    for name in before:
        setattr(owner, name, values[name])
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(owner, name, value)


@contextmanager
def _hushed() -> Iterator[None]:
    """What Ray's own library writes to standard error while it starts goes nowhere."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


@contextmanager
def _same_signals() -> Iterator[None]:
    """Ray takes SIGTERM for itself, and aborts on it; whoever asked for it before has it again."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if callable(before) and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


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
    with _replaced(context, wanted), _without_statistics():
        yield


@contextmanager
def _without_statistics() -> Iterator[None]:
    """Ray Data keeps figures on each block until its run has ended: millions of them, with a block a row."""
    from ray.data._internal.execution.operators import map_operator

    with _replaced(map_operator, {"to_stats": lambda _: []}):
        yield


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
