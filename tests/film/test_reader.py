"""The contract of film readers, over tiny films of all kinds whose frames carry their number, and numbered frames."""

from __future__ import annotations

import importlib.util
import io
import os
import struct
import tarfile
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from shotad.core.errors import FilmError, UsageError
from shotad.film import (
    open_film,
    probe,
)
from shotad.film.colour import Painter
from shotad.film.decoder import Decoder
from tests.bad_server import BadServer
from tests.decodes import counted_decodes
from tests.media import PATCHES, FilmSpec, SoundSpec, make_film, make_stills, read_number, read_patches

UNEVEN = tuple(np.cumsum([0, *[0.04, 0.04, 0.1, 0.02, 0.06] * 9]).round(3).tolist())
MS = Fraction(1, 1000)
X264_OPEN = (("x264-params", "open-gop=1:bframes=3:keyint=12:b-adapt=0"),)
X265 = (("x265-params", "log-level=none:open-gop=1:keyint=12:min-keyint=12:bframes=3"),)

MEDIA = {
    "constant rate": FilmSpec(),
    "1001-based rate": FilmSpec(rate=Fraction(24000, 1001)),
    "variable rate, mp4": FilmSpec(times=UNEVEN, time_base=MS, b_frames=2),
    "variable rate, mkv": FilmSpec(suffix=".mkv", times=UNEVEN, time_base=MS, b_frames=2),
    "late start": FilmSpec(suffix=".mkv", shift=5.0, b_frames=2),
    "picture later than sound": FilmSpec(
        suffix=".mkv", times=tuple(0.48 + i / 25 for i in range(50)), time_base=MS, sounds=(SoundSpec(),)
    ),
    "transport stream": FilmSpec(suffix=".ts", b_frames=2, sounds=(SoundSpec(start=0.2),)),
    "open gop": FilmSpec(options=X264_OPEN, b_frames=3),
    "open gop, transport stream": FilmSpec(suffix=".ts", options=X264_OPEN, b_frames=3),
    "open gop, hevc": FilmSpec(codec="libx265", suffix=".mkv", options=X265),
    "programme stream": FilmSpec(codec="mpeg2video", suffix=".mpg", b_frames=2),
    "mkv without duration": FilmSpec(suffix=".mkv", muxer=(("live", "1"),)),
    "fragmented mp4": FilmSpec(muxer=(("movflags", "frag_keyframe+empty_moov"),)),
    "raw stream without times": FilmSpec(suffix=".h264", b_frames=2),
    "avi": FilmSpec(codec="mpeg4", suffix=".avi"),
    "webm": FilmSpec(codec="libvpx", suffix=".webm"),
    "ogg": FilmSpec(codec="libvpx", suffix=".ogv"),
    "wmv": FilmSpec(codec="wmv2", suffix=".wmv"),
    "mxf": FilmSpec(codec="mpeg2video", suffix=".mxf", b_frames=2),
    "flv": FilmSpec(suffix=".flv"),
    "10 bit": FilmSpec(codec="libx265", pixels="yuv420p10le", options=X265),
    "interlaced": FilmSpec(codec="mpeg2video", suffix=".ts", interlaced=True, size=(192, 144)),
    "wide pixels": FilmSpec(pixel_aspect=Fraction(16, 15), size=(180, 144)),
    "turned 90": FilmSpec(turn=90),
    "turned 180": FilmSpec(turn=180),
    "turned 270": FilmSpec(turn=270),
    "cover, mp4": FilmSpec(cover=True),
    "cover, mkv, late start": FilmSpec(cover=True, suffix=".mkv", shift=3.0),
    "full range": FilmSpec(matrix=6, full_range=True),
    "untagged hd": FilmSpec(size=(1280, 720), matrix=1, frames=3),
}

SHOWN = {
    "wide pixels": (192, 144), "turned 90": (108, 192), "turned 270": (108, 192),
}  # fmt: skip

NO_DECORD = "decord is not installed (extra shotad[decord])"

DECORD_UNFIT = {
    "transport stream": "hangs on MPEG-TS",
    "open gop, transport stream": "hangs on MPEG-TS",
    "interlaced": "knows no fields", "programme stream": "knows no times",
    "mkv without duration": "cannot open what states no length",
    "raw stream without times": "cannot open what states no length",
    "ogg": "cannot open what states no length",
}  # fmt: skip
"""What decord is known to fail on, with the reason; `docs` say the same."""


