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
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from shotad.core import Interval
from shotad.core.errors import ScriptError, quoted
from shotad.core.records import parse_json
from shotad.script.cue import (
    DEFAULT_FRAME_RATE,
    REDO,
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
from shotad.script.subtitle_formats import id_of_number, is_number_of_last, number_of
from shotad.script.track import Track, from_json, to_json
from shotad.script.track_texts import in_all_languages, texts_in

COLUMNS = (
    "id", "start", "end", "text", "kind", "status", "state", "reviewer", "note", "remarks", "doubt",
    "timecode", "made_by", "stamp", "track",
)  # fmt: skip
COLUMN_OF_HEAD = {
    "in": "start", "start": "start", "begin": "start", "tc in": "start", "time in": "start",
    "timecode": "start", "time code": "start", "von": "start", "beginn": "start", "out": "end",
    "end": "end", "tc out": "end",
    "time out": "end", "bis": "end", "ende": "end", "line": "text", "text": "text", "description": "text",
    "audio description": "text", "ad": "text", "audiodeskription": "text", "status": "status", "id": "id",
    "stamp": "stamp", "note": "note", "notes": "note", "comment": "note", "comments": "note",
} | {
    head.lower(): content
    for content, column in {
        "start": "in", "end": "out", "text": "line", "status": "status", "id": "id", "stamp": "stamp",
        "note": "note",
    }.items()
    for head in in_all_languages(f"head.{column}")
}  # fmt: skip
"""What stands under a head that people write over a column of a script, in any language (`plain_head`)."""
_FORMULA_SIGNS = "=+\\-@＝＋－＠\t\r"
_BEFORE_SIGN = r"(^|(?:[;,|]|\n(?![^\S\n]*\n))\s*+)"
_FORMULA_START = re.compile(rf"{_BEFORE_SIGN}('*[{_FORMULA_SIGNS}])")
_GUARDED_FORMULA = re.compile(rf"{_BEFORE_SIGN}'('*[{_FORMULA_SIGNS}])")
"""What a spreadsheet may take for a formula (OWASP, CSV injection): a cell that begins with a sign; some
take the wide signs, too. Where another country's separator parts the file, a cell may begin behind it or on
a new line."""
_SPREADSHEET_ERROR = re.compile(r"#[¿¡]?[^\W\d_][\w/]{1,11}[?!]|#DIV/0!|#N/?[AV]|#{3,}|Err:\d{3}")
"""What a spreadsheet shows, and saves, where it takes a text for a formula: ``-He runs`` becomes ``#NAME?``,
in other languages ``#NOM?`` or ``#WERT!``."""
_STAMP = re.compile(r"[0-9a-f]{8}-[0-9a-f]{8}")
_TRACK_STAMP = re.compile(r"(?P<stamp>[0-9a-f]{8})(?P<end> end)?")


def _status_words(statuses: Iterable[CueStatus]) -> list[str]:
    """The words for these statuses, their values first, then those of the texts in every language."""
    values = [status.value for status in statuses]
    return [*values, *(word for value in values for word in in_all_languages(f"status.{value}"))]


_DROPPED_WORDS = [word for words in in_all_languages("status.dropped_words") for word in words.split(", ")]
UNHEARD = frozenset([*_status_words(s for s in CueStatus if not s.heard), *_DROPPED_WORDS])
"""What a status says, in any language, of a line that is not spoken."""
_STATES = ("machine", "edited", "accepted")
_HEARD = frozenset(
    [
        *_status_words(status for status in CueStatus if status.heard),
        *in_all_languages("status.empty"),
        *_STATES,
        *(word for state in _STATES for word in in_all_languages(f"state.{state}")),
    ]
)
"""What a status says of a line that is spoken if it has a text; people write the state of its review too."""
_LIST_KEYS = ("cues", "slots", "lines", "shots")


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
                formula_safe_cell(cue.text),
                cue.kind,
                cue.status,
                cue.state,
                formula_safe_cell(reviewer_name(cue)),
                formula_safe_cell(note_text(cue)),
                formula_safe_cell(line_remarks(cue)),
                f"{cue.doubt.value:.2f}" if cue.doubt else "",
                timecode(cue.interval.start),
                statement,
                line_stamp(cue.interval, cue.text),
                # The end mark stands at the very end, so that a row that was cut has none.
                f"{stamp} end" if cue is heard[-1] else stamp,
            ]
        )
    return "\ufeff" + out.getvalue()


