"""Film grammar clip by clip: each frame once, nothing kept longer than needed, and what its book says of a clip."""

from __future__ import annotations

import itertools
import tracemalloc
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from shotad.core import (
    Grammar,
    Image,
    ShotScale,
)
from shotad.core.config.sight import ThreadSettings
from shotad.film import Picture
from shotad.film.sampling import Moment, ShotMoments
from shotad.grammar import (
    ClipReader,
    Features,
    GrammarCache,
    GrammarModels,
    ShotSample,
    grammar_of,
    sample_rows,
    shot_scores,
)
from shotad.grammar.features import ScaleGuess
from shotad.grammar.threads import Matching

GRID = (3, 4)


def frame_of(second: float) -> Image:
    """A frame that holds its second, in ms, and nothing else."""
    return np.full((6, 8, 3), 0, np.uint8) + np.array(
        [int(second * 1000) >> 8, int(second * 1000) & 255, 7], np.uint8
    )


def second_of(image: Image) -> float:
    return float((int(image[0, 0, 0]) << 8) + int(image[0, 0, 1])) / 1000


def patches_of(second: float) -> np.ndarray:
    """Features that depend on the second alone: alike for odd shots, alike for even ones."""
    set_up = np.random.default_rng(int(second) % 2).normal(size=(12, 8))
    noisy = set_up + 0.2 * np.random.default_rng(int(second * 1000)).normal(size=(12, 8))
    return np.asarray(noisy / np.linalg.norm(noisy, axis=1, keepdims=True), np.float32)


@dataclass
class Maker:
    identity: str = "test"
    threshold: float = 0.3
    agreeing: bool = False
    seen: list[float] = field(default_factory=list)
    made: list[weakref.ref[np.ndarray]] = field(default_factory=list)

    @property
    def held(self) -> int:
        """How many of the features that it made are still held."""
        return sum(features() is not None for features in self.made)

    def of(self, images: Sequence[Image]) -> Features:
        seconds = [second_of(image) for image in images]
        self.seen += seconds
        patches = np.stack([patches_of(s) for s in seconds])
        self.made.append(weakref.ref(patches))
        return Features(patches, patches[:, 0], GRID)


@dataclass
class Scales:
    identity: str = "test"
    moments: tuple[Moment, ...] = ("middle",)
    seen: list[float] = field(default_factory=list)

    def of(self, images: Sequence[Image]) -> list[ScaleGuess | None]:
        self.seen += [second_of(image) for image in images]
        return [None if second_of(i) > 8 else ScaleGuess((0.0, 0.0, 1.0, 0.0, 0.0)) for i in images]


@dataclass
class Film:
    """Delivers frames, and remembers how often it was asked and for what. It ends at ``end``."""

    end: float = 1e9
    asked: list[list[float]] = field(default_factory=list)

    def pictures(self, seconds: Sequence[float]) -> Iterator[Picture]:
        self.asked.append(list(seconds))
        for second in seconds:
            if second < self.end:
                yield Picture(second, second, frame_of(second))


def look(shot: int) -> ShotSample:
    return ShotSample(shot, ShotMoments(shot + 0.1, shot + 0.3, shot + 0.5, shot + 0.7, shot + 0.9))


CLIPS = [[look(k) for k in range(a, b)] for a, b in ((0, 4), (1, 6), (3, 7), (8, 10))]


def read(book: GrammarCache, film: Film, readers: GrammarModels, *, batch: int = 3) -> int:
    """Adds to ``book`` what it lacks of the clips, one after the other; how many were read."""
    reader = ClipReader(book, readers, ThreadSettings(), batch)
    lacking = [clip for clip in CLIPS if reader.lacks(clip)]
    for clip in lacking:
        reader.read(clip, film.pictures)
    return len(lacking)


def test_all_is_read_in_ascending_order_and_each_frame_once() -> None:
    book, film, maker, scales = GrammarCache(), Film(), Maker(), Scales()
    assert read(book, film, GrammarModels(maker, scales)) == 4
    shots = [k for k in range(10) if k != 7]
    assert list(itertools.chain(*film.asked)) == sorted(s for k in shots for s in (k + 0.1, k + 0.5, k + 0.9))
    assert maker.seen == sorted(s for k in shots for s in (k + 0.1, k + 0.9))
    assert scales.seen == [k + 0.5 for k in shots]
    assert set(book.scores) == {pair for clip in CLIPS for pair in itertools.combinations(clip, 2)}
    assert book.guesses[look(2)] == ScaleGuess((0.0, 0.0, 1.0, 0.0, 0.0))
    assert book.guesses[look(9)] is None
    reader = ClipReader(book, GrammarModels(maker, scales), ThreadSettings())
    assert not any(reader.lacks(clip) for clip in CLIPS)


