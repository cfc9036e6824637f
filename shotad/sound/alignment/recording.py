"""One track of a described recording, to be read any number of times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from shotad.core.types import AudioTrack
from shotad.film import Samples, SoundBlock, SoundFile
from shotad.film.audio import Layout
from shotad.sound.layouts import remix_matrix
from shotad.sound.programme import RATE, layout_name


@dataclass(frozen=True, slots=True)
class Recording:
    """A track of a sound file."""

    file: SoundFile
    track: AudioTrack

    @property
    def name(self) -> str:
        return self.file.name

    @property
    def duration(self) -> float:
        """Seconds, as the file states it; the sound may end a little earlier or later."""
        return self.file.duration

    @property
    def layout(self) -> str:
        """ffmpeg's name of the channels that `blocks` gives; stereo where nobody knows the file's own."""
        return layout_name(self.track.layout, self.track.channels) or "stereo"

    def blocks(self, rate: int = RATE, *, mono: bool = False) -> Iterator[SoundBlock]:
        """The sound from second 0 in blocks of a second, ``float32[n, channels]``; mono ``float32[n]``.

        Mono is always the same mix of the channels, unlike `MonoDownmix`: the film is taken out of it.
        """
        has_layout = layout_name(self.track.layout, self.track.channels) is not None
        layout: Layout = "native" if has_layout else "stereo"
        blocks = self.file.blocks(self.track, rate, layout)
        if not mono:
            yield from blocks
            return
        to_mono = mono_mix(self.layout)
        for block in blocks:
            yield replace(block, samples=np.asarray(block.samples @ to_mono, np.float32))


def mono_mix(layout: str) -> Samples:
    """How loud each channel of a layout is in mono, ``float32[channels]``."""
    return remix_matrix(layout, "mono")[:, 0] if layout != "mono" else np.ones(1, np.float32)
