"""The list of clips to tune and to judge by, and how they are fetched."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from benchmarks import clips
from shotad.core import NoProgress, WeightsError, weight_store


def test_the_list_is_whole_and_its_halves_are_apart() -> None:
    found = list(clips.read_clips().values())
    assert len({clip.file.sha256 for clip in found}) == len(yaml.safe_load(clips.LIST.read_text())) >= 40
    for half in ("tuning", "judging"):
        mine = [clip for clip in found if clip.half == half]
        assert len(mine) >= 20
        assert {clip.kind for clip in mine} == {clip.kind for clip in found}
    for clip in found:
        assert 0 <= clip.start < clip.end <= 300, clip
        assert re.fullmatch("[0-9a-f]{64}", clip.file.sha256), clip
        assert clip.file.bytes > 10_000, clip
        assert clip.file.licence, clip


def test_only_the_named_file_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOTAD_CACHE", str(tmp_path / "cache"))
    film = tmp_path / "film.mp4"
    film.write_bytes(b"a film")
    row = {
        "name": "one",
        "half": "tuning",
        "kind": "x",
        "seconds": [0, 1],
        "git": "a/b@1",
        "path": "c d/e.mp4",
    }
    listed = tmp_path / "clips.yaml"
    listed.write_text(yaml.safe_dump([{**row, "sha256": "0" * 64, "bytes": 6, "licence": "CC0"}]))
    clip = clips.read_clips(listed)["one"]
    assert str(clip.file.sources[0]) == "https://raw.githubusercontent.com/a/b/1/c%20d/e.mp4"
    here = replace(clip.file, sources=(replace(clip.file.sources[0], url=film.as_uri()),))
    with pytest.raises(WeightsError, match="wanted 000"):
        weight_store.checked_file(here, NoProgress())
    right = replace(here, sha256=hashlib.sha256(b"a film").hexdigest())
    assert weight_store.checked_file(right, NoProgress()).read_bytes() == b"a film"


def test_a_source_that_is_not_known_is_refused(tmp_path: Path) -> None:
    (tmp_path / "clips.yaml").write_text("- {name: one, half: tuning, seconds: [0, 1], torrent: x, path: y}")
    with pytest.raises(ValueError, match="one: give pypi, npm or git"):
        clips.read_clips(tmp_path / "clips.yaml")


def test_all_clips_to_judge_by_are_labelled_within_their_part() -> None:
    scenes = yaml.safe_load((clips.LIST.parent / "scenes.yaml").read_text("utf-8"))
    by_name = clips.read_clips()
    assert set(scenes) <= set(by_name)
    assert {name for name, clip in by_name.items() if clip.half == "judging"} <= set(scenes)
    for name, moments in scenes.items():
        for start, end, text in moments:
            assert by_name[name].start <= start < end <= by_name[name].end + 0.05, (name, text)
            assert text
        assert [moment[0] for moment in moments] == sorted(moment[0] for moment in moments), name
