"""The film's own sound for a mix: exactly as long as the film, with channels that have names."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from shotad.film.audio import Layout, SoundBlock, choose_track, sound_blocks
from shotad.film.reader import Film
from shotad.sound.mixing.layouts import channel_names, layout_name


@dataclass(frozen=True, slots=True, eq=False)
class Programme:
    """One audio track of a film, to be read any number of times.

    ``track`` is its number, None: the film has no sound; ``layout`` is ffmpeg's name; ``total`` the number of
    samples of the whole film at ``rate``.
    """

    film: Film
    track: int | None
    rate: int
    layout: str
    total: int
    read_as: Layout = "native"

    @property
    def channels(self) -> int:
        """Their number."""
        return len(channel_names(self.layout))

    def blocks(self) -> Iterator[SoundBlock]:
        """``float32[n, channels]`` from second 0 to the film's end, of a second at most; silence where the
        track has none."""
        done = 0
        if self.track is not None:
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
    if layout is None:
        return Programme(film, track.number, rate, "stereo", total, "stereo")
    return Programme(film, track.number, rate, layout, total)
