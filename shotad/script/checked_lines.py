"""The lines that are checked, of a track or of any script, with what is known of the film.

Here too: findings that a person has looked at and accepted, for good (a file beside the track) or for one
run.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from shotad.core import Cast, ConfigError, Interval, TextFact, Utterance, write_text
from shotad.script.cue import ScriptCue, Voiced, short_hash
from shotad.script.edits import is_by_hand
from shotad.script.rules import Finding
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
    rows = set()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.partition("#")[0].strip():
            continue
        if (match := _ROW.match(line.strip())) is None:
            what = f"{folder / FILE}, line {number}: {line.strip()!r} is no accepted finding."
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
        before = path.read_text(encoding="utf-8-sig") if path.exists() else _HEAD
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
