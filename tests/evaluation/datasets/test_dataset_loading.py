"""The three benchmarks in their published formats, with every trap in them; their shots and videos, and what a check
says of them; CMD-AD as it is."""

from __future__ import annotations

import csv
import shutil
import tarfile
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from shotad.core import Interval, NoProgress
from shotad.core.errors import DatasetError
from shotad.evaluation import Dataset, check_dataset, check_text, load_dataset
from shotad.evaluation.datasets.dataset import Video
from shotad.evaluation.datasets.dataset_check import Json, video_of, video_places
from shotad.evaluation.datasets.dataset_loader import touching
from tests.cmdad import DATA
from tests.evaluation.datasets import datasetfiles as files
from tests.media import FilmSpec, make_film, make_stills


def said(dataset: Dataset, words: str) -> list[str]:
    """Level and place of each finding that says so."""
    return [f"{one.level} {one.where}" for one in dataset.findings if words in one.what]


def test_cmd_ad(tmp_path: Path) -> None:
    dataset = load_dataset("cmd-ad", files.cmd_ad(tmp_path))
    first = dataset.ads[0]
    assert (first.id, first.film, first.clip, first.text) == ("0", "tt01", "2014/ab", "Ann opens the door.")
    assert first.interval == Interval(100.0, 101.0)
    assert first.slot == Interval(10.0, 11.0), "as long as the AD, around the middle of the padded stretch"
    assert (dataset.name, dataset.title, dataset.config) == ("cmd-ad", "CMD-AD", "cmd-ad")
    assert dataset.films == {"tt01": "Film tt01", "tt02": "Film tt02"}
    assert dataset.casts == {"tt01": ("Ann Lee", "Cop"), "tt02": ("Bob",)}
    # Actions are joined by id and not by row.
    actions = [ad.actions for ad in dataset.ads]
    assert actions == [("She opens the door.",), ("She runs.", "She falls."), None, ("He waves.",)]
    assert said(dataset, "'0' is no list") == ["note cmdad_gt_action.csv, line 5"]
    assert dataset.shots["2014/ab"][0] == Interval(0.01, 7.539000000000001), "to the last digit, as published"
    assert dataset.shots["2015/cd"] == ()
    assert said(dataset, "has an empty list") == ["note cmdad_shot_info.csv, line 3"]
    assert said(dataset, "ADs in clips without a cut: 2 (2, 3).") == ["note cmdad_shot_info.csv"]


@pytest.mark.parametrize(
    ("cell", "why"),
    [("[(0, 5), (4, 9)]", "begins before"), ("[(5, 5)]", "start before"), ("[(0, 5", "can be read")],
)
def test_shots_that_cannot_be_are_a_finding(tmp_path: Path, cell: str, why: str) -> None:
    shots = [files.CMD_SHOTS[1], ["2014/ab", "tt01", 1, "", cell]]
    dataset = load_dataset("cmd-ad", files.cmd_ad(tmp_path, shots=shots))
    assert said(dataset, "no shots can be read: ") == ["malformed cmdad_shot_info.csv, line 3"]
    assert any("no shots" in one.what and why in one.what for one in dataset.findings)
    assert "2014/ab" not in dataset.shots
    assert said(dataset, "clips without a list of shots: 1 (2014/ab)") == ["note cmdad_shot_info.csv"]


def test_texts_that_are_missing_come_from_the_actions_by_number(tmp_path: Path) -> None:
    """AutoAD-Zero's file of CMD-AD has had no texts."""
    columns = [name for name in files.CMD_COLUMNS if name != "text"]
    rows = [row[1:] for row in files.CMD_ROWS]
    dataset = load_dataset("cmd-ad", files.cmd_ad(tmp_path, rows=rows, columns=columns))
    assert [ad.text for ad in dataset.ads] == [row[0] for row in files.CMD_ROWS]
    assert said(dataset, "it has no texts") == ["note cmdad_anno.csv"]
    (tmp_path / "cmdad_gt_action.csv").unlink()
    why = r"has no column text, and there is no file of actions.*Shot-by-Shot"
    with pytest.raises(DatasetError, match=why):
        load_dataset("cmd-ad", tmp_path)


