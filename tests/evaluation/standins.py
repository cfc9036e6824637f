"""What stands for models and programs: vectors, similarities, METEOR and SPICE by words in common, and a parser
that knows the verbs of the corpus."""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from shotad.core import Identity
from shotad.script.embeddings import LocalEncoder, Vectors
from shotad.script.parsing import Parse, Token


@dataclass
class Overlap:
    """Similarities of pairs by words in common, in the place of BERTScore."""

    identity: dict[str, Any] = field(default_factory=lambda: {"score": "words in common"})
    layer: int = 1
    place: LocalEncoder = LocalEncoder(Path(), Identity("words", "words"), 1)  # noqa: RUF009

    def of(self, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], float]:
        return {pair: overlap(*pair) for pair in pairs}


def overlap(one: str, other: str) -> float:
    ours, theirs = (Counter(re.findall(r"\w+", text.lower())) for text in (one, other))
    size = ours.total() + theirs.total()
    return 2 * (ours & theirs).total() / size if size else 0.0


class Words:
    """Vectors of texts in place of the evaluation's embedder: the sum of a direction for each word. Keeps what it
    was asked."""

    identity: ClassVar[dict[str, str]] = {"model": "words", "revision": "1"}
    instruction = ""

    def __init__(self) -> None:
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


class Verbs:
    """A parser that knows some verbs: one hangs on the one before it, all else on the nearest verb."""

    def __init__(self, *_: Any) -> None:
        pass

    def of(self, texts: Sequence[str]) -> Iterator[Parse]:
        return map(_parsed, texts)


_KNOWN = """beat climb drop hide jump lock look open pick pour rain read rise run see sing sit sleep smile start stop
take throw walk wave yawn"""
_VERBS = {f"{verb}s": verb for verb in _KNOWN.split()}
_VERBS |= {"crosses": "cross", "goes": "go", "look": "look", "stretches": "stretch"}


def _parsed(text: str) -> Parse:
    words = re.findall(r"\w+|[^\w\s]", text)
    tokens: list[Token] = []
    first = verb = 0
    for place, word in enumerate(words):
        if begins := place == 0 or words[place - 1] == ".":
            rest = words[place : words.index(".", place) if "." in words[place:] else None]
            first = verb = place + next((k for k, one in enumerate(rest) if one in _VERBS), 0)
        here, sign = word in _VERBS, not word.isalnum()
        token = Token(
            text=word,
            lemma=_VERBS.get(word, word.lower()),
            pos="VERB" if here else "PUNCT" if sign else "NOUN",
            tag="VBZ" if here else "." if sign else "NN",
            dep="ROOT" if place == first else "conj" if here else "punct" if sign else "dobj",
            head=place if place == first else verb,
            begins_sentence=begins,
            space=not sign,
        )
        tokens.append(token)
        verb = place if word in _VERBS else verb
    return Parse(tuple(tokens))


def coco_program(
    name: str, command: Sequence[Any], lines: str = "", folder: Path | None = None
) -> CompletedProcess[str]:
    """METEOR's program: words of the likest reference that are in the prediction, in one run or in two.
    SPICE's: words for tuples."""
    if name == "SPICE":
        spice(command[-4], command[-2])
        return CompletedProcess([name], 0, "", "")
    answers = []
    for line in lines.splitlines():
        kind, *references, said = [part.split() for part in line.split("|||")]
        assert kind == ["SCORE"]
        best = max(references, key=lambda words: len(set(words) & set(said)))
        n = (Counter(said) & Counter(best)).total()
        runs = 0 if not n else 1 if said == best else 2
        told = (len(said), len(best), 0, 0, n, n, *[0] * 14, runs, n, n)
        answers.append(" ".join(map(str, map(float, told))))
    return CompletedProcess([name], 0, "".join(f"{answer}\n" for answer in answers), "")


def spice(question: Path, answer: Path) -> None:
    told = []
    for item in json.loads(question.read_text(encoding="utf-8")):
        said, wanted = set(item["test"].split()), set(" ".join(item["refs"]).split())
        both = len(said & wanted)
        counts = {"tp": both, "fp": len(said) - both, "fn": len(wanted) - both}
        scores = {**counts, "f": 2 * both / (len(said) + len(wanted))}
        told.append({"image_id": item["image_id"], "scores": {"All": scores}})
    answer.write_text(json.dumps(told), encoding="utf-8")
