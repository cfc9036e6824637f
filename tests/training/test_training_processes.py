"""Training with worker processes and with several processes; and that a tiny net learns shot scale."""

from __future__ import annotations

import csv
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from shotad.core import NoProgress, ShotadError
from shotad.core.settings import load_settings
from shotad.grammar import ScaleTraining, train_scale
from shotad.grammar.scale_net import load_net
from shotad.grammar.training_feed import worker_count
from tests.python_path import python_path
from tests.scale_pictures import make_movieshots, make_scale_pictures
from tests.tiny import make_backbone

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]

SMALL = (
    "net.tuned_blocks=1", "net.long_side=56", "net.short_side=42", "data.workers=0", "epochs=2", "log_every=1",
    "tensorboard=false", "optim.lr=1e-3", "optim.class_weights=inverse", "compute.device=cpu",
    "compute.precision=float32",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Nets as small as these lose more by sharing than they gain."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    root = tmp_path_factory.mktemp("crew")
    # 45 pictures to train with, 5 for val, 15 for test: 9, 3 and 1 of each scale.
    return make_scale_pictures(root / "pictures", 13, size=(56, 42)), make_backbone(root / "net", 16, 2, 2)


def losses(out: Path) -> np.ndarray:
    with (out / "metrics.csv").open(encoding="utf-8", newline="") as file:
        return np.array([float(row["train/loss"]) for row in csv.DictReader(file)])


def test_workers_change_nothing(ready: tuple[Path, Path], tmp_path: Path) -> None:
    pictures, backbone = ready
    for workers in (0, 2):
        settings = load_settings(
            ScaleTraining, [], [*SMALL, f"net.backbone={backbone}", "batch=8", f"data.workers={workers}"]
        )
        train_scale(pictures, tmp_path / str(workers), settings)
    assert (losses(tmp_path / "0") == losses(tmp_path / "2")).all()
    zero, two = (load_file(tmp_path / name / "best.safetensors") for name in ("0", "2"))
    assert all(torch.equal(zero[name], two[name]) for name in zero)


def test_a_reader_that_dies_is_told_plainly(ready: tuple[Path, Path], tmp_path: Path) -> None:
    pictures, backbone = ready
    more = [*SMALL, f"net.backbone={backbone}", "batch=8", "data.workers=1"]
    settings = load_settings(ScaleTraining, [], more)
    with pytest.raises(ShotadError, match=r"reads pictures ended.*--resume goes on"):
        train_scale(pictures, tmp_path / "run", settings, progress=_Killer())


class _Killer(NoProgress):
    """Kills the reading processes when the first epoch is told of."""

    def note(self, text: str) -> None:
        if text.startswith("Epoch 1"):
            for reader in multiprocessing.active_children():
                reader.kill()


def command(processes: int, ready: tuple[Path, Path], out: Path, *more: str, restarts: int = 0) -> list[str]:
    """A training of several processes, as a user starts it."""
    pictures, backbone = ready
    settings = [word for assignment in (*SMALL, *more) for word in ("--set", assignment)]
    return [
        sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes),
        "--max-restarts", str(restarts), "-m", "shotad.cli.main", "train", "scale",
        "--data", str(pictures), "--backbone", str(backbone), "--out", str(out), "--resume", *settings,
    ]  # fmt: skip


ENVIRONMENT = {
    **os.environ,
    "OMP_NUM_THREADS": "1",
    "PYTHONPATH": python_path(),
    # As docs/training.md says: else a restart may be given addresses of processes that are gone.
    "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",
}


