"""The review page's server as a program: one for each work folder, at an address of its own, until it is told
to end; then all that is due is written.
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
from starlette.types import ASGIApp

from shotad.core import (
    InUse,
    Progress,
    ReviewError,
    RunSettings,
    UsageError,
    WorkFolder,
    WorkFolderError,
    lock_file,
    parse_json,
    read_file,
    write_text,
)
from shotad.review.connections import Connections
from shotad.review.events import Tabs
from shotad.review.routes import Review, make_app, open_session, review_of
from shotad.review.security import Hosts, Keys

LOCK, ADDRESS = ".review.lock", ".review.address"

_FIRST_PORT, _PORTS = 20_000, 12_000
"""Below the ports that systems give to outgoing connections."""
_PATIENCE = 20.0
"""Seconds that a running job has to stop when the server ends."""
_SWITCH = 0.001
"""Seconds that a thread may compute while others wait: an answer passes through several threads, and each
would wait Python's 5 ms again while lines are checked or a film is rendered."""
_WAITING = 1024
"""Connections that wait until they are accepted."""
_LAST_ANSWERS = 3
"""Seconds that answers under way have to be sent when the server ends."""


class Speaker(Progress, Protocol):
    """How the program speaks; `shotad.cli.options.Console` is one."""

    def result(self, text: str, value: Any) -> None:
        """The command's result: text for people, or JSON."""


def serve(
    folder: Path,
    film: Path | None,
    run: RunSettings,
    *,
    host: str,
    port: int | None,
    open_browser: bool,
    reviewer: str | None,
    console: Speaker,
) -> None:
    """Serve the review page of a work folder until Ctrl-C, SIGTERM or the end of the terminal.

    ``film`` is None where it is gone. Without ``port`` one is taken that is, as a rule, the same for the same
    folder, so that a browser finds again what it keeps for the page. Raises ReviewError where another server
    has the folder open, UsageError for an address that cannot be had, and what `open_session` raises.
    """
    with _alone(folder) as tell_address, _bound(host, port, folder) as listener:
        listens, number = listener.getsockname()[:2]
        listens = listens.partition("%")[0]
        hosts, address = Hosts(listens), _address(listens, number)
        keys, tabs, ends = Keys(number), Tabs(), _Ends()
        # Remove what a killed server left half-written. A run that holds the folder has done so at its
        # start.
        with suppress(InUse), WorkFolder(folder):
            pass
        session = open_session(folder, film, run, tabs, reviewer=reviewer)
        with ends.heard():
            tell_address(address)
            if hosts.open_to_others:
                console.note(
                    "Warning: everybody in your network who has the address can reach this page and change "
                    "the track, and what is sent is not encrypted."
                )
            if film is None:
                console.note("The film is not where it was: lines can be reviewed without picture and sound.")
            # Whoever comes from now on waits a moment: the socket listens, and what follows cannot fail.
            said = {"address": f"{address}?token={quote(keys.token)}", "folder": str(folder)}
            console.result(f"Review: {said['address']}\nCtrl-C ends it. Every change is saved at once.", said)
            if open_browser:
                _open_browser(f"{address}?token={quote(keys.once)}", console)
            sys.setswitchinterval(_SWITCH)
            review = review_of(session, film, tabs)
            try:
                if not ends.count:
                    ReviewServer(review, make_app(review, keys, hosts)).run(sockets=[listener])
            finally:
                _close(review, ends, console)


