"""What browsers play, and the film's small copy for what they do not: same clock, same picture, same sound; whole or not
there; and whether a browser agrees."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import httpx
import numpy as np
import pytest

from shotad.core import Config
from shotad.core.errors import WorkFolderError
from shotad.core.files import lock_file
from shotad.film import open_film, sound_blocks
from shotad.review import CopyOrder, browser_kind, make_copy, proxy as proxymaking
from tests.browserfilm import shown
from tests.disk import largest_file
from tests.media import FilmSpec, SoundSpec, make_film, make_stills, read_number, read_patches
from tests.rendering.described import film_with, write_folder
from tests.review.asgi import WAIT, Listener
from tests.review.pages import served
from tests.review.reviewed import Page, in_english, reviewed

SOUND, OPUS, LATE = SoundSpec(), SoundSpec(codec="libopus"), SoundSpec(start=0.5)
GAP = SoundSpec(duration=4.0, beeps=(0.5, 3.0), gap=(1.0, 2.5))


def timed(times: Iterable[float], **more: Any) -> FilmSpec:
    """A film whose frames stand at these seconds."""
    return FilmSpec(time_base=Fraction(1, 1000), times=tuple(times), **more)


def matroska(**more: Any) -> FilmSpec:
    return FilmSpec(suffix=".mkv", **more)


PLAYED = {
    "H.264 and AAC": FilmSpec(sounds=(SOUND,)),
    "frames that refer forward": FilmSpec(b_frames=3, sounds=(SOUND,)),
    "1001-based rate": FilmSpec(rate=Fraction(24000, 1001), b_frames=2, sounds=(SOUND,)),
    "uneven frames": timed(i / 25 + (0.4 if i > 20 else 0) for i in range(50)),
    "late sound": FilmSpec(sounds=(LATE,)),
    "QuickTime": FilmSpec(suffix=".mov", sounds=(SOUND,)),
    "turned": FilmSpec(turn=90),
    "wide pixels": FilmSpec(pixel_aspect=Fraction(4, 3)),
    "WebM, VP8": FilmSpec(suffix=".webm", codec="libvpx", sounds=(OPUS,)),
    "WebM, VP9": FilmSpec(suffix=".webm", codec="libvpx-vp9", sounds=(OPUS,)),
}
UNPLAYED = {
    "Matroska": matroska(sounds=(SOUND,)),
    "MPEG-TS": FilmSpec(suffix=".ts", sounds=(SOUND,)),
    "AVI": FilmSpec(suffix=".avi", codec="mpeg4"),
    "mpeg4": FilmSpec(codec="mpeg4"),
    "yuv420p10le": FilmSpec(pixels="yuv420p10le"),
    "opus": FilmSpec(sounds=(OPUS,)),
    "ac3": FilmSpec(sounds=(SoundSpec(codec="ac3"),)),
    "begins at 5 s": FilmSpec(shift=5.0),
}
"""By a word of why they are not."""

FILMS = {
    "plain": FilmSpec(sounds=(SOUND,)),
    "Matroska": matroska(b_frames=2, sounds=(SOUND,)),
    "late clock": FilmSpec(shift=5.0, b_frames=2, sounds=(SOUND,)),
    "transport stream": FilmSpec(suffix=".ts", shift=100.0, b_frames=2, sounds=(SOUND,)),
    "1001-based rate": matroska(rate=Fraction(24000, 1001), b_frames=2, sounds=(SOUND,)),
    "uneven frames": timed(
        (i / 25 + (0.4 if i > 20 else 0) + (0.013 if i % 2 else 0) for i in range(50)), suffix=".mkv"
    ),
    "long frames": timed(i * 1.7 for i in range(50)),
    "late picture": timed((0.5 + i / 25 for i in range(50)), suffix=".mkv", sounds=(SOUND,)),
    "late sound": matroska(sounds=(LATE,)),
    "gap in the sound": matroska(sounds=(GAP,)),
    "10 bits": FilmSpec(pixels="yuv420p10le", matrix=1),
    "turned": FilmSpec(turn=90, sounds=(SOUND,)),
    "wide pixels": FilmSpec(pixel_aspect=Fraction(4, 3)),
    "full range": FilmSpec(full_range=True, matrix=6),
    "large": FilmSpec(size=(640, 484), gop=250, b_frames=2, matrix=1),
    "VP9": matroska(codec="libvpx-vp9", sounds=(OPUS,)),
    "late WebM": FilmSpec(suffix=".webm", codec="libvpx-vp9", shift=5.0, sounds=(OPUS,)),
}

ENCODED = ("transport stream", "10 bits", "turned", "wide pixels")
"""Films whose picture cannot be copied."""

SMALL = (
    "late clock", "1001-based rate", "uneven frames", "long frames", "late picture", "gap in the sound",
    "full range", "large",
)  # fmt: skip
"""Films whose picture can be copied, and is encoded as well for what is special about it."""

WAYS = [(name, False) for name in FILMS] + [(name, True) for name in SMALL]

IN_A_BROWSER = ("Matroska", "late clock", "uneven frames", "late picture", "large")
"""Films whose copies, of both kinds, a browser is asked to show: B-frames, clocks, gaps, rare key frames."""


def kind(spec: FilmSpec, config: Config | None = None) -> tuple[str, str]:
    with open_film(make_film(spec).path) as film:
        return browser_kind(film.info, config)


@pytest.mark.parametrize("name", PLAYED)
def test_played(name: str) -> None:
    assert kind(PLAYED[name]) == ("video/webm" if "WebM" in name else "video/mp4", "")


@pytest.mark.parametrize("word", UNPLAYED)
def test_unplayed(word: str) -> None:
    _, why = kind(UNPLAYED[word])
    assert word in str(why)


def test_another_audio_track_than_the_first_needs_a_copy() -> None:
    spec = FilmSpec(sounds=(SOUND, SoundSpec(beeps=(1.0,), language="fra")))
    assert kind(spec)[1] == ""
    _, why = kind(spec, Config.model_validate({"film": {"audio_track": 1}}))
    assert "1 (fra" in str(why)


def test_a_film_that_is_gone_is_not_played(tmp_path: Path) -> None:
    here = tmp_path / "film.mp4"
    here.write_bytes(make_film(FilmSpec()).path.read_bytes())
    with open_film(here) as film:
        here.unlink()
        assert browser_kind(film.info)[1]


# The copy


def ordered(film: Path, folder: Path, key: str = "key", **order: Any) -> CopyOrder:
    return CopyOrder(film, folder / "review" / "proxy.mp4", key, **order)


def copied(film: Path, folder: Path, **order: Any) -> Path:
    copy_order = ordered(film, folder, **order)
    make_copy(copy_order, lambda _: None)
    return copy_order.target


def numbered(film: Any) -> list[tuple[float, int]]:
    """Second and painted number of each frame."""
    return [(frame.seconds, read_number(frame.rgb())) for frame in film.frames()]


def beeps(path: Path, track: int | None = None) -> list[float]:
    """Where tones begin by the film's clock."""
    with open_film(path) as film:
        sound = np.concatenate([block.samples for block in sound_blocks(film, track, 48000)])
    loud = np.flatnonzero(np.abs(sound) > 0.1)
    return [float(loud[i]) / 48000 for i in range(len(loud)) if i == 0 or loud[i] - loud[i - 1] > 4800]


