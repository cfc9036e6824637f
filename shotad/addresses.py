"""Addresses as they may be printed and kept: without user, password and keys."""

from __future__ import annotations

import re

_CREDENTIALS = re.compile(r"(?<=://)[^/\s?#]*@")
_SECRET_NAME = r"[^=&\s]*(?:key|token|secret|sig|pass|pwd|code|auth|cred)[^=&\s]*"
_QUERY_KEY = re.compile(rf"(?i)([?&]{_SECRET_NAME}=)[^&\s'\"]*")


def without_secrets(text: str) -> str:
    """An address without user, password and keys: ``https://me:pw@host/v1?key=x → https://host/v1?key=…``."""
    return _QUERY_KEY.sub(r"\1…", _CREDENTIALS.sub("", text))
