"""Painted faces in place of real ones."""

from __future__ import annotations

import pytest

from tests.painted_faces import PaintedFaces, look_for_painted_faces


@pytest.fixture
def painted_faces(monkeypatch: pytest.MonkeyPatch) -> PaintedFaces:
    """All that look for faces look for painted ones."""
    return look_for_painted_faces(monkeypatch)
