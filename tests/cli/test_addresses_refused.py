"""Addresses given to commands that open paths only."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.program import FAKE, Shotad

FOLDER = "s3://me:hidden@described/x.shotad"


@pytest.mark.parametrize(
    "words",
    [
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
    ],
)
def test_an_address_where_a_path_is_wanted_is_refused_with_a_way_out(
    shotad: Shotad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "film.mp4").write_bytes(b"film")
    said = shotad(*words)
    assert said.code == 2, said
    assert "s3://described/x.shotad is an address, and a path of this machine is wanted." in said.err
    assert "shotad batch" in said.err
    assert "hidden" not in said.err + said.out
    assert os.listdir(tmp_path) == ["film.mp4"], "no folder of that name is made"


def test_a_path_that_looks_like_an_address_is_one_where_something_is_there(
    shotad: Shotad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s3:").mkdir()
    (tmp_path / "s3:" / "x.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nA door.\n")
    said = shotad("export", "s3://x.srt", "--check")
    assert "is an address" not in said.err
