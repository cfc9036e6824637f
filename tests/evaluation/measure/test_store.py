"""The store: values by space and key, whole groups, and a file that others may use at once."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from shotad.core import EvaluationError
from shotad.evaluation import Store
from shotad.evaluation.store import text_key


def test_what_was_put_is_found_by_space_and_key(tmp_path: Path) -> None:
    with Store(tmp_path / "new" / "kept.sqlite") as store:
        store.put("a", {"x": b"1", "y": b"2"})
        store.put("b", [("x", b"3")])
        assert store.get("a", ["x", "y", "z"]) == {"x": b"1", "y": b"2"}
        assert store.get("b", ["x"]) == {"x": b"3"}
    with Store(tmp_path / "new" / "kept.sqlite") as store:
        assert store.get("a", ["y", "y"]) == {"y": b"2"}


def test_more_keys_than_one_question_takes() -> None:
    with Store() as store:
        store.put("a", {str(k): str(k).encode() for k in range(3000)})
        found = store.get("a", [str(k) for k in range(4000)])
        assert len(found) == 3000
        assert found["2999"] == b"2999"


def test_a_store_told_to_forget_finds_only_its_own(tmp_path: Path) -> None:
    path = tmp_path / "kept.sqlite"
    with Store(path) as store:
        store.put("a", {"x": b"old"})
    with Store(path, forget=True) as store:
        assert store.get("a", ["x"]) == {}
        store.put("a", {"x": b"new"})
        assert store.get("a", ["x"]) == {"x": b"new"}


def test_two_use_one_file(tmp_path: Path) -> None:
    path = tmp_path / "kept.sqlite"
    with Store(path) as one, Store(path) as two:
        one.put("a", {"x": b"1"})
        two.put("a", {"y": b"2"})
        assert one.get("a", ["x", "y"]) == two.get("a", ["x", "y"]) == {"x": b"1", "y": b"2"}


def test_a_damaged_file_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "kept.sqlite"
    path.write_bytes(b"this is no database, but long enough to be taken for one" * 40)
    with Store(path) as store:
        store.put("a", {"x": b"1"})
        assert store.get("a", ["x"]) == {"x": b"1"}
    assert (tmp_path / "kept.sqlite.damaged").exists()


def test_a_file_whose_damage_shows_only_at_work_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "kept.sqlite"
    with Store(path) as store:
        store.put("a", {f"{k:05d}": b"x" * 500 for k in range(2000)})
    whole = path.read_bytes()
    broken = bytearray(whole)
    for page in range(2 * 4096, len(whole), 4096):
        broken[page : page + 100] = b"\xa5" * 100
    for act in ("get", "put"):
        path.write_bytes(broken)
        with Store(path) as store:
            if act == "get":
                assert store.get("a", [f"{k:05d}" for k in range(2000)]) == {}
            store.put("a", {"00007": b"new"})
            assert store.get("a", ["00007"]) == {"00007": b"new"}
        with Store(path) as store:
            assert store.get("a", ["00007", "00008"]) == {"00007": b"new"}
        assert (tmp_path / "kept.sqlite.damaged").read_bytes()[: len(whole)] == bytes(broken)


def test_a_place_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EvaluationError, match="cannot keep what is computed.*--cache"):
        Store(tmp_path / "file" / "kept.sqlite")


def test_a_group_is_whole_or_not_there_at_all(tmp_path: Path) -> None:
    with Store(tmp_path / "kept.sqlite") as store:
        bad: list[tuple[str, bytes]] = [("x", b"1"), ("y", object())]  # type: ignore[list-item]
        with pytest.raises((EvaluationError, sqlite3.Error)):
            store.put("a", bad)
        assert store.get("a", ["x"]) == {}


def test_the_key_of_a_text_is_the_texts_own() -> None:
    assert text_key("a") == text_key("a") != text_key("a ")
