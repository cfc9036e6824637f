"""The end of the third act: cues become the track, without losing what a person changed, and the
track becomes files.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from shotad import __version__
from shotad.errors import WorkFolderError
from shotad.outcome import Outcome, long_silences
from shotad.prepare import Bench, Prepared
from shotad.script.cue import Cue, Maker
from shotad.script.dapt import write_dapt
from shotad.script.edits import derive
from shotad.script.sheet import write_csv
from shotad.script.srt import write_srt
from shotad.script.track import FilmId, Track, load_track, to_json
from shotad.script.webvtt import write_vtt
from shotad.types import Interval
from shotad.workfolder import WorkFolder, write_text

TRACK = "track.json"

WRITERS = {
    "vtt": write_vtt,
    "srt": write_srt,
    "dapt": write_dapt,
    "csv": write_csv,
    "json": to_json,
}
"""Script formats by name."""

SUFFIXES = {"vtt": ".ad.vtt", "srt": ".ad.srt", "dapt": ".ad.dapt.xml", "csv": ".ad.csv", "json": ".ad.json"}

BESIDE_TRACK = ("vtt", "srt", "dapt", "csv")
"""The formats that every run writes; ``track.json`` is the JSON."""


def write_track(
    cues: Sequence[Cue],
    prepared: Prepared,
    bench: Bench,
    makers: tuple[Maker, ...],
    *,
    discard_edits: bool,
) -> Outcome:
    """Write ``track.json`` and the scripts; lines that a person edited stay as they are.

    A part of the film that this run did not describe keeps the lines it has.
    """
    folder, given = bench.folder, bench.given
    film = FilmId(prepared.info.name, prepared.info.fingerprint, prepared.end)
    fresh = Track(film, bench.config.language, makers, __version__, ()).with_cues(cues)
    described = Interval(given.start, min(prepared.end, given.end or prepared.end))
    track = fresh if discard_edits else derive(present_track(folder, film), fresh, described)
    files = save_track(track, folder.path, prepared.info.name)
    speech = [utterance.interval for utterance in prepared.speech]
    silences = long_silences(track, speech, described)
    return Outcome(track, files, described, silences, prepared.failed, prepared.warnings)


def present_track(folder: WorkFolder, film: FilmId) -> Track | None:
    """The track in the folder, edits and all; None where there is none yet."""
    path = folder.path / TRACK
    if not path.exists():
        return None
    track = load_track(path)
    if track.film.fingerprint != film.fingerprint:
        raise WorkFolderError(
            f"{path} belongs to another film ({track.film.name}, fingerprint {track.film.fingerprint}).",
            "Name another folder with --out, or move that track away.",
        )
    return track


def save_track(track: Track, folder: Path, name: str) -> tuple[Path, ...]:
    """Write the track and its scripts; their paths."""
    stem = Path(name).stem or name
    paths = [folder / TRACK]
    write_text(paths[0], to_json(track))
    for format_ in BESIDE_TRACK:
        paths.append(folder / f"{stem}{SUFFIXES[format_]}")
        write_text(paths[-1], WRITERS[format_](track))
    return tuple(paths)
