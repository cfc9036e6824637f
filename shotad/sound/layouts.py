"""Which channels players can be given in a codec, and how a sound with others becomes one of those.

AAC has a number for six usual layouts (``channelConfiguration`` 1 to 6, ISO/IEC 14496-3). For any other a
stream has to describe its channels itself (a programme config element), which many players, televisions and
browsers do not read: they play nothing, or noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from shotad.film import SoundBlock
from shotad.sound.loudness import DOWNMIXED_PEAK, Limiter, limited
from shotad.sound.programme import channel_names, stereo_matrix

AAC_CONFIGURATIONS = {1: "mono", 2: "stereo", 3: "3.0", 4: "4.0", 5: "5.0", 6: "5.1"}
"""ffmpeg's name of the layout of each configuration that players know."""

USUAL_LAYOUTS = tuple(AAC_CONFIGURATIONS.values())
"""Layouts that players know, from few channels to many."""

_COMMON_NAMES = {"5.1(side)": "5.1", "5.0(side)": "5.0", "quad(side)": "quad", "4.1(side)": "4.1"}
"""Layouts that differ by the name of their rear channels alone; not all coders know both."""


def common_layout(layout: str) -> str:
    """The layout with its rear channels called as most coders call them: ``5.1(side) → 5.1``."""
    return _COMMON_NAMES.get(layout, layout)


def usual_layout(layout: str) -> str:
    """The smallest layout that players know with all channels of ``layout``; where there is none, the largest
    that has no more kinds of channels: ``quad → 5.0``, ``7.1 → 5.1``, ``7.0 → 5.0``."""
    names = set(channel_names(common_layout(layout)))
    for usual in USUAL_LAYOUTS:
        if names <= set(channel_names(usual)):
            return usual
    return "5.1" if any(name.startswith("LFE") for name in names) else "5.0"


def possible_layouts(codec: str, layout: str) -> list[str]:
    """The layouts in which sound of ``layout`` may be written in ``codec``, the best first."""
    layouts = [layout, common_layout(layout)]
    if codec == "aac":
        layouts = [name for name in layouts if name in USUAL_LAYOUTS]
    if codec in ("aac", "ac3", "eac3", "opus"):
        layouts.append(usual_layout(layout))
    return list(dict.fromkeys(layouts))


_HALF_POWER = float(np.sqrt(0.5))

_ROUTES: dict[str, tuple[tuple[str, float], ...]] = {
    "SL": (("BL", _HALF_POWER),),
    "SR": (("BR", _HALF_POWER),),
    "BL": (("SL", _HALF_POWER),),
    "BR": (("SR", _HALF_POWER),),
    "BC": (("BL", _HALF_POWER), ("BR", _HALF_POWER), ("SL", _HALF_POWER), ("SR", _HALF_POWER)),
    "FLC": (("FL", _HALF_POWER), ("FC", _HALF_POWER)),
    "FRC": (("FR", _HALF_POWER), ("FC", _HALF_POWER)),
}
"""Where a channel goes that another layout lacks, and how loud: as ITU-R BS.775 has it for fewer channels."""


def remix_matrix(layout: str, target_layout: str) -> npt.NDArray[np.float32]:
    """``float32[channels, target channels]``: how loud each channel of ``layout`` is in those."""
    names, targets = channel_names(layout), channel_names(target_layout)
    if target_layout == "stereo":
        return stereo_matrix(names)
    if target_layout == "mono":
        return np.asarray(stereo_matrix(names).mean(axis=1, keepdims=True), np.float32)
    matrix = np.zeros((len(names), len(targets)), np.float32)
    for row, name in enumerate(names):
        if name in targets:
            matrix[row, targets.index(name)] = 1.0
            continue
        for other, gain in _ROUTES.get(name, ()):
            if other in targets:
                # Side and back of one side alone are the same loudspeaker by another name.
                is_same = name[0] in "SB" and name[1] in "LR" and other not in names
                matrix[row, targets.index(other)] = 1.0 if is_same else gain
    return matrix


def remixed(
    blocks: Iterable[SoundBlock], layout: str, target_layout: str, true_peak: float = DOWNMIXED_PEAK
) -> Iterable[SoundBlock]:
    """The sound in the channels of another layout.

    Where several become one it stays under ``true_peak`` dBTP, for they may be louder together than each.
    """
    if common_layout(layout) == common_layout(target_layout):
        return blocks
    matrix = remix_matrix(layout, target_layout)
    mixed = _multiplied(blocks, matrix)
    adds_channels = bool((np.abs(matrix).sum(axis=0) > 1.0 + 1e-6).any())
    return limited(mixed, Limiter(true_peak)) if adds_channels else mixed


def _multiplied(blocks: Iterable[SoundBlock], matrix: npt.NDArray[np.float32]) -> Iterator[SoundBlock]:
    for block in blocks:
        samples = block.samples.reshape(len(block.samples), -1)
        yield replace(block, samples=samples @ matrix)


def aac_configuration(header: bytes | None, packet: bytes) -> int | None:
    """The ``channelConfiguration`` of a track of AAC, 0 where it describes its channels itself.

    ``header`` is the track's (``AudioSpecificConfig``), ``packet`` its first packet, which in MPEG-TS has the
    same in a header of its own (ADTS). None where neither tells.
    """
    if header is not None and len(header) >= 2:
        bits = int.from_bytes(header[:16].ljust(16, b"\0"))
        at = 128
        kind, at = _take_bits(bits, at, 5)
        if kind == 31:
            _, at = _take_bits(bits, at, 6)
        rate, at = _take_bits(bits, at, 4)
        if rate == 15:
            _, at = _take_bits(bits, at, 24)
        return _take_bits(bits, at, 4)[0]
    if len(packet) >= 7 and packet[0] == 0xFF and packet[1] & 0xF6 == 0xF0:
        return (packet[2] & 1) << 2 | packet[3] >> 6
    return None


def _take_bits(value: int, remaining: int, count: int) -> tuple[int, int]:
    """``count`` bits of a number of which ``remaining`` are left, and how many are left then."""
    return value >> (remaining - count) & (1 << count) - 1, remaining - count
