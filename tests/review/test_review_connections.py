"""The connections of the review page's server: floods, slow and silent clients, clients that go away."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from shotad.core.errors import WorkFolderError
from shotad.review.connections import Connections, Seldom
from shotad.review.serving import ReviewServer
from shotad.review.session import Session
from tests.review.asgi import cookie_of
from tests.review.pages import Program
from tests.review.reviewed import reviewed

resource = pytest.importorskip("resource", reason="there is no module resource on this system")

WAIT = 30.0
FIRST = "s00001000"


class Served:
    """A review's server in a thread of this process, and a person's browser that is let in."""

    def __init__(self, review: Any, page: Any, listener: socket.socket, connections: Connections) -> None:
        self.connections, self.keys, self.review = connections, page.keys, review
        self.number = 0
        self.port = listener.getsockname()[1]
        self.keys.cookie_name = f"shotad-{self.port}"
        self.base = f"http://127.0.0.1:{self.port}"
        self.server = ReviewServer(review, page.app, connections)
        self.client = httpx.Client(base_url=self.base, timeout=WAIT, headers={"cookie": cookie_of(self.keys)})

    def write(self, text: str) -> Any:
        """What the person's edit came to, and how many seconds it took.

        As the page does, it is sent again, under its number, where a connection that was kept has been closed.
        """
        begun = time.monotonic()
        self.number += 1
        acts = [{"act": "write", "line": FIRST, "args": {"text": text}, "number": self.number}]
        headers = {"X-Shotad": "page", "Origin": self.base}
        body = {"tab": "a tab", "acts": acts}
        try:
            answer = self.client.post("/api/acts", json=body, headers=headers)
        except httpx.TransportError:
            answer = self.client.post("/api/acts", json=body, headers=headers)
        return answer.json(), time.monotonic() - begun

    def request(self, method: str, path: str, *more: str, cookie: bool = True) -> bytes:
        """The head of a request, as a browser or a stranger sends it."""
        head = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", *more]
        if cookie:
            head.append(f"Cookie: {cookie_of(self.keys)}")
        return "\r\n".join([*head, "", ""]).encode()

    def post_of(self, length: int) -> bytes:
        more = [f"Origin: {self.base}", "X-Shotad: page", "Content-Type: application/json"]
        return self.request("POST", "/api/acts", *more, f"Content-Length: {length}")


@contextmanager
def running(place: Path, connections: Connections, film: Path | None = None) -> Iterator[Served]:
    listener = socket.create_server(("127.0.0.1", 0))
    with listener, reviewed(place, film=film) as (review, page):
        served = Served(review, page, listener, connections)
        thread = threading.Thread(target=served.server.run, kwargs={"sockets": [listener]}, name="page")
        thread.start()
        try:
            yield served
        finally:
            served.client.close()
            review.tabs.close()
            served.server.should_exit = True
            thread.join(WAIT)
    assert not thread.is_alive(), "the server does not end"


@pytest.fixture
def opened() -> Iterator[Callable[..., socket.socket]]:
    """Opens a connection and sends what is given on it."""
    with ExitStack() as stack:

        def open_one(served: Served, data: bytes = b"") -> socket.socket:
            made = stack.enter_context(socket.create_connection(("127.0.0.1", served.port), WAIT))
            made.sendall(data)
            return made

        yield open_one


def is_closed(connection: socket.socket, seconds: float = WAIT) -> bool:
    """Whether the server closes the connection within so many seconds; what it sends is read."""
    connection.settimeout(seconds)
    with suppress(ConnectionError):
        try:
            while connection.recv(1 << 16):
                pass
        except TimeoutError:
            return False
    return True


FLOODS = {
    "nothing is sent": lambda served: b"",
    "half a head": lambda served: b"GET / HTTP/1.1\r\nHost: 127",
    "no cookie": lambda served: served.request("GET", "/", cookie=False),
    "event streams": lambda served: served.request("GET", "/api/events"),
    "a film that nobody reads": lambda served: served.request("GET", "/media/film"),
    "half a body": lambda served: served.post_of(5000) + b"{",
}


@pytest.mark.parametrize("kind", FLOODS)
def test_whatever_floods_the_server_an_edit_is_kept(place, opened, caplog, kind):
    connections = Connections(32)
    with running(place, connections) as served:
        served.write("Before the flood.")
        data = FLOODS[kind](served)
        most = 0
        for number in range(150):
            with suppress(ConnectionError):  # of those that are closed at once
                opened(served, data)
            most = max(most, len(connections))
            if number % 50 == 49:
                answer, seconds = served.write(f"Edit after {number} connections.")
                assert "changed" in answer["answers"][0]
                assert seconds < 10
        assert 16 < most <= 32 or kind == "no cookie"
        assert "Edit after 149" in (place / "track.json").read_text()
    assert caplog.text == ""


def test_a_stranger_never_takes_the_connection_of_a_page(place, opened):
    connections = Connections(16)
    with running(place, connections) as served, served.client.stream("GET", "/api/events") as stream:
        news = stream.iter_text()
        assert "hello" in next(news)
        for _ in range(60):
            opened(served)
        served.write("Said to all tabs.")
        assert "Said to all tabs." in next(text for text in news if "event: change" in text)


def test_a_request_that_does_not_arrive_is_not_waited_for(place, opened):
    connections = Connections(32, request_seconds=0.3)
    with running(place, connections) as served:
        served.client.get("/")  # its connection is kept: nothing is owed on it
        slow = [
            opened(served),
            opened(served, b"GET / HTTP/1.1\r\nHost"),
            opened(served, served.post_of(900_000) + b"{"),
            # Behind a request that was answered: the next one begins and does not end.
            opened(served, served.request("GET", "/favicon.ico") + b"GET /favicon.ico"),
            # Refused after its head, a body goes on and on.
            opened(served, served.post_of(2_000_000) + b"{"),
        ]
        until = time.monotonic() + WAIT
        while len(connections) > 1 and time.monotonic() < until:
            for connection in slow:  # a byte now and then does not help
                with suppress(OSError):
                    connection.send(b" ")
            time.sleep(0.1)
        assert len(connections) == 1
        assert all(map(is_closed, slow))
        assert served.client.get("/").status_code == 200


def test_whoever_is_refused_does_not_keep_a_connection(place, opened):
    with running(place, Connections(32)) as served:
        stranger = opened(served, served.request("GET", "/", cookie=False))
        assert is_closed(stranger)
        page = opened(served, served.request("GET", "/"))
        assert not is_closed(page, 0.3)


def test_a_client_that_breaks_off_prints_nothing(place, opened, caplog, capfd):
    with running(place, Connections(32)) as served:
        cut_off = [
            served.post_of(5000) + b'{"acts": [',
            served.request("GET", "/media/film"),
            served.request("GET", "/api/events"),
            served.request("GET", "/api/film"),
            served.request("GET", f"/api/hear/{FIRST}"),
            b"GET / HT",
            b"\x16\x03\x01\x02\x00\x01 no HTTP at all \r\n\r\n",
        ]
        for reset in (False, True):
            for data in cut_off:
                connection = opened(served, data)
                time.sleep(0.05)
                if reset:  # the connection is reset instead of being closed
                    linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                connection.close()
        until = time.monotonic() + WAIT
        while len(served.connections) and time.monotonic() < until:
            time.sleep(0.02)
        assert len(served.connections) == 0
        assert len(served.review.tabs) == 0
        assert "changed" in served.write("After all of them.")[0]["answers"][0]
    assert caplog.text == ""
    assert capfd.readouterr().err == ""


def test_no_files_left_is_logged_once_and_strangers_make_room(place, opened, caplog):
    connections = Connections(32)
    with running(place, connections) as served:
        served.client.get("/")
        strangers = [opened(served) for _ in range(10)]
        until = time.monotonic() + WAIT
        while len(connections) < 11 and time.monotonic() < until:
            time.sleep(0.01)
        loop = asyncio.new_event_loop()
        context = {"message": "socket.accept() out of system resource"}
        for _ in range(1000):
            connections.handle_loop_error(loop, {**context, "exception": OSError(errno.EMFILE, "Too many")})
        assert [record.exc_info for record in caplog.records] == [None]
        assert len(connections) == 1
        assert all(map(is_closed, strangers))
        caplog.clear()
        connections.handle_loop_error(loop, {"message": "of another kind", "exception": KeyError("x")})
        assert "of another kind" in caplog.text
        caplog.clear()
        loop.close()


@contextmanager
def no_file_left() -> Iterator[None]:
    """This process can open no file any more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    held: list[int] = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, hard))
    try:
        with suppress(OSError):
            while True:
                held.append(os.open(os.devnull, os.O_RDONLY))
        yield
    finally:
        for number in held:
            os.close(number)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_an_edit_that_finds_no_file_left_says_that_it_is_busy_and_can_be_made_again(session: Session) -> None:
    before = (session.folder / "track.json").read_bytes()
    with no_file_left(), pytest.raises(WorkFolderError, match="try again in a moment") as refused:
        session.act("write", FIRST, {"text": "Not yet."})
    assert "writable" not in str(refused.value)
    assert refused.value.again
    assert (session.folder / "track.json").read_bytes() == before
    session.act("write", FIRST, {"text": "Now."})
    assert "Now." in (session.folder / "track.json").read_text()


