"""Kept frames are those of the grid, and the same pixels as decoded ones."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from shotad.film import Film, FrameStore, Grid, Picture, open_film
from shotad.film.framestore import Keeper, Pack
from shotad.film.framing import OnePass
from tests.decodes import grid_pictures
from tests.media import PATCHES, FilmSpec, Made, SoundSpec, make_film, read_number, read_patches

GRID = Grid(rate=8, height=72, quality=3)
X265 = (("x265-params", "log-level=none"),)

MEDIA = {
    "plain": FilmSpec(),
    "b-frames, transport stream": FilmSpec(suffix=".ts", b_frames=2),
    "variable rate": FilmSpec(suffix=".mkv", times=(0.0, 0.05, 0.3, 0.31, 0.9, 1.5, 2.25), time_base=Fraction(1, 1000)),
    "picture later than sound": FilmSpec(
        suffix=".mkv", times=tuple(0.48 + i / 25 for i in range(50)), time_base=Fraction(1, 1000), sounds=(SoundSpec(),)
    ),
    "interlaced": FilmSpec(codec="mpeg2video", suffix=".ts", interlaced=True, size=(192, 144)),
    "turned": FilmSpec(turn=90),
    "wide pixels": FilmSpec(pixel_aspect=Fraction(16, 15), size=(180, 144)),
    "10 bit": FilmSpec(codec="libx265", pixels="yuv420p10le", options=X265),
    "bt.709": FilmSpec(matrix=1),
    "full range": FilmSpec(matrix=6, full_range=True),
    "as small as the grid": FilmSpec(size=(128, 72)),
    "smaller than the grid": FilmSpec(size=(96, 56)),
}  # fmt: skip


def _open(name: str) -> tuple[Film, Made]:
    made = make_film(MEDIA[name])
    return open_film(made.path), made


def _moments(film: Film) -> list[float]:
    random = np.random.default_rng(3)
    return sorted([-0.2, 0.0, *random.uniform(0, film.info.duration, 25), film.info.duration, 9.0])


def _looked(store: FrameStore, film: Film, folder: Path, moments: list[float]) -> list[Picture]:
    """Pictures of the store, and decoded where it has none."""
    keeper, shelf = partial(Keeper, film.info, GRID), Pack(folder, "shelf", {})
    one = OnePass(film, shelf, keeper, lambda m: GRID.second(GRID.tick(m)), store)
    return list(one.pictures(moments))


def _same(store: FrameStore, film: Film, folder: Path, moments: list[float]) -> None:
    found, decoded = _looked(store, film, folder, moments), grid_pictures(film, moments, GRID)
    for one, other in zip(found, decoded, strict=True):
        assert (one.seconds, one.wanted) == (other.seconds, other.wanted)
        assert np.array_equal(one.image, other.image)


@pytest.mark.parametrize("name", list(MEDIA))
def test_kept_and_decoded_pixels_are_the_same(name: str, tmp_path: Path) -> None:
    film, _ = _open(name)
    store = FrameStore(tmp_path, film, GRID)
    passed = [frame.index for frame in store.tee(film.frames())]
    assert passed == [frame.index for frame in film.frames()]
    assert store.complete
    moments = _moments(film)
    _same(store, film, tmp_path, moments)
    _same(store, film, tmp_path, moments[10:12])


@pytest.mark.parametrize("name", list(MEDIA))
def test_a_picture_is_that_of_the_frame_at_the_nearest_tick(name: str, tmp_path: Path) -> None:
    film, made = _open(name)
    store = FrameStore(tmp_path, film, GRID)
    list(store.tee(film.frames()))
    for picture in _looked(store, film, tmp_path, _moments(film)):
        number = made.number_at(max(0.0, np.floor(picture.wanted * 8 + 0.5) / 8))
        assert read_number(picture.image) == number
        assert picture.seconds == pytest.approx(made.seconds[number], abs=2e-6)
        assert picture.image.shape[1::-1] == film.info.size_within(GRID.height)
        assert np.abs(read_patches(picture.image) - PATCHES).max() < 9


def test_a_pass_that_was_broken_off_leaves_what_it_kept(tmp_path: Path) -> None:
    film, _ = _open("plain")
    store = FrameStore(tmp_path, film, GRID)
    passing = store.tee(film.frames())
    for _ in range(30):
        next(passing)
    passing.close()  # type: ignore[attr-defined]
    again = FrameStore(tmp_path, film, GRID)
    assert not again.complete
    assert 5 < len(again.places) < 12
    moments = _moments(film)
    _same(again, film, tmp_path, moments)
    list(again.tee(film.frames()))
    assert FrameStore(tmp_path, film, GRID).complete


@pytest.mark.parametrize("damage", ["index cut", "pack cut", "pack gone", "index gone", "pack damaged"])
def test_what_is_lost_is_decoded(damage: str, tmp_path: Path) -> None:
    film, _ = _open("plain")
    list(FrameStore(tmp_path, film, GRID).tee(film.frames()))
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
    _same(FrameStore(tmp_path, film, GRID), film, tmp_path, moments)


def test_a_full_disk_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from shotad.film import framestore as pack

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pack, "_add", full)
    film, _ = _open("plain")
    store = FrameStore(tmp_path, film, GRID)
    assert len(list(store.tee(film.frames()))) == 50
    assert store.stopped == "No space left on device"
    assert store.size == 0
    _same(store, film, tmp_path, [0.5])
