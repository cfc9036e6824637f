"""What all metrics by a judge have in common: what is not asked, what a failure is, who judged.

A missing or failed prediction scores 0, and so does one without a word; neither is asked about. Where the
judge itself fails, its answer counts as 0 too and `Row.failure` begins with ``judge:``, so that it can be
told from a failure of the system.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Self, TypeVar

from shotad.description import check_templates, prompt_hash
from shotad.evaluation.judges import asking
from shotad.evaluation.judges.asking import Answer, Judge
from shotad.evaluation.judges.names import judge_of
from shotad.evaluation.measure.bench import Bench
from shotad.evaluation.measure.items import Corpus, Item
from shotad.evaluation.measure.rows import Figure, Json, Result, Row
from shotad.evaluation.measure.scoring import JUDGE_FAILED

T = TypeVar("T")

NO_PREDICTION = "no prediction"
_BY_JUDGE = f"{JUDGE_FAILED} "
_WORD = re.compile(r"[^\W_]")


class JudgedMetric:
    """A metric by one judge. Made by `of`; ``title`` names metric and judge."""

    heading: ClassVar[str]
    version: ClassVar[int]
    """Of the definition and of how answers are read; a higher one makes kept rows stale."""
    templates: ClassVar[Mapping[str, tuple[str, ...]]]
    paper_judges: ClassVar[re.Pattern[str] | None] = None
    """Models by which the paper's numbers were made."""
    columns: tuple[str, ...] = ("score", "ADs")
    figure = Figure()

    def __init__(self, name: str, judge: Judge, bench: Bench) -> None:
        check_templates({**self.templates, **asking.TEMPLATES})
        self.name = name
        self.title = f"{self.heading} ({judge.name})"
        self.remarks: tuple[str, ...] = self._remarks(judge)
        self.comparable = self.paper_judges is not None and bool(self.paper_judges.search(judge.model))
        self._judge = judge
        self._settings = bench.settings.judge

    @classmethod
    def of(cls, name: str, bench: Bench) -> Self:
        """The metric called ``METRIC@JUDGE``, or ``METRIC`` where the settings have one judge.

        Loads no model. Raises ShotadError where no judge is named, or one that is unknown or cannot
        work here.
        """
        return cls(name, Judge(judge_of(name, bench.settings.judge.engines), bench), bench)

    @property
    def identity(self) -> Json:
        """Definition, prompts, settings, and who judges. Fetches the judge's model."""
        return {
            "metric": self.name.partition("@")[0],
            "version": self.version,
            "prompts": prompt_hash([*self.templates, *asking.TEMPLATES]),
            "judge": self._judge.identity,
            **self._more_identity(),
        }

    def basis(self, corpus: Corpus) -> str:
        """Nothing: a row depends on its own texts."""
        return ""

    def _more_identity(self) -> Json:
        return {}

    def _remarks(self, judge: Judge) -> tuple[str, ...]:
        sent = f"Texts were sent to {judge.sends_to}." if judge.sends_to else ""
        return (f"{self.heading}: judged by {judge.name}, asked in our own words.", *([sent] if sent else []))


def by_judge(answers: Sequence[Answer[T]]) -> str:
    """What went wrong with the judge, as a row's failure; empty where nothing did."""
    wrong = [answer.failure for answer in answers if answer.value is None]
    if not wrong:
        return ""
    some = f"{len(wrong)} of {len(answers)} answers: " if len(answers) > 1 else ""
    return f"{_BY_JUDGE}{some}{wrong[0]}"


def judge_failures(result: Result) -> int:
    """How many rows count as 0, in whole or in part, for a failure of the judge and not of the system."""
    return sum(row.failure.startswith(_BY_JUDGE) for row in result.rows)


def says_something(text: str | None) -> bool:
    """Whether a text has a letter or a digit."""
    return text is not None and _WORD.search(text) is not None


def unasked(item: Item) -> Row:
    """The row of an item whose prediction is missing, failed or without a word: 0."""
    failure = item.failure or NO_PREDICTION if item.prediction is None else ""
    return Row(item.id, (0.0, 1.0), 0.0, failure)


def in_groups(places: Sequence[int], size: int = 128) -> Iterator[Sequence[int]]:
    """The places in order, ``size`` at a time."""
    for first in range(0, len(places), size):
        yield places[first : first + size]