def test_line_that_is_not_utf8_gets_its_text_from_the_actions(tmp_path: Path) -> None:
    root = files.mad_eval(tmp_path)
    path = root / "resources/annotations/madeval_anno.csv"
    path.write_bytes(path.read_bytes().replace(b"A window looks", b"A window \x80 looks"))
    dataset = load_dataset("mad-eval", root)
    assert dataset.ads[1].text == "A window looks out."
    assert said(dataset, "not UTF-8; the text is taken") == ["note madeval_anno.csv, line 3"]
    (root / "action_score/gt_actions/madeval_gt_action.csv").unlink()
    dataset = load_dataset("mad-eval", root)
    assert dataset.ads[1].text == "A window € looks out."
    assert said(dataset, "read as Windows-1252") == ["note madeval_anno.csv, line 3"]


@pytest.mark.parametrize("film_column", ["imdbid", "imdb"])
def test_mad_eval_of_both_publications(tmp_path: Path, film_column: str) -> None:
    dataset = load_dataset("mad-eval", files.mad_eval(tmp_path, film_column))
    ad = dataset.ads[0]
    assert (ad.film, ad.clip, ad.interval, ad.slot) == ("tt05", "tt05", Interval(149.97, 152.75), ad.interval)
    assert ad.file == "1005_Signs_149.970-152.750"
    assert dataset.films == {"tt05": "1005_Signs"}
    assert dataset.shots == {"tt05": (Interval(0.01, 135.0), Interval(135.02, 160.5))}
    assert bool(said(dataset, "AutoAD-Zero's edition")) is (film_column == "imdb")
    # A film that is not sorted and neighbours that overlap stay, and are told.
    assert [ad.id for ad in dataset.ads] == ["0", "1", "2"], "the annotation's order"
    assert said(dataset, "not in order of time, of 1: 1 (tt05)") == ["note annotation"]
    assert said(dataset, "overlap the next of their film: 1 (1).") == ["note annotation"]


def test_tv_ad_counts_frames_from_1_and_both_ends_belong_to_it(tmp_path: Path) -> None:
    dataset = load_dataset("tv-ad", files.tv_ad(tmp_path))
    ad = dataset.ads[0]
    assert ad.slot == Interval(8 / 3, 14 / 3), "frames 9 to 14 at 3 a second"
    assert (ad.film, ad.clip) == ("tt0583459", "friends_s01e01_seg02_clip_04")
    assert ad.interval == Interval(240.25, 241.75)
    assert dataset.shots[ad.clip][:2] == (Interval(0.0, 4 / 3), Interval(4 / 3, 2.0))
    assert dataset.casts == {"tt0583459": ("Ross Geller", "Waitress")}, "a role that stands twice is one name"
    # Frames below 1 are the first.
    rows = [files.tv_row("He runs.", 10.0, [-1, 0, 3]), files.tv_row("He sits.", 20.0, [0, 4])]
    dataset = load_dataset("tv-ad", files.tv_ad(tmp_path, rows=rows))
    assert [ad.slot for ad in dataset.ads] == [Interval(0.0, 1.0), Interval(0.0, 4 / 3)]
    assert said(dataset, "below 1") == ["note tvad_anno.csv, lines 2, 3"]


def test_autoad_zeros_numbers_of_frames_are_recognised(tmp_path: Path) -> None:
    """Its stretches are a frame longer: 9 to 15 where Shot-by-Shot's has 9 to 14."""
    for extra in (0, 1):
        frames = [files.spread(9 * i + 9, 9 * i + 14 + extra) for i in range(12)]
        rows = [files.tv_row("He runs.", 10.0 + 3 * i, each) for i, each in enumerate(frames)]
        dataset = load_dataset("tv-ad", files.tv_ad(tmp_path, rows=rows))
        assert len(said(dataset, "another edition")) == extra


