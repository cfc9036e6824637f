"""Findings on the page as they arise.

A line that changes is checked at once, with the lines around it, by the rules that look at no more than that
and need no parser (`Nearby`). All rules are looked at a moment later, in a thread. What a person accepted
with ``shotad lint --accept``, or on the page, stays accepted.
"""

from __future__ import annotations

import logging
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shotad.core import Config, Interval, ReviewError, ShotadError, TextFact, Utterance
from shotad.description import (
    DIALOGUE_WINDOW,
    Again,
    Checker,
    each_line,
    in_time,
    lint,
    rendered_findings,
    track_material,
)
from shotad.review.jobs import WhenQuiet
from shotad.review.kinds import Hub
from shotad.review.session import Session
from shotad.script import (
    Finding,
    IntervalIndex,
    Level,
    Material,
    Report,
    Track,
    TrackLine,
    accept_findings,
    hint_of,
    lines_of_track,
    order_of,
    read_accepted,
    stamp_of,
    stamps,
    title_of,
)

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


_LOG = logging.getLogger(__name__)

PAUSE = 1.0
"""Seconds without a change after which all rules are looked at."""

FIRST = 1.5
"""The same at the beginning: a page that is just opened comes first."""

MOST_AT_ONCE = 60
"""Lines that are checked at once; where more change together, all are checked a moment later."""

_OF_THE_TEXT = ("L6", "L7", "L8")
"""Rules that look at all lines, and of which a finding is no longer true where the text is another."""


def finding_view(finding: Finding) -> dict[str, Any]:
    """A finding as the page shows it; ``at`` says of which time it is where no line is at fault."""
    when = finding.when
    return {
        "rule": finding.rule,
        "title": title_of(finding.rule),
        "level": finding.level.value,
        "text": finding.message,
        "hint": hint_of(finding.rule),
        "span": None if finding.span is None else list(finding.span),
        **({} if when is None else {"at": [round(when.start, 3), round(when.end, 3)]}),
    }


