"""The sound that a voice gives, as bytes of a file or as samples: read to its end, checked, and cleaned.

Programs that write to a pipe, and servers that stream, put wrong lengths into a WAV's head, or send several
files one after the other, one for each sentence. All of it counts. What was cut off on its way, is silent, or
is no speech at all, is a `BadTakeError`: the voice is asked again.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from shotad.core.errors import VoiceError
from shotad.film import Samples


class BadTakeError(VoiceError):
    """Sound of a voice that is broken, cut off or silent. Asked again, the voice may do better."""


_TRY_ANOTHER = "Try another voice: shotad voices."

_FRAME = 0.005
"""Seconds over which loudness is measured to find where sound begins."""
_INAUDIBLE = -55.0
"""dB under the loudest 5 ms; nothing below it is heard. Measured on lines that begin and end in f, h, th or
s: these come in at -52 dB with the embedded voice and at -53 with piper, whose noises in silence reach -56;
espeak-ng's at -35, with no silence around."""
_ABOVE_NOISE = 6.0
"""dB that sound stands over a voice's own noise."""
_MAX_NOISE = -45.0
"""dB under the loudest; noise as loud as this is no longer told from weak consonants, and stays."""
_SECONDS_BEFORE = 0.005
_SECONDS_AFTER = 0.015
"""Seconds kept around what is heard, faded."""
_PEAK = 0.98
_MAX_SECONDS = 600.0
"""Seconds of one line; a voice that speaks longer has lost itself."""
_SILENCE = 1e-4
"""Full scale is 1. What is nowhere louder is silence."""
_FULL_SCALE = 0.99
_MAX_CLIPPED_SHARE = 0.25
"""Share of samples at full scale above which sound is broken; of a pure tone it is 0.09, of speech less."""
_MAX_FLATNESS = 0.6
_LOUD_RMS = 0.25
"""Spectral flatness (geometric by arithmetic mean of the power spectrum) above which sound as loud as this
(RMS) is noise: samples that are read in the wrong order or width. Theirs is 0.85 and more, that of speech 0.1
at most, and speech is hardly ever so loud."""
_SPECTRUM_SIZE = 512
"""Samples of a window for it, and at least so many windows are looked at:"""
_MIN_WINDOWS = 16


