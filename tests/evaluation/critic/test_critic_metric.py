"""The metric: rows, rules, what is kept, and what must hold for any texts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import Config, EvaluationError, Interval
from shotad.evaluation import Corpus, MetricContext, Result, Store
from shotad.evaluation.metric import Item, Json, make_metric, score
from shotad.evaluation.metrics.critic import NO_CAST, Critic, Document, People
from shotad.evaluation.metrics.pronouns import PlainResolver

CAST = ("Tony Wendice", "Margot Wendice", "Mark Halliday")
HUMAN = ("Tony opens the door.", "He smiles at Margot.", "Rain falls.", "Mark leaves.")


def bench(rules: str = "paper", resolver: str = "plain", store: Store | None = None) -> MetricContext:
    config = Config.model_validate({"measures": {"critic": {"rules": rules, "resolver": resolver}}})
    return MetricContext(config, store or Store())


def corpus(
    predicted: Sequence[str | None], human: Sequence[str] = HUMAN, film: str = "film", shift: int = 0
) -> Corpus:
    items = tuple(
        Item(f"{film}-{n}", film, Interval(10.0 * n + shift, 10.0 * n + shift + 2), (text,), said)
        for n, (text, said) in enumerate(zip(human, predicted, strict=True))
    )
    return Corpus(items, {film: CAST})


def scored(where: Corpus, rules: str = "paper", places: Sequence[int] | None = None) -> Result:
    on = bench(rules)
    return score(make_metric("critic", on), where, on, places)


def joined(*parts: Corpus) -> Corpus:
    casts = {film: cast for part in parts for film, cast in part.casts.items()}
    return Corpus(tuple(item for part in parts for item in part.items), casts)


def test_rows_say_who_was_meant() -> None:
    result = scored(corpus(["Tony opens the door.", "She smiles at Mark.", "Mark waits.", "Margot leaves."]))
    assert result.rows[1].notes == {
        "human": ["Margot Wendice", "Tony Wendice"],
        "predicted": ["Mark Halliday"],
    }
    assert [row.value for row in result.rows] == [100.0, 0.0, None, 0.0]


def test_half_of_the_names_is_half_of_a_point() -> None:
    result = scored(corpus(["Tony waits.", "He smiles.", "", "Mark and Tony leave."]))
    assert [row.sums for row in result.rows] == [(1.0, 1.0), (0.5, 1.0), (0.0, 0.0), (0.5, 1.0)]
    assert result.value == pytest.approx(100 * 2 / 3)


def test_a_missing_prediction_counts_as_nobody() -> None:
    result = scored(corpus([None, "", "...", "Mark leaves."]))
    assert [row.sums for row in result.rows] == [(0.0, 1.0), (0.0, 1.0), (0.0, 0.0), (1.0, 1.0)]
    assert [row.failure for row in result.rows] == ["no prediction", "", "", ""]
    assert result.failed == 1


def test_names_where_the_human_ad_has_none() -> None:
    where = corpus(["Tony opens the door.", "He smiles at Margot.", "Tony waits.", "Mark leaves."])
    assert scored(where).value == 100.0
    assert scored(where, "code").value == 100.0
    assert scored(where, "all").value == 75.0
    assert scored(where, "all").rows[2].sums == (0.0, 1.0)


def test_the_published_code_knows_no_groups_and_reads_nan_for_nothing() -> None:
    human = ("Tony and Mark enter.", "They sit down.")
    assert scored(corpus(human, human)).scored == 2
    assert scored(corpus(human, human), "code").scored == 1
    nan = Corpus(
        (
            Item("a", "film", Interval(0, 1), ("Nan waits.",), None),
            Item("b", "film", Interval(1, 2), ("A.",), ""),
        ),
        {"film": ("Nan",)},
    )
    assert [row.notes["predicted"] for row in scored(nan, "code").rows] == [[], []], (
        "small letters are no name"
    )


def test_pronouns_depend_on_the_whole_film() -> None:
    store = Store()
    on = bench(store=store)
    metric = make_metric("critic", on)
    before = corpus(["Tony opens the door.", "He smiles at Margot.", "Rain falls.", "Mark leaves."])
    after = corpus(["Mark opens the door.", "He smiles at Margot.", "Rain falls.", "Mark leaves."])
    assert score(metric, before, on).rows[1].value == 100.0
    changed = score(metric, after, on)
    assert changed.rows[1].value == pytest.approx(100 / 3)
    assert changed.fresh == 4


class Counting(PlainResolver):
    """Counts what it is asked."""

    asked: list[tuple[str, ...]] = []  # noqa: RUF012  one list for all

    @property
    def identity(self) -> Json:
        return {"resolver": "counting"}

    def resolve(self, documents: Sequence[Document]) -> list[tuple[People, ...]]:
        self.asked.extend(document.sentences for document in documents)
        return super().resolve(documents)


def test_the_human_ads_of_a_film_are_read_once() -> None:
    Counting.asked.clear()
    on = bench(resolver=f"{__name__}:Counting")
    metric = make_metric("critic", on)
    first, second = ["Tony waits."] * 4, ["Mark waits."] * 4
    score(metric, corpus(first), on)
    score(metric, corpus(second), on)
    assert Counting.asked == [HUMAN, tuple(first), tuple(second)]


def test_films_without_a_cast_are_told_of() -> None:
    on = bench()
    metric = make_metric("critic", on)
    castless = Corpus(corpus(HUMAN, film="b").items)
    result = score(metric, joined(corpus(HUMAN), castless), on)
    assert result.scored == 3
    assert result.rows[4].value is None
    assert result.rows[4].notes == {"why": NO_CAST}
    assert any("4 ADs of 1 films have no cast list" in remark for remark in result.remarks)


def test_no_cast_at_all_is_an_error() -> None:
    with pytest.raises(EvaluationError, match="no film here has a cast list"):
        scored(Corpus(corpus(HUMAN).items))


def test_the_report_names_the_plain_resolver() -> None:
    result = scored(corpus(HUMAN))
    assert not result.comparable
    assert "plain resolver" in result.remarks[0]
    assert result.identity["resolver"] == "plain"
    assert result.identity != scored(corpus(HUMAN), "all").identity


@pytest.mark.parametrize("name", ["plian", "no_such_module:Class", f"{__name__}:NoSuchClass"])
def test_an_unknown_resolver_is_an_error(name: str) -> None:
    with pytest.raises(EvaluationError, match=name.partition(":")[2] or name):
        Critic.of("critic", bench(resolver=name))


WORDS = st.sampled_from(
    ["Tony", "Margot", "Mark", "Tony Wendice", "he", "she", "they", "him", "her", "the man", "and", "looks at",
     "waits", "Wiping his brow,", "who", "his", ".", "'", "’s", "Street", "Will", "Dr.", "-", "é", "1"]
)  # fmt: skip
LINES = st.lists(st.lists(WORDS, max_size=8).map(" ".join), min_size=1, max_size=6)


@given(LINES, st.sampled_from(["paper", "code", "all"]))
@settings(max_examples=80, deadline=None)
def test_any_text_is_as_good_as_itself(lines: list[str], rules: str) -> None:
    result = scored(corpus(lines, lines), rules)
    assert result.value in (None, 100.0)
    assert all(row.sums in ((0.0, 0.0), (1.0, 1.0)) for row in result.rows)