def test_row_that_is_no_ad_is_refused_and_told_when_checking(tmp_path: Path) -> None:
    rows = [list(row) for row in files.CMD_ROWS]
    rows[1][2] = "103.0"
    rows[2][0] = " "
    root = files.cmd_ad(tmp_path, rows=rows)
    why = r"2 of 4 rows are no AD, first line 3: .*start before.*datasets check"
    with pytest.raises(DatasetError, match=why):
        load_dataset("cmd-ad", root)
    dataset = load_dataset("cmd-ad", root, strict=False)
    assert [ad.id for ad in dataset.ads] == ["0", "3"], "the others keep their numbers"
    assert [ad.actions for ad in dataset.ads] == [("She opens the door.",), ("He waves.",)]
    assert said(dataset, "this is no AD") == [f"malformed cmdad_anno.csv, line {n}" for n in (3, 4)]
    assert not said(dataset, "is not in cmdad_anno.csv"), "their actions have an AD, though it cannot be read"


def test_actions_of_other_editions_or_missing_files_are_told(tmp_path: Path) -> None:
    shifted = [[int(str(row[0])) + 1, *row[1:]] for row in files.CMD_ACTIONS]
    dataset = load_dataset("cmd-ad", files.cmd_ad(tmp_path, actions=shifted))
    assert [ad.actions for ad in dataset.ads] == [None] * 4
    assert said(dataset, "quite another text") == ["malformed cmdad_anno.csv, lines 3, 4, 5"]
    assert said(dataset, "says nothing of this AD") == ["missing cmdad_anno.csv, line 2"]
    # What is missing is told and evaluation goes on.
    root = files.cmd_ad(tmp_path)
    for name in ("cmdad_gt_action.csv", "cmdad_shot_info.csv", "cast.json"):
        (root / name).unlink()
    dataset = load_dataset("cmd-ad", root)
    assert all(ad.actions is None for ad in dataset.ads)
    assert (dataset.casts, dataset.shots) == ({}, {})
    assert said(dataset, "there is no file of actions") == ["missing cmdad_gt_action.csv"]
    levels = [one.split()[0] for one in said(dataset, "there is no file of")]
    assert levels == ["missing", "missing", "note", "note"]
    assert said(dataset, "ADs of the training set") == ["note cmdad_train.csv"]


def test_reworded_text_keeps_its_actions_and_doubled_ones_or_those_of_no_id_are_told(tmp_path: Path) -> None:
    actions = [row[:] for row in files.CMD_ACTIONS]
    actions[2] = [1, "tt01", "She runs and then falls.", "", "['She runs.']"]
    dataset = load_dataset("cmd-ad", files.cmd_ad(tmp_path, actions=actions))
    assert (dataset.ads[1].text, dataset.ads[1].actions) == ("She runs, and falls.", ("She runs.",))
    assert said(dataset, "differs from that in the file of actions") == ["note cmdad_anno.csv, line 3"]
    twice = [0, "tt01", "Ann opens the door.", "", "['Other.']"]
    actions = [*files.CMD_ACTIONS, twice, ["", "", "", "", "[]"]]
    dataset = load_dataset("cmd-ad", files.cmd_ad(tmp_path, actions=actions))
    assert dataset.ads[0].actions == ("She opens the door.",)
    assert said(dataset, "id stood before") == ["malformed cmdad_gt_action.csv, line 6"]
    assert said(dataset, "without an id") == ["malformed cmdad_gt_action.csv, line 7"]


def test_no_annotation_says_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"cmdad_anno.csv is not in .*resources/annotations.*--annotation"):
        load_dataset("cmd-ad", tmp_path)
    with pytest.raises(DatasetError, match="is no folder"):
        load_dataset("cmd-ad", tmp_path / "nowhere")
    with pytest.raises(DatasetError, match="the file of casts, is not there"):
        load_dataset("cmd-ad", files.cmd_ad(tmp_path), casts=tmp_path / "nobody.json")


