"""Saving: only what changed is written anew, and only what is another is read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from shotad.core import Interval, ScriptError
from shotad.review.keeping import TrackFile
from shotad.script import Cue, FilmId, Track, to_json

CUES = tuple(Cue(f"s{n}0001000", None, Interval(n + 1, n + 1.5), f"Line {n}.") for n in range(3))
TRACK = Track(FilmId("a.mp4", "f", 20.0), "en", (), "0.1", CUES)


def test_what_is_written_is_the_track(tmp_path: Path) -> None:
    file = TrackFile(tmp_path / "track.json")
    file.write(TRACK)
    assert file.path.read_text(encoding="utf-8") == to_json(TRACK)
    assert file.look() is None
    later = TRACK.with_cues((*CUES[:2], replace(CUES[2], text="Other.")))
    file.write(later)
    assert file.path.read_text(encoding="utf-8") == to_json(later)
    assert TrackFile(file.path).look() == later


def test_lines_that_are_the_same_are_not_worded_again(tmp_path: Path) -> None:
    file = TrackFile(tmp_path / "track.json")
    assert file.block(CUES[0]) is file.block(CUES[0])
    assert "Other." in file.block(replace(CUES[0], text="Other."))


def test_only_another_file_is_read(tmp_path: Path) -> None:
    file = TrackFile(tmp_path / "track.json")
    file.write(TRACK)
    file.path.write_bytes(file.path.read_bytes())
    assert file.is_stale
    assert file.look() is None
    assert not file.is_stale
    file.path.write_text(to_json(TRACK).replace("Line 1.", "Edited."), encoding="utf-8")
    found = file.look()
    assert found is not None
    assert [cue.text for cue in found.cues if cue.edited] == ["Edited."]


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", None])
def test_what_is_no_track_is_told_every_time(tmp_path: Path, data: bytes | None) -> None:
    file = TrackFile(tmp_path / "track.json")
    file.write(TRACK)
    file.path.unlink()
    if data is not None:
        file.path.write_bytes(data)
    for _ in range(2):
        with pytest.raises(ScriptError, match=r"track\.json"):
            file.look()
