"""What people's films are coded in: copied whole and read back, or refused with the container that holds it; decoding
times, metadata, and what receivers of MPEG-TS know AD by."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from shotad.core.errors import SoundError
from shotad.film import open_film
from shotad.sound import Pause
from shotad.sound.containers import CONTAINERS
from shotad.sound.mux_film import PacketClock
from tests.media import FilmSpec, SoundSpec, make_film, media_folder, ordinary_priority
from tests.runs import Heard
from tests.sound.copies import film_copy
from tests.sound.muxmedia import (
    add_cues,
    burst_shifts,
    checked,
    copied,
    describe_tracks,
    film_for,
    findings_on,
    written,
)

ENDINGS = (".mp4", ".mkv", ".ts", ".mov", ".webm")
RATE = 48000


@dataclass(frozen=True)
class Coded:
    """A film of two seconds; ``held``: endings of the containers that it can be written to."""

    suffix: str
    video: str
    audio: str
    held: tuple[str, ...]
    pixels: str = "yuv420p"
    size: tuple[int, int] = (256, 144)
    layout: str = "stereo"
    options: tuple[tuple[str, str], ...] = ()


X265 = (("preset", "ultrafast"), ("x265-params", "log-level=none"))
FILMS = {
    "hevc": Coded(".mp4", "libx265", "eac3", (".mp4", ".mkv", ".ts", ".mov"), options=X265),
    "hevc broadcast": Coded(".ts", "libx265", "ac3", (".mp4", ".mkv", ".ts", ".mov"), options=X265),
    "av1": Coded(".mp4", "libsvtav1", "libopus", (".mp4", ".mkv", ".webm"), options=(("preset", "12"),)),
    "vp9": Coded(".webm", "libvpx-vp9", "libopus", (".mp4", ".mkv", ".webm")),
    "prores": Coded(".mov", "prores_ks", "pcm_s24le", (".mkv", ".mov"), pixels="yuv422p10le"),
    "dnxhr": Coded(
        ".mov", "dnxhd", "pcm_s16le", (".mov",), pixels="yuv422p", options=(("profile", "dnxhr_lb"),)
    ),
    "mpeg2": Coded(".ts", "mpeg2video", "mp2", (".mp4", ".mkv", ".ts", ".mov")),
    "dvd": Coded(".mpg", "mpeg2video", "ac3", (".mp4", ".mkv", ".ts", ".mov"), layout="5.1"),
    "pcm": Coded(".mkv", "libx264", "pcm_s24le", (".mkv", ".mov")),
    "mxf": Coded(".mxf", "mpeg2video", "pcm_s16le", (".mkv", ".mov")),
    "dv": Coded(".mov", "dvvideo", "pcm_s16be", (".mov",), size=(720, 576)),
    "telephone": Coded(".mov", "mjpeg", "pcm_mulaw", (".mov",), pixels="yuvj420p"),
    "archive": Coded(".mkv", "ffv1", "flac", (".mkv",)),
    "avi": Coded(".avi", "mpeg4", "libmp3lame", (".mp4", ".mkv", ".ts", ".mov")),
    "flash": Coded(".flv", "flv", "libmp3lame", ()),
    "raw": Coded(".avi", "rawvideo", "pcm_s16le", ()),
}


@functools.cache
def coded_film(name: str) -> Path:
    import av

    spec, path = FILMS[name], media_folder() / f"coded {name}{FILMS[name].suffix}"
    noise = np.random.default_rng(7)
    with ordinary_priority(), av.open(str(path), "w") as film:
        picture: Any = film.add_stream(spec.video, rate=25, options=dict(spec.options))
        (picture.width, picture.height), picture.pix_fmt = spec.size, spec.pixels
        sound: Any = film.add_stream(spec.audio, rate=44100 if name == "flash" else RATE)
        sound.layout = spec.layout
        for second in range(2):
            for number in range(25 * second, 25 * second + 25):
                image = np.full((spec.size[1], spec.size[0], 3), 4 * number, np.uint8)
                frame = av.VideoFrame.from_ndarray(image, "rgb24").reformat(format=spec.pixels)
                frame.pts, frame.time_base = number, Fraction(1, 25)
                film.mux(picture.encode(frame))
            rate = sound.codec_context.sample_rate
            wave = 0.1 * noise.standard_normal((1, rate * sound.layout.nb_channels))
            block = av.AudioFrame.from_ndarray(wave.astype(np.float32), "flt", spec.layout)
            block.sample_rate, block.pts, block.time_base = rate, second * rate, Fraction(1, rate)
            film.mux(sound.encode(block))
        film.mux(picture.encode(None))
        film.mux(sound.encode(None))
    return path


@pytest.mark.parametrize("name", FILMS)
def test_copied_or_refused_with_the_containers_that_hold_it(name: str, tmp_path: Path) -> None:
    source, held = coded_film(name), FILMS[name].held
    for ending in ENDINGS:
        target = tmp_path / f"described{ending}"
        if ending in held:
            described_film = written(source, target)
            with open_film(source) as film:
                assert checked(target, film, described_film) == ()
            # Coders of AC-3 start 5.3 ms ahead, and so does the whole film where that cannot be hidden.
            assert max(map(abs, burst_shifts(target, 1))) < 0.006
        else:
            with pytest.raises(SoundError) as error:
                written(source, target)
            hint = f"Write {' or '.join(held)} instead."
            assert error.value.hint == (hint if held else NOWHERE)
            assert not target.exists()


NOWHERE = "Convert the film first: no container here holds all of it."
PICTURES = {
    # Cut down: they are copied unread. The second is the coder whose header the track has.
    "hdmv_pgs_subtitle": (b"\x16\x00\x0b\x01\x00\x00\x90\x10\x00\x01\x80\x00\x00\x00\x80\x00\x00", ""),
    "dvd_subtitle": (b"\x00\x0a\x00\x04\x00\x00\x00\x04\x01\xff", "dvdsub"),
    "dvb_subtitle": (b"\x0f\x10\x00\x01\x00\x02\x01\x00", "dvbsub"),
}
HOLD = {
    "hdmv_pgs_subtitle": (".mkv", ".m2ts"),
    "dvd_subtitle": (".mp4", ".mkv"),
    "dvb_subtitle": (".mkv", ".ts"),
}


@functools.cache
def subtitled(codec: str) -> Path:
    """H.264 and AAC with pictures of text as subtitles."""
    data, coder = PICTURES[codec]

    def add(film: Any, _: dict[int, Any]) -> None:
        words = film.add_stream(coder) if coder else film.add_mux_stream(codec)
        words.metadata["language"] = "eng"
        add_cues(film, words, ((300, data), (900, data)), 400)

    return copied(film_for("plain", ".mkv"), media_folder() / f"{codec}.mkv", add=add)


@pytest.mark.parametrize("codec", PICTURES)
@pytest.mark.parametrize("ending", [".mp4", ".mkv", ".ts", ".m2ts", ".mov"])
def test_subtitles_in_pictures_are_copied_or_left_out_with_a_word(codec, ending, tmp_path):
    source, target = subtitled(codec), tmp_path / f"described{ending}"
    described_film = written(source, target)
    tracks = [track for track in describe_tracks(target) if track.kind == "subtitle"]
    pictures = [(track.codec, track.language) for track in tracks if track.codec == codec]
    if ending in HOLD[codec]:
        assert pictures == [(codec, "" if ending == ".m2ts" else "eng")]
        notices = [warning for warning in described_film.warnings if codec in warning]
        assert len(notices) == (ending == ".m2ts")
    else:
        assert pictures == []
        assert any(
            f"subtitle track 2 (eng, {codec}) is left out" in warning
            and f"({' or '.join(HOLD[codec])} can)" in warning
            for warning in described_film.warnings
        )
    with open_film(source) as film:
        assert checked(target, film, described_film) == ()
    if ending in (".ts", ".m2ts"):
        again = written(target, tmp_path / "again.mkv")
        with open_film(target) as film:
            assert checked(tmp_path / "again.mkv", film, again) == ()
        assert any(t.codec == codec for t in describe_tracks(tmp_path / "again.mkv")) == (
            ending in HOLD[codec]
        )


@pytest.mark.parametrize(("ending", "kept"), [(".mp4", True), (".mov", True), (".mkv", True), (".ts", False)])
def test_a_time_code_is_said_to_be_left_out_only_where_it_is(ending: str, kept: bool, tmp_path: Path) -> None:
    import av

    def add(_: Any, tracks: dict[int, Any]) -> None:
        tracks[0].metadata["timecode"] = "01:00:00:00"

    source = copied(film_for("plain", ".mp4"), tmp_path / "coded.mov", add=add)
    assert any(track.kind == "data" for track in describe_tracks(source))
    target = tmp_path / f"described{ending}"
    described_film = written(source, target)
    with av.open(str(target)) as film:
        tags = {key.lower(): value for key, value in film.streams.video[0].metadata.items()}
    assert (tags.get("timecode") == "01:00:00:00") == kept
    assert any("time code" in warning for warning in described_film.warnings) != kept

    notes, pauses = Heard(), [Pause(0.5, 0.5, "a")]
    with open_film(source) as film, film_copy(film, pauses, tmp_path / "w", ending[1:], progress=notes):
        assert any("time code" in note for note in notes.notes) != kept


@pytest.mark.parametrize("ending", [".mp4", ".mkv", ".ts"])
def test_titles_in_letters_of_an_old_code_page_are_read_and_copied_legibly(ending, tmp_path):
    source_film = make_film(FilmSpec(suffix=".mkv", sounds=(SoundSpec(title="Cafe noir", language="fre"),)))
    source, target = tmp_path / "film.mkv", tmp_path / f"described{ending}"
    source.write_bytes(source_film.path.read_bytes().replace(b"Cafe noir", b"Caf\xe9 noir"))
    with open_film(source) as film:
        assert [track.title for track in film.info.audio] == ["Caf\ufffd noir"]
    written(source, target)
    with open_film(target) as film:
        titles = [track.title or "" for track in film.info.audio]
    assert "\n".join(titles).encode()
    if ending != ".ts":
        assert "Caf\ufffd noir" in titles


@given(st.lists(st.tuples(st.integers(0, 5000), st.none() | st.integers(0, 5000)), min_size=1, max_size=80))
def test_whatever_comes_decoding_ascends_and_nothing_is_shown_before(times):
    clock: Any = PacketClock(Fraction(0), Fraction(1, 1000), Fraction(25))
    packets = [SimpleNamespace(pts=pts, dts=dts, duration=40) for pts, dts in times]
    ready = [*(released for packet in packets for released in clock.take(packet)), *clock.rest()]
    out = [(packet.pts, packet.dts) for packet in ready]
    assert len(out) == len(times)
    assert all(pts >= dts for pts, dts in out)
    assert all(b > a for (_, a), (_, b) in pairwise(out))


def test_metadata_that_a_container_has_no_key_for_goes_into_the_comment(tmp_path: Path) -> None:
    import av

    def add(film: Any, _: dict[int, Any]) -> None:
        film.metadata.update({"title": "Film", "IMDB": "tt1", "encoder": "x"})

    source = copied(film_for("plain", ".mkv"), tmp_path / "film.mkv", add=add)
    metadata = {"comment": "By machine.", "reviewed_by": "Ann"}
    both = "By machine.; reviewed by: Ann"
    tags = {}
    for ending in (".mp4", ".mkv"):
        written(source, tmp_path / f"described{ending}", metadata=metadata)
        with av.open(str(tmp_path / f"described{ending}")) as film:
            tags[ending] = {key.lower(): value for key, value in film.metadata.items()}
    assert (tags[".mp4"]["title"], tags[".mp4"]["comment"]) == ("Film", both)
    assert not {"imdb", "reviewed_by"} & set(tags[".mp4"])
    kept = {"title": "Film", "imdb": "tt1", "comment": "By machine.", "reviewed_by": "Ann"}
    assert kept.items() <= tags[".mkv"].items()
    # A transport stream names the service, here by the film's file, and who provides it.
    untitled = film_for("plain", ".ts")
    written(untitled, tmp_path / "described.ts", metadata=metadata)
    names = bytes((len(both),)) + both.encode() + bytes((len(untitled.stem),)) + untitled.stem.encode()
    assert names in (tmp_path / "described.ts").read_bytes()


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


BLIND = b"\x0a\x04eng\x03"
"""The descriptor of a track for people who do not see, as the libraries write it."""


def supplementary_audio(mixed: bool) -> bytes:
    """DVB's descriptor of audio description in English, with the film's sound in it or to be heard with that."""
    return bytes((0x7F, 5, 6, 0x87 if mixed else 0x07)) + b"eng"


@pytest.mark.parametrize(("ending", "mixed"), [(".ts", True), (".ts", False), (".m2ts", True)])
def test_each_table_says_whether_the_film_is_in_the_ad(ending: str, mixed: bool, tmp_path: Path) -> None:
    target = tmp_path / f"described{ending}"
    written(film_for("plain", ".ts"), target, sound="mix" if mixed else "alone")
    data, added = target.read_bytes(), supplementary_audio(mixed)
    assert data.count(BLIND) == data.count(BLIND + added) >= 10
    # Tables with a wrong check sum are not read.
    marks = next(track for track in describe_tracks(target) if track.number == 2).marks
    assert "visual_impaired" in marks
    assert ("dependent" in marks) == (not mixed)


@pytest.mark.parametrize("sounds", [10, 11, 12, 13, 14, 15, 30])
def test_a_table_without_room_for_the_mark_stays_as_it_is(sounds: int, tmp_path: Path) -> None:
    """A film with so many sounds that the table of its tracks fills a packet, or several."""
    sound = SoundSpec(language="eng", duration=0.4, codec="mp2")
    source = make_film(FilmSpec(suffix=".ts", frames=10, sounds=(sound,) * sounds)).path
    target = tmp_path / "described.ts"
    assert findings_on(source, target, written(source, target)) == []
    data = target.read_bytes()
    marked = data.count(BLIND + supplementary_audio(True))
    assert marked in (
        (data.count(BLIND),) if sounds < 12 else (0,) if sounds > 13 else (0, data.count(BLIND))
    )
    assert "visual_impaired" in describe_tracks(target)[-1].marks


def test_ac3_says_in_each_frame_whom_it_is_for(tmp_path: Path) -> None:
    import av

    target = tmp_path / "described.ts"
    written(film_for("5.1", ".ts"), target, layout="5.1", codec="ac3")
    with av.open(str(target)) as film:
        packets = [bytes(packet) for packet in film.demux(film.streams.audio[1]) if packet.size]
    # Synchronisation, checksum, size; then five bits of version and three of service: 2 is "visually impaired".
    assert {data[:2] for data in packets} == {b"\x0b\x77"}
    assert {data[5] & 7 for data in packets} == {2}
