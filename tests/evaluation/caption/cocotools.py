"""The COCO tools as tests hold ours against them: skipped, with the reason, where they cannot run."""

from __future__ import annotations

import csv
import importlib.util
import random
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"


def need_coco() -> Path:
    """The folder of pycocoevalcap."""
    found = importlib.util.find_spec("pycocoevalcap")
    if found is None or not found.submodule_search_locations:
        pytest.skip("pycocoevalcap is not installed (the extra coco)")
    return Path(found.submodule_search_locations[0])


def need_java() -> str:
    """The program."""
    java = shutil.which("java")
    if java is None:
        pytest.skip("no java on the PATH")
    return java


def need_cmdad() -> list[str]:
    """All human ADs of CMD-AD's test set, in the order of the file."""
    path = SHARED / "cmd-ad" / "cmdad_anno.csv"
    if not path.is_file():
        pytest.skip("no ../shared/data/cmd-ad")
    with path.open(encoding="utf-8", newline="") as file:
        return [row["text"] for row in csv.DictReader(file)]


def java_tokens(texts: Sequence[str], folder: Path) -> list[list[str]]:
    """Every token that Stanford's tokeniser gives for each text; a line that begins with a common word stands
    between two texts, so that none is read as going on in the next."""
    java, coco = need_java(), need_coco()
    assert not any(set("\r\n\x0b\x0c\x85\u2028\u2029") & set(text) for text in texts)
    lines = folder / "lines.txt"
    lines.write_text("".join(f"{text}\nzzz\n" for text in texts), encoding="utf-8")
    jar = coco / "tokenizer" / "stanford-corenlp-3.4.1.jar"
    program = "edu.stanford.nlp.process.PTBTokenizer"
    told = subprocess.run(
        [java, "-Dfile.encoding=UTF-8", "-cp", jar, program, "-preserveLines", "-lowerCase", lines],
        capture_output=True,
        check=True,
    )
    found = told.stdout.decode("utf-8").split("\n")[: 2 * len(texts)]
    assert found[1::2] == ["zzz"] * len(texts)
    return [line.rstrip().split(" ") if line.strip() else [] for line in found[::2]]


def made_predictions(texts: Sequence[str], kind: str) -> list[str]:
    """Predictions as a system might give them: shuffled, with words lost, or half of another."""
    chance = random.Random(kind)
    others = list(texts)
    chance.shuffle(others)
    if kind == "shuffled":
        return others
    lost = [" ".join(word for word in text.split() if chance.random() < 0.7) for text in texts]
    return lost if kind == "lost" else [f"{ours} {other}" for ours, other in zip(lost, others, strict=True)]


def coco_scores(name: str, predictions: dict[str, list[str]], references: dict[str, list[str]]) -> Any:
    """What the tool's class of that name says: the corpus's score and each item's."""
    need_coco()
    module = __import__(f"pycocoevalcap.{name.lower()}.{name.lower()}", fromlist=[name])
    extra = {"verbose": 0} if name == "Bleu" else {}
    return getattr(module, name)().compute_score(references, predictions, **extra)
