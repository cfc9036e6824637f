"""What Stage I answered, in plain text, JSON, tables or nested bullets, taken apart into its steps.

Models bend the form they were asked for; whatever of an answer can be understood is used. An answer
that holds nothing usable is a ScriptError that quotes it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from shotad.core import Description, RefusalError, ScriptError
from shotad.description.stage2_answer import is_nothing, is_refusal, plain, quoted, refuses
from shotad.script import split_sentences

_FENCED = re.compile(r"\A\s*+(?:[^\n{]{0,200}\n)?\s*+(?:```\w*\s*+)?(?=\{)")
_BROKEN_KEY = re.compile(r"[\"']([^\"'\n{}:]{2,60})[\"']\s*:\s*[\"'\[{]*\s*")
_BROKEN_END = re.compile(r"(?<![\"'\]}])[\"'\]}]+(?:\s*+,)?[^\S\n]*+(?=\n|\Z)")
_BULLET = re.compile(r"^(?P<indent>[ \t]*)(?:[-•+]|\*(?!\*))[ \t]++(?P<text>.*\S)[ \t]*$")
_ROW = re.compile(r"^[ \t]*\|(.+)\|[ \t]*$")
_RULE = re.compile(r"^[\s|:-]+$")
_DEEPEST = 8


def prose(answer: str) -> str:
    """The answer with what JSON, tables and bullets hold written as lines; other text as it is."""
    short = re.sub(r"(?<![ \t])[ \t]{2,}\n", "\n", re.sub(r"[ \t]{40,}", " ", answer))
    return _bullets_ended(_without_tables(_without_json(re.sub(r"\n{3,}", "\n\n", short))))


def _without_json(answer: str) -> str:
    """A JSON object as ``heading: text`` lines, also where it is broken; text after it is kept."""
    opened = _FENCED.match(answer)
    if opened is None or "```" in answer[: opened.start()]:
        return answer
    body = answer[opened.end() :]
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(body)
    except (ValueError, RecursionError):
        if not _BROKEN_KEY.match(body.lstrip("{ \n\t")):
            return answer
        return _BROKEN_END.sub("\n", _BROKEN_KEY.sub(r"\n\1: ", body.lstrip("{ \n\t")))
    return "\n".join((*_json_lines(value, 0), body[end:].replace("```", "")))


def _json_lines(value: Any, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, (dict, list)):
                yield f"{_heading(key)}:"
                yield from _json_lines(inner, depth + 1)
            else:
                yield f"{_heading(key)}: {_said(inner)}"
    elif isinstance(value, list):
        for item in value:
            yield from _json_lines(item, depth + 1)
    elif (said := _said(value)).strip():
        yield said if said.rstrip()[-1] in ".!?" else f"{said}."


def _heading(key: str) -> str:
    return key.replace("_", " ")


def _said(value: Any) -> str:
    return "" if value is None or isinstance(value, bool) else str(value)


def _without_tables(text: str) -> str:
    """Rows ``| 1 | Actions | Ann runs |`` as ``1. Actions: Ann runs``."""
    if "|" not in text:
        return text
    lines = []
    for line in text.splitlines():
        row = _ROW.match(line)
        if row is None:
            lines.append(line)
        elif not _RULE.match(line):
            cells = [cell.strip() for cell in row.group(1).split("|") if cell.strip()]
            lines.append(": ".join(cells))
    return "\n".join(lines)


def _bullets_ended(text: str) -> str:
    """Bullets without an end get a full stop, so that they do not run into one another."""
    lines = text.splitlines()
    bullets = [_BULLET.match(line) for line in lines]
    for at, bullet in enumerate(bullets[:-1]):
        after = bullets[at + 1]
        if bullet is None or after is None or len(after["indent"]) > len(bullet["indent"]):
            continue
        if re.search(r"[\w)]$", bullet["text"]):
            lines[at] = f"{lines[at].rstrip()}."
    return "\n".join(lines)


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
"""Patterns of what models write for a heading, wherever it stands."""

_OF_THEM = r"(?: (?:of|by|between|among|from) (?:the )?(?:main |key )?characters)?"
_WRITTEN_AT_LINE_START: Mapping[str, str] = {
    "Main characters": (
        r"(?:the )?(?:main |key |primary |principal |identified )?(?:characters?|people|persons?"
        r"|figures?|subjects?)"
        r"(?: (?:present|involved|identified|shown|visible|and (?:their )?(?:descriptions?|appearances?)))?"
    ),
    "Actions": (
        r"(?:the )?(?:(?:character|main|key|primary)s?'?s? )?(?:actions?|activit(?:y|ies)|movements?)"
        r"(?: (?:and|&) (?:actions?|movements?|activities|motions?))?(?: (?:performed|taken|observed))?"
        + _OF_THEM
    ),
    "Interactions": (
        r"(?:the )?(?:characters?'?[ -])?(?:(?:to )?characters?[ -])?interactions?(?: (?:and|&) \w+)?"
        + _OF_THEM
    ),
    "Facial expressions": (
        r"(?:the )?(?:characters?'? )?(?:facial )?expressions?(?: (?:and|&) (?:emotions?|reactions?"
        r"|gestures?))?" + _OF_THEM
    ),
    "Key objects": (
        r"(?:the )?(?:key |main |important |notable |significant |relevant )?(?:objects?|props?|items?)"
        r"(?: (?:and|&) (?:props|items|objects))?(?: (?:present|involved|used|handled))?" + _OF_THEM
    ),
    "Environment": (
        r"(?:the )?(?:environment|setting|location|place|surroundings?|scene setting)"
        r"(?: ?(?:and|&|/) ?(?:environment|setting|location|surroundings?|background"
        r"|furniture))?(?: details)?"
    ),
}
"""What they write where nothing but a heading can stand: at a line's start or after a number."""

