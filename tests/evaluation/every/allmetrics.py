"""A corpus with everything in it, and benches on which every metric of the table runs without a real model.

Stand-ins: vectors, similarities, METEOR's and SPICE's programs, and a judge, all by words in common; and a
parser that knows the verbs of this corpus.
"""

from __future__ import annotations

import json
import re
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pytest

from shotad.config import Config
from shotad.engines.base import Identity
from shotad.evaluation.caption import java_metrics
from shotad.evaluation.caption.java_metrics import Spice
from shotad.evaluation.measure import texts as room
from shotad.evaluation.measure.bench import Bench
from shotad.evaluation.measure.items import Corpus, Item
from shotad.evaluation.measure.metric import METRICS, Metric, make_metric
from shotad.evaluation.measure.rows import Result
from shotad.evaluation.measure.scoring import score
from shotad.evaluation.measure.store import Store
from shotad.evaluation.recall import metrics as recall
from shotad.language.embeddings import Vectors
from shotad.language.parsing import Parse, ParserModel, Token
from shotad.language.tokenvectors import EncoderPlace
from shotad.types import Interval
from tests.evaluation.judges.judging import WORDS

CORENLP = ("stanford-corenlp-3.6.0.jar", "stanford-corenlp-3.6.0-models.jar")
NAMES = tuple(METRICS)
ALONG = ("repetition", "repetition-meaning", "names-kept")
"""Measures along a film: what is not said is neither gain nor loss."""
MakeBench = Callable[..., Bench]

FILMS: dict[str, tuple[tuple[str, ...], list[tuple[str, tuple[str, ...]]]]] = {
    "alpha": (
        ("Ann Miller", "Bob Hart", "Dr. Cole"),
        [
            ("Ann Miller opens the heavy door and smiles.", ("She opens the heavy door.", "She smiles.")),
            ("Bob Hart walks slowly to the window.", ("He walks slowly to the window.",)),
            ("He picks up a gun, then drops it.", ("He picks up a gun.", "He drops it.")),
            ("Ann runs down the stairs in the dark.", ("She runs down the stairs in the dark.",)),
            ("A grey dog jumps over the garden fence.", ("A grey dog jumps over the garden fence.",)),
            ("Ann and Bob look at each other.", ("They look at each other.",)),
            ("Dr. Cole takes off his glasses.", ("He takes off his glasses.",)),
            ("She sits on the edge of a bed.", ("She sits on the edge of a bed.",)),
        ],
    ),
    "beta": (
        ("Tony Wendice", "Margot Smith"),
        [
            ("Tony pours two glasses of red wine.", ("He pours two glasses of red wine.",)),
            ("Margot reads a letter by the fire.", ("She reads a letter by the fire.",)),
            ("Tony locks the drawer of his desk.", ("He locks the drawer of his desk.",)),
            ("She hides the letter behind a clock.", ("She hides the letter behind a clock.",)),
            ("Rain beats against the window panes.", ("Rain beats against the window panes.",)),
        ],
    ),
    "gamma": (
        (),
        [
            ("A train crosses the old iron bridge.", ("A train crosses the old iron bridge.",)),
            ("Smoke rises from the chimney tops.", ("Smoke rises from the chimney tops.",)),
        ],
    ),
}
"""Casts, and human ADs with their actions. No two lines are equal, and each has four words or more."""

MIXED: tuple[str | None, ...] = (
    "Ann Miller opens a door.",
    "Bob goes to the window.",
    "He drops a gun.",
    None,
    "A dog jumps over the fence.",
    "",
    "A man takes off his glasses.",
    "She opens a door.",
    "Tony pours a glass of wine.",
    "Margot reads a letter.",
    "…",
    "Margot reads a letter.",
    "It rains.",
    None,
    "Smoke rises.",
)
"""Predictions of a middling system: two are missing, two say nothing, two of one film are equal."""


