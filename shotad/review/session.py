"""A person at work on a track: acts, undo and redo, each on the disk before it is answered.

Others may write the same track meanwhile: a run that describes the film, an import, an editor. Whatever they
changed is taken in before anything is done, and nothing of theirs is overwritten.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from shotad.core import (
    FilmInfo,
    OutOfDate,
    ReviewError,
    RunSettings,
    ScriptError,
    ShotadError,
    WorkFolder,
    WorkFolderError,
    quoted,
)
from shotad.film import Prepared, SlotChange, change_slots, recorded, refuse_lost_slots
from shotad.review.acts import ACTS, JOINED
from shotad.review.events import Json, Tabs
from shotad.review.history import History, LineStep, Step, Way, changed_track, step_of, walked
from shotad.review.jobs import WhenQuiet
from shotad.review.keeping import News, SideScripts, Signature, TrackFile, differences, signatures
from shotad.review.scene import Asked, Change, Scene
from shotad.script import TRACK, Cue, Track, content_stamp, refuse_older, track_lock

_RECORDS = ("shots.json", "speech.json", "slots.json")


class Session:
    """One work folder, open for review: its track, slots and scripts, read and written under locks (`open`).

    ``revision`` counts the states of the track since it began; ``prepared`` is what the run found of the
    film, with the slots as they are now. ``told`` is called with whatever changes and who asked for it: the
    name of a tab, ``job``, or ``disk``; it gives the `Change.view`. All may be called from any thread.

    Raises WorkFolderError where the folder belongs to another film, or a record is missing or damaged,
    ScriptError for a track that cannot be read.
    """

    def __init__(
        self, folder: Path, film: FilmInfo, run: RunSettings, *, reviewer: str = "", tabs: Tabs | None = None
    ) -> None:
        self.reviewer = reviewer
        self.told: Callable[[Change, str], Json] = lambda change, origin: {}
        self.folder, self.film, self.config = folder, film, run.config
        self._tabs = Tabs() if tabs is None else tabs
        self.revision, self.news = 0, News()
        self._records = tuple(folder / name for name in _RECORDS)
        self._seen: tuple[Signature, ...] = ()
        self._read_records()
        self._lock = threading.RLock()
        self._file = TrackFile(folder / TRACK)
        self._trouble: tuple[str, str] | None = None
        self._broken = False
        self._scripts = WhenQuiet(self._write_scripts, 1.0, "shotad scripts", longest=5.0)
        try:
            with self.open():
                track = self._file.look()
                if track is None or track.film.fingerprint != self.film.fingerprint:
                    name = "none" if track is None else track.film.name
                    raise WorkFolderError(
                        f"{self._file.path} belongs to another film: {name}, not {self.film.name}.",
                        "Name that film with --film, or another work folder.",
                    )
                refuse_older(track, folder)
                refuse_lost_slots(folder)
                self.track = track
                self._beside = SideScripts(folder, self.track.film.name)
                self._look_beside()
        except BaseException:
            self._scripts.close()
            raise
        self._scripts.ask()  # those that a killed server left as they were
        self._history = History(folder)
        if self._history.is_open:
            with self._opened():
                pass

    @property
    def next_steps(self) -> dict[str, str | None]:
        return self._history.next_steps

    def cue(self, name: str) -> Cue:
        """The line called ``name``. Raises ReviewError where there is none."""
        return self.scene().cue(name)

    def scene(self) -> Scene:
        """What acts may know."""
        rate, prepared = self.film.frame_rate, self.prepared
        return Scene(
            track=self.track,
            free=prepared.gaps,
            slots={slot.id: slot for slot in prepared.slots},
            frame=float(1 / rate) if rate else 0.04,
            reviewer=self.reviewer,
            end=prepared.end,
            settings=self.config.slots,
        )

    def act(
        self,
        name: str,
        line: str,
        args: Json,
        *,
        seen: str | None = None,
        origin: str = "",
        group: str = "",
        asked: Asked | None = None,
    ) -> Change:
        """Do the act called ``name`` to a line; it is on the disk when this returns.

        ``seen`` is the `content_stamp` of the line that the person sees; what acts of the same tab made of it
        since is no news to them. Acts of one ``group`` that follow each other are one step of undo. An act
        that was ``asked`` for and done before is not done again; then nothing is said. Raises OutOfDate for a
        line that has changed since, ReviewError for what cannot be done, WorkFolderError where it cannot be
        written; then nothing is changed.
        """
        if name not in ACTS:
            raise ReviewError(f"There is no act {quoted(name)}.", f"There are {', '.join(ACTS)}.")
        act = ACTS[name]

        def make() -> Change:
            scene = self.scene()
            # Two lines that are as a split left them become the line as it was, accepted if it was.
            other = scene.following(scene.cue(line)) if name == "join" else None
            step = None if other is None else self._history.adding(other.id)
            if other is not None and step is not None and [one.id for one in step.lines] == [line, other.id]:
                with suppress(OutOfDate):
                    back = walked(step, "undo", self.track, self.prepared.slots)
                    return replace(back, said=JOINED, focus=line)
            return act(scene, line, args)

        of_slots = name in ("add_slot", "remove_slot")
        return self.change(
            make, line=line, seen=None if of_slots else seen, origin=origin, group=group, asked=asked
        )

    def change(
        self,
        make: Callable[[], Change],
        *,
        line: str = "",
        seen: str | None = None,
        origin: str = "",
        group: str = "",
        asked: Asked | None = None,
    ) -> Change:
        """Keep what ``make`` says, once all that others wrote is taken in; see `act`."""
        with self._opened():
            if self._history.knows(asked):
                return self._done(Change(""), origin)
            if seen is not None:
                cue = self.scene().cues.get(line)
                now = None if cue is None else content_stamp(cue)
                if now is None or self._history.grown(asked, seen, now) != now:
                    raise OutOfDate(
                        f"The line {line} has changed since you saw it.",
                        "Look at it now, and do it again if you still want it.",
                    )
            change = make()
            step = step_of(self.track, change, group)
            if step.lines or step.slots:
                self._history.begin(step, asked)
                self._keep(change)
                self._note(lambda: self._history.add(step, asked))
            elif asked is not None:
                self._note(lambda: self._history.pass_by(asked))
            return self._done(change, origin)

    def undo(self, origin: str = "", asked: Asked | None = None) -> Change:
        """Take the last step back. Raises ReviewError where there is none, OutOfDate where one of its lines
        has changed otherwise since: that step is passed over, and the one before it is next."""
        return self._walk("undo", origin, asked)

    def redo(self, origin: str = "", asked: Asked | None = None) -> Change:
        """Do again what was undone last; raises as `undo`."""
        return self._walk("redo", origin, asked)

    def refresh(self) -> Change | None:
        """Take in what others have changed on the disk; what that is, or None.

        Raises ReviewError while the track there cannot be used.
        """
        if not self.is_stale and not self.news:
            return None
        with self._opened():
            return self._done(Change(""), "disk") if self.news else None

    def expect(self) -> None:
        """A job begins that will write the track: what is taken in from now on is what it did (`absorb`)."""
        with self._opened():
            self.news.expect()

    def absorb(self, said: str) -> Change | None:
        """Take in what a job wrote, as one step that can be undone; None where it changed nothing.

        Of what was taken in before (`refresh`, `act`) those lines are part of the step that were described
        again, or all since `expect`.
        """
        with self.open():
            before = self.track
            self._take_in()
            earlier = self.news.of_job(self.track, differences(before, self.track))
            now = {cue.id: cue for cue in self.track.cues}
            steps = (LineStep.of(name, was, now.get(name)) for name, was in earlier.items())
            lines = tuple(step for step in steps if step.was != step.now)
            if lines:
                self._note(lambda: self._history.add(Step(said, lines)))
            return self._done(Change(said), "job") if lines or self.news else None

    @contextmanager
    def _opened(self) -> Iterator[None]:
        """Nobody else changes the track meanwhile, and all that others wrote is taken in."""
        with self.open():
            self._take_in()
            yield

    def _take_in(self) -> None:
        self._take_in_track()
        self._history.sync()
        self._note(lambda: self._history.settle(self.track, self.prepared.slots))

    def _walk(self, way: Way, origin: str, asked: Asked | None) -> Change:
        with self._opened():
            if self._history.knows(asked):
                return self._done(Change(""), origin)
            step = self._history.last(way)
            if step is None:
                raise ReviewError("There is nothing to undo." if way == "undo" else "Nothing was undone.")
            try:
                change = walked(step, way, self.track, self.prepared.slots)
            except OutOfDate:
                self._history.skip(way)
                raise
            self._history.begin(way, asked)
            self._keep(change)
            self._note(lambda: self._history.add(way, asked))
            return self._done(change, origin)

    def _done(self, change: Change, origin: str) -> Change:
        """What was done, with all that was taken in since something was last told."""
        news = self.news.told({*(cue.id for cue in change.cues), *change.gone}, self.track)
        said = change.said if origin == "job" else f"{change.said} {news.said}".strip()
        together = replace(
            change, said=said, cues=(*change.cues, *news.cues), gone=(*change.gone, *news.gone)
        )
        return replace(together, view=self.told(together, origin))

    def _note(self, note: Callable[[], None]) -> None:
        """Add to the history. What is in the track by now was done, also where it cannot be noted."""
        try:
            note()
        except WorkFolderError as error:
            self._tell(error.what, error.hint)

    @contextmanager
    def open(self) -> Iterator[None]:
        """Nobody else, in this process or another, changes the track meanwhile."""
        with self._lock, track_lock(self.folder):
            yield

    @property
    def is_stale(self) -> bool:
        """Whether something on the disk is another than what was last read or written."""
        with self._lock:
            stale = signatures(self._records) != self._seen
            return stale or self._file.is_stale or self._beside.is_stale

    @contextmanager
    def written(self) -> Iterator[Track]:
        """The track, and the scripts beside it written as it is; nobody changes either meanwhile."""
        with self.open():
            self._take_in_track()
            self._beside.write(self._beside.texts(self.track))
            yield self.track

    def _take_in_track(self) -> None:
        """Bring the track up to what the disk has; it is `open`. Raises ReviewError while that is no good."""
        before = self.track
        try:
            found = self._file.look()
        except ScriptError as error:
            hint = f"{error.hint} Mend that file; until then nothing is changed here.".strip()
            self._tell(error.what, hint)
            self._broken = True
            raise ReviewError(error.what, hint) from None
        if self._broken:
            self._broken = False
            self._tell("", "")  # it is mended
        try:
            if found is not None:
                if found.film.fingerprint != self.film.fingerprint:
                    self._file.forget()
                    raise ReviewError(
                        f"{self._file.path} now belongs to another film: {found.film.name}.",
                        f"Put the track of {self.film.name} back; until then nothing is changed here.",
                    )
                kept = {cue.id: cue for cue in self.track.cues}
                # Same lines stay the same objects, by which what is known of them is found again.
                same = (kept[cue.id] if kept.get(cue.id) == cue else cue for cue in found.cues)
                self.track = replace(found, cues=tuple(same))
                self._scripts.ask()
            self._look_beside()
        finally:
            self.news.add(differences(before, self.track))
            self.revision += self.track is not before
        if signatures(self._records) != self._seen:
            try:
                self._read_records()
            except WorkFolderError:
                self._seen = ()  # a run that is in the middle of writing them is waited for
                return
            self._tabs.send("film", {})

    def _keep(self, change: Change) -> None:
        """Write a change, its slots and then its lines, both or none; it is `open`."""
        slots, track = change.slots, changed_track(self.track, change)
        moved = slots != SlotChange()
        if moved:
            change_slots(self.folder, slots)
        try:
            self._file.write(track)
        except ShotadError:
            if moved:
                change_slots(self.folder, slots.inverse)
            raise
        if moved:
            self._read_records()
        self.track = track
        self.revision += 1
        self._scripts.ask()

    def close(self) -> None:
        """Write the scripts that are still due. Only reading is possible afterwards."""
        self._scripts.close(finish=True)

    def _tell(self, what: str, hint: str) -> None:
        if self._trouble != (what, hint):
            self._tabs.send("trouble", {"what": what, "hint": hint})
        self._trouble = (what, hint)

    def _read_records(self) -> None:
        self._seen = signatures(self._records)
        self.prepared: Prepared = recorded(WorkFolder(self.folder), self.film, self.config)

    def _look_beside(self) -> None:
        """Bring in scripts that a person edited; where that cannot be, say so and go on without."""
        track, trouble = self._beside.brought_into(self.track)
        if trouble is None:
            self._trouble = None
        else:
            self._tell(trouble.what, trouble.hint)
        if track is not self.track:
            self._file.write(track)
            self.track = track
            self._scripts.ask()

    def _write_scripts(self) -> None:
        """Write the scripts as the track now is, but those in which edits wait to be sorted out."""
        texts = self._beside.texts(self.track)
        try:
            with self.open():
                self._take_in_track()
                self._beside.write(texts)
        except ShotadError as error:
            self._tell(error.what, error.hint)
