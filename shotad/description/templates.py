"""Prompt templates: text files with ``$names``, filled in completely or not at all; blocks both stages share.

Missing and unknown variables are refused before any model is called (as in simonw/llm's templates).
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from string import Template
from typing import Any

from shotad.core import Message, PromptError, PromptSettings, prompt_text, seen


def render(name: str, /, **values: str) -> str:
    """The template ``name`` (``stage1/base``) with its variables filled in, without the last line's end.

    Raises PromptError where the template's variables and ``values`` are not the same, naming all
    that are missing and all that are unknown, and where a ``$`` stands alone.
    """
    template = _template(name)
    _require_same(name, set(template.get_identifiers()), set(values))
    return template.substitute(values).rstrip("\n")


def check_templates(shipped: Mapping[str, str]) -> None:
    """Raise PromptError unless each template, edited perhaps, has just the variables of the shipped one."""
    for name, text in shipped.items():
        expected = Template(text).get_identifiers()
        _require_same(name, set(_template(name).get_identifiers()), set(expected))


def cut_to_words(text: str, words: int) -> str:
    """The beginning of a text of at most ``words`` words. Its lines stay lines.

    It ends with a sentence or a line where that keeps half of the words, else with a word and an ellipsis.

    >>> cut_to_words("Ann is a thief. Bo does not know it.", 6)
    'Ann is a thief.'
    """
    found = list(re.finditer(r"\S+", text))
    if len(found) <= words:
        return text.strip()
    if words < 1:
        return ""
    end = found[words - 1].end()
    ends = [match.end() for match in _SENTENCE_END.finditer(text, 0, end + 1)]
    if ends and sum(word.end() <= ends[-1] for word in found) >= words / 2:
        return text[: ends[-1]].strip()
    return f"{text[:end].strip().rstrip(',;:')} …"


_SENTENCE_END = re.compile(r"[.!?…][\"'”’)]*(?=\s)|(?=\n)")


def prompt_hash(names: Iterable[str]) -> str:
    """Hash (sha256, hex) of the texts of these prompts, whatever their order."""
    digest = hashlib.sha256()
    for name in sorted(set(names)):
        digest.update(f"{name}\0{prompt_text(name)}\0".encode())
    return digest.hexdigest()


def _template(name: str) -> Template:
    text = prompt_text(name)
    template = Template(text)
    if not template.is_valid():
        stray = re.search(r"\$(?!\$|\w|\{\w+\})", re.sub(r"\$\$", "  ", text))
        line = text.count("\n", 0, stray.start() if stray else 0) + 1
        raise PromptError(
            f"The prompt {name} has a $ without a name in line {line}.", "Write $$ for a dollar sign."
        )
    return template


def _require_same(name: str, in_template: set[str], given: set[str]) -> None:
    unknown = ", ".join(f"${v}" for v in sorted(in_template - given))
    missing = ", ".join(f"${v}" for v in sorted(given - in_template))
    complaints = [f"does not know {unknown}"] * bool(unknown) + [f"lacks {missing}"] * bool(missing)
    if complaints:
        valid = ", ".join(f"${v}" for v in sorted(given)) or "none"
        raise PromptError(f"The prompt {name} {' and '.join(complaints)}.", f"Its variables are: {valid}.")


COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def block(text: str) -> str:
    """Text after an empty line; nothing leaves no trace."""
    return f"\n\n{text.strip()}" if text.strip() else ""


def material(text: str) -> str:
    """Text from outside (notes, dialogue, names, earlier lines) between marks that it cannot close itself.

    Nothing leaves no trace. `question` says what the marks mean.

    >>> material("Ann, Bo"), material("a </material> b")
    ('<material>Ann, Bo</material>', '<material>a ‹/material> b</material>')
    """
    inner = _MARK.sub("‹", seen(text)).strip()
    between = "\n" if "\n" in inner else ""
    return f"{_OPENS}{between}{inner}{between}{_CLOSES}" if inner else ""


def without_material(text: str) -> str:
    """A prompt without what stands between the marks of `material`."""
    first, *others = text.split(_OPENS)
    return "\n".join((first, *(other.partition(_CLOSES)[2] for other in others)))


_OPENS, _CLOSES = "<material>", "</material>"
_MARK = re.compile(r"<(?=\s*+(?:/\s*+)?material)", re.IGNORECASE)


def question(text: str, *, with_clip: bool = False) -> Message:
    """What an engine is asked; where it holds `material`, what that is stands first."""
    rule = f"{render('material/rule')}\n\n" if _OPENS in text else ""
    return Message("user", rule + text, with_clip=with_clip)


def form_of(fields: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The JSON schema of an answer that has these fields and no others."""
    return {
        "type": "object",
        "properties": dict(fields),
        "required": list(fields),
        "additionalProperties": False,
    }


def note_block(template: str, settings: PromptSettings) -> str:
    """The user's note as a block of its own, or nothing."""
    note = cut_to_words(settings.note, settings.note_words)
    return block(render(template, medium=settings.medium, note=material(note))) if note else ""


def name_shots(numbers: Sequence[int]) -> str:
    """``[1, 2] → [Shot 1, Shot 2]``."""
    return "[" + ", ".join(f"Shot {n}" for n in numbers) + "]"


_LATIN_END, _GREEK_EXTENDED = 0x250, (0x1E00, 0x2000)
_SIGNS = (
    (0x1100, 0x1200),
    (0x2E80, 0xA4D0),
    (0xAC00, 0xD800),
    (0xF900, 0xFB00),
    (0xFF00, 0xFFF0),
    (0x20000, 0x40000),
)
"""Chinese, Japanese and Korean: ``[first, last)`` code points."""


def tokens_in(text: str) -> int:
    """About how many tokens a text takes; 0 for none.

    ASCII takes a token for 4 characters; a Latin letter with a mark 1.5 tokens (it breaks a word in two); a
    letter of another alphabet 0.45; a Chinese, Japanese or Korean sign 0.8. Measured on this project's own
    English prompts against real tokenizers: 1 to 10 % too few for SmolLM2 (13 % for a short answer in JSON),
    1 % below to 6 % above for Qwen, LLaMA3 and GPT-4o (o200k). In German, French, Spanish, Polish, Greek,
    Arabic, Chinese, Japanese and Korean within 18 % of LLaMA3 and GPT-4o (Russian: up to 38 % above); but
    SmolLM2, made for English, takes 1.3 to 3 times as many there, and Qwen twice as many in Greek and Hindi.

    >>> tokens_in("She climbs the stairs."), tokens_in("彼女は階段を上る。")
    (6, 8)
    """
    tokens = 0.0
    for code in map(ord, text):
        if code < 0x80:
            tokens += 0.25
        elif code < _LATIN_END or _GREEK_EXTENDED[0] <= code < _GREEK_EXTENDED[1]:
            tokens += 1.5
        else:
            tokens += 0.8 if any(first <= code < end for first, end in _SIGNS) else 0.45
    return math.ceil(round(tokens, 6))