def test_a_dataset_of_one_ad_is_counted_in_the_singular(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("title: Mine\nannotation: {files: [ads.csv]}\n")
    with pytest.raises(DatasetError, match=r"ads\.csv is not in [^,]*\. Copy"):
        load_dataset(str(mine), tmp_path)
    files.table(tmp_path / "ads.csv", ["text", "film", "start", "end"], [["He runs.", "f", 1, 2]])
    lines = check_text(check_dataset(load_dataset(str(mine), tmp_path), NoProgress())).splitlines()
    assert "1 AD of 2 words in 1 clip of 1 film or episode, 1.00 s each on average" in lines
    assert "0 of 1 clips have a video" in lines


def test_ids_may_stand_in_a_column_of_ones_own_dataset(tmp_path: Path) -> None:
    rows = [["a7", "He runs.", "f", 1, 2], ["a7", "He sits.", "f", 3, 4]]
    files.table(tmp_path / "ads.csv", ["nr", "text", "film", "start", "end"], rows)
    mine = tmp_path / "mine.yaml"
    mine.write_text("title: Mine\nannotation: {files: [ads.csv], id: [nr]}\n")
    dataset = load_dataset(str(mine), tmp_path, strict=False)
    assert (dataset.name, dataset.title, [ad.id for ad in dataset.ads]) == ("mine", "Mine", ["a7"])
    assert dataset.ads[0].clip == "f", "without a column for clips, the film is the video"
    assert said(dataset, "the id 'a7' stands twice") == ["malformed ads.csv, line 3"]
    assert not said(dataset, "there is no file of"), "nothing else was described"


GAP = 0.02


def published(cuts: list[float]) -> list[Interval]:
    """As the lists are: 10 ms later at the start, 10 ms earlier at the end."""
    return [Interval(round(a + GAP / 2, 3), round(b - GAP / 2, 3)) for a, b in pairwise(cuts)]


@given(st.lists(st.integers(60, 20_000), min_size=1, max_size=30))
def test_the_true_cuts_come_back(lengths: list[int]) -> None:
    cuts = [0.0]
    for length in lengths:
        cuts.append(round(cuts[-1] + length / 1000, 3))
    shots = touching(published(cuts), GAP)
    assert [shot.start for shot in shots] == pytest.approx(cuts[:-1], abs=1e-6)
    assert all(one.end == other.start for one, other in pairwise(shots))
    assert shots[-1].end == pytest.approx(cuts[-1], abs=1e-6)


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


@pytest.mark.parametrize("place", ["2014/ab.mkv", "videos/2014/ab.webm"])
def test_cmd_ads_clips_by_year_and_name(tmp_path: Path, place: str) -> None:
    dataset = load_dataset("cmd-ad", files.cmd_ad(tmp_path))
    path = touch(tmp_path / place)
    assert video_of(dataset, dataset.ads[0]) == Video(path)
    assert video_of(dataset, dataset.ads[2]) is None
    assert path in video_places(dataset, dataset.ads[0])


def test_mad_evals_whole_film_goes_before_the_short_pieces(tmp_path: Path) -> None:
    dataset = load_dataset("mad-eval", files.mad_eval(tmp_path))
    piece = touch(tmp_path / "madeval" / "1005_Signs" / "1005_Signs_149.970-152.750.avi")
    assert video_of(dataset, dataset.ads[0]) == Video(piece, begins=149.97, piece=True)
    assert video_of(dataset, dataset.ads[1]) is None
    film = touch(tmp_path / "tt05.mkv")
    assert video_of(dataset, dataset.ads[0]) == video_of(dataset, dataset.ads[1]) == Video(film)


@pytest.mark.parametrize("folder", ["tvad/friends_frames", "."])
def test_tv_ads_frames_in_tars_and_folders(tmp_path: Path, folder: str) -> None:
    dataset = load_dataset("tv-ad", files.tv_ad(tmp_path))
    name = dataset.ads[0].clip
    (tmp_path / folder / name).mkdir(parents=True)
    assert video_of(dataset, dataset.ads[0]) == Video(tmp_path / folder / name, 3.0)
    tar = touch(tmp_path / folder / f"{name}.tar")
    assert video_of(dataset, dataset.ads[0]) == Video(tar, 3.0)


@pytest.mark.parametrize("clip", ["../outside", "2014/../../outside", "/outside"])
def test_a_name_does_not_lead_out_of_the_folder(tmp_path: Path, clip: str) -> None:
    dataset = load_dataset("cmd-ad", files.cmd_ad(tmp_path / "root"))
    touch(tmp_path / "outside.mkv")
    ad = replace(dataset.ads[0], clip=f"{tmp_path}{clip}" if clip[0] == "/" else clip)
    assert video_of(dataset, ad) is None


def test_files_may_be_named_one_by_one(tmp_path: Path) -> None:
    files.cmd_ad(tmp_path / "here")
    (tmp_path / "there").mkdir()
    places = {"annotation": "cmdad_anno", "actions": "cmdad_gt_action", "shots": "cmdad_shot_info"}
    given = {}
    for what, name in places.items():
        given[what] = (tmp_path / "here" / f"{name}.csv").rename(tmp_path / "there" / f"my {what}.csv")
    dataset = load_dataset("cmd-ad", tmp_path, casts=tmp_path / "here" / "cast.json", **given)
    assert len(dataset.ads) == 4
    assert dataset.files == {**given, "casts": tmp_path / "here" / "cast.json"}


def checked(root: Path, name: str = "cmd-ad", *, need_videos: bool = False) -> Json:
    return check_dataset(load_dataset(name, root, strict=False), NoProgress(), need_videos=need_videos)


def levels(check: Json, words: str) -> list[str]:
    return [f"{one['level']} {Path(one['where']).name}" for one in check["findings"] if words in one["what"]]


def test_videos_are_opened_where_they_are_needed(tmp_path: Path) -> None:
    """The film lasts 2 s; the ADs of one clip end at 16, those of the other at 4.2 s."""
    files.cmd_ad(tmp_path)
    for clip in ("2014/ab", "2015/cd"):
        (tmp_path / clip).parent.mkdir()
    shutil.copy(make_film(FilmSpec(suffix=".mkv")).path, tmp_path / "2014" / "ab.mkv")
    (tmp_path / "2015" / "cd.mkv").write_bytes(b"no film")
    check = checked(tmp_path, need_videos=True)
    assert check["counts"]["videos"] == 2
    late = "it ends at 2.0 s, and 2 ADs of 2 after it (the last, 1, at 16.0 s)"
    assert levels(check, late) == ["malformed ab.mkv"]
    assert len([one for one in check["findings"] if one["where"].endswith("cd.mkv")]) == 1
    assert not levels(checked(tmp_path), "it ends at"), "not asked for, not opened"


def test_tars_of_frames_are_opened_at_their_rate(tmp_path: Path) -> None:
    """Forty frames at 3 a second last 13.3 s: longer than frame 22."""
    files.tv_ad(tmp_path)
    clip = "friends_s01e01_seg02_clip_04"
    (tmp_path / "friends_frames").mkdir()
    make_stills(tmp_path / "made", 40)
    with tarfile.open(tmp_path / "friends_frames" / f"{clip}.tar", "w") as tar:
        tar.add(tmp_path / "made", clip)
    check = checked(tmp_path, "tv-ad", need_videos=True)
    assert check["counts"]["videos"] == 1
    assert not [one for one in check["findings"] if ".tar" in one["where"]]


FOLDER = DATA / "cmd-ad"
needs_cmdad = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"needs the CMD-AD annotation in {FOLDER}")


