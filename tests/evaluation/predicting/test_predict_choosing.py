"""Which ADs are described, and which clips are a shard's."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from shotad.core import Interval, UsageError
from shotad.evaluation import Dataset, Shard, Wanted, choose
from shotad.evaluation.datasets.dataset import Ad
from shotad.evaluation.predicting.choosing import ClipTask


def dataset(sizes: list[int]) -> Dataset:
    """Clip ``k`` of film ``k // 2`` with ``sizes[k]`` ADs."""
    ads = []
    for clip, size in enumerate(sizes):
        for n in range(size):
            time = Interval(float(n), n + 1.0)
            ads.append(Ad(str(len(ads)), f"film{clip // 2}", f"clip{clip}", time, time, "He waits."))
    return Dataset("made", "Made", Path("nowhere"), tuple(ads))


def ids(tasks: tuple[ClipTask, ...]) -> list[str]:
    return [ad.id for task in tasks for ad in task.ads]


def test_everything_is_chosen_in_the_datasets_order() -> None:
    tasks = choose(dataset([2, 3]), Wanted())
    assert [task.clip for task in tasks] == ["clip0", "clip1"]
    assert ids(tasks) == ["0", "1", "2", "3", "4"]
    assert tasks[1].film == "film0"


def test_ids_films_and_a_limit() -> None:
    data = dataset([2, 3, 1])
    assert ids(choose(data, Wanted(ids=frozenset({"1", "4"})))) == ["1", "4"]
    assert ids(choose(data, Wanted(films=frozenset({"film1"})))) == ["5"]
    assert ids(choose(data, Wanted(limit=3))) == ["0", "1", "2"]
    assert ids(choose(data, Wanted(ids=frozenset({"1", "4", "5"}), limit=2))) == ["1", "4"]


@pytest.mark.parametrize(
    ("wanted", "names"),
    [(Wanted(ids=frozenset({"0", "99", "98"})), "98, 99"), (Wanted(films=frozenset({"film7"})), "film7")],
)
def test_what_the_dataset_has_not_is_refused(wanted: Wanted, names: str) -> None:
    with pytest.raises(UsageError, match=names):
        choose(dataset([2]), wanted)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=40), st.integers(1, 9))
def test_shards_are_the_whole_and_even(sizes: list[int], of: int) -> None:
    data = dataset(sizes)
    shards = [choose(data, Wanted(), Shard(number, of)) for number in range(1, of + 1)]
    together = [name for shard in shards for name in ids(shard)]
    assert sorted(together, key=int) == ids(choose(data, Wanted()))
    loads = [len(ids(shard)) for shard in shards]
    assert max(loads) - min(loads) <= max(sizes)


@pytest.mark.parametrize("text", ["0/3", "4/3", "2", "a/b", "1/0", "-1/3", ""])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no shard"):
        Shard.parse(text)


def test_a_shard_by_name() -> None:
    assert Shard.parse("2/8") == Shard(2, 8)
    assert str(Shard(2, 8)) == "2/8"