def launched(processes: int, ready: tuple[Path, Path], out: Path, *more: str) -> None:
    """A training of several processes, to its end."""
    words = command(processes, ready, out, *more)
    done = subprocess.run(words, capture_output=True, text=True, timeout=900, env=ENVIRONMENT, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("this run, on its own test split") == 1


def rows(out: Path) -> int:
    log = out / "metrics.csv"
    return len(log.read_text(encoding="utf-8").splitlines()) - 1 if log.is_file() else 0


def wait_for_rows(launcher: subprocess.Popen[str], out: Path, count: int) -> None:
    deadline = time.monotonic() + 600
    while rows(out) < count:
        assert launcher.poll() is None, "it ended before"
        assert time.monotonic() < deadline
        time.sleep(0.02)


def process_of_rank(launcher: subprocess.Popen[str], rank: int) -> int:
    """The process of that rank among those that torchrun started."""
    children = Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text(encoding="ascii")
    ranked = [
        int(child)
        for child in children.split()
        if f"RANK={rank}".encode() in Path(f"/proc/{child}/environ").read_bytes().split(b"\0")
    ]
    (process,) = ranked
    return process


def test_two_processes_train_as_one(ready: tuple[Path, Path], tmp_path: Path) -> None:
    """Of 45 pictures the last step of 44 is one, and a process has none."""
    more = ("batch=44", "compute.batch=4", "net.drop_path=0")
    pictures, backbone = ready
    alone = load_settings(ScaleTraining, ["train-scale"], [*SMALL, f"net.backbone={backbone}", *more])
    train_scale(pictures, tmp_path / "one", alone)
    launched(2, ready, tmp_path / "two", *more)
    one, two = losses(tmp_path / "one"), losses(tmp_path / "two")
    assert len(one) == len(two) >= 2
    assert np.allclose(one, two, atol=1e-5)
    before, after = (load_net(tmp_path / name / "best.safetensors") for name in ("one", "two"))
    assert after[1]["computed"]["processes"] == 2
    assert after[1]["test"]["confusion"] == before[1]["test"]["confusion"]
    assert after[1]["val"]["macro_f1"] == before[1]["val"]["macro_f1"]
    for (name, a), b in zip(before[0].state_dict().items(), after[0].state_dict().values(), strict=True):
        # AdamW's first steps are about the sign of a gradient, so that rounding is seen where it is near 0.
        assert float((a - b).abs().mean()) < 1e-4, name


@pytest.mark.long
def test_several_processes_take_frames_out_of_clips_together(
    ready: tuple[Path, Path], tmp_path: Path
) -> None:
    """Each takes its share, and all of them leave out a clip that one could not read."""
    clips = tmp_path / "clips"
    make_movieshots(clips, films=10, shots=2, size=(64, 48))
    (clips / "trailer/tt0000001/shot_0001.mp4").write_bytes(b"broken")
    more = ("batch=6", "net.drop_path=0", "data.missing=0.05", "epochs=1")
    backbone = ready[1]
    alone = load_settings(ScaleTraining, ["train-scale"], [*SMALL, f"net.backbone={backbone}", *more])
    train_scale(clips, tmp_path / "one", alone)
    launched(2, (clips, backbone), tmp_path / "two", *more)
    one, two = (load_net(tmp_path / name / "best.safetensors")[1] for name in ("one", "two"))
    assert two["data"] == one["data"]
    assert sum(two["data"]["counts"]["train"].values()) == 13
    frames = [{path.name for path in (tmp_path / name).rglob("*.jpg")} for name in ("one", "two")]
    assert frames[0] == frames[1]
    assert len(list((tmp_path / "two" / "frames").rglob("*.jpg"))) == 3 * 19
    assert np.allclose(losses(tmp_path / "one"), losses(tmp_path / "two"), atol=1e-5)


LONG_RUN = ("batch=6", "epochs=4", "save_every=3", "net.drop_path=0.2")
"""32 steps."""


@pytest.fixture(scope="module")
def never_stopped(ready: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("never") / "run"
    launched(2, ready, out, *LONG_RUN)
    return out


def assert_same(out: Path, other: Path) -> None:
    assert (losses(out) == losses(other)).all()
    here, there = (load_file(folder / "last.safetensors") for folder in (out, other))
    assert all(torch.equal(here[name], there[name]) for name in here)
    assert (out / "test.csv").read_bytes() == (other / "test.csv").read_bytes()


@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
@pytest.mark.parametrize("rank", [pytest.param(0, marks=pytest.mark.long), 1])
def test_a_process_that_is_killed_is_started_again_and_nothing_is_lost(
    ready: tuple[Path, Path], tmp_path: Path, never_stopped: Path, rank: int
) -> None:
    """torchrun starts all again, which --resume makes go on from the last state."""
    out = tmp_path / "run"
    words = command(2, ready, out, *LONG_RUN, restarts=1)
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT) as launcher:
        wait_for_rows(launcher, out, 5)
        os.kill(process_of_rank(launcher, rank), signal.SIGKILL)
        _, errors = launcher.communicate(timeout=900)
    assert launcher.returncode == 0, errors[-3000:]
    assert f"Another process of this training ended, so process {1 - rank} ends too" in errors
    assert "Going on after step" in errors
    assert_same(out, never_stopped)


@pytest.mark.long
def test_several_processes_that_are_told_to_stop_save_their_state(
    ready: tuple[Path, Path], tmp_path: Path, never_stopped: Path
) -> None:
    out = tmp_path / "run"
    # The state is never saved on the way, so that only the stop saves it.
    words = command(2, ready, out, *LONG_RUN, "save_every=1000")
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT) as launcher:
        wait_for_rows(launcher, out, 3)
        launcher.send_signal(signal.SIGTERM)
        _, errors = launcher.communicate(timeout=900)
    assert "--resume goes on" in errors
    assert (out / "state.pt").is_file()
    assert rows(out) < rows(never_stopped)
    launched(2, ready, out, *LONG_RUN)
    assert_same(out, never_stopped)


