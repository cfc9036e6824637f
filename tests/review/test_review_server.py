"""`shotad review` as a program: it starts, serves, and ends well or is killed, and no edit is ever lost."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from shotad.core import NoProgress, Request
from shotad.core.errors import ReviewError, UsageError
from shotad.core.runsettings import read_settings
from shotad.review import serve
from shotad.script import load_track
from tests.cli.program import invoke
from tests.redo.redoing import fresh, run
from tests.review.engines import ANSWERS, answering
from tests.review.pages import Program

WAIT = 60.0
FIRST = "s00001000"


class Server(Program):
    """The program, and a browser's connection to it."""

    def __init__(self, place: Path, *words: str) -> None:
        super().__init__(place, None, *words)
        self.base, _, self.token = self.url.partition("/?token=")
        self.client = httpx.Client(base_url=self.base, timeout=WAIT)
        assert self.process.stdout is not None
        assert "Ctrl-C ends it" in self.process.stdout.readline()
        assert self.client.get(f"/?token={self.token}").status_code == 303

    def act(self, name: str, line: str, args: Any) -> httpx.Response:
        headers = {"X-Shotad": "page", "Origin": self.base}
        asked = {"acts": [{"act": name, "line": line, "args": args}]}
        return self.client.post("/api/acts", json=asked, headers=headers)

    def ends_well(self, number: signal.Signals) -> str:
        """Ends it by a signal, which it takes as told to; what it said besides its address."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=WAIT)
        assert (self.process.returncode, out) == (0, ""), err
        assert "has ended" in err
        assert "Traceback" not in err
        assert self.token not in err
        return err


@pytest.fixture
def start() -> Iterator[Callable[..., Server]]:
    with ExitStack() as stack:

        def run(place: Path, *words: str) -> Server:
            server = Server(place, *words)
            stack.callback(server.close)
            stack.callback(server.client.close)
            return server

        yield run


def script(place: Path) -> str:
    return next(path for path in place.iterdir() if path.suffix == ".vtt").read_text()


def text_of(place: Path, name: str) -> str:
    return next(cue for cue in load_track(place / "track.json").cues if cue.id == name).text


def test_it_serves_the_page_and_ends_well_when_told_to(start, place):
    server = start(place)
    assert server.base.startswith("http://127.0.0.1:")
    assert server.client.get("/").status_code == 200
    assert server.act("write", FIRST, {"text": "The words of the last second."}).status_code == 200
    server.ends_well(signal.SIGTERM)
    assert "The words of the last second." in script(place)
    assert not (place / ".review.address").exists()


@pytest.mark.slow
def test_a_server_with_open_tabs(start: Callable[..., Server], place: Path) -> None:
    """It listens on this machine alone, tells tabs of all changes, refuses a second server, ends at once, and
    comes back at the same address, where a browser finds what it kept for the page."""
    server = start(place)
    known = "".join(Path(f"/proc/net/{name}").read_text() for name in ("tcp", "tcp6"))
    listening = [words[1] for words in map(str.split, known.splitlines()) if words[3:4] == ["0A"]]
    places = [address for address in listening if address.endswith(f":{server.port:04X}")]
    assert places == [f"0100007F:{server.port:04X}"]
    heard: list[str] = []

    def listen() -> None:
        with server.client.stream("GET", "/api/events") as stream:
            heard.extend(stream.iter_text())

    def until_all_heard(words: str) -> None:
        end = time.monotonic() + WAIT
        while "".join(heard).count(words) < 3:
            assert time.monotonic() < end
            time.sleep(0.02)

    tabs = [threading.Thread(target=listen) for _ in range(3)]
    for tab in tabs:
        tab.start()
    until_all_heard("event: hello")
    server.act("write", FIRST, {"text": "Heard by all."})
    until_all_heard("Heard by all.")
    track = place / "track.json"
    track.write_text(track.read_text().replace("Rain falls", "Hail falls"))
    until_all_heard("Hail falls")
    command = [sys.executable, "-m", "shotad.cli.main", "review", str(place), "--no-open"]
    second = subprocess.run(command, capture_output=True, text=True, timeout=WAIT, check=False)
    assert second.returncode == 1
    assert f"open already at {server.base}/" in second.stderr
    assert "token" not in second.stdout + second.stderr + (place / ".review.address").read_text()
    server.ends_well(signal.SIGHUP)
    for tab in tabs:
        tab.join(WAIT)
    assert "".join(heard).count("event: bye") == 3
    assert start(place).base == server.base


def test_killed_in_the_middle_of_edits_it_leaves_a_whole_track_and_what_it_left_does_not_matter(start, place):
    server, saved = start(place), []

    def edit() -> None:
        for number in range(100_000):
            try:
                answer = server.act("write", FIRST, {"text": f"Version number {number}."})
            except httpx.HTTPError:
                return
            if answer.status_code == 200:
                saved.append(number)

    editing = threading.Thread(target=edit)
    editing.start()
    until = time.monotonic() + WAIT
    while len(saved) < 25:
        assert time.monotonic() < until
        time.sleep(0.005)
    server.process.kill()
    editing.join(WAIT)
    found = re.fullmatch(r"Version number (\d+)\.", text_of(place, FIRST))
    assert found is not None
    # The last answered edit is there; one more may have been written and not answered.
    assert int(found[1]) in (saved[-1], saved[-1] + 1)
    assert (place / ".review.address").exists()
    folders = [place, place / "review", place / "review" / "strip"]
    folders[-1].mkdir(parents=True, exist_ok=True)
    left, written = (
        [folder / f".tmp-01234567-{process}-abcdef01" for folder in folders]
        for process in (server.process.pid, os.getpid())
    )
    server.process.communicate(timeout=WAIT)
    for file in (*left, *written):
        file.write_bytes(b"half")

    again = start(place)
    lines = again.client.get("/api/film").json()["lines"]
    assert next(line for line in lines if line["id"] == FIRST)["text"] == found[0]
    assert "changed" in again.act("undo", "", {}).json()["answers"][0]
    assert [file.name for file in left if file.exists()] == [], "what was left half-written is swept"
    assert all(file.exists() for file in written), "what others write is not"
    again.ends_well(signal.SIGTERM)
    assert text_of(place, FIRST) in script(place)


@pytest.mark.slow
def test_asked_to_it_lets_others_in_and_warns(start: Callable[..., Server], place: Path) -> None:
    server = start(place, "--host", "0.0.0.0")
    local = httpx.get(f"http://127.0.0.1:{server.port}/?token={server.token}")
    assert local.status_code == 303
    err = server.ends_well(signal.SIGINT)
    assert "Warning" in err
    assert "network" in err


# Served by this process


class Terminal(NoProgress):
    """Where `serve` prints; `address` is what it printed, once it did."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.address = ""
        self.is_ready = threading.Event()

    def note(self, text: str) -> None:
        self.notes.append(text)

    def result(self, text: str, value: Any) -> None:
        assert value["address"] in text
        self.address = value["address"]
        self.is_ready.set()

    @property
    def port(self) -> int:
        return int(self.address.partition("/?")[0].rpartition(":")[2])


