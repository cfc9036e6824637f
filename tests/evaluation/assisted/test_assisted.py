"""The assisted protocol: whom the expert takes, and what stands beside the choice."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import ClassVar

import pytest
from hypothesis import given, strategies as st

from shotad.core import Interval
from shotad.core.errors import EvaluationError
from shotad.evaluation import (
    Corpus,
    Item,
    Metric,
    MetricContext,
    Row,
    metric,
)
from shotad.evaluation.assisted_choice import (
    Assisted,
    Role,
    assisted_json,
    assisted_text,
    choose_assisted,
)
from shotad.evaluation.metric import Json, MetricFormula
from tests.evaluation.judges.judging import bench_of


def item(
    name: str, *lines: str, prediction: str | None = "", failure: str = "", reference: str = "r"
) -> Item:
    """An AD that was offered these lines; its prediction is the first of them unless one is given."""
    text = (lines[0] if lines else None) if prediction == "" else prediction
    time = Interval(float(len(name)), len(name) + 1.0)
    return Item(name, "film", time, (reference,), text, failure, candidates=lines)


def corpus(*items: Item) -> Corpus:
    return Corpus(items, dataset="cmd-ad")


class Told(Metric):
    """The number that stands in a line at the metric's place: ``"3 50"`` is 3 by `one` and 50 by the others. Counts what
    it is asked."""

    figure = MetricFormula()
    asked: ClassVar[list[tuple[str, str]]] = []

    def __init__(self, name: str, context: MetricContext) -> None:
        super().__init__(name, context)
        self.title = name.capitalize()

    @property
    def identity(self) -> Json:
        return {"name": self.name}

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        return [{"text": corpus.items[p].prediction, "why": corpus.items[p].failure} for p in places]

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterator[Row]:
        for item in (corpus.items[place] for place in places):
            Told.asked.append((self.name, item.prediction or ""))
            told = (item.prediction or "0 0").split()[0 if self.name == "one" else 1]
            yield Row(item.id, (float(told), 1.0), float(told), item.missing)


@pytest.fixture(autouse=True)
def _metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two", "llm-ad-eval"):
        monkeypatch.setitem(metric.METRICS, name, f"{__name__}:Told")
    Told.asked.clear()


def run(offered: Corpus, expert: tuple[str, ...] = ("one", "two")) -> Assisted:
    return choose_assisted(offered, ["one", "two"], bench_of(), expert=expert)


def value(done: Assisted, role: Role, name: str) -> float:
    result = done.results[role][name].value
    assert result is not None
    return result


def test_fewer_candidates_missing_ones_and_failures() -> None:
    offered = corpus(
        item("a", "1 1", "5 5", "9 9"),
        item("b", "4 4"),
        item("c", prediction="6 6"),
        item("d", prediction=None, failure="no video"),
        item("e", "2 2", "8 8", prediction=None, failure="no clean line"),
    )
    done = run(offered)
    assert [c["text"] for c in done.choices] == ["9 9", "4 4", "6 6", None, "8 8"]
    assert done.sizes == {3: 1, 2: 1, 1: 2, 0: 1}
    assert value(done, "chosen", "one") == pytest.approx((9 + 4 + 6 + 0 + 8) / 5)
    assert value(done, "random", "one") == pytest.approx((5 + 4 + 6 + 0 + 5) / 5)
    assert value(done, "first", "one") == pytest.approx((1 + 4 + 6 + 0 + 2) / 5)
    assert value(done, "best", "one") == value(done, "chosen", "one")
    rows = done.results["chosen"]["one"].rows
    assert [(row.id, row.failure) for row in rows if row.failure] == [("d", "no video")]
    assert [i.failure for i in done.corpus.items] == ["", "", "", "no video", ""]


def test_metrics_that_ask_an_engine_score_the_choice_alone() -> None:
    offered = corpus(item("a", "1 9", "2 8", "3 7"))
    context = bench_of("measures.judge.engines=[fake]")
    done = choose_assisted(offered, ["one", "llm-ad-eval"], context, expert=("one",))
    assert [text for name, text in Told.asked if name == "llm-ad-eval@fake"] == ["3 7"]
    assert done.results["best"].get("llm-ad-eval@fake") is None
    assert value(done, "chosen", "llm-ad-eval@fake") == 7.0
    assert "–" in assisted_text(done)


def test_an_expert_may_go_by_what_was_said_before() -> None:
    """Repetition is of whole sequences, and has the results of all ranks where the expert asks for them."""
    offered = corpus(item("a", "He runs off.", "She sits down."), item("b", "He runs off.", "He sleeps."))
    done = choose_assisted(offered, ["repetition"], bench_of(), expert=("repetition",))
    assert [choice["chosen"] for choice in done.choices] == [0, 0]
    assert [len(choice["scores"]) for choice in done.choices] == [2, 2]
    assert done.results["first"].get("repetition") is not None
    assert done.results["best"].get("repetition") is None
    # With nothing to choose from it says how to get it.
    with pytest.raises(EvaluationError, match="--candidates 5"):
        run(corpus(item("a", "1 1"), item("b", prediction="2 2")))
    # Where the best of each is no bound the table says so.
    given = corpus(item("a", "He runs.", "She sits.", reference="He runs."))
    text = assisted_text(choose_assisted(given, ["bleu-1"], bench_of(), expert=("bleu-1",)))
    assert "Figures of all lines together: BLEU-1." in text


NUMBERS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=5)


@given(st.lists(NUMBERS, min_size=1, max_size=6))
def test_the_order_of_candidates_does_not_matter(offers: list[list[tuple[int, int]]]) -> None:
    offers = [[(3, 4), (5, 1)], *offers]
    lines = [[f"{one} {two}" for one, two in offer] for offer in offers]
    turned = [list(reversed(offer)) for offer in lines]
    offered = [corpus(*(item(f"i{k}", *offer) for k, offer in enumerate(each))) for each in (lines, turned)]
    one, other = map(run, offered)
    for name in ("one", "two"):
        for role in ("random", "best"):
            assert value(one, role, name) == pytest.approx(value(other, role, name))
        assert value(one, "best", name) >= value(one, "chosen", name) - 1e-9
        assert value(one, "best", name) >= value(one, "first", name) - 1e-9
    both = [sum(value(done, "chosen", name) for name in ("one", "two")) for done in (one, other)]
    assert both[0] == pytest.approx(both[1])
    assert both[0] >= sum(value(one, "random", name) for name in ("one", "two")) - 1e-9


def test_the_table_has_the_papers_numbers_below() -> None:
    items = [item(f"i{k}", "He runs.", "She sits.", reference="He runs.") for k in range(3)]
    done = choose_assisted(
        corpus(*items, item("gone", prediction=None)), ["cider"], bench_of(), expert=("cider",)
    )
    text = assisted_text(done, "mine")
    assert text.startswith("mine: 4 ADs with up to 2 candidates.")
    assert "1 AD without any count as 0." in text
    assert "highest mean of CIDEr." in text
    rows = {line.partition("  ")[0]: line.split()[-1] for line in text.splitlines() if "  " in line}
    assert rows["Shot-by-Shot, five in one answer (from the paper, Table 9)"] == "38.4"
    assert rows["Shot-by-Shot, five runs, top-p 0.95, temperature 1.5 (from the paper, Table 9)"] == "37.0"
    assert rows["Shot-by-Shot, one line (from the paper, Table 7)"] == "26.3"
    record = json.loads(json.dumps(assisted_json(done)))
    assert record["results"]["chosen"]["cider"] == done.results["chosen"]["cider"].value
    assert record["candidates"] == {"2": 3, "0": 1}
    assert (record["ads"], record["without_candidates"], record["chosen_number"]) == (4, 1, {"0": 3})
    assert record["paper"][0]["values"] == {"cider": [38.4], "critic": [49.2], "action": [35.7]}
