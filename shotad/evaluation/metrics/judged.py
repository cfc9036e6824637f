"""Metrics by a judge: LLM-AD-Eval (Han et al., AutoAD-III, 2024) and the LLM action metric (Xie et al.,
Shot-by-Shot, 2025, appendix D) on single ADs, story recall on passages.

A missing or failed prediction scores 0, and so does one without a word; neither is asked about. Where the
judge itself fails, its answer counts as 0 too and `Row.failure` begins with ``judge:``. The words of the
questions are our own, in ``prompts/judge``.

Story recall is how much of the human AD's story a run of predicted lines conveys. The idea is CoherentAD's
(Khandelwal et al., "More than a Moment", 2025), the definition our own:

1. The human ADs of a film are cut into passages of ``story_lines`` lines; the last is shorter. 2. Of each
passage's human lines the judge lists the key events. They are kept: every system is held against the same
events. 3. Of each event the judge says whether the predicted lines of the passage, alone, convey it: no 0,
partly 0.5, yes 1. A passage without any predicted line conveys nothing, unasked; where the judge lists no
events that can be read, it counts 0 of as many events as it has lines.

The figure is 100 times the points over the events of all passages. Sums are spread evenly over a passage's
lines, so that shards by film add up to the whole, and a line that is left out takes its share along.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from shotad.core.model_cache import ModelNeed
from shotad.core.progress import without_folder
from shotad.evaluation.metric import Corpus, Item, Json, Metric, MetricFormula, Row, says_something
from shotad.evaluation.metrics.judge import (
    SENTENCE,
    Judge,
    Question,
    by_judge,
    checked_prompts,
    judge_of,
    listing,
    map_items,
    points,
    question,
    word,
)
from shotad.evaluation.store import MetricContext

T = TypeVar("T")

CONVEYED = {"no": 0.0, "partly": 0.5, "yes": 1.0}
"""What a run of lines gets for each event of the human run."""

_EVENT_TOKENS = 48
"""Room for one event, a short sentence, in JSON."""


class JudgedMetric(Metric):
    """A metric by one judge, called ``METRIC@JUDGE``, or ``METRIC`` where the settings have one judge;
    ``title`` names metric and judge."""

    heading: ClassVar[str]
    version: ClassVar[int]
    """Of the definition and of how answers are read; a higher one makes kept rows stale."""
    paper_judges: ClassVar[re.Pattern[str] | None] = None
    """Models by which the paper's numbers were made."""
    figure = MetricFormula()

    def __init__(self, name: str, context: MetricContext) -> None:
        """Loads no model. Raises ShotadError where no judge is named, or one that is unknown or cannot work
        here."""
        super().__init__(name, context)
        self._prompts = checked_prompts()
        self._judge = Judge(judge_of(name, context.settings.judge.engines), context)
        self.model = f"judge {self._judge.name}"
        self._lowest = 0 if context.settings.rules == "code" else 1
        self.title = f"{self.heading} ({without_folder(self._judge.name)})"

    @classmethod
    def needs(cls, name: str, context: MetricContext) -> tuple[ModelNeed, ...]:
        return Judge(judge_of(name, context.settings.judge.engines), context).needs

    @property
    def comparable(self) -> bool:
        return self.paper_judges is not None and bool(self.paper_judges.search(self._judge.model))

    @property
    def remarks(self) -> tuple[str, ...]:
        judge = self._judge
        sent = f"Texts were sent to {judge.sends_to}." if judge.sends_to else ""
        return (
            f"{self.heading}: judged by {without_folder(judge.name)}, asked in our own words.",
            *([sent] if sent else []),
        )

    @property
    def identity(self) -> Json:
        """Definition, prompts, settings, and who judges. Fetches the judge's model."""
        return {
            "metric": self.name.partition("@")[0],
            "version": self.version,
            "prompts": self._prompts,
            "judge": self._judge.identity,
        }

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterator[Row]:
        items = [corpus.items[place] for place in places]
        yield from map_items(self._row, items, [self._judge])

    def _row(self, item: Item) -> Row:
        """The row of one item; asks the judge."""
        raise NotImplementedError


