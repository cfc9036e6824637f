"""The parts of writing a film: decoding times, boxes, metadata, and what receivers of MPEG-TS know AD by."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from shotad.sound.containers import CONTAINERS, MKV, MP4, TS, film_tags
from shotad.sound.mux_film import Clock
from shotad.sound.player_marks import TrackBoxes, crc, mark_tracks, supplementary, with_descriptor
from tests.sound.muxmedia import describe_tracks, film_for, written

MILLISECOND = Fraction(1, 1000)


def packets(*times: tuple[int | None, int | None]) -> list[Any]:
    return [SimpleNamespace(pts=pts, dts=dts, duration=40) for pts, dts in times]


def timed(*times: tuple[int | None, int | None], start: Fraction = Fraction(0)) -> list[tuple[int, int]]:
    clock = Clock(start, MILLISECOND, Fraction(25))
    out = [ready for packet in packets(*times) for ready in clock.take(packet)]
    return [(packet.pts, packet.dts) for packet in (*out, *clock.rest())]


@given(st.lists(st.tuples(st.integers(0, 5000), st.none() | st.integers(0, 5000)), min_size=1, max_size=80))
def test_whatever_comes_decoding_ascends_and_nothing_is_shown_before(times):
    out = timed(*times)
    assert len(out) == len(times)
    assert all(pts >= dts for pts, dts in out)
    assert all(b > a for (_, a), (_, b) in pairwise(out))


def test_boxes_take_the_room_that_was_made_for_them(tmp_path: Path) -> None:
    boxes = TrackBoxes("Ä", describes=True, role=True, shown=False, language="deu")
    room = boxes.title_with_room.encode()
    assert len(boxes.boxes()) == 8 + len(room)

    def box(kind: bytes, content: bytes) -> bytes:
        return (len(content) + 8).to_bytes(4) + kind + content

    def film(name: bytes) -> bytes:
        track = box(b"tkhd", b"\0\0\0\3" + bytes(80)) + box(b"mdia", box(b"mdhd", bytes(24)))
        movie = box(b"moov", box(b"mvhd", bytes(9)) + box(b"trak", track + box(b"udta", box(b"name", name))))
        wide = (1).to_bytes(4) + b"free" + (24).to_bytes(8) + bytes(8)
        return box(b"ftyp", b"isom") + wide + movie + box(b"mdat", b"data")

    path = tmp_path / "film.mp4"
    path.write_bytes(film(room))
    mark_tracks(path, {0: boxes})
    data = path.read_bytes()
    assert len(data) == len(film(room))
    assert data.endswith(box(b"mdat", b"data"))
    assert box(b"name", "Ä".encode()) in data
    assert box(b"tagc", b"public.accessibility.describes-video") in data
    assert b"tkhd\0\0\0\2" in data
    assert b"mdhd" + bytes(20) + (4 << 10 | 5 << 5 | 21).to_bytes(2) in data
    path.write_bytes(film(b"Other"))
    with pytest.raises(ValueError, match="not what was written"):
        mark_tracks(path, {0: boxes})
    path.write_bytes(box(b"ftyp", b"isom"))
    with pytest.raises(ValueError, match="there is no moov"):
        mark_tracks(path, {0: boxes})


def test_metadata_that_a_container_has_no_key_for_goes_into_the_comment() -> None:
    source = {"title": "Film", "major_brand": "isom", "encoder": "x", "IMDB": "tt1"}
    given = {"comment": "By machine.", "reviewed_by": "Ann"}
    both = "By machine.; reviewed by: Ann"
    assert film_tags(source, given, MP4, "film") == {"title": "Film", "comment": both}
    assert film_tags(source, given, MKV, "film") == {"title": "Film", "IMDB": "tt1", **given}
    assert film_tags({}, given, TS, "film") == {"service_name": "film", "service_provider": both}


@pytest.mark.parametrize("container", CONTAINERS, ids=lambda c: c.name)
def test_the_libraries_write_every_codec_that_a_container_is_said_to_hold(container, tmp_path):
    import av

    with av.open(str(tmp_path / "film"), "w", format=container.muxer) as film:
        for codec in sorted(container.video):
            film.add_mux_stream(codec, rate=25)
        for codec in sorted(container.audio):
            film.add_mux_stream(codec, rate=48000)
        for codec in sorted(container.subtitles):
            film.add_mux_stream(codec)


SIZES = {".ts": 188, ".m2ts": 192}


def tables(path: Path) -> list[tuple[int, bytes]]:
    """PID and section of all packets with a table of the kinds PAT and PMT."""
    size, data = SIZES[path.suffix], path.read_bytes()
    assert len(data) % size == 0
    found = []
    for at in range(size - 188, len(data), size):
        packet = data[at : at + 188]
        assert packet[0] == 0x47
        pid, start = (packet[1] & 0x1F) << 8 | packet[2], 5 + packet[4]
        if packet[1] & 0x40 and not packet[3] & 0x20 and packet[start] in (0, 2):
            length = 3 + ((packet[start + 1] & 0xF) << 8 | packet[start + 2])
            section = packet[start : start + length]
            if crc(section) == 0:
                assert set(packet[start + length :]) <= {0xFF}
                found.append((pid, section))
    return found


@pytest.mark.parametrize("mixed", [True, False])
@pytest.mark.parametrize("ending", [".ts", ".m2ts"])
def test_each_table_says_whether_the_film_is_in_the_ad(ending: str, mixed: bool, tmp_path: Path) -> None:
    target = tmp_path / f"described{ending}"
    written(film_for("plain", ".ts"), target, sound="mix" if mixed else "alone")
    maps = [section for _, section in tables(target) if section[0] == 2]
    assert len(maps) >= 10
    assert {section[-11:-4] for section in maps} == {bytes((0x7F, 5, 6, 0x87 if mixed else 0x07)) + b"eng"}
    assert len(set(maps)) == 1
    marks = next(track for track in describe_tracks(target) if track.number == 2).marks
    assert "visual_impaired" in marks
    assert ("dependent" in marks) == (not mixed)


def packet(section: bytes, room: int = 0, head: bytes = b"\x47\x50\x00\x10\x00") -> bytes:
    """A packet that ends with at least so much ``room``."""
    rest = 188 - len(head + section)
    return head + section + (b"\x00" * (rest - room) + b"\xff" * room if room else b"\xff" * rest)


def table(descriptors: bytes) -> bytes:
    entry = b"\x0f\xe1\x01" + (0xF000 | len(descriptors)).to_bytes(2) + descriptors
    body = b"\x00\x01\xc1\x00\x00\xe1\x01\xf0\x00" + entry
    head = b"\x02" + (0xB000 | len(body) + 4).to_bytes(2)
    return head + body + crc(head + body).to_bytes(4)


BLIND = b"\x0a\x04eng\x03"


def test_tables_without_room_stay() -> None:
    added = supplementary("eng", True)
    marked = with_descriptor(packet(table(BLIND)), added)
    assert marked == packet(table(BLIND + added))
    assert with_descriptor(packet(table(BLIND), room=6), added) is None
    long = table(b"\x05\x04AAAA" * 25 + BLIND)
    assert len(packet(long)) == 188
    assert with_descriptor(packet(long), added) is None
    # A packet of another kind, and one that only goes on with a table.
    assert with_descriptor(b"\x47\x10\x00\x10" + bytes(184), added) is None


def test_ac3_says_in_each_frame_whom_it_is_for(tmp_path: Path) -> None:
    import av

    target = tmp_path / "described.ts"
    written(film_for("5.1", ".ts"), target, layout="5.1", codec="ac3")
    with av.open(str(target)) as film:
        packets = [bytes(packet) for packet in film.demux(film.streams.audio[1]) if packet.size]
    # Synchronisation, checksum, size; then five bits of version and three of service: 2 is "visually impaired".
    assert {data[:2] for data in packets} == {b"\x0b\x77"}
    assert {data[5] & 7 for data in packets} == {2}