def human() -> Corpus:
    """The human ADs as their own predictions; their actions, in Stage I's form, as descriptions."""
    items = []
    for film, (_, lines) in FILMS.items():
        for k, (text, actions) in enumerate(lines):
            told = f"1. Main characters: Somebody.\n2. Actions: {' '.join(actions)}\n3. Interactions: None."
            items.append(
                Item(
                    f"{film}-{k}",
                    film,
                    Interval(10.0 * k, 10.0 * k + 3),
                    (text,),
                    text,
                    description=told,
                    actions=actions,
                )
            )
    return Corpus(tuple(items), {film: cast for film, (cast, _) in FILMS.items() if cast}, "made")


def predicted(told: Sequence[str | None], corpus: Corpus | None = None, failure: str = "") -> Corpus:
    """The corpus with these predictions, and with them as what Stage I saw."""
    corpus = corpus or human()
    items = [
        replace(item, prediction=text, failure=failure if text is None else "", description=_described(text))
        for item, text in zip(corpus.items, told, strict=True)
    ]
    return replace(corpus, items=tuple(items))


def _described(text: str | None) -> str | None:
    return None if text is None else f"1. Main characters: Somebody.\n2. Actions: {text}"


def mixed() -> Corpus:
    return predicted(MIXED)


def changed(corpus: Corpus, place: int, **fields: Any) -> Corpus:
    """The corpus with one item changed."""
    items = list(corpus.items)
    items[place] = replace(items[place], **fields)
    return replace(corpus, items=tuple(items))


@dataclass
class Overlap:
    """Similarities of pairs by words in common, in the place of BERTScore."""

    identity: dict[str, Any] = field(default_factory=lambda: {"score": "words in common"})
    layer: int = 1
    place: EncoderPlace = EncoderPlace(Path(), Identity("words", "words"), 1)  # noqa: RUF009

    def of(self, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], float]:
        return {pair: overlap(*pair) for pair in pairs}


def overlap(one: str, other: str) -> float:
    ours, theirs = (Counter(re.findall(r"\w+", text.lower())) for text in (one, other))
    size = ours.total() + theirs.total()
    return 2 * (ours & theirs).total() / size if size else 0.0


class Words:
    """Vectors of texts: the sum of a direction for each word."""

    identity = Identity("words", "words")

    def of(self, texts: Sequence[str], *, prompt: str = "") -> Vectors:
        found = np.stack([self._sum(prompt + text) for text in texts])
        return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)

    def _sum(self, text: str) -> npt.NDArray[np.float64]:
        counts = Counter(re.findall(r"\w+", text.lower()) or ["nothing"])
        return np.asarray(np.sum([n * _direction(word) for word, n in counts.items()], axis=0))


@cache
def _direction(word: str) -> npt.NDArray[np.float64]:
    return np.random.default_rng(zlib.crc32(word.encode())).standard_normal(64)


class Verbs:
    """A parser that knows some verbs: one hangs on the one before it, all else on the nearest verb."""

    def __init__(self, *_: Any) -> None:
        pass

    def of(self, texts: Sequence[str]) -> Iterator[Parse]:
        return map(_parsed, texts)


_VERBS = {
    "beats": "beat",
    "crosses": "cross",
    "goes": "go",
    "stretches": "stretch",
    **{
        f"{verb}s": verb for verb in ("climb", "drop", "hide", "jump", "lock", "look", "open", "pick", "pour")
    },
    **{f"{verb}s": verb for verb in ("rain", "read", "rise", "run", "see", "sing", "sit", "sleep", "smile")},
    **{f"{verb}s": verb for verb in ("start", "stop", "take", "throw", "walk", "wave", "yawn")},
    "look": "look",
}


def _parsed(text: str) -> Parse:
    words = re.findall(r"\w+|[^\w\s]", text)
    tokens: list[Token] = []
    first = verb = 0
    for place, word in enumerate(words):
        if begins := place == 0 or words[place - 1] == ".":
            rest = words[place : words.index(".", place) if "." in words[place:] else None]
            first = verb = place + next((k for k, one in enumerate(rest) if one in _VERBS), 0)
        tokens.append(_token(word, place, first, verb, begins))
        verb = place if word in _VERBS else verb
    return Parse(tuple(tokens))


