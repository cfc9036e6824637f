"""New films are taken when they have settled, each version once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from shotad.batch import Found, Watch
from shotad.batch.films import LEAST_PAUSE
from shotad.core import StorageError

DAY = datetime(2026, 1, 1, tzinfo=UTC)


def film(name: str, size: int, changed: int = 0) -> Found:
    return Found(f"/films/{name}", size, DAY + timedelta(seconds=changed))


class Place:
    """A folder at each time."""

    def __init__(self) -> None:
        self.now = 0.0
        self.films: list[Found] = []
        self.looks = 0
        self.trouble: StorageError | None = None

    def look(self) -> list[Found]:
        self.looks += 1
        if self.trouble is not None:
            raise self.trouble
        return self.films

    def at(self, watch: Watch, second: float, *films: Found) -> list[str]:
        self.now, self.films = second, list(films)
        return [one.place for one in watch.settled()]


def watched(settle: float = 10.0) -> tuple[Place, Watch]:
    place = Place()
    return place, Watch(place.look, settle, lambda: place.now)


def test_a_film_is_taken_once_it_has_stayed_the_same() -> None:
    place, watch = watched()
    assert place.at(watch, 0, film("a.mp4", 100, 0)) == []
    assert place.at(watch, 6, film("a.mp4", 200, 6)) == []
    assert place.at(watch, 12, film("a.mp4", 200, 6)) == []
    assert place.at(watch, 17, film("a.mp4", 200, 6)) == ["/films/a.mp4"]
    assert place.at(watch, 30, film("a.mp4", 200, 6)) == []


def test_an_empty_file_is_no_film_yet() -> None:
    place, watch = watched(1)
    assert [place.at(watch, second, film("a.mp4", 0)) for second in (0, 10, 20)] == [[], [], []]


def test_a_film_that_is_written_again_is_taken_again() -> None:
    place, watch = watched(0)
    assert place.at(watch, 0, film("a.mp4", 5)) == ["/films/a.mp4"]
    assert place.at(watch, 10, film("a.mp4", 5)) == []
    assert place.at(watch, 20, film("a.mp4", 5, changed=19)) == ["/films/a.mp4"]


def test_those_that_are_known_are_not_new() -> None:
    place, watch = watched(0)
    watch.take([film("a.mp4", 5)])
    assert place.at(watch, 0, film("a.mp4", 5), film("b.mp4", 5)) == ["/films/b.mp4"]


def test_places_are_not_looked_through_all_the_time() -> None:
    place, watch = watched(0)
    for beat in range(100):
        place.at(watch, beat * LEAST_PAUSE / 10)
    assert place.looks == 10


def test_a_place_that_cannot_be_read_for_a_while_loses_nothing() -> None:
    place, watch = watched(0)
    place.trouble = StorageError("The network is gone.")
    assert place.at(watch, 0, film("a.mp4", 5)) == []
    assert watch.trouble == "The network is gone."
    place.trouble = None
    assert place.at(watch, 10, film("a.mp4", 5)) == ["/films/a.mp4"]
    assert watch.trouble is None
