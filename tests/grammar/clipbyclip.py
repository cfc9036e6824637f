"""All clips read by one sweep over the film, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shotad.core import ThreadSettings
from shotad.film import Pictures
from shotad.grammar import ClipReader, Look, Readers, Sweep
from shotad.grammar.cache import GrammarCache


def read_clips(
    clips: Sequence[Sequence[Look]],
    book: GrammarCache,
    pictures: Pictures,
    readers: Readers,
    settings: ThreadSettings,
    batch: int = 8,
) -> Iterator[Sequence[Look]]:
    """Adds to ``book`` what it lacks of ``clips``; each that was read, when it is done."""
    reader = ClipReader(book, readers, settings, batch)
    lacking = [clip for clip in clips if reader.lacks(clip)]
    sweep = Sweep(reader.moments(lacking), pictures)
    for clip in lacking:
        reader.read(clip, sweep)
        yield clip
