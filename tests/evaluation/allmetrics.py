"""A corpus with everything in it, and contexts in which every metric of the table runs without a real model.

Stand-ins of models and programs are in `standins`; the judge is that of the judges' tests.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from shotad.core import Config, Interval
from shotad.evaluation import (
    METRICS,
    Corpus,
    Item,
    MetricContext,
    Result,
    Row,
    Store,
    make_metric,
    score,
)
from tests.evaluation.judges.judging import WORDS
from tests.evaluation.standins import NoVerbs, Overlap, StandInParses, Words, parse_verbs

CORENLP = ("stanford-corenlp-3.6.0.jar", "stanford-corenlp-3.6.0-models.jar")
NAMES = tuple(METRICS)
ALONG = ("repetition", "repetition-meaning", "names-kept")
"""Measures along a film: what is not said is neither gain nor loss."""
MakeBench = Callable[..., MetricContext]

FILMS: dict[str, tuple[tuple[str, ...], str]] = {
    "alpha": (("Ann Miller", "Bob Hart", "Dr. Cole"), """
Ann Miller opens the heavy door and smiles. | She opens the heavy door. | She smiles.
Bob Hart walks slowly to the window. | He walks slowly to the window.
He picks up a gun, then drops it. | He picks up a gun. | He drops it.
Ann runs down the stairs in the dark. | She runs down the stairs in the dark.
A grey dog jumps over the garden fence.
Ann and Bob look at each other. | They look at each other.
Dr. Cole takes off his glasses. | He takes off his glasses.
She sits on the edge of a bed.
"""),
    "beta": (("Tony Wendice", "Margot Smith"), """
Tony pours two glasses of red wine. | He pours two glasses of red wine.
Margot reads a letter by the fire. | She reads a letter by the fire.
Tony locks the drawer of his desk. | He locks the drawer of his desk.
She hides the letter behind a clock.
Rain beats against the window panes.
"""),
    "gamma": ((), """
A train crosses the old iron bridge.
Smoke rises from the chimney tops.
"""),
}  # fmt: skip
"""Casts, and human ADs with their actions (where they are others). No two lines are equal, and each has four words
or more."""

MIXED: tuple[str | None, ...] = (
    "Ann Miller opens a door.", "Bob goes to the window.", "He drops a gun.", None,
    "A dog jumps over the fence.", "", "A man takes off his glasses.", "She opens a door.",
    "Tony pours a glass of wine.", "Margot reads a letter.", "…", "Margot reads a letter.", "It rains.", None,
    "Smoke rises.",
)  # fmt: skip
"""Predictions of a middling system: two are missing, two say nothing, two of one film are equal."""

VARIED: tuple[str | None, ...] = (
    "Ann Miller opens the heavy door, then smiles at Bob.", "Bob Hart strolls to the window and looks out.",
    "He grabs a gun and drops it.", "Ann is running up the stairs in the dark; she falls.",
    "A dog sleeps by the garden fence.", "They stare at each other. Bob nods.",
    "Dr. Cole puts on his glasses.", "Sitting on a bed, she waits.",
    "Two glasses of red wine are poured by Tony.",
    "Margot hesitates for a moment, then tears up a letter and throws it into the fire.",
    "Wendice locks a drawer.", "She doesn't hide the letter behind a clock.", "Rain.",
    "A train that crosses the old bridge whistles twice.", "Smoke rises, 3.5 m high, from the chimney tops!",
)  # fmt: skip
"""Synonyms, passives, abbreviations, two verbs, none: what the ways to read a text differ in."""


def corpus_of(
    pairs: Iterable[tuple[str, str | None]],
    *,
    film: str = "film",
    casts: dict[str, tuple[str, ...]] | None = None,
) -> Corpus:
    """One film whose k-th AD is spoken from second 10 k on; pairs are the human AD and the prediction."""
    items = (
        Item(f"{film}-{k}", film, Interval(10.0 * k, 10.0 * k + 3), (reference,), prediction)
        for k, (reference, prediction) in enumerate(pairs)
    )
    return Corpus(tuple(items), casts or {})


def human() -> Corpus:
    """The human ADs as their own predictions; their actions, in Stage I's form, as descriptions."""
    items = []
    for film, (_, lines) in FILMS.items():
        for k, line in enumerate(lines.strip().splitlines()):
            text, *others = line.split(" | ")
            actions = tuple(others) or (text,)
            description = (
                f"1. Main characters: Somebody.\n2. Actions: {' '.join(actions)}\n3. Interactions: None."
            )
            time = Interval(10.0 * k, 10.0 * k + 3)
            items.append(
                Item(f"{film}-{k}", film, time, (text,), text, description=description, actions=actions)
            )
    return Corpus(tuple(items), {film: cast for film, (cast, _) in FILMS.items() if cast}, "made")


