"""``shotad review`` as a user meets it, up to where the page is opened."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.python_path import python_path
from tests.rendering.described import film_with, write_folder


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "film.shotad")


class Served:
    """The command at work: the address that it printed, and what the page is told of the film."""

    def __init__(self, *words: object, browser: str = "") -> None:
        command = [sys.executable, "-m", "shotad", "review", *map(str, words), "--json"]
        environment = {**os.environ, "PYTHONPATH": python_path(), **({"BROWSER": browser} if browser else {})}
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        assert self._process.stdout is not None
        text = ""
        while not text.rstrip().endswith("}"):
            line = self._process.stdout.readline()
            assert line, self._process.communicate()
            text += line
        self.result = json.loads(text)
        self.address = str(self.result["address"])

    def film(self) -> dict[str, Any]:
        """What the page is told when it is opened."""
        return self._asked("/api/film")

    def _asked(self, path: str) -> dict[str, Any]:
        httpx = pytest.importorskip("httpx")
        base, _, token = self.address.partition("?token=")
        port = base.rstrip("/").rpartition(":")[2]
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            client.get("/", params={"token": token})
            return dict(client.get(path, headers={"X-Shotad": "page"}).json())

    def films(self) -> list[dict[str, Any]]:
        """What the page of a folder of films is told."""
        return list(self._asked("/api/films")["films"])

    @property
    def listens_at(self) -> list[tuple[str, int]]:
        """The addresses at which others reach it."""
        connections = psutil.Process(self._process.pid).net_connections("tcp")
        return [tuple(one.laddr) for one in connections if one.status == psutil.CONN_LISTEN]

    def __enter__(self) -> Served:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """End it; it says nothing beside its result."""
        self._process.terminate()
        said = self._process.communicate(timeout=60)
        if error is None:
            assert (self._process.returncode, *said) == (0, "", "")


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def test_options_reach_the_server(place: Path, tmp_path: Path) -> None:
    moved, port = tmp_path / "moved.mp4", free_port()
    moved.write_bytes(film_with().read_bytes())
    words = ("--no-open", "--host", "0.0.0.0", "--port", port, "--reviewer", "Ann", "--film", moved)
    with Served(place, *words) as served:
        assert served.listens_at == [("0.0.0.0", port)]
        # The address of a container is of no use to people outside it.
        is_container = any(Path(file).exists() for file in ("/.dockerenv", "/run/.containerenv"))
        assert served.address.startswith(f"http://localhost:{port}/") == is_container
        assert f":{port}/" in served.address
        film = served.film()
        assert (film["reviewer"], film["film"]["name"]) == ("Ann", "moved.mp4")
        can_be_shown = film["playable"]
    # A film that is gone is no hindrance.
    write_folder(tmp_path / "b" / "moved.shotad", moved)
    moved.unlink()
    with Served(tmp_path / "b" / "moved.shotad", "--no-open") as served:
        assert served.film()["playable"] != can_be_shown


@pytest.mark.parametrize("missing", ["starlette", "uvicorn"])
def test_missing_packages_are_named_with_the_extra(shotad, place, missing, monkeypatch):
    modules: Any = sys.modules
    monkeypatch.setitem(modules, missing, None)  # as if it were not installed
    heard = shotad("review", place)
    assert heard.code == 2
    assert missing in heard.err
    assert 'pip install "shotad[review]"' in heard.err


def test_it_is_served_to_this_machine_alone_and_opened_unless_asked(place: Path, tmp_path: Path) -> None:
    """Its result is the address, as JSON too, for programs that open the page themselves."""
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{opened}"\n')
    browser.chmod(0o755)
    with Served(place, browser=str(browser)) as served:
        until = time.monotonic() + 60
        while not (opened.exists() and opened.read_text().endswith("\n")):
            assert time.monotonic() < until
            time.sleep(0.05)
        assert [host for host, _ in served.listens_at] == ["127.0.0.1"]
        assert re.match(r"http://127\.0\.0\.1:\d+/\?token=", served.address)
        assert opened.read_text().startswith(served.address.partition("?")[0])
        assert served.result["folder"] == str(place)


def test_a_folder_of_films_is_told_from_a_film_and_from_a_work_folder(
    shotad: Any, place: Path, tmp_path: Path
) -> None:
    films = tmp_path / "films"
    films.mkdir()
    with Served(films, "--no-open") as served:
        assert served.films() == []
        (films / "film.mp4").write_bytes(film_with().read_bytes())
        assert [film["name"] for film in served.films()] == ["film.mp4"]
    # A work folder without a track is no folder of films, whatever it is called.
    (place / "track.json").unlink()
    assert "has no track" in shotad("review", place, "--no-open").err
    place.rename(tmp_path / "renamed")
    assert "has no track" in shotad("review", tmp_path / "renamed", "--no-open").err
    assert "has no track" in shotad("review", films / "film.mp4", "--no-open").err
    assert "has no track" in shotad("review", tmp_path / "nowhere", "--no-open").err
    said = shotad("review", films, "--no-open", "--film", films / "film.mp4")
    assert "folder of films" in said.err
