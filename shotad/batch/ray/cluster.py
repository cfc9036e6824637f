"""The cluster that a run works on: one that is there, or one started on this machine for the run's time.

Its settings say how many workers of each kind there are, what each takes, and who answers. Its register is
one process that knows what was begun, how far each film is and what has ended it; errors travel as values.
"""

from __future__ import annotations

import logging
import math
import os
import signal
import socket
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Self

from pydantic import Field, model_validator

from shotad.batch.jobs import FilmJob, FilmResult, failure, fault_of
from shotad.core import Settings, ShotadError
from shotad.core.errors import EngineError, UsageError
from shotad.core.memory_errors import memory_error_of
from shotad.core.model_loading import require_module, silence_native_output
from shotad.core.settings import load_settings
from shotad.core.system import processors

_KNOCK = 5.0
"""Seconds for which a cluster's port is waited for. Ray itself waits for many minutes, without a word."""


class ServeSettings(Settings):
    """A model server that a worker starts for itself, on the GPU that it was given.

    ``command`` is run without a shell, with ``{port}`` and ``{model}`` filled in; None: no server is started.
    """

    command: str | None = None
    ready: float = Field(1800.0, ge=0.01, le=7 * 86_400)
    """Seconds that it may take until it answers: weights are fetched and loaded."""


class WorkerSettings(Settings):
    """Workers of one kind, each a process: between ``least`` and ``most`` of them, as there is work.

    ``cpus`` and ``gpus`` are what each takes of its node by Ray's book-keeping; a part of a GPU may be named.
    None: what the cluster has and the engine needs, see `worker_counts`.
    """

    least: int | None = Field(None, ge=1, le=10_000)
    most: int | None = Field(None, ge=1, le=10_000)
    cpus: float | None = Field(None, ge=0, le=4096)
    gpus: float | None = Field(None, ge=0, le=1024)
    serve: ServeSettings = ServeSettings()

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.least is not None and self.most is not None and self.most < self.least:
            raise ValueError(f"most = {self.most} is below least = {self.least}")
        return self


class RaySettings(Settings):
    """Everything about a cluster run that is not about films."""

    preparing: WorkerSettings = WorkerSettings()
    """Who read films: shots, speech, slots, grammar, and the frames that Stage I is shown."""
    looking: WorkerSettings = WorkerSettings()
    """Who ask Stage I: with a GPU each for a model of their own, without where servers answer."""
    writing: WorkerSettings = WorkerSettings()
    """Who write a film's lines in order, its track and scripts."""
    servers: tuple[str, ...] = ()
    """Base URLs of servers that speak OpenAI's protocol; calls go to the one with the least to do. They take
    the place of ``openai.base_url``."""
    batch: int | None = Field(None, ge=1, le=4096)
    """Slots that a worker of Stage I is handed together; None: as many as its engine likes in one call."""
    attempts: int = Field(3, ge=1, le=100)
    """How often a film, or a slot, is begun whose worker is lost on the way."""
    cpus: int | None = Field(None, ge=1, le=4096)
    """Of a cluster that is started on this machine; None: as many as it has."""
    object_store: int | None = Field(None, ge=80 << 20, le=1 << 50)
    """Bytes of memory for rows under way, of a cluster started on this machine; None: what Ray takes."""


def load_ray_settings(files: Iterable[str] = (), assignments: Iterable[str] = ()) -> RaySettings:
    """Settings from YAML files and ``KEY=VALUE`` (``looking.gpus=1``). Raises ConfigError."""
    return load_settings(RaySettings, files, assignments)


def least_cpus(settings: RaySettings) -> float:
    """What the least workers of all kinds take together."""
    crews = (settings.preparing, settings.looking, settings.writing)
    return sum((crew.least or 1) * (1.0 if crew.cpus is None else crew.cpus) for crew in crews)


