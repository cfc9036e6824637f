"""The connections of the review page's server: floods, slow and silent clients, clients that go away."""

from __future__ import annotations

import asyncio
import itertools
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
from starlette.staticfiles import StaticFiles

from shotad.review import ReviewServer
from tests.review.pages import Program
from tests.review.reviewed import Page, reviewed

resource = pytest.importorskip("resource", reason="there is no module resource on this system")

WAIT = 30.0
FIRST = "s00001000"


class Served:
    """A review's server in a thread of this process, and a person's browser that is let in."""

    def __init__(self, server: ReviewServer, page: Page) -> None:
        self.server, self.base, self._cookie = server, f"http://{page.host}", page.cookie
        self.number = 0
        self.port = int(page.host.rpartition(":")[2])
        self.client = httpx.Client(base_url=self.base, timeout=WAIT, headers={"cookie": page.cookie})

    def write(self, text: str) -> Any:
        """What the person's edit came to.

        As the page does, it is sent again, under its number, until it is answered: a flood may close connections.
        """
        until = time.monotonic() + WAIT
        self.number += 1
        acts = [{"act": "write", "line": FIRST, "args": {"text": text}, "number": self.number}]
        headers = {"X-Shotad": "page", "Origin": self.base}
        body = {"tab": "a tab", "acts": acts}
        while True:
            try:
                return self.client.post("/api/acts", json=body, headers=headers).json()
            except httpx.TransportError:
                if time.monotonic() > until:
                    raise

    def request(self, method: str, path: str, *more: str, cookie: bool = True) -> bytes:
        """The head of a request, as a browser or a stranger sends it."""
        head = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", *more]
        if cookie:
            head.append(f"Cookie: {self._cookie}")
        return "\r\n".join([*head, "", ""]).encode()

    def post_of(self, length: int) -> bytes:
        more = [f"Origin: {self.base}", "X-Shotad: page", "Content-Type: application/json"]
        return self.request("POST", "/api/acts", *more, f"Content-Length: {length}")

    def until(self, holds: Callable[[int], bool]) -> None:
        """Waits until something holds of how many connections the server has."""
        until = time.monotonic() + WAIT
        while not holds(len(self.server.server_state.connections)):
            assert time.monotonic() < until, f"{len(self.server.server_state.connections)} are open"
            time.sleep(0.02)

    def until_open(self, count: int) -> None:
        self.until(lambda connections: connections == count)


@contextmanager
def running(place: Path, most: int = 32, request_seconds: float = 20.0) -> Iterator[Served]:
    listener = socket.create_server(("127.0.0.1", 0))
    with listener, reviewed(place, port=listener.getsockname()[1]) as (review, page):
        server = ReviewServer(review, most_connections=most, request_seconds=request_seconds)
        served = Served(server, page)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="page")
        thread.start()
        try:
            yield served
        finally:
            served.client.close()
            server.should_exit = True
            thread.join(WAIT)
    assert not thread.is_alive(), "the server does not end"


@pytest.fixture
def opened() -> Iterator[Callable[..., socket.socket]]:
    """Opens a connection and sends what is given on it."""
    with ExitStack() as stack:

        def open_one(served: Served, data: bytes = b"") -> socket.socket:
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", served.port), WAIT))
            connection.sendall(data)
            return connection

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
    with running(place, 32) as served:
        served.write("Before the flood.")
        data = FLOODS[kind](served)
        flood: list[socket.socket] = []
        for number in range(150):
            with suppress(ConnectionError):  # of those that are closed at once
                flood.append(opened(served, data))
            if number % 50 == 49:
                answer = served.write(f"Edit after {number} connections.")
                assert "changed" in answer["answers"][0]
        if kind not in ("no cookie", "a film that nobody reads"):
            served.until(lambda count: count <= 32)
            assert 8 < sum(not is_closed(connection, 0.05) for connection in flood) <= 32
        assert "Edit after 149" in (place / "track.json").read_text()
    assert caplog.text == ""


def test_a_stranger_never_takes_the_connection_of_a_page(place, opened):
    with running(place, 16) as served, served.client.stream("GET", "/api/events") as stream:
        news = stream.iter_text()
        assert "hello" in next(news)
        for _ in range(60):
            opened(served)
        served.write("Said to all tabs.")
        assert "Said to all tabs." in next(text for text in news if "event: change" in text)


