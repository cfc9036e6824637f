"""What the process may use and takes, on this machine and in containers that are painted as files; and how it is interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import cv2
import numpy as np
import psutil
import pytest

from shotad.batch.limits import auto_jobs
from shotad.core import Reply, Request, system
from shotad.engines.fake import FakeEngine
from tests.bad_server import Act, BadServer, Seen, answer, hang
from tests.shotad_process import Run, ended, good

MB = 1_000_000


@pytest.fixture
def linux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of a Linux with 64 processors and 900 of 1,000 MiB free, its process in the group ``/pod/film`` (v2)."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)
    have_memory(monkeypatch, total=1000 << 20, available=900 << 20)
    written(tmp_path, "proc/self/cgroup", "0::/pod/film\n")
    return tmp_path


def have_memory(monkeypatch: pytest.MonkeyPatch, *, total: int, available: int) -> None:
    memory = SimpleNamespace(total=total, available=available)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)


def written(folder: Path, name: str, text: str) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.mark.posix
@pytest.mark.parametrize(
    ("limit", "count"),
    [("150000 100000", 2), ("10000 100000", 1), ("max 100000", 64), ("9900000 100000", 64), ("what 1", 64)],
)
def test_a_share_of_the_processors_counts_and_is_rounded_up(linux: Path, limit: str, count: int) -> None:
    written(linux, "sys/fs/cgroup/pod/film/cpu.max", limit + "\n")
    assert system.processors(linux) == count


@pytest.mark.posix
def test_the_narrowest_of_the_groups_counts(linux: Path) -> None:
    written(linux, "sys/fs/cgroup/pod/film/cpu.max", "800000 100000\n")
    written(linux, "sys/fs/cgroup/pod/cpu.max", "300000 100000\n")
    written(linux, "sys/fs/cgroup/pod/film/memory.max", "max\n")
    written(linux, "sys/fs/cgroup/pod/memory.max", "500000\n")
    written(linux, "sys/fs/cgroup/pod/memory.current", "90000\n")
    written(linux, "sys/fs/cgroup/pod/memory.stat", "anon 5\ninactive_file 20000\n")
    assert system.processors(linux) == 3
    assert system.memory_total(linux) == 500_000
    assert system.memory_free(linux) == 430_000


@pytest.mark.posix
def test_the_first_version_of_groups_is_read_too(linux: Path) -> None:
    written(linux, "proc/self/cgroup", "9:memory:/docker/1f2e\n4:cpu,cpuacct:/\n1:name=systemd:/\n0::/\n")
    written(linux, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")
    written(linux, "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n")
    written(linux, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
    assert (system.processors(linux), system.memory_total(linux)) == (64, 1000 * 2**20)
    written(linux, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "250000\n")
    written(linux, "sys/fs/cgroup/memory/memory.limit_in_bytes", "700000\n")
    written(linux, "sys/fs/cgroup/memory/memory.usage_in_bytes", "300000\n")
    written(linux, "sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 100000\n")
    assert system.processors(linux) == 3
    assert system.memory_total(linux) == 700_000
    assert system.memory_free(linux) == 500_000


@pytest.mark.posix
def test_a_system_other_than_linux_is_asked_in_its_ways(linux: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    no_files = linux / "none"
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    for count, expected in ((10, 10), (None, 1)):
        monkeypatch.setattr(os, "cpu_count", lambda count=count: count)
        assert system.processors(no_files) == expected
    # macOS and Windows have no such files, and psutil asks them in their own ways.
    have_memory(monkeypatch, total=16_000 * MB, available=9_000 * MB)
    assert system.memory_total(no_files) == 16_000 * MB
    assert system.memory_free(no_files) == 9_000 * MB
    assert auto_jobs(films=8, cores=8, memory=system.memory_free(no_files), loads_models=False) == 4
    assert system.peak_memory() > 10 * MB
    system.forget_peak()


@pytest.mark.posix
def test_a_process_runs_until_it_has_ended_also_while_nobody_has_cleared_it_away() -> None:
    code = "print(flush=True); input()"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    assert system.is_running(process.pid)
    assert (system.process_memory(process.pid) or 0) > MB
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not system.is_running(process.pid)
    process.communicate()
    assert not system.is_running(process.pid)
    assert system.process_memory(process.pid) is None
    assert system.is_running(os.getpid())
    assert not system.is_running(2**70)


LOSING = """
import os, signal, sys, time, weakref
from shotad.cli import main as program
from shotad.cli.main import main

kind = getattr(signal, sys.argv[1])

class Thing:
    def __init__(self, number):
        self.number = number
    def __del__(self):
        if self.number:
            signal.raise_signal(self.number)
            time.sleep(0)

