"""What lies beside a track and is newer than it: a track that was deleted, or put back from a backup, is told
by what its scripts and the history of its review hold, never by dates, which copies change.

A script that still is as it was written has the lines of the track that it was written from. Where the track
says something else, one of the two is older. The track is the newer one where a person changed the line in it
since, where the history of the review knows its line as the last one, and where writing the scripts was
interrupted. Otherwise the script is, and nothing may be written over it before a person has decided.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shotad.core.errors import (
    EditConflict,
    ScriptError,
    WorkFolderError,
)
from shotad.core.files import read_file
from shotad.core.progress import plural
from shotad.core.records import parse_json, parse_record
from shotad.script.cue import Cue, Script, ScriptCue, line_stamp, milliseconds, short_hash
from shotad.script.formats import Format
from shotad.script.track import Track, cue_json, cue_values
from shotad.script.track_texts import in_all_languages

HISTORY, BEGUN = "review.jsonl", "review.begun.json"
"""The steps of the review page, and the one that it has begun."""

Hashes = Mapping[str, tuple[str, ...]]
"""By a script's name: the hash of it as it was written last, then those that it may have where that was not
finished."""

_KEYS_OF_MACHINE = ("spoken_length", "fit_steps", "provenance", "voiced")
_MACHINE_ONLY = in_all_languages("statement.not_reviewed")
_CHANGES_BY_PEOPLE = [
    re.escape(text.format(number="NUMBER")).replace("NUMBER", r"(?<!\d)\d+")
    for change in ("edited", "redone")
    for number in ("one", "other")
    for text in in_all_languages(f"statement.{change}.{number}")
]
_CHANGED_BY_PEOPLE = re.compile("|".join(_CHANGES_BY_PEOPLE))
"""Parts of `Track.statement`, in any language."""

_LineContent = tuple[int, int, str, str]
"""Start and end in milliseconds, text, and who stands for it, where the format says so."""


def content_stamp(cue: Cue) -> str:
    """Short name of a line: another as soon as anything of it changes that people change or choose from."""
    values = {key: value for key, value in cue_values(cue).items() if key not in _KEYS_OF_MACHINE}
    return short_hash(json.dumps(values))


@dataclass(frozen=True, slots=True)
class Newer:
    """Files beside a track that hold newer lines, and these lines, each as a sentence.

    ``stamps`` name the states of the track from which newer scripts were written.
    """

    files: tuple[str, ...]
    lines: tuple[str, ...]
    stamps: frozenset[str]

    def error(self, track: Path) -> EditConflict:
        """Why nothing may be written over these files, and how to go on."""
        names = " and ".join(self.files)
        shown = "; ".join(self.lines[:_MAX_SHOWN_LINES]) + (
            "; …" if len(self.lines) > _MAX_SHOWN_LINES else ""
        )
        differing = plural(len(self.lines), "line differs", "lines differ")
        # "May be": a track from another machine, without its scripts, looks the same.
        message = f"{names} may be newer than {track}: {differing}: {shown}. Nothing was written."
        scripts = [name for name in self.files if name != HISTORY]
        place = track.parent if track.name == "track.json" else track
        ways = (
            [f"take the script's lines: shotad import {place} {track.parent / scripts[0]}"] if scripts else []
        )
        ways += [
            f"put the newer {track.name} back",
            f"or keep the track as it is: move {names} away, or run with --discard-edits",
        ]
        hint = "; ".join(ways)
        return EditConflict(message, f"{hint[0].upper()}{hint[1:]}.")


_MAX_SHOWN_LINES = 3
"""Lines that a message shows; more help nobody."""


def find_newer(
    track: Track, file: Path, scripts: Sequence[tuple[Format, Path]], hashes: Hashes
) -> Newer | None:
    """The files beside the ``track`` in ``file`` that are newer than it; None where there are none.

    ``scripts`` are those that belong to it, whether they exist or not; ``hashes`` those of the scripts as
    they were written. Raises WorkFolderError where a script is no file.
    """
    newer_files: list[str] = []
    stamps: set[str] = set()
    sentences: dict[str, str] = {}
    is_confirmed = False
    readable: list[tuple[Format, Path, bytes, str]] = []
    for file_format, path in scripts:
        with suppress(FileNotFoundError):
            data = read_file(path)
            digest = _digest_as_recorded(data, hashes.get(path.name, ()))
            readable.append((file_format, path, data, digest))
    edited = {
        path.name: _changed_texts(file_format, path, data)
        for file_format, path, data, digest in readable
        if digest not in hashes.get(path.name, ())
    }
    newer_lines = _NewerLines(track, file, edited)
    for file_format, path, data, digest in readable:
        last_hash, *unfinished_hashes = hashes.get(path.name, ("",))
        if digest in unfinished_hashes:
            # Writing it again was interrupted, after the track was written.
            continue
        written = file_format.encode(track)
        if _normalized(data) == _normalized(written):
            is_confirmed = True
            continue
        try:
            script, script_of_track = file_format.read(data, path.name), file_format.read(written, path.name)
        except ScriptError:
            continue  # the import of its edits says what is wrong with it
        is_as_written = digest == last_hash
        if not is_as_written and not script.line_stamps:
            continue  # it was edited, and has no stamps that show in which lines
        track_lines = _contents_by_id(script_of_track, written, file_format.name)
        script_lines = _contents_by_id(
            script, data, file_format.name, unchanged=None if is_as_written else script.line_stamps
        )
        lines = script_lines if not is_as_written else {**dict.fromkeys(track_lines), **script_lines}
        differing = [name for name in lines if track_lines.get(name) != script_lines.get(name)]
        differing = [name for name in differing if not newer_lines.is_newer(name)]
        if not differing:
            is_confirmed = is_confirmed or is_as_written
            continue
        newer_files.append(path.name)
        stamps |= {script.stamp} if script.stamp else set()
        for name in differing:
            in_script, in_track = _line_text(script_lines.get(name)), _line_text(track_lines.get(name))
            sentences.setdefault(name, f"{name} is {in_script} there, {in_track} here")
    if not newer_files and not is_confirmed:
        older = newer_lines.older_lines()
        if older:
            newer_files.append(HISTORY)
            sentences |= {name: f"{name} was changed on the review page" for name in older}
    return Newer(tuple(newer_files), tuple(sentences.values()), frozenset(stamps)) if newer_files else None


def refuse_lost(file: Path, scripts: Iterable[tuple[Format, Path]], hashes: Hashes) -> None:
    """Raise EditConflict where the track ``file`` is not there, and what lies beside it holds lines of people
    that a run would write over."""
    names = []
    without_statement = []
    is_machine_only = False
    for file_format, path in scripts:
        try:
            data = read_file(path)
        except FileNotFoundError:
            continue
        if is_edited(file_format, path, data, hashes):
            names.append(path.name)
        elif not file_format.has_statement:
            without_statement.append(path.name)
        elif _is_machine_made(data):
            is_machine_only = True
        else:
            names.append(path.name)
    # Written together with the others, these hold the same lines; alone they may hold anybody's.
    if not is_machine_only and not names:
        names += without_statement
    best = names[0] if names else None
    if file.name == "track.json" and _ReviewSteps.read(file.parent).latest:
        names.append(HISTORY)
    if not names:
        return
    place = file.parent if file.name == "track.json" else file
    ways = [f"Put {file.name} back from a backup"]
    if best is not None:
        ways.append(f"take the lines of a script: shotad import {place} {file.parent / best}")
    ways.append("throw them away: run with --discard-edits")
    raise EditConflict(
        f"{file} is not there, but {', '.join(names)} beside it may hold lines that people wrote. "
        "Nothing was written.",
        f"{', or '.join(ways)}.",
    )


def is_edited(
    file_format: Format, path: Path, data: bytes, hashes: Hashes, track: Track | None = None
) -> bool:
    """Whether somebody changed a script since it was written; ``data`` is its content now.

    Where no hash of it is known, the stamps of its lines show it. A script without stamps is unchanged if it
    is what ``track`` gives.
    """
    if path.name in hashes:
        return _digest_as_recorded(data, hashes[path.name]) not in hashes[path.name]
    if _is_unchanged(file_format, path, data):
        return False
    return track is None or _normalized(data) != _normalized(file_format.encode(track))


_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def _normalized(data: bytes) -> bytes:
    """A script without what git and editors change when they store it: line ends, and a mark at the start."""
    return data.removeprefix(_BYTE_ORDER_MARK).replace(b"\r\n", b"\n")


def _digest_as_recorded(data: bytes, recorded: Sequence[str]) -> str:
    """The hash of a script. Where it differs from one that is ``noted`` in its line ends or the mark at its
    start alone, it is that one: nobody has edited it."""
    plain = _normalized(data)
    lines_of_windows = plain.replace(b"\n", b"\r\n")
    for variant in (
        data,
        plain,
        lines_of_windows,
        _BYTE_ORDER_MARK + plain,
        _BYTE_ORDER_MARK + lines_of_windows,
    ):
        digest = hashlib.sha256(variant).hexdigest()
        if digest in recorded:
            return digest
    return hashlib.sha256(data).hexdigest()


def _is_unchanged(file_format: Format, path: Path, data: bytes) -> bool:
    """Whether a script says of each of its lines that it is as it was written."""
    try:
        script = file_format.read(data, path.name)
    except ScriptError:
        return False
    lines = {line.id: line_stamp(line.interval, line.text) for line in script.cues}
    return bool(script.line_stamps) and lines == dict(script.line_stamps)


def _is_machine_made(data: bytes) -> bool:
    """Whether a script of ours says that nobody has changed or read its lines."""
    text = data.decode("utf-8", "replace")
    is_machine_made = any(sentence in text for sentence in _MACHINE_ONLY)
    return is_machine_made and not _CHANGED_BY_PEOPLE.search(text)


def _contents_by_id(
    script: Script, data: bytes, format_name: str, *, unchanged: Mapping[str, str] | None = None
) -> dict[str, _LineContent]:
    """The lines of a script by their ids. ``unchanged``: only those that still have these stamps."""
    states = _review_states(data) if format_name == "csv" else {}
    lines: dict[str, _LineContent] = {}
    for line in script.cues:
        name = _line_name(line)
        if unchanged is not None and unchanged.get(name) != line_stamp(line.interval, line.text):
            continue
        start, end = milliseconds(line.interval.start), milliseconds(line.interval.end)
        lines[name] = (start, end, line.text, states.get(name, ""))
    return lines


def _changed_texts(file_format: Format, path: Path, data: bytes) -> dict[str, str]:
    """The texts of a script by the ids of its lines, but for those of which it says itself that they are as
    they were written; none where it cannot be read."""
    try:
        script = file_format.read(data, path.name)
    except ScriptError:
        return {}
    texts: dict[str, str] = {}
    for line in script.cues:
        name = _line_name(line)
        is_as_written = script.line_stamps.get(name) == line_stamp(line.interval, line.text)
        if not is_as_written:
            texts[name] = line.text
    return texts


def _line_name(line: ScriptCue) -> str:
    return line.id or f"line at {line.interval.start:.3f} s"


def _review_states(data: bytes) -> dict[str, str]:
    """By line: whether somebody edited or accepted it, and who."""
    rows = csv.DictReader(io.StringIO(data.decode("utf-8-sig", "replace"), newline=""))
    return {str(row.get("id")): f"{row.get('state')} {row.get('reviewer')}" for row in rows}


def _line_text(line: _LineContent | None) -> str:
    if line is None:
        return "missing"
    start, _, text, state = line
    cut = text if len(text) <= _MAX_SHOWN_CHARACTERS else f"{text[:_MAX_SHOWN_CHARACTERS]}…"
    return f"{cut!r} at {start / 1000:.3f} s" + (f" ({state.strip()})" if state.strip() else "")


_MAX_SHOWN_CHARACTERS = 60
"""Characters of a line that a message shows."""


class _NewerLines:
    """Knows which lines of the track are newer than those of a script that differs, and which are older."""

    def __init__(self, track: Track, file: Path, edited: Mapping[str, Mapping[str, str]]) -> None:
        """``edited`` has, of the scripts that were changed since they were written, the texts of the changed
        lines: the page brings them into the track before it writes the other scripts anew. A script that is
        whole but older than the note of what was written last, as after half a copy, has none."""
        self._edited = edited
        self._cues = {cue.id: cue for cue in track.cues}
        self._file = file
        self._by_hand: frozenset[str] | None = None
        self._steps: _ReviewSteps | None = None

    @property
    def steps(self) -> _ReviewSteps:
        if self._steps is None:
            self._steps = (
                _ReviewSteps.read(self._file.parent) if self._file.name == "track.json" else _ReviewSteps()
            )
        return self._steps

    @property
    def by_hand(self) -> frozenset[str]:
        """The lines that a person changed in the track's file since it was written: those that read back
        otherwise than they stand there."""
        if self._by_hand is None:
            rows = {}
            try:
                for row in parse_json(read_file(self._file, follow=True))["cues"]:
                    rows[row.get("id")] = row
            except (OSError, WorkFolderError, ValueError, KeyError, TypeError, AttributeError):
                rows = {}
            same = {
                name
                for name, cue in self._cues.items()
                if name in rows and json.loads(json.dumps(cue_json(cue))) == rows[name]
            }
            self._by_hand = frozenset(self._cues.keys() - same)
        return self._by_hand

    def is_newer(self, name: str) -> bool:
        """Whether the track's line of this id is known to be newer than that of a script that differs."""
        cue = self._cues.get(name)
        stamp = None if cue is None else content_stamp(cue)
        if self.steps.is_last(name, stamp):
            return True
        if cue is None:
            return False
        brought = self._edited.get(cue.edited.source, {}) if cue.edited is not None else {}
        return name in self.by_hand or brought.get(name) == cue.text

    def older_lines(self) -> list[str]:
        """The lines that are in the track as they were before a later step of the review."""
        names = []
        for name, latest in self.steps.latest.items():
            cue = self._cues.get(name)
            now = None if cue is None else content_stamp(cue)
            if now == latest or self.steps.is_last(name, now) or name in self.by_hand:
                continue
            if now in self.steps.earlier.get(name, ()):
                names.append(name)
        return names


