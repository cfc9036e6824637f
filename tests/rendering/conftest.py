"""The work folder of a described film, and a copy of it for each test."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.rendering.described import write_folder


@pytest.fixture(scope="session")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("rendering") / "w")


@pytest.fixture
def place(described: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(described, tmp_path / "w"))
