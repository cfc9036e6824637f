"""Films whose clock jumps: joined recordings, clocks that run ahead or wrap, damaged times. Frames, sound, subtitles,
slots and the described copy agree on one timeline."""

from __future__ import annotations

import functools
import itertools
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import Interval
from shotad.film import (
    SoundSeeker,
    open_film,
    sound_blocks,
)
from shotad.film.subtitles import embedded_track
from tests.cli.program import FAKE, Shotad
from tests.media import FilmSpec, SoundSpec, make_film, media_folder, read_number
from tests.sound.muxmedia import copied, findings_on, written

FRAMES, RATE = 75, 16000
BEEPS = (0.5, 1.5, 2.5)
PART = FilmSpec(suffix=".ts", frames=FRAMES, b_frames=2, sounds=(SoundSpec(duration=3.0, beeps=BEEPS),))
PACKET = 188


def part(shift: float = 0.0, **changes: Any) -> bytes:
    """A film of three seconds whose clock begins at ``shift``."""
    return make_film(replace(PART, shift=shift, **changes)).path.read_bytes()


def packets(data: bytes) -> list[bytes]:
    return [data[at : at + PACKET] for at in range(0, len(data), PACKET)]


def number_of(packet: bytes) -> int:
    """The number of the track that a packet of a transport stream is of."""
    return (packet[1] & 31) << 8 | packet[2]


def interleaved(first: bytes, second: bytes) -> bytes:
    """Joined so that the picture's clock jumps before the sound's: the last sound of ``first`` follows later."""
    ahead, behind = packets(first), packets(second)
    sound = max(number_of(packet) for packet in ahead if number_of(packet) < 0x1000)
    tail = [n for n, packet in enumerate(ahead) if number_of(packet) == sound][-12:]
    pictures = [n for n, packet in enumerate(behind) if number_of(packet) != sound][:40]
    order = [packet for n, packet in enumerate(ahead) if n not in tail]
    order += [behind[n] for n in pictures] + [ahead[n] for n in tail]
    order += [packet for n, packet in enumerate(behind) if n not in pictures]
    return b"".join(order)


MPG = {"suffix": ".mpg", "codec": "mpeg2video", "b_frames": 0,
       "sounds": (replace(PART.sounds[0], codec="mp2"),)}  # fmt: skip
WEBM = {"suffix": ".webm", "codec": "libvpx", "b_frames": 0,
        "sounds": (replace(PART.sounds[0], codec="libopus"),)}  # fmt: skip

JOINED = {
    "the clock begins again": (".ts", lambda: part() * 2),
    "three times": (".ts", lambda: part() * 3),
    "it runs ahead": (".ts", lambda: part() + part(500)),
    "it runs ahead and begins again": (".ts", lambda: part() + part(500) + part()),
    "it begins again twice, coded otherwise": (".ts", lambda: part(200) + part(100) + part(b_frames=0)),
    "it begins again far ahead, coded otherwise": (
        ".ts",
        lambda: part(13, b_frames=0) + part(9) + part(26000, b_frames=0),
    ),
    "it jumps back far": (".ts", lambda: part(500) + part()),
    "it jumps back a little": (".ts", lambda: part() + part(2.52)),
    "picture before sound, ahead": (".ts", lambda: interleaved(part(), part(500))),
    "picture before sound, back": (".ts", lambda: interleaved(part(), part())),
    "it wraps, and begins again": (".ts", lambda: part(95440.32) * 2),
    "a second programme": (".ts", lambda: part() + part(muxer=(("mpegts_start_pid", "500"),))),
    "programme stream": (".mpg", lambda: part(**MPG) * 2),
    "matroska": (".mkv", lambda: part(suffix=".mkv") * 2),
    "long matroska": (".mkv", lambda: part(500, suffix=".mkv") + part(suffix=".mkv")),
    "matroska, ahead": (".mkv", lambda: part(suffix=".mkv") + part(500, suffix=".mkv")),
    "webm that starts late": (".webm", lambda: part(5000, **WEBM) + part(**WEBM)),
}


@functools.cache
def joined(name: str) -> Path:
    suffix, make = JOINED[name]
    path = media_folder() / f"joined {name}{suffix}"
    path.write_bytes(make())
    return path


def beeps_in(samples: np.ndarray[Any, Any]) -> list[float]:
    """Seconds at which tones begin."""
    loud = np.flatnonzero(np.abs(samples) > 0.1) / RATE
    return [loud[0], *(after for before, after in itertools.pairwise(loud) if after - before > 0.2)]


