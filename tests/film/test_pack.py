"""Kept frames on the disk: what is put is found, what is lost or damaged is not, whoever else writes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from shotad.film import framestore as pack
from shotad.film.framestore import Kept, Pack


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


@pytest.mark.parametrize("torn", [1, 5, 33, 34, 35])
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


@pytest.mark.parametrize("fails", [1, 2, 3, 4])
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
