"""Recall on the annotation of CMD-AD, where it is at hand."""

from __future__ import annotations

import csv
import random
import zlib
from collections.abc import Iterable

import pytest

from shotad.core import Config, Interval
from shotad.evaluation import Corpus, MetricContext, Store
from shotad.evaluation.metric import Item, score
from shotad.evaluation.metrics.recall import Recall, neighbours_of
from tests.cmdad import DATA
from tests.evaluation.recall.test_recall import Given, bench_of


@pytest.fixture(scope="module")
def human() -> Corpus:
    """All 7,316 ADs, each predicted as it is."""
    folder = DATA / "cmd-ad"
    if not folder.is_dir():
        pytest.skip(f"needs the CMD-AD annotation in {folder}")
    with (folder / "cmdad_anno.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    items = [
        Item(
            str(i), row["imdbid"], Interval(start, max(float(row["end"]), start)), (row["text"],), row["text"]
        )
        for i, row in enumerate(rows)
        for start in (float(row["start"]),)
    ]
    return Corpus(tuple(items))


class Same(Given):
    """Texts are alike where they are the same, and else by chance."""

    def of(self, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], float]:
        return {
            pair: 1.0 if pair[0] == pair[1] else zlib.crc32("\0".join(pair).encode()) / 2**32
            for pair in pairs
        }


def predicted(human: Corpus, texts: Iterable[str]) -> Corpus:
    items = (
        Item(item.id, item.film, item.interval, item.references, text)
        for item, text in zip(human.items, texts, strict=True)
    )
    return Corpus(tuple(items))


def test_which_ads_are_asked_about(human: Corpus) -> None:
    for rule, size, k, lost in (("all", 5, 1, 0), ("full", 5, 1, 54), ("all", 16, 5, 11)):
        around = neighbours_of(human, size, rule, k)  # type: ignore[arg-type]
        assert sum(not those.windows for those in around) == lost, (rule, size)


def test_the_human_ads_are_found_and_others_by_chance(human: Corpus) -> None:
    bench = bench_of(Same())
    found = score(Recall.of("recall", bench), human, bench)
    assert found.value == 100
    assert found.scored == 7316
    assert (
        "10 ADs share a window with another of the same words; of equals the own is first." in found.remarks
    )
    texts = [item.reference for item in human.items]
    random.Random(0).shuffle(texts)
    assert score(Recall.of("recall", bench), predicted(human, texts), bench).value == pytest.approx(
        20, abs=1.5
    )


@pytest.mark.slow
def test_with_the_real_model(human: Corpus) -> None:
    pytest.importorskip("transformers", reason="the extra language is not installed")
    some = Corpus(human.items[:200])
    bench = MetricContext(Config(), Store())
    texts = [item.reference for item in some.items]
    shortened = [" ".join(text.split()[-2:]) for text in texts]
    moved = [*texts[7:], *texts[:7]]
    whole, parts, others = (
        score(Recall.of("recall", bench), predicted(some, those), bench).value
        for those in (texts, shortened, moved)
    )
    assert whole == 100
    assert parts is not None
    assert others is not None
    assert others + 30 < parts < 100
    assert others < 30
