"""The metrics by name, each with a context in which it runs without a real model or program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.evaluation.allmetrics import NAMES, MakeBench, bench_of, coco_files
from tests.evaluation.standins import install_java

if TYPE_CHECKING:
    from tests.evaluation.tinymodels import TinyModels


@pytest.fixture
def make_bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeBench:
    """Makes contexts: ``make(store, **settings of measures)``; METEOR's and SPICE's programs are a script."""
    coco_files(tmp_path / "coco", monkeypatch)
    install_java(tmp_path, monkeypatch, "11.0.2")
    return bench_of


@pytest.fixture(scope="session")
def tiny_models(tmp_path_factory: pytest.TempPathFactory) -> TinyModels:
    """Tiny models that are loaded as real ones are."""
    for library in ("spacy", "sentence_transformers"):
        pytest.importorskip(library, reason="an extra is not installed")
    from tests.evaluation.tinymodels import make_models

    return make_models(tmp_path_factory.mktemp("models"))


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    metric: str = request.param
    if metric == "recall":
        pytest.importorskip("transformers", reason="the extra language is not installed")
    return metric
