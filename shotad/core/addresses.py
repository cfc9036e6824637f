"""Addresses as they may be printed and kept: without user, password and keys."""

from __future__ import annotations

import re

_CREDENTIALS = re.compile(r"(?<=://)[^/\s?#]*@")
_SECRET_NAME = re.compile(r"key|token|secret|sig|pass|pwd|code|auth|cred", re.IGNORECASE)
_QUERY = re.compile(r"([?&][^=?&\s]*=)([^&\s'\"]*)")


def without_secrets(text: str) -> str:
    """An address without user, password and keys: ``https://me:pw@host/v1?key=x → https://host/v1?key=…``."""
    return _QUERY.sub(_without_value, _CREDENTIALS.sub("", text))


def _without_value(query: re.Match[str]) -> str:
    return f"{query[1]}…" if _SECRET_NAME.search(query[1]) else query[0]
