"""L1 and L2 on sentences that were taken apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from shotad.config import LintSettings
from shotad.lint.lines import TrackLine
from shotad.script.rules import Finding


@dataclass(frozen=True, slots=True)
class Read:
    """What the sentences of one line have."""

    findings: tuple[Finding, ...]

    def merged(self, wording: Sequence[Finding]) -> tuple[Finding, ...]:
        return (*wording, *self.findings)


class Reader(Protocol):
    """Takes lines apart."""

    def read(self, lines: Sequence[TrackLine]) -> Mapping[str, Read]: ...


def reader_for(settings: LintSettings) -> tuple[Reader | None, str]:
    """Who takes sentences apart by these settings, and what to say where nobody can."""
    return None, ""
