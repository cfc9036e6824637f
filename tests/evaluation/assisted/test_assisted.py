"""The assisted protocol: whom the expert takes, and what stands beside the choice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from shotad.core import EvaluationError
from shotad.evaluation import Corpus, as_json, assist, metric, render
from shotad.evaluation.assisted_choice import Assisted, Role
from tests.cli.program import Shotad
from tests.evaluation.assisted.offering import Told, bench, corpus, item

WHERE = "tests.evaluation.assisted.offering:Told"


@pytest.fixture(autouse=True)
def _metrics(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("one", "two"):
        monkeypatch.setitem(metric.METRICS, name, WHERE)
    Told.asked.clear()
    yield
    Told.asked.clear()


def run(offered: Corpus, *settings: str, expert: tuple[str, ...] = ("one", "two")) -> Assisted:
    return assist(offered, ["one", "two"], bench(*settings), expert=expert)


def value(done: Assisted, role: Role, name: str) -> float:
    found = done.result(role, name)
    assert found is not None
    assert found.value is not None
    return found.value


def test_the_expert_takes_the_highest_mean() -> None:
    done = run(corpus(item("a", "10 0", "4 8", "0 10"), item("b", "1 1", "2 2")))
    assert [(c.id, c.number, c.text) for c in done.choices] == [("a", 1, "4 8"), ("b", 1, "2 2")]
    assert done.choices[0].scores == (5.0, 6.0, 5.0)
    assert (value(done, "chosen", "one"), value(done, "chosen", "two")) == (3.0, 5.0)


def test_what_stands_beside_the_choice() -> None:
    done = run(corpus(item("a", "10 0", "4 8", "1 10"), item("b", "1 1", "2 4")))
    assert (value(done, "first", "one"), value(done, "first", "two")) == (5.5, 0.5)
    assert value(done, "random", "one") == pytest.approx((5 + 1.5) / 2)
    assert value(done, "random", "two") == pytest.approx((6 + 2.5) / 2)
    assert (value(done, "best", "one"), value(done, "best", "two")) == (6.0, 7.0)


def test_fewer_candidates_missing_ones_and_failures() -> None:
    done = run(
        corpus(
            item("a", "1 1", "5 5", "9 9"),
            item("b", "4 4"),
            item("c", prediction="6 6"),
            item("d", prediction=None, failure="no video"),
            item("e", "2 2", "8 8", prediction=None, failure="no clean line"),
        )
    )
    assert [c.text for c in done.choices] == ["9 9", "4 4", "6 6", None, "8 8"]
    assert done.sizes == {3: 1, 2: 1, 1: 2, 0: 1}
    assert value(done, "chosen", "one") == pytest.approx((9 + 4 + 6 + 0 + 8) / 5)
    assert value(done, "random", "one") == pytest.approx((5 + 4 + 6 + 0 + 5) / 5)
    assert value(done, "first", "one") == pytest.approx((1 + 4 + 6 + 0 + 2) / 5)
    assert value(done, "best", "one") == value(done, "chosen", "one")
    chosen = done.result("chosen", "one")
    assert chosen is not None
    assert [(row.id, row.failure) for row in chosen.rows if row.failure] == [("d", "no video")]
    assert [i.failure for i in done.corpus.items] == ["", "", "", "no video", ""]


def test_what_has_no_candidate_is_left_out_where_that_is_asked() -> None:
    items = (item("a", "1 1", "5 5"), item("d", prediction=None, failure="no video"))
    assert value(run(corpus(*items)), "chosen", "one") == 2.5
    done = run(corpus(*items), "measures.missing=skip")
    assert value(done, "chosen", "one") == value(done, "best", "one") == 5.0
    assert [choice.id for choice in done.choices] == ["a"]


def test_a_metric_that_says_nothing_of_an_item_does_not_choose() -> None:
    done = run(corpus(item("a", "1 x", "7 x", "3 x"), item("b", "x x", "x x")))
    assert [(c.number, c.scores) for c in done.choices] == [(1, (1.0, 7.0, 3.0)), (0, (0.0, 0.0))]


def test_no_more_is_scored_than_there_is() -> None:
    run(corpus(item("a", "1 1", "2 2"), item("b", "1 1"), item("c", prediction=None, failure="gone")))
    assert sorted(Told.asked) == [
        ("one", ""),
        ("one", "1 1"),
        ("one", "2 2"),
        ("two", ""),
        ("two", "1 1"),
        ("two", "2 2"),
    ]


def test_metrics_that_ask_an_engine_score_the_choice_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from shotad.evaluation import assisted_choice as protocol, running

    for module in (running, protocol):
        monkeypatch.setattr(module, "ENGINE_METRICS", ("two",))
    monkeypatch.setattr(running, "_without", lambda name, offered, bench: None)
    done = run(corpus(item("a", "1 9", "2 8", "3 7")), expert=("one",))
    assert Told.asked.count(("two", "3 7")) == 1
    assert [text for name, text in Told.asked if name == "two"] == ["3 7"]
    assert done.result("best", "two") is None
    assert value(done, "chosen", "two") == 7.0
    assert "–" in render(done)


def test_metrics_along_a_film_have_no_best(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(metric.METRICS, "repetition", WHERE)
    from shotad.evaluation import assisted_choice as protocol

    monkeypatch.setattr(protocol, "ALONG", ("two",))
    done = run(corpus(item("a", "1 9", "2 8")))
    assert value(done, "first", "two") == 9.0
    assert done.result("best", "two") is None
    assert done.result("random", "two") is None


def test_with_nothing_to_choose_from_it_says_how_to_get_it() -> None:
    with pytest.raises(EvaluationError, match="--candidates 5"):
        run(corpus(item("a", "1 1"), item("b", prediction="2 2")))


NUMBERS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=5)


@given(st.lists(NUMBERS, min_size=1, max_size=6))
def test_the_order_of_candidates_does_not_matter(offers: list[list[tuple[int, int]]]) -> None:
    offers = [[(3, 4), (5, 1)], *offers]
    lines = [[f"{one} {two}" for one, two in offer] for offer in offers]
    turned = [list(reversed(offer)) for offer in lines]
    one, other = (
        run(corpus(*(item(f"i{k}", *offer) for k, offer in enumerate(given)))) for given in (lines, turned)
    )
    for name in ("one", "two"):
        for role in ("random", "best"):
            assert value(one, role, name) == pytest.approx(value(other, role, name))
        assert value(one, "best", name) >= value(one, "chosen", name) - 1e-9
        assert value(one, "best", name) >= value(one, "first", name) - 1e-9
    both = [sum(value(done, "chosen", name) for name in ("one", "two")) for done in (one, other)]
    assert both[0] == pytest.approx(both[1])
    assert both[0] >= sum(value(one, "random", name) for name in ("one", "two")) - 1e-9


def test_the_real_metrics_choose_what_a_person_would() -> None:
    told = [
        ("She opens the heavy door and leaves.", "She opens the door.", "A dog sleeps on the sofa."),
        ("He runs along the wet street.", "Two cars collide at night.", "He runs down the street."),
        ("The old man lights a cigarette.", "The man lights a cigarette.", "Children play in the park."),
    ]
    items = [item(f"i{k}", one, two, reference=reference) for k, (reference, one, two) in enumerate(told)]
    done = assist(corpus(*items), ["cider", "bleu-1", "rouge-l"], bench(), expert=("cider",))
    assert [choice.number for choice in done.choices] == [0, 1, 0]
    assert value(done, "chosen", "cider") == value(done, "best", "cider")
    assert value(done, "best", "rouge-l") >= value(done, "random", "rouge-l") > 0
    assert value(done, "chosen", "bleu-1") > value(done, "random", "bleu-1")


def test_the_table_has_the_papers_numbers_below() -> None:
    items = [item(f"i{k}", "He runs.", "She sits.", reference="He runs.") for k in range(3)]
    done = assist(corpus(*items, item("gone", prediction=None)), ["cider"], bench(), expert=("cider",))
    text = render(done, "mine")
    assert text.startswith("mine: 4 ADs with up to 2 candidates.")
    assert "1 AD without any count as 0." in text
    assert "highest mean of CIDEr." in text
    rows = {line.partition("  ")[0]: line.split()[-1] for line in text.splitlines() if "  " in line}
    assert rows["Shot-by-Shot, five in one answer (from the paper, Table 9)"] == "38.4"
    assert rows["Shot-by-Shot, five runs, top-p 0.95, temperature 1.5 (from the paper, Table 9)"] == "37.0"
    assert rows["Shot-by-Shot, one line (from the paper, Table 7)"] == "26.3"
    told = json.loads(json.dumps(as_json(done)))
    assert told["results"]["chosen"]["cider"] == done.measured.results[0].value
    assert told["candidates"] == {"2": 3, "0": 1}
    assert (told["ads"], told["without_candidates"], told["chosen_number"]) == (4, 1, {"0": 3})
    assert told["paper"][0]["values"] == {"cider": [38.4], "critic": [49.2], "action": [35.7]}


def test_the_command(shotad: Shotad, tmp_path: Path) -> None:
    ads = tmp_path / "ads.jsonl"
    words = ["door", "street", "house", "river", "table"]
    with ads.open("w") as file:
        for k, word in enumerate(words):
            row = {
                "id": f"n{k}",
                "film": "f",
                "start": 5 * k,
                "end": 5 * k + 2,
                "text": f"She sees the {word} again.",
            }
            file.write(json.dumps(row) + "\n")
    given = tmp_path / "preds.jsonl"
    with given.open("w") as file:
        for k, word in enumerate(words[:-1]):
            lines = ["Nothing at all.", f"She sees the {word}.", "He sleeps."]
            file.write(json.dumps({"id": f"n{k}", "text": lines[0], "candidates": lines}) + "\n")
    said = shotad(
        "evaluate", "assisted", ads, "--predictions", given, "--metrics", "cider,rouge-l", "--expert", "cider",
        "--cache", tmp_path / "cache.db", "--json",
    )  # fmt: skip
    assert said.code == 0, said.err
    told = json.loads(said.out)
    assert told["chosen_number"] == {"1": 4}
    assert told["without_candidates"] == 1
    assert told["results"]["chosen"]["cider"] > told["results"]["random"]["cider"]
    folder = tmp_path / "preds.assisted"
    assert json.loads((folder / "assisted.json").read_text()) == told
    choices = [json.loads(line) for line in (folder / "choices.jsonl").read_text().splitlines()]
    assert [choice["text"] for choice in choices][:2] == ["She sees the door.", "She sees the street."]
    assert choices[-1] == {"id": "n4", "chosen": None, "text": None, "scores": []}
    assert (folder / "report.json").is_file()


def test_where_the_best_of_each_is_no_bound_the_table_says_so() -> None:
    long = "A man walks down the road and looks at the old house"
    given = corpus(
        item("a", f"{long} there.", "A man walks down the road and looks at the old.", reference=f"{long}."),
        item("b", "It rains upon the hats.", "It rains.", reference="It rains upon the roofs of the city."),
    )
    done = assist(given, ["bleu-1", "cider"], bench(), expert=("cider",))
    assert "Figures of all lines together: BLEU-1." in render(done)
    alone = assist(given, ["cider"], bench(), expert=("cider",))
    assert "Figures of all lines" not in render(alone)
