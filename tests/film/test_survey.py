"""The pass over a film: the same with any number of threads, cuts, scores to the bit, kept frames, damage."""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from av.video.reformatter import ColorRange

from shotad.core import (
    Interval,
    WorkFolder,
    load_config,
)
from shotad.core.config.film import ShotSettings
from shotad.film import (
    Frames,
    detect_shots_in_pass,
    find_media,
    open_film,
)
from shotad.film.container import packets_of
from shotad.film.decoder import planes_of
from shotad.film.shots import ShotFinder, ShotList
from tests.film.test_reader import MEDIA, X264_OPEN
from tests.media import FilmSpec, make_film, media_folder

HEIGHT = 72
SAMPLE = Path(__file__).parents[1] / "sample" / "sample.mp4"
LONG = FilmSpec(frames=160, cuts=(31, 60, 61, 100, 130))
REFRESH = (("x264-params", "intra-refresh=1:keyint=12:bframes=0:scenecut=0"),)

PLAIN = ("variable rate, mkv", "late start", "open gop, hevc", "programme stream", "mkv without duration",
         "fragmented mp4", "raw stream without times", "webm", "10 bit", "interlaced", "turned 90", "wide pixels",
         "full range")  # fmt: skip

KINDS = {
    **{name: MEDIA[name] for name in PLAIN},
    "cuts": replace(LONG, b_frames=3),
    "cuts, open gop": replace(LONG, options=X264_OPEN, b_frames=3),
    "cuts, mkv": replace(LONG, suffix=".mkv", b_frames=2),
    "cuts, transport stream": replace(LONG, suffix=".ts", b_frames=2),
    "every frame a key": FilmSpec(gop=1),
    "one key only": FilmSpec(gop=1000),
    "refreshed bit by bit": FilmSpec(frames=100, options=REFRESH),
}


Found = tuple[ShotList, str | None, tuple[object, ...]]
"""The shots, the damage, and all else that a survey leaves behind."""


@contextmanager
def processors(count: int | None) -> Iterator[None]:
    """Meanwhile this process may use so many processors; None: all that it has."""
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("this system binds no process to processors")
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[:count])
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def surveyed(path: Path, folder: Path, count: int | None) -> Found:
    """What comes of a survey with so many ``processors``."""
    folder.mkdir()
    settings = ShotSettings(detector="adaptive", min_scene_len=3)
    with processors(count), open_film(path) as film:
        frames = Frames(
            film, WorkFolder(folder), load_config(None, (f"film.grid_height={HEIGHT}",)), exact=False
        )
        keeping = partial(frames.keeping, zones=[Interval(0.0, 1000.0)])
        shots = detect_shots_in_pass(film, settings, keeping=keeping)
        files = [(folder / name).read_bytes() for name in ("frames.pack", "frames.index")]
        damage = film.damage
        with ShotFinder(settings) as finder:
            for frame in film.frames():
                finder.add(frame)
        return shots, damage, (finder.scores.tolist(), *files, film.end)


@pytest.mark.parametrize("name", list(KINDS))
def test_every_kind_of_film_is_the_same_with_any_number_of_threads(name: str, tmp_path: Path) -> None:
    path = make_film(KINDS[name]).path
    alone = surveyed(path, tmp_path / "alone", 1)
    assert alone[0].frame_count > 40
    scores: Any = alone[2][0]
    for cut in {31, 100, 130}.intersection(KINDS[name].cuts):
        assert scores[cut] > 3 * np.median(scores)
    assert alone[1] is None
    assert surveyed(path, tmp_path / "several", None) == alone


# Damage
@cache
def hurt(suffix: str, kind: str) -> Path:
    """A film with random bytes in its middle, without some of them, or ending there."""
    whole = make_film(FilmSpec(suffix=suffix, frames=160, b_frames=2, cuts=(50,))).path
    data = bytearray(whole.read_bytes())
    middle = len(data) // 2
    if kind == "noise":
        data[middle : middle + 900] = np.random.default_rng(1).bytes(900)
    else:
        del data[middle : middle + 700 if kind == "hole" else len(data)]
    path = media_folder() / f"{kind}{suffix}"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("suffix", "kind"),
    [(".mkv", "noise"), (".mkv", "hole"), (".ts", "noise"), (".ts", "short"), (".mp4", "noise")],
)
def test_a_damaged_film_is_the_same_with_any_count_of_threads(suffix: str, kind: str, tmp_path: Path) -> None:
    path = hurt(suffix, kind)
    alone = surveyed(path, tmp_path / "alone", 1)
    assert alone[1] or suffix == ".ts"  # where nothing may tell that packets are gone
    assert surveyed(path, tmp_path / "several", None) == alone


def test_a_film_with_many_faults_is_the_same_every_time(tmp_path: Path) -> None:
    """The sample film with forty bytes that are others: threads side by side show three films of it."""
    data, random = bytearray(SAMPLE.read_bytes()), np.random.default_rng(3)
    for place in random.integers(len(data) // 10, len(data) * 9 // 10, 40):
        data[place] ^= 0x55
    path = tmp_path / "damaged.mp4"
    path.write_bytes(data)

    def samples(count: int | None) -> list[tuple[float, int]]:
        with processors(count), open_film(path) as film:
            found = [(f.seconds, zlib.crc32(f.raw.to_ndarray())) for f in film.frames() if f.raw is not None]
            assert film.damage is not None
            return found

    alone = samples(1)
    assert len(alone) > 900
    assert samples(None) == samples(None) == alone


def test_a_film_whose_clock_begins_again_is_the_same_with_any_count_of_threads(tmp_path: Path) -> None:
    data = make_film(KINDS["cuts, transport stream"]).path.read_bytes()
    path = tmp_path / "twice.ts"
    path.write_bytes(data + data)
    alone = surveyed(path, tmp_path / "alone", 1)
    assert alone[1] is None
    assert surveyed(path, tmp_path / "several", None) == alone


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


# Who is told, and who reads
def test_a_device_that_is_not_there_is_told_and_the_processors_decode() -> None:
    told: list[str] = []
    with open_film(make_film(KINDS["cuts"]).path) as film:
        alone = detect_shots_in_pass(film, ShotSettings(detector="adaptive"))
        # No machine has them all, and ffmpeg never has both of these.
        for name in ("videotoolbox", "d3d11va"):
            assert (
                detect_shots_in_pass(film, ShotSettings(detector="adaptive"), decoder=name, tell=told.append)
                == alone
            )
    assert told
    assert all("decoded by the processors" in text for text in told)


@pytest.mark.parametrize(("pixels", "device"), [("yuv420p", "nv12"), ("yuv420p10le", "p010le")])
def test_planes_of_a_device_are_those_of_the_processors(pixels: str, device: str) -> None:
    rng = np.random.default_rng(2)
    top = 256 if pixels == "yuv420p" else 1024
    frame = av.VideoFrame(64, 36, pixels)
    for plane in frame.planes:
        dtype = np.uint8 if top == 256 else np.uint16
        plane.update(rng.integers(0, top, plane.buffer_size // np.dtype(dtype).itemsize, dtype).tobytes())
    frame.pts, frame.color_range, frame.colorspace = 7, ColorRange.JPEG, 1
    given = frame.reformat(format=device)
    given.pts = frame.pts
    back = planes_of(given)
    assert (back.format.name, back.pts) == (pixels, 7)
    assert (back.color_range, back.colorspace) == (frame.color_range, frame.colorspace)
    assert np.array_equal(back.to_ndarray(), frame.to_ndarray())
