"""Of every metric: what a row is kept by, and what is kept."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from shotad.core import Interval
from shotad.evaluation import Corpus, Store
from shotad.evaluation.metric import Json, Metric, Row, row_keys, score
from tests.evaluation.every.allmetrics import (
    ALONG,
    MIXED,
    MakeBench,
    bytes_of,
    changed,
    human,
    metric_of,
    mixed,
    rows_of,
    scored,
)

# --- keys

CHANGES: dict[str, dict[str, Any]] = {
    "prediction": {"prediction": "Bob opens a gun."},
    "no prediction": {"prediction": None, "failure": "no prediction"},
    "another failure": {"prediction": None, "failure": "refused"},
    "reference": {"references": ("Bob opens the gun.",)},
    "more references": {"references": ("Ann runs down the stairs in the dark.", "Bob waits.")},
    "time": {"interval": Interval(75, 76)},
    "a pause": {"interval": Interval(30, 31)},
    "film": {"film": "beta"},
    "description": {"description": "2. Actions: Bob opens a gun."},
    "no description": {"description": None},
    "candidates": {"candidates": ("Bob opens a gun.",)},
    "actions": {"actions": ("Bob opens a gun.",)},
    "no actions": {"actions": None},
    "clip": {"clip": "2001/x"},
    "scale": {"scale": 2.0},
    "thread": {"threaded": True},
}


@pytest.mark.parametrize("what", [*CHANGES, "cast", "no cast"])
def test_a_key_has_all_that_a_row_depends_on(name: str, what: str, make_bench: MakeBench) -> None:
    """Whatever is changed, rows of equal identity, basis and key are equal, counted from nothing."""
    place, one = 3, changed(mixed(), 3, prediction="Ann runs.", description="2. Actions: Ann runs.")
    other = (
        changed(one, place, **CHANGES[what])
        if what in CHANGES
        else replace(one, casts={"alpha": ("Ann Hart",) if what == "cast" else (), "beta": ("Tony",)})
    )
    same = (
        metric_of(name, make_bench()).basis(one) == metric_of(name, make_bench()).basis(other)
        if name.startswith("cider")
        else True
    )
    if not same:
        return
    if name not in BEFORE:
        BEFORE[name] = keys_of(name, one, make_bench), rows_of(name, one, make_bench())
    keys, rows = keys_of(name, other, make_bench), rows_of(name, other, make_bench())
    for item, key in BEFORE[name][0].items():
        if key == keys[item]:
            assert rows[item] == BEFORE[name][1][item]


BEFORE: dict[str, tuple[dict[str, str], dict[str, Row]]] = {}
"""Keys and rows of each metric before the change."""


def keys_of(name: str, corpus: Corpus, make_bench: MakeBench) -> dict[str, str]:
    keys = row_keys(metric_of(name, make_bench()), corpus, range(len(corpus.items)))
    return {item.id: key for item, key in zip(corpus.items, keys, strict=True)}


@pytest.mark.parametrize("place", [0, 6, 9])
def test_a_changed_prediction_redoes_only_what_hears_it(name: str, place: int, make_bench: MakeBench) -> None:
    one = mixed()
    other = changed(
        one, place, prediction="A man leaves the room.", description="2. Actions: A man leaves the room."
    )
    keys = [keys_of(name, corpus, make_bench) for corpus in (one, other)]
    new = {item for item, key in keys[0].items() if key != keys[1][item]}
    itself = one.items[place].id
    film = {item.id for item in one.items if item.film == one.items[place].film}
    if name in ("critic", "story-recall", *ALONG):
        assert new <= film
        assert itself in new or name == "names-kept"
    else:
        assert new == {itself}
    bench = make_bench()
    scored(name, one, bench)
    assert scored(name, other, bench).fresh <= len(film)


def test_rows_of_equal_keys_are_equal(name: str, make_bench: MakeBench) -> None:
    """Two items that are equal but for their ids, in films that are equal but for their names."""
    corpus = mixed()
    again = [replace(item, id=f"again {item.id}", film=f"again {item.film}") for item in corpus.items]
    casts = {**corpus.casts, **{f"again {film}": cast for film, cast in corpus.casts.items()}}
    both = replace(corpus, items=(*corpus.items, *again), casts=casts)
    metric, n = metric_of(name, make_bench()), len(corpus.items)
    keys = row_keys(metric, both, range(2 * n))
    assert keys[:n] == keys[n:]
    alone = list(metric_of(name, make_bench()).rows(both, range(2 * n)))
    for row, twin in zip(alone[:n], alone[n:], strict=True):
        assert (row.sums, row.value, row.notes) == (twin.sums, twin.value, twin.notes)


def test_the_film_that_a_row_stands_in_alone_gives_the_same_row(name: str, make_bench: MakeBench) -> None:
    """Asked for one at a time, in any order, rows are those of the whole."""
    corpus = mixed()
    whole = scored(name, corpus, make_bench())
    for place in (14, 9, 3, 0):
        assert scored(name, corpus, make_bench(), [place]).rows[0] == whole.rows[place]


# --- what is kept


def test_a_second_run_gives_the_same_bytes_and_counts_nothing(
    name: str, make_bench: MakeBench, tmp_path: Path
) -> None:
    file = tmp_path / "kept.sqlite"
    with Store(file) as store:
        first = scored(name, mixed(), make_bench(store))
    with Store(file) as store:
        second = scored(name, mixed(), make_bench(store))
    assert (first.fresh, second.fresh) == (len(MIXED), 0)
    assert bytes_of(second) == bytes_of(first)
    assert (second.value, second.remarks, second.identity) == (first.value, first.remarks, first.identity)
    assert bytes_of(scored(name, mixed(), make_bench())) == bytes_of(first)


class Breaking:
    """A metric whose rows break off behind ``after`` of them."""

    def __init__(self, metric: Metric, after: int) -> None:
        self._metric, self._after = metric, after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._metric, name)

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterator[Row]:
        for number, row in enumerate(self._metric.rows(corpus, places)):
            if number == self._after:
                raise RuntimeError("broken")
            yield row


DONE = 2


def test_what_is_done_before_a_run_breaks_is_kept(name: str, make_bench: MakeBench) -> None:
    bench = make_bench()
    with pytest.raises(RuntimeError, match="broken"):
        score(Breaking(metric_of(name, bench), DONE), human(), bench)
    result = scored(name, human(), make_bench(bench.store))
    keys = row_keys(metric_of(name, bench), human(), range(len(MIXED)))
    done = list(dict.fromkeys(keys))[:DONE]
    assert result.fresh == sum(key not in done for key in keys)
    assert bytes_of(result) == bytes_of(scored(name, human(), make_bench()))


def test_rows_are_json_and_finite(name: str, make_bench: MakeBench) -> None:
    result = scored(name, mixed(), make_bench())
    metric = metric_of(name, make_bench())
    assert json.loads(json.dumps(result.identity)) == result.identity
    for row in result.rows:
        assert len(row.sums) == len(metric.columns)
        record: Json = json.loads(json.dumps(asdict(row), allow_nan=False))
        assert record["notes"] == row.notes
        alone = float(result.figure.of(replace(result, rows=(row,)).sums))
        assert (row.value is None) == math.isnan(alone)
        assert row.value is None or row.value == pytest.approx(alone, abs=1e-9)