def _token(word: str, place: int, first: int, verb: int, begins: bool) -> Token:
    here, sign = word in _VERBS, not word.isalnum()
    return Token(
        text=word,
        lemma=_VERBS.get(word, word.lower()),
        pos="VERB" if here else "PUNCT" if sign else "NOUN",
        tag="VBZ" if here else "." if sign else "NN",
        dep="ROOT" if place == first else "conj" if here else "punct" if sign else "dobj",
        head=place if place == first else verb,
        begins=begins,
        space=not sign,
    )


class Matcher:
    """METEOR's program: words of the likest reference that are in the prediction, in one run or in two."""

    def __init__(self, *_: Any) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def ask(self, lines: Sequence[str]) -> Iterator[str]:
        for line in lines:
            kind, *references, said = [part.split() for part in line.split("|||")]
            assert kind == ["SCORE"]
            best = max(references, key=lambda words: len(set(words) & set(said)))
            n = (Counter(said) & Counter(best)).total()
            runs = 0 if not n else 1 if said == best else 2
            told = (len(said), len(best), 0, 0, n, n, *[0] * 14, runs, n, n)
            yield " ".join(map(str, map(float, told)))


def spice(_: Spice, question: Path, answer: Path) -> None:
    """SPICE's program: words for tuples."""
    told = []
    for item in json.loads(question.read_text(encoding="utf-8")):
        said, wanted = set(item["test"].split()), set(" ".join(item["refs"]).split())
        both = len(said & wanted)
        counts = {"tp": both, "fp": len(said) - both, "fn": len(wanted) - both}
        scores = {**counts, "f": 2 * both / (len(said) + len(wanted))}
        told.append({"image_id": item["image_id"], "scores": {"All": scores}})
    answer.write_text(json.dumps(told), encoding="utf-8")


@contextmanager
def benches(folder: Path) -> Iterator[MakeBench]:
    """Makes benches: ``make(store, **settings of measures)``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "check_installed", lambda: None)
        patch.setattr(room, "make_embedder", lambda *_, **__: Words())
        patch.setattr(room, "embedding_model", lambda name, *_: {"model": name, "revision": "1"})
        patch.setattr(recall, "check_name", lambda _: None)
        patch.setattr(room, "find_parser", lambda name, *_: ParserModel(name, "1", "verbs"))
        patch.setattr(room, "Parser", Verbs)
        install_coco(folder, patch)
        yield bench_of


def bench_of(store: Store | None = None, *, stubs: bool = True, **measures: Any) -> Bench:
    tree: dict[str, Any] = {"judge": {"engines": [WORDS]}}
    for name, settings in measures.items():
        tree[name] = {**tree.get(name, {}), **settings} if isinstance(settings, dict) else settings
    bench = Bench(Config.model_validate({"measures": tree}), store or Store())
    if stubs:
        bench.once("pair scores", Overlap)
    return bench


def install_coco(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """A package pycocoevalcap and CoreNLP of empty files, and programs that answer."""
    package, jars = folder / "site" / "pycocoevalcap", folder / "jars"
    paths = (
        "meteor/meteor-1.5.jar",
        "meteor/data/paraphrase-en.gz",
        "spice/spice-1.0.jar",
        "spice/lib/a.jar",
    )
    for path in (*(package / path for path in paths), *(jars / name for name in CORENLP)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    patch.syspath_prepend(str(package.parent))
    for name in [name for name in sys.modules if name.startswith("pycocoevalcap")]:
        patch.delitem(sys.modules, name)
    patch.setenv("SHOTAD_SPICE_JARS", str(jars))
    patch.setattr(java_metrics, "java_program", lambda _: Path("java"))
    patch.setattr(java_metrics, "java_version", lambda *_: 11)
    patch.setattr(java_metrics, "Conversation", Matcher)
    patch.setattr(Spice, "_run", spice)


def scored(name: str, corpus: Corpus, bench: Bench, places: Sequence[int] | None = None) -> Result:
    return score(metric_of(name, bench), corpus, bench, places)


def metric_of(name: str, bench: Bench) -> Metric:
    return make_metric(name, bench)
