"""Scripts that a person gives to the page: first what each would change, line by line, then what of that they
want, as one step that can be undone.

A script is kept in memory between the two, so that the page sends it once. The plan is made again from the
track as it is when it is carried out: a line that has changed meanwhile is not written over.
"""

from __future__ import annotations

import secrets
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shotad.core import Interval
from shotad.core.errors import OutdatedLine
from shotad.core.progress import printable
from shotad.review.events import Json
from shotad.review.messages import message, refusal, with_texts
from shotad.review.session import Session
from shotad.review.timeline import Change, as_saved
from shotad.script import Cue
from shotad.script.cue import Script, milliseconds
from shotad.script.edits import ImportPlan, PlannedKind, PlannedLine, plan_import, update_spoken_ends
from shotad.script.formats import parse_script
from shotad.script.newer import content_stamp
from shotad.script.track_files import read_versions

_MAX_KEPT = 4
"""Scripts that are kept: each open tab has one at most, and few people open more."""
_MAX_NAME_LENGTH = 120

_COUNT_TEXTS = {
    PlannedKind.CHANGED: "import.done.changed",
    PlannedKind.CONFLICT: "import.done.changed",
    PlannedKind.ADDED: "import.done.added",
    PlannedKind.REMOVED: "import.done.removed",
    PlannedKind.MISSING: "import.done.removed",
    PlannedKind.NOTED: "import.done.noted",
}
"""The text that counts the imported lines of a kind."""

PlannedKey = tuple[str, str, str]
"""What a person saw of a planned line: its kind, and the `content_stamp` of both versions."""


@dataclass(frozen=True, slots=True)
class _Uploaded:
    """A script that was given, and what the person saw of each line of its plan, by the line's id."""

    name: str
    script: Script
    shown: Mapping[str, PlannedKey]


class ScriptImports:
    """The scripts that were given to the page of one session. Methods may be called from any thread."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lock = threading.Lock()
        self._uploaded: dict[str, _Uploaded] = {}

    def plan(self, file_name: str, data: bytes) -> dict[str, Any]:
        """What importing a file would do, as JSON values, with the ``token`` by which `apply` knows it.

        ``file_name`` is as the browser gave it. Raises ScriptError with file and line for what cannot be
        read.
        """
        name = printable(file_name.replace("\\", "/").rpartition("/")[2])[-_MAX_NAME_LENGTH:] or "script"
        script = parse_script(data, name, language=self._session.track.language)
        self._session.refresh()
        with self._session.open():
            plan = self._plan(name, script)
        token = secrets.token_urlsafe(16)
        shown = {line.id: _key(line) for line in plan.lines}
        with self._lock:
            self._uploaded[token] = _Uploaded(name, script, shown)
            while len(self._uploaded) > _MAX_KEPT:
                # The oldest: a dict keeps the order in which keys came.
                del self._uploaded[next(iter(self._uploaded))]
        counts = Counter(line.kind.value for line in plan.lines)
        return {
            "token": token,
            "name": name,
            "unchanged": plan.unchanged,
            "counts": dict(counts),
            "lines": [_line_view(line) for line in plan.lines if line.kind is not PlannedKind.KEPT],
        }

    def apply(self, token: str, line_ids: Sequence[str], origin: str = "") -> Change:
        """Import the lines called ``line_ids`` of a plan, as one step.

        Raises ReviewError for a token that is not known any more, OutdatedLine where a line has changed since
        the person saw it; nothing is changed then.
        """
        with self._lock:
            uploaded = self._uploaded.get(token)
        if uploaded is None:
            raise refusal("import.gone")
        if not line_ids:
            raise refusal("import.none_chosen")
        change = self._session.change(lambda: self._change(uploaded, frozenset(line_ids)), origin=origin)
        with self._lock:
            self._uploaded.pop(token, None)
        return change

    def _change(self, uploaded: _Uploaded, line_ids: frozenset[str]) -> Change:
        """The change that imports these lines of a script into the track as it is now."""
        planned = {line.id: line for line in self._plan(uploaded.name, uploaded.script).lines}
        for line_id in line_ids:
            line = planned.get(line_id)
            if line is None or line.kind is PlannedKind.KEPT or _key(line) != uploaded.shown.get(line_id):
                raise with_texts(OutdatedLine, "import.outdated", line=line_id)
        chosen = [line for line in planned.values() if line.id in line_ids]
        new_cues = {line.id: line.after for line in chosen}
        cues = {cue.id: cue for cue in self._session.track.cues} | new_cues
        track = self._session.track.with_cues(cues.values())
        # Only now, with the lines that come after each of them.
        track = update_spoken_ends(track, self._slots, self._seconds_per_word)
        changed = tuple(as_saved(cue) for cue in track.cues if cue.id in new_cues)
        counts = Counter(_COUNT_TEXTS[line.kind] for line in chosen)
        changes = [message(key, count=count) for key, count in counts.items()]
        said = message("import.done", file=uploaded.name, changes=changes)
        return Change(said, changed, focus=changed[0].id)

    def _plan(self, name: str, script: Script) -> ImportPlan:
        """The plan for the track as it is; the track's lock is held."""
        return plan_import(
            self._session.track,
            script,
            name,
            slots=self._slots,
            seconds_per_word=self._seconds_per_word,
            versions=read_versions(self._session.folder),
        )

    @property
    def _slots(self) -> dict[str, Interval]:
        return {slot.id: slot.interval for slot in self._session.prepared.slots}

    @property
    def _seconds_per_word(self) -> float:
        return self._session.config.slots.seconds_per_word


def _key(line: PlannedLine) -> PlannedKey:
    before = "" if line.before is None else content_stamp(line.before)
    return line.kind.value, before, content_stamp(line.after)


def _line_view(line: PlannedLine) -> dict[str, Any]:
    """A planned line as the page shows it; ``old`` or ``new`` is None where nothing is spoken."""
    return {
        "id": line.id,
        "kind": line.kind.value,
        "wanted": line.is_wanted,
        "start": milliseconds(line.after.start) / 1000,
        "old": _version_view(line.before),
        "new": _version_view(line.after),
    }


def _version_view(cue: Cue | None) -> Json | None:
    if cue is None or not (cue.heard or cue.note):
        return None
    return {
        "start": milliseconds(cue.start) / 1000,
        "end": milliseconds(cue.end) / 1000,
        "text": cue.text if cue.heard else "",
        "note": "" if cue.note is None else cue.note.text,
    }
