"""One HTTP call to a server through httpx, and where the endpoint and its key are.

httpx brings proxies, certificates and the pool of connections. Every answer has one limit of time and one of
bytes. The library's own timeout is one of silence, so calls run in an event loop, where one can be ended.
"""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import logging
import os
import re
import socket
import threading
import weakref
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from shotad.core import EngineError, need, remember_secrets, struck_out, struck_out_of_answer
from shotad.engines.openai_wire import Body, Raw

_CONNECT = 15.0
"""Seconds that a server may take to pick up."""
_PICK_UP = 0.3
"""Seconds for a server of this machine, before the run."""
_LISTING = 5.0
"""Seconds for the list of models, which is only asked for to help with an error."""
_MOST_BYTES = 32 << 20
"""Of one answer, as it comes and unpacked; a server that sends more than this is not answering."""
_PACKED = ("gzip", "x-gzip", "deflate")
"""Ways of packing that are read, though none is asked for."""


_WHOSE = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
"""Headers by which OpenAI alone is told who pays, and where they are set."""


class Broken(Exception):  # noqa: N818  a thing that passes, mostly, and never leaves the engine
    """No answer came. ``pause`` is what the server asks for; ``down``: it takes nothing at all."""

    def __init__(self, what: str, pause: float | None = None, *, down: bool = False) -> None:
        super().__init__(what)
        self.pause, self.down = pause, down


class ChatClient:
    """Calls to one server. Opens no connection before the first; may be used by several threads."""

    listing = ("models", "data", "id")
    """Where the list of models is, what holds it there, and what names one."""

    def __init__(self, address: Address, key_name: str, timeout: float) -> None:
        """``timeout`` in seconds, for a whole answer; ``key_name`` is the environment variable of the key."""
        self.address = address
        self._key_name = key_name
        self._timeout = timeout
        self._lock = threading.Lock()
        self._made: tuple[Any, asyncio.AbstractEventLoop] | None = None

    def ask(self, body: Body) -> Raw:
        """Sends a chat request. Raises Broken; any status is an answer."""
        return self._call("chat/completions", self._timeout, body)

    def models(self) -> tuple[str, ...]:
        """The models that the server says it has; empty where it says nothing of use."""
        path, held, name = self.listing
        try:
            document = self._call(path, _LISTING).document
        except Broken:
            return ()
        items = document.get(held) if isinstance(document, dict) else None
        if not isinstance(items, list):
            return ()
        return tuple(str(item[name]) for item in items if isinstance(item, dict) and name in item)

    def _call(self, path: str, timeout: float, body: Body | None = None) -> Raw:
        httpx = need_client()
        key, login = key_from(self._key_name), self.address.login
        basic = base64.b64encode(":".join(login).encode()).decode() if login is not None else ""
        # All that must not be shown: the key, and what else the URL holds
        secrets = [key, basic, *(login or ()), *(value for _, value in self.address.query)]
        remember_secrets([self._key_name], secrets[1:])
        # Who calls, for this call only: the client keeps no key.
        who = f"Bearer {key}" if login is None else f"Basic {basic}"
        client, loop = self._client(httpx)
        request = client.build_request(
            "GET" if body is None else "POST",
            path,
            json=body,
            headers={} if login is None and not key else {"Authorization": who},
            timeout=httpx.Timeout(timeout, connect=min(timeout, _CONNECT)),
        )
        future = asyncio.run_coroutine_threadsafe(_whole(client, request, timeout), loop)
        try:
            raw = future.result()
        except httpx.ConnectTimeout:
            raise Broken("it does not pick up", down=True) from None
        except (TimeoutError, httpx.TimeoutException):
            raise Broken(f"it took more than {timeout:g} s") from None
        except httpx.HTTPError as error:
            unreached = isinstance(error, httpx.ConnectError | httpx.ProxyError | httpx.UnsupportedProtocol)
            cause = struck_out(_reason(error), secrets).rstrip(".")
            raise Broken(cause, down=unreached) from None
        finally:
            future.cancel()  # the call ends where the caller does (Ctrl-C)
        headers = {name: struck_out(value, secrets) for name, value in raw.headers.items()}
        return Raw(raw.status, struck_out_of_answer(raw.body, secrets), headers)

    def _client(self, httpx: Any) -> tuple[Any, asyncio.AbstractEventLoop]:
        """The client, and the running loop that its calls belong to."""
        with self._lock:
            if self._made is not None:
                return self._made
            address = self.address
            # On this machine no proxy of the environment is asked: it would carry frames off, and could
            # seldom find the way back. A redirect would send them on to a host that nobody was told of.
            straight: dict[str, Any] = {"mounts": {f"all://{address.site}": None}} if address.is_local else {}
            if address.is_local and address.url.startswith("http:"):
                # Nothing is encrypted there, and reading the certificates takes long.
                straight["verify"] = False
            if address.query:
                logging.getLogger("httpx").addFilter(_without_query)
            whose = {name: os.environ.get(variable) for name, variable in _WHOSE.items() if address.is_own}
            client = httpx.AsyncClient(
                base_url=address.url,
                params=dict(address.query),
                headers={"Accept-Encoding": "identity", **{name: one for name, one in whose.items() if one}},
                follow_redirects=False,
                limits=httpx.Limits(max_connections=None),
                **straight,
            )
            loop = asyncio.new_event_loop()
            self._made = client, loop
            threading.Thread(target=_run, args=(loop,), name="shotad-http", daemon=True).start()
            weakref.finalize(self, _end, client, loop)
            return self._made


