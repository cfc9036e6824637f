"""What was done on the page, step by step, so that it can be undone: ``review.jsonl`` in the work folder.

One row is added for each step, and one for each that is undone or done again; nothing is ever rewritten. A
row holds what changed of its lines, before and after: the history of a long week stays small.

A row is added when the track holds what it says. Until then it lies in ``review.begun.json``: where a
program is killed between the two, the track shows the next one whether it was done (`History.settle`).

A page sends an act again whose answer it never got. So a row also says which act of which tab it is, and an
act that changed nothing has a row too: each is done once (`History.knows`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from shotad.core import (
    OutOfDate,
    ScriptError,
    Slot,
    WorkFolderError,
    append,
    open_file,
    read_file,
    slot_rows,
    slots_of,
    whole_record,
    write_text,
)
from shotad.film import SlotChange
from shotad.review.scene import Asked, Change
from shotad.script import (
    BEGUN,
    HISTORY,
    Cue,
    Fields,
    Track,
    content_stamp,
    cue_json,
    read_cue,
)

Row = Mapping[str, Any]
Way = Literal["undo", "redo"]


def row_of(cue: Cue) -> dict[str, Any]:
    """A line as the track's file has it."""
    values: dict[str, Any] = json.loads(json.dumps(cue_json(cue)))
    return values


@dataclass(frozen=True, slots=True)
class LineStep:
    """What a step did to one line: its `content_stamp` and what changed, before and after; None: no line."""

    id: str
    was: str | None
    now: str | None
    before: Row | None
    after: Row | None

    @staticmethod
    def of(name: str, before: Cue | None, after: Cue | None) -> LineStep:
        old, new = (None if cue is None else row_of(cue) for cue in (before, after))
        if old is not None and new is not None:
            keys = [key for key in (old | new) if old.get(key) != new.get(key)]
            old, new = ({key: row.get(key) for key in keys} for row in (old, new))
        was, now = (None if cue is None else content_stamp(cue) for cue in (before, after))
        return LineStep(name, was, now, old, new)

    def backwards(self) -> LineStep:
        """The step that takes this one back."""
        return LineStep(self.id, self.now, self.was, self.after, self.before)

    def applied(self, cue: Cue | None, language: str) -> Cue | None:
        """The line after this step. Raises ScriptError for a row that somebody has spoilt."""
        if self.after is None:
            return None
        values = {**(row_of(cue) if cue is not None else {}), **self.after}
        return read_cue(Fields(HISTORY), values, self.id, language, set())

    def followed_by(self, other: LineStep) -> LineStep | None:
        """Both as one; None where they do not belong together."""
        sides = (self.before, self.after, other.before, other.after)
        if self.id != other.id or self.now != other.was or any(side is None for side in sides):
            return None
        before = {**(other.before or {}), **(self.before or {})}
        after = {**(self.after or {}), **(other.after or {})}
        keys = [key for key in before if before[key] != after[key]]
        return LineStep(
            self.id, self.was, other.now, {k: before[k] for k in keys}, {k: after[k] for k in keys}
        )


@dataclass(frozen=True, slots=True)
class Step:
    """One step of undo: what was said of it and what it did. ``slots`` are JSON values of slots that came and
    went with it. Steps of one ``group`` that follow each other are one."""

    said: str
    lines: tuple[LineStep, ...]
    slots: Row | None = None
    group: str = ""

    def followed_by(self, other: Step) -> Step | None:
        """Both as one step; None where they do not belong together."""
        if not self.group or self.group != other.group or len(self.lines) != len(other.lines):
            return None
        both = [one.followed_by(two) for one, two in zip(self.lines, other.lines, strict=True)]
        lines = tuple(line for line in both if line is not None)
        whole = len(lines) == len(both) and not self.slots and not other.slots
        return Step(other.said, lines, None, self.group) if whole else None


