"""What the prompts of both stages have in common: blocks, numbers in words, the names of shots."""

from __future__ import annotations

from collections.abc import Sequence

from shotad.config import PromptSettings
from shotad.describe.templates import cut_to_words, render

COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def block(text: str) -> str:
    """Text after an empty line; nothing leaves no trace."""
    return f"\n\n{text.strip()}" if text.strip() else ""


def note_block(template: str, settings: PromptSettings) -> str:
    """The user's note as a block of its own, or nothing."""
    note = cut_to_words(settings.note, settings.note_words)
    return block(render(template, medium=settings.medium, note=note)) if note else ""


def name_shots(numbers: Sequence[int]) -> str:
    """``[1, 2] → [Shot 1, Shot 2]``."""
    return "[" + ", ".join(f"Shot {n}" for n in numbers) + "]"
