"""CIDEr, BLEU and ROUGE-L: ours beside the COCO tools, which tokenise by a Java program, and a bound."""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from table_parts.kinds import LENGTHS, Contest, Entrant, Growth
from table_parts.running import Done, Ready
from table_parts.stage import Plan, Stage, by_length

NAMES = ("cider", "bleu-1", "bleu-2", "bleu-3", "bleu-4", "rouge-l")
SCALE = 100.0


def plan(stage: Stage) -> Plan:
    """CMD-AD's human ADs; predictions are others of the same."""
    if stage.data is None:
        return Plan(left_out=(("metrics", "CMD-AD's annotation is not at hand"),))
    from common import cmd_ad

    human = [row["text"] for clip in cmd_ad(stage.data) for row in clip]
    coco = importlib.util.find_spec("pycocoevalcap") is not None
    missing = (
        "" if coco and shutil.which("java") else f"{'Java' if coco else 'pycocoevalcap'} is not installed"
    )
    given = _texts(stage, human, len(human))
    contest = Contest(
        "metrics",
        f"{len(human)} ADs",
        (
            Entrant("shotad evaluate's", "ours", "table_parts.metrics:ours", given),
            Entrant("COCO tools (pycocoevalcap)", "rival", "table_parts.metrics:coco", given, missing),
            Entrant("counting words and n-grams alone", "limit", "table_parts.metrics:counting", given),
        ),
        "CIDEr, BLEU-1 to 4, ROUGE-L; CMD-AD, another human AD as prediction",
        same=("cider", "bleu4", "rouge"),
        turns=stage.turns(3),
    )
    if not stage.grows:
        return Plan((contest,))
    base = len(human) // 8
    texts = [_texts(stage, human, n * base) for n in LENGTHS]
    grown = by_length("table_parts.metrics:ours", texts)
    growth = Growth("metrics", "CIDEr, BLEU, ROUGE-L", "ADs", base, grown, turns=stage.turns(3))
    return Plan((contest,), (growth,))


def _texts(stage: Stage, human: Sequence[str], count: int) -> dict[str, str]:
    """A file of so many pairs, prediction and human AD."""
    path = stage.folder / f"texts-{count}.json"
    pairs = [(human[(i + 17) % len(human)], human[i]) for i in range(count)]
    path.write_text(json.dumps(pairs), encoding="utf-8")
    return {"texts": str(path)}


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