def need_ray() -> Any:
    """Ray with its Data library. Raises ShotadError, naming the extra, where it is missing."""
    ray = require_module("ray", "A run on a cluster", "ray")
    require_module("ray.data", "A run on a cluster", "ray")
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
    here, cluster_address = is_own(address), address or os.environ.get("RAY_ADDRESS", "")
    if not here:
        _check_address(cluster_address)
    # Nobody's habits are sent anywhere by our own doing, and a run says what there is to say itself.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    own: dict[str, Any] = {
        # Only what Ray counts by: with less than all crews take, some would never begin.
        "num_cpus": settings.cpus or max(processors(), math.ceil(least_cpus(settings))),
        "object_store_memory": settings.object_store,
        "include_dashboard": False,
    }
    before = signal.getsignal(signal.SIGTERM)
    try:
        with silence_native_output():
            ray.init(
                address="local" if here else cluster_address,
                log_to_driver=False,
                logging_level=logging.ERROR,
                **(own if here else {}),
            )
    except Exception as trouble:  # noqa: BLE001  Ray raises just that where a node does not start in time
        with silence_native_output():
            ray.shutdown()
        if here:
            message, hint = "Ray could not be started on this machine", "Its logs are in /tmp/ray."
        else:
            message, hint = (
                f"No Ray cluster could be reached at {cluster_address}",
                "Is it running (ray status)? Without an address one is started here.",
            )
        first_line = next(iter(str(trouble).strip().splitlines()), type(trouble).__name__)
        raise EngineError(f"{message}: {first_line}", hint) from None
    finally:
        # Ray takes SIGTERM for itself, and aborts on it; whoever asked for it before has it again.
        if callable(before) and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


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
def quiet_data(ray: Any) -> Iterator[None]:
    """Ray Data as a run wants it, for the time of a block.

    One row to a block: so a slot goes on as soon as it is ready, and an attempt that is made again has its
    rows where the first had them. A film, or a film's lines, may take hours without a row.
    """
    context = ray.data.DataContext.get_current()
    options: dict[str, Any] = {
        "target_max_block_size": 1,
        "target_min_block_size": 0,
        "enable_progress_bars": False,
        "print_on_execution_start": False,
        "execution_no_progress_timeout_s": -1,
        "max_consecutive_actor_init_deaths": 16,
    }
    if hasattr(context, "autoscaling_config"):
        # A worker that has one film to do is busy: that is reason enough for another one.
        options["autoscaling_config"] = replace(
            context.autoscaling_config, actor_pool_util_upscaling_threshold=1.0
        )
    from ray.data._internal.execution.operators import map_operator

    # Ray Data keeps figures on each block until its run has ended: millions of them, with a block a row.
    with _replaced(context, options), _replaced(map_operator, {"to_stats": lambda _: []}):
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


ENDS_ALL = 3
"""Films in a row, with no answer between, whose engine failed as a whole: so will it with all others."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A row of a film that has gone past Stage I.

    ``unit`` is the piece of work that ends with it, ``number_of_others`` (of the film's end) how many other
    rows the film has, ``failed`` what ended the film; ``seconds`` and ``peak`` are what preparing it took.
    """

    film: int
    name: str
    unit: str = ""
    number_of_others: int | None = None
    failed: FilmResult | None = None
    seconds: float = 0.0
    peak: int = 0


@dataclass(slots=True)
class _Film:
    """What has arrived of a film."""

    names: set[str] = field(default_factory=set)
    wanted: int | None = None
    last: str = ""
    failed: FilmResult | None = None
    seconds: float = 0.0
    peak: int = 0
    attempts: int = 0
    over: bool = False


