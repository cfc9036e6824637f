"""Reading the faces of shots: each picture once, again only where it has to be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from shotad.core import Interval, NoProgress, RecordLog, Shot
from shotad.description.cast_recognition import FaceSearch, known_faces, read_faces, ticks_in
from shotad.film import Picture, open_film
from tests.painted_faces import Head, PaintedFaces, Take, paint_film

TAKES = (
    Take(2, (Head("ann", (0.3, 0.5), (0.6, 0.5)),)), Take(2, (Head("bo"),)), Take(2),
    Take(2, (Head("ann", (0.3, 0.5), (0.3, 0.5)), Head("cy", (0.7, 0.5), (0.7, 0.5)))),
)  # fmt: skip
SHOTS = [Shot(i, Interval(2.0 * i, 2.0 * i + 2)) for i in range(4)]


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return paint_film(tmp_path_factory.mktemp("film") / "heads.mp4", TAKES)


def wanted(rate: float = 4.0, frames: Sequence[float] = ()) -> list[FaceSearch]:
    return [
        FaceSearch(
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
        found = list(read_faces(wants, pictures, "film", models, log, NoProgress()))
    assert len(asked) == 1
    assert asked[0] == sorted(set(asked[0]))
    assert models.shown == 4 * 8  # the frames that are only shown are not looked at
    assert [len(one.tracks) for one in found] == [1, 1, 0, 2]
    assert found[0].came_up == pytest.approx({0.1: 2 / 24, 0.53: 12 / 24})
    box = found[0].tracks[0].box_at(12 / 24)
    assert box is not None
    assert box.centre[0] == pytest.approx(0.3 + 0.3 * 12 / 47, abs=0.02)


def test_a_killed_run_goes_on_and_stale_records_go(film: Path, tmp_path: Path) -> None:
    log = tmp_path / "faces.jsonl"
    with open_film(film) as opened:
        pictures = opened.pictures
        half = read_faces(wanted(), pictures, "film", PaintedFaces(), RecordLog(log), NoProgress())
        next(half), next(half)
        half.close()
        models = PaintedFaces()
        list(read_faces(wanted(), pictures, "film", models, RecordLog(log), NoProgress()))
        assert models.shown == 2 * 8
        list(read_faces(wanted(2.0)[:1], pictures, "film", models, RecordLog(log), NoProgress(), tidy=False))
        assert len(log.read_text().splitlines()) == 5
        assert len(known_faces(RecordLog(log), SHOTS, models)) == 5
        list(read_faces(wanted(2.0)[:1], pictures, "film", models, RecordLog(log), NoProgress()))
    assert len(log.read_text().splitlines()) == 1
