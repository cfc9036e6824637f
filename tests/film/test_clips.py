"""Clips: one sorted pass serves all slots, each clip is handed out once and in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from shotad.core import FramePlan, Role
from shotad.film import ClipPlan, Picture, clips


class Reel:
    """Pictures that show their own second; stops after ``end``; remembers what it was asked."""

    def __init__(self, end: float = 1e9) -> None:
        self.end = end
        self.asked: list[float] = []
        self.given = 0

    def __call__(self, seconds: Sequence[float]) -> Iterator[Picture]:
        self.asked = list(seconds)
        for second in seconds:
            if second > self.end:
                return
            self.given += 1
            yield Picture(second - 0.01, second, np.full((2, 4, 3), int(second) % 256, dtype=np.uint8))


def plan(slot_id: str, *shots: Sequence[float]) -> ClipPlan:
    return ClipPlan(slot_id, tuple(FramePlan(i, Role.CURRENT, np.array(s)) for i, s in enumerate(shots)))


def test_pictures_are_read_once_and_never_changed_for_another_clip() -> None:
    reel = Reel()
    found = dict(clips([plan("a", [1, 5], [6, 9]), plan("b", [4, 5], [6, 7])], reel))
    assert reel.asked == [1, 4, 5, 6, 7, 9]
    assert found["a"].images[:, 0, 0, 0].tolist() == [1, 5, 6, 9]
    assert found["a"].shot_numbers.tolist() == [0, 0, 1, 1]
    assert found["b"].seconds.tolist() == pytest.approx([3.99, 4.99, 5.99, 6.99])
    # Pictures are shared but never changed for another clip.
    first, second = (clip for _, clip in clips([plan("a", [1]), plan("b", [1])], Reel()))
    first.images[:] = 99
    assert second.images.max() == 1
    # A film that ends early shortens clips and leaves out empty ones.
    found = dict(clips([plan("a", [1, 2], [6]), plan("b", [7, 8])], Reel(end=5)))
    assert list(found) == ["a"]
    assert found["a"].seconds.tolist() == pytest.approx([0.99, 1.99])
    # An empty plan is refused.
    with pytest.raises(ValueError, match="at least one frame"):
        ClipPlan("a", ())
