"""Predicts on several graphics cards: a worker process for each, one file of lines, one view of progress.

Each worker has the models of both stages on its card. The clips are shared out by their numbers of ADs before
the run, so that batches are the same in every run; a worker asks for its next clip as soon as it has room for
it. What a worker has not done when it dies goes to the others. Workers send lines; only the process that
started them writes the file.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from multiprocessing.connection import Connection, wait
from pathlib import Path

from shotad.core import Config, NoProgress, ShotadError, Task, WorkFolder
from shotad.core.engine import Stage
from shotad.core.errors import EngineError, UsageError
from shotad.core.files import remove_file
from shotad.core.progress import plural, progress_task
from shotad.core.system import exit_process, how_it_ended, usable_name
from shotad.core.worker_process import PATIENCE, WorkerProcess
from shotad.core.workfolder import work_folder_of
from shotad.description import Engines
from shotad.description.engine_pair import engine_usage
from shotad.engines import NoMemory, StageUsage
from shotad.evaluation.datasets.dataset import Dataset, Shard
from shotad.evaluation.datasets.published_grammar import AdGrammar
from shotad.evaluation.predicting.character_banks import CharacterBanks
from shotad.evaluation.predicting.clip import ClipAds, Predicted, PredictedLine, terms_of
from shotad.evaluation.predicting.job import Job
from shotad.evaluation.predicting.parts import (
    ClipPart,
    DescribedPart,
    PartDescriber,
    clips_at_once,
    parts_of,
)
from shotad.evaluation.predicting.run import Results, begun, ready_terms

VISIBLE = "CUDA_VISIBLE_DEVICES"
"""The variable by which CUDA is told which cards there are, by number or by UUID:
https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#env-vars"""

ALL = "all"


def chosen_gpus(option: str, config: Config) -> tuple[str, ...]:
    """The cards that ``--gpus`` means, ``all`` or the first N, as `VISIBLE` names them.

    Where that variable is set, its cards are all there are. Raises UsageError.
    """
    if config.compute.device not in ("auto", "cuda"):
        raise UsageError(
            f"--gpus gives each worker a card, and compute.device = {config.compute.device} names one.",
            "Leave one of them away.",
        )
    cards = _visible_gpus()
    if option == ALL:
        number = len(cards)
    elif option.isascii() and option.isdigit() and len(option) < 5:
        number = int(option)
    else:
        raise UsageError(f"--gpus {option[:80]!r} is no number of cards.", "Write 1, 2, … or all.")
    if number < 1 or number > len(cards):
        cards_text = f"this machine shows {plural(len(cards), 'card')}"
        raise UsageError(
            f"--gpus {option}: {cards_text}.", f"Look at nvidia-smi and at {VISIBLE}, or leave --gpus away."
        )
    return cards[:number]


def _visible_gpus() -> tuple[str, ...]:
    """The cards that CUDA may use."""
    visible = os.environ.get(VISIBLE)
    if visible is not None:
        names = []
        for name in visible.split(","):
            # What stands behind a wrong name is not seen by CUDA; -1 is used to hide all.
            if not name.strip() or name.strip().startswith("-"):
                break
            names.append(name.strip())
        return tuple(dict.fromkeys(names))
    try:
        import torch
    except ImportError:
        return ()
    # Does not begin to use a card, which would take memory of it in this process.
    return tuple(str(number) for number in range(torch.cuda.device_count()))


# What goes through the pipe between the run and its workers


@dataclass(frozen=True, slots=True)
class _Setup:
    """What a worker has to know of the run: its `Job`, but for what it makes itself."""

    dataset: Dataset
    config: Config
    out: Path
    videos: Path | None
    published: bool
    bank: CharacterBanks | None
    grammar: Mapping[str, AdGrammar] | None
    work: Path | None
    folder: Path
    terms: str
    at_once: int


@dataclass(frozen=True, slots=True)
class _Order:
    """A part to describe, its number in the run, and what earlier runs made of its ADs."""

    number: int
    part: ClipPart
    known_lines: tuple[PredictedLine, ...]


@dataclass(frozen=True, slots=True)
class _NextPart:
    """A worker has room for a part. The answer is an `_Order`, or None: there are no more for now."""


@dataclass(frozen=True, slots=True)
class _Done:
    """What became of the part ``number``, and what the worker's engines have taken so far."""

    number: int
    described: DescribedPart
    usage: Mapping[Stage, StageUsage]


@dataclass(frozen=True, slots=True)
class _Idle:
    """A worker has done all its parts."""


@dataclass(frozen=True, slots=True)
class _Failed:
    """A worker met an error that ends the run."""

    what: str
    hint: str
    again: bool


_News = _NextPart | _Done | _Idle | _Failed | str
"""What a worker says; a text is a line for people."""


