"""Metrics by a judge on single ADs: LLM-AD-Eval and the LLM action metric. Story recall is in `story`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from shotad.evaluation.judges import prompts
from shotad.evaluation.judges.asking import Answer
from shotad.evaluation.judges.story import StoryRecall
from shotad.evaluation.judges.verdicts import JudgedMetric, by_judge, in_groups, says_something, unasked
from shotad.evaluation.measure.items import Corpus, Item
from shotad.evaluation.measure.rows import Json, Row

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
