"""Findings that a person has looked at and accepted, for good (a file beside the track) or for one run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from shotad.core import ConfigError, write_text
from shotad.script.cue import short_hash
from shotad.script.lint.lines import TrackLine
from shotad.script.rules import Finding

FILE = "lint-accepted.txt"
_HEAD = """\
# Findings of shotad lint that a person has accepted: rule, line, and a stamp of its text. A line whose text
# (for the rules T also its time) has changed since is checked again. Delete a row to hear of it again; what
# stands after # is yours.
"""
_ROW = re.compile(r"(?P<rule>\S+)\s+(?P<line>\S+)\s+(?P<stamp>[0-9a-f]{8})")
_WISH = re.compile(r"(?P<rule>[A-Za-z][\w-]*)(?::(?P<line>\S+))?")


@dataclass(frozen=True, slots=True)
class AcceptWish:
    """What is not to be told: a rule or a family of rules (``T``), in one line or (empty) in all."""

    rule: str
    line: str = ""

    def covers(self, finding: Finding) -> bool:
        """Whether it means this finding."""
        return covers(self.rule, finding.rule) and self.line in ("", finding.cue_id)


def covers(wish: str, rule: str) -> bool:
    """``T`` means ``T1``, ``l4`` means ``L4`` and not ``L14``; other rules are meant by their name."""
    asked = wish.casefold()
    family = asked in ("t", "l", "a") and rule[1:].isdigit()
    return rule.casefold() == asked or (family and rule[:1].casefold() == asked)


def parse_wish(text: str) -> AcceptWish:
    """``L4`` or ``L4:s00083120``. Raises ConfigError."""
    match = _WISH.fullmatch(text.strip())
    if match is None:
        raise ConfigError(f"{text!r} names no rule.", "Write L4, or L4:s00083120 for one line.")
    return AcceptWish(match["rule"], match["line"] or "")


def read_accepted(folder: Path) -> frozenset[tuple[str, str, str]]:
    """Rule, line and stamp of what was accepted in a folder; a row that cannot be read is refused.

    Raises ConfigError with the row.
    """
    try:
        text = (folder / FILE).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return frozenset()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{folder / FILE} cannot be read: {error}.", "Save it as UTF-8.") from None
    return frozenset(
        _row(line, number, folder) for number, line in enumerate(text.splitlines(), 1) if _told(line)
    )


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
        before = path.read_text(encoding="utf-8-sig") if path.exists() else _HEAD
        more = "".join(f"{' '.join(key)}  # {_remark(finding)}\n" for key, finding in rows.items())
        write_text(path, before + ("" if before.endswith("\n") else "\n") + more)
    return len(rows)


@dataclass(frozen=True, slots=True)
class Stamp:
    """By what a line is known again: its text, or for rules on times its text and times."""

    text: str
    timed: str


def stamps(lines: Iterable[TrackLine]) -> dict[str, Stamp]:
    """The stamps of lines by their ids."""
    return {
        line.id: Stamp(short_hash(line.text), short_hash(f"{line.interval} {line.text}")) for line in lines
    }


def stamp_of(finding: Finding, texts: Mapping[str, Stamp]) -> tuple[str, str, str]:
    """By what a finding is known again: of no line its time counts instead of the text."""
    line = texts.get(finding.cue_id or "")
    if line is not None:
        stamp = line.timed if finding.rule.startswith("T") else line.text
        return finding.rule, finding.cue_id or "", stamp
    return finding.rule, "-", short_hash(f"{finding.when} {finding.message}")


def _told(line: str) -> str:
    return line.partition("#")[0].strip() if not line.startswith("#") else ""


def _row(line: str, number: int, folder: Path) -> tuple[str, str, str]:
    match = _ROW.match(line.strip())
    if match is None:
        what = f"{folder / FILE}, line {number}: {line.strip()!r} is no accepted finding."
        raise ConfigError(what, "Write rule, line and stamp, or let shotad lint --accept write it.")
    return match["rule"], match["line"], match["stamp"]


def _remark(finding: Finding) -> str:
    return " ".join(finding.message.split())
