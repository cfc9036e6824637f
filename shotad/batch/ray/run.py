"""A catalogue as a Ray Data pipeline: films → slots → films.

preparing   film → shots, speech, slots, grammar → a row for each slot, with its frames   CPUs
looking     slot → Stage I → its record, kept at once                                     GPUs, or servers
finishing   film → Stage II in order → track, scripts                                     CPUs, or GPUs

Rows under way are bounded by Ray Data: a worker that hands on faster than others take waits, and so does the
film that it reads. What the nodes of the cluster are like (processors, versions, disks) is looked at before
any film is begun.
"""

from __future__ import annotations

import inspect
import itertools
import pickle
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from shotad import __version__
from shotad.batch.jobs import FilmJob, FilmResult, error_line, failure
from shotad.batch.places import is_address, is_local, local_path
from shotad.batch.planner import PlannedFilm
from shotad.batch.ray.cluster import (
    KEPT,
    Calls,
    RaySettings,
    connected,
    is_own,
    quiet_data,
    register_of_run,
)
from shotad.batch.ray.rows import RayRow, rows
from shotad.batch.ray.servers import OWN_ADDRESS, asks_own_server, stage_engine
from shotad.batch.ray.steps import Finishing, PreparedSlots, Stage1Answers
from shotad.batch.ray.worker_counts import (
    Node,
    StageNeeds,
    Workers,
    nodes_of,
    plan_line,
    plan_workers,
    short_of,
    stage_needs,
    waits_for,
)
from shotad.core import (
    Abilities,
    NoProgress,
    Progress,
    ShotadError,
)
from shotad.core.errors import ConfigError, EngineError

Told = Callable[[FilmResult], None]

_CALLS = "max_concurrent_calls_per_actor"


def describe_on_ray(
    jobs: Sequence[FilmJob],
    *,
    address: str | None = None,
    settings: RaySettings | None = None,
    progress: Progress | None = None,
    on_result: Told = lambda _: None,
) -> list[FilmResult]:
    """Describe the films of ``jobs`` on a Ray cluster; one result for each, in their order.

    ``address`` is the cluster's (``auto``, ``host:6379``); None: the one that is connected or named by the
    environment, else processes of this machine. ``on_result`` gets each result as soon as it is there. Films
    and work folders must be at paths that all machines share, or at addresses of a store. No film's failure
    stops the others: it is a result. Raises ShotadError where Ray is missing or cannot be reached, where
    a node has no shotad, another version of it, or does not see the films, and where lines are to be
    verified by model servers that only the workers of Stage I reach.
    """
    settings, progress = settings or RaySettings(), progress or NoProgress()
    results: dict[int, FilmResult] = {}
    if not jobs:
        return []
    _check_verify(jobs, settings)
    message = "The Ray run ended without its result."
    with connected(address, settings) as ray, quiet_data(ray):
        # Say what the cluster is, and refuse one on which no film could be described.
        nodes, own = nodes_of(ray), is_own(address)
        workers = plan_workers(settings, nodes, len(jobs), _needs(jobs[0], settings))
        place = "this machine" if own else "the cluster"
        progress.note(f"Films at work on {place}, by Ray. {plan_line(workers, nodes)}.")
        without_node, short = waits_for(workers, nodes), short_of(workers, nodes)
        if own and (without_node or short):
            hint = "Ask for less in --ray-config, or name a cluster with --ray ADDRESS."
            raise EngineError(without_node or short, hint)
        if without_node:
            progress.note(f"{without_node} The run waits until nodes with that come.")
        elif short:
            progress.note(f"{short} Some begin when others have ended, or when nodes come.")
        check_nodes(ray, nodes, jobs)
        try:
            data = pipeline(ray, jobs, settings, workers, register_of_run(ray))
            for batch in data.iter_batches(batch_size=None, prefetch_batches=0):
                for row in rows(batch):
                    assert row.result is not None
                    if row.film not in results:
                        job = jobs[row.film]
                        results[row.film] = replace(row.result, film=job.film, folder=job.folder)
                        on_result(results[row.film])
        except (ray.exceptions.RayError, ray.data.exceptions.SystemException) as trouble:
            # What is done is done, and the films that have no result say why.
            message = f"The Ray run broke off: {error_line(trouble)}"
    for film, job in enumerate(jobs):
        if film not in results:
            results[film] = failure(job, message, KEPT, kind="stopped")
            on_result(results[film])
    return [results[film] for film in range(len(jobs))]


def _check_verify(jobs: Sequence[FilmJob], settings: RaySettings) -> None:
    """Refuse to verify lines by model servers that the workers of Stage I start for themselves.

    Other workers write the lines, perhaps on other machines: they cannot ask these servers. Raises
    ConfigError.
    """
    serve = settings.looking.serve
    for job in jobs:
        unreachable = False
        # A film whose engine cannot be made fails alone, later.
        with suppress(ShotadError):
            unreachable = job.config.verify.on and asks_own_server(job.config, "stage1", serve)
        if unreachable:
            raise ConfigError(
                "verify.on asks the model of Stage I about each line, but with looking.serve.command "
                "only the workers of Stage I reach its servers.",
                "Leave --verify away; or start servers that every node reaches, and name them in servers in "
                "place of looking.serve.command.",
            )


_PATHS = ("film", "folder", "subtitles", "cast", "cast_photos", "scratch")


