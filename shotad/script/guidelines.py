"""Input and output of the guideline check.

Input: the lines of a track or of any script, and what is known of the film (`Material`). Output: a `Report`
as text that can be listened to, as JSON, and as records. The table `RULES` explains each rule to people.

Findings that a person accepted are left out: for good by a file beside the track, or for one run.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from shotad.core import (
    Cast,
    Interval,
    Utterance,
)
from shotad.core.config.languages import language_of
from shotad.core.engine import TextFact
from shotad.core.errors import (
    ConfigError,
    WorkFolderError,
    quoted,
)
from shotad.core.files import read_file, write_text
from shotad.core.progress import plural
from shotad.core.settings import read_yaml
from shotad.script.cue import ScriptCue, SpokenTake, short_hash, timecode
from shotad.script.edits import is_by_hand
from shotad.script.rules import Finding, Level
from shotad.script.track import Track


@dataclass(frozen=True, slots=True)
class TrackLine:
    """A line as it is checked. ``slot`` is the time planned for it, ``take`` how it was spoken.

    ``seen_from`` as in `shotad.script.cue.Cue`; ``by_hand``: a person wrote, changed or accepted it.
    """

    id: str
    interval: Interval
    text: str
    language: str = "en"
    slot: Interval | None = None
    take: SpokenTake | None = None
    seen_from: float | None = None
    by_hand: bool = True

    @property
    def spoken_interval(self) -> Interval:
        """When it is spoken, or, for a line without a recording, its planned time."""
        return self.take.interval if self.take and self.take.interval else self.interval

    @property
    def spoken_text(self) -> str:
        """The spoken text, which may be a part of the line, or the whole text without a recording."""
        return self.take.text if self.take and self.take.text else self.text


@dataclass(frozen=True, slots=True)
class Material:
    """The lines, in the order of the script, and what is known of the film (None: not known).

    ``end`` is that of the film in seconds; ``speech`` are the utterances, some perhaps without words;
    ``texts`` are those on the screen. ``is_benchmark``: slots or budgets are a benchmark's, whose minima and
    rates differ from those of T2 and T3.
    """

    name: str
    lines: tuple[TrackLine, ...]
    end: float | None = None
    speech: tuple[Utterance, ...] | None = None
    cast: Cast | None = None
    texts: tuple[TextFact, ...] | None = None
    is_benchmark: bool = False
    film: str = ""
    """The film's name as casts have it, where it is not ``name``."""

    @property
    def duration(self) -> float:
        """Seconds of the film as far as they are known: to the last line or utterance at least."""
        ends = [line.interval.end for line in self.lines]
        ends += [utterance.interval.end for utterance in self.speech or ()]
        return max([0.0 if self.end is None else self.end, *ends])


def lines_of_track(track: Track, slots: dict[str, Interval] | None = None) -> tuple[TrackLine, ...]:
    """The spoken lines of a track; ``slots`` are intervals by slot id."""
    slot_of_id = slots or {}
    lines: list[TrackLine] = []
    for cue in track.heard:
        slot = slot_of_id.get(cue.slot_id or "")
        lines.append(
            TrackLine(
                cue.id, cue.interval, cue.text, cue.language, slot, cue.spoken, cue.seen_from, is_by_hand(cue)
            )
        )
    return tuple(lines)


def lines_of_script(cues: Sequence[ScriptCue], language: str) -> tuple[TrackLine, ...]:
    """The lines of a script file that have a text; those without an id of their own get a number: ``#3``."""
    counts = Counter(cue.id for cue in cues)
    lines: list[TrackLine] = []
    for number, cue in enumerate(cues, 1):
        if cue.text.strip():
            line_id = cue.id if cue.id and counts[cue.id] == 1 else f"#{number}"
            lines.append(TrackLine(line_id, cue.interval, cue.text, language))
    return tuple(lines)


