"""``shotad cast discover``: what it says, and what it does with its options."""

from __future__ import annotations

from pathlib import Path

import pytest

from shotad.cli.cast import cast_folder_of
from tests.painted_faces import Head, Take, paint_film

TAKES = (
    Take(2.0, (Head("ann", (0.25, 0.5), (0.4, 0.5)),)),
    Take(1.5, (Head("bo", (0.75, 0.5), (0.75, 0.5)),)),
    Take(1.5, (Head("ann", (0.7, 0.5), (0.7, 0.5)),)),
)


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("films")
    paint_film(folder / "ep one.mp4", TAKES)
    paint_film(folder / "empty.mp4", (Take(1.0), Take(1.0)))
    return folder


def test_the_three_commands_of_a_newcomer_begin_here(shotad, films, tmp_path, painted_faces):
    cast = tmp_path / "x.cast"
    words = ("cast", "discover", films / "ep one.mp4", "--cast", cast, "--out", tmp_path / "work")
    assert shotad(*words).code == 0
    assert shotad("cast", "name", cast, "person-01", "Ann Lee").code == 0
    assert "Ann Lee" in (cast / "overview.html").read_text()
    again = shotad(*words)
    assert "as before; Ann Lee" in again.out
    assert "2 known before, 0 new" in again.out
    assert f"shotad cast name {cast} person-02" in again.out


def test_no_face_is_no_error(shotad, films, tmp_path, painted_faces):
    cast = tmp_path / "x.cast"
    said = shotad("cast", "discover", films / "empty.mp4", "--cast", cast, "--out", tmp_path / "w", "--plain")
    assert said.code == 0
    assert "No faces were found in empty.mp4" in said.out
    assert not cast.exists()


def test_a_cast_that_is_a_bank_is_refused(shotad, films, tmp_path, painted_faces):
    bank = tmp_path / "bank.json"
    bank.write_text("{}")
    said = shotad("cast", "discover", films / "ep one.mp4", "--cast", bank, "--out", tmp_path / "w")
    assert said.code == 1
    assert "is no cast folder" in said.err


def test_the_cast_stands_beside_the_film() -> None:
    assert cast_folder_of(Path("films/movie.part.mp4")) == Path("films/movie.part.cast")
