"""What Stage II answered: one line of AD or several, out of JSON, broken JSON, lists or plain text."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from shotad.core import RefusalError, ScriptError
from shotad.script import LONGEST

MOST_FAILURES = 50
"""Brackets tried as the beginning of JSON; a model that writes nothing but brackets ends there."""

_KEY = re.compile(r"[\"'`]?\bsummari[sz]ed?[_ -]?ADs?(?:[_ -]?(\d+))?[\"'`]?\s*[:=]\s*", re.IGNORECASE)
_QUOTES = str.maketrans(
    {
        "“": '"',
        "”": '"',
        "„": '"',
        "«": '"',
        "»": '"',
        "‘": "'",
        "’": "'",
        "`": "'",
        "：": ":",
        "。": ".",
        "，": ", ",
    }
)
THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_COMMENT = re.compile(r"(?<=[\"'}\],])[ \t]*//[^\n\"']*+$", re.MULTILINE)
_TABLE_ROW = re.compile(r"^[ \t]*+\|[ \t]*+(?:\d{1,2}[ \t]*+\|)?(.*)\|[ \t]*$", re.MULTILINE)
_TOKENS = re.compile(
    r"<\|[a-z_0-9]{2,30}\|>|</?(?:s|material)>|\[/?INST\]|<(?:start|end)_of_turn>", re.IGNORECASE
)
"""Signs of a chat template that a server did not take out, and marks of our prompts."""
_FENCE = re.compile(r"```[ \t]*\w*")
_CLOSED = re.compile(r"\s*(?:$|[}\]\n]|,\s*(?:$|[\"'}\]{\n]))")
"""What follows the quote that ends a value; any other quote belongs to the sentence."""

_OPENING = re.compile(
    r"(?:(?:sure|certainly|of course|absolutely|okay|ok)(?: thing)?"
    r"(?:[!.:]\s+|,\s+(?=here|below|i\b|this|the a)))?"
    r"(?:(?:based on|from|given) (?:the|this|your) (?:\w+ ){0,3}?(?:description|clip|input)[^,:\n]{0,40}, )?"
    r"(?:here(?:'s| is| are| you go)\b[^:\n]{0,80}:\s*)?"
    r"(?:(?:the |possible |final )?(?:summari[sz]ed )?"
    r"(?:(?:audio )?descriptions?|ADs?|summary|answer|output|result"
    r"|(?:option|candidate|version|alternative|sentence|line|variant|possibility)(?= ?\d))"
    r"(?: \(AD\))?(?: sentences?)?(?: ?\d)?(?: (?:is|would be|reads|could be))? ?:\s*)?",
    re.IGNORECASE,
)
_AFTERWORD = re.compile(
    r"\(?(?:note|explanation|reasoning|word count|i (?:have |focused|used|hope|chose|tried)|let me know"
    r"|this (?:sentence|summary|description|ad)\b|please |these (?:sentences|descriptions|ads|lines"
    r"|options)\b"
    r"|each (?:sentence|ad|option)\b|all (?:sentences|five)\b)",
    re.IGNORECASE,
)
_ENUMERATED = re.compile(r"(?:^|(?<=\s))\(?([1-9])[.)]\s+")
_WORD_COUNT = re.compile(r"(?:(?<!\s)\s+)?\(\d+ words?\)\s*(?=[.\"']*$)", re.IGNORECASE)
_NO_SENTENCE = re.compile(r"[{}]|[\"']\s*:|\A[\W\d_]*\Z")
"""A piece of JSON in another form than ours, or nothing but a number."""
_BRACKET = re.compile(r"[{\[]")
_NOTHING = re.compile(
    r"(?:none|n/?a|null|nil|no|yes|ok(?:ay)?|unknown|not applicable|\W*)[.;!]?", re.IGNORECASE
)
_DO = (
    r"(?:assist|help|fulfil\w*|comply|provide|describe|generate|create|write|process|view|watch|engage"
    r"|continue"
    r"|summari[sz]e|complete|produce|support|identify|recogni[sz]e|see the|see any|access|analy[sz]e"
    r"|discuss|answer"
    r"|accommodate|do (?:that|this)|offer|share|convert|respond)"
)
_CANNOT = (
    r"(?:can ?not|can't|could not|couldn't|won't|will not|am (?:unable|not able) to|'m (?:unable"
    r"|not able) to)"
)
_REFUSAL = re.compile(
    r"(?:\W*(?:oh|okay|well|hmm),? )?"
    r"(?:i'?m (?:very |so |really |truly )?sorry|i am (?:very |so )?sorry"
    r"|sorry,? (?:but )?(?:i\b|this\b|that\b|the (?:content|request|description))"
    r"|i (?:do )?apologi[sz]e|my apologies"
    r"|apologies,? (?:but )?|unfortunately,? (?:i\b|this (?:content|request))"
    r"|i (?:can ?not|can't|must decline|have to decline|decline|am not comfortable|won't|will not)\b"
    r"|i(?:'m| am) (?:unable|not able|not allowed|not permitted|not comfortable|just an? |only an? )"
    r"|i don't feel comfortable|as an? (?:responsible |large |helpful )?(?:ai\b|artificial"
    r"|language model|assistant)"
    r"|(?:request|content) (?:refused|blocked|filtered|denied)|refus(?:al|ed)\b\W*$"
    r"|can't (?:assist|help)|cannot (?:assist|help|fulfil|comply|provide))",
    re.IGNORECASE,
)
_REFUSAL_WITHIN = re.compile(
    rf"\bI ?{_CANNOT} (?:\w+ )?{_DO}\b|\bI(?:'m| am) (?:unable|not able) to (?:\w+ )?{_DO}\b"
    r"|\b(?:content|usage|safety) (?:policy|policies|guidelines)\b"
    r"|\b(?:violat\w+|goes against|against) (?:my|our|the|openai's|community) [\w' ]{0,30}"
    r"(?:polic(?:y|ies)|guidelines|terms|programming)\b"
    r"|\b(?:contains?|involves?|depicts?|due to|sexual|graphic|explicit) [^.\n]{0,60}"
    r"\b(?:cannot|can't|unable to|not able to|won't) (?:\w+ )?(?:be )?(?:assist|help|provide|describe"
    r"|generate|process)\w*"
    rf"|\b(?:cannot|can't|unable to) {_DO} [^.\n]{{0,60}}\b(?:violen\w+|nudity|explicit|sexual|graphic"
    rf"|harmful)\b",
    re.IGNORECASE,
)


def parse_stage2(text: str, candidates: int = 1, cut: bool = False) -> tuple[str, ...]:
    """The AD lines of an answer: at least one, at most ``candidates``, in the order of their keys.

    Understands JSON objects and lists, also broken (single quotes, a comma too many, a brace too few,
    text around them), keys without JSON, numbered lines and plain sentences. Every line is one line
    of text that ends in a full stop or its like. ``cut``: the answer was cut off at its greatest length, and
    what is half at its end is left out.

    Raises RefusalError where a model will not write, ScriptError where else nothing can be spoken: an
    empty answer, or empty values.
    """
    if candidates < 1:
        raise ValueError(f"at least one candidate must be asked for, got {candidates}")
    body = _FENCE.sub("\n", THOUGHTS.sub("", plain_quotes(text))).strip()
    body = _COMMENT.sub("", body)
    if cut:
        body = _before_the_cut(body)
    lines = next(filter(None, (_spoken(found) for found in _readings(body, candidates))), [])
    if lines:
        return tuple(lines[:candidates])
    if refuses(body):
        raise RefusalError(f"Stage II refused to write a line: {quoted(text)}.", _RETRY)
    raise ScriptError(f"Stage II wrote no whole line: {quoted(text)}.", _RETRY)


_RETRY = "Run again with another seed or engine."


def is_nothing(text: str) -> bool:
    """True for text that says nothing: empty, only signs, or a word like ``None``."""
    return _NOTHING.fullmatch(text.strip()) is not None


def is_refusal(text: str) -> bool:
    """True for text that begins as a model does that will not or cannot answer."""
    return _REFUSAL.match(text.lstrip(" \"'")) is not None


def refuses(text: str) -> bool:
    """True where an answer, in which nothing else was found, is a refusal or holds one, in JSON perhaps."""
    body = " ".join(plain(text).split())
    values = re.split(r"[\"'{}\[\]:]+\s*", body)
    return _REFUSAL_WITHIN.search(body) is not None or any(is_refusal(value) for value in (body, *values))


def quoted(text: str) -> str:
    """The beginning of a model's answer, for an error message."""
    words = " ".join(text.split())
    return repr(words if len(words) <= 80 else words[:79] + "…")