def unasked(item: Item) -> Row:
    """The row of an item whose prediction is missing, failed or without a word: 0."""
    return Row(item.id, (0.0, 1.0), 0.0, item.missing)


STORY_LINES = 12
"""Lines of human AD that are one piece of the story: about two minutes of a film."""


def in_passages(lines: Sequence[T]) -> Iterator[Sequence[T]]:
    """Lines in order, `STORY_LINES` at a time."""
    for first in range(0, len(lines), STORY_LINES):
        yield lines[first : first + STORY_LINES]


Passage = tuple[tuple[str, ...], tuple[str, ...]]
"""Consecutive human lines and what was predicted for them, "" for each missing line."""
Verdict = tuple[float, int, str, Mapping[str, Any]]
"""What the judge says of a passage: points, events (where they are not known, one for each line), what
failed, and notes."""


class StoryRecall(JudgedMetric):
    """How much of the human AD's story the predicted ADs convey, passage by passage, times 100."""

    heading = "Story recall"
    version = 1
    columns = ("events conveyed", "events")
    figure = MetricFormula(factor=100.0)

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        passages = self._passages(corpus)
        keys = []
        for place in places:
            human, predicted = passages[place]
            is_missing = corpus.items[place].prediction is None
            keys.append({"human": human, "predicted": predicted, "missing": is_missing})
        return keys

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterator[Row]:
        passages = self._passages(corpus)
        asked_passages = list(dict.fromkeys(passages[place] for place in places))
        coming = map_items(self._verdict, asked_passages, [self._judge])
        verdicts: dict[Passage, Verdict] = {}
        waiting = deque(places)
        for passage, verdict in zip(asked_passages, coming, strict=True):
            verdicts[passage] = verdict
            while waiting and passages[waiting[0]] in verdicts:
                place = waiting.popleft()
                human, _ = passages[place]
                yield _row_of_line(corpus.items[place], len(human), verdicts[passages[place]])

    def _passages(self, corpus: Corpus) -> dict[int, Passage]:
        """The passage of each place in ``corpus.items``."""
        passages: dict[int, Passage] = {}
        for film in corpus.films().values():
            for places in in_passages(film):
                items = [corpus.items[place] for place in places]
                human = tuple(item.reference for item in items)
                passage = human, tuple(item.prediction or "" for item in items)
                passages.update(dict.fromkeys(places, passage))
        return passages

    def _verdict(self, passage: Passage) -> Verdict:
        """Ask for the events of the human lines, then of each event whether the predicted lines convey it."""
        human, predicted = passage
        listed = self._judge.ask(events_question(human))
        if listed.value is None:
            return 0.0, len(human), by_judge([listed]), {"events": []}
        events = listed.value
        lines = [line for line in predicted if says_something(line)]
        if lines:
            answers = self._judge.ask_all([conveyed_question(event, lines) for event in events])
            verdicts = [answer.value or ("", answer.failure) for answer in answers]
            failure = by_judge(answers)
        else:
            # Nothing was predicted at all: nothing is asked.
            verdicts, failure = [("no", "")] * len(events), ""
        notes = [
            {"event": event, "conveyed": conveyed, "reason": reason}
            for event, (conveyed, reason) in zip(events, verdicts, strict=True)
        ]
        points = sum(CONVEYED.get(conveyed, 0.0) for conveyed, _ in verdicts)
        return points, len(events), failure, {"events": notes}

    @property
    def identity(self) -> Json:
        return {**super().identity, "story_lines": STORY_LINES}

    @property
    def remarks(self) -> tuple[str, ...]:
        remark = (
            "The lines of a passage share one value: an interval over lines, as of one film, is too narrow."
        )
        return (*super().remarks, remark)


