"""Makes ``from tests.media import make_film`` work from any folder, with or without an installed package."""

from __future__ import annotations

import gc
import importlib.util
import io
import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from tests.cli.program import Shotad
    from tests.painted_faces import PaintedFaces

# Property tests try the same examples in every run; `tools/check whole` lets them search for others. Times depend
# on what else the machine does, so there is no deadline.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("searching", deadline=None, derandomize=False, print_blob=True)
settings.load_profile("steady")

ROOT = str(Path(__file__).resolve().parent.parent)
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)


def pytest_configure(config: pytest.Config) -> None:
    """The user's own configuration folder is one of these tests, also for programs that they start."""
    folder = tempfile.mkdtemp(prefix="shotad-config-")
    os.environ["SHOTAD_CONFIG"] = folder
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    # Only a computer that loses its power shows whether a file has reached the disk, and waiting for that is a
    # tenth of the time of many tests. Programs that tests start do wait.
    os.fsync = lambda file: None


def _hear_interruptions() -> None:
    """Shells start background jobs with SIGINT ignored, and programs started by tests would inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


_hear_interruptions()


def needed(*libraries: str) -> None:
    """Skip a file of tests where one of these is not installed, and load none: each worker collects all files."""
    for name in libraries:
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed: pip install .[dev]", allow_module_level=True)


def pytest_collection() -> None:
    """What collecting makes stays to the end: looking through it again and again for rubbish is a third of its time."""
    gc.disable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests come first, so that none is begun when the other workers are about to end. On Windows
    those that are about other systems are skipped."""
    if sys.platform == "win32":
        for item in items:
            if item.get_closest_marker("posix"):
                item.add_marker(pytest.mark.skip(reason="about what Windows does not have"))
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    items.sort(key=lambda item: -slow[item.path])


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def _shares_the_processor() -> Iterator[None]:
    """No test leaves its process in a hurry: all that it starts later would keep others from running at all,
    a server from answering its page for instance."""
    yield
    if hasattr(os, "sched_getscheduler") and (policy := os.sched_getscheduler(0)) != os.SCHED_OTHER:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        pytest.fail(f"the test has left its process with the real-time policy {policy}")


@pytest.fixture
def shotad(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shotad:
    """Calls a command in this process: `shotad("shots", film)` gives its exit code and what it printed.

    ``typed`` is what somebody types at the terminal; "" is for a standard input that is none, and empty.
    """
    from shotad.cli.main import main  # once the paths above are there
    from tests.cli.program import Said, Terminal

    def call(*words: object, typed: str | None = None) -> Said:
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["shotad", *map(str, words)])
            if typed is not None:
                patch.setattr(sys, "stdin", Terminal(typed) if typed else io.StringIO())
            with pytest.raises(SystemExit) as stop:
                main()
        printed = capsys.readouterr()
        return Said(int(stop.value.code or 0), printed.out, printed.err)

    return call


@pytest.fixture
def empty_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the Hugging Face hub, and no network."""
    constants = pytest.importorskip("huggingface_hub.constants")
    cache = tmp_path / "hub"
    cache.mkdir()
    monkeypatch.setenv("HF_HUB_CACHE", str(cache))
    # The hub's library has read the environment when it was imported.
    for name, value in (("HF_HUB_CACHE", str(cache)), ("HF_HUB_OFFLINE", True)):
        monkeypatch.setattr(constants, name, value)
    return cache


@pytest.fixture
def painted_faces(monkeypatch: pytest.MonkeyPatch) -> PaintedFaces:
    """All that look for faces look for painted ones."""
    from tests.painted_faces import look_for_painted_faces

    return look_for_painted_faces(monkeypatch)
