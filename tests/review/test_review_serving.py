"""`shotad review` as a program: it starts, serves, and ends well or is killed, and no edit is ever lost."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from shotad.core.errors import ReviewError, UsageError
from shotad.review import serving
from shotad.script import load_track
from tests.review.pages import Program
from tests.review.reviewed import reviewed

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
    assert not (place / serving.ADDRESS).exists()


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
    assert "token" not in second.stdout + second.stderr + (place / serving.ADDRESS).read_text()
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
    assert (place / serving.ADDRESS).exists()
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


def test_when_its_usual_port_is_taken_it_takes_another_and_no_address_that_is_not_this_machines(
    place: Path,
) -> None:
    taking = serving._listening_socket
    with taking("127.0.0.1", None, place) as first, taking("127.0.0.1", None, place) as second:
        ports = [one.getsockname()[1] for one in (first, second)]
        with pytest.raises(UsageError, match=str(ports[0])), taking("127.0.0.1", ports[0], place):
            pass
    assert ports[0] == serving.usual_port(place)
    assert ports[1] not in (0, ports[0])
    for host in ("no such host", "256.1.1.1", "192.0.2.1", "x" * 300):
        with pytest.raises(UsageError, match="cannot listen"), taking(host, None, place):
            pass


@pytest.mark.parametrize("asked_once_more", [False, True])
def test_a_running_job_is_asked_to_stop_and_waited_for(tmp_path: Path, asked_once_more: bool) -> None:
    ends, go, running, said = serving._EndSignals(), threading.Event(), threading.Event(), list[str]()

    class Console:
        def note(self, text: str) -> None:
            said.append(text)
            ends.count += asked_once_more
            if not asked_once_more:
                go.set()

    with reviewed(tmp_path / "film.shotad") as (review, _):

        def deaf(_: Any) -> Any:
            running.set()
            go.wait(WAIT)
            return {}

        review.jobs.start("redo", "Describe a line again", deaf)
        assert running.wait(WAIT)
        serving._close(review, ends, Console())  # type: ignore[arg-type]
        assert said == ["Waiting for Describe a line again to stop. Ctrl-C: do not wait.", said[-1]]
        assert review.jobs.views()[0]["state"] == ("running" if asked_once_more else "done")
        go.set()


def test_what_a_killed_server_left_is_no_lock(place: Path) -> None:
    (place / serving.ADDRESS).write_text(json.dumps({"address": "http://127.0.0.1:1/"}))
    (place / serving.LOCK).write_text("12345")
    with serving._folder_lock(place) as tell:
        tell("http://127.0.0.1:2/")
        refused = pytest.raises(ReviewError, match=r"open already at http://127\.0\.0\.1:2/")
        with refused, serving._folder_lock(place):
            pass
    (place / serving.ADDRESS).write_text("half of it")
    again = pytest.raises(ReviewError, match=r"is open already\.")
    with serving._folder_lock(place), again, serving._folder_lock(place):
        pass
