"""Films of a place: files, folders and patterns, here and in a store."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from shotad.batch import (
    Found,
    Gathered,
    Planner,
    Report,
    Row,
    Wishes,
    as_lines,
    failed_in,
    labels,
    read_report,
)
from shotad.batch.films import Neighbours, beside_of, films_in
from shotad.batch.jobs import failure
from shotad.batch.places import parent_of, shown
from shotad.batch.planning import Folders
from shotad.batch.store import Store, check_kind
from shotad.batch.table import as_json
from shotad.core import FilmError, StorageError

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


def test_a_film_keeps_its_folder_in_a_store_when_others_of_its_name_come(there: str) -> None:
    store = fsspec.filesystem("memory")
    first, second, out = "memory://films/z/movie.mp4", "memory://films/a/movie.mp4", "memory://ad"
    for film in (first, second):
        store.pipe_file(film.removeprefix("memory:/"), b"film")
    store.pipe_file("/ad/movie.shotad/settings.json", json.dumps({"film": {"path": first}}).encode())
    # Sorted before it, yet later: with it, alone, and when the first film is gone.
    assert Folders(out).of([second, first]) == [f"{out}/a-movie.shotad", f"{out}/movie.shotad"]
    assert Folders(out).of([second]) == [f"{out}/a-movie.shotad"]
    store.rm_file("/films/z/movie.mp4")
    assert Folders(out).of([second]) == [f"{out}/movie.shotad"]


def test_only_folders_that_are_there_are_asked_whose_they_are(
    there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, asked = fsspec.filesystem("memory"), []
    films = [f"{there}/{n}/m{n}.mp4" for n in range(40)]
    store.pipe_file("/ad/m7.shotad/settings.json", json.dumps({"film": {"path": films[7]}}).encode())
    store.pipe_file(films[7].removeprefix("memory:/"), b"film")
    for name in ("read", "find", "names", "entries"):
        real = getattr(Store, name)
        monkeypatch.setattr(
            Store, name, lambda self, place, *rest, real=real: asked.append(place) or real(self, place, *rest)
        )
    assert Folders("memory://ad").of(films) == [f"memory://ad/m{n}.shotad" for n in range(40)]
    assert asked == ["memory://ad", "memory://ad/m7.shotad/settings.json"]


def test_a_film_of_the_web_is_known_by_any_of_its_signatures(there: str) -> None:
    place, out = "https://films.example.org/movie.mp4", "memory://ad"
    record = {"film": {"path": f"{place}?Date=1&Signature=…"}}
    fsspec.filesystem("memory").pipe_file("/ad/movie.shotad/settings.json", json.dumps(record).encode())
    signed = f"{place}?Date=2&Signature=secret"
    assert Folders(out).of([signed]) == [f"{out}/movie.shotad"]
    assert Folders(out).of(["https://other.example.org/movie.mp4"]) != [f"{out}/movie.shotad"]


def test_each_folder_is_asked_once_for_what_lies_beside_and_not_for_what_is_below(
    there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = fsspec.filesystem("memory")
    for name in ("f1/m.mp4", "f1/m.srt", "f1/m.cast/a.jpg", "f2/m.mp4", "f2/shotad.yaml"):
        store.pipe_file(f"/films/{name}", b"seed: 1")
    asked: list[str] = []
    names = Store.names
    monkeypatch.setattr(Store, "names", lambda store, place: asked.append(place) or names(store, place))
    monkeypatch.setattr(Store, "entries", lambda _, place: pytest.fail(f"all below {place} was listed"))
    found = [Found(f"{there}/{name}", 4, None) for name in ("b.mp4", "f1/m.mp4", "f2/m.mp4", "sub/c.webm")]
    near = Neighbours()
    near.read(parent_of(one.place) for one in found)
    beside = [beside_of(one.place, near, "en").names for one in found]
    assert beside == [(), ("m.srt", "m.cast"), ("shotad.yaml",), ()]
    assert sorted(asked) == [there, f"{there}/f1", f"{there}/f2", f"{there}/sub"]


SIGNED = "https://films.example.org/a/movie.mp4?id=5&X-Amz-Signature=0c0ffee/0"


def test_a_signature_stands_neither_in_the_report_nor_in_what_is_said(tmp_path: Path) -> None:
    wishes = Wishes(out=str(tmp_path / "ad"))
    planned = Planner(wishes).plan([Found(SIGNED, 4, None)])
    result = failure(planned[0].job, f"{shown(SIGNED)} is gone.", "", kind="StorageError")
    rows = [Row(*labels(planned), planned[0], result)]
    report = Report(tmp_path / "report.json")
    report.write(lambda: rows, 1.0, ended=True)
    assert labels(planned) == ["movie.mp4"]
    for text in (report.path.read_text(), as_lines(rows, 1.0), json.dumps(as_json(rows))):
        assert "0c0ffee" not in text
    again = Gathered((Found(SIGNED, 4, None),)).only(failed_in(read_report(report.path)))
    assert [film.place for film in again.found] == [SIGNED], "it is known again where it is named again"


def test_a_work_folder_on_the_web_is_nobodys_and_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Store, "__init__", lambda *_, **__: pytest.fail("the web was asked"))
    (folder,) = Folders().of([SIGNED])
    assert folder.startswith("https://films.example.org/a/movie.shotad")
    with pytest.raises(StorageError, match=r"Nothing can be written to an address of the web.*--out"):
        check_kind(folder)
