"""CIDEr, BLEU and ROUGE-L: ours beside the COCO tools, which tokenise by a Java program, and a bound."""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from table_parts.contests import LENGTHS, Contest, Done, Entrant, Stage, Steps, growth

NAMES = ("cider", "bleu-1", "bleu-2", "bleu-3", "bleu-4", "rouge-l")
SAME = ("cider", "bleu-4", "rouge-l")


def plan(stage: Stage) -> Iterator[Contest]:
    """CMD-AD's human ADs; predictions are others of the same."""
    from common import cmd_ad

    if not (stage.data / "cmdad_anno.csv").is_file():
        stage.left_out.append(("metrics", "CMD-AD's annotation is not at hand"))
        return
    human = [row["text"] for clip in cmd_ad(stage.data) for row in clip]

    def texts(count: int) -> dict[str, Path]:
        """A file of so many pairs, prediction and human AD."""
        path = stage.folder / f"texts-{count}.json"
        pairs = [(human[(i + 17) % len(human)], human[i]) for i in range(count)]
        path.write_text(json.dumps(pairs), encoding="utf-8")
        return {"texts": path}

    coco_there = importlib.util.find_spec("pycocoevalcap") is not None
    absent = "Java" if coco_there else "pycocoevalcap"
    missing = "" if coco_there and shutil.which("java") else f"{absent} is not installed"
    given, base = texts(len(human)), len(human) // 8
    entrants = [
        Entrant("shotad evaluate's", "ours", ours, given),
        Entrant("COCO tools (pycocoevalcap)", "rival", coco, given, missing),
        Entrant("counting words and n-grams alone", "limit", counting, given),
    ]
    yield Contest("metrics", f"{len(human)} ADs", entrants, same=SAME, turns=3)
    if stage.grows:
        longer = [texts(n * base) for n in LENGTHS]
        yield growth("metrics", "CIDEr, BLEU, ROUGE-L", ours, longer, "ADs", base, 3)


# Works


def _pairs(texts: str) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = json.loads(Path(texts).read_text(encoding="utf-8"))
    return pairs


def ours(scratch: Path, texts: str) -> Steps:
    """As `shotad evaluate ad` counts them, with nothing kept from before."""
    from shotad.core import Config, Interval
    from shotad.evaluation import Corpus, MetricContext, Store
    from shotad.evaluation.evaluation_run import measure
    from shotad.evaluation.metric import Item

    items = tuple(
        Item(str(i), f"film {i // 100}", Interval(4.0 * i, 4.0 * i + 2), (reference,), prediction)
        for i, (prediction, reference) in enumerate(_pairs(texts))
    )
    measure(Corpus(items[:4]), NAMES, MetricContext(Config(), Store()))
    yield None
    results = measure(Corpus(items), NAMES, MetricContext(Config(), Store()))[0]
    found = {r.name: r.value for r in results if r.name in SAME and r.value is not None}
    yield Done({"ADs": len(items), **found})


def coco(scratch: Path, texts: str) -> Steps:
    """pycocoevalcap's, with its tokenizer; their printing is swallowed."""
    import contextlib
    import io

    from pycocoevalcap.bleu.bleu import Bleu  # type: ignore[import-untyped]
    from pycocoevalcap.cider.cider import Cider  # type: ignore[import-untyped]
    from pycocoevalcap.rouge.rouge import Rouge  # type: ignore[import-untyped]
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer  # type: ignore[import-untyped]

    pairs = _pairs(texts)
    predictions, references = (
        {i: [{"caption": pair[side]}] for i, pair in enumerate(pairs)} for side in (0, 1)
    )
    yield None
    with contextlib.redirect_stdout(io.StringIO()):
        told, golden = map(PTBTokenizer().tokenize, (predictions, references))
        cider, bleu, rouge = (one.compute_score(golden, told)[0] for one in (Cider(), Bleu(4), Rouge()))
    scores = (100 * float(score) for score in (cider, bleu[3], rouge))
    yield Done({"ADs": len(pairs), **dict(zip(SAME, scores, strict=True))})


def counting(scratch: Path, texts: str) -> Steps:
    """Words between spaces, and how often each run of one to four of them stands in each text."""
    pairs, grams = _pairs(texts), 0
    yield None
    for pair in pairs:
        for text in pair:
            words = text.lower().split()
            runs = (tuple(words[i : i + n]) for n in range(1, 5) for i in range(len(words) - n + 1))
            grams += len(Counter(runs))
    yield Done({"ADs": len(pairs), "n-grams": grams})
