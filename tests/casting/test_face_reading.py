"""Reading the faces of shots: each picture once, again only where it has to be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from shotad.core import Interval, NoProgress, RecordLog, Shot
from shotad.description.cast_recognition import Source, Wanted, known_faces, read_faces, ticks_in
from shotad.film import Picture, open_film
from tests.painted_faces import Head, PaintedFaces, Take, paint_film

TAKES = (
    Take(2, (Head("ann", (0.3, 0.5), (0.6, 0.5)),)),
    Take(2, (Head("bo"),)),
    Take(2),
    Take(2, (Head("ann", (0.3, 0.5), (0.3, 0.5)), Head("cy", (0.7, 0.5), (0.7, 0.5)))),
)
SHOTS = [Shot(i, Interval(2.0 * i, 2.0 * i + 2)) for i in range(4)]


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return paint_film(tmp_path_factory.mktemp("film") / "heads.mp4", TAKES)


def wanted(rate: float = 4.0, frames: Sequence[float] = ()) -> list[Wanted]:
    return [
        Wanted(
            shot,
            tuple(ticks_in(shot.interval.start, shot.interval.end, rate)),
            tuple(second for second in frames if shot.interval.contains(second)),
        )
        for shot in SHOTS
    ]


def test_each_shot_has_its_faces_and_the_moments_at_which_frames_came_up(film: Path, tmp_path: Path) -> None:
    models, asked = PaintedFaces(), []

    with open_film(film) as opened:

        def pictures(seconds: Sequence[float]) -> Iterator[Picture]:
            asked.append(list(seconds))
            return opened.pictures(seconds)

        log = RecordLog(tmp_path / "faces.jsonl")
        wants = wanted(frames=(0.1, 0.53, 3.99))
        found = list(read_faces(wants, Source(pictures, "film"), models, log, NoProgress()))
    assert len(asked) == 1
    assert asked[0] == sorted(set(asked[0]))
    assert models.shown == 4 * 8  # the frames that are only shown are not looked at
    assert [len(one.tracks) for one in found] == [1, 1, 0, 2]
    assert found[0].came_up == pytest.approx({0.1: 2 / 24, 0.53: 12 / 24})
    box = found[0].tracks[0].box_at(12 / 24)
    assert box is not None
    assert box.centre[0] == pytest.approx(0.3 + 0.3 * 12 / 47, abs=0.02)


def test_a_second_run_looks_at_nothing_and_finds_the_same(film: Path, tmp_path: Path) -> None:
    log = tmp_path / "faces.jsonl"
    with open_film(film) as opened:
        source = Source(opened.pictures, "film")
        first = list(read_faces(wanted(), source, PaintedFaces(), RecordLog(log), NoProgress()))
        models, before = PaintedFaces(), log.read_bytes()
        again = list(read_faces(wanted(), source, models, RecordLog(log), NoProgress()))
    assert models.shown == 0
    assert log.read_bytes() == before
    for one, other in zip(first, again, strict=True):
        assert one.came_up == other.came_up
        for a, b in zip(one.tracks, other.tracks, strict=True):
            assert a.faces == b.faces
            assert a.read == b.read
            assert np.array_equal(a.embeddings, b.embeddings)


def test_a_killed_run_goes_on_and_stale_records_go(film: Path, tmp_path: Path) -> None:
    log = tmp_path / "faces.jsonl"
    with open_film(film) as opened:
        source = Source(opened.pictures, "film")
        half = read_faces(wanted(), source, PaintedFaces(), RecordLog(log), NoProgress())
        next(half), next(half)
        half.close()
        models = PaintedFaces()
        list(read_faces(wanted(), source, models, RecordLog(log), NoProgress()))
        assert models.shown == 2 * 8
        list(read_faces(wanted(2.0)[:1], source, models, RecordLog(log), NoProgress(), tidy=False))
        assert len(log.read_text().splitlines()) == 5
        assert len(known_faces(RecordLog(log), SHOTS, models)) == 5
        list(read_faces(wanted(2.0)[:1], source, models, RecordLog(log), NoProgress()))
    assert len(log.read_text().splitlines()) == 1


def test_shots_beyond_the_end_of_the_film_have_no_faces(film: Path, tmp_path: Path) -> None:
    beyond = [*wanted(), Wanted(Shot(4, Interval(20, 22)), (20.5, 21.0))]
    with open_film(film) as opened:

        def pictures(seconds: Sequence[float]) -> Iterator[Picture]:
            return opened.pictures([second for second in seconds if second < 8])

        log = RecordLog(tmp_path / "faces.jsonl")
        found = list(read_faces(beyond, Source(pictures, 1), PaintedFaces(), log, NoProgress()))
    assert len(found) == 5
    assert found[-1].tracks == ()


@pytest.mark.parametrize(
    ("start", "end", "rate", "ticks"),
    [(0, 1, 4, [0, 0.25, 0.5, 0.75]), (0.9, 2.0, 2, [1.0, 1.5]), (0.3, 0.4, 4, []), (5, 5.2, 4, [5.0])],
)
def test_ticks_lie_on_a_clock_that_does_not_depend_on_the_part(
    start: float, end: float, rate: float, ticks: list[float]
) -> None:
    assert ticks_in(start, end, rate) == ticks
