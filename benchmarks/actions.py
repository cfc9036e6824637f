"""The action score on CMD-AD's annotation: what made predictions reach, how near rules come to the published
human actions, and what counting all texts at once saves.

    python benchmarks/actions.py [--data FOLDER] [--cache FILE] [--ads N] [--pairs N]

Needs the extras evaluate and language; embeddings are those of the small real model (all-MiniLM-L6-v2). With
``--cache`` a second run is quick. ``--ads`` takes every k-th AD, so that about N are left.
"""

from __future__ import annotations

import argparse
import ast
import csv
import random
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from shotad.core import Config, Interval
from shotad.evaluation import Corpus, MetricContext, Result, Store
from shotad.evaluation.metric import Item, make_metric, score
from shotad.evaluation.metrics.action import CodeRules, PaperRules, Rules
from shotad.evaluation.metrics.by_rule import actions_by_rule
from shotad.evaluation.store import ParseService, parser_of
from shotad.script import Embedder, Parse, Parser, find_parser, make_embedder

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "cmd-ad" / "cmdad_gt_action.csv"


@dataclass(frozen=True)
class Ad:
    """A human AD, the same without names, and its published actions."""

    id: str
    film: str
    text: str
    plain: str
    actions: tuple[str, ...]


def read_ads(path: Path, wanted: int) -> list[Ad]:
    """ADs with published actions; every k-th, so that about ``wanted`` are left (0: all)."""
    with path.open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["gt_action"].startswith("[")]
    step = max(len(rows) // wanted, 1) if wanted else 1
    return [
        Ad(
            r["anno_idx"],
            r["imdbid"],
            r["text_gt"],
            r["text_gt_wo_char"],
            tuple(ast.literal_eval(r["gt_action"])),
        )
        for r in rows[::step]
    ]


def made_predictions(ads: Sequence[Ad]) -> dict[str, list[str]]:
    """What stands for systems, from the best there can be to nothing."""
    shuffled = [ad.text for ad in ads]
    random.Random(0).shuffle(shuffled)
    following = [
        ads[k + 1].text if k + 1 < len(ads) and ads[k + 1].film == ad.film else ads[k - 1].text
        for k, ad in enumerate(ads)
    ]
    return {
        "published actions": [" ".join(ad.actions) for ad in ads],
        "human AD, no names": [ad.plain for ad in ads],
        "human AD": [ad.text for ad in ads],
        "its first half": [" ".join(ad.text.split()[: (len(ad.text.split()) + 1) // 2]) for ad in ads],
        "half of them wrong": [ad.text if k % 2 else shuffled[k] for k, ad in enumerate(ads)],
        "the next human AD": following,
        "shuffled": shuffled,
        "empty": ["" for _ in ads],
    }


def result_of(
    ads: Sequence[Ad], told: Sequence[str], actions: Sequence[tuple[str, ...]], bench: MetricContext
) -> Result:
    items = [
        Item(ad.id, ad.film, Interval(k, k + 1), (ad.text,), text, actions=own)
        for k, (ad, text, own) in enumerate(zip(ads, told, actions, strict=True))
    ]
    return score(make_metric("action", bench), Corpus(tuple(items)), bench)


def bench_with(rules: str, store: Store) -> MetricContext:
    return MetricContext(Config.model_validate({"measures": {"action": {"rules": rules}}}), store)


def print_runs(ads: Sequence[Ad], store: Store) -> None:
    made = made_predictions(ads)
    human = [ad.actions for ad in ads]
    by_rule = actions_by_rule([ad.text for ad in ads], bench_with("paper", store))
    heads = ("paper", "code", "scored", "r", "rule GT", "r")
    print(f"\n{'predictions':20}" + "".join(f"{head:>9}" for head in heads))
    means: list[tuple[float, float]] = []
    for name, told in made.items():
        paper = result_of(ads, told, human, bench_with("paper", store))
        code = result_of(ads, told, human, bench_with("code", store))
        rules = result_of(ads, told, by_rule, bench_with("paper", store))
        means.append((paper.value or 0, rules.value or 0))
        left = f"{name:20}{paper.value:9.2f}{code.value or float('nan'):9.2f}{code.scored:9d}"
        print(f"{left}{agreement(paper, code):9.3f}{rules.value:9.2f}{agreement(paper, rules):9.3f}")
    one, other = np.array(means).T
    print(f"Means of the runs, rule-made against published actions: r = {pearson(one, other):.4f}")


def agreement(one: Result, other: Result) -> float:
    """Pearson's r over the ADs that both score; nan where one of them says the same of all."""
    pairs = [(a.value, b.value) for a, b in zip(one.rows, other.rows, strict=True)]
    known = np.array([pair for pair in pairs if None not in pair], np.float64)
    if not len(known) or (known.std(axis=0) == 0).any():
        return float("nan")
    return pearson(known[:, 0], known[:, 1])


def pearson(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.asarray(np.corrcoef(one, other))[0, 1])


def print_rules(ads: Sequence[Ad], store: Store) -> None:
    bench = bench_with("paper", store)
    made = actions_by_rule([ad.text for ad in ads], bench)
    wanted = [ad.actions for ad in ads]
    parses = parser_of(bench).of(text for row in (*made, *wanted) for text in row)
    rules: Rules = PaperRules()
    lemmas = [[Counter(rules.lemma(parses[text]) for text in row) for row in rows] for rows in (made, wanted)]
    both = sum((a & b).total() for a, b in zip(*lemmas, strict=True))
    totals = [sum(map(len, rows)) for rows in (made, wanted)]
    same = sum(a == b for a, b in zip(*lemmas, strict=True)) / len(ads)
    number = sum(len(a) == len(b) for a, b in zip(made, wanted, strict=True)) / len(ads)
    equal = sum(len(set(a) & set(b)) for a, b in zip(made, wanted, strict=True)) / totals[1]
    none = sum(row[None] for row in lemmas[1]) / totals[1]
    print(f"\nActions by rule of {len(ads)} ADs: {totals[0] / len(ads):.3f} an AD, published ", end="")
    print(f"{totals[1] / len(ads):.3f}")
    print(f"  lemmas: precision {both / totals[0]:.3f}, recall {both / totals[1]:.3f}, ", end="")
    print(f"F1 {2 * both / sum(totals):.3f}")
    print(f"  the same set of lemmas {same:.3f} of ADs, the same number {number:.3f}, ", end="")
    print(f"the same sentence {equal:.3f} of actions")
    print(f"  published actions in which the parser sees no verb: {none:.4f}")
    code = CodeRules()
    differ = sum(rules.lemma(parses[text]) != code.lemma(parses[text]) for row in wanted for text in row)
    print(f"  published actions whose lemma differs by rules (paper, code): {differ / totals[1]:.4f}")


def print_speed(ads: Sequence[Ad], pairs: int) -> None:
    """The same pairs one after the other, as the published script goes, and all at once; models are warm."""
    some = ads[:: max(len(ads) // pairs, 1)][:pairs]
    embedder, parser = make_embedder(), Parser(find_parser("en_core_web_sm"))
    embedder.of(["warm"])
    list(parser.of(["warm"]))
    began = time.perf_counter()
    for ad in some:
        count_anew(ad, parser, embedder)
    each = (time.perf_counter() - began) / len(some)
    bench = bench_with("code", Store())
    result_of(some[:1], [some[0].text], [some[0].actions], bench)
    began = time.perf_counter()
    result_of(some, [ad.text for ad in some], [ad.actions for ad in some], bench)
    batched = (time.perf_counter() - began) / len(some)
    began = time.perf_counter()
    changed = [ad.text for ad in some[:-1]] + ["Somebody else does something new."]
    result_of(some, changed, [ad.actions for ad in some], bench)
    again = time.perf_counter() - began
    print(f"\n{len(some)} ADs, seconds for each: anew {each:.4f}, at once {batched:.4f} ", end="")
    print(f"({each / batched:.1f} times)")
    print(f"  again with one prediction changed: {again:.3f} s in all")


class Alone(ParseService):
    """Takes each text apart anew, one by one."""

    def __init__(self, parser: Parser) -> None:
        self._own = parser

    def of(self, texts: Iterable[str]) -> dict[str, Parse]:
        return {text: next(self._own.of([text])) for text in texts}


def count_anew(ad: Ad, parser: Parser, embedder: Embedder) -> None:
    """What the published script computes for one AD: every parse and every vector of its own."""
    rules, parses = CodeRules(), Alone(parser)
    told = rules.told([ad.text], parses, paragraphs=False)[ad.text]
    embedder.of([*ad.actions, *(phrase.text for phrase in told.phrases), *told.texts])
    for parse in parses.of(ad.actions).values():
        rules.lemma(parse)


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--data", type=Path, default=DATA)
    options.add_argument("--cache", type=Path, default=None)
    options.add_argument("--ads", type=int, default=0)
    options.add_argument("--pairs", type=int, default=200)
    given = options.parse_args()
    ads = read_ads(given.data, given.ads)
    with Store(given.cache) as store:
        print_rules(ads, store)
        print_runs(ads, store)
    print_speed(ads, given.pairs)


if __name__ == "__main__":
    main()
