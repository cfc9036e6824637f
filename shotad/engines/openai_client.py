"""One HTTP call to a server through httpx, and where the endpoint and its key are.

httpx handles proxies, certificates and the pool of connections. Every answer has a limit of time and one of
bytes. The timeout of httpx is for silence only, so calls run in an event loop, where a call can be cancelled.
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

from shotad.core.cancellation import result_of
from shotad.core.errors import EngineError, quoted
from shotad.core.model_loading import require_module
from shotad.core.redaction import (
    redact,
    redact_answer,
    remember_secrets,
)
from shotad.engines.openai_wire import MAX_MESSAGE, Body, ServerAnswer
from shotad.script.reasons import in_english

_CONNECT_TIMEOUT = 15.0
"""Seconds that a server may take to accept a connection."""
_PATIENCE = 1.0
"""Seconds that a reply may still take after the run was cancelled."""
_PROBE_TIMEOUT = 0.3
"""Seconds that a server on this machine may take to accept a connection, when it is probed before a run."""
_LISTING_TIMEOUT = 5.0
"""Seconds for the list of models, which is only used in the hint of an error."""
_MAX_BYTES = 32 << 20
"""Limit of one answer, encoded and decoded: no answer of a model is that long."""
_ENCODINGS = ("gzip", "x-gzip", "deflate")
"""Content encodings that are decoded. We ask for none, but some servers use one all the same."""


_ACCOUNT_HEADERS = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
"""Headers for OpenAI that say which account pays, and the environment variables of their values."""


class CallFailed(Exception):  # noqa: N818  mostly it passes, and it never leaves the engine
    """A call without a usable answer; another attempt may help.

    ``key`` and ``values`` make a sentence of `shotad.script.reasons`. ``text`` among the values is what the
    server or the system says: `str` quotes the whole of it, ``sentence`` its beginning.
    ``pause``: seconds to wait that the server asks for. ``down``: the server takes no requests at all.
    ``hint``: what the user can do where it does not pass.
    """

    def __init__(
        self,
        key: str,
        pause: float | None = None,
        *,
        down: bool = False,
        hint: str = "",
        text: str = "",
        **values: object,
    ) -> None:
        super().__init__(in_english(key, text=quoted(text, MAX_MESSAGE), **values))
        self.sentence = in_english(key, text=quoted(text), **values)
        self.pause, self.down, self.hint = pause, down, hint or "Is it running, and has it room?"


class ChatClient:
    """Calls one server. Connects at the first call; may be used by several threads."""

    listing = ("models", "data", "id")
    """Path of the list of models, the key of the list in the answer, and the key of a model's name."""

    def __init__(self, address: Address, key_name: str, timeout: float) -> None:
        """``timeout`` in seconds, for a whole answer; ``key_name`` is the environment variable of the key."""
        self.address = address
        self._key_name = key_name
        self._timeout = timeout
        self._lock = threading.Lock()
        self._client_and_loop: tuple[Any, asyncio.AbstractEventLoop] | None = None

    def ask(self, body: Body) -> ServerAnswer:
        """Send a chat request. Returns the answer, whatever its status. Raises CallFailed where there is
        none.
        """
        return self._call("chat/completions", self._timeout, body)

    def models(self) -> tuple[str, ...]:
        """The names of the server's models; empty where they cannot be had."""
        path, list_key, name_key = self.listing
        try:
            document = self._call(path, _LISTING_TIMEOUT).document
        except CallFailed:
            return ()
        models = document.get(list_key) if isinstance(document, dict) else None
        if not isinstance(models, list):
            return ()
        return tuple(
            str(model[name_key]) for model in models if isinstance(model, dict) and name_key in model
        )

    def _call(self, path: str, timeout: float, body: Body | None = None) -> ServerAnswer:
        """The answer to a POST of ``body``, or to a GET without one; ``timeout`` in seconds for the whole
        call.

        Secrets in the answer are struck out. Raises CallFailed.
        """
        httpx = require_httpx()
        key, login = api_key(self._key_name), self.address.login
        basic = base64.b64encode(":".join(login).encode()).decode() if login is not None else ""
        # Everything that must not be shown: the key, and the login and query of the URL.
        query = [value for name, value in self.address.query if name != "api-version"]
        url_secrets = [basic, *(login or ()), *query]
        remember_secrets([self._key_name], url_secrets)
        secrets = [key, *url_secrets]
        # A header of this call only: the client stores no key.
        headers: dict[str, str] = {}
        if login is not None:
            headers["Authorization"] = f"Basic {basic}"
        elif key:
            headers |= {"api-key": key} if self.address.deployment else {"Authorization": f"Bearer {key}"}
        client, loop = self._client(httpx)
        request = client.build_request(
            "GET" if body is None else "POST",
            path,
            json=body,
            headers=headers,
            timeout=httpx.Timeout(timeout, connect=min(timeout, _CONNECT_TIMEOUT)),
        )
        future = asyncio.run_coroutine_threadsafe(_send(client, request, timeout), loop)
        try:
            # A reply that is about to come may have been paid for.
            raw = result_of(future, patience=_PATIENCE)
        except httpx.ConnectTimeout:
            raise CallFailed("failure.connect_timeout", down=True) from None
        except (TimeoutError, httpx.TimeoutException):
            raise CallFailed("failure.timeout", seconds=f"{timeout:g}") from None
        except httpx.HTTPError as error:
            is_down = isinstance(error, httpx.ConnectError | httpx.ProxyError | httpx.UnsupportedProtocol)
            cause = redact(_reason(error), secrets).rstrip(".")
            raise CallFailed("failure.connection", down=is_down, text=cause) from None
        finally:
            future.cancel()  # the call ends where the caller does (Ctrl-C, a cancelled token)
        safe_headers = {name: redact(value, secrets) for name, value in raw.headers.items()}
        return ServerAnswer(raw.status, redact_answer(raw.body, secrets), safe_headers)

    def _client(self, httpx: Any) -> tuple[Any, asyncio.AbstractEventLoop]:
        """The client of httpx, and the running event loop for its calls; made at the first call."""
        with self._lock:
            if self._client_and_loop is not None:
                return self._client_and_loop
            address = self.address
            local_options: dict[str, Any] = {}
            if address.is_local:
                # No proxy for this machine: frames would leave it, and the proxy could seldom reach it.
                local_options["mounts"] = {f"all://{address.site}": None}
                if address.url.startswith("http:"):
                    # Nothing is encrypted, and loading the certificates takes long.
                    local_options["verify"] = False
            if address.query:
                logging.getLogger("httpx").addFilter(_without_query)
            headers = {"Accept-Encoding": "identity"}
            if address.is_openai:
                for name, variable in _ACCOUNT_HEADERS.items():
                    value = os.environ.get(variable)
                    if value:
                        headers[name] = value
            client = httpx.AsyncClient(
                base_url=address.url,
                params=dict(address.query),
                headers=headers,
                # A redirect would send frames to a host that the user was not told of.
                follow_redirects=False,
                limits=httpx.Limits(max_connections=None),
                **local_options,
            )
            loop = asyncio.new_event_loop()
            self._client_and_loop = client, loop
            threading.Thread(target=_run_loop, args=(loop,), name="shotad-http", daemon=True).start()
            weakref.finalize(self, _close, client, loop)
            return self._client_and_loop


