"""No environment of the machine's own reaches engines that ask a server; what models of transformers are given."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.language_models import ModelCalls


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [
        name for name in os.environ if name.startswith("OPENAI_") or name.lower().endswith("_proxy")
    ]:
        monkeypatch.delenv(name)


@pytest.fixture
def model_calls(monkeypatch: pytest.MonkeyPatch) -> ModelCalls:
    """What models of transformers are given in this test."""
    from transformers import GenerationMixin

    from tests.language_models import ModelCalls

    calls = ModelCalls()

    def generate(model: Any, **options: Any) -> Any:
        return calls.generate(model, **options)

    monkeypatch.setattr(GenerationMixin, "generate", generate)
    return calls
