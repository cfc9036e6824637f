"""Who may ask the review page's server for what. Nothing but its own page, in a browser that was given the
token, gets an answer from it.

Any web page that is open in the same browser can send requests to this server, and so can every program and
every other user of the machine. So each request must: name this server in its Host header, or a web page
elsewhere could have its own name point here (DNS rebinding); come from this page, which browsers say in
Origin and Sec-Fetch-Site; hold the session's cookie. To change something it must also be JSON with a header
of our own, which no form can send and no other page without being asked about it first.

The same is done by Jupyter Server (token, cookie, names of the host, a token for once to open the browser
with, since others can read the arguments of programs) and mitmweb (names of the host).
"""

from __future__ import annotations

import asyncio
import hmac
import html
import ipaddress
import json
import logging
import os
import re
import secrets
import socket
import stat
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from shotad.core import ShotadError
from shotad.core.files import is_busy, remove_file
from shotad.core.progress import size_text
from shotad.core.records import parse_json
from shotad.core.system import is_private, user_number
from shotad.core.trust import bears_seal, sealed
from shotad.review.connections import LET_IN, Seldom
from shotad.review.messages import fault_view, with_texts
from shotad.sound.recordings import MAX_RECORDING_BYTES

_LOG = logging.getLogger(__name__)

METHODS = ("GET", "HEAD", "POST")
HEADER, HEADER_VALUE = "x-shotad", "page"
MOST_BYTES = 1_000_000
"""Of a request's body."""
FILM_UPLOAD = "/api/films"
"""Takes a whole film, as the request's body. It goes to the disk while it arrives."""
UPLOADS: Mapping[re.Pattern[str], int] = {
    re.compile(FILM_UPLOAD): 1_000_000_000_000,
    re.compile(r"/api/import"): 40_000_000,
    re.compile(r"/api/lines/[^/]+/recording"): MAX_RECORDING_BYTES,
}
"""Addresses that take a file as it is instead of JSON, and the most bytes of one. A Word document may have
pictures of each slot in it. How long a film may be is for the disk to say."""
UPLOAD_TYPE = "application/octet-stream"
"""The content type of such a request: one that no form can send."""


FILM_PAGE = re.compile(r"/films/(?P<film>[0-9a-f]{12})(?P<path>/.*)", re.DOTALL)
"""The address of one film's review page, and of all that it asks for, on a server for a folder of films."""


def page_path(path: str) -> str:
    """The part of an address that the review page itself knows.

    ``/films/0123456789ab/api/acts → /api/acts``; other addresses stay as they are.
    """
    match = FILM_PAGE.fullmatch(path)
    return path if match is None else match["path"]


def upload_limit(path: str) -> int | None:
    """The most bytes of a file that an address takes; None where it takes JSON."""
    own_path = page_path(path)
    return next((limit for pattern, limit in UPLOADS.items() if pattern.fullmatch(own_path)), None)


_ONCE = 120.0
"""Seconds for which the address that opens the browser is good."""

_CSP = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "media-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
)

HEADERS: Mapping[bytes, bytes] = {
    b"content-security-policy": "; ".join(_CSP).encode(),
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"cross-origin-embedder-policy": b"require-corp",
    b"permissions-policy": b"camera=(), microphone=(self), geolocation=(), display-capture=()",
    b"cache-control": b"no-store",
}
"""On every answer; the microphone is for the page itself, to record lines. One that names its own value, for
what may be kept, keeps that."""


class RequestRefused(ShotadError):  # noqa: N818  said of the request
    """A request that gets no answer; ``status`` is that of HTTP."""

    def __init__(self, status: int, problem: str, hint: str = "") -> None:
        super().__init__(problem, hint)
        self.status = status


