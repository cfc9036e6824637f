"""One work folder, open for review: acts, undo and redo, each saved before it is answered.

Other programs may write the same track meanwhile: a run that describes the film, an import, an editor. Before
each act the session reads what they changed, and it overwrites nothing of theirs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from shotad.core import (
    FilmInfo,
    RunSettings,
    ShotadError,
    WorkFolder,
)
from shotad.core.errors import (
    OutdatedLine,
    ReviewError,
    ScriptError,
    WorkFolderError,
    quoted,
)
from shotad.film import (
    Prepared,
    SlotChange,
    read_prepared,
)
from shotad.film.slot_records import change_slots, refuse_lost_slots
from shotad.review.acts import ACTS, JOINED
from shotad.review.events import Json, Tabs
from shotad.review.history import Direction, History, LineStep, Step, changed_track, step_change, step_of
from shotad.review.jobs import Debouncer
from shotad.review.messages import Sentence, both, refusal, with_texts
from shotad.review.session_files import (
    OutsideChanges,
    SideScripts,
    Signature,
    TrackFile,
    differences,
    signatures,
)
from shotad.review.timeline import Change, LineTimeline, RequestId
from shotad.script import (
    Cue,
    Track,
    track_lock,
)
from shotad.script.newer import content_stamp
from shotad.script.track_files import TRACK, refuse_older

_FIRST_SCRIPTS_DELAY = 4.0
"""Seconds after the session began at which the scripts beside the track are looked at."""

_RECORDS = ("shots.json", "speech.json", "slots.json")
"""Files of the work folder from which `Session.prepared` is read."""


class Session:
    """One work folder, open for review: its track, slots and scripts, read and written under locks (`open`).

    track: the lines as they are now; revision: counts its states since the session began.
    prepared: what the run found of the film, with the slots as they are now.
    take_seconds: returns how long the voice takes for a text, where it has spoken it.
    seconds_per_word: returns the pace of the voice.
    publish: called with each saved change and its origin: the name of the tab that asked for it, ``job``, or
    ``disk`` for what another program changed. Returns the `Change.view`.

    Methods may be called from any thread. Raises WorkFolderError where the folder belongs to another film, or
    a record is missing or damaged, ScriptError for a track that cannot be read.
    """

    def __init__(
        self, folder: Path, film: FilmInfo, run: RunSettings, *, reviewer: str = "", tabs: Tabs | None = None
    ) -> None:
        self.reviewer = reviewer
        self.publish: Callable[[Change, str], Json] = lambda change, origin: {}
        self.take_seconds: Callable[[str], float | None] = lambda text: None
        self.seconds_per_word: Callable[[], float] = lambda: self.config.slots.seconds_per_word
        self.folder, self.film, self.config = folder, film, run.config
        self._tabs = Tabs() if tabs is None else tabs
        self.revision, self.outside_changes = 0, OutsideChanges()
        self._records = tuple(folder / name for name in _RECORDS)
        self._record_signatures: tuple[Signature, ...] = ()
        self._read_records()
        self._lock = threading.RLock()
        self._file = TrackFile(folder / TRACK)
        self._reported_problem: tuple[str, str] | None = None
        self._is_track_damaged = self._is_script_refused = False
        self._scripts = Debouncer(self._write_scripts, 1.0, "shotad scripts", longest=5.0)
        try:
            with self.open():
                track = self._file.read_if_changed()
                if track is None or track.film.fingerprint != self.film.fingerprint:
                    name = "none" if track is None else track.film.name
                    raise WorkFolderError(
                        f"{self._file.path} belongs to another film: {name}, not {self.film.name}.",
                        "Name that film with --film, or another work folder.",
                    )
                refuse_older(track, folder)
                refuse_lost_slots(folder)
                self.track = track
                self._side_scripts = SideScripts(folder, self.track.film.name)
                self._read_side_scripts()
        except BaseException:
            self._scripts.close()
            raise
        # A killed server may have left them older than the track. Not at once: the page is being opened.
        self._scripts.schedule(_FIRST_SCRIPTS_DELAY)
        self._history = History(folder)
        if self._history.is_open:
            # A killed server had begun a step: find out whether it was saved.
            with self._up_to_date():
                pass

    @property
    def next_steps(self) -> dict[str, Any]:
        """What can be undone and redone next, as `History.next_steps`."""
        return self._history.next_steps

    def cue(self, line_id: str) -> Cue:
        """The line with this id. Raises ReviewError where there is none."""
        return self.timeline().cue(line_id)

    @property
    def trouble(self) -> Json:
        """What is wrong with the files now, also for tabs that open later: ``what`` and ``hint``, empty where
        nothing is."""
        what, hint = self._reported_problem or ("", "")
        return {"what": what, "hint": hint}

    def timeline(self) -> LineTimeline:
        """The lines, slots and free time as they are now, for acts."""
        rate, prepared = self.film.frame_rate, self.prepared
        return LineTimeline(
            track=self.track,
            free=prepared.gaps,
            slots={slot.id: slot for slot in prepared.slots},
            frame=float(1 / rate) if rate else 0.04,
            reviewer=self.reviewer,
            end=prepared.end,
            settings=self.config.slots.model_copy(update={"seconds_per_word": self.seconds_per_word()}),
            take_seconds=self.take_seconds,
        )

    def act(
        self,
        name: str,
        line_id: str,
        args: Json,
        *,
        seen_stamp: str | None = None,
        origin: str = "",
        group: str = "",
        request_id: RequestId | None = None,
    ) -> Change:
        """Apply the act ``name`` to a line and save it; returns the change, with the others' unreported ones.

        seen_stamp: `content_stamp` of the line that the person sees; None: not checked.
        origin: the tab that asks, for `publish`.
        group: acts of one group that follow each other are undone together.
        request_id: an act that was saved before under this id is not applied again; the message is empty
        then.

        Raises OutdatedLine where the line is another than the person saw, unless only acts of the same tab
        made it so; ReviewError for an impossible act, WorkFolderError where the track cannot be written.
        Nothing is changed then.
        """
        if name not in ACTS:
            raise ReviewError(f"There is no act {quoted(name)}.", f"There are {', '.join(ACTS)}.")
        act = ACTS[name]

        def make_change() -> Change:
            timeline = self.timeline()
            if name == "join":
                unsplit = self._undone_split(timeline, line_id)
                if unsplit is not None:
                    return unsplit
            return act(timeline, line_id, args)

        # Slots have no stamp: the one in the request is of the line, which may be another by now.
        is_slot_act = name in ("add_slot", "remove_slot")
        return self.change(
            make_change,
            line_id=line_id,
            seen_stamp=None if is_slot_act else seen_stamp,
            origin=origin,
            group=group,
            request_id=request_id,
        )

    def _undone_split(self, timeline: LineTimeline, line_id: str) -> Change | None:
        """The change that joins a line with its other half, if both are as a split left them; else None.

        The line becomes what it was before, with its acceptance and times, instead of a new text.
        """
        following = timeline.following(timeline.cue(line_id))
        step = None if following is None else self._history.step_that_added(following.id)
        if following is None or step is None:
            return None
        if [line.id for line in step.lines] != [line_id, following.id]:
            return None
        with suppress(OutdatedLine):
            undone = step_change(step, "undo", self.track, self.prepared.slots)
            return replace(undone, message=JOINED, focus=line_id)
        return None

    def change(
        self,
        make_change: Callable[[], Change],
        *,
        line_id: str = "",
        seen_stamp: str | None = None,
        origin: str = "",
        group: str = "",
        request_id: RequestId | None = None,
    ) -> Change:
        """Save the change that ``make_change()`` returns, called with the track locked and up to date.

        The other arguments and errors are those of `act`.
        """
        with self._up_to_date():
            if self._history.knows(request_id):
                return self._finished(Change(""), origin)
            if seen_stamp is not None:
                cue = self.timeline().cues.get(line_id)
                stamp = None if cue is None else content_stamp(cue)
                if stamp is None or self._history.latest_stamp(request_id, seen_stamp, stamp) != stamp:
                    raise with_texts(OutdatedLine, "act.outdated", line=line_id)
            change = make_change()
            step = step_of(self.track, change, group)
            if step.lines or step.slots:
                # In this order, so that after a kill at any point the track and the history agree.
                self._history.begin(step, request_id)
                self._save(change)
                self._write_history(lambda: self._history.add(step, request_id))
            elif request_id is not None:
                self._write_history(lambda: self._history.add_unchanged(request_id))
            return self._finished(change, origin)

    def undo(self, origin: str = "", request_id: RequestId | None = None) -> Change:
        """Undo the last step; arguments as in `act`.

        Raises ReviewError where there is none, OutdatedLine where one of its lines has changed since: that
        step is skipped, and the one before it is next.
        """
        return self._undo_or_redo("undo", origin, request_id)

    def redo(self, origin: str = "", request_id: RequestId | None = None) -> Change:
        """Redo the step that was undone last; arguments and errors as in `undo`."""
        return self._undo_or_redo("redo", origin, request_id)

    def refresh(self) -> Change | None:
        """Read what other programs changed on the disk; returns it, or None where nothing is new.

        Raises ReviewError while the track there cannot be used.
        """
        if not self.is_stale and not self.outside_changes:
            return None
        with self._up_to_date():
            return self._finished(Change(""), "disk") if self.outside_changes else None

    def begin_job(self) -> None:
        """Say that a job begins which will write the track: changes on the disk are its own from now on."""
        with self._up_to_date():
            self.outside_changes.begin_job()

    def end_job(self, message: Sentence) -> Change | None:
        """Read what a job wrote and add it to the history as one step; None where it changed nothing.

        The step has all lines that changed since `begin_job`. Where that was not called, it has those that
        changed since the last read, and those that were described again.
        """
        with self.open():
            before = self.track
            self._read_disk()
            old_lines = self.outside_changes.end_job(self.track, differences(before, self.track))
            current = {cue.id: cue for cue in self.track.cues}
            line_steps = [
                LineStep.of(line_id, old, current.get(line_id)) for line_id, old in old_lines.items()
            ]
            # Equal stamps: only how the line was spoken is new, which is nothing to undo.
            changed = tuple(line_step for line_step in line_steps if line_step.was != line_step.now)
            if changed:
                self._write_history(lambda: self._history.add(Step(message, changed)))
            return self._finished(Change(message), "job") if changed or self.outside_changes else None

    @contextmanager
    def _up_to_date(self) -> Iterator[None]:
        """Hold the lock of the track, with all that others wrote read."""
        with self.open():
            self._read_disk()
            yield

    def _read_disk(self) -> None:
        """Read the track and the history, where they changed; the lock is held."""
        self._read_track()
        self._history.sync()
        self._write_history(lambda: self._history.finish_begun(self.track, self.prepared.slots))

    def _undo_or_redo(self, direction: Direction, origin: str, request_id: RequestId | None) -> Change:
        with self._up_to_date():
            if self._history.knows(request_id):
                return self._finished(Change(""), origin)
            step = self._history.last(direction)
            if step is None:
                if direction == "undo":
                    raise refusal("act.nothing_to_undo")
                raise refusal("act.nothing_undone")
            try:
                change = step_change(step, direction, self.track, self.prepared.slots)
            except OutdatedLine:
                self._history.skip(direction)
                raise
            self._history.begin(direction, request_id)
            self._save(change)
            self._write_history(lambda: self._history.add(direction, request_id))
            return self._finished(change, origin)

    def _finished(self, change: Change, origin: str) -> Change:
        """The saved change, joined with what others changed since the last report, and published."""
        changed_ids = {*(cue.id for cue in change.cues), *change.removed_ids}
        outside = self.outside_changes.take_unreported(changed_ids, self.track)
        said = change.message if origin == "job" else both(change.message, outside.message)
        combined = replace(
            change,
            message=said,
            cues=(*change.cues, *outside.cues),
            removed_ids=(*change.removed_ids, *outside.removed_ids),
        )
        return replace(combined, view=self.publish(combined, origin))

    def _write_history(self, write: Callable[[], None]) -> None:
        """Call ``write``, and report its WorkFolderError instead of raising it.

        The track is saved by then, so the act was done, also where the history cannot be written.
        """
        try:
            write()
        except WorkFolderError as error:
            self._report(error.what, error.hint)

    @contextmanager
    def open(self) -> Iterator[None]:
        """Hold the lock of the track: nobody else, in this process or another, changes it meanwhile."""
        with self._lock, track_lock(self.folder):
            yield

    @property
    def is_stale(self) -> bool:
        """Whether a file has changed since it was last read or written here."""
        with self._lock:
            are_records_stale = signatures(self._records) != self._record_signatures
            return are_records_stale or self._file.is_stale or self._side_scripts.is_stale

    @contextmanager
    def written(self) -> Iterator[Track]:
        """The track, locked for the block, with the scripts beside it up to date."""
        with self.open():
            self._read_track()
            self._side_scripts.write(self._side_scripts.texts(self.track), self.track)
            yield self.track

    def _read_track(self) -> None:
        """Read the track, the scripts and the records where they changed; the lock is held.

        Raises ReviewError while the track cannot be read, or belongs to another film.
        """
        before = self.track
        try:
            track = self._file.read_if_changed()
        except ScriptError as error:
            hint = f"{error.hint} Mend that file; until then nothing is changed here.".strip()
            self._report(error.what, hint)
            self._is_track_damaged = True
            raise ReviewError(error.what, hint) from None
        if self._is_track_damaged:
            self._is_track_damaged = False
            self._report("", "")  # the page takes the error away
        try:
            if track is not None:
                if track.film.fingerprint != self.film.fingerprint:
                    self._file.forget()
                    raise ReviewError(
                        f"{self._file.path} now belongs to another film: {track.film.name}.",
                        f"Put the track of {self.film.name} back; until then nothing is changed here.",
                    )
                old_cues = {cue.id: cue for cue in self.track.cues}
                # Equal lines stay the same objects: `differences` and the caches of lines compare those.
                cues = [old_cues[cue.id] if old_cues.get(cue.id) == cue else cue for cue in track.cues]
                self.track = replace(track, cues=tuple(cues))
                self._scripts.schedule()
            self._read_side_scripts()
        finally:
            self.outside_changes.add(differences(before, self.track))
            self.revision += self.track is not before
        if signatures(self._records) != self._record_signatures:
            try:
                self._read_records()
            except WorkFolderError:
                # A run is in the middle of writing them: try again at the next read.
                self._record_signatures = ()
                return
            self._tabs.send("film", {})

    def _save(self, change: Change) -> None:
        """Write a change, first its slots and then its lines, both or none; the lock is held."""
        slots, track = change.slots, changed_track(self.track, change)
        has_slots = slots != SlotChange()
        if has_slots:
            change_slots(self.folder, slots)
        try:
            self._file.write(track)
        except ShotadError:
            if has_slots:
                change_slots(self.folder, slots.inverse)
            raise
        if has_slots:
            self._read_records()
        self.track = track
        self.revision += 1
        self._scripts.schedule()

    def close(self) -> None:
        """Write the scripts that are still due. After this, nothing may be changed any more."""
        self._scripts.close(finish=True)

    def _report(self, problem: str, hint: str) -> None:
        """Show a problem on the page, once; empty texts: there is none any more."""
        if self._reported_problem != (problem, hint):
            self._tabs.send("trouble", {"what": problem, "hint": hint})
        self._reported_problem = (problem, hint)

    def _read_records(self) -> None:
        """Read `prepared` from the work folder. Raises WorkFolderError."""
        # Before the files are read: a change in between is noticed at the next look.
        self._record_signatures = signatures(self._records)
        self.prepared: Prepared = read_prepared(WorkFolder(self.folder), self.film, self.config)

    def _read_side_scripts(self) -> None:
        """Import the scripts that a person edited; reports those that cannot be imported."""
        track, error = self._side_scripts.import_edits(self.track)
        if error is not None:
            self._report(error.what, error.hint)
        elif self._is_script_refused:
            self._report("", "")  # the page takes the error away
        else:
            self._reported_problem = None
        self._is_script_refused = error is not None
        if track is not self.track:
            self._file.write(track)
            self.track = track
            self._scripts.schedule()

    def _write_scripts(self) -> None:
        """Write the scripts as the track is now, except those with edits that could not be imported."""
        # Made before the lock is taken: it takes a while, and an act need not wait for it.
        track = self.track
        texts = self._side_scripts.texts(track)
        try:
            with self.open():
                self._read_track()
                if self.track is track:
                    self._side_scripts.write(texts, track)
                else:
                    self._scripts.schedule()  # the texts are those of an older track
        except ShotadError as error:
            self._report(error.what, error.hint)