ACCEPTED_FILE = "lint-accepted.txt"
"""Beside the track: the findings that a person accepted for good."""
_ACCEPTED_HEAD = """\
# Findings of shotad lint that a person has accepted: rule, line, and a stamp of its text. A line whose text
# (for the rules T also its time) has changed since is checked again. Delete a row to hear of it again; what
# stands after # is yours.
"""
_ACCEPTED_ROW = re.compile(r"(?P<rule>\S+)\s+(?P<line>\S+)\s+(?P<stamp>[0-9a-f]{8})")
_RULE_AND_LINE = re.compile(r"(?P<rule>[A-Za-z][\w-]*)(?::(?P<line>\S+))?")


def selects_rule(selector: str, rule: str) -> bool:
    """Whether ``selector`` means ``rule``: ``T`` means ``T1``, ``l4`` means ``L4`` and not ``L14``.

    A rule of the user's own is meant by its name only.
    """
    name = selector.casefold()
    is_family = name in ("t", "l", "a") and rule[1:].isdigit()
    return rule.casefold() == name or (is_family and rule[:1].casefold() == name)


def accept_filter(text: str) -> Callable[[Finding], bool]:
    """A function that says whether ``text`` accepts a finding. Raises ConfigError.

    ``L4`` or a family of rules (``T``) accepts them in all lines, ``L4:s00083120`` in one.
    """
    match = _RULE_AND_LINE.fullmatch(text.strip())
    if match is None:
        raise ConfigError(f"{quoted(text)} names no rule.", "Write L4, or L4:s00083120 for one line.")
    rule, line = match["rule"], match["line"]
    return lambda finding: selects_rule(rule, finding.rule) and line in (None, finding.cue_id)


def read_accepted(folder: Path) -> frozenset[tuple[str, str, str]]:
    """Rule, line and stamp of each finding accepted in a folder.

    Raises ConfigError for a file that cannot be read, and with the row for one that is not valid.
    """
    try:
        text = read_file(folder / ACCEPTED_FILE).decode("utf-8-sig")
    except FileNotFoundError:
        return frozenset()
    except WorkFolderError as error:
        raise ConfigError(error.what, error.hint) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{folder / ACCEPTED_FILE} cannot be read: {error}.", "Save it as UTF-8.") from None
    rows = set()
    for number, line in enumerate(text.splitlines(), 1):
        row = line.strip()
        if not line.partition("#")[0].strip():
            continue
        if (match := _ACCEPTED_ROW.match(row)) is None:
            message = f"{folder / ACCEPTED_FILE}, line {number}: {quoted(row)} is no accepted finding."
            raise ConfigError(message, "Write rule, line and stamp, or let shotad lint --accept write it.")
        rows.add((match["rule"], match["line"], match["stamp"]))
    return frozenset(rows)


def accept_findings(folder: Path, findings: Iterable[Finding], lines: Sequence[TrackLine]) -> int:
    """Add these findings to the file of accepted ones; returns how many of them are new.

    A finding on neither a line nor a time cannot be accepted. Raises ConfigError as `read_accepted`.
    """
    stamps_of_lines = line_stamps(lines)
    accepted = read_accepted(folder)
    new: dict[tuple[str, str, str], Finding] = {}
    for finding in findings:
        if finding.cue_id not in stamps_of_lines and finding.when is None:
            continue
        key = finding_stamp(finding, stamps_of_lines)
        if key not in accepted:
            new[key] = finding
    if new:
        path = folder / ACCEPTED_FILE
        content = read_file(path).decode("utf-8-sig") if path.exists() else _ACCEPTED_HEAD
        if not content.endswith("\n"):
            content += "\n"
        for key, finding in new.items():
            message = " ".join(finding.message.split())
            content += f"{' '.join(key)}  # {message}\n"
        write_text(path, content)
    return len(new)


def line_stamps(lines: Iterable[TrackLine]) -> dict[str, tuple[str, str]]:
    """Two hashes of each line, by its id: one of the text, one of times and text."""
    return {line.id: (short_hash(line.text), short_hash(f"{line.interval} {line.text}")) for line in lines}


