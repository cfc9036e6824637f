"""A take as a file: FLAC of 16 bits, whose samples are checked when it is read."""

from __future__ import annotations

import hashlib
import io
import wave
from pathlib import Path

import numpy as np
import numpy.typing as npt

from shotad.sound.kinds import Samples, Take
from shotad.workfolder import write_bytes

_SCALE = 32768
_BLOCK = 4096
_HASH = "SAMPLES-SHA256"


def settled(take: Take) -> Take:
    """The take with its samples as a file keeps them, so that a new one and a kept one are the same."""
    return Take(_floats(_integers(take.samples)), take.rate, take.voice, take.text, take.speed)


def write_take(path: Path, take: Take) -> None:
    """Write a FLAC file, whole or not at all. Raises WorkFolderError."""
    write_bytes(path, [flac(take)])


def flac(take: Take) -> bytes:
    """The take as a FLAC file."""
    import av

    data = _integers(take.samples)
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
    """The take in a file; None where there is none that is whole."""
    import av

    try:
        data = path.read_bytes()
        with av.open(io.BytesIO(data), "r") as container:
            told, speed = container.metadata.get(_HASH, ""), float(container.metadata.get("SPEED", "1"))
            rate = container.streams.audio[0].rate
            parts = [frame.to_ndarray()[0] for frame in container.decode(audio=0)]
    except (OSError, av.FFmpegError, ValueError, IndexError):
        return None
    samples = np.concatenate(parts) if parts else np.zeros(0, np.int16)
    if samples.dtype != np.int16 or samples.size == 0 or _hash(samples) != told:
        return None
    return Take(_floats(samples), rate, voice, text, speed)


def _integers(samples: Samples) -> npt.NDArray[np.int16]:
    scaled = np.clip(np.round(samples * np.float32(_SCALE)), -_SCALE, _SCALE - 1)
    return np.asarray(scaled, np.int16)


def _floats(data: npt.NDArray[np.int16]) -> Samples:
    return np.asarray(data / np.float32(_SCALE), np.float32)


def _hash(data: npt.NDArray[np.int16]) -> str:
    return hashlib.sha256(data.astype("<i2").tobytes()).hexdigest()
