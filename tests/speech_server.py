"""What a server that speaks answers, for a `BadServer` of tests: tones as sound files, and refusals."""

from __future__ import annotations

import io
import wave
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.bad_server import Act, status

Tone = npt.NDArray[np.float64]


def tone(seconds: float, rate: int = 24000, hertz: float = 440.0) -> Tone:
    """A tone at half of full scale."""
    return 0.5 * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)


def wav(samples: Tone, rate: int = 24000) -> bytes:
    """A WAV file of 16 bits."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.round(samples * 32767).astype("<i2").tobytes())
    return out.getvalue()


def coded(muxer: str, codec: str, samples: Tone, rate: int = 24000) -> bytes:
    """A sound file of another kind, through PyAV."""
    import av

    out = io.BytesIO()
    with av.open(out, "w", format=muxer) as container:
        stream: Any = container.add_stream(codec, rate=rate, layout="mono")
        for at in range(0, len(samples), 4096):
            part = np.asarray(samples[None, at : at + 4096], np.float32)
            frame = av.AudioFrame.from_ndarray(part, "flt", "mono")
            frame.sample_rate, frame.pts, frame.time_base = rate, at, Fraction(1, rate)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return out.getvalue()


def sound(samples: Tone) -> Act:
    """A WAV file as an answer."""
    return Act(200, wav(samples), kind="audio/wav")


def refusal(code: int, message: str, **headers: str) -> Act:
    """An error as OpenAI words it."""
    return status(code, message, headers=headers, type="invalid_request_error")