def finding_stamp(finding: Finding, stamps_of_lines: Mapping[str, tuple[str, str]]) -> tuple[str, str, str]:
    """What identifies a finding in later runs: its rule, its line (``-`` for none), and a hash.

    The hash is of the line's text, for rules on times of times and text; for a finding without a line, of
    the time and the message. ``stamps_of_lines`` as `line_stamps` returns them.
    """
    if finding.cue_id is not None and finding.cue_id in stamps_of_lines:
        text_stamp, text_and_times_stamp = stamps_of_lines[finding.cue_id]
        stamp = text_and_times_stamp if finding.rule.startswith("T") else text_stamp
        return finding.rule, finding.cue_id, stamp
    return finding.rule, "-", short_hash(f"{finding.when} {finding.message}")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule, explained: ``title`` in a few words, ``why``, the ``hint`` shown with a finding, the
    guideline it comes from (``source``), and its usual level.

    ``sources`` are the guidelines of its words in other languages, by their codes.
    """

    id: str
    title: str
    level: str
    why: str
    hint: str
    source: str
    sources: Mapping[str, str] = field(default_factory=dict)


_RULES_TABLE = read_yaml((Path(__file__).parent / "guidelines.yaml").read_text(encoding="utf-8"))
RULES: Mapping[str, Rule] = {name: Rule(name, **row) for name, row in _RULES_TABLE.items()}
"""By id, in the order in which they are listed."""


def rule_hint(rule: str) -> str:
    """What to do about a finding; empty for a rule of the user's own."""
    return RULES[rule].hint if rule in RULES else ""


def rule_title(rule: str) -> str:
    """The rule in a few words; its name for one of the user's own."""
    return RULES[rule].title if rule in RULES else rule


def order_of(rule: str) -> tuple[int, str]:
    """Sort key of a rule: as in `RULES`, then the user's own by name."""
    order = list(RULES)
    return (order.index(rule) if rule in order else len(order), rule)


def rules_text() -> str:
    """All rules as text, a paragraph for each."""
    paragraphs: list[str] = []
    for rule in RULES.values():
        rows = [
            f"{rule.id}, {rule.title} ({rule.level})",
            f"{rule.why} {rule.hint}",
            f"Source: {rule.source}.",
        ]
        for language, source in rule.sources.items():
            rows.append(f"In {language_of(language).name}: {source}.")
        paragraphs.append("\n  ".join(rows))
    return "\n\n".join(paragraphs)


def rules_json() -> list[dict[str, Any]]:
    """All rules as JSON values."""
    return [asdict(rule) for rule in RULES.values()]


@dataclass(frozen=True, slots=True)
class LintReport:
    """The result of a check: the ``lines`` checked, and the findings in order of time.

    ``skipped`` are sentences on rules that were not checked, ``accepted`` the findings that a person
    accepted, ``notes`` other sentences for the user.
    """

    name: str
    lines: tuple[TrackLine, ...]
    findings: tuple[Finding, ...]
    skipped: tuple[str, ...] = ()
    accepted: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def errors(self) -> int:
        """How many findings are errors."""
        return sum(finding.level is Level.ERROR for finding in self.findings)

    @property
    def warnings(self) -> int:
        """How many findings are warnings."""
        return len(self.findings) - self.errors


def summary_line(report: LintReport) -> str:
    """``2 errors (T1 2), 3 warnings (L4 2, L6 1) in 63 lines; 1 accepted.``"""
    parts: list[str] = []
    for level, count in ((Level.ERROR, report.errors), (Level.WARNING, report.warnings)):
        counts = Counter(finding.rule for finding in report.findings if finding.level is level)
        rules = ", ".join(f"{rule} {counts[rule]}" for rule in sorted(counts, key=order_of))
        parts.append(plural(count, level.value) + (f" ({rules})" if rules else ""))
    text = f"{', '.join(parts)} in {plural(len(report.lines), 'line')}"
    return f"{text}; {len(report.accepted)} accepted." if report.accepted else f"{text}."