def _cases() -> Iterator[Any]:
    missing = importlib.util.find_spec("decord") is None
    for name in MEDIA:
        yield pytest.param("pyav", name, id=f"pyav-{name}")
        marks = [pytest.mark.skipif(missing, reason=NO_DECORD)]
        if name in DECORD_UNFIT:
            marks.append(pytest.mark.xfail(reason=DECORD_UNFIT[name], strict=False))
        yield pytest.param("decord", name, id=f"decord-{name}", marks=marks)


@pytest.mark.parametrize(("reader", "name"), list(_cases()))
def test_a_film_of_every_kind_is_read_alike(reader: str, name: str) -> None:
    made = make_film(MEDIA[name])
    spec, random = made.spec, np.random.default_rng(5)
    with open_film(made.path, reader=reader) as film:
        # One pass gives every frame at its own time.
        frames = [(frame.index, frame.seconds, read_number(frame.rgb())) for frame in film.frames()]
        assert [number for _, _, number in frames] == list(range(len(made.seconds)))
        assert [index for index, _, _ in frames] == list(range(len(made.seconds)))
        assert [second for _, second, _ in frames] == pytest.approx(made.seconds, abs=2e-6)
        assert film.damage is None
        assert film.end == pytest.approx(made.seconds[-1] + 0.04, abs=0.03)
        # A programme stream has no duration; ffmpeg's guess from its last time stamps is a few frames short.
        info, slack = film.info, 0.15 if name == "programme stream" else 0.06
        ends = [made.seconds[-1] + 0.04, *(sound.start + sound.duration for sound in spec.sounds)]
        assert info.duration == pytest.approx(max(ends), abs=slack)
        assert (info.width, info.height) == SHOWN.get(name, spec.size)
        assert (info.rotation, info.interlaced) == (spec.turn, spec.interlaced)
        assert float(info.start) == pytest.approx(spec.shift, abs=0.6)
        # Pictures are those on the screen at each moment.
        end = made.seconds[-1]
        wanted = sorted([-0.5, 0.0, end, end + 3.0, *made.seconds[5:8], *random.uniform(0, end, 20)])
        pictures = list(film.pictures(wanted))
        assert [picture.wanted for picture in pictures] == wanted
        for picture in pictures:
            number = made.number_at(picture.wanted)
            assert read_number(picture.image) == number
            assert picture.seconds == pytest.approx(made.seconds[number], abs=2e-6)
        # Colours are those that were drawn.
        frame = next(iter(film.frames()))
        for size in (None, (info.width // 2 // 2 * 2, info.height // 2 // 2 * 2)):
            assert np.abs(read_patches(frame.rgb(size)) - PATCHES).max() < 6
        # A picture has the size that was asked for.
        (picture,) = film.pictures([0.5], height=72)
        assert picture.image.shape == (72, 2 * round(36 * info.width / info.height), 3)
        assert (picture.image.dtype, picture.image.flags.c_contiguous) == (np.uint8, True)
        (small,) = film.pictures([0.5], max_pixels=5000)
        assert 4000 < small.image.shape[0] * small.image.shape[1] <= 5000
        (large,) = film.pictures([0.5], height=5000)
        assert large.image.shape[0] <= info.height


SEEKS = [n for n in MEDIA if n not in ("programme stream", "raw stream without times", "untagged hd")]


@pytest.mark.parametrize("name", SEEKS)
def test_a_seek_lands_on_a_frame_from_which_decoding_is_right(name: str) -> None:
    made = make_film(MEDIA[name])
    with open_film(made.path) as film:
        assert film.media is not None
        info, probed = film.info, probe(film.media)
        painter = Painter((info.width, info.height), probed.turn, probed.light)
        for wanted in np.random.default_rng(6).uniform(0.5, made.seconds[-1], 12):
            decoder = Decoder(film.media, probed.stream, info.start, info.frame_rate)
            landed = decoder.land(float(wanted))
            assert landed[0] <= wanted
            for frame in (landed, next(decoder, None)):
                if frame is not None:
                    number = made.number_at(frame[0] + 1e-4)
                    assert read_number(painter(frame[1])) == number
                    assert frame[0] == pytest.approx(made.seconds[number], abs=2e-6)
            decoder.close()


@pytest.mark.parametrize("suffix", [".mp4", ".ts"])
def test_long_gaps_are_sought_and_short_ones_decoded(suffix: str) -> None:
    made = make_film(FilmSpec(suffix=suffix, rate=Fraction(5), frames=300, gop=5, size=(96, 56)))

    def decoded(*wanted: float) -> int:
        with open_film(made.path) as film, counted_decodes() as decodes:
            for picture in film.pictures(wanted):
                assert read_number(picture.image) == made.number_at(picture.wanted)
            return decodes.frames

    # A decoder is ahead by some frames of what is wanted, and begins at a key frame.
    ahead = 40
    assert decoded(0.5, 0.9, 1.3, 40.0, 40.2, 40.6, 58.0) < 3 * ahead
    in_a_row = [40.0 + number / 5 for number in range(50)]
    assert decoded(*in_a_row) < 50 + ahead


def test_interlaced_film_shows_no_combs() -> None:
    made = make_film(MEDIA["interlaced"])
    with open_film(made.path) as film:
        for frame in list(film.frames())[3:20:4]:
            assert frame.raw is not None
            luma = frame.raw.to_ndarray(format="gray")[50:94]
            shown = frame.rgb()[50:94].mean(2)
            assert _combing(luma) > 20
            assert _combing(shown) < 4


def _combing(luma: np.ndarray) -> float:
    """Mean difference of a line to the mean of its neighbours."""
    lines = luma.astype(float)
    return float(np.abs(lines[1:-1] - (lines[:-2] + lines[2:]) / 2).mean())


PQ, HLG = 16, 18


@pytest.mark.parametrize("transfer", [PQ, HLG])
def test_hdr_is_brought_to_sdr(transfer: int) -> None:
    made = make_film(
        FilmSpec(
            codec="libx265", suffix=".mkv", pixels="yuv420p10le", frames=2, matrix=9, transfer=transfer, primaries=9,
            options=(("x265-params", "log-level=none:lossless=1"),),
        )
    )  # fmt: skip
    with open_film(made.path) as film:
        assert film.info.hdr
        patches = read_patches(next(iter(film.frames())).rgb())
    # Codes of 128/255 in PQ are 94 cd/m2, which is below the knee: (94 / 203) ** (1 / 2.4) = 0.726.
    # In HLG they are scene light 0.084 = 51 cd/m2 on a display of 1000: 0.563.
    assert patches[3] == pytest.approx([185 if transfer == PQ else 143] * 3, abs=4)
    assert [int(p.argmax()) for p in patches[:3]] == [0, 1, 2]


# Bad input
def _refused(path: Path, *words: str) -> FilmError:
    with pytest.raises(FilmError) as caught:
        open_film(path)
    for word in words:
        assert word in str(caught.value)
    return caught.value


def _sound_alone(path: Path) -> None:
    with av.open(str(path), "w", format="wav") as container:
        stream = container.add_stream("pcm_s16le", rate=8000, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 8000), np.int16), format="s16", layout="mono")
        frame.sample_rate = 8000
        container.mux(stream.encode(frame))


