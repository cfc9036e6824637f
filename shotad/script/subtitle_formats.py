"""WebVTT for ``<track kind="descriptions">`` (W3C WebVTT: file structure and cue text), and SubRip.

SubRip knows numbers only, so a cue's number is its id: ``s00083120`` is 100083120, ``h`` takes 2. Players
ignore the numbers; other people's files count from 1 and never get there. An editor that renumbers loses
them, and import then finds lines by their times. SubRip has no comments either: the statement stands in
braces with a backslash before the first line, which players skip as a style override.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from shotad.core import ScriptError
from shotad.script.cue import (
    Script,
    ScriptCue,
    clean_text,
    line_stamp,
    milliseconds,
    parse_interval,
    timecode,
)
from shotad.script.track import Track

_TIMING = re.compile(r"\s*(?P<start>[\d:.]+)\s*-->\s*(?P<end>[\d:.]+)(?:\s.*)?")
_TAG = re.compile(r"<[^>]*(?:>|$)")
_STAMP = re.compile(r"^Stamp: (\w+)$", re.MULTILINE)
_LINE_STAMP = re.compile(r"^([sh]\d{8,}) ([0-9a-f]{8}-[0-9a-f]{8})$", re.MULTILINE)
_OTHER_BLOCKS = ("NOTE", "STYLE", "REGION")


def write_vtt(track: Track) -> str:
    """The heard lines as WebVTT. One at 0.000 is moved to 0.001: players would fire it before they play."""
    note = f"{track.statement}\nFilm: {track.film.name}\nStamp: {track.stamp}".replace("-->", "->")
    head = f"WEBVTT Audio description\nKind: descriptions\nLanguage: {track.language}\n\nNOTE\n{note}\n"
    cues = stamps = ""
    for cue in track.heard:
        start, end = cue.interval.start, cue.interval.end
        times = f"{timecode(max(start, 0.001) if milliseconds(end) > 1 else start)} --> {timecode(end)}"
        cues += f"\n{cue.id}\n{times}\n{html.escape(cue.text, quote=False)}\n"
        stamps += f"{cue.id} {line_stamp(cue.interval, cue.text)}\n"
    return head + cues + (f"\nNOTE Lines as written, for shotad import\n{stamps}" if stamps else "")


def read_vtt(text: str, name: str) -> Script:
    """The cues of any WebVTT, tags taken off and character references resolved.

    Text after an empty line belongs to the cue before it: an editor's slip that players would not show.
    Raises ScriptError with file and line where a cue is malformed or text stands before the first.
    """
    lines = re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff"))
    if not re.fullmatch(r"WEBVTT(?:[ \t].*)?", lines[0]):
        raise ScriptError(f"{name}, line 1: a WebVTT file starts with WEBVTT, got {lines[0][:40]!r}.")
    cues: list[ScriptCue] = []
    stamp: str | None = None
    line_stamps: dict[str, str] = {}
    # Runs of lines that are not empty, after the header.
    start = next((i for i, line in enumerate(lines) if not line or "-->" in line), len(lines))
    for is_filled, run in groupby(enumerate(lines[start:], start + 1), key=lambda one: bool(one[1])):
        if not is_filled:
            continue
        numbered = list(run)
        number, block = numbered[0][0], [line for _, line in numbered]
        at = next((i for i, line in enumerate(block[:2]) if "-->" in line), None)
        if at is not None:
            match, where = _TIMING.fullmatch(block[at]), f"{name}, line {number + at}"
            if match is None:
                what = f"{block[at]!r} is no timing such as 00:01:02.500 --> 00:01:05.000"
                raise ScriptError(f"{where}: {what}.")
            interval = parse_interval(match["start"], match["end"], where)
            said = clean_text(_plain(block[at + 1 :]))
            cues.append(ScriptCue(block[0].strip() if at else None, interval, said))
        elif block[0].split(" ")[0].split("\t")[0] in _OTHER_BLOCKS:
            note = "\n".join(block)
            stamp = found[1] if (found := _STAMP.search(note)) else stamp
            line_stamps |= dict(_LINE_STAMP.findall(note))
        elif cues:
            cues[-1] = replace(cues[-1], text=clean_text(f"{cues[-1].text}\n{_plain(block)}"))
        else:
            raise ScriptError(f"{name}, line {number}: {block[0][:60]!r} stands outside of any cue.")
    return Script(tuple(cues), stamp, line_stamps)


def _plain(lines: Sequence[str]) -> str:
    return html.unescape(_TAG.sub("", "\n".join(lines)))


_SRT_TIMING = re.compile(
    r"\s*+(?P<start>[\d:]++(?:[,.]\d*+)?)\s*+-->\s*+(?P<end>[\d:]++(?:[,.]\d*+)?)(?:\s.*)?"
)
_STATEMENT = re.compile(r"\{\\shotad (?P<stamp>\w+) [^}]*\}\n?")
_MARKUP = re.compile(r"</?(?:i|b|u|s|font)(?:\s[^<>]*)?>|\{\\[^{}]*\}", re.IGNORECASE)
_KINDS = {"1": "s", "2": "h"}


def write_srt(track: Track) -> str:
    """The heard lines as SubRip."""
    statement = re.sub(r"[{}\\]", " ", track.statement)
    head = f"{{\\shotad {track.stamp} {statement}}}"
    return "\n".join(
        f"{number_of(cue.id)}\n{timecode(cue.interval.start, ',')} --> {timecode(cue.interval.end, ',')}\n"
        f"{'' if i else head}{cue.text}\n"
        for i, cue in enumerate(track.heard)
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
        _srt_cue(lines, at, body, name, ours=head is not None)
        for at, body in zip(starts, bodies, strict=True)
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


def _srt_cue(lines: list[str], at: int, body: list[str], name: str, *, ours: bool) -> ScriptCue:
    where = f"{name}, line {at + 1}"
    match = _SRT_TIMING.fullmatch(lines[at])
    if match is None:
        raise ScriptError(f"{where}: {lines[at]!r} is no timing such as 00:01:02,500 --> 00:01:05,000.")
    for i, line in enumerate(body[1:], 1):
        if _SRT_TIMING.fullmatch(line) and body[i - 1].strip().isdecimal():
            raise ScriptError(f"{name}, line {at + i + 2}: a cue must have an empty line before it.")
    interval = parse_interval(match["start"], match["end"], where)
    text = _STATEMENT.sub("", "\n".join(body), count=1) if ours else _MARKUP.sub("", "\n".join(body))
    return ScriptCue(id_of(lines[at - 1].strip()) if at else None, interval, clean_text(text))