def _row_of_line(item: Item, lines: int, verdict: Verdict) -> Row:
    """The row of one of the ``lines`` of a passage, each of which has the same share."""
    points, events, failure, notes = verdict
    sums = points / lines, events / lines
    value = 100.0 * points / events
    return Row(item.id, sums, value, failure or item.missing, {"lines": lines, **notes})


class LlmAdEval(JudgedMetric):
    """How well the prediction tells what the human AD tells, by a judge: the mean of a whole number for each
    AD, from 1 to 5, or from 0 to 5 as in the published code; 0 for what is missing or cannot be read."""

    heading = "LLM-AD-Eval"
    version = 1
    paper_judges = re.compile(r"llama[-_ ]?3(?![.\d])[-_: ]?8b|llama[-_ ]?2[-_: ]?7b|^llama3$", re.IGNORECASE)

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        items = [corpus.items[place] for place in places]
        return [{"reference": item.reference, "prediction": item.prediction} for item in items]

    def _row(self, item: Item) -> Row:
        if not says_something(item.prediction):
            return unasked(item)
        answer = self._judge.ask(ad_question(item.reference, item.prediction or "", self._lowest))
        score = float(answer.value or 0)
        return Row(item.id, (score, 1.0), score, by_judge([answer]))

    @property
    def identity(self) -> Json:
        return {**super().identity, "lowest": self._lowest}


class LlmAction(JudgedMetric):
    """Whether the actions of the human AD are told, by a judge: for each 0 unrelated, 1 loosely related, 2
    similar meaning, 3 the same with the same verb; the mean over the AD's actions, then over ADs. An AD whose
    actions are not known says nothing."""

    heading = "LLM action"
    version = 1
    paper_judges = re.compile(r"llama[-_ ]?3\.1[-_: ]?70b|gpt-4o(?!-mini)", re.IGNORECASE)

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        items = [corpus.items[place] for place in places]
        return [{"actions": item.actions or None, "prediction": item.prediction} for item in items]

    def _row(self, item: Item) -> Row:
        if not item.actions:
            return Row(item.id, (0.0, 0.0), None)
        if not says_something(item.prediction):
            return unasked(item)
        prediction = item.prediction or ""
        answers = self._judge.ask_all([action_question(action, prediction) for action in item.actions])
        scores = [answer.value or (0, answer.failure) for answer in answers]
        mean = sum(score for score, _ in scores) / len(scores)
        notes = [
            {"action": action, "score": score, "reason": reason}
            for action, (score, reason) in zip(item.actions, scores, strict=True)
        ]
        return Row(item.id, (mean, 1.0), mean, by_judge(answers), {"actions": notes})


def ad_question(reference: str, prediction: str, lowest: int) -> Question[int]:
    """How well does a line tell what the human line tells, from ``lowest`` (0 or 1) to 5?"""
    values = {"lowest": lowest, "reference": reference, "prediction": prediction}
    return question("judge-ad", values, {"score": points(lowest, 5)})


def action_question(action: str, prediction: str) -> Question[tuple[int, str]]:
    """Does a text tell of an action, from 0 to 3? The answer is the score, and a reason in one sentence."""
    values = {"action": action, "prediction": prediction}
    parts = {"reason": SENTENCE, "score": points(0, 3)}
    return question("judge-action", values, parts, lambda why, score: (score, why))


def events_question(lines: Sequence[str]) -> Question[tuple[str, ...]]:
    """What are the key events of these human lines? At most two for each line."""
    most = 2 * len(lines)
    room = _EVENT_TOKENS * (most + 1)
    return question("judge-events", {"lines": lines, "most": most}, {"events": listing(most)}, tokens=room)


def conveyed_question(event: str, lines: Sequence[str]) -> Question[tuple[str, str]]:
    """Do these lines convey an event? The answer is no, partly or yes, and a reason in one sentence."""
    grade = word({name: name for name in CONVEYED}, '<"yes", "partly" or "no">')
    parts = {"reason": SENTENCE, "conveyed": grade}
    values = {"lines": lines, "event": event}
    return question("judge-conveyed", values, parts, lambda why, said: (said, why))
