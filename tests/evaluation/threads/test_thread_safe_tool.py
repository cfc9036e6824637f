"""The converter of thread annotations: the forms it takes, the times it writes, what it refuses."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from shotad.core import Interval
from shotad.evaluation import read_thread_labels
from tests.media import FilmSpec, make_film

TOOL = Path(__file__).parents[3] / "tools" / "thread_safe.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("thread_safe_tool", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def films(tmp_path: Path) -> Path:
    folder = tmp_path / "films"
    (folder / "friends").mkdir(parents=True)
    made = make_film(FilmSpec(frames=50)).path
    (folder / "friends" / "kiss-01.mp4").write_bytes(made.read_bytes())
    (folder / "hug.mp4").write_bytes(made.read_bytes())
    return folder


def convert(tool: ModuleType, films: Path, text: str, *words: str, name: str = "threads.csv") -> int:
    source = films.parent / name
    source.write_text(text, encoding="utf-8")
    code: int = tool.main([str(source), "--films", str(films), "--out", str(films.parent / "out"), *words])
    return code


CSV = """clip,start,end,thread
friends/kiss-01,0.5,1.0,b
friends/kiss-01,0.0,0.5,a
friends/kiss-01,1.0,1.5,a
friends/kiss-01,1.5,2.0,
hug.mp4,0,1,1
hug.mp4,1,2,-1
"""


def test_a_table_becomes_labels(tool: ModuleType, films: Path) -> None:
    assert convert(tool, films, CSV) == 0
    kiss, hug = read_thread_labels(films.parent / "out").clips
    assert kiss.name == "friends/kiss-01.json"
    assert kiss.path.resolve() == (films / "friends" / "kiss-01.mp4").resolve()
    assert kiss.shots == (Interval(0, 0.5), Interval(0.5, 1), Interval(1, 1.5), Interval(1.5, 2))
    assert kiss.clusters == ((0, 2),)
    assert hug.path.is_file()
    assert hug.clusters == ()


@pytest.mark.parametrize("delimiter", ["\t", ";", "  "])
def test_other_delimiters_and_columns(tool: ModuleType, films: Path, delimiter: str) -> None:
    lines = ["Thread,shot,Clip,START,end", "x,1,hug,0,0.8", "x,2,hug,0.8,2"]
    assert convert(tool, films, "\n".join(lines).replace(",", delimiter), name="t.txt") == 0
    (clip,) = read_thread_labels(films.parent / "out").clips
    assert clip.clusters == ((0, 1),)
    assert clip.shots == (Interval(0, 0.8), Interval(0.8, 2))


@pytest.mark.parametrize(
    ("words", "rows", "expected"),
    [
        # The test film has 25 frames a second; frame 25 begins at second 1.
        (("--units", "frames"), "0,25 25,50", [(0, 1), (1, 2)]),
        (("--units", "frames", "--first-frame", "1", "--last-included"), "1,25 26,50", [(0, 1), (1, 2)]),
        (("--units", "frames", "--last-included"), "0,24 25,49", [(0, 1), (1, 2)]),
        (
            ("--units", "frames", "--fps", "24000/1001"),
            "0,24 24,40",
            [(0, 1.001), (1.001, 1.668333)],
        ),
    ],
)
def test_frame_numbers_become_seconds(
    tool: ModuleType,
    films: Path,
    words: tuple[str, ...],
    rows: str,
    expected: list[tuple[float, float]],
) -> None:
    text = "clip,start,end,thread\n" + "\n".join(f"hug,{row},1" for row in rows.split())
    assert convert(tool, films, text, *words) == 0
    (clip,) = read_thread_labels(films.parent / "out").clips
    assert [(shot.start, shot.end) for shot in clip.shots] == expected


def test_a_missing_film_is_named_and_its_labels_are_written(
    tool: ModuleType, films: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert convert(tool, films, "clip,start,end,thread\nlost,0,1,a\nhug,0,1,a\n") == 1
    assert "Not there: " in capsys.readouterr().err
    assert [c.name for c in read_thread_labels(films.parent / "out").clips] == ["hug.json", "lost.json"]


@pytest.mark.parametrize(
    ("text", "needles"),
    [
        ("", ["is empty"]),
        ("clip,start,end\nhug,0,1\n", ["no column thread", "'clip,start,end'"]),
        ("clip,start,end,thread\n", ["holds no shot"]),
        ("clip,start,end,thread\nhug,0,1\n", ["line 2", "3 values for 4"]),
        ("clip,start,end,thread\n\nhug,0,soon,1\n", ["line 3", "'soon' is no time"]),
        ("clip,start,end,thread\n,0,1,1\n", ["line 2 names no clip"]),
        ("clip,start,end,thread\n../x,0,1,1\n", ["'../x'", "relative"]),
        ("clip,start,end,thread\nhug,0,1,1\nhug,0.5,2,1\n", ["hug.json: shot 1", "before shot 0"]),
    ],
)
def test_what_cannot_be_meant_is_refused(
    tool: ModuleType, films: Path, capsys: pytest.CaptureFixture[str], text: str, needles: list[str]
) -> None:
    assert convert(tool, films, text) == 2
    said = capsys.readouterr().err
    assert said.startswith("Error: ")
    for needle in needles:
        assert needle in said


FIELDS = {"clip": "clip", "shots": "shots", "threads": "threads"}


def test_a_struct_array_as_scipy_gives_it(tool: ModuleType) -> None:
    content: dict[str, Any] = {
        "__header__": b"MATLAB 5.0",
        "data": [
            {"clip": "a", "shots": np.array([[0.0, 1.5], [1.5, 2.0]]), "threads": np.array([1.0, np.nan])},
            {"clip": "b", "shots": np.array([0, 3]), "threads": 2},
        ],
    }
    rows = tool.struct_rows(content, None, FIELDS, "x.mat")
    assert [(r.clip, r.start, r.end, r.thread) for r in rows] == [
        ("a", 0.0, 1.5, "1"),
        ("a", 1.5, 2.0, ""),
        ("b", 0.0, 3.0, "2"),
    ]
    renamed = {"v": {"name": "a", "cuts": [[0, 1]], "threads": [4]}, "w": 1}
    (row,) = tool.struct_rows(renamed, "v", FIELDS | {"clip": "name", "shots": "cuts"}, "x.mat")
    assert (row.clip, row.end, row.thread) == ("a", 1.0, "4")


@pytest.mark.parametrize(
    ("content", "variable", "needle"),
    [
        ({"a": [], "b": []}, None, "2 variables: a, b"),
        ({"a": []}, "c", "no variable 'c', but a"),
        ({"a": [{"clip": "x"}]}, None, "no field 'shots', but clip"),
        ({"a": [7]}, None, "no field 'clip', but none at all"),
        ({"a": {"clip": "x", "shots": [[0, 1]], "threads": [1, 2]}}, None, "n threads"),
    ],
)
def test_a_struct_of_another_form_is_refused(
    tool: ModuleType, content: dict[str, Any], variable: str | None, needle: str
) -> None:
    with pytest.raises(tool.AnnotationError, match=needle):
        tool.struct_rows(content, variable, FIELDS, "x.mat")


def test_a_matlab_file_is_read_or_scipy_asked_for(
    tool: ModuleType, films: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = films.parent / "t.mat"
    words = [str(path), "--films", str(films), "--out", str(films.parent / "out"), "--field", "clip=name"]
    if importlib.util.find_spec("scipy") is None:
        path.write_bytes(b"")
        assert tool.main(words) == 2
        assert "pip install scipy" in capsys.readouterr().err
        return
    savemat = importlib.import_module("scipy.io").savemat
    savemat(path, {"t": {"name": "hug", "shots": np.array([[0, 1], [1, 2]]), "threads": np.array([3, 3])}})
    assert tool.main(words) == 0
    record = json.loads((films.parent / "out" / "hug.json").read_text(encoding="utf-8"))
    assert record == {"clip": "../films/hug.mp4", "shots": [[0.0, 1.0], [1.0, 2.0]], "clusters": [[0, 1]]}
