"""What differs of two texts, values, sounds or media files: lines for people, none where nothing does."""

from __future__ import annotations

import difflib
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt

MEDIA = {".mp4", ".mkv", ".webm", ".mp3", ".wav", ".flac", ".m4a"}
QUIET = -60.0
"""dB: what sound may differ by, below the sound itself."""

Sound = npt.NDArray[np.float64]


def file_differences(base: Path, tree: Path, plain: Callable[[Path, str], str]) -> Iterator[str]:
    """What differs of two files; ``plain`` takes out of a file's text what is no matter."""
    if base.read_bytes() == tree.read_bytes():
        return
    try:
        if base.suffix in MEDIA:
            yield from media_differences(base, tree)
        elif base.suffix in {".docx", ".xlsx"}:
            yield from value_differences(_packed(base, plain), _packed(tree, plain))
        else:
            yield from text_differences(*(plain(p, p.read_bytes().decode()) for p in (base, tree)))
    except UnicodeDecodeError:
        yield "other bytes"


def _packed(path: Path, plain: Callable[[Path, str], str]) -> dict[str, str]:
    with zipfile.ZipFile(path) as packed:
        return {name: plain(path, packed.read(name).decode()) for name in packed.namelist()}


def sound_difference(base: Sound, tree: Sound) -> float:
    """How loud the difference of two sounds (``float[channels, n]``) is, dB of its RMS over that of ``base``.

    -inf where they are equal. What only one of them has, channels or time, counts against silence.
    """
    shape = [max(sizes) for sizes in zip(base.shape, tree.shape, strict=True)]
    one, other = np.zeros(shape), np.zeros(shape)
    one[: base.shape[0], : base.shape[1]], other[: tree.shape[0], : tree.shape[1]] = base, tree
    amount, signal = np.sum((one - other) ** 2), np.sum(one**2)
    if amount == 0:
        return -np.inf
    return float(10 * np.log10(amount / signal)) if signal else np.inf


def heard(path: Path, index: int) -> Sound:
    """Sound of a file's stream as it is decoded, ``float[channels, n]``."""
    with av.open(str(path)) as container:
        frames = [_samples(frame) for frame in container.decode(container.streams[index])]
    return np.concatenate(frames, axis=1) if frames else np.zeros((1, 0))


def _samples(frame: Any) -> Sound:
    values = frame.to_ndarray()
    scale = 1.0 if values.dtype.kind == "f" else float(np.iinfo(values.dtype).max)
    values = values if frame.format.is_planar else values.reshape(-1, len(frame.layout.channels)).T
    return np.asarray(values / scale, np.float64)


def media_differences(base: Path, tree: Path) -> Iterator[str]:
    """What differs of two media files: streams, packets of all but sound, sound beyond `QUIET`."""
    one, other = _streams(base), _streams(tree)
    yield from value_differences([s[0] for s in one], [s[0] for s in other], "streams")
    for index, ((about, packets), (_, others)) in enumerate(zip(one, other, strict=False)):
        if about["type"] != "audio":
            unlike = [n for n, (a, b) in enumerate(zip(packets, others, strict=False)) if a != b]
            if unlike or len(packets) != len(others):
                counts = f"{len(packets)} → {len(others)} packets, {len(unlike)} unlike"
                yield f"stream {index} ({about['type']}): {counts}"
        elif packets != others:
            level = sound_difference(heard(base, index), heard(tree, index))
            if level > QUIET:
                yield f"stream {index} (audio): differs by {level:.1f} dB"


def _streams(path: Path) -> list[tuple[dict[str, Any], list[tuple[Any, ...]]]]:
    """Of each stream what is told of it, and its packets: pts, dts, whether it is a key frame, bytes."""
    with av.open(str(path)) as container:
        packets: list[list[tuple[Any, ...]]] = [[] for _ in container.streams]
        for packet in container.demux():
            if packet.size:  # the last of each stream is empty
                about = (packet.pts, packet.dts, packet.is_keyframe, bytes(packet))
                packets[packet.stream.index].append(about)
        told = [
            {
                "type": stream.type,
                "codec": stream.codec_context.name if stream.codec_context else "",
                "tags": dict(stream.metadata),
                "role": str(stream.disposition),
                "clock": str(stream.time_base),
                "start": packets[stream.index][0][0] if packets[stream.index] else None,
            }
            for stream in container.streams
        ]
    return list(zip(told, packets, strict=True))


def value_differences(base: Any, tree: Any, where: str = "") -> Iterator[str]:
    """What differs of two values of JSON, each with its place."""
    if isinstance(base, dict) and isinstance(tree, dict):
        for key in [*base, *(key for key in tree if key not in base)]:
            if key not in base or key not in tree:
                yield f"{where}.{key}: only in {'BASE' if key in base else 'the working tree'}"
            else:
                yield from value_differences(base[key], tree[key], f"{where}.{key}")
    elif isinstance(base, list) and isinstance(tree, list):
        if len(base) != len(tree):
            yield f"{where}: {len(base)} → {len(tree)} entries"
        for place, (one, other) in enumerate(zip(base, tree, strict=False)):
            yield from value_differences(one, other, f"{where}[{place}]")
    elif type(base) is not type(tree) or base != tree:
        same = 0
        if isinstance(base, str) and isinstance(tree, str):
            same = next((n for n, pair in enumerate(zip(base, tree, strict=False)) if len({*pair}) > 1), 0)
        one, other = (repr(value[max(0, same - 40) :] if same else value) for value in (base, tree))
        yield f"{where}: {one:.110} → {other:.110}"


def text_differences(base: str, tree: str) -> Iterator[str]:
    """What differs of two texts: by value where they are JSON or JSON Lines, else line by line."""
    if base == tree:
        return
    for read in (json.loads, lambda text: [json.loads(line) for line in text.split("\n") if line]):
        try:
            found = list(value_differences(read(base), read(tree)))
        except ValueError:
            continue
        yield from found or ["the same values, written otherwise"]
        return
    lines = difflib.unified_diff(base.splitlines(), tree.splitlines(), "", "", n=0, lineterm="")
    yield from (line[:200] for line in lines if not line.startswith(("---", "+++", "@@")))
    if base.splitlines() == tree.splitlines():
        yield "line ends differ"
