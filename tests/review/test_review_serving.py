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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from shotad.core import ReviewError, UsageError
from shotad.review import serving
from shotad.script import load_track
from tests.rendering.described import write_folder

ROOT = Path(__file__).resolve().parent.parent.parent
WAIT = 60.0
FIRST = "s00001000"


@dataclass
class Server:
    """A running program and a browser's connection to it."""

    process: subprocess.Popen[str]
    base: str
    token: str
    client: httpx.Client

    def act(self, name: str, line: str, args: Any) -> httpx.Response:
        headers = {"X-Shotad": "page", "Origin": self.base}
        asked = {"acts": [{"act": name, "line": line, "args": args}]}
        return self.client.post("/api/acts", json=asked, headers=headers)

    def ended(self) -> tuple[int, str, str]:
        """Exit code, and what else it said."""
        out, err = self.process.communicate(timeout=WAIT)
        return self.process.returncode, out, err


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "film.shotad")


@pytest.fixture
def start() -> Iterator[Callable[..., Server]]:
    begun: list[Server] = []

    def run(place: Path, *words: str) -> Server:
        process = launch(place, "--no-open", *words)
        assert process.stdout is not None
        line = process.stdout.readline() + process.stdout.readline()
        found = re.search(r"(http://\S+?)/\?token=(\S+)", line)
        assert found, (line, process.communicate(timeout=WAIT))
        client = httpx.Client(base_url=found[1], timeout=WAIT)
        assert line.endswith("Ctrl-C ends it. Every change is saved at once.\n")
        server = Server(process, found[1], found[2], client)
        begun.append(server)
        assert client.get(f"/?token={found[2]}").status_code == 303
        return server

    yield run
    for server in begun:
        server.client.close()
        if server.process.poll() is None:
            server.process.kill()
        server.process.communicate()


def launch(place: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", "from shotad.cli.main import main; main()", "review", str(place), *words]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "BROWSER": "true"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)


def script(place: Path) -> str:
    return next(path for path in place.iterdir() if path.suffix == ".vtt").read_text()


def text_of(place: Path, name: str) -> str:
    return next(cue for cue in load_track(place / "track.json").cues if cue.id == name).text


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGTERM,
        pytest.param(signal.SIGINT, marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, marks=pytest.mark.slow),
    ],
)
def test_it_serves_the_page_and_ends_well_when_told_to(
    start: Callable[..., Server], place: Path, number: signal.Signals
) -> None:
    server = start(place)
    assert server.base.startswith("http://127.0.0.1:")
    assert server.client.get("/").status_code == 200
    assert server.act("write", FIRST, {"text": "The words of the last second."}).status_code == 200
    server.process.send_signal(number)
    code, out, err = server.ended()
    assert code == 0, err
    assert out == ""
    assert "has ended" in err
    assert "Traceback" not in err
    assert server.token not in err
    assert "The words of the last second." in script(place)
    assert not (place / serving.ADDRESS).exists()


@pytest.mark.slow
def test_it_ends_at_once_with_tabs_open_and_tells_them(start: Callable[..., Server], place: Path) -> None:
    server = start(place)
    heard: list[str] = []

    def listen() -> None:
        with server.client.stream("GET", "/api/events") as stream:
            heard.extend(stream.iter_text())

    tabs = [threading.Thread(target=listen) for _ in range(3)]
    for tab in tabs:
        tab.start()
    until = time.monotonic() + WAIT
    while "".join(heard).count("event: hello") < 3:
        assert time.monotonic() < until
        time.sleep(0.02)
    server.act("write", FIRST, {"text": "Heard by all."})
    while "".join(heard).count("Heard by all.") < 3:
        assert time.monotonic() < until
        time.sleep(0.02)
    server.process.terminate()
    assert server.ended()[0] == 0
    for tab in tabs:
        tab.join(WAIT)
    assert "".join(heard).count("event: bye") == 3


@pytest.mark.slow
def test_a_change_on_the_disk_reaches_an_open_tab(start: Callable[..., Server], place: Path) -> None:
    server = start(place)
    with server.client.stream("GET", "/api/events") as stream:
        texts, heard = stream.iter_text(), ""
        while "event: hello" not in heard:
            heard += next(texts)
        track = place / "track.json"
        track.write_text(track.read_text().replace("A cat sleeps", "A lion sleeps"))
        until = time.monotonic() + WAIT
        while "A lion sleeps" not in heard and time.monotonic() < until:
            heard += next(texts)
    assert "event: change" in heard


@pytest.mark.slow
def test_a_second_server_is_told_where_the_first_is_and_no_token(
    start: Callable[..., Server], place: Path
) -> None:
    server = start(place)
    second = launch(place, "--no-open")
    out, err = second.communicate(timeout=WAIT)
    assert second.returncode == 1
    assert f"{server.base}/" in err
    assert "open already" in err
    assert server.token not in out + err
    assert "token" not in (place / serving.ADDRESS).read_text()
    assert server.client.get("/api/film").status_code == 200


def test_killed_in_the_middle_of_edits_it_leaves_a_whole_track_and_what_it_left_does_not_matter(
    start: Callable[..., Server], place: Path
) -> None:
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

    again = start(place)
    lines = again.client.get("/api/film").json()["lines"]
    assert next(line for line in lines if line["id"] == FIRST)["text"] == found[0]
    assert "changed" in again.act("undo", "", {}).json()["answers"][0]
    again.process.terminate()
    assert again.ended()[0] == 0
    assert text_of(place, FIRST) in script(place)


