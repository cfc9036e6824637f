"""Films of a place: files, folders and patterns, here and in a store; what is an address, and what of it may be printed."""

from __future__ import annotations

import errno
import importlib
import json
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from shotad.batch import (
    BatchReport,
    FilmJob,
    FilmRow,
    Planner,
    StoredObject,
    as_lines,
    failed_in,
    film_labels,
    films_named,
    find_films,
    is_local,
    local_path,
    read_report,
)
from shotad.batch.jobs import failure
from shotad.batch.places import name_of, shown
from shotad.batch.store import Store, check_kind
from shotad.core.errors import (
    FilmError,
    StorageError,
    UsageError,
)
from tests.catalogue.meddled_store import meddled

TREE = (
    "b.mp4", "a film ü.MKV", "notes.txt", ".hidden.mp4", "sub/c.webm", "sub/deep/d.ts",
    "sub/b.shotad/b.described.mp4", "out/named/settings.json", "out/named/b.described.mp4",
    "out/named/voice/more.mp4", ".cache/e.mp4", "q[1]?.mp4",
)  # fmt: skip
FILMS = ["a film ü.MKV", "b.mp4", "q[1]?.mp4", "sub/c.webm", "sub/deep/d.ts"]


class SaidError(Exception):
    """An error of a store's library, which tells its code as boto's do, or as aiohttp's do."""

    def __init__(self, code: str | int) -> None:
        super().__init__("said so")
        self.status = code
        if isinstance(code, str):
            self.response = {"Error": {"Code": code}}


class NoCredentialsError(Exception):
    """As boto calls its own."""


class ParamValidationError(Exception):
    """As boto calls its own."""


@pytest.mark.parametrize(("error", "told"), [
    (NoCredentialsError(), "There are no credentials for memory://films/x (NoCredentialsError)."),
    (SaidError("ExpiredToken"), "The credentials for memory://films/x are not accepted (ExpiredToken)."),
    (SaidError("AccessDenied"), "memory://films/x may not be read or written: access is denied."),
    (SaidError(403), "memory://films/x may not be read or written: access is denied."),
    (PermissionError(), "memory://films/x may not be read or written: access is denied."),
    (SaidError("NoSuchBucket"), "There is no bucket films (memory://films/x)."),
    (SaidError(503), "memory://films/x cannot be reached (said so)."),
    (OSError(errno.ECONNRESET, "reset"), "memory://films/x cannot be reached (reset)."),
    (ParamValidationError("a b"), "memory://films/x cannot be used (a b). Check the name of the bucket."),
    (ValueError("odd"), "memory://films/x cannot be used (odd). Check the address."),
])  # fmt: skip
def test_a_stores_answer_is_in_words(error: Exception, told: str) -> None:
    def refuse(path: str) -> None:
        raise error

    with meddled() as requests:
        requests.before_read = staticmethod(refuse)
        store = Store("memory://films/x", patience=0)
        with pytest.raises(StorageError) as caught:
            store.read("memory://films/x")
    assert str(caught.value).startswith(told)
    assert caught.value.again == ("reached" in told)


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
    return [film.place[len(top) + 1 :] for film in find_films([place])]


def test_folders_files_and_patterns_give_their_films(place: str) -> None:
    assert found(place, place) == FILMS
    assert found(f"{place}/", place) == FILMS
    # A file is taken as it is also where it looks like a pattern.
    assert found(f"{place}/q[1]?.mp4", place) == ["q[1]?.mp4"]
    assert found(f"{place}/notes.txt", place) == ["notes.txt"]
    assert find_films([f"{place}/b.mp4"])[0].size == 4
    assert find_films([f"{place}/b.mp4"])[0].changed is not None
    # A pattern stays within its folder.
    assert found(f"{place}/*.mp4", place) == ["b.mp4", "q[1]?.mp4"]
    assert found(f"{place}/[!b]*.*", place) == ["a film ü.MKV", "q[1]?.mp4"]
    assert found(f"{place}/**/*.ts", place) == ["sub/deep/d.ts"]
    assert found(f"{place}/*/*", place) == ["sub/c.webm"]
    assert found(f"{place}/z*", place) == []


def test_what_is_not_there_is_refused(here: str, there: str) -> None:
    with pytest.raises(FilmError, match=r"There is no .*nothing\.mp4"):
        find_films([f"{here}/nothing.mp4"])
    with pytest.raises(StorageError, match=r"There is no memory://films/nothing\.mp4"):
        find_films([f"{there}/nothing.mp4"])


@pytest.mark.parametrize(("place", "said"), [
    ("https://films.invalid/ad", r"Nothing can be written to an address of the web"),
    ("s3://", r"s3:// names no bucket"),
    ("s3://key:hidden@described/ad", r"s3://described/ad was given with credentials"),
    ("s3://described/ad", r'pip install "shotad\[s3\]"'),
    ("gs://described/ad", r"pip install gcsfs"),
    ("az://described/ad", r"pip install adlfs"),
    ("abfs://described/ad", r"pip install adlfs"),
    ("nothing://described/ad", r"There is no such kind of address: nothing://described/ad"),
])  # fmt: skip
def test_a_place_not_to_be_written_is_refused(monkeypatch: pytest.MonkeyPatch, place: str, said: str) -> None:
    registry = importlib.import_module("fsspec.registry")
    for scheme, library in (("s3", "s3fs"), ("gs", "gcsfs"), ("az", "adlfs"), ("abfs", "adlfs")):
        missing = {"class": f"no_such_{library}.FileSystem", "err": f"Install {library}"}
        monkeypatch.setitem(registry.known_implementations, scheme, missing)
        monkeypatch.delitem(registry._registry, scheme, raising=False)
    with pytest.raises(StorageError, match=said) as caught:
        Planner(FilmJob("-", "-"), place)
    assert "hidden" not in str(caught.value)
    if place.startswith("https:"):
        return  # it may be read
    with pytest.raises(StorageError) as caught:
        find_films([place])
    assert "hidden" not in str(caught.value)