@dataclass(slots=True, eq=False)
class _GpuWorker(WorkerProcess):
    """A worker and what it has to do: ``queue`` are the numbers of its parts that it has not begun,
    ``begun`` those at which it is. ``usage`` is what its engines took."""

    name: str = ""
    queue: deque[int] = field(default_factory=deque)
    begun: set[int] = field(default_factory=set)
    is_idle: bool = True
    usage: Mapping[Stage, StageUsage] = field(default_factory=dict)


def predict_on_gpus(job: Job, clips: Sequence[ClipAds], gpus: Sequence[str]) -> Predicted:
    """As `predict`, by a worker process for each of these cards; ``gpus`` are names as in `VISIBLE`.

    The log of the worker of card 0 is ``gpu-0.log`` in the run's work folder. Raises EngineError where no
    worker is left, and what ends a run by `predict`.
    """
    job = begun(job)
    terms = ready_terms(job)
    with (
        WorkFolder(work_folder_of(job.out)) as folder,
        progress_task(job.progress, "Describing clips", sum(map(len, clips)), "ADs") as task,
    ):
        results = Results(job, folder, terms)
        parts = parts_of(job, clips)
        at_once = clips_at_once(parts, job.engines)
        setup = _Setup(
            job.dataset, job.config, job.out, job.videos, job.published, job.bank,
            job.grammar, job.work, folder.path, terms, at_once,
        )  # fmt: skip
        usage = _GpuRun(job, parts, results, task).work_through(setup, gpus)
        return results.finished(clips, engine_usage(usage, job.engines.terms(job.config)))


class _GpuRun:
    """Hands parts to workers, and keeps what comes of them."""

    def __init__(self, job: Job, parts: Sequence[ClipPart], results: Results, task: Task) -> None:
        self._progress, self._parts, self._results, self._task = job.progress, parts, results, task
        self._workers: list[_GpuWorker] = []
        self._gone: list[_GpuWorker] = []

    def work_through(self, setup: _Setup, gpus: Sequence[str]) -> dict[Stage, StageUsage]:
        """Describe all parts; returns what the engines of all workers took."""
        sizes = {str(number): len(part.ads) for number, part in enumerate(self._parts)}
        largest_first = dict(sorted(sizes.items(), key=lambda item: -item[1]))
        try:
            for place, gpu in enumerate(gpus):
                share = Shard(place + 1, len(gpus)).of_groups(largest_first)
                if share:
                    self._start(setup, gpu, sorted(map(int, share)))
            while any(worker.queue or worker.begun for worker in self._workers):
                ready = wait([worker.line for worker in self._workers])
                for worker in [worker for worker in self._workers if worker.line in ready]:
                    self._hear(worker)
        finally:
            self._stop()
        usage: dict[Stage, StageUsage] = {}
        for worker in [*self._workers, *self._gone]:
            for stage, used in worker.usage.items():
                usage[stage] = usage.get(stage, StageUsage()) + used
        return usage

    def _start(self, setup: _Setup, gpu: str, numbers: Sequence[int]) -> None:
        # A name such as GPU-8f3a… or MIG-…/1/0 has to be that of a file.
        log = setup.folder / usable_name(f"gpu-{gpu.replace('/', '-')}.log")
        remove_file(log)
        worker = _GpuWorker.start(serve, log, gpu, setup, name=f"shotad predict, GPU {gpu}")
        worker.name = f"GPU {gpu}"
        worker.queue.extend(numbers)
        self._workers.append(worker)
        self._give_next(worker)

    def _give_next(self, worker: _GpuWorker) -> None:
        """Send the next part of a worker, or that there is none."""
        order = None
        if worker.queue:
            number = worker.queue.popleft()
            worker.begun.add(number)
            worker.is_idle = False
            part = self._parts[number]
            known_lines = self._results.ledger.known([ad.id for ad in part.ads])
            order = _Order(number, part, known_lines)
        worker.tell(order)

    def _hear(self, worker: _GpuWorker) -> None:
        """Do what the worker's news ask for. Raises the error that ends the run."""
        while True:
            try:
                if not worker.line.poll():
                    return
                news: _News = worker.line.recv()
            except (EOFError, OSError):
                self._bury(worker)
                return
            if isinstance(news, _NextPart):
                self._give_next(worker)
            elif isinstance(news, _Done):
                worker.begun.discard(news.number)
                worker.usage = news.usage
                self._results.keep(news.described)
                self._task.advance(len(news.described.part.ads))
            elif isinstance(news, _Idle):
                worker.is_idle = True
                if worker.queue:
                    self._give_next(worker)
            elif isinstance(news, _Failed):
                raise EngineError(f"{worker.name}: {news.what}", news.hint, again=news.again)
            else:
                self._progress.note(f"{worker.name}: {news}")

    def _bury(self, worker: _GpuWorker) -> None:
        """Give what a dead worker has not done to the others. Raises EngineError where there are none."""
        self._workers.remove(worker)
        self._gone.append(worker)
        ended, last = how_it_ended(worker.exit_code()), worker.last_words()
        last_line = f" It said last: {last}" if last else ""
        undone = sorted([*worker.begun, *worker.queue])
        worker.begun.clear()
        worker.queue.clear()
        worker.line.close()
        if not self._workers and undone:
            raise EngineError(
                f"{worker.name}: its worker {ended}, and there is no other.{last_line}",
                f"What is done is kept: look at {worker.log}, and run the same command again.",
                again=True,
            )
        if undone:
            number = plural(len(undone), "clip")
            self._progress.note(f"{worker.name}: its worker {ended}; the others do its {number}.{last_line}")
        for place, number_of_part in enumerate(undone):
            living_worker = self._workers[place % len(self._workers)]
            living_worker.queue.append(number_of_part)
        for living_worker in self._workers:
            if living_worker.is_idle and living_worker.queue:
                self._give_next(living_worker)

    def _stop(self) -> None:
        """End all workers: those at work tidily, by force where that takes too long."""
        for worker in self._workers:
            worker.tell(None)  # it may be waiting for a part
            if not worker.is_idle:
                worker.interrupt()
        until = time.monotonic() + PATIENCE
        try:
            for worker in self._workers:
                worker.end(until - time.monotonic(), is_idle=worker.is_idle)
        finally:
            for worker in self._workers:
                worker.kill()


