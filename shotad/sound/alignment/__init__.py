"""A described recording fitted to a film: where each part of the recording lies in the film's time."""

from shotad.sound.alignment.aligning import align_recording as align_recording
from shotad.sound.alignment.files import align_files as align_files
from shotad.sound.alignment.pieces import AlignedPiece as AlignedPiece, Alignment as Alignment
from shotad.sound.alignment.report import (
    alignment_json as alignment_json,
    alignment_picture as alignment_picture,
    alignment_text as alignment_text,
)