@lru_cache(maxsize=1)
def loaded() -> Dataset:
    return load_dataset("cmd-ad", FOLDER)


@needs_cmdad
def test_the_known_oddities_and_no_others() -> None:
    assert [ad.id for ad in loaded().ads if ad.actions is None] == ["2263", "4135"]
    lists = ["note cmdad_gt_action.csv, line 2265", "note cmdad_gt_action.csv, line 4137"]
    assert said(loaded(), "'0' is no list") == lists
    for words in (
        "9 ADs: the padded interval begins before the clip",
        "ADs that end after the last shot of their clip: 4 ",
        "films whose ADs are not in order of time, of 98: 2 ",
        "ADs that stand twice, with the same time and text: 5 ",
        "ADs in clips without a cut: 29 ",
        "there is no file of ADs of the training set",
    ):
        assert said(loaded(), words), words
    assert len(loaded().findings) == 11
    assert {one.level for one in loaded().findings} == {"note"}


@needs_cmdad
def test_slots_are_those_of_the_published_rule() -> None:
    with (FOLDER / "context_expected.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    expected = {row["anno_idx"]: (float(row["ad_start"]), float(row["ad_end"])) for row in rows}
    slots = {ad.id: (ad.slot.start, ad.slot.end) for ad in loaded().ads}
    assert len(expected) == 7316
    for name, times in expected.items():
        assert slots[name] == pytest.approx(times, abs=1e-6), name
