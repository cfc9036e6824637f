"""What the book of a film's grammar says of a clip, and how it is written down."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from shotad.core import Grammar, ShotScale
from shotad.film import ShotMoments
from shotad.grammar import ShotSample, book_of, grammar_of, look_rows, pair_rows
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


def test_threads_join_through_a_shot_that_is_not_painted() -> None:
    clip = [look(k) for k in (1, 2, 3)]
    joined = book((1, 2, 0.5), (2, 3, 0.5))
    assert grammar_of(joined, clip, {1: 0, 2: 1, 3: 2}, 0.3).threads == ((0, 1, 2),)
    assert grammar_of(joined, clip, {1: 0, 3: 1}, 0.3).threads == ((0, 1),)
    assert grammar_of(joined, clip, {2: 0}, 0.3).threads == ()


def test_letters_go_by_the_first_shot_of_a_thread_over_the_whole_film() -> None:
    found = thread_letters(book((0, 4, 0.9), (1, 2, 0.9), (4, 5, 0.9)), 0.3)
    assert found == {0: "A", 4: "A", 5: "A", 1: "B", 2: "B"}


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


@pytest.mark.parametrize("slots", [("",), ("s00000100", "s00000900")], ids=["whole shots", "clipped shots"])
def test_a_book_reads_back_as_it_was_written(slots: tuple[str, ...]) -> None:
    clips = [[look(k, slot) for k in range(3)] for slot in slots]
    kept = GrammarCache()
    for n, clip in enumerate(clips):
        kept.guesses |= {clip[0]: CLOSE, clip[1]: None, clip[2]: LONG}
        kept.scores |= dict.fromkeys(pairs_of(clip), 0.25 + n / 8)
    looks = [one for clip in clips for one in clip]
    record = json.loads(json.dumps([look_rows(kept, looks, 0.3), pair_rows(kept, looks)]))
    assert book_of(*record, guessed=True) == kept
    assert book_of(*record, guessed=False) == GrammarCache({}, kept.scores)
