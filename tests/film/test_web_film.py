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
from shotad.film.web_film import WebFilm, download_film, downloaded_film, look_up
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
    """The address of a web server with a film, two pages of the same title with a film each, a page without
    one, and nothing else."""
    pages = tmp_path / "site"
    pages.mkdir()
    (pages / "a film.mp4").write_bytes(make_film(FilmSpec(frames=300, cuts=(100, 200))).path.read_bytes())
    (pages / "page.html").write_text("<html><title>News</title><p>No film.</p></html>", encoding="utf-8")
    for name, cuts in (("one", (100, 200)), ("two", (50, 250))):
        film = make_film(FilmSpec(frames=300, cuts=cuts)).path
        (pages / f"{name}.mp4").write_bytes(film.read_bytes())
        page = f'<html><title>A title</title><video src="{name}.mp4"></video></html>'
        (pages / f"{name}.html").write_text(page, encoding="utf-8")
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
    told = shotad("describe", f"{site}/a%20film.mp4", *FAKE, "--no-sheet")
    assert told.code == 0, "nobody is asked about a download that was made"
    assert "Downloaded before" in told.err
    assert shotad("describe", f"{site}/a%20film.mp4", *FAKE, "--no-sheet", "--download").code == 0
    assert film.stat().st_mtime_ns == written


def test_films_of_one_title_are_two_files(site: str, here: Path) -> None:
    (here / "a film.mp4").write_bytes(b"a film of the user's own")
    paths = [
        download_film(look_up(f"{site}/{name}"), here, "en")
        for name in ("one.html", "two.html", "a%20film.mp4")
    ]
    assert paths[0].name == "A title (1).mp4"
    assert paths[1].name.startswith("A title (1)-")
    assert paths[2].name.startswith("a film-")
    assert (here / "a film.mp4").read_bytes() == b"a film of the user's own"
    assert paths[0].read_bytes() != paths[1].read_bytes()
    assert [downloaded_film(f"{site}/{name}", here) for name in ("one.html", "two.html")] == paths[:2]
    paths[0].unlink()
    assert downloaded_film(f"{site}/one.html", here) is None
    assert download_film(look_up(f"{site}/one.html"), here, "en") == paths[0]


def test_a_download_that_broke_off_keeps_its_name(
    site: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import yt_dlp

    def broken(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    page = look_up(f"{site}/one.html")
    with monkeypatch.context() as patch:
        patch.setattr(yt_dlp.YoutubeDL, "process_info", broken)
        with pytest.raises(KeyboardInterrupt):
            download_film(page, here, "en")
    assert downloaded_film(page.address, here) is None
    (here / "A title (1).mp4.part").write_bytes(b"")
    assert download_film(look_up(f"{site}/two.html"), here, "en").name != "A title (1).mp4"
    assert download_film(page, here, "en").name == "A title (1).mp4"


def test_a_batch_downloads_the_films_of_pages_once(shotad: Shotad, site: str, here: Path) -> None:
    pages = [f"{site}/one.html", f"{site}/two.html"]
    (here / "films.txt").write_text("\n".join([*pages, f"{site}/page.html"]), encoding="utf-8")
    words = ("batch", "--list", "films.txt", *FAKE, "--no-sheet", "--jobs", "1")
    refused = shotad("batch", pages[0], *FAKE)
    assert refused.code == 1
    assert "is a page" in refused.err
    assert "--download" in refused.err
    foreseen = shotad("batch", *pages, *FAKE, "--download", "--dry-run")
    assert foreseen.code == 0, foreseen.err
    assert "To be downloaded into" in foreseen.err
    assert not list(here.glob("*.mp4"))
    result = shotad(*words, "--download", "--json")
    assert result.code == 1, "the page without a film fails alone"
    films = json.loads(result.out)["films"]
    assert sorted(film["state"] for film in films) == ["done", "done", "failed"]
    assert len(list(here.glob("A title*.shotad/track.json"))) == 2
    failed = shotad("batch", *FAKE, "--download", "--only-failed", "--jobs", "1", "--json")
    assert [film["film"] for film in json.loads(failed.out)["films"]] == [f"{site}/page.html"]
    for page in pages:
        film = downloaded_film(page, here)
        assert film is not None
        # Neither the site nor the film on it is asked again.
        film.with_suffix(".source.json").write_text(
            film.with_suffix(".source.json").read_text(encoding="utf-8").replace(site, "http://127.0.0.1:9"),
            encoding="utf-8",
        )
    gone = [page.replace(site, "http://127.0.0.1:9") for page in pages]
    again = shotad("batch", *gone, *FAKE, "--no-sheet", "--jobs", "1", "--download", "--json")
    assert again.code == 0, again.err
    assert [film["state"] for film in json.loads(again.out)["films"]] == ["skipped", "skipped"]


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
    assert downloaded_film(f"{site}/login.mp4", here) is None


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
