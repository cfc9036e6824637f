"""How the frames of a described film are counted, for scripts that hold markers."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from shotad.core import FilmInfo, ShotadError
from shotad.core.runsettings import read_settings
from shotad.film import open_film
from shotad.film.slot_records import work_folder_film
from shotad.film.start_code import start_timecode
from shotad.script import load_track
from shotad.script.cue import DEFAULT_FRAME_RATE
from shotad.script.frame_count import FilmFrames
from shotad.script.track_files import TRACK


def frames_of_film(film: FilmInfo) -> FilmFrames:
    """The count of a film's frames, from the time code of its first frame, or from 0 where it has none."""
    rate = film.frame_rate or DEFAULT_FRAME_RATE
    frames = FilmFrames(rate, width=film.width, height=film.height)
    if film.path is not None and (timecode := start_timecode(film.path)):
        # One of another rate, or that is damaged, tells nothing.
        with suppress(ValueError):
            return frames.starting_at(timecode)
    return frames


def frames_of_folder(folder: Path) -> FilmFrames | None:
    """The count of the frames of a work folder's film; None where the film is not at hand."""
    try:
        run = read_settings(folder)
        path = work_folder_film(folder, run, load_track(folder / TRACK).film.name)
        with open_film(path, reader=run.config.film.reader, frame_rate=run.frame_rate) as film:
            return frames_of_film(film.info)
    except ShotadError:
        return None
