"""One measurement in this process: what is needed is got ready, then the work is done under the clock.

A work is a function of what it is given and of an empty folder; it gets ready, and gives back what is to be
measured, which in turn gives back what it counted (`Done`).
"""

from __future__ import annotations

import gc
import importlib
import json
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shotad.core import forget_peak
from table_parts.usage import peak, peak_of_children, processor


@dataclass(frozen=True)
class Done:
    """What was counted, and the seconds of it that shall not count (a voice that only stands in)."""

    counts: Mapping[str, float] = field(default_factory=dict)
    less_wall: float = 0.0
    less_cpu: float = 0.0


Ready = Callable[[], Done]
Work = Callable[[Mapping[str, Any], Path], Ready]


def found(name: str) -> Work:
    """The work ``module:function``."""
    module, _, function = name.partition(":")
    work: Work = getattr(importlib.import_module(module), function)
    return work


def measure(work: str, given: Mapping[str, Any], folder: Path | None = None) -> dict[str, Any]:
    """Do it; what `Run` holds but its turn."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        ready = found(work)(given, Path(scratch))
        gc.collect()
        forget_peak()
        cpu, wall = processor(), time.perf_counter()
        done = ready()
        wall, cpu = time.perf_counter() - wall, processor() - cpu
        most = max(peak(), peak_of_children())
    return {
        "wall": max(wall - done.less_wall, 0.0),
        "cpu": max(cpu - done.less_cpu, 0.0),
        "peak": most,
        "counts": dict(done.counts),
    }


def main(told: str) -> None:
    """Measure what ``told`` asks for in JSON; the answer is the last line that is printed."""
    asked = json.loads(told)
    print(json.dumps(measure(asked["work"], asked["given"], Path(asked["folder"]))), flush=True)
