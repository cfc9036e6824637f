"""Who runs when, and the running: each measurement in a process of its own, all taking turns.

A work is a function of what it is given and of an empty folder; it gets ready, and gives back what is to be
measured, which in turn gives back what it counted (`Done`).
"""

from __future__ import annotations

import gc
import importlib.metadata
import json
import os
import platform
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from shotad.core import forget_peak, memory_total, processors, system
from table_parts.kinds import Contest, Entrant, Growth, Run

HERE = Path(__file__).resolve().parents[1]
ROOT = HERE.parent
ONE = "import sys; from table_parts.running import measure_one; measure_one(sys.argv[1])"
PATIENCE = 900.0
"""Seconds after which a measurement is given up."""
PACKAGES = ("numpy", "av", "opencv-python", "scenedetect", "decord", "torch", "transformers", "onnxruntime",
            "ai-edge-litert", "pycocoevalcap")  # fmt: skip


@dataclass(frozen=True)
class Done:
    """What was counted, and the seconds of it that shall not count (a voice that only stands in)."""

    counts: Mapping[str, float] = field(default_factory=dict)
    less_wall: float = 0.0
    less_cpu: float = 0.0


Ready = Callable[[], Done]
Work = Callable[[Mapping[str, Any], Path], Ready]


def measure_one(told: str) -> None:
    """Measure in this process what ``told`` asks for in JSON; the answer is the last line that is printed."""
    asked = json.loads(told)
    module, _, function = asked["work"].partition(":")
    work: Work = getattr(importlib.import_module(module), function)
    with tempfile.TemporaryDirectory(dir=asked["folder"]) as scratch:
        ready = work(asked["given"], Path(scratch))
        gc.collect()
        forget_peak()
        cpu, wall = processor(), time.perf_counter()
        done = ready()
        wall, cpu = time.perf_counter() - wall, processor() - cpu
        most = max(system.peak_memory(), 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1e6
    wall, cpu = max(wall - done.less_wall, 0.0), max(cpu - done.less_cpu, 0.0)
    print(json.dumps({"wall": wall, "cpu": cpu, "peak": most, "counts": dict(done.counts)}), flush=True)


def processor() -> float:
    """Seconds on the processors so far: all threads, and the programs that were started and have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def schedule(sizes: Sequence[tuple[int, int | None]], runs: int) -> Iterator[tuple[int, int, int]]:
    """Turn, contest and entrant: every entrant of every contest once in each turn; ``sizes`` are entrants and
    the most turns of each.

    Those that are compared stand side by side, and each turn begins with another of them and goes the
    other way round: a machine that grows busy or warm hits all alike.
    """
    for turn in range(runs):
        for contest, (entrants, most) in enumerate(sizes):
            if most is not None and turn >= most:
                continue
            order = [(turn + i) % entrants for i in range(entrants)]
            for entrant in reversed(order) if turn % 2 else order:
                yield turn, contest, entrant


@dataclass
class Runner:
    """Runs measurements; ``tell`` is told each of them, ``folder`` is for what they write.

    ``keep`` is given all that was found, after each turn and at the end.
    """

    folder: Path
    tell: Callable[[str], None]
    threads: int
    keep: Callable[[list[Contest], list[Growth]], None] = lambda _, __: None

    def one(self, entrant: Entrant, turn: int) -> Run | str:
        """The run, or why there is none."""
        asked = {"work": entrant.work, "given": dict(entrant.given), "folder": str(self.folder)}
        count = str(self.threads)
        paths = os.pathsep.join(filter(None, [str(HERE), str(ROOT), os.environ.get("PYTHONPATH")]))
        with subprocess.Popen(
            [sys.executable, "-c", ONE, json.dumps(asked)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": count, "OPENBLAS_NUM_THREADS": count},
            start_new_session=True,
        ) as process:
            try:
                told, said = process.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                _end(process)
                return f"took more than {PATIENCE:g} s"
            except BaseException:
                _end(process)
                raise
        if process.returncode:
            lines = [line for line in said.splitlines() if line.strip()]
            return f"failed: {lines[-1].strip() if lines else f'exit code {process.returncode}'}"
        try:
            return Run(turn, **json.loads(told.splitlines()[-1]))
        except (IndexError, ValueError, TypeError):
            return f"failed: no figures in what it printed: {told[-200:]!r}"

    def all(
        self, contests: Sequence[Contest], growths: Sequence[Growth], runs: int
    ) -> tuple[list[Contest], list[Growth]]:
        """Everything measured. Who fails once is told, and not run again."""
        both: list[Contest | Growth] = [*contests, *growths]
        table = [list(one.entrants) for one in both]
        kept = 0
        for turn, at, number in schedule([(len(one.entrants), one.turns) for one in both], runs):
            if turn > kept:
                kept = turn
                self.keep(*_filled(both, table))
            entrant = table[at][number]
            if entrant.missing:
                continue
            made, label = self.one(entrant, turn), f"{both[at].part}, {both[at].name}, {entrant.name}"
            if isinstance(made, str):
                table[at][number] = replace(entrant, missing=made)
                self.tell(f"{label}: {made}")
            else:
                table[at][number] = replace(entrant, runs=(*entrant.runs, made))
                self.tell(f"{label}, turn {turn + 1}: {made.wall:.2f} s, CPU {made.cpu:.2f} s")
        found = _filled(both, table)
        self.keep(*found)
        return found


def _end(process: subprocess.Popen[str]) -> None:
    """Ends a measurement with all programs that it has started, which would disturb the next ones."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _filled(
    both: Sequence[Contest | Growth], table: Sequence[Sequence[Entrant]]
) -> tuple[list[Contest], list[Growth]]:
    filled = [replace(one, entrants=tuple(row)) for one, row in zip(both, table, strict=True)]
    return (
        [one for one in filled if isinstance(one, Contest)],
        [one for one in filled if isinstance(one, Growth)],
    )


def machine() -> dict[str, Any]:
    """The machine in words, without its name, and how busy it is now."""
    memory, cores = (memory_total() or 0) / 2**30, processors()
    info = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*:\s*(.+)", info.read_text()) if info.exists() else None
    name = re.sub(r"\s+|\(R\)|\(TM\)", " ", found[1] if found else platform.machine())
    words = f"{' '.join(name.split())}, {cores} cores, {memory:.0f} GiB of memory, {platform.system()}"
    return {"words": f"{words}, no GPU used", "cores": cores, "load_before": load()}


def load() -> float:
    """Processes that wanted to run, mean of the last minute."""
    return round(os.getloadavg()[0], 1)


def versions() -> dict[str, str]:
    """Python, shotad with its commit, and the packages that do the work or are compared with."""
    from shotad import __version__

    command = ["git", "log", "-1", "--format=%h"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    commit = f" ({done.stdout.strip()})" if done.returncode == 0 else ""
    told = {"python": platform.python_version(), "shotad": f"{__version__}{commit}"}
    for name in PACKAGES:
        try:
            told[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            told[name] = "not installed"
    return told
