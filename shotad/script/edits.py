"""Merge people's edits: into the track of a later run, and from an edited script back into the track.

A machine never overwrites a person: an edited line stays, and the machine's new version is kept beside it
(`Edit.machine`, `Cue.candidates`). The same holds for a line that a person had described again
(`with_redone_lines`). `shotad.script.track` detects the edits.

`import_script` reads a script that a person edited elsewhere. It merges each line three ways: as it was
written into the script (known by its stamp), as the script has it now, and as the track has it now. A line
unchanged in the script changes nothing. One changed in the script and not in the track becomes an edit. One
that was changed in the track by other means since is a conflict, refused with both texts. Where there are no
stamps (SubRip, files of other programs), `_stamps_as_written` finds out from the earlier versions of edited
lines (`LineVersions`) from which of them the script was written.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction

import numpy as np

from shotad.core import Interval
from shotad.core.errors import (
    EditConflict,
    ScriptError,
    quoted,
)
from shotad.core.progress import plural
from shotad.core.types import time_range
from shotad.script.cue import (
    REDO,
    Cue,
    CueStatus,
    Edit,
    EditField,
    LineNote,
    LineState,
    Script,
    ScriptCue,
    hand_ids,
    is_changed,
    line_stamp,
    mark_edit,
    milliseconds,
    on_frames,
    one_line,
    spoken_interval,
    timecode,
)
from shotad.script.pace import spoken_words
from shotad.script.reasons import in_english, reason_in
from shotad.script.subtitle_formats import without_added_markup
from shotad.script.track import Track


@dataclass(frozen=True, slots=True)
class MergeResult:
    """A new run's track, merged with people's edits.

    ``kept``: ids of edited lines; ``dropped``: ids of new lines left out because a person's line has their
    time; ``lapsed``: names of reviewers whose review no longer holds, because a spoken line changed.
    """

    track: Track
    kept: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    lapsed: tuple[str, ...] = ()
    lost_notes: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences for the user: new lines that were left out, reviews that no longer hold."""
        sentences: list[str] = []
        if self.dropped:
            sentences.append(f"{len(self.dropped)} new lines left out, for a person's line has their time.")
        if self.lapsed:
            sentences.append(f"Lines changed since the review by {', '.join(self.lapsed)}: review again.")
        for note in self.lost_notes:
            sentences.append(f"A note has no line any more: {quoted(note)}.")
        return tuple(sentences)


def merge_edits(
    previous: Track | None, new: Track, *, covered: Interval | None = None, discard_edits: bool = False
) -> MergeResult:
    """The track ``new`` of a machine run, with the edits of ``previous``, the track as people left it.

    - An edited line stays as it is; the machine's new version goes into its edit and candidates.
    - An edited line whose slot no longer exists stays too, and so does one that a person added or removed.
    - A new line that overlaps a person's spoken line, or of which at least half overlaps one that a person
      removed, is dropped, with the reason.
    - ``covered`` (None: the whole film) is the part that ``new`` describes; lines elsewhere stay.
    - ``discard_edits`` first restores the machine's version of every line of ``previous``.

    Raises EditConflict if ``previous`` belongs to another film and holds edits.
    """
    if previous is None or _is_other_film(previous, new, discard_edits=discard_edits):
        return MergeResult(new)
    if discard_edits:
        previous = without_edits(previous)
    new = _with_voices_and_notes_of(previous, new)
    new_cues = {cue.id: cue for cue in new.cues}
    edited = {
        cue.id: _with_machine_version(cue, new_cues.get(cue.id))
        for cue in previous.cues
        if cue.edited is not None
    }
    lines: list[Cue] = []
    dropped: list[str] = []
    for cue in new.cues:
        if cue.id in edited:
            lines.append(edited[cue.id])
            continue
        owner = _owner_of_time(cue, edited.values())
        if owner is None:
            lines.append(cue)
        else:
            reason = in_english("reason.time_taken", id=owner.id)
            lines.append(replace(cue, status=CueStatus.DROPPED, reason=reason_in(reason, cue.language)))
            dropped.append(cue.id)
    # Edited lines for which the new run has no slot stay.
    lines += [cue for cue_id, cue in edited.items() if cue_id not in new_cues]
    if covered is not None:
        for cue in previous.cues:
            is_outside = not covered.contains(cue.interval.start)
            if is_outside and cue.id not in new_cues and cue.id not in edited:
                lines.append(cue)
    line_ids = {cue.id for cue in lines}
    lost_notes = [cue.note.text for cue in previous.cues if cue.note and cue.id not in line_ids]
    track, lapsed = _with_makers_and_reviewers(new.with_cues(lines), previous)
    return MergeResult(track, tuple(edited), tuple(dropped), lapsed, tuple(lost_notes))


