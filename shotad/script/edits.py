"""Who owns a line: what a person changed outlives every later run, and comes back with an edited script.

A machine never writes over a person: an edited line stays, and what the machine now says is kept beside it
(`Edit.machine`, `Cue.candidates`). A line described again because a person wanted it is the person's choice
in the same way (`redone`). How edits are found is said in `shotad.script.track`.

A script that a person edited elsewhere comes back by `import_script`. Each line is merged three ways: as it
was written into the script (known by its stamp), as the script has it now, and as the track has it now. A
line untouched in the script changes nothing; one changed in the script and not in the track becomes an edit;
one that other hands changed in the track since is a conflict, refused with both texts. Without stamps
(SubRip, files of other programs) careful guesses must do, said at each step.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from shotad.core import EditConflict, Interval, ScriptError, plural, quoted, time_range
from shotad.script.cue import (
    REDO,
    Cue,
    CueStatus,
    Edit,
    EditField,
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
from shotad.script.subtitle_formats import without_added_markup
from shotad.script.track import Track


@dataclass(frozen=True, slots=True)
class Derivation:
    """A new run's track with people's edits in it.

    ``kept``: ids of edited lines; ``yielded``: ids of new lines dropped because a person's line has their
    time; ``lapsed``: names of reviewers whose review no longer holds, since a line that is heard changed.
    """

    track: Track
    kept: tuple[str, ...] = ()
    yielded: tuple[str, ...] = ()
    lapsed: tuple[str, ...] = ()

    @property
    def news(self) -> tuple[str, ...]:
        """What the user should know of edits that met new lines."""
        left_out = f"{len(self.yielded)} new lines left out, for a person's line has their time."
        again = f"Lines changed since the review by {', '.join(self.lapsed)}: review again."
        return (left_out,) * bool(self.yielded) + (again,) * bool(self.lapsed)


def derive(
    previous: Track | None, new: Track, *, covered: Interval | None = None, discard_edits: bool = False
) -> Derivation:
    """Lay the edits of ``previous``, the track as people left it, over ``new``, the machine's.

    - An edited line keeps all that it has; the machine's new version goes into its edit and candidates.
    - An edited line whose slot is gone stays too, and so does one that a person added or removed.
    - A new line that shares time with a person's line which is heard, or at least half of itself with
      one that a person removed, is dropped, with the reason.
    - ``covered`` (None: the whole film) is the part that ``new`` describes; lines elsewhere stay.
    - ``discard_edits`` first gives every line of ``previous`` back to the machine.

    Raises EditConflict if ``previous`` belongs to another film and holds edits.
    """
    if previous is None or _other_film(previous, new, discard_edits=discard_edits):
        return Derivation(new)
    if discard_edits:
        previous = without_edits(previous)
    # How a line was last spoken holds where it is still the same.
    voiced = {cue.id: cue.voiced for cue in previous.cues}
    spoken = ((cue, replace(cue, voiced=voiced.get(cue.id))) for cue in new.cues)
    new = new.with_cues(with_voice if with_voice.spoken else cue for cue, with_voice in spoken)
    fresh = {cue.id: cue for cue in new.cues}
    kept = {cue.id: _over(cue, fresh.get(cue.id)) for cue in previous.cues if cue.edited is not None}
    beyond = [] if covered is None else [c for c in previous.cues if not covered.contains(c.interval.start)]
    elsewhere = [cue for cue in beyond if cue.id not in fresh and cue.id not in kept]
    lines, yielded = [], []
    for cue in new.cues:
        owner = None if cue.id in kept else _owner_of_time(cue, kept.values())
        if owner is None:
            lines.append(kept.get(cue.id, cue))
        else:
            reason = f"its time belongs to {owner.id}, which a person edited"
            lines.append(replace(cue, status=CueStatus.DROPPED, reason=reason))
            yielded.append(cue.id)
    present = {cue.id for cue in lines}
    orphans = [cue for cue in kept.values() if cue.id not in present]
    track, lapsed = _with_names(new.with_cues([*lines, *orphans, *elsewhere]), previous)
    return Derivation(track, tuple(kept), tuple(yielded), lapsed)


def redone(track: Track, fresh: Sequence[Cue]) -> Derivation:
    """The track with ``fresh`` lines, described again, in place of those with the same ids.

    Each is a person's choice from now on; the line before it stays among its candidates, and the machine's
    own version as it was. Raises KeyError for a line that the track does not have.
    """
    before = {cue.id: cue for cue in track.cues}
    taken: dict[str, Cue] = {}
    for cue in fresh:
        old = before[cue.id]
        earlier = dict.fromkeys((*old.candidates, *((old.text,) if old.text else ())))
        fields: tuple[EditField, ...] = (EditField.TEXT,)
        if old.machine is not None and old.machine.status.heard != cue.heard:
            fields = (EditField.TEXT, EditField.STATUS)
        candidates = cue.candidates + tuple(text for text in earlier if text not in cue.candidates)
        taken[cue.id] = replace(cue, candidates=candidates, edited=Edit(fields, REDO, old.machine))
    changed, lapsed = _with_names(track.with_cues(taken.get(cue.id, cue) for cue in track.cues), track)
    return Derivation(changed, kept=tuple(taken), lapsed=lapsed)


def is_by_hand(cue: Cue) -> bool:
    """Whether a person changed the line, other than by having it described again, or accepted it."""
    if cue.edited is None:
        return False
    return cue.edited.source != REDO or cue.state is LineState.ACCEPTED


def respeak(track: Track, slots: Mapping[str, Interval], seconds_per_word: float) -> Track:
    """The track with a new spoken end for each line whose text a person changed and whose times not.

    The end stays within the line's slot (``slots`` by id; without one, within the line's own time) and
    before the next line that is heard. A line that somebody accepted stays as they read it.
    """
    starts = [cue.interval.start for cue in track.heard]
    following = (bisect_right(starts, cue.interval.start) for cue in track.cues)
    cues = (
        respoken(cue, slots, seconds_per_word, until=starts[at] if at < len(starts) else None)
        for cue, at in zip(track.cues, following, strict=True)
    )
    return replace(track, cues=tuple(cues))


def respoken(
    cue: Cue, slots: Mapping[str, Interval], seconds_per_word: float, *, until: float | None = None
) -> Cue:
    """As `respeak`, for one line; ``until`` is when the next one starts that is heard."""
    fields = cue.edited.fields if cue.edited is not None else ()
    if EditField.TEXT not in fields or EditField.TIME in fields or EditField.ADDED in fields:
        return cue
    if cue.review is not None:
        return cue
    limit = slots.get(cue.slot_id or "", cue.interval).end
    if until is not None:
        limit = min(limit, until)
    words = spoken_words(cue.text, cue.language)
    room = Interval(cue.interval.start, max(limit, cue.interval.start + 0.001))
    return replace(
        cue,
        interval=spoken_interval(room, words, seconds_per_word),
        spoken_length=words * seconds_per_word,
    )


def without_edits(track: Track) -> Track:
    """The track with the machine's own version of each edited line; lines that a person added are gone."""
    lines = map(given_back, track.cues)
    return track.with_cues(line for line in lines if line is not None)


