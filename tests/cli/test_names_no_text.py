"""Films and work folders whose names are no UTF-8."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.program import FAKE, Shotad
from tests.media import FilmSpec, make_film

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
