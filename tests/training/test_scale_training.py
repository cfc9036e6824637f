"""Training shot scale: the loop by its parts, and small trainings that are stopped and go on."""

from __future__ import annotations

import csv
import itertools
import json
import os
import shutil
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from transformers import Dinov2Model

from shotad.core import (
    NoProgress,
    ShotadError,
    ShotScale,
)
from shotad.core.config.sight import ComputeSettings
from shotad.core.errors import (
    ConfigError,
    DatasetError,
    UsageError,
    WorkFolderError,
)
from shotad.core.settings import load_settings
from shotad.grammar import ScaleScores, ScaleTraining, train_scale
from shotad.grammar.features import fitted
from shotad.grammar.scale_data import open_picture, read_items
from shotad.grammar.scale_net import ScaleClassifier, ScaleNet, load_net
from shotad.grammar.training_loop import training_dtype
from tests.scale_pictures import LABELS, make_scale_pictures, scale_picture
from tests.tiny import make_backbone


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Any:
    """Nets as small as these lose more by sharing than they gain."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny DINOv2 with random weights, as save_pretrained writes it."""
    return make_backbone(tmp_path_factory.mktemp("backbone"), hidden=16, blocks=2, heads=2)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten pictures of each scale, 35 of all in train; some stand upright."""
    folder = make_scale_pictures(tmp_path_factory.mktemp("pictures"), 10, size=(56, 42))
    for scale, label in LABELS.items():
        Image.fromarray(scale_picture(scale, "upright", (42, 56))).save(folder / label / "0003.png")
    return folder


SMALL = (
    "net.tuned_blocks=1", "net.long_side=56", "net.short_side=42", "data.workers=0", "epochs=3", "batch=8",
    "net.drop_path=0.2", "log_every=2", "tensorboard=false", "optim.lr=1e-3", "compute.device=cpu",
    "compute.precision=float32",
)  # fmt: skip


@dataclass(frozen=True)
class Run:
    """Trains with small settings in folders below ``root``."""

    backbone: Path
    pictures: Path
    root: Path

    def settings(self, *more: str) -> ScaleTraining:
        return load_settings(ScaleTraining, [], [f"net.backbone={self.backbone}", *SMALL, *more])

    def __call__(self, name: str, *more: str, resume: bool = False, progress: Any = None) -> Any:
        out, settings = self.root / name, self.settings(*more)
        return train_scale(self.pictures, out, settings, resume=resume, progress=progress)

    def losses(self, name: str) -> list[tuple[str, str, str]]:
        """Step, loss of train and macro-F1 on val, of each row of the log."""
        return [(row["step"], row["train/loss"], row.get("val/macro_f1", "")) for row in self.rows(name)]

    def rows(self, name: str) -> list[dict[str, str]]:
        """The rows of the log."""
        with (self.root / name / "metrics.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def weights(self, name: str) -> dict[str, torch.Tensor]:
        return load_file(self.root / name / "last.safetensors")


@pytest.fixture(scope="module")
def run(backbone: Path, pictures: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    made = Run(backbone, pictures, tmp_path_factory.mktemp("runs"))
    made("whole")
    return made


@dataclass
class Presence(NoProgress):
    """A front end that does something at the n-th step, and keeps what it is told."""

    step: int
    act: Callable[[], None]
    notes: list[str] = field(default_factory=list)
    steps: int = 0

    def task(self, name: str, total: float | None, unit: str) -> Any:
        advance = self.advance if name == "Training" else lambda amount=1: None
        return SimpleNamespace(advance=advance, done=lambda: None)

    def advance(self, amount: float = 1) -> None:
        self.steps += 1
        if self.steps == self.step:
            self.act()

    def note(self, text: str) -> None:
        self.notes.append(text)


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def crash() -> None:
    raise MemoryError("the machine lost power, say")


# The parts


def test_rates_rise_and_fall(run: Run) -> None:
    run("rates", "log_every=1", "optim.warmup=0.2", "optim.floor=0.1", "optim.head_factor=5")
    rates = np.array([float(row["train/lr"]) for row in run.rows("rates") if row["train/lr"]]) / 5e-3
    assert len(rates) == 15
    assert rates[:3] == pytest.approx([1 / 3, 2 / 3, 1])
    # Twelve steps fall from 1 to 0.1; after a third of them cos(60°) = 1/2 leaves 3/4 of the way.
    assert rates[6] == pytest.approx(0.1 + 0.9 * 0.75)
    assert rates[-1] == pytest.approx(0.1)
    assert all(a > b for a, b in itertools.pairwise(rates[2:]))


def start_of(run: Run, name: str) -> ScaleNet:
    """The net with which this training began."""
    with torch.random.fork_rng():
        torch.manual_seed(42)
        net = ScaleNet(load_net(run.root / name / "best.safetensors")[0].design)
    weights = Dinov2Model.from_pretrained(run.backbone).state_dict()
    net.backbone.load_state_dict({k: v for k, v in weights.items() if "mask" not in k})
    return net


def test_rates_fall_with_the_layers_and_vectors_do_not_decay(run: Run) -> None:
    """AdamW's first step is as long as the rate, however steep it is; decay comes on top of it."""
    alone = (
        "epochs=1",
        "batch=64",
        "optim.floor=1",
        "optim.warmup=0",
        "net.tuned_blocks=2",
        "net.drop_path=0",
    )
    run("step", *alone, "optim.layer_decay=0.5", "optim.head_factor=5", "optim.weight_decay=10")
    before, after = start_of(run, "step"), load_net(run.root / "step" / "last.safetensors")[0]
    expected = {"head": 5e-3, "layer.1": 1e-3, "layer.0": 5e-4}
    values = before.state_dict()
    tuned = 0
    for name, parameter in after.named_parameters():
        if not parameter.requires_grad:
            assert torch.equal(parameter, values[name]), name
            continue
        tuned += 1
        rate = next(rate for layer, rate in expected.items() if layer in name)
        kept = 1 - 10 * rate if parameter.ndim > 1 else 1.0
        longest = float((parameter.detach() - kept * values[name]).abs().max())
        if "k_proj.bias" not in name:  # on which nothing depends
            assert longest == pytest.approx(rate, rel=0.02), name
    assert tuned == sum(parameter.requires_grad for parameter in before.parameters()) > 10


