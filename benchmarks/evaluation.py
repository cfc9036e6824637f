"""Made predictions for CMD-AD, scored by all metrics that need no engine; and what that costs.

    python benchmarks/evaluation.py --data ../shared/data/cmd-ad --what runs     # 7,316 ADs, six runs
    python benchmarks/evaluation.py --data ../shared/data/cmd-ad --what speed    # one run, and one AD by one

``runs``: the human AD itself; others' (shuffled over the whole set, and within each film); the human AD
without names (``text_gt_wo_char``); lines as the embedded narrator writes them (--lines, a file of such
lines; built in are those that it wrote for three clips); every second human AD missing. Told are the
figures, and whether the human AD is the best on each metric.

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
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))



from shotad.core import Config
from shotad.evaluation import Corpus, Dataset, MetricContext, Result, Store, load_dataset
from shotad.evaluation.metric import make_metric
from shotad.evaluation.metrics.recall import PairScores, neighbours_of
from shotad.evaluation.predictions import corpus_of
from shotad.evaluation.running import measure
from shotad.script import TokenEncoder, locate

LINES = (
    "Close by, someone appears.",
    "A person comes closer.",
    "Darkness gives way to light.",
    "Someone moves right, and darkness falls.",
    "A person moves right.",
    "Someone appears.",
    "A face appears up close.",
    "Two people appear.",
    "Several people appear.",
    "Three people appear.",
    "A person in black appears, then a face appears up close.",
    "A person in black appears.",
    "Light flares up.",
    'A title reads: "COMING SOON."',
)
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


def made(dataset: Dataset, lines: Sequence[str]) -> dict[str, Corpus]:
    corpus, chance = corpus_of(dataset), random.Random(20261121)
    human = [item.reference for item in corpus.items]
    shuffled = chance.sample(human, len(human))
    within: list[str | None] = list(human)
    for places in corpus.films().values():
        for place, other in zip(places, chance.sample(places, len(places)), strict=True):
            within[place] = human[other]
    texts: dict[str, Sequence[str | None]] = {
        "human": human,
        "without names": [ad.text_without_names for ad in dataset.ads],
        "half missing": [text if k % 2 else None for k, text in enumerate(human)],
        "shuffled in films": within,
        "shuffled": shuffled,
        "narrator's style": [chance.choice(lines) for _ in human],
    }
    return {name: with_predictions(corpus, told) for name, told in texts.items()}


def runs(dataset: Dataset, args: argparse.Namespace) -> None:
    lines = args.lines.read_text().splitlines() if args.lines else LINES
    found: dict[str, dict[str, Result]] = {}
    with Store(args.cache) as store:
        for name, corpus in made(dataset, lines).items():
            results = measure(corpus, args.metrics.split(","), MetricContext(Config(), store)).results
            found[name] = {result.name: result for result in results}
            print(f"{name}: {', '.join(f'{r.name} {r.value:.2f}' for r in results if r.value is not None)}")
    print()
    heads = list(found)
    print("  ".join(["metric".ljust(20), *(head.rjust(17) for head in heads), "human best"]))
    for metric, own in found["human"].items():
        values = [found[run][metric].value for run in heads]
        shown = ["–" if v is None else f"{v:.2f}" for v in values]
        known = [v for v in values[1:] if v is not None]
        higher = getattr(own, "higher_is_better", True)
        best = own.value is not None and all(own.value >= v if higher else own.value <= v for v in known)
        said = "yes" if best else "no"
        print(
            "  ".join([metric.ljust(20), *(s.rjust(17) for s in shown), said + (" (lower)" * (not higher))])
        )


def unlike(dataset: Dataset, cut: int) -> Corpus:
    """Other human ADs of the film that lost their last words: texts that no human AD of the dataset is."""
    corpus = made(dataset, LINES)["shuffled in films"]
    heads = [" ".join((item.prediction or "").split()[:-cut]).rstrip(" ,;:.") for item in corpus.items]
    texts = [f"{head or 'Nobody'}." for head in heads]
    return with_predictions(corpus, texts)


def cpu(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


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
    again: list[Result] = []
    nothing = cpu(lambda: measure(corpus, names, MetricContext(Config(), store), done=again.append))
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
        other = f"{alone[name]:9.1f} s AD by AD, {alone[name] / seconds:6.1f} times" if name in alone else ""
        print(f"{name:20} {seconds:8.2f} s  {other}")
    print(f"all, from nothing      {first:8.1f} s; AD by AD {whole:8.1f} s, {whole / first:.1f} times")
    print(f"all, nothing changed   {nothing:8.1f} s; {first / nothing:.1f} times faster than from nothing")
    print(f"all, one changed       {one:8.1f} s; {first / one:.1f} times faster than from nothing")
    print(f"all, another system    {second:8.1f} s; AD by AD {whole:8.1f} s, {whole / second:.1f} times")
    print("rows counted again:", json.dumps({r.name: r.fresh for r in redone}))
    print("of them with nothing changed:", json.dumps({r.name: r.fresh for r in again}))


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
    told["recall"] = scale * cpu(lambda: anew(encoder, pairs, 1))
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of CMD-AD's annotation")
    parser.add_argument("--what", choices=["runs", "speed"], default="runs")
    parser.add_argument("--metrics", default="all")
    parser.add_argument("--lines", type=Path, help="lines as the embedded narrator writes them")
    parser.add_argument("--sample", type=int, default=60, help="ADs that are scored one by one")
    parser.add_argument("--cache", type=Path, help="keep what is computed of texts here")
    args = parser.parse_args()
    dataset = load_dataset("cmd-ad", args.data)
    (runs if args.what == "runs" else speed)(dataset, args)


if __name__ == "__main__":
    main()
