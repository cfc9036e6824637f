"""The action score as a metric: bounds, order, shards, what is missing, which text is better."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shotad.core import Config, Interval
from shotad.evaluation import Corpus, MetricContext, Result, Store, store as room
from shotad.evaluation.metric import Item, make_metric, score
from shotad.evaluation.metrics.action import Action
from shotad.evaluation.metrics.by_rule import actions_by_rule
from tests.evaluation.action.parsed import SPACY_MODEL, WordVectors

pytestmark = pytest.mark.slow

ADS: list[tuple[str, tuple[str, ...]]] = [
    ("Ann opens the door and smiles.", ("She opens the door.", "She smiles.")),
    ("He walks to the window.", ("He walks to the window.",)),
    ("Bob picks up a gun, then drops it.", ("He picks up a gun.", "He drops it.")),
    ("A dog jumps over the fence.", ("A dog jumps over the fence.",)),
    ("They look at each other.", ("They look at each other.",)),
]
STORE = Store()
"""One for all tests: what was parsed stays."""

MakeBench = Callable[..., MetricContext]


def bench_maker(patch: pytest.MonkeyPatch) -> MakeBench:
    """Makes benches with the real small parser, and vectors without a model."""
    patch.setattr(room, "check_installed", lambda: None)
    patch.setattr(room, "make_embedder", lambda *_, **__: WordVectors())

    def make(**measures: Any) -> MetricContext:
        tree = {"parser": {"model": SPACY_MODEL}, **measures}
        return MetricContext(Config.model_validate({"measures": tree}), STORE)

    return make


@pytest.fixture
def make_bench(monkeypatch: pytest.MonkeyPatch) -> MakeBench:
    return bench_maker(monkeypatch)


def corpus_of(predictions: list[str | None], ads: list[tuple[str, tuple[str, ...]]] = ADS) -> Corpus:
    items = [
        Item(str(k), "film", Interval(k, k + 1), (text,), told, actions=actions)
        for k, ((text, actions), told) in enumerate(zip(ads, predictions, strict=True))
    ]
    return Corpus(tuple(items))


def result_of(bench: MetricContext, predictions: list[str | None], name: str = "action") -> Result:
    return score(make_metric(name, bench), corpus_of(predictions), bench)


def actions_joined() -> list[str | None]:
    return [" ".join(actions) for _, actions in ADS]


@pytest.mark.parametrize("rules", ["paper", "code"])
def test_the_human_actions_themselves_reach_the_bound(make_bench: MakeBench, rules: str) -> None:
    found = result_of(make_bench(rules=rules), actions_joined())
    assert found.value == pytest.approx(150, abs=1e-9)
    assert [row.value for row in found.rows] == pytest.approx([150] * 5)
    assert (found.scored, found.failed) == (5, 0)


def test_an_empty_prediction_scores_0_before_the_rescaling(make_bench: MakeBench) -> None:
    found = result_of(make_bench(), ["", "...", None, " ! ", "nothing"])
    assert [row.sums for row in found.rows[:4]] == [(0.0, 1.0)] * 4
    assert [row.value for row in found.rows[:4]] == [-50.0] * 4
    assert [row.failure for row in found.rows] == ["", "", "no prediction", "", ""]
    assert found.scored == 5


def test_the_published_code_leaves_out_what_is_missing_or_below_0(make_bench: MakeBench) -> None:
    human = [text for text, _ in ADS]
    found = result_of(make_bench(rules="code"), ["", None, "nan", *human[3:]])
    assert [row.value is None for row in found.rows] == [True, True, True, False, False]
    assert found.scored == 2
    assert found.value == pytest.approx(sum(row.value or 0 for row in found.rows[3:]) / 2)
    assert all(row.sums == (0.0, 0.0) and row.notes["unscored"] for row in found.rows[:3])


def test_an_ad_without_known_actions_is_not_scored(make_bench: MakeBench) -> None:
    ads: list[Any] = [("He runs.", None), ("He runs.", ()), ("He runs.", ("He runs.",))]
    bench = make_bench()
    found = score(make_metric("action", bench), corpus_of(["He runs."] * 3, ads), bench)
    assert [row.value for row in found.rows] == [None, None, 150.0]
    assert found.value == 150
    assert found.scored == 1


def test_descriptions_are_scored_without_their_headings(make_bench: MakeBench) -> None:
    bench = make_bench()
    text = "1. Main characters: A man.\n2. Actions: He walks to the window.\n3. Interactions: None."
    ads = [ADS[1]] * 3
    items = [
        Item(str(k), "film", Interval(k, k + 1), (ads[k][0],), "x", description=told, actions=ads[k][1])
        for k, told in enumerate([text, None, "I'm sorry, but I can't describe this."])
    ]
    found = score(make_metric("action-description", bench), Corpus(tuple(items)), bench)
    assert [row.value for row in found.rows] == pytest.approx([150, -50, -50])
    assert [row.failure for row in found.rows] == ["", "no description", ""]


def test_notes_tell_what_was_found(make_bench: MakeBench) -> None:
    row = result_of(make_bench(), ["She opens a door.", *[None] * 4]).rows[0]
    first, second = row.notes["actions"]
    assert (first["lemma"], first["phrase"]) == ("open", "She opens a door.")
    assert second["lemma"] == "smile"
    assert "phrase" not in second


def test_what_is_not_the_papers_is_said(make_bench: MakeBench, tmp_path: Path) -> None:
    metric = Action.of("action", make_bench())
    assert not metric.comparable
    assert any(
        remark.startswith("all-MiniLM-L6-v2 instead of gte-Qwen2-7B-instruct") for remark in metric.remarks
    )
    assert any(SPACY_MODEL in remark and "en_core_web_lg" in remark for remark in metric.remarks)
    folder = tmp_path / "gte-Qwen2-7B-instruct"
    folder.mkdir()
    assert not any("left out" in remark for remark in metric.remarks)
    code = Action.of("action", make_bench(rules="code")).remarks
    assert any("left out, as in the published code: that raises the number" in remark for remark in code)
    told = Action.of("action", make_bench(embedding={"model": str(folder)})).remarks
    assert any("without an instruction" in remark for remark in told)
    own = Action.of("action", make_bench(embedding={"model": str(folder), "instruction": "paper"})).remarks
    assert not any("without an instruction" in remark or "instead of gte" in remark for remark in own)
    assert any("transformers 5.2" in remark for remark in own)


def test_the_instruction_stands_before_human_and_predicted_texts(
    make_bench: MakeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = WordVectors()
    monkeypatch.setattr(room, "make_embedder", lambda *_, **__: embedder)
    bench = make_bench(embedding={"instruction": "code"})
    bench.store = Store()
    result_of(bench, [text for text, _ in ADS])
    assert len(embedder.counted) == len(set(embedder.counted))
    assert all(text.startswith("Instruct: Given a sentence") for text in embedder.counted)
    assert any(text.endswith("She smiles.") for text in embedder.counted)


def test_on_the_rabbit_the_right_descriptions_score_higher(make_bench: MakeBench) -> None:
    folder = Path(__file__).resolve().parents[3].parent / "shared" / "data" / "films" / "rabbit"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not here")
    right, wrong = (_lines(folder / f"{name}descriptions.vtt") for name in ("", "incorrect-"))
    assert _told(make_bench(), right, right) > _told(make_bench(), right, wrong) + 1


def _lines(path: Path) -> list[str]:
    blocks = path.read_text(encoding="utf-8").strip().split("\n\n")[1:]
    return [" ".join(block.splitlines()[1:]) for block in blocks]


def _told(bench: MetricContext, human: list[str], predicted: list[str]) -> float:
    """The score of these predictions, human actions made by rule."""
    ads = list(zip(human, actions_by_rule(human, bench), strict=True))
    found = score(make_metric("action", bench), corpus_of(list(predicted), ads), bench).value
    assert found is not None
    return found
