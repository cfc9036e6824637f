"""The film's own sound for a mix: exactly as long as the film, or a part of it, with channels that have
names.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from shotad.film import (
    Film,
    Samples,
    SoundBlock,
    SoundSeeker,
    sound_blocks,
)
from shotad.film.audio import Layout, choose_track

RATE = 48000
"""Samples a second of all that is mixed and written: the rate of film sound."""


@dataclass(frozen=True, slots=True, eq=False)
class Programme:
    """One audio track of a film, to be read any number of times.

    ``track`` is its number, None: the film has no sound; ``layout`` is ffmpeg's name; ``total`` the number of
    samples of the whole film. A part (`part`) begins with sample number ``begin`` and ends before
    ``total``. ``film`` is None where it is gone, and its sound with it.
    """

    film: Film | None
    track: int | None
    layout: str
    total: int
    read_as: Layout = "native"
    begin: int = 0
    seeker: SoundSeeker | None = field(default=None, repr=False)

    def part(self, first: int, end: int) -> Programme:
        """Samples ``[first, end)`` of it, of which only those in the film are there."""
        return replace(self, begin=max(0, first), total=min(self.total, end))

    @property
    def channels(self) -> int:
        return len(channel_names(self.layout))

    def blocks(self) -> Iterator[SoundBlock]:
        """``float32[n, channels]`` from second 0 to the film's end (of a part: its own), of a second at most;
        silence where the track has none."""
        done = self.begin
        if self.begin and self.seeker:
            yield from self._sought_blocks(self.seeker)
            return
        if not self.begin and self.track is not None and self.film is not None:
            for block in sound_blocks(self.film, self.track, RATE, self.read_as):
                samples = block.samples[: self.total - done]
                if len(samples) == 0:
                    return
                yield SoundBlock(done / RATE, samples)
                done += len(samples)
        for first in range(done, self.total, RATE):
            yield SoundBlock(first / RATE, self._silence(first))

    def _sought_blocks(self, seeker: SoundSeeker) -> Iterator[SoundBlock]:
        """The blocks of a part that does not begin with the film, decoded as they are asked for."""
        first = self.begin
        block = self._silence(first)
        for piece_first, piece in seeker.pieces(self.begin, self.total):
            position, samples = piece_first, piece
            while len(samples):
                while position >= first + len(block):
                    yield SoundBlock(first / RATE, block)
                    first += len(block)
                    block = self._silence(first)
                count = min(len(samples), first + len(block) - position)
                block[position - first : position - first + count] = samples[:count]
                position, samples = position + count, samples[count:]
        while len(block):
            yield SoundBlock(first / RATE, block)
            first += len(block)
            block = self._silence(first)

    def _silence(self, first: int) -> Samples:
        """A block of silence that begins with sample number ``first``; empty at the end."""
        return np.zeros((max(0, min(RATE, self.total - first)), self.channels), np.float32)


def programme_of(film: Film, audio_track: int | None) -> Programme:
    """The sound of a film; without any, or with channels that nobody knows, it is stereo.

    Raises FilmError for a track that is not there.
    """
    track, total = choose_track(film.info, audio_track), round(film.info.duration * RATE)
    if track is None or film.media is None:
        return Programme(film, None, "stereo", total)
    # What the container says of the channels need not be what comes out of the decoder.
    first = next(itertools.islice(sound_blocks(film, track.number, RATE, "native"), 1), None)
    if first is None:
        return Programme(film, None, "stereo", total)
    layout = layout_name(track.layout, first.samples.shape[1])
    read_as: Layout = "stereo" if layout is None else "native"
    seeker = SoundSeeker(film, track.number, RATE, read_as)
    return Programme(film, track.number, layout or "stereo", total, read_as, seeker=seeker)


def silent_programme(duration: float) -> Programme:
    """Silence as long as a film that is gone: stereo."""
    return Programme(None, None, "stereo", round(duration * RATE))


Gains = npt.NDArray[np.float32]
"""``float32[channels]``: factors of amplitude."""

VoiceChannels = Literal["auto", "centre", "front", "all"]

_LAYOUT_BY_COUNT = {
    1: "mono", 2: "stereo", 3: "3.0", 4: "4.0", 5: "5.0", 6: "5.1", 7: "6.1", 8: "7.1",
}  # fmt: skip
"""What ffmpeg takes so many channels for where the file names none."""

_SURROUND = ("BL", "BR", "SL", "SR", "BC")


def layout_name(stated: str, channels: int) -> str | None:
    """ffmpeg's name for the layout of a track that says to be ``stated`` and has so many ``channels``.

    ``5.1(side)`` stays; ``6 channels`` is ``5.1``. None: nothing that loudspeakers or encoders know.
    """
    from av import AudioLayout

    try:
        names = channel_names(stated)
        # Not binaural, ambisonic, twice the same and the like, to which nothing can be added.
        usual = {"FL", "FR", "FC", "LFE", "FLC", "FRC", *_SURROUND}
        is_usual = (
            len(names) == channels
            and "NONE" not in names
            and set(names) <= usual
            and len(set(names)) == len(names)
        )
    except ValueError:
        is_usual = False
    return AudioLayout(stated).name if is_usual else _LAYOUT_BY_COUNT.get(channels)


def channel_names(layout: str) -> tuple[str, ...]:
    """ffmpeg's names of a layout's channels in order: ``stereo → (FL, FR)``. Raises ValueError."""
    from av import AudioLayout

    return tuple(channel.name for channel in AudioLayout(layout).channels)


def voice_gains(names: Sequence[str], placement: VoiceChannels) -> Gains:
    """How loud the voice is in each channel, so that it is as loud in all together as in one.

    Power is shared by what the channels count in loudness: a surround channel 1.5 dB more than the others.
    ``(FL, FR) → (0.71, 0.71)``; with a centre, ``auto`` is that alone. Bass effects get nothing.
    """
    full_range = [name for name in names if not name.startswith("LFE")]
    voiced: Sequence[str] = full_range
    if len(names) == 1:
        voiced = names
    elif placement not in ("all", "front") and "FC" in names:
        voiced = ["FC"]
    elif placement != "all":
        voiced = [name for name in full_range if name in ("FL", "FC", "FR")] or full_range
    chosen = np.array([name in voiced for name in names])
    weights = np.where(np.isin(names, _SURROUND), 1.41, 1.0)
    return np.asarray(chosen / np.sqrt((weights * chosen).sum()), np.float32)


def stereo_matrix(names: Sequence[str]) -> npt.NDArray[np.float32]:
    """``float32[channels, 2]``: the downmix of ITU-R BS.775: centre and surrounds 3 dB lower, no bass
    effects."""
    half = float(np.sqrt(0.5))
    left = {"FL": 1.0, "FLC": 1.0, "FC": half, "BL": half, "SL": half, "BC": 0.5}
    right = {"FR": 1.0, "FRC": 1.0, "FC": half, "BR": half, "SR": half, "BC": 0.5}
    return np.array([(left.get(name, 0.0), right.get(name, 0.0)) for name in names], np.float32)
