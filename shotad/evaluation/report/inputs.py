"""What a report is made from, with files and texts named by their content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from shotad.core import Config, EvaluationError, file_sha256
from shotad.evaluation.metric import Corpus, Item, Result

Protocol = Literal["single", "assisted", "inter-rater"]
"""One prediction for each AD; the best of several by an expert; another human AD."""

_NOTHING = ("", "no prediction")
"""Failures of an item that mean that there is no prediction for it."""


AND = " + "
"""Between the names of several files, and between their hashes."""


@dataclass(frozen=True, slots=True)
class Predictions:
    """The file of predictions: its name without a folder, its hash, and what its maker is called."""

    name: str
    sha256: str = ""
    system: str = ""

    @classmethod
    def of(cls, *paths: Path, system: str = "") -> Predictions:
        """Those of a file, or of several: names and hashes are then joined by plus signs, in one order.

        Raises EvaluationError where one cannot be read.
        """
        names, hashes = [path.name for path in paths], [file_hash(path) for path in paths]
        return cls(AND.join(names), AND.join(hashes), system)

    @property
    def called(self) -> str:
        """The system's name, or the file's."""
        return self.system or self.name


LeftOut = tuple[str, str]
"""A metric that was asked for and could not be counted, and why."""


@dataclass(frozen=True, slots=True)
class ReportInput:
    """All that a report speaks of.

    ``corpus`` is the whole dataset with its predictions; the results' rows may be those of a shard of it.
    Of the predictions ``extra`` are of no AD, ``doubled`` ids came more than once.
    ``configs`` and ``assignments`` are what the user named by ``--config`` and ``--set``. ``title`` is the
    dataset's, ``films`` the titles of films by `Item.film`, where they are known.
    """

    corpus: Corpus
    config: Config
    predictions: Predictions
    results: tuple[Result, ...] = ()
    extra: int = 0
    doubled: int = 0
    left_out: tuple[LeftOut, ...] = ()
    configs: tuple[str, ...] = ()
    assignments: tuple[str, ...] = ()
    title: str = ""
    films: Mapping[str, str] = field(default_factory=dict)
    protocol: Protocol = "single"
    notes: tuple[str, ...] = ()
    """For people: what else is to be said of this run."""
    findings: tuple[str, ...] = ()
    """For who looks on: what reading the files brought to light."""

    @property
    def dataset(self) -> str:
        """The dataset's title, or its name."""
        return self.title or self.corpus.dataset or "no named dataset"

    @property
    def items(self) -> tuple[Item, ...]:
        """The ADs that any result speaks of, in the corpus's order."""
        scored = {row.id for result in self.results for row in result.rows}
        return tuple(item for item in self.corpus.items if item.id in scored)

    @property
    def skipped(self) -> tuple[Item, ...]:
        """ADs without a prediction that were left out, because the user said so."""
        if self.config.measures.missing != "skip":
            return ()
        here = {item.id for item in self.items}
        return tuple(i for i in self.corpus.items if i.prediction is None and i.id not in here)

    @property
    def missing(self) -> tuple[Item, ...]:
        """ADs of this report that nothing was predicted for: they count as 0."""
        return tuple(i for i in self.items if i.prediction is None and i.failure in _NOTHING)

    @property
    def failed(self) -> tuple[Item, ...]:
        """ADs of this report whose prediction says that it failed: they count as 0."""
        return tuple(i for i in self.items if i.prediction is None and i.failure not in _NOTHING)

    def film_called(self, film: str) -> str:
        """The film's title, or what the dataset calls it."""
        return self.films.get(film) or film


def base_name(name: str) -> str:
    """``llm-ad-eval@openai:gpt-4o → llm-ad-eval``: the metric without the judge."""
    return name.partition("@")[0]


def file_hash(path: Path) -> str:
    """SHA-256 of the file's bytes, in hex. Raises EvaluationError where it cannot be read."""
    try:
        return file_sha256(path)
    except OSError as error:
        raise EvaluationError(f"{path} cannot be read: {error.strerror}.") from None


def texts_hash(corpus: Corpus) -> str:
    """SHA-256 of all ids and human ADs, in hex; the order of the items does not matter."""
    lines = sorted(
        json.dumps([item.id, item.film, list(item.references)], ensure_ascii=True) for item in corpus.items
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def actions_hash(corpus: Corpus) -> str:
    """SHA-256 of all ids and the human ADs' actions, in hex; empty where none are known."""
    known = sorted((item.id, *item.actions) for item in corpus.items if item.actions)
    return hashlib.sha256(json.dumps(known).encode()).hexdigest() if known else ""


def casts_hash(corpus: Corpus) -> str:
    """SHA-256 of the characters' names of the corpus's films, in hex; empty where none are known."""
    films = {item.film for item in corpus.items}
    known = sorted((film, *names) for film, names in corpus.casts.items() if film in films and names)
    return hashlib.sha256(json.dumps(known).encode()).hexdigest() if known else ""
