"""Film grammar clip by clip: the same as all at once, each frame once, and nothing held longer than needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from shotad.core import Image, ThreadSettings
from shotad.film import Picture, ShotMoments
from shotad.grammar import ClipReader, Features, Readers, ShotSample, Sweep
from shotad.grammar.cache import GrammarCache


class Maker:
    """Features that are a frame's own number, turned into a direction."""

    identity, threshold, agreeing = "maker", 0.3, False

    def __init__(self) -> None:
        self.seen: list[int] = []

    def of(self, images: Sequence[Image]) -> Features:
        numbers = [int(image[0, 0, 0]) for image in images]
        self.seen += numbers
        made = [np.random.default_rng(number % 7).normal(size=(12, 8)) for number in numbers]
        patches = np.stack([m / np.linalg.norm(m, axis=1, keepdims=True) for m in made]).astype(np.float32)
        return Features(patches, patches[:, 0], (3, 4))


class Film:
    """Pictures by second, up to an end; counts what was asked of it."""

    def __init__(self, end: float = 1000.0) -> None:
        self.end, self.asked = end, 0
        self.calls = 0

    def pictures(self, seconds: Sequence[float]) -> Iterator[Picture]:
        self.calls += 1
        for second in seconds:
            if second < self.end:
                self.asked += 1
                yield Picture(second, second, np.full((2, 2, 3), int(second), np.uint8))


def clips(number: int) -> list[list[ShotSample]]:
    """Clips of three shots of which the last two are the next one's first."""
    looks = [
        ShotSample(k, ShotMoments(*(k * 10.0 + part for part in (0, 2, 4, 6, 8)))) for k in range(number + 2)
    ]
    return [looks[k : k + 3] for k in range(number)]


SETTINGS = ThreadSettings()


def test_scores_hang_on_their_two_shots_and_are_forgotten_in_time() -> None:
    """Clips of other sizes, in another order: the products of a matrix round as its shape has it."""
    looks = [look for clip in clips(6) for look in clip[:1]]
    wide, narrow = GrammarCache(), GrammarCache()
    ClipReader(wide, Readers(Maker(), None), SETTINGS).read(looks, Film().pictures)
    pairs = ClipReader(narrow, Readers(Maker(), None), SETTINGS)
    for later in reversed(range(len(looks))):
        for earlier in range(later):
            pairs.read([looks[earlier], looks[later]], Film().pictures)
    assert len(wide.scores) == 15
    assert wide.scores == narrow.scores
    # What no later clip needs is forgotten.
    reader = ClipReader(GrammarCache(), Readers(Maker(), None), SETTINGS)
    held = []
    for clip in clips(20):
        reader.read(clip, Film().pictures)
        held.append(len(reader._features))
    assert max(held) == held[0]
    # What has gone by is read once more.
    film = Film()
    sweep = Sweep([0.0, 10.0, 20.0], film.pictures)
    assert [picture.wanted for picture in sweep([20.0])] == [20.0]
    assert [picture.wanted for picture in sweep([0.0])] == [0.0]
    assert film.calls == 2