class History:
    """The steps of a work folder. Who uses it holds `shotad.script.track_files.track_lock`."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / HISTORY
        self._begun = folder / BEGUN
        self._end = self._rows = 0
        self._stacks: dict[Way, list[bytes]] = {"undo": [], "redo": []}
        self._next: dict[Way, Step | None] = {"undo": None, "redo": None}
        # By tab: the numbers of its acts that were done, and the stamps of lines that they made of others
        self._tabs: dict[str, tuple[set[int], dict[str, str]]] = {}
        self._added: dict[str, bytes] = {}
        self.sync()

    def sync(self) -> None:
        """Take in what others have added. A last line that is not whole is left out."""
        try:
            size = self.path.stat().st_size
        except OSError:
            size = 0
        if size == self._end:
            return
        if size < self._end:  # somebody took the file away or started it again
            self._end = self._rows = 0
            self._stacks = {"undo": [], "redo": []}
        if size:
            with open_file(self.path) as rows:
                rows.seek(self._end)
                for line in rows:
                    self._follow(line)
        self._say()

    def begin(self, what: Step | Way, asked: Asked | None = None) -> None:
        """Note what the track will hold next; `add` follows."""
        row = self._row(what, asked)
        with suppress(WorkFolderError):  # the row that follows says what cannot be written
            write_text(self._begun, json.dumps({"at": self._rows, "row": row}))

    def add(self, what: Step | Way, asked: Asked | None = None) -> None:
        """A new step, ``asked`` for by a page; what was undone before cannot be done again. Or a way: the
        next step was undone or done again."""
        self._append(self._row(what, asked))
        self._begun.unlink(missing_ok=True)

    @property
    def is_open(self) -> bool:
        """Whether something was begun that `settle` has to look at."""
        return self._begun.exists()

    def settle(self, track: Track, slots: Sequence[Slot]) -> None:
        """Add what a program had begun that was killed, where ``track`` and ``slots`` hold it."""
        try:
            data = read_file(self._begun)
        except (OSError, WorkFolderError):
            return
        match whole_record(BEGUN, data):
            case {"at": at, "row": {"step": "undo" | "redo" as way} as row} if at == self._rows:
                step = self.last(way)
                back: Way = "redo" if way == "undo" else "undo"
            case {"at": at, "row": {"step": "done"} as row} if at == self._rows:
                step, back = _step_of(row), "undo"
            case _:
                step, row, back = None, {}, "undo"
        with suppress(OutOfDate, ScriptError):  # the track does not hold it
            if step is not None:
                walked(step, back, track, slots)
                self._append(row)
        self._begun.unlink(missing_ok=True)

    def _row(self, what: Step | Way, asked: Asked | None) -> Row:
        if isinstance(what, str):
            step = self.last(what) if asked is not None else None
            lines = () if step is None else step.lines
            moved = [line.backwards() for line in lines] if what == "undo" else lines
            return {"step": what, **_asked_row(asked, moved)}
        last = self.last("undo") if what.group else None
        together = None if last is None else last.followed_by(what)
        step = together or what
        rows = [asdict(one) for one in step.lines]
        row: dict[str, Any] = {"step": "done", "said": step.said, "lines": rows}
        row |= {key: value for key, value in (("slots", step.slots), ("group", step.group)) if value}
        row |= _asked_row(asked, what.lines)
        return row if together is None else {**row, "on": True}

    def knows(self, asked: Asked | None) -> bool:
        """Whether this act of a page was done."""
        return asked is not None and asked[0] in self._tabs and asked[1] in self._tabs[asked[0]][0]

    def grown(self, asked: Asked | None, stamp: str, now: str) -> str:
        """What a stamp became by acts of the same tab alone; it ends at ``now``, for an undo leads back to
        stamps that were there before."""
        grown = {} if asked is None or asked[0] not in self._tabs else self._tabs[asked[0]][1]
        seen: set[str] = set()
        while stamp != now and stamp in grown and stamp not in seen:
            seen.add(stamp)
            stamp = grown[stamp]
        return stamp

    def pass_by(self, asked: Asked) -> None:
        """Note that an act of a page changed nothing."""
        self._append({"step": "none", **_asked_row(asked, ())})

    def adding(self, line: str) -> Step | None:
        """The step that last added this line; None where it is not known."""
        row = self._added.get(line)
        return None if row is None else _step_of(row)

    def last(self, way: Way) -> Step | None:
        """The step that is undone, or done again, next; None where there is none."""
        stack = self._stacks[way]
        while stack:
            if (step := _step_of(stack[-1])) is not None:
                return step
            stack.pop()
        return None

    @property
    def next_steps(self) -> dict[str, str | None]:
        """What was said of the next ``undo`` and ``redo`` (as `last` gives them), and as ``undo_line`` and
        ``redo_line`` of which line they are; None where there is none, or it is of several, or of slots."""
        steps = {str(way): step for way, step in self._next.items()}
        said = {way: None if step is None else step.said for way, step in steps.items()}
        alone = {way: step.lines[0].id for way, step in steps.items() if step and len(step.lines) == 1}
        return {**said, **{f"{way}_line": alone.get(way) for way in said}}

    def skip(self, way: Way) -> None:
        """Note that the next step can be undone or done again no more."""
        self._append({"step": "skip", "way": way})

    def _append(self, row: Row) -> None:
        line = json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
        self._remember(row)  # what cannot be noted was done all the same
        try:
            end = b""
            if self._end:  # a process killed in the middle of a row leaves it without an end
                with open_file(self.path) as rows:
                    rows.seek(self._end - 1)
                    end = b"" if rows.read(1) == b"\n" else b"\n"
            # On the disk before the note of what was begun goes: else a power cut takes both.
            append(self.path, end + line, durable=True)
            self._end += len(end)
        except (FileNotFoundError, WorkFolderError) as error:
            what = getattr(error, "what", f"{self.path} is gone.")
            raise WorkFolderError(what, "What was done cannot be undone then.") from None
        self._follow(line)
        self._say()

    def _follow(self, line: bytes) -> None:
        """Bring the stacks up to date with the next row of the file."""
        row = whole_record(HISTORY, line) or {}
        self._end += len(line)
        self._rows += bool(row)
        self._remember(row)
        undo, redo = self._stacks["undo"], self._stacks["redo"]
        match row:
            case {"step": "done"}:
                if row.get("on") and undo:
                    undo.pop()
                undo.append(line)
                redo.clear()
                for one in row.get("lines", ()):
                    if one["was"] is None and one["now"] is not None:
                        self._added[one["id"]] = line
            case {"step": "undo"} if undo:
                redo.append(undo.pop())
            case {"step": "redo"} if redo:
                undo.append(redo.pop())
            case {"step": "skip", "way": "undo"} if undo:
                undo.pop()
            case {"step": "skip", "way": "redo"} if redo:
                redo.pop()

    def _remember(self, row: Row) -> None:
        """Keep which act of which tab a row is of, and what stamps it made of which."""
        match row:
            case {"asked": [str(tab), int(number)], "grew": list(pairs)}:
                numbers, grown = self._tabs.setdefault(tab, (set(), {}))
                numbers.add(number)
                for pair in pairs:
                    match pair:
                        case [str(was), str(now)]:
                            grown[was] = now

    def _say(self) -> None:
        for way in self._next:
            self._next[way] = self.last(way)


def _asked_row(asked: Asked | None, lines: Sequence[LineStep]) -> dict[str, Any]:
    if asked is None:
        return {}
    return {"asked": list(asked), "grew": [[one.was, one.now] for one in lines if one.was and one.now]}


def _step_of(line: bytes | Row) -> Step | None:
    """The step of a row; None for one that somebody has spoilt."""
    row = line if isinstance(line, Mapping) else whole_record(HISTORY, line) or {}
    try:
        lines = tuple(LineStep(**one) for one in row["lines"])
        return Step(row["said"], lines, row.get("slots"), row.get("group", ""))
    except (KeyError, TypeError):
        return None


_UNDONE = {"undo": "undone", "redo": "done again"}


def step_of(track: Track, change: Change, group: str = "") -> Step:
    before = {cue.id: cue for cue in track.cues}
    lines = [LineStep.of(cue.id, before.get(cue.id), cue) for cue in change.cues]
    lines += [LineStep.of(name, before[name], None) for name in change.gone if name in before]
    slots = {"added": slot_rows(change.slots.added), "removed": slot_rows(change.slots.removed)}
    return Step(change.said, tuple(lines), None if change.slots == SlotChange() else slots, group)


def changed_track(track: Track, change: Change) -> Track:
    cues = {cue.id: cue for cue in track.cues} | {cue.id: cue for cue in change.cues}
    return track.with_cues(cue for name, cue in cues.items() if name not in change.gone)


def walked(step: Step, way: Way, track: Track, slots: Sequence[Slot]) -> Change:
    """What takes a step back, or does it again.

    Raises OutOfDate where one of its lines, or one of ``slots``, has changed otherwise since.
    """
    cues = {cue.id: cue for cue in track.cues}
    lines = [line.backwards() if way == "undo" else line for line in step.lines]
    if step.slots is None:
        moved = SlotChange()
    else:
        moved = SlotChange(tuple(slots_of(step.slots["added"])), tuple(slots_of(step.slots["removed"])))
    moved = moved.inverse if way == "undo" else moved
    there = {slot.id for slot in slots}
    stamps = {line.id: content_stamp(cues[line.id]) for line in lines if line.id in cues}
    changed = [line.id for line in lines if line.was != stamps.get(line.id)]
    changed += [slot.id for slot in moved.removed if slot.id not in there]
    changed += [slot.id for slot in moved.added if slot.id in there]
    if changed:
        said, names = step.said.rstrip("."), ", ".join(dict.fromkeys(changed))
        raise OutOfDate(
            f"“{said}” cannot be {_UNDONE[way]}: {names} has changed otherwise since.",
            "It is passed over and nothing is lost; the step before it comes next.",
        )
    after = {line.id: line.applied(cues.get(line.id), track.language) for line in lines}
    present = tuple(cue for cue in after.values() if cue is not None)
    gone = tuple(name for name, cue in after.items() if cue is None)
    said = f"{_UNDONE[way].capitalize()}: {step.said}"
    focus = present[0].id if present else None
    return Change(said, present, gone, focus, moved)
