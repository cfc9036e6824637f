"""The sample film described by the embedded engine: once for all processes that run tests beside each other."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from tests.python_path import python_path

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "tests" / "sample" / "sample.mp4"


def modules_of(out: Path) -> Path:
    """Where the modules are named that a run had loaded at its end."""
    return out.with_name(f"{out.name}.modules")


def start(film: Path, out: Path) -> subprocess.Popen[bytes]:
    """``shotad describe`` with nothing set; the caller waits for it."""
    code = (
        "import atexit, sys; from shotad.cli.main import main; "
        f"atexit.register(lambda: open({str(modules_of(out))!r}, 'w').write(' '.join(sys.modules))); main()"
    )
    words = ["describe", str(film), "--out", str(out), "--quiet"]
    environment = {**os.environ, "PYTHONPATH": python_path()}
    return subprocess.Popen([sys.executable, "-c", code, *words], env=environment)


def described_sample(factory: pytest.TempPathFactory) -> Path:
    """The work folder of such a run; who wants to change it takes a copy."""
    base = factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with FileLock(shared / "sample.lock"):
        if not modules_of(shared / "sample").exists():
            # Without the captions that lie beside it in the repository: speech is to be found in the sound.
            film = shared / "film" / SAMPLE.name
            film.parent.mkdir(exist_ok=True)
            shutil.copy(SAMPLE, film)
            assert start(film, shared / "sample").wait() == 0
    return shared / "sample"
