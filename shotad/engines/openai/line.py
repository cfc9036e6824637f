"""The line to a server: one HTTP call through the official client, which brings proxies, certificates and
the pool of connections. Its own retries are off: they neither stop together nor read an answer's body.
"""

from __future__ import annotations

import base64
import importlib
import json
import logging
import threading
import time
import weakref
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from shotad.compute import need
from shotad.engines.openai.address import Address, key_from, secrets_of, struck_out
from shotad.engines.openai.trouble import Raw
from shotad.engines.openai.wire import Body

_CONNECT = 15.0
"""Seconds that a server may take to pick up."""
_LISTING = 5.0
"""Seconds for the list of models, which is only asked for to help with an error."""
_MOST_BYTES = 32 << 20
"""Of one answer; a server that sends more than this is not answering."""


class Broken(Exception):  # noqa: N818  a thing that passes, mostly, and never leaves the engine
    """No whole answer came. ``reached`` is False where there was not even a connection."""

    def __init__(self, what: str, *, reached: bool = True) -> None:
        super().__init__(what)
        self.reached = reached


class Line:
    """Calls to one server. Opens no connection before the first; may be used by several threads."""

    def __init__(self, address: Address, key_name: str, timeout: float) -> None:
        """``timeout`` in seconds, for a whole answer; ``key_name`` is the environment variable of the key."""
        self.address = address
        self._key_name = key_name
        self._timeout = timeout
        self._lock = threading.Lock()
        self._made: Any = None

    def ask(self, body: Body) -> Raw:
        """Sends a chat request. Raises Broken; any status is an answer."""
        return self._call(
            lambda client: client.chat.completions.with_streaming_response.create, self._timeout, body
        )

    def models(self) -> tuple[str, ...]:
        """The models that the server says it has; empty where it says nothing of use."""
        try:
            raw = self._call(lambda client: client.models.with_streaming_response.list, _LISTING, {})
        except Broken:
            return ()
        match raw.document:
            case {"data": [*items]}:
                return tuple(str(item["id"]) for item in items if isinstance(item, dict) and "id" in item)
        return ()

    def _call(self, method: Any, timeout: float, body: Body) -> Raw:
        openai = need_client()
        key = key_from(self._key_name)
        limits = openai.Timeout(timeout, connect=min(timeout, _CONNECT))
        deadline = time.monotonic() + timeout
        late = f"it took more than {timeout:g} s"
        try:
            send = method(self._client(openai))
            with send(**body, extra_headers=self._headers(openai, key), timeout=limits) as response:
                raw = Raw(
                    response.status_code,
                    _read(response.iter_bytes(), deadline, late),
                    _small(response.headers),
                )
        except openai.APIStatusError as error:
            raw = Raw(error.status_code, error.response.content, _small(error.response.headers))
        except openai.APITimeoutError as error:
            unreached = type(error.__cause__).__name__ == "ConnectTimeout"
            what = "it does not pick up" if unreached else late
            raise Broken(what, reached=not unreached) from None
        except openai.APIConnectionError as error:
            unreached = type(error.__cause__).__name__ in (
                "ConnectError",
                "ProxyError",
                "UnsupportedProtocol",
            )
            raise Broken(_cause(error, secrets_of(self.address, key)), reached=not unreached) from None
        except _transport_error(openai) as error:
            timed_out = "Timeout" in type(error).__name__
            raise Broken(late if timed_out else "the connection broke in the middle of the answer") from None
        return Raw(raw.status, _struck_out(raw.body, secrets_of(self.address, key)), raw.headers)

    def _headers(self, openai: Any, key: str) -> dict[str, Any]:
        """Who calls, for this call only: the client keeps no key."""
        login = self.address.login
        if login is not None:
            return {"Authorization": f"Basic {base64.b64encode(':'.join(login).encode()).decode()}"}
        return {"Authorization": f"Bearer {key}" if key else openai.Omit()}

    def _client(self, openai: Any) -> Any:
        with self._lock:
            if self._made is None:
                self._made = self._new_client(openai)
            return self._made

    def _new_client(self, openai: Any) -> Any:
        address = self.address
        # On this machine no proxy of the environment is asked: it would carry frames off, and could seldom
        # find the way back. A redirect would send them on to a host that nobody was told of.
        straight: dict[str, Any] = {"mounts": {f"all://{address.site}": None}} if address.is_local else {}
        if address.is_local and address.url.startswith("http:"):
            straight["verify"] = False  # Nothing is encrypted there, and reading the certificates takes long.
        http = openai.DefaultHttpxClient(follow_redirects=False, **straight)
        if address.query:
            logging.getLogger(_http_library(openai).__name__).addFilter(_without_query)
        weakref.finalize(self, http.close)
        others = {name: openai.Omit() for name in ("OpenAI-Organization", "OpenAI-Project")}
        whose = {} if address.is_own else others
        return openai.OpenAI(
            base_url=address.url,
            api_key="none",
            max_retries=0,
            default_headers=whose,
            default_query=dict(address.query),
            http_client=http,
        )


def need_client() -> Any:
    """The official client. Raises ShotadError, naming the extra, where it is missing."""
    return need("openai", "An OpenAI-compatible endpoint", "openai")


def _transport_error(openai: Any) -> type[Exception]:
    """The base of what its HTTP library raises while a body is read."""
    found: type[Exception] = _http_library(openai).HTTPError
    return found


def _http_library(openai: Any) -> ModuleType:
    """The library under the client; which one that is has changed with its versions."""
    modules = (base.__module__.partition(".")[0] for base in openai.DefaultHttpxClient.__mro__)
    return importlib.import_module(next(name for name in modules if name != "openai"))


def _without_query(record: logging.LogRecord) -> bool:
    """Cuts the query, which may hold a token, from the addresses that the HTTP library logs."""
    if isinstance(record.args, tuple):
        record.args = tuple(
            str(part).partition("?")[0] if type(part).__name__ == "URL" else part for part in record.args
        )
    return True


def _read(parts: Iterable[bytes], deadline: float, late: str) -> bytes:
    """The body. The library's limit is one of silence; a server that drips keeps within it for ever."""
    body = bytearray()
    for part in parts:
        body += part
        if time.monotonic() > deadline:
            raise Broken(late)
        if len(body) > _MOST_BYTES:
            raise Broken(f"its answer has more than {_MOST_BYTES >> 20} MiB")
    return bytes(body)


def _small(headers: Any) -> dict[str, str]:
    return {str(name).lower(): str(value) for name, value in headers.items()}


def _cause(error: BaseException, secrets: Iterable[str]) -> str:
    """The innermost reason, such as ``Connection refused``."""
    found: BaseException = error
    while (inner := found.__cause__ or found.__context__) is not None:
        found = inner
    text = str(found) or type(found).__name__
    return struck_out(" ".join(text.split()), secrets).rstrip(".")


def _struck_out(body: bytes, secrets: Iterable[str]) -> bytes:
    """The body without secrets, before anything else reads it; also as JSON may have written them."""
    forms = {
        form for secret in secrets for form in (secret, json.dumps(secret)[1:-1], secret.replace("/", "\\/"))
    }
    text = body.decode("utf-8", "surrogateescape")
    return struck_out(text, forms).encode("utf-8", "surrogateescape")
