"""Findings as they are kept in records and read back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shotad.script.rules import Finding, Level


def finding_row(finding: Finding) -> dict[str, Any]:
    """A finding as JSON values."""
    return {
        "rule": finding.rule,
        "level": finding.level.value,
        "message": finding.message,
        "cue_id": finding.cue_id,
    }


def finding_of(row: Mapping[str, Any]) -> Finding:
    """What `finding_row` wrote. Raises KeyError and ValueError for what it did not."""
    return Finding(str(row["rule"]), Level(row["level"]), str(row["message"]), row.get("cue_id"))