class Keys:
    """The secrets of one server, all of 256 bits: the token of the address, one that opens a browser once,
    and the value of the cookie."""

    def __init__(self, port: int = 0, file: Path | None = None) -> None:
        """``file`` keeps the token and the cookie, so that an open page goes on when its server was started
        again; None: they end with the server."""
        self.token, self._cookie = new_secrets() if file is None else kept_secrets(file)
        self.once = secrets.token_urlsafe(32)
        self._until: float | None = time.monotonic() + _ONCE
        self._lock = threading.Lock()
        # Cookies are not told apart by port: two servers on one machine need two names.
        self.cookie_name = f"shotad-{port}"

    def opens(self, offered: str, user: int | None = None) -> bool:
        """Whether a token is good. The one for once is not any more afterwards; it is for the user alone who
        started the server, where it is known which user asks."""
        if _same(offered, self.token):
            return True
        if user is not None and user != user_number():
            return False
        with self._lock:
            good = _same(offered, self.once) and self._until is not None and time.monotonic() < self._until
            self._until = None if good else self._until
        return good

    def is_for_once(self, offered: str) -> bool:
        """Whether this is the token with which it matters who asks: to find that out takes a while."""
        return _same(offered, self.once)

    def knows(self, header: str) -> bool:
        """Whether a Cookie header holds ours. Another server on this machine may have left one of the same
        name: that does not shut the page out."""
        # By hand: SimpleCookie drops all of them over a strange one, and every other server on this machine
        # may have left some.
        pairs = (part.strip().partition("=") for part in header.split(";"))
        return any(name == self.cookie_name and _same(value, self._cookie) for name, _, value in pairs)

    def set_cookie(self) -> bytes:
        """The header that gives a browser the cookie, until it is closed."""
        return f"{self.cookie_name}={self._cookie}; Path=/; HttpOnly; SameSite=Strict".encode()


def new_secrets() -> tuple[str, str]:
    """A token and the value of a cookie."""
    return secrets.token_urlsafe(32), secrets.token_urlsafe(32)


_SECRET = re.compile(r"[A-Za-z0-9_-]{43}")
_SEAL = "page secret"
"""What the seal of such a file is for."""


def kept_secrets(file: Path) -> tuple[str, str]:
    """The token and the cookie's value in a file that only its owner can read; new ones where there is none.

    A file that others can read, that is a link, that is damaged or that has not this user's seal is replaced:
    who sent a folder to somebody would know the secrets in it. Where none can be written, or sealed, the
    secrets end with the server.
    """
    with suppress(OSError, ValueError):
        status = file.lstat()
        if stat.S_ISREG(status.st_mode) and is_private(status):
            token, cookie, seal = file.read_text("ascii").split()
            is_whole = _SECRET.fullmatch(token) and _SECRET.fullmatch(cookie)
            if is_whole and bears_seal(seal, _SEAL, [token, cookie]):
                return token, cookie
    token, cookie = new_secrets()
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        remove_file(file)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as out:
            out.write(f"{token}\n{cookie}\n{sealed(_SEAL, [token, cookie]) or ''}\n")
    return token, cookie


def user_of(client: tuple[str, int] | None, server: tuple[str, int] | None) -> int | None:
    """Which user of this machine has a connection open to this server; None where that cannot be told, as for
    another machine, or on systems other than Linux (``/proc/net/tcp``: proc_net(5))."""
    if not client or not server or not server[1] or user_number() is None:
        return None
    for table in _CONNECTIONS:
        try:
            rows = table.read_text(encoding="ascii").splitlines()[1:]
        except (OSError, ValueError):
            continue
        for row in rows:
            words = row.split()
            ports = [int(words[place].rpartition(":")[2], 16) for place in (1, 2)]
            if ports == [client[1], server[1]] and words[3] == _ESTABLISHED:
                return int(words[7])
    return None


_CONNECTIONS = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_ESTABLISHED = "01"


def _same(offered: str, secret: str) -> bool:
    return hmac.compare_digest(offered.encode("utf-8", "replace"), secret.encode())


class Hosts:
    """By which names a server may be called that listens at ``address``, which is in digits.
    ``open_to_others``: that is not loopback alone.

    An address in digits cannot be rebound, so where others may come in every such address will do, and the
    machine's own name. The port is not looked at: it is another one behind a tunnel.
    """

    def __init__(self, address: str = "127.0.0.1") -> None:
        self.open_to_others, self._names = not ipaddress.ip_address(address).is_loopback, {"localhost"}
        if self.open_to_others:
            own = socket.gethostname().lower()
            short = own.partition(".")[0]
            self._names |= {own, short, f"{short}.local"}

    def know(self, header: str) -> bool:
        """Whether a Host header names this server."""
        match = _HOST.fullmatch(header.lower())
        if match is None:
            return False
        name = (match["ip6"] or match["name"]).removesuffix(".")
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return name in self._names
        return self.open_to_others or address.is_loopback


