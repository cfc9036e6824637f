"""Numbered frames in folders and archives."""

from __future__ import annotations

import io
import tarfile
import tracemalloc
from fractions import Fraction
from pathlib import Path

import pytest

from shotad.core import FilmError, UsageError
from shotad.film import Film, open_film, stills
from tests.media import make_stills, read_number

RATE = Fraction(3)


@pytest.fixture(params=["folder", "tar", "tar.gz", "tar by content"])
def film(request: pytest.FixtureRequest, tmp_path: Path) -> Film:
    folder = make_stills(tmp_path / "clip", 12)
    (folder / "notes.txt").write_text("not a frame")
    (folder / ".00003.png").write_bytes(b"hidden")
    if request.param == "folder":
        return open_film(folder, frame_rate=RATE)
    name = {"tar": "clip.tar", "tar.gz": "clip.tar.gz", "tar by content": "clip"}[request.param]
    mode = "w:gz" if name.endswith("gz") else "w"
    (tmp_path / "archive").mkdir()
    path = tmp_path / "archive" / name
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        archive.add(folder, arcname="clip")
    return open_film(path, frame_rate=RATE)


def test_a_broken_frame_is_left_out_and_noted(tmp_path: Path) -> None:
    folder = make_stills(tmp_path / "clip", 5)
    (folder / "00003.png").write_bytes(b"no picture")
    with open_film(folder, frame_rate=RATE) as film:
        assert [read_number(f.rgb()) for f in film.frames()] == [0, 1, 3, 4]
        assert film.damage == "Some frames are no pictures (1, the first is number 3)."
        assert [read_number(p.image) for p in film.pictures([2 / 3, 1.0])] == [1, 3]


def test_folders_of_frames_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(FilmError, match="holds no numbered frames"):
        open_film(tmp_path, frame_rate=RATE)
    # A frame rate is needed.
    folder = make_stills(tmp_path / "clip", 1)
    with pytest.raises(UsageError, match="no time of their own"):
        open_film(folder)
    with pytest.raises(UsageError, match="must be above 0, got 0"):
        open_film(folder, frame_rate=Fraction(0))
    # Two frames of one number.
    folder = make_stills(tmp_path / "clip", 2)
    (folder / "b_2.png").write_bytes((folder / "00002.png").read_bytes())
    with pytest.raises(FilmError, match="two frames numbered 2"):
        open_film(folder, frame_rate=RATE)


def _zeros(path: Path, frames: Path, *members: tarfile.TarInfo) -> Path:
    """A packed archive of whole frames and then of members of many zeros."""
    with tarfile.open(path, "w:gz") as archive:
        archive.add(frames, arcname="clip")
        for member in members:
            archive.addfile(member, io.BytesIO(bytes(member.size)))
    return path


def test_a_frame_that_unpacks_to_too_much_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stills, "LARGEST_FRAME", 1 << 20)
    member = tarfile.TarInfo("clip/00003.png")
    member.size = 64 << 20
    path = _zeros(tmp_path / "clip.tar.gz", make_stills(tmp_path / "clip", 2), member)
    assert path.stat().st_size < 1 << 20
    tracemalloc.start()
    try:
        with open_film(path, frame_rate=RATE) as film:
            assert [read_number(frame.rgb()) for frame in film.frames()] == [0, 1]
            assert film.damage == "Some frames are no pictures (1, the first is number 3)."
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()


def test_a_header_that_unpacks_to_too_much_is_not_read(tmp_path: Path) -> None:
    member = tarfile.TarInfo("pax")
    member.type, member.size = tarfile.XHDTYPE, 64 << 20
    path = _zeros(tmp_path / "clip.tar.gz", make_stills(tmp_path / "clip", 2), member)
    tracemalloc.start()
    try:
        with open_film(path, frame_rate=RATE) as film:
            assert [read_number(frame.rgb()) for frame in film.frames()] == [0, 1]
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()


def test_links_and_devices_in_an_archive_are_passed_over(tmp_path: Path) -> None:
    secret = make_stills(tmp_path / "secret", 1)
    folder = make_stills(tmp_path / "clip", 1)
    path = tmp_path / "clip.tar"
    with tarfile.open(path, "w") as archive:
        archive.add(folder / "00001.png", arcname="../../00001.png")
        for number, kind in ((2, tarfile.SYMTYPE), (3, tarfile.FIFOTYPE)):
            member = tarfile.TarInfo(f"{number:05d}.png")
            member.type, member.linkname = kind, str(secret / "00001.png")
            archive.addfile(member, io.BytesIO())
    before = sorted(tmp_path.rglob("*"))
    with open_film(path, frame_rate=RATE) as film:
        assert [read_number(f.rgb()) for f in film.frames()] == [0]
    assert sorted(tmp_path.rglob("*")) == before
