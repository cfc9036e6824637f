"""Damaged files: whatever stands in them, what comes out is a dataset or an error that names the file."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings, strategies as st

from shotad.core import NoProgress, ShotadError
from shotad.evaluation import Dataset, check_dataset, load_dataset
from shotad.evaluation.datasets.checking import Check
from shotad.evaluation.predictions import Joined, join, read_predictions
from tests.evaluation.datasets import datasetfiles as files

PIECES = st.sampled_from(
    [b"", b"\x80", b'"', b",", b"\n", b"\r", b"[", b"]", b"nan", b"-1e999", b"'", b"0", b"\xff\xfe", b"{"]
)
NAMES = ("cmdad_anno.csv", "cmdad_gt_action.csv", "cmdad_shot_info.csv", "cast.json")


def tried(root: Path) -> Check | str:
    try:
        return check_dataset(load_dataset("cmd-ad", root, strict=False), NoProgress())
    except ShotadError as error:
        return str(error)


@settings(max_examples=60)
@given(st.sampled_from(NAMES), st.floats(0, 1), st.integers(0, 12), PIECES)
def test_damaged_datasets(name: str, place: float, cut: int, piece: bytes) -> None:
    with TemporaryDirectory() as folder:
        root = files.cmd_ad(Path(folder))
        data = (root / name).read_bytes()
        at = round(place * len(data))
        (root / name).write_bytes(data[:at] + piece + data[at + cut :])
        check = tried(root)
        if isinstance(check, str):
            assert folder in check
        else:
            assert check.text
            assert len({ad.id for ad in check.dataset.ads}) == len(check.dataset.ads)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
KEYS = st.sampled_from(
    ["id", "text", "text_gen", "candidates", "scale", "threaded", "film", "start", "text_gen_1", "x"]
)


@lru_cache(maxsize=1)
def small() -> Dataset:
    with TemporaryDirectory() as folder:
        return load_dataset("cmd-ad", files.cmd_ad(Path(folder)))


def joined(path: Path) -> Joined | str:
    try:
        return join(small(), read_predictions(path))
    except ShotadError as error:
        return str(error)


@given(st.lists(st.dictionaries(KEYS, VALUES, max_size=5), max_size=3))
def test_any_json_for_predictions(records: list[dict[str, object]]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "preds.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        result = joined(path)
    if isinstance(result, str):
        assert "preds.jsonl" in result
    else:
        assert [item.id for item in result.corpus.items] == ["0", "1", "2", "3"]
