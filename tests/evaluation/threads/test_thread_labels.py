"""The layout of thread labels, and the converter of annotations: what is read, written, left alone and refused."""

from __future__ import annotations

import json
import runpy
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from shotad.core import DatasetError, Interval
from shotad.evaluation import read_thread_labels
from shotad.evaluation.thread_labels import LabelledClip
from tests.media import FilmSpec, make_film

GOOD: dict[str, Any] = {"clip": "films/a.mp4", "shots": [[0, 1.5], [1.5, 2], [2, 4.25]], "clusters": [[2, 0]]}


def write(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def read(folder: Path, value: Any, name: str = "a.json") -> list[LabelledClip]:
    write(folder / name, value)
    return read_thread_labels(folder)[0]


def test_a_file_for_one_clip(tmp_path: Path) -> None:
    (clip,) = read(tmp_path, GOOD, "series/a.json")
    assert clip.name == "series/a.json"
    assert clip.path == tmp_path / "series" / "films" / "a.mp4"
    assert clip.shots == (Interval(0, 1.5), Interval(1.5, 2), Interval(2, 4.25))
    assert clip.clusters == ((0, 2),)
    assert clip.frame_rate is None

    # Files of many clips come in the order of names.
    write(tmp_path / "b.json", GOOD)
    write(tmp_path / "a" / "z.json", [GOOD, {**GOOD, "frame_rate": "24000/1001", "note": "kept"}])
    clips, _ = read_thread_labels(tmp_path)
    assert [clip.name for clip in clips] == ["a/z.json[0]", "a/z.json[1]", "b.json", "series/a.json"]
    assert clips[1].frame_rate == Fraction(24000, 1001)


def test_what_is_no_label_is_left_alone_and_named(tmp_path: Path) -> None:
    write(tmp_path / "a.json", GOOD)
    write(tmp_path / "settings.json", {"shots": []})
    write(tmp_path / "list.json", [1, 2])
    write(tmp_path / "film.shotad" / "shots.json", "not even JSON")
    write(tmp_path / ".hidden" / "x.json", "{")
    write(tmp_path / "out" / "threads.json", {"clip": 3})
    clips, ignored = read_thread_labels(tmp_path, outside=tmp_path / "out")
    assert [clip.name for clip in clips] == ["a.json"]
    assert ignored == ["list.json", "settings.json"]


@pytest.mark.parametrize(
    ("change", "needles"),
    [
        ({"clip": 7}, ["a.json", '"clip"', "7"]),
        ({"shots": []}, ['"shots"', "[]"]),
        ({"shots": [[0, 1], [1]]}, ["shot 1", "[1]"]),
        ({"shots": [[0, 1], [True, 2]]}, ["shot 1", "true"]),
        ({"shots": [[0, 1], [2, 2]]}, ["shot 1", "[2.0, 2.0)", "before it ends"]),
        ({"shots": [[0, 1e999]]}, ["shot 0", "inf"]),
        ({"shots": [[0, 2], [1, 3]]}, ["shot 1", "before shot 0", "sort them"]),
        ({"clusters": [0, 1]}, ['"clusters"', "[0, 1]"]),
        ({"clusters": [[0, 3]]}, ["cluster 0 names shot 3", "0 to 2", "counted from 0"]),
        ({"clusters": [[0.0, 1]]}, ["names shot 0.0"]),
        ({"clusters": [[0, 1], [1, 2]]}, ["shot 1 stands in clusters 0 and 1", "keep one"]),
        ({"clusters": [[0, 1, 1]]}, ["shot 1 stands in cluster 0 twice"]),
        ({"frame_rate": 0}, ['"frame_rate" 0', "24000/1001"]),
        ({"frame_rate": "fast"}, ['"frame_rate" "fast"']),
    ],
)
def test_wrong_labels_are_refused(tmp_path: Path, change: dict[str, Any], needles: list[str]) -> None:
    with pytest.raises(DatasetError) as error:
        read(tmp_path, {**GOOD, **change})
    for needle in ["a.json", *needles]:
        assert needle in str(error.value)


def test_a_folder_without_labels_is_refused_and_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="holds no labels"):
        read_thread_labels(tmp_path)
    with pytest.raises(DatasetError, match="not a folder"):
        read_thread_labels(tmp_path / "none")
    write(tmp_path / "a.json", [GOOD, {**GOOD, "clusters": [[9]]}, {"clip": "x", "shots": [[0, 1]]}])
    write(tmp_path / "b.json", "{")
    write(tmp_path / "c.json", [GOOD, 5])
    with pytest.raises(DatasetError) as error:
        read_thread_labels(tmp_path)
    said = str(error.value)
    assert said.startswith("4 labels of threads")
    for needle in ("a.json[1]", "a.json[2] has no 'clusters'", "b.json is not JSON", "c.json[1]"):
        assert needle in said


TOOL = Path(__file__).parents[3] / "tools" / "thread_safe.py"


@pytest.mark.parametrize(
    ("words", "rows", "expected"),
    [
        # The test film has 25 frames a second; frame 25 begins at second 1.
        (("--units", "frames"), "0,25 25,50", [(0, 1), (1, 2)]),
        (("--units", "frames", "--first-frame", "1", "--last-included"), "1,25 26,50", [(0, 1), (1, 2)]),
        (("--units", "frames", "--fps", "24000/1001"), "0,24 24,40", [(0, 1.001), (1.001, 1.668333)]),
    ],
)
def test_frame_numbers_become_seconds(
    tmp_path: Path, words: tuple[str, ...], rows: str, expected: list[tuple[float, float]]
) -> None:
    (tmp_path / "films").mkdir()
    shutil.copy(make_film(FilmSpec(frames=50)).path, tmp_path / "films" / "hug.mp4")
    source, out = tmp_path / "threads.csv", tmp_path / "out"
    source.write_text("clip,start,end,thread\n" + "\n".join(f"hug,{row},1" for row in rows.split()))
    main = runpy.run_path(str(TOOL))["main"]
    assert main([str(source), "--films", str(tmp_path / "films"), "--out", str(out), *words]) == 0
    ((clip,), _) = read_thread_labels(out)
    assert [(shot.start, shot.end) for shot in clip.shots] == expected