@pytest.mark.parametrize(("name", "small"), WAYS)
def test_every_frame_keeps_its_second_its_picture_and_its_sound(tmp_path, name, small):
    source = make_film(FILMS[name]).path
    order = ordered(source, tmp_path, small=small)
    known = make_copy(order, lambda _: None)
    assert known["picture"] == ("encoded" if small or name in ENCODED else "copied")
    assert (known["sound"], known["damage"]) == ("encoded" if FILMS[name].sounds else "none", None)
    if FILMS[name].sounds:
        beeps_of_film = beeps(source)
        assert len(beeps_of_film) == 2
        assert beeps(order.target) == pytest.approx(beeps_of_film, abs=0.003)
    with open_film(source) as film, open_film(order.target) as copy:
        assert browser_kind(copy.info)[1] == ""
        before, after = numbered(film), numbered(copy)
        assert [number for _, number in after] == [number for _, number in before]
        early = np.array([second for second, _ in before[1:]]) - [second for second, _ in after[1:]]
        assert np.all(early > 0)
        assert np.all(early < 20e-6)
        assert after[0][0] == 0
        assert copy.info.start == 0
        size = film.info.size_within(480 if known["picture"] == "encoded" else None)
        assert (copy.info.width, copy.info.height) == size
        colours = [read_patches(next(f.frames()).rgb(size)) for f in (film, copy)]
        assert np.abs(colours[0] - colours[1]).max() < (8 if known["picture"] == "encoded" else 1)