def test_scores_by_hand() -> None:
    confusion = np.zeros((5, 5), np.int64)
    confusion[0, 0], confusion[0, 1], confusion[1, 1], confusion[2, 1] = 3, 1, 4, 2
    scores = ScaleScores(confusion, 0.5)
    assert scores.accuracy == pytest.approx(7 / 10)
    assert scores.precision == pytest.approx((1, 4 / 7, 0, 0, 0))
    assert scores.recall == pytest.approx((3 / 4, 1, 0, 0, 0))
    assert scores.f1 == pytest.approx((6 / 7, 8 / 11, 0, 0, 0))
    # Full and long neither occur nor are predicted: three classes count.
    assert scores.macro_f1 == pytest.approx((6 / 7 + 8 / 11) / 3)
    assert scores.record()["classes"]["close-up"]["precision"] == 0.571429
    # scipy.stats.binomtest(7, 10).proportion_ci(method="wilson")
    assert scores.record()["accuracy_95"] == [0.396778, 0.892209]
    with pytest.raises(ValueError, match="no items"):
        ScaleScores(np.zeros((5, 5), np.int64), 0.0)
    with pytest.raises(ValueError, match="5 x 5"):
        ScaleScores(np.ones((4, 4), np.int64), 0.0)


# Small trainings
def test_a_training_leaves_all_that_was_promised(run: Run) -> None:
    folder = run.root / "whole"
    assert {p.name for p in folder.iterdir()} - {".lock"} == {
        "best.safetensors", "last.safetensors", "state.pt", "metrics.csv", "report.json", "confusion.png",
        "test.csv",
    }  # fmt: skip
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert report["test"]["items"] == 10
    assert sum(map(sum, report["test"]["confusion"])) == 10
    assert report["data"]["counts"]["train"] == {scale.value: 7 for scale in ShotScale}
    assert [row["accuracy"] for row in report["paper"]["table"]] == [0.747, 0.875, 0.892, 0.895, 0.897]
    rows = run.losses("whole")
    assert [row[0] for row in rows] == ["2", "4", "5", "6", "8", "10", "12", "14", "15"]
    assert [row[0] for row in rows if row[2]] == ["5", "10", "15"]
    texts = (p.read_text(encoding="utf-8", errors="replace") for p in folder.glob("*.[js]*"))
    assert not any(str(run.root) in text for text in texts)


