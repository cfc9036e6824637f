"""Pictures to train on: folders, MovieShots as published, what cannot be, changes of pictures, logs."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from shotad.core import ShotScale
from shotad.core.errors import DatasetError
from shotad.grammar import ScaleTraining
from shotad.grammar.scale_data import (
    SPLITS,
    ClipFile,
    ScaleItem,
    Stills,
    load,
    open_picture,
    read_items,
    scale_named,
)
from shotad.grammar.training_settings import augmented
from tests.media import FilmSpec, make_film, read_number
from tests.scale_pictures import LABELS, make_movieshots, scale_picture

Tree = dict[str, Any]


def shot(label: str) -> Tree:
    """An entry as published; the scale's ``value`` is deliberately of no use."""
    return {"scale": {"label": label, "value": 9}, "movement": {"label": "Motion", "value": 0}}


def films(first: int, count: int) -> Tree:
    """Films of five shots, one of each scale."""
    shots = {f"{k:04d}": shot(label) for k, label in enumerate(LABELS.values())}
    return {f"tt{n:07d}": dict(shots) for n in range(first, first + count)}


def split_tree() -> Tree:
    return {"train": films(0, 7), "val": films(7, 1), "test": films(8, 2)}


def write(path: Path, tree: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(tree), encoding="utf-8")
    return path


def shelve(folder: Path, tree: Tree, name: str = "shot_{:04d}.mp4") -> None:
    """Files that are there and no more, for every shot of ``{film: {shot: …}}``."""
    for film, shots in tree.items():
        for number in shots:
            path = folder / film / name.format(int(number))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"x")


def all_films(tree: Tree) -> Tree:
    return {film: shots for part in tree.values() for film, shots in part.items()}


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """The published split with a clip for every shot."""
    write(tmp_path / "v1_split_trailer.json", split_tree())
    shelve(tmp_path / "trailer", all_films(split_tree()))
    return tmp_path


def test_a_published_split_without_test_asks_for_another_annotation(tmp_path: Path) -> None:
    tree = split_tree()
    del tree["test"]
    write(tmp_path / "v1_split_trailer.json", tree)
    shelve(tmp_path / "trailer", all_films(tree))
    with pytest.raises(DatasetError, match=r"The test split is empty \(MovieShots.*data\.annotation=NAME"):
        read_items(tmp_path)


@pytest.mark.parametrize("form", ["clips", "frames"])
def test_a_real_small_one(tmp_path: Path, form: Any) -> None:
    tree = make_movieshots(tmp_path, films=10, shots=5, form=form, size=(64, 48))
    data = read_items(tmp_path)
    assert data.layout == "MovieShots, v1_split_trailer.json, published split"
    assert data.notes == ()
    assert [len(data.of(split)) for split in SPLITS] == [35, 5, 10]
    for item in data.items:
        kind, film, number = item.key.split("/")
        assert kind == "trailer"
        assert tree[item.split][film][number]["scale"]["label"] == LABELS[item.scale]
        assert isinstance(item.source, ClipFile if form == "clips" else Stills)
    first = data.items[0]
    assert open_picture(first).shape == (48, 64, 3)
    if isinstance(first.source, Stills):
        assert [path.name for path in first.source.paths] == [f"shot_0000_img_{k}.jpg" for k in range(3)]


class TestNesting:
    def test_full_without_a_split_is_split_by_film(self, tmp_path: Path) -> None:
        tree = films(0, 20)
        write(tmp_path / "v1_full_trailer.json", tree)
        shelve(tmp_path / "trailer", tree)
        data = read_items(tmp_path)
        assert [len(data.of(split)) for split in SPLITS] == [70, 10, 20]
        inside = {split: {item.key.split("/")[1] for item in data.of(split)} for split in SPLITS}
        assert sum(map(len, inside.values())) == len(set().union(*inside.values())) == 20
        assert "split by the hash of the films' ids" in data.layout
        assert read_items(tmp_path, seed=7).fingerprint != data.fingerprint

    def test_films_and_trailers_of_one_id_are_two(self, tmp_path: Path) -> None:
        tree = {split: {"trailer": part, "movie": {}} for split, part in split_tree().items()}
        tree["train"]["movie"] = {"tt0000000": {"0000": shot("LS")}}
        write(tmp_path / "v3_split.json", tree)
        shelve(tmp_path / "trailer", all_films(split_tree()))
        shelve(tmp_path / "movie" / "240P", tree["train"]["movie"], "shot_{:04d}_img_1.jpg")
        data = {item.key: item for item in read_items(tmp_path).items}
        assert len(data) == 51
        assert data["movie/tt0000000/0000"].scale is ShotScale.LONG
        assert isinstance(data["movie/tt0000000/0000"].source, Stills)
        assert data["trailer/tt0000000/0000"].scale is ShotScale.EXTREME_CLOSE_UP
        assert isinstance(data["trailer/tt0000000/0000"].source, ClipFile)

    @pytest.mark.parametrize("tree", [
        [], {"a": {"b": {"c": "d"}}}, {"x": {"scale": {"label": "CS"}}},
            {"dev": {"tt1": {"0001": shot("CS")}}}, {"tt1": {"one": shot("CS")}},
        {"train": {"series": {"tt1": {"0001": shot("CS")}}}},
    ])  # fmt: skip
    def test_other_json_is_none(self, tmp_path: Path, tree: Any) -> None:
        assert load(write(tmp_path / "a.json", tree)) is None