class Findings:
    """Findings of all lines, kept up to date. Safe in threads; `close` ends the one that it has."""

    def __init__(self, session: Session, hub: Hub, *, pause: float = PAUSE, first: float = FIRST) -> None:
        """``pause`` is as `PAUSE`; ``first`` are the seconds until all lines are checked at the beginning."""
        self._session, self._hub = session, hub
        self._lines: dict[str, Checked] = {}
        self._whole = Whole()
        self._version = 0
        self._known: Known | None = None
        self._again = Again()
        self._accepted: frozenset[tuple[str, str, str]] = frozenset()
        self._lock = threading.RLock()
        self._later = WhenQuiet(self._look, pause, "findings")
        self._later.ask(first)

    def of(self, line_id: str) -> tuple[Finding, ...]:
        """What is wrong with a line, as far as it is known by now."""
        checked = self._lines.get(line_id)
        return checked.findings if checked is not None else ()

    def summary(self) -> dict[str, Any]:
        """How much is found; ``others`` are findings of no line, ``notes`` say what was not looked at,
        ``done`` whether there is no more to come until something changes, ``version`` how often news were
        told: lines that are read after it hold all of them."""
        with self._lock:
            version = self._version
            each, whole = [checked.findings for checked in self._lines.values()], self._whole
        every = [*(one for found in each for one in found), *whole.others]
        errors = sum(one.level is Level.ERROR for one in every)
        return {
            "errors": errors,
            "warnings": len(every) - errors,
            "lines": sum(bool(found) for found in each),
            "accepted": whole.accepted,
            "others": [finding_view(one) for one in whole.others],
            "notes": list(whole.notes),
            "done": whole.looked,
            "version": version,
        }

    @property
    def version(self) -> int:
        return self._version

    def update(self, ids: Iterable[str]) -> None:
        """Check lines that changed, and those around them. All tabs are told what else changes by it."""
        changed = tuple(ids)
        self._later.ask()
        with self._lock:
            self._whole = replace(self._whole, looked=False)
            if self._known is None:
                return
            before = dict(self._lines)
            self._check_around(self._known, changed)
            others = [name for name in self._different(before) if name not in changed]
        if others:
            self._tell(others)

    def accept(self, line_id: str, rule: str) -> int:
        """Write down that what ``rule`` finds in a line is well, for lint too; how many findings that were.

        Raises ReviewError where it finds nothing, ConfigError where the file of all that was accepted is
        damaged.
        """
        with self._lock:
            checked = self._lines.get(line_id)
            chosen = [one for one in self.of(line_id) if one.rule == rule]
            if checked is None or not chosen:
                raise ReviewError(f"{rule} finds nothing in {line_id}.", "Look again: it may have changed.")
            accept_findings(self._session.folder, chosen, [checked.line])
            self._accepted = read_accepted(self._session.folder)
            left = tuple(one for one in checked.findings if one.rule != rule)
            self._lines[line_id] = replace(checked, findings=left)
            self._whole = replace(self._whole, accepted=self._whole.accepted + len(chosen))
        self._tell([line_id])
        return len(chosen)

    def settle(self, timeout: float = 60.0) -> bool:
        """Wait until all rules were looked at since the last change; False where that took too long."""
        return self._later.settle(timeout)

    def close(self) -> None:
        """Look at nothing any more."""
        self._later.close()

    def _look(self) -> None:
        """Look at all rules, and tell what changed."""
        try:
            self._tell(self._looked())
        except ShotadError as error:
            self._fail(str(error))
        except Exception:  # noqa: BLE001  whatever a rule stumbles over, the page goes on
            _LOG.exception("The lines cannot be checked")
            self._fail("The lines could not be checked, for an error in shotad; its log tells more.")

    def _looked(self) -> list[str]:
        """Check all lines by all rules; the ids of those of which something else is found than before."""
        folder, track = self._session.folder, self._session.track
        known = Known.of(folder, self._session.config, track, self._known)
        material = replace(known.nearby.around, lines=lines_of_track(track, self._slots()))
        each = self._again.of(material, known.checker)
        report = lint(
            material, known.checker, extra=known.rendered, folder=folder, skipped=known.skipped, each=each
        )
        return self._take(known, report, read_accepted(folder))

    def _take(self, known: Known, report: Report, accepted: frozenset[tuple[str, str, str]]) -> list[str]:
        """Take over a check of all lines; a line that changed meanwhile keeps what was found at once."""
        found: dict[str | None, list[Finding]] = {}
        for one in report.findings:
            found.setdefault(one.cue_id, []).append(one)
        names = {line.id for line in report.lines}
        others = tuple(one for name, those in found.items() if name not in names for one in those)
        with self._lock:
            now = {line.id: line for line in lines_of_track(self._session.track, self._slots())}
            same = [line for line in report.lines if now.get(line.id) == line]
            before = self._lines
            self._lines = {name: checked for name, checked in before.items() if name in now}
            self._lines |= {line.id: Checked(line, tuple(found.get(line.id, ()))) for line in same}
            self._known, self._accepted = known, accepted
            notes = (*map(_for_the_page, report.skipped), *report.notes)
            self._whole = Whole(others, len(report.accepted), notes, looked=not self._later.is_due)
            return self._different(before)

    def _check_around(self, known: Known, changed: Sequence[str]) -> None:
        """Check lines that changed, and those after them that look back to them."""
        track = self._session.track
        heard, reach = track.heard, reach_of(known.checker)
        wanted = self._reached(changed, heard, reach)
        duration = known.nearby.around.duration
        duration = max([duration, *(cue.interval.end for cue in heard)])
        slots = self._slots()
        for places in _runs(sorted(wanted)) if len(wanted) <= MOST_AT_ONCE else ():
            cues = heard[max(places.start - reach, 0) : places.stop]
            lines = lines_of_track(track.with_cues(cues), slots)
            fresh = lines[len(lines) - len(places) :]
            found = known.nearby.findings(lines, [line.id for line in fresh], known.checker, duration)
            for line in fresh:
                own = [one for one in found if one.cue_id == line.id]
                self._lines[line.id] = Checked(line, self._merged(line, own, known))

    def _reached(self, changed: Sequence[str], heard: Sequence[Any], reach: int) -> set[int]:
        """Places of heard lines that changes reach; lines that are not heard any more are forgotten."""
        places = {cue.id: place for place, cue in enumerate(heard)}
        starts = [cue.interval.start for cue in heard]
        reached: set[int] = set()
        for name in changed:
            # Where a line was matters too: those after it follow another one now.
            was = self._lines.get(name)
            at = [places[name]] if name in places else []
            at += [bisect_left(starts, was.line.interval.start)] if was is not None else []
            for first in at:
                reached |= set(range(first, min(first + reach + 1, len(heard))))
            if name not in places:
                self._lines.pop(name, None)
        return reached

    def _merged(self, line: TrackLine, fresh: Sequence[Finding], known: Known) -> tuple[Finding, ...]:
        """What was found at once, with what only a check of all lines finds and still holds."""
        was = self._lines.get(line.id)
        before = was.findings if was is not None else ()
        is_same = was is not None and was.line.text == line.text
        kept = [one for one in before if not is_told_at_once(one) or one in known.rendered]
        if not is_same:
            kept = [one for one in kept if one.rule not in _OF_THE_TEXT]
        elif known.checker.reader is not None:
            # A parser has seen this text: it knows better than the word lists.
            kept += [one for one in before if one.rule == "L1" and one not in kept]
            fresh = [one for one in fresh if one.rule != "L1"]
        texts = stamps([line])
        told = [one for one in fresh if stamp_of(one, texts) not in self._accepted]
        return tuple(sorted(dict.fromkeys((*told, *kept)), key=_order))

    def _different(self, before: Mapping[str, Checked]) -> list[str]:
        """The ids of lines of which something else is found than ``before``."""
        return [
            name for name in {**before, **self._lines} if _found(before, name) != _found(self._lines, name)
        ]

    def _slots(self) -> dict[str, Interval]:
        return {slot.id: slot.interval for slot in self._session.prepared.slots}

    def _fail(self, why: str) -> None:
        with self._lock:
            self._whole = replace(self._whole, notes=(why,), looked=not self._later.is_due)
        self._tell([])

    def _tell(self, names: Iterable[str]) -> None:
        with self._lock:
            self._version += 1
        lines = {name: [finding_view(one) for one in self.of(name)] for name in names}
        self._hub.tell("findings", {"lines": lines, "summary": self.summary()})


