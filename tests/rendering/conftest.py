"""The work folder of a described film."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rendering.described import write_folder


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "w")