@pytest.mark.slow
def test_the_same_folder_has_the_same_address_when_it_is_free(
    start: Callable[..., Server], place: Path
) -> None:
    """So that a browser finds again what it keeps for the page: text that was not saved when a server died."""
    first = start(place)
    first.process.terminate()
    first.ended()
    assert start(place).base == first.base


@pytest.mark.slow
def test_nobody_else_can_reach_it(start: Callable[..., Server], place: Path) -> None:
    server = start(place)
    port = int(server.base.rsplit(":", 1)[1])
    listening = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{name}").read_text().splitlines()
    ]
    places = [words[1] for words in listening if words[3:4] == ["0A"] and words[1].endswith(f":{port:04X}")]
    assert places == [f"0100007F:{port:04X}"]


@pytest.mark.slow
def test_asked_to_it_lets_others_in_and_warns(start: Callable[..., Server], place: Path) -> None:
    server = start(place, "--host", "0.0.0.0")
    port = server.base.rsplit(":", 1)[1]
    local = httpx.get(f"http://127.0.0.1:{port}/?token={server.token}")
    assert local.status_code == 303
    server.process.terminate()
    code, _, err = server.ended()
    assert code == 0
    assert "Warning" in err
    assert "network" in err


def test_a_port_that_is_taken_is_said_to_be(place: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = launch(place, "--no-open", "--port", str(port))
        _, err = process.communicate(timeout=WAIT)
    assert process.returncode == 2
    assert f"port {port}" in err
    assert "Traceback" not in err


def test_when_its_usual_port_is_taken_it_takes_another(place: Path) -> None:
    with (
        serving._bound("127.0.0.1", None, place) as first,
        serving._bound("127.0.0.1", None, place) as second,
    ):
        ports = [one.getsockname()[1] for one in (first, second)]
    assert ports[0] == serving.usual_port(place)
    assert ports[1] not in (0, ports[0])


@pytest.mark.parametrize("host", ["no such host", "256.1.1.1", "192.0.2.1", "x" * 300])
def test_an_address_that_is_not_this_machines_is_refused(place: Path, host: str) -> None:
    with pytest.raises(UsageError, match="cannot listen"), serving._bound(host, None, place):
        pass


def test_a_running_job_is_asked_to_stop_and_waited_for(tmp_path: Path) -> None:
    from tests.review.reviewed import reviewed

    said: list[str] = []

    class Console:
        def note(self, text: str) -> None:
            said.append(text)

    with reviewed(tmp_path / "film.shotad") as (review, _):
        running, let_go = threading.Event(), []

        def work(progress: Any) -> Any:
            task = progress.task("Frames", None, "frames")
            try:
                while True:
                    running.set()
                    time.sleep(0.01)
                    task.advance()
            finally:
                time.sleep(0.2)
                let_go.append("let go")

        review.jobs.start("redo", "Describe a line anew", work)
        assert running.wait(WAIT)
        serving._close(review, serving._Ends(), Console())  # type: ignore[arg-type]
        assert let_go == ["let go"]
        assert said == ["Waiting for Describe a line anew to stop. Ctrl-C: do not wait.", said[-1]]


def test_who_asks_once_more_does_not_wait_for_a_job(tmp_path: Path) -> None:
    from tests.review.reviewed import reviewed

    ends, go, running = serving._Ends(), threading.Event(), threading.Event()

    class Console:
        def note(self, text: str) -> None:
            ends.count += "Waiting" in text

    with reviewed(tmp_path / "film.shotad") as (review, _):

        def deaf(_: Any) -> Any:
            running.set()
            go.wait(WAIT)
            return {}

        review.jobs.start("redo", "A deaf job", deaf)
        assert running.wait(WAIT)
        serving._close(review, ends, Console())  # type: ignore[arg-type]
        assert review.jobs.views()[0]["state"] == "running"
        go.set()


def test_what_a_killed_server_left_is_no_lock(place: Path) -> None:
    (place / serving.ADDRESS).write_text(json.dumps({"address": "http://127.0.0.1:1/"}))
    (place / serving.LOCK).write_text("12345")
    with serving._alone(place) as tell:
        tell("http://127.0.0.1:2/")
        with (
            pytest.raises(ReviewError, match=r"open already at http://127\.0\.0\.1:2/"),
            serving._alone(place),
        ):
            pass
    (place / serving.ADDRESS).write_text("half of it")
    again = pytest.raises(ReviewError, match=r"is open already\.")
    with serving._alone(place), again, serving._alone(place):
        pass


def test_what_a_killed_server_left_half_written_is_swept_and_what_others_write_is_not(
    start: Callable[..., Server], place: Path
) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    folders = [place, place / "review", place / "review" / "strip"]
    folders[-1].mkdir(parents=True)
    left, written = (
        [folder / f".tmp-01234567-{process}-abcdef01" for folder in folders]
        for process in (gone.pid, os.getpid())
    )
    for file in (*left, *written):
        file.write_bytes(b"half")
    start(place)
    assert [file.name for file in left if file.exists()] == []
    assert all(file.exists() for file in written)
