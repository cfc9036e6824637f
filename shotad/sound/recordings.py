"""A person's own recording of a line: read, checked, cut, and kept beside the takes of the voice.

`read_recording` takes what a microphone gave: WAV, FLAC, or what browsers record (WebM, Ogg, MP4). The
result is mono, without the silence around the voice, and its ``warnings`` say what could be heard to be
wrong. `keep_recording` writes it to ``voice/own`` in the work folder, under the line, its words, and a hash
of the sound. A file is never overwritten, so an undo finds the recording that was there before.

`record_line`, `keep_for_new_words` and `discard_recording` change a track; the same changes are acts of the
review page.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shotad.core import WorkFolder
from shotad.core.errors import SoundError
from shotad.core.files import inner_folder
from shotad.core.progress import plural
from shotad.film import Samples
from shotad.script import Cue, Edit, EditField, Track, load_track, save_track, track_lock
from shotad.script.cue import Recording, mark_edit, spoken_stamp, timecode
from shotad.script.track import find_lines
from shotad.script.track_files import TRACK, with_edited_scripts
from shotad.sound.kinds import OWN_VOICE, Take
from shotad.sound.programme import RATE
from shotad.sound.spoken_lines import VOICES
from shotad.sound.takes import RECORDINGS, read_take, write_take

MAX_RECORDING_BYTES = 50_000_000
"""Bytes of a file: two minutes in stereo with 32 bits."""

MAX_RECORDING_SECONDS = 120.0
"""No gap of a film is longer, and nobody reads a line for so long."""

_FORMATS = (
    (b"RIFF", 0, "wav"),
    (b"RF64", 0, "wav"),
    (b"fLaC", 0, "flac"),
    (b"OggS", 0, "ogg"),
    (b"\x1aE\xdf\xa3", 0, "matroska"),
    (b"ftyp", 4, "mov"),
)
"""First bytes, where they stand, and ffmpeg's name. Others are not tried: some lead to other files."""

_FRAME = 0.01
"""Seconds over which loudness is measured to find where the voice begins."""
_RUN = 5
"""Frames that must be loud together: a click of the mouse is shorter than a sound of speech."""
_GAP = 3
"""Frames that may be soft within such a run."""
_BEFORE, _AFTER = 0.05, 0.12
"""Seconds kept before and after what is loud: words begin and end softly."""
_UNDER_PEAK = 45.0
"""dB under the loudest frame; what is softer belongs to no word."""
_OVER_NOISE = 8.0
"""dB over the noise behind the voice."""
_INAUDIBLE = -60.0
"""dBFS of the loudest frame under which nothing was recorded."""
_SOFT = -40.0
"""dBFS of the loudest frame under which noise comes up when the level is matched."""
_NOISY = 20.0
"""dB between the voice and the noise behind it, under which the noise is heard."""
_FULL = 0.99
"""Amplitude of a sample that is at full scale."""
_CLIPPED_RUN = 3
"""Samples at full scale in a row that are a peak cut off."""
_PEAK = 0.9
"""Peak of a kept recording; how loud it is heard, the mix decides."""
_FADE = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class RecordedSound:
    """A recording ready to be kept: ``float32[n]`` at `RATE`, and plain sentences on what is wrong with
    it."""

    samples: Samples
    warnings: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        return len(self.samples) / RATE