@pytest.mark.parametrize("name", JOINED)
def test_picture_and_sound_go_on_together(name: str) -> None:
    parts = 3 if "three" in name or "ahead and" in name or "otherwise" in name else 2
    with open_film(joined(name)) as film:
        shown = [(frame.seconds, read_number(frame.rgb())) for frame in film.frames()]
        heard = np.concatenate([block.samples for block in sound_blocks(film)])
        assert film.damage is None
        assert film.clock_jumps == parts - 1
        assert film.info.duration == pytest.approx(3.0 * parts, abs=0.15)
        assert film.end == pytest.approx(3.0 * parts, abs=0.15)
    seconds = [second for second, _ in shown]
    # One frame may be lost where a parser meets the joint.
    assert parts * FRAMES - 1 <= len(shown) <= parts * FRAMES
    assert max(np.diff(seconds)) < 0.15
    # A tone is heard while its own picture is on the screen, in each part.
    beeps = beeps_in(heard)
    assert len(beeps) == 3 * parts
    numbers = [shown[int(np.searchsorted(seconds, beep + 0.001, "right")) - 1][1] for beep in beeps]
    assert numbers == pytest.approx([round(25 * beep) for beep in BEEPS] * parts, abs=1)


def test_a_jump_of_the_clock_is_told(shotad: Shotad, tmp_path: Path) -> None:
    said = shotad("slots", joined("it runs ahead"), "--out", tmp_path, *FAKE[2:8])
    assert said.code == 0, said.err
    assert "The film's clock jumps once" in said.out


@pytest.mark.parametrize("name", ["the clock begins again", "it runs ahead", "programme stream", "matroska"])
def test_a_seek_gives_what_a_pass_gives(name: str) -> None:
    with open_film(joined(name)) as film:
        everything = [(frame.seconds, read_number(frame.rgb())) for frame in film.frames()]
        for wanted in ([4.7], [0.5, 5.5], [3.01]):
            for second, picture in zip(wanted, film.pictures(wanted), strict=True):
                assert (picture.seconds, read_number(picture.image)) == max(
                    shown for shown in everything if shown[0] <= second
                )
        whole = np.concatenate([block.samples for block in sound_blocks(film)])
        sought = SoundSeeker(film, 0, RATE, "mono").between(4 * RATE, 5 * RATE)
        assert sought is not None
        assert np.abs(sought - whole[4 * RATE : 5 * RATE]).max() < 1e-3


@pytest.mark.parametrize("ending", [".ts", ".mkv", ".mp4"])
@pytest.mark.parametrize(
    "name",
    [
        "the clock begins again",
        "it runs ahead",
        "picture before sound, back",
        "matroska, ahead",
        "long matroska",
    ],
)
def test_the_described_copy_has_all_of_it(name: str, ending: str, tmp_path: Path) -> None:
    target = tmp_path / f"copy{ending}"
    with open_film(joined(name)) as film:
        seconds = [frame.seconds for frame in film.frames()]
    assert findings_on(joined(name), target, written(joined(name), target)) == []
    with open_film(target) as copy:
        assert [frame.seconds for frame in copy.frames()] == pytest.approx(seconds, abs=0.03)
        assert copy.info.duration == pytest.approx(seconds[-1] + 0.04, abs=0.1)


def test_a_track_that_begins_with_the_second_part_is_named_where_it_cannot_be_copied(tmp_path: Path) -> None:
    path = tmp_path / "late sound.ts"
    path.write_bytes(part(sounds=()) + part())
    with open_film(path) as film:
        heard = np.concatenate([block.samples for block in sound_blocks(film)])
        assert beeps_in(heard) == pytest.approx([3.52, 4.52, 5.52], abs=0.05)
    described = written(path, tmp_path / "a.mkv")
    assert findings_on(path, tmp_path / "a.mkv", described) == []
    assert any("audio track 1 (aac) is left out" in warning for warning in described.warnings)


def test_subtitles_go_with_their_pictures(tmp_path: Path) -> None:
    from fractions import Fraction

    from av import Packet

    def add(film: Any, _: Any) -> None:
        words = film.add_mux_stream("subrip")
        words.time_base = Fraction(1, 1000)
        packet = Packet(b"Hello there.")
        packet.stream, packet.time_base, packet.duration = words, words.time_base, 800
        packet.pts = packet.dts = 1000
        film.mux(packet)

    one = copied(make_film(replace(PART, suffix=".mkv")).path, tmp_path / "one.mkv", add=add)
    (tmp_path / "two.mkv").write_bytes(one.read_bytes() * 2)
    found = embedded_track(tmp_path / "two.mkv")
    assert found is not None
    assert [line.interval.start for line in found[0].utterances] == pytest.approx([1.0, 4.05], abs=0.05)


