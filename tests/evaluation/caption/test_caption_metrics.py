"""CIDEr, BLEU and ROUGE-L: by hand, as metrics of items, and equal to the COCO tools where those are."""

from __future__ import annotations

import numpy as np
import pytest

from shotad.core import Config, Interval
from shotad.evaluation import Corpus, Item, MetricContext, Result, Store, make_metric, score
from shotad.evaluation.metrics.caption import FEW, bleu_sums, rouge_l
from tests.evaluation.caption.cocotools import SHARED, coco_scores, made_predictions, need_cmdad, need_coco
from tests.evaluation.measuring import corpus_of

HUMAN = (
    "A giant fat rabbit climbs out of a hole in the ground.", "He stretches, yawns, and then starts walking.",
    "Then he stops to scratch his belly.", "Mr. Okafor can't open the door (it's locked).",
    "At 5 a.m. the lights go out.",
)  # fmt: skip


def bench() -> MetricContext:
    return MetricContext(Config(), Store())


def scored(
    name: str, corpus: Corpus, places: list[int] | None = None, at: MetricContext | None = None
) -> Result:
    at = at or bench()
    return score(make_metric(name, at), corpus, at, places)


def human(*predictions: str | None) -> Corpus:
    return corpus_of(zip(HUMAN, predictions, strict=False))


# --- the definitions, counted by hand
def test_bleu_and_rouge_take_the_best() -> None:
    sums = bleu_sums([["a", "a", "b", "c"]], [[["a", "b"], ["a", "a", "x", "b", "c", "d"]]], 2)
    assert sums.tolist() == [[4, 3, 4, 3, 4, 2]]
    assert bleu_sums([["a", "a", "b"]], [[["a", "b"], ["b", "a", "b", "c"]]], 1).tolist() == [[2, 3, 3, 2]]
    assert bleu_sums([[]], [[["a", "b"], ["a"]]], 2).tolist() == [[0, 0, 0, 0, 0, 1]]
    # ROUGE-L takes the best precision and the best recall.
    references = [["a", "b", "c", "d"], ["a"]]
    precision, recall = 2 / 3, 1.0
    wanted = (1 + 1.2**2) * precision * recall / (recall + 1.2**2 * precision)
    assert rouge_l(["a", "x", "c"], references) == pytest.approx(wanted)
    assert (
        rouge_l([], references)
        == rouge_l(["x"], references)
        == rouge_l(["x"], [[]])
        == rouge_l([], [[]])
        == 0
    )
    # A token with a blank in it is two words but for ROUGE-L.
    # As in the COCO tools: they part lines at every blank for CIDEr and BLEU, at spaces for ROUGE-L.
    corpus = corpus_of([("He adds 1 1/2 cups.", "He adds 1 cup."), (HUMAN[0], HUMAN[0])])
    assert scored("bleu-1", corpus).rows[0].sums[0] == 3
    assert scored("rouge-l", corpus).rows[0].value < 60  # type: ignore[operator]


# --- as metrics
def test_few_items_are_remarked_on_and_one_alone_scores_nothing() -> None:
    alone = scored("cider", human(HUMAN[0]))
    assert alone.value == 0
    assert alone.remarks == ("CIDEr with frequencies of only 1 items: not to be compared with others.",)
    many = corpus_of((f"The man number {k} walks.", "The man walks.") for k in range(FEW))
    assert scored("cider", many).remarks == ()
    (why,) = scored("cider-plain", many).remarks
    assert "not comparable" in why
    assert len(scored("cider-plain", human(HUMAN[0])).remarks) == 2


# --- against the COCO tools
def test_the_example_with_two_references_has_its_known_scores() -> None:
    folder = SHARED / "nlg-eval" / "examples"
    if not folder.is_dir():
        pytest.skip("no ../shared/data/nlg-eval")
    said, first, second = ((folder / f).read_text().splitlines() for f in ("hyp.txt", "ref1.txt", "ref2.txt"))
    lines = zip(said, first, second, strict=True)
    corpus = Corpus(
        tuple(Item(str(k), "f", Interval(k, k + 1), (a, b), line) for k, (line, a, b) in enumerate(lines))
    )
    wanted = {
        "bleu-1": 0.550000, "bleu-2": 0.428174, "bleu-3": 0.284043, "bleu-4": 0.201143, "rouge-l": 0.522104,
        "cider": 1.242192,
    }  # fmt: skip
    for name, value in wanted.items():
        assert scored(name, corpus).value == pytest.approx(100 * value, abs=5e-5), name


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["shuffled", "lost", "mixed"])
def test_all_of_cmdad_scores_as_by_the_coco_tools(kind: str) -> None:
    need_coco()
    texts = need_cmdad()
    at = bench()
    second = made_predictions(texts, "mixed")
    items = tuple(
        Item(str(k), "f", Interval(k, k + 1), (text, second[k]) if k % 2 else (text,), said)
        for k, (text, said) in enumerate(zip(texts, made_predictions(texts, kind), strict=True))
    )
    corpus = Corpus(items)
    metric = make_metric("cider", at)
    tokenizer = metric._tokenizer  # type: ignore[attr-defined]
    said = {i.id: [" ".join(t)] for i, t in zip(items, tokenizer.predictions(items), strict=True)}
    human_ones = {
        i.id: [" ".join(t) for t in group]
        for i, group in zip(items, tokenizer.references(corpus), strict=True)
    }
    for name, tool in (("cider", "Cider"), ("rouge-l", "Rouge")):
        _same(scored(name, corpus, at=at), *coco_scores(tool, said, human_ones))
    values, each = coco_scores("Bleu", said, human_ones)
    for n in range(4):
        _same(scored(f"bleu-{n + 1}", corpus, at=at), values[n], each[n])


def _same(result: Result, value: float, each: list[float]) -> None:
    assert result.value == pytest.approx(100 * value, rel=1e-12, abs=1e-12)
    ours = np.array([row.value for row in result.rows])
    assert np.abs(ours - 100 * np.array(each)).max() < 1e-9
