"""The undo history of a work folder, in ``review.jsonl``.

One row is appended for each step, and one for each that is undone or redone; nothing is ever rewritten. A row
holds only what changed of its lines, before and after, so the history of a long week stays small.

A row is appended after the track is written. Until then it stands in ``review.begun.json``: where a program
is killed between the two, the next one sees in the track whether the step was done (`History.finish_begun`).

A page sends an act again when it never got the answer. So a row also names its request, the tab and the
number of the act, and an act that changed nothing has a row too: each is done once (`History.knows`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from shotad.core import Slot
from shotad.core.errors import (
    OutdatedLine,
    ScriptError,
    WorkFolderError,
)
from shotad.core.files import (
    append_to_file,
    open_file,
    read_file,
    remove_file,
    write_text,
)
from shotad.core.records import (
    parse_record,
    slot_rows,
    slots_of,
)
from shotad.film import SlotChange
from shotad.review.messages import (
    Message,
    Sentence,
    message,
    message_of,
    sentence_view,
    values_view,
    with_texts,
)
from shotad.review.timeline import Change, RequestId
from shotad.script import Cue, Track
from shotad.script.newer import (
    BEGUN,
    HISTORY,
    content_stamp,
)
from shotad.script.track import (
    Fields,
    cue_json,
    read_cue,
)

Row = Mapping[str, Any]
Direction = Literal["undo", "redo"]


def row_of(cue: Cue) -> dict[str, Any]:
    """A line as JSON values, as the track's file has it."""
    # Through text, so that tuples become lists and compare equal to rows that were read.
    values: dict[str, Any] = json.loads(json.dumps(cue_json(cue)))
    return values


@dataclass(frozen=True, slots=True)
class LineStep:
    """What a step did to one line. The fields are keys of ``review.jsonl``.

    was, now: `content_stamp` of the line before and after; None where it was not in the track.
    before, after: the values that changed; None where the line was not in the track.
    """

    id: str
    was: str | None
    now: str | None
    before: Row | None
    after: Row | None

    @staticmethod
    def of(line_id: str, before: Cue | None, after: Cue | None) -> LineStep:
        """The step from one state of a line to another; None where it is not in the track."""
        old = None if before is None else row_of(before)
        new = None if after is None else row_of(after)
        if old is not None and new is not None:
            changed = [key for key in (old | new) if old.get(key) != new.get(key)]
            old, new = {key: old.get(key) for key in changed}, {key: new.get(key) for key in changed}
        was = None if before is None else content_stamp(before)
        now = None if after is None else content_stamp(after)
        return LineStep(line_id, was, now, old, new)

    def inverse(self) -> LineStep:
        """The step that undoes this one."""
        return LineStep(self.id, self.now, self.was, self.after, self.before)

    def applied(self, cue: Cue | None, language: str) -> Cue | None:
        """The line after this step; None where the step removes it.

        Raises ScriptError for a row that somebody has damaged.
        """
        if self.after is None:
            return None
        values = {**(row_of(cue) if cue is not None else {}), **self.after}
        return read_cue(Fields(HISTORY), values, self.id, language, set())

    def followed_by(self, other: LineStep) -> LineStep | None:
        """This step and ``other`` after it as one; None where the line changed otherwise in between, or one
        of them adds or removes it."""
        rows = (self.before, self.after, other.before, other.after)
        if self.id != other.id or self.now != other.was or any(row is None for row in rows):
            return None
        before = {**(other.before or {}), **(self.before or {})}
        after = {**(self.after or {}), **(other.after or {})}
        # What the second step set back to how it was has not changed.
        changed = [key for key in before if before[key] != after[key]]
        return LineStep(
            self.id,
            self.was,
            other.now,
            {key: before[key] for key in changed},
            {key: after[key] for key in changed},
        )


@dataclass(frozen=True, slots=True)
class Step:
    """One step of undo.

    message: what a person was told when it was done.
    lines: what it did to each line.
    slots: JSON values of the slots that it ``added`` and ``removed``; None where it had none.
    group: steps of one group that follow each other are undone together; empty: none.
    """

    message: Sentence
    lines: tuple[LineStep, ...]
    slots: Row | None = None
    group: str = ""

    def followed_by(self, other: Step) -> Step | None:
        """This step and ``other`` after it as one; None where they are not of one group, or change different
        lines or slots."""
        if not self.group or self.group != other.group or len(self.lines) != len(other.lines):
            return None
        if self.slots or other.slots:
            return None
        lines = []
        for line, next_line in zip(self.lines, other.lines, strict=True):
            joined = line.followed_by(next_line)
            if joined is None:
                return None
            lines.append(joined)
        return Step(other.message, tuple(lines), None, self.group)


