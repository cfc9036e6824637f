"""The program behind ``shotad review``: one server for each work folder, or for a folder of films.

`serve` and `serve_films` open the folder, print the address and answer requests until a signal ends them;
then they stop the jobs that run and write what is still due.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import FrameType
from typing import Any, Protocol
from urllib.parse import quote

import uvicorn
from starlette.types import ASGIApp

from shotad.core import (
    Progress,
    RunSettings,
    WorkFolder,
)
from shotad.core.errors import FolderInUse, UsageError
from shotad.core.progress import plural
from shotad.core.system import END_SIGNALS, listen_again
from shotad.review.connections import REQUEST_SECONDS, Connections
from shotad.review.lock import folder_lock
from shotad.review.open_apps import open_films, open_review

_FIRST_PORT, _PORT_COUNT = 20_000, 12_000
"""Range of `usual_port`, below the ports that systems give to outgoing connections."""
_JOB_STOP_SECONDS = 20.0
"""Time that a running job has to stop when the server ends."""
_THREAD_SWITCH_SECONDS = 0.001
"""How long a thread may compute while others wait."""
_LISTEN_BACKLOG = 1024
"""Connections that the system queues until they are accepted."""
_LAST_ANSWERS_SECONDS = 3
"""Time that answers under way have to be sent when the server ends."""


class ServerConsole(Progress, Protocol):
    """Where the program prints progress, notes and its result; `shotad.cli.options.Console` is one."""

    def result(self, text: str, value: Any) -> None:
        """Print the command's result: ``text`` for people, or ``value`` as JSON."""


class Opened(Protocol):
    """What is served: `shotad.review.open_apps.OpenReview`, or `OpenFilms`."""

    app: ASGIApp
    token: str
    token_for_once: str
    open_to_others: bool

    def end_event_streams(self) -> None:
        """Tell all tabs that the server ends, and end their streams of events."""

    def stop_jobs(self, seconds: float = 0.0) -> tuple[str, ...]:
        """Ask all jobs to stop, and wait so many seconds at most; titles of what still runs."""

    def close(self) -> None:
        """Write what is still due."""


def serve(
    folder: Path,
    film: Path | None,
    run: RunSettings,
    *,
    host: str,
    port: int | None,
    open_browser: bool,
    reviewer: str | None,
    console: ServerConsole,
) -> None:
    """Serve the review page of a work folder until Ctrl-C, SIGTERM or the end of the terminal.

    ``film`` is None where it is gone. ``port`` None: `usual_port` of the folder, or any free one.
    ``reviewer`` None: the name that was given last. Raises ReviewError where another server has the folder
    open, UsageError for an address that cannot be had, and what `open_review` raises.
    """
    with folder_lock(folder) as write_address, _listening_socket(host, port, folder) as listener:
        bound = _Bound.of(listener)
        # Remove what a killed server left half-written. A run that holds the folder has done so at its
        # start.
        with suppress(FolderInUse), WorkFolder(folder):
            pass
        opening = open_review(folder, film, run, reviewer=reviewer, address=bound.host, port=bound.port)
        with opening as review:
            write_address(bound.url)
            gone = "The film is not where it was: lines can be reviewed without picture and sound."
            notes = [gone] if film is None else []
            _serve_until_end(review, listener, bound, folder, console, notes, open_browser=open_browser)


def serve_films(
    folder: Path,
    *,
    host: str,
    port: int | None,
    open_browser: bool,
    reviewer: str | None,
    console: ServerConsole,
) -> None:
    """Serve the first screen for a folder of films, and from there the review page of each. As `serve`.

    Raises what `open_films` raises, and UsageError for an address that cannot be had.
    """
    with _listening_socket(host, port, folder) as listener:
        bound = _Bound.of(listener)
        opening = open_films(
            folder,
            reviewer=reviewer,
            address=bound.host,
            port=bound.port,
            url=bound.url,
            on_note=console.note,
        )
        with opening as films:
            resumed = f"Going on with {plural(films.resumed, 'film')} of the last time."
            notes = [resumed] if films.resumed else []
            _serve_until_end(films, listener, bound, folder, console, notes, open_browser=open_browser)


