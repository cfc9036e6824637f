"""What Recall@k/N costs, beside encoding the two texts of each pair anew.

    python benchmarks/recall.py --data ../shared/data/cmd-ad              # 120 ADs of CMD-AD
    python benchmarks/recall.py --data ../shared/data/cmd-ad --ads 40 --pairs 100 --rounds 1    # a quick look

Predictions are other human ADs, from farther on in the file. "Anew" takes the same pairs (those that stand in
one window, no others), and encodes both texts of each: alone, as where a scorer is called for each pair, or
64 pairs together; it has the same encoder and the same matching, so that the difference is what is not done
twice. The published code asks for all pairs of a film: what they would cost by the same measure is told too.
Only ``--pairs`` of the pairs are taken there, evenly spread, and the time is scaled up. All ways take turns
in one run; told is the median of the rounds, in seconds of CPU time of the whole process.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from shotad.core import Config, Interval
from shotad.evaluation import Corpus, MetricContext, Store
from shotad.evaluation.metric import Item, score
from shotad.evaluation.metrics.recall import AT_ONCE, Pair, PairScores, Recall, f_scores, neighbours_of
from shotad.script import TokenEncoder, locate

TOGETHER = 64


def corpus_of(folder: Path, count: int) -> Corpus:
    with (folder / "cmdad_anno.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))[: 2 * count]
    texts = [row["text"] for row in rows[count:]]
    items = [
        Item(
            str(i),
            row["imdbid"],
            Interval(float(row["start"]), max(float(row["end"]), float(row["start"]) + 0.01)),
            (row["text"],),
            texts[i],
        )
        for i, row in enumerate(rows[:count])
    ]
    return Corpus(tuple(items))


def pairs_of(corpus: Corpus, bench: MetricContext) -> list[Pair]:
    wanted = bench.settings.recall
    around = neighbours_of(corpus, wanted.neighbours, wanted.windows, wanted.k)
    return [
        (item.prediction or "", corpus.items[p].reference)
        for item, those in zip(corpus.items, around, strict=True)
        for p in those.places
    ]


def anew(encoder: TokenEncoder, pairs: Sequence[Pair], together: int) -> None:
    for first in range(0, len(pairs), together):
        some = pairs[first : first + together]
        predictions = encoder.of([pair[0] for pair in some])
        references = encoder.of([pair[1] for pair in some])
        for prediction, reference in zip(predictions, references, strict=True):
            f_scores([prediction], [reference])


def cpu(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with cmdad_anno.csv")
    parser.add_argument("--ads", type=int, default=120)
    parser.add_argument("--pairs", type=int, default=300, help="how many pairs are encoded anew")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--model", default="minilm")
    args = parser.parse_args()
    config = Config.model_validate({"measures": {"recall": {"model": args.model}}})
    corpus = corpus_of(args.data, args.ads)
    place = locate(args.model)
    layer = PairScores(MetricContext(config, Store())).layer
    encoder = TokenEncoder(place, layer, config.compute, AT_ONCE)
    encoder.of([corpus.items[0].reference])
    pairs = pairs_of(corpus, MetricContext(config, Store()))
    sample = pairs[:: max(len(pairs) // args.pairs, 1)]
    scale = len(pairs) / len(sample)
    texts = {text for pair in pairs for text in pair}
    whole = sum(len(places) ** 2 for places in corpus.films().values())
    print(
        f"{args.model}, layer {layer}: {len(corpus.items)} ADs, {len(texts)} texts, "
        f"{len(pairs)} pairs in windows, {whole} in whole films"
    )

    def ours(store: Store, changed: Corpus = corpus) -> Callable[[], object]:
        def work() -> object:
            bench = MetricContext(config, store)
            metric = Recall.of("recall", bench)
            metric._pairs._encoder = encoder  # loading is the same for all
            return score(metric, changed, bench)

        return work

    other = list(corpus.items)
    other[60 % len(other)] = replace(other[60 % len(other)], prediction="Somebody waits in the rain.")
    told: dict[str, list[float]] = {}
    for _ in range(args.rounds):
        store = Store()
        for name, seconds in (
            ("each pair alone", cpu(lambda: anew(encoder, sample, 1)) * scale),
            ("64 pairs together", together := cpu(lambda: anew(encoder, sample, TOGETHER)) * scale),
            ("the same, whole films", together * whole / len(pairs)),
            ("first run", cpu(ours(store))),
            ("one prediction changed", cpu(ours(store, Corpus(tuple(other))))),
            ("nothing changed", cpu(ours(store))),
        ):
            told.setdefault(name, []).append(seconds)
    first = statistics.median(told["first run"])
    for name, rounds in told.items():
        seconds = statistics.median(rounds)
        print(f"{name:24} {seconds:8.3f} s   {seconds / first:6.2f} times the first run")


if __name__ == "__main__":
    main()
