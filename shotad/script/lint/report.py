"""What a check came to, as text that can be listened to and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from shotad.core import Interval
from shotad.script.lint.lines import TrackLine
from shotad.script.lint.rules import hint_of, order_of, title_of
from shotad.script.rules import Finding, Level
from shotad.script.timecodes import timecode


@dataclass(frozen=True, slots=True)
class Report:
    """Findings in order of time, ``skipped`` rules with the reason, and findings that a person ``accepted``.

    ``lines`` are those that were checked.
    """

    name: str
    lines: tuple[TrackLine, ...]
    findings: tuple[Finding, ...]
    skipped: tuple[str, ...] = ()
    accepted: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def errors(self) -> int:
        """Findings that must not go out."""
        return sum(finding.level is Level.ERROR for finding in self.findings)

    @property
    def warnings(self) -> int:
        """Findings for a person to judge."""
        return len(self.findings) - self.errors


def summary_line(report: Report) -> str:
    """``2 errors (T1 2), 3 warnings (L4 2, L6 1) in 63 lines; 1 accepted.``"""
    parts = []
    for level, number in ((Level.ERROR, report.errors), (Level.WARNING, report.warnings)):
        counts = Counter(finding.rule for finding in report.findings if finding.level is level)
        rules = ", ".join(f"{rule} {counts[rule]}" for rule in sorted(counts, key=order_of))
        parts.append(_counted(number, level.value) + (f" ({rules})" if rules else ""))
    text = f"{', '.join(parts)} in {_counted(len(report.lines), 'line')}"
    return f"{text}; {len(report.accepted)} accepted." if report.accepted else f"{text}."


def as_text(report: Report, *, warnings: bool = True) -> str:
    """The findings line by line, each with its rule and reason; what to do is said where a rule is first
    broken. Then the summary."""
    shown = [finding for finding in report.findings if warnings or finding.level is Level.ERROR]
    told: set[str] = set()
    blocks = ["\n".join(_block(report, line, findings, told)) for line, findings in _by_line(report, shown)]
    end = [f"{report.name}: {summary_line(report)}"]
    end += [f"Not checked: {reason}" for reason in report.skipped]
    end += list(report.notes)
    return "\n\n".join([*blocks, "\n".join(end)])


def as_json(report: Report) -> dict[str, Any]:
    """All of it, for programs."""
    lines = {line.id: line for line in report.lines}
    return {
        "name": report.name,
        "lines": len(report.lines),
        "errors": report.errors,
        "warnings": report.warnings,
        "findings": [_row(finding, lines.get(finding.cue_id or "")) for finding in report.findings],
        "accepted": [_row(finding, lines.get(finding.cue_id or "")) for finding in report.accepted],
        "skipped": list(report.skipped),
        "notes": list(report.notes),
    }


def in_order(findings: Sequence[Finding], lines: Sequence[TrackLine]) -> tuple[Finding, ...]:
    """By time; of one line by rule and place in the text; what has no time at the end."""
    place = {line.id: (line.interval.start, number) for number, line in enumerate(lines)}

    def key(finding: Finding) -> tuple[Any, ...]:
        start = finding.when.start if finding.when else float("inf")
        where = place.get(finding.cue_id or "", (start, -1))
        return *where, order_of(finding.rule), finding.span or (-1, -1), finding.message

    return tuple(sorted(findings, key=key))


def _by_line(report: Report, findings: Sequence[Finding]) -> Iterator[tuple[TrackLine | None, list[Finding]]]:
    lines = {line.id: line for line in report.lines}
    for name, group in groupby(findings, key=lambda finding: finding.cue_id):
        found = list(group)
        if name is not None and name in lines:
            yield lines[name], found
        else:
            yield from ((None, [finding]) for finding in found)


def _block(
    report: Report, line: TrackLine | None, findings: Sequence[Finding], told: set[str]
) -> Iterator[str]:
    if line is None:
        when = findings[0].when
        name = findings[0].cue_id
        yield f"{timecode(max(when.start, 0))} no line" if when else f"{name or report.name}"
    else:
        yield f"{timecode(max(line.interval.start, 0))} {line.id}: {' '.join(line.text.split())}"
    for finding in findings:
        hint = "" if finding.rule in told else hint_of(finding.rule)
        told.add(finding.rule)
        yield f"  {finding.level} {finding.rule}: {finding.message}. {hint}".rstrip()


def _row(finding: Finding, line: TrackLine | None) -> dict[str, Any]:
    when: Interval | None = line.interval if line is not None else finding.when
    return {
        "rule": finding.rule,
        "title": title_of(finding.rule),
        "level": finding.level.value,
        "message": finding.message,
        "hint": hint_of(finding.rule),
        "cue_id": finding.cue_id,
        "start": None if when is None else round(when.start, 3),
        "end": None if when is None else round(when.end, 3),
        "text": None if line is None else line.text,
        "span": None if finding.span is None else list(finding.span),
    }


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
