"""Made predictions for CMD-AD, scored by all metrics that need no engine; and what that costs.

    python benchmarks/evaluation.py --data ../shared/data/cmd-ad --what runs     # 7,316 ADs, three runs
    python benchmarks/evaluation.py --data ../shared/data/cmd-ad --what speed    # one run, and one AD by one

``runs``: the human AD itself; others' (shuffled over the whole set); the human AD without names
(``text_gt_wo_char``).

``speed``: all metrics over all ADs, from nothing, with predictions that are no human AD's text; the same with
nothing changed, with one prediction changed, and with all of them changed (another system). Beside them, what
the published scripts do: each AD's texts parsed and encoded by themselves, and for recall each pair of a
window. The models are the same; --sample ADs are taken, evenly spread, and their time is scaled up. Told is
CPU time of the whole process, and ratios.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import cpu

from shotad.core import Config
from shotad.evaluation import Corpus, Dataset, MetricContext, Result, Store, load_dataset
from shotad.evaluation.metric import make_metric
from shotad.evaluation.metrics.recall import PairScores, f_scores, neighbours_of
from shotad.evaluation.predictions import corpus_of
from shotad.evaluation.running import measure
from shotad.script import TokenEncoder, locate

ALONE = ("action", "repetition-meaning")
"""Metrics whose texts are encoded and parsed AD by AD."""


class NoStore(Store):
    """One that keeps nothing."""

    def get(self, space: str, keys: Sequence[str]) -> dict[str, bytes]:
        return {}

    def put(self, space: str, values: object) -> None:
        return None


def with_predictions(corpus: Corpus, texts: Sequence[str | None]) -> Corpus:
    items = [
        replace(item, prediction=text, failure="" if text is not None else "no prediction")
        for item, text in zip(corpus.items, texts, strict=True)
    ]
    return replace(corpus, items=tuple(items))


def runs(dataset: Dataset, args: argparse.Namespace) -> None:
    corpus = corpus_of(dataset)
    human = [item.reference for item in corpus.items]
    texts: dict[str, Sequence[str | None]] = {
        "human": human,
        "without names": [ad.text_without_names for ad in dataset.ads],
        "shuffled": random.Random(20261121).sample(human, len(human)),
    }
    found: dict[str, dict[str, float | None]] = {}
    with Store(args.cache) as store:
        for name, told in texts.items():
            measured = measure(
                with_predictions(corpus, told), args.metrics.split(","), MetricContext(Config(), store)
            )
            found[name] = {result.name: result.value for result in measured.results}
    print(f"{'metric':20}" + "".join(f"{name:>17}" for name in found))
    for metric in found["human"]:
        cells = ("–" if (value := run[metric]) is None else f"{value:.2f}" for run in found.values())
        print(f"{metric:20}" + "".join(f"{cell:>17}" for cell in cells))


def unlike(dataset: Dataset, cut: int) -> Corpus:
    """Other human ADs of the film that lost their last words: texts that no human AD of the dataset is."""
    corpus, chance = corpus_of(dataset), random.Random(20261121)
    texts = [""] * len(corpus.items)
    for places in corpus.films().values():
        for place, other in zip(places, chance.sample(places, len(places)), strict=True):
            head = " ".join(corpus.items[other].reference.split()[:-cut]).rstrip(" ,;:.")
            texts[place] = f"{head or 'Nobody'}."
    return with_predictions(corpus, texts)


def speed(dataset: Dataset, args: argparse.Namespace) -> None:
    corpus, other = unlike(dataset, 1), unlike(dataset, 2)
    names = args.metrics.split(",")
    warm = MetricContext(Config(), Store())
    measure(replace(corpus, items=corpus.items[:8]), names, warm)
    store = Store()
    spent: dict[str, float] = {}
    bench = MetricContext(Config(), store)
    last = [time.process_time()]

    def done(result: Result) -> None:
        now = time.process_time()
        spent[result.name], last[0] = now - last[0], now

    first = cpu(lambda: measure(corpus, names, bench, done=done))
    items = list(corpus.items)
    items[100] = replace(items[100], prediction="Somebody waits in the rain.")
    changed = replace(corpus, items=tuple(items))
    redone: list[Result] = []
    one = cpu(lambda: measure(changed, names, MetricContext(Config(), store), done=redone.append))
    second = cpu(lambda: measure(other, names, MetricContext(Config(), store)))
    alone = anew_by_metric(corpus, warm, args.sample)
    whole = sum(seconds for name, seconds in spent.items() if name not in alone) + sum(alone.values())
    print(f"{len(corpus.items)} ADs; CPU seconds")
    for name, seconds in spent.items():
        told = f"{alone[name]:9.1f} s AD by AD, {alone[name] / seconds:6.1f} times" if name in alone else ""
        print(f"{name:20} {seconds:8.2f} s  {told}")
    for told, seconds in (("from nothing", first), ("another system", second), ("one changed", one)):
        print(f"all, {told:14} {seconds:8.1f} s; AD by AD {whole:8.1f} s, {whole / seconds:.1f} times")
    print("rows counted again where one is changed:", json.dumps({r.name: r.fresh for r in redone}))


def anew_by_metric(corpus: Corpus, warm: MetricContext, sample: int) -> dict[str, float]:
    places = range(0, len(corpus.items), max(len(corpus.items) // sample, 1))
    scale = len(corpus.items) / len(places)
    forgetful = MetricContext(warm.config, NoStore())
    told = {}
    for name in ALONE:
        metric = make_metric(name, forgetful)
        list(metric.rows(corpus, [0]))
        told[name] = scale * cpu(lambda m=metric: [list(m.rows(corpus, [place])) for place in places])
    wanted = warm.settings.recall
    around = neighbours_of(corpus, wanted.neighbours, wanted.windows, wanted.k)
    pairs = [
        (corpus.items[place].prediction or "", corpus.items[other].reference)
        for place in places
        for other in around[place].places
    ]
    layer = PairScores(warm).layer
    encoder = TokenEncoder(locate(wanted.model), layer, warm.config.compute, wanted.batch)
    encoder.of(["Somebody waits."])
    told["recall"] = scale * cpu(lambda: anew(encoder, pairs))
    return told


def anew(encoder: TokenEncoder, pairs: Sequence[tuple[str, str]]) -> None:
    """Both texts of each pair of a window encoded by themselves."""
    for prediction, reference in pairs:
        f_scores(encoder.of([prediction]), encoder.of([reference]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of CMD-AD's annotation")
    parser.add_argument("--what", choices=["runs", "speed"], default="runs")
    parser.add_argument("--metrics", default="all")
    parser.add_argument("--sample", type=int, default=60, help="ADs that are scored one by one")
    parser.add_argument("--cache", type=Path, help="keep what is computed of texts here")
    args = parser.parse_args()
    dataset = load_dataset("cmd-ad", args.data)
    (runs if args.what == "runs" else speed)(dataset, args)


if __name__ == "__main__":
    main()