def given_back(cue: Cue) -> Cue | None:
    """The line as the machine itself has it; None where no machine wrote it. Nobody accepted that."""
    cue = replace(cue, accepted=None)
    if cue.edited is None:
        return cue
    if (old := cue.edited.machine) is None:
        return None
    back = replace(
        cue, interval=old.interval, text=old.text, status=old.status, reason=old.reason, edited=None
    )
    if old.text == cue.text:
        return back
    chosen = cue.candidates.index(old.text) if old.text in cue.candidates else None
    made = None if _is_own_choice(cue) else cue.provenance
    length = old.interval.duration if old.status.heard else None
    seen = cue.seen_from if made is not None else None
    return replace(back, chosen=chosen, provenance=made, spoken_length=length, fit_steps=(), seen_from=seen)


def _other_film(previous: Track, new: Track, *, discard_edits: bool) -> bool:
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


def _over(cue: Cue, fresh: Cue | None) -> Cue:
    """The person's line with the machine's newest version beside it; a removed one shows what it dropped."""
    if cue.edited is None or fresh is None:
        return cue
    said = fresh.candidates or ((fresh.text,) if fresh.text else ())
    older = tuple(text for text in cue.candidates if text not in said)
    chosen = None if cue.chosen is None else (said + older).index(cue.candidates[cue.chosen])
    edit = Edit(cue.edited.fields, cue.edited.source, fresh.machine)
    blank = EditField.REMOVED in cue.edited.fields and not cue.text
    own = cue.machine.text if cue.machine is not None else None
    # It says what the machine writes now, or a person changed it from that.
    tells = blank or fresh.text in (cue.text, own)
    # It says what the machine wrote earlier, and would not write now: it was accepted, say, or only moved.
    earlier = cue.text == own != fresh.text
    return replace(
        cue,
        edited=edit,
        slot_id=fresh.slot_id,
        text=fresh.text if blank else cue.text,
        candidates=said + older,
        chosen=chosen,
        provenance=cue.provenance if _is_own_choice(cue) or earlier else fresh.provenance,
        seen_from=fresh.seen_from if tells else cue.seen_from,
        doubted=fresh.doubted if blank or fresh.text == cue.text else cue.doubted,
        translation=fresh.translation,
    )