def test_the_checkpoint_answers_as_the_report_says(run: Run) -> None:
    file = run.root / "whole" / "best.safetensors"
    reader = ScaleClassifier.load(file, ComputeSettings(device="cpu", precision="float32", batch=4))
    items = read_items(run.pictures).of("test")
    found = np.zeros((5, 5), int)
    for item, guess in zip(items, reader.of([open_picture(item) for item in items]), strict=True):
        assert guess is not None
        found[item.scale.number, guess.scale.number] += 1
    record = load_net(file)[1]
    assert found.tolist() == record["test"]["confusion"]
    assert record["settings"]["optim"]["lr"] == 1e-3
    assert record["settings"]["net"]["backbone"].startswith("folder sha256:")
    assert record["data"]["counts"]["test"]["medium"] == 2
    assert "torch" in record["versions"]


@pytest.mark.parametrize(
    ("name", "stop", "error", "left"),
    [("stopped", interrupt, KeyboardInterrupt, 8), ("killed", crash, MemoryError, 9)],
)
def test_stopped_or_killed_and_resumed_is_never_stopped(
    run: Run, name: str, stop: Callable[[], None], error: type[BaseException], left: int
) -> None:
    """Step 7 is amid an epoch and a logged mean; a killed run goes on from the state of step 6."""
    presence = Presence(7, stop)
    with pytest.raises(error):
        run(name, "save_every=3", progress=presence)
    assert ("Stopped after step 7 of 15: --resume goes on." in presence.notes) is (stop is interrupt)
    rest = Presence(0, stop)
    run(name, resume=True, progress=rest)
    assert rest.steps == left
    assert run.losses(name) == run.losses("whole")
    whole, pieced = run.weights("whole"), run.weights(name)
    assert all(torch.equal(whole[key], pieced[key]) for key in whole)
    reports = [(run.root / n / "report.json").read_bytes() for n in ("whole", name)]
    assert reports[0] == reports[1]


def test_float16_scales_its_losses_and_goes_on_with_the_scale(run: Run) -> None:
    run("half", "compute.precision=float16")
    figures = [row["train/loss_scale"] for row in run.rows("half") if row["train/loss"]]
    assert all(float(scale) > 1 for scale in figures)
    assert all(row["train/loss_scale"] == "" for row in run.rows("whole"))
    record = load_net(run.root / "half" / "last.safetensors")[1]
    assert record["computed"]["precision"] == "float16"
    # Nearly the losses of float32, and those of a run that was stopped to the last bit.
    halves, wholes = ([float(loss) for _, loss, _ in run.losses(name) if loss] for name in ("half", "whole"))
    assert halves == pytest.approx(wholes, abs=0.02)
    assert halves != wholes
    with pytest.raises(KeyboardInterrupt):
        run("half stopped", "compute.precision=float16", progress=Presence(7, interrupt))
    run("half stopped", "compute.precision=float16", resume=True)
    assert run.losses("half stopped") == run.losses("half")
    assert run.rows("half stopped")[-1]["train/loss_scale"] == run.rows("half")[-1]["train/loss_scale"]
    # A run may go on in another precision, for it may go on on another machine.
    with pytest.raises(KeyboardInterrupt):
        run("moved", progress=Presence(7, interrupt))
    run("moved", "compute.precision=float16", resume=True)
    assert run.rows("moved")[-1]["train/loss_scale"]


