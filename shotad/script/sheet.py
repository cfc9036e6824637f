"""The script as a table: CSV for spreadsheets (RFC 4180), and JSON.

CSV loses candidates and provenance line by line. JSON is the track file itself and loses nothing.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from typing import Any

from shotad.core import ScriptError, parse_json
from shotad.script.cue import (
    Cue,
    CueStatus,
    Script,
    ScriptCue,
    clean_text,
    is_changed,
    line_stamp,
    parse_interval,
    parse_time,
    timecode,
)
from shotad.script.track import Track, from_json, to_json

COLUMNS = (
    "id", "start", "end", "text", "kind", "status", "state", "reviewer", "note", "doubt", "timecode",
    "made_by", "stamp", "track",
)  # fmt: skip
_SIGNS = "=+\\-@＝＋－＠"
_BEFORE_SIGN = r"(^|(?:[;,|]|\n(?![^\S\n]*\n))\s*+)"
_FORMULA = re.compile(rf"{_BEFORE_SIGN}('*[{_SIGNS}])")
_GUARDED = re.compile(rf"{_BEFORE_SIGN}'('*[{_SIGNS}])")
"""What a spreadsheet may take for a formula (OWASP, CSV injection): a cell that begins with a sign; some
take the wide signs, too. Where another country's separator parts the file, a cell may begin behind it or on
a new line."""
_STAMP = re.compile(r"[0-9a-f]{8}-[0-9a-f]{8}")
_UNHEARD = tuple(status.value for status in CueStatus if not status.heard)
_LISTS = ("cues", "slots", "lines", "shots")


def write_csv(track: Track) -> str:
    """The heard lines, one a row, times in seconds, with the byte order mark by which Excel knows UTF-8.

    A text that a spreadsheet would take for a formula gets an apostrophe, which the reader takes off.
    """
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow(COLUMNS)
    statement, stamp = track.statement, track.stamp
    for cue in track.heard:
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
                stamp,
            ]
        )
    return "\ufeff" + out.getvalue()


def read_csv(text: str, name: str) -> Script:
    """The cues of a CSV file, parted by comma, semicolon or tab.

    Columns are known by their heads (start and end, and id and text if there); without heads they are
    start, end, text. A status such as dropped empties the text, by which import drops the line.
    Raises ScriptError with file and line.
    """
    heads: list[str] | None = None
    cues: list[ScriptCue] = []
    stamp: str | None = None
    line_stamps: dict[str, str] = {}
    for where, row in filled_rows(parted_rows(text), name):
        if heads is None:
            heads = [cell.strip().lower() for cell in row]
            if "start" in heads and "end" in heads:
                continue
            try:
                parse_time(row[0])
            except (ValueError, IndexError):
                what = f"{where}: columns are {', '.join(heads)}; start and end are missing."
                raise ScriptError(what, "Name the columns.") from None
            heads = ["start", "end", "text"]
        cells = {"start": "", "end": "", "id": "", **dict(zip(heads, row, strict=False))}
        said = unguarded(cells.get("text", ""))
        interval = parse_interval(cells["start"], cells["end"], where)
        if cells.get("status", "").strip().lower() in _UNHEARD:
            said = ""
        cues.append(ScriptCue(cells["id"].strip() or None, interval, clean_text(said)))
        stamp = cells.get("track") or stamp
        if cells["id"] and cells.get("stamp"):
            line_stamps[cells["id"].strip()] = cells["stamp"]
    return Script(tuple(cues), stamp, line_stamps)


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


def write_json(track: Track) -> str:
    """The track file itself, which carries everything."""
    return to_json(track)


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
        return Script(cues, None, {key: stamp[0] for key, stamp in stamps.items() if stamp})
    items = next((tree[key] for key in _LISTS if key in tree), None) if isinstance(tree, dict) else tree
    if not isinstance(items, list):
        raise ScriptError(f"{name} holds no list of cues.", "Write a list of objects with start and end.")
    found: list[ScriptCue] = []
    for i, item in enumerate(items, 1):
        where = f"{name}, entry {i}"
        if not isinstance(item, dict):
            raise ScriptError(f"{where}: must be an object with start and end, got {item!r}.")
        interval = parse_interval(str(item.get("start")), str(item.get("end")), where)
        said, cue_id = item.get("text", ""), item.get("id")
        if not isinstance(said, str) or not isinstance(cue_id, str | None):
            raise ScriptError(f"{where}: id and text must be texts, got {cue_id!r} and {said!r}.")
        found.append(ScriptCue(cue_id, interval, clean_text(said)))
    return Script(tuple(found))
