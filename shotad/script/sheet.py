"""The script as a table: CSV for spreadsheets (RFC 4180), JSON, and the CSV of programs in which describers
write and record.

CSV loses candidates and provenance line by line. JSON is the track file itself and loses nothing.

A file of ours that was cut off must not be taken for one in which a person deleted lines. JSON shows it by
its brackets; in CSV the last row, in Frazier's the last number, in Reaper's a second marker says that it is
the end.

Frazier's maker publishes no description of its file. This is the layout that the describAIbe project of
Fachhochschule Südwestfalen writes (fhswf/descraibe, ``backend/pipeline/export.py``, 2026): semicolons, heads
``Position;Start;End;Text``, times ``HH:MM:SS.FF`` with frames at 25 a second, a text on one line, UTF-8
without a byte order mark. Two older states of theirs are read too (a comma before the frames;
``Slot;Startzeit;Endzeit;Dauer_s;Audiodeskription``). Ids stand in ``Position`` as in SubRip: ``s00083120`` is
100083120; where a program renumbers, import finds lines by their times. Lost: what lies between two frames,
kind, status, notes, and the statement that a machine made the script, which Frazier would read out.

Reaper: heads ``#,Name,Start,End,Length``; a region ``R1`` has start, end and length, a marker ``M1`` a start;
UTF-8 without a byte order mark; times are those of Reaper's ruler, which must be minutes and seconds
(``1:02.500``) and is refused in measures or frames. Sources: este.audio, utaupy (``reaper.py``), Avolites
Titan's manual and a dozen programs that write it agree. Each line is a region named by its text with the id
in brackets behind it, for Reaper renumbers at will; a marker at the start says that a machine made the
script. Lost: kind, status, notes, and how each line was written, so that import tells changes less well.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from shotad.core import Interval
from shotad.core.errors import ScriptError, quoted
from shotad.core.records import parse_json
from shotad.script.cue import (
    DEFAULT_FRAME_RATE,
    Cue,
    CueStatus,
    Script,
    ScriptCue,
    check_line_count,
    clean_text,
    count_words,
    incomplete_error,
    is_changed,
    line_stamp,
    milliseconds,
    nearest_frame,
    on_frames,
    parse_interval,
    parse_time,
    timecode,
)
from shotad.script.subtitle_formats import id_of, is_number_of_last, number_of
from shotad.script.track import Track, from_json, to_json

COLUMNS = (
    "id", "start", "end", "text", "kind", "status", "state", "reviewer", "note", "doubt", "timecode",
    "made_by", "stamp", "track",
)  # fmt: skip
_SIGNS = "=+\\-@＝＋－＠\t\r"
_BEFORE_SIGN = r"(^|(?:[;,|]|\n(?![^\S\n]*\n))\s*+)"
_FORMULA = re.compile(rf"{_BEFORE_SIGN}('*[{_SIGNS}])")
_GUARDED = re.compile(rf"{_BEFORE_SIGN}'('*[{_SIGNS}])")
"""What a spreadsheet may take for a formula (OWASP, CSV injection): a cell that begins with a sign; some
take the wide signs, too. Where another country's separator parts the file, a cell may begin behind it or on
a new line."""
_SPREADSHEET_ERROR = re.compile(r"#[¿¡]?[^\W\d_][\w/]{1,11}[?!]|#DIV/0!|#N/?[AV]|#{3,}|Err:\d{3}")
"""What a spreadsheet shows, and saves, where it takes a text for a formula: ``-He runs`` becomes ``#NAME?``,
in other languages ``#NOM?`` or ``#WERT!``."""
_STAMP = re.compile(r"[0-9a-f]{8}-[0-9a-f]{8}")
_TRACK_STAMP = re.compile(r"(?P<stamp>[0-9a-f]{8})(?P<end> end)?")
UNHEARD = tuple(status.value for status in CueStatus if not status.heard)
_LISTS = ("cues", "slots", "lines", "shots")