# In a worker


class _SentLines:
    """What earlier runs made of the ADs of parts that were sent."""

    def __init__(self) -> None:
        self._lines: dict[str, list[PredictedLine]] = {}

    def add(self, lines: Sequence[PredictedLine]) -> None:
        for line in lines:
            self._lines.setdefault(line.id, []).append(line)

    def line_with_key(self, name: str, key: str) -> PredictedLine | None:
        return next((line for line in self._lines.get(name, ()) if line.key == key), None)

    def line(self, name: str) -> PredictedLine | None:
        """The line of the settings of this run: the first, see `Ledger.known`."""
        return next(iter(self._lines.get(name, ())), None)


class _Line:
    """A worker's end of the pipe; several threads may speak."""

    def __init__(self, line: Connection) -> None:
        self._line, self._lock = line, threading.Lock()

    def say(self, news: _News) -> None:
        """Tell the run; where it is gone, this process ends too."""
        with self._lock, suppress(OSError):
            self._line.send(news)

    def order(self) -> _Order | None:
        """The next order. Raises EOFError where the run is gone."""
        order: _Order | None = self._line.recv()
        return order


class _Notes(NoProgress):
    """A front end that passes lines for people on, and shows no tasks."""

    def __init__(self, line: _Line) -> None:
        self._line = line

    def note(self, text: str) -> None:
        self._line.say(text)


def serve(connection: Connection, gpu: str, setup: _Setup) -> None:
    """Describe parts on one card until the run has no more, or is gone."""
    # Before a library looks for cards.
    os.environ[VISIBLE] = gpu
    line = _Line(connection)
    with suppress(KeyboardInterrupt, EOFError, OSError):
        try:
            _work(line, setup)
        except ShotadError as error:
            line.say(_Failed(error.what, error.hint, error.again))
            line.order()  # the run ends this process
    exit_process(0)


def _work(line: _Line, setup: _Setup) -> None:
    """Describe parts until there are no more. Raises ShotadError for what ends the run."""
    # "auto" would work on the processor where CUDA does not know the card.
    compute = setup.config.compute.model_copy(update={"device": "cuda"})
    config = setup.config.model_copy(update={"compute": compute})
    engines = Engines.of(config)
    job = Job(
        setup.dataset, config, engines, setup.out, setup.videos, setup.published, setup.bank,
        setup.grammar, setup.work, _Notes(line),
    )  # fmt: skip
    engines.get_ready(job.config, NoProgress())
    if terms_of(job.config, engines) != setup.terms:
        raise EngineError("The engines of this worker are not those of the run.", "Choose them by settings.")
    known_lines = _SentLines()
    usage: dict[Stage, StageUsage] = {}
    while (first := line.order()) is not None:
        usage_before = dict(usage)
        with engines.pool(job.config, NoMemory()) as pool:
            describer = PartDescriber(job, setup.folder, known_lines, setup.terms, pool, _write_to_log)

            def describe(order: _Order, describer: PartDescriber = describer) -> tuple[int, DescribedPart]:
                known_lines.add(order.known_lines)
                return order.number, describer.describe(order.part)

            orders = chain([first], _orders(line))
            for number, described in pool.map(describe, orders, workers=setup.at_once):
                for stage, used in pool.usage.items():
                    usage[stage] = usage_before.get(stage, StageUsage()) + used
                line.say(_Done(number, described, dict(usage)))
        line.say(_Idle())


def _write_to_log(text: str) -> None:
    """Print a line, which `settle` sends to the worker's log."""
    sys.stderr.write(f"{text}\n")


def _orders(line: _Line) -> Iterator[_Order]:
    """Orders, as long as there are some."""
    while True:
        line.say(_NextPart())
        order = line.order()
        if order is None:
            return
        yield order