def need_client() -> Any:
    """The module httpx. Raises ShotadError, naming the extra, where it is missing."""
    return need("httpx", "An OpenAI-compatible endpoint", "openai")


def _without_query(record: logging.LogRecord) -> bool:
    """Cuts the query, which may hold a token, from the addresses that the HTTP library logs."""
    if isinstance(record.args, tuple):
        record.args = tuple(
            str(part).partition("?")[0] if type(part).__name__ == "URL" else part for part in record.args
        )
    return True


def _run(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()


def _end(client: Any, loop: asyncio.AbstractEventLoop) -> None:
    async def end() -> None:
        await client.aclose()
        loop.stop()

    loop.call_soon_threadsafe(lambda: loop.create_task(end()))


async def _whole(client: Any, request: Any, timeout: float) -> Raw:
    """The answer, from the connection to its last byte within ``timeout`` seconds and `_MOST_BYTES`. Raises
    TimeoutError, and Broken for one that is longer or cannot be unpacked."""
    async with asyncio.timeout(timeout):
        response = await client.send(request, stream=True)
        try:
            body = b"".join([part async for part in _unpacked(response)])
        finally:
            await response.aclose()
    headers = {str(name).lower(): str(value) for name, value in response.headers.items()}
    return Raw(response.status_code, body, headers)


async def _unpacked(response: Any) -> AsyncIterator[bytes]:
    packing = response.headers.get("content-encoding", "").strip().lower()
    if packing not in ("", "identity", *_PACKED):
        raise Broken(f"its answer is packed ({packing[:40]}), which was not asked for")
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32) if packing in _PACKED else None
    taken = given = 0
    async for part in response.aiter_raw():
        try:
            piece = part if unpacker is None else unpacker.decompress(part, _MOST_BYTES + 1 - given)
        except zlib.error:
            raise Broken("its answer is packed and damaged") from None
        taken, given = taken + len(part), given + len(piece)
        if max(taken, given) > _MOST_BYTES:
            raise Broken(f"its answer has more than {_MOST_BYTES >> 20} MiB")
        yield piece


def _reason(error: BaseException) -> str:
    """The innermost reason, such as ``Connection refused``."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    while isinstance(error, BaseExceptionGroup):  # one for each address of a name
        error = error.exceptions[0]
    text = str(error) or type(error).__name__
    if isinstance(error, OSError) and error.errno and type(error).__module__ == "builtins":
        text = os.strerror(error.errno)  # asyncio has words of its own for it
    return " ".join(text.split())


OWN = "https://api.openai.com/v1"
"""OpenAI's own endpoint."""


@dataclass(frozen=True, slots=True)
class Address:
    """An endpoint. ``url`` has neither user info nor query; those are kept apart, for they may be secret."""

    url: str
    host: str
    port: int | None
    login: tuple[str, str] | None = field(default=None, repr=False)
    query: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def shown(self) -> str:
        """How it is named to people: host and port, without the path, which holds tokens on some gateways."""
        return f"{self.site}:{self.port}" if self.port else self.site

    @property
    def site(self) -> str:
        """The host as it is written in a URL, without its port."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def is_local(self) -> bool:
        """True where nothing leaves this machine."""
        if self.host == "localhost" or self.host.endswith(".localhost"):
            return True
        try:
            number = ipaddress.ip_address(self.host)
        except ValueError:
            return False
        return number.is_loopback or number.is_unspecified

    @property
    def picks_up(self) -> bool:
        """Whether somebody listens there now."""
        port = self.port or (443 if self.url.startswith("https:") else 80)
        try:
            socket.create_connection((self.host, port), _PICK_UP).close()
        except OSError:
            return False
        return True

    @property
    def is_own(self) -> bool:
        """True for OpenAI's own servers, which need a key."""
        return self.host == "openai.com" or self.host.endswith(".openai.com")

    @property
    def is_open(self) -> bool:
        """True where what is sent can be read on its way."""
        return self.url.startswith("http:") and not self.is_local


def address_of(*urls: str | None) -> Address:
    """The first URL set, else ``OPENAI_BASE_URL``, else OpenAI's own. Raises EngineError for a wrong one."""
    text = next(
        (url.strip() for url in (*urls, os.environ.get("OPENAI_BASE_URL")) if url and url.strip()), OWN
    )
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise _unusable(text) from None
    if parts.scheme not in ("http", "https") or not host:
        raise _unusable(text)
    login = (unquote(parts.username or ""), unquote(parts.password or ""))
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    site = parts.netloc.rpartition("@")[2]
    return Address(
        url=f"{parts.scheme}://{site}{path}",
        host=host.rstrip("."),
        port=port,
        login=login if any(login) else None,
        query=tuple(parse_qsl(parts.query)),
    )


def _unusable(text: str) -> EngineError:
    harmless = re.sub(r"//[^/]*@", "//", text.partition("?")[0])
    return EngineError(
        f"The endpoint {harmless!r} is no URL that can be used.",
        "Write openai.base_url with http:// or https://, for example http://localhost:8000/v1.",
        again=False,
    )


def key_from(name: str) -> str:
    """The key in the environment variable ``name``, if any. Raises EngineError for what no key may hold."""
    key = os.environ.get(name, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise EngineError(
            f"The key in the environment variable {name} holds characters that no key has.",
            "Set it again: the key alone, on one line, without quotes around it.",
            again=False,
        )
    return key


def key_name_of(address: Address, name: str) -> str:
    """The environment variable ``name``, where a call to ``address`` sends the key in it; else nothing."""
    return name if address.login is None and os.environ.get(name, "").strip() else ""