def plain_quotes(text: str) -> str:
    """Text with straight quotes and without characters that cannot be written or seen."""
    sound = text.encode("utf-8", "ignore").decode("utf-8").translate(_QUOTES).replace("'''", "```")
    sound = _TOKENS.sub("\n", sound)
    return "".join(c for c in sound if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Co", "Cn"))


def plain(text: str) -> str:
    """Text without Markdown: no emphasis, no heading signs, no bullets, single blanks."""
    unmarked = re.sub(r"[*#`]+|(?<!\w)_+|_+(?!\w)", "", THOUGHTS.sub("", plain_quotes(text)))
    unbulleted = re.sub(r"^[ \t]*(?:[-•>]+[ \t]+)?", "", unmarked, flags=re.MULTILINE)
    return re.sub(r"[ \t]+", " ", unbulleted).strip()


def _readings(body: str, candidates: int) -> Iterator[list[str]]:
    """Ways to read an answer, the strictest first. Plain text is tried only where no key stands."""
    yield list(_json_lines(body))
    if _KEY.search(body):
        yield _keyed_lines(body)
    elif body.startswith(("[", "{")):
        yield _strings_in(body)
    else:
        yield _plain_lines(body, candidates)


def _spoken(texts: list[str]) -> list[str]:
    lines = (_line(text) for text in texts if len(text) <= LONGEST)
    return [line for line in dict.fromkeys(lines) if line and not _is_refused(line)]


def _is_refused(line: str) -> bool:
    return is_refusal(line) or _REFUSAL_WITHIN.search(line) is not None


def _before_the_cut(body: str) -> str:
    """The answer up to the last place where a sentence or a value is sure to have ended."""
    for end in reversed(list(_SURE_END.finditer(body))):
        if not _NO_END.search(body[max(0, end.end() - 12) : end.end()]):
            return body[: end.end()]
    return ""


_SURE_END = re.compile(r"[.!?…][\"')]*(?=\s|[,}\]]|\Z)|[\"']\s*[,}\]]|\n(?=[^\S\n]*(?:\d[.)]|[-•*])\s)")
_NO_END = re.compile(
    r"(?:(?:\b(?:Mr|Mrs|Ms|Dr|St|Prof|Sgt|Lt|Capt|Col|Gen|Jr|Sr|vs|No)|(?:^|[\s(])\d{1,2})\.|\.\.\.|…)\Z",
    re.MULTILINE,
)


def _json_lines(body: str) -> Iterator[str]:
    """The lines of all JSON values that stand in the text."""
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_all_values)
    position, failures = 0, 0
    while failures < MOST_FAILURES and (bracket := _BRACKET.search(body, position)):
        try:
            value, position = decoder.raw_decode(body, bracket.start())
        except (ValueError, RecursionError):
            position, failures = bracket.end(), failures + 1
        else:
            yield from _strings_of(value)


