"""How loud the sound in a finished file is: measured on what players decode, for coders move peaks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shotad.core import SoundError
from shotad.film import Samples
from shotad.sound.loudness import Course, Loudness, Meter

if TYPE_CHECKING:
    from av import AudioResampler, Packet

ROOM = {
    "aac": 1.5, "libopus": 2.0, "libmp3lame": 0.8, "ac3": 1.5, "eac3": 1.8, "mp2": 0.8, "libvorbis": 1.5,
}  # fmt: skip
"""dB of room that a coder needs under a limit of peaks, by ffmpeg's encoder: about what peaks of loud sound
that was limited before rise by at our bit rates (AAC 0.4 to 1.9, Opus 0.7 to 2.5). AES TD1008 asks for such
room, too. Where it is too little the file is written again, so more would only cost loudness."""


class DecodedMeter:
    """Measures one track of an open file as its packets pass by."""

    def __init__(self) -> None:
        self._meter: Meter | None = None
        self._resampler: AudioResampler | None = None
        self._held: list[Samples] = []

    def add(self, packet: Packet[Any]) -> None:
        """The track's next packet, or the empty one at its end. What cannot be decoded is left out."""
        from av.error import FFmpegError

        try:
            frames = packet.decode()
        except FFmpegError:
            return
        for frame in frames:
            self._hear(frame)

    def result(self) -> tuple[Loudness, Course] | None:
        """What was measured, None where nothing was decoded; nothing may be added afterwards."""
        if self._meter is None:
            return None
        self._measure(self._meter)
        return self._meter.result()

    def _hear(self, frame: Any) -> None:
        from av import AudioResampler

        if self._meter is None or self._resampler is None:
            layout = frame.layout.name
            self._meter = Meter(layout, frame.sample_rate)
            self._resampler = AudioResampler(format="flt", layout=layout, rate=frame.sample_rate)
        frame.pts = None
        for part in self._resampler.resample(frame):
            self._held.append(np.asarray(part.to_ndarray(), np.float32).reshape(part.samples, -1))
        if sum(map(len, self._held)) >= frame.sample_rate:
            self._measure(self._meter)

    def _measure(self, meter: Meter) -> None:
        """A second at once, for it costs less than frame by frame."""
        if self._held:
            meter.add(np.concatenate(self._held))
            self._held = []


def measure_file(path: Path) -> tuple[Loudness, Course]:
    """The loudness of a sound file as players decode it. Raises SoundError where it cannot be read."""
    import av

    meter = DecodedMeter()
    try:
        with av.open(str(path)) as container:
            for packet in container.demux(container.streams.audio[0]):
                meter.add(packet)
    except (av.error.FFmpegError, IndexError, OSError) as error:
        raise SoundError(f"{path.name} cannot be read back: {error}.", "Write it again.") from error
    found = meter.result()
    if found is None:
        raise SoundError(f"{path.name} has no sound that can be decoded.", "Write it again.")
    return found
