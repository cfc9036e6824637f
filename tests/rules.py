"""Settings whose rules stand for something that no name of theirs does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from shotad.core.settings import Settings

Group = TypeVar("Group", bound=Settings)


def ruled(settings: Group, **changed: Any) -> Group:
    """The settings with some of what their rules stand for changed."""
    kind: Any = type(settings)
    rules = replace(settings.by_rules, **changed)  # type: ignore[attr-defined]
    body = {"by_rules": property(lambda self: rules), "__module__": __name__}
    made: Group = type(kind)("Ruled", (kind,), body).model_construct(**settings.__dict__)
    return made