def cleaned(samples: npt.NDArray[np.floating[Any]], rate: int, voice: str) -> Samples:
    """``float[n]`` → ``float32[m]``, m ≤ n: without offset and surrounding silence, peak below 1.

    Raises BadTakeError for sound that is empty, silent, broken, endless, or nothing but noise.
    """
    sound = np.asarray(samples, np.float64).reshape(-1)
    if rate <= 0 or sound.size == 0:
        raise BadTakeError(f"The voice {voice} gave no sound.", _TRY_ANOTHER)
    if not np.isfinite(sound).all():
        raise BadTakeError(f"The voice {voice} gave broken sound.", _TRY_ANOTHER)
    if sound.size > _MAX_SECONDS * rate:
        raise BadTakeError(f"The voice {voice} spoke for {sound.size / rate:.0f} s without an end.")
    sound = sound - sound.mean()
    if np.abs(sound).max() < _SILENCE:
        raise BadTakeError(f"The voice {voice} gave nothing but silence.", "Is there a word in the line?")
    is_misread = np.sqrt((sound**2).mean()) > _LOUD_RMS and _flatness(sound) > _MAX_FLATNESS
    loudest = np.abs(samples).max()
    is_clipped = (
        loudest > _FULL_SCALE and (np.abs(samples) > _FULL_SCALE * loudest).mean() > _MAX_CLIPPED_SHARE
    )
    if is_misread or is_clipped:
        raise BadTakeError(f"The voice {voice} gave noise, no speech.", _TRY_ANOTHER)
    # First and last sample (half open) of what is heard, with a breath around it.
    step = max(1, round(_FRAME * rate))
    frames = -(-sound.size // step)
    padded = np.zeros(frames * step)
    padded[: sound.size] = sound
    level = 10 * np.log10((padded.reshape(frames, step) ** 2).mean(1) + 1e-14)
    border = level.max() + float(np.clip(level.min() + _ABOVE_NOISE - level.max(), _INAUDIBLE, _MAX_NOISE))
    loud = np.flatnonzero(level > border)
    start = max(0, int(loud[0]) * step - round(_SECONDS_BEFORE * rate))
    end = min(sound.size, (int(loud[-1]) + 1) * step + round(_SECONDS_AFTER * rate))
    if start >= end:
        raise BadTakeError(f"The voice {voice} gave nothing but silence.", "Is there a word in the line?")
    heard = sound[start:end]
    gain = np.ones(heard.size)
    before, after = (
        min(round(_SECONDS_BEFORE * rate), heard.size // 2),
        min(round(_SECONDS_AFTER * rate), heard.size // 2),
    )
    gain[:before] *= np.linspace(0, 1, before, endpoint=False)
    gain[heard.size - after :] *= np.linspace(1, 0, after)
    faded = heard * gain
    peak = float(np.abs(faded).max())
    return np.asarray(faded * (_PEAK / peak) if peak > _PEAK else faded, np.float32)


def _flatness(sound: npt.NDArray[np.float64]) -> float:
    """How much the spectrum of ``float[n]`` is that of white noise, 0 to 1; 0 for very short sound."""
    windows = sound.size // _SPECTRUM_SIZE
    if windows < _MIN_WINDOWS:
        return 0.0
    parts = sound[: windows * _SPECTRUM_SIZE].reshape(windows, _SPECTRUM_SIZE) * np.hanning(_SPECTRUM_SIZE)
    # Without the lowest: the offset.
    power = (np.abs(np.fft.rfft(parts)) ** 2).mean(axis=0)[2:] + 1e-30
    return float(np.exp(np.log(power).mean()) / power.mean())


def decoded(data: bytes, voice: str) -> tuple[Samples, int]:
    """``float32[n]`` and its rate from one or more files of any usual kind (WAV, FLAC, MP3, Opus); made mono.

    Raises BadTakeError for what cannot be read, or was cut off.
    """
    if not data:
        raise BadTakeError(f"The voice {voice} gave no sound.", _TRY_ANOTHER)
    sounds: list[Samples] = []
    rate = 0
    for part in _files_in(data):
        file = _repaired_wav(part, voice) if _WAV.match(part) else part
        samples, rate = _decoded_file(file, rate, voice)
        sounds.append(samples)
    return np.concatenate(sounds), rate


_WAV = re.compile(rb"(?:RIFF|RF64|RIFX)....WAVE", re.DOTALL)

_FILE_STARTS = (
    _WAV,
    re.compile(rb"FORM....AIF[FC]", re.DOTALL),
    # ID3: version, flags, and four bytes of size without their highest bits.
    re.compile(rb"ID3[\x02-\x04]\x00[\x00-\xf0][\x00-\x7f]{4}", re.DOTALL),
    # A page with which a stream begins.
    re.compile(rb"OggS\x00[\x02\x06]", re.DOTALL),
    re.compile(rb"fLaC[\x00\x80]\x00\x00\x22", re.DOTALL),
    re.compile(rb"caff\x00\x01\x00\x00", re.DOTALL),
    re.compile(rb"....ftyp(?:M4A|mp4|iso|dash)", re.DOTALL),
    re.compile(rb"\x1aE\xdf\xa3[\x80-\xff\x01]", re.DOTALL),
)
"""How files of a kind begin. Where one comes again in the same kind of file, another file begins."""


def _files_in(data: bytes) -> Iterator[bytes]:
    """The files that stand one after the other in an answer; one where the kind is not known."""
    head = next((head for head in _FILE_STARTS if head.match(data)), None)
    begins = [match.start() for match in head.finditer(data)] if head is not None else []
    begins = begins or [0]
    for begin, end in zip(begins, [*begins[1:], len(data)], strict=True):
        yield data[begin:end]


_MAX_MISSING = 0.05
"""Seconds by which a file may be shorter than it says."""
_MAX_MISSING_SHARE = 0.05
"""The same as a share, for coders that round up."""


def _repaired_wav(data: bytes, voice: str) -> bytes:
    """A WAV whose sizes are right. Its samples go on to the end, unless it says where and a chunk follows.

    Raises BadTakeError where there are fewer than it says, and what it says can be meant.
    """
    order: Any = "big" if data[:4] == b"RIFX" else "little"
    at, form = 12, b""
    while at + 8 <= len(data):
        name, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], order)
        if name == b"data":
            break
        if name == b"fmt ":
            form = data[at + 8 : at + 8 + size]
        at += 8 + size + size % 2
    else:
        return data
    if len(form) < 16:
        return data
    begin = at + 8
    size_here = len(data) - begin
    bytes_per_second = max(1, int.from_bytes(form[8:12], order))
    # 0, -1, the largest number: whoever wrote it did not know yet. So with what would last for ever.
    is_told = 0 < size <= _MAX_SECONDS * bytes_per_second and data[:4] != b"RF64"
    if is_told and size - size_here > _MAX_MISSING * bytes_per_second:
        raise _cut_off_error(size_here / bytes_per_second, size / bytes_per_second, voice)
    if is_told and size < size_here and _is_chunk(data, begin + size + size % 2, order):
        size_here = size
    size_here = min(size_here, size_here - size_here % max(1, int.from_bytes(form[12:14], order)))
    chunks = [(b"fmt ", form), (b"data", data[begin : begin + size_here])]
    body = b"".join(
        name + len(part).to_bytes(4, order) + part + b"\0" * (len(part) % 2) for name, part in chunks
    )
    name = b"RIFX" if order == "big" else b"RIFF"
    return name + (len(body) + 4).to_bytes(4, order) + b"WAVE" + body


def _is_chunk(data: bytes, at: int, order: Any) -> bool:
    """Whether another chunk of a WAV begins there, or nothing does."""
    head = data[at : at + 8]
    if len(head) < 8:
        return True
    is_name = all(0x20 <= letter < 0x7F for letter in head[:4])
    return is_name and int.from_bytes(head[4:], order) <= len(data) - at - 8


def _cut_off_error(seconds: float, stated_seconds: float, voice: str) -> BadTakeError:
    message = f"The voice {voice} gave sound that is cut off: {seconds:.2f} of {stated_seconds:.2f} s."
    return BadTakeError(message, "Run again: what is spoken is kept.")


def _decoded_file(data: bytes, wanted_rate: int, voice: str) -> tuple[Samples, int]:
    """``float32[n]`` of one file and its rate, at the rate ``wanted_rate`` (0: its own)."""
    import av

    try:
        with av.open(io.BytesIO(data), "r") as container:
            stream = container.streams.audio[0]
            rate = wanted_rate or int(stream.rate)
            stated_seconds = _stated_seconds(container, stream, data)
            resampler = av.AudioResampler(format="fltp", layout="mono", rate=rate)
            frames = [out for frame in container.decode(stream) for out in resampler.resample(frame)]
            parts = [np.asarray(frame.to_ndarray()) for frame in (*frames, *resampler.resample(None))]
    except (av.FFmpegError, IndexError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise BadTakeError(
            f"The voice {voice} gave sound that cannot be read: {why}.", _TRY_ANOTHER
        ) from None
    samples: Samples = np.concatenate(parts, axis=1)[0] if parts else np.zeros(0, np.float32)
    if samples.size == 0:
        raise BadTakeError(f"The voice {voice} gave no sound.", _TRY_ANOTHER)
    seconds = samples.size / rate
    if stated_seconds - seconds > max(_MAX_MISSING, _MAX_MISSING_SHARE * stated_seconds):
        raise _cut_off_error(seconds, stated_seconds, voice)
    return samples, rate


def _stated_seconds(container: Any, stream: Any, data: bytes) -> float:
    """How long a file says to be; 0 where it does not say, for then ffmpeg guesses."""
    kinds = container.format.name.split(",")
    guessed = "aac" in kinds or ("mp3" in kinds and not re.search(rb"Xing|Info", data[:8192]))
    if guessed or "ogg" in kinds:
        return 0.0
    if stream.duration:
        return float(stream.duration * stream.time_base)
    return container.duration / 1_000_000 if "matroska" in kinds and container.duration else 0.0


def decoded_pcm(data: bytes) -> Samples:
    """``float32[n]`` from signed 16-bit samples without a head; an odd last byte goes.

    ``audio/L16`` is big-endian by its standard (RFC 3551) and little-endian as many servers send it: the one
    in which sound is smoother is meant.
    """
    whole = data[: len(data) // 2 * 2]
    little, big = (np.asarray(np.frombuffer(whole, order) / 32768, np.float32) for order in ("<i2", ">i2"))
    roughness = [float(np.abs(np.diff(samples)).sum()) for samples in (little, big)]
    return big if roughness[1] < roughness[0] else little


def is_file(data: bytes) -> bool:
    """Whether data is a file of sound by its first bytes, whatever it was said to be."""
    return any(head.match(data) for head in _FILE_STARTS)
