"""Where the videos of ADs are found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from shotad.evaluation import load_dataset
from shotad.evaluation.datasets.checking import video_of, video_places
from shotad.evaluation.datasets.dataset import Video
from tests.evaluation.datasets import datasetfiles as files


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


@pytest.mark.parametrize("place", ["2014/ab.mkv", "cmdad/2014/ab.mp4", "videos/2014/ab.webm"])
def test_cmd_ads_clips_by_year_and_name(tmp_path: Path, place: str) -> None:
    dataset = load_dataset("cmd-ad", files.cmd_ad(tmp_path))
    path = touch(tmp_path / place)
    assert video_of(dataset, dataset.ads[0]) == Video(path)
    assert video_of(dataset, dataset.ads[2]) is None
    assert path in video_places(dataset, dataset.ads[0])


def test_videos_may_be_elsewhere(tmp_path: Path) -> None:
    dataset = load_dataset("cmd-ad", files.cmd_ad(tmp_path / "anno"))
    path = touch(tmp_path / "disk" / "2014" / "ab.mkv")
    assert video_of(dataset, dataset.ads[0]) is None
    assert video_of(dataset, dataset.ads[0], tmp_path / "disk") == Video(path)


def test_mad_evals_whole_film_goes_before_the_short_pieces(tmp_path: Path) -> None:
    dataset = load_dataset("mad-eval", files.mad_eval(tmp_path))
    piece = touch(tmp_path / "madeval" / "1005_Signs" / "1005_Signs_149.970-152.750.avi")
    assert video_of(dataset, dataset.ads[0]) == Video(piece, begins=149.97, piece=True)
    assert video_of(dataset, dataset.ads[1]) is None
    film = touch(tmp_path / "tt05.mkv")
    assert video_of(dataset, dataset.ads[0]) == video_of(dataset, dataset.ads[1]) == Video(film)


@pytest.mark.parametrize("folder", ["tvad/friends_frames", "bbt_frames", "."])
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
    ad = replace(
        dataset.ads[0], clip=clip.replace("/outside", f"{tmp_path}/outside") if clip[0] == "/" else clip
    )
    assert video_of(dataset, ad) is None


def test_films_are_known_by_name_only_where_there_is_one(tmp_path: Path) -> None:
    """A dataset without titles does not take `.mkv` for a film."""
    dataset = replace(load_dataset("mad-eval", files.mad_eval(tmp_path)), films={})
    touch(tmp_path / ".mkv")
    assert video_of(dataset, dataset.ads[0]) is None
