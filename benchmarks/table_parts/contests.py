"""What is compared, and the running: each measurement in a process of its own, all taking turns.

A work is a generator of two steps, called with an empty folder and what is given: first it gets ready, then
it does what is measured and yields what it counted (`Done`). What is heavy is imported in the works: what a
measurement has loaded counts as its memory.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass as checked

from shotad.core import system
from shotad.core.system import forget_peak, processors

HERE = Path(__file__).resolve().parents[1]
ROOT = HERE.parent
ONE = "import sys; from table_parts.contests import measure_one; measure_one(sys.argv[1])"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""How many threads libraries use: as many as there are processors in each work."""
PATIENCE = 900.0
"""Seconds after which a measurement is given up."""
LENGTHS = (1, 2, 4, 8)
LOOP = 15.0
"""Seconds of the sample from which films of other sizes are made: three cuts, and one where it repeats."""
Clock = Literal["wall", "cpu"]
Given = Mapping[str, Any]


@dataclass(frozen=True)
class Done:
    """What was counted, and the seconds of it that shall not count (a voice that only stands in)."""

    counts: Mapping[str, float] = field(default_factory=dict)
    less_wall: float = 0.0
    less_cpu: float = 0.0


Steps = Iterator[Done | None]
Work = Callable[..., Steps]


@checked
class Run:
    """One measurement: seconds by the clock and on the processors (all threads and programs started), the
    most MB (10^6 bytes) in memory at once, and what was counted, by which one sees that all did the same."""

    turn: int
    wall: float
    cpu: float
    peak: float
    counts: dict[str, float]


@checked
class Entrant:
    """One of those that are compared: a ``rival`` does what we do another way, a ``limit`` cannot be spared.
    ``missing``: why there is no figure (not installed, failed).
    """

    name: str
    role: Literal["ours", "rival", "limit"]
    work: Work | None = Field(None, exclude=True)
    given: Given = Field(default_factory=dict, exclude=True)
    missing: str = ""
    runs: list[Run] = Field(default_factory=list)


@checked
class Target:
    """A limit that the project set itself: the median ratio of two entrants by a clock."""

    ours: str
    against: str
    clock: Clock
    most: float


@checked
class Contest:
    """Ours beside others, on the same input, in turns; or, with a ``unit``, the growth of one work: entrants
    are as many as `LENGTHS`, each that many times as long as ``base`` units.

    ``seconds`` is the length of the film that is worked on, 0 where there is none; ``same`` names the
    counts in which all must agree; ``turns`` limits how often it is run.
    """

    part: str
    name: str
    entrants: list[Entrant]
    seconds: float = 0.0
    same: tuple[str, ...] = ()
    targets: tuple[Target, ...] = ()
    turns: int = Field(99, exclude=True)
    unit: str = ""
    base: float = 0.0


@checked
class Report:
    """All that one run of the table found, and where and with what; what is left out has its reason."""

    made: str
    machine: dict[str, Any]
    versions: dict[str, str]
    contests: list[Contest]
    left_out: list[tuple[str, str]]


# Running


