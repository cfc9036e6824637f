"""Addresses given to commands that open paths only, and names that are no UTF-8."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.program import FAKE, Shotad
from tests.media import FilmSpec, make_film

FOLDER = "s3://me:hidden@described/x.shotad"


@pytest.mark.parametrize("words", [
    ("describe", FOLDER),
    ("describe", "film.mp4", "--out", FOLDER, *FAKE),
    ("render", FOLDER),
    ("review", FOLDER),
    ("export", FOLDER),
    ("export", "x.shotad", "--out", FOLDER),
    ("import", "x.shotad", FOLDER),
    ("lint", FOLDER),
    ("sheet", FOLDER),
    ("translate", FOLDER, "--to", "de"),
    ("cast", "show", FOLDER),
    ("batch", "film.mp4", "--report", FOLDER),
])  # fmt: skip
def test_an_address_where_a_path_is_wanted_is_refused_with_a_way_out(shotad, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "film.mp4").write_bytes(b"film")
    said = shotad(*words)
    assert said.code == 2, said
    assert "s3://described/x.shotad is an address, and a path of this machine is wanted." in said.err
    assert "shotad batch" in said.err
    assert "hidden" not in said.err + said.out
    assert os.listdir(tmp_path) == ["film.mp4"], "no folder of that name is made"


LATIN = os.fsdecode(b"caf\xe9.mp4")
PLAIN = "film.mp4"


@pytest.mark.skipif(sys.platform == "darwin", reason="names must be UTF-8 there")
@pytest.mark.parametrize("words", [(LATIN,), (PLAIN, "--out", os.fsdecode(b"out-\xe9"))])
def test_a_single_film_is_refused_for_such_a_name_before_anything_is_written(
    words: tuple[str, ...], shotad: Shotad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(make_film(FilmSpec(frames=30)).path, tmp_path / PLAIN)
    shutil.copy(tmp_path / PLAIN, tmp_path / LATIN)
    monkeypatch.chdir(tmp_path)
    found = shotad("describe", *words, *FAKE)
    assert found.code == 1
    assert "\\xe9" in found.err
    assert "is not in UTF-8" in found.err
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([LATIN, PLAIN])
