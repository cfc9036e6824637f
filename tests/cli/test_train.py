"""``shotad train scale`` as a user meets it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shotad.core import ShotScale
from shotad.core.config.sight import ComputeSettings
from shotad.grammar.scale_net import ScaleClassifier
from tests.cli.program import FAKE, Shotad
from tests.media import FilmSpec, make_film
from tests.python_path import python_path
from tests.scale_pictures import make_scale_pictures
from tests.tiny import make_backbone

ROOT = Path(__file__).resolve().parents[2]

SMALL = [
    "net.tuned_blocks=1", "net.drop_path=0", "net.long_side=56", "net.short_side=42", "data.workers=0",
    "epochs=1", "batch=8", "log_every=1", "tensorboard=false", "compute.device=cpu", "compute.precision=float32",
]  # fmt: skip


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Pictures, and a tiny backbone."""
    root = tmp_path_factory.mktemp("train")
    return make_scale_pictures(root / "pictures", 10, size=(56, 42)), make_backbone(root / "net", 16, 2, 2)


def words(ready: tuple[Path, Path], out: Path, *more: str) -> list[str]:
    pictures, backbone = ready
    settings = [word for assignment in (*SMALL, *more) for word in ("--set", assignment)]
    given = ("--data", pictures, "--backbone", backbone, "--out", out)
    return ["train", "scale", *map(str, given), *settings]


def test_it_says_what_was_reached_beside_the_paper(shotad, ready, tmp_path):
    said = shotad(*words(ready, tmp_path / "run"), "--plain")
    assert said.code == 0, said.err
    assert "35 train, 5 val, 10 test" in said.err
    assert "Epoch 1 of 1: loss" in said.err
    assert "ViViT" in said.out
    assert "this run, on its own test split" in said.out
    assert f"--set scale.checkpoint={tmp_path / 'run' / 'best.safetensors'}" in said.out

    said = shotad(*words(ready, tmp_path / "run"))
    assert (said.code, said.out) == (2, "")
    assert "was begun before. Go on with --resume" in said.err

    # Data that cannot be used leave no folder.
    said = shotad("train", "scale", "--data", str(tmp_path / "none"), "--out", str(tmp_path / "new"))
    assert (said.code, said.out) == (1, "")
    assert "none is not a folder." in said.err
    assert not (tmp_path / "new").exists()

    said = shotad(*words(ready, tmp_path / "run"), "--resume", "--json")
    report = json.loads(said.out)
    assert (said.code, said.err) == (0, "")
    assert report["test"]["items"] == 10
    assert Path(report["checkpoint"]).is_file()


def test_a_checkpoint_is_scored_without_training(
    shotad: Shotad, ready: tuple[Path, Path], tmp_path: Path
) -> None:
    said = shotad(*words(ready, tmp_path / "run"), "--json")
    trained = json.loads(said.out)
    evaluate = ["--data", str(ready[0]), "--evaluate", trained["checkpoint"], "--set", "data.workers=0"]
    device = ["--set", "compute.device=cpu", "--set", "compute.precision=float32"]
    said = shotad("train", "scale", *evaluate, *device, "--out", str(tmp_path / "scores"))
    assert said.code == 0, said.err
    assert "this run, on its own test split" in said.out
    assert "This run differs from the paper in:\n- the data:" in said.out
    report = json.loads((tmp_path / "scores" / "report.json").read_text(encoding="utf-8"))
    assert report["test"] == trained["test"]

    said = shotad("train", "scale", *evaluate, "--out", str(tmp_path / "run"))
    assert (said.code, said.out) == (2, "")
    assert "holds a training" in said.err
    said = shotad("train", "scale", *evaluate, "--out", str(tmp_path / "other"), "--resume")
    assert (said.code, said.out) == (2, "")
    assert "--evaluate goes with neither --resume nor --backbone" in said.err
    said = shotad("train", "scale", "--data", str(ready[0]), "--evaluate", str(tmp_path / "none"), *device)
    assert said.code != 0
    assert "There is no file" in said.err


def test_the_checkpoint_is_used_by_describe(shotad: Shotad, ready: tuple[Path, Path], tmp_path: Path) -> None:
    said = shotad(*words(ready, tmp_path / "run"), "--quiet")
    assert said.code == 0, said.err
    checkpoint = tmp_path / "run" / "best.safetensors"
    film = make_film(FilmSpec(frames=300, cuts=(100, 200))).path
    out = tmp_path / "work"
    own = ("threads.features=none", "scale.method=classifier", f"scale.checkpoint={checkpoint}")
    settings = [word for one in own for word in ("--set", one)]
    said = shotad("describe", film, *FAKE, "--out", out, *settings)
    assert said.code == 0, said.err
    grammar = json.loads((out / "grammar.json").read_text(encoding="utf-8"))
    reader = ScaleClassifier.load(checkpoint, ComputeSettings())
    assert grammar["scale_method"] == reader.identity
    assert len(grammar["shots"]) >= 3
    for shot in grammar["shots"]:
        chances = dict(zip(ShotScale, shot["probabilities"], strict=True))
        assert shot["scale"] == max(chances, key=chances.__getitem__).value


@pytest.mark.usefixtures("empty_hub")
def test_a_backbone_that_cannot_be_fetched_may_be_a_folder(shotad, ready, tmp_path):
    said = shotad(*words(ready, tmp_path / "run"), "--backbone", "dinov2-base")
    assert said.code == 1
    assert "facebook/dinov2-base could not be fetched from the hub" in said.err
    assert "--backbone FOLDER" in said.err
    assert "threads.features" not in said.err, "threads are another matter"


def rows(log: Path) -> int:
    return len(log.read_text(encoding="utf-8").splitlines()) if log.is_file() else 0


@pytest.mark.slow
def test_a_program_that_is_stopped_with_its_workers_goes_on(shotad, ready, tmp_path):
    log = tmp_path / "run" / "metrics.csv"
    given = words(ready, tmp_path / "run", "epochs=8", "patience=8", "save_every=2", "data.workers=1")
    command = [sys.executable, "-m", "shotad.cli.main", *given]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": python_path()}
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as run:
        deadline = time.monotonic() + 200
        while run.poll() is None and time.monotonic() < deadline and rows(log) < 5:
            time.sleep(0.02)
        os.killpg(run.pid, signal.SIGTERM)  # as a terminal does on Ctrl-C: the workers get it too
        _, err = run.communicate(timeout=200)
    assert run.returncode == 130, err
    assert "Stopped. What is done is kept; run the same command with --resume to continue." in err
    assert "run the same command again" not in err, "that is refused"
    assert "--resume goes on" in err
    assert "Traceback" not in err
    done = rows(log)
    assert shotad(*given, "--resume", "--quiet").code == 0
    assert rows(log) == 1 + 8 * 5 > done
