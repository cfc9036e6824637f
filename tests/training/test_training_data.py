"""What is trained with: a folder of pictures per scale, its splits, one picture of an item, changed pictures; and the
figures by step that are kept."""

from __future__ import annotations

import csv
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from shotad.core import DatasetError, ShotScale
from shotad.grammar.scale_data import (
    SPLITS,
    ClipFile,
    ScaleItem,
    Stills,
    open_picture,
    read_items,
    scale_named,
)
from shotad.grammar.training_records import MetricLog
from shotad.grammar.training_settings import AugmentSettings, augmented
from tests.media import FilmSpec, make_film, read_number
from tests.scale_pictures import LABELS, scale_picture

CLOSE_UP = ShotScale.CLOSE_UP


def dots(folder: Path, names: dict[str, int], blue: int = 7) -> Path:
    """A folder with tiny pictures, each unlike every other: ``{"CS": 3}`` makes CS/0.png to CS/2.png."""
    for number, (name, count) in enumerate(names.items()):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for k in range(count):
            Image.new("RGB", (3, 2), (number, k, blue)).save(folder / name / f"{k}.png")
    return folder


def five(count: int) -> dict[str, int]:
    return dict.fromkeys(LABELS.values(), count)


def item(source: ClipFile | Stills) -> ScaleItem:
    return ScaleItem("a/b", "train", CLOSE_UP, source)


class TestNames:
    @pytest.mark.parametrize(("name", "scale"), [
        ("ECS", 0), ("extreme close-up", 0), ("Extreme_CloseUp_Shot", 0), ("0_ecs", 0), ("XCU", 0),
        ("CS", 1), ("closeup", 1), ("close-up shot", 1), ("close shots", 1),
        ("ms", 2), ("medium", 2), ("3. Medium Shot", 2), ("FS", 3), ("full-shot", 3), ("ls", 4), ("LONG", 4),
    ])  # fmt: skip
    def test_names_of_scales(self, name: str, scale: int) -> None:
        found = scale_named(name)
        assert found is not None
        assert found.number == scale


class TestFolders:
    def test_the_split_hangs_on_names_and_seed_alone(self, tmp_path: Path) -> None:
        here, there = dots(tmp_path / "a", five(30)), tmp_path / "elsewhere" / "b"
        shutil.copytree(here, there)
        one, other, third = read_items(here), read_items(there), read_items(here, seed=1)
        assert [(i.key, i.split) for i in one.items] == [(i.key, i.split) for i in other.items]
        assert one.fingerprint == other.fingerprint != third.fingerprint
        assert [i.key for i in one.items] == [i.key for i in third.items]

    def test_files_deeper_down_clips_and_strangers(self, tmp_path: Path) -> None:
        dots(tmp_path, five(12))
        deep = tmp_path / "CS" / "film one"
        deep.mkdir()
        Image.new("L", (4, 4)).save(deep / "x.JPEG")
        (deep / "y.mp4").write_bytes(b"not looked into yet")
        (deep / "notes.txt").write_text("no picture")
        (deep / ".hidden.png").write_bytes(b"")
        (tmp_path / "README.md").write_text("no folder")
        (tmp_path / ".cache").mkdir()
        keys = {i.key: i.source for i in read_items(tmp_path).items if "film one" in i.key}
        assert set(keys) == {"CS/film one/x.JPEG", "CS/film one/y.mp4"}
        assert isinstance(keys["CS/film one/y.mp4"], ClipFile)

    def test_files_that_stand_twice_are_noted(self, tmp_path: Path) -> None:
        for number, split in enumerate(SPLITS):
            dots(tmp_path / split, five(2), blue=number)
        assert read_items(tmp_path).notes == ()
        shutil.copy(tmp_path / "train/CS/0.png", tmp_path / "test/CS/copy.png")
        shutil.copy(tmp_path / "train/CS/1.png", tmp_path / "train/LS/copy.png")
        torn, doubtful = read_items(tmp_path).notes
        assert torn.startswith("1 files stand in more than one split")
        assert "test/CS/copy.png" in torn
        assert doubtful.startswith("1 files stand under more than one scale")


class TestRefusals:
    def refused(self, folder: Path, match: str) -> DatasetError:
        with pytest.raises(DatasetError, match=match) as caught:
            read_items(folder)
        assert caught.value.hint
        return caught.value

    def test_no_folder_or_nothing_there(self, tmp_path: Path) -> None:
        self.refused(tmp_path / "absent", "is not a folder")
        self.refused(tmp_path, "holds no folders ECS")

    @pytest.mark.parametrize(("folders", "match"), [
        ({**five(2), "wide": 1}, "wide is not named after a shot scale"),
        ({**five(2), "close-up": 1}, "are the same scale"),
        ({"train/CS": 2, "LS": 1}, "both splits and LS"),
        ({"train/CS": 1, "val/CS": 1, "valid/CS": 1}, "two folders for one split"),
        ({"val/CS": 1, "test/CS": 1}, "no train"),
        (five(2), "split of .* is empty"),
        ({"CS": 9, "MS": 9, "LS": 9}, "no item of extreme close-up, full"),
    ])  # fmt: skip
    def test_folders_that_are_no_data_set(self, tmp_path: Path, folders: dict[str, int], match: str) -> None:
        self.refused(dots(tmp_path, folders), match)