def _with_voices_and_notes_of(previous: Track, new: Track) -> Track:
    """``new``, where each line has the note of ``previous``, and one that is still the same has its take
    (`Cue.stored_take`)."""
    old_cues = {cue.id: cue for cue in previous.cues}
    cues: list[Cue] = []
    for cue in new.cues:
        old = old_cues.get(cue.id)
        if old is None:
            cues.append(cue)
            continue
        with_note = replace(cue, note=old.note)
        with_take = replace(with_note, stored_take=old.stored_take)
        cues.append(with_take if with_take.spoken else with_note)
    return new.with_cues(cues)


def with_redone_lines(track: Track, fresh: Sequence[Cue]) -> MergeResult:
    """The track with the lines ``fresh``, described again, in place of those with the same ids.

    Each is the machine's line, but a person's choice: later runs keep it. The line before it stays among its
    candidates, and the machine's version in its edit as it was. Raises KeyError for a line that the track
    does not have.
    """
    old_cues = {cue.id: cue for cue in track.cues}
    replacements: dict[str, Cue] = {}
    for cue in fresh:
        old = old_cues[cue.id]
        old_texts = [*old.candidates, old.text] if old.text else [*old.candidates]
        # A dict keeps each text once, in order.
        earlier = tuple(text for text in dict.fromkeys(old_texts) if text not in cue.candidates)
        fields: tuple[EditField, ...] = (EditField.TEXT,)
        if old.machine is not None and old.machine.status.heard != cue.heard:
            fields = (EditField.TEXT, EditField.STATUS)
        edit = Edit(fields, REDO, old.machine)
        replacements[cue.id] = replace(cue, candidates=cue.candidates + earlier, edited=edit, note=old.note)
    with_replacements = track.with_cues(replacements.get(cue.id, cue) for cue in track.cues)
    changed, lapsed = _with_makers_and_reviewers(with_replacements, track)
    return MergeResult(changed, kept=tuple(replacements), lapsed=lapsed)


def is_by_hand(cue: Cue) -> bool:
    """Whether a person changed the line, other than by having it described again, or accepted it."""
    if cue.edited is None:
        return False
    return cue.edited.source != REDO or cue.state is LineState.ACCEPTED


def update_spoken_ends(track: Track, slots: Mapping[str, Interval], seconds_per_word: float) -> Track:
    """The track with a new spoken end for each line whose text a person changed, but not its times.

    The end stays within the line's slot (``slots`` by id; without one, within the line's own time) and
    before the next spoken line. A line that somebody accepted stays as they read it.
    """
    spoken_starts = [cue.interval.start for cue in track.heard]
    cues: list[Cue] = []
    for cue in track.cues:
        position = bisect_right(spoken_starts, cue.interval.start)
        next_start = spoken_starts[position] if position < len(spoken_starts) else None
        cues.append(with_spoken_end(cue, slots, seconds_per_word, until=next_start))
    return replace(track, cues=tuple(cues))


def with_spoken_end(
    cue: Cue, slots: Mapping[str, Interval], seconds_per_word: float, *, until: float | None = None
) -> Cue:
    """As `update_spoken_ends`, for one line; ``until`` is the second at which the next spoken line starts."""
    fields = cue.edited.fields if cue.edited is not None else ()
    if EditField.TEXT not in fields or EditField.TIME in fields or EditField.ADDED in fields:
        return cue
    if cue.review is not None:
        return cue
    limit = slots.get(cue.slot_id or "", cue.interval).end
    if until is not None:
        limit = min(limit, until)
    words = spoken_words(cue.text, cue.language)
    # A cue must last 1 ms or more, also where the next line starts with it.
    available = Interval(cue.interval.start, max(limit, cue.interval.start + 0.001))
    return replace(
        cue,
        interval=spoken_interval(available, words, seconds_per_word),
        spoken_length=words * seconds_per_word,
    )


def without_edits(track: Track) -> Track:
    """The track with the machine's version of each edited line, without lines that a person added and
    without notes."""
    machine_cues = map(machine_version, track.cues)
    return track.with_cues(replace(cue, note=None) for cue in machine_cues if cue is not None)


def machine_version(cue: Cue) -> Cue | None:
    """The line in the machine's version, accepted by nobody; None where no machine wrote it."""
    cue = replace(cue, accepted=None)
    if cue.edited is None:
        return cue
    machine = cue.edited.machine
    if machine is None:
        return None
    restored = replace(
        cue,
        interval=machine.interval,
        text=machine.text,
        status=machine.status,
        reason=machine.reason,
        edited=None,
        voice="",
        pace=1.0,
        stored_recording=None,
    )
    if machine.text == cue.text:
        return restored
    # The fields that described the person's text are set for the machine's, as far as they are known.
    provenance = None if _is_persons_choice(cue) else cue.provenance
    return replace(
        restored,
        chosen=cue.candidates.index(machine.text) if machine.text in cue.candidates else None,
        provenance=provenance,
        spoken_length=machine.interval.duration if machine.status.heard else None,
        fit_steps=(),
        seen_from=cue.seen_from if provenance is not None else None,
    )