def require_httpx() -> Any:
    """The module httpx. Raises ShotadError, naming the extra, where it is missing."""
    return require_module("httpx", "An OpenAI-compatible endpoint", "openai")


def _without_query(record: logging.LogRecord) -> bool:
    """A filter of logging: cut the query, which may hold a token, from the URLs that httpx logs."""
    if isinstance(record.args, tuple):
        # By name, for httpx may not be installed.
        record.args = tuple(
            str(argument).partition("?")[0] if type(argument).__name__ == "URL" else argument
            for argument in record.args
        )
    return True


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Run the event loop until it is stopped; in a thread of its own."""
    try:
        loop.run_forever()
    finally:
        loop.close()


def _close(client: Any, loop: asyncio.AbstractEventLoop) -> None:
    """Close the client's connections and stop its event loop, from any thread."""

    async def close_and_stop() -> None:
        await client.aclose()
        loop.stop()

    loop.call_soon_threadsafe(lambda: loop.create_task(close_and_stop()))


async def _send(client: Any, request: Any, timeout: float) -> ServerAnswer:
    """The answer to a request, decoded. Raises TimeoutError where it takes more than ``timeout`` seconds in
    all, and CallFailed where it is longer than `_MAX_BYTES` or cannot be decoded."""
    async with asyncio.timeout(timeout):
        response = await client.send(request, stream=True)
        try:
            body = b"".join([part async for part in _decoded(response)])
        finally:
            await response.aclose()
    headers = {str(name).lower(): str(value) for name, value in response.headers.items()}
    return ServerAnswer(response.status_code, body, headers)


