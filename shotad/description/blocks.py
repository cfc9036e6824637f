"""What the prompts of both stages have in common: blocks, numbers in words, the names of shots."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from shotad.core import Message, PromptSettings, seen
from shotad.description.templates import cut_to_words, render

TEMPLATES: Mapping[str, tuple[str, ...]] = {"material/rule": ()}
"""The template of this module, without variables."""

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


def note_block(template: str, settings: PromptSettings) -> str:
    """The user's note as a block of its own, or nothing."""
    note = cut_to_words(settings.note, settings.note_words)
    return block(render(template, medium=settings.medium, note=material(note))) if note else ""


def name_shots(numbers: Sequence[int]) -> str:
    """``[1, 2] → [Shot 1, Shot 2]``."""
    return "[" + ", ".join(f"Shot {n}" for n in numbers) + "]"
