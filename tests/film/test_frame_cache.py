"""Frames of a film: the same pixels from the pass, the disk and the decoder, whoever asks and in whatever order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from shotad.core import Interval, WorkFolder, load_config
from shotad.film import Film, Frames, Picture, frame_cache, open_film
from tests.decodes import counted_decodes, grid_pictures
from tests.disk import largest_file
from tests.film.test_reader import MEDIA as FILMS
from tests.media import PATCHES, FilmSpec, Made, make_film, read_number, read_patches

HEIGHT = 72
MEDIA = {name: FILMS[name] for name in (
    "constant rate", "transport stream", "variable rate, mkv", "picture later than sound", "interlaced", "turned 90",
    "wide pixels", "10 bit", "full range",
)} | {"smaller than the grid": FilmSpec(size=(96, 56))}  # fmt: skip
WHOLE = [Interval(0.0, 100.0)]
SLACK = 30
"""Frames that a decoder works on ahead of the one that is wanted, and those before it from a key frame on."""


def frames_of(film: Film, folder: Path, *, exact: bool = False) -> Frames:
    config = load_config(None, (f"film.grid_height={HEIGHT}",))
    return Frames(film, WorkFolder(folder), config, exact=exact)


def passed(film: Film, folder: Path, zones: Sequence[Interval] = WHOLE) -> Frames:
    """The frames of a film over which a pass has gone."""
    frames = frames_of(film, folder)
    assert [frame.index for frame in frames.keeping(film.frames(), zones)] == [f.index for f in film.frames()]
    return frames


def expected(film: Film, moments: Sequence[float], *, exact: bool = False) -> list[Picture]:
    """The pictures of the moments, each decoded for itself."""
    if not exact:
        return grid_pictures(film, moments, HEIGHT)
    size = film.info.size_within(max_pixels=frame_cache.PIXELS)
    frames = zip(film.frames_at(moments), moments, strict=True)
    return [Picture(frame.seconds, moment, frame.rgb(size)) for frame, moment in frames]


def same(one: list[Picture], other: list[Picture]) -> bool:
    return len(one) == len(other) and all(
        (a.seconds, a.wanted) == (b.seconds, b.wanted) and np.array_equal(a.image, b.image)
        for a, b in zip(one, other, strict=True)
    )


def in_threads(count: int, work: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def opened(name: str) -> tuple[Film, Made]:
    made = make_film(MEDIA[name])
    return open_film(made.path), made


def some_moments(film: Film) -> list[float]:
    random = np.random.default_rng(3)
    return sorted([-0.2, 0.0, *random.uniform(0, film.info.duration, 25), film.info.duration, 9.0])


@pytest.mark.parametrize("name", list(MEDIA))
def test_kept_pixels_are_the_decoded_ones_of_the_frame_at_the_nearest_tick(name: str, tmp_path: Path) -> None:
    film, made = opened(name)
    frames = passed(film, tmp_path)
    moments = some_moments(film)
    with counted_decodes() as decodes:
        list(frames.pictures([moment for moment in moments if moment < film.info.duration]))
    assert decodes.frames == 0
    found = list(frames.pictures(moments))
    assert same(found, expected(film, moments))
    assert same(list(frames.pictures(moments[10:12])), found[10:12])
    for picture in found:
        number = made.number_at(max(0.0, np.floor(picture.wanted * 8 + 0.5) / 8))
        assert read_number(picture.image) == number
        assert picture.seconds == pytest.approx(made.seconds[number], abs=2e-6)
        assert picture.image.shape[1::-1] == film.info.size_within(HEIGHT)
        assert np.abs(read_patches(picture.image) - PATCHES).max() < 9


def test_a_pass_that_was_broken_off_leaves_what_it_kept(tmp_path: Path) -> None:
    film, _ = opened("constant rate")
    passing = frames_of(film, tmp_path).keeping(film.frames(), WHOLE)
    for _ in range(30):
        next(passing)
    passing.close()  # type: ignore[attr-defined]
    with counted_decodes() as decodes:
        assert len(list(frames_of(film, tmp_path).pictures([0.0, 0.5, 0.9]))) == 3
    assert decodes.frames == 0
    moments = some_moments(film)
    again = passed(film, tmp_path)
    with counted_decodes() as decodes:
        list(again.pictures([moment for moment in moments if moment < film.info.duration]))
    assert decodes.frames == 0
    assert same(list(again.pictures(moments)), expected(film, moments))


@pytest.mark.parametrize("damage", ["index cut", "pack cut", "pack gone", "index gone", "pack damaged"])
def test_what_is_lost_is_decoded(damage: str, tmp_path: Path) -> None:
    film, _ = opened("constant rate")
    passed(film, tmp_path)
    path = tmp_path / f"frames.{damage.split(maxsplit=1)[0]}"
    if damage.endswith("damaged"):
        data = bytearray(path.read_bytes())
        data[len(data) // 3 : -2000] = bytes(len(data) - 2000 - len(data) // 3)
        path.write_bytes(data)
    elif damage.endswith("cut"):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2 + 3])
    else:
        path.unlink()
    moments = some_moments(film)
    assert same(list(frames_of(film, tmp_path).pictures(moments)), expected(film, moments))


@pytest.mark.parametrize("exact", [False, True])
def test_a_full_disk_stops_nothing(exact: bool, tmp_path: Path) -> None:
    film, _ = opened("constant rate")
    frames = frames_of(film, tmp_path, exact=exact)
    moments = some_moments(film)
    with largest_file(3000):
        assert len(list(frames.keeping(film.frames(), WHOLE))) == 50
        for _ in range(2):
            assert same(list(frames.pictures(moments)), expected(film, moments, exact=exact))
    assert not list(tmp_path.glob("frames.*"))


# Who asks, how often and in which order changes no pixel, and a part of the film is decoded once
SPEC = FilmSpec(frames=500, gop=25, cuts=(100, 210))


@pytest.fixture
def film() -> Iterator[Film]:
    with open_film(make_film(SPEC).path) as open_one:
        yield open_one


def test_who_asks_later_for_the_same_part_decodes_nothing(film: Film, tmp_path: Path) -> None:
    frames = frames_of(film, tmp_path)
    first, second = [2.0, 4.5, 9.0, 12.0], [2.02, 3.1, 4.9, 8.3, 11.9]
    with counted_decodes() as decodes:
        list(frames.pictures(first))
        before = decodes.frames
        found = list(frames.pictures(second))
    assert decodes.frames == before <= 25 * 12 + SLACK
    assert same(found, expected(film, second))
    assert same(list(frames.pictures(first)), expected(film, first))


def test_clips_that_are_asked_for_one_by_one_are_read_in_one_pass(film: Film, tmp_path: Path) -> None:
    frames = frames_of(film, tmp_path)
    parts = [np.arange(start, start + 6.0, 0.37).tolist() for start in (0.5, 3.0, 5.5, 9.0, 12.0)]
    with counted_decodes() as decodes:
        found = [list(frames.pictures(part)) for part in parts]
    assert len(decodes.passes) == 1
    assert decodes.frames <= 500 + SLACK
    assert all(same(pictures, expected(film, part)) for pictures, part in zip(found, parts, strict=True))


def test_moments_far_apart_are_sought(film: Film, tmp_path: Path) -> None:
    with counted_decodes() as decodes:
        list(frames_of(film, tmp_path).pictures([1.0, 18.0]))
    assert decodes.frames < 150


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("rate", [25, 4])
def test_threads_see_what_each_would_see_alone(tmp_path: Path, exact: bool, rate: int) -> None:
    """In a film of 20 s, and in one of two minutes, which is not decoded in one go."""
    film = open_film(make_film(replace(SPEC, rate=Fraction(rate))).path)
    seconds = 500 / rate
    frames = frames_of(film, tmp_path, exact=exact)
    starts = (0.0, 0.1, 0.37, 0.45 * seconds)
    wanted = [np.arange(start, seconds - 1, 0.0185 * seconds).tolist() for start in starts]
    found: dict[int, list[Picture]] = {}

    def look(number: int) -> None:
        found[number] = list(frames.pictures(wanted[number]))

    in_threads(len(wanted), look)
    for number, moments in enumerate(wanted):
        assert same(found[number], expected(film, moments, exact=exact))


def test_threads_that_ask_for_the_same_part_decode_it_once(film: Film, tmp_path: Path) -> None:
    frames = frames_of(film, tmp_path)
    starts = [0.0, 1.0, 2.0, 3.0]
    with counted_decodes() as decodes:
        in_threads(
            4, lambda number: list(frames.pictures(np.arange(starts[number], 19.0, 0.4).tolist())).clear()
        )
    # One that begins later may come first; then what lies before is read on its own.
    assert decodes.frames <= 500 + 4 * SLACK + 25 * 3


def test_on_the_grid_frames_worth_keeping_are_read_along_and_no_others(film: Film, tmp_path: Path) -> None:
    frames = frames_of(film, tmp_path)
    frames.keep_along([2.0, 3.0])
    list(frames.pictures([1.0, 4.0]))
    with counted_decodes() as decodes:
        found = list(frames.pictures([1.0, 2.0, 3.0, 4.0]))
        assert decodes.frames == 0
        between = list(frames.pictures([2.5]))
        assert decodes.frames > 0
    assert same([*found, *between], [*expected(film, [1.0, 2.0, 3.0, 4.0]), *expected(film, [2.5])])


def test_exact_frames_that_are_worth_keeping_are_read_along(film: Film, tmp_path: Path) -> None:
    frames = frames_of(film, tmp_path, exact=True)
    first, second = [2.0, 4.5, 9.0], [2.02, 3.1, 9.4, 17.0]
    with counted_decodes() as decodes:
        frames.keep_along(second)
        found = list(frames.pictures(first))
        before = decodes.frames
        near = list(frames.pictures(second[:3]))
        assert decodes.frames == before
        far = list(frames.pictures(second[3:]))
        assert decodes.frames > before
    assert same(found, expected(film, first, exact=True))
    assert same([*near, *far], expected(film, second, exact=True))


def test_exact_frames_take_no_more_of_the_disk_than_their_limit(
    film: Film, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frame_cache, "MOST_EXACT", 200_000)
    frames = frames_of(film, tmp_path, exact=True)
    moments = np.arange(0.0, 19.0, 0.21).tolist()
    frames.keep_along(moments)
    for _ in range(2):
        found = []
        for picture in frames.pictures(moments):
            found.append(picture)
            assert (tmp_path / "frames.pack").stat().st_size <= 200_000
        assert same(found, expected(film, moments, exact=True))


def test_what_a_stopped_run_has_kept_is_used_and_deleted_with_success(film: Film, tmp_path: Path) -> None:
    moments = [1.0, 2.0, 3.0]

    def stopped() -> None:
        with frames_of(film, tmp_path) as frames:
            list(frames.pictures(moments))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    with counted_decodes() as decodes, frames_of(film, tmp_path) as frames:
        found = list(frames.pictures(moments))
        assert decodes.frames == 0
    assert same(found, expected(film, moments))
    assert not list(tmp_path.iterdir())
    # Who asks once more after the end is answered all the same.
    assert same(list(frames.pictures(moments)), found)


def test_exact_frames_are_kept_only_where_they_are_worth_it(film: Film, tmp_path: Path) -> None:
    frames = frames_of(film, tmp_path, exact=True)
    moments = np.arange(0.0, 19.0, 0.1).tolist()
    assert same(list(frames.pictures(moments)), expected(film, moments, exact=True))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("exact", [False, True])
def test_without_a_folder_nothing_is_kept(film: Film, exact: bool) -> None:
    moments = [0.4, 1.0, 2.0, 12.0]
    with Frames(film, None, load_config(None, (f"film.grid_height={HEIGHT}",)), exact=exact) as frames:
        for _ in range(2):
            assert same(list(frames.pictures(moments)), expected(film, moments, exact=exact))


def test_frames_of_other_settings_or_another_kind_are_not_taken(film: Film, tmp_path: Path) -> None:
    moments = [1.0, 2.0]
    list(frames_of(film, tmp_path).pictures(moments))
    assert same(
        list(frames_of(film, tmp_path, exact=True).pictures(moments)), expected(film, moments, exact=True)
    )
    assert same(list(frames_of(film, tmp_path).pictures(moments)), expected(film, moments))


def test_seconds_must_ascend_and_a_wrong_call_leaves_nothing_behind(film: Film, tmp_path: Path) -> None:
    frames = frames_of(film, tmp_path)
    for wrong in ([2.0, 1.0], [float("nan")]):
        with pytest.raises(ValueError, match="seconds must"):
            frames.pictures(wrong)
    assert list(frames.pictures([])) == []
    assert not list(tmp_path.iterdir())
