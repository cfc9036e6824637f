"""What engines answered, taken apart: the steps of Stage I's description, the lines of Stage II.

Models bend the form they were asked for. What they often make of it is understood: Markdown, other headings,
text around the JSON or none, JSON broken or cut off. What is not understood is asked for again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from shotad.core import Description
from shotad.core.errors import (
    OnlyThoughts,
    RefusalError,
    ScriptError,
    quoted,
)
from shotad.description.answer_text import (
    is_error_report,
    is_nothing,
    visible,
    without_entities,
    without_markup,
    without_thoughts,
)
from shotad.engines import is_only_thought, names_thought
from shotad.script import split_sentences
from shotad.script.cue import MAX_TEXT_LENGTH

_RETRY = "Run again with another seed or engine."

_QUOTES = str.maketrans(
    dict.fromkeys("“”„«»", '"') | dict.fromkeys("‘’`", "'") | {"：": ":", "。": ".", "，": ", "}
)
_DO = (
    r"(?:\w+ )?(?:assist|help|fulfil\w*|comply|provide|describe|generate|create|write|process|view|watch"
    r"|continue|summari[sz]e|complete|produce|identify|recogni[sz]e|analy[sz]e|discuss|answer|do this)"
)
_REFUSAL = re.compile(
    r"(?:\W*(?:oh|okay|well),? )?(?:(?:i'?m|i am) (?:very |so |really |truly )?sorry"
    r"|sorry,? (?:but )?(?:i|this|that)\b|i (?:do )?apologi[sz]e|my apologies|apologies,"
    r"|unfortunately,? (?:i|this (?:content|request))\b"
    r"|i (?:can ?not|can't|must decline|won't|will not)\b|i(?:'m| am) (?:unable|not able|just an?) "
    r"|as an? (?:responsible |large |helpful )?(?:ai\b|artificial|language model|assistant))",
    re.IGNORECASE,
)
_REFUSAL_WITHIN = re.compile(
    r"\bI ?(?:can ?not|can't|couldn't|won't|will not|am (?:unable|not able) to|'m (?:unable|not able) to) "
    rf"{_DO}\b|\b(?:content|usage|safety) (?:policy|policies|guidelines)\b"
    r"|\b(?:contains?|depicts?|sexual|graphic|explicit) [^.\n]{0,60}\b(?:cannot|can't|unable to) (?:be )?\w+",
    re.IGNORECASE,
)


def answer_in(text: str) -> str:
    """An answer with straight quotes, without thoughts, and without characters that cannot be seen."""
    return visible(without_thoughts(text)).translate(_QUOTES)


def plain(text: str) -> str:
    """An answer as it is read: no HTML, no emphasis, no heading signs, no bullets, single blanks."""
    return _plain_value(without_thoughts(text))


def _plain_value(text: str) -> str:
    """A part of an answer as it is read. No mark of a thought is looked for: in a line it is lettering."""
    return without_markup(visible(text).translate(_QUOTES)).translate(_QUOTES)


def is_refusal(text: str) -> bool:
    """True for text that begins as a model does that will not or cannot answer."""
    return _REFUSAL.match(text.lstrip(" \"'")) is not None


def contains_refusal(text: str) -> bool:
    """True where an answer, in which nothing else was found, is a refusal or holds one, in JSON perhaps."""
    body = " ".join(plain(text).split())
    values = re.split(r"[\"'{}\[\]:]+\s*", body)
    return _REFUSAL_WITHIN.search(body) is not None or any(is_refusal(value) for value in (body, *values))


WHOLE = "Description"
"""Heading of an answer that kept to none of the steps."""

_EXPLANATION = "Explanation"
_WRITTEN_FOR: Mapping[str, str] = {
    "Main characters": r"(?:the )?(?:main |key )?(?:characters?|people|persons?)(?: present)?",
    "Actions": r"(?:the )?(?:characters?'?s? |main |key )?actions?(?: (?:and|&) (?:movements?|activities))?",
    "Interactions": (
        r"(?:characters?[ -])?(?:(?:to )?characters?[ -])?interactions?(?: between (?:the )?characters)?"
    ),
    "Facial expressions": r"(?:facial )?expressions?(?: (?:and|&) (?:emotions?|reactions?|gestures?))?",
    "Key objects": r"(?:key |main |important )?(?:objects?|props?)",
    "Environment": r"(?:the )?(?:environment|setting|location)",
    _EXPLANATION: r"(?:explanations?(?: (?:of|for) [^:\n]{0,60})?|(?:shared |same )?camera set-?up|threads?)",
}
"""Patterns of what models write for a heading."""

_BULLET = re.compile(r"^[ \t]*(?:[-•+]|\*(?!\*))[ \t]++(.*[\w)])[ \t]*$", re.MULTILINE)
_DESCRIPTION = re.compile(r"^ ?(?:dense |answer |final )?description ?(?:of [^:\n]{0,60})?:", re.I | re.M)
_OF_THREADS = re.compile(
    r"(?=.*\b(?:shots?|frames?|clips?|cameras?)\b)"
    r".*\b(?:same|similar|identical|shared) (?:camera|set-?up|angle|framing|viewpoint|perspective)"
    r"|(?=.*\bshots? \d).*\bcamera\b",
    re.IGNORECASE,
)
_LABEL_LINE = re.compile(
    r"^[^\w\n]{0,9}(?:in )?\[?shots? ?#?\d[\d ,&\[\]]*+(?:and [\d \[\]]++)?[:.\]]*\n", re.I | re.M
)
_AFTERWORD = re.compile(
    r"\n[^\w\n]{0,9}(?:please\b|let me know|i hope|overall,|in summary|note\b ?:|feel free)[^\n]*\s*\Z",
    re.IGNORECASE,
)
_INSTRUCTION = re.compile(
    r"^\W*(?:say|tell|name|identify|list|describe)\b (?:who|what|where|how|whether|the|all|any|each)\b"
    r"[^.:;]*?(?:[.:;)]+\s*|$)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?:^|(?<=[\s.;]))(?:step )?\(?([1-9])[.):] ?(?=\S)", re.IGNORECASE)
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

    Steps that the answer leaves out or empty are left out; those answered several times (shot by shot) are
    joined. Without headings it is read by numbers, else kept whole under ``Description``. Thread sentences go
    to ``explanation``; repeated instructions, closing words, and refusals among answers are left out.

    Raises RefusalError for a refusal, OnlyThoughts for thoughts alone, ScriptError for an answer that is
    empty or an explanation alone.
    """
    if is_only_thought(text):
        raise OnlyThoughts(
            f"Stage I described nothing of slot {slot_id}, it only thought aloud: {quoted(text)}.", _RETRY
        )
    if _is_no_answer(text):
        raise ScriptError(f"Stage I described nothing of slot {slot_id}: {quoted(text)}.", _RETRY)
    # Models that run away write thousands of blanks, which the patterns would try again and again.
    short = re.sub(r"(?<=\s)\s{40,}", "\n", text)
    body = _AFTERWORD.sub("", _LABEL_LINE.sub("", plain(_BULLET.sub(r"\1.", short))))
    under_headings = _texts_by_heading(_DESCRIPTION.sub("\n", body), expected_steps)
    explanation = under_headings.pop(_EXPLANATION, "")
    steps: dict[str, str] = {}
    for heading in (*expected_steps, *under_headings):
        if heading in under_headings:
            steps[heading] = under_headings[heading]
    if not steps:
        # No heading that we know: by numbers, else the whole text.
        opening = _DESCRIPTION.search(body)
        text_after = body[opening.end() :] if opening else body
        headings = sorted(_headings(text_after, ()))
        if headings:
            text_after = text_after[: headings[0][0]]
        is_short = len(text_after.split()) < _FEW_WORDS
        if not (is_short and contains_refusal(text_after)):
            steps = _by_number(text_after, expected_steps) or {WHOLE: _tidy(text_after)}
    steps, threads = _sorted_sentences(steps)
    if not steps:
        if contains_refusal(body):
            raise RefusalError(f"Stage I refused to describe slot {slot_id}: {quoted(text)}.", _RETRY)
        raise ScriptError(f"Stage I described nothing of slot {slot_id}: {quoted(text)}.", _RETRY)
    explained = " ".join(filter(None, (explanation, *threads)))
    return Description(slot_id, steps, explained, text, engine, dict(notes or {}))


