"""Channels: which there are, how the voice is spread over them, and how many become two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

Gains = npt.NDArray[np.float32]
"""``float32[channels]``: factors of amplitude."""

Where = Literal["auto", "centre", "front", "all"]

_BY_NUMBER = {
    1: "mono", 2: "stereo", 3: "3.0", 4: "4.0", 5: "5.0", 6: "5.1", 7: "6.1", 8: "7.1",
}  # fmt: skip
"""What ffmpeg takes so many channels for where the file names none."""

_SURROUND = ("BL", "BR", "SL", "SR", "BC")


def layout_name(said: str, channels: int) -> str | None:
    """ffmpeg's name for the layout of a track that says to be ``said`` and has so many channels.

    ``5.1(side)`` stays; ``6 channels`` is ``5.1``. None: nothing that loudspeakers or encoders know.
    """
    from av import AudioLayout

    try:
        names = channel_names(said)
        known = len(names) == channels and "NONE" not in names and not _is_odd(names)
    except ValueError:
        known = False
    return AudioLayout(said).name if known else _BY_NUMBER.get(channels)


def channel_names(layout: str) -> tuple[str, ...]:
    """ffmpeg's names of a layout's channels in order: ``stereo → (FL, FR)``. Raises ValueError."""
    from av import AudioLayout

    return tuple(channel.name for channel in AudioLayout(layout).channels)


def _is_odd(names: Sequence[str]) -> bool:
    """True for binaural, ambisonic, twice the same and the like: nothing that can be added to."""
    usual = {"FL", "FR", "FC", "LFE", "FLC", "FRC", *_SURROUND}
    return not set(names) <= usual or len(set(names)) < len(names)


def voice_gains(names: Sequence[str], where: Where) -> Gains:
    """How loud the voice is in each channel, so that it is as loud in all together as in one.

    Power is shared by what the channels count in loudness: a surround channel 1.5 dB more than the others.
    ``(FL, FR) → (0.71, 0.71)``; with a centre, ``auto`` is that alone. Bass effects get nothing.
    """
    chosen = np.array([name in _chosen(names, where) for name in names])
    weights = np.where(np.isin(names, _SURROUND), 1.41, 1.0)
    return np.asarray(chosen / np.sqrt((weights * chosen).sum()), np.float32)


def _chosen(names: Sequence[str], where: Where) -> Sequence[str]:
    if len(names) == 1:
        return names
    full = [name for name in names if not name.startswith("LFE")]
    if where == "all":
        return full
    if where != "front" and "FC" in names:
        return ["FC"]
    return [name for name in full if name in ("FL", "FC", "FR")] or full


def to_stereo(names: Sequence[str]) -> npt.NDArray[np.float32]:
    """``float32[channels, 2]``: the downmix of ITU-R BS.775: centre and surrounds 3 dB lower, no bass
    effects."""
    half = float(np.sqrt(0.5))
    left = {"FL": 1.0, "FLC": 1.0, "FC": half, "BL": half, "SL": half, "BC": 0.5}
    right = {"FR": 1.0, "FRC": 1.0, "FC": half, "BR": half, "SR": half, "BC": 0.5}
    return np.array([(left.get(name, 0.0), right.get(name, 0.0)) for name in names], np.float32)
