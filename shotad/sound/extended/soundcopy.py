"""The film's sound on the copy's time, and the tracks that carry it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from shotad.core import AudioTrack
from shotad.film import Film, Layout, Samples, SoundBlock, choose_track, sound_blocks
from shotad.sound.extended.kinds import Pause

if TYPE_CHECKING:
    from av import Packet
    from av.container import OutputContainer

FADE = 0.05
"""Seconds in which the sound goes before a pause and comes back after it, so that nothing clicks."""


def sound_with_pauses(
    film: Film,
    pauses: Sequence[Pause],
    track: int | None = None,
    rate: int = 48000,
    layout: Layout = "native",
) -> Iterator[SoundBlock]:
    """`sound_blocks` of the copy: silence in the pauses, faded at both edges, every other sample as it is.

    The sample at film second t stands at ``TimeMap(pauses).late(t)`` to the sample.
    """
    places = _joined(pauses, rate)
    done, shift = 0, 0
    for block in sound_blocks(film, track, rate, layout):
        first = round(block.seconds * rate)
        samples = _faded(block.samples, first, [place.at for place in places], rate)
        for place in places:
            if first <= place.at < first + len(samples):
                head = samples[: place.at - first]
                if len(head):
                    yield SoundBlock(done / rate, head)
                    done += len(head)
                for silence in _silence(place.end - (place.at + shift), samples, rate):
                    yield SoundBlock(done / rate, silence)
                    done += len(silence)
                shift = place.end - place.at
                samples, first = samples[len(head) :], place.at
        if len(samples):
            yield SoundBlock(done / rate, samples)
            done += len(samples)


@dataclass(frozen=True, slots=True)
class _Stop:
    """Samples: the film stands before number ``at``, which is number ``end`` of the copy."""

    at: int
    end: int


def _joined(pauses: Sequence[Pause], rate: int) -> list[_Stop]:
    """Rounded from the whole time waited, so that roundings do not add up; one stop for each moment."""
    stops: dict[int, _Stop] = {}
    waited = 0.0
    for pause in pauses:
        waited += pause.length
        at = round(pause.at * rate)
        stops[at] = _Stop(at, round((pause.at + waited) * rate))
    return list(stops.values())


def _silence(count: int, like: Samples, rate: int) -> Iterator[Samples]:
    while count > 0:
        yield np.zeros((min(count, rate), *like.shape[1:]), np.float32)
        count -= rate


def _faded(samples: Samples, first: int, stops: Sequence[int], rate: int) -> Samples:
    """A copy that is silent at each stop and reaches its own level `FADE` seconds from it."""
    width = round(FADE * rate)
    for stop in stops:
        low, high = max(0, stop - width - first), min(len(samples), stop + width - first)
        if low < high:
            away = np.abs(np.arange(low, high) + 0.5 + first - stop) / width
            gain = np.sin(np.minimum(away, 1) * np.pi / 2).astype(np.float32)
            samples = samples.copy()
            samples[low:high] *= gain if samples.ndim == 1 else gain[:, None]
    return samples


@dataclass(frozen=True, slots=True)
class SoundCoding:
    """How a track is encoded: ffmpeg's encoder, bits a second, samples a second, channels."""

    encoder: str
    bit_rate: int
    rate: int
    layout: str


_KEPT = {
    "mp4": {"aac": "aac", "ac3": "ac3", "eac3": "eac3"},
    "mov": {"aac": "aac", "ac3": "ac3", "eac3": "eac3"},
    "matroska": {
        "aac": "aac",
        "ac3": "ac3",
        "eac3": "eac3",
        "dts": "eac3",
        "opus": "libopus",
        "vorbis": "libopus",
        "flac": "flac",
        "alac": "flac",
        "truehd": "flac",
        "mlp": "flac",
    },
    "mpegts": {"aac": "aac", "ac3": "ac3", "eac3": "eac3", "mp2": "mp2"},
    "webm": {},
}
"""Encoder for each codec of a source, by container: the same codec where that is possible."""

_OTHERWISE = {"webm": "libopus"}