def write_csv(track: Track) -> str:
    """The heard lines, one a row, times in seconds, with the byte order mark by which Excel knows UTF-8.

    A text that a spreadsheet would take for a formula gets an apostrophe, which the reader takes off.
    """
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow(COLUMNS)
    statement, stamp = track.statement, track.stamp
    heard = track.heard
    for cue in heard:
        rows.writerow(
            [
                cue.id,
                f"{cue.interval.start:.3f}",
                f"{cue.interval.end:.3f}",
                guarded(cue.text),
                cue.kind,
                cue.status,
                cue.state,
                guarded(reviewer(cue)),
                guarded(note(cue)),
                f"{cue.doubt.value:.2f}" if cue.doubt else "",
                timecode(cue.interval.start),
                statement,
                line_stamp(cue.interval, cue.text),
                # The end mark stands at the very end, so that a row that was cut has none.
                f"{stamp} end" if cue is heard[-1] else stamp,
            ]
        )
    return "\ufeff" + out.getvalue()


def read_csv(text: str, name: str) -> Script:
    """The cues of a CSV file, parted by comma, semicolon or tab.

    Columns are known by their heads (start and end, and id and text if there); without heads they are
    start, end, text. A status such as dropped empties the text, by which import drops the line.
    Raises ScriptError with file and line, and for a file of ours of which the end is missing.
    """
    heads: list[str] | None = None
    cues: list[ScriptCue] = []
    stamp: str | None = None
    line_stamps: dict[str, str] = {}
    has_end = is_last_row_short = False
    for where, row in filled_rows(parted_rows(text), name):
        if heads is None:
            heads = [cell.strip().lower() for cell in row]
            if "start" in heads and "end" in heads:
                continue
            try:
                parse_time(row[0])
            except (ValueError, IndexError):
                what = f"{where}: columns are {columns_of(heads)}; start and end are missing."
                raise ScriptError(what, "Name the columns.") from None
            heads = ["start", "end", "text"]
        cells = {"start": "", "end": "", "id": "", **dict(zip(heads, row, strict=False))}
        said = unguarded(cells.get("text", ""))
        if _SPREADSHEET_ERROR.fullmatch(said.strip()):
            what = f"{where}: the text is {quoted(said.strip())}, the error of a spreadsheet."
            raise ScriptError(what, "Write the text itself into the cell.")
        interval = parse_interval(cells["start"], cells["end"], where)
        if cells.get("status", "").strip().lower() in UNHEARD:
            said = ""
        cues.append(ScriptCue(cells["id"].strip() or None, interval, clean_text(said)))
        check_line_count(cues, name)
        is_last_row_short = len(row) < len(heads)
        if (own_stamp := _TRACK_STAMP.fullmatch(cells.get("track", "").strip())) is not None:
            stamp = own_stamp["stamp"]
            has_end = has_end or own_stamp["end"] is not None
        if cells["id"] and _STAMP.fullmatch(cells.get("stamp", "")):
            line_stamps[cells["id"].strip()] = cells["stamp"]
    is_ours = heads is not None and {"stamp", "track"} <= set(heads)
    if is_ours and not has_end and (stamp or line_stamps or is_last_row_short):
        raise incomplete_error(
            name,
            "no row has 'end' behind the stamp in its column track",
            "If the file is whole, write ' end' behind the stamp in the last row",
        )
    return Script(tuple(cues), stamp, line_stamps, is_proven=has_end)


def columns_of(heads: list[str]) -> str:
    """The heads of a table as a message shows them."""
    return quoted(", ".join(heads))[1:-1]


def filled_rows(rows: Any, name: str) -> Iterator[tuple[str, list[str]]]:
    """The rows of a ``csv.reader`` that are not empty, each with its place: ``f.csv, line 3``. Raises
    ScriptError for a table that cannot be taken apart."""
    try:
        for row in rows:
            if any(cell.strip() for cell in row):
                yield f"{name}, line {rows.line_num}", row
    except csv.Error as error:
        raise ScriptError(f"{name}, line {rows.line_num}: {error}.", "Correct the quotes.") from None


def parted_rows(text: str) -> Any:
    """A ``csv.reader`` of a table parted by comma, semicolon or tab, as its first line has most."""
    text = text.removeprefix("\ufeff")
    # A first line by which Excel is told the separator: ``sep=;``
    named = re.match(r'"?sep=([,;\t|])"?[,;\t|]*\r?(?:\n|$)', text, re.IGNORECASE)
    if named is not None:
        rest = text[named.end() :]
        return csv.reader(io.StringIO(rest, newline=""), delimiter=named[1], strict=True)
    first = text.partition("\n")[0]
    return csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count), strict=True)


def guarded(text: str) -> str:
    """The text as a cell that no spreadsheet takes for a formula: with apostrophes before signs where it
    must."""
    return _FORMULA.sub(r"\1'\2", text)


