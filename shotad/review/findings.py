"""Findings on the page as they arise: all rules are looked at when nothing has changed for a moment.

That is done in a thread, and lines that are the same are not looked at again. What a person accepted with
``shotad lint --accept`` stays accepted.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from shotad.core import ShotadError
from shotad.description import Again, Checker, kept_findings, lint, track_material
from shotad.review.events import Json, Tabs
from shotad.review.jobs import WhenQuiet
from shotad.review.keeping import Signature, signatures
from shotad.review.session import Session
from shotad.script import Finding, Material, hint_of, lines_of_track, title_of

_SOURCES = ("slots.json", "speech.json", "settings.json", "stage1.jsonl", "screen.json")
"""Files of the work folder that lines are checked by."""

_LOG = logging.getLogger(__name__)

PAUSE = 0.5
"""Seconds without a change after which lines are checked."""

FIRST = 1.5
"""The same at the beginning: a page that is just opened comes first."""


def finding_view(finding: Finding) -> dict[str, Any]:
    """A finding as the page shows it."""
    return {
        "rule": finding.rule,
        "title": title_of(finding.rule),
        "level": finding.level.value,
        "text": finding.message,
        "hint": hint_of(finding.rule),
    }


class Findings:
    """Findings of all lines, kept up to date. Safe in threads; `close` ends the one that it has."""

    def __init__(self, session: Session, hub: Tabs, *, pause: float = PAUSE, first: float = FIRST) -> None:
        """``pause`` is as `PAUSE`; ``first`` are the seconds until lines are checked at the beginning."""
        self._session, self._hub = session, hub
        self._lines: Mapping[str, tuple[Finding, ...]] = {}
        self.version = 0
        # What lines are checked by, and the state of the files that it comes from
        self._known: tuple[tuple[Signature, ...], Material] | None = None
        self._checker: Checker | None = None
        self._again = Again()
        self._later = WhenQuiet(self._look, pause, "findings")
        self.update(first)

    def of(self, line_id: str) -> tuple[Finding, ...]:
        """What is wrong with a line, as far as it is known by now."""
        return self._lines.get(line_id, ())

    def summary(self) -> Json:
        """``done``: whether there is no more to come until something changes; ``version``: how often news
        were told, lines that are read after it hold all of them."""
        version = self.version
        return {"done": version > 0 and not self._later.is_due, "version": version}

    def update(self, pause: float | None = None) -> None:
        """Have all lines checked, for something has changed."""
        self._later.ask(pause)

    def settle(self, timeout: float = 60.0) -> bool:
        """Wait until lines were checked since the last change; False where that took too long."""
        return self._later.settle(timeout)

    def close(self) -> None:
        """Look at nothing any more."""
        self._later.close()

    def _look(self) -> None:
        """Check all lines, and tell of which something else is found than before."""
        session, config, before = self._session, self._session.config, self._lines
        try:
            folder, track = session.folder, session.track
            state = signatures(folder / name for name in _SOURCES)
            if self._known is None or self._known[0] != state:
                self._known = (state, track_material(track, folder)[0])
            checker = self._checker = self._checker or Checker.of(config.lint, config.fit)
            slots = {slot.id: slot.interval for slot in session.prepared.slots}
            material = replace(self._known[1], lines=lines_of_track(track, slots))
            each = self._again.of(material, checker)
            extra = kept_findings(folder, track)
            found: dict[str, tuple[Finding, ...]] = {}
            for one in lint(material, checker, extra=extra, folder=folder, each=each).findings:
                if one.cue_id is not None:
                    found[one.cue_id] = (*found.get(one.cue_id, ()), one)
            self._lines = found
        except ShotadError as error:
            _LOG.warning("The lines cannot be checked: %s", error)
        except Exception:  # noqa: BLE001  whatever a rule stumbles over, the page goes on
            _LOG.exception("The lines cannot be checked")
        self.version += 1
        changed = [name for name in {**before, **self._lines} if before.get(name) != self._lines.get(name)]
        lines = {name: [finding_view(one) for one in self.of(name)] for name in changed}
        self._hub.tell("findings", {"lines": lines, "summary": self.summary()})
