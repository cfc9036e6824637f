"""What `shotad describe` says before it begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from shotad.core import load_config
from shotad.description import Engines, opening
from shotad.description.engine_pair import ONLY_ENGLISH
from shotad.engines.fake import FakeEngine, plain_answer


@pytest.mark.parametrize(
    ("language", "reads", "told"), [("de", True, True), ("en-GB", True, False), ("de", False, False)]
)
def test_that_prompts_are_english_is_told_where_another_language_is_asked_for(language, reads, told):
    writes = FakeEngine(answer=plain_answer if reads else None)
    config = load_config(None, ("engine=fake", f"language={language}"))
    said = opening(config, Path("w"), Engines(FakeEngine(), writes))
    assert (ONLY_ENGLISH.format(language=language) in said) is told