def _is_own_choice(cue: Cue) -> bool:
    """Whether a person holds on to a machine's line that another run has written than the last one.

    It is one that was described again, also where its times were changed by hand afterwards: its text is
    still the candidate that was chosen, and not the machine's own of the last run.
    """
    if cue.edited is None or cue.edited.source == REDO:
        return cue.edited is not None
    own = cue.edited.machine
    kept = cue.chosen is not None and cue.text == cue.candidates[cue.chosen]
    return kept and own is not None and cue.text != own.text


def _with_names(track: Track, before: Track) -> tuple[Track, tuple[str, ...]]:
    """The track with the makers of lines that other engines than the run's own wrote, and with those who
    reviewed ``before`` while all that is heard is still the same; the reviewers where it is not."""
    others = (
        maker
        for cue in track.heard
        if _is_own_choice(cue) and cue.provenance is not None
        for maker in cue.provenance.makers
    )
    makers = tuple(dict.fromkeys((*track.makers, *others)))
    lapsed = before.reviewed_by if track.stamp != before.stamp else ()
    return replace(track, makers=makers, reviewed_by=() if lapsed else before.reviewed_by), lapsed


def _owner_of_time(cue: Cue, owned: Iterable[Cue]) -> Cue | None:
    for owner in owned:
        shared = cue.interval.clip(owner.interval)
        if shared is None or not cue.heard:
            continue
        if owner.heard or shared.duration * 2 >= cue.interval.duration:
            return owner
    return None


@dataclass(frozen=True, slots=True)
class Import:
    """A track with a script's edits in it, and the ids they concern.

    ``kept`` are lines that the track has otherwise than the script, and that stay as the track has them.
    ``missing`` are those of ``removed`` that the script does not name at all: a person deleted them there, or
    the script was only a part.
    """

    track: Track
    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def missing_lines(track: Track, done: Import, source: str) -> str:
    """A sentence that names the lines of ``track`` that the script ``source`` lacks and an import removes."""
    heard = {cue.id: cue for cue in track.cues}
    lines = [heard[cue_id] for cue_id in done.missing]
    named = [f"{cue.id} at {timecode(cue.start)} {quoted(cue.text)}" for cue in lines[:_MISSING_SHOWN]]
    more = f" and {plural(len(lines) - _MISSING_SHOWN, 'other')}" if len(lines) > _MISSING_SHOWN else ""
    by_people = sum(cue.state is not LineState.MACHINE for cue in lines)
    whose = f", {by_people} of them edited or accepted by a person" if by_people else ""
    return (
        f"{source} lacks {plural(len(lines), 'line')} of {len(track.heard)} that the track has{whose}: "
        f"{'; '.join(named)}{more}."
    )


