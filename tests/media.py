"""Tiny test films, made with PyAV, whose frames carry their own number.

``make_film(FilmSpec(...))`` gives a `Made` with the path and the truth: the film second of each frame.
A film is made once per session and spec. `read_number` tells which frame a picture is.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Image = npt.NDArray[np.uint8]

PATCHES = ((200, 40, 40), (40, 180, 60), (50, 70, 210), (128, 128, 128))
"""RGB of the four patches in the upper third of every test frame, left to right."""

BITS = 12
COLUMNS = 6


@dataclass(frozen=True)
class SoundSpec:
    """A track of silence with tones; seconds count on the clock of the whole film.

    ``beeps`` are the starts of tones of 0.1 s, of ``400 + 300 * channel`` Hz; ``only_channel`` keeps
    all other channels silent; ``gap`` is a stretch that is left out of the stream.
    """

    start: float = 0.0
    duration: float = 2.0
    beeps: tuple[float, ...] = (0.5, 1.5)
    only_channel: int | None = None
    layout: str = "mono"
    rate: int = 48000
    codec: str = "aac"
    gap: tuple[float, float] | None = None
    language: str = ""
    title: str = ""
    default: bool = False


@dataclass(frozen=True)
class FilmSpec:
    """What a test film is like.

    ``size`` is that of the stored picture, the height a multiple of 4; ``times`` are the seconds of the frames on the film's clock
    (by default ``n / rate``); ``shift`` is added to every timestamp in the container; ``turn`` is the
    clockwise turn that the container asks for (pictures are stored turned back, so that they come out
    upright). ``matrix`` None leaves the film untagged, in BT.601. ``cuts`` are the numbers of the frames
    at which the tint changes.
    """

    suffix: str = ".mp4"
    codec: str = "libx264"
    size: tuple[int, int] = (192, 108)
    rate: Fraction = Fraction(25)
    frames: int = 50
    times: tuple[float, ...] = ()
    shift: float = 0.0
    time_base: Fraction | None = None
    gop: int = 12
    b_frames: int = 0
    pixels: str = "yuv420p"
    options: tuple[tuple[str, str], ...] = ()
    muxer: tuple[tuple[str, str], ...] = ()
    pixel_aspect: Fraction = Fraction(1)
    turn: int = 0
    matrix: int | None = None
    full_range: bool = False
    transfer: int | None = None
    primaries: int | None = None
    interlaced: bool = False
    cover: bool = False
    cuts: tuple[int, ...] = ()
    sounds: tuple[SoundSpec, ...] = ()

    def seconds(self) -> list[float]:
        """The true second of each frame on the film's own clock, before any common start is taken off."""
        return list(self.times) or [float(i / self.rate) for i in range(self.frames)]


@dataclass(frozen=True)
class Made:
    """A film that was made, and the truth about it: film second of each frame from time zero."""

    path: Path
    spec: FilmSpec
    seconds: tuple[float, ...] = field(repr=False)

    def number_at(self, second: float) -> int:
        """Which frame is on the screen at a film second: the last that began, else the first."""
        return max(0, int(np.searchsorted(self.seconds, second + 1e-6, "right")) - 1)


