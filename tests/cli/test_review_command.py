"""``shotad review`` as a user meets it, up to where its server begins."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Shotad
from tests.rendering.described import film_with, write_folder


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "film.shotad")


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the server would have been started with."""
    calls: list[dict[str, Any]] = []

    def serve(folder: Path, film: Path | None, run: object, **options: Any) -> None:
        calls.append({"folder": folder, "film": film, **options})

    monkeypatch.setattr("shotad.review.serve", serve)
    return calls


def test_options_reach_the_server(shotad: Shotad, place: Path, served: list[Any], tmp_path: Path) -> None:
    moved = tmp_path / "moved.mp4"
    moved.write_bytes(film_with().read_bytes())
    words = ("--no-open", "--host", "0.0.0.0", "--port", 8123, "--reviewer", "Ann", "--film", moved)
    assert shotad("review", place, *words).code == 0
    call = served[0]
    assert (call["host"], call["port"], call["open_browser"]) == ("0.0.0.0", 8123, False)
    assert (call["reviewer"], call["film"]) == ("Ann", moved)
    # A film that is gone is no hindrance.
    write_folder(tmp_path / "b" / "moved.shotad", moved)
    moved.unlink()
    assert shotad("review", tmp_path / "b" / "moved.shotad").code == 0
    assert served[1]["film"] is None


@pytest.mark.parametrize("missing", ["starlette", "uvicorn"])
def test_missing_packages_are_named_with_the_extra(shotad, place, missing, monkeypatch):
    modules: Any = sys.modules
    monkeypatch.setitem(modules, missing, None)  # as if it were not installed
    heard = shotad("review", place)
    assert heard.code == 2
    assert missing in heard.err
    assert "pip install 'shotad[review]'" in heard.err


def test_the_address_is_the_result(place: Path) -> None:
    """As JSON too, for programs that open the page themselves."""
    command = [sys.executable, "-m", "shotad.cli.main", "review", str(place), "--no-open", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    text = ""
    while not text.rstrip().endswith("}"):
        line = process.stdout.readline()
        assert line, process.communicate()
        text += line
    process.terminate()
    out, err = process.communicate(timeout=60)
    value = json.loads(text)
    assert re.match(r"http://127\.0\.0\.1:\d+.*\?token=", value["address"])
    assert value["folder"] == str(place)
    assert (process.returncode, out, err) == (0, "", "")


def test_it_is_served_to_this_machine_alone_unless_asked(shotad, place, served):
    assert shotad("review", place).code == 0
    usual = {"host": "127.0.0.1", "port": None, "open_browser": True, "reviewer": None}
    assert served[0].items() >= {"folder": place, "film": film_with(), **usual}.items()