@pytest.mark.parametrize(
    ("capability", "precision", "dtype"),
    [
        ((6, 1), "auto", torch.float32),
        ((7, 0), "auto", torch.float16),
        ((7, 5), "auto", torch.float16),
        ((8, 0), "auto", torch.bfloat16),
        ((9, 0), "auto", torch.bfloat16),
        ((9, 0), "float16", torch.float16),
        ((7, 5), "float32", torch.float32),
    ],
)
def test_the_card_decides_the_precision(
    monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int], precision: Any, dtype: torch.dtype
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    assert training_dtype(ComputeSettings(precision=precision), torch.device("cuda")) is dtype


def test_the_log_has_speed_and_the_scores_of_each_class(run: Run) -> None:
    ends = [row for row in run.rows("whole") if row["val/macro_f1"]]
    for row in ends:
        assert float(row["epoch/images_per_second"]) > 0
        assert 0 <= float(row["epoch/waiting"]) <= 1
    by_class = [float(ends[-1][f"val/f1/{scale.value}"]) for scale in ShotScale]
    last = load_net(run.root / "whole" / "last.safetensors")[1]["val"]["classes"]
    assert by_class == pytest.approx([last[scale.value]["f1"] for scale in ShotScale], abs=1e-6)


def test_losses_do_not_depend_on_how_much_fits_the_device(run: Run) -> None:
    more = ("epochs=1", "net.drop_path=0", "optim.class_weights=inverse", "optim.label_smoothing=0.1")
    run("at once", *more)
    run("in parts", *more, "compute.batch=3")
    once, parts = (np.array([float(row[1]) for row in run.losses(n)]) for n in ("at once", "in parts"))
    assert np.allclose(once, parts, atol=1e-5)
    assert len(once) == 3


def test_the_loss_of_the_first_step_by_hand(run: Run) -> None:
    plain = ("net.drop_path=0", "augment.enabled=false", "optim.class_weights=none")
    run("first", "epochs=1", "batch=64", "log_every=1", *plain, "optim.label_smoothing=0.1")
    train = read_items(run.pictures).of("train")
    net = start_of(run, "first")
    losses = []
    for item in train:
        image = torch.from_numpy(fitted(open_picture(item), 56, 42)[None])
        log_p = net(image).log_softmax(-1).detach()[0]
        target = torch.full((5,), 0.1 / 5)
        target[item.scale.number] += 0.9
        losses.append(float(-(target * log_p).sum()))
    assert float(run.losses("first")[0][1]) == pytest.approx(np.mean(losses), abs=1e-5)


def test_what_was_logged_after_the_state_is_taken_out(run: Run) -> None:
    """A run that was killed goes on from its last state; the log may end in half a row."""
    with pytest.raises(MemoryError):
        run("half a row", "save_every=3", progress=Presence(7, crash))
    log = run.root / "half a row" / "metrics.csv"
    whole = log.read_text(encoding="utf-8")
    log.write_text("step,loss\n1,0.5\n", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"metrics\.csv is no log of training: its columns are not step, "):
        run("half a row", resume=True)
    log.write_text(f"{whole}some,{',' * 5}\n", encoding="utf-8")
    with pytest.raises(DatasetError, match="it has rows without a step"):
        run("half a row", resume=True)
    log.write_text(f"{whole}10,0.", encoding="utf-8")
    run("half a row", resume=True)
    assert run.losses("half a row") == run.losses("whole")


def test_tensorboard_gets_the_same_figures(run: Run) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with pytest.raises(MemoryError):
        run("board", "tensorboard=true", "log_every=1", "save_every=3", progress=Presence(5, crash))
    run("board", "tensorboard=true", "log_every=1", resume=True)
    events = EventAccumulator(str(run.root / "board" / "tensorboard"))
    events.Reload()
    drawn = [(event.step, event.value) for event in events.Scalars("train/loss")]
    logged = [(int(step), float(loss)) for step, loss, _ in run.losses("board")]
    assert [step for step, _ in drawn] == [step for step, _ in logged] == list(range(1, 16))
    assert [value for _, value in drawn] == pytest.approx([value for _, value in logged])