def pipeline(
    ray: Any,
    jobs: Sequence[FilmJob],
    settings: RaySettings,
    workers: Mapping[str, Workers],
    register: Calls,
) -> Any:
    """The lazy dataset: a row for each film in, one for each film's result out."""
    films = []
    for film, job in enumerate(jobs):
        # Workers run in folders of their own: they are told whole paths.
        paths = {name: value for name in _PATHS if (value := getattr(job, name)) is not None}
        whole: dict[str, Any] = {
            name: value if is_address(value) else str(Path(value).absolute()) for name, value in paths.items()
        }
        films.append({"row": pickle.dumps(RayRow(film, "film", replace(job, **whole)))})
    able = Abilities()
    # A plain engine's abilities stand where they cannot be told on this machine.
    with suppress(ShotadError):
        able = stage_engine(jobs[0].config, "stage1", settings.servers).abilities
        if settings.looking.serve.command is not None:
            able = replace(able, in_flight=max(able.in_flight, jobs[0].config.openai.in_flight))
    batch = settings.batch or able.batch
    data = ray.data.from_items(films, override_num_blocks=len(films))
    kinds: tuple[tuple[str, Callable[..., Any], int, int], ...] = (
        ("preparing", PreparedSlots, 1, 1),
        ("looking", Stage1Answers, batch, able.in_flight),
        ("writing", Finishing, 1, 1),
    )
    for kind, work, rows_at_once, calls_at_once in kinds:
        data = _staffed(ray, data, work, workers[kind], register, settings, rows_at_once, calls_at_once)
    return data


def _needs(job: FilmJob, settings: RaySettings) -> dict[str, StageNeeds]:
    """What looking and writing need for such a film."""
    needs: dict[str, StageNeeds] = {}
    # A film whose engine cannot be made fails alone, later.
    with suppress(ShotadError):
        needs["looking"] = stage_needs(job.config, "stage1", settings)
        needs["writing"] = stage_needs(job.config, "stage2", settings)
    return needs


def _staffed(
    ray: Any,
    data: Any,
    work: Callable[..., Any],
    workers: Workers,
    register: Calls,
    settings: RaySettings,
    batch: int,
    at_once: int,
) -> Any:
    """``data`` handed to workers, ``batch`` rows at a time, ``at_once`` such batches in threads of each."""
    # Without a most, the pool grows as long as Ray Data's budget of the cluster, as it is then, has place.
    size = {"min_size": workers.least, "max_size": workers.most}
    if workers.start > workers.least:
        size["initial_size"] = workers.start
    more: dict[str, Any] = {"max_tasks_in_flight_per_actor": at_once}
    others: dict[str, Any] = {}
    if at_once > 1:
        more["enable_true_multi_threading"] = True
        has_calls = _CALLS in inspect.signature(ray.data.ActorPoolStrategy).parameters
        # Earlier versions of Ray take it among the arguments for the actors.
        (more if has_calls else others)[_CALLS if has_calls else "max_concurrency"] = at_once
    return data.map_batches(
        work,
        batch_size=batch,
        fn_constructor_args=(register, settings),
        compute=ray.data.ActorPoolStrategy(**size, **more),
        num_cpus=workers.cpus,
        num_gpus=workers.gpus,
        zero_copy_batch=True,
        **others,
    )


_SAMPLE = 20
"""Films, each of another folder, that every node is asked for."""
_PATIENCE = 120.0
"""Seconds for the answers of all nodes; one that is only just starting is not waited for longer."""


def check_nodes(ray: Any, nodes: Sequence[Node], jobs: Sequence[FilmJob]) -> None:
    """Raises EngineError where a node has no shotad, another one, or does not see the films."""
    from ray.exceptions import RayError
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    def look(places: list[str]) -> tuple[str, list[str]]:
        # A question to one node. It travels as a whole: a node may have no shotad.
        import os

        try:
            import shotad
        except ImportError:
            return "", []
        return shotad.__version__, [place for place in places if not os.path.exists(place)]

    places, node_of_task = _places(jobs), {}
    for node in nodes:
        affinity = NodeAffinitySchedulingStrategy(node.id, soft=False)
        ask = ray.remote(num_cpus=0, max_retries=0, scheduling_strategy=affinity)(look)
        node_of_task[ask.remote(places)] = node
    answers, _ = ray.wait(list(node_of_task), num_returns=len(node_of_task), timeout=_PATIENCE)
    for answer in answers:
        try:
            version, missing = ray.get(answer)
        except RayError:
            continue  # the node has gone; Ray goes on with the others
        where = f"Node {node_of_task[answer].host}"
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


def _places(jobs: Sequence[FilmJob]) -> list[str]:
    """A film of each folder, and the nearest folder above each work folder that is there; not too many."""
    samples: dict[Path, str] = {}
    for job in jobs:
        if is_local(job.film):
            film = local_path(job.film)
            if film.exists():
                samples.setdefault(film.parent, str(film))
        if is_local(job.folder):
            above = next(folder for folder in local_path(job.folder).absolute().parents if folder.exists())
            samples.setdefault(above, str(above))
        if len(samples) >= _SAMPLE:
            break
    return list(samples.values())


def servers_asked(planned: Sequence[PlannedFilm], settings: RaySettings) -> list[PlannedFilm]:
    """A film for each kind of settings and each server that will be asked in place of the usual one."""
    kinds = {
        film.job.config.model_dump_json(exclude={"prompt"}) + str(film.job.makes): film for film in planned
    }
    urls: tuple[str | None, ...] = settings.servers or (None,)
    own = {"base_url": OWN_ADDRESS}
    films_sent = []
    for film, url in itertools.product(kinds.values(), urls):
        config = film.job.config
        more: dict[str, Any] = {}
        if url is not None:
            more["openai"] = config.openai.model_copy(update={"base_url": url})
        if settings.looking.serve.command is not None:
            more["stage1"] = config.stage1.model_copy(update=own)
        if settings.writing.serve.command is not None:
            more["stage2"] = config.stage2.model_copy(update=own)
        films_sent.append(replace(film, job=replace(film.job, config=config.model_copy(update=more))))
    return films_sent
