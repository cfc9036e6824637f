"""From the sound that a voice gives to a take: one channel, no offset, no silence around it, no clipping."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import numpy.typing as npt

from shotad.core import VoiceError
from shotad.sound.kinds import Samples

_FRAME = 0.005
"""Seconds over which loudness is measured to find where sound begins."""
_QUIET = -55.0
"""dB under the loudest 5 ms; nothing below it is heard. Measured on lines that begin and end in f, h, th or
s: these come in at -52 dB with the embedded voice and at -53 with piper, whose noises in silence reach -56;
espeak-ng's at -35, with no silence around."""
_OVER_FLOOR = 6.0
"""dB that sound stands over a voice's own noise."""
_LOWEST = -45.0
"""dB under the loudest; noise as loud as this is no longer told from weak consonants, and stays."""
_BEFORE = 0.005
_AFTER = 0.015
"""Seconds kept around what is heard, faded."""
_PEAK = 0.98
_LONGEST = 600.0
"""Seconds of one line; a voice that speaks longer has lost itself."""


def need_words(text: str, voice: str) -> None:
    """Raises VoiceError for a text without a letter or a digit: some voices breathe, others fail."""
    if not any(c.isalnum() for c in text):
        raise VoiceError(f"The voice {voice} cannot say {text!r}: there is no word in it.")


def cleaned(samples: npt.NDArray[np.floating[Any]], rate: int, voice: str) -> Samples:
    """``float[n]`` → ``float32[m]``, m ≤ n: without offset and surrounding silence, peak below 1.

    Raises VoiceError for sound that is empty, silent, broken or endless.
    """
    sound = np.asarray(samples, np.float64).reshape(-1)
    if rate <= 0 or sound.size == 0:
        raise VoiceError(f"The voice {voice} gave no sound.", "Try another voice: shotad voices.")
    if not np.isfinite(sound).all():
        raise VoiceError(f"The voice {voice} gave broken sound.", "Try another voice: shotad voices.")
    if sound.size > _LONGEST * rate:
        raise VoiceError(f"The voice {voice} spoke for {sound.size / rate:.0f} s without an end.")
    sound = sound - sound.mean()
    start, end = _heard(sound, rate)
    if start >= end or np.abs(sound).max() < 1e-4:
        raise VoiceError(f"The voice {voice} gave nothing but silence.", "Is there a word in the line?")
    kept = sound[start:end]
    faded = kept * _faded(kept.size, rate)
    peak = float(np.abs(faded).max())
    return np.asarray(faded * (_PEAK / peak) if peak > _PEAK else faded, np.float32)


def _heard(sound: npt.NDArray[np.float64], rate: int) -> tuple[int, int]:
    """First and last sample (half open) of what is heard, with a breath around it."""
    step = max(1, round(_FRAME * rate))
    frames = -(-sound.size // step)
    padded = np.zeros(frames * step)
    padded[: sound.size] = sound
    level = 10 * np.log10((padded.reshape(frames, step) ** 2).mean(1) + 1e-14)
    border = level.max() + float(np.clip(level.min() + _OVER_FLOOR - level.max(), _QUIET, _LOWEST))
    loud = np.flatnonzero(level > border)
    start = int(loud[0]) * step - round(_BEFORE * rate)
    return max(0, start), min(sound.size, (int(loud[-1]) + 1) * step + round(_AFTER * rate))


def _faded(size: int, rate: int) -> npt.NDArray[np.float64]:
    """A gain of 1 that falls to 0 over the breath at either end."""
    gain = np.ones(size)
    before, after = min(round(_BEFORE * rate), size // 2), min(round(_AFTER * rate), size // 2)
    gain[:before] *= np.linspace(0, 1, before, endpoint=False)
    gain[size - after :] *= np.linspace(1, 0, after)
    return gain


def decoded(data: bytes, voice: str) -> tuple[Samples, int]:
    """``float32[n]`` and its rate from a file of any usual kind (WAV, FLAC, MP3, Opus); made mono.

    Programs that write to a pipe, and servers that stream, put wrong lengths into a WAV's head; what is there
    counts. Raises VoiceError.
    """
    import av

    if not data:
        raise VoiceError(f"The voice {voice} gave no sound.")
    try:
        with av.open(io.BytesIO(data)) as container:
            parts = [np.asarray(frame.to_ndarray()) for frame in _frames(container)]
            rate = container.streams.audio[0].rate
    except (av.FFmpegError, IndexError, ValueError) as error:
        raise VoiceError(f"The voice {voice} gave sound that cannot be read: {error}.") from None
    if not parts:
        raise VoiceError(f"The voice {voice} gave no sound.")
    return np.concatenate(parts, axis=1)[0], int(rate)


def _frames(container: Any) -> list[Any]:
    """All frames as mono float planes."""
    import av

    stream = container.streams.audio[0]
    resampler = av.AudioResampler(format="fltp", layout="mono", rate=stream.rate)
    frames = [out for frame in container.decode(stream) for out in resampler.resample(frame)]
    return [*frames, *resampler.resample(None)]


def decoded_pcm(data: bytes) -> Samples:
    """``float32[n]`` from signed 16-bit little-endian samples without a head; an odd last byte goes."""
    return np.asarray(np.frombuffer(data[: len(data) // 2 * 2], "<i2") / 32768, np.float32)
