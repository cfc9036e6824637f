"""A script that a person edited elsewhere comes back into the track.

Each line is merged three ways: as it was written into the script (known by its stamp), as the script
has it now, and as the track has it now. A line untouched in the script changes nothing; a line changed
in the script and not in the track becomes an edit; one that other hands changed in the track since
is a conflict, refused with both texts. Formats without stamps (SubRip, files of other programs, stamps
lost in an editor) fall back to careful guesses, said at each step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import compress

from shotad.core import EditConflict, Interval, ScriptError
from shotad.script.cue import (
    Cue,
    CueStatus,
    Edit,
    EditField,
    Script,
    ScriptCue,
    hand_id,
    is_changed,
    line_stamp,
    mark_edit,
    milliseconds,
    on_frames,
)
from shotad.script.edits import respoken
from shotad.script.track import Track


@dataclass(frozen=True, slots=True)
class Import:
    """A track with a script's edits in it, and the ids they concern.

    ``kept`` are lines that the track has otherwise than the script, and that stay as the track has them.
    """

    track: Track
    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def import_script(
    track: Track,
    script: Script,
    source: str,
    *,
    slots: Mapping[str, Interval] | None = None,
    seconds_per_word: float = 0.375,
    overwrite: bool = False,
) -> Import:
    """The track with what a person changed in a script file called ``source``.

    Lines are matched by id, then by start, then by a text that is unique, then by the time that they
    share. Lines that the script lacks are dropped, their text stays in the track; lines that only the script
    has are added. A line whose text changed and whose times did not gets a new spoken end, within its
    slot (``slots`` by id). A newer state of the same file replaces what that file brought before.
    ``overwrite`` lets the script win every conflict.

    Raises EditConflict with both texts of each line that both sides changed. Raises ScriptError for a
    line that starts beyond the film's end, or an id of the track that is used twice.
    """
    _check(track, script, source)
    pairs = _match(track, script)
    matched = {id(line) for line in pairs.values()}
    if (rate := script.frame_rate) is not None:
        # Lines keep the cues' own times wherever a file in frames shows these.
        own = {cue.id: cue.interval for cue in track.cues}
        pairs = {
            key: replace(line, interval=_exact(line.interval, own[key], rate)) for key, line in pairs.items()
        }
    current = script.stamp is not None and script.stamp == track.stamp
    merge = _Merge(script, source, slots or {}, seconds_per_word, overwrite, current)
    cues = [merge.line(cue, pairs.get(cue.id)) for cue in track.cues]
    if merge.conflicts:
        what = f"{source} and the track have both changed the same lines: {'; '.join(merge.conflicts)}."
        raise EditConflict(what, "Make them equal in either file, or import again and let the script win.")
    added: list[Cue] = []
    for line in script.cues:
        if id(line) not in matched and line.text:
            name = hand_id(line.interval.start, {cue.id for cue in (*cues, *added)})
            edit = Edit((EditField.ADDED,), source, None)
            added.append(Cue(name, None, line.interval, line.text, language=track.language, edited=edit))
    return Import(
        track.with_cues([*cues, *added]),
        tuple(merge.changed),
        tuple(cue.id for cue in added),
        tuple(merge.removed),
        tuple(merge.kept),
    )


@dataclass(slots=True)
class _Merge:
    """Decides line by line between track and script, and notes what it did."""

    script: Script
    source: str
    slots: Mapping[str, Interval]
    seconds_per_word: float
    overwrite: bool
    current: bool
    """Whether the script was written from the track as it is."""
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)

    def line(self, cue: Cue, found: ScriptCue | None) -> Cue:
        """The line as it shall be; ``found`` is the script's, None where it lacks the line."""
        if found is None or not found.text:
            return self.missing(cue)
        # Names of its times and text as they were written into the script. Without a stamp, an edited line is
        # taken to have been written before its edit.
        stamp = self.script.line_stamps.get(cue.id)
        old = cue.machine if is_changed(cue) and not self.current else None
        own = line_stamp(cue.interval, cue.text) if old is None else line_stamp(old.interval, old.text)
        old_times, _, old_text = (stamp or own).partition("-")
        # What this file had changed before counts in its newest state, also where that is the first one.
        mine = cue.edited is not None and cue.edited.source == self.source
        times, _, text = line_stamp(found.interval, found.text).partition("-")
        moved_before = mine and cue.edited is not None and EditField.TIME in cue.edited.fields
        retold = found.text != cue.text and (mine or text != old_text)
        moved = not _near(found.interval, cue.interval) and (moved_before or times != old_times)
        back = not cue.heard and (retold or moved or mine or stamp is None)
        differs = {EditField.TEXT: retold, EditField.TIME: moved, EditField.STATUS: back}
        fields = tuple(field for field, is_so in differs.items() if is_so)
        if not fields:
            if cue.heard and (cue.text, _near(cue.interval, found.interval)) != (found.text, True):
                self.kept.append(cue.id)
            return cue
        # No other hand's edit is at stake where the line is the machine's, or its edit came from this very
        # file, or what the script changes is in the track still as it was written into the script.
        times, _, text = line_stamp(cue.interval, cue.text).partition("-")
        seen = {
            EditField.TEXT: text == old_text,
            EditField.TIME: times == old_times,
            EditField.STATUS: self.current,
        }
        if not (self.is_mine(cue) or self.overwrite or all(seen[field] for field in fields)):
            texts = f"{cue.id} is {_shown(cue.interval, cue.text)} in the track"
            self.conflicts.append(f"{texts} and {_shown(found.interval, found.text)} in the script")
            return cue
        self.changed.append(cue.id)
        # A line that was not heard is heard again.
        after = replace(
            cue,
            text=found.text if retold else cue.text or found.text,
            interval=found.interval if moved else cue.interval,
            status=CueStatus.PLACED if back else cue.status,
            reason="" if back else cue.reason,
        )
        return respoken(mark_edit(after, cue, fields, self.source), self.slots, self.seconds_per_word)

    def missing(self, cue: Cue) -> Cue:
        """A line that the script lacks: deleted there, unless the script was written before the line was."""
        if not cue.heard:
            return cue
        stamps = self.script.line_stamps
        mine = self.is_mine(cue)
        seen = (
            stamps[cue.id] == line_stamp(cue.interval, cue.text) if cue.id in stamps else not stamps and mine
        )
        if not (self.current or self.overwrite or seen or (mine and cue.id in stamps)):
            self.kept.append(cue.id)
            return cue
        self.removed.append(cue.id)
        gone = replace(cue, status=CueStatus.DROPPED, reason=f"left out of {self.source}")
        return mark_edit(gone, cue, (EditField.REMOVED,), self.source)

    def is_mine(self, cue: Cue) -> bool:
        """True where nobody changed the line but through this file; who only accepted it changed nothing."""
        return not is_changed(cue) or (cue.edited is not None and cue.edited.source == self.source)