def read_csv(text: str, file_name: str) -> Script:
    """The cues of a CSV file, parted by comma, semicolon or tab.

    Columns are known by their heads (start and end, and id and text if there, or what `COLUMN_OF_HEAD` has
    for them); without heads they are start, end, text. A status such as dropped empties the text, by which
    import drops the line. Raises ScriptError with file and line, for a status that is none, and for a file of
    ours of which the end is missing.
    """
    heads: list[str] | None = None
    cues: list[ScriptCue] = []
    stamp: str | None = None
    line_stamps: dict[str, str] = {}
    has_end = is_last_row_short = False
    for place, row in rows_with_places(csv_rows(text), file_name):
        if heads is None:
            heads = _column_names(row)
            if "start" in heads and "end" in heads:
                continue
            try:
                parse_time(row[0])
            except (ValueError, IndexError):
                message = f"{place}: columns are {column_list(row)}; start and end are missing."
                raise ScriptError(message, "Name the columns.") from None
            heads = ["start", "end", "text"]
        cells = {"start": "", "end": "", "id": "", **dict(zip(heads, row, strict=False))}
        cell_text = text_of_cell(cells.get("text", ""))
        if _SPREADSHEET_ERROR.fullmatch(cell_text.strip()):
            message = f"{place}: the text is {quoted(cell_text.strip())}, the error of a spreadsheet."
            raise ScriptError(message, "Write the text itself into the cell.")
        interval = parse_interval(cells["start"], cells["end"], place)
        if not is_heard_status(cells.get("status", ""), place, is_ours="stamp" in heads):
            cell_text = ""
        note = clean_text(text_of_cell(cells.get("note", "")))
        cues.append(ScriptCue(cells["id"].strip() or None, interval, clean_text(cell_text), note))
        check_line_count(cues, file_name)
        is_last_row_short = len(row) < len(heads)
        track_stamp_match = _TRACK_STAMP.fullmatch(cells.get("track", "").strip())
        if track_stamp_match is not None:
            stamp = track_stamp_match["stamp"]
            has_end = has_end or track_stamp_match["end"] is not None
        if cells["id"] and _STAMP.fullmatch(cells.get("stamp", "")):
            line_stamps[cells["id"].strip()] = cells["stamp"]
    # Only our own files have both columns. Somebody else's table has no end mark, and needs none.
    is_ours = heads is not None and {"stamp", "track"} <= set(heads)
    if is_ours and not has_end and (stamp or line_stamps or is_last_row_short):
        raise incomplete_error(
            file_name,
            "no row has 'end' behind the stamp in its column track",
            "If the file is whole, write ' end' behind the stamp in the last row",
        )
    return Script(tuple(cues), stamp, line_stamps, is_proven=has_end)


def plain_head(head: str) -> str:
    """A head of a column without case, colons and blanks at its ends, as `COLUMN_OF_HEAD` has it."""
    return " ".join(unicodedata.normalize("NFC", head).lower().replace(":", " ").split())


def _column_names(heads: Sequence[str]) -> list[str]:
    """The names of a table's columns: that of a known head in any language, else the head itself.

    The first of several heads for the same column names it, but for one that has its very name.
    """
    plain_heads = [plain_head(head) for head in heads]
    names: list[str] = []
    for head in plain_heads:
        name = COLUMN_OF_HEAD.get(head, head)
        is_taken = name in plain_heads or name in names
        names.append(head if is_taken else name)
    return names


def is_heard_status(cell: str, place: str, *, is_ours: bool) -> bool:
    """Whether a line with this status, in any language, is spoken; one without a status is.

    In a table of ours (``is_ours``) a person writes there what is to become of the line: raises ScriptError
    that begins with ``place`` for a word that is none. In other tables the column may mean anything.
    """
    word = unicodedata.normalize("NFC", " ".join(cell.split())).lower()
    if word in UNHEARD:
        return False
    if not word or word in _HEARD or not is_ours:
        return True
    dropped, placed = (", ".join(in_all_languages(f"status.{name}")) for name in ("dropped", "placed"))
    raise ScriptError(
        f"{place}: the column status says {quoted(cell)}, which is no status.",
        f"To leave the line out, write one of: {dropped}. "
        f"To keep it, empty the cell, or write one of: {placed}.",
    )


