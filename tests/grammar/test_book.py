"""What the book of a film's grammar says of a clip, and how it is written down."""

from __future__ import annotations

import tracemalloc

from shotad.core import Grammar, ShotScale
from shotad.film import ShotMoments
from shotad.grammar import ShotSample, grammar_of
from shotad.grammar.cache import GrammarCache, pairs_of, thread_letters
from shotad.grammar.features import ScaleGuess

CLOSE = ScaleGuess((0.1, 0.6, 0.3, 0.0, 0.0))
LONG = ScaleGuess((0.0, 0.0, 0.1, 0.2, 0.7))


def look(shot: int, slot: str = "") -> ShotSample:
    return ShotSample(shot, ShotMoments(shot + 0.1, shot + 0.3, shot + 0.5, shot + 0.7, shot + 0.9), slot)


def book(*edges: tuple[int, int, float], shots: int = 6) -> GrammarCache:
    """A book of six shots, all close but the last, with these scores."""
    looks = [look(k) for k in range(shots)]
    guesses: dict[ShotSample, ScaleGuess | None] = dict.fromkeys(looks, CLOSE)
    guesses[looks[-1]] = LONG
    scores = dict.fromkeys(pairs_of(looks), 0.1)
    scores |= {(looks[i], looks[j]): score for i, j, score in edges}
    return GrammarCache(guesses, scores)


def test_a_clip_gets_its_shots_by_painted_number() -> None:
    clip = [look(k) for k in (3, 4, 5)]
    found = grammar_of(book((3, 5, 0.9)), clip, {3: 0, 4: 1, 5: 2}, 0.3)
    assert found == Grammar(
        {0: ShotScale.CLOSE_UP, 1: ShotScale.CLOSE_UP, 2: ShotScale.LONG}, threads=((0, 2),)
    )


def test_letters_of_a_long_film_take_memory_by_its_pairs() -> None:
    """A matrix of so many shots would take 400 MB."""
    looks = [look(k) for k in range(10_000)]
    long = GrammarCache({}, {(looks[k], looks[k + 3]): 0.9 for k in range(len(looks) - 3)})
    tracemalloc.start()
    try:
        found = thread_letters(long, 0.3)
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()
    assert [found[k] for k in (0, 1, 2, 9_999)] == ["A", "B", "C", "A"]