class TestFiles:
    @pytest.mark.parametrize(("name", "kind"), [
        ("shot_{:04d}.mp4", ClipFile), ("{:04d}.mkv", ClipFile), ("shot_{}.MP4", ClipFile),
        ("shot_{:04d}_img_0.jpg", Stills), ("{:04d}.png", Stills),
    ])  # fmt: skip
    @pytest.mark.parametrize("place", ["trailer", "", "some/where"])
    def test_names_and_places(self, tmp_path: Path, name: str, kind: type, place: str) -> None:
        write(tmp_path / "v1_split_trailer.json", split_tree())
        shelve(tmp_path / place, all_films(split_tree()), name)
        items = read_items(tmp_path).items
        assert len(items) == 50
        assert all(isinstance(item.source, kind) for item in items)

    def test_many_missing_are_refused_unless_allowed(self, dataset: Path) -> None:
        shutil.rmtree(dataset / "trailer/tt0000001")
        why = "5 of the 50 shots .* such as trailer/tt0000001/0000, .*0001"
        with pytest.raises(DatasetError, match=why) as caught:
            read_items(dataset)
        assert "0.02" in caught.value.hint
        assert len(read_items(dataset, missing=0.1).items) == 45
        with pytest.raises(DatasetError):
            read_items(dataset, missing=0.099)


class TestChoice:
    def test_the_named_one_is_taken(self, dataset: Path) -> None:
        write(dataset / "mine.json", split_tree())
        assert "mine.json" in read_items(dataset, annotation="mine.json").layout
        with pytest.raises(DatasetError, match="There is no other.json"):
            read_items(dataset, annotation="other.json")
        write(dataset / "v2_full_trailer.json", {"tt0000001": {"0000": {"movement": {"label": "Motion"}}}})
        with pytest.raises(DatasetError, match="holds no shot scales"):
            read_items(dataset, annotation="v2_full_trailer.json")


@pytest.mark.parametrize(("split", "film", "number", "label", "why"), [
    ("val", "tt0000007", "0002", "XLS", r"'XLS' \(1\); one is at trailer/tt0000007/0002"),
    ("test", "tt0000001", "0004", "LS", r"trailer/tt0000001/0004 twice \(train and test\)"),
])  # fmt: skip
def test_labels_that_cannot_be(
    dataset: Path, split: str, film: str, number: str, label: str, why: str
) -> None:
    tree = split_tree()
    tree[split].setdefault(film, {})[number] = shot(label)
    write(dataset / "v1_split_trailer.json", tree)
    with pytest.raises(DatasetError, match=why):
        read_items(dataset)


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
        (five(2), "The val split is empty"),
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


AUGMENT = ScaleTraining().augment
NEVER = dict.fromkeys(("flip", "colour", "greyscale", "blur", "noise", "jpeg", "shift", "bars"), 0.0)
PICTURE = scale_picture(ShotScale.MEDIUM, 5, (112, 84))


def test_the_same_chance_gives_the_same_bytes_and_another_another() -> None:
    first, again = ([augmented(PICTURE, random.Random(k), AUGMENT) for k in range(12)] for _ in "ab")
    np.testing.assert_array_equal(first, again)
    assert len({image.tobytes() for image in first}) == 12


def test_the_shift_moves_and_the_flip_mirrors() -> None:
    line = np.arange(100, dtype=np.uint8)
    image = np.repeat(np.repeat(line[None, :, None], 3, axis=2), 40, axis=0)
    moves = set()
    for seed in range(40):
        changed = augmented(
            image, random.Random(seed), AUGMENT.model_copy(update={**NEVER, "shift": 1.0, "shift_size": 0.1})
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
    flipped = augmented(PICTURE, random.Random(0), AUGMENT.model_copy(update={**NEVER, "flip": 1.0}))
    np.testing.assert_array_equal(flipped, PICTURE[:, ::-1])
    # No zoom whatever happens: a square keeps its width and height through everything but bars, which may cover.
    square = np.full((84, 112, 3), 60, np.uint8)
    square[27:57, 41:71] = 180
    always = AUGMENT.model_copy(update={**dict.fromkeys(NEVER, 1.0), "bars": 0.0})
    for seed in range(60):
        grey = augmented(square, random.Random(seed), always).astype(float).mean(-1)
        middle = grey > (grey.min() + grey.max()) / 2
        assert abs(int((middle.sum(1) > 15).sum()) - 30) <= 1
        assert abs(int((middle.sum(0) > 15).sum()) - 30) <= 1