def test_begun_trainings_end_early_and_are_not_written_over(run: Run) -> None:
    presence = Presence(0, crash)
    outcome = run("tired", "epochs=30", "patience=1", "optim.lr=1e-12", progress=presence)
    assert outcome.epoch == 1
    assert "Stopped early: no better epoch than 1 in 1 epochs." in presence.notes
    assert run.losses("tired")[-1][0] == "10"
    with pytest.raises(UsageError, match="was begun before.*--resume"):
        run("whole")


# What is refused


def test_a_finished_training_goes_on_only_with_what_it_was_begun_with(run: Run, tmp_path: Path) -> None:
    before = (run.root / "whole" / "best.safetensors").read_bytes()
    figures = json.loads((run.root / "whole/report.json").read_text())
    assert run("whole", resume=True).epoch == figures["epoch"]
    assert (run.root / "whole" / "best.safetensors").read_bytes() == before
    with pytest.raises(ConfigError, match=r"settings.optim.lr was 0.001, is 0.002"):
        run("whole", "optim.lr=2e-3", resume=True)
    other = make_scale_pictures(tmp_path / "other", 12, size=(56, 42))
    with pytest.raises(ConfigError, match="data was"):
        train_scale(other, run.root / "whole", run.settings(), resume=True)
    random = make_backbone(tmp_path / "backbone", hidden=32, blocks=2, heads=2)
    with pytest.raises(ConfigError, match=r"net.backbone was 'folder sha256:"):
        Run(random, run.pictures, run.root)("whole", resume=True)
    run("whole", "log_every=5", "save_every=2", "compute.batch=3", resume=True)


def test_a_damaged_state_is_refused(run: Run, tmp_path: Path) -> None:
    for name, content in (("text", b"no state"), ("half", (run.root / "whole/state.pt").read_bytes()[:5000])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "state.pt").write_bytes(content)
        with pytest.raises(WorkFolderError, match="cannot be read as a state"):
            train_scale(run.pictures, tmp_path / name, run.settings(), resume=True)
    torch.save({"schema": 99}, tmp_path / "half" / "state.pt")
    with pytest.raises(WorkFolderError, match="not a state of training of this version"):
        train_scale(run.pictures, tmp_path / "half", run.settings(), resume=True)


def test_broken_pictures_and_losses_end_it(run: Run, tmp_path: Path) -> None:
    folder = make_scale_pictures(tmp_path / "broken", 10, size=(56, 42))
    key = read_items(folder).of("train")[3].key
    for path in folder.rglob(Path(key).name):
        path.write_bytes(b"no picture")
    with pytest.raises(DatasetError, match=r"cannot be read"):
        train_scale(folder, tmp_path / "out", run.settings("epochs=1"))

    with pytest.raises(ShotadError, match="The loss is nan at step 2.*Lower optim.lr"):
        Run(no_numbers(run.backbone, tmp_path / "nan"), run.pictures, run.root)("nan")


def no_numbers(backbone: Path, folder: Path) -> Path:
    """A copy of the backbone in which one weight is not a number."""
    shutil.copytree(backbone, folder)
    weights = load_file(folder / "model.safetensors")
    weights["layernorm.weight"][0] = torch.nan
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def test_backbones_that_do_not_fit_are_refused(run: Run, tmp_path: Path) -> None:
    for change, message in (
        ("net.tuned_blocks=3", "tuned_blocks must be 0 to 2, got 3"),
        ("net.long_side=60", "multiple of 14 pixels, got 60"),
        ("net.backbone=dinov2-huge", "neither a name nor a folder"),
    ):
        with pytest.raises(ConfigError, match=message):
            run("never", change)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "vit"}))
    (tmp_path / "model.safetensors").write_bytes((run.backbone / "model.safetensors").read_bytes())
    with pytest.raises(ConfigError, match="is a vit, not a dinov2"):
        run("never", f"net.backbone={tmp_path}")
    config = json.loads((run.backbone / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "layer_norm_eps": 1e-5}))
    with pytest.raises(ConfigError, match="no usual DINOv2: layer_norm_eps"):
        run("never", f"net.backbone={tmp_path}")