def measure_one(told: str) -> None:
    """Measure in this process what ``told`` asks for in JSON; the answer is the last line that is printed."""
    module, name, given, folder = json.loads(told)
    work: Work = getattr(importlib.import_module(module), name)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        steps = work(Path(scratch), **given)
        next(steps)
        gc.collect()
        forget_peak()
        cpu, wall = _processor(), time.perf_counter()
        done = next(steps) or Done()
        wall, cpu = time.perf_counter() - wall, _processor() - cpu
        most = max(system.peak_memory(), 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1e6
    wall, cpu = max(wall - done.less_wall, 0.0), max(cpu - done.less_cpu, 0.0)
    print(json.dumps({"wall": wall, "cpu": cpu, "peak": most, "counts": dict(done.counts)}), flush=True)


def _processor() -> float:
    """Seconds on the processors so far: all threads, and the programs that were started and have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def schedule(contests: Sequence[Contest], runs: int) -> Iterator[tuple[int, Contest, Entrant]]:
    """Every entrant of every contest once in each turn.

    Those that are compared stand side by side, and each turn begins with another of them and goes the
    other way round: a machine that grows busy or warm hits all alike.
    """
    for turn in range(runs):
        for contest in contests:
            if turn < contest.turns:
                start = turn % len(contest.entrants)
                order = contest.entrants[start:] + contest.entrants[:start]
                yield from ((turn, contest, entrant) for entrant in order[:: -1 if turn % 2 else 1])


def run_all(contests: Sequence[Contest], runs: int, folder: Path, keep: Callable[[], None]) -> None:
    """Everything measured, into the entrants; ``keep`` is called after each turn. Who fails once is told, and
    not run again."""
    kept = 0
    for turn, contest, entrant in schedule(contests, runs):
        if turn > kept:
            kept = turn
            keep()
        if entrant.missing:
            continue
        found, label = run_one(entrant, turn, folder), f"{contest.part}, {contest.name}, {entrant.name}"
        if isinstance(found, str):
            entrant.missing = found
            say(f"{label}: {found}")
        else:
            entrant.runs.append(found)
            say(f"{label}, turn {turn + 1}: {found.wall:.2f} s, CPU {found.cpu:.2f} s")
    keep()


def run_one(entrant: Entrant, turn: int, folder: Path) -> Run | str:
    assert entrant.work is not None
    asked = [entrant.work.__module__, entrant.work.__name__, entrant.given, folder]
    count = str(processors())
    paths = os.pathsep.join(filter(None, [str(HERE), str(ROOT), os.environ.get("PYTHONPATH")]))
    with subprocess.Popen(
        [sys.executable, "-c", ONE, json.dumps(asked, default=str)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths, **dict.fromkeys(THREADS, count)},
        start_new_session=True,
    ) as process:
        try:
            told, said = process.communicate(timeout=PATIENCE)
        except BaseException as error:
            # With all programs that it has started, which would disturb the next ones
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                return f"took more than {PATIENCE:g} s"
            raise
    if process.returncode:
        return f"failed: {said.strip().splitlines()[-1] if said.strip() else process.returncode}"
    return Run(turn, **json.loads(told.splitlines()[-1]))


def say(line: str) -> None:
    """Told on the way, beside what is printed at the end."""
    print(line, file=sys.stderr, flush=True)


# What the parts share


@dataclass(frozen=True)
class FilmAt:
    path: Path
    label: str
    seconds: float
    height: int


def look(path: Path, label: str = "") -> FilmAt:
    import av

    with av.open(str(path)) as container:
        seconds = float((container.duration or 0) / 1_000_000)
        return FilmAt(path, label or path.name, seconds, container.streams.video[0].height)


@dataclass(frozen=True)
class Stage:
    """On what is measured: ``own`` are the user's films, which take the place of made ones; ``data`` has
    CMD-AD's annotation. ``left_out`` is filled with what cannot be measured, and why."""

    folder: Path
    own: tuple[FilmAt, ...] = ()
    data: Path = Path()
    grows: bool = True
    left_out: list[tuple[str, str]] = field(default_factory=list)

    def films(self, *wanted: tuple[int, float]) -> Sequence[FilmAt]:
        """The user's films, or films made once per folder, of these lines and about these seconds."""
        from bench_film import bench_film

        return self.own or [
            look(bench_film(self.folder, height, seconds, LOOP), f"made film, {height}p")
            for height, seconds in wanted
        ]

    def real(self) -> Sequence[FilmAt]:
        """The user's films, or 70 s of a real battle, at two sizes."""
        from bench_film import bench_film
        from common import FILMS

        battle, name = FILMS / "tears-of-steel-battle.webm", "Tears of Steel, 70 s"
        if not self.own and not battle.is_file():
            self.left_out.append((f"describe, {name}", f"there is no {battle}"))
            return ()
        return self.own or [
            look(bench_film(self.folder, height, 60, source=battle), f"{name}, {height}p")
            for height in (1080, 480)
        ]

    def longer(self, times: int, base: float) -> FilmAt:
        """A film so many times as long as about ``base`` seconds: loops of the user's first film, else of the
        sample or, where that is too long, of its beginning."""
        from bench_film import SAMPLE, bench_film, repeated

        made = SAMPLE if base >= 40 else bench_film(self.folder, 360, base, base)
        reel = self.own[0].path if self.own else made
        length = look(reel).seconds
        loops = max(1, round(base / length)) * times
        path = self.folder / f"{reel.stem}-{loops}{reel.suffix}"
        # A little less than whole loops, so that rounding never adds one.
        repeated(reel, path, (loops - 0.5) * length)
        return look(path, f"{reel.stem}, {loops * length:.0f} s")

    def growth(
        self, part: str, name: str, work: Work, *, base: float = 12.0, turns: int = 2, **more: Any
    ) -> Iterator[Contest]:
        """One work on films of `LENGTHS` times ``base`` seconds, with ``more`` given; a function there is
        asked for each film. None where no growth is measured."""
        if self.grows:
            films = [self.longer(n, base) for n in LENGTHS]
            own = [{key: one(film) if callable(one) else one for key, one in more.items()} for film in films]
            given = [{"film": film.path, **one} for film, one in zip(films, own, strict=True)]
            yield growth(part, name, work, given, "s of film", round(films[0].seconds, 1), turns)


def growth(
    part: str, name: str, work: Work, given: Sequence[Given], unit: str, base: float, turns: int
) -> Contest:
    entrants = [Entrant(f"{n} times", "ours", work, one) for n, one in zip(LENGTHS, given, strict=True)]
    return Contest(part, name, entrants, turns=turns, unit=unit, base=base)


def command(scratch: Path, words: Sequence[str], film: str = "") -> Steps:
    """A program, run in the scratch folder; ``{film}`` and ``{out}``, a folder there, are filled in. Nothing
    is imported beforehand, so that the most memory is that of the program."""
    filled = [word.replace("{film}", film).replace("{out}", str(scratch / "out")) for word in words]
    # As its user starts it: a program chooses its threads.
    ours = {name: value for name, value in os.environ.items() if name not in THREADS}
    environment = {**ours, "PYTHONPATH": str(ROOT)}
    yield None
    done = subprocess.run(filled, cwd=scratch, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-300:] or f"exit code {done.returncode}")
    yield Done()


def shotad(*words: str) -> list[str]:
    return [sys.executable, "-c", "from shotad.cli.main import main; main()", *words]
