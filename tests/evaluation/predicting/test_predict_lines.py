"""Which ADs are described, what makes a line stale, and what of a file of predictions is taken up again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from shotad.core import ConfigError, Interval, UsageError, WorkFolderError, load_config
from shotad.description import Engines
from shotad.engines.fake import FakeEngine
from shotad.evaluation import Dataset, Shard, ahead_of, choose
from shotad.evaluation.datasets.dataset import Ad
from shotad.evaluation.predicting.clip import ClipAds, PredictedLine, line_key, terms_of
from shotad.evaluation.predicting.run import Ledger


def dataset(sizes: list[int]) -> Dataset:
    """Clip ``k`` of film ``k // 2`` with ``sizes[k]`` ADs."""
    ads = []
    for clip, size in enumerate(sizes):
        for n in range(size):
            time = Interval(float(n), n + 1.0)
            ads.append(Ad(str(len(ads)), f"film{clip // 2}", f"clip{clip}", time, time, "He waits."))
    return Dataset("made", "Made", Path("nowhere"), tuple(ads))


def ids(tasks: tuple[ClipAds, ...]) -> list[str]:
    return [ad.id for ads in tasks for ad in ads]


def test_ids_films_and_a_limit() -> None:
    data = dataset([2, 3, 1])
    assert ids(choose(data, ids=frozenset({"1", "4"}))) == ["1", "4"]
    assert ids(choose(data, films=frozenset({"film1"}))) == ["5"]
    assert ids(choose(data, limit=3)) == ["0", "1", "2"]
    assert ids(choose(data, ids=frozenset({"1", "4", "5"}), limit=2)) == ["1", "4"]


@given(st.lists(st.integers(1, 30), min_size=1, max_size=40), st.integers(1, 9))
def test_shards_are_the_whole_and_even(sizes: list[int], of: int) -> None:
    data = dataset(sizes)
    shards = [choose(data, Shard(number, of)) for number in range(1, of + 1)]
    together = [name for shard in shards for name in ids(shard)]
    assert sorted(together, key=int) == ids(choose(data))
    loads = [len(ids(shard)) for shard in shards]
    assert max(loads) - min(loads) <= max(sizes)


@pytest.mark.parametrize("text", ["0/3", "4/3", "2", "a/b", "1/0", "-1/3", ""])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no shard"):
        Shard.parse(text)
    assert str(Shard.parse("2/8")) == "2/8"
    assert Shard.parse("2/8") == Shard(2, 8)


def terms(*settings: str, engines: Engines | None = None) -> str:
    return terms_of(load_config(None, settings), engines or Engines(FakeEngine(), FakeEngine()))


@pytest.mark.parametrize(
    "setting",
    [
        "seed=7", "slots.seconds_per_word=0.5", "slots.budget=paper", "prompt.medium=TV series", "context.past=1",
        "frames.inside=8", "stage2.candidates=5", "stage2.sampling.temperature=1.5", "threads.features=grid",
        "scale.method=none", "compute.precision=float32", "stage2.attempts=1", "film.reader=decord",
    ],
)  # fmt: skip
def test_what_may_change_a_line_makes_it_stale(setting: str) -> None:
    assert terms(setting) != terms()


@pytest.mark.parametrize("stage", ["looks", "writes"])
def test_another_engine_makes_lines_stale(stage: str) -> None:
    other = FakeEngine()
    other.identity = replace(other.identity, revision="2")
    engines = replace(Engines(FakeEngine(), FakeEngine()), **{stage: other})
    assert terms(engines=engines) != terms()


def ad(name: str = "1", start: float = 2.0, length: float = 2.0) -> Ad:
    return Ad(name, "film", "clip", Interval(60.0, 60.0 + length), Interval(start, start + 2), "He waits.")


def test_what_changes_a_line_changes_its_key(tmp_path: Path) -> None:
    shots = (Interval(0.0, 9.0),)
    plain: dict[str, Any] = {"terms": "t", "ad": ad(), "fingerprint": "video", "shots": None}
    changes: list[dict[str, Any]] = [
        {}, {"terms": "u"}, {"ad": ad("2")}, {"ad": ad(start=2.5)}, {"ad": ad(length=1.5)}, {"fingerprint": "another"},
        {"shots": shots}, {"cast": "bank"}, {"beside": [ad("3", 5.0)]},
    ]  # fmt: skip
    keys = [line_key(**{**plain, **change}) for change in changes]
    assert len(set(keys)) == len(keys)
    assert line_key("t", ad(), "video", shots=shots) == keys[6]
    # Changed examples make lines stale.
    file = tmp_path / "examples.txt"
    setting = f"prompt.example_file={file}"
    with pytest.raises(ConfigError, match=r"examples\.txt"):
        terms(setting)
    file.write_text("He waits.\n")
    before = terms(setting)
    file.write_text("She waits.\n")
    assert terms(setting) != before


def test_models_of_this_machine_take_longer_turns() -> None:
    two = Engines.of(load_config(None, ["stage1.engine=qwen2-vl", "stage2.engine=llama3"]))
    assert ahead_of(two) > 1
    assert ahead_of(Engines(two.looks, two.looks)) == 1, "one model does both"
    assert ahead_of(Engines(two.looks, FakeEngine())) == 1
    assert ahead_of(Engines(FakeEngine(), FakeEngine())) == 1


IDS = ["a", "b", "c", "d"]


def line(name: str, text: str | None = "She runs.", terms: str = "t", **more: Any) -> PredictedLine:
    failure = "" if text is not None else "broken"
    status = "placed" if text is not None else "failed"
    key = f"{terms}-{name}"
    made = PredictedLine(
        id=name, film="film", clip="clip", interval=Interval(1.0, 2.5), text=text, status=status,
        terms=terms, key=key, failure=failure,
    )  # fmt: skip
    return replace(made, **more)


def rows(path: Path) -> list[tuple[str, str | None]]:
    return [(row["id"], row["text"]) for row in map(json.loads, path.read_text().splitlines())]


def test_a_half_written_last_line_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    Ledger(path, IDS, "t").add([line("a"), line("b")])
    whole = path.read_bytes()
    for cut in (1, 2, 40, len(whole) - whole.index(b"\n") - 1):
        path.write_bytes(whole[:-cut])
        assert [one.id for one in Ledger(path, IDS, "t").lines] == ["a"]
    path.write_bytes(whole[:30])
    ledger = Ledger(path, IDS, "t")
    assert ledger.lines == ()
    ledger.add([line("b")])
    assert rows(path) == [("b", "She runs.")]


@pytest.mark.parametrize("content", ["id,text\n1,She runs.\n", '{"id": "1", "text": "x"}\n', "notes"])
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, content: str) -> None:
    path = tmp_path / "p.csv"
    path.write_text(content)
    with pytest.raises(WorkFolderError, match="something else"):
        Ledger(path, IDS, "t")
    assert path.read_text() == content