def folders_of(films: list[str], out: str | None = None) -> list[str]:
    """The work folders that films get."""
    planner = Planner(FilmJob("-", "-"), out, alone=True)
    return [film.job.folder for film in planner.plan([StoredObject(film) for film in films])]


def test_a_film_keeps_its_folder_whatever_its_address(there: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = fsspec.filesystem("memory")
    first, second, out = "memory://films/z/movie.mp4", "memory://films/a/movie.mp4", "memory://ad"
    for film in (first, second):
        store.pipe_file(film.removeprefix("memory:/"), b"film")
    store.pipe_file("/ad/movie.shotad/settings.json", json.dumps({"film": {"path": first}}).encode())
    # Sorted before it, yet later: with it, alone, and when the first film is gone.
    assert folders_of([second, first], out) == [f"{out}/a-movie.shotad", f"{out}/movie.shotad"]
    assert folders_of([second], out) == [f"{out}/a-movie.shotad"]
    store.rm_file("/films/z/movie.mp4")
    assert folders_of([second], out) == [f"{out}/movie.shotad"]
    # A film of the web is known by any of its signatures.
    place, out = "https://films.example.org/movie.mp4", "memory://ad"
    record = {"film": {"path": f"{place}?Date=1&Signature=…"}}
    fsspec.filesystem("memory").pipe_file("/ad/movie.shotad/settings.json", json.dumps(record).encode())
    signed = f"{place}?Date=2&Signature=secret"
    assert folders_of([signed], out) == [f"{out}/movie.shotad"]
    assert folders_of(["https://other.example.org/movie.mp4"], out) != [f"{out}/movie.shotad"]
    # A work folder on the web is nobody's and is not asked for.
    registry = importlib.import_module("fsspec.registry")
    monkeypatch.setitem(registry._registry, "https", lambda **_: pytest.fail("the web was asked"))
    (folder,) = folders_of([SIGNED])
    assert folder.startswith("https://films.example.org/a/movie.shotad")
    with pytest.raises(StorageError, match=r"Nothing can be written to an address of the web.*--out"):
        check_kind(folder)


SIGNED = "https://films.example.org/a/movie.mp4?id=5&X-Amz-Signature=0c0ffee/0"


def test_a_signature_stands_neither_in_the_report_nor_in_what_is_said(tmp_path: Path) -> None:
    planned = Planner(FilmJob("-", "-"), str(tmp_path / "ad")).plan([StoredObject(SIGNED, 4, None)])
    result = failure(planned[0].job, f"{shown(SIGNED)} is gone.", "", kind="StorageError")
    rows = [FilmRow(*film_labels(planned), planned[0], result)]
    report = BatchReport(tmp_path / "report.json")
    report.write(lambda: rows, 1.0, ended=True)
    assert film_labels(planned) == ["movie.mp4"]
    for text in (report.path.read_text(), as_lines(rows, 1.0)):
        assert "0c0ffee" not in text
    again = films_named([StoredObject(SIGNED, 4, None)], failed_in(read_report(report.path)))
    assert [film.place for film in again] == [SIGNED], "it is known again where it is named again"


def test_a_file_address_is_a_path_of_this_machine(tmp_path: Path) -> None:
    film = tmp_path / "a b%20c.mp4"
    film.touch()
    assert is_local(f"file://{film}")
    assert local_path(f"file://{film}") == film
    assert local_path("file:///films/a%20b.mp4") == Path("/films/a b.mp4")
    with pytest.raises(UsageError, match="not on this machine"):
        local_path("s3://b/x")


@pytest.mark.parametrize(("place", "name"), [
    ("s3://b/films/a b ü.mp4", "a b ü.mp4"),
    ("s3://b/films/what?.mp4", "what?.mp4"),
    ("s3://b/films/50%20.mp4", "50%20.mp4"),
    ("https://h/films/a%20b.mp4?X-Amz-Signature=abc", "a b.mp4"),
    ("https://h/films/a%2Fb.mp4", "a_b.mp4"),
    ("/films/x.mp4", "x.mp4"),
    ("s3://b/ad/x.shotad/", "x.shotad"),
])  # fmt: skip
def test_the_name_of_a_place_is_fit_for_a_file(place: str, name: str) -> None:
    assert name_of(place) == name


def test_names_and_addresses_are_fit_to_print() -> None:
    name = name_of(f"s3://b/{'ü' * 400}.mp4")
    assert len(name.encode()) <= 255
    assert name.startswith("üü")
    assert name.endswith(".mp4")
    text = shown("https://me:pw@h/x.mp4?X-Amz-Signature=s1&X-Amz-Credential=c1&part=2")
    assert text == "https://h/x.mp4?X-Amz-Signature=…&X-Amz-Credential=…&part=2"
