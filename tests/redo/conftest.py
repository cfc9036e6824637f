"""A work folder in which all slots were described, and a copy of it for each test."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.redo.redoing import run


@pytest.fixture(scope="session")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("redo") / "w"
    run(place)
    return place


@pytest.fixture
def place(described: Path, tmp_path: Path) -> Path:
    """A folder in which all slots were described."""
    return Path(shutil.copytree(described, tmp_path / "w"))