def _for_the_page(reason: str) -> str:
    """Why rules were not looked at, without what to write at a command line."""
    told, mark, _ = reason.partition("; give --")
    return f"{told}." if mark else reason


def _found(lines: Mapping[str, Checked], name: str) -> tuple[Finding, ...]:
    return lines[name].findings if name in lines else ()


def _order(finding: Finding) -> tuple[Any, ...]:
    """As `shotad.script.guidelines.in_order`, of one line."""
    return order_of(finding.rule), finding.span or (-1, -1), finding.message


def _runs(places: Sequence[int]) -> Iterator[range]:
    """Ascending places as runs without a gap: ``[1, 2, 5] → range(1, 3), range(5, 6)``."""
    first = 0
    for i in range(1, len(places) + 1):
        if i == len(places) or places[i] != places[i - 1] + 1:
            yield range(places[first], places[i - 1] + 1)
            first = i


LOOK_ALL = frozenset(("T5", "L6", "L7", "L8", "L11", "A1", "A2", "A3"))
"""Rules that look at all lines, or at the sound of a render."""


def is_told_at_once(finding: Finding) -> bool:
    """Whether a finding is of a line and of a rule that needs no more than what is near to it."""
    return finding.cue_id is not None and finding.rule not in LOOK_ALL


@dataclass(frozen=True, slots=True)
class Nearby:
    """What is known of a film beside its lines, made ready to be looked up by time.

    ``around`` is the material without lines; ``speech`` None where it is not known when somebody speaks.
    """

    around: Material
    speech: IntervalIndex[Utterance] | None
    texts: IntervalIndex[TextFact] | None

    @staticmethod
    def of(material: Material) -> Nearby:
        """The surroundings of a material."""
        return Nearby(
            replace(material, lines=()),
            None
            if material.speech is None
            else IntervalIndex.of(material.speech, lambda spoken: spoken.interval),
            None if material.texts is None else IntervalIndex.of(material.texts, _shown),
        )

    def findings(
        self, lines: Sequence[TrackLine], wanted: Iterable[str], checker: Checker, duration: float
    ) -> tuple[Finding, ...]:
        """What is told at once of the lines called ``wanted``, in order, whether it was accepted or not.

        ``lines`` are these and those around them: as many before the first as rule L9 looks back
        (`reach_of`). ``duration`` is the length of the film with all its lines. The parser of ``checker`` is
        not used.
        """
        checker = replace(checker, reader=None)
        names = frozenset(wanted)
        part = self._part(lines, duration, DIALOGUE_WINDOW)
        each = each_line(part, checker, only=names)
        report = lint(part, checker, each=each, together=in_time(part, checker))
        return tuple(f for f in report.findings if is_told_at_once(f) and f.cue_id in names)

    def _part(self, lines: Sequence[TrackLine], duration: float, window: float) -> Material:
        times = [time for line in lines for time in (line.heard, line.interval)]
        if not times:
            return replace(self.around, end=duration)
        time = Interval(min(t.start for t in times), max(t.end for t in times))
        return replace(
            self.around,
            lines=tuple(lines),
            end=duration,
            cast=None,
            speech=None if self.speech is None else _with_borders(self.speech, time, window),
            texts=None if self.texts is None else self.texts.near(time, window),
        )


def reach_of(checker: Checker) -> int:
    """How many lines after a change it may reach: those of which L9 looks back to it, the next at least."""
    return max(1, checker.limits.history)


def _with_borders(speech: IntervalIndex[Utterance], time: Interval, window: float) -> tuple[Utterance, ...]:
    """What is said near ``time``, and what comes just before and just after that: gaps end there."""
    first = bisect_left(speech.ends, time.start - window)
    last = bisect_right(speech.starts, time.end + window)
    near = speech.items[first : last + 1]
    if not first:
        return near
    before = speech.items[bisect_left(speech.ends, speech.ends[first - 1])]
    return (before, *near)


def _shown(text: TextFact) -> Interval:
    return Interval(text.first, max(text.last, text.first + 0.001))