@dataclass(slots=True)
class _TabActs:
    """What acts of one tab did: the ``numbers`` of those that are done, and each stamp of a line that they
    replaced, with the new one."""

    numbers: set[int] = field(default_factory=set)
    replaced_by: dict[str, str] = field(default_factory=dict)


class History:
    """The steps of a work folder. Callers must hold `shotad.script.track_files.track_lock`.

    Raises WorkFolderError where a row cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / HISTORY
        self._begun = folder / BEGUN
        # How far the file was read: bytes, and rows that could be parsed
        self._read_bytes = self._read_rows = 0
        # Rows of the steps that can be undone or redone, the next one last
        self._stacks: dict[Direction, list[bytes]] = {"undo": [], "redo": []}
        self._next: dict[Direction, Step | None] = {"undo": None, "redo": None}
        self._tabs: dict[str, _TabActs] = {}
        # The row that last added each line, by its id
        self._added: dict[str, bytes] = {}
        self.sync()

    def sync(self) -> None:
        """Read the rows that others have appended. A last line that is not whole is left out."""
        try:
            size = self.path.stat().st_size
        except OSError:
            size = 0
        if size == self._read_bytes:
            return
        if size < self._read_bytes:  # somebody took the file away or started it again
            self._read_bytes = self._read_rows = 0
            self._stacks = {"undo": [], "redo": []}
        if size:
            with open_file(self.path) as rows:
                rows.seek(self._read_bytes)
                for line in rows:
                    self._follow(line)
        self._update_next()

    def begin(self, step: Step | Direction, request_id: RequestId | None = None) -> None:
        """Note the step, or the undo or redo of the next one, that the track will hold once it is written.

        `add` must follow when it is.
        """
        row = self._row(step, request_id)
        with suppress(WorkFolderError):  # `add` will report it
            write_text(self._begun, json.dumps({"at": self._read_rows, "row": row}))

    def add(self, step: Step | Direction, request_id: RequestId | None = None) -> None:
        """Append a new step, after which nothing can be redone; or that the next one was undone or redone."""
        self._append(self._row(step, request_id))
        remove_file(self._begun)

    @property
    def is_open(self) -> bool:
        """Whether a step was begun that `finish_begun` has to look at."""
        return self._begun.exists()

    def finish_begun(self, track: Track, slots: Sequence[Slot]) -> None:
        """Append the step that a killed program had begun, if ``track`` and ``slots`` hold its result."""
        try:
            data = read_file(self._begun)
        except (OSError, WorkFolderError):
            return
        match parse_record(BEGUN, data):
            case {"at": at, "row": {"step": "undo" | "redo" as direction} as row} if at == self._read_rows:
                step = self.last(direction)
                opposite: Direction = "redo" if direction == "undo" else "undo"
            case {"at": at, "row": {"step": "done"} as row} if at == self._read_rows:
                step, opposite = _step_of(row), "undo"
            case _:
                step, row, opposite = None, {}, "undo"
        # Whatever can be taken back has been done; OutdatedLine says that the track does not hold it.
        with suppress(OutdatedLine, ScriptError):
            if step is not None:
                step_change(step, opposite, track, slots)
                self._append(row)
        remove_file(self._begun)

    def _row(self, step: Step | Direction, request_id: RequestId | None) -> Row:
        """The row of a new step, joined with the last one where both are of one group; or of an undo or
        redo."""
        if isinstance(step, str):
            repeated = self.last(step) if request_id is not None else None
            lines = () if repeated is None else repeated.lines
            if step == "undo":
                lines = tuple(line.inverse() for line in lines)
            return {"step": step, **_request_row(request_id, lines)}
        last = self.last("undo") if step.group else None
        joined = None if last is None else last.followed_by(step)
        written = joined or step
        row: dict[str, Any] = {
            "step": "done",
            "said": str(written.message),
            "lines": [asdict(line) for line in written.lines],
        }
        if isinstance(written.message, Message):
            row["message"] = {"key": written.message.key, "values": values_view(written.message.values)}
        if written.slots:
            row["slots"] = written.slots
        if written.group:
            row["group"] = written.group
        row |= _request_row(request_id, step.lines)
        if joined is not None:
            row["on"] = True  # it replaces the step before it
        return row

    def knows(self, request_id: RequestId | None) -> bool:
        """Whether this request of a page was carried out before."""
        if request_id is None:
            return False
        acts = self._tabs.get(request_id.tab)
        return acts is not None and request_id.number in acts.numbers

    def latest_stamp(self, request_id: RequestId | None, stamp: str, current: str) -> str:
        """The stamp of a line after all acts of the request's tab alone, starting from ``stamp``.

        ``current`` is the line's stamp now: the search ends there, since an undo leads back to stamps that
        were there before.
        """
        if request_id is None or request_id.tab not in self._tabs:
            return stamp
        replaced_by = self._tabs[request_id.tab].replaced_by
        visited: set[str] = set()
        while stamp != current and stamp in replaced_by and stamp not in visited:
            visited.add(stamp)
            stamp = replaced_by[stamp]
        return stamp

    def add_unchanged(self, request_id: RequestId) -> None:
        """Note that an act of a page changed nothing."""
        self._append({"step": "none", **_request_row(request_id, ())})

    def step_that_added(self, line_id: str) -> Step | None:
        """The step that last added this line; None where it is not known."""
        row = self._added.get(line_id)
        return None if row is None else _step_of(row)

    def last(self, direction: Direction) -> Step | None:
        """The step that is undone or redone next; None where there is none."""
        stack = self._stacks[direction]
        while stack:
            step = _step_of(stack[-1])
            if step is not None:
                return step
            stack.pop()  # somebody has damaged this row
        return None

    @property
    def next_steps(self) -> dict[str, Any]:
        """The messages of the next steps (`sentence_view`), as ``undo`` and ``redo``; None for none.

        ``undo_line`` and ``redo_line``: the id of the line that each changes; None where it changes several,
        or slots.
        """
        messages: dict[str, Any] = {}
        line_ids: dict[str, str | None] = {}
        for direction, step in self._next.items():
            messages[direction] = None if step is None else sentence_view(step.message)
            is_of_one_line = step is not None and len(step.lines) == 1
            line_ids[f"{direction}_line"] = step.lines[0].id if step and is_of_one_line else None
        return {**messages, **line_ids}

    def skip(self, direction: Direction) -> None:
        """Note that the next step can no longer be undone or redone."""
        self._append({"step": "skip", "way": direction})

    def _append(self, row: Row) -> None:
        line = json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
        # First: the act was done, also where its row cannot be written, and must not be done twice.
        self._remember(row)
        try:
            line_break = b""
            if self._read_bytes:  # a process killed in the middle of a row leaves it without a line break
                with open_file(self.path) as rows:
                    rows.seek(self._read_bytes - 1)
                    line_break = b"" if rows.read(1) == b"\n" else b"\n"
            # Durable, since the file of the step that was begun is removed next: a power cut must not take
            # both.
            append_to_file(self.path, line_break + line, durable=True)
            self._read_bytes += len(line_break)
        except (FileNotFoundError, WorkFolderError) as error:
            problem = getattr(error, "what", f"{self.path} is gone.")
            raise WorkFolderError(problem, "What was done cannot be undone then.") from None
        self._follow(line)
        self._update_next()

    def _follow(self, line: bytes) -> None:
        """Bring the stacks up to date with the next row of the file."""
        row = parse_record(HISTORY, line) or {}
        self._read_bytes += len(line)
        self._read_rows += bool(row)
        self._remember(row)
        undo, redo = self._stacks["undo"], self._stacks["redo"]
        match row:
            case {"step": "done"}:
                if row.get("on") and undo:
                    undo.pop()
                undo.append(line)
                redo.clear()
                for line_row in row.get("lines", ()):
                    if line_row["was"] is None and line_row["now"] is not None:
                        self._added[line_row["id"]] = line
            case {"step": "undo"} if undo:
                redo.append(undo.pop())
            case {"step": "redo"} if redo:
                undo.append(redo.pop())
            case {"step": "skip", "way": "undo"} if undo:
                undo.pop()
            case {"step": "skip", "way": "redo"} if redo:
                redo.pop()

    def _remember(self, row: Row) -> None:
        """Keep which request a row answers, and which stamps it replaced."""
        match row:
            case {"asked": [str(tab), int(number)], "grew": list(pairs)}:
                acts = self._tabs.setdefault(tab, _TabActs())
                acts.numbers.add(number)
                for pair in pairs:
                    match pair:
                        case [str(was), str(now)]:
                            acts.replaced_by[was] = now

    def _update_next(self) -> None:
        for direction in self._next:
            self._next[direction] = self.last(direction)


def _request_row(request_id: RequestId | None, lines: Sequence[LineStep]) -> dict[str, Any]:
    """The keys of a row that name its request, and the stamps of lines before and after it."""
    if request_id is None:
        return {}
    stamps = [[line.was, line.now] for line in lines if line.was and line.now]
    return {"asked": list(request_id), "grew": stamps}


def _step_of(line: bytes | Row) -> Step | None:
    """The step of a row, parsed or not; None for one that somebody has damaged."""
    row = line if isinstance(line, Mapping) else parse_record(HISTORY, line) or {}
    try:
        lines = tuple(LineStep(**line_row) for line_row in row["lines"])
        said = message_of(row.get("message", row["said"]))
        return Step(said, lines, row.get("slots"), row.get("group", ""))
    except (KeyError, TypeError, ValueError):
        return None


def step_of(track: Track, change: Change, group: str = "") -> Step:
    """The step that ``change`` is on ``track``, which must not be changed yet."""
    cues = {cue.id: cue for cue in track.cues}
    lines = [LineStep.of(cue.id, cues.get(cue.id), cue) for cue in change.cues]
    lines += [LineStep.of(line_id, cues[line_id], None) for line_id in change.removed_ids if line_id in cues]
    slots = None
    if change.slots != SlotChange():
        slots = {"added": slot_rows(change.slots.added), "removed": slot_rows(change.slots.removed)}
    return Step(change.message, tuple(lines), slots, group)


def changed_track(track: Track, change: Change) -> Track:
    """The track after a change."""
    cues = {cue.id: cue for cue in track.cues} | {cue.id: cue for cue in change.cues}
    return track.with_cues(cue for line_id, cue in cues.items() if line_id not in change.removed_ids)


def step_change(step: Step, direction: Direction, track: Track, slots: Sequence[Slot]) -> Change:
    """The change that undoes or redoes a step.

    Raises OutdatedLine where one of its lines, or one of its slots among ``slots``, has changed since, and
    ScriptError for a row that somebody has damaged.
    """
    cues = {cue.id: cue for cue in track.cues}
    lines = [line.inverse() if direction == "undo" else line for line in step.lines]
    slot_change = SlotChange()
    if step.slots is not None:
        added, removed = slots_of(step.slots["added"]), slots_of(step.slots["removed"])
        slot_change = SlotChange(tuple(added), tuple(removed))
    if direction == "undo":
        slot_change = slot_change.inverse
    slot_ids = {slot.id for slot in slots}
    stamps = {line.id: content_stamp(cues[line.id]) for line in lines if line.id in cues}
    conflicts = [line.id for line in lines if line.was != stamps.get(line.id)]
    conflicts += [slot.id for slot in slot_change.removed if slot.id not in slot_ids]
    conflicts += [slot.id for slot in slot_change.added if slot.id in slot_ids]
    if conflicts:
        names = ", ".join(dict.fromkeys(conflicts))
        if direction == "undo":
            raise with_texts(OutdatedLine, "act.undo_outdated", step=step.message, lines=names)
        raise with_texts(OutdatedLine, "act.redo_outdated", step=step.message, lines=names)
    after = {line.id: line.applied(cues.get(line.id), track.language) for line in lines}
    changed_cues = tuple(cue for cue in after.values() if cue is not None)
    removed_ids = tuple(line_id for line_id, cue in after.items() if cue is None)
    said = message("act.redone", step=step.message)
    if direction == "undo":
        said = message("act.undone", step=step.message)
    focus = changed_cues[0].id if changed_cues else None
    return Change(said, changed_cues, removed_ids, focus, slot_change)
