"""One pass for all who look: what is decoded, and that the pixels do not depend on who drove."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from shotad.film import Film, Picture, open_film
from shotad.film.framestore import LosslessKeeper, Pack
from shotad.film.framing import OnePass
from tests.decodes import counted_decodes
from tests.media import FilmSpec, make_film

SPEC = FilmSpec(frames=500, gop=25, cuts=(100, 210))
FIRST = [0.5, 2.02, 4.5, 12.0]
SECOND = [0.5, 1.0, 2.02, 4.9, 12.0, 12.5]
SIZE = (96, 54)


@pytest.fixture
def film() -> Iterator[Film]:
    with open_film(make_film(SPEC).path) as opened:
        yield opened


def exact(film: Film, folder: Path) -> OnePass:
    shelf = Pack(folder, "shelf", {"film": film.info.fingerprint})
    return OnePass(film, shelf, partial(LosslessKeeper, SIZE), lambda moment: round(moment, 6))


def same(one: list[Picture], other: list[Picture]) -> bool:
    return len(one) == len(other) and all(
        (a.seconds, a.wanted) == (b.seconds, b.wanted) and np.array_equal(a.image, b.image)
        for a, b in zip(one, other, strict=True)
    )


def alone(film: Film, moments: list[float]) -> list[Picture]:
    return [
        Picture(frame.seconds, moment, frame.rgb(SIZE))
        for frame, moment in zip(film.frames_at(moments), moments, strict=True)
    ]


def test_who_comes_later_decodes_nothing_and_sees_the_same_pixels(film: Film, tmp_path: Path) -> None:
    one = exact(film, tmp_path)
    one.expect(FIRST)
    one.expect(SECOND)
    with counted_decodes() as decodes:
        first = list(one.pictures(FIRST))
        # 12.5 lies behind the last moment of the first reader; the rest is on the shelf.
        before = decodes.frames
        second = list(one.pictures(SECOND))
    assert len(decodes.passes) == 1
    assert decodes.frames - before < 20
    assert same(first, alone(film, FIRST))
    assert same(second, alone(film, SECOND))


def test_readers_in_threads_see_what_each_would_see_alone(film: Film, tmp_path: Path) -> None:
    one = exact(film, tmp_path)
    wanted = [np.arange(start, 19.0, 0.37).tolist() for start in (0.0, 0.1, 0.37)]
    for moments in wanted:
        one.expect(moments)
    found: dict[int, list[Picture]] = {}

    def look(number: int) -> None:
        found[number] = list(one.pictures(wanted[number]))

    threads = [threading.Thread(target=look, args=(number,)) for number in range(3)]
    with counted_decodes() as decodes:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert decodes.frames <= 520
    for number, moments in enumerate(wanted):
        assert same(found[number], alone(film, moments))


def test_the_next_run_finds_what_a_killed_one_put_by(film: Film, tmp_path: Path) -> None:
    killed = exact(film, tmp_path)
    killed.expect(FIRST)
    killed.expect(FIRST)
    list(killed.pictures(FIRST))
    # Cut off within a record, as a kill leaves it.
    index = tmp_path / "shelf.index"
    index.write_bytes(index.read_bytes()[:-5])
    with counted_decodes() as decodes:
        found = list(exact(film, tmp_path).pictures(FIRST[:-1]))
    assert same(found, alone(film, FIRST[:-1]))
    assert decodes.frames == 0
