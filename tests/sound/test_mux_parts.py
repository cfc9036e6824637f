"""The parts of writing a film: decoding times, payload, texts, boxes, metadata."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from shotad.sound.ad_tracks import coded_text
from shotad.sound.containers import (
    CONTAINERS,
    MKV,
    MP4,
    TS,
    same_language,
    track_language,
)
from shotad.sound.packets import Clock, Payload
from shotad.sound.player_marks import TrackBoxes, mark_tracks
from shotad.sound.tracks import film_tags

MILLISECOND = Fraction(1, 1000)


def packets(*times: tuple[int | None, int | None]) -> list[Any]:
    return [SimpleNamespace(pts=pts, dts=dts, duration=40) for pts, dts in times]


def timed(*times: tuple[int | None, int | None], start: Fraction = Fraction(0)) -> list[tuple[int, int]]:
    clock = Clock(start, MILLISECOND, Fraction(25))
    out = [ready for packet in packets(*times) for ready in clock.take(packet)]
    return [(packet.pts, packet.dts) for packet in (*out, *clock.rest())]


def test_times_count_from_the_films_start() -> None:
    assert timed((5040, 5000), (5080, 5040), start=Fraction(5)) == [(40, 0), (80, 40)]


def test_a_decoding_time_that_does_not_ascend_is_moved() -> None:
    assert timed((0, 0), (40, 0), (80, 80)) == [(0, 0), (40, 1), (80, 80)]
    assert timed((0, 0), (None, 40), (90, None)) == [(0, 0), (40, 40), (90, 80)]


@given(st.lists(st.tuples(st.integers(0, 5000), st.none() | st.integers(0, 5000)), min_size=1, max_size=80))
def test_whatever_comes_decoding_ascends_and_nothing_is_shown_before(
    times: list[tuple[int, int | None]],
) -> None:
    out = timed(*times)
    assert len(out) == len(times)
    assert all(pts >= dts for pts, dts in out)
    assert all(b > a for (_, a), (_, b) in pairwise(out))


def named(codec: str, extra: bytes | None, *data: bytes) -> str:
    payload = Payload(codec, extra)
    for packet in data:
        payload.add(packet)
    assert payload.packets == len(data)
    return payload.digest


def test_h264_is_the_same_behind_lengths_and_start_codes() -> None:
    picture, sets = b"\x65" + bytes(range(1, 90)), (b"\x67\x42\x01", b"\x68\xce\x01", b"\x09\xf0")
    lengths = len(picture).to_bytes(4) + picture
    codes = b"".join(b"\0\0\0\1" + unit for unit in (*sets, picture))
    head = b"\x01\x42\x00\x1e\xff"
    assert named("h264", head, lengths) == named("h264", None, codes)
    other = len(picture).to_bytes(4) + picture[:-1] + b"\x07"
    assert named("h264", head, lengths) != named("h264", head, other)


def test_aac_is_the_same_with_and_without_adts() -> None:
    frame = bytes(range(40))
    size = len(frame) + 7
    head = bytes([0xFF, 0xF1, 0x50, 0x80 | size >> 11, size >> 3 & 0xFF, (size & 7) << 5 | 0x1F, 0xFC])
    assert named("aac", None, head + frame) == named("aac", None, frame)
    assert named("ac3", None, head + frame) != named("ac3", None, frame)


def test_blank_lines_do_not_end_a_cue() -> None:
    assert coded_text("One\n\n \nTwo", "subrip") == b"One\nTwo"
    assert coded_text("a < b & c --> d", "webvtt") == b"a &lt; b &amp; c --&gt; d"


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
    assert film_tags(source, given, MP4, "film") == {
        "title": "Film",
        "comment": "By machine.; reviewed by: Ann",
    }
    assert film_tags(source, given, MKV, "film") == {"title": "Film", "IMDB": "tt1", **given}
    assert film_tags({}, given, TS, "film") == {
        "service_name": "film",
        "service_provider": "By machine.; reviewed by: Ann",
    }


@pytest.mark.parametrize("container", CONTAINERS, ids=lambda c: c.name)
def test_the_libraries_write_every_codec_that_a_container_is_said_to_hold(
    container: Any, tmp_path: Path
) -> None:
    import av

    with av.open(str(tmp_path / "film"), "w", format=container.muxer) as film:
        for codec in sorted(container.video):
            film.add_mux_stream(codec, rate=25)
        for codec in sorted(container.audio):
            film.add_mux_stream(codec, rate=48000)
        for codec in sorted(container.subtitles):
            film.add_mux_stream(codec)


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_holds_what_the_ad_is_written_in(container: Any) -> None:
    assert all(container.holds("audio", codec) for codec in container.speech)
    assert container.text is None or container.holds("subtitle", container.text)


def test_languages() -> None:
    assert (track_language("de-CH", MKV), track_language("ger", MP4)) == ("ger", "deu")
    assert (track_language("xx", MP4), track_language("qaa", MP4)) == ("und", "qaa")
    assert same_language("ger", "de-AT")
    assert same_language("", "und")
    assert not same_language("eng", "de")
    assert not same_language("", "en")