def _serve_until_end(
    opened: Opened,
    listener: socket.socket,
    bound: _Bound,
    folder: Path,
    console: ServerConsole,
    notes: Sequence[str],
    *,
    open_browser: bool,
) -> None:
    """Print ``notes`` and the address, and answer requests until a signal ends it."""
    with _EndSignals().counted() as end_signals:
        if opened.open_to_others:
            console.note(
                "Warning: everybody in your network who has the address can reach this page and change "
                "the track, and what is sent is not encrypted."
            )
        for note in notes:
            console.note(note)
        # The address can be printed before the server runs: the socket listens already, so a browser waits a
        # moment, and nothing that follows can fail.
        result = {"address": f"{bound.url}?token={quote(opened.token)}", "folder": str(folder)}
        text = f"Review: {result['address']}\nCtrl-C ends it. Every change is saved at once."
        console.result(text, result)
        if open_browser:
            _open_browser(f"{bound.url}?token={quote(opened.token_for_once)}", console)
        # An answer passes through several threads, and each would wait Python's 5 ms again while lines are
        # checked or a film is rendered.
        sys.setswitchinterval(_THREAD_SWITCH_SECONDS)
        server = end_signals.server = ReviewServer(opened)
        try:
            if not end_signals.count:
                server.run(sockets=[listener])
        finally:
            _close(opened, end_signals, console)


@dataclass(frozen=True, slots=True)
class _Bound:
    """Where a socket listens: ``host`` in digits, ``port``, and the ``url`` for people, without the token."""

    host: str
    port: int
    url: str

    @staticmethod
    def of(listener: socket.socket) -> _Bound:
        host, port = listener.getsockname()[:2]
        # The zone of an IPv6 address, fe80::1%eth0, has no place in a URL.
        host = host.partition("%")[0]
        return _Bound(host, port, _address(host, port))


_CONTAINER_FILES = (Path("/.dockerenv"), Path("/run/.containerenv"))
"""Docker and Podman put these into a container (systemd, src/basic/virt.c, `detect_container_files`)."""


def _address(host: str, port: int) -> str:
    """The URL for people, without the token, of a server that listens at ``host``, an IP address."""
    if host in ("0.0.0.0", "::") and any(file.exists() for file in _CONTAINER_FILES):
        # A container's own address is of no use outside; its port is published at the machine it runs on.
        host = "localhost"
    elif host in ("0.0.0.0", "::"):
        # This machine's address in its network; nothing is sent to find it.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(("192.0.2.1", 9))  # an address of documentation, RFC 5737
                host = str(probe.getsockname()[0])
            except OSError:
                host = "127.0.0.1"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


@contextmanager
def _listening_socket(host: str, port: int | None, folder: Path) -> Iterator[socket.socket]:
    """A socket that listens at ``host``, closed at the end of the block. Raises UsageError."""
    # Port 0: the system chooses a free one.
    ports = (port,) if port is not None else (usual_port(folder), 0)
    bind_error: OSError | None = None
    for candidate_port in ports:
        with ExitStack() as stack:
            try:
                family, kind, protocol, _, socket_address = socket.getaddrinfo(
                    host, candidate_port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
                )[0]
                listener = stack.enter_context(socket.socket(family, kind, protocol))
                listen_again(listener)
                listener.bind(socket_address)
                listener.listen(128)
            except (OSError, UnicodeError) as error:
                # getaddrinfo raises UnicodeError for a host that cannot be a name.
                bind_error = error if isinstance(error, OSError) else OSError(0, str(error))
                continue
            yield listener
            return
    reason = bind_error.strerror if bind_error is not None else ""
    place = host if port is None else f"{host}, port {port}"
    raise UsageError(f"The server cannot listen at {place}: {reason}.", "Name another --host or --port.")