def _is_other_film(previous: Track, new: Track, *, discard_edits: bool) -> bool:
    """Whether the tracks belong to different films; raises EditConflict if edits would be lost by it."""
    if previous.film.fingerprint == new.film.fingerprint:
        return False
    edits = sum(cue.edited is not None for cue in previous.cues)
    if edits and not discard_edits:
        raise EditConflict(
            f"The track on disk has {edits} edits for {quoted(previous.film.name)}, which is another film "
            f"than {quoted(new.film.name)}.",
            "Use another work folder, or throw the edits away: shotad describe --discard-edits.",
        )
    return True


def _with_machine_version(cue: Cue, new: Cue | None) -> Cue:
    """The edited line ``cue`` with the machine's new version in its edit and candidates.

    ``new`` is the line of the new run with the same id (None: it has none, and ``cue`` stays as it is). A
    removed line without a text takes the new one, to show what it dropped.
    """
    if cue.edited is None or new is None:
        return cue
    new_candidates = new.candidates or ((new.text,) if new.text else ())
    older_candidates = tuple(text for text in cue.candidates if text not in new_candidates)
    candidates = new_candidates + older_candidates
    chosen = None if cue.chosen is None else candidates.index(cue.candidates[cue.chosen])
    machine_text = cue.machine.text if cue.machine is not None else None
    is_blank = EditField.REMOVED in cue.edited.fields and not cue.text
    # The line has the text that the machine writes now, or a person changed it from that.
    describes_the_same = is_blank or new.text in (cue.text, machine_text)
    # It has a text that the machine wrote earlier and would not write now: it was accepted or only moved.
    is_earlier_text = cue.text == machine_text != new.text
    keeps_provenance = _is_persons_choice(cue) or is_earlier_text
    return replace(
        cue,
        edited=Edit(cue.edited.fields, cue.edited.source, new.machine),
        slot_id=new.slot_id,
        text=new.text if is_blank else cue.text,
        candidates=candidates,
        chosen=chosen,
        provenance=cue.provenance if keeps_provenance else new.provenance,
        seen_from=new.seen_from if describes_the_same else cue.seen_from,
        stored_doubt=new.stored_doubt if is_blank or new.text == cue.text else cue.stored_doubt,
        translation=new.translation,
    )


def _is_persons_choice(cue: Cue) -> bool:
    """Whether a person keeps a line that the machine wrote in another run than the last one.

    Such a line was described again, perhaps moved by hand afterwards: its text is still the chosen
    candidate, and not the machine's text of the last run.
    """
    if cue.edited is None:
        return False
    if cue.edited.source == REDO:
        return True
    machine = cue.edited.machine
    is_chosen_text = cue.chosen is not None and cue.text == cue.candidates[cue.chosen]
    return is_chosen_text and machine is not None and cue.text != machine.text


def _with_makers_and_reviewers(track: Track, before: Track) -> tuple[Track, tuple[str, ...]]:
    """The track with its makers and reviewers, and the reviewers of ``before`` whose review lapsed.

    Makers of lines that a person kept from other runs are added. The reviewers of ``before`` stay only if
    nothing that is spoken has changed since.
    """
    makers = list(track.makers)
    for cue in track.heard:
        if _is_persons_choice(cue) and cue.provenance is not None:
            makers += cue.provenance.makers
    each_once = tuple(dict.fromkeys(makers))
    if track.stamp != before.stamp:
        return replace(track, makers=each_once, reviewed_by=()), before.reviewed_by
    return replace(track, makers=each_once, reviewed_by=before.reviewed_by), ()


def _owner_of_time(cue: Cue, edited: Iterable[Cue]) -> Cue | None:
    """The first of the ``edited`` lines that overlaps ``cue``, or None; see `merge_edits` for removed
    ones.
    """
    if not cue.heard:
        return None
    for owner in edited:
        overlap = cue.interval.clip(owner.interval)
        if overlap is None:
            continue
        if owner.heard or overlap.duration * 2 >= cue.interval.duration:
            return owner
    return None


@dataclass(frozen=True, slots=True)
class Import:
    """A track with the edits of a script, and the ids of the lines concerned.

    ``kept`` are lines that differ between track and script and stay as the track has them. ``missing`` are
    those of ``removed`` that the script does not list at all: a person deleted them there, or the script is
    only a part. ``noted`` are lines with a new note to a colleague.
    """

    track: Track
    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    noted: tuple[str, ...] = ()


