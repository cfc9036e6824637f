"""Caption metrics against the COCO tools: are they equal, and what does each cost?

    python benchmarks/captions.py --data ../shared/data/cmd-ad [--meteor 500]     # needs pycocoevalcap, Java

Predictions are made of the human ADs: shuffled, with a third of the words lost, and lost words with another's
line behind. Told are texts whose tokens differ from those of the Java tokeniser (each text read by itself,
and all as the lines of one file, as the COCO tools do), the greatest difference of any item's score and of
the corpus's, and times: ours is CPU time of this process from texts to the figure, theirs from tokens to the
figure (of tokens: of the Java process, with its start). METEOR is the same program in both; its times are
those of the wall.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from shotad.core import Config, EvaluationError, Interval
from shotad.evaluation import Corpus, MetricContext, Result, Store
from shotad.evaluation.metric import Item, make_metric, score
from shotad.evaluation.metrics import ptb
from shotad.evaluation.metrics.caption import Tokenizer
from shotad.evaluation.metrics.java import coco_file, java_program

T = TypeVar("T")
PROGRAM = "edu.stanford.nlp.process.PTBTokenizer"
OPTIONS = ("-preserveLines", "-lowerCase")
TOOLS = {
    "cider": "Cider",
    "rouge-l": "Rouge",
    "bleu-1": "Bleu",
    "bleu-2": "Bleu",
    "bleu-3": "Bleu",
    "bleu-4": "Bleu",
}


def made(texts: Sequence[str]) -> dict[str, list[str]]:
    chance = random.Random(20261121)
    others = chance.sample(list(texts), len(texts))
    lost = [" ".join(word for word in text.split() if chance.random() < 2 / 3) for text in texts]
    mixed = [f"{ours} {other}" for ours, other in zip(lost, others, strict=True)]
    return {"human": list(texts), "shuffled": others, "lost words": lost, "lost and mixed": mixed}


def timed(work: Callable[[], T], clock: Callable[[], float] = time.process_time) -> tuple[T, float]:
    began = clock()
    found = work()
    return found, clock() - began


def children_time() -> float:
    times = os.times()
    return times.children_user + times.children_system


def java_tokens(texts: Sequence[str], between: str) -> list[str]:
    """The line of kept tokens for each text; ``between`` stands in a line of its own after each, if any."""
    jar = coco_file("tokenizer/stanford-corenlp-3.4.1.jar", "This")
    lines = [part for text in texts for part in ((text, between) if between else (text,))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lines.txt"
        path.write_text("\n".join(lines), encoding="utf-8")
        command = [java_program("This"), "-Dfile.encoding=UTF-8", "-cp", jar, PROGRAM, *OPTIONS, path]
        told = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    found = told.split("\n")[: len(lines)][:: 2 if between else 1]
    return [" ".join(t for t in line.rstrip().split(" ") if t not in ptb.REMOVED) for line in found]


def tokens(texts: Sequence[str]) -> None:
    ptb._by_itself.cache_clear()
    ours, cpu = timed(lambda: [" ".join(ptb.tokens(text)) for text in texts])
    theirs, java = timed(lambda: java_tokens(texts, ""), children_time)
    alone = java_tokens(texts, "zzz")
    apart = [sum(a != b for a, b in zip(ours, other, strict=True)) for other in (alone, theirs)]
    print(f"tokens of {len(texts)} texts: {apart[0]} differ, {apart[1]} as lines of one file")
    print(f"  ours {cpu:.2f} s, Java {java:.2f} s: {java / cpu:.1f} times as fast")


def tool(name: str) -> Any:
    module = __import__(f"pycocoevalcap.{name.lower()}.{name.lower()}", fromlist=[name])
    return getattr(module, name)()


def scores(texts: Sequence[str], kind: str, predictions: Sequence[str]) -> None:
    items = tuple(
        Item(str(k), "film", Interval(k, k + 1), (text,), said)
        for k, (text, said) in enumerate(zip(texts, predictions, strict=True))
    )
    corpus, tokenizer = Corpus(items), Tokenizer(MetricContext(Config(), Store()))
    said = {i.id: [" ".join(t)] for i, t in zip(items, tokenizer.predictions(items), strict=True)}
    human = {i.id: [" ".join(t) for t in g] for i, g in zip(items, tokenizer.references(items), strict=True)}
    told: dict[str, tuple[Any, float]] = {}
    for name, theirs in TOOLS.items():
        bench = MetricContext(Config(), Store())
        result, cpu = timed(lambda name=name, bench=bench: score(make_metric(name, bench), corpus, bench))
        if theirs not in told:
            options = {"verbose": 0} if theirs == "Bleu" else {}
            told[theirs] = timed(lambda t=theirs, o=options: tool(t).compute_score(human, said, **o))
        (value, each), their_cpu = told[theirs]
        if theirs == "Bleu":
            value, each = value[int(name[-1]) - 1], each[int(name[-1]) - 1]
        times = f"ours {cpu:.2f} s, theirs {their_cpu:.2f} s"
        print(f"  {kind:15s} {name:8s} {line_of(result, value, each)}   {times}")


def line_of(result: Result, value: float, each: Sequence[float]) -> str:
    apart = np.abs(np.array([row.value for row in result.rows]) - 100 * np.asarray(each)).max()
    whole = abs((result.value or 0.0) - 100 * value)
    return f"{result.value:9.4f}  apart: items {apart:.0e}, corpus {whole:.0e}"


def meteor(texts: Sequence[str], predictions: Sequence[str]) -> None:
    items = tuple(
        Item(str(k), "film", Interval(k, k + 1), (text,), said)
        for k, (text, said) in enumerate(zip(texts, predictions, strict=True))
    )
    bench = MetricContext(Config(), Store())
    tokenizer = Tokenizer(bench)
    said = {i.id: [" ".join(t)] for i, t in zip(items, tokenizer.predictions(items), strict=True)}
    human = {i.id: [" ".join(t) for t in g] for i, g in zip(items, tokenizer.references(items), strict=True)}
    result, wall = timed(lambda: score(make_metric("meteor", bench), Corpus(items), bench), time.perf_counter)
    (value, each), theirs = timed(lambda: tool("Meteor").compute_score(human, said), time.perf_counter)
    times = f"ours {wall:.1f} s, theirs {theirs:.1f} s"
    print(f"  {len(texts):9d} texts meteor   {line_of(result, value, each)}   {times}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data/cmd-ad"))
    parser.add_argument("--meteor", type=int, default=0, metavar="N", help="METEOR too, of N texts")
    args = parser.parse_args()
    with (args.data / "cmdad_anno.csv").open(encoding="utf-8", newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)]
    try:
        tokens(texts)
        for kind, predictions in made(texts).items():
            scores(texts, kind, predictions)
        if args.meteor:
            meteor(texts[: args.meteor], made(texts)["lost and mixed"][: args.meteor])
    except EvaluationError as error:
        parser.exit(1, f"{error}\n")


if __name__ == "__main__":
    main()
