"""Numbered frames in folders and archives."""

from __future__ import annotations

import io
import struct
import tarfile
import tracemalloc
import zlib
from fractions import Fraction
from pathlib import Path

import pytest

from shotad.core import FilmError, UsageError
from shotad.film import open_film, stills
from tests.media import make_stills, read_number

RATE = Fraction(3)


def huge_png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 60000, 60000, 8, 2, 0, 0, 0)
    chunks = [chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(b"\0" * 1000)), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@pytest.mark.parametrize("broken", [b"no picture", huge_png()], ids=["no picture", "one without bounds"])
def test_a_broken_frame_is_left_out_and_noted(tmp_path: Path, broken: bytes) -> None:
    folder = make_stills(tmp_path / "clip", 5)
    (folder / "00003.png").write_bytes(broken)
    (folder / "notes.txt").write_text("not a frame")
    with open_film(folder, frame_rate=RATE) as film:
        assert [(read_number(f.rgb()), f.seconds) for f in film.frames()] == [
            (n, n / 3) for n in (0, 1, 3, 4)
        ]
        assert film.damage == "Some frames are no pictures (1, the first is number 3)."
        assert [read_number(p.image) for p in film.pictures([2 / 3, 1.0])] == [1, 3]
    (folder / "00001.png").write_bytes(broken)
    with pytest.raises(FilmError, match=r"Frame 1 of .* is no picture"):
        open_film(folder, frame_rate=RATE)


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


@pytest.mark.parametrize("hidden", ["a frame", "a header"])
def test_what_unpacks_to_too_much_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hidden: str
) -> None:
    monkeypatch.setattr(stills, "LARGEST_FRAME", 1 << 20)
    member = tarfile.TarInfo("clip/00003.png")
    member.type, member.size = tarfile.REGTYPE if hidden == "a frame" else tarfile.XHDTYPE, 64 << 20
    path = tmp_path / "clip.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(make_stills(tmp_path / "clip", 2), arcname="clip")
        archive.addfile(member, io.BytesIO(bytes(member.size)))
    assert path.stat().st_size < 1 << 20
    tracemalloc.start()
    try:
        with open_film(path, frame_rate=RATE) as film:
            assert [read_number(frame.rgb()) for frame in film.frames()] == [0, 1]
            noted = "Some frames are no pictures (1, the first is number 3)."
            assert film.damage == (noted if hidden == "a frame" else None)
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()


def test_links_and_devices_in_an_archive_are_passed_over(tmp_path: Path) -> None:
    secret = make_stills(tmp_path / "secret", 1)
    folder = make_stills(tmp_path / "clip", 1)
    path = tmp_path / "by its content"
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
