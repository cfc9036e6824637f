"""Which shots of a clip are given, and that every AD sees what the published code shows it."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from shotad.core import Config, Interval, Role, Shot, WorkFolder, load_config
from shotad.evaluation import Dataset, load_dataset
from shotad.evaluation.datasets.dataset import Ad
from shotad.evaluation.predicting.clip import ClipRequest, published_shots
from shotad.film import context_shots, fixed_slots
from shotad.script import given_shots, slot_cues
from tests.evaluation.predicting.minidataset import make_cmd


def dataset(*shots: tuple[float, float]) -> Dataset:
    time = Interval(0.0, 1.0)
    ads = (Ad("0", "film", "clip", time, time, "He waits."),)
    lists = {"clip": tuple(Interval(*shot) for shot in shots)}
    return Dataset("made", "Made", Path("nowhere"), ads, shots=lists)


def times(data: Dataset, duration: float, begins: float = 0.0) -> list[tuple[float, float]]:
    shots, _ = published_shots(data, "clip", duration, begins)
    return [(round(shot.start, 6), round(shot.end, 6)) for shot in shots or ()]


def test_published_shots_are_given_within_the_video() -> None:
    data = dataset((0.0, 3.0), (3.0, 8.0), (8.0, 20.0))
    assert times(data, 10.0) == [(0.0, 3.0), (3.0, 8.0), (8.0, 10.0)]
    # A video that begins later has its own seconds.
    assert times(data, 4.0, begins=5.0) == [(0.0, 3.0), (3.0, 4.0)]
    # An empty list is one shot.
    assert published_shots(dataset(), "clip", 10.0) == ((Interval(0.0, 10.0),), "one")


DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
LABELS = {Role.PAST: "l", Role.CURRENT: "m", Role.FUTURE: "r"}
Pieces = dict[str, list[tuple[str, float, float]]]
"""By the AD's number: past, current or future, start and end as published."""


def published_pieces(name: str, ad: str, start: str, end: str) -> Pieces:
    if not (DATA / name).is_dir():
        pytest.skip(f"needs ../shared/data/{name}, which is no part of the project")
    found: Pieces = {}
    with (DATA / name / "context_expected.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            piece = (row["shot_label"][0], round(float(row[start]), 3), round(float(row[end]), 3))
            found.setdefault(row[ad], []).append(piece)
    return found


def pieces_seen(data: Dataset, config: Config, folder: Path) -> Pieces:
    """What each AD of a dataset is shown, by the files that are given to the pipeline."""
    by_clip: dict[str, list[Ad]] = {}
    for ad in data.ads:
        by_clip.setdefault(ad.clip, []).append(ad)
    assert data.description is not None
    found: Pieces = {}
    with WorkFolder(folder) as work:
        for clip, ads in by_clip.items():
            known = data.shots[clip]
            duration = known[-1].end + data.description.shots.gap / 2 if known else 600.0
            shots, origin = published_shots(data, clip, duration, gaps=config.context.by_rules.inclusive)
            given = ClipRequest(tuple(ads), shots, origin, None, "", {}).given(work, ads)
            assert given.shots is not None
            assert given.slots is not None
            rows = given_shots(given.shots, duration)
            numbered = [Shot(row["index"], Interval(row["start"], row["end"])) for row in rows]
            for slot in fixed_slots(slot_cues(given.slots), Interval(0.0, duration), config.slots).slots:
                seen = context_shots(slot.interval, numbered, config.context)
                found[slot.label] = [(LABELS[s.role], s.clipped.start, s.clipped.end) for s in seen]
    return found


def test_the_published_contexts_come_out_of_what_is_given(tmp_path: Path) -> None:
    """With the published code's rules every AD sees exactly what it saw there, where there is a list of shots;
    a clip without cuts is one shot here, and nothing but the AD itself there."""
    expected = published_pieces("cmd-ad", "anno_idx", "start", "end")
    data, config = load_dataset("cmd-ad", DATA / "cmd-ad"), load_config(["reference-code", "cmd-ad"])
    seen = pieces_seen(data, config, tmp_path)
    whole = {name: [(label, round(a, 3), round(b, 3)) for label, a, b in rows] for name, rows in seen.items()}
    assert sum(whole[name] == rows for name, rows in expected.items()) == len(expected) - 29
    # The published contexts of numbered frames come out too.
    expected = published_pieces("tv-ad", "ad_index", "start_frame", "end_frame")
    data, config = load_dataset("tv-ad", DATA / "tv-ad"), load_config(["reference-code", "tv-ad"])
    seen = pieces_seen(data, config, tmp_path)
    frames = {
        name: [(label, round(a * 3 + 1, 6), round(b * 3, 6)) for label, a, b in rows]
        for name, rows in seen.items()
    }
    assert {name: [row for row in frames[name] if row in rows] for name, rows in expected.items()} == expected
    assert sum(len(rows) for rows in frames.values()) == 15_460


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
