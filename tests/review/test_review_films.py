"""The first screen for a folder of films: its list, describing, uploads, downloads, and the pages of films."""

from __future__ import annotations

import asyncio
import io
import json
import os
import shutil
import socket
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from filelock import FileLock

from shotad.core.errors import ReviewError, WorkFolderError
from shotad.review import open_films
from shotad.script import load_track
from shotad.script.cue import CueStatus, EditField, mark_edit
from shotad.script.track_files import TRACK
from tests.rendering.described import film_with, retrack, write_folder
from tests.review.asgi import WAIT, Answer, Listener, scope_of
from tests.review.filmfolder import FilmsPage, copied_film, films_open, films_served
from tests.review.reviewed import in_english


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one film that is not described."""
    return copied_film(tmp_path / "films").parent


@pytest.fixture
def described_folder(folder: Path) -> Path:
    """The same when the film is described: three lines, written by hand."""
    write_folder(folder / "film.shotad", folder / "film.mp4")
    return folder


@pytest.fixture
def page(folder: Path) -> Iterator[FilmsPage]:
    with films_open(folder) as (_, opened):
        yield opened


# The list


def test_a_film_with_a_description_is_shown_as_such_and_its_gaps_are_described(folder: Path) -> None:
    quick = "speech: {source: none}\nslots: {find_credits: false}\nthreads: {features: none}\nscale: {method: none}\n"
    (folder / "film.yaml").write_text(quick, encoding="utf-8")
    text = "WEBVTT\nKind: descriptions\n\n00:01.000 --> 00:03.000\nA girl crosses the ice.\n"
    with films_open(folder) as (_, page):
        assert page.film("film.mp4")["state"] == "new"
        (folder / "film.ad.vtt").write_text(text, encoding="utf-8")
        film = page.film("film.mp4")
        assert (film["state"], film["can_complete"], film["page"]) == ("has_description", True, None)
        assert film["descriptions"] == ["film.ad.vtt"]
        # Who does not say what to do is told.
        assert page.describe("film.mp4").status == 202
        refused = page.ended("film.mp4")
        assert refused["job"]["state"] == "failed"
        assert "Describe the gaps" in refused["job"]["error"]["hint"]
        assert page.film("film.mp4")["state"] == "has_description"
        assert page.describe("film.mp4", existing="sometimes").status == 400
        page.described("film.mp4", existing="complete")
        assert load_track(folder / "film.shotad" / TRACK).cues[0].text == "A girl crosses the ice."
        # What was chosen holds for the next time.
        again = page.described("film.mp4")
        assert again["state"] == "edited"
        assert load_track(folder / "film.shotad" / TRACK).cues[0].text == "A girl crosses the ice."


def test_the_list_says_how_far_each_film_is(described_folder: Path) -> None:
    """Films of inner folders too; what lies beside a film and applies to it is named."""
    new = copied_film(described_folder / "inner", "new.mp4")
    new.with_suffix(".srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nHello.\n")
    begun = copied_film(described_folder, "begun.mp4")
    write_folder(begun.with_suffix(".shotad"), begun)
    (begun.with_suffix(".shotad") / TRACK).unlink()
    damaged = copied_film(described_folder, "damaged.mp4")
    write_folder(damaged.with_suffix(".shotad"), damaged)
    (damaged.with_suffix(".shotad") / TRACK).write_text("{")
    with films_open(described_folder) as (_, page):
        films = page.films()
        states = {name: film["state"] for name, film in films.items()}
        assert states == {
            "film.mp4": "described",
            "new.mp4": "new",
            "begun.mp4": "begun",
            "damaged.mp4": "failed",
        }
        assert films["film.mp4"]["counts"] == {"lines": 3, "to_write": 0, "edited": 0, "accepted": 0}
        assert films["new.mp4"]["uses"] == ["new.srt"]
        assert films["new.mp4"]["page"] is films["begun.mp4"]["archive"] is None
        assert TRACK in films["damaged.mp4"]["error"]["what"]
        retrack(
            described_folder / "film.shotad",
            lambda cue: (
                mark_edit(replace(cue, text="Other words."), cue, (EditField.TEXT,), "track.json")
                if cue.id == "s00001000"
                else cue
            ),
        )
        film = page.film("film.mp4")
        assert (film["state"], film["counts"]["edited"]) == ("edited", 1)


def test_the_list_says_how_many_lines_are_to_be_written(described_folder: Path) -> None:
    """As the worksheet leaves them: with a slot, and without words."""
    silent = {"text": "", "status": CueStatus.SILENT, "reason": "nothing"}
    retrack(
        described_folder / "film.shotad",
        lambda cue: replace(cue, **silent) if cue.id == "s00001000" else cue,
    )
    with films_open(described_folder) as (_, page):
        film = page.film("film.mp4")
        assert (film["state"], film["counts"]["lines"], film["counts"]["to_write"]) == ("described", 2, 1)


def test_a_folder_that_is_gone_and_comes_back_is_told_to_the_tabs(folder: Path) -> None:
    away = folder.with_name("away")
    with running(folder) as served:
        with served.stream("GET", "/api/events") as stream:
            lines = stream.iter_lines()

            def wait_for_news() -> None:
                assert any(line == "event: films" for line in lines), "the stream has ended"

            wait_for_news()
            folder.rename(away)
            assert served.get("/api/films").json()["error"]["what"] == "The folder films is gone."
            wait_for_news()
            away.rename(folder)
            wait_for_news()
        assert "film.mp4" in [film["name"] for film in served.get("/api/films").json()["films"]]


def test_names_with_odd_characters(folder: Path) -> None:
    odd = copied_film(folder, 'a #1?"100%"\n<b>.mp4')
    write_folder(odd.with_suffix(".shotad"), odd)
    os.rename(os.fsencode(copied_film(folder, "x.mp4")), os.fsencode(folder) + b"/bad\xff.mp4")
    with films_open(folder) as (_, page):
        films = page.films()
        assert set(films) == {"film.mp4", r'a #1?"100%"\n<b>.mp4', r"bad\xff.mp4"}
        assert "UTF-8" in films[r"bad\xff.mp4"]["error"]["what"]
        film = films[r'a #1?"100%"\n<b>.mp4']
        assert page.get(f"{film['page']}api/film").json["film"]["name"] == film["name"]
        assert zipfile.ZipFile(io.BytesIO(page.get(film["archive"]).body)).testzip() is None


def test_films_that_come_and_go_are_told_to_all_tabs(folder: Path) -> None:
    with running(folder) as served:
        told = [threading.Event(), threading.Event()]

        def listen(came: threading.Event) -> None:
            with served.stream("GET", "/api/events") as stream:
                for line in stream.iter_lines():
                    if line == "event: films":
                        came.set()
                        return

        tabs = [threading.Thread(target=listen, args=(came,)) for came in told]
        for tab in tabs:
            tab.start()
        until = time.monotonic() + WAIT
        while not all(came.is_set() for came in told):
            # Again and again: a tab may have opened after the first look at the folder.
            copied_film(folder, f"{time.monotonic_ns()}.mp4")
            assert time.monotonic() < until
            time.sleep(0.5)
        for tab in tabs:
            tab.join(WAIT)


# Describing


def test_a_film_is_described_opened_edited_and_downloaded(page: FilmsPage, folder: Path) -> None:
    film = page.described("film.mp4", language="en-GB")
    work_folder = folder / "film.shotad"
    track = load_track(work_folder / TRACK)
    assert (film["state"], track.language) == ("described", "en-GB")
    assert film["job"]["result"]["said"]["text"].startswith("film.mp4 is described: ")
    assert (work_folder / "done.json").exists(), "it is described as shotad batch describes it"

    opened = film["page"]
    line = page.get(f"{opened}api/film").json["lines"][0]
    act = {"act": "write", "line": line["id"], "args": {"text": "New words."}, "seen": line["stamp"]}
    answer = page.post(f"{opened}api/acts", {"tab": "here", "acts": [act]})
    assert "changed" in answer.json["answers"][0]
    film = page.film("film.mp4")
    assert film["state"] == "edited"
    assert "New words." in (work_folder / TRACK).read_text()

    names = {file["name"]: file["url"] for file in film["files"]}
    assert "film.ad.vtt" in names
    answer = page.get(names["film.ad.vtt"])
    assert "New words." in answer.text
    assert answer.headers["content-disposition"].startswith("attachment")
    answer = page.get(film["archive"])
    archive = zipfile.ZipFile(io.BytesIO(answer.body))
    assert "New words." in archive.read("film.shotad/track.json").decode()
    # Neither the secret that lets a browser in nor locks.
    assert [name for name in archive.namelist() if "secret" in name or "lock" in name] == []

    again = page.described("film.mp4", language="en-GB")
    assert again["state"] == "edited", "edits are kept"


def test_who_describes_twice_is_refused_and_unknown_engines_too(page: FilmsPage) -> None:
    assert page.describe("film.mp4").status == 202
    answer = page.describe("film.mp4")
    assert answer.status == 400
    assert "already" in answer.json["error"]["what"]
    page.ended("film.mp4")
    for choices in ({"engine": "module:Class"}, {"engine": "nothing"}, {"language": "xx-none"}):
        answer = page.describe("film.mp4", **choices)
        assert answer.status == 400, choices
    assert page.post("/api/films/000000000000/describe").json["error"]["hint"]


@pytest.mark.parametrize("beside", ["", "language: sv"])
def test_a_worksheet_in_a_language_that_it_is_not_made_in_is_refused_at_once(
    page: FilmsPage, folder: Path, beside: str
) -> None:
    """Whether the language was chosen on the page or stands in settings beside the film."""
    (folder / "film.yaml").write_text(beside)
    answer = page.describe("film.mp4", engine="embedded", language="" if beside else "sv")
    assert answer.status == 400
    assert answer.json["error"]["what"] == "The worksheet cannot be made in Swedish."
    assert "--" not in answer.json["error"]["hint"]
    assert page.film("film.mp4")["job"] is None
    assert not (folder / "film.shotad").exists()


def test_a_film_that_was_replaced_keeps_its_lines_and_says_what_to_do(described_folder: Path) -> None:
    track = (described_folder / "film.shotad" / TRACK).read_bytes()
    shutil.copy(film_with(frames=100), described_folder / "film.mp4")
    with films_open(described_folder) as (_, page):
        answer = page.get(f"{page.film('film.mp4')['page']}api/film")
        assert answer.status == 404
        assert answer.json["error"]["what"] == "film.mp4 was replaced or changed since it was described."
        page.describe("film.mp4")
        error = page.ended("film.mp4")["error"]
        for hint in (answer.json["error"]["hint"], error["hint"]):
            assert "another name" in hint
            assert "--" not in hint, "nobody has a command line here"
    assert (described_folder / "film.shotad" / TRACK).read_bytes() == track


def test_why_a_film_failed_is_said_and_kept_and_it_can_be_tried_again(folder: Path) -> None:
    (folder / "broken.mp4").write_text("This is no film.")
    with films_open(folder) as (_, page), Listener(page) as tab:
        page.describe("broken.mp4")
        film = page.ended("broken.mp4")
        assert (film["state"], film["job"]["state"]) == ("failed", "failed")
        assert "text file" in film["error"]["what"]
        assert any(job["state"] == "failed" for job in tab.of("job"))
    with films_open(folder) as (_, page):
        film = page.film("broken.mp4")
        assert (film["state"], film["job"]) == ("failed", None)
        assert "text file" in film["error"]["what"]
        shutil.copy(film_with(), folder / "broken.mp4")
        assert page.described("broken.mp4")["error"] is None


def test_a_film_that_was_stopped_is_not_gone_on_with_but_one_that_was_interrupted_is(folder: Path) -> None:
    copied_film(folder, "second.mp4")
    copied_film(folder, "third.mp4")
    with films_open(folder) as (_, page):
        for name in ("film.mp4", "second.mp4", "third.mp4"):
            page.describe(name)
        waiting = page.film("second.mp4")["job"]
        assert page.post(f"/api/jobs/{waiting['id']}/stop").json["state"] == "stopped"
        assert page.post("/api/jobs/j99/stop").status == 400
    with films_open(folder) as (films, page):
        # The server ended in the middle of the first.
        assert films.resumed == 2
        assert page.film("second.mp4")["job"] is None
        running = page.film("film.mp4")["job"]
        page.post(f"/api/jobs/{running['id']}/stop")
        assert page.ended("film.mp4")["job"]["state"] in ("stopped", "done")
        assert page.ended("third.mp4")["state"] == "described"
    with films_open(folder) as (films, _):
        assert films.resumed == 0


@pytest.mark.parametrize("change", ["seal", "engine", "folder", "damaged"])
def test_a_list_of_films_that_came_with_the_folder_is_not_followed(
    folder: Path, tmp_path: Path, change: str
) -> None:
    with films_open(folder) as (_, page):
        page.describe("film.mp4")
    queue = folder / ".shotad" / "queue.json"
    record = json.loads(queue.read_text())
    (entry,) = record["films"].values()
    if change == "seal":
        record["seal"] = "0" * 64
    elif change == "engine":
        entry["engine"] = "openai"
    elif change == "folder":
        folder = Path(shutil.copytree(folder, tmp_path / "copied"))
        queue = folder / ".shotad" / "queue.json"
    queue.write_text("[" if change == "damaged" else json.dumps(record))
    with films_open(folder) as (films, _):
        assert films.resumed == 0


def test_what_can_be_chosen(page: FilmsPage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://user:secret@127.0.0.1:9/v1")
    choices = in_english(page.get("/api/choices").json)
    engines = {engine["value"]: engine for engine in choices["engines"]}
    assert choices["engines"][0]["value"] == ""
    assert "embedded" in engines
    assert "sent to http://127.0.0.1:9" in engines["openai"]["about"]
    assert "secret" not in engines["openai"]["about"]
    assert "de" in choices["languages"]
    assert choices["default_language"] == "en"


# Uploads


def test_a_film_is_uploaded(page: FilmsPage, folder: Path) -> None:
    data = film_with().read_bytes()
    answer = page.upload("C%3A%5CFilms%5CNew%20film.mp4", data)
    assert (answer.status, answer.json) == (200, {"name": "New film.mp4"})
    assert (folder / "New film.mp4").read_bytes() == data
    assert page.film("New film.mp4")["state"] == "new"
    assert list((folder / ".shotad" / "uploads").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "cleaned"),
    [
        ("film 2.MKV", "film 2.MKV"),
        ("../../etc/passwd.mp4", "passwd.mp4"),
        ("..\\..\\.bashrc.mp4", "bashrc.mp4"),
        (".mp4.mp4", "mp4.mp4"),
        ("a:b*c?<d>|.mp4", "a_b_c__d__.mp4"),
        ("line\nend\u202emp4.mov", "line end mp4.mov"),
        ("CON.mp4", "CON_.mp4"),
        ("é" * 200 + ".mp4", "é" * 100 + ".mp4"),
        ("e\u0301.mp4", "é.mp4"),
    ],
)
def test_names_are_cleaned(page: FilmsPage, name: str, cleaned: str) -> None:
    assert page.check(name).json == {"name": cleaned}


@pytest.mark.parametrize(
    "name", ["", "film", "shotad.yaml", "film.srt", "..", ".mp4", "film.mp4/", "film.mp4\0.txt"]
)
def test_names_of_other_files_are_refused(page: FilmsPage, name: str) -> None:
    assert page.check(name).status == 400


def test_nothing_is_overwritten(page: FilmsPage, folder: Path) -> None:
    before = (folder / "film.mp4").read_bytes()
    for name in ("film.mp4", "FILM.mp4"):
        answer = page.upload(name, film_with(frames=100).read_bytes())
        assert answer.status == 400
        assert "already" in answer.json["error"]["what"]
    assert (folder / "film.mp4").read_bytes() == before


@pytest.mark.parametrize("data", [b"", b"This is no film.", b"#EXTM3U\nfile:///etc/passwd\n"])
def test_what_is_no_film_is_not_added(page: FilmsPage, folder: Path, data: bytes) -> None:
    answer = page.upload("other.mp4", data)
    assert answer.status == 400
    assert answer.json["error"]["what"].startswith("other.mp4 ")
    assert sorted(path.name for path in folder.iterdir()) == [".shotad", "film.mp4"]
    assert list((folder / ".shotad" / "uploads").iterdir()) == []


def test_an_upload_that_breaks_off_leaves_nothing(page: FilmsPage, folder: Path) -> None:
    data = film_with().read_bytes()
    uploads = folder / ".shotad" / "uploads"
    assert page.upload("cut.mp4", data[:-10], content_length=str(len(data))).status == 400
    assert page.upload("long.mp4", data, content_length=str(len(data) - 10)).status == 400
    sent = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        parts.append(len([*uploads.iterdir()]))
        refusals.append(await asyncio.to_thread(page.check, "GONE.mp4"))
        first = {"type": "http.request", "body": data[:5_000_000], "more_body": True}
        return first if len(parts) == 1 else {"type": "http.disconnect"}

    parts: list[int] = []
    refusals: list[Answer] = []
    headers = {
        "host": page.host, "cookie": page.cookie, "origin": f"http://{page.host}", "x-shotad": "page",
        "content-type": "application/octet-stream", "content-length": "90000000", "sec-fetch-site": "same-origin",
    }  # fmt: skip
    asyncio.run(page.app(scope_of("POST", "/api/films?name=gone.mp4", headers), receive, send))
    assert parts == [1, 1], "it goes to the disk while it arrives"
    assert all("is being uploaded already" in answer.json["error"]["what"] for answer in refusals)
    assert list(uploads.iterdir()) == []
    assert sorted(path.name for path in folder.iterdir()) == [".shotad", "film.mp4"]
    # The name is free again.
    assert page.upload("gone.mp4", data).status == 200


def test_what_a_killed_server_left_of_an_upload_is_removed(folder: Path) -> None:
    uploads = folder / ".shotad" / "uploads"
    uploads.mkdir(parents=True)
    (uploads / "0123456789abcdef.mp4").write_bytes(b"half a film")
    (uploads / "mine.txt").write_text("No upload.")
    with films_open(folder):
        assert [path.name for path in uploads.iterdir()] == ["mine.txt"]


def test_a_film_for_which_there_is_no_space_is_refused(
    page: FilmsPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage("/")._replace(free=3_000_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage)
    assert page.check("fits.mp4", 900_000_000).status == 200
    answer = page.check("large.mp4", 1_100_000_000)
    assert "too little space" in answer.json["error"]["what"]


def test_a_slow_upload_is_waited_for_and_one_that_stalls_is_not(folder: Path) -> None:
    data = film_with().read_bytes()
    with running(folder, request_seconds=0.5) as served:
        cookie = "; ".join(f"{name}={value}" for name, value in served.cookies.items())
        head = (
            f"POST /api/films?name={{}} HTTP/1.1\r\nHost: {served.base_url.host}:{served.base_url.port}\r\n"
            f"Origin: http://{served.base_url.host}:{served.base_url.port}\r\nX-Shotad: page\r\nCookie: {cookie}\r\n"
            f"Content-Type: application/octet-stream\r\nContent-Length: {len(data)}\r\nConnection: close\r\n\r\n"
        )
        place = (served.base_url.host, served.base_url.port)
        with socket.create_connection(place, WAIT) as slow:
            slow.sendall(head.format("slow.mp4").encode())
            # Longer than a request may take, in pieces that each take less.
            for number in range(8):
                slow.sendall(data[number * len(data) // 8 : (number + 1) * len(data) // 8])
                time.sleep(0.2)
            assert b"200 OK" in slow.recv(1000)
        with socket.create_connection(place, WAIT) as stalling:
            stalling.sendall(head.format("stalls.mp4").encode() + data[:1000])
            assert stalling.recv(1000) == b"", "it is closed"
        assert (folder / "slow.mp4").exists()
        until = time.monotonic() + WAIT
        while any((folder / ".shotad" / "uploads").iterdir()):
            assert time.monotonic() < until, "what arrived of the other is never removed"
            time.sleep(0.05)


# Who may do what


def test_all_addresses_are_behind_the_guard(described_folder: Path) -> None:
    with films_open(described_folder) as (_, page):
        film = page.film("film.mp4")
        opened = film["page"]
        places = (
            "/",
            "/api/films",
            "/api/choices",
            "/api/events",
            film["archive"],
            film["files"][0]["url"],
            opened,
        )
        for place in (*places, f"{opened}api/film", f"{opened}web/main.js"):
            assert page.get(place, cookie=None).status == 401, place
            assert page.get(place, host="evil.example").status == 403, place
            assert page.get(place, sec_fetch_site="cross-site").status == 403, place
        posts = (
            "/api/films/check",
            f"/api/films/{film['id']}/describe",
            "/api/jobs/j1/stop",
            f"{opened}api/acts",
        )
        for place in posts:
            assert page.post(place, cookie=None).status == 401, place
            assert page.post(place, origin="http://evil.example").status == 403, place
            assert page.post(place, x_shotad=None).status == 403, place
            assert page.post(place, content_type="text/plain").status == 415, place
        assert page.upload("new.mp4", b"data", content_type="application/json").status == 415
        assert page.upload("new.mp4", b"data", x_shotad=None).status == 403
        assert page.upload("new.mp4", b"data", content_length=None).status == 411
        assert page.upload("new.mp4", b"data", content_length=str(10**15)).status == 413
        # What a page of a film takes as a file it takes below its address too.
        place = f"{opened}api/import?name=a.vtt"
        assert page.post(place, b"WEBVTT\n", content_type="application/octet-stream").status != 415


@pytest.mark.parametrize("film_id", ["..", "%2e%2e", "0" * 12, "film.mp4", "0" * 13, "..%2f..%2fetc"])
def test_no_address_leads_out_of_the_folder(page: FilmsPage, film_id: str) -> None:
    for place in (f"/films/{film_id}/", f"/download/{film_id}.zip", f"/download/{film_id}/film.ad.vtt"):
        answer = page.get(place)
        assert answer.status in (404, 405), place
        assert "Traceback" not in answer.text


def test_only_what_was_made_is_sent_and_links_are_not_followed(
    described_folder: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("what nobody may read")
    work_folder = described_folder / "film.shotad"
    (work_folder / "film.linked.vtt").symlink_to(secret)
    (work_folder / "linked").symlink_to(tmp_path)
    with films_open(described_folder) as (_, page):
        film = page.film("film.mp4")
        assert "film.linked.vtt" not in [file["name"] for file in film["files"]]
        for name in ("film.linked.vtt", "settings.json", "..%2Ffilm.mp4", "%2e%2e%2ffilm.mp4", "log.txt"):
            assert page.get(f"/download/{film['id']}/{name}").status == 404, name
        archive = zipfile.ZipFile(io.BytesIO(page.get(film["archive"]).body))
        assert not [name for name in archive.namelist() if "linked" in name or "secret" in name]
        shutil.move(work_folder, tmp_path / "elsewhere")
        work_folder.symlink_to(tmp_path / "elsewhere")
        assert page.get(film["archive"]).status == 404


@pytest.mark.parametrize("name", [".shotad", ".shotad/uploads"])
def test_a_link_in_place_of_our_own_folders_is_refused(folder: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WorkFolderError), open_films(folder):
        pass
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_second_server_is_refused(folder: Path) -> None:
    with (
        open_films(folder, url="http://127.0.0.1:1234/"),
        pytest.raises(ReviewError, match="http://127.0.0.1:1234/"),
        open_films(folder),
    ):
        pass


# The pages of films


def test_a_film_has_one_page_at_a_time_and_it_is_closed_when_nobody_needs_it(described_folder: Path) -> None:
    address = described_folder / "film.shotad" / ".review.address"
    with running(described_folder, idle_seconds=0.5) as served:
        (film,) = served.get("/api/films").json()["films"]
        assert served.get(film["page"].rstrip("/")).headers["location"] == film["page"]
        with served.stream("GET", f"{film['page']}api/events") as stream:
            news = stream.iter_lines()
            assert "event: hello" in (next(news), next(news), next(news))
            assert address.exists()
            time.sleep(2.5)
            assert address.exists(), "a tab is open"
        until = time.monotonic() + WAIT
        while address.exists():
            assert time.monotonic() < until
            time.sleep(0.1)
        # Asked for again, it is opened again.
        assert served.get(f"{film['page']}api/film").json()["film"]["name"] == "film.mp4"


def test_a_film_that_another_server_has_open_is_not_opened(described_folder: Path) -> None:
    work_folder = described_folder / "film.shotad"
    with films_open(described_folder) as (_, page), FileLock(work_folder / ".review.lock"):
        (work_folder / ".review.address").write_text('{"address": "http://127.0.0.1:1234/"}')
        answer = page.get(f"{page.film('film.mp4')['page']}api/film")
        assert answer.status == 404
        assert "http://127.0.0.1:1234/" in answer.json["error"]["what"]


@contextmanager
def running(folder: Path, **options: Any) -> Iterator[httpx.Client]:
    """A client that was let in to a server of a folder of films."""
    with films_served(folder, **options) as address:
        base, _, token = address.partition("/?token=")
        headers = {"X-Shotad": "page", "Origin": base}
        with httpx.Client(base_url=base, headers=headers, timeout=WAIT) as client:
            client.get("/", params={"token": token})
            yield client
