"""Metrics by a judge on single ADs: LLM-AD-Eval and the LLM action metric.

Story recall: how much of the human AD's story a run of predicted lines conveys, by a judge.

The idea is that of CoherentAD's StoryRecall (Khandelwal et al., "More than a Moment", 2025); the definition
is our own, so that a number can be looked into:

1. The human ADs of a film, in order of time, are cut into passages of ``story_lines`` lines, without overlap;
   the last is shorter.
2. Of each passage's human lines the judge lists the key events. They are kept: every system is held against
   the same events.
3. Of each event the judge says whether the predicted lines of the same passage, alone, convey it:
   no 0, partly 0.5, yes 1.

A missing line says nothing in its passage; a passage without any predicted line conveys nothing, unasked.
Where the judge lists no events that can be read, the passage counts 0 of as many events as it has lines.

The figure is 100 times the points over the events of all passages, so each event weighs the same.

Sums are spread evenly: each of a passage's n lines has 1/n of the passage's points and events. Shards by film
add up to the whole, and a line that is left out takes its share along. Since the lines of a passage
have one value in common, an interval over lines, as of one film, is too narrow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shotad.evaluation.judges import prompts
from shotad.evaluation.judges.asking import Answer, Judge
from shotad.evaluation.judges.verdicts import (
    NO_PREDICTION,
    JudgedMetric,
    by_judge,
    in_groups,
    says_something,
    unasked,
)
from shotad.evaluation.measure.items import Corpus, Item
from shotad.evaluation.measure.rows import Figure, Json, Row

_TOGETHER = 16
"""Passages that are asked about together."""

Verdict = tuple[str, str]
"""no, partly or yes, and the reason."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Consecutive human lines and what was predicted for them; ``predicted`` has "" for each missing line."""

    human: tuple[str, ...]
    predicted: tuple[str, ...]

    @property
    def told(self) -> tuple[str, ...]:
        """The predicted lines that say something."""
        return tuple(line for line in self.predicted if says_something(line))


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found of a passage. ``events`` counts them; where they are not known, one for each line."""

    points: float
    events: int
    failure: str
    notes: Mapping[str, Any]


class StoryRecall(JudgedMetric):
    """How much of the human AD's story the predicted ADs convey, passage by passage, times 100."""

    heading = "Story recall"
    version = 1
    templates = prompts.STORY_TEMPLATES
    columns = ("events conveyed", "events")
    figure = Figure(factor=100.0)

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        """The texts of the whole passage, and whether the line itself has a prediction."""
        passages = self._passages(corpus)
        return [
            {
                "human": passages[place].human,
                "predicted": passages[place].predicted,
                "missing": corpus.items[place].prediction is None,
            }
            for place in places
        ]

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterator[Row]:
        """One row for each place, in order; equal passages are asked about once."""
        passages = self._passages(corpus)
        judged: dict[Passage, Judged] = {}
        waiting = list(places)
        for group in _groups(list(dict.fromkeys(passages[place] for place in places))):
            judged.update(zip(group, self._judged(group), strict=True))
            while waiting and passages[waiting[0]] in judged:
                place = waiting.pop(0)
                yield _row(corpus.items[place], passages[place], judged[passages[place]])

    def _passages(self, corpus: Corpus) -> dict[int, Passage]:
        """The passage that each place belongs to."""
        found: dict[int, Passage] = {}
        for film in corpus.films().values():
            for places in in_groups(film, self._settings.story_lines):
                items = [corpus.items[place] for place in places]
                passage = Passage(
                    tuple(item.reference for item in items), tuple(item.prediction or "" for item in items)
                )
                found.update(dict.fromkeys(places, passage))
        return found

    def _judged(self, passages: Sequence[Passage]) -> list[Judged]:
        listed = list(self._judge.answers([prompts.events_question(one.human) for one in passages]))
        verdicts = self._judge.answers(
            [
                prompts.conveyed_question(event, passage.told)
                for passage, events in zip(passages, listed, strict=True)
                for event in _asked(passage, events)
            ]
        )
        return [
            _of_passage(passage, events, [next(verdicts) for _ in _asked(passage, events)])
            for passage, events in zip(passages, listed, strict=True)
        ]

    def _more_identity(self) -> Json:
        return {"story_lines": self._settings.story_lines}

    def _remarks(self, judge: Judge) -> tuple[str, ...]:
        shared = (
            "The lines of a passage share one value: an interval over lines, as of one film, is too narrow."
        )
        return (*super()._remarks(judge), shared)


def _groups(passages: Sequence[Passage]) -> Iterator[Sequence[Passage]]:
    for first in range(0, len(passages), _TOGETHER):
        yield passages[first : first + _TOGETHER]


