"""A person at work on a track: acts, undo and redo, each on the disk before it is answered.

Others may write the same track meanwhile: a run that describes the film, an import, an editor. Whatever they
changed is taken in before anything is done, and nothing of theirs is overwritten.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from shotad.errors import OutOfDate, ReviewError, ScriptError, ShotadError, WorkFolderError
from shotad.film.info import FilmInfo
from shotad.handslots import change_slots
from shotad.plan.handslots import SlotChange
from shotad.recorded import recorded
from shotad.review.acts import ACTS
from shotad.review.acts_slots import SlotScene, add_slot, remove_slot
from shotad.review.beside import Beside
from shotad.review.history import History, LineStep, Step, Way, stamp_of
from shotad.review.kinds import Change, Done, Hub, Json
from shotad.review.news import News, differences
from shotad.review.saving import Later, TrackFile, signatures
from shotad.review.scene import Scene
from shotad.review.steps import changed_track, slots_in, step_of, walked
from shotad.runsettings import RunSettings
from shotad.script.cue import Cue
from shotad.script.track import Track
from shotad.tracking import TRACK, track_lock
from shotad.workfolder import WorkFolder

__all__ = ["Session", "stamp_of"]

SLOT_ACTS = {"add_slot": add_slot, "remove_slot": remove_slot}

_RECORDS = ("shots.json", "speech.json", "slots.json")


class Session:
    """One work folder, open for review. All may be called from any thread.

    ``prepared`` is what the run found of the film. Raises WorkFolderError where the folder belongs to another
    film or has no track, ScriptError for a track that cannot be read.
    """

    def __init__(
        self, folder: Path, film: FilmInfo, run: RunSettings, *, reviewer: str = "", hub: Hub | None = None
    ) -> None:
        self.folder, self.film, self.config = folder, film, run.config
        self.reviewer, self.revision = reviewer, 0
        self._hub = hub
        self._lock = threading.RLock()
        self._recorded = signatures(folder / name for name in _RECORDS)
        self.prepared = recorded(WorkFolder(folder), film, run.config)
        self._file = TrackFile(folder / TRACK)
        self._news = News()
        self._trouble: tuple[str, str] | None = None
        self._scripts = Later(self._write_scripts)
        with self._open():
            self._track = self._read_first()
            self._beside = Beside(folder, self._track.film.name)
            self._history = History(folder)
            self._look_beside()
        self._scripts.due()  # those that a killed server left as they were

    @property
    def track(self) -> Track:
        """The lines as they are now."""
        return self._track

    @property
    def undo_label(self) -> str | None:
        """What would be undone next; None where there is nothing."""
        return self._history.label("undo")

    @property
    def redo_label(self) -> str | None:
        """What would be done again next; None where there is nothing."""
        return self._history.label("redo")

    def cue(self, name: str) -> Cue:
        """The line called ``name``. Raises ReviewError where there is none."""
        return self.scene().cue(name)

    def scene(self) -> Scene:
        """What acts may know."""
        with self._lock:
            rate, prepared = self.film.frame_rate, self.prepared
            return Scene(
                track=self._track,
                free=prepared.gaps or None,
                slots={slot.id: slot for slot in prepared.slots},
                frame=float(1 / rate) if rate else 0.04,
                seconds_per_word=self.config.slots.seconds_per_word,
                reviewer=self.reviewer,
            )

    def act(
        self, name: str, line: str, args: Json, *, seen: str | None = None, origin: str = "", group: str = ""
    ) -> Done:
        """Do the act called ``name`` to a line; it is on the disk when this returns.

        ``seen`` is the `stamp_of` the line that the person sees. Acts of one ``group`` that follow each other
        are one step of undo. Raises OutOfDate for a line that has changed since, ReviewError for what cannot
        be done, WorkFolderError where it cannot be written; then nothing is changed.
        """
        if name in SLOT_ACTS:
            own = SLOT_ACTS[name]
            return self.change(lambda: own(self._slot_scene(), line, args), origin=origin)
        if name not in ACTS:
            raise ReviewError(f"There is no act {name!r}.", f"There are {', '.join((*ACTS, *SLOT_ACTS))}.")
        act = ACTS[name]
        return self.change(
            lambda: act(self.scene(), line, args), line=line, seen=seen, origin=origin, group=group
        )

    def change(
        self,
        make: Callable[[], Change],
        *,
        line: str = "",
        seen: str | None = None,
        origin: str = "",
        group: str = "",
    ) -> Done:
        """Keep what ``make`` says, once all that others wrote is taken in; see `act`."""
        with self._open():
            self._take_in()
            if seen is not None:
                self._check_seen(line, seen)
            change = make()
            step = step_of(self._track, change, group)
            if step.is_empty:
                return self._done(change, origin)
            self._keep(change)
            self._history.add(step)
            return self._done(change, origin)

    def undo(self, origin: str = "") -> Done:
        """Take the last step back. Raises ReviewError where there is none, OutOfDate where one of its lines
        has changed otherwise since: that step is passed over, and the one before it is next."""
        return self._walk("undo", origin)

    def redo(self, origin: str = "") -> Done:
        """Do again what was undone last; raises as `undo`."""
        return self._walk("redo", origin)

    def refresh(self) -> Done | None:
        """Take in what others have changed on the disk; what that is, or None.

        Raises ReviewError while the track there cannot be used.
        """
        with self._lock:
            if not self._is_stale() and not self._news:
                return None
        with self._open():
            self._take_in()
            return self._done(Change(""), "disk") if self._news else None

    def expect(self) -> None:
        """A job begins that will write the track: what is taken in from now on is what it did (`absorb`)."""
        with self._open():
            self._take_in()
            self._news.expect()

    def absorb(self, said: str, origin: str = "job") -> Done | None:
        """Take in what a job wrote, as one step that can be undone; None where it changed nothing.

        Of what was taken in before (`refresh`, `act`) those lines are part of the step that were described
        anew, or all since `expect`.
        """
        with self._open():
            before = self._track
            self._take_in()
            earlier = {**differences(before, self._track), **self._news.of_job(self._track)}
            now = {cue.id: cue for cue in self._track.cues}
            steps = (LineStep.of(name, was, now.get(name)) for name, was in earlier.items())
            lines = tuple(step for step in steps if step.was != step.now)
            if lines:
                self._history.add(Step(said, lines))
            return self._done(Change(said), origin) if lines or self._news else None

    def reread(self) -> None:
        """Take in anew what the run found: its slots have changed."""
        with self._lock:
            self._recorded = signatures(self.folder / name for name in _RECORDS)
            self.prepared = recorded(WorkFolder(self.folder), self.film, self.config)

    def close(self) -> None:
        """Write the scripts that are still due. Only reading is possible afterwards."""
        self._scripts.close()

    @contextmanager
    def _open(self) -> Iterator[None]:
        """Nobody else, in this process or another, changes the track meanwhile."""
        with self._lock, track_lock(self.folder):
            yield

    def _read_first(self) -> Track:
        track = self._file.look()
        if track is None or track.film.fingerprint != self.film.fingerprint:
            name = "nobody" if track is None else track.film.name
            raise WorkFolderError(
                f"{self._file.path} belongs to another film: {name}, not {self.film.name}.",
                "Name that film with --film, or another work folder.",
            )
        return track

    def _slot_scene(self) -> SlotScene:
        prepared = self.prepared
        free = prepared.gaps or None
        return SlotScene(self._track, free, prepared.slots, prepared.end, self.config.slots)

    def _check_seen(self, line: str, seen: str) -> None:
        cue = self.scene().cues.get(line)
        if cue is None or stamp_of(cue) != seen:
            raise OutOfDate(
                f"The line {line} has changed since you saw it.",
                "Look at it as it is now, and do it again if you still want it.",
            )

    def _keep(self, change: Change) -> None:
        """Write a change: its slots, then its lines; both or none."""
        slots, track = slots_in(change), changed_track(self._track, change)
        if slots != SlotChange():
            change_slots(self.folder, slots)
        try:
            self._file.write(track)
        except ShotadError:
            if slots != SlotChange():
                change_slots(self.folder, slots.inverse)
            raise
        if slots != SlotChange():
            self.reread()
        self._track = track
        self.revision += 1
        self._scripts.due()

    def _walk(self, way: Way, origin: str) -> Done:
        with self._open():
            self._take_in()
            step = self._history.last(way)
            if step is None:
                raise ReviewError("There is nothing to undo." if way == "undo" else "Nothing was undone.")
            try:
                change = walked(step, way, self._track, self.prepared.slots)
            except OutOfDate:
                self._history.skip(way)
                raise
            self._keep(change)
            self._history.move(way)
            return self._done(change, origin)

    def _done(self, change: Change, origin: str) -> Done:
        """What was done, with all that was taken in since something was last told."""
        news = self._news.told({*(cue.id for cue in change.cues), *change.gone}, self._track)
        said = change.said if origin == "job" else f"{change.said} {news.said}".strip()
        together = replace(
            change, said=said, cues=(*change.cues, *news.cues), gone=(*change.gone, *news.gone)
        )
        return Done(self.revision, together, origin)

    def _is_stale(self) -> bool:
        records = signatures(self.folder / name for name in _RECORDS)
        return self._file.is_stale or self._beside.is_stale or records != self._recorded

    def _take_in(self) -> None:
        """Bring the track up to what the disk has. Raises ReviewError where that cannot be used."""
        before = self._track
        try:
            found = self._file.look()
        except ScriptError as error:
            hint = f"{error.hint} Mend that file; until then nothing is changed here.".strip()
            self._tell(error.what, hint)
            raise ReviewError(error.what, hint) from None
        if found is not None:
            self._adopt(found)
        self._look_beside()
        self._history.sync()
        self._look_at_records()
        self._news.add(differences(before, self._track))
        if self._track is not before:
            self.revision += 1

    def _adopt(self, found: Track) -> None:
        if found.film.fingerprint != self.film.fingerprint:
            self._file.forget()
            raise ReviewError(
                f"{self._file.path} now belongs to another film: {found.film.name}.",
                f"Put the track of {self.film.name} back; until then nothing is changed here.",
            )
        kept = {cue.id: cue for cue in self._track.cues}
        # Lines that are the same stay the same objects, by which what is known of them is found again.
        same = (kept[cue.id] if kept.get(cue.id) == cue else cue for cue in found.cues)
        self._track = replace(found, cues=tuple(same))
        self._scripts.due()

    def _look_beside(self) -> None:
        """Bring in scripts that a person edited; where that cannot be, say so and go on without."""
        try:
            brought = self._beside.brought_into(self._track)
        except ShotadError as error:
            self._tell(error.what, error.hint)
            return
        self._trouble = None
        if brought is not None:
            self._file.write(brought)
            self._track = brought
            self._scripts.due()

    def _look_at_records(self) -> None:
        if signatures(self.folder / name for name in _RECORDS) == self._recorded:
            return
        try:
            self.reread()
        except WorkFolderError:
            return  # a run is in the middle of writing them
        if self._hub is not None:
            self._hub.tell("film", {})

    def _tell(self, what: str, hint: str) -> None:
        """Tell all pages of trouble, once."""
        if self._hub is not None and self._trouble != (what, hint):
            self._hub.tell("trouble", {"what": what, "hint": hint})
        self._trouble = (what, hint)

    def _write_scripts(self) -> None:
        """Write the scripts as the track now is, unless somebody's edits in them wait to be sorted out."""
        texts = self._beside.texts(self._track)
        try:
            with self._open():
                self._take_in()
                self._beside.write(texts)
        except ShotadError as error:
            self._tell(error.what, error.hint)
