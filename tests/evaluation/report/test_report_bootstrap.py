"""Intervals and paired draws: against the textbook, and in the properties that make them usable."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shotad.evaluation.measure.rows import Figure, Result, Row
from shotad.evaluation.report.bootstrap import drawn, figures, span, spans, units_of
from shotad.evaluation.report.paired import paired

SHARE = Figure("share", 100.0)


def result(values: dict[str, float], name: str = "cider", **more: object) -> Result:
    rows = tuple(Row(key, (value, 1.0), 100 * value) for key, value in values.items())
    told = {"title": name, "identity": {}, **more}
    return Result(name=name, columns=("score", "ads"), figure=SHARE, rows=rows, **told)  # type: ignore[arg-type]


def normal(n: int, mean: float = 0.4, sd: float = 0.1, seed: int = 0) -> dict[str, float]:
    values = np.random.default_rng(seed).normal(mean, sd, n)
    return {f"{k:04d}": float(value) for k, value in enumerate(values)}


def films(names: dict[str, float], per_film: int = 1) -> dict[str, str]:
    return {name: f"film {k // per_film}" for k, name in enumerate(names)}


def test_an_interval_is_that_of_the_textbook() -> None:
    values = normal(400)
    (found,) = spans([result(values)], films(values), draws=4000, unit="ad", level=0.95, seed=1).values()
    mean, error = np.mean(list(values.values())), np.std(list(values.values())) / 20
    assert found is not None
    assert found.low == pytest.approx(100 * (mean - 1.96 * error), abs=0.06)
    assert found.high == pytest.approx(100 * (mean + 1.96 * error), abs=0.06)


def test_a_draw_counts_each_unit_as_often_as_it_was_drawn() -> None:
    totals = np.eye(7)
    found = drawn(totals, 500, seed=3)
    assert found.shape == (500, 7)
    assert (found.sum(axis=1) == 7).all()
    assert np.array_equal(found, np.round(found))
    assert found.mean(axis=0) == pytest.approx(np.ones(7), abs=0.2)
    assert found.max() > 2


def test_draws_in_pieces_are_the_same_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    totals = np.random.default_rng(0).random((50, 3))
    whole = drawn(totals, 64, seed=5)
    again = drawn(totals, 64, seed=5)
    assert np.array_equal(whole, again)
    assert not np.allclose(whole, drawn(totals, 64, seed=6))


def test_order_of_rows_does_not_matter() -> None:
    values = normal(60)
    one = result(values)
    other = replace(one, rows=tuple(reversed(one.rows)))
    told = {"draws": 300, "unit": "ad", "level": 0.9, "seed": 2}
    assert spans([one], films(values), **told) == spans([other], films(values), **told)


def test_all_metrics_see_the_same_draws() -> None:
    values = normal(50)
    twice = {name: 2 * value for name, value in values.items()}
    units = units_of(films(values), "ad")
    a, b = figures([result(values), result(twice, "action")], units, 200, 0)
    assert b == pytest.approx(2 * a)


def test_whole_films_give_wider_intervals_where_films_differ() -> None:
    chance = np.random.default_rng(4)
    means = np.repeat(chance.normal(0.5, 0.2, 20), 30)
    values = {
        f"{k:04d}": float(m + e)
        for k, (m, e) in enumerate(zip(means, chance.normal(0, 0.02, 600), strict=True))
    }
    told = {"draws": 500, "level": 0.95, "seed": 2}
    by_ad = spans([result(values)], films(values, 30), unit="ad", **told)["cider"]
    by_film = spans([result(values)], films(values, 30), unit="film", **told)["cider"]
    assert by_ad is not None
    assert by_film is not None
    assert by_film.high - by_film.low > 3 * (by_ad.high - by_ad.low)


@pytest.mark.parametrize("n", [0, 1, 4])
def test_of_fewer_than_five_nothing_is_drawn(n: int) -> None:
    values = normal(n)
    found = spans([result(values)], films(values), draws=100, unit="ad", level=0.95, seed=1)
    assert found == {"cider": None}


def test_a_metric_that_speaks_of_few_ads_has_no_interval_however_many_there_are() -> None:
    values = normal(50)
    rows = tuple(replace(r, value=None, sums=(0.0, 0.0)) if int(r.id) > 3 else r for r in result(values).rows)
    few = replace(result(values), rows=rows)
    found = spans([few], films(values), draws=100, unit="ad", level=0.95, seed=1)
    assert found == {"cider": None}


def test_no_draws_no_interval() -> None:
    values = normal(9)
    assert spans([result(values)], films(values), draws=0, unit="ad", level=0.9, seed=1) == {"cider": None}


def test_a_figure_that_is_mostly_undefined_has_no_interval() -> None:
    """A metric with one row among many that say nothing: most draws miss it."""
    assert span(np.array([np.nan, np.nan, 1.0]), 0.95) is None
    assert span(np.array([1.0, 2.0, 3.0]), 0.95) is not None


@given(st.integers(5, 30), st.integers(0, 5))
def test_an_interval_lies_within_what_single_rows_say(n: int, seed: int) -> None:
    values = normal(n, seed=seed)
    found = spans([result(values)], films(values), draws=50, unit="ad", level=0.95, seed=seed)["cider"]
    assert found is not None
    assert 100 * min(values.values()) - 1e-6 <= found.low <= found.high <= 100 * max(values.values()) + 1e-6


def told(seed: int = 0, unit: str = "ad", draws: int = 1000) -> dict[str, object]:
    return {"draws": draws, "unit": unit, "level": 0.95, "seed": seed}


def test_pairs_see_a_difference_that_intervals_alone_do_not() -> None:
    """Two systems whose numbers rise and fall together, one always a little better."""
    values = normal(200, sd=0.3)
    chance = np.random.default_rng(9)
    better = {name: value + 0.02 + 0.02 * chance.normal() for name, value in values.items()}
    a, b = result(values), result(better)
    alone = spans([a], films(values), draws=1000, unit="ad", level=0.95, seed=0)["cider"]
    found = paired(a, b, films(values), **told())  # type: ignore[arg-type]
    assert alone is not None
    assert b.value is not None
    assert alone.low < b.value < alone.high
    assert found.interval is not None
    assert found.interval.low > 0
    assert found.not_better == 0
    assert found.p == 0
    assert found.difference == pytest.approx(2.0, abs=0.5)


def test_a_system_against_itself_is_not_better() -> None:
    values = normal(30)
    found = paired(result(values), result(values), films(values), **told())  # type: ignore[arg-type]
    assert found.difference == 0
    assert found.not_better == 1
    assert found.p == 1


def test_which_of_both_is_a_turns_the_sign() -> None:
    one, two = normal(80, seed=1), normal(80, seed=2)
    there = paired(result(one), result(two), films(one), **told())  # type: ignore[arg-type]
    back = paired(result(two), result(one), films(one), **told())  # type: ignore[arg-type]
    assert there.difference == pytest.approx(-back.difference)  # type: ignore[operator]
    assert there.p == back.p
    assert there.not_better == pytest.approx(1 - back.not_better)  # type: ignore[operator]


def test_where_lower_is_better_the_lower_one_wins() -> None:
    values = normal(80)
    lower = {name: value - 0.05 for name, value in values.items()}
    one, two = (replace(result(some), higher_is_better=False) for some in (values, lower))
    found = paired(one, two, films(values), **told())  # type: ignore[arg-type]
    assert found.difference == pytest.approx(-5)
    assert found.not_better == 0
    found = paired(result(values), result(lower), films(values), **told())  # type: ignore[arg-type]
    assert found.not_better == 1


def test_only_common_ads_are_compared() -> None:
    one, two = normal(40), {**{f"x{k}": 1.0 for k in range(5)}, **dict(list(normal(40).items())[10:])}
    found = paired(result(one), result(two), films({**one, **two}), **told())  # type: ignore[arg-type]
    assert found.n == 30
    assert found.difference == 0


def test_about_one_in_twenty_equal_systems_seems_different() -> None:
    """The test's size: two systems of the same worth, drawn anew 200 times."""
    wrong = 0
    for trial in range(200):
        one, two = normal(40, seed=2 * trial), normal(40, seed=2 * trial + 1)
        p = paired(result(one), result(two), films(one), **told(trial, draws=200)).p  # type: ignore[arg-type]
        assert p is not None
        wrong += p <= 0.05
    assert 2 <= wrong <= 24
