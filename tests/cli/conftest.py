"""The fixture ``shotad`` for all commands, and painted faces for those that look for faces."""

from __future__ import annotations

import sys

import pytest

from shotad.cli.main import main
from tests.cli.program import Said, Shotad
from tests.painted_faces import PaintedFaces, look_for_painted_faces


@pytest.fixture
def shotad(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shotad:
    def call(*words: object) -> Said:
        monkeypatch.setattr(sys, "argv", ["shotad", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            main()
        heard = capsys.readouterr()
        return Said(int(stop.value.code or 0), heard.out, heard.err)

    return call


@pytest.fixture
def painted_faces(monkeypatch: pytest.MonkeyPatch) -> PaintedFaces:
    """All that look for faces look for painted ones."""
    return look_for_painted_faces(monkeypatch)
