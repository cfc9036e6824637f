"""What receivers know audio description by in MPEG-TS."""

from __future__ import annotations

from pathlib import Path

import pytest

from shotad.sound.player_marks import crc, supplementary, with_descriptor
from tests.sound.muxmedia import describe_tracks, film_for, written

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


def packet(section: bytes, room: int | None = None) -> bytes:
    whole = b"\x47\x50\x00\x10\x00" + section
    rest = 188 - len(whole)
    return whole + (b"\xff" * rest if room is None else b"\x00" * (rest - room) + b"\xff" * room)


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


def test_room_for_a_descriptor_after_an_adaptation_field() -> None:
    added, section = supplementary("de", False), table(BLIND)
    assert added[-3:] == b"de "
    filled = b"\x47\x50\x00\x30\x05" + b"\x00" * 5 + b"\x00" + section
    filled += b"\xff" * (188 - len(filled))
    marked = with_descriptor(filled, added)
    assert marked is not None
    assert marked[:11] == filled[:11]
    assert marked[11 : 11 + len(section) + 7] == table(BLIND + added)


def test_ac3_says_in_each_frame_whom_it_is_for(tmp_path: Path) -> None:
    import av

    target = tmp_path / "described.ts"
    written(film_for("5.1", ".ts"), target, layout="5.1", codec="ac3")
    with av.open(str(target)) as film:
        packets = [bytes(packet) for packet in film.demux(film.streams.audio[1]) if packet.size]
    # Synchronisation, checksum, size; then five bits of version and three of service: 2 is "visually impaired".
    assert {data[:2] for data in packets} == {b"\x0b\x77"}
    assert {data[5] & 7 for data in packets} == {2}