def _check(track: Track, script: Script, source: str) -> None:
    seen: dict[str, ScriptCue] = {}
    ids = {cue.id for cue in track.cues}
    for line in script.cues:
        if line.interval.start >= track.film.duration:
            raise ScriptError(
                f"{source}: {line.text!r} starts at {line.interval.start:.3f} s, but the film ends at "
                f"{track.film.duration:.3f} s.",
                "Is it the right film? Did a spreadsheet take the decimal point for thousands?",
            )
        if line.id is None or line.id not in ids:
            continue
        if line.id in seen:
            what = f"{source}: two lines have the id {line.id}: {seen[line.id].text!r} and {line.text!r}."
            raise ScriptError(what, "Take the id away from the new one.")
        seen[line.id] = line


def _match(track: Track, script: Script) -> dict[str, ScriptCue]:
    """Which script line belongs to which cue: by id, start to 1 ms, text, or most of its time, where unique.

    Starts are compared as the script shows them, to a frame where it counts in frames.
    """
    ids = {cue.id for cue in track.cues}
    pairs = {line.id: line for line in script.cues if line.id is not None and line.id in ids}
    rest = [line for line in script.cues if line.id not in ids]
    for by_text in (False, True):
        free = [cue for cue in track.cues if cue.id not in pairs and cue.heard]
        for line in list(rest):
            if by_text:
                fits = [cue for cue in free if cue.text == line.text]
            else:
                at, rate = milliseconds(line.interval.start), script.frame_rate
                starts = [on_frames(cue.interval, rate).start if rate else cue.start for cue in free]
                near = (abs(milliseconds(start) - at) <= 1 for start in starts)
                fits = list(compress(free, near))
            if len(fits) == 1:
                pairs[fits[0].id] = line
                free.remove(fits[0])
                rest.remove(line)
    # Those that have most of the shorter one's time in common, and with no other.
    sharing = [
        (cue, line)
        for line in rest
        for cue in track.cues
        if line.text and cue.id not in pairs and cue.heard
        if (shared := cue.interval.clip(line.interval)) is not None
        and shared.duration * 2 > min(cue.interval.duration, line.interval.duration)
    ]
    of_cue = Counter(cue.id for cue, _ in sharing)
    of_line = Counter(id(line) for _, line in sharing)
    return pairs | {cue.id: line for cue, line in sharing if of_cue[cue.id] == of_line[id(line)] == 1}


def _exact(found: Interval, own: Interval, frame_rate: Fraction) -> Interval:
    shown = on_frames(own, frame_rate)
    start = own.start if milliseconds(found.start) == milliseconds(shown.start) else found.start
    end = own.end if milliseconds(found.end) == milliseconds(shown.end) else found.end
    return Interval(start, end) if start < end else found


def _near(one: Interval, other: Interval) -> bool:
    """Equal to 1 ms: scripts round, and WebVTT moves a cue at 0.000 by that much."""
    ends = ((one.start, other.start), (one.end, other.end))
    return all(abs(milliseconds(a) - milliseconds(b)) <= 1 for a, b in ends)


def _shown(interval: Interval, text: str) -> str:
    return f"{text!r} at {interval}"
