"""The guidelines' rules for people, the lines that are checked, of a track or of any script, with what is
known of the film, and what a check came to: text that can be listened to, JSON, records.

Here too: findings that a person has looked at and accepted, for good (a file beside the track) or for one
run.
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
    ConfigError,
    Interval,
    TextFact,
    Utterance,
    WorkFolderError,
    plural,
    quoted,
    read_file,
    read_yaml,
    write_text,
)
from shotad.script.cue import ScriptCue, Voiced, short_hash, timecode
from shotad.script.edits import is_by_hand
from shotad.script.rules import Finding, Level
from shotad.script.track import Track


@dataclass(frozen=True, slots=True)
class TrackLine:
    """A line as its listeners get it. ``slot`` is the time planned for it, ``voiced`` how it was spoken.

    ``seen_from`` as in `shotad.script.cue.Cue`; ``by_hand``: a person wrote, changed or accepted it.
    """

    id: str
    interval: Interval
    text: str
    language: str = "en"
    slot: Interval | None = None
    voiced: Voiced | None = None
    seen_from: float | None = None
    by_hand: bool = True

    @property
    def heard(self) -> Interval:
        """When it is heard: as it was spoken, else as it is written down."""
        return self.voiced.interval if self.voiced and self.voiced.interval else self.interval

    @property
    def said(self) -> str:
        """What is heard of its text: a voice may have left out a part."""
        return self.voiced.text if self.voiced and self.voiced.text else self.text


@dataclass(frozen=True, slots=True)
class Material:
    """The lines, in the order in which they stand, and what else is known; None is not known.

    ``end`` is that of the film in seconds; ``speech`` the utterances, some perhaps without words; ``texts``
    what was read on the screen. ``given``: slots or budgets are a benchmark's, whose minima and rates are not
    those of T2 and T3.
    """

    name: str
    lines: tuple[TrackLine, ...]
    end: float | None = None
    speech: tuple[Utterance, ...] | None = None
    cast: Cast | None = None
    texts: tuple[TextFact, ...] | None = None
    given: bool = False
    film: str = ""
    """The film's name, as casts have it, where that is not ``name``."""
    seen: Mapping[str, float] = field(default_factory=dict)
    """``seen_from`` of lines that do not say it themselves, by their ids."""

    @property
    def duration(self) -> float:
        """The film's length, as far as it is known: up to the last line or utterance at least."""
        ends = [line.interval.end for line in self.lines]
        ends += [spoken.interval.end for spoken in self.speech or ()]
        return max([0.0 if self.end is None else self.end, *ends])


def lines_of_track(track: Track, slots: dict[str, Interval] | None = None) -> tuple[TrackLine, ...]:
    """The lines of a track that are heard; ``slots`` are times by slot id."""
    known = slots or {}
    return tuple(
        TrackLine(
            cue.id, cue.interval, cue.text, cue.language, known.get(cue.slot_id or ""), cue.spoken,
            cue.seen_from, is_by_hand(cue),
        )
        for cue in track.heard
    )  # fmt: skip


def lines_of_script(cues: Sequence[ScriptCue], language: str) -> tuple[TrackLine, ...]:
    """The lines of a script file, by their ids where these tell them apart, else by number: ``#3``."""
    counts = Counter(cue.id for cue in cues)
    return tuple(
        TrackLine(
            cue.id if cue.id and counts[cue.id] == 1 else f"#{number}", cue.interval, cue.text, language
        )
        for number, cue in enumerate(cues, 1)
        if cue.text.strip()
    )


FILE = "lint-accepted.txt"
_HEAD = """\
# Findings of shotad lint that a person has accepted: rule, line, and a stamp of its text. A line whose text
# (for the rules T also its time) has changed since is checked again. Delete a row to hear of it again; what
# stands after # is yours.
"""
_ROW = re.compile(r"(?P<rule>\S+)\s+(?P<line>\S+)\s+(?P<stamp>[0-9a-f]{8})")
_WISH = re.compile(r"(?P<rule>[A-Za-z][\w-]*)(?::(?P<line>\S+))?")


def covers(wish: str, rule: str) -> bool:
    """``T`` means ``T1``, ``l4`` means ``L4`` and not ``L14``; other rules are meant by their name."""
    asked = wish.casefold()
    family = asked in ("t", "l", "a") and rule[1:].isdigit()
    return rule.casefold() == asked or (family and rule[:1].casefold() == asked)


def accepts(text: str) -> Callable[[Finding], bool]:
    """Whether a text means a finding: ``L4`` or a family of rules (``T``) in all lines, ``L4:s00083120`` in
    one. Raises ConfigError."""
    match = _WISH.fullmatch(text.strip())
    if match is None:
        raise ConfigError(f"{quoted(text)} names no rule.", "Write L4, or L4:s00083120 for one line.")
    rule, line = match["rule"], match["line"]
    return lambda finding: covers(rule, finding.rule) and line in (None, finding.cue_id)