def test_other_frames_of_a_shot_are_looked_at_only_where_the_first_leaves_doubt() -> None:
    class Doubting(Scales):
        def of(self, images: Sequence[Image]) -> list[ScaleGuess | None]:
            guesses = super().of(images)
            doubt = ScaleGuess((0.0, 0.5, 0.5, 0.0, 0.0))
            doubtful = [second_of(image) in (2.5, 3.5, 3.3) for image in images]
            return [doubt if is_so else guess for is_so, guess in zip(doubtful, guesses, strict=True)]

    book, scales = GrammarCache(), Doubting(moments=("middle", "quarter", "three_quarters"))
    read(book, Film(end=9.6), GrammarModels(None, scales), batch=2)
    sure = [k + 0.5 for k in (0, 1, 4, 5, 6)]
    doubted = [2.5, 2.3, 2.7, 3.5, 3.3, 3.7]
    assert sorted(scales.seen) == sorted([*sure, *doubted, 8.5, 8.3, 8.7, 9.5, 9.3])
    assert book.guesses[look(0)] == ScaleGuess((0.0, 0.0, 1.0, 0.0, 0.0))
    assert book.guesses[look(3)] == ScaleGuess((0.0, 0.333333, 0.666667, 0.0, 0.0))
    assert book.guesses[look(9)] is None


@pytest.mark.parametrize("batch", [1, 2, 64])
def test_scores_are_those_of_the_pair_alone(batch: int) -> None:
    book = GrammarCache()
    read(book, Film(), GrammarModels(Maker(), None), batch=batch)
    for (earlier, later), score in book.scores.items():
        sides = {"last": earlier.moments.last, "first": later.moments.first}
        frames = {place: np.stack([patches_of(second)] * 2) for place, second in sides.items()}
        kinds = {place: Features(patches, patches[:, 0], GRID) for place, patches in frames.items()}
        assert score == pytest.approx(float(shot_scores(kinds, Matching(GRID))[0, 1]), abs=2e-6)
    assert book.guesses == {}


def test_a_shot_whose_frames_cannot_be_had_matches_nothing() -> None:
    book = GrammarCache()
    read(book, Film(end=5.3), GrammarModels(Maker(), Scales()))
    assert book.scores[look(3), look(5)] == 0.0
    assert book.scores[look(1), look(3)] > 0.3
    assert book.guesses[look(5)] is None
    assert set(book.scores) == {pair for clip in CLIPS for pair in itertools.combinations(clip, 2)}


def test_scores_hang_on_their_two_shots_and_are_forgotten_in_time() -> None:
    """Clips of other sizes, in another order: the products of a matrix round as its shape has it."""
    wide, narrow, film = GrammarCache(), GrammarCache(), Film()
    ClipReader(wide, GrammarModels(Maker(), None), ThreadSettings()).read(
        [look(k) for k in range(6)], film.pictures
    )
    pairs = ClipReader(narrow, GrammarModels(Maker(), None), ThreadSettings())
    for later in reversed(range(6)):
        for earlier in range(later):
            pairs.read([look(earlier), look(later)], film.pictures)
    assert len(wide.scores) == 15
    assert wide.scores == narrow.scores
    # What no later clip needs is forgotten.
    maker = Maker()
    reader = ClipReader(GrammarCache(), GrammarModels(maker, None), ThreadSettings())
    held = []
    for first in range(20):
        reader.read([look(k) for k in range(first, first + 3)], film.pictures)
        held.append(maker.held)
    assert 0 < max(held[10:]) <= max(held[:10]) < 5


def test_a_clip_gets_its_shots_by_painted_number() -> None:
    """Six shots, all close but the last, and two of one thread."""
    looks = [look(k) for k in range(6)]
    close, long = ScaleGuess((0.1, 0.6, 0.3, 0.0, 0.0)), ScaleGuess((0.0, 0.0, 0.1, 0.2, 0.7))
    scores = dict.fromkeys(itertools.combinations(looks, 2), 0.1) | {(looks[3], looks[5]): 0.9}
    book = GrammarCache({**dict.fromkeys(looks, close), looks[-1]: long}, scores)
    found = grammar_of(book, looks[3:], {3: 0, 4: 1, 5: 2}, 0.3)
    scales = {0: ShotScale.CLOSE_UP, 1: ShotScale.CLOSE_UP, 2: ShotScale.LONG}
    assert found == Grammar(scales, threads=((0, 2),))


def test_letters_of_a_long_film_take_memory_by_its_pairs() -> None:
    """A matrix of so many shots would take 400 MB."""
    looks = [look(k) for k in range(10_000)]
    long = GrammarCache({}, {(looks[k], looks[k + 3]): 0.9 for k in range(len(looks) - 3)})
    tracemalloc.start()
    try:
        rows = sample_rows(long, looks, 0.3)
        assert tracemalloc.get_traced_memory()[1] < 60e6
    finally:
        tracemalloc.stop()
    assert [rows[k]["thread"] for k in (0, 1, 2, 9_999)] == ["A", "B", "C", "A"]