LineVersions = Mapping[str, Sequence[tuple[int, str]]]
"""Of each edited line, by its id, the `line_stamp` of each version that was written into scripts, oldest
first, and a number that counts the times at which scripts were written: equal numbers were written together.
"""

_MISSING_SHOWN = 5
"""Lines that a message lists where a script lacks more of them."""


def missing_lines(track: Track, result: Import, source: str) -> str:
    """A sentence with the lines of ``track`` that the script ``source`` lacks and the import removes."""
    cues = {cue.id: cue for cue in track.cues}
    lines = [cues[cue_id] for cue_id in result.missing]
    listed = [f"{cue.id} at {timecode(cue.start)} {quoted(cue.text)}" for cue in lines[:_MISSING_SHOWN]]
    others = f" and {plural(len(lines) - _MISSING_SHOWN, 'other')}" if len(lines) > _MISSING_SHOWN else ""
    by_people = sum(cue.state is not LineState.MACHINE for cue in lines)
    people = f", {by_people} of them edited or accepted by a person" if by_people else ""
    return (
        f"{source} lacks {plural(len(lines), 'line')} of {len(track.heard)} that the track has{people}: "
        f"{'; '.join(listed)}{others}."
    )


def import_script(
    track: Track,
    script: Script,
    source: str,
    *,
    slots: Mapping[str, Interval] | None = None,
    seconds_per_word: float = 0.375,
    overwrite: bool = False,
    versions: LineVersions | None = None,
) -> Import:
    """The track with what a person changed in the script file called ``source``.

    Lines are matched by id, then by start, then by a text that is unique, then by overlap. Lines that the
    script lacks are dropped, though their text stays in the track; lines that only the script has are added.
    A line whose text changed, but not its times, gets a new spoken end within its slot (``slots`` by id). A
    newer version of the same file replaces the edits of the version before. ``overwrite`` lets the script
    win every conflict. ``versions`` are the earlier versions of edited lines: by them import finds out what a
    script without stamps was written from.

    Raises EditConflict with both texts of each line that both sides changed. Raises ScriptError for a
    line that starts beyond the film's end, an id of the track that is used twice, or a script without lines.
    """
    plan = plan_import(
        track,
        script,
        source,
        slots=slots,
        seconds_per_word=seconds_per_word,
        overwrite=overwrite,
        versions=versions,
    )
    plan.refuse_conflicts(source)
    return plan.result


class PlannedKind(StrEnum):
    """What an import would do to a line.

    ``conflict``: both sides changed it. ``missing``: the script does not list it, perhaps because it is only
    a part; ``removed``: the script lists it without words. ``kept``: the track's line is newer than that of
    the script.
    """

    ADDED = "added"
    CHANGED = "changed"
    CONFLICT = "conflict"
    REMOVED = "removed"
    MISSING = "missing"
    NOTED = "noted"
    KEPT = "kept"


