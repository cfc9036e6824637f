"""CMD-AD's own annotation, where it is at hand: the figures that are known of it."""

from __future__ import annotations

import csv
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import pytest

from shotad.core import NoProgress
from shotad.evaluation import Dataset, check_dataset, load_dataset
from shotad.evaluation.datasets.loading import touching
from shotad.evaluation.predictions import join, read_predictions

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "data" / "cmd-ad"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"needs the CMD-AD annotation in {FOLDER}")


@lru_cache(maxsize=1)
def loaded() -> Dataset:
    return load_dataset("cmd-ad", FOLDER)


def said(words: str) -> list[str]:
    return [one.where for one in loaded().findings if words in one.what]


def test_the_known_counts() -> None:
    check = check_dataset(loaded(), NoProgress())
    counts = check.counts
    assert (counts["ads"], counts["clips"], counts["films"]) == (7316, 591, 98)
    assert (counts["actions"], counts["without_actions"]) == (11571, 2)
    assert (counts["shots"], counts["clips_without_cut"], counts["ads_without_cut"]) == (23383, 3, 29)
    assert (counts["films_with_cast"], counts["videos_missing"]) == (98, 591)
    assert counts["seconds"] / counts["ads"] == pytest.approx(2.468, abs=5e-4)
    assert counts["words"] / counts["ads"] == pytest.approx(8.98, abs=5e-3)
    assert check.whole


def test_the_known_oddities_and_no_others() -> None:
    assert [ad.id for ad in loaded().ads if ad.actions is None] == ["2263", "4135"]
    assert said("'0' is no list") == ["cmdad_gt_action.csv, line 2265", "cmdad_gt_action.csv, line 4137"]
    assert said("9 ADs: the padded interval begins before the clip")
    assert said("ADs that end after the last shot of their clip: 4 ")
    assert said("films whose ADs are not in order of time, of 98: 2 ")
    assert said("ADs that stand twice, with the same time and text: 5 ")
    assert said("ADs in clips without a cut: 29 ")
    assert len(loaded().findings) == 10
    assert {one.level for one in loaded().findings} == {"note"}


def test_slots_are_those_of_the_published_rule() -> None:
    with (FOLDER / "context_expected.csv").open(encoding="utf-8", newline="") as file:
        expected = {
            row["anno_idx"]: (float(row["ad_start"]), float(row["ad_end"])) for row in csv.DictReader(file)
        }
    slots = {ad.id: (ad.slot.start, ad.slot.end) for ad in loaded().ads}
    assert len(expected) == 7316
    for name, times in expected.items():
        assert slots[name] == pytest.approx(times, abs=1e-6), name


def test_shots_without_their_gaps_have_the_known_mean() -> None:
    shots = [shot for one in loaded().shots.values() for shot in touching(one, 0.02)]
    assert sum(s.interval.duration for s in shots) / len(shots) == pytest.approx(3.500, abs=5e-4)
    for one in loaded().shots.values():
        closed = touching(one, 0.02)
        assert all(a.interval.end == b.interval.start for a, b in pairwise(closed))


def write(path: Path, columns: list[str], rows: list[list[object]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([columns, *rows])
    return path


def test_predictions_in_all_published_forms_join_alike(tmp_path: Path) -> None:
    ads = loaded().ads
    stage2 = [[a.film, a.interval.start, a.interval.end, a.text, f"P {a.text}", a.id] for a in reversed(ads)]
    names = ["imdbid", "start", "end", "text_gt", "text_gen", "anno_idx"]
    paths = [
        write(tmp_path / "stage2.csv", names, stage2),
        write(tmp_path / "times.csv", names[:5], [row[:5] for row in stage2]),
        write(
            tmp_path / "autoad.csv",
            ["vid", "text_gt", "text_gen"],
            [[a.clip, a.text, f"P {a.text}"] for a in reversed(ads)],
        ),
    ]
    for path in paths:
        result = join(loaded(), read_predictions(path))
        assert all(item.prediction == f"P {item.reference}" for item in result.corpus.items), path.name
