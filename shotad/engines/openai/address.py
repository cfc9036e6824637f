"""Where an endpoint is, what must never be shown of it, and the key that opens it."""

from __future__ import annotations

import base64
import ipaddress
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from shotad.core import EngineError

OWN = "https://api.openai.com/v1"
"""OpenAI's own endpoint."""

_SHORTEST_SECRET = 6
"""Anything shorter is a placeholder (``none``), and would be struck out of ordinary words."""


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
    def is_own(self) -> bool:
        """True for OpenAI's own servers, which need a key."""
        return self.host == "openai.com" or self.host.endswith(".openai.com")

    @property
    def is_open(self) -> bool:
        """True where what is sent can be read on its way."""
        return self.url.startswith("http:") and not self.is_local


def address_of(*urls: str | None) -> Address:
    """The first URL that is set, else the environment's ``OPENAI_BASE_URL``, else OpenAI's own.

    Raises EngineError for one that is no http or https URL.
    """
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
    """The key in the environment variable ``name``; empty where there is none.

    Raises EngineError, without the value, for a key that no HTTP header can carry.
    """
    key = os.environ.get(name, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise EngineError(
            f"The key in the environment variable {name} holds characters that no key has.",
            "Set it again: the key alone, on one line, without quotes around it.",
            again=False,
        )
    return key


def struck_out(text: str, secrets: Iterable[str]) -> str:
    """``text`` without the secrets, whatever a server repeats of what it was sent.

    >>> struck_out("Wrong key: sk-12345678.", ["sk-12345678"])
    'Wrong key: [secret].'
    """
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, "[secret]")
    return text


def unhinted(text: str) -> str:
    """``text`` without what a server shows of a key between stars, ``sk-1234***********cdef``."""
    return re.sub(r"(?:(?<![\w-])[\w-]+)?\*{3,}[\w-]*", "[secret]", text)


def secrets_of(address: Address, key: str) -> tuple[str, ...]:
    """All that must not be shown: the key, and what the URL holds besides."""
    login = address.login
    basic = () if login is None else (*login, base64.b64encode(":".join(login).encode()).decode())
    return tuple(secret for secret in (key, *basic, *(value for _, value in address.query)) if secret)