def read_accepted(folder: Path) -> frozenset[tuple[str, str, str]]:
    """Rule, line and stamp of what was accepted in a folder; a row that cannot be read is refused.

    Raises ConfigError with the row.
    """
    try:
        text = read_file(folder / FILE).decode("utf-8-sig")
    except FileNotFoundError:
        return frozenset()
    except WorkFolderError as error:
        raise ConfigError(error.what, error.hint) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{folder / FILE} cannot be read: {error}.", "Save it as UTF-8.") from None
    rows = set()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.partition("#")[0].strip():
            continue
        if (match := _ROW.match(line.strip())) is None:
            what = f"{folder / FILE}, line {number}: {quoted(line.strip())} is no accepted finding."
            raise ConfigError(what, "Write rule, line and stamp, or let shotad lint --accept write it.")
        rows.add((match["rule"], match["line"], match["stamp"]))
    return frozenset(rows)


def accept_findings(folder: Path, findings: Iterable[Finding], lines: Sequence[TrackLine]) -> int:
    """Write down that these findings are accepted; how many are new."""
    texts = stamps(lines)
    known = read_accepted(folder)
    fresh = [
        (stamp_of(finding, texts), finding)
        for finding in findings
        if finding.cue_id in texts or finding.when is not None
    ]
    rows = {key: finding for key, finding in fresh if key not in known}
    if rows:
        path = folder / FILE
        before = read_file(path).decode("utf-8-sig") if path.exists() else _HEAD
        more = "".join(
            f"{' '.join(key)}  # {' '.join(finding.message.split())}\n" for key, finding in rows.items()
        )
        write_text(path, before + ("" if before.endswith("\n") else "\n") + more)
    return len(rows)


def stamps(lines: Iterable[TrackLine]) -> dict[str, tuple[str, str]]:
    """By what lines are known again, by their ids: a stamp of the text, and one of text and times."""
    return {line.id: (short_hash(line.text), short_hash(f"{line.interval} {line.text}")) for line in lines}


def stamp_of(finding: Finding, texts: Mapping[str, tuple[str, str]]) -> tuple[str, str, str]:
    """By what a finding is known again: of no line its time counts instead of the text."""
    if finding.cue_id is not None and finding.cue_id in texts:
        return finding.rule, finding.cue_id, texts[finding.cue_id][finding.rule.startswith("T")]
    return finding.rule, "-", short_hash(f"{finding.when} {finding.message}")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule for people: ``title`` in a few words, ``why``, the ``hint`` that goes with a finding,
    ``source``, and its usual level."""

    id: str
    title: str
    level: str
    why: str
    hint: str
    source: str


_TABLE = read_yaml((Path(__file__).parent / "guidelines.yaml").read_text(encoding="utf-8"))
RULES: Mapping[str, Rule] = {name: Rule(name, **row) for name, row in _TABLE.items()}
"""By id, in the order in which they are told."""


def hint_of(rule: str) -> str:
    """What to do about a finding; empty for a rule of somebody's own."""
    return RULES[rule].hint if rule in RULES else ""


def title_of(rule: str) -> str:
    """The rule in a few words; its name for one of somebody's own."""
    return RULES[rule].title if rule in RULES else rule


def order_of(rule: str) -> tuple[int, str]:
    """Where a rule stands among others."""
    known = list(RULES)
    return (known.index(rule) if rule in known else len(known), rule)


def rules_text() -> str:
    """A paragraph for each rule."""
    return "\n\n".join(
        f"{rule.id}, {rule.title} ({rule.level})\n  {rule.why} {rule.hint}\n  Source: {rule.source}."
        for rule in RULES.values()
    )


def rules_json() -> list[dict[str, Any]]:
    """The same for programs."""
    return [asdict(rule) for rule in RULES.values()]


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
    notes: tuple[str, ...] = ()

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
        parts.append(plural(number, level.value) + (f" ({rules})" if rules else ""))
    text = f"{', '.join(parts)} in {plural(len(report.lines), 'line')}"
    return f"{text}; {len(report.accepted)} accepted." if report.accepted else f"{text}."


def as_text(report: Report, *, warnings: bool = True) -> str:
    """The findings line by line, each with its rule and reason; what to do is said where a rule is first
    broken. Then the summary."""
    shown = [finding for finding in report.findings if warnings or finding.level is Level.ERROR]
    lines = {line.id: line for line in report.lines}
    told: set[str] = set()
    blocks: list[str] = []
    before: str | None = None
    for finding in shown:
        name = finding.cue_id
        line = lines.get(name) if name is not None else None
        if line is not None and name != before:
            blocks.append(f"{timecode(max(line.interval.start, 0))} {line.id}: {' '.join(line.text.split())}")
        elif line is None and finding.when:
            blocks.append(f"{timecode(max(finding.when.start, 0))} no line")
        elif line is None:
            blocks.append(name or report.name)
        before = name
        hint = "" if finding.rule in told else hint_of(finding.rule)
        told.add(finding.rule)
        blocks[-1] += f"\n  {finding.level} {finding.rule}: {finding.message}. {hint}".rstrip()
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
