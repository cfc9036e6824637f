"""The fixture ``shotad`` for all commands."""

from __future__ import annotations

import sys

import pytest

from shotad.cli.main import main
from tests.cli.program import Said, Shotad


@pytest.fixture
def shotad(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shotad:
    def call(*words: object) -> Said:
        monkeypatch.setattr(sys, "argv", ["shotad", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            main()
        heard = capsys.readouterr()
        return Said(int(stop.value.code or 0), heard.out, heard.err)

    return call