@dataclass(frozen=True, slots=True)
class PlannedLine:
    """A line that is not the same in script and track: as the track has it, and as the import makes it.

    ``before`` is None for a line that only the script has. Of a line that is kept, ``after`` is ``before``.
    """

    kind: PlannedKind
    before: Cue | None
    after: Cue

    @property
    def id(self) -> str:
        return self.after.id

    @property
    def is_wanted(self) -> bool:
        """Whether it is done unless a person says otherwise: nothing of theirs is lost by it."""
        return self.kind in (PlannedKind.ADDED, PlannedKind.CHANGED, PlannedKind.REMOVED, PlannedKind.NOTED)


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What an import would do, line by line.

    ``lines`` are in the order of the film; ``unchanged`` counts the spoken lines that are the same on both
    sides. ``result`` is the import if all of it is done, conflicts as the script has them. ``conflicts`` are
    sentences with both texts.
    """

    result: Import
    lines: tuple[PlannedLine, ...]
    unchanged: int
    conflicts: tuple[str, ...] = ()

    def refuse_conflicts(self, source: str) -> None:
        """Raise EditConflict, with both texts, where both sides changed a line; ``source`` is the script."""
        if not self.conflicts:
            return
        message = f"{source} and the track have both changed the same lines: {'; '.join(self.conflicts)}."
        raise EditConflict(message, "Make them equal in either file, or import again and let the script win.")


def plan_import(
    track: Track,
    script: Script,
    source: str,
    *,
    slots: Mapping[str, Interval] | None = None,
    seconds_per_word: float = 0.375,
    overwrite: bool = False,
    versions: LineVersions | None = None,
) -> ImportPlan:
    """What `import_script` would do with the same arguments, before it is done.

    Raises ScriptError as `import_script`; conflicts are part of the plan.
    """
    _check_script(track, script, source)
    versions = versions or {}
    pairs = _match(track, script)
    # By identity: two lines of a script may be equal. Below some are replaced, so this comes first.
    matched = {id(line) for line in pairs.values()}
    if script.frame_rate is not None:
        intervals = {cue.id: cue.interval for cue in track.cues}
        for cue_id, line in pairs.items():
            exact = _with_exact_times(line.interval, intervals[cue_id], script.frame_rate)
            pairs[cue_id] = replace(line, interval=exact)
    is_current = script.stamp is not None and script.stamp == track.stamp
    written = {} if is_current or script.line_stamps else _stamps_as_written(track, pairs, versions)
    merge = _Merge(
        script, source, slots or {}, seconds_per_word, overwrite, is_current, written, frozenset(versions)
    )
    cues = [merge.line(cue, pairs.get(cue.id)) for cue in track.cues]
    new_lines = [line for line in script.cues if id(line) not in matched and line.text]
    new_ids = hand_ids([line.interval.start for line in new_lines], {cue.id for cue in cues})
    added: list[Cue] = []
    for line, cue_id in zip(new_lines, new_ids, strict=True):
        edit = Edit((EditField.ADDED,), source, None)
        note = LineNote.of(line.note)
        added.append(
            Cue(cue_id, None, line.interval, line.text, language=track.language, edited=edit, note=note)
        )
    cues, noted = _with_notes_of_script(cues, pairs)
    result = Import(
        track.with_cues([*cues, *added]),
        changed=tuple(merge.changed),
        added=tuple(new_ids),
        removed=tuple(merge.removed),
        kept=tuple(merge.kept),
        missing=tuple(merge.not_listed),
        noted=tuple(noted),
    )
    lines = _planned_lines(track, result, merge.conflicts)
    differing = {line.id for line in lines if line.kind is not PlannedKind.NOTED}
    unchanged = sum(cue.id not in differing for cue in track.heard)
    return ImportPlan(result, lines, unchanged, tuple(merge.conflicts.values()))


def _planned_lines(track: Track, result: Import, conflicts: Container[str]) -> tuple[PlannedLine, ...]:
    """The lines that ``result`` changes, or keeps although the script has another, with what happens to
    each."""
    # The first that fits.
    ids_by_kind = (
        (PlannedKind.ADDED, frozenset(result.added)),
        (PlannedKind.MISSING, frozenset(result.missing)),
        (PlannedKind.REMOVED, frozenset(result.removed)),
        (PlannedKind.CHANGED, frozenset(result.changed)),
        (PlannedKind.NOTED, frozenset(result.noted)),
        (PlannedKind.KEPT, frozenset(result.kept)),
    )
    before = {cue.id: cue for cue in track.cues}
    lines: list[PlannedLine] = []
    for cue in result.track.cues:
        kind = next((kind for kind, ids in ids_by_kind if cue.id in ids), None)
        if kind is not None:
            kind = PlannedKind.CONFLICT if cue.id in conflicts else kind
            lines.append(PlannedLine(kind, before.get(cue.id), cue))
    return tuple(lines)


def _with_notes_of_script(cues: list[Cue], pairs: Mapping[str, ScriptCue]) -> tuple[list[Cue], list[str]]:
    """The lines with the notes of a script, and the ids of those with a new one.

    A note that the track has stays, for the script does not say whether it is older: one with other words is
    added to it. An empty cell removes none.
    """
    with_notes: list[Cue] = []
    noted: list[str] = []
    for cue in cues:
        line = pairs.get(cue.id)
        note = None if line is None else LineNote.of(line.note)
        if note is not None and cue.note is not None:
            note = note if note.text in cue.note.text else cue.note.joined(note)
        if note is None or (cue.note is not None and note.text in cue.note.text):
            with_notes.append(cue)
        else:
            with_notes.append(replace(cue, note=note))
            noted.append(cue.id)
    return with_notes, noted


@dataclass(slots=True)
class _Merge:
    """Merges line by line, and collects the ids of the lines it changed, removed or kept."""

    script: Script
    source: str
    slots: Mapping[str, Interval]
    seconds_per_word: float
    overwrite: bool
    is_current: bool
    """Whether the script was written from the track as it is now."""
    written: Mapping[str, tuple[str, ...]]
    """Of a script without stamps: the `line_stamp` of each edited line as it was written, as far as that is
    known; several where it may have been any of them."""
    written_ids: frozenset[str]
    """The ids of lines that stood in a script after a person had edited them."""
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    not_listed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    conflicts: dict[str, str] = field(default_factory=dict)
    """A sentence with both texts of each line that both sides changed, by its id."""

    def line(self, cue: Cue, script_cue: ScriptCue | None) -> Cue:
        """The merged line; ``script_cue`` is the same line in the script, None where it has none."""
        if script_cue is not None:
            script_cue = replace(script_cue, text=without_added_markup(script_cue.text, cue.text))
        if script_cue is None or not script_cue.text:
            # A match by time alone may be another line, whose text stands somewhere else in the script.
            is_same_line = script_cue is not None and script_cue.id == cue.id
            return self.missing(cue, is_emptied=is_same_line and self.script.is_proven)
        # Stamps of the times and the text that were written into the script.
        stamp = self.script.line_stamps.get(cue.id)
        current = line_stamp(cue.interval, cue.text)
        stamps_written = (stamp,) if stamp else self.written.get(cue.id, (current,))
        times_written = {stamp.partition("-")[0] for stamp in stamps_written}
        texts_written = {stamp.partition("-")[2] for stamp in stamps_written}
        script_times, _, script_text = line_stamp(script_cue.interval, script_cue.text).partition("-")
        # An edit that came from this file follows the file's newest version, also where that version has the
        # line as it was first written.
        edited_here = cue.edited is not None and cue.edited.source == self.source
        moved_here = edited_here and cue.edited is not None and EditField.TIME in cue.edited.fields
        has_other_text = one_line(script_cue.text) != one_line(cue.text)
        is_reworded = has_other_text and (edited_here or script_text not in texts_written)
        has_other_times = not _is_same_to_1_ms(script_cue.interval, cue.interval)
        is_moved = has_other_times and (moved_here or script_times not in times_written)
        # A line that is not spoken, but stands in the script, is restored.
        is_restored = not cue.heard and (is_reworded or is_moved or edited_here or stamp is None)
        changes = {
            EditField.TEXT: is_reworded,
            EditField.TIME: is_moved,
            EditField.STATUS: is_restored,
        }
        fields = tuple(field for field, is_different in changes.items() if is_different)
        if not fields:
            if cue.heard and (has_other_text or has_other_times):
                self.kept.append(cue.id)
            return cue
        # The script may change the line if that loses no edit made elsewhere: the line is the machine's, or
        # its edit came from this file, or the track has these fields unchanged since the script was written.
        track_times, _, track_text = current.partition("-")
        as_written = {
            EditField.TEXT: texts_written == {track_text},
            EditField.TIME: times_written == {track_times},
            EditField.STATUS: self.is_current,
        }
        is_safe = self.overwrite or self.only_edited_here(cue) or all(as_written[field] for field in fields)
        if not is_safe:
            in_track = f"{cue.id} is {_line_and_times(cue.interval, cue.text)} in the track"
            in_script = f"{_line_and_times(script_cue.interval, script_cue.text)} in the script"
            self.conflicts[cue.id] = f"{in_track} and {in_script}"
        self.changed.append(cue.id)
        merged = replace(
            cue,
            text=script_cue.text if is_reworded else cue.text or script_cue.text,
            interval=script_cue.interval if is_moved else cue.interval,
            status=CueStatus.PLACED if is_restored else cue.status,
            reason="" if is_restored else cue.reason,
        )
        return with_spoken_end(mark_edit(merged, cue, fields, self.source), self.slots, self.seconds_per_word)

    def missing(self, cue: Cue, *, is_emptied: bool) -> Cue:
        """A line that the script lacks: removed, unless the script was written before the line was.

        ``is_emptied``: a person deleted its text. This is unknown for a file that may have been cut off.
        """
        if not cue.heard:
            return cue
        stamps = self.script.line_stamps
        only_edited_here = self.only_edited_here(cue)
        if cue.id in stamps:
            is_deleted = only_edited_here or stamps[cue.id] == line_stamp(cue.interval, cue.text)
        else:
            # A script with stamps, but none for this line, never had it. One without any may have had it.
            is_deleted = not stamps and (only_edited_here or self.may_have_had(cue))
        if not (self.is_current or self.overwrite or is_deleted):
            self.kept.append(cue.id)
            return cue
        self.removed.append(cue.id)
        if not is_emptied:
            self.not_listed.append(cue.id)
        reason = reason_in(in_english("reason.left_out", source=self.source), cue.language)
        removed = replace(cue, status=CueStatus.DROPPED, reason=reason)
        return mark_edit(removed, cue, (EditField.REMOVED,), self.source)

    def may_have_had(self, cue: Cue) -> bool:
        """Whether a script without stamps may have had this line when it was written."""
        machine = cue.machine
        return cue.id in self.written_ids or (machine is not None and machine.status.heard)

    def only_edited_here(self, cue: Cue) -> bool:
        """Whether nobody changed the line other than through this file; accepting it is no change."""
        return not is_changed(cue) or (cue.edited is not None and cue.edited.source == self.source)


def _stamps_as_written(
    track: Track, pairs: Mapping[str, ScriptCue], versions: LineVersions
) -> dict[str, tuple[str, ...]]:
    """The `line_stamp` of each edited line as it was when a script without stamps was written.

    A script was written from all lines as they were at one time: before any edit, when ``versions`` says that
    scripts were written, or now. It is the time at which most texts and times of edited lines were as the
    script has them; where several times agree with it as well, a line has a stamp for each of them.
    """
    edited = [cue for cue in track.cues if is_changed(cue) and cue.id in pairs]
    texts = {cue.id: cue.text for cue in edited}
    moments: list[int | None] = [0]
    moments += sorted({number for cue in edited for number, _ in versions.get(cue.id, ())})
    # Now: the versions that were written last may be older.
    moments.append(None)
    stamps: dict[int | None, dict[str, str]] = {}
    scores: dict[int | None, int] = {}
    for moment in moments:
        stamps[moment] = {cue.id: _stamp_at(cue, moment, versions.get(cue.id, ())) for cue in edited}
        scores[moment] = 0
        for cue_id, stamp in stamps[moment].items():
            line = pairs[cue_id]
            script_text = without_added_markup(line.text, texts[cue_id])
            times, _, text = line_stamp(line.interval, script_text).partition("-")
            times_then, _, text_then = stamp.partition("-")
            scores[moment] += (times == times_then) + (text == text_then)
    best = max(scores.values())
    stamps_of_best = [stamps[moment] for moment in moments if scores[moment] == best]
    return {
        cue.id: tuple(dict.fromkeys(stamps_then[cue.id] for stamps_then in stamps_of_best)) for cue in edited
    }


def _stamp_at(cue: Cue, moment: int | None, versions: Sequence[tuple[int, str]]) -> str:
    """The `line_stamp` of an edited line at a time in the count of `LineVersions`; None: now."""
    if moment is None:
        return line_stamp(cue.interval, cue.text)
    earlier = [stamp for number, stamp in versions if number <= moment]
    if earlier:
        return earlier[-1]
    # Before its first edit; a person's own line was always theirs.
    machine = cue.machine
    return (
        line_stamp(cue.interval, cue.text) if machine is None else line_stamp(machine.interval, machine.text)
    )


def with_lines_of(track: Track, script: Script, source: str) -> Track:
    """``track``, which has no lines, with the lines of a script as a person's edits: restores a lost track.

    Lines of slots keep their ids: the next run merges the machine's new lines by them.
    """
    lines = [line for line in script.cues if line.text]
    script_ids = {line.id for line in lines if line.id}
    new_ids = hand_ids([line.interval.start for line in lines], script_ids)
    used_ids: set[str] = set()
    cues: list[Cue] = []
    for line, new_id in zip(lines, new_ids, strict=True):
        # An id that stands twice in the script belongs to the first line that has it.
        keeps_id = bool(line.id) and line.id not in used_ids
        cue_id = line.id if line.id and keeps_id else new_id
        used_ids.add(cue_id)
        slot_id = cue_id if keeps_id and cue_id.startswith("s") else None
        change = EditField.ADDED if slot_id is None else EditField.TEXT
        edit = Edit((change,), source, None)
        note = LineNote.of(line.note)
        cues.append(
            Cue(cue_id, slot_id, line.interval, line.text, language=track.language, edited=edit, note=note)
        )
    return track.with_cues(cues)


def _check_script(track: Track, script: Script, source: str) -> None:
    """Raise ScriptError for the reasons given in `import_script`."""
    if not script.cues and track.heard:
        message = f"{source} holds no line, and the track has {len(track.heard)}: nothing is imported."
        raise ScriptError(message, "Was it cut off when it was saved? Export the script again.")
    line_of_id: dict[str, ScriptCue] = {}
    ids = {cue.id for cue in track.cues}
    for line in script.cues:
        if line.interval.start >= track.film.duration:
            raise ScriptError(
                f"{source}: {quoted(line.text)} starts at {line.interval.start:.3f} s, but the film ends at "
                f"{track.film.duration:.3f} s.",
                "Is it the right film? Did a spreadsheet take the decimal point for thousands?",
            )
        if line.id is None or line.id not in ids:
            continue
        if line.id in line_of_id:
            texts = f"{quoted(line_of_id[line.id].text)} and {quoted(line.text)}"
            message = f"{source}: two lines have the id {line.id}: {texts}."
            raise ScriptError(message, "Take the id away from the new one.")
        line_of_id[line.id] = line


def _match(track: Track, script: Script) -> dict[str, ScriptCue]:
    """The script line of each cue that has one, by cue id.

    The surest match goes first: by id, then by start (to 1 ms, or to a frame where the script counts in
    frames), then by text, then by overlap. Each of the last three must be unique.
    """
    ids = {cue.id for cue in track.cues}
    pairs = {line.id: line for line in script.cues if line.id is not None and line.id in ids}
    unmatched = [line for line in script.cues if line.id not in ids]
    unmatched = _match_by_start(track, unmatched, pairs, script.frame_rate)
    unmatched = _match_by_text(track, unmatched, pairs)
    _match_by_overlap(track, unmatched, pairs)
    return pairs


def _unmatched_cues(track: Track, pairs: Mapping[str, ScriptCue]) -> list[Cue]:
    """The spoken lines of the track that are not in ``pairs`` yet."""
    return [cue for cue in track.cues if cue.id not in pairs and cue.heard]


def _match_by_start(
    track: Track, lines: Sequence[ScriptCue], pairs: dict[str, ScriptCue], frame_rate: Fraction | None
) -> list[ScriptCue]:
    """Add lines to ``pairs`` that start with exactly one cue, to 1 ms; returns the other lines."""
    cues_at: dict[int, list[Cue]] = {}
    for cue in _unmatched_cues(track, pairs):
        start = on_frames(cue.interval, frame_rate).start if frame_rate else cue.start
        cues_at.setdefault(milliseconds(start), []).append(cue)
    unmatched: list[ScriptCue] = []
    for line in lines:
        line_start = milliseconds(line.interval.start)
        matches: list[tuple[int, Cue]] = []
        for start_of_cue in (line_start - 1, line_start, line_start + 1):
            matches += [(start_of_cue, cue) for cue in cues_at.get(start_of_cue, ())]
        if len(matches) == 1:
            start_of_cue, cue = matches[0]
            pairs[cue.id] = line
            cues_at[start_of_cue].remove(cue)
        else:
            unmatched.append(line)
    return unmatched


def _match_by_text(track: Track, lines: Sequence[ScriptCue], pairs: dict[str, ScriptCue]) -> list[ScriptCue]:
    """Add lines to ``pairs`` that have the text of exactly one cue; returns the other lines."""
    cues_of_text: dict[str, list[Cue]] = {}
    for cue in _unmatched_cues(track, pairs):
        cues_of_text.setdefault(one_line(cue.text), []).append(cue)
    unmatched: list[ScriptCue] = []
    for line in lines:
        matches = cues_of_text.get(one_line(line.text), [])
        if len(matches) == 1:
            # Taken out, so that a second line with this text finds no cue.
            cue = matches.pop()
            pairs[cue.id] = line
        else:
            unmatched.append(line)
    return unmatched


def _match_by_overlap(track: Track, lines: Sequence[ScriptCue], pairs: dict[str, ScriptCue]) -> None:
    """Add lines to ``pairs`` that overlap exactly one cue, which overlaps no other line.

    An overlap counts if it is over half of the shorter of the two.
    """
    cues = _unmatched_cues(track, pairs)
    starts = np.array([cue.start for cue in cues])
    ends = np.array([cue.end for cue in cues])
    lines_of_cue = np.zeros(len(cues), int)
    candidates: list[tuple[int, ScriptCue]] = []
    for line in lines:
        if not line.text:
            continue
        overlap = np.minimum(ends, line.interval.end) - np.maximum(starts, line.interval.start)
        shorter = np.minimum(ends - starts, line.interval.duration)
        (overlapping,) = np.nonzero(overlap * 2 > shorter)
        lines_of_cue[overlapping] += 1
        if len(overlapping) == 1:
            candidates.append((int(overlapping[0]), line))
    for position, line in candidates:
        if lines_of_cue[position] == 1:
            pairs[cues[position].id] = line


def _with_exact_times(in_script: Interval, in_track: Interval, frame_rate: Fraction) -> Interval:
    """The script's interval, with the track's exact start and end where a person did not change them.

    A file that counts in frames rounds times to them; an unchanged time must not become an edit by that.
    """
    rounded = on_frames(in_track, frame_rate)
    start, end = in_script.start, in_script.end
    if milliseconds(start) == milliseconds(rounded.start):
        start = in_track.start
    if milliseconds(end) == milliseconds(rounded.end):
        end = in_track.end
    return Interval(start, end) if start < end else in_script


def _is_same_to_1_ms(first: Interval, second: Interval) -> bool:
    """Whether both are equal to 1 ms: scripts round, and WebVTT moves a cue at 0.000 by that much."""
    start_difference = milliseconds(first.start) - milliseconds(second.start)
    end_difference = milliseconds(first.end) - milliseconds(second.end)
    return abs(start_difference) <= 1 and abs(end_difference) <= 1


_CONFLICT_LETTERS = 300
"""Letters of each text in a conflict: more than other messages quote, so that the difference shows."""


def _line_and_times(interval: Interval, text: str) -> str:
    """The line for a message: its text and its times."""
    return f"{quoted(text, _CONFLICT_LETTERS)} at {time_range(interval, 3)}"