@pytest.mark.parametrize(("missing", "picture"), [(0, "copied"), (1, "encoded")])
def test_what_takes_more_than_half_of_the_disk_is_not_copied(tmp_path, monkeypatch, missing, picture):
    source = make_film(FILMS["Matroska"]).path
    usage = shutil.disk_usage(tmp_path)._replace(free=2 * source.stat().st_size - missing)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    assert make_copy(ordered(source, tmp_path), lambda _: None)["picture"] == picture


def test_of_a_copy_that_no_browser_would_play_nothing_stays(tmp_path, monkeypatch):
    # No film is known of which the copy is not played: here all of them are said not to be.
    monkeypatch.setattr(proxymaking, "browser_kind", lambda info: ("video/mp4", "no"))
    known = make_copy(ordered(make_film(FILMS["Matroska"]).path, tmp_path), lambda _: None)
    assert (known["picture"], known["sound"]) == ("encoded", "encoded")
    left = {path.name for path in (tmp_path / "review").iterdir() if path.name[0] != "."}
    assert left == {"proxy.json", "proxy.mp4"}


def test_a_key_frame_every_second_and_no_frame_that_refers_forward(tmp_path: Path) -> None:
    path = copied(make_film(FilmSpec(frames=130, gop=500, b_frames=3)).path, tmp_path, small=True)
    with av.open(str(path)) as container:
        packets = [packet for packet in container.demux(video=0) if packet.size]
        keys = [float(packet.pts * packet.time_base) for packet in packets if packet.is_keyframe]
        assert all(packet.pts == packet.dts for packet in packets)
    assert len(keys) >= 5
    assert np.diff(keys).max() <= 1.04 + 1e-3


@pytest.mark.parametrize("small", [False, True])
def test_the_audio_track_of_the_run(tmp_path: Path, small: bool) -> None:
    source = make_film(FilmSpec(suffix=".mkv", sounds=(SOUND, SoundSpec(beeps=(1.0,))))).path
    assert beeps(copied(source, tmp_path, track=1, small=small)) == pytest.approx([1.0], abs=0.003)


def test_hdr_becomes_what_the_pictures_show(tmp_path: Path) -> None:
    spec = FilmSpec(pixels="yuv420p10le", matrix=9, transfer=16, primaries=9)
    source = make_film(spec).path
    with open_film(source) as film, open_film(copied(source, tmp_path)) as copy:
        assert film.info.hdr
        assert not copy.info.hdr
        shown = [read_patches(next(f.frames()).rgb()) for f in (film, copy)]
        assert np.abs(shown[0] - shown[1]).max() < 12


def test_numbered_frames(tmp_path: Path) -> None:
    folder = make_stills(tmp_path / "frames", 5)
    with open_film(folder, frame_rate=Fraction(2)) as film:
        assert browser_kind(film.info)[1]
    with open_film(copied(folder, tmp_path, frame_rate=Fraction(2))) as copy:
        frames = numbered(copy)
        assert copy.info.audio == ()
        assert copy.info.duration == pytest.approx(2.5, abs=0.01)
    assert [number for _, number in frames] == [0, 1, 2, 3, 4]
    assert [second for second, _ in frames] == pytest.approx([0, 0.5, 1, 1.5, 2], abs=20e-6)


