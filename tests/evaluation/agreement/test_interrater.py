"""Two human ADs of one film: which lines are of the same moment, and how they score."""

from __future__ import annotations

from pathlib import Path

import pytest

from shotad.core import EvaluationError, Interval
from shotad.evaluation import Item, Version, from_table, inter_rater
from shotad.evaluation.interrater import pairs
from tests.conftest import needed
from tests.evaluation.judges.judging import bench_of

needed("scipy")


def version(name: str, *lines: tuple[float, float, str], film: str = "film") -> Version:
    spoken = (Item(f"{film}:{k}", film, Interval(a, b), (text,)) for k, (a, b, text) in enumerate(lines, 1))
    return Version(name, tuple(spoken))


def test_lines_have_one_partner_of_their_film() -> None:
    """The first of A fits both of B; taking its best fit would leave its neighbour alone."""
    a = version("a", (0, 10, "one"), (4, 12, "two"))
    b = version("b", (2, 12, "x"), (0, 6, "y"))
    found = {(pair.a.reference, pair.b.reference) for pair in pairs(a, b, 0.1)}
    assert found == {("one", "y"), ("two", "x")}
    # Lines of other films are never paired.
    both = (version("a", (0, 4, text), film=film).lines for text, film in (("one", "x"), ("two", "y")))
    a = Version("a", tuple(line for lines in both for line in lines))
    b = version("b", (0, 4, "other"), film="y")
    (pair,) = pairs(a, b, 0.5)
    assert pair.a.reference == "two"


SAID = (
    "Ann opens the door slowly.", "She runs to the car.", "Ben waits at the window.", "They drive away fast.",
)  # fmt: skip


def versions() -> tuple[Version, Version]:
    a = version("first", *((10.0 * k, 10 * k + 4, text) for k, text in enumerate(SAID)))
    other = ("Ann slowly opens the door.", "She runs to the car.", "Rain falls.", "The car is gone.")
    lines = ((10.0 * k + 0.2, 10 * k + 4 + 2 * (k == 3), text) for k, text in enumerate(other))
    return a, version("second", *lines)


def test_both_directions_at_each_threshold() -> None:
    found = inter_rater(*versions(), [0.8, 0.5], bench_of(), ["cider", "rouge-l"])
    assert [(one.tiou, one.reference, one.pairs) for one in found.directions] == [
        (0.5, "first", 4), (0.5, "second", 4), (0.8, "first", 3), (0.8, "second", 3),
    ]  # fmt: skip
    rouge = [one.results[1] for one in found.directions]
    assert rouge[2].value is not None
    assert rouge[0].value is not None
    assert rouge[2].value > rouge[0].value, "the pair that fits worst in time says something else"
    assert not any(result.comparable for one in found.directions for result in one.results)
    values = {row.id: row.value for row in rouge[0].rows}
    assert values["film:2"] == pytest.approx(100)
    assert values["film:3"] == pytest.approx(0)


def test_nothing_in_common_and_metrics_of_casts_are_refused() -> None:
    a = version("a", (0, 4, "one"))
    with pytest.raises(EvaluationError, match=r"No line of a has a tIoU of 0.5 with one of b. Name a lower"):
        inter_rater(a, version("b", (50, 54, "x")), [0.5], bench_of(), ["cider"])
    with pytest.raises(EvaluationError, match="critic needs more than two texts"):
        inter_rater(*versions(), [0.5], bench_of(), ["critic"])


TABLE = (
    "film,rater,start,end,text\nUp,a,0,4,One.\nUp,b,0:00:01,0:00:04,Two.\nCoco,b,7,9,Three.\nCoco,a,7,9, \n"
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("film,start,end,text\nUp,0,4,One.\n", "has the columns film, start"),
        ("film,rater,start,end,text\nUp,a,0,4,One.\n", "has 1 raters: a"),
        (TABLE + "Up,c,1,2,Four.\n", "has 3 raters"),
        (TABLE + "Up,a,4,2,Four.\n", "line 6: interval must start before it ends"),
        (TABLE + "Up,a,x,2,Four.\n", "line 6: 'x' is no time"),
    ],
)
def test_tables_that_cannot_be_meant(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "two.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(EvaluationError, match=said):
        from_table(path)