def predicted(texts: Sequence[str | None], corpus: Corpus | None = None, failure: str = "") -> Corpus:
    """The corpus with these predictions, and with them as what Stage I saw."""
    corpus = corpus or human()
    items = []
    for item, text in zip(corpus.items, texts, strict=True):
        description = None if text is None else f"1. Main characters: Somebody.\n2. Actions: {text}"
        item_failure = failure if text is None else ""
        items.append(replace(item, prediction=text, failure=item_failure, description=description))
    return replace(corpus, items=tuple(items))


def mixed() -> Corpus:
    return predicted(MIXED)


def changed(corpus: Corpus, place: int, **fields: Any) -> Corpus:
    """The corpus with one item changed."""
    items = list(corpus.items)
    items[place] = replace(items[place], **fields)
    return replace(corpus, items=tuple(items))


def bench_of(store: Store | None = None, *, stubs: bool = True, **measures: Any) -> MetricContext:
    """A context with these settings of measures and, with ``stubs``, stand-ins of all models."""
    tree: dict[str, Any] = {"judge": {"engines": [WORDS]}}
    for name, settings in measures.items():
        tree[name] = {**tree.get(name, {}), **settings} if isinstance(settings, dict) else settings
    bench = MetricContext(Config.model_validate({"measures": tree}), store or Store())
    bench.once("verbs", NoVerbs)
    if stubs:
        bench.once("pair scores", Overlap)
        bench.once("vectors", Words)
        bench.once("parses", lambda: StandInParses(parse_verbs))
    return bench


def coco_files(folder: Path, patch: pytest.MonkeyPatch) -> Path:
    """A package pycocoevalcap of empty files, which goes before an installed one, and CoreNLP's; the package."""
    package, jars = folder / "site" / "pycocoevalcap", folder / "jars"
    names = ("__init__.py", "meteor/meteor-1.5.jar", "meteor/data/paraphrase-en.gz", "spice/spice-1.0.jar")
    for path in (*(package / name for name in names), *(jars / name for name in CORENLP)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    patch.syspath_prepend(str(package.parent))
    for name in [name for name in sys.modules if name.startswith("pycocoevalcap")]:
        patch.delitem(sys.modules, name)
    patch.setenv("SHOTAD_SPICE_JARS", str(jars))
    return package


def scored(name: str, corpus: Corpus, bench: MetricContext, places: Sequence[int] | None = None) -> Result:
    return score(make_metric(name, bench), corpus, bench, places)


def joined_actions() -> Corpus:
    corpus = human()
    return predicted([" ".join(item.actions or ()) for item in corpus.items], corpus)


BOUNDS = {
    **dict.fromkeys(NAMES, 100.0), "cider": 1000.0, "cider-plain": 1000.0, "action": 150.0,
    "action-description": 150.0, "llm-ad-eval": 5.0, "llm-action": 3.0,
}  # fmt: skip
"""Of every AD (reference-facts 5.4). The action and event scores reach theirs where the actions are told one by
one; the measures along a film have no bound but the human ADs' own."""


def by_id(result: Result) -> dict[str, Row]:
    return {row.id: row for row in result.rows}


def bytes_of(result: Result) -> str:
    return json.dumps([asdict(row) for row in result.rows], ensure_ascii=False)