def unguarded(cell: str) -> str:
    """The text in a cell, without the apostrophes of `guarded`."""
    return _GUARDED.sub(r"\1\2", cell)


def note(cue: Cue) -> str:
    """What a person should know of a line: why it is as it is, how doubtful it is and why (``doubt 0.42: the
    text was read at 0.71``), whether it was changed."""
    doubt = ""
    if cue.doubt is not None:
        doubt = f"doubt {cue.doubt.value:.2f}"
        doubt += f": {'; '.join(cue.doubt.reasons)}" if cue.doubt.reasons else ""
    edited = "edited by a person" if is_changed(cue) else ""
    return clean_text("; ".join(part for part in (cue.reason, doubt, edited) if part))


def reviewer(cue: Cue) -> str:
    """Who accepted a line as it is; empty where nobody did, or gave no name."""
    return clean_text(cue.review.by).replace("\n", " ") if cue.review is not None else ""


def review_words(cue: Cue) -> str:
    """Whose a line is: ``machine``, ``edited``, ``accepted by Ann``."""
    name = reviewer(cue)
    return f"{cue.state} by {name}" if name else cue.state.value


write_json = to_json
"""The track file itself, which carries everything."""


def read_json(text: str, name: str) -> Script:
    """The heard lines of a track file, or any list of objects that have start and end (and id and text).

    The list may stand alone or under cues, slots or lines. Raises ScriptError with file and entry.
    """
    try:
        tree = parse_json(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise ScriptError(f"{name}, line {error.lineno}: {error.msg}.", "Correct the JSON.") from None
    except ValueError as error:
        raise ScriptError(f"{name}: {error}.", "Correct the JSON.") from None
    if isinstance(tree, dict) and "schema_version" in tree and "film" in tree and "cues" in tree:
        track = from_json(text.removeprefix("\ufeff"), name)
        cues = tuple(ScriptCue(cue.id, cue.interval, cue.text) for cue in track.heard)
        stamps = {raw.get("id", ""): _STAMP.match(raw.get("stamp", "")) for raw in tree["cues"]}
        known = {key: stamp[0] for key, stamp in stamps.items() if stamp}
        return Script(cues, None, known, is_proven=True)
    items = next((tree[key] for key in _LISTS if key in tree), None) if isinstance(tree, dict) else tree
    if not isinstance(items, list):
        raise ScriptError(f"{name} holds no list of cues.", "Write a list of objects with start and end.")
    found: list[ScriptCue] = []
    for i, item in enumerate(items, 1):
        where = f"{name}, entry {i}"
        if not isinstance(item, dict):
            raise ScriptError(f"{where}: must be an object with start and end, got {quoted(item)}.")
        interval = parse_interval(str(item.get("start")), str(item.get("end")), where)
        said, cue_id = item.get("text", ""), item.get("id")
        if not isinstance(said, str) or not isinstance(cue_id, str | None):
            what = f"{where}: id and text must be texts, got {quoted(cue_id)} and {quoted(said)}."
            raise ScriptError(what)
        found.append(ScriptCue(cue_id, interval, clean_text(said)))
        check_line_count(found, name)
    return Script(tuple(found), is_proven=True)


FRAZIER_HEADS = ("Position", "Start", "End", "Text")

_NAMES = {
    "position": "position", "slot": "position", "start": "start", "startzeit": "start", "end": "end",
    "ende": "end", "endzeit": "end", "text": "text", "audiodeskription": "text",
}  # fmt: skip
_TIME = re.compile(r"(?P<clock>\d+:\d{1,2}:\d{1,2})[.,:;](?P<frames>\d{2})")


def write_frazier(track: Track, frame_rate: Fraction = DEFAULT_FRAME_RATE) -> str:
    """The heard lines for Frazier. Lines of a text are joined by U+2028, at which the reader parts them."""
    out = io.StringIO()
    rows = csv.writer(out, delimiter=";")
    rows.writerow(FRAZIER_HEADS)
    heard = track.heard
    for cue in heard:
        shown = on_frames(cue.interval, frame_rate)
        times: list[str] = []
        for second in (shown.start, shown.end):
            # SMPTE timecode, non-drop: at 29.97 frames a second 30 are counted for each of its seconds.
            whole, rest = divmod(nearest_frame(second, frame_rate), math.ceil(frame_rate))
            times.append(f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}.{rest:02d}")
        number = number_of(cue.id, is_last=cue is heard[-1])
        rows.writerow([number, *times, guarded(cue.text.replace("\n", " \u2028"))])
    return out.getvalue()


def read_frazier(text: str, name: str, frame_rate: Fraction = DEFAULT_FRAME_RATE) -> Script:
    """The lines of a Frazier CSV, its frames counted at ``frame_rate``.

    Raises ScriptError with file and line, also for frames that ``frame_rate`` does not have, and for a file
    of ours of which the end is missing.
    """
    text = text.removeprefix("\ufeff")
    ends_with_line_end = text.endswith(("\n", "\r"))
    numbers: list[str] = []
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=";", strict=True)
    heads: list[str] = []
    cues: list[ScriptCue] = []
    for where, row in filled_rows(rows, name):
        if not heads:
            heads = [_NAMES.get(cell.strip().lower(), "") for cell in row]
            missing = [head for head in FRAZIER_HEADS[1:] if head.lower() not in heads]
            if missing:
                what = f"{where}: columns are {columns_of(row)}; {' and '.join(missing)} missing."
                raise ScriptError(what, f"Frazier's heads are {';'.join(FRAZIER_HEADS)}.")
        else:
            cells = {"start": "", "end": "", **dict(zip(heads, row, strict=False))}
            try:
                interval = Interval(*(_seconds(cells[key], frame_rate) for key in ("start", "end")))
            except ValueError as error:
                hint = "Correct the times, or name the frames a second."
                raise ScriptError(f"{where}: {error}.", hint) from None
            said = clean_text(unguarded(cells.get("text", "")))
            number = cells.get("position", "").strip()
            numbers.append(number)
            cues.append(ScriptCue(id_of(number), interval, said))
            check_line_count(cues, name)
    is_ours = any(id_of(number) for number in numbers)
    if is_ours and not any(map(is_number_of_last, numbers)):
        raise incomplete_error(
            name,
            "no Position begins with 3 or 4, as that of the last line does",
            "If the file is whole, write 3 in place of the 1 that begins the last Position, or 4 for 2",
        )
    # The text is the last cell, and its line end the only sign that nothing of it is missing.
    if is_ours and not ends_with_line_end:
        raise incomplete_error(name, "its last line has no end", "If the file is whole, add an empty line")
    return Script(tuple(cues), frame_rate=frame_rate, is_proven=is_ours)


