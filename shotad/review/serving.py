"""The program behind ``shotad review``: one server for each work folder.

`serve` opens the folder, prints the address and answers requests until a signal ends it; then it stops the
jobs that run and writes what is still due.
"""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from types import FrameType
from typing import Any, Protocol
from urllib.parse import quote

import uvicorn
from filelock import Timeout

from shotad.core import (
    Progress,
    RunSettings,
    WorkFolder,
)
from shotad.core.errors import (
    FolderInUse,
    ReviewError,
    UsageError,
    WorkFolderError,
)
from shotad.core.files import (
    lock_file,
    read_file,
    remove_file,
    write_text,
)
from shotad.core.records import parse_json
from shotad.core.system import END_SIGNALS, listen_again
from shotad.review.connections import REQUEST_SECONDS, Connections
from shotad.review.opening import OpenReview, open_review

LOCK, ADDRESS = ".review.lock", ".review.address"

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
    with _folder_lock(folder) as write_address, _listening_socket(host, port, folder) as listener:
        bound_host, bound_port = listener.getsockname()[:2]
        # The zone of an IPv6 address, fe80::1%eth0, has no place in a URL.
        bound_host = bound_host.partition("%")[0]
        address = _address(bound_host, bound_port)
        # Remove what a killed server left half-written. A run that holds the folder has done so at its
        # start.
        with suppress(FolderInUse), WorkFolder(folder):
            pass
        opened = open_review(folder, film, run, reviewer=reviewer, address=bound_host, port=bound_port)
        with opened as review, _EndSignals().counted() as end_signals:
            write_address(address)
            if review.open_to_others:
                console.note(
                    "Warning: everybody in your network who has the address can reach this page and change "
                    "the track, and what is sent is not encrypted."
                )
            if film is None:
                console.note("The film is not where it was: lines can be reviewed without picture and sound.")
            # The address can be printed before the server runs: the socket listens already, so a browser
            # waits a moment, and nothing that follows can fail.
            result = {"address": f"{address}?token={quote(review.token)}", "folder": str(folder)}
            text = f"Review: {result['address']}\nCtrl-C ends it. Every change is saved at once."
            console.result(text, result)
            if open_browser:
                _open_browser(f"{address}?token={quote(review.token_for_once)}", console)
            # An answer passes through several threads, and each would wait Python's 5 ms again while lines
            # are checked or a film is rendered.
            sys.setswitchinterval(_THREAD_SWITCH_SECONDS)
            server = end_signals.server = ReviewServer(review)
            try:
                if not end_signals.count:
                    server.run(sockets=[listener])
            finally:
                _close(review, end_signals, console)


def _address(host: str, port: int) -> str:
    """The URL for people, without the token, of a server that listens at ``host``, an IP address."""
    if host in ("0.0.0.0", "::"):
        # This machine's address in its network; nothing is sent to find it.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(("192.0.2.1", 9))  # an address of documentation, RFC 5737
                host = str(probe.getsockname()[0])
            except OSError:
                host = "127.0.0.1"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


@contextmanager
def _folder_lock(folder: Path) -> Iterator[Callable[[str], None]]:
    """Lock the folder for one server; gives a function that writes its address to a file.

    A second server that finds the lock taken names that address in its error. Raises ReviewError where
    another server holds the lock, WorkFolderError for a folder that cannot be written.
    """
    lock, address_file = lock_file(folder / LOCK, timeout=0), folder / ADDRESS
    try:
        # The system releases the lock of a server that was killed; its address file alone means nothing.
        lock.acquire()
    except Timeout:
        address = ""
        with suppress(OSError, WorkFolderError, ValueError, KeyError, TypeError):
            address = str(parse_json(read_file(address_file))["address"])
        at_address = f" at {address}" if address else ""
        raise ReviewError(
            f"A review of {folder} is open already{at_address}.",
            "Go on there, or end it first: Ctrl-C in its terminal.",
        ) from None
    except OSError as error:
        raise WorkFolderError(f"{folder} cannot be written: {error.strerror}.") from None

    def write_address(address: str) -> None:
        write_text(address_file, json.dumps({"address": address}) + "\n")

    try:
        yield write_address
    finally:
        remove_file(address_file)
        lock.release()


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
        review: OpenReview,
        *,
        most_connections: int | None = None,
        request_seconds: float = REQUEST_SECONDS,
    ) -> None:
        """``most_connections``: at once; None: as many as this process may open files for."""
        self._connections = Connections(most_connections, request_seconds=request_seconds)
        super().__init__(
            uvicorn.Config(
                review.app,
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
        self._review = review

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
        self._review.end_event_streams()
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


def _close(review: OpenReview, end_signals: _EndSignals, console: ServerConsole) -> None:
    """Stop the jobs and write what is due. Waits `_JOB_STOP_SECONDS` for a job, or until one more signal."""
    signals_before, deadline = end_signals.count, time.monotonic() + _JOB_STOP_SECONDS
    running = review.stop_jobs()
    with suppress(OSError):  # the terminal may be gone
        if running:
            console.note(f"Waiting for {running[0]} to stop. Ctrl-C: do not wait.")
    while running and end_signals.count == signals_before and time.monotonic() < deadline:
        running = review.stop_jobs(0.1)
    review.close()
    with suppress(OSError):
        console.note("The review has ended. Every change is saved.")
