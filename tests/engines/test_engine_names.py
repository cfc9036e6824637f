"""Engines by name: what is no engine is told as an error, whatever it is."""

from __future__ import annotations

import pytest

from shotad.core import EngineError, load_config
from shotad.engines import make_engine


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("os:path", "os:path is no class"),
        ("builtins:str", "builtins:str is no engine"),
        ("shotad:nothing", "cannot be loaded"),
        ("no_such_module:Class", "cannot be loaded"),
        ("fakee", "Did you mean fake"),
    ],
)
def test_what_is_no_engine_is_told(name: str, what: str) -> None:
    with pytest.raises(EngineError) as told:
        make_engine(name, load_config(), "stage1")
    assert what in str(told.value)