def _address(host: str, port: int) -> str:
    """The address for people, without the token, of a server that listens at a host in digits."""
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
def _alone(folder: Path) -> Iterator[Callable[[str], None]]:
    """Hold the folder for one server; gives a function that leaves its address for others to be told.

    The system lets go of the lock when a server is killed, so an address that it left means nothing.
    """
    lock, note = lock_file(folder / LOCK, timeout=0), folder / ADDRESS
    try:
        lock.acquire()
    except Timeout:
        where = ""
        with suppress(OSError, WorkFolderError, ValueError, KeyError, TypeError):
            where = str(parse_json(read_file(note))["address"])
        what = f"A review of {folder} is open already{f' at {where}' if where else ''}."
        raise ReviewError(what, "Go on there, or end it first: Ctrl-C in its terminal.") from None
    except OSError as error:
        raise WorkFolderError(f"{folder} cannot be written: {error.strerror}.") from None
    try:
        yield lambda address: write_text(note, json.dumps({"address": address}) + "\n")
    finally:
        note.unlink(missing_ok=True)
        lock.release()


@contextmanager
def _bound(host: str, port: int | None, folder: Path) -> Iterator[socket.socket]:
    """A socket that listens. Raises UsageError."""
    ports = (port,) if port is not None else (usual_port(folder), 0)
    trouble: OSError | None = None
    for one in ports:
        with ExitStack() as stack:
            try:
                family, kind, number, _, place = socket.getaddrinfo(
                    host, one, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
                )[0]
                listener = stack.enter_context(socket.socket(family, kind, number))
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listener.bind(place)
                listener.listen(128)
            except (OSError, UnicodeError) as error:
                trouble = error if isinstance(error, OSError) else OSError(0, str(error))
                continue
            yield listener
            return
    reason = trouble.strerror if trouble is not None else ""
    where = host if port is None else f"{host}, port {port}"
    raise UsageError(f"The server cannot listen at {where}: {reason}.", "Name another --host or --port.")


def usual_port(folder: Path) -> int:
    """The port of a work folder: the same whenever it is free."""
    name = str(folder.absolute()).encode(errors="surrogateescape")
    return _FIRST_PORT + int.from_bytes(sha256(name).digest()[:4], "big") % _PORTS


def _open_browser(url: str, console: Speaker) -> None:
    """In a thread, for some browsers run until they are closed."""

    def run() -> None:
        if not webbrowser.open(url):
            console.note("No browser could be opened: open the address above yourself.")

    threading.Thread(target=run, name="browser", daemon=True).start()


class ReviewServer(uvicorn.Server):
    """Uvicorn with `Connections`, letting tabs go before it waits for connections to end."""

    def __init__(self, review: Review, app: ASGIApp, connections: Connections | None = None) -> None:
        self._connections = Connections() if connections is None else connections
        super().__init__(
            uvicorn.Config(
                app,
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
                timeout_graceful_shutdown=_LAST_ANSWERS,
            )
        )
        self._review = review

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGHUP, self.handle_exit)
        asyncio.get_running_loop().set_exception_handler(self._connections.handle_loop_error)
        for listener in sockets or ():
            # Only few are accepted at once, but many may wait: nobody has to try again a second later.
            listener.listen(_WAITING)

    async def on_tick(self, counter: int) -> bool:
        if counter % 10 == 0:  # once a second
            self._connections.close_overdue()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._review.tabs.close()
        await super().shutdown(sockets)
        # Whoever does not read what is sent to him would never be done.
        self._connections.abort_all()
        await asyncio.sleep(0)


class _Ends:
    """Counts how often the program was told to end."""

    SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __init__(self) -> None:
        self.count = 0

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Signals are counted instead of what they did before. The server, which listens to them first, hands
        on those it got."""
        before = {one: signal.signal(one, self._hear) for one in self.SIGNALS}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.count += 1


def _close(review: Review, ends: _Ends, console: Speaker) -> None:
    """End jobs and write what is due. Whoever asks once more does not wait for a job any longer."""
    before, until = ends.count, time.monotonic() + _PATIENCE
    running = review.jobs.close()
    with suppress(OSError):  # the terminal may be gone
        if running:
            console.note(f"Waiting for {running[0]} to stop. Ctrl-C: do not wait.")
    while running and ends.count == before and time.monotonic() < until:
        running = review.jobs.close(0.1)
    review.close()
    with suppress(OSError):
        console.note("The review has ended. Every change is saved.")
