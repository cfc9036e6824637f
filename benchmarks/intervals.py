"""How often intervals of 95 % hold the true figure, by simulation.

    python benchmarks/intervals.py                    # three minutes on one core
    python benchmarks/intervals.py --trials 2000

Films are drawn, and their lines: each film has a level of its own (--alike: the part of the variance that
lies between films), as films have in any metric of ADs. The true figure is that of all films there could be.

``mean``: films of 60 lines, values around their film's level. ``CIDEr``: films of 3 to 245 lines, as
CMD-AD's, and values as skewed as CIDEr's; a mean over lines, so a ratio of sums over films. ``B - A``: two
systems on the same films and lines, of which B is better in some films and worse in others, and not in all.

Told is the share of trials in which the interval holds the true figure: percentile bootstrap over lines, as
it was by default (its limit, which hundreds of lines reach: the normal one); over whole films, uncorrected;
BCa over films (scipy); and shotad's, over films.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import numpy.typing as npt
from scipy import stats

from shotad.evaluation import Result
from shotad.evaluation.metric import Figure, Row
from shotad.evaluation.report.comparing import paired
from shotad.evaluation.report.intervals import spans

Floats = npt.NDArray[np.float64]
FILMS = (3, 5, 10, 40, 98)
DRAWS = 999
HEADS = ("lines", "films", "BCa", "shotad")


def lines_of(chance: np.random.Generator, sizes: Sequence[int], alike: float) -> list[Floats]:
    """Values of the lines of each film, of variance 1 and mean 0."""
    level, noise = np.sqrt(alike), np.sqrt(1 - alike)
    return [level * chance.normal() + noise * chance.normal(size=n) for n in sizes]


def mean_of(chance: np.random.Generator, films: int, alike: float) -> tuple[list[Floats], float]:
    """Films of 60 lines, and the true mean."""
    return lines_of(chance, [60] * films, alike), 0.0


def cider_of(chance: np.random.Generator, films: int, alike: float) -> tuple[list[Floats], float]:
    """Films of CMD-AD's lengths with values as skewed as CIDEr's, and the true mean."""
    sizes = np.clip(chance.lognormal(np.log(55), 0.8, films), 3, 245).round().astype(int).tolist()
    return [np.exp(values) for values in lines_of(chance, sizes, alike)], float(np.exp(0.5))


def result_of(films: Sequence[Floats]) -> Result:
    """The lines as a metric has them."""
    rows = tuple(
        Row(f"{film}-{line}", (float(value), 1.0), float(value))
        for film, values in enumerate(films)
        for line, value in enumerate(values)
    )
    return Result("mean", "mean", ("sum", "lines"), Figure(), {}, rows)


def titles(result: Result) -> dict[str, str]:
    """The film of each line."""
    return {row.id: row.id.partition("-")[0] for row in result.rows}


def drawn(
    chance: np.random.Generator, sums: Floats, method: Literal["percentile", "BCa"]
) -> tuple[float, float]:
    """An interval of a ratio of sums, ``float64[n, 2]``, by drawing its rows."""

    def ratio(values: Floats, lines: Floats, axis: int = -1) -> Floats:
        return np.asarray(values.sum(axis=axis) / lines.sum(axis=axis))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = stats.bootstrap(
            (sums[:, 0], sums[:, 1]), ratio, paired=True, method=method, n_resamples=DRAWS, rng=chance
        ).confidence_interval
    return float(found.low), float(found.high)


def trial(
    chance: np.random.Generator, films: Sequence[Floats], own: tuple[float, float]
) -> list[tuple[float, float]]:
    """The interval of each way; ``own`` is shotad's."""
    lines = np.concatenate(films)
    sums = np.array([[values.sum(), len(values)] for values in films], np.float64)
    reach = 1.959964 * lines.std() / np.sqrt(len(lines))
    by_line = (float(lines.mean() - reach), float(lines.mean() + reach))
    return [by_line, drawn(chance, sums, "percentile"), drawn(chance, sums, "BCa"), own]


def one_figure(
    chance: np.random.Generator,
    films: int,
    alike: float,
    make: Callable[[np.random.Generator, int, float], tuple[list[Floats], float]],
) -> tuple[list[tuple[float, float]], float]:
    """The intervals of one system's figure, and the true one."""
    values, truth = make(chance, films, alike)
    result = result_of(values)
    span = spans([result], titles(result), unit="film", level=0.95)["mean"]
    assert span is not None
    return trial(chance, values, (span.low, span.high)), truth


def difference(
    chance: np.random.Generator, films: int, alike: float
) -> tuple[list[tuple[float, float]], float]:
    """The intervals of B less A, of films with lines of the same difficulty for both."""
    hard, _ = cider_of(chance, films, alike)
    gains = lines_of(chance, [len(values) for values in hard], alike)
    a = result_of(hard)
    b = result_of([values + 0.3 * gain for values, gain in zip(hard, gains, strict=True)])
    span = paired(a, b, titles(a), unit="film", level=0.95).interval
    assert span is not None
    return trial(chance, [0.3 * gain for gain in gains], (span.low, span.high)), 0.0


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--alike", type=float, nargs="+", default=[0.05, 0.15])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    ways = {
        "mean": lambda c, n, s: one_figure(c, n, s, mean_of),
        "CIDEr": lambda c, n, s: one_figure(c, n, s, cider_of),
        "B - A": difference,
    }
    print(f"{'':8}{'alike':>6}{'films':>6}" + "".join(f"{head:>8}" for head in HEADS))
    for name, way in ways.items():
        for alike in options.alike:
            for films in FILMS:
                chance = np.random.default_rng([options.seed, films, int(1000 * alike)])
                found = [way(chance, films, alike) for _ in range(options.trials)]
                ends = np.array([intervals for intervals, _ in found])
                truth = np.array([true for _, true in found])[:, None]
                held = ((ends[..., 0] <= truth) & (truth <= ends[..., 1])).mean(axis=0)
                told = "".join(f"{share:8.2f}" for share in held)
                print(f"{name:8}{alike:6.2f}{films:6d}{told}", flush=True)


if __name__ == "__main__":
    main()
