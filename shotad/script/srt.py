"""SubRip. It knows numbers only, so a cue's number is its id: ``s00083120`` is 100083120, ``h`` takes 2.

Players ignore the numbers; other people's files count from 1 and never get there. An editor that
counts anew loses them, and import then finds lines by their times. SubRip has no
comments either: the statement stands in braces with a backslash before the first line, which
players skip as a style override.
"""

from __future__ import annotations

import re

from shotad.core import Interval, ScriptError
from shotad.script.cue import Script, ScriptCue, clean_text
from shotad.script.timecodes import parse_time, timecode
from shotad.script.track import Track

_TIMING = re.compile(r"\s*+(?P<start>[\d:]++(?:[,.]\d*+)?)\s*+-->\s*+(?P<end>[\d:]++(?:[,.]\d*+)?)(?:\s.*)?")
_STATEMENT = re.compile(r"\{\\shotad (?P<stamp>\w+) [^}]*\}\n?")
_MARKUP = re.compile(r"</?(?:i|b|u|s|font)(?:\s[^<>]*)?>|\{\\[^{}]*\}", re.IGNORECASE)
_KINDS = {"1": "s", "2": "h"}


def write_srt(track: Track) -> str:
    """The heard lines as SubRip."""
    statement = re.sub(r"[{}\\]", " ", track.statement)
    head = f"{{\\shotad {track.stamp} {statement}}}"
    return "\n".join(
        f"{number_of(cue.id)}\n{timecode(cue.interval.start, ',')} --> {timecode(cue.interval.end, ',')}\n"
        f"{head if first else ''}{cue.text}\n"
        for first, cue in ((i == 0, c) for i, c in enumerate(track.heard))
    )


def read_srt(text: str, name: str) -> Script:
    """The cues of any SubRip file; in other people's, style markup is taken off.

    Raises ScriptError with file and line where a timing is malformed or text stands outside of cues.
    """
    lines = [line.rstrip() for line in re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff"))]
    starts = [i for i in range(len(lines)) if _starts_cue(lines, i)]
    heads = [i - 1 if i and lines[i - 1] else i for i in starts]
    for i, line in enumerate(lines[: min(heads, default=len(lines))]):
        if line:
            raise ScriptError(f"{name}, line {i + 1}: {line[:60]!r} stands outside of any cue.")
    bodies = [lines[i + 1 : j] for i, j in zip(starts, [*heads[1:], len(lines)], strict=False)]
    head = _STATEMENT.match("\n".join(bodies[0])) if bodies else None
    cues = tuple(
        _cue(lines, at, body, name, ours=head is not None) for at, body in zip(starts, bodies, strict=True)
    )
    return Script(cues, head["stamp"] if head else None)


def number_of(cue_id: str) -> str:
    """An id as a number, for formats that have nothing else: ``s00083120 → 100083120``."""
    kind = next(number for number, letter in _KINDS.items() if cue_id.startswith(letter))
    return kind + cue_id[1:]


def id_of(number: str) -> str | None:
    """The id that `number_of` made a number of; None for a number of somebody else's."""
    if len(number) >= 9 and number.isdecimal() and number[0] in _KINDS:
        return _KINDS[number[0]] + number[1:]
    return None


def _starts_cue(lines: list[str], i: int) -> bool:
    """True where line ``i`` holds an arrow and follows an empty line, or a number that follows one."""
    if "-->" not in lines[i]:
        return False
    if i == 0 or not lines[i - 1]:
        return True
    return lines[i - 1].strip().isdecimal() and (i == 1 or not lines[i - 2])


def _cue(lines: list[str], at: int, body: list[str], name: str, *, ours: bool) -> ScriptCue:
    where = f"{name}, line {at + 1}"
    match = _TIMING.fullmatch(lines[at])
    if match is None:
        raise ScriptError(f"{where}: {lines[at]!r} is no timing such as 00:01:02,500 --> 00:01:05,000.")
    for i, line in enumerate(body[1:], 1):
        if _TIMING.fullmatch(line) and body[i - 1].strip().isdecimal():
            raise ScriptError(f"{name}, line {at + i + 2}: a cue must have an empty line before it.")
    try:
        interval = Interval(parse_time(match["start"]), parse_time(match["end"]))
    except ValueError as error:
        raise ScriptError(f"{where}: {error}.", "Correct the times.") from None
    text = _STATEMENT.sub("", "\n".join(body), count=1) if ours else _MARKUP.sub("", "\n".join(body))
    return ScriptCue(id_of(lines[at - 1].strip()) if at else None, interval, clean_text(text))
