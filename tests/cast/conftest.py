"""A folder with photos."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cast.castfiles import picture


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("anna/2.jpg", "anna/10.jpg", "extra/anna-1.png", "extra/bob.png", "thom.jpg"):
        picture(tmp_path / name)
    return tmp_path
