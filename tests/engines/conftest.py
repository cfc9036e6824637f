"""No environment of the machine's own reaches engines that ask a server."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [
        name for name in os.environ if name.startswith("OPENAI_") or name.lower().endswith("_proxy")
    ]:
        monkeypatch.delenv(name)
