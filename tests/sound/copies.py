"""The copy of a film that pauses, as a render makes it before the description is mixed in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from shotad.core import Interval, NoProgress, Progress, WorkFolder, load_config
from shotad.film import Film, Prepared
from shotad.script.track_files import TRACK
from shotad.sound import Fitting, Pause, Spoken, Take
from shotad.sound.file_maker import FileMaker
from shotad.sound.spoken_lines import Materials
from tests.sound.fitted import track_of


@dataclass(frozen=True)
class CopyTime:
    """When something of a film is seen or heard in its copy with these pauses, which ascend."""

    pauses: Sequence[Pause]

    @property
    def total(self) -> float:
        return sum(pause.length for pause in self.pauses)

    def late(self, second: float) -> float:
        """Where the film goes on from a second, after a pause in it."""
        return second + sum(pause.length for pause in self.pauses if pause.at <= second)

    def interval(self, interval: Interval) -> Interval:
        """An interval; one that ends or begins at a pause does not last through it."""
        waited = sum(pause.length for pause in self.pauses if pause.at < interval.end)
        return Interval(self.late(interval.start), interval.end + waited)

    def pause(self, number: int) -> Interval:
        start = self.pauses[number].at + sum(pause.length for pause in self.pauses[:number])
        return Interval(start, start + self.pauses[number].length)

    def spoken(self, line: Spoken) -> Interval:
        """When a line is heard; one with a pause is as far from the pause's beginning as in the film."""
        start = self.late(line.start)
        for number, pause in enumerate(self.pauses):
            if line.pause and pause.cue_id == line.id:
                start = self.pause(number).start + line.start - pause.at
        return Interval(start, start + line.take.seconds)


@contextmanager
def film_copy(
    film: Film,
    pauses: Sequence[Pause],
    folder: Path,
    ending: str,
    *settings: str,
    progress: Progress | None = None,
) -> Iterator[Film]:
    """The copy with pauses, in a container of that ending; it is gone with the context, as after a render."""
    take = Take(np.zeros(100, np.float32), 1000)
    spoken = tuple(Spoken(pause.cue_id, "A line.", pause.at, take, pause=pause.length) for pause in pauses)
    config = load_config(None, ("extended.on=true", *settings))
    prepared = Prepared(film.info, film.info.duration, (), (), (), ())
    with WorkFolder(folder) as work_folder, ExitStack() as copies:
        materials = Materials(
            film, work_folder, config, track_of(), folder / TRACK, prepared,
            speech=(), edited_lines={}, file_hashes={}, fitting=Fitting(spoken, pauses=tuple(pauses)),
        )  # fmt: skip
        yield FileMaker(materials, progress or NoProgress(), copies).scene(ending).film