def _all_values(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object in which a key that stands several times has a list of its values."""
    found: dict[str, list[Any]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return {key: values[0] if len(values) == 1 else values for key, values in found.items()}


def _strings_of(value: Any) -> list[str]:
    """The lines in a JSON value: those under our keys, by their number, else all."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [line for item in value for line in _strings_of(item)]
    if not isinstance(value, dict):
        return []
    ours = [(_KEY.match(f"{key}:"), inner) for key, inner in value.items()]
    numbered = [(int(m.group(1) or 0), inner) for m, inner in ours if m]
    chosen = [inner for _, inner in sorted(numbered, key=lambda pair: pair[0])] or list(value.values())
    return [line for inner in chosen for line in _strings_of(inner)]


def _keyed_lines(body: str) -> list[str]:
    """Values of our keys in JSON that is broken: each reaches to the next key at most."""
    keys = list(_KEY.finditer(body))
    ends = [key.start() for key in keys[1:]] + [len(body)]
    numbered = [
        (int(key.group(1) or 0), _strings_in(body[key.end() : end]))
        for key, end in zip(keys, ends, strict=True)
    ]
    return [line for _, lines in sorted(numbered, key=lambda pair: pair[0]) for line in lines]


def _strings_in(segment: str) -> list[str]:
    """The values in a piece of broken JSON: one string, bare text up to a line's end, or a list."""
    is_list = segment.startswith(("[", "{"))
    rest, strings = segment.lstrip(" \n\t[{"), []
    while rest:
        value, rest = _one_value(rest)
        strings.append(value)
        if not is_list:
            break
        rest = rest.lstrip(" \n\t,")
    return strings


def _one_value(text: str) -> tuple[str, str]:
    if text[0] not in "\"'":
        value, _, rest = text.partition("\n")
        return value.rstrip(" ,}]"), rest
    position = 1
    while position < len(text):
        if text[position] == "\\":
            position += 1
        elif text[position] == text[0] and _CLOSED.match(text, position + 1):
            return _unescaped(text[1:position]), text[position + 1 :]
        position += 1
    return _unescaped(_whole_sentences(text[1:].rstrip())), ""


def _whole_sentences(unclosed: str) -> str:
    """A value that nothing closes is cut off, unless brackets follow it; half a phrase is not spoken."""
    if unclosed.endswith(("}", "]")):
        return unclosed.rstrip(" \n\t,}]")
    found = re.match(r".*[.!?…]", unclosed, re.DOTALL)
    return found.group() if found else ""


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda m: " " if m.group(1) in "nrt" else m.group(1), text, flags=re.DOTALL)


