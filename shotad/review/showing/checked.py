"""What lines are checked by, and what a check came to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from shotad.core.config import Config
from shotad.description.linting.check import Checker
from shotad.description.linting.load import rendered_findings, track_material
from shotad.review.showing.nearby import Nearby
from shotad.script.lint.lines import TrackLine
from shotad.script.rules import Finding
from shotad.script.track import Track

_SOURCES = (
    "slots.json", "speech.json", "settings.json", "stage1.jsonl", "screen.json", "render.json",
)  # fmt: skip
"""Files of the work folder that lines are checked by."""

Stamps = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Known:
    """All that lines are checked by: what surrounds them, who checks, what a render found, what cannot be
    looked at and why; and the state of the files that this comes from."""

    nearby: Nearby
    checker: Checker
    rendered: tuple[Finding, ...]
    skipped: tuple[str, ...]
    stamps: Stamps

    @staticmethod
    def of(folder: Path, config: Config, track: Track, before: Known | None = None) -> Known:
        """What is known by now; ``before`` itself where no file of it has changed. Raises ShotadError."""
        now = _stamps(folder)
        if before is not None and before.stamps == now:
            return before
        material, skipped = track_material(track, folder)
        checker = before.checker if before is not None else Checker.of(config.lint, config.fit)
        return Known(Nearby.of(material), checker, rendered_findings(folder), skipped, now)


@dataclass(frozen=True, slots=True)
class Checked:
    """A line as it was checked, and what was found."""

    line: TrackLine
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Whole:
    """What a check of all lines came to beside findings of lines."""

    others: tuple[Finding, ...] = ()
    accepted: int = 0
    notes: tuple[str, ...] = ()
    looked: bool = False


def _stamps(folder: Path) -> Stamps:
    """The state of the files that lines are checked by: time of change and size, zeros without a file."""
    found = []
    for name in _SOURCES:
        try:
            state = (folder / name).stat()
            found.append((state.st_mtime_ns, state.st_size))
        except OSError:
            found.append((0, 0))
    return tuple(found)