def read_recording(data: bytes) -> RecordedSound:
    """A recording as a file of sound holds it: mono, at `RATE`, cut to the voice.

    Raises SoundError for a file that is too long or cannot be read, and where nothing can be heard in it.
    """
    samples = _decoded(data)
    frames = _frame_levels(samples)
    loudest = float(frames.max(initial=-math.inf))
    if loudest < _INAUDIBLE:
        raise SoundError(
            "Nothing can be heard in the recording.",
            "Is the right microphone chosen, is it switched on, and may this program use it?",
        )
    # The noise behind the voice: that of the softest tenth.
    noise = float(np.percentile(frames, 10))
    border = max(loudest - _UNDER_PEAK, min(noise + _OVER_NOISE, loudest - 12))
    span = _loud_span(frames > border)
    if span is None:
        raise SoundError(
            "No voice can be heard in the recording, only a click.", "Record the line once more."
        )
    step = round(_FRAME * RATE)
    first = max(0, span[0] * step - round(_BEFORE * RATE))
    end = min(len(samples), span[1] * step + round(_AFTER * RATE))
    warnings = [*_clipping(samples[first:end])]
    if loudest < _SOFT:
        warnings.append(
            f"The recording is very soft ({loudest:.0f} dB). Go nearer to the microphone, or turn it up: "
            "noise is raised with the voice."
        )
    # Without silence around the voice nothing is known of the noise.
    has_silence = (frames <= border).mean() > 0.1
    if has_silence and loudest - noise < _NOISY:
        warnings.append("There is much noise behind the voice. Record it in a quieter place.")
    cut = samples[first:end].astype(np.float64)
    cut -= cut.mean()
    count = min(round(_FADE * RATE), len(cut) // 2)
    ramp = np.linspace(0, 1, count, endpoint=False)
    cut[:count] *= ramp
    cut[len(cut) - count :] *= ramp[::-1]
    peak = float(np.abs(cut).max())
    return RecordedSound(np.asarray(cut * (_PEAK / peak), np.float32), tuple(warnings))


def _decoded(data: bytes) -> Samples:
    """``float32[n]``, mono, at `RATE`. Raises SoundError."""
    import av

    hint = "Give a WAV or FLAC file, or what the browser recorded."
    if len(data) > MAX_RECORDING_BYTES:
        message = f"The recording has more than {MAX_RECORDING_BYTES / 1e6:.0f} MB."
        raise SoundError(message, "Record one line at a time.")
    form = next((name for head, at, name in _FORMATS if data[at : at + len(head)] == head), None)
    if form is None:
        raise SoundError("The recording is no sound file that is known.", hint)
    parts: list[Samples] = []
    size = 0
    try:
        with av.open(io.BytesIO(data), "r", format=form) as container:
            resampler = av.AudioResampler(format="flt", layout="mono", rate=RATE)
            for frame in [*_limited_frames(container), None]:
                if frame is not None:
                    frame.pts = None
                for resampled in resampler.resample(frame):
                    parts.append(np.asarray(resampled.to_ndarray()[0]))
                    size += len(parts[-1])
    except (av.FFmpegError, IndexError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SoundError(f"The recording cannot be read: {reason}.", hint) from None
    samples = np.concatenate(parts) if parts else np.zeros(0, np.float32)
    if len(samples) == 0 or not np.isfinite(samples).all():
        raise SoundError("There is no sound in the recording.", hint)
    return np.asarray(samples, np.float32)


def _limited_frames(container: Any) -> Iterator[Any]:
    """The frames of the first track of sound. Raises SoundError behind `MAX_RECORDING_SECONDS`."""
    seconds = 0.0
    for frame in container.decode(container.streams.audio[0]):
        seconds += frame.samples / frame.sample_rate
        if seconds > MAX_RECORDING_SECONDS:
            raise SoundError(
                f"The recording lasts more than {MAX_RECORDING_SECONDS:.0f} s.", "Record one line at a time."
            )
        yield frame


def _frame_levels(samples: Samples) -> npt.NDArray[np.float64]:
    """Loudness in dBFS of each `_FRAME`; the last one may be filled with silence."""
    step = round(_FRAME * RATE)
    count = max(1, -(-len(samples) // step))
    padded = np.zeros(count * step)
    padded[: len(samples)] = samples - samples.mean()
    power = (padded.reshape(count, step) ** 2).mean(axis=1)
    return np.asarray(10 * np.log10(power + 1e-12), np.float64)


def _loud_span(loud: npt.NDArray[np.bool_]) -> tuple[int, int] | None:
    """First and last frame (half open) of the runs of loud frames; None where all are too short."""
    runs: list[list[int]] = []
    for index in np.flatnonzero(loud):
        if runs and index - runs[-1][1] <= _GAP:
            runs[-1][1] = int(index)
        else:
            runs.append([int(index), int(index)])
    long_runs = [run for run in runs if run[1] - run[0] + 1 >= _RUN]
    return (long_runs[0][0], long_runs[-1][1] + 1) if long_runs else None


def _clipping(samples: Samples) -> Iterator[str]:
    """A sentence where peaks are cut off."""
    is_full = np.concatenate(([False], np.abs(samples) >= _FULL, [False]))
    changes = np.flatnonzero(is_full[1:] != is_full[:-1])
    lengths = changes[1::2] - changes[::2]
    count = int((lengths >= _CLIPPED_RUN).sum())
    if count:
        places = plural(count, "place")
        remedy = "Turn the microphone down, or go further away."
        yield f"The recording is too loud, and distorted in {places}. {remedy}"


def recordings_folder(folder: Path) -> Path:
    """The folder of recordings in a work folder; it need not exist. Raises WorkFolderError."""
    return inner_folder(folder, VOICES, RECORDINGS)


def keep_recording(folder: Path, cue: Cue, sound: RecordedSound) -> Recording:
    """Write a recording of a line, as it is worded now, into the work folder. Raises WorkFolderError."""
    take = Take(sound.samples, RATE, voice=OWN_VOICE)
    stamp = spoken_stamp(cue.text)
    name = f"{cue.id}-{stamp}-{take.key[:16]}.flac"
    write_take(recordings_folder(folder) / name, take)
    return Recording(name, stamp, round(sound.seconds, 3))


def recording_file(folder: Path, recording: Recording) -> Path | None:
    """The file of a recording; None where it is gone or damaged."""
    path = recordings_folder(folder) / recording.file
    return path if read_take(path) is not None else None


def with_recording(cue: Cue, recording: Recording | None, source: str) -> Cue:
    """The line with a person's recording; None: without any.

    ``source`` is through what it was changed (`Edit.source`).
    """
    length = cue.spoken_length if recording is None else recording.seconds
    changed = replace(cue, stored_recording=recording, spoken_length=length)
    return mark_voice_edit(changed, cue, source)


def mark_voice_edit(cue: Cue, before: Cue, source: str) -> Cue:
    """The line marked as one whose voice, pace or recording a person chose; unmarked where none is left."""
    if cue.voice or cue.pace != 1 or cue.stored_recording is not None:
        return mark_edit(cue, before, (EditField.VOICE,), source)
    edit = cue.edited
    if edit is None or EditField.VOICE not in edit.fields:
        return cue
    fields = tuple(field for field in edit.fields if field is not EditField.VOICE)
    return replace(cue, edited=Edit(fields, edit.source, edit.machine) if fields else None)


def kept_for_new_words(cue: Cue, source: str) -> Cue:
    """The line whose recording is used although its words have changed since. Raises SoundError where it has
    none."""
    if cue.stored_recording is None:
        raise SoundError("This line has no recording.", "Record it first.")
    kept = replace(cue.stored_recording, stamp=spoken_stamp(cue.text))
    return with_recording(cue, kept, source)


def recording_notes(folder: Path, track: Track) -> tuple[str, ...]:
    """Plain sentences on recordings that are not used: of other words, or without their file."""
    outdated: list[str] = []
    missing: list[str] = []
    for cue in track.heard:
        if cue.stored_recording is None:
            continue
        if cue.recording is None:
            outdated.append(timecode(cue.start))
        elif recording_file(folder, cue.recording) is None:
            missing.append(timecode(cue.start))
    notes: list[str] = []
    for moments, why, remedy in (
        (outdated, "recorded for another text", "Record again, or keep the recording: shotad record --keep."),
        (missing, "of which the recording is gone", "Record again."),
    ):
        if moments:
            lines = plural(len(moments), "line")
            first = ", ".join(moments[:_MAX_MOMENTS]) + (" …" if len(moments) > _MAX_MOMENTS else "")
            notes.append(f"{lines} {why}, spoken by the voice instead: {first}. {remedy}")
    return tuple(notes)


_MAX_MOMENTS = 5
"""Lines that a note names."""

COMMAND = "record"
"""Source of edits that the command made."""


def record_line(folder: WorkFolder, line_name: str, sound: RecordedSound) -> Cue:
    """Keep a recording as that of a line of the film's track; returns the line.

    ``line_name`` is an id, a time, or a number in SRT. Raises UsageError for one that is not there,
    SoundError for a line without words.
    """

    def recorded(cue: Cue) -> Cue:
        return with_recording(require_words(cue), keep_recording(folder.path, cue, sound), COMMAND)

    return change_line(folder, line_name, recorded)


def change_line(folder: WorkFolder, line_name: str, change: Callable[[Cue], Cue]) -> Cue:
    """Change one line of the film's track, as it is on the disk with its scripts, and save it."""
    with track_lock(folder.path):
        track, _ = with_edited_scripts(load_track(folder.path / TRACK), folder)
        cue = find_lines(track, [line_name])[0]
        changed = change(cue)
        cues = [changed if other.id == cue.id else other for other in track.cues]
        save_track(track.with_cues(cues), folder.path, track.film.name)
    return changed


def require_words(cue: Cue) -> Cue:
    """The line itself. Raises SoundError where it has no words that are heard."""
    if not cue.heard:
        raise SoundError("A line that is not heard cannot be recorded.", "Write it, or restore it, first.")
    return cue