def _film_bytes() -> bytes:
    return make_film().path.read_bytes()


BAD: dict[str, tuple[Callable[[Path], object], tuple[str, ...]]] = {
    "missing": (lambda path: None, ("There is no film", "film.mp4")),
    "empty": (Path.touch, ("film.mp4 is empty",)),
    "text": (
        lambda path: path.write_text("Räume.\n" * 50, "utf-8"), ("film.mp4 is a text file, not a film",),
    ),
    "noise": (
        lambda path: path.write_bytes(np.random.default_rng(0).bytes(20000)), ("cannot be read as a film",),
    ),
    "sound alone": (_sound_alone, ("film.mp4 has no picture, only sound",)),
    "a pipe": (os.mkfifo, ("is not a film file",)),
    "unknown code": (
        lambda path: path.write_bytes(_film_bytes().replace(b"avc1", b"zzz1")),
        ("The picture of film.mp4 is coded in a way that is not known here",),
    ),
    "no index": (
        lambda path: path.write_bytes(_film_bytes()[: _film_bytes().rindex(b"moov") - 4]),
        ("film.mp4 cannot be read as a film", "incomplete"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_film_is_refused_with_the_reason(kind: str, tmp_path: Path) -> None:
    make, words = BAD[kind]
    make(tmp_path / "film.mp4")
    _refused(tmp_path / "film.mp4", *words)


def test_no_permission_and_no_such_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(self: Path, *args: object, **kinds: object) -> object:
        raise PermissionError(13, "Permission denied", str(self))

    with pytest.raises(UsageError, match="no film reader 'opencv'"):
        open_film("film.mp4", reader="opencv")
    monkeypatch.setattr(Path, "open", forbidden)
    _refused(tmp_path / "film.mp4", "may not be read: no permission")


@pytest.mark.parametrize("suffix", [".mp4", ".mkv", ".ts"])
def test_a_truncated_film_is_read_as_far_as_it_goes(suffix: str, tmp_path: Path) -> None:
    spec = FilmSpec(suffix=suffix, frames=250, muxer=(("movflags", "faststart"),) if suffix == ".mp4" else ())
    made = make_film(spec)
    data = made.path.read_bytes()
    cut = tmp_path / f"cut{suffix}"
    cut.write_bytes(data[: len(data) * 6 // 10])
    with open_film(cut) as film:
        numbers = [read_number(frame.rgb()) for frame in film.frames()]
        assert 100 < len(numbers) < 200
        assert numbers == list(range(len(numbers)))
        assert film.end is not None
        assert film.end == pytest.approx(len(numbers) / 25, abs=0.05)
        if suffix != ".ts":  # a transport stream does not say how long it should be
            assert film.damage is not None
            assert f"ends at {film.end:.1f} s of 10.0 s" in film.damage
        last = list(film.pictures([1.0, 9.0]))[-1]
        assert read_number(last.image) == numbers[-1]


@pytest.mark.parametrize(
    ("suffix", "codec"), [(".mp4", "libx264"), (".mkv", "libx264"), (".ts", "mpeg2video")]
)
def test_a_film_with_a_hole_goes_on_after_it(suffix: str, codec: str, tmp_path: Path) -> None:
    made = make_film(FilmSpec(suffix=suffix, codec=codec, frames=250))
    data = bytearray(made.path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 3000] = np.random.default_rng(1).bytes(3000)
    holed = tmp_path / f"holed{suffix}"
    holed.write_bytes(data)
    with open_film(holed) as film:
        seconds = [frame.seconds for frame in film.frames()]
    assert seconds == sorted(set(seconds))
    assert seconds[-1] == pytest.approx(made.seconds[-1])
    assert 100 < len(seconds) < 250
    assert film.damage is not None
    assert "Parts of the picture cannot be decoded" in film.damage


# A film may not reach out
PLAYLISTS = {
    "hls": "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10.0,\n{target}\n#EXT-X-ENDLIST\n",
    "hls with a byte order mark": "\ufeff#EXTM3U\n#EXTINF:10.0,\n{target}\n#EXT-X-ENDLIST\n",
    "concat": "ffconcat version 1.0\nfile '{target}'\n",
    "dash": '<?xml version="1.0"?>\n<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" '
    'mediaPresentationDuration="PT10S" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011"><Period>'
    '<AdaptationSet mimeType="video/mp4"><Representation id="1" bandwidth="1000" width="64" height="64">'
    "<BaseURL>{target}</BaseURL></Representation></AdaptationSet></Period></MPD>\n",
    "session description": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\n"
    "m=video 5004 RTP/AVP 96\na=rtpmap:96 H264/90000\n",
}


@pytest.mark.parametrize("suffix", [".mp4", ".m3u8"])
@pytest.mark.parametrize("kind", list(PLAYLISTS))
def test_a_playlist_reaches_no_net_nor_files(kind: str, suffix: str, tmp_path: Path) -> None:
    film, heard = make_film(FilmSpec(suffix=".ts")).path, list[str]()

    def hear(asked: str, body: object) -> tuple[int, Any]:
        heard.append(asked)
        return 404, {}

    with BadServer(pages=hear) as server:
        for target in (f"{server.url}/x.ts", str(film), film.as_uri()):
            path = tmp_path / f"film{suffix}"
            path.write_text(PLAYLISTS[kind].format(target=target), encoding="utf-8")
            _refused(path, "film", "not a film")
    assert heard == []


@pytest.mark.parametrize(
    "name", ["concat:a.mp4|b.mp4", "pipe:0", "data:text/plain,x", "subfile,,start,0,end,9,,:a"]
)
def test_a_name_is_no_protocol(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FilmError, match="There is no film"):
        open_film(name)
    Path(name.replace("/", "_")).write_bytes(make_film().path.read_bytes())
    with open_film(name.replace("/", "_")) as film:
        assert film.info.width == 192


# Numbered frames in folders and archives
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
def test_what_unpacks_to_too_much_is_left(tmp_path: Path, hidden: str) -> None:
    member = tarfile.TarInfo("clip/00003.png")
    member.type, member.size = tarfile.REGTYPE if hidden == "a frame" else tarfile.XHDTYPE, 257 << 20
    path = tmp_path / "clip.tar.gz"
    with tarfile.open(path, "w:gz", compresslevel=1) as archive, (tmp_path / "nothing").open("w+b") as zeros:
        archive.add(make_stills(tmp_path / "clip", 2), arcname="clip")
        zeros.truncate(member.size)
        archive.addfile(member, zeros)
    assert path.stat().st_size < 2 << 20
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
