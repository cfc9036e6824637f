"""A folder of pictures per scale, its splits, and opening one picture of an item."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import numpy.typing as npt
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
from tests.media import FilmSpec, make_film, read_number
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
        for split in SPLITS:
            dots(tmp_path / split, five(2))
            for label, k in (("ECS", 0), ("CS", 1), ("MS", 2), ("FS", 3), ("LS", 4)):
                for n in range(2):
                    picture = Image.new("RGB", (3, 2), (k, n, SPLITS.index(split)))
                    picture.save(tmp_path / split / label / f"{n}.png")
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


class TestOpenPicture:
    @pytest.mark.parametrize("frames", [1, 2, 7, 8, 50])
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


def noise(width: int, height: int) -> npt.NDArray[np.uint8]:
    return np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)