_MISSING_SHOWN = 5
"""Lines that are named where a script lacks many."""


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
    line that starts beyond the film's end, an id of the track that is used twice, or a script without lines.
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
    new_lines = [line for line in script.cues if id(line) not in matched and line.text]
    new_ids = hand_ids([line.interval.start for line in new_lines], {cue.id for cue in cues})
    added: list[Cue] = []
    for line, name in zip(new_lines, new_ids, strict=True):
        edit = Edit((EditField.ADDED,), source, None)
        added.append(Cue(name, None, line.interval, line.text, language=track.language, edited=edit))
    return Import(
        track.with_cues([*cues, *added]),
        changed=tuple(merge.changed),
        added=tuple(new_ids),
        removed=tuple(merge.removed),
        kept=tuple(merge.kept),
        missing=tuple(merge.not_named),
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
    not_named: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)

    def line(self, cue: Cue, found: ScriptCue | None) -> Cue:
        """The line as it shall be; ``found`` is the script's, None where it lacks the line."""
        if found is not None:
            found = replace(found, text=without_added_markup(found.text, cue.text))
        if found is None or not found.text:
            # A line that was found by its time alone may be another, whose text stands somewhere else.
            is_named = found is not None and found.id == cue.id
            return self.missing(cue, is_emptied=is_named and self.script.is_proven)
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
        retold = one_line(found.text) != one_line(cue.text) and (mine or text != old_text)
        moved = not _near(found.interval, cue.interval) and (moved_before or times != old_times)
        back = not cue.heard and (retold or moved or mine or stamp is None)
        differs = {EditField.TEXT: retold, EditField.TIME: moved, EditField.STATUS: back}
        fields = tuple(field for field, is_so in differs.items() if is_so)
        if not fields:
            says_the_same = one_line(cue.text) == one_line(found.text)
            if cue.heard and not (says_the_same and _near(cue.interval, found.interval)):
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

    def missing(self, cue: Cue, *, is_emptied: bool) -> Cue:
        """A line that the script lacks: deleted there, unless the script was written before the line was.

        ``is_emptied``: a person took its text away. In a file that may have been cut nobody knows that.
        """
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
        if not is_emptied:
            self.not_named.append(cue.id)
        gone = replace(cue, status=CueStatus.DROPPED, reason=f"left out of {self.source}")
        return mark_edit(gone, cue, (EditField.REMOVED,), self.source)

    def is_mine(self, cue: Cue) -> bool:
        """True where nobody changed the line but through this file; who only accepted it changed nothing."""
        return not is_changed(cue) or (cue.edited is not None and cue.edited.source == self.source)


def with_lines_of(track: Track, script: Script, source: str) -> Track:
    """``track``, which has no lines, with those of a script as a person's: of a track that is lost.

    Lines of slots keep their ids, by which the next run finds what the machine says there.
    """
    lines = [line for line in script.cues if line.text]
    added_ids = iter(
        hand_ids([line.interval.start for line in lines], {line.id for line in lines if line.id})
    )
    taken: set[str] = set()
    cues: list[Cue] = []
    for line in lines:
        added_id = next(added_ids)
        own_id = line.id if line.id is not None and line.id not in taken else None
        cue_id = own_id or added_id
        taken.add(cue_id)
        slot_id = cue_id if own_id is not None and own_id.startswith("s") else None
        change = EditField.ADDED if slot_id is None else EditField.TEXT
        edit = Edit((change,), source, None)
        cues.append(Cue(cue_id, slot_id, line.interval, line.text, language=track.language, edited=edit))
    return track.with_cues(cues)


