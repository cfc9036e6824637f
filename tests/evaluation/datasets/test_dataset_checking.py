"""What a check of a dataset says, also of its videos."""

from __future__ import annotations

import io
import shutil
import tarfile
from pathlib import Path

from shotad.core import NoProgress
from shotad.evaluation import check_dataset, load_dataset
from shotad.evaluation.datasets.checking import Check
from tests.evaluation.datasets import datasetfiles as files
from tests.media import FilmSpec, make_film


def checked(root: Path, name: str = "cmd-ad", *, need_videos: bool = False) -> Check:
    return check_dataset(load_dataset(name, root, strict=False), NoProgress(), need_videos=need_videos)


def said(check: Check, words: str) -> list[str]:
    return [f"{one.level} {Path(one.where).name}" for one in check.findings if words in one.what]


def own(root: Path) -> str:
    """CMD-AD's description without the counts of the whole."""
    from shotad.core import dataset_path

    text = dataset_path("cmd-ad").read_text(encoding="utf-8").split("published:")[0]
    file = root / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_counts(tmp_path: Path) -> None:
    counts = checked(files.cmd_ad(tmp_path)).counts
    assert (counts["ads"], counts["clips"], counts["films"], counts["words"]) == (4, 2, 2, 13)
    assert (counts["actions"], counts["without_actions"]) == (4, 1)
    assert (counts["films_with_cast"], counts["names"]) == (2, 3)
    assert (
        counts["shots"],
        counts["clips_with_shots"],
        counts["clips_without_cut"],
        counts["ads_without_cut"],
    ) == (
        3,
        2,
        1,
        2,
    )
    assert (counts["videos"], counts["videos_missing"]) == (0, 2)
    assert counts["seconds"] == 6.5


def test_a_part_of_a_dataset_is_not_whole(tmp_path: Path) -> None:
    check = checked(files.cmd_ad(tmp_path))
    assert said(check, "4 ADs; CMD-AD as published has 7,316.") == ["missing in all"]
    assert not check.whole
    assert check.text.endswith("Not whole: 1 finding above must be looked at.")


def test_a_whole_one_is_whole_without_videos(tmp_path: Path) -> None:
    check = checked(files.cmd_ad(tmp_path), own(tmp_path))
    assert said(check, "clips without a video, of 2 (looked for") == [f"note {tmp_path.name}"]
    assert check.whole
    assert check.record()["whole"] is True
    assert check.text.endswith("Whole: all that evaluation needs is there.")
    assert not checked(tmp_path, own(tmp_path), need_videos=True).whole


def test_videos_are_opened_where_they_are_needed(tmp_path: Path) -> None:
    """The film lasts 2 s; the ADs of one clip end at 16, those of the other at 4.2 s."""
    files.cmd_ad(tmp_path)
    for clip in ("2014/ab", "2015/cd"):
        (tmp_path / clip).parent.mkdir()
    shutil.copy(make_film(FilmSpec(suffix=".mkv")).path, tmp_path / "2014" / "ab.mkv")
    (tmp_path / "2015" / "cd.mkv").write_bytes(b"no film")
    check = checked(tmp_path, own(tmp_path), need_videos=True)
    assert check.counts["videos"] == 2
    assert said(check, "it ends at 2.0 s, and 2 ADs of 2 after it (the last, 1, at 16.0 s)") == [
        "malformed ab.mkv"
    ]
    assert len([one for one in check.findings if one.where.endswith("cd.mkv")]) == 1
    assert not said(checked(tmp_path, own(tmp_path)), "it ends at"), "not asked for, not opened"


def test_a_film_that_lasts_is_fine(tmp_path: Path) -> None:
    rows = [files.cmd_row("He waves.", 52.0, 53.5, (0.2, 1.8), "2015/cd", "tt02")]
    files.cmd_ad(tmp_path, rows=rows, actions=[[0, "tt02", "He waves.", "He waves.", "['He waves.']"]])
    (tmp_path / "2015").mkdir()
    shutil.copy(make_film(FilmSpec(suffix=".mkv")).path, tmp_path / "2015" / "cd.mkv")
    assert checked(tmp_path, own(tmp_path), need_videos=True).whole


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
    assert check.counts["videos"] == 1
    assert not [one for one in check.findings if ".tar" in one.where]


def test_text_names_files_counts_and_findings(tmp_path: Path) -> None:
    rows = [*files.CMD_ROWS[:3], files.cmd_row("", 1.0, 2.0, (0, 2))]
    text = checked(files.cmd_ad(tmp_path, rows=rows)).text
    for words in (
        f"CMD-AD in {tmp_path}",
        f"annotation: {tmp_path}/cmdad_anno.csv",
        "3 ADs of 11 words in 2 clips of 2 films",
        "Malformed:\n- cmdad_anno.csv, line 5: this is no AD: the text is empty.",
        "Notes:",
    ):
        assert words in text
