"""What a check of a dataset says, also of its videos, and of CMD-AD's own annotation where it is at hand."""

from __future__ import annotations

import csv
import io
import shutil
import tarfile
from functools import lru_cache
from pathlib import Path

import pytest

from shotad.core import NoProgress
from shotad.evaluation import Dataset, check_dataset, load_dataset
from shotad.evaluation.datasets.checking import Json
from tests.evaluation.datasets import datasetfiles as files
from tests.media import FilmSpec, make_film


def checked(root: Path, name: str = "cmd-ad", *, need_videos: bool = False) -> Json:
    return check_dataset(load_dataset(name, root, strict=False), NoProgress(), need_videos=need_videos)


def levels(check: Json, words: str) -> list[str]:
    return [f"{one['level']} {Path(one['where']).name}" for one in check["findings"] if words in one["what"]]


def own(root: Path) -> str:
    """CMD-AD's description without the counts of the whole."""
    from shotad.core import dataset_path

    text = dataset_path("cmd-ad").read_text(encoding="utf-8").split("published:")[0]
    file = root / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_videos_are_opened_where_they_are_needed(tmp_path: Path) -> None:
    """The film lasts 2 s; the ADs of one clip end at 16, those of the other at 4.2 s."""
    files.cmd_ad(tmp_path)
    for clip in ("2014/ab", "2015/cd"):
        (tmp_path / clip).parent.mkdir()
    shutil.copy(make_film(FilmSpec(suffix=".mkv")).path, tmp_path / "2014" / "ab.mkv")
    (tmp_path / "2015" / "cd.mkv").write_bytes(b"no film")
    check = checked(tmp_path, own(tmp_path), need_videos=True)
    assert check["counts"]["videos"] == 2
    late = "it ends at 2.0 s, and 2 ADs of 2 after it (the last, 1, at 16.0 s)"
    assert levels(check, late) == ["malformed ab.mkv"]
    assert len([one for one in check["findings"] if one["where"].endswith("cd.mkv")]) == 1
    assert not levels(checked(tmp_path, own(tmp_path)), "it ends at"), "not asked for, not opened"


def test_tars_of_frames_are_opened_at_their_rate(tmp_path: Path) -> None:
    """Forty frames at 3 a second last 13.3 s: longer than frame 22."""
    from PIL import Image

    files.tv_ad(tmp_path)
    clip = "friends_s01e01_seg02_clip_04"
    (tmp_path / "friends_frames").mkdir()
    picture = io.BytesIO()
    Image.new("RGB", (64, 48), (90, 30, 30)).save(picture, "JPEG")
    with tarfile.open(tmp_path / "friends_frames" / f"{clip}.tar", "w") as tar:
        for number in range(1, 41):
            member = tarfile.TarInfo(f"{clip}/{number:05}.jpg")
            member.size = len(picture.getvalue())
            tar.addfile(member, io.BytesIO(picture.getvalue()))
    check = checked(tmp_path, "tv-ad", need_videos=True)
    assert check["counts"]["videos"] == 1
    assert not [one for one in check["findings"] if ".tar" in one["where"]]


FOLDER = Path(__file__).resolve().parents[4] / "shared" / "data" / "cmd-ad"


@lru_cache(maxsize=1)
def loaded() -> Dataset:
    return load_dataset("cmd-ad", FOLDER)


def said(words: str) -> list[str]:
    return [one.where for one in loaded().findings if words in one.what]


@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"needs the CMD-AD annotation in {FOLDER}")
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


@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"needs the CMD-AD annotation in {FOLDER}")
def test_slots_are_those_of_the_published_rule() -> None:
    with (FOLDER / "context_expected.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    expected = {row["anno_idx"]: (float(row["ad_start"]), float(row["ad_end"])) for row in rows}
    slots = {ad.id: (ad.slot.start, ad.slot.end) for ad in loaded().ads}
    assert len(expected) == 7316
    for name, times in expected.items():
        assert slots[name] == pytest.approx(times, abs=1e-6), name