_HOST = re.compile(r"(?:\[(?P<ip6>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(?::[0-9]{1,5})?")


def refuse(request: Request, keys: Keys, hosts: Hosts) -> None:
    """Raises Refused for a request that gets no answer."""
    if not hosts.know(request.headers.get("host", "")):
        raise RequestRefused(
            403, "This server is not called by that name.", "Use the address that shotad printed."
        )
    if request.method not in METHODS:
        raise RequestRefused(405, "That cannot be done with this address.")
    if not _is_own(request):
        raise RequestRefused(403, "Another page asked for this.", "Use the address that shotad printed.")
    if not keys.knows(_cookies(request)):
        raise with_texts(partial(RequestRefused, 401), "server.not_let_in")
    if request.method != "POST":
        return
    if request.headers.get(HEADER) != HEADER_VALUE:
        raise RequestRefused(403, "A header is missing that the page sends.")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    file_limit = upload_limit(request.scope["path"])
    expected, name = ("application/json", "JSON") if file_limit is None else (UPLOAD_TYPE, "a file")
    if kind != expected:
        raise RequestRefused(415, f"Only {name} is understood, not {kind[:60] or 'something unnamed'}.")
    length = request.headers.get("content-length", "")
    limit = MOST_BYTES if file_limit is None else file_limit
    if length and (not length.isascii() or not length.isdigit() or int(length[:20]) > limit):
        raise RequestRefused(413, _TOO_LARGE if file_limit is None else too_large(limit))


_TOO_LARGE = "That is more than a page ever sends."


def too_large(limit: int) -> str:
    """The message for a file of more than ``limit`` bytes."""
    return f"The file has more than {size_text(limit)}."


def _cookies(request: Request) -> str:
    return "; ".join(request.headers.getlist("cookie"))


def _is_own(request: Request) -> bool:
    """Whether a request comes from the page itself, or from a person who opens the page."""
    origin = request.headers.get("origin")
    if origin is not None and origin != f"http://{request.headers.get('host', '')}":
        return False
    if request.method == "POST":
        return origin is not None and request.headers.get("sec-fetch-site", "") in ("", "same-origin")
    opened = request.scope["path"] == "/" and request.headers.get("sec-fetch-mode", "") == "navigate"
    return opened or request.headers.get("sec-fetch-site", "") in ("", "same-origin", "none")


class Guard:
    """The door: an ASGI application before another one. Lets nothing through that `refuse` refuses, puts
    `HEADERS` on every answer, and lets no fault of ours out with its traceback."""

    def __init__(self, app: Any, keys: Keys, hosts: Hosts) -> None:
        self._app, self._keys, self._hosts = app, keys, hosts
        self._faults = Seldom()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        out = _Out(send)
        try:
            try:
                answering = await self._let_in(scope)
            except RequestRefused as refused:
                answering = error_answer(scope, refused.status, refused)
                # Whoever is refused has no business here: his connection is not kept.
                answering.headers["connection"] = "close"
            await answering(scope, receive, out)
        except ConnectionError:
            raise
        except ClientDisconnect:
            return  # whoever asked has gone before all of it was here
        except Exception as error:
            self._log(scope, error)
            if out.is_whole:
                return  # Starlette has answered already, by `fault_answer`
            if out.begun:
                raise
            await fault_answer(scope, error)(scope, receive, out)

    async def _let_in(self, scope: Any) -> Any:
        """Who answers a request: the application, or, to a person who opens the address with the token, the
        cookie. Raises Refused."""
        request = _request_of(scope)
        enters = request.method == "GET" and request.scope["path"] == "/" and "token" in request.query_params
        if enters and self._hosts.know(request.headers.get("host", "")) and _is_own(request):
            answering: Any = await self._entered(request, scope)
        else:
            refuse(request, self._keys, self._hosts)
            answering = self._app
        if (welcome := scope.get("extensions", {}).get(LET_IN)) is not None:
            welcome(is_long=request.scope["path"] == FILM_UPLOAD)
        return answering

    def _log(self, scope: Any, error: Exception) -> None:
        """Log a fault with its traceback; the same fault again no more than once a minute."""
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = None if place is None else (place.tb_frame.f_code.co_filename, place.tb_lineno)
        if not self._faults.allows((type(error), where)):
            return
        if is_busy(error):
            _LOG.warning("A request of the review page could not be answered: %s", error)
        else:
            _LOG.error("The review page's server failed at %s", scope["method"], exc_info=error)

    async def _entered(self, request: Request, scope: Any) -> Response:
        """Give a browser the cookie and send it on to the page, so that the token leaves its address bar."""
        token = request.query_params["token"]
        # From a link on another page the cookie would not come along to where an answer sends the browser.
        linked = request.headers.get("sec-fetch-site", "") == "cross-site"
        answer = HTMLResponse(_ONWARD) if linked else RedirectResponse("/", 303)
        user = None
        if self._keys.is_for_once(token):
            user = await asyncio.to_thread(user_of, scope.get("client"), scope.get("server"))
        if self._keys.opens(token, user):
            answer.raw_headers.append((b"set-cookie", self._keys.set_cookie()))
        elif not self._keys.knows(_cookies(request)):
            problem = "The token of this address is not that of this server."
            raise RequestRefused(401, problem, "Open the address that shotad review printed last.")
        return answer