@pytest.mark.parametrize("small", [False, True])
def test_a_film_that_is_cut_off_gives_what_can_be_read(tmp_path: Path, small: bool) -> None:
    spec = FilmSpec(suffix=".mkv", frames=100, sounds=(SoundSpec(duration=4.0),))
    whole = make_film(spec).path.read_bytes()
    cut = tmp_path / "cut.mkv"
    cut.write_bytes(whole[: len(whole) // 2])
    order = ordered(cut, tmp_path, small=small)
    known = make_copy(order, lambda _: None)
    assert "cut off" in known["damage"]
    with open_film(order.target) as copy:
        assert 10 < len(list(copy.frames())) < 90


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    film = film_with()  # made before no file can be larger
    with largest_file(40_000), pytest.raises(WorkFolderError, match="File too large"):
        copied(film, tmp_path)
    assert [path.name for path in (tmp_path / "review").iterdir() if path.suffix != ".lock"] == []


def test_an_older_copy_is_made_anew_and_the_same_is_not(tmp_path: Path) -> None:
    order = ordered(make_film(FilmSpec()).path, tmp_path, "one")
    copies: list[int] = []

    def is_made(order: CopyOrder) -> bool:
        """Whether a copy is made, and not the one that is there taken."""
        before = order.target.stat().st_mtime_ns if order.target.exists() else None
        record = make_copy(order, lambda _: None)
        copies.append(record["size"])
        return order.target.stat().st_mtime_ns != before

    orders = (order, order, replace(order, small=True), replace(order, key="two"), order)
    assert [is_made(one) for one in orders] == [True, False, True, True, True]
    assert copies[0] == copies[1] == copies[-1] == order.target.stat().st_size


# The copy of a review


def folder_of(film: Path, tmp_path: Path) -> Path:
    return write_folder(tmp_path / "film.shotad", film, lines={1.0: "A cat."}, speech=())


def playable(page: Page) -> Any:
    """Which file the page plays, or why it plays none."""
    return page.film()["playable"]


def until_made(page: Page) -> Any:
    """The same, when no copy is being made any more."""
    end = time.monotonic() + WAIT
    while (state := playable(page))["state"] == "making":
        assert time.monotonic() < end, "the copy is never made"
        time.sleep(0.02)
    return state


def test_made_in_the_background_and_told(tmp_path: Path) -> None:
    source = make_film(FilmSpec(suffix=".mkv", frames=200, sounds=(SOUND,))).path
    place = folder_of(source, tmp_path)
    with reviewed(place, film=source) as (_, page), Listener(page) as tab:
        state = playable(page)
        assert (state["state"], state["url"]) == ("making", None)
        assert "Matroska" in state["why"]["text"]
        assert page.get("/media/proxy").status == 404
        ready = {"state": "proxy", "url": "/media/proxy", "done": 1.0, "why": ""}
        assert dict(until_made(page), why="") == ready
        assert page.get("/media/proxy", range="bytes=4-7").body == b"ftyp"
        end = time.monotonic() + WAIT
        while (told := tab.of("playable"))[-1]["state"] != "proxy":
            assert time.monotonic() < end
            time.sleep(0.02)
    shares = [event["done"] for event in told]
    assert shares == sorted(shares)
    assert any(0 < share < 1 for share in shares)
    with reviewed(place, film=source) as (_, page):
        assert playable(page)["state"] == "proxy"
        assert picture_of_copy(place) == "copied"
        page.post("/api/proxy", {})  # a browser has refused what was copied
        assert until_made(page)["state"] == "proxy"
        assert picture_of_copy(place) == "encoded"


def picture_of_copy(place: Path) -> str:
    """Whether the picture of a copy was copied or encoded."""
    return str(json.loads((place / "review" / "proxy.json").read_text(encoding="utf-8"))["picture"])


@pytest.mark.parametrize("content", [None, b"\x1a\x45\xdf\xa3" + bytes(5000)])
def test_what_went_wrong_is_told_and_leaves_nothing(tmp_path: Path, content: bytes | None) -> None:
    film = tmp_path / "film.mp4"
    film.write_bytes(make_film(FILMS["plain"]).path.read_bytes())
    place = folder_of(film, tmp_path)
    with reviewed(place, film=film) as (_, page):
        assert playable(page)["state"] == "film"
        film.unlink() if content is None else film.write_bytes(content)
        page.post("/api/proxy", {})  # a browser has refused the film
        state = until_made(page)
        assert state["state"] == ("gone" if content is None else "none")
        assert "film.mp4" in in_english(state["why"])
        assert page.get("/media/proxy").status == 404
    assert not list((place / "review").glob("proxy*"))
    assert not list((place / "review").glob(".tmp-*"))


def test_a_film_that_went_and_came_back_is_told_and_its_copy_made_then(tmp_path: Path) -> None:
    film = tmp_path / "film.mkv"
    data = make_film(FILMS["Matroska"]).path.read_bytes()
    film.write_bytes(data)
    place = folder_of(film, tmp_path)
    (place / "review").mkdir()
    lock = lock_file(place / "review" / ".proxy.lock", timeout=0)
    lock.acquire()  # another program is at work on the copy, so this one waits until the film is gone
    with served(place) as address, httpx.Client(base_url=address.partition("?")[0], timeout=WAIT) as client:
        client.get(address)
        with client.stream("GET", "/api/events") as stream:
            lines = stream.iter_lines()

            def until_state(state: str) -> Any:
                """Waits until the page is told that the film is in a state."""
                for line in lines:
                    if line == "event: playable":
                        told = json.loads(next(lines).removeprefix("data: "))
                        if told["state"] == state:
                            return told
                raise AssertionError("the stream has ended")

            film.unlink()
            lock.release()
            assert f"The film is not where it was: {film}." in until_state("gone")["why"]["text"]
            assert client.get("/api/film").json()["playable"]["state"] == "gone"
            film.write_bytes(data)
            until_state("proxy")
        assert client.get("/media/proxy").content[4:8] == b"ftyp"


def test_stopped_at_once_and_started_cleanly(tmp_path: Path) -> None:
    # One that is encoded
    source = make_film(FilmSpec(suffix=".mkv", pixels="yuv420p10le", frames=500, sounds=(SOUND,))).path
    place = folder_of(source, tmp_path)
    with reviewed(place, film=source) as (_, page):
        while playable(page)["done"] == 0:
            time.sleep(0.01)
            assert playable(page)["state"] == "making"
    copy = place / "review" / "proxy.mp4"
    assert not copy.exists()
    assert list(copy.parent.glob(".tmp-*")), "a killed process leaves its draft"
    with reviewed(place, film=source) as (_, page):
        assert until_made(page)["state"] == "proxy"
    assert not list(copy.parent.glob(".tmp-*"))
    with open_film(copy) as film:
        assert sum(1 for _ in film.frames()) == 500


@pytest.mark.slow
@pytest.mark.parametrize(("name", "small"), [
    *((name, None) for name in PLAYED), *((name, small) for name in IN_A_BROWSER for small in (False, True)),
])  # fmt: skip
def test_the_browser_shows_the_frame_of_each_second(browser, tmp_path, name, small):
    """What is said to be played is, and so are copies: sent to a frame's own second, and to its middle, the browser
    shows just that frame."""
    path = make_film(PLAYED[name] if small is None else FILMS[name]).path
    with open_film(path) as film:
        frames, size = numbered(film), [film.info.width, film.info.height]
    chosen = [0, 1, 5, 12, 13, 24, 30, 48]
    wanted = [frames[i][1] for i in chosen]
    moments = [frames[i][0] + 0.001 for i in chosen]
    if small is None:
        assert shown(browser, path, kind(PLAYED[name])[0], moments) == (size, wanted)
    else:
        middles = [(frames[i][0] + frames[i + 1][0]) / 2 for i in chosen]
        copy = copied(path, tmp_path, small=small)
        own = [frames[i][0] for i in chosen]
        assert shown(browser, copy, "video/mp4", [*own, *middles])[1] == wanted * 2
