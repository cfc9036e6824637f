"""The film's own sound for a mix: exactly as long as the film, or a part of it, with channels that have
names."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from shotad.film import Film, Layout, SoundBlock, SoundSeeker, choose_track, sound_blocks
from shotad.sound.mixing.layouts import channel_names, layout_name


@dataclass(frozen=True, slots=True, eq=False)
class Programme:
    """One audio track of a film, to be read any number of times.

    ``track`` is its number, None: the film has no sound; ``layout`` is ffmpeg's name; ``total`` the number of
    samples of the whole film at ``rate``. A part (`part`) begins with sample number ``begin`` and ends before
    ``total``. ``film`` is None where it is gone, and its sound with it.
    """

    film: Film | None
    track: int | None
    rate: int
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
        """Their number."""
        return len(channel_names(self.layout))

    def blocks(self) -> Iterator[SoundBlock]:
        """``float32[n, channels]`` from second 0 to the film's end (of a part: its own), of a second at most;
        silence where the track has none."""
        yield from self._sought() if self.begin else self._from_start()

    def _sought(self) -> Iterator[SoundBlock]:
        sound = (
            self.seeker.between(self.begin, self.total) if self.seeker and self.begin < self.total else None
        )
        for first in range(self.begin, self.total, self.rate):
            end = min(first + self.rate, self.total)
            if sound is None:
                samples = np.zeros((end - first, self.channels), np.float32)
            else:
                samples = sound[first - self.begin : end - self.begin]
            yield SoundBlock(first / self.rate, samples)

    def _from_start(self) -> Iterator[SoundBlock]:
        done = 0
        if self.track is not None and self.film is not None:
            for block in sound_blocks(self.film, self.track, self.rate, self.read_as):
                samples = block.samples[: self.total - done]
                if len(samples) == 0:
                    return
                yield SoundBlock(done / self.rate, samples)
                done += len(samples)
        while done < self.total:
            count = min(self.rate, self.total - done)
            yield SoundBlock(done / self.rate, np.zeros((count, self.channels), np.float32))
            done += count


def programme_of(film: Film, audio_track: int | None, rate: int) -> Programme:
    """The sound of a film; without any, or with channels that nobody knows, it is stereo.

    Raises FilmError for a track that is not there.
    """
    track, total = choose_track(film.info, audio_track), round(film.info.duration * rate)
    if track is None or film.media is None:
        return Programme(film, None, rate, "stereo", total)
    # What the container says of the channels need not be what comes out of the decoder.
    first = next(itertools.islice(sound_blocks(film, track.number, rate, "native"), 1), None)
    if first is None:
        return Programme(film, None, rate, "stereo", total)
    layout = layout_name(track.layout, first.samples.shape[1])
    read_as: Layout = "stereo" if layout is None else "native"
    seeker = SoundSeeker(film, track.number, rate, read_as)
    return Programme(film, track.number, rate, layout or "stereo", total, read_as, seeker=seeker)


def no_programme(duration: float, rate: int) -> Programme:
    """Silence as long as a film that is gone: stereo."""
    return Programme(None, None, rate, "stereo", round(duration * rate))
