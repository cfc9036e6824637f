"""The machine in words, without its name, and the versions of what was measured."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import subprocess
from pathlib import Path

from shotad.core import memory_total, processors

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("numpy", "av", "opencv-python", "scenedetect", "decord", "torch", "transformers", "onnxruntime",
            "ai-edge-litert", "pycocoevalcap")  # fmt: skip


def machine() -> dict[str, object]:
    """Processor, cores that may be used, memory, system, and how busy it is now."""
    memory = (memory_total() or 0) / 2**30
    cores = processors()
    words = f"{_processor()}, {cores} cores, {memory:.0f} GiB of memory, {platform.system()}, no GPU used"
    return {
        "words": words,
        "cores": cores,
        "load_before": round(load(), 1),
    }


def load() -> float:
    """Processes that wanted to run, mean of the last minute."""
    return os.getloadavg()[0]


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*:\s*(.+)", info.read_text()) if info.exists() else None
    name = found[1].strip() if found else platform.machine()
    return re.sub(r"\s+", " ", name.replace("(R)", "").replace("(TM)", ""))


def versions() -> dict[str, str]:
    """Python, shotad with its commit, and the packages that do the work or are compared with."""
    told = {"python": platform.python_version(), "shotad": _commit()}
    for name in PACKAGES:
        try:
            told[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            told[name] = "not installed"
    return told


def _commit() -> str:
    from shotad import __version__

    command = ["git", "log", "-1", "--format=%h"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return f"{__version__} ({done.stdout.strip()})" if done.returncode == 0 else __version__
