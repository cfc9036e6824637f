"""Sound files: one writer for all kinds, by the ending of the name.

WAV and FLAC hold every sample, in 24 bits; a WAV of more than 4 GiB is an RF64. MP3, Opus (``.opus``,
``.ogg``) and AAC (``.m4a``) begin with samples of their coder's own; how many is written into the file, so
that players and decoders leave them out and sample 0 is heard at second 0.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from shotad.core.config.languages import language_of
from shotad.core.errors import SoundError, UsageError
from shotad.core.files import replace_file
from shotad.film import SoundBlock
from shotad.sound.layouts import common_layout, remixed, usual_layout
from shotad.sound.loudness import DOWNMIXED_PEAK
from shotad.sound.programme import RATE, channel_names


@dataclass(frozen=True, slots=True)
class SoundKind:
    """How a kind of file is written: ffmpeg's muxer with its options, the coder, its format of samples.

    ``bit_rate`` is for one channel, ``most`` how many channels it holds.
    """

    muxer: str
    codec: str
    pixels: str
    options: Mapping[str, str]
    bit_rate: int = 0
    most: int = 8


# Else the number of the stream in the file is drawn by chance.
_OPUS = SoundKind("ogg", "libopus", "flt", {"fflags": "+bitexact"}, 64_000)

SOUND_KINDS: Mapping[str, SoundKind] = {
    ".wav": SoundKind("wav", "pcm_s24le", "s32", {"rf64": "auto", "write_bext": "1"}),
    ".flac": SoundKind("flac", "flac", "s32", {}),
    ".mp3": SoundKind("mp3", "libmp3lame", "fltp", {"id3v2_version": "4", "write_xing": "1"}, 96_000, 2),
    ".opus": _OPUS,
    ".ogg": _OPUS,
    ".m4a": SoundKind("ipod", "aac", "fltp", {"movflags": "+faststart+use_metadata_tags"}, 96_000),
}
"""Kinds of file by ending."""


def sound_kind(path: Path) -> SoundKind:
    """The kind of file that a name asks for. Raises SoundError with the list of endings."""
    kind = SOUND_KINDS.get(path.suffix.lower())
    if kind is None:
        raise SoundError(
            f"{path.name} is no name for a sound file: {path.suffix or 'no ending'} is not known.",
            f"Endings: {', '.join(SOUND_KINDS)}.",
        )
    return kind


def write_sound(
    path: Path,
    blocks: Iterable[SoundBlock],
    *,
    layout: str,
    tags: Mapping[str, str] = {},
    true_peak: float = DOWNMIXED_PEAK,
) -> Path:
    """Write blocks that follow each other from second 0, ``float32[n]`` or ``float32[n, channels]``, `RATE`
    samples a second, to a file.

    ``layout`` is ffmpeg's name, in whose order the channels stand. ``tags`` are title, language, comment and
    the like; what a format has no place for is left out. A kind that holds fewer channels (MP3), or other
    ones (AAC), gets a downmix that stays under ``true_peak`` dBTP before it is coded. The file appears when
    it is whole. Raises SoundError for an unknown ending and where the coder refuses; WorkFolderError where it
    cannot be written.
    """
    import av

    kind = sound_kind(path)
    playable = layout
    if len(channel_names(layout)) > kind.most:
        playable = "stereo"
    elif kind.codec == "aac":
        playable = usual_layout(layout)
    if playable != layout:
        blocks, layout = remixed(blocks, layout, playable, true_peak), playable
    hint, layout = f"{layout} at {RATE} Hz: try .wav or .flac.", common_layout(layout)
    with (
        written_by_ffmpeg(path, hint) as part,
        av.open(str(part), "w", format=kind.muxer, options=dict(kind.options)) as container,
    ):
        stream: Any = container.add_stream(kind.codec, rate=RATE, layout=layout)
        stream.codec_context.format = kind.pixels
        stream.codec_context.time_base = stream.time_base = Fraction(1, RATE)
        if kind.bit_rate:
            stream.codec_context.bit_rate = kind.bit_rate * len(channel_names(layout))
        if kind.codec == "flac":
            stream.codec_context.options = {"bits_per_raw_sample": "24"}
        # Ogg has no tags but the stream's own.
        (stream if kind.muxer == "ogg" else container).metadata.update(tags)
        if kind.muxer == "ipod" and "language" in tags:
            with suppress(UsageError):
                # A track's language has three letters there.
                stream.metadata["language"] = language_of(tags["language"]).alpha3
        done = 0
        for block in blocks:
            if len(block.samples):
                woven = np.ascontiguousarray(block.samples, np.float32).reshape(1, -1)
                frame = av.AudioFrame.from_ndarray(woven, format="flt", layout=layout)
                frame.sample_rate, frame.pts, frame.time_base = RATE, done, Fraction(1, RATE)
                done += len(block.samples)
                container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


@contextmanager
def written_by_ffmpeg(path: Path, hint: str) -> Iterator[Path]:
    """A file for ffmpeg's libraries to write in place of ``path``, see `replace_file`.

    Raises WorkFolderError where the disk refuses it, SoundError with ``hint`` where the libraries do.
    """
    import av

    with replace_file(path) as part:
        try:
            yield part
        except (av.error.FFmpegError, ValueError) as error:
            number = getattr(error, "errno", None)
            if number in _DISK_ERRORS:
                raise OSError(number, os.strerror(number)) from None
            reason = getattr(error, "strerror", None) or error
            raise SoundError(f"{path} cannot be written: {reason}.", hint) from None


_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EPERM, errno.EROFS)
