"""A folder of pictures per scale, its splits, and opening one picture of an item."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from shotad.core import DatasetError, ShotScale
from shotad.grammar.movieshots import read_items
from shotad.grammar.scale_data import (
    SPLITS,
    ClipFile,
    ScaleItem,
    Stills,
    open_picture,
    scale_named,
    split_by_hash,
)
from tests.media import FilmSpec, SoundSpec, make_film, read_number
from tests.scale_pictures import LABELS

CLOSE_UP = ShotScale.CLOSE_UP


def dots(folder: Path, names: dict[str, int]) -> Path:
    """A folder with tiny pictures, each unlike every other: ``{"CS": 3}`` makes CS/0.png to CS/2.png."""
    for number, (name, count) in enumerate(names.items()):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for k in range(count):
            Image.new("RGB", (3, 2), (number, k, 7)).save(folder / name / f"{k}.png")
    return folder


def five(count: int) -> dict[str, int]:
    return dict.fromkeys(LABELS.values(), count)


def item(source: ClipFile | Stills) -> ScaleItem:
    return ScaleItem("a/b", "train", CLOSE_UP, source)


class TestNames:
    @pytest.mark.parametrize(
        ("name", "scale"),
        [
            ("ECS", 0), ("extreme close-up", 0), ("Extreme_CloseUp_Shot", 0), ("0_ecs", 0), ("XCU", 0),
            ("CS", 1), ("closeup", 1), ("close-up shot", 1), ("close shots", 1),
            ("ms", 2), ("medium", 2), ("3. Medium Shot", 2), ("FS", 3), ("full-shot", 3), ("ls", 4), ("LONG", 4),
        ],
    )  # fmt: skip
    def test_names_of_scales(self, name: str, scale: int) -> None:
        found = scale_named(name)
        assert found is not None
        assert found.number == scale

    @pytest.mark.parametrize("name", ["", "0", "1", "wide", "shot", "LSD", "medium close-up", "extreme long"])
    def test_other_names_are_no_scale(self, name: str) -> None:
        assert scale_named(name) is None


class TestFolders:
    def test_split_without_folders_is_seven_one_two_of_each_scale(self, tmp_path: Path) -> None:
        data = read_items(dots(tmp_path, five(20)))
        assert [list(data.counts(split).values()) for split in SPLITS] == [[14] * 5, [2] * 5, [4] * 5]
        assert [item.key for item in data.items] == sorted(item.key for item in data.items)
        assert sum(len(data.of(split)) for split in SPLITS) == len(data.items) == 100
        assert "hash" in data.layout
        assert data.notes == ()

    def test_the_split_hangs_on_names_and_seed_alone(self, tmp_path: Path) -> None:
        here, there = dots(tmp_path / "a", five(30)), tmp_path / "elsewhere" / "b"
        shutil.copytree(here, there)
        one, other, third = read_items(here), read_items(there), read_items(here, seed=1)
        assert [(i.key, i.split) for i in one.items] == [(i.key, i.split) for i in other.items]
        assert one.fingerprint == other.fingerprint != third.fingerprint
        assert [i.key for i in one.items] == [i.key for i in third.items]

    def test_split_folders(self, tmp_path: Path) -> None:
        for split, count in (("train", 3), ("valid", 2), ("Test", 1)):
            dots(tmp_path / split, five(count))
        data = read_items(tmp_path)
        assert [len(data.of(split)) for split in SPLITS] == [15, 10, 5]
        assert {i.split for i in data.items if i.key.startswith("valid/")} == {"val"}

    def test_a_missing_split_is_taken_out_of_train(self, tmp_path: Path) -> None:
        dots(tmp_path / "train", five(16))
        dots(tmp_path / "test", five(3))
        data = read_items(tmp_path)
        assert [list(data.counts(split).values()) for split in SPLITS] == [[14] * 5, [2] * 5, [3] * 5]
        assert {i.key.split("/")[0] for i in data.of("val")} == {"train"}
        assert {i.key.split("/")[0] for i in data.of("test")} == {"test"}
        assert "val taken out of train" in data.layout

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
        for split in SPLITS:
            dots(tmp_path / split, five(2))
            for label, k in (("ECS", 0), ("CS", 1), ("MS", 2), ("FS", 3), ("LS", 4)):
                for n in range(2):
                    Image.new("RGB", (3, 2), (k, n, SPLITS.index(split))).save(
                        tmp_path / split / label / f"{n}.png"
                    )
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

    def test_no_folder(self, tmp_path: Path) -> None:
        self.refused(tmp_path / "absent", "is not a folder")

    def test_nothing_there(self, tmp_path: Path) -> None:
        self.refused(tmp_path, "holds no folders ECS")

    @pytest.mark.parametrize(
        ("folders", "match"),
        [
            ({**five(2), "wide": 1}, "wide is not named after a shot scale"),
            ({**five(2), "close-up": 1}, "are the same scale"),
            ({"train/CS": 2, "LS": 1}, "both splits and LS"),
            ({"train/CS": 1, "val/CS": 1, "valid/CS": 1}, "two folders for one split"),
            ({"val/CS": 1, "test/CS": 1}, "no train"),
            (five(2), "split of .* is empty"),
            ({"CS": 9, "MS": 9, "LS": 9}, "no item of extreme close-up, full"),
        ],
    )
    def test_folders_that_are_no_data_set(self, tmp_path: Path, folders: dict[str, int], match: str) -> None:
        self.refused(dots(tmp_path, folders), match)

    def test_an_empty_split(self, tmp_path: Path) -> None:
        dots(tmp_path, {f"{split}/{label}": 2 for split in ("train", "val") for label in LABELS.values()})
        (tmp_path / "test" / "CS").mkdir(parents=True)
        self.refused(tmp_path, "The test split of .* is empty")

    def test_arguments(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="share from 0 to 1"):
            read_items(tmp_path, missing=2)
        with pytest.raises(ValueError, match="split must be"):
            ScaleItem("a", "dev", CLOSE_UP, Stills((tmp_path,)))  # type: ignore[arg-type]


class TestSplitByHash:
    @pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 7, 10, 99, 1000])
    def test_every_thing_once_and_no_split_empty(self, count: int) -> None:
        found = split_by_hash(range(count), str, 42)
        sizes = Counter(found.values())
        assert sorted(found) == list(range(count))
        if count > 3:
            assert all(sizes[split] >= 1 for split in SPLITS)
        if count >= 10:
            assert abs(sizes["val"] - count / 10) <= 0.5
            assert abs(sizes["test"] - count / 5) <= 0.5


class TestOpenPicture:
    @pytest.mark.parametrize("frames", [1, 2, 7, 8, 50])
    def test_the_middle_of_a_clip_is_frame_n_half(self, frames: int) -> None:
        made = make_film(FilmSpec(frames=frames, size=(96, 72)))
        assert read_number(open_picture(item(ClipFile(made.path)))) == frames // 2

    def test_longer_sound_does_not_move_the_middle(self) -> None:
        made = make_film(FilmSpec(frames=20, size=(96, 72), sounds=(SoundSpec(duration=3.0),)))
        assert read_number(open_picture(item(ClipFile(made.path)))) == 10

    def test_any_frame_of_a_clip_may_come(self) -> None:
        made = make_film(FilmSpec(frames=8, size=(96, 72)))
        seen = {read_number(open_picture(item(ClipFile(made.path)), random.Random(k))) for k in range(60)}
        assert seen == set(range(8))

    def test_stills_middle_and_any(self, tmp_path: Path) -> None:
        paths = tuple(tmp_path / f"{k}.png" for k in range(4))
        for k, path in enumerate(paths):
            Image.new("RGB", (5, 4), (k, 0, 0)).save(path)
        assert open_picture(item(Stills(paths)))[0, 0].tolist() == [2, 0, 0]
        assert open_picture(item(Stills(paths[:3])))[0, 0].tolist() == [1, 0, 0]
        assert {int(open_picture(item(Stills(paths)), random.Random(k))[0, 0, 0]) for k in range(40)} == {
            0,
            1,
            2,
            3,
        }

    @pytest.mark.parametrize("mode", ["L", "P", "RGBA", "LA", "1", "CMYK", "I;16"])
    def test_every_kind_of_picture_becomes_rgb(self, tmp_path: Path, mode: str) -> None:
        path = tmp_path / ("x.tif" if mode in ("CMYK", "I;16") else "x.png")
        Image.new(mode, (6, 4)).save(path)
        picture = open_picture(item(Stills((path,))))
        assert picture.shape == (4, 6, 3)
        assert picture.dtype == np.uint8
        picture[0, 0] = 1

    def test_a_picture_of_sixteen_bits_keeps_its_greys(self, tmp_path: Path) -> None:
        Image.fromarray(np.array([[0, 0x8000, 0xFFFF]], np.uint16)).save(tmp_path / "x.png")
        assert open_picture(item(Stills((tmp_path / "x.png",))))[0, :, 0].tolist() == [0, 128, 255]

    def test_a_turned_photograph_is_upright(self, tmp_path: Path) -> None:
        exif = Image.Exif()
        exif[0x0112] = 6
        Image.new("RGB", (8, 4)).save(tmp_path / "x.jpg", exif=exif)
        assert open_picture(item(Stills((tmp_path / "x.jpg",)))).shape == (8, 4, 3)

    @pytest.mark.parametrize("content", [b"", b"no picture", "cut"])
    def test_an_unreadable_picture_is_named(self, tmp_path: Path, content: bytes | str) -> None:
        path = tmp_path / "broken.jpg"
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            Image.fromarray(noise(64, 64)).save(path)
            path.write_bytes(path.read_bytes()[:900])
        with pytest.raises(DatasetError, match=r"broken\.jpg \(a/b\) cannot be read") as caught:
            open_picture(item(Stills((path,))))
        assert caught.value.hint

    def test_an_unreadable_clip_is_named(self, tmp_path: Path) -> None:
        for content in (b"", b"no film at all" * 50):
            (tmp_path / "broken.mp4").write_bytes(content)
            with pytest.raises(DatasetError, match=r"broken\.mp4 \(a/b\) cannot be read"):
                open_picture(item(ClipFile(tmp_path / "broken.mp4")))


def noise(width: int, height: int) -> npt.NDArray[np.uint8]:
    return np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)


def test_reading_data_loads_neither_torch_nor_opencv() -> None:
    code = (
        "import sys, shotad.grammar.scale_data, shotad.grammar.movieshots, "
        "shotad.grammar.training_settings, shotad.grammar.training_records, shotad.film.drawing; "
        "print(sorted({'torch', 'cv2', 'av', 'tensorboard', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