def _check(track: Track, script: Script, source: str) -> None:
    if not script.cues and track.heard:
        what = f"{source} holds no line, and the track has {len(track.heard)}: nothing is imported."
        raise ScriptError(what, "Was it cut off when it was saved? Export the script again.")
    seen: dict[str, ScriptCue] = {}
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
        if line.id in seen:
            both = f"{quoted(seen[line.id].text)} and {quoted(line.text)}"
            what = f"{source}: two lines have the id {line.id}: {both}."
            raise ScriptError(what, "Take the id away from the new one.")
        seen[line.id] = line


def _match(track: Track, script: Script) -> dict[str, ScriptCue]:
    """Which script line belongs to which cue: by id, start to 1 ms, text, or most of its time, where unique.

    Starts are compared as the script shows them, to a frame where it counts in frames.
    """
    ids = {cue.id for cue in track.cues}
    pairs = {line.id: line for line in script.cues if line.id is not None and line.id in ids}
    rest = [line for line in script.cues if line.id not in ids]
    rest = _match_by_start(track, rest, pairs, script.frame_rate)
    rest = _match_by_text(track, rest, pairs)
    _match_by_shared_time(track, rest, pairs)
    return pairs


def _free(track: Track, pairs: Mapping[str, ScriptCue]) -> list[Cue]:
    return [cue for cue in track.cues if cue.id not in pairs and cue.heard]


def _match_by_start(
    track: Track, lines: Sequence[ScriptCue], pairs: dict[str, ScriptCue], frame_rate: Fraction | None
) -> list[ScriptCue]:
    """Put lines into ``pairs`` that start with just one cue, to 1 ms; the lines that are left."""
    free: dict[int, list[Cue]] = {}
    for cue in _free(track, pairs):
        start = on_frames(cue.interval, frame_rate).start if frame_rate else cue.start
        free.setdefault(milliseconds(start), []).append(cue)
    rest: list[ScriptCue] = []
    for line in lines:
        at = milliseconds(line.interval.start)
        fits = [(near, cue) for near in (at - 1, at, at + 1) for cue in free.get(near, ())]
        if len(fits) == 1:
            near, cue = fits[0]
            pairs[cue.id] = line
            free[near].remove(cue)
        else:
            rest.append(line)
    return rest


def _match_by_text(track: Track, lines: Sequence[ScriptCue], pairs: dict[str, ScriptCue]) -> list[ScriptCue]:
    """Put lines into ``pairs`` that say what just one cue says; the lines that are left."""
    free: dict[str, list[Cue]] = {}
    for cue in _free(track, pairs):
        free.setdefault(one_line(cue.text), []).append(cue)
    rest: list[ScriptCue] = []
    for line in lines:
        fits = free.get(one_line(line.text), [])
        if len(fits) == 1:
            pairs[fits.pop().id] = line
        else:
            rest.append(line)
    return rest


def _match_by_shared_time(track: Track, lines: Sequence[ScriptCue], pairs: dict[str, ScriptCue]) -> None:
    """Put lines into ``pairs`` that have most of the shorter one's time in common with one cue only, which
    has it with no other line."""
    free = _free(track, pairs)
    starts = np.array([cue.start for cue in free])
    ends = np.array([cue.end for cue in free])
    lines_of_cue = np.zeros(len(free), int)
    only_cue: list[tuple[int, ScriptCue]] = []
    for line in lines:
        if not line.text:
            continue
        shared = np.minimum(ends, line.interval.end) - np.maximum(starts, line.interval.start)
        shorter = np.minimum(ends - starts, line.interval.duration)
        (sharing,) = np.nonzero(shared * 2 > shorter)
        lines_of_cue[sharing] += 1
        if len(sharing) == 1:
            only_cue.append((int(sharing[0]), line))
    for position, line in only_cue:
        if lines_of_cue[position] == 1:
            pairs[free[position].id] = line


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
    return f"{quoted(text, _CONFLICT_LETTERS)} at {time_range(interval, 3)}"


_CONFLICT_LETTERS = 300
"""Of each text where two disagree: a person must see in what."""
