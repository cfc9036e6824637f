"""Files that break the library below: streams that come up on the way, pictures without end."""

from __future__ import annotations

import io
import struct
import zlib
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from shotad.core import FilmError
from shotad.film import find_media, open_film, packets_of


def _programme(frames: int, sounds: int) -> bytes:
    """A transport stream of moving noise with so many tracks of sound."""
    out, noise = io.BytesIO(), np.random.default_rng(1)
    with av.open(out, "w", format="mpegts") as container:
        video = container.add_stream("mpeg2video", rate=25)
        video.width, video.height, video.pix_fmt, video.bit_rate = 160, 120, "yuv420p", 8_000_000
        heard = [container.add_stream("mp2", rate=48000) for _ in range(sounds)]
        for _ in range(frames):
            image = noise.integers(0, 255, (120, 160, 3), np.uint8)
            container.mux(video.encode(av.VideoFrame.from_ndarray(image, "rgb24")))
            for track in heard:
                silence = av.AudioFrame.from_ndarray(np.zeros((1, 2 * 1152), np.int16), "s16", "stereo")
                silence.sample_rate = 48000
                container.mux(track.encode(silence))
        for stream in (video, *heard):
            container.mux(stream.encode(None))
    return out.getvalue()


def _packets(data: bytes) -> list[bytes]:
    return [data[at : at + 188] for at in range(0, len(data), 188)]


def test_streams_that_a_damaged_film_announces_on_its_way_are_passed_over(tmp_path: Path) -> None:
    frames = 1500
    plain, other = _packets(_programme(frames, 0)), _packets(_programme(20, 3))
    assert 188 * len(plain) > 12 << 20, "farther than the library looks when it opens a film"
    picture = 0x100
    middle = len(plain) // 2
    path = tmp_path / "recording.ts"
    sound = [packet for packet in other if ((packet[1] & 0x1F) << 8 | packet[2]) != picture]
    path.write_bytes(b"".join([*plain[:middle], *sound, *plain[middle:]]))
    with find_media(path).open() as container:
        assert len(list(packets_of(container))) > frames
    with open_film(path) as film:
        assert len(list(film.frames())) > frames - 50


def _huge_png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 60000, 60000, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(b"\0" * 1000))
        + chunk(b"IEND", b"")
    )


def test_a_picture_without_bounds_among_frames_is_left_out(tmp_path: Path) -> None:
    from PIL import Image

    for number in (1, 2, 4):
        Image.new("RGB", (32, 24), (number, 0, 0)).save(tmp_path / f"{number:04d}.png")
    (tmp_path / "0003.png").write_bytes(_huge_png())
    with open_film(tmp_path, frame_rate=Fraction(1)) as film:
        assert [frame.seconds for frame in film.frames()] == [0, 1, 3]
        assert film.damage is not None
        assert "the first is number 3" in film.damage
    (tmp_path / "0001.png").write_bytes(_huge_png())
    with pytest.raises(FilmError, match=r"Frame 1 of .* is no picture"):
        open_film(tmp_path, frame_rate=Fraction(1))


def test_an_empty_packet_shows_the_last_picture_again_and_is_not_the_end(tmp_path: Path) -> None:
    """So Theora tells of a picture that has not changed."""
    path = tmp_path / "held.nut"
    with av.open(path, "w", format="nut") as container:
        video = container.add_stream("mjpeg", rate=10)
        video.width, video.height, video.pix_fmt = 64, 64, "yuvj420p"
        for at in range(20):
            image = av.VideoFrame.from_ndarray(np.full((64, 64, 3), 12 * at, np.uint8), "rgb24")
            for packet in video.encode(image):
                empty = av.Packet(b"")
                empty.pts, empty.dts, empty.time_base = packet.pts, packet.dts, packet.time_base
                empty.stream = video
                container.mux_one(empty if at in (5, 6, 7) else packet)
    with open_film(path) as film:
        seconds = [frame.seconds for frame in film.frames()]
    assert seconds == pytest.approx([at / 10 for at in range(20) if at not in (5, 6, 7)])