def holed(begin: float, length: float, sound_goes_on: bool) -> FilmSpec:
    """A film that has no picture for a while, and perhaps no sound."""
    times = tuple(n / 25 + (length if n / 25 >= begin else 0) for n in range(300))
    end = times[-1] + 0.04
    gap = None if sound_goes_on else (begin, begin + length)
    sound = SoundSpec(duration=end, beeps=(0.1, end - 0.3), gap=gap)
    return FilmSpec(suffix=".ts", times=times, frames=300, sounds=(sound,))


@pytest.mark.parametrize("sound_goes_on", [True, False])
def test_no_slot_is_planned_where_there_is_no_picture(
    sound_goes_on: bool, shotad: Shotad, tmp_path: Path
) -> None:
    path = make_film(holed(4, 9, sound_goes_on)).path
    with open_film(path) as film:
        list(film.frames())
        (hole,) = film.holes
        assert (hole.start, hole.end) == pytest.approx((4, 13), abs=0.2)
    said = shotad("slots", path, "--out", tmp_path, "--json", *FAKE[2:8])
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert "no picture" in " ".join(found["warnings"])
    assert len(found["slots"]) >= 2
    assert not any(Interval(slot["start"], slot["end"]).overlaps(hole) for slot in found["slots"])


FLV = {"suffix": ".flv"}
WMV = {"suffix": ".wmv", "codec": "wmv2", "b_frames": 0, "sounds": (replace(PART.sounds[0], codec="mp2"),)}


@pytest.mark.parametrize("changes", [{"suffix": ".mp4"}, FLV, WMV], ids=["mp4", "flv", "wmv"])
def test_a_second_film_that_ffmpeg_does_not_read_is_told(changes: dict[str, Any], tmp_path: Path) -> None:
    one = part(**changes)
    path = tmp_path / f"two{changes['suffix']}"
    for data, told in ((one, False), (one * 2, True)):
        path.write_bytes(data)
        with open_film(path) as film:
            assert len(list(film.frames())) == FRAMES
            assert ("another begins behind it" in (film.damage or "")) == told


@pytest.mark.parametrize("parts", [1, 2, 3, 4])
def test_a_third_film_in_a_matroska_file_is_told(parts: int, tmp_path: Path) -> None:
    """ffmpeg reads two."""
    path = tmp_path / "joined.mkv"
    path.write_bytes(part(suffix=".mkv") * parts)
    with open_film(path) as film:
        assert len(list(film.frames())) == FRAMES * min(parts, 2)
        assert ("another begins behind it" in (film.damage or "")) == (parts > 2)


def test_slides_are_no_holes() -> None:
    """A frame that stands for long in a film of such frames is shown for as long."""
    spec = FilmSpec(suffix=".mkv", times=(0.0, 4.0, 9.0, 20.0, 23.0, 40.0), frames=6)
    with open_film(make_film(spec).path) as film:
        list(film.frames())
        assert film.holes == ()


@pytest.mark.parametrize("times", [(0, 15, 32, 50, 71), (0, 6, 12, 19, 27, 33, 40, 61, 75)])
def test_slides_with_sound_in_a_transport_stream_stand_where_they_did(times: tuple[float, ...]) -> None:
    """A slide is known to be whole only when the next ones come, long after the sound that goes with it."""
    sound = SoundSpec(duration=80, beeps=(3, 40))
    spec = FilmSpec(
        suffix=".ts", times=times, frames=len(times), time_base=Fraction(1, 1000), sounds=(sound,)
    )
    with open_film(make_film(spec).path) as film:
        assert [frame.seconds for frame in film.frames()] == pytest.approx(times, abs=0.05)
        assert film.clock_jumps == 0


def test_a_frame_with_a_wrong_time_does_not_end_the_film() -> None:
    """One frame of a film says that it comes nine seconds later."""
    times = tuple(n / 25 for n in range(100))
    data = bytearray(make_film(FilmSpec(suffix=".ts", times=times, frames=100)).path.read_bytes())
    heads = [
        at for at in range(0, len(data), PACKET) if data[at + 1] & 0x40 and number_of(data[at:]) == 0x100
    ]
    at = data.index(b"\x00\x00\x01\xe0", heads[50]) + 9
    ticks = 90000 * 11
    data[at] = data[at] & 0xF1 | ticks >> 29 & 0x0E
    data[at + 1 : at + 3] = ((ticks >> 15 & 0x7FFF) << 1 | 1).to_bytes(2)
    data[at + 3 : at + 5] = ((ticks & 0x7FFF) << 1 | 1).to_bytes(2)
    path = media_folder() / "wrong time.ts"
    path.write_bytes(data)
    with open_film(path) as film:
        numbers = [read_number(frame.rgb()) for frame in film.frames()]
        assert len(numbers) >= 98
