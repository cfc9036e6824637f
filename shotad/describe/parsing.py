"""What Stage I answered, taken apart into its steps; and what both stages' parsers share.

Models bend the form they were asked for; whatever of an answer can be understood is used. An answer
that holds nothing usable is a ScriptError that quotes it. Stage II's parser is in `lines_of`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shotad.describe.answers import is_nothing, is_refusal, parse_stage2, plain, quoted
from shotad.errors import RefusalError, ScriptError
from shotad.types import Description

__all__ = ["WHOLE", "parse_stage1", "parse_stage2"]

WHOLE = "Description"
"""Heading of an answer that kept to none of the steps."""

_WRITTEN_FOR: Mapping[str, str] = {
    "Main characters": r"(?:main |key )?characters?",
    "Actions": r"(?:(?:character|main|key)s?'? )?actions?",
    "Interactions": (
        r"(?:characters?[ -])?(?:(?:to )?characters?[ -])?interactions?(?: between (?:the )?characters)?"
    ),
    "Facial expressions": r"(?:facial )?expressions?",
    "Key objects": r"(?:key |main )?objects?",
    "Environment": r"(?:environment|setting|location)",
}
"""Patterns of what models write for a heading."""

_EXPLANATION = re.compile(r"(?:^|(?<=[\s.;]))(?:\d[.)] ?)?Explanations?(?: of threads)? ?:", re.IGNORECASE)
_DESCRIPTION = re.compile(r"^ ?(?:dense |answer )?description ?:", re.IGNORECASE | re.MULTILINE)
_THREAD_SENTENCE = re.compile(
    r"(?:^|(?<=[.;!?]) |\n)(?=[^.;!?\n]*\bshots? \d)(?=[^.;!?\n]*\bcamera\b)[^.;!?\n]*[.;!?]?\s*\Z",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?:^|(?<=[\s.;]))\(?([1-9])[.):] ?(?=\S)")


def parse_stage1(
    text: str,
    expected_steps: Sequence[str],
    slot_id: str,
    engine: str,
    notes: Mapping[str, Any] | None = None,
) -> Description:
    """The answer as a Description, its steps under the headings that were asked for.

    Steps that the answer leaves out or leaves empty are left out; steps answered several times (shot
    by shot) are joined. An answer without any heading is read by its numbers, else kept whole under
    ``Description``. The thread sentence goes to ``explanation``.

    Raises ScriptError for an answer that is empty, a refusal, or an explanation alone.
    """
    body, explanation = _cut_explanation(plain(text))
    body = _after_opening(body)
    steps = _by_heading(body, expected_steps)
    if steps is None:
        steps = _by_number(body, expected_steps)
    if steps is None:
        whole = _tidy(body)
        if is_refusal(whole):
            raise RefusalError(f"Stage I refused to describe slot {slot_id}: {quoted(text)}.", _RETRY)
        steps = {} if is_nothing(whole) else {WHOLE: whole}
    if not steps:
        raise ScriptError(f"Stage I described nothing of slot {slot_id}: {quoted(text)}.", _RETRY)
    return Description(slot_id, steps, _tidy(explanation), text, engine, dict(notes or {}))


_RETRY = "Run again with another seed or engine."


def _cut_explanation(text: str) -> tuple[str, str]:
    """The answer without its thread sentence, and that sentence, wherever it stands."""
    marked = _EXPLANATION.search(text)
    if marked:
        rest = text[marked.end() :]
        resumed = _DESCRIPTION.search(rest)
        explanation = rest[: resumed.start()] if resumed else rest
        return text[: marked.start()] + (rest[resumed.start() :] if resumed else ""), explanation
    unmarked = _THREAD_SENTENCE.search(text)
    if unmarked and text[: unmarked.start()].strip():
        return text[: unmarked.start()], unmarked.group()
    return text, ""


def _after_opening(text: str) -> str:
    """What follows the first ``Description:``, without further ones (one for each shot, perhaps)."""
    opened = _DESCRIPTION.search(text)
    return _DESCRIPTION.sub("", text[opened.end() :]) if opened else text


def _by_heading(body: str, expected: Sequence[str]) -> dict[str, str] | None:
    """The steps by their headings, or None where no heading stands."""
    marks = sorted(_headings(body, expected))
    if not marks:
        return None
    found: dict[str, list[str]] = {}
    stops = [start for start, _, _ in marks[1:]] + [len(body)]
    for (_, end, heading), stop in zip(marks, stops, strict=False):
        found.setdefault(heading, []).append(_tidy(body[end:stop]))
    order = [*expected, *(h for h in found if h not in expected)]
    return _filled({heading: " ".join(_filled_texts(found.get(heading, ()))) for heading in order})


def _headings(body: str, expected: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Start, end and name of each heading: at a line's start, after a number, or after a full stop."""
    taken: set[int] = set()
    for heading in (*expected, *(known for known in _WRITTEN_FOR if known not in expected)):
        written = rf"(?:{re.escape(heading)}|{_WRITTEN_FOR.get(heading, '(?!)')})"
        pattern = (
            rf"(?:^ ?(?:step )?(?:\(?\d[.):] ?)?|\b(?:step )?\d[.):] ?|(?<=[.;!?] )){written} ?(?:[:–—]|- )"
            rf"|^ ?(?:step )?(?:\(?\d[.):] ?)?{written}$"
        )
        for match in re.finditer(pattern, body, re.IGNORECASE | re.MULTILINE):
            if match.end() not in taken:
                taken.add(match.end())
                yield match.start(), match.end(), heading


def _by_number(body: str, expected: Sequence[str]) -> dict[str, str] | None:
    """Steps of an answer that has only the numbers 1, 2, 3 …, each once and in order, or None."""
    marks = list(_NUMBERED.finditer(body))
    numbers = [int(m.group(1)) for m in marks]
    if len(numbers) < 2 or numbers != list(range(1, len(numbers) + 1)) or len(numbers) > len(expected):
        return None
    ends = [m.start() for m in marks[1:]] + [len(body)]
    texts = [_tidy(body[m.end() : end]) for m, end in zip(marks, ends, strict=True)]
    return _filled(dict(zip(expected, texts, strict=False)))


def _filled(steps: Mapping[str, str]) -> dict[str, str]:
    return {heading: text for heading, text in steps.items() if not is_nothing(text)}


def _filled_texts(texts: Sequence[str]) -> list[str]:
    return [text for text in texts if not is_nothing(text)]


def _tidy(text: str) -> str:
    """One line without the template's quotes and semicolons, ending in a full stop."""
    words = " ".join(text.split()).strip(" ;,-").removeprefix(":").strip()
    if len(words) > 1 and words[0] in "'\"" and words.rstrip(".;")[-1] == words[0]:
        words = words.rstrip(".;")[1:-1].strip()
    if is_nothing(words):
        return ""
    return words if words[-1] in ".!?…\"'" else f"{words}."