_EXPLAINS = (
    r"(?:explanations?(?: (?:of|for|on) [^:\n]{0,60})?|(?:shared |same )?camera set-?up(?: explanation)?"
    r"|threads?(?: explanation| structure)?|reason for the same camera[^:\n]{0,30})"
)
_EXPLANATION = re.compile(
    rf"(?:^|(?<=[\s.;]))(?:(?:step )?\d[.):] ?)?Explanations?(?: of threads)? ?:"
    rf"|^ ?(?:step )?(?:\d[.):] ?)?{_EXPLAINS} ?(?::|$)",
    re.IGNORECASE | re.MULTILINE,
)
_DESCRIPTION = re.compile(
    r"^ ?(?:dense |answer |final )?description ?(?:of [^:\n]{0,60})?:", re.IGNORECASE | re.MULTILINE
)
_OF_THREADS = re.compile(
    r"(?=.*\b(?:shots?|frames?|clips?|cameras?)\b)"
    r".*\b(?:same|similar|identical|consistent|shared) (?:camera|set-?up|angle|framing|viewpoint"
    r"|vantage|perspective)"
    r"|(?=.*\bshots? \d).*\bcamera\b",
    re.IGNORECASE,
)
_LABEL_LINE = re.compile(
    r"^\W*(?:(?:in|for|from) )?\[?shots? ?#?\d[\d ,&\[\]-]*+(?:(?:and|to|shots?)[\d ,&\[\]-]++)*+[:.\]]*$",
    re.IGNORECASE,
)
_AFTERWORD = re.compile(
    r"^(?:please\b|let me know|i hope|overall,|in (?:summary|conclusion),?|note(?: that)?\b ?:|disclaimer"
    r"|this (?:description|answer|response) |these (?:descriptions|steps) |feel free)",
    re.IGNORECASE,
)
_INSTRUCTION = re.compile(
    r"^\W*(?:say|tell|name|identify|list|describe|report|explain|mention|state)\b"
    r" (?:who|what|where|how|why|whether|the|all|any|each|only|briefly)\b[^.:;]*?(?:[.:;)]+\s*|$)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?:^|(?<=[\s.;]))(?:step )?\(?([1-9])[.):] ?(?=\S)", re.IGNORECASE)
_MOST_EXPLANATIONS = 20
_FEW_WORDS = 40
"""A refusal, with its reasons, is no longer than this; a longer text without steps tells of something."""


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
    ``Description``. Thread sentences go to ``explanation``, wherever they stand; instructions that the
    answer repeats, closing words, and refusals among answers are left out.

    Raises RefusalError for a refusal, ScriptError for an answer that is empty or an explanation alone.
    """
    body, explanation = _cut_explanation(_without_labels(plain(prose(text))), expected_steps)
    body = _after_opening(body, expected_steps)
    steps = _by_heading(body, expected_steps)
    if steps is None:
        steps = _by_number(body, expected_steps)
    if steps is None:
        steps = {WHOLE: _tidy(body)}
        steps = {} if len(body.split()) < _FEW_WORDS and refuses(body) else steps
    told, threads = _sorted_sentences(steps)
    if not told:
        if refuses(body):
            raise RefusalError(f"Stage I refused to describe slot {slot_id}: {quoted(text)}.", _RETRY)
        raise ScriptError(f"Stage I described nothing of slot {slot_id}: {quoted(text)}.", _RETRY)
    explained = " ".join((*_filled_texts([_tidy(explanation)]), *threads))
    return Description(slot_id, told, explained, text, engine, dict(notes or {}))


_RETRY = "Run again with another seed or engine."


def _without_labels(text: str) -> str:
    """Without lines that hold a shot's number alone, and without the words that close a letter."""
    lines = text.splitlines()
    kept = [line for line in lines if not _LABEL_LINE.match(line)]
    while kept and (not kept[-1].strip() or (len(kept) > 1 and _AFTERWORD.match(kept[-1].strip()))):
        kept.pop()
    return "\n".join(kept)


