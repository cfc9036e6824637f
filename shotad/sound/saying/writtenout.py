"""What is said for what is written."""

from __future__ import annotations

from shotad.sound.saying.lexicon import NOTHING, Lexicon, spoken_marks
from shotad.sound.voices.base import Reading


def said(
    text: str, language: str, lexicon: Lexicon = NOTHING, reads: frozenset[Reading] = frozenset()
) -> str:
    """The text as it is sent to a voice that turns ``reads`` into words by itself."""
    marked, sayings = lexicon.marked(text)
    return spoken_marks(" ".join(marked.split()), sayings)
