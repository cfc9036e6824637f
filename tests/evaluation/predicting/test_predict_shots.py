"""Which shots of a clip are given."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from shotad.config import load_config
from shotad.evaluation.datasets.ads import Ad, Dataset
from shotad.evaluation.datasets.loading import load_dataset
from shotad.evaluation.predicting.shots import published_shots
from shotad.plan.context import context_shots
from shotad.types import Interval, Role, Shot
from tests.evaluation.predicting.minidataset import make_cmd


def dataset(*shots: tuple[float, float]) -> Dataset:
    time = Interval(0.0, 1.0)
    ads = (Ad("0", "film", "clip", time, time, "He waits."),)
    lists = {"clip": tuple(Interval(*shot) for shot in shots)}
    return Dataset("made", "Made", Path("nowhere"), ads, shots=lists)


def times(
    data: Dataset, duration: float, begins: float = 0.0, *, gaps: bool = False
) -> list[tuple[float, float]]:
    shots, _ = published_shots(data, "clip", duration, begins, gaps=gaps)
    return [(round(shot.start, 6), round(shot.end, 6)) for shot in shots or ()]


def test_published_shots_are_given_within_the_video() -> None:
    data = dataset((0.0, 3.0), (3.0, 8.0), (8.0, 20.0))
    assert times(data, 10.0) == [(0.0, 3.0), (3.0, 8.0), (8.0, 10.0)]


def test_a_video_that_begins_later_has_its_own_seconds() -> None:
    data = dataset((0.0, 3.0), (3.0, 8.0), (8.0, 20.0))
    assert times(data, 4.0, begins=5.0) == [(0.0, 3.0), (3.0, 4.0)]


def test_an_empty_list_is_one_shot() -> None:
    assert published_shots(dataset(), "clip", 10.0) == ((Interval(0.0, 10.0),), "one")


@pytest.mark.parametrize(
    ("data", "clip", "duration", "begins"),
    [
        (dataset((0.0, 3.0)), "another", 10.0, 0.0),
        (dataset((0.0, 3.0), (200.0, 201.0)), "clip", 2.0, 100.0),
        (dataset(), "clip", 0.0, 0.0),
    ],
)
def test_where_there_are_none_they_are_found(
    data: Dataset, clip: str, duration: float, begins: float
) -> None:
    assert published_shots(data, clip, duration, begins) == (None, "found")


CMD = Path(__file__).resolve().parents[4] / "shared" / "data" / "cmd-ad"


@pytest.mark.skipif(not CMD.is_dir(), reason="needs ../shared/data/cmd-ad, which is no part of the project")
def test_the_published_contexts_come_out_of_what_is_given() -> None:
    """With the published code's rules every AD sees exactly what it saw there, where there is a list of shots;
    a clip without cuts is one shot here, and nothing but the AD itself there."""
    data = load_dataset("cmd-ad", CMD)
    settings = load_config(["reference-code", "cmd-ad"]).context
    expected: dict[str, list[tuple[str, float, float]]] = {}
    with (CMD / "context_expected.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            piece = (row["shot_label"][0], round(float(row["start"]), 3), round(float(row["end"]), 3))
            expected.setdefault(row["anno_idx"], []).append(piece)
    same = 0
    for ad in data.ads:
        known = data.shots[ad.clip]
        duration = known[-1].end + 0.01 if known else 600.0
        shots, _ = published_shots(data, ad.clip, duration, gaps=settings.inclusive)
        assert shots is not None
        numbered = [Shot(index, shot) for index, shot in enumerate(shots)]
        seen = context_shots(Interval(max(ad.slot.start, 0.0), ad.slot.end), numbered, settings)
        roles = {Role.PAST: "l", Role.CURRENT: "m", Role.FUTURE: "r"}
        pieces = [(roles[s.role], round(s.clipped.start, 3), round(s.clipped.end, 3)) for s in seen]
        same += pieces == expected[ad.id]
    assert same == len(data.ads) - 29


def test_published_gaps_are_closed_or_kept(tmp_path: Path) -> None:
    data = load_dataset("cmd-ad", make_cmd(tmp_path))
    closed, what = published_shots(data, "2001/one", 12.0)
    kept, _ = published_shots(data, "2001/one", 12.0, gaps=True)
    assert what == "published"
    assert closed is not None
    assert kept is not None
    assert [shot.end for shot in closed[:-1]] == [shot.start for shot in closed[1:]]
    assert (closed[0].start, closed[-1].end) == (0.0, 12.0)
    assert [(shot.start, shot.end) for shot in kept][:2] == [(0.01, 2.39), (2.41, 5.19)]