@functools.cache
def media_folder() -> Path:
    """A temporary folder for the session."""
    folder = Path(tempfile.mkdtemp(prefix="shotad-media-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@contextmanager
def ordinary_priority() -> Iterator[None]:
    """Around SVT-AV1's encoder: where the user is root it gives its own threads and the caller's real-time
    priority, and leaves it to the caller for good."""
    try:
        yield
    finally:
        if hasattr(os, "sched_setscheduler"):
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def draw(number: int, width: int, height: int, scene: int = 0) -> Image:
    """Frame ``number``: patches above, twelve bits as black and white blocks below, a scene tint between."""
    image = np.zeros((height, width, 3), np.uint8)
    third = height // 3
    for i, colour in enumerate(PATCHES):
        image[:third, i * width // 4 : (i + 1) * width // 4] = colour
    tint = np.array([(90, 90, 90), (160, 60, 30), (30, 60, 160), (60, 150, 60), (150, 150, 40)][scene % 5])
    image[third : 2 * third] = tint
    for bit in range(BITS):
        top, left = _bit_corner(bit, width, height)
        value = 235 if number >> bit & 1 else 20
        image[top : top + height // 6, left : left + width // COLUMNS] = value
    return image


def _bit_corner(bit: int, width: int, height: int) -> tuple[int, int]:
    row, column = divmod(bit, COLUMNS)
    return 2 * height // 3 + row * (height // 6), column * width // COLUMNS


def read_number(image: Image) -> int:
    """The number drawn in a picture of any size."""
    height, width = image.shape[:2]
    number = 0
    for bit in range(BITS):
        top, left = _bit_corner(bit, width, height)
        block = image[
            top + height // 18 : top + height // 9, left + width // 24 : left + width // COLUMNS - width // 24
        ]
        number |= int(block.mean() > 128) << bit
    return number


def read_patches(image: Image) -> npt.NDArray[np.float64]:
    """``float64[4, 3]``: the mean RGB of the middle of each patch."""
    height, width = image.shape[:2]
    rows = slice(height // 9, 2 * height // 9)
    middles = [slice(i * width // 4 + width // 12, (i + 1) * width // 4 - width // 12) for i in range(4)]
    return np.array([image[rows, columns].reshape(-1, 3).mean(0) for columns in middles])


@functools.cache
def make_film(spec: FilmSpec = FilmSpec()) -> Made:
    """The film of that spec, made at the first call. It has the same name in every process."""
    import av

    path = media_folder() / f"film-{hashlib.sha256(repr(spec).encode()).hexdigest()[:8]}{spec.suffix}"
    with av.open(str(path), "w", options=dict(spec.muxer)) as container:
        video = _video_stream(container, spec)
        sounds = [_sound_stream(container, sound) for sound in spec.sounds]
        cover = _cover_stream(container) if spec.cover and spec.suffix != ".mkv" else None
        if spec.cover and spec.suffix == ".mkv":
            import cv2

            _, data = cv2.imencode(".jpg", np.full((320, 320, 3), 200, np.uint8))
            container.add_attachment("cover.jpg", "image/jpeg", data.tobytes())
        packets = list(_encode_video(video, spec))
        for stream, sound in zip(sounds, spec.sounds, strict=True):
            packets += _encode_sound(stream, sound, spec.shift)
        if cover is not None:
            from av import VideoFrame

            frame = VideoFrame.from_ndarray(np.full((480, 320), 200, np.uint8), "yuvj420p")
            frame.pts = 0
            container.mux([*cover.encode(frame), *cover.encode(None)])
        for packet in sorted(packets, key=lambda p: float(p.dts * p.time_base)):
            container.mux(packet)
    seconds = spec.seconds()
    zero = min([seconds[0], *(sound.start for sound in spec.sounds)])
    return Made(path, spec, tuple(second - zero for second in seconds))


def _video_stream(container: Any, spec: FilmSpec) -> Any:
    stream = container.add_stream(spec.codec, rate=spec.rate, options=dict(spec.options))
    stream.width, stream.height = spec.size
    stream.pix_fmt = spec.pixels
    context = stream.codec_context
    context.time_base = spec.time_base or 1 / spec.rate
    context.gop_size, context.max_b_frames = spec.gop, spec.b_frames
    context.thread_count = 1
    context.sample_aspect_ratio = spec.pixel_aspect
    if spec.turn:
        stream.set_display_rotation(-spec.turn)
    if spec.matrix is not None:
        stream.colorspace = spec.matrix
    stream.color_range = 2 if spec.full_range else 1
    if spec.transfer is not None:
        stream.color_trc = spec.transfer
    if spec.primaries is not None:
        stream.color_primaries = spec.primaries
    if spec.interlaced:
        from av.codec.context import Flags

        context.flags |= Flags.interlaced_dct | Flags.interlaced_me
    return stream


def _encode_video(stream: Any, spec: FilmSpec) -> Iterator[Any]:
    base = stream.codec_context.time_base
    for number, second in enumerate(spec.seconds()):
        frame = video_frame(number, spec)
        frame.pts = round((second + spec.shift) / base)
        frame.time_base = base
        yield from stream.encode(frame)
    yield from stream.encode(None)


def video_frame(number: int, spec: FilmSpec) -> Any:
    """The stored frame, in the film's own colour matrix and range."""
    from av import VideoFrame

    width, height = spec.size
    shown = (height, width) if spec.turn in (90, 270) else (width, height)
    scene = sum(number >= cut for cut in spec.cuts)
    image = np.rot90(draw(number, *shown, scene), spec.turn // 90)
    if spec.interlaced:
        image = _comb(image, number)
    matrix = spec.matrix if spec.matrix is not None else 6
    planes = to_planes(np.ascontiguousarray(image), matrix, spec.full_range, 10 if "10" in spec.pixels else 8)
    frame = VideoFrame.from_ndarray(planes, spec.pixels)
    frame.colorspace = 2 if spec.matrix is None else spec.matrix
    frame.color_range = 2 if spec.full_range else 1
    return frame


def _comb(image: Image, number: int) -> Image:
    """A white bar in the middle third that stands elsewhere in each of the two fields."""
    image = image.copy()
    height, width = image.shape[:2]
    rows = np.arange(height // 3 + 2, 2 * height // 3 - 2)
    bar = width // 8
    for parity in (0, 1):
        left = (20 + 4 * number + parity * 24) % (width - bar)
        image[rows[rows % 2 == parity], left : left + bar] = 235
    return image


def to_planes(image: Image, matrix: int, full: bool, bits: int) -> npt.NDArray[Any]:
    """RGB to planar 4:2:0 ``[H * 3 / 2, W]`` by the matrix's definition (ITU-T H.273).

    Two rows that are as the two above them are computed once: most are, in these pictures.
    """
    height, width = image.shape[:2]
    pairs = image.reshape(height // 2, -1)
    first = np.append(True, (pairs[1:] != pairs[:-1]).any(1))
    of = np.cumsum(first) - 1
    red, blue = {1: (0.2126, 0.0722), 5: (0.299, 0.114), 6: (0.299, 0.114), 9: (0.2627, 0.0593)}[matrix]
    r, g, b = np.moveaxis(pairs[first].reshape(-1, 2, width, 3) / 255, -1, 0)
    y = red * r + (1 - red - blue) * g + blue * b
    u, v = (b - y) / (2 - 2 * blue), (r - y) / (2 - 2 * red)
    top = 2 ** (bits - 8)
    if full:
        y, u, v = y * (2**bits - 1), u * (2**bits - 1) + 128 * top, v * (2**bits - 1) + 128 * top
    else:
        y, u, v = (16 + 219 * y) * top, (128 + 224 * u) * top, (128 + 224 * v) * top
    small = [p.reshape(-1, 2, width // 2, 2).mean((1, 3)) for p in (u, v)]
    kind = np.uint16 if bits > 8 else np.uint8
    planes = [np.clip(np.round(p), 0, 2**bits - 1).astype(kind)[of] for p in (y, *small)]
    return np.concatenate([p.reshape(-1, width) for p in planes])


def _sound_stream(container: Any, sound: SoundSpec) -> Any:
    from av.stream import Disposition

    stream = container.add_stream(sound.codec, rate=sound.rate, layout=sound.layout)
    if sound.language:
        stream.metadata["language"] = sound.language
    if sound.title:
        stream.metadata["title"] = sound.title
    stream.disposition = Disposition.default if sound.default else Disposition(0)
    return stream


def tones(sound: SoundSpec) -> npt.NDArray[np.float32]:
    """``float32[channels, n]``: the track's samples from its start."""
    from av import AudioLayout

    count = round(sound.duration * sound.rate)
    channels = AudioLayout(sound.layout).nb_channels
    wave = np.zeros((channels, count), np.float32)
    time = np.arange(round(0.1 * sound.rate)) / sound.rate
    for beep in sound.beeps:
        at = round((beep - sound.start) * sound.rate)
        for channel in range(channels):
            if sound.only_channel in (None, channel) and 0 <= at <= count - len(time):
                wave[channel, at : at + len(time)] = 0.5 * np.sin(2 * np.pi * (400 + 300 * channel) * time)
    return wave


def _encode_sound(stream: Any, sound: SoundSpec, shift: float) -> Iterator[Any]:
    from av import AudioFrame

    wave = tones(sound)
    pixels = stream.codec_context.format.name
    size = stream.codec_context.frame_size or 1024
    first = round((sound.start + shift) * sound.rate)
    for at in range(0, wave.shape[1], size):
        second = sound.start + at / sound.rate
        if sound.gap and sound.gap[0] <= second < sound.gap[1]:
            continue
        part = wave[:, at : at + size]
        if pixels == "s16":
            part = np.round(part.T.reshape(1, -1) * 32767).astype(np.int16)
        elif pixels == "flt":
            part = part.T.reshape(1, -1)
        frame = AudioFrame.from_ndarray(np.ascontiguousarray(part), format=pixels, layout=sound.layout)
        frame.sample_rate, frame.pts, frame.time_base = sound.rate, first + at, Fraction(1, sound.rate)
        yield from stream.encode(frame)
    yield from stream.encode(None)


def _cover_stream(container: Any) -> Any:
    from av.stream import Disposition

    stream = container.add_stream("mjpeg", rate=1)
    stream.width, stream.height, stream.pix_fmt = 320, 320, "yuvj420p"
    stream.disposition = Disposition.attached_pic
    return stream


def make_stills(folder: Path, count: int, first: int = 1, size: tuple[int, int] = (192, 108)) -> Path:
    """``count`` PNG files ``00001.png`` … in ``folder``; frame ``first + i`` carries number ``i``."""
    import cv2

    folder.mkdir(parents=True, exist_ok=True)
    for i in range(count):
        cv2.imwrite(str(folder / f"{first + i:05d}.png"), draw(i, *size)[..., ::-1])
    return folder