@pytest.mark.parametrize(("processes", "workers"), [("1", 6), ("2", 3), ("4", 1), ("9", 1)])
def test_processes_share_the_processors_for_reading(
    monkeypatch: pytest.MonkeyPatch, processes: str, workers: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(6)), raising=False)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", processes)
    assert worker_count(ScaleTraining().data) == workers
    assert worker_count(load_settings(ScaleTraining, [], ["data.workers=3"]).data) == 3


@pytest.mark.long
def test_a_tiny_net_learns_shot_scale(tmp_path: Path) -> None:
    """Random weights, generated pictures, a few minutes of one CPU: far above chance (0.2)."""
    pictures = make_scale_pictures(tmp_path / "pictures", LEARN_PICTURES)
    backbone = make_backbone(tmp_path / "net", 64, 3, 4)
    settings = load_settings(ScaleTraining, [], [f"net.backbone={backbone}", *LEARN])
    outcome = train_scale(pictures, tmp_path / "out", settings)
    print(outcome.test.record())
    assert outcome.test.accuracy > 0.7
    assert outcome.test.macro_f1 > 0.7
    # Neighbouring scales are taken for each other more often than distant ones.
    apart = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    wrong = outcome.test.confusion * (apart > 0)
    assert (wrong * (apart == 1)).sum() > wrong.sum() / 2


LEARN_PICTURES = 900
"""Of each scale."""

LEARN = (
    "net.tuned_blocks=3", "net.long_side=112", "net.short_side=84", "data.workers=0", "epochs=14", "batch=32",
    "tensorboard=false", "optim.lr=1.5e-3", "optim.head_factor=1", "optim.warmup=0.1", "compute.device=cpu",
    "compute.precision=float32", "augment.colour=1", "augment.hue=0.5", "augment.shift=1",
    "augment.shift_size=0.15", "augment.greyscale=0", "augment.noise=0", "augment.jpeg=0", "augment.blur=0",
    "augment.bars=0",
)  # fmt: skip


def test_the_server_of_the_workers_outlives_a_signal_to_all(ready: tuple[Path, Path], tmp_path: Path) -> None:
    """Its workers leave without it, and a training that is told to stop would lose its next picture."""
    pictures, backbone = ready
    more = [*SMALL, f"net.backbone={backbone}", "batch=8", "data.workers=1"]
    progress = _SignalToServer()
    train_scale(pictures, tmp_path / "run", load_settings(ScaleTraining, [], more), progress=progress)
    assert len(losses(tmp_path / "run")) == 12
    (server,) = progress.servers
    assert server != os.getpid()


class _SignalToServer(NoProgress):
    """Tells the process that starts the readers, and the readers, to end when the first epoch is told of."""

    def __init__(self) -> None:
        self.servers: set[int] = set()

    def note(self, text: str) -> None:
        if text.startswith("Epoch 1"):
            for reader in multiprocessing.active_children():
                status = Path(f"/proc/{reader.pid}/status").read_text(encoding="utf-8")
                server = int(re.findall(r"^PPid:\s*(\d+)$", status, re.MULTILINE)[0])
                self.servers.add(server)
                os.kill(server, signal.SIGTERM)
                reader.terminate()
            time.sleep(0.2)
