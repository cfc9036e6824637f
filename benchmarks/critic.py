"""CRITIC with the plain resolver on CMD-AD's test annotation: shares, known predictions, and what it costs.

    python benchmarks/critic.py                                  # ../shared/data/cmd-ad
    python benchmarks/critic.py --root DIR --rules code
    python benchmarks/critic.py --read 12 --seed 31              # lines to judge by reading

The last prints runs of ten lines of films drawn by chance, and behind each line whom it means, so that names
and pronouns can be checked by eye.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from shotad.core import Config, Interval
from shotad.evaluation import Corpus, MetricContext, Result, Store
from shotad.evaluation.metric import Item, make_metric, score
from shotad.evaluation.metrics.critic import Document
from shotad.evaluation.metrics.pronouns import named, resolved

ROOT = Path(__file__).resolve().parents[2] / "shared" / "data" / "cmd-ad"
RUN = 10
"""Lines in a row that are read."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--rules", choices=("paper", "code", "all"), default="paper")
    parser.add_argument("--read", type=int, default=0, metavar="FILMS")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    corpus, bare = load(args.root)
    if args.read:
        read(corpus, args.read, args.seed)
        return
    shares(corpus)
    runs(corpus, bare, args.rules, args.seed)
    again(corpus, args.rules)


def load(root: Path) -> tuple[Corpus, list[str]]:
    """The annotation with the human ADs as predictions, and those without names."""
    with (root / "cmdad_anno.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    with (root / "cmdad_gt_action.csv").open(encoding="utf-8", newline="") as stream:
        bare = [row["text_gt_wo_char"] for row in csv.DictReader(stream)]
    casts = json.loads((root / "cast.json").read_text(encoding="utf-8"))
    items = tuple(
        Item(
            str(n),
            row["imdbid"],
            Interval(float(row["start"]), float(row["end"])),
            (row["text"],),
            row["text"],
        )
        for n, row in enumerate(rows)
    )
    return Corpus(items, {film: tuple(names) for film, names in casts.items()}), bare


def documents(corpus: Corpus) -> dict[str, Document]:
    """Each film's human ADs."""
    return {
        film: Document(
            tuple(corpus.items[place].reference for place in places),
            corpus.casts[film],
            tuple(corpus.items[place].interval.start for place in places),
        )
        for film, places in corpus.films().items()
    }


def shares(corpus: Corpus) -> None:
    """How many human ADs mean somebody: by names alone, and by pronouns as well."""
    films = documents(corpus).values()
    by_name = sum(bool(line) for film in films for line in named(film))
    began = time.process_time()
    meant = sum(bool(people) for film in films for people in resolved(film))
    seconds = time.process_time() - began
    total = len(corpus.items)
    print(f"ADs {total}; by names alone {by_name} ({by_name / total:.1%})", end=", ")
    print(f"with pronouns {meant} ({meant / total:.1%})")
    print(f"resolving all human ADs: {seconds:.1f} CPU s, {1000 * seconds / total:.2f} ms an AD")


def runs(corpus: Corpus, bare: list[str], rules: str, seed: int) -> None:
    """Predictions whose score is known, or must be low."""
    chance = random.Random(seed)
    human = [item.reference for item in corpus.items]
    within = list(human)
    for places in corpus.films().values():
        drawn = chance.sample(places, len(places))
        for place, other in zip(places, drawn, strict=True):
            within[place] = human[other]
    for name, texts in (
        ("human ADs", human),
        ("shuffled within films", within),
        ("shuffled", chance.sample(human, len(human))),
        ("names taken away", bare),
        ("empty", [""] * len(human)),
    ):
        result = scored(corpus, texts, bench(rules))
        print(f"{rules:6} {name:22} {result.value:7.2f}  n {result.scored}  {result.seconds:.1f} s")


def again(corpus: Corpus, rules: str) -> None:
    """A second run after one prediction was changed."""
    on = bench(rules)
    texts = [item.reference for item in corpus.items]
    scored(corpus, texts, on)
    changed = scored(corpus, ["Nobody is here.", *texts[1:]], on)
    print(f"after one change: {changed.fresh} rows anew (its film), {changed.seconds:.2f} s")


def bench(rules: str) -> MetricContext:
    return MetricContext(Config.model_validate({"measures": {"critic": {"rules": rules}}}), Store())


def scored(corpus: Corpus, texts: list[str], on: MetricContext) -> Result:
    items = tuple(replace(item, prediction=text) for item, text in zip(corpus.items, texts, strict=True))
    return score(make_metric("critic", on), Corpus(items, corpus.casts), on)


def read(corpus: Corpus, count: int, seed: int) -> None:
    """Lines with whom they mean."""
    chance = random.Random(seed)
    films = documents(corpus)
    for film in chance.sample(sorted(films), count):
        document = films[film]
        meant = resolved(document)
        start = chance.randrange(max(1, len(document.sentences) - RUN))
        print(f"\n{film}: {', '.join(document.cast)}")
        for place in range(start, min(start + RUN, len(document.sentences))):
            print(
                f"  {document.starts[place]:7.0f}  {document.sentences[place]}  # {', '.join(meant[place])}"
            )


if __name__ == "__main__":
    main()
