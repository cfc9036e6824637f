"""Intervals over films and paired differences: against the textbook, by hand, and by how often they hold."""

from __future__ import annotations

import numpy as np
import pytest

from shotad.evaluation import Figure, Result, Row
from shotad.evaluation.report.comparing import paired
from shotad.evaluation.report.intervals import Span, basis_words, quantile, spans

SHARE = Figure("share", 100.0)


def result(values: dict[str, float], name: str = "cider", **more: object) -> Result:
    rows = tuple(Row(key, (value, 1.0), 100 * value) for key, value in values.items())
    told = {"title": name, "identity": {}, **more}
    return Result(name=name, columns=("score", "ads"), figure=SHARE, rows=rows, **told)  # type: ignore[arg-type]


def films(names: dict[str, float], per_film: int = 1) -> dict[str, str]:
    return {name: f"film {k // per_film:03d}" for k, name in enumerate(names)}


def of_films(n: int, each: int, seed: int, mean: float = 0.5) -> dict[str, float]:
    """``each`` ADs of ``n`` films; a tenth of what differs lies between films."""
    chance = np.random.default_rng(seed)
    values = mean + np.repeat(chance.normal(0, 0.1, n), each) + chance.normal(0, 0.3, n * each)
    return {f"{k:04d}": float(value) for k, value in enumerate(values)}


def interval(values: dict[str, float], of: dict[str, str], **more: object) -> Span:
    found = spans([result(values)], of, **{"unit": "film", **more})["cider"]  # type: ignore[arg-type]
    assert found is not None
    return found


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("df", [1, 2, 3, 4, 9, 40, 97, 7315])
def test_its_quantiles_too(level: float, df: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    assert quantile(level, df) == pytest.approx(stats.t.ppf((1 + level) / 2, df), rel=1e-9)


def test_intervals_of_equal_films_and_students_test_are_the_textbooks() -> None:
    """The mean of the films' means, by Student's t."""
    values = of_films(6, 20, 1)
    found = interval(values, films(values, 20))
    means = 100 * np.array(list(values.values())).reshape(6, 20).mean(axis=1)
    reach = 2.570581836 * means.std(ddof=1) / np.sqrt(6)
    assert (found.low, found.high) == pytest.approx((means.mean() - reach, means.mean() + reach), abs=1e-6)
    assert (found.unit, found.units, found.level) == ("film", 6, 0.95)
    stats = pytest.importorskip("scipy.stats")
    one, two = of_films(7, 12, 3), of_films(7, 12, 4)
    found = paired(result(one), result(two), films(one, 12), unit="film")
    means = [np.array(list(some.values())).reshape(7, 12).mean(axis=1) for some in (one, two)]
    assert found["p_two_sided"] == pytest.approx(stats.ttest_rel(*means).pvalue)


@pytest.mark.parametrize(("n", "each"), [(3, 40), (5, 40), (10, 60), (40, 15)])
def test_intervals_hold_the_true_figure_as_often_as_they_say(n: int, each: int) -> None:
    """By single ADs 10 films of 60 hold it in about half of all cases, and 3 by bootstrap in seven of ten."""
    held = 0
    for trial in range(300):
        values = of_films(n, each, 1000 * n + trial)
        found = interval(values, films(values, each))
        held += found.low <= 50.0 <= found.high
    assert 0.91 <= held / 300 <= 0.99


def test_the_basis_is_told() -> None:
    def over(unit: str, units: int) -> Span:
        return Span(1.0, 2.0, 0.95, unit, units)  # type: ignore[arg-type]

    assert "lines of this film only" in basis_words([over("ad", 63)], "film")
    assert "over 95 to 98 films" in basis_words([over("film", 98), over("film", 95)], "film")
    assert "rough" in basis_words([over("film", 3)], "film")
    assert "as asked" in basis_words([over("ad", 63)], "ad")
    assert basis_words([None], "film") == ""


@pytest.mark.parametrize("n", [0, 1, 4])
def test_of_fewer_than_five_ads_there_is_none(n: int) -> None:
    values = {f"{k:04d}": 0.4 for k in range(n)}
    assert spans([result(values)], films(values), unit="film") == {"cider": None}
