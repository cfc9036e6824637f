"""Human ADs of CMD-AD as predictions, scored by all metrics that need no engine.

    python benchmarks/evaluation.py [--data ../shared/data/cmd-ad] [--metrics all] [--cache FILE]

Predictions are the human ADs themselves, those without names (``text_gt_wo_char``), and others', shuffled
over the whole set.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from common import DATA, command_line

from shotad.core import Config
from shotad.evaluation import Corpus, Item, MetricContext, Store, load_dataset
from shotad.evaluation.evaluation_run import measure


def with_predictions(corpus: Corpus, texts: Sequence[str | None]) -> Corpus:
    items = [
        replace(item, prediction=text, failure="" if text is not None else "no prediction")
        for item, text in zip(corpus.items, texts, strict=True)
    ]
    return replace(corpus, items=tuple(items))


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--data", type=Path, default=DATA / "cmd-ad", help="folder of CMD-AD's annotation")
    parser.add_argument("--metrics", default="all")
    parser.add_argument("--cache", type=Path, help="keep what is computed of texts here")
    args = parser.parse_args()
    dataset = load_dataset("cmd-ad", args.data)
    items = (
        Item(ad.id, ad.film, ad.interval, (ad.text, *ad.others), actions=ad.actions, clip=ad.clip)
        for ad in dataset.ads
    )
    corpus = Corpus(tuple(items), dict(dataset.casts), dataset.name)
    human = [item.reference for item in corpus.items]
    with dataset.files["actions"].open(encoding="utf-8", newline="") as file:
        bare = {row["anno_idx"]: row["text_gt_wo_char"] for row in csv.DictReader(file)}
    texts: dict[str, Sequence[str | None]] = {
        "human": human,
        "without names": [bare[ad.id] for ad in dataset.ads],
        "shuffled": random.Random(20261121).sample(human, len(human)),
    }
    found: dict[str, dict[str, float | None]] = {}
    with Store(args.cache) as store:
        for name, told in texts.items():
            context = MetricContext(Config(), store)
            results = measure(with_predictions(corpus, told), args.metrics.split(","), context)[0]
            found[name] = {result.name: result.value for result in results}
    print(f"{'metric':20}" + "".join(f"{name:>17}" for name in found))
    for metric in found["human"]:
        cells = ("–" if (value := run[metric]) is None else f"{value:.2f}" for run in found.values())
        print(f"{metric:20}" + "".join(f"{cell:>17}" for cell in cells))


if __name__ == "__main__":
    main()