def report_text(report: LintReport, *, warnings: bool = True) -> str:
    """The report as text: a paragraph for each line with findings, then the summary.

    The hint on a rule stands at its first finding only. Without ``warnings`` only errors are listed.
    """
    lines = {line.id: line for line in report.lines}
    rules_with_hint: set[str] = set()
    paragraphs: list[str] = []
    previous_id: str | None = None
    for finding in report.findings:
        if finding.level is not Level.ERROR and not warnings:
            continue
        line = lines.get(finding.cue_id) if finding.cue_id is not None else None
        # Findings of one line follow each other, and share its paragraph.
        if line is not None and finding.cue_id != previous_id:
            start = timecode(max(line.interval.start, 0))
            paragraphs.append(f"{start} {line.id}: {' '.join(line.text.split())}")
        elif line is None and finding.when:
            paragraphs.append(f"{timecode(max(finding.when.start, 0))} no line")
        elif line is None:
            paragraphs.append(finding.cue_id or report.name)
        previous_id = finding.cue_id
        hint = "" if finding.rule in rules_with_hint else rule_hint(finding.rule)
        rules_with_hint.add(finding.rule)
        paragraphs[-1] += f"\n  {finding.level} {finding.rule}: {finding.message}. {hint}".rstrip()
    summary = [f"{report.name}: {summary_line(report)}"]
    summary += [f"Not checked: {reason}" for reason in report.skipped]
    summary += list(report.notes)
    return "\n\n".join([*paragraphs, "\n".join(summary)])


def report_json(report: LintReport) -> dict[str, Any]:
    """The whole report as JSON values."""
    lines = {line.id: line for line in report.lines}
    return {
        "name": report.name,
        "lines": len(report.lines),
        "errors": report.errors,
        "warnings": report.warnings,
        "findings": [_finding_json(finding, lines.get(finding.cue_id or "")) for finding in report.findings],
        "accepted": [_finding_json(finding, lines.get(finding.cue_id or "")) for finding in report.accepted],
        "skipped": list(report.skipped),
        "notes": list(report.notes),
    }


def sort_findings(findings: Sequence[Finding], lines: Sequence[TrackLine]) -> tuple[Finding, ...]:
    """The findings sorted by time, of one line by rule and span; those without a time come last."""
    order_of_lines = {line.id: (line.interval.start, number) for number, line in enumerate(lines)}

    def sort_key(finding: Finding) -> tuple[Any, ...]:
        start = finding.when.start if finding.when else float("inf")
        order = order_of_lines.get(finding.cue_id or "", (start, -1))
        return *order, order_of(finding.rule), finding.span or (-1, -1), finding.message

    return tuple(sorted(findings, key=sort_key))


def _finding_json(finding: Finding, line: TrackLine | None) -> dict[str, Any]:
    """A finding as JSON values for other programs, with its rule explained, and its line."""
    when: Interval | None = line.interval if line is not None else finding.when
    return {
        "rule": finding.rule,
        "title": rule_title(finding.rule),
        "level": finding.level.value,
        "message": finding.message,
        "hint": rule_hint(finding.rule),
        "cue_id": finding.cue_id,
        "start": None if when is None else round(when.start, 3),
        "end": None if when is None else round(when.end, 3),
        "text": None if line is None else line.text,
        "span": None if finding.span is None else list(finding.span),
    }


def finding_row(finding: Finding) -> dict[str, Any]:
    """A finding as JSON values for a record; `finding_of` reads it."""
    return {
        "rule": finding.rule,
        "level": finding.level.value,
        "message": finding.message,
        "cue_id": finding.cue_id,
    }


def finding_of(row: Mapping[str, Any]) -> Finding:
    """The finding that `finding_row` wrote. Raises KeyError or ValueError for other values."""
    return Finding(str(row["rule"]), Level(row["level"]), str(row["message"]), row.get("cue_id"))
