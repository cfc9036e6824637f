"""Disk and memory: what films need, who is let in, how many at once."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from shotad.batch import how_many, parse_size
from shotad.batch.jobs import FilmJob
from shotad.batch.limits import MB, Need, Room, need_of
from shotad.core import FilmInfo, NoRoom, UsageError
from shotad.sound import Kind, Wanted

FILM = FilmInfo("movie.mp4", None, "0" * 32, 7200.0, 1920, 1080, Fraction(24), None, "h264", Fraction(0))


@pytest.mark.parametrize(
    ("text", "size"),
    [("2GB", 2e9), ("500 mb", 5e8), ("1.5g", 1.5e9), ("1,5G", 1.5e9), ("7", 7), ("4GiB", 4e9)],
)
def test_sizes_are_read(text: str, size: float) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "much", "-1GB", "2 GBs", "1e9"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="size"):
        parse_size(text)


def test_two_hours_need_some_gigabytes_and_a_part_needs_no_more(tmp_path: Path) -> None:
    job = FilmJob("movie.mp4", str(tmp_path))
    whole = need_of(job, FILM, tmp_path)
    assert whole.film_seconds == 7200
    assert 1e9 < whole.disk < 6e9
    part = need_of(FilmJob("movie.mp4", str(tmp_path), start=60, end=120), FILM, tmp_path)
    assert part.disk <= whole.disk
    sound = need_of(job, FILM, tmp_path, [Wanted(Kind.MIX, tmp_path / "movie.mix.wav")])
    assert sound.disk > whole.disk + 1e9


def test_what_is_written_already_is_not_needed_again(tmp_path: Path) -> None:
    job = FilmJob("movie.mp4", str(tmp_path))
    before = need_of(job, FILM, tmp_path).disk
    (tmp_path / "frames.pack").write_bytes(b"x" * MB)
    assert need_of(job, FILM, tmp_path).disk == before - MB


class Disk:
    """A disk with some room, and folders that grow on it."""

    def __init__(self, free: int) -> None:
        self.free = free
        self.sizes: dict[Path, int] = {}

    def room(self, keep: int | None = 0) -> Room:
        return Room(
            keep,
            free=lambda _: self.free - sum(self.sizes.values()),
            disk=lambda _: 1,
            size=lambda folder: self.sizes.get(folder, 0),
        )


def need(name: str, size: int) -> Need:
    return Need(1.0, size, Path(name))


def test_films_are_let_in_while_there_is_room_for_all_that_they_may_write() -> None:
    disk = Disk(100)
    room = disk.room(10)
    assert room.let_in("a", need("a", 40))
    assert room.let_in("b", need("b", 40))
    assert not room.let_in("c", need("c", 20))
    disk.sizes[Path("a")] = 40  # what has been written is not counted twice
    assert not room.let_in("c", need("c", 20))
    disk.sizes[Path("a")] = 5  # done, and its frames are deleted
    room.left("a")
    assert room.let_in("c", need("c", 20))


def test_a_film_that_nobody_makes_room_for_is_refused() -> None:
    room = Disk(100).room(30)
    with pytest.raises(NoRoom, match="--min-free"):
        room.let_in("a", need("a", 80))
    assert room.let_in("b", need("b", 60))
    assert not room.let_in("a", need("a", 20))


def test_nobody_looks_where_that_is_not_wished() -> None:
    assert Disk(0).room(None).let_in("a", need("a", 1 << 60))


@pytest.mark.parametrize(
    ("films", "cores", "memory", "models", "count"),
    [
        (100, 16, 64_000_000_000, False, 8),
        (3, 16, 64_000_000_000, False, 3),
        (100, 16, 5_000_000_000, False, 2),
        (100, 1, 1_000_000_000, False, 1),
        (100, 16, 64_000_000_000, True, 1),
        (0, 16, 64_000_000_000, False, 1),
        (100, 16, None, False, 1),
    ],
)
def test_as_many_at_once_as_the_machine_carries(
    films: int, cores: int, memory: int | None, models: bool, count: int
) -> None:
    assert how_many(films, cores, memory, loads_models=models) == count