async def _decoded(response: Any) -> AsyncIterator[bytes]:
    """Yield the decoded parts of an answer as they arrive. Raises CallFailed.

    Not by httpx: its decoder has no limit, so a small answer could fill the memory.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity", *_ENCODINGS):
        raise CallFailed("failure.packed", text=encoding)
    # 32: the header says whether it is gzip or zlib.
    decoder = zlib.decompressobj(zlib.MAX_WBITS | 32) if encoding in _ENCODINGS else None
    received = yielded = 0
    async for part in response.aiter_raw():
        try:
            piece = part if decoder is None else decoder.decompress(part, _MAX_BYTES + 1 - yielded)
        except zlib.error:
            raise CallFailed("failure.packed_damaged") from None
        received += len(part)
        yielded += len(piece)
        if max(received, yielded) > _MAX_BYTES:
            raise CallFailed("failure.answer_size", number=_MAX_BYTES >> 20)
        yield piece


def _reason(error: BaseException) -> str:
    """The message of the innermost cause, such as ``Connection refused``, on one line."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    while isinstance(error, BaseExceptionGroup):  # one for each address of a name
        error = error.exceptions[0]
    text = str(error) or type(error).__name__
    if isinstance(error, OSError) and error.errno and type(error).__module__ == "builtins":
        text = os.strerror(error.errno)  # asyncio replaces the message of the system by its own
    return " ".join(text.split())


OPENAI_URL = "https://api.openai.com/v1"
"""OpenAI's own endpoint."""


@dataclass(frozen=True, slots=True)
class Address:
    """An endpoint. ``url`` is without user info and query, which may be secret; ``login`` is user and
    password."""

    url: str
    host: str
    port: int | None
    login: tuple[str, str] | None = field(default=None, repr=False)
    query: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def shown(self) -> str:
        """Host and port, for messages. Without the path, which holds a token on some gateways."""
        return f"{self.site}:{self.port}" if self.port else self.site

    @property
    def site(self) -> str:
        """The host as it is written in a URL, without port."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def is_local(self) -> bool:
        """Whether the host is this machine."""
        if self.host == "localhost" or self.host.endswith(".localhost"):
            return True
        try:
            number = ipaddress.ip_address(self.host)
        except ValueError:
            return False
        return number.is_loopback or number.is_unspecified

    @property
    def accepts_connections(self) -> bool:
        """Whether a connection can be opened now. Waits 0.3 s at most."""
        port = self.port or (443 if self.url.startswith("https:") else 80)
        try:
            socket.create_connection((self.host, port), _PROBE_TIMEOUT).close()
        except OSError:
            return False
        return True

    @property
    def is_openai(self) -> bool:
        """Whether the host is one of OpenAI's own, which need a key."""
        return self.host == "openai.com" or self.host.endswith(".openai.com")

    @property
    def deployment(self) -> str:
        """The deployment in a classic address of Azure, which takes its key in a header of its own; else
        empty.

        learn.microsoft.com, Azure OpenAI REST reference:
        ``https://NAME.openai.azure.com/openai/deployments/DEPLOYMENT?api-version=…``. Azure's newer address
        (``…/openai/v1``) takes the key as OpenAI does.
        """
        _, marker, deployment_path = self.url.partition("/openai/deployments/")
        return unquote(deployment_path.partition("/")[0]) if marker else ""

    @property
    def is_open(self) -> bool:
        """Whether the connection is not encrypted and leaves this machine."""
        return self.url.startswith("http:") and not self.is_local


def address_of(*urls: str | None) -> Address:
    """The address of the first URL that is set, else of ``OPENAI_BASE_URL``, else of OpenAI.

    Raises EngineError for a URL that cannot be used.
    """
    text = OPENAI_URL
    for url in (*urls, os.environ.get("OPENAI_BASE_URL")):
        if url and url.strip():
            text = url.strip()
            break
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise _unusable_error(text) from None
    if parts.scheme not in ("http", "https") or not host:
        raise _unusable_error(text)
    login = (unquote(parts.username or ""), unquote(parts.password or ""))
    # Some documentation gives the address of the call itself.
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    site = parts.netloc.rpartition("@")[2]
    return Address(
        url=f"{parts.scheme}://{site}{path}",
        host=host.rstrip("."),
        port=port,
        login=login if any(login) else None,
        query=tuple(parse_qsl(parts.query)),
    )


def _unusable_error(text: str) -> EngineError:
    # Without user info and query, which may be secret.
    shown = re.sub(r"//[^/]*@", "//", text.partition("?")[0])
    return EngineError(
        f"The endpoint {shown!r} is no URL that can be used.",
        "Write openai.base_url with http:// or https://, for example http://localhost:8000/v1.",
        again=False,
    )


def api_key(name: str) -> str:
    """The key in the environment variable ``name``; empty where it is not set.

    Raises EngineError for characters that no key has: a header cannot hold them.
    """
    key = os.environ.get(name, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise EngineError(
            f"The key in the environment variable {name} holds characters that no key has.",
            "Set it again: the key alone, on one line, without quotes around it.",
            again=False,
        )
    return key


def key_name_of(address: Address, name: str) -> str:
    """``name`` where calls to ``address`` send the key in this environment variable; else empty."""
    return name if address.login is None and os.environ.get(name, "").strip() else ""
