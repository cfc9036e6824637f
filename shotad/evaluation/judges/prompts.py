"""What judges are asked, and how their answers are read.

The contents are those of AutoAD-III's LLM-AD-Eval (Han et al., 2024), of Shot-by-Shot's LLM action metric
(Xie et al., 2025, appendix D) and of CoherentAD's StoryRecall (Khandelwal et al., 2025), of which only the
idea is taken: recall over events is our own definition. The words are our own, in ``prompts/judge``.

No template that shows the form of an answer is an answer: weak models copy it, and a copy must count as a
failure, not as a score.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from shotad.core import Message
from shotad.description import render
from shotad.evaluation.judges.answers import one_of, record_in, sentence, sentences, whole_number
from shotad.evaluation.judges.asking import Question

AD_TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "judge/ad-system": (),
    "judge/ad": ("scale", "reference", "prediction", "template"),
    "judge/ad-scale-0": (),
    "judge/ad-scale-1": (),
}
ACTION_TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "judge/action-system": (),
    "judge/action": ("action", "prediction", "template"),
}
STORY_TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "judge/events-system": (),
    "judge/events": ("lines", "most", "template"),
    "judge/conveyed-system": (),
    "judge/conveyed": ("lines", "event", "template"),
    "judge/line": ("number", "line"),
}
"""Templates of each metric and their variables."""

AD_HIGHEST = 5
ACTION_HIGHEST = 3
CONVEYED = {"no": 0.0, "partly": 0.5, "yes": 1.0}
"""What a run of lines gets for each event of the human run."""

_EVENT_TOKENS = 48
"""Room for one event, a short sentence, in JSON."""


def ad_question(reference: str, prediction: str, lowest: int) -> Question[int]:
    """How well does a line tell what the human line tells, from ``lowest`` (0 or 1) to 5?"""
    template = f'{{"score": <{lowest} to {AD_HIGHEST}>}}'
    text = render(
        "judge/ad",
        scale=render(f"judge/ad-scale-{lowest}"),
        reference=quoted(reference),
        prediction=quoted(prediction),
        template=template,
    )

    def read(answer: str) -> int:
        return whole_number(record_in(answer, ["score"])["score"], "score", lowest, AD_HIGHEST)

    schema = schema_of({"score": {"type": "integer", "minimum": lowest, "maximum": AD_HIGHEST}})
    return Question(_messages("judge/ad-system", text), schema, template, read)


def action_question(action: str, prediction: str) -> Question[tuple[int, str]]:
    """Does a text tell of an action, from 0 to 3? The answer is the score, and a reason in one sentence."""
    template = f'{{"reason": "<one sentence>", "score": <0 to {ACTION_HIGHEST}>}}'
    text = render("judge/action", action=quoted(action), prediction=quoted(prediction), template=template)

    def read(answer: str) -> tuple[int, str]:
        record = record_in(answer, ["reason", "score"])
        score = whole_number(record["score"], "score", 0, ACTION_HIGHEST)
        return score, sentence(record["reason"], "reason")

    score = {"type": "integer", "minimum": 0, "maximum": ACTION_HIGHEST}
    schema = schema_of({"reason": {"type": "string"}, "score": score})
    return Question(_messages("judge/action-system", text), schema, template, read)


def events_question(lines: Sequence[str]) -> Question[tuple[str, ...]]:
    """What are the key events of these human lines? At most two for each line."""
    most = 2 * len(lines)
    template = '{"events": ["…", "…", …]}'
    text = render("judge/events", lines=numbered(lines), most=str(most), template=template)

    def read(answer: str) -> tuple[str, ...]:
        return sentences(record_in(answer, ["events"])["events"], "events", most)

    schema = schema_of({"events": {"type": "array", "items": {"type": "string"}}})
    return Question(
        _messages("judge/events-system", text), schema, template, read, tokens=_EVENT_TOKENS * (most + 1)
    )


def conveyed_question(event: str, lines: Sequence[str]) -> Question[tuple[str, str]]:
    """Do these lines convey an event? The answer is no, partly or yes, and a reason in one sentence."""
    template = '{"reason": "<one sentence>", "conveyed": <"yes", "partly" or "no">}'
    text = render("judge/conveyed", lines=numbered(lines), event=quoted(event), template=template)

    def read(answer: str) -> tuple[str, str]:
        record = record_in(answer, ["reason", "conveyed"])
        verdict = one_of(record["conveyed"], "conveyed", tuple(CONVEYED))
        return verdict, sentence(record["reason"], "reason")

    schema = schema_of({"reason": {"type": "string"}, "conveyed": {"type": "string", "enum": list(CONVEYED)}})
    return Question(_messages("judge/conveyed-system", text), schema, template, read)


def numbered(lines: Sequence[str]) -> str:
    """The lines, quoted, one under the other, with numbers from 1."""
    return "\n".join(
        render("judge/line", number=str(number), line=quoted(line)) for number, line in enumerate(lines, 1)
    )


def quoted(text: str) -> str:
    """A text in quotes, on one line, so that it is plain where it begins and ends."""
    return json.dumps(" ".join(text.split()), ensure_ascii=False)


def schema_of(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object with these keys, all of them and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _messages(system: str, text: str) -> tuple[Message, ...]:
    return Message("system", render(system)), Message("user", text)
