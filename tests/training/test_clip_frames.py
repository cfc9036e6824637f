"""Training on clips: frames that are taken out once, clips that cannot be read, and scoring a checkpoint."""

from __future__ import annotations

import csv
import json
import os
import random
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from shotad.core import Image, NoProgress, ShotadError, ShotScale
from shotad.core.errors import DatasetError
from shotad.core.settings import load_settings
from shotad.grammar import ScaleTraining, evaluate_scale, train_scale
from shotad.grammar.clip_frames import ClipFrames
from shotad.grammar.scale_data import ClipFile, ScaleItem
from tests.scale_pictures import make_movieshots, write_shot
from tests.tiny import make_backbone

SMALL = (
    "net.tuned_blocks=1", "net.long_side=56", "net.short_side=42", "data.workers=0", "epochs=2", "batch=8",
    "tensorboard=false", "optim.lr=1e-3", "compute.device=cpu", "compute.precision=float32",
)  # fmt: skip


@dataclass
class Notes(NoProgress):
    """Keeps what a run says."""

    texts: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        self.texts.append(text)


class Interrupter(Notes):
    """Presses Ctrl-C when a task begins."""

    def __init__(self, interrupted_task: str) -> None:
        super().__init__()
        self.interrupted_task = interrupted_task

    def task(self, name: str, total: float | None, unit: str) -> Any:
        if name == self.interrupted_task:
            os.kill(os.getpid(), signal.SIGINT)
        return super().task(name, total, unit)


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    """Nets as small as these lose more by sharing than they gain."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_backbone(tmp_path_factory.mktemp("net"), 16, 2, 2)


@pytest.fixture
def clips(tmp_path: Path) -> Path:
    """Ten films of two shots: 14 train, 2 val, 4 test."""
    make_movieshots(tmp_path / "clips", films=10, shots=2, size=(64, 48))
    return tmp_path / "clips"


@pytest.fixture
def numbered(tmp_path: Path) -> ScaleItem:
    """A clip of nine grey frames, each lighter than the one before."""
    greys = [np.full((48, 64, 3), 25 * number, np.uint8) for number in range(9)]
    write_shot(tmp_path / "tt1", 1, greys, "clips")
    clip = ClipFile(tmp_path / "tt1" / "shot_0001.mp4")
    return ScaleItem("trailer/tt1/0001", "train", ShotScale.MEDIUM, clip)


def settings(backbone: Path, *more: str) -> ScaleTraining:
    return load_settings(ScaleTraining, [], [*SMALL, f"net.backbone={backbone}", *more])


def number_of(frame: Image) -> int:
    """Which frame of `numbered` this is."""
    return round(float(frame.mean()) / 25)


def frames_below(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.rglob("*.jpg")}


def test_frames_are_the_middle_and_others_evenly_apart(numbered: ScaleItem, tmp_path: Path) -> None:
    frames = ClipFrames(tmp_path / "frames", 3, 56, 42)
    assert frames.keep(numbered) is None
    assert number_of(frames.read(numbered, None)) == 4
    assert {number_of(frames.read(numbered, random.Random(k))) for k in range(20)} == {2, 4, 6}
    one = ClipFrames(tmp_path / "one", 1, 56, 42)
    assert {number_of(one.read(numbered, random.Random(k))) for k in range(5)} == {4}


def test_a_kept_clip_is_not_decoded_again_unless_it_changes(numbered: ScaleItem, tmp_path: Path) -> None:
    frames = ClipFrames(tmp_path / "frames", 3, 56, 42)
    assert isinstance(numbered.source, ClipFile)
    before = frames.read(numbered, None)
    clip = numbered.source.path
    status = clip.stat()
    clip.write_bytes(b"x" * status.st_size)
    os.utime(clip, ns=(status.st_atime_ns, status.st_mtime_ns))
    np.testing.assert_array_equal(frames.read(numbered, None), before)
    os.utime(clip, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    problem = frames.keep(numbered)
    assert problem is not None
    assert "shot_0001.mp4 (trailer/tt1/0001) cannot be read" in problem
    with pytest.raises(DatasetError, match="cannot be read"):
        frames.read(numbered, None)


def test_a_frame_that_was_cut_off_is_taken_again(numbered: ScaleItem, tmp_path: Path) -> None:
    frames = ClipFrames(tmp_path / "frames", 1, 56, 42)
    before = frames.read(numbered, None)
    (kept,) = (tmp_path / "frames").rglob("*.jpg")
    for size in (0, 300):
        kept.write_bytes(kept.read_bytes()[:size])
        np.testing.assert_array_equal(frames.read(numbered, None), before)


def test_a_folder_that_takes_no_frames_is_named(numbered: ScaleItem, tmp_path: Path) -> None:
    (tmp_path / "frames").write_text("a file")
    with pytest.raises(ShotadError, match="does not take the frames of clips") as caught:
        ClipFrames(tmp_path / "frames", 3, 56, 42).keep(numbered)
    assert "data.cache=FOLDER" in str(caught.value.hint)


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_a_training_takes_frames_once_and_others_share_them(
    clips: Path, backbone: Path, tmp_path: Path, workers: int
) -> None:
    cache = f"data.cache={tmp_path / 'shared'}"
    some = settings(backbone, cache, f"data.workers={workers}")
    first = train_scale(clips, tmp_path / "first", some)
    kept = frames_below(tmp_path / "shared")
    assert len(kept) == 3 * 20
    assert not (tmp_path / "first" / "frames").exists()
    second = train_scale(clips, tmp_path / "second", settings(backbone, cache))
    assert frames_below(tmp_path / "shared") == kept
    assert first.record == second.record
    train_scale(clips, tmp_path / "own", settings(backbone, "epochs=1"))
    assert len(frames_below(tmp_path / "own" / "frames")) == 3 * 20
    train_scale(clips, tmp_path / "none", settings(backbone, "epochs=1", "data.frames=0"))
    assert frames_below(tmp_path / "none") == {}


def test_clips_that_cannot_be_read_are_left_out_up_to_a_share(
    clips: Path, backbone: Path, tmp_path: Path
) -> None:
    (clips / "trailer/tt0000001/shot_0000.mp4").write_bytes(b"broken")
    with pytest.raises(
        DatasetError, match=r"1 of the 20 shots have clips that cannot be read, such as trailer"
    ):
        train_scale(clips, tmp_path / "strict", settings(backbone))
    notes = Notes()
    some = settings(backbone, "data.missing=0.05", "epochs=1")
    result = train_scale(clips, tmp_path / "some", some, progress=notes)
    assert sum(result.record["data"]["counts"]["train"].values()) == 13
    text = "\n".join(notes.texts)
    assert "shot_0000.mp4 (trailer/tt0000001/0000) cannot be read" in text
    assert "1 clips cannot be read and are left out, such as trailer/tt0000001/0000." in text
    # What is left out is the same when the run goes on.
    again = train_scale(clips, tmp_path / "some", some, resume=True)
    assert again.record["data"] == result.record["data"]


def test_a_checkpoint_is_scored_without_training(clips: Path, backbone: Path, tmp_path: Path) -> None:
    trained = train_scale(clips, tmp_path / "run", settings(backbone))
    # The size of pictures is the checkpoint's, whatever the settings say.
    other = load_settings(ScaleTraining, [], ["data.workers=0", *SMALL[-2:]])
    result = evaluate_scale(clips, trained.checkpoint, tmp_path / "scores", other)
    assert result.test.record() == trained.test.record()
    assert result.epoch == trained.epoch
    report = json.loads((tmp_path / "scores" / "report.json").read_text(encoding="utf-8"))
    assert report["test"] == trained.record["test"]
    assert report["checkpoint"]["training"]["epoch"] == trained.epoch
    assert not any("recipe" in clause for clause in result.differences)
    assert len(read_csv(tmp_path / "scores" / "test.csv")) == 4
    assert not (tmp_path / "scores" / "best.safetensors").exists()
    assert len(frames_below(tmp_path / "scores" / "frames")) == 3 * 4, "those of the test split alone"


@pytest.mark.parametrize("task", ["Taking frames out of clips", "Testing"])
def test_scoring_can_be_stopped(clips: Path, backbone: Path, tmp_path: Path, task: str) -> None:
    trained = train_scale(clips, tmp_path / "run", settings(backbone, "epochs=1"))
    interrupter = Interrupter(task)
    with pytest.raises(KeyboardInterrupt):
        evaluate_scale(
            clips, trained.checkpoint, tmp_path / "scores", settings(backbone), progress=interrupter
        )
    assert any(text.startswith("Stopped while") for text in interrupter.texts)
    assert not (tmp_path / "scores" / "report.json").exists()


def test_the_report_says_how_far_the_paper_is_and_what_differs(
    clips: Path, backbone: Path, tmp_path: Path
) -> None:
    result = train_scale(clips, tmp_path / "run", settings(backbone))
    paper = json.loads((tmp_path / "run" / "report.json").read_text(encoding="utf-8"))["paper"]
    assert (paper["accuracy"]["paper"], paper["macro_f1"]["paper"]) == (0.897, 0.899)
    assert paper["accuracy"]["difference"] == pytest.approx(result.test.accuracy - 0.897, abs=1e-6)
    assert paper["macro_f1"]["this_run"] == pytest.approx(result.test.macro_f1, abs=1e-6)
    assert [clause.partition(":")[0] for clause in paper["differs"]] == [
        "the data", "the backbone", "the tuned blocks", "the size of pictures", "the recipe",
    ]  # fmt: skip
    assert "20 labelled shots; the paper has about 46,000" in paper["differs"][0]
    rows = read_csv(tmp_path / "run" / "test.csv")
    right = sum(row["label"] == row["predicted"] for row in rows)
    assert right / len(rows) == result.test.accuracy
    for row in rows:
        shares = {scale: float(row[scale]) for scale in list(row)[3:]}
        assert sum(shares.values()) == pytest.approx(1, abs=1e-3)
        assert shares[row["predicted"]] == max(shares.values())


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
