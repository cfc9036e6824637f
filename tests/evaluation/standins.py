"""What stands for models and programs: vectors, similarities, METEOR and SPICE by words in common, and a parser
that knows the verbs of the corpus."""

from __future__ import annotations

import re
import stat
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pytest

from shotad.core import Identity
from shotad.script.embeddings import LocalEncoder, Vectors
from shotad.script.parser import Parse, Token


@dataclass
class Overlap:
    """Similarities of pairs by words in common, in the place of BERTScore."""

    identity: dict[str, Any] = field(default_factory=lambda: {"score": "words in common"})
    layer: int = 1
    place: LocalEncoder = LocalEncoder(Path(), Identity("words", "words"), 1)  # noqa: RUF009

    def of(self, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], float]:
        return {pair: overlap(*pair) for pair in pairs}


def overlap(text: str, other: str) -> float:
    ours, theirs = (Counter(re.findall(r"\w+", each.lower())) for each in (text, other))
    size = ours.total() + theirs.total()
    return 2 * (ours & theirs).total() / size if size else 0.0


class Words:
    """Vectors of texts in place of the evaluation's embedder: the sum of a direction for each word. Keeps what it
    was asked."""

    instruction = ""

    def __init__(self) -> None:
        self.identity = {"model": "words", "revision": "1"}
        self.asked: list[str] = []

    def of(self, texts: Sequence[str], *, prompt: str = "") -> Vectors:
        self.asked += texts
        if not texts:
            return np.zeros((0, 0), np.float32)
        sums = np.stack([self._sum(prompt + text) for text in texts])
        return np.asarray(sums / np.linalg.norm(sums, axis=1, keepdims=True), np.float32)

    def _sum(self, text: str) -> npt.NDArray[np.float64]:
        counts = Counter(re.findall(r"\w+", text.lower()) or ["nothing"])
        return np.asarray(np.sum([n * _direction(word) for word, n in counts.items()], axis=0))


class NoVerbs:
    """WordNet without a verb in it."""

    def likeness(self, verb: str, other: str) -> float:
        return 0.0


@cache
def _direction(word: str) -> npt.NDArray[np.float64]:
    return np.random.default_rng(zlib.crc32(word.encode())).standard_normal(64)


class StandInParses:
    """Parses of texts by a function, in place of the evaluation's parser."""

    identity: ClassVar[dict[str, str]] = {"model": "made", "version": "1"}

    def __init__(self, parse: Callable[[str], Parse]) -> None:
        self._parse = parse

    def of(self, texts: Iterable[str]) -> dict[str, Parse]:
        return {text: self._parse(text) for text in dict.fromkeys(texts)}


_KNOWN = """beat climb drop hide jump lock look open pick pour rain read rise run see sing sit sleep smile start stop
take throw walk wave yawn"""
_VERBS = {f"{verb}s": verb for verb in _KNOWN.split()}
_VERBS |= {"crosses": "cross", "goes": "go", "look": "look", "stretches": "stretch"}


def parse_verbs(text: str) -> Parse:
    """A parse by some known verbs: each depends on the verb before it, all else on the nearest verb."""
    words = re.findall(r"\w+|[^\w\s]", text)
    tokens: list[Token] = []
    first = verb = 0
    for place, word in enumerate(words):
        if begins := place == 0 or words[place - 1] == ".":
            rest = words[place : words.index(".", place) if "." in words[place:] else None]
            first = verb = place + next((k for k, later in enumerate(rest) if later in _VERBS), 0)
        is_verb, sign = word in _VERBS, not word.isalnum()
        token = Token(
            text=word,
            lemma=_VERBS.get(word, word.lower()),
            pos="VERB" if is_verb else "PUNCT" if sign else "NOUN",
            tag="VBZ" if is_verb else "." if sign else "NN",
            dep="ROOT" if place == first else "conj" if is_verb else "punct" if sign else "dobj",
            head=place if place == first else verb,
            begins_sentence=begins,
            space=not sign,
        )
        tokens.append(token)
        verb = place if word in _VERBS else verb
    return Parse(tuple(tokens))


COCO_PROGRAMS = '''"""METEOR's and SPICE's programs, as Java would run them."""
import json, sys
from collections import Counter
from pathlib import Path


def meteor_counts(line):
    """Words of the most similar reference that are in the prediction, in one run or in two."""
    kind, *references, prediction = [part.split() for part in line.split("|||")]
    assert kind == ["SCORE"]
    if prediction == ["crash"]:
        sys.exit("out of memory")
    if prediction == ["babble"]:
        return "what?"
    best = max(references, key=lambda words: len(set(words) & set(prediction)))
    common = sum((Counter(prediction) & Counter(best)).values())
    runs = 0 if not common else 1 if prediction == best else 2
    counts = [len(prediction), len(best), 0, 0, common, common, *[0] * 14, runs, common, common]
    return " ".join(str(float(count)) for count in counts)


def spice_answers(questions, answers):
    """Words for the tuples of a scene graph."""
    text = questions.read_text(encoding="utf-8")
    if "crash" in text:
        sys.exit("no memory for the parser")
    records = []
    for item in json.loads(text):
        prediction, reference = set(item["test"].split()), set(" ".join(item["refs"]).split())
        common = len(prediction & reference)
        counts = {"tp": common, "fp": len(prediction) - common, "fn": len(reference) - common}
        scores = {**counts, "f": 2 * common / (len(prediction) + len(reference))}
        records.append({"image_id": item["image_id"], "scores": {"All": scores}})
    answers.write_text(json.dumps(records), encoding="utf-8")


if "-stdio" in sys.argv:
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(meteor_counts(line.decode()).encode() + b"\\n")
        sys.stdout.flush()
else:
    questions, _, answers, _ = sys.argv[-4:]
    spice_answers(Path(questions), Path(answers))
'''


def install_java(folder: Path, patch: pytest.MonkeyPatch, version: str) -> Path:
    """A program ``java`` of this version, which answers as METEOR's and SPICE's programs do."""
    program, script = folder / "jre" / "bin" / "java", folder / "jre" / "coco.py"
    program.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(COCO_PROGRAMS, encoding="utf-8")
    program.write_text(f"""#!/bin/sh
if [ "$1" = -version ]
then echo 'openjdk version "{version}" 2020-01-01'
else exec '{sys.executable}' -IS '{script}' "$@"
fi
""")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    patch.setenv("JAVA_HOME", str(folder / "jre"))
    return program
