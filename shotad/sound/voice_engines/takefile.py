"""A take as a file: FLAC of 16 bits, whose samples are checked when it is read."""

from __future__ import annotations

import hashlib
import io
import wave
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from shotad.core import VoiceError, write_bytes
from shotad.sound.kinds import Samples, Take

Integers = npt.NDArray[np.int16]

_SCALE = 32768
_BLOCK = 4096
_HASH = "SAMPLES-SHA256"


@dataclass(frozen=True, slots=True)
class Kept:
    """A `Recording` in a file, of which only this is held. ``key`` is the SHA-256 of its 16-bit samples."""

    path: Path
    size: int
    key: str

    def read(self) -> Samples:
        """``float32[size]``. Raises VoiceError where the file is gone or is another by now."""
        found = _decoded(self.path)
        if found is None or found.key != self.key:
            what = f"{self.path} is gone or was changed while it was in use."
            raise VoiceError(what, "Run again: what is missing is spoken anew.")
        return _floats(found.data)


def write_take(path: Path, take: Take) -> Take:
    """Write a FLAC file, whole or not at all; the take as it is kept there. Raises WorkFolderError."""
    data = _integers(take.samples)
    write_bytes(path, [_flac(data, take)])
    return Take.recorded(Kept(path, data.size, _hash(data)), take.rate, take.voice, take.text, take.speed)


def flac(take: Take) -> bytes:
    """The take as a FLAC file."""
    return _flac(_integers(take.samples), take)


def _flac(data: Integers, take: Take) -> bytes:
    import av

    out = io.BytesIO()
    with av.open(out, "w", format="flac", container_options={"fflags": "+bitexact"}) as container:
        container.metadata.update({_HASH: _hash(data), "SPEED": repr(take.speed)})
        stream = container.add_stream("flac", rate=take.rate, layout="mono", options={"flags": "+bitexact"})
        for start in range(0, data.size, _BLOCK):
            frame = av.AudioFrame.from_ndarray(data[None, start : start + _BLOCK], "s16", "mono")
            frame.sample_rate, frame.pts = take.rate, start
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return out.getvalue()


def wav(take: Take) -> bytes:
    """The take as a WAV file of 16 bits."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(take.rate)
        file.writeframes(_integers(take.samples).astype("<i2").tobytes())
    return out.getvalue()


def read_take(path: Path, voice: str, text: str) -> Take | None:
    """The take in a file, which is read through once and not held; None where there is none that is whole."""
    found = _decoded(path)
    if found is None:
        return None
    return Take.recorded(Kept(path, found.data.size, found.key), found.rate, voice, text, found.speed)


@dataclass(frozen=True, slots=True, eq=False)
class _Decoded:
    data: Integers
    rate: int
    speed: float
    key: str


def _decoded(path: Path) -> _Decoded | None:
    """What is in a file whose samples are those that were written; None where they are not."""
    import av

    try:
        with av.open(io.BytesIO(path.read_bytes()), "r") as container:
            told, speed = container.metadata.get(_HASH, ""), float(container.metadata.get("SPEED", "1"))
            rate = container.streams.audio[0].rate
            parts = [frame.to_ndarray()[0] for frame in container.decode(audio=0)]
    except (OSError, av.FFmpegError, ValueError, IndexError):
        return None
    data = np.concatenate(parts) if parts else np.zeros(0, np.int16)
    if data.dtype != np.int16 or data.size == 0 or _hash(data) != told:
        return None
    return _Decoded(data, rate, speed, told)


def _integers(samples: Samples) -> Integers:
    scaled = np.clip(np.round(samples * np.float32(_SCALE)), -_SCALE, _SCALE - 1)
    return np.asarray(scaled, np.int16)


def _floats(data: Integers) -> Samples:
    return np.asarray(data / np.float32(_SCALE), np.float32)


def _hash(data: Integers) -> str:
    return hashlib.sha256(data.astype("<i2").tobytes()).hexdigest()