def _asked(passage: Passage, events: Answer[tuple[str, ...]]) -> tuple[str, ...]:
    """The events that are asked about: none where nothing was predicted at all."""
    return (events.value or ()) if passage.told else ()


def _of_passage(
    passage: Passage, events: Answer[tuple[str, ...]], verdicts: Sequence[Answer[Verdict]]
) -> Judged:
    if events.value is None:
        return Judged(0.0, len(passage.human), by_judge([events]), {"events": []})
    said = [one.value or ("", one.failure) for one in verdicts] or [("no", "")] * len(events.value)
    notes = [
        {"event": event, "conveyed": verdict, "reason": reason}
        for event, (verdict, reason) in zip(events.value, said, strict=True)
    ]
    points = sum(prompts.CONVEYED.get(verdict, 0.0) for verdict, _ in said)
    return Judged(points, len(events.value), by_judge(verdicts), {"events": notes})


def _row(item: Item, passage: Passage, judged: Judged) -> Row:
    lines = len(passage.human)
    sums = (judged.points / lines, judged.events / lines)
    value = 100.0 * judged.points / judged.events
    return Row(item.id, sums, value, judged.failure or _missing(item), {"lines": lines, **judged.notes})


def _missing(item: Item) -> str:
    return (item.failure or NO_PREDICTION) if item.prediction is None else ""


__all__ = ["LlmAction", "LlmAdEval", "StoryRecall"]


class LlmAdEval(JudgedMetric):
    """How well the prediction tells what the human AD tells, by a judge (AutoAD-III; Shot-by-Shot, Table 7).

    A whole number for each AD: from 1 to 5, or from 0 to 5 as in the published code; 0 for what is missing
    or cannot be read. The figure is the mean.
    """

    heading = "LLM-AD-Eval"
    version = 1
    templates = prompts.AD_TEMPLATES
    paper_judges = re.compile(r"llama[-_ ]?3(?![.\d])[-_: ]?8b|llama[-_ ]?2[-_: ]?7b|^llama3$", re.IGNORECASE)

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        """The two texts, the second None where it is missing."""
        items = [corpus.items[place] for place in places]
        return [{"reference": item.reference, "prediction": item.prediction} for item in items]

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterator[Row]:
        """One row for each place, in order."""
        for group in in_groups(places):
            items = [corpus.items[place] for place in group]
            answers = self._judge.answers(
                [
                    prompts.ad_question(item.reference, item.prediction or "", self._settings.lowest)
                    for item in items
                    if says_something(item.prediction)
                ]
            )
            for item in items:
                yield _score_row(item, next(answers)) if says_something(item.prediction) else unasked(item)

    def _more_identity(self) -> Json:
        return {"lowest": self._settings.lowest}


class LlmAction(JudgedMetric):
    """Whether the actions of the human AD are told, by a judge (Shot-by-Shot, appendix D).

    For each action 0 unrelated, 1 loosely related, 2 similar meaning, 3 the same with the same verb; the mean
    over the AD's actions, then over ADs. An AD whose actions are not known says nothing.
    """

    heading = "LLM action"
    version = 1
    templates = prompts.ACTION_TEMPLATES
    paper_judges = re.compile(r"llama[-_ ]?3\.1[-_: ]?70b|gpt-4o(?!-mini)", re.IGNORECASE)

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        """The actions, and the prediction, None where it is missing."""
        items = [corpus.items[place] for place in places]
        return [{"actions": item.actions or None, "prediction": item.prediction} for item in items]

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterator[Row]:
        """One row for each place, in order."""
        for group in in_groups(places):
            items = [corpus.items[place] for place in group]
            asked = [_actions_asked(item) for item in items]
            answers = self._judge.answers(
                [
                    prompts.action_question(action, item.prediction or "")
                    for item, actions in zip(items, asked, strict=True)
                    for action in actions
                ]
            )
            for item, actions in zip(items, asked, strict=True):
                yield _action_row(item, actions, [next(answers) for _ in actions])


def _score_row(item: Item, answer: Answer[int]) -> Row:
    score = float(answer.value or 0)
    return Row(item.id, (score, 1.0), score, by_judge([answer]))


def _actions_asked(item: Item) -> tuple[str, ...]:
    return item.actions or () if says_something(item.prediction) else ()


def _action_row(item: Item, actions: Sequence[str], answers: Sequence[Answer[tuple[int, str]]]) -> Row:
    if not item.actions:
        return Row(item.id, (0.0, 0.0), None)
    if not actions:
        return unasked(item)
    said = [answer.value or (0, answer.failure) for answer in answers]
    mean = sum(score for score, _ in said) / len(said)
    notes = {
        "actions": [
            {"action": action, "score": score, "reason": reason}
            for action, (score, reason) in zip(actions, said, strict=True)
        ]
    }
    return Row(item.id, (mean, 1.0), mean, by_judge(answers), notes)
