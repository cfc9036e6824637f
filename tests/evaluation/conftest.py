"""One set of stand-ins of models and programs for all metrics, and reports of made results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.evaluation.allmetrics import NAMES, MakeBench, benches


@pytest.fixture
def make_bench(tmp_path: Path) -> Iterator[MakeBench]:
    with benches(tmp_path / "coco") as make:
        yield make


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found