def _texts_by_heading(body: str, expected_steps: Sequence[str]) -> dict[str, str]:
    """What stands under each heading of an answer; the parts under the same heading are joined."""
    headings = sorted(_headings(body, expected_steps))
    stops = [*(start for start, _, _ in headings[1:]), len(body)]
    parts: dict[str, list[str]] = {}
    for (_, end, heading), stop in zip(headings, stops, strict=False):
        parts.setdefault(heading, []).append(_tidy(body[end:stop]))
    return {heading: " ".join(filter(None, texts)) for heading, texts in parts.items()}


def _is_no_answer(text: str) -> bool:
    """Whether an answer is an error of a server, or JSON without a text, and no refusal."""
    return (is_error_report(without_thoughts(text)) or _is_empty_json(text)) and not contains_refusal(text)


def _is_empty_json(text: str) -> bool:
    """Whether an answer is JSON in which no text stands, or a value alone: ``{"Actions": NaN}``, ``42``."""
    try:
        tree = json.loads(unescaped_json(without_thoughts(text)).replace("```json", "").strip("` \n"))
    except (ValueError, RecursionError):
        return False
    waiting, texts = [tree], []
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, str):
            texts.append(value)
    return all(is_nothing(value) for value in texts)


def _headings(body: str, expected: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Start, end and name of each heading: at a line's start, after a number, or after a full stop."""
    taken: set[int] = set()
    for heading in dict.fromkeys((*expected, *_WRITTEN_FOR)):
        for match in _heading_pattern(heading).finditer(body):
            if match.end() not in taken:
                taken.add(match.end())
                yield match.start(), match.end(), heading


@lru_cache(maxsize=64)
def _heading_pattern(heading: str) -> re.Pattern[str]:
    name = rf"(?:{re.escape(heading)}|{_WRITTEN_FOR.get(heading, '(?!)')})"
    number = r"(?:(?:step )?\(?\d ?[.):–-]+ ?)"
    beside = (
        r"(?: (?:identified|involved|performed|observed))?(?: ?\([^()\n]{0,60}\)| in \[?shots? [^:\n]{0,40})?"
    )
    return re.compile(
        rf"^ ?{number}?{name}{beside} ?(?:[:–—]|- |$)|(?:{number}|(?<=[.;!?] )){name} ?(?:[:–—]|- )",
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
    described: dict[str, str] = {}
    threads: list[str] = []
    for heading, text in steps.items():
        sentences: list[str] = []
        for sentence in split_sentences(_INSTRUCTION.sub("", text)):
            if _OF_THREADS.match(sentence):
                threads.append(sentence)
            elif not is_refusal(sentence):
                sentences.append(sentence)
        if not is_nothing(" ".join(sentences)):
            described[heading] = _tidy(" ".join(sentences))
    return described, threads


def _tidy(text: str) -> str:
    """One line without the template's quotes and semicolons, ending in a full stop; nothing for nothing."""
    words = " ".join(text.split()).strip(" ;,-").removeprefix(":").strip()
    if len(words) > 1 and words[0] in "'\"" and words.rstrip(".;")[-1:] == words[0]:
        words = words.rstrip(".;")[1:-1].strip()
    if is_nothing(words):
        return ""
    return words if words[-1] in ".!?…\"'" else f"{words}."


_KEY = re.compile(r"[\"']?\bsummari[sz]ed?[_ -]?ADs?(?:[_ -]?(\d+))?[\"']?\s*[:=]\s*", re.IGNORECASE)
_VALUE = re.compile(
    r"\[?\s*+([\"'])"
    r"(?=((?:[^\"'\\]|\\.|(?!\1)[\"']|[\"'](?!\s*+(?:\Z|[}\]\n]|,\s*+(?:\Z|[\"'}\]{\n]))))*))\2\1",
    re.DOTALL,
)
"""A text in quotes, up to the quote that ends a value; any other quote belongs to the sentence.

The text is found ahead and then repeated, ``(?=(…))\2``, so that nothing is tried again. ``(…)*+`` means the
same, but before Python 3.11.5 it finds nothing where there is a ``(?!…)`` within.
"""
_JSON_BEGINS = re.compile(r"^[ \t]*+(?:\{|\[(?!\w[^\[\]\n]{0,60}\][ ,]\s*\w))", re.MULTILINE)
"""Where JSON begins, broken perhaps. Lettering in brackets begins a line: ``[Plan B] stands on a folder.``"""
_STRING = re.compile(r"\"((?:[^\"\\]|\\.)*+)\"(\s*+:)?", re.DOTALL)
_SURE_END = re.compile(r"[.!?…][\"')]*(?=\s|[,}\]]|\Z)|[\"']\s*+[,}\]]|\n(?=[^\S\n]*(?:\d[.)]|[-•*])\s)")
_NO_END = re.compile(
    r"(?:(?:\b(?:Mr|Mrs|Ms|Dr|St|Prof|Sgt|Lt|Capt|Col|Gen|Jr|Sr|vs|No)|(?:^|[\s(])\d{1,2})\.|\.\.\.|…)\Z",
    re.MULTILINE,
)
_OPENING = re.compile(
    r"(?:(?:sure|certainly|of course|okay)[!.]\s+)?"
    r"(?:(?:(?:sure|certainly|here|based on|the|possible|final)\b[^:\n]{0,90}?)?"
    r"\b(?:audio descriptions?|ADs?|sentences?|summary|answer|option|candidate|version)"
    r"(?: \(AD\))?(?: ?\d)?(?: is)? ?:\s*)?",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"\(?(?:note|explanation|word count|i (?:have |focused|used|hope|chose)|let me know|these \w+ "
    r"|this (?:sentence|line|ad)\b)",
    re.IGNORECASE,
)
_ENUMERATED = re.compile(r"(?:^|(?<=\s))\(?([1-9])[.)]\s+")
_WORD_COUNT = re.compile(r"(?:(?<!\s)\s+)?\(\d+ words?\)\s*(?=[.\"']*$)", re.IGNORECASE)
_NO_SENTENCE = re.compile(
    r"[{}]|[\"']\s*:|\A[\W\d_]*\Z|\A[^\w.,]*+(?:0x[0-9a-f]++|[\d.,]++e[-+]?\d+)\W*\Z|\w\ufffd|\ufffd\w"
    r"|\Ahttps?://\S+\Z",
    re.IGNORECASE,
)
"""A piece of JSON in another form than ours, nothing but a number, or a word of which a letter was lost."""
_READS_OUT = re.compile(
    r"\b(?:reads?|says?|spells?|shows?|displays?|types?|writes?|draws?|paints?|scrawls?|letters?|words?|signs?"
    r"|tattoos?|screens?|code|braces?|brackets?|logos?|titles?)\b",
    re.IGNORECASE,
)
_BRACED_LETTERING = re.compile(
    r"\{(?! ?(?:text|name|title|string|value|line|sentence|words?|characters?|objects?)\w* ?\})"
    r" ?(?:[^\s{}\"':]+(?: [^\s{}\"':]+){0,3})? ?\}",
    re.IGNORECASE,
)
"""Lettering in braces that a line reads out, ``A tattoo reads {love}.``, and no field of a form."""
_PROGRAM_VALUE = re.compile(
    r"\{?\s*+(?:none|null|nil|nan|true|false|undefined|[-+]?inf(?:inity)?|n/a|[-+]?[\d.]++(?:e[-+]?\d+)?)"
    r"\s*+(?:[}\]\n]|,\s*+(?:[\"'}\]]|\w{1,40}\s*+:|\Z)|\Z)",
    re.IGNORECASE,
)
"""A value without quotes that is no text."""


def parse_stage2(text: str, candidates: int = 1, cut: bool = False) -> tuple[str, ...]:
    """The AD lines of an answer: at least one, at most ``candidates``, in the order of their keys.

    Understands the keys asked for, in JSON whole or broken and without it, lists, numbered lines and plain
    sentences. Every line ends in a full stop or its like. ``cut``: what is half at the answer's end goes.

    Raises RefusalError where a model will not write, OnlyThoughts where it only thought aloud, ScriptError
    where nothing else can be spoken.
    """
    if is_only_thought(text):
        raise OnlyThoughts(f"Stage II wrote no whole line, it only thought aloud: {quoted(text)}.", _RETRY)
    if is_error_report(without_thoughts(text)) and not contains_refusal(text):
        raise ScriptError(f"Stage II wrote no whole line: {quoted(text)}.", _RETRY)
    # Fences of code go. `answer_in` has turned their backticks into quotation marks.
    body = re.sub(r"```[ \t]*\w*", "\n", answer_in(unescaped_json(text)).replace("'''", "```")).strip()
    body = _before_the_cut(body) if cut else body
    # Our keys anywhere, else any JSON, else plain text.
    if _KEY.search(body):
        texts = _keyed(body, candidates)
    elif _JSON_BEGINS.search(body):
        texts = _strings(body)
    else:
        texts = _plain_lines(body, candidates)
    lines = [line for line in dict.fromkeys(map(_line, texts)) if line]
    lines = [line for line in lines if not (is_refusal(line) or _REFUSAL_WITHIN.search(line))]
    if lines:
        return tuple(lines[:candidates])
    if contains_refusal(body):
        raise RefusalError(f"Stage II refused to write a line: {quoted(text)}.", _RETRY)
    raise ScriptError(f"Stage II wrote no whole line: {quoted(text)}.", _RETRY)


def _before_the_cut(body: str) -> str:
    """A text up to the last place where a sentence or a value is sure to have ended."""
    for end in reversed(list(_SURE_END.finditer(body))):
        if not _NO_END.search(body[max(0, end.end() - 12) : end.end()]):
            return body[: end.end()]
    return ""


def _keyed(body: str, candidates: int) -> list[str]:
    """The values of our keys by their numbers, each up to the next key at most.

    Of a key that stands twice in one object, or twice where a single line is wanted, the last value that can
    be spoken counts: a model corrects itself. Objects of a list may all have the same key.
    """
    keys = list(_KEY.finditer(body))
    # By number and object: each key's texts, the last that can be spoken
    texts_of_keys: dict[tuple[int, int], list[str]] = {}
    object_number = 0
    for key, stop in zip(keys, [*(key.start() for key in keys[1:]), len(body)], strict=True):
        number, segment = int(key[1] or 0), body[key.end() : stop]
        value = _VALUE.match(segment)
        if value is not None and not segment.startswith(("[", "{")):
            texts = [unescaped(value[2])]
        else:
            value, texts = None, _texts_in(segment)
        is_one_of_many = not number and candidates > 1
        name = (number, object_number if is_one_of_many else 0)
        if name not in texts_of_keys or any(map(_line, texts)):
            texts_of_keys[name] = texts
        if "}" in segment[value.end() if value is not None else 0 :]:
            object_number += 1
    return [text for name in sorted(texts_of_keys) for text in texts_of_keys[name]]


def _texts_in(segment: str) -> list[str]:
    """The texts between a key and the next one, where they are no single text in quotes."""
    if segment.startswith(("[", "{")):
        return _strings(segment)
    if segment[:1] in ("'", '"'):  # nothing closes it: half a phrase is not spoken
        is_closed = segment.rstrip().endswith(("}", "]"))
        return [segment[1:].rstrip(" \n}]") if is_closed else _before_the_cut(segment[1:])]
    return [] if _PROGRAM_VALUE.match(segment) else [segment.lstrip("{ ").partition("\n")[0].rstrip(" ,}]")]


def _strings(text: str) -> list[str]:
    """The texts in quotes of JSON, whole or broken, but for its keys, and for the values of keys that name a
    thought. Of a key twice in one object the last value counts."""
    texts: list[str] = []
    places: dict[str, int] = {}
    key = ""
    done = 0
    for match in _STRING.finditer(text):
        if re.search(r"[{}]", text[done : match.start()]):
            places.clear()
        done = match.end()
        if match[2] is not None:
            key = match[1]
        elif _KEY_OF_REASONS.fullmatch(key) or names_thought(key):
            key = ""
        elif key in places:
            texts[places[key]] = unescaped(match[1])
            key = ""
        else:
            if key:
                places[key] = len(texts)
            texts.append(unescaped(match[1]))
            key = ""
    return texts


_KEY_OF_REASONS = re.compile(
    r"(?:\w{1,20}_)?(?:reasons?|explanation|justification|drafts?|steps?|notes?)", re.IGNORECASE
)
"""Names of what a model writes beside its line, other than its thoughts."""


def unescaped(text: str) -> str:
    """The text of a JSON string, also of one that is none to the letter."""
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return re.sub(r"\\(.)", lambda m: " " if m[1] in "nrt" else m[1], text, flags=re.DOTALL)


def unescaped_json(text: str) -> str:
    """An answer whose JSON was written as text once more, as it was: as a JSON string, or for HTML.

    >>> unescaped_json('{&quot;a&quot;: 1}'), unescaped_json(r'"{\\"a\\": 1}"')
    ('{"a": 1}', '{"a": 1}')
    """
    if _ESCAPED_OPENING.search(text):
        text = without_entities(text)
    if text.lstrip().startswith(('"{', '"[', '"<')):
        try:
            inner = json.loads(text)
        except (ValueError, RecursionError):
            return text
        return inner if isinstance(inner, str) else text
    return text


_ESCAPED_OPENING = re.compile(r"[{\[]\s*+&(?:amp;)*(?:quot|#34|#x22|#39|apos);", re.IGNORECASE)


def _plain_lines(body: str, candidates: int) -> list[str]:
    """Sentences of an answer without JSON: opening words, closing words and numbers taken away."""
    lines: list[str] = []
    for line in body[_opening_end(body) :].splitlines():
        if lines and _CLOSING.match(line.strip()):
            break
        lines.append(line.strip())
    # The text before the first number, then number and text in turn
    numbered = _ENUMERATED.split("\n".join(lines))
    if len(numbered) > 3:
        return [text.strip() for text in numbered[2::2]]
    if candidates > 1:
        return [re.sub(r"^(?:[-*•]|\(?\d[.):])\s+", "", line) for line in lines if line]
    first_paragraph = "\n".join(lines).strip().split("\n\n")[0]
    return [_ENUMERATED.sub("", first_paragraph, count=1)]


def _line(text: str) -> str:
    """One line that can be spoken, or nothing."""
    if len(text) > MAX_TEXT_LENGTH:
        return ""
    words = " ".join(_plain_value(text).split())
    words = _WORD_COUNT.sub("", words[_opening_end(words) :]).strip(" ,;")
    while len(words) > 1 and words[0] in "\"'" and words[-1] == words[0]:
        words = words[1:-1].strip()
    reads_out = _READS_OUT.search(words)
    own_words = words
    if reads_out is not None:
        own_words = words[: reads_out.end()] + _BRACED_LETTERING.sub("", words[reads_out.end() :])
    if is_nothing(words) or is_error_report(words) or _NO_SENTENCE.search(own_words):
        return ""
    words = words[0].upper() + words[1:]
    return words if re.search(r"[.!?…][\"')]*$", words) else f"{words.rstrip(':-– ')}."


def _opening_end(words: str) -> int:
    """Where the words end with which a model announces its answer ("Here is the AD:"); 0 without them."""
    opening = _OPENING.match(words)
    return opening.end() if opening else 0
