"""Fit the file of a recording to a film, and keep the result in the film's work folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from shotad.core import Interval, Progress, WorkFolder
from shotad.core.errors import SoundError, UsageError
from shotad.core.progress import progress_task
from shotad.core.types import AudioTrack
from shotad.core.workfolder import hash_key
from shotad.film import Film, SoundBlock, SoundFile, sound_blocks
from shotad.film.audio import choose_track
from shotad.sound.alignment.fingerprints import RATE, Fingerprint, fingerprint
from shotad.sound.alignment.fit import align_recording
from shotad.sound.alignment.pieces import AlignedPiece, Alignment

ALIGNMENT = "alignment"
"""Name of the record in the work folder, without its ending."""
_VERSION = f"{ALIGNMENT}/4"


def align_files(
    film: Film, recording: SoundFile, folder: WorkFolder, progress: Progress, *, film_track: int | None = None
) -> Alignment:
    """How ``recording`` fits the film's track of that number (None: the default one), kept in ``folder``.

    The record is found again for the same two files, whatever they are called. Raises UsageError for the same
    file twice, SoundError as `align_recording` and for a film without sound.
    """
    own_track = choose_track(film.info, film_track)
    if own_track is None:
        raise SoundError(f"{film.info.name} has no sound to compare with.", "Name a film with sound.")
    fingerprint_of_recording = recording.media.fingerprint()
    track = recorded_track(recording)
    if fingerprint_of_recording == film.info.fingerprint and track == own_track:
        raise UsageError(
            f"{film.info.name} and {recording.name} are the same sound.",
            "Name the film and a recording of it.",
        )

    def make() -> Alignment:
        own = _listened(
            sound_blocks(film, own_track.number, RATE), film.info.name, film.info.duration, progress
        )
        other = _listened(recording.blocks(track, RATE), recording.name, recording.duration, progress)
        return align_recording(own, other)

    def record_of(alignment: Alignment) -> dict[str, Any]:
        return {"film": film.info.name, "recording": recording.name, **alignment_record(alignment)}

    key = hash_key(_VERSION, film.info.fingerprint, own_track.number, fingerprint_of_recording, track.number)
    return folder.cached(ALIGNMENT, key, make, write=record_of, read=alignment_of)


def recorded_track(recording: SoundFile) -> AudioTrack:
    """The track of a recording that is fitted: with description, else the default one, else the first."""
    return min(recording.audio, key=lambda track: (not track.descriptive, not track.default, track.number))


def _listened(blocks: Iterable[SoundBlock], name: str, duration: float, progress: Progress) -> Fingerprint:
    with progress_task(progress, f"Listening to {name}", duration, "s") as task:

        def counted() -> Iterator[SoundBlock]:
            for block in blocks:
                yield block
                task.advance(len(block.samples) / RATE)

        return fingerprint(counted())


def alignment_record(alignment: Alignment) -> dict[str, Any]:
    """An alignment as JSON, times in seconds."""
    return {
        "film_duration": alignment.film_duration,
        "recording_duration": alignment.recording_duration,
        "pieces": [
            {
                "film": [piece.film.start, piece.film.end],
                "recording": [piece.recording.start, piece.recording.end],
                "confidence": round(piece.confidence, 3),
                "residual": round(piece.residual, 5),
                "start_error": round(piece.start_error, 3),
                "end_error": round(piece.end_error, 3),
            }
            for piece in alignment.pieces
        ],
        "ambiguous": [[part.start, part.end] for part in alignment.ambiguous],
    }


def alignment_of(record: dict[str, Any]) -> Alignment:
    """The alignment in a record of `alignment_record`."""
    pieces = [
        AlignedPiece(
            Interval(*row["film"]),
            Interval(*row["recording"]),
            row["confidence"],
            row["residual"],
            row["start_error"],
            row["end_error"],
        )
        for row in record["pieces"]
    ]
    ambiguous = tuple(Interval(*part) for part in record["ambiguous"])
    return Alignment(tuple(pieces), record["film_duration"], record["recording_duration"], ambiguous)