def interrupt() -> None:
    """Presses Ctrl-C."""
    os.kill(os.getpid(), signal.SIGINT)


def serve_while(place: Path, person: Callable[[Terminal], None], **options: Any) -> Terminal:
    """Serves a folder until ``person``, in a thread, has done with it; what was printed."""
    terminal, problems = Terminal(), list[BaseException]()

    def work() -> None:
        try:
            assert terminal.is_ready.wait(WAIT)
            person(terminal)
        except BaseException as problem:  # noqa: BLE001  it is raised below
            problems.append(problem)
        finally:
            interrupt()

    interval, on_interrupt = sys.getswitchinterval(), signal.signal(signal.SIGINT, signal.SIG_IGN)
    thread = threading.Thread(target=work)
    thread.start()
    defaults: dict[str, Any] = {"host": "127.0.0.1", "port": None, "open_browser": False, "reviewer": None}
    try:
        serve(place, None, read_settings(place), console=terminal, **{**defaults, **options})
    finally:
        terminal.is_ready.set()
        thread.join(WAIT)
        sys.setswitchinterval(interval)
        signal.signal(signal.SIGINT, on_interrupt)
    for problem in problems:
        raise problem
    return terminal


def test_the_same_folder_has_the_same_port_and_another_when_that_is_taken(place: Path) -> None:
    ports: list[int] = []

    def note_port(terminal: Terminal) -> None:
        ports.append(terminal.port)

    serve_while(place, note_port)
    serve_while(place, note_port)
    assert ports[0] == ports[1] > 0
    with socket.create_server(("127.0.0.1", ports[0])):
        serve_while(place, note_port)
        with pytest.raises(UsageError, match=str(ports[0])):
            invoke("review", place, "--no-open", "--port", ports[0])
    assert ports[2] not in (0, ports[0])