StampOrNone = str | None
"""`content_stamp` of a line; None where there is none."""


@dataclass(slots=True)
class _ReviewSteps:
    """What the history of the review says of each line: as the last step left it, and as it was before."""

    latest: dict[str, StampOrNone] = field(default_factory=dict)
    earlier: dict[str, set[StampOrNone]] = field(default_factory=dict)
    begun: dict[str, set[StampOrNone]] = field(default_factory=dict)
    """Of the step that was under way when the program was killed, both sides."""

    @staticmethod
    def read(folder: Path) -> _ReviewSteps:
        """That of a work folder; empty where there is no history, or it cannot be read."""
        steps = _ReviewSteps()
        undo: list[Mapping[str, Any]] = []
        redo: list[Mapping[str, Any]] = []
        for row in _history_rows(folder / HISTORY):
            kind = row.get("step")
            if kind == "done":
                if row.get("on") and undo:
                    undo.pop()
                undo.append(row)
                redo.clear()
                steps._take(row, "now")
            elif kind == "undo" and undo:
                redo.append(undo.pop())
                steps._take(redo[-1], "was")
            elif kind == "redo" and redo:
                undo.append(redo.pop())
                steps._take(undo[-1], "now")
            elif kind == "skip" and row.get("way") in ("undo", "redo"):
                stack = undo if row["way"] == "undo" else redo
                if stack:
                    stack.pop()
        for row in _steps_under_way(folder / BEGUN, undo, redo):
            for line in _line_steps(row):
                steps.begun.setdefault(line["id"], set()).update((line.get("was"), line.get("now")))
        return steps

    def _take(self, row: Mapping[str, Any], side: str) -> None:
        for line in _line_steps(row):
            name = line["id"]
            self.earlier.setdefault(name, set()).update((line.get("was"), line.get("now"), *self._last(name)))
            self.latest[name] = line.get(side)

    def _last(self, name: str) -> tuple[StampOrNone, ...]:
        return (self.latest[name],) if name in self.latest else ()

    def is_last(self, name: str, stamp: StampOrNone) -> bool:
        """Whether the history ends with the line as it is."""
        return (name in self.latest and self.latest[name] == stamp) or stamp in self.begun.get(name, ())


def _history_rows(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        data = read_file(path)
    except (OSError, WorkFolderError):
        return
    for line in data.splitlines():
        row = parse_record(HISTORY, line)
        if row is not None:
            yield row


def _steps_under_way(
    path: Path, undo: Sequence[Mapping[str, Any]], redo: Sequence[Mapping[str, Any]]
) -> Iterator[Mapping[str, Any]]:
    """The step that was under way."""
    try:
        record = parse_record(BEGUN, read_file(path)) or {}
    except (OSError, WorkFolderError):
        return
    row = record.get("row")
    if not isinstance(row, dict):
        return
    if row.get("step") == "done":
        yield row
    yield from (undo[-1:] if row.get("step") == "undo" else redo[-1:] if row.get("step") == "redo" else ())


def _line_steps(row: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    lines = row.get("lines")
    for line in lines if isinstance(lines, list) else ():
        if isinstance(line, dict) and isinstance(line.get("id"), str):
            yield line