def test_a_request_that_does_not_arrive_is_not_waited_for(place, opened):
    with running(place, 32, request_seconds=0.3) as served:
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
        while len(served.server.server_state.connections) > 1 and time.monotonic() < until:
            for connection in slow:  # a byte now and then does not help
                with suppress(OSError):
                    connection.send(b" ")
            time.sleep(0.1)
        served.until_open(1)
        assert all(map(is_closed, slow))
        assert served.client.get("/").status_code == 200
        served.until_open(1)


def test_whoever_is_refused_does_not_keep_a_connection(place, opened):
    with running(place) as served:
        stranger = opened(served, served.request("GET", "/", cookie=False))
        assert is_closed(stranger)
        page = opened(served, served.request("GET", "/"))
        assert not is_closed(page, 0.3)


def test_a_client_that_breaks_off_prints_nothing(place, opened, caplog, capfd):
    with running(place) as served:
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
        served.until_open(0)
        assert "changed" in served.write("After all of them.")["answers"][0]
    assert caplog.text == ""
    assert capfd.readouterr().err == ""


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


def test_no_files_left_is_logged_once_and_strangers_make_room(place, opened, caplog):
    with running(place) as served, ExitStack() as stack:
        served.client.get("/")
        strangers = [opened(served) for _ in range(10)]
        served.until_open(11)
        late = [stack.enter_context(socket.socket()) for _ in range(3)]
        with no_file_left():
            for connection in late:
                connection.connect(("127.0.0.1", served.port))
            assert all(map(is_closed, strangers))
        assert [(record.levelname, record.exc_info) for record in caplog.records] == [("WARNING", None)]
        assert "No connection can be taken just now" in caplog.text
        assert "changed" in served.write("After a moment.")["answers"][0]
        served.until_open(4)


def test_what_fails_in_the_server_for_another_reason_is_logged(place, caplog):
    listener = socket.create_server(("127.0.0.1", 0))
    with listener, reviewed(place, gone=True) as (review, _):
        server = ReviewServer(review)

        async def fail() -> None:
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            while not server.started:
                await asyncio.sleep(0.01)
            context = {"message": "of another kind", "exception": KeyError("x")}
            asyncio.get_running_loop().call_exception_handler(context)
            server.should_exit = True
            await serving

        thread = threading.Thread(target=lambda: asyncio.run(fail()))
        thread.start()
        thread.join(WAIT)
    assert "of another kind" in caplog.text
    caplog.clear()


def test_an_edit_that_finds_no_file_left_says_that_it_is_busy_and_can_be_made_again(place: Path) -> None:
    with running(place) as served:
        served.write("Before.")
        before = (place / "track.json").read_bytes()
        with no_file_left():
            answer = served.write("Not yet.")
        assert answer["answers"] == []
        assert "try again in a moment" in str(answer["error"])
        assert "writable" not in str(answer["error"])
        assert (place / "track.json").read_bytes() == before
        served.write("Now.")
        assert "Now." in (place / "track.json").read_text()


def test_a_moment_without_files_does_not_end_the_watch_for_other_programs(place: Path) -> None:
    with running(place) as served:
        served.write("Before.")
        track = place / "track.json"
        track.write_text(track.read_text().replace("Rain falls", "Hail falls"))
        with no_file_left():
            assert served.client.get("/api/film").status_code in (200, 503)
            answer = served.write("Not yet.")
            assert "try again in a moment" in str(answer["error"]), "it is not to be mended"
        assert "Hail falls" in served.client.get("/api/film").text


def test_an_answer_that_finds_no_file_left_says_that_it_is_busy(place: Path, caplog: Any) -> None:
    with running(place) as served:
        served.client.get("/api/film")
        with no_file_left():
            answers = [served.client.get(f"/api/hear/{FIRST}") for _ in range(5)]
    assert {answer.status_code for answer in answers} == {503}
    assert "Try again in a moment" in answers[0].json()["error"]["hint"]
    assert len(caplog.records) == 1, "it is logged once"
    assert "Traceback" not in caplog.text


def test_faults_of_many_kinds_do_not_fill_the_log(place: Path, monkeypatch: Any, caplog: Any) -> None:
    numbers = itertools.count()

    def fail(self: StaticFiles, path: str) -> Any:
        raise type(f"Fault{next(numbers)}", (KeyError,), {})

    monkeypatch.setattr(StaticFiles, "lookup_path", fail)
    with reviewed(place, gone=True) as (_, page):
        assert {page.get("/web/main.js").status for _ in range(250)} == {500}
    assert 100 < len(caplog.records) < 210


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