def usual_port(folder: Path) -> int:
    """The port that a work folder gets whenever it is free.

    A browser keeps what a page stores by its address, so the same folder should have the same port.
    """
    name = str(folder.absolute()).encode(errors="surrogateescape")
    number = int.from_bytes(sha256(name).digest()[:4], "big")
    return _FIRST_PORT + number % _PORT_COUNT


def _open_browser(url: str, console: ServerConsole) -> None:
    """Open the browser at ``url`` without waiting for it; prints a note where there is none."""

    def run() -> None:
        if not webbrowser.open(url):
            console.note("No browser could be opened: open the address above yourself.")

    # In a thread: some browsers return only when they are closed.
    threading.Thread(target=run, name="browser", daemon=True).start()


class ReviewServer(uvicorn.Server):
    """A server of an open review: uvicorn, with a limit on connections and on how long a request may take.

    It ends the event streams of tabs before it waits for connections.
    """

    def __init__(
        self,
        opened: Opened,
        *,
        most_connections: int | None = None,
        request_seconds: float = REQUEST_SECONDS,
    ) -> None:
        """``most_connections``: at once; None: as many as this process may open files for."""
        self._connections = Connections(most_connections, request_seconds=request_seconds)
        super().__init__(
            uvicorn.Config(
                opened.app,
                http=self._connections.protocol,  # type: ignore[arg-type]  # no class, but called as one
                backlog=self._connections.accepted_at_once,
                loop="asyncio",
                ws="none",
                lifespan="on",
                # Nothing is logged of requests: addresses hold the token.
                log_config=None,
                log_level="critical",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=120,
                timeout_graceful_shutdown=_LAST_ANSWERS_SECONDS,
            )
        )
        self._opened = opened

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if threading.current_thread() is threading.main_thread():
            for number in END_SIGNALS:  # uvicorn knows some of them
                signal.signal(number, self.handle_exit)
        asyncio.get_running_loop().set_exception_handler(self._connections.handle_loop_error)
        for listener in sockets or ():
            # asyncio also accepts as many at once as the backlog says, so that one is small. This one lets
            # more of them wait: a client that is turned away would try again only a second later.
            listener.listen(_LISTEN_BACKLOG)

    async def on_tick(self, counter: int) -> bool:
        if counter % 10 == 0:  # once a second: there are ten ticks in one
            self._connections.close_overdue()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._opened.end_event_streams()
        await super().shutdown(sockets)
        # A client that does not read its answer would keep its connection open for good.
        self._connections.abort_all()
        await asyncio.sleep(0)  # the loop closes the transports in its next round


class _EndSignals:
    """Counts the signals that ask the program to end, and has ``server`` end by the first."""

    def __init__(self) -> None:
        self.count = 0
        self.server: ReviewServer | None = None

    @contextmanager
    def counted(self) -> Iterator[_EndSignals]:
        """Count signals within the block, instead of what they did before.

        Uvicorn sets handlers of its own while it runs, and raises again what it caught when it has ended.
        """
        previous = {number: signal.signal(number, self._count) for number in END_SIGNALS}
        try:
            yield self
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)

    def _count(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
        if self.server is not None:
            # A signal that comes just before uvicorn's own handlers are there would be lost on it.
            self.server.should_exit = True


def _close(opened: Opened, end_signals: _EndSignals, console: ServerConsole) -> None:
    """Stop the jobs and write what is due. Waits `_JOB_STOP_SECONDS` for a job, or until one more signal."""
    signals_before, deadline = end_signals.count, time.monotonic() + _JOB_STOP_SECONDS
    running = opened.stop_jobs()
    with suppress(OSError):  # the terminal may be gone
        if running:
            console.note(f"Waiting for {running[0]} to stop. Ctrl-C: do not wait.")
    while running and end_signals.count == signals_before and time.monotonic() < deadline:
        running = opened.stop_jobs(0.1)
    opened.close()
    with suppress(OSError):
        console.note("The review has ended. Every change is saved.")
