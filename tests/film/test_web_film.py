"""``shotad describe https://…``: looked up, named, and downloaded only when somebody says so."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from shotad.core.errors import FilmError
from shotad.film.web_film import WebFilm, download_film, look_up
from tests.cli.program import FAKE, Shotad
from tests.media import FilmSpec, make_film

pytest.importorskip("yt_dlp", reason="yt-dlp is not installed (extra web)")


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder, and what servers do that are busy, broken, or want a login."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
        """Say nothing."""

    def do_GET(self) -> None:
        name = self.path.lstrip("/")
        if name in ("429.mp4", "503.mp4", "403.mp4"):
            self.send_error(int(name.removesuffix(".mp4")))
        elif name == "elsewhere.mp4":
            self.answer(302, {"Location": "ftp://127.0.0.1/film.mp4"})
        elif name == "no-number.mp4":
            self.answer(200, {"Content-Type": "video/mp4", "Content-Length": "many"}, b"film")
        elif name == "login.mp4":
            page = b"<!doctype html><html><body>Please log in.</body></html>"
            self.answer(200, {"Content-Type": "video/mp4", "Content-Length": str(len(page))}, page)
        else:
            super().do_GET()

    def answer(self, status: int, headers: dict[str, str], body: bytes = b"") -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """The address of a web server with a film, a page without one, and nothing else."""
    pages = tmp_path / "site"
    pages.mkdir()
    (pages / "a film.mp4").write_bytes(make_film(FilmSpec(frames=300, cuts=(100, 200))).path.read_bytes())
    (pages / "page.html").write_text("<html><title>News</title><p>No film.</p></html>", encoding="utf-8")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(pages))) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the command runs."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_a_film_is_downloaded_and_described_after_a_yes(shotad: Shotad, site: str, here: Path) -> None:
    said = shotad("describe", f"{site}/a%20film.mp4", *FAKE, "--no-sheet", typed="y\n")
    assert said.code == 0, said.err
    assert "“a film”" in said.err
    assert "no licence is named" in said.err
    film = here / "a film.mp4"
    assert film.is_file()
    assert (here / "a film.shotad" / "track.json").is_file()
    record = json.loads((here / "a film.source.json").read_text(encoding="utf-8"))
    assert record["address"] == f"{site}/a%20film.mp4"
    # A second run takes the file that is there.
    written = film.stat().st_mtime_ns
    assert shotad("describe", f"{site}/a%20film.mp4", *FAKE, "--no-sheet", "--download").code == 0
    assert film.stat().st_mtime_ns == written


def test_nothing_is_downloaded_without_a_yes(shotad: Shotad, site: str, here: Path) -> None:
    for typed, message in (("n\n", "Nothing was downloaded"), ("", "--download")):
        said = shotad("describe", f"{site}/a%20film.mp4", *FAKE, typed=typed)
        assert said.code != 0
        assert message in said.err
        assert not list(here.iterdir())


def test_download_is_refused_for_a_film_that_is_here(shotad: Shotad, here: Path) -> None:
    film = here / "movie.mp4"
    film.write_bytes(make_film(FilmSpec(frames=300, cuts=(100, 200))).path.read_bytes())
    said = shotad("describe", film, *FAKE, "--download")
    assert said.code == 2
    assert "web addresses" in said.err


@pytest.mark.parametrize("page", ["page.html", "missing.mp4"])
def test_an_address_without_a_film_is_refused_by_name(site: str, page: str) -> None:
    with pytest.raises(FilmError, match=f"{page} cannot be downloaded"):
        look_up(f"{site}/{page}")


@pytest.mark.parametrize(("page", "again"), [("503.mp4", True), ("429.mp4", True), ("403.mp4", False)])
def test_the_hint_says_whether_a_second_try_may_help(site: str, page: str, again: bool) -> None:
    with pytest.raises(FilmError) as error:
        look_up(f"{site}/{page}")
    assert error.value.again is again
    assert ("Try again later" in error.value.hint) is again


@pytest.mark.parametrize("page", ["elsewhere.mp4", "no-number.mp4"])
def test_an_answer_that_yt_dlp_does_not_expect_is_no_fault_of_ours(site: str, here: Path, page: str) -> None:
    with pytest.raises(FilmError, match=f"{page} cannot be downloaded"):
        download_film(look_up(f"{site}/{page}"), here, "en")


def test_a_page_in_place_of_the_film_is_told_with_what_to_do(site: str, here: Path) -> None:
    with pytest.raises(FilmError, match=r"login\.mp4 sent no film") as error:
        download_film(look_up(f"{site}/login.mp4"), here, "en")
    assert str(here / "login.mp4") in error.value.hint
    assert not list(here.glob("*.source.json"))


def test_a_server_that_is_not_there_is_told() -> None:
    with pytest.raises(FilmError, match="cannot be downloaded"):
        look_up("http://127.0.0.1:9/film.mp4")


def test_without_yt_dlp_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "yt_dlp", None)
    with pytest.raises(FilmError, match="not installed") as error:
        look_up("https://example.org/film.mp4")
    assert "shotad[web]" in error.value.hint


def test_what_is_said_of_a_film() -> None:
    film = WebFilm("https://example.org", "Sintel", 888.0, 135_000_000, "CC BY", ("en",))
    assert str(film).startswith("“Sintel”, 14 min")
    assert "licence: CC BY" in str(film)


def test_a_password_in_the_address_is_kept_out_of_the_record(site: str, here: Path) -> None:
    address = f"{site}/a%20film.mp4".replace("http://", "http://user:secret@")
    path = download_film(look_up(address), here, "en")
    assert "secret" not in path.with_suffix(".source.json").read_text(encoding="utf-8")