class TestOpenPicture:
    @pytest.mark.parametrize("frames", [1, 2, 7, 50])
    def test_the_middle_of_a_clip_is_frame_n_half(self, frames: int) -> None:
        made = make_film(FilmSpec(frames=frames, size=(96, 72)))
        assert read_number(open_picture(item(ClipFile(made.path)))) == frames // 2

    @pytest.mark.parametrize("mode", ["L", "P", "RGBA", "LA", "1", "CMYK", "I;16"])
    def test_every_kind_of_picture_becomes_rgb(self, tmp_path: Path, mode: str) -> None:
        path = tmp_path / ("x.tif" if mode in ("CMYK", "I;16") else "x.png")
        Image.new(mode, (6, 4)).save(path)
        picture = open_picture(item(Stills((path,))))
        assert picture.shape == (4, 6, 3)
        assert picture.dtype == np.uint8
        picture[0, 0] = 1

    @pytest.mark.parametrize("kept", [0, 900])
    def test_an_unreadable_picture_is_named(self, tmp_path: Path, kept: int) -> None:
        path = tmp_path / "broken.jpg"
        Image.fromarray(scale_picture(CLOSE_UP, 1)).save(path, quality=100)
        path.write_bytes(path.read_bytes()[:kept])
        with pytest.raises(DatasetError, match=r"broken\.jpg \(a/b\) cannot be read") as caught:
            open_picture(item(Stills((path,))))
        assert caught.value.hint


NEVER = dict.fromkeys(("flip", "colour", "greyscale", "blur", "noise", "jpeg", "shift", "bars"), 0.0)
PICTURE = scale_picture(ShotScale.MEDIUM, 5, (112, 84))


def test_the_same_chance_gives_the_same_bytes_and_another_another() -> None:
    first, again = (
        [augmented(PICTURE, random.Random(k), AugmentSettings()) for k in range(12)] for _ in "ab"
    )
    np.testing.assert_array_equal(first, again)
    assert len({image.tobytes() for image in first}) == 12


def test_the_shift_moves_and_the_flip_mirrors() -> None:
    line = np.arange(100, dtype=np.uint8)
    image = np.repeat(np.repeat(line[None, :, None], 3, axis=2), 40, axis=0)
    moves = set()
    for seed in range(40):
        changed = augmented(
            image, random.Random(seed), AugmentSettings(**{**NEVER, "shift": 1.0, "shift_size": 0.1})
        )
        row = changed[0, :, 0].astype(int)
        inner = row[15:85]
        by = 15 - inner[0]
        assert (inner == np.arange(15, 85) - by).all(), "the inside moves as a whole"
        assert (np.abs(np.diff(row)) == 1).all(), "and the edge is its mirror image, without a seam"
        moves.add(by)
    assert min(moves) < -5
    assert max(moves) > 5
    assert max(abs(by) for by in moves) <= 10
    flipped = augmented(PICTURE, random.Random(0), AugmentSettings(**{**NEVER, "flip": 1.0}))
    np.testing.assert_array_equal(flipped, PICTURE[:, ::-1])
    # No zoom whatever happens: a square keeps its width and height through everything but bars, which may cover.
    square = np.full((84, 112, 3), 60, np.uint8)
    square[27:57, 41:71] = 180
    always = AugmentSettings(**{**dict.fromkeys(NEVER, 1.0), "bars": 0.0})
    for seed in range(60):
        grey = augmented(square, random.Random(seed), always).astype(float).mean(-1)
        middle = grey > (grey.min() + grey.max()) / 2
        assert abs(int((middle.sum(1) > 15).sum()) - 30) <= 1
        assert abs(int((middle.sum(0) > 15).sum()) - 30) <= 1


def table(folder: Path) -> list[dict[str, str]]:
    with (folder / "metrics.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def plain(folder: Path, resume_after: int | None = None) -> MetricLog:
    return MetricLog(folder, resume_after=resume_after, tensorboard=False)


def test_resuming_takes_out_what_came_after_and_what_was_cut_off(tmp_path: Path) -> None:
    """Of a log with other columns too, as earlier versions wrote it."""
    (tmp_path / "metrics.csv").write_text("step,train/lr,train/loss\n1,1,0.5\n2,1,0.4\n3,1,0.3\n4,1,0.")
    with plain(tmp_path, resume_after=2) as log:
        log.add(3, {"train/loss": 50.0})
    assert [(row["step"], row["train/loss"]) for row in table(tmp_path)] == [
        ("1", "0.5"), ("2", "0.4"), ("3", "50"),
    ]  # fmt: skip
    with plain(tmp_path) as log:
        log.add(1, {"train/loss": 1.0})
    assert len(table(tmp_path)) == 1, "without resuming it begins anew"


def test_tensorboard_gets_the_same_figures(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with MetricLog(tmp_path) as log:
        assert log.note is None
        for step in range(1, 6):
            log.add(step, {"train/loss": step / 2})
    with MetricLog(tmp_path, resume_after=3) as log:
        log.add(4, {"train/loss": 40.0})
    events = EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    found = [(event.step, event.value) for event in events.Scalars("train/loss")]
    assert found == [(1, 0.5), (2, 1.0), (3, 1.5), (4, 40.0)]
