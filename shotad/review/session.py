"""A person at work on a track: acts, undo and redo, each on the disk before it is answered.

Others may write the same track meanwhile: a run that describes the film, an import, an editor. Whatever they
changed is taken in before anything is done, and nothing of theirs is overwritten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import get_args

from shotad.core import FilmInfo, OutOfDate, ReviewError, RunSettings, WorkFolderError
from shotad.review.acts import ACTS, JOINED
from shotad.review.events import Json, Tabs
from shotad.review.history import History, LineStep, Step, Way, stamp_of, step_of, walked
from shotad.review.keeping import Keeper, differences
from shotad.review.scene import Asked, Change, Done, Scene
from shotad.script import Cue


class Session(Keeper):
    """One work folder, open for review. All may be called from any thread. ``told`` is called with whatever
    changes, whoever asked for it: a tab, a job, or the disk; it gives the `Done.view`. Raises as `Keeper`.
    """

    def __init__(
        self, folder: Path, film: FilmInfo, run: RunSettings, *, reviewer: str = "", hub: Tabs | None = None
    ) -> None:
        super().__init__(folder, film, run.config, hub)
        self.reviewer = reviewer
        self.told: Callable[[Done], Json] = lambda done: {}
        self._history = History(folder)
        if self._history.is_open:
            with self._opened():
                pass

    @property
    def next_steps(self) -> dict[str, str | None]:
        """What is said of the next ``undo`` and ``redo``, and as ``undo_line`` and ``redo_line`` of which
        line they are; None where there is none, or it is of several, or of slots."""
        ways, history = get_args(Way), self._history
        return {way: history.label(way) for way in ways} | {f"{way}_line": history.line(way) for way in ways}

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
    ) -> Done:
        """Do the act called ``name`` to a line; it is on the disk when this returns.

        ``seen`` is the `stamp_of` the line that the person sees; what acts of the same tab made of it since
        is no news to them. Acts of one ``group`` that follow each other are one step of undo. An act that was
        ``asked`` for and done before is not done again; then nothing is said. Raises OutOfDate for a line
        that has changed since, ReviewError for what cannot be done, WorkFolderError where it cannot be
        written; then nothing is changed.
        """
        if name not in ACTS:
            raise ReviewError(f"There is no act {name!r}.", f"There are {', '.join(ACTS)}.")
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
    ) -> Done:
        """Keep what ``make`` says, once all that others wrote is taken in; see `act`."""
        with self._opened():
            if self._history.knows(asked):
                return self._done(Change(""), origin)
            if seen is not None:
                cue = self.scene().cues.get(line)
                now = None if cue is None else stamp_of(cue)
                if now is None or self._history.grown(asked, seen, now) != now:
                    raise OutOfDate(
                        f"The line {line} has changed since you saw it.",
                        "Look at it now, and do it again if you still want it.",
                    )
            change = make()
            step = step_of(self.track, change, group)
            if step.lines or step.slots:
                self._history.begin(step, asked)
                self.keep(change)
                self._note(lambda: self._history.add(step, asked))
            elif asked is not None:
                self._note(lambda: self._history.pass_by(asked))
            return self._done(change, origin)

    def undo(self, origin: str = "", asked: Asked | None = None) -> Done:
        """Take the last step back. Raises ReviewError where there is none, OutOfDate where one of its lines
        has changed otherwise since: that step is passed over, and the one before it is next."""
        return self._walk("undo", origin, asked)

    def redo(self, origin: str = "", asked: Asked | None = None) -> Done:
        """Do again what was undone last; raises as `undo`."""
        return self._walk("redo", origin, asked)

    def refresh(self) -> Done | None:
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

    def absorb(self, said: str, origin: str = "job") -> Done | None:
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
            return self._done(Change(said), origin) if lines or self.news else None

    @contextmanager
    def _opened(self) -> Iterator[None]:
        """Nobody else changes the track meanwhile, and all that others wrote is taken in."""
        with self.open():
            self._take_in()
            yield

    def _take_in(self) -> None:
        self.take_in()
        self._history.sync()
        self._note(lambda: self._history.settle(self.track, self.prepared.slots))

    def _walk(self, way: Way, origin: str, asked: Asked | None) -> Done:
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
            self.keep(change)
            self._note(lambda: self._history.add(way, asked))
            return self._done(change, origin)

    def _done(self, change: Change, origin: str) -> Done:
        """What was done, with all that was taken in since something was last told."""
        news = self.news.told({*(cue.id for cue in change.cues), *change.gone}, self.track)
        said = change.said if origin == "job" else f"{change.said} {news.said}".strip()
        together = replace(
            change, said=said, cues=(*change.cues, *news.cues), gone=(*change.gone, *news.gone)
        )
        done = Done(self.revision, together, origin)
        return replace(done, view=self.told(done))

    def _note(self, note: Callable[[], None]) -> None:
        """Add to the history. What is in the track by now was done, also where it cannot be noted."""
        try:
            note()
        except WorkFolderError as error:
            self.tell(error.what, error.hint)