def column_list(heads: list[str]) -> str:
    """The heads of a table's columns as one text for a message."""
    return quoted(", ".join(heads))[1:-1]


def rows_with_places(rows: Any, file_name: str) -> Iterator[tuple[str, list[str]]]:
    """Each row of the ``csv.reader`` that is not empty, after its place for messages: ``movie.csv, line 3``.

    Raises ScriptError for a table with wrong quotes.
    """
    try:
        for row in rows:
            if any(cell.strip() for cell in row):
                yield f"{file_name}, line {rows.line_num}", row
    except csv.Error as error:
        raise ScriptError(f"{file_name}, line {rows.line_num}: {error}.", "Correct the quotes.") from None


def csv_rows(text: str) -> Any:
    """A ``csv.reader`` of a table; its separator is the most frequent of comma, semicolon and tab in the
    first line."""
    text = text.removeprefix("\ufeff")
    # Excel writes and reads a first line that names the separator: ``sep=;``
    separator_line = re.match(r'"?sep=([,;\t|])"?[,;\t|]*\r?(?:\n|$)', text, re.IGNORECASE)
    if separator_line is not None:
        table = text[separator_line.end() :]
        return csv.reader(io.StringIO(table, newline=""), delimiter=separator_line[1], strict=True)
    first_line = text.partition("\n")[0]
    separator = max(",;\t", key=first_line.count)
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)


def formula_safe_cell(text: str) -> str:
    """``text`` as the content of a cell that no spreadsheet takes for a formula.

    An apostrophe stands before each sign that would begin one: ``-He runs → '-He runs``.
    """
    return _FORMULA_START.sub(r"\1'\2", text)


def text_of_cell(cell: str) -> str:
    """The text in a cell, without the apostrophes that `formula_safe_cell` puts before formula signs."""
    return _GUARDED_FORMULA.sub(r"\1\2", cell)


def note_text(cue: Cue) -> str:
    """The note to a colleague on a line; empty where there is none."""
    return "" if cue.note is None else cue.note.text


def line_remarks(cue: Cue) -> str:
    """Remarks on a line for the person who reads the table: the reason of its status, its doubt (``doubt
    0.42: the text was read at 0.71``), and whether a person edited it or had it described again; who
    wrote its note."""
    texts = texts_in(cue.language)
    doubt_text = ""
    if cue.doubt is not None:
        value, reasons = texts.decimal(cue.doubt.value, 2), "; ".join(cue.doubt.reasons)
        doubt_text = texts("remark.doubt", value=value)
        if reasons:
            doubt_text = texts("remark.doubt_because", value=value, reasons=reasons)
    edit_text = ""
    if cue.edited is not None and is_changed(cue):
        edit_text = texts("remark.redone" if cue.edited.source == REDO else "remark.edited")
    return clean_text(
        "; ".join(part for part in (cue.reason, doubt_text, edit_text, note_author(cue)) if part)
    )


def note_author(cue: Cue) -> str:
    """``note by Ann``; empty where there is no note, or its author is not known."""
    if cue.note is None or not cue.note.by:
        return ""
    return texts_in(cue.language)("remark.note_by", name=cue.note.by)


def reviewer_name(cue: Cue) -> str:
    """The name of the person who accepted a line; empty where nobody did, or gave no name."""
    if cue.review is None:
        return ""
    return clean_text(cue.review.by).replace("\n", " ")


def review_text(cue: Cue) -> str:
    """Whether a machine or a person is responsible for a line: ``machine``, ``edited``, ``accepted by
    Ann``."""
    texts, name = texts_in(cue.language), reviewer_name(cue)
    state = texts(f"state.{cue.state}")
    return texts("state.by", state=state, name=name) if name else state


write_json = to_json
"""The track file itself, which carries everything."""