def is_frazier(first_line: str) -> bool:
    """Whether these are the heads of a Frazier CSV."""
    names = [_NAMES.get(cell.strip().strip('"').lower()) for cell in first_line.split(";")]
    return names[:3] == ["position", "start", "end"] and "text" in names


def _seconds(text: str, frame_rate: Fraction) -> float:
    match = _TIME.fullmatch(text.strip())
    if match is None:
        return parse_time(text)
    frames, counted = int(match["frames"]), math.ceil(frame_rate)
    if frames >= counted:
        raise ValueError(f"{quoted(text)} has frame {frames}, but there are {counted} frames in a second")
    return float((int(parse_time(match["clock"])) * counted + frames) / frame_rate)


REAPER_HEADS = ("#", "Name", "Start", "End", "Length")
SECONDS_PER_WORD = 0.375
"""How long a marker's line is taken to be, which has no end: 160 words a minute."""

_ID = re.compile(r"(?:(?<!\s)\s+)?\[(?P<id>[sh]\d{8,})\]\s*$")
_STATEMENT = re.compile(r"(?:(?<!\s)\s+)?\[track (?P<stamp>[0-9a-f]{8})(?P<end> end)?\]\s*$")
_DAMAGED_ID = re.compile(r"(?:\[[^\[\]]{0,8}\d{4,}[^\[\]]{0,8}\]?|[sh]\d{5,}\s?\])\s*$")
_MEASURES = re.compile(r"-?\d+\.\d+\.\d+")
_FRAMES = re.compile(r"\d+:\d+:\d+:\d+(?:\.\d+)?")