def _cut_explanation(text: str, expected: Sequence[str]) -> tuple[str, str]:
    """The answer without what stands under ``Explanation``, and that, up to the next heading."""
    explanations: list[str] = []
    for _ in range(_MOST_EXPLANATIONS):
        marked = _EXPLANATION.search(text)
        if not marked:
            break
        rest = text[marked.end() :]
        resumed = _DESCRIPTION.search(rest)
        stops = [start for start, _, _ in _headings(rest, expected)] + ([resumed.start()] if resumed else [])
        stop = min(stops, default=len(rest))
        explanations.append(rest[:stop])
        text = text[: marked.start()] + "\n" + rest[stop:] if rest[stop:] else text[: marked.start()]
    return text, " ".join(explanations)


def _after_opening(text: str, expected: Sequence[str]) -> str:
    """What follows the first ``Description:``, if no step stands before it, without further ones."""
    opened = _DESCRIPTION.search(text)
    if opened is None:
        return text
    before = text[: opened.start()]
    kept = f"{before}\n" if next(_headings(before, expected), None) else ""
    return kept + _DESCRIPTION.sub("", text[opened.end() :])


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
    return {heading: " ".join(_filled_texts(found.get(heading, ()))) for heading in order}


def _headings(body: str, expected: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Start, end and name of each heading: at a line's start, after a number, or after a full stop."""
    taken: set[int] = set()
    for heading in (*expected, *(known for known in _WRITTEN_FOR if known not in expected)):
        for match in _heading_pattern(heading).finditer(body):
            if match.end() not in taken:
                taken.add(match.end())
                yield match.start(), match.end(), heading


@lru_cache(maxsize=64)
def _heading_pattern(heading: str) -> re.Pattern[str]:
    anywhere = rf"(?:{re.escape(heading)}|{_WRITTEN_FOR.get(heading, '(?!)')})"
    alone = rf"(?:{re.escape(heading)}|{_WRITTEN_AT_LINE_START.get(heading, '(?!)')})"
    number = (
        r"(?:(?:step|point|part|section) ?)?(?:\(?(?:\d|[a-f](?=[.)])|[ivx]{1,4}(?=[.)]))(?: ?[.):–—-]+"
        r"|(?= \()) ?)?"
    )
    beside = r"(?: ?\([^()\n]{0,60}\)| ?\[[^\[\]\n]{0,60}\]| in \[?shots? [^:\n]{0,40})?"
    return re.compile(
        rf"^ ?{number}{alone}{beside} ?(?:[:–—]|- )"
        rf"|^ ?{number}\({alone}\) ?[:–—-]"
        rf"|\b(?:step )?\d[.):] ?{alone} ?(?:[:–—]|- )"
        rf"|(?<=[.;!?] ){anywhere} ?(?:[:–—]|- )"
        rf"|^ ?{number}{alone}{beside} ?$",
        re.IGNORECASE | re.MULTILINE,
    )


def _by_number(body: str, expected: Sequence[str]) -> dict[str, str] | None:
    """Steps of an answer that has only the numbers 1, 2, 3 …, each once and in order, or None."""
    marks = list(_NUMBERED.finditer(body))
    numbers = [int(m.group(1)) for m in marks]
    if len(numbers) < 2 or numbers != list(range(1, len(numbers) + 1)) or len(numbers) > len(expected):
        return None
    ends = [m.start() for m in marks[1:]] + [len(body)]
    texts = [_tidy(body[m.end() : end]) for m, end in zip(marks, ends, strict=True)]
    return dict(zip(expected, texts, strict=False))


def _sorted_sentences(steps: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """The steps without what is no description, and the sentences on threads that stood in them."""
    told: dict[str, str] = {}
    threads: list[str] = []
    for heading, text in steps.items():
        kept: list[str] = []
        for sentence in split_sentences(_INSTRUCTION.sub("", text)):
            if _OF_THREADS.match(sentence):
                threads.append(sentence)
            elif not is_refusal(sentence):
                kept.append(sentence)
        if not is_nothing(" ".join(kept)):
            told[heading] = _tidy(" ".join(kept))
    return told, threads


def _filled_texts(texts: Sequence[str]) -> list[str]:
    return [text for text in texts if not is_nothing(text)]


def _tidy(text: str) -> str:
    """One line without the template's quotes and semicolons, ending in a full stop."""
    words = " ".join(text.split()).strip(" ;,-").removeprefix(":").strip()
    if len(words) > 1 and words[0] in "'\"" and words.rstrip(".;")[-1:] == words[0]:
        words = words.rstrip(".;")[1:-1].strip()
    if is_nothing(words):
        return ""
    return words if words[-1] in ".!?…\"'" else f"{words}."