def test_a_track_that_cannot_be_opened_for_a_moment_is_not_to_be_mended(session: Session) -> None:
    track = session.folder / "track.json"
    track.write_text(track.read_text().replace("Rain falls", "Hail falls"))
    with no_file_left(), pytest.raises(WorkFolderError, match="try again in a moment"):
        session.refresh()
    session.refresh()
    assert any("Hail falls" in cue.text for cue in session.track.cues)


def test_the_same_thing_is_logged_seldom() -> None:
    told = Seldom(seconds=60, most=3)
    assert [told.allows("a") for _ in range(3)] == [True, False, False]
    assert [told.allows(number) for number in range(100)].count(True) == 3
    again = Seldom(seconds=0)
    assert again.allows("a")
    assert again.allows("a")


def test_a_fault_that_comes_again_and_again_is_logged_once(place: Path, caplog: Any) -> None:
    with reviewed(place) as (review, page):
        review.people.view = lambda: 1 / 0  # type: ignore[method-assign, assignment, return-value]
        answers = [page.get("/api/cast") for _ in range(20)]
    assert {answer.status for answer in answers} == {500}
    assert "A fault of shotad itself" in answers[0].json["error"]["what"]
    faults = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert len(faults) == 1
    assert "ZeroDivisionError" in caplog.text


