"""A described recording fitted to a film: where each part of the recording lies in the film's time."""

from shotad.sound.alignment.aligned_files import (
    AlignedFiles as AlignedFiles,
    check_makes as check_makes,
    make_from_alignment as make_from_alignment,
)
from shotad.sound.alignment.files import align_files as align_files, recorded_track as recorded_track
from shotad.sound.alignment.fit import align_recording as align_recording
from shotad.sound.alignment.pieces import AlignedPiece as AlignedPiece, Alignment as Alignment
from shotad.sound.alignment.recording import Recording as Recording
from shotad.sound.alignment.report import (
    alignment_json as alignment_json,
    alignment_picture as alignment_picture,
    alignment_text as alignment_text,
)