_ONWARD = (
    b'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>shotad review</title>\n'
    b'<meta http-equiv="refresh" content="0; url=/">\n</head>\n'
    b'<body>\n<main>\n<p><a href="/">Open the review page</a></p>\n</main>\n</body>\n</html>\n'
)
"""A page that opens the page itself."""


class _Out:
    """Sends with our headers; remembers whether an answer has begun, and whether all of it was sent."""

    def __init__(self, send: Any) -> None:
        self._send = send
        self.begun = self.is_whole = False

    async def __call__(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            named = {name.lower() for name, _ in message.get("headers", ())}
            more = [pair for pair in HEADERS.items() if pair[0] not in named]
            message = {**message, "headers": [*message.get("headers", ()), *more]}
        elif message["type"] == "http.response.body":
            self.is_whole = not message.get("more_body", False)
        await self._send(message)


def _request_of(scope: Any) -> Request:
    """Raises Refused for a header that must be there once and is there twice."""
    request = Request(scope)
    if any(len(request.headers.getlist(name)) > 1 for name in _SINGLE):
        raise RequestRefused(400, "A header is there twice.")
    return request


_SINGLE = ("host", "origin", "content-length", "content-type", "sec-fetch-site", "sec-fetch-mode", HEADER)


def error_answer(scope: Any, status: int, error: ShotadError) -> Response:
    """An error: as JSON to the page's programs, else as a small page of its own."""
    page = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n<title>shotad review</title>\n</head>\n'
        f"<body>\n<main>\n<h1>{html.escape(error.what)}</h1>\n<p>{html.escape(error.hint)}</p>\n"
        '<p><a href="/">Try again</a></p>\n</main>\n</body>\n</html>\n'
    )
    answer: Response = HTMLResponse(page, status)
    if page_path(scope["path"]).startswith(("/api/", "/media/", "/files/", "/web/")):
        answer = JSONResponse({"error": fault_view(error)}, status)
    if scope["method"] == "HEAD":
        answer.body = b""
    return answer


def fault_answer(scope: Any, error: Exception) -> Response:
    """The answer to a request at which something failed that is not whoever asked's fault."""
    if is_busy(error):
        busy = with_texts(ShotadError, "server.busy")
        return error_answer(scope, 503, busy)
    fault = with_texts(ShotadError, "server.fault")
    return error_answer(scope, 500, fault)


def read_body(data: bytes) -> dict[str, Any]:
    """The JSON object that a request holds. Raises Refused for anything that no page sends: numbers that are
    none, and halves of characters, which no file could hold."""
    try:
        value = parse_json(data)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        raise RequestRefused(400, "That is no JSON that can be used.") from None
    if not isinstance(value, dict):
        raise RequestRefused(400, "That is not what the page sends: a JSON object is.")
    return value
