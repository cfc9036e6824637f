"""Films of a place: files, folders and patterns, here and in a store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from shotad.catalogue.storage.finding import films_in
from shotad.errors import FilmError, StorageError

TREE = (
    "b.mp4",
    "a film ü.MKV",
    "notes.txt",
    ".hidden.mp4",
    "sub/c.webm",
    "sub/deep/d.ts",
    "sub/b.shotad/b.described.mp4",
    "out/named/settings.json",
    "out/named/b.described.mp4",
    "out/named/voice/more.mp4",
    ".cache/e.mp4",
    "q[1]?.mp4",
)
FILMS = ["a film ü.MKV", "b.mp4", "q[1]?.mp4", "sub/c.webm", "sub/deep/d.ts"]


@pytest.fixture
def here(tmp_path: Path) -> str:
    for name in TREE:
        path = tmp_path / "films" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"film")
    return str(tmp_path / "films")


@pytest.fixture
def there() -> Iterator[str]:
    store = fsspec.filesystem("memory")
    store.store.clear()
    for name in TREE:
        store.pipe_file(f"/films/{name}", b"film")
    yield "memory://films"
    store.store.clear()


@pytest.fixture(params=["here", "there"])
def place(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


def found(place: str, top: str) -> list[str]:
    return [one.place[len(top) + 1 :] for one in films_in(place)]


def test_a_folder_gives_its_films_sorted_and_no_work_folders(place: str) -> None:
    assert found(place, place) == FILMS
    assert found(f"{place}/", place) == FILMS


def test_a_file_is_taken_as_it_is_also_where_it_looks_like_a_pattern(place: str) -> None:
    assert found(f"{place}/q[1]?.mp4", place) == ["q[1]?.mp4"]
    assert found(f"{place}/notes.txt", place) == ["notes.txt"]
    assert next(films_in(f"{place}/b.mp4")).size == 4
    assert next(films_in(f"{place}/b.mp4")).changed is not None


def test_a_pattern_stays_within_its_folder(place: str) -> None:
    assert found(f"{place}/*.mp4", place) == ["b.mp4", "q[1]?.mp4"]
    assert found(f"{place}/[!b]*.*", place) == ["a film ü.MKV", "q[1]?.mp4"]
    assert found(f"{place}/**/*.ts", place) == ["sub/deep/d.ts"]
    assert found(f"{place}/*/*", place) == ["sub/c.webm"]
    assert found(f"{place}/z*", place) == []


def test_a_work_folder_that_is_named_itself_holds_no_films_by_pattern(here: str) -> None:
    assert found(f"{here}/out/named/*.mp4", here) == []


def test_what_is_not_there_is_refused(here: str, there: str) -> None:
    with pytest.raises(FilmError, match=r"There is no .*nothing\.mp4"):
        list(films_in(f"{here}/nothing.mp4"))
    with pytest.raises(StorageError, match=r"There is no memory://films/nothing\.mp4"):
        list(films_in(f"{there}/nothing.mp4"))


@pytest.mark.parametrize(
    ("place", "said"),
    [("foo://b/x.mp4", "no such kind of address"), ("s3://me:secret1@b/x.mp4", "with credentials in it")],
)
def test_an_address_that_cannot_be_used_is_explained_without_its_keys(place: str, said: str) -> None:
    with pytest.raises(StorageError, match=said) as caught:
        list(films_in(place))
    assert "secret1" not in str(caught.value)