def write_reaper(track: Track) -> str:
    """The heard lines as regions. Lines of a text are joined by U+2028, at which the reader parts them."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(REAPER_HEADS)
    rows.writerow(["M1", f"{track.statement} [track {track.stamp}]", _clock(0), "", ""])
    for number, cue in enumerate(track.heard, 1):
        start, end = milliseconds(cue.interval.start) / 1000, milliseconds(cue.interval.end) / 1000
        times = (start, end, end - start)
        name = f"{cue.text} [{cue.id}]".replace("\n", " \u2028")
        rows.writerow([f"R{number}", guarded(name), *map(_clock, times)])
    last = max((cue.interval.end for cue in track.heard), default=0.0)
    rows.writerow(["M2", f"End of the audio description [track {track.stamp} end]", _clock(last), "", ""])
    return out.getvalue()


def read_reaper(text: str, name: str) -> Script:
    """The regions of a file from Reaper; where it has none, its markers.

    A marker's line ends where its words would at a calm pace, or at the next marker. Names in brackets at the
    end are ids. Raises ScriptError with file and line, for times in measures and beats, and for a file of
    ours of which the end is missing.
    """
    heads: list[str] = []
    entries: list[_Entry] = []
    for where, row in filled_rows(parted_rows(text), name):
        if not heads:
            heads = [cell.strip().lower() for cell in row]
            if "name" not in heads or "start" not in heads:
                raise ScriptError(f"{where}: columns are {columns_of(row)}; Name and Start are missing.")
        else:
            cells = {"name": "", "end": "", **dict(zip(heads, row, strict=False))}
            start, end = cells.get("start", "").strip(), cells["end"].strip()
            for time in (start, end):
                if _MEASURES.fullmatch(time) or _FRAMES.fullmatch(time):
                    unit = "measures and beats" if _MEASURES.fullmatch(time) else "frames"
                    hint = "Set Reaper's ruler to minutes and seconds, and export again."
                    raise ScriptError(f"{where}: {quoted(time)} is in {unit}.", hint)
            try:
                begins, ends = parse_time(start), parse_time(end) if end else None
                if ends is not None:
                    Interval(begins, ends)
            except ValueError as error:
                raise ScriptError(f"{where}: {error}.", "Correct the times.") from None
            entries.append((cells["name"], begins, ends))
            check_line_count(entries, name)
    statements = [found for said, _, _ in entries if (found := _STATEMENT.search(said)) is not None]
    stamps = [found["stamp"] for found in statements]
    is_ours = bool(stamps) or any(_ID.search(said) for said, _, _ in entries)
    has_end = any(found["end"] for found in statements)
    if is_ours and not has_end:
        raise incomplete_error(
            name,
            "the marker that ends with '[track … end]' is not there",
            "If the file is whole, take the marks in brackets out of all names",
        )
    lines = [entry for entry in entries if not _STATEMENT.search(entry[0])]
    regions = [_cue(said, start, end) for said, start, end in lines if end is not None]
    cues = regions or _marked(lines)
    for cue in cues if is_ours else ():
        if cue.id is None and _DAMAGED_ID.search(cue.text):
            what = f"{name}: the id at the end of {quoted(cue.text)} is damaged."
            raise ScriptError(what, "Write it as in [s00083120], or take it out whole.")
    return Script(tuple(cues), stamps[0] if stamps else None, is_proven=has_end)


def is_reaper(first_line: str) -> bool:
    """Whether these are the heads of a file from the Region/Marker Manager."""
    return re.match(r'"?#"?[,;\t]"?Name"?[,;\t]"?Start"?', first_line.strip(), re.IGNORECASE) is not None


_Entry = tuple[str, float, float | None]
"""Name, start and end of a row; a marker has no end."""


def _cue(name: str, start: float, end: float) -> ScriptCue:
    text = unguarded(name)
    found = _ID.search(text)
    text = clean_text(_ID.sub("", text, count=1))
    return ScriptCue(found["id"] if found else None, Interval(start, end), text)


def _marked(markers: list[_Entry]) -> list[ScriptCue]:
    markers = sorted(markers, key=lambda marker: marker[1])
    cues: list[ScriptCue] = []
    afters = [*(start for _, start, _ in markers[1:]), 0.0]
    for (name, start, _), after in zip(markers, afters, strict=False):
        end = start + SECONDS_PER_WORD * max(1, count_words(name))
        cues.append(_cue(name, start, min(end, after) if after > start else end))
    return cues


def _clock(seconds: float) -> str:
    """``62.5 → 1:02.500``, ``3602.5 → 1:00:02.500``."""
    whole, milli = divmod(milliseconds(seconds), 1000)
    hours, rest = divmod(whole, 3600)
    minutes = f"{hours}:{rest // 60:02d}" if hours else f"{rest // 60}"
    return f"{minutes}:{rest % 60:02d}.{milli:03d}"
