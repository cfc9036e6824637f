"""Kept frames: those of the grid, the same pixels as decoded ones; one pass for all who look; what lies on the disk."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from shotad.core import FramePlan, Role
from shotad.film import Film, FrameStore, Picture, clips, framestore as pack, open_film, second_of, tick_of
from shotad.film.framestore import Keeper, Kept, LosslessKeeper, Pack
from shotad.film.framing import OnePass
from tests.decodes import counted_decodes, grid_pictures
from tests.film.test_reader import MEDIA as FILMS
from tests.media import PATCHES, FilmSpec, Made, make_film, read_number, read_patches

HEIGHT = 72
MEDIA = {name: FILMS[name] for name in (
    "constant rate", "transport stream", "variable rate, mkv", "picture later than sound", "interlaced", "turned 90",
    "wide pixels", "10 bit", "full range",
)} | {"smaller than the grid": FilmSpec(size=(96, 56))}  # fmt: skip


def _open(name: str) -> tuple[Film, Made]:
    made = make_film(MEDIA[name])
    return open_film(made.path), made


def _moments(film: Film) -> list[float]:
    random = np.random.default_rng(3)
    return sorted([-0.2, 0.0, *random.uniform(0, film.info.duration, 25), film.info.duration, 9.0])


def same(one: list[Picture], other: list[Picture]) -> bool:
    return len(one) == len(other) and all(
        (a.seconds, a.wanted) == (b.seconds, b.wanted) and np.array_equal(a.image, b.image)
        for a, b in zip(one, other, strict=True)
    )


def _same(store: FrameStore, film: Film, folder: Path, moments: list[float]) -> list[Picture]:
    """Pictures of the store, decoded where it has none: the same as all decoded."""
    keeper, shelf = partial(Keeper, film.info, HEIGHT), Pack(folder, "shelf", {})
    one = OnePass(film, shelf, keeper, lambda m: second_of(tick_of(m)), store)
    found = list(one.pictures(moments))
    assert same(found, grid_pictures(film, moments, HEIGHT))
    return found


@pytest.mark.parametrize("name", list(MEDIA))
def test_kept_pixels_are_the_decoded_ones_of_the_frame_at_the_nearest_tick(name: str, tmp_path: Path) -> None:
    film, made = _open(name)
    store = FrameStore(tmp_path, film, HEIGHT)
    assert [frame.index for frame in store.tee(film.frames())] == [frame.index for frame in film.frames()]
    assert store.complete
    moments = _moments(film)
    found = _same(store, film, tmp_path, moments)
    _same(store, film, tmp_path, moments[10:12])
    for picture in found:
        number = made.number_at(max(0.0, np.floor(picture.wanted * 8 + 0.5) / 8))
        assert read_number(picture.image) == number
        assert picture.seconds == pytest.approx(made.seconds[number], abs=2e-6)
        assert picture.image.shape[1::-1] == film.info.size_within(HEIGHT)
        assert np.abs(read_patches(picture.image) - PATCHES).max() < 9


def test_a_pass_that_was_broken_off_leaves_what_it_kept(tmp_path: Path) -> None:
    film, _ = _open("constant rate")
    store = FrameStore(tmp_path, film, HEIGHT)
    passing = store.tee(film.frames())
    for _ in range(30):
        next(passing)
    passing.close()  # type: ignore[attr-defined]
    again = FrameStore(tmp_path, film, HEIGHT)
    assert not again.complete
    assert 5 < len(again.places) < 12
    moments = _moments(film)
    _same(again, film, tmp_path, moments)
    list(again.tee(film.frames()))
    assert FrameStore(tmp_path, film, HEIGHT).complete


@pytest.mark.parametrize("damage", ["index cut", "pack cut", "pack gone", "index gone", "pack damaged"])
def test_what_is_lost_is_decoded(damage: str, tmp_path: Path) -> None:
    film, _ = _open("constant rate")
    list(FrameStore(tmp_path, film, HEIGHT).tee(film.frames()))
    path = tmp_path / f"frames.{damage.split(maxsplit=1)[0]}"
    if damage.endswith("damaged"):
        data = bytearray(path.read_bytes())
        data[len(data) // 3 : -2000] = bytes(len(data) - 2000 - len(data) // 3)
        path.write_bytes(data)
    elif damage.endswith("cut"):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2 + 3])
    else:
        path.unlink()
    moments = _moments(film)
    _same(FrameStore(tmp_path, film, HEIGHT), film, tmp_path, moments)


def test_a_full_disk_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pack, "_add", full)
    film, _ = _open("constant rate")
    store = FrameStore(tmp_path, film, HEIGHT)
    assert len(list(store.tee(film.frames()))) == 50
    assert store.stopped == "No space left on device"
    assert store.size == 0
    _same(store, film, tmp_path, [0.5])


# One pass for all who look: what is decoded, and that the pixels do not depend on who drove
SPEC = FilmSpec(frames=500, gop=25, cuts=(100, 210))
FIRST = [0.5, 2.02, 4.5, 12.0]
SECOND = [0.5, 1.0, 2.02, 4.9, 12.0, 12.5]
SIZE = (96, 54)


@pytest.fixture
def film() -> Iterator[Film]:
    with open_film(make_film(SPEC).path) as opened:
        yield opened


def exact(film: Film, folder: Path) -> OnePass:
    shelf = Pack(folder, "shelf", {"film": film.info.fingerprint})
    return OnePass(film, shelf, partial(LosslessKeeper, SIZE), lambda moment: round(moment, 6))


def alone(film: Film, moments: list[float]) -> list[Picture]:
    frames = zip(film.frames_at(moments), moments, strict=True)
    return [Picture(frame.seconds, moment, frame.rgb(SIZE)) for frame, moment in frames]


def test_who_comes_later_decodes_nothing_and_sees_the_same_pixels(film: Film, tmp_path: Path) -> None:
    one = exact(film, tmp_path)
    one.expect(FIRST)
    one.expect(SECOND)
    with counted_decodes() as decodes:
        first = list(one.pictures(FIRST))
        # 12.5 lies behind the last moment of the first reader; the rest is on the shelf.
        before = decodes.frames
        second = list(one.pictures(SECOND))
    assert len(decodes.passes) == 1
    assert decodes.frames - before < 20
    assert same(first, alone(film, FIRST))
    assert same(second, alone(film, SECOND))


def test_readers_in_threads_see_what_each_would_see_alone(film: Film, tmp_path: Path) -> None:
    one = exact(film, tmp_path)
    wanted = [np.arange(start, 19.0, 0.37).tolist() for start in (0.0, 0.1, 0.37)]
    for moments in wanted:
        one.expect(moments)
    found: dict[int, list[Picture]] = {}

    def look(number: int) -> None:
        found[number] = list(one.pictures(wanted[number]))

    threads = [threading.Thread(target=look, args=(number,)) for number in range(3)]
    with counted_decodes() as decodes:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert decodes.frames <= 520
    for number, moments in enumerate(wanted):
        assert same(found[number], alone(film, moments))


# Clips: one sorted pass serves all slots, each clip is handed out once and in order
def plan(slot_id: str, *shots: Sequence[float]) -> tuple[str, tuple[FramePlan, ...]]:
    return slot_id, tuple(FramePlan(i, Role.CURRENT, np.array(s)) for i, s in enumerate(shots))


def test_pictures_are_read_once_and_never_changed_for_another_clip() -> None:
    asked: list[float] = []

    def until(end: float, seconds: Sequence[float]) -> Iterator[Picture]:
        """Pictures that show their own second."""
        asked[:] = seconds
        for second in seconds:
            if second <= end:
                yield Picture(second - 0.01, second, np.full((2, 4, 3), int(second), dtype=np.uint8))

    found = dict(clips([plan("a", [1, 5], [6, 9]), plan("b", [4, 5], [6, 7])], partial(until, 1e9)))
    assert asked == [1, 4, 5, 6, 7, 9]
    assert found["a"].images[:, 0, 0, 0].tolist() == [1, 5, 6, 9]
    assert found["a"].shot_numbers.tolist() == [0, 0, 1, 1]
    assert found["b"].seconds.tolist() == pytest.approx([3.99, 4.99, 5.99, 6.99])
    # Pictures are shared but never changed for another clip.
    first, second = (clip for _, clip in clips([plan("a", [1]), plan("b", [1])], partial(until, 1e9)))
    first.images[:] = 99
    assert second.images.max() == 1
    # A film that ends early shortens clips and leaves out empty ones.
    found = dict(clips([plan("a", [1, 2], [6]), plan("b", [7, 8])], partial(until, 5)))
    assert list(found) == ["a"]
    assert found["a"].seconds.tolist() == pytest.approx([0.99, 1.99])
    with pytest.raises(ValueError, match="at least one frame"):
        next(clips([plan("a")], partial(until, 5)))


# What is put on the disk is found, what is lost or damaged is not, whoever else writes
def frame(number: int, size: int = 1000) -> Kept:
    return Kept(bytes([number]) * size, number % 3, number % 2 == 0)


def opened(folder: Path, film: str = "a") -> Pack:
    return Pack(folder, "shelf", {"film": film})


def filled(folder: Path, moments: range, film: str = "a") -> Pack:
    one = opened(folder, film)
    for moment in moments:
        one.put(moment, moment + 0.5, frame(moment))
    return one


def test_a_pack_of_another_film_is_thrown_away_when_this_one_is_written(tmp_path: Path) -> None:
    filled(tmp_path, range(100), "another")
    one = opened(tmp_path)
    assert one.places == {}
    one.put(1.0, 1.0, frame(9))
    one.finish()
    assert (tmp_path / "shelf.pack").stat().st_size == 1000
    assert opened(tmp_path).complete
    assert not opened(tmp_path, "another").places


@pytest.mark.parametrize("torn", [1, 34, 35])
def test_after_a_kill_whole_records_count_and_more_is_added(tmp_path: Path, torn: int) -> None:
    filled(tmp_path, range(10))
    index = tmp_path / "shelf.index"
    index.write_bytes(index.read_bytes()[:-torn])
    with (tmp_path / "shelf.pack").open("ab") as file:
        file.write(b"frames that no record speaks of")
    one = opened(tmp_path)
    left = 10 - -(-torn // pack._RECORD.size)
    assert sorted(one.places) == list(range(left))
    for moment in (9, 20):
        one.put(moment, moment, frame(moment))
    one.finish()
    again = opened(tmp_path)
    assert again.complete
    assert sorted(again.places) == [*range(left), *{9, 20} - set(range(left))]
    assert all(again.get(moment) == (moment + 0.5, frame(moment)) for moment in range(left))
    assert again.get(20) == (20.0, frame(20))


def test_zeros_that_a_power_cut_left_in_the_index_are_no_frames(tmp_path: Path) -> None:
    filled(tmp_path, range(10))
    index = tmp_path / "shelf.index"
    whole = index.read_bytes()
    lost = 4 * pack._RECORD.size
    index.write_bytes(whole[:-lost] + bytes(lost))
    one = opened(tmp_path)
    left = len(one.places)
    assert 5 <= left < 10
    assert all(one.get(moment) == (moment + 0.5, frame(moment)) for moment in range(left))
    one.put(20, 20, frame(20))
    one.finish()
    again = opened(tmp_path)
    assert (again.complete, sorted(again.places)) == (True, [*range(left), 20])


def test_a_damaged_frame_is_not_given(tmp_path: Path) -> None:
    filled(tmp_path, range(3))
    data = bytearray((tmp_path / "shelf.pack").read_bytes())
    data[1500] ^= 1
    (tmp_path / "shelf.pack").write_bytes(data)
    one = opened(tmp_path)
    assert one.get(1) is None
    assert 1 not in one.places
    assert one.get(0) == (0.5, frame(0))
    assert one.get(2) == (2.5, frame(2))


@pytest.mark.parametrize("fails", [1, 2, 4])
def test_a_full_disk_gets_its_room_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: int) -> None:
    add, calls = pack._add, []

    def full(path: Path, data: bytes) -> None:
        calls.append(path)
        if len(calls) >= fails:
            add(path, data[: len(data) // 2])
            raise OSError(28, "No space left on device")
        add(path, data)

    monkeypatch.setattr(pack, "_add", full)
    one = filled(tmp_path, range(3))
    one.put(3, 3.0, frame(3))
    one.finish()
    assert one.stopped == "No space left on device"
    assert (one.size, one.places, one.complete) == (0, {}, False)
    assert not os.listdir(tmp_path)
    assert not one.put(4, 4.0, frame(4))
    assert one.get(4) is None
    monkeypatch.setattr(pack, "_add", add)
    one.begin()
    assert one.stopped is None
    one.put(4, 4.0, frame(4))
    assert one.get(4) == (4.0, frame(4))


def test_frames_that_another_has_added_to_are_not_taken_for_ours(tmp_path: Path) -> None:
    """A run that was given up in the same process may go on writing for a moment."""
    filled(tmp_path, range(3))
    stale, one = opened(tmp_path), opened(tmp_path)
    for moment, which in ((10, stale), (11, one), (12, stale), (13, one)):
        which.put(moment, moment, frame(moment))
    for found in (stale, one, opened(tmp_path)):
        assert found.get(1) == (1.5, frame(1))
        for moment in (10, 11, 12, 13):
            assert found.get(moment) in (None, (float(moment), frame(moment)))