_LAYOUTS = {
    "aac": ("mono", "stereo", "3.0", "4.0", "5.0", "5.1", "7.1"),
    "ac3": ("mono", "stereo", "3.0", "quad", "5.0", "5.1"),
    "eac3": ("mono", "stereo", "3.0", "quad", "5.0", "5.1"),
    "mp2": ("mono", "stereo"),
    "libopus": ("mono", "stereo", "3.0", "quad", "5.0", "5.1", "6.1", "7.1"),
    "flac": ("mono", "stereo", "3.0", "quad", "5.0", "5.1", "6.1", "7.1"),
}
"""What encoders take, and what every player knows of them; anything else becomes stereo."""

_SAME_ORDER = {"5.1(side)": "5.1", "5.0(side)": "5.0", "quad(side)": "quad"}
_RATES = {
    "libopus": (48000,),
    "aac": (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000, 64000, 88200, 96000),
    "ac3": (32000, 44100, 48000),
    "eac3": (32000, 44100, 48000),
    "mp2": (16000, 22050, 24000, 32000, 44100, 48000),
}
_BITS = {
    "aac": (160_000, 256_000, 96_000),
    "libopus": (128_000, 192_000, 80_000),
    "ac3": (192_000, 384_000, 106_700),
    "eac3": (192_000, 384_000, 106_700),
    "mp2": (192_000, 384_000, 192_000),
}
"""Bits a second for mono, stereo, and for each channel of more: ample, as this is encoded once more for the
track with AD."""


def coding_of(track: AudioTrack, container: str) -> SoundCoding:
    """How ``track`` is encoded in ffmpeg's ``container`` format. PCM in Matroska becomes FLAC."""
    lossless = container == "matroska" and track.codec.startswith("pcm_")
    kept = "flac" if lossless else _KEPT[container].get(track.codec)
    encoder = kept or _OTHERWISE.get(container, "aac")
    name = _SAME_ORDER.get(track.layout, track.layout)
    if name not in _LAYOUTS[encoder]:
        name = "mono" if track.channels == 1 else "stereo"
    rates = _RATES.get(encoder)
    rate = track.sample_rate if rates is None or track.sample_rate in rates else 48000
    return SoundCoding(encoder, _bit_rate(encoder, name), rate, name)


def _bit_rate(encoder: str, layout: str) -> int:
    from av.audio.layout import AudioLayout

    if encoder not in _BITS:
        return 0
    mono, stereo, each = _BITS[encoder]
    channels = AudioLayout(layout).nb_channels
    if channels <= 2:
        return mono if channels == 1 else stereo
    return min(640_000, each * channels // 1000 * 1000)


class SoundCopy:
    """One track of the film in the copy."""

    def __init__(
        self, out: OutputContainer, film: Film, track: AudioTrack, pauses: Sequence[Pause], container: str
    ) -> None:
        self._film, self._track, self._pauses = film, track, pauses
        self._coding = coding_of(track, container)
        self._native = _SAME_ORDER.get(track.layout, track.layout) == self._coding.layout
        self._signalled = container in ("mp4", "mov", "matroska", "webm")
        self.stream: Any = out.add_stream(self._coding.encoder, rate=self._coding.rate)
        context: Any = self.stream.codec_context
        context.layout = self._coding.layout
        if self._coding.bit_rate:
            context.bit_rate = self._coding.bit_rate

    def packets(self) -> Iterator[Packet[Any]]:
        """Encoded, in order.

        Where the container does not say how long the encoder's run-in is (TS), packets that begin before
        second 0 are left out, so that time zero stays where it is.
        """
        for packet in self._encoded():
            if self._signalled or (packet.pts is not None and packet.pts >= 0):
                yield packet

    def _encoded(self) -> Iterator[Packet[Any]]:
        from av import AudioFrame

        rate, layout = self._coding.rate, self._coding.layout
        read: Layout = "native" if self._native else "stereo" if layout == "stereo" else "mono"
        for block in sound_with_pauses(self._film, self._pauses, self._track.number, rate, read):
            samples = np.ascontiguousarray(block.samples.reshape(1, -1))
            frame = AudioFrame.from_ndarray(samples, format="flt", layout=layout)
            frame.sample_rate = rate
            frame.time_base = Fraction(1, rate)
            frame.pts = round(block.seconds * rate)
            yield from self.stream.encode(frame)
        yield from self.stream.encode(None)


def tracks_of(film: Film) -> tuple[AudioTrack, ...]:
    """All tracks of sound that can be decoded."""
    return tuple(
        track for track in film.info.audio if track.channels and choose_track(film.info, track.number)
    )