def test_an_answer_that_finds_no_file_left_says_that_it_is_busy(place: Path, caplog: Any) -> None:
    with reviewed(place) as (review, page):

        def view() -> Any:
            raise OSError(errno.EMFILE, "Too many open files")

        review.people.view = view  # type: ignore[method-assign]
        answers = [page.get("/api/cast") for _ in range(20)]
    assert {answer.status for answer in answers} == {503}
    assert "Try again in a moment" in answers[0].json["error"]["hint"]
    assert len(caplog.records) == 1
    assert "Traceback" not in caplog.text


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["nothing is sent", "half a head"])
def test_a_program_with_1024_files_outlives_1300_connections_of_strangers(place: Path, kind: str) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 3000:
        pytest.skip("this test opens 1,300 connections, more than this system allows")
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
    try:
        program = Program(place)  # with the limit as it is now
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 3000), hard))
    base, _, token = program.url.partition("/?token=")
    data = {"nothing is sent": b"", "half a head": b"GET / HTTP/1.1\r\nHost"}[kind]
    try:
        with ExitStack() as stack:
            client = stack.enter_context(httpx.Client(base_url=base, timeout=WAIT))
            client.get(f"/?token={token}")
            for number in range(1300):
                made = stack.enter_context(socket.create_connection(("127.0.0.1", program.port), WAIT))
                with suppress(ConnectionError):
                    made.sendall(data)
                if number % 100 == 99:
                    begun = time.monotonic()
                    acts = [{"act": "write", "line": FIRST, "args": {"text": f"After {number + 1}."}}]
                    headers = {"X-Shotad": "page", "Origin": base}
                    answer = client.post("/api/acts", json={"acts": acts}, headers=headers).json()
                    assert "changed" in answer["answers"][0]
                    assert client.get("/").status_code == 200
                    assert time.monotonic() - begun < 5, "a second on a machine that is not busy"
        assert "After 1300." in (place / "track.json").read_text()
        program.process.terminate()
        _, errors = program.process.communicate(timeout=WAIT)
        assert len(errors) < 500, errors[:2000]
    finally:
        program.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_moment_without_files_does_not_end_the_watch_for_other_programs(place: Path) -> None:
    with reviewed(place) as (review, _):
        track = place / "track.json"
        track.write_text(track.read_text().replace("Rain falls", "Hail falls"))
        with no_file_left():
            review.look()
        review.look()
        assert any("Hail falls" in cue.text for cue in review.session.track.cues)