def _plain_lines(body: str, candidates: int) -> list[str]:
    """Sentences of an answer without JSON: opening words, afterwords and numbers taken away."""
    body = body[_OPENING.match(body).end() :] if _OPENING.match(body) else body  # type: ignore[union-attr]
    kept = [line.strip() for line in _TABLE_ROW.sub(r"\1", body).splitlines()]
    kept = kept[: next((i for i, line in enumerate(kept) if i and _AFTERWORD.match(line)), len(kept))]
    numbered = _ENUMERATED.split("\n".join(kept))
    if len(numbered) > 3:
        return [text.strip() for text in numbered[2::2]]
    if candidates > 1:
        return [re.sub(r"^(?:[-*•]|\(?\d[.):])\s+", "", line) for line in kept if line]
    paragraph = "\n".join(kept).strip().split("\n\n")[0]
    return [_ENUMERATED.sub("", paragraph, count=1) if _ENUMERATED.match(paragraph) else paragraph]


def _line(text: str) -> str:
    """One line that can be spoken, or nothing."""
    words = " ".join(plain(text).split())
    words = _WORD_COUNT.sub("", words[_opening_end(words) :]).strip(" ,;")
    while len(words) > 1 and words[0] in "\"'" and words[-1] == words[0]:
        words = words[1:-1].strip()
    if is_nothing(words) or _NO_SENTENCE.search(words):
        return ""
    words = words[0].upper() + words[1:]
    return words if re.search(r"[.!?…][\"')]*$", words) else f"{words.rstrip(':-– ')}."


def _opening_end(words: str) -> int:
    found = _OPENING.match(words)
    return found.end() if found else 0