def work(**_):
    if sys.argv[2] == "finaliser":
        Thing(kind)
    elif sys.argv[2] == "callback":
        thing = Thing(0)
        watch = weakref.ref(thing, lambda _: signal.raise_signal(kind) or time.sleep(0))
        del thing
    else:
        print("lost", flush=True)
        exec("os.kill(os.getpid(), kind)\\nwhile True: pass")
    print("lost", flush=True)
    time.sleep(60)

program.cli.main = work
main()
"""
"""The program, whose work gets a signal where Python drops what is raised, or remembers one that came while it
ran a text as code (data classes are made so), and kills itself."""


@pytest.mark.posix
@pytest.mark.parametrize("where", ["finaliser", "callback", "code"])
@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_that_python_drops_is_raised_again(kind: signal.Signals, where: str) -> None:
    words = [sys.executable, "-c", LOSING, kind.name, where]
    done = subprocess.run(words, capture_output=True, text=True, timeout=50, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "lost\n", "")


WAITING = (
    "stage1.engine=fake", "stage2.engine=openai", "stage2.attempts=1", "prompt.example_count=0",
    "openai.retries=1", "openai.longest_pause=0.5", "openai.model=tiny", "openai.timeout=3600",
)  # fmt: skip


@pytest.mark.posix
@pytest.mark.slow
@pytest.mark.parametrize("in_flight", [1, 2])
def test_a_run_that_waits_can_be_interrupted(tmp_path: Path, in_flight: int) -> None:
    """Also while a server says nothing at all, long before its time is up."""

    def act(seen: Seen) -> Act:
        return hang() if seen.number else answer(json.dumps({"summarized_AD": "She opens the door."}))

    with BadServer(act) as bad:
        settings = (*WAITING, f"openai.base_url={bad.url}", f"openai.in_flight={in_flight}")
        run = Run(tmp_path / "w", settings)
        process = run.start()
        waits = run.wait_for(process, lambda: bool(run.records("stage2")) and len(bad.requests) > in_flight)
        assert waits, ended(process).err
        process.send_signal(signal.SIGINT)
        try:
            said = ended(process, wait=60)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert said.code == 130
    assert "Traceback" not in said.err
    assert "run the same command again" in said.err
    assert len(good(run.records("stage2"))) == 1


MARK = "SHOTAD_TEST_MARK"
"""Names the file that `Busy` makes when it has begun."""


class Busy(FakeEngine):
    """An engine that is at work in a library's native code for a minute, as a model is."""

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        Path(os.environ[MARK]).touch()
        until, picture = time.monotonic() + 60, np.zeros((300, 300), np.uint8)
        while time.monotonic() < until:
            cv2.fastNlMeansDenoising(picture)
        return super().generate(requests)


@pytest.mark.posix
@pytest.mark.slow
def test_a_run_ends_amid_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is torn down under the thread that is in the model's native code: that would abort."""
    mark = tmp_path / "begun"
    monkeypatch.setenv(MARK, str(mark))
    run = Run(tmp_path / "w", ("stage1.engine=tests.test_system:Busy", "stage2.engine=fake"), slots=1)
    process = run.start()
    assert run.wait_for(process, mark.exists), ended(process).err
    process.send_signal(signal.SIGTERM)
    said = ended(process)
    assert said.code == 130
    assert said.err.strip().endswith("run the same command again to continue.")


@pytest.mark.posix
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only glibc keeps memory so")
def test_free_memory_goes_back() -> None:
    code = (
        "from shotad.core.system import process_memory, release_memory\n"
        "held = [bytearray(2000) for _ in range(100_000)]\n"
        "last = held[-1]\n"
        "del held\n"
        "before = process_memory()\n"
        "release_memory()\n"
        "print(before - process_memory())\n"
        "circle = [bytearray(100_000_000)]\n"
        "circle.append(circle)\n"
        "del circle\n"
        "before = process_memory()\n"
        "release_memory(collect=True)\n"
        "print(before - process_memory())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert min(map(int, done.stdout.split())) > 50 * MB


def test_two_threads_are_quiet_at_once_and_standard_error_comes_back() -> None:
    code = (
        "import os, threading\n"
        "from shotad.core.model_loading import silence_native_output\n"
        "both = threading.Barrier(2, timeout=20)\n"
        "def work():\n"
        "    with silence_native_output():\n"
        "        both.wait()\n"
        "        os.write(2, b'hidden')\n"
        "        both.wait()\n"
        "other = threading.Thread(target=work)\n"
        "other.start()\n"
        "work()\n"
        "other.join()\n"
        "os.write(2, b'shown')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "shown")
