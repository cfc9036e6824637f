"""Keys and passwords are struck out of what a server repeats of them, and of all that is written or shown.

Two nets. What a server answers is searched for the secrets that any server of this process is sent, however
they are written: plain, as JSON, percent or HTML escapes, in base 64, or a mixture (`redact`). And every
text that goes into a work folder or to the terminal is searched for them as they are, for texts are decoded,
cut and joined on their way (`redact_sent_secrets`).
"""

from __future__ import annotations

import base64
import functools
import html
import json
import os
import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

STRUCK = "[secret]"
"""What stands in place of a secret."""

_SHORTEST = 6
"""Letters of a secret at least; anything shorter is a placeholder (``none``), and part of ordinary words."""

_variables = {
    *("OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
    *("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"),
}
"""Environment variables whose content is sent somewhere as a key."""
_values: set[str] = set()
"""Other secrets that are sent: passwords and tokens of addresses."""


def remember_secrets(variables: Iterable[str] = (), values: Iterable[str] = ()) -> None:
    """Have the content of these environment variables, and these values, struck out from now on."""
    _variables.update(name for name in variables if name)
    _values.update(value for value in values if len(value) >= _SHORTEST)


def _sent_secrets() -> list[str]:
    keys = (os.environ.get(name, "").strip() for name in sorted(_variables))
    return [secret for secret in (*keys, *sorted(_values)) if len(secret) >= _SHORTEST]


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    r"""``text`` of a server without ``secrets`` and all others that are sent, in whatever escapes.

    >>> redact(r"Wrong key: sk-12345678, \u0073k-1234567%38.", ["sk-12345678"])
    'Wrong key: [secret], [secret].'
    """
    pattern = _pattern(tuple(dict.fromkeys([*secrets, *_sent_secrets()])))
    if pattern is None:
        return text
    spans = [match.span() for match in pattern.finditer(text)]
    # The same in the text without its escapes, without the escapes that come to light then, and so on
    levels: list[_Plain] = []
    plain = _without_escapes(text)
    while plain is not None and len(levels) < _LEVELS:
        levels.append(plain)
        for match in pattern.finditer(plain.text):
            span = match.span()
            for level in reversed(levels):
                span = level.span_before(*span)
            spans.append(span)
        plain = _without_escapes(plain.text)
    if not spans:
        return text
    pieces: list[str] = []
    at = 0
    for start, end in sorted(spans):
        if start >= at:
            pieces += [text[at:start], STRUCK]
        at = max(at, end)
    return "".join([*pieces, text[at:]])


def redact_answer(body: bytes, secrets: Iterable[str] = ()) -> bytes:
    """The same of a server's answer as it came: of JSON all texts once they are decoded, so that the answer
    holds no secret whoever decodes it; of sound, which nobody reads, what stands there as it is."""
    known_secrets = tuple(secrets)
    try:
        text = body.decode()
    except UnicodeDecodeError:
        text = ""
    if text:
        body = redact(text, known_secrets).encode()
    try:
        tree = json.loads(body)  # also of UTF-16, by which a text may come too
    except (ValueError, RecursionError):
        tree = None
    if tree is not None:
        clean = struck_out_of(tree, known_secrets)
        return body if clean == tree else json.dumps(clean).encode()
    for secret in () if text else [*known_secrets, *_sent_secrets()]:
        if len(secret) >= _SHORTEST:
            body = body.replace(secret.encode(), STRUCK.encode())
    return body


def struck_out_of(tree: Any, secrets: Iterable[str] = ()) -> Any:
    """The same of all texts of a JSON value, its keys among them."""
    known_secrets = tuple(secrets)
    if isinstance(tree, str):
        return redact(tree, known_secrets)
    if isinstance(tree, dict):
        return {
            redact(key, known_secrets): struck_out_of(value, known_secrets) for key, value in tree.items()
        }
    if isinstance(tree, list):
        return [struck_out_of(value, known_secrets) for value in tree]
    return tree


def redact_sent_secrets(text: str) -> str:
    """``text`` without the secrets that are sent, as they are and as JSON has them, to be written or shown.

    Words that may well be meant otherwise stay, such as ``ollama`` for a server that takes any key.
    """
    for secret in _sent_secrets():
        if _is_telling(secret):
            for form in (secret, json.dumps(secret)[1:-1]):
                if form in text:
                    text = text.replace(form, STRUCK)
    return text


def _is_telling(secret: str) -> bool:
    """Whether a text can only mean the secret by it: keys are long, or of letters and digits."""
    mixed = any(c.isdigit() for c in secret) and any(c.isalpha() for c in secret)
    return len(secret) >= 20 or (len(secret) >= 8 and mixed)


@functools.lru_cache(maxsize=32)
def _pattern(secrets: tuple[str, ...]) -> re.Pattern[str] | None:
    """What finds the secrets, and what they are in base 64; None where there are none."""
    forms: set[str] = set()
    for secret in secrets:
        if len(secret) >= _SHORTEST:
            data = secret.encode()
            encoded = (base64.b64encode(data), base64.urlsafe_b64encode(data))
            forms |= {secret, *(form.decode().rstrip("=") for form in encoded)}
    if not forms:
        return None
    # The longest first: a password may be the beginning of another.
    alternatives = (re.escape(form) for form in sorted(forms, key=lambda form: (-len(form), form)))
    return re.compile("|".join(alternatives), re.IGNORECASE)


_LEVELS = 5
"""How often a text may be escaped, one way upon the other."""

_UNSEEN = "\\x00\\u00ad\\u200b-\\u200f\\u2060-\\u2064\\ufeff"
_ESCAPE = re.compile(
    r"\\+(?:u\{(?P<braced>[0-9a-f]{1,6})\}|u(?P<four>[0-9a-f]{4})|x(?P<two>[0-9a-f]{2})"
    rf"|(?P<sign>[^\w\s\\&%{_UNSEEN}]))?"
    r"|%(?:25)*(?P<percent>[0-7][0-9a-f])?"
    r"|&(?:amp;)*(?P<entity>#\d{1,7};?|#x[0-9a-f]{1,6};?|[a-z]\w{1,30};)?"
    rf"|(?P<unseen>[{_UNSEEN}]+)",
    re.IGNORECASE,
)
"""A character that is escaped, once or several times in the same way, or marks that nobody sees: JSON's
``\\u0073`` and ``\\/``, ``%73``, ``&#115;``. Each branch also takes its first sign alone, so that the search
goes through a text once, whatever stands there."""


@dataclass(frozen=True, slots=True)
class _Plain:
    """A text without one level of escapes, and where each part of it stands in the text before.

    Part ``n`` begins at ``starts[n]`` here and covers ``spans[n]`` there; ``literal[n]``: letter by letter.
    """

    text: str
    starts: list[int]
    spans: list[tuple[int, int]]
    literal: list[bool]

    def span_before(self, start: int, end: int) -> tuple[int, int]:
        """Where ``[start, end)`` stands in the text before."""
        first, last = bisect_right(self.starts, start) - 1, bisect_right(self.starts, end - 1) - 1
        begins = self.spans[first][0] + (start - self.starts[first] if self.literal[first] else 0)
        ends = self.spans[last][1]
        if self.literal[last]:
            ends = self.spans[last][0] + end - self.starts[last]
        return begins, ends


def _without_escapes(text: str) -> _Plain | None:
    """The text with its escapes read; None where it has none."""
    plain = _Plain("", [], [], [])
    parts: list[str] = []
    length = at = 0

    def add(part: str, start: int, end: int, *, literal: bool) -> None:
        nonlocal length
        if part:
            plain.starts.append(length)
            plain.spans.append((start, end))
            plain.literal.append(literal)
            parts.append(part)
            length += len(part)

    for match in _ESCAPE.finditer(text):
        character = _meant(match)
        if character is None:
            continue
        add(text[at : match.start()], at, match.start(), literal=True)
        add(character, match.start(), match.end(), literal=False)
        at = match.end()
    if at == 0:
        return None
    add(text[at:], at, len(text), literal=True)
    return replace(plain, text="".join(parts))


def _meant(match: re.Match[str]) -> str | None:
    """What an escape stands for; nothing for what is not seen, None for what is no escape."""
    if match["unseen"]:
        return ""
    if match["sign"]:
        return match["sign"]
    if match["entity"]:
        read = html.unescape(f"&{match['entity']}")
        return read if len(read) == 1 else None
    digits = match["braced"] or match["four"] or match["two"] or match["percent"]
    if not digits:
        # A sign of escapes that is escaped itself, before something else
        whole = match.group().lower()
        return {"%25": "%", "&amp;": "&"}.get(whole)
    code = int(digits, 16)
    return chr(code) if code < 0x110000 else None
