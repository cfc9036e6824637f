"""Reasons that a track's file has in English, as messages of the page.

A run, a render and an import write into the track why a line was left out, what was done to make it fit, and
why it is doubtful. A reason that stands in no table here is shown as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from shotad.review.messages import Message, Sentence, Value, message

_KEYS = {
    r"dropped by a person": "reason.dropped",
    r"emptied by a person": "reason.emptied",
    r"removed by a person": "reason.removed",
    r"added by a person": "reason.added",
    r"nothing worth saying was found": "reason.silent",
    r"there is no word in it": "reason.no_word",
    r"left out of (?P<source>.+)": "reason.left_out",
    r"spoken (?P<times>[\d.]+) times faster": "reason.faster",
    r"tried (?P<times>[\d.]+) times faster": "reason.tried_faster",
    r"moved (?P<seconds>[\d.]+) s later": "reason.later",
    r"moved (?P<seconds>[\d.]+) s earlier": "reason.earlier",
    r"written anew, shorter: (?P<text>.+)": "reason.shorter",
    r"tried shorter: (?P<text>.+)": "reason.tried_shorter",
    r"dropped sentences or clauses: (?P<text>.+)": "reason.parts",
    r"dropped a clause: (?P<text>.+)": "reason.clause",
    r"dropped clauses: (?P<text>.+)": "reason.clauses",
    r"the second look did not find: (?P<words>.+)": "doubt.unseen",
    r"the second look at the frames failed": "doubt.unlooked",
    r"named by the model alone: (?P<names>.+)": "doubt.invented",
    r"the model's answers tell different things": "doubt.differ",
    r"Stage I does not say: (?P<words>.+)": "doubt.not_described",
    r"a long line, (?P<words>\d+) words": "doubt.long",
    r"text read at (?P<confidence>[\d.]+)": "doubt.text_read",
    r"text measured at (?P<confidence>[\d.]+)": "doubt.text_measured",
    r"people measured at (?P<confidence>[\d.]+)": "doubt.people_measured",
    r"this was not read on the screen: (?P<text>.+)": "doubt.text_unread",
    r"(?P<name>.+) was not recognised on the frames": "doubt.name_unseen",
    r"nobody is known to be called (?P<name>.+)": "doubt.nobody",
}
"""The key of a reason's text, by the pattern of the whole reason; its groups are the values."""
_PATTERNS = [(re.compile(pattern, re.DOTALL), key) for pattern, key in _KEYS.items()]


def reason_message(reason: str) -> Sentence:
    """A reason as a message of the page; one that is in no table as it is."""
    for pattern, key in _PATTERNS:
        match = pattern.fullmatch(reason)
        if match is not None:
            values = {name: _value(text) for name, text in match.groupdict().items()}
            return message(key, **values)
    return reason


def reason_views(reasons: Iterable[str]) -> list[object]:
    """Reasons as JSON: a message's view, or the text."""
    messages = map(reason_message, reasons)
    return [said.view() if isinstance(said, Message) else said for said in messages]


def _value(text: str) -> Value:
    """A number as a number, so that the page writes it as its language does."""
    return float(text) if re.fullmatch(r"\d+(?:\.\d+)?", text) else text
