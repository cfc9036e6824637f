"""Kept frames on the disk: what is put there is found, what is lost or damaged is not; clips from pictures."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from shotad.core import FramePlan
from shotad.core.types import Role
from shotad.film import Picture, clips
from shotad.film.framestore import KeptFrames, Pack
from tests.disk import largest_file


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
RECORD = 34
"""Bytes of a record in the index: two numbers of 8 bytes, one of 8, two of 4, two bytes."""


def frame(number: int, size: int = 1000) -> KeptFrames:
    return KeptFrames(bytes([number]) * size, number % 3, number % 2 == 0)


def opened(folder: Path, film: str = "a") -> Pack:
    return Pack(folder, {"film": film})


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
    assert (tmp_path / "frames.pack").stat().st_size == 1000
    assert opened(tmp_path).get(1.0) == (1.0, frame(9))
    assert not opened(tmp_path, "another").places


@pytest.mark.parametrize("torn", [1, 34, 35])
def test_after_a_kill_whole_records_count_and_more_is_added(tmp_path: Path, torn: int) -> None:
    filled(tmp_path, range(10))
    index = tmp_path / "frames.index"
    index.write_bytes(index.read_bytes()[:-torn])
    with (tmp_path / "frames.pack").open("ab") as file:
        file.write(b"frames that no record speaks of")
    one = opened(tmp_path)
    left = 10 - -(-torn // RECORD)
    assert sorted(one.places) == list(range(left))
    for moment in (9, 20):
        one.put(moment, moment, frame(moment))
    again = opened(tmp_path)
    assert sorted(again.places) == [*range(left), *{9, 20} - set(range(left))]
    assert all(again.get(moment) == (moment + 0.5, frame(moment)) for moment in range(left))
    assert again.get(20) == (20.0, frame(20))


def test_zeros_that_a_power_cut_left_in_the_index_are_no_frames(tmp_path: Path) -> None:
    filled(tmp_path, range(10))
    index = tmp_path / "frames.index"
    whole = index.read_bytes()
    lost = 4 * RECORD
    index.write_bytes(whole[:-lost] + bytes(lost))
    one = opened(tmp_path)
    left = len(one.places)
    assert 5 <= left < 10
    assert all(one.get(moment) == (moment + 0.5, frame(moment)) for moment in range(left))
    one.put(20, 20, frame(20))
    assert sorted(opened(tmp_path).places) == [*range(left), 20]


def test_a_damaged_frame_is_not_given(tmp_path: Path) -> None:
    filled(tmp_path, range(3))
    data = bytearray((tmp_path / "frames.pack").read_bytes())
    data[1500] ^= 1
    (tmp_path / "frames.pack").write_bytes(data)
    one = opened(tmp_path)
    assert one.get(1) is None
    assert 1 not in one.places
    assert one.get(0) == (0.5, frame(0))
    assert one.get(2) == (2.5, frame(2))


@pytest.mark.parametrize(("frame_size", "file_size"), [
    # The first frame does not fit, the third, and the record of the first in the index.
    (1000, 500), (1000, 2500), (10, 20),
])  # fmt: skip
def test_a_full_disk_gets_its_room_back(tmp_path: Path, frame_size: int, file_size: int) -> None:
    store = opened(tmp_path)
    with largest_file(file_size):
        for moment in range(4):
            store.put(moment, moment + 0.5, frame(moment, frame_size))
        assert store.stopped is not None
        assert "File too large" in store.stopped
        assert (store.size, store.places) == (0, {})
        assert not os.listdir(tmp_path)
        assert not store.put(4, 4.0, frame(4))
        assert store.get(4) is None
    store.begin()
    assert store.stopped is None
    store.put(4, 4.0, frame(4))
    assert store.get(4) == (4.0, frame(4))


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


def test_a_pack_with_a_limit_holds_what_was_kept_last(tmp_path: Path) -> None:
    one = Pack(tmp_path, {}, limit=4500)
    for moment in range(10):
        one.put(moment, moment + 0.5, frame(moment))
        assert one.get(moment) == (moment + 0.5, frame(moment))
        assert (tmp_path / "frames.pack").stat().st_size <= 4500
    assert sorted(Pack(tmp_path, {}, limit=4500).places) == [8, 9]


def test_threads_fill_and_read_a_pack_together(tmp_path: Path) -> None:
    one = opened(tmp_path)

    def fill(first: int) -> None:
        for moment in range(first, 120, 3):
            one.put(moment, moment + 0.5, frame(moment % 200))

    threads = [threading.Thread(target=fill, args=(first,)) for first in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    again = opened(tmp_path)
    assert all(again.get(moment) == (moment + 0.5, frame(moment % 200)) for moment in range(120))
