"""MovieShots in the published layout: which annotation, which files, which split, and what is refused."""

from __future__ import annotations

import json
import random
import runpy
import shutil
from pathlib import Path
from typing import Any

import pytest

from shotad.core import DatasetError, ShotScale
from shotad.grammar.scale_data import SPLITS, ClipFile, Stills, load, open_picture, read_items
from tests.media import draw, read_number
from tests.scale_pictures import LABELS, make_movieshots, write_shot

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


def test_the_tool_takes_frames_out_of_clips(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The middle picture is the clip's middle frame, and what cannot be read is named."""
    tool = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "movieshots_frames.py"))
    make_movieshots(tmp_path / "clips", films=10, shots=1, size=(64, 48))
    (tmp_path / "clips/trailer/tt0000005/shot_0000.mp4").write_bytes(b"broken")
    write_shot(tmp_path / "clips/trailer/tt0000000", 0, [draw(k, 192, 108) for k in range(9)], "clips")
    command = [str(tmp_path / "clips"), str(tmp_path / "frames"), "--jobs", "1"]
    assert tool["main"](command) == 0
    said = capsys.readouterr().out
    assert "9 shots written, 1 could not be read." in said
    assert "tt0000005/0000" in said
    data = read_items(tmp_path / "frames", missing=0.1)
    assert len(data.items) == 9
    sources = [item.source for item in data.items]
    assert all(isinstance(source, Stills) and len(source.paths) == 3 for source in sources)
    numbered = data.items[0]
    assert numbered.key == "trailer/tt0000000/0000"
    assert read_number(open_picture(numbered)) == 4
    assert {read_number(open_picture(numbered, random.Random(k))) for k in range(20)} == {2, 4, 6}
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "frames").rglob("*.jpg")}
    assert tool["main"](command) == 0
    assert times == {path: path.stat().st_mtime_ns for path in (tmp_path / "frames").rglob("*.jpg")}