class Register:
    """See the module. Every method may be called again for the same thing by a worker that was restarted.

    A run may have millions of slots and one register: a worker calls it twice for each batch of slots, and
    what is kept of a slot is forgotten with its film.
    """

    def __init__(self) -> None:
        self._begun: dict[str, int] = {}
        self._told: dict[str, int] = defaultdict(int)
        self._films: dict[int, _Film] = defaultdict(_Film)
        self._missed: dict[int, FilmResult] = {}
        self._stopped: FilmResult | None = None

    def begin(self, film: int, unit: str) -> int:
        """A piece of work on a film begins; which time that is, from 1."""
        attempt = self._begun.get(unit, 0) + 1
        self._begun[unit] = attempt
        film_state = self._films[film]
        film_state.attempts = max(film_state.attempts, attempt)
        return attempt

    def begin_fresh(self, units: Sequence[tuple[int, str]]) -> tuple[FilmResult | None, list[int]]:
        """Begin those pieces of work, each of a film, that were never begun or have ended.

        Returns the failure for which nothing is begun any more, or None, and how often each piece was begun
        before without an end.
        """
        earlier_attempts = [self._begun.get(unit, 0) for _, unit in units]
        if self._stopped is None:
            for (film, unit), attempts in zip(units, earlier_attempts, strict=True):
                if not attempts:
                    self.begin(film, unit)
        return self._stopped, earlier_attempts

    def end(self, unit: str) -> None:
        """A piece of work has ended, well or not, and its worker lives."""
        self._begun.pop(unit, None)

    def tell(self, unit: str, count: int) -> None:
        """So many rows of a piece of work may have been handed on."""
        self._told[unit] = max(self._told[unit], count)

    def told(self, unit: str) -> int:
        """How many rows its attempts may have handed on at most."""
        return self._told[unit]

    def arrive(
        self, arrivals: Sequence[Arrival], answered: bool, engine_failures: Mapping[int, FilmResult]
    ) -> list[bool]:
        """Rows have been looked at, and their pieces of work have ended; for each, whether it is the last
        that its film was missing.

        The row that was the last stays it: a worker that dies over it is handed the same row again.
        ``answered``: an engine gave answers about them. ``engine_failures``, by film: it failed as a whole.
        """
        if answered:
            self._missed.clear()
        for film, failed in engine_failures.items():
            self._missed[film] = failed
            if len(self._missed) >= ENDS_ALL:
                self._stopped = self._stopped or failed
        return [self._arrive(arrival) for arrival in arrivals]

    def _arrive(self, arrival: Arrival) -> bool:
        if arrival.unit:
            self.end(arrival.unit)
        film_state = self._films[arrival.film]
        if film_state.over:
            return False
        film_state.names.add(arrival.name)
        film_state.failed = film_state.failed or arrival.failed
        film_state.seconds = max(film_state.seconds, arrival.seconds)
        film_state.peak = max(film_state.peak, arrival.peak)
        if arrival.number_of_others is not None:
            film_state.wanted = arrival.number_of_others + 1
        is_complete = film_state.wanted is not None and len(film_state.names) >= film_state.wanted
        if is_complete and not film_state.last:
            film_state.last = arrival.name
        return film_state.last == arrival.name

    def account(self, film: int) -> tuple[FilmResult | None, float, int, int]:
        """What ended a film, if anything has; the seconds and the most bytes that preparing it took; how
        often the part of it that was begun most often was begun."""
        film_state = self._films[film]
        return film_state.failed, film_state.seconds, film_state.peak, film_state.attempts

    def over(self, film: int) -> None:
        """The film has its result; the names of its rows are forgotten, for a run may have millions."""
        self._films[film].over = True
        self._films[film].names.clear()

    def stopped(self) -> FilmResult | None:
        """The failure for which nothing more is begun; None as long as the run goes on."""
        return self._stopped


KEPT = "What is done is kept: the same command continues from there."


def failed_by(job: FilmJob, trouble: Exception) -> FilmResult:
    """The failure of a film by ``trouble``."""
    full = memory_error_of(trouble)
    if full is not None:
        less = "Give preparing fewer workers on a node (preparing.cpus), or read smaller frames."
        return failure(job, full.what, less, kind="memory")
    if isinstance(trouble, ShotadError):
        return failure(job, trouble.what, trouble.hint, kind=type(trouble).__name__)
    return failure(job, fault_of(trouble), "Please report it.", kind="unexpected")


def lost(job: FilmJob, activity: str, times: int) -> FilmResult:
    """The failure of a film whose worker was lost again and again while it was ``activity``."""
    problem = f"The worker that was {activity} was lost {'once' if times == 1 else f'{times} times'}."
    hint = f"It was killed, or ran out of memory: try the film alone, with shotad describe. {KEPT}"
    return failure(job, problem, hint, kind="killed")


def halted(job: FilmJob, stopped: FilmResult) -> FilmResult:
    """The failure of a film that was not begun because the run ended on ``stopped``."""
    message, hint = stopped.error or ("", "")
    return failure(job, f"The run was ended: {message}", hint or KEPT, kind="stopped")
