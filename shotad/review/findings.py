"""Findings on the page as they arise: all rules are looked at when nothing has changed for a moment.

That is done in a thread, and lines that are the same are not looked at again. What a person accepted with
``shotad lint --accept``, or on the page, stays accepted.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shotad.core import Config, ReviewError, ShotadError
from shotad.description import Again, Checker, lint, rendered_findings, track_material
from shotad.review.jobs import WhenQuiet
from shotad.review.keeping import Signature, signatures
from shotad.review.kinds import Hub
from shotad.review.session import Session
from shotad.script import (
    Finding,
    Material,
    Report,
    Track,
    accept_findings,
    hint_of,
    lines_of_track,
    title_of,
)

_SOURCES = (
    "slots.json", "speech.json", "settings.json", "stage1.jsonl", "screen.json", "render.json",
)  # fmt: skip
"""Files of the work folder that lines are checked by."""

_LOG = logging.getLogger(__name__)

PAUSE = 0.5
"""Seconds without a change after which lines are checked."""

FIRST = 1.5
"""The same at the beginning: a page that is just opened comes first."""


@dataclass(frozen=True, slots=True)
class _Known:
    """All that lines are checked by: what surrounds them, who checks, what a render found, what cannot be
    looked at and why; and the state of the files that this comes from."""

    around: Material
    checker: Checker
    rendered: tuple[Finding, ...]
    skipped: tuple[str, ...]
    state: tuple[Signature, ...]

    @staticmethod
    def of(folder: Path, config: Config, track: Track, before: _Known | None) -> _Known:
        """What is known by now; ``before`` itself where no file of it has changed. Raises ShotadError."""
        now = signatures(folder / name for name in _SOURCES)
        if before is not None and before.state == now:
            return before
        material, skipped = track_material(track, folder)
        checker = before.checker if before is not None else Checker.of(config.lint, config.fit)
        return _Known(material, checker, rendered_findings(folder), skipped, now)


def finding_view(finding: Finding) -> dict[str, Any]:
    """A finding as the page shows it; ``at`` says of which time it is where no line is at fault."""
    when = finding.when
    return {
        "rule": finding.rule,
        "title": title_of(finding.rule),
        "level": finding.level.value,
        "text": finding.message,
        "hint": hint_of(finding.rule),
        **({} if when is None else {"at": [round(when.start, 3), round(when.end, 3)]}),
    }


class Findings:
    """Findings of all lines, kept up to date. Safe in threads; `close` ends the one that it has."""

    def __init__(self, session: Session, hub: Hub, *, pause: float = PAUSE, first: float = FIRST) -> None:
        """``pause`` is as `PAUSE`; ``first`` are the seconds until lines are checked at the beginning."""
        self._session, self._hub = session, hub
        self._report = Report(session.film.name, (), ())
        self._lines: Mapping[str | None, tuple[Finding, ...]] = {}
        self._failure = ""
        self.version = 0
        self._known: _Known | None = None
        self._again = Again()
        self._lock = threading.RLock()
        self._later = WhenQuiet(self._look, pause, "findings")
        self.update(first)

    def of(self, line_id: str) -> tuple[Finding, ...]:
        """What is wrong with a line, as far as it is known by now."""
        return self._lines.get(line_id, ())

    def summary(self) -> dict[str, Any]:
        """How much is found; ``others`` are findings of no line, ``notes`` say what was not looked at,
        ``done`` whether there is no more to come until something changes, ``version`` how often news were
        told: lines that are read after it hold all of them."""
        with self._lock:
            report, found, version = self._report, self._lines, self.version
        notes = (*map(_for_the_page, report.skipped), *report.notes)
        return {
            "errors": report.errors,
            "warnings": report.warnings,
            "lines": sum(name is not None for name in found),
            "accepted": len(report.accepted),
            "others": [finding_view(one) for one in found.get(None, ())],
            "notes": [self._failure] if self._failure else list(notes),
            "done": version > 0 and not self._later.is_due,
            "version": version,
        }

    def update(self, pause: float | None = None) -> None:
        """Have all lines checked, for something has changed."""
        self._later.ask(pause)

    def accept(self, line_id: str, rule: str) -> int:
        """Write down that what ``rule`` finds in a line is well, for lint too; how many findings that were.

        Raises ReviewError where it finds nothing, ConfigError where the file of all that was accepted is
        damaged.
        """
        with self._lock:
            report = self._report
            chosen = [one for one in self.of(line_id) if one.rule == rule]
            if not chosen:
                raise ReviewError(f"{rule} finds nothing in {line_id}.", "Look again: it may have changed.")
            accept_findings(self._session.folder, chosen, [one for one in report.lines if one.id == line_id])
            left = tuple(one for one in report.findings if one not in chosen)
            self._take(replace(report, findings=left, accepted=(*report.accepted, *chosen)))
        self.update()  # a check under way may have read the file before
        return len(chosen)

    def settle(self, timeout: float = 60.0) -> bool:
        """Wait until lines were checked since the last change; False where that took too long."""
        return self._later.settle(timeout)

    def close(self) -> None:
        """Look at nothing any more."""
        self._later.close()

    def _look(self) -> None:
        """Check all lines, and tell what changed."""
        try:
            report, failure = self._looked(), ""
        except ShotadError as error:
            report, failure = self._report, str(error)
        except Exception:  # noqa: BLE001  whatever a rule stumbles over, the page goes on
            _LOG.exception("The lines cannot be checked")
            report, failure = self._report, "The lines could not be checked, for an error in shotad."
        with self._lock:
            self._failure = failure
            self._take(report)

    def _looked(self) -> Report:
        session = self._session
        folder, track = session.folder, session.track
        known = self._known = _Known.of(folder, session.config, track, self._known)
        slots = {slot.id: slot.interval for slot in session.prepared.slots}
        material = replace(known.around, lines=lines_of_track(track, slots))
        each = self._again.of(material, known.checker)
        return lint(
            material, known.checker, extra=known.rendered, folder=folder, skipped=known.skipped, each=each
        )

    def _take(self, report: Report) -> None:
        """Take over what was found, and tell of which lines it is something else than before."""
        names, found = {line.id for line in report.lines}, dict[str | None, tuple[Finding, ...]]()
        for one in report.findings:
            name = one.cue_id if one.cue_id in names else None
            found[name] = (*found.get(name, ()), one)
        before, self._report, self._lines = self._lines, report, found
        self.version += 1
        self._tell(name for name in {**before, **found} if name and before.get(name) != found.get(name))

    def _tell(self, names: Iterable[str]) -> None:
        lines = {name: [finding_view(one) for one in self.of(name)] for name in names}
        self._hub.tell("findings", {"lines": lines, "summary": self.summary()})


def _for_the_page(reason: str) -> str:
    """Why rules were not looked at, without what to write at a command line."""
    told, mark, _ = reason.partition("; give --")
    return f"{told}." if mark else reason