def read_json(text: str, file_name: str) -> Script:
    """The heard lines of a track file, or of any list of objects that have start and end (and id and text).

    The list may stand alone, or in an object under ``cues``, ``slots``, ``lines`` or ``shots``. Raises
    ScriptError with file and entry.
    """
    try:
        tree = parse_json(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise ScriptError(f"{file_name}, line {error.lineno}: {error.msg}.", "Correct the JSON.") from None
    except ValueError as error:
        raise ScriptError(f"{file_name}: {error}.", "Correct the JSON.") from None
    if isinstance(tree, dict) and "schema_version" in tree and "film" in tree and "cues" in tree:
        track = from_json(text.removeprefix("\ufeff"), file_name)
        heard_lines = tuple(ScriptCue(cue.id, cue.interval, cue.text) for cue in track.heard)
        line_stamps: dict[str, str] = {}
        for raw in tree["cues"]:
            stamp_match = _STAMP.match(raw.get("stamp", ""))
            if stamp_match is not None:
                line_stamps[raw.get("id", "")] = stamp_match[0]
        return Script(heard_lines, None, line_stamps, is_proven=True)
    items = tree
    if isinstance(tree, dict):
        items = next((tree[key] for key in _LIST_KEYS if key in tree), None)
    if not isinstance(items, list):
        raise ScriptError(
            f"{file_name} holds no list of cues.", "Write a list of objects with start and end."
        )
    cues: list[ScriptCue] = []
    for number, item in enumerate(items, 1):
        place = f"{file_name}, entry {number}"
        if not isinstance(item, dict):
            raise ScriptError(f"{place}: must be an object with start and end, got {quoted(item)}.")
        interval = parse_interval(str(item.get("start")), str(item.get("end")), place)
        line_text, cue_id = item.get("text", ""), item.get("id")
        if not isinstance(line_text, str) or not isinstance(cue_id, str | None):
            message = f"{place}: id and text must be texts, got {quoted(cue_id)} and {quoted(line_text)}."
            raise ScriptError(message)
        cues.append(ScriptCue(cue_id, interval, clean_text(line_text)))
        check_line_count(cues, file_name)
    return Script(tuple(cues), is_proven=True)


FRAZIER_HEADS = ("Position", "Start", "End", "Text")

_FRAZIER_COLUMNS = {
    "position": "position", "slot": "position", "start": "start", "startzeit": "start", "end": "end",
    "ende": "end", "endzeit": "end", "text": "text", "audiodeskription": "text",
}  # fmt: skip
_FRAZIER_TIME = re.compile(r"(?P<clock>\d+:\d{1,2}:\d{1,2})[.,:;](?P<frames>\d{2})")


def write_frazier(track: Track, frame_rate: Fraction = DEFAULT_FRAME_RATE) -> str:
    """The heard lines for Frazier. Lines of a text are joined by U+2028, at which the reader parts them."""
    out = io.StringIO()
    rows = csv.writer(out, delimiter=";")
    rows.writerow(FRAZIER_HEADS)
    heard = track.heard
    for cue in heard:
        on_frame_times = on_frames(cue.interval, frame_rate)
        times: list[str] = []
        for second in (on_frame_times.start, on_frame_times.end):
            # SMPTE timecode, non-drop: at 29.97 frames a second 30 are counted for each of its seconds.
            whole_seconds, frames = divmod(nearest_frame(second, frame_rate), math.ceil(frame_rate))
            hours, minutes = whole_seconds // 3600, whole_seconds // 60 % 60
            times.append(f"{hours:02d}:{minutes:02d}:{whole_seconds % 60:02d}.{frames:02d}")
        number = number_of(cue.id, is_last=cue is heard[-1])
        rows.writerow([number, *times, formula_safe_cell(cue.text.replace("\n", " \u2028"))])
    return out.getvalue()


def read_frazier(text: str, file_name: str, frame_rate: Fraction = DEFAULT_FRAME_RATE) -> Script:
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
    for place, row in rows_with_places(rows, file_name):
        if not heads:
            heads = [_FRAZIER_COLUMNS.get(cell.strip().lower(), "") for cell in row]
            missing = [head for head in FRAZIER_HEADS[1:] if head.lower() not in heads]
            if missing:
                message = f"{place}: columns are {column_list(row)}; {' and '.join(missing)} missing."
                raise ScriptError(message, f"Frazier's heads are {';'.join(FRAZIER_HEADS)}.")
        else:
            cells = {"start": "", "end": "", **dict(zip(heads, row, strict=False))}
            try:
                start = _frazier_seconds(cells["start"], frame_rate)
                interval = Interval(start, _frazier_seconds(cells["end"], frame_rate))
            except ValueError as error:
                hint = "Correct the times, or name the frames a second."
                raise ScriptError(f"{place}: {error}.", hint) from None
            cell_text = clean_text(text_of_cell(cells.get("text", "")))
            number = cells.get("position", "").strip()
            numbers.append(number)
            cues.append(ScriptCue(id_of_number(number), interval, cell_text))
            check_line_count(cues, file_name)
    # Only we number lines by their ids; somebody else's file shows nothing at its end.
    is_ours = any(id_of_number(number) for number in numbers)
    if is_ours and not any(map(is_number_of_last, numbers)):
        raise incomplete_error(
            file_name,
            "no Position begins with 3 or 4, as that of the last line does",
            "If the file is whole, write 3 in place of the 1 that begins the last Position, or 4 for 2",
        )
    # The text is the last cell, and its line end the only sign that nothing of it is missing.
    if is_ours and not ends_with_line_end:
        raise incomplete_error(
            file_name, "its last line has no end", "If the file is whole, add an empty line"
        )
    return Script(tuple(cues), frame_rate=frame_rate, is_proven=is_ours)


def is_frazier(first_line: str) -> bool:
    """Whether these are the heads of a Frazier CSV."""
    names = [_FRAZIER_COLUMNS.get(cell.strip().strip('"').lower()) for cell in first_line.split(";")]
    return names[:3] == ["position", "start", "end"] and "text" in names


def _frazier_seconds(text: str, frame_rate: Fraction) -> float:
    """Seconds from a SMPTE timecode (non-drop), or from another time. Raises ValueError for none of them."""
    match = _FRAZIER_TIME.fullmatch(text.strip())
    if match is None:
        return parse_time(text)
    frames, frames_per_second = int(match["frames"]), math.ceil(frame_rate)
    if frames >= frames_per_second:
        message = f"{quoted(text)} has frame {frames}, but there are {frames_per_second} frames in a second"
        raise ValueError(message)
    frames_from_start = int(parse_time(match["clock"])) * frames_per_second + frames
    return float(frames_from_start / frame_rate)


REAPER_HEADS = ("#", "Name", "Start", "End", "Length")
SECONDS_PER_WORD = 0.375
"""How long a marker's line is taken to be, which has no end: 160 words a minute."""

_REAPER_ID = re.compile(r"(?:(?<!\s)\s+)?\[(?P<id>[sh]\d{8,})\]\s*$")
_REAPER_STAMP = re.compile(r"(?:(?<!\s)\s+)?\[track (?P<stamp>[0-9a-f]{8})(?P<end> end)?\]\s*$")
_DAMAGED_REAPER_ID = re.compile(r"(?:\[[^\[\]]{0,8}\d{4,}[^\[\]]{0,8}\]?|[sh]\d{5,}\s?\])\s*$")
_TIME_IN_MEASURES = re.compile(r"-?\d+\.\d+\.\d+")
_TIME_IN_FRAMES = re.compile(r"\d+:\d+:\d+:\d+(?:\.\d+)?")


def write_reaper(track: Track) -> str:
    """The heard lines as regions. Lines of a text are joined by U+2028, at which the reader parts them."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(REAPER_HEADS)
    rows.writerow(["M1", f"{track.statement} [track {track.stamp}]", _reaper_time(0), "", ""])
    for number, cue in enumerate(track.heard, 1):
        start, end = milliseconds(cue.interval.start) / 1000, milliseconds(cue.interval.end) / 1000
        times = (start, end, end - start)
        name = f"{cue.text} [{cue.id}]".replace("\n", " \u2028")
        rows.writerow([f"R{number}", formula_safe_cell(name), *map(_reaper_time, times)])
    last = max((cue.interval.end for cue in track.heard), default=0.0)
    end_text = texts_in(track.language)("script.end")
    rows.writerow(["M2", f"{end_text} [track {track.stamp} end]", _reaper_time(last), "", ""])
    return out.getvalue()


def read_reaper(text: str, file_name: str) -> Script:
    """The regions of a file from Reaper; where it has none, its markers.

    A marker's line ends where its words would at a calm pace, or at the next marker. Names in brackets at the
    end are ids. Raises ScriptError with file and line, for times in measures and beats, and for a file of
    ours of which the end is missing.
    """
    heads: list[str] = []
    table_rows: list[_ReaperRow] = []
    for place, row in rows_with_places(csv_rows(text), file_name):
        if not heads:
            heads = [cell.strip().lower() for cell in row]
            if "name" not in heads or "start" not in heads:
                raise ScriptError(f"{place}: columns are {column_list(row)}; Name and Start are missing.")
        else:
            cells = {"name": "", "end": "", **dict(zip(heads, row, strict=False))}
            start, end = _reaper_times(cells.get("start", "").strip(), cells["end"].strip(), place)
            table_rows.append((cells["name"], start, end))
            check_line_count(table_rows, file_name)
    # Two markers of ours are no lines: the statement at the start, and the end of the file.
    lines: list[_ReaperRow] = []
    stamps: list[str] = []
    has_end = False
    for table_row in table_rows:
        stamp_match = _REAPER_STAMP.search(table_row[0])
        if stamp_match is None:
            lines.append(table_row)
        else:
            stamps.append(stamp_match["stamp"])
            has_end = has_end or stamp_match["end"] is not None
    is_ours = bool(stamps) or any(_REAPER_ID.search(name) for name, _, _ in table_rows)
    if is_ours and not has_end:
        raise incomplete_error(
            file_name,
            "the marker that ends with '[track … end]' is not there",
            "If the file is whole, take the marks in brackets out of all names",
        )
    regions = [_reaper_cue(name, start, end) for name, start, end in lines if end is not None]
    cues = regions or _cues_of_markers(lines)
    if is_ours:
        for cue in cues:
            if cue.id is None and _DAMAGED_REAPER_ID.search(cue.text):
                message = f"{file_name}: the id at the end of {quoted(cue.text)} is damaged."
                raise ScriptError(message, "Write it as in [s00083120], or take it out whole.")
    return Script(tuple(cues), stamps[0] if stamps else None, is_proven=has_end)


def is_reaper(first_line: str) -> bool:
    """Whether these are the heads of a file from the Region/Marker Manager."""
    return re.match(r'"?#"?[,;\t]"?Name"?[,;\t]"?Start"?', first_line.strip(), re.IGNORECASE) is not None


_ReaperRow = tuple[str, float, float | None]
"""Name, start and end (in seconds) of a row; a marker has no end."""


def _reaper_times(start: str, end: str, place: str) -> tuple[float, float | None]:
    """Start and end of a region or marker in seconds; None for the end of a marker, which has none.

    Raises ScriptError with ``place`` for other units of Reaper's ruler, and for what is no time.
    """
    for time in (start, end):
        if _TIME_IN_MEASURES.fullmatch(time) or _TIME_IN_FRAMES.fullmatch(time):
            unit = "measures and beats" if _TIME_IN_MEASURES.fullmatch(time) else "frames"
            hint = "Set Reaper's ruler to minutes and seconds, and export again."
            raise ScriptError(f"{place}: {quoted(time)} is in {unit}.", hint)
    try:
        start_second = parse_time(start)
        end_second = parse_time(end) if end else None
        if end_second is not None:
            Interval(start_second, end_second)
    except ValueError as error:
        raise ScriptError(f"{place}: {error}.", "Correct the times.") from None
    return start_second, end_second


def _reaper_cue(name: str, start: float, end: float) -> ScriptCue:
    """The line of a region: its name without the id in brackets, which becomes the cue's id."""
    text = text_of_cell(name)
    id_match = _REAPER_ID.search(text)
    text = clean_text(_REAPER_ID.sub("", text, count=1))
    return ScriptCue(id_match["id"] if id_match else None, Interval(start, end), text)


def _cues_of_markers(markers: list[_ReaperRow]) -> list[ScriptCue]:
    """The lines of markers, by time. Each ends when its words are spoken, or where the next one starts."""
    markers = sorted(markers, key=lambda marker: marker[1])
    next_starts = [start for _, start, _ in markers[1:]]
    cues: list[ScriptCue] = []
    for position, (name, start, _) in enumerate(markers):
        end = start + SECONDS_PER_WORD * max(1, count_words(name))
        # Two markers at the same time overlap: an interval must not be empty.
        if position < len(next_starts) and next_starts[position] > start:
            end = min(end, next_starts[position])
        cues.append(_reaper_cue(name, start, end))
    return cues


def _reaper_time(seconds: float) -> str:
    """``62.5 → 1:02.500``, ``3602.5 → 1:00:02.500``."""
    whole_seconds, millisecond = divmod(milliseconds(seconds), 1000)
    hours, seconds_of_hour = divmod(whole_seconds, 3600)
    minutes = f"{hours}:{seconds_of_hour // 60:02d}" if hours else f"{seconds_of_hour // 60}"
    return f"{minutes}:{seconds_of_hour % 60:02d}.{millisecond:03d}"