@pytest.mark.parametrize("host", ["no such host", "256.1.1.1", "192.0.2.1", "x" * 300])
def test_an_address_that_is_not_this_machines_is_refused(place: Path, host: str) -> None:
    with pytest.raises(UsageError, match="cannot listen"):
        invoke("review", place, "--no-open", "--host", host)


def test_whoever_is_let_in_by_an_address_for_all_is_warned_of(place: Path) -> None:
    def person(terminal: Terminal) -> None:
        assert httpx.get(f"http://127.0.0.1:{terminal.port}/{terminal.address.partition('/')[2]}")

    terminal = serve_while(place, person, host="0.0.0.0")
    assert "everybody in your network" in terminal.notes[0]
    assert "without picture and sound" in terminal.notes[1]
    assert terminal.notes[-1] == "The review has ended. Every change is saved."


def test_the_browser_is_opened_once_with_an_address_of_its_own(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: bool(opened.append(url)))

    def person(terminal: Terminal) -> None:
        end = time.monotonic() + WAIT
        while not any("No browser could be opened" in note for note in terminal.notes):
            assert time.monotonic() < end
            time.sleep(0.02)
        (url,) = opened
        assert url != terminal.address
        assert [httpx.get(url).status_code for _ in range(2)] == [303, 401]

    serve_while(place, person, open_browser=True)


@pytest.mark.parametrize("is_asked_once_more", [False, True])
def test_a_running_job_is_asked_to_stop_and_waited_for(tmp_path: Path, is_asked_once_more: bool) -> None:
    place = tmp_path / "w"
    line = run(place, ANSWERS).heard[0].id
    is_asked, is_open = threading.Event(), threading.Event()

    def answer(request: Request) -> str:
        is_asked.set()
        assert is_open.wait(WAIT)
        return fresh(request)

    def until_noted(terminal: Terminal, words: str) -> None:
        end = time.monotonic() + WAIT
        while not any(words in note for note in terminal.notes):
            assert time.monotonic() < end
            time.sleep(0.02)

    def person(terminal: Terminal) -> None:
        base, _, token = terminal.address.partition("/?token=")
        with httpx.Client(base_url=base, headers={"X-Shotad": "page", "Origin": base}) as client:
            client.get(f"/?token={token}")
            client.post("/api/jobs", json={"kind": "redo", "lines": [line]})
        assert is_asked.wait(WAIT)
        interrupt()
        until_noted(terminal, "Waiting for Describe a line again to stop. Ctrl-C: do not wait.")
        if is_asked_once_more:
            interrupt()
            until_noted(terminal, "has ended")
        is_open.set()

    with answering(answer):
        terminal = serve_while(place, person)
        is_open.set()
    assert terminal.notes[-1] == "The review has ended. Every change is saved."


def test_a_second_server_is_refused_and_what_a_killed_one_left_is_no_lock(place: Path) -> None:
    address_file = place / ".review.address"
    address_file.write_text(json.dumps({"address": "http://127.0.0.1:1/"}))
    (place / ".review.lock").write_text("12345")

    def person(terminal: Terminal) -> None:
        address = terminal.address.partition("?")[0]
        with pytest.raises(ReviewError, match=f"open already at {re.escape(address)}"):
            invoke("review", place, "--no-open")
        address_file.write_text("half of it")
        with pytest.raises(ReviewError, match=r"is open already\."):
            invoke("review", place, "--no-open")

    serve_while(place, person)
    assert not address_file.exists()
