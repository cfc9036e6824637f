"""Where end credits are looked for, and that the moments and texts are kept together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pytest

from shotad.core import Box, Image
from shotad.film import Picture
from shotad.sight import TextReader, credit_moments, find_credits
from shotad.sight.text import TextLine


class Reader(TextReader):
    """Reads three lines where a picture is white and none where it is black."""

    def read_all(self, images: Iterable[Image]) -> Iterator[tuple[TextLine, ...]]:
        for image in images:
            lines = [TextLine(f"Name {i}", Box(0.3, 0.1 + i / 5, 0.7, 0.2 + i / 5), 0.99) for i in range(3)]
            yield tuple(lines) if image.mean() > 100 else ()


def pictures(white_from: float, white_to: float = 1e9, asked: list[float] | None = None) -> object:
    def read(seconds: Sequence[float]) -> Iterator[Picture]:
        assert list(seconds) == sorted(set(seconds))
        for second in seconds:
            if asked is not None:
                asked.append(second)
            value = 255 if white_from <= second < white_to else 0
            yield Picture(second, second, np.full((4, 4, 3), value, np.uint8))

    return read


@pytest.mark.parametrize(("end", "number", "first"), [(60, 30, 30), (600, 100, 300), (7200, 300, 6300)])
def test_only_the_last_part_is_looked_at(end: float, number: int, first: float) -> None:
    moments = credit_moments(end)
    assert moments[0] == first
    assert moments[-1] < end
    assert len(moments) == number
    assert moments == sorted(moments)


def test_a_roll_is_found_where_it_begins() -> None:
    told: list[float] = []
    found = find_credits(pictures(85.0), 100.0, Reader(), told.append)  # type: ignore[arg-type]
    assert found is not None
    assert 85.0 <= found.start <= 86.0
    assert found.end == pytest.approx(100.0)
    assert len(told) == len(credit_moments(100.0))


@pytest.mark.parametrize("start", [60.0, 61.5, 73.0, 85.0, 90.5])
@pytest.mark.parametrize("length", [9.0, 17.5, 60.0])
def test_halving_finds_the_same_roll_with_a_third_of_the_frames(start: float, length: float) -> None:
    asked: list[float] = []
    found = find_credits(pictures(start, start + length, asked), 100.0, Reader(), lambda amount: None)  # type: ignore[arg-type]
    moments = credit_moments(100.0)
    white = [moment for moment in moments if start <= moment < start + length]
    assert found is not None
    assert found.start == white[0]
    assert found.end == next((moment for moment in moments if moment > white[-1]), 100.0)
    assert len(asked) == len(set(asked)) <= len(moments) / 3 + 3


@pytest.mark.parametrize("alive", [False, True])
def test_lines_that_stand_over_a_living_picture_are_no_credits(alive: bool) -> None:
    def read(seconds: Sequence[float]) -> Iterator[Picture]:
        for second in seconds:
            image = np.full((180, 320, 3), 200, np.uint8)
            image[120:170, 10:80] = round(second * 60) % 200 if alive else 90
            yield Picture(second, second, image)

    found = find_credits(read, 40.0, Reader(), lambda amount: None)
    assert (found is None) is alive
