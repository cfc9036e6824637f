"""All rules, told: for ``shotad lint --list``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from shotad.script.lint.rules import RULES


def rules_text() -> str:
    """A paragraph for each rule."""
    return "\n\n".join(
        f"{rule.id}, {rule.title} ({rule.level})\n  {rule.why} {rule.hint}\n  Source: {rule.source}."
        for rule in RULES.values()
    )


def rules_json() -> list[dict[str, Any]]:
    """The same for programs."""
    return [asdict(rule) for rule in RULES.values()]
