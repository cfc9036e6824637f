"""CIDEr, BLEU and ROUGE-L: ours beside the COCO tools, which tokenise by a Java program, and a bound."""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from table_parts.contests import LENGTHS, Contest, Done, Entrant, Ready, Stage, growth

NAMES = ("cider", "bleu-1", "bleu-2", "bleu-3", "bleu-4", "rouge-l")
SCALE = 100.0


def plan(stage: Stage) -> Iterator[Contest]:
    """CMD-AD's human ADs; predictions are others of the same."""
    from common import cmd_ad

    if not (stage.data / "cmdad_anno.csv").is_file():
        stage.left_out.append(("metrics", "CMD-AD's annotation is not at hand"))
        return
    human = [row["text"] for clip in cmd_ad(stage.data) for row in clip]

    def texts(count: int) -> dict[str, str]:
        """A file of so many pairs, prediction and human AD."""
        path = stage.folder / f"texts-{count}.json"
        pairs = [(human[(i + 17) % len(human)], human[i]) for i in range(count)]
        path.write_text(json.dumps(pairs), encoding="utf-8")
        return {"texts": str(path)}

    coco_there = importlib.util.find_spec("pycocoevalcap") is not None
    absent = "Java" if coco_there else "pycocoevalcap"
    missing = "" if coco_there and shutil.which("java") else f"{absent} is not installed"
    given = texts(len(human))
    entrants = [
        Entrant("shotad evaluate's", "ours", ours, given),
        Entrant("COCO tools (pycocoevalcap)", "rival", coco, given, missing),
        Entrant("counting words and n-grams alone", "limit", counting, given),
    ]
    yield Contest("metrics", f"{len(human)} ADs", entrants, same=("cider", "bleu4", "rouge"), turns=3)
    if stage.grows:
        base = len(human) // 8
        longer = [texts(n * base) for n in LENGTHS]
        yield growth("metrics", "CIDEr, BLEU, ROUGE-L", ours, longer, "ADs", base, 3)


# Works


def _pairs(given: Mapping[str, Any]) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = json.loads(Path(given["texts"]).read_text(encoding="utf-8"))
    return pairs


def ours(given: Mapping[str, Any], scratch: Path) -> Ready:
    """As `shotad evaluate ad` counts them, with nothing kept from before."""
    from shotad.core import Config, Interval
    from shotad.evaluation import Corpus, MetricContext, Store
    from shotad.evaluation.metric import Item
    from shotad.evaluation.running import measure

    items = [
        Item(str(i), f"film {i // 100}", Interval(4.0 * i, 4.0 * i + 2), (reference,), prediction)
        for i, (prediction, reference) in enumerate(_pairs(given))
    ]
    corpus = Corpus(tuple(items))
    measure(Corpus(tuple(items[:4])), NAMES, MetricContext(Config(), Store()))

    def run() -> Done:
        found = {r.name: r.value for r in measure(corpus, NAMES, MetricContext(Config(), Store()))[0]}
        return _told(found["cider"], found["bleu-4"], found["rouge-l"], len(items))

    return run


def _told(cider: float | None, bleu: float | None, rouge: float | None, count: int) -> Done:
    values = {"cider": cider, "bleu4": bleu, "rouge": rouge}
    return Done({"ADs": count, **{k: v for k, v in values.items() if v is not None}})


def coco(given: Mapping[str, Any], scratch: Path) -> Ready:
    """pycocoevalcap's, with its tokenizer; their printing is swallowed."""
    import contextlib
    import io

    from pycocoevalcap.bleu.bleu import Bleu  # type: ignore[import-untyped]
    from pycocoevalcap.cider.cider import Cider  # type: ignore[import-untyped]
    from pycocoevalcap.rouge.rouge import Rouge  # type: ignore[import-untyped]
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer  # type: ignore[import-untyped]

    pairs = _pairs(given)
    predictions = {i: [{"caption": one}] for i, (one, _) in enumerate(pairs)}
    references = {i: [{"caption": other}] for i, (_, other) in enumerate(pairs)}

    def run() -> Done:
        with contextlib.redirect_stdout(io.StringIO()):
            tokenizer = PTBTokenizer()
            theirs, golden_ = tokenizer.tokenize(predictions), tokenizer.tokenize(references)
            cider, _ = Cider().compute_score(golden_, theirs)
            bleu, _ = Bleu(4).compute_score(golden_, theirs)
            rouge, _ = Rouge().compute_score(golden_, theirs)
        return _told(SCALE * float(cider), SCALE * float(bleu[3]), SCALE * float(rouge), len(pairs))

    return run


def counting(given: Mapping[str, Any], scratch: Path) -> Ready:
    """Words between spaces, and how often each run of one to four of them stands in each text."""
    pairs = _pairs(given)

    def run() -> Done:
        grams = 0
        for pair in pairs:
            for text in pair:
                words = text.lower().split()
                found = Counter(
                    tuple(words[i : i + n]) for n in range(1, 5) for i in range(len(words) - n + 1)
                )
                grams += len(found)
        return Done({"ADs": len(pairs), "n-grams": grams})

    return run
