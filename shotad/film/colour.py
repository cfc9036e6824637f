"""From the decoder's planes to the picture that is meant: matrix, range, HDR, fields, turns, pixels.

HDR is brought to SDR BT.709 before anything looks at it. ffmpeg's own tone mapping in swscale clips
at 203 cd/m² where a film carries no metadata and costs ten times as much, and its ``zscale`` filter
is not in the wheels; so it is done here: linear light by table, BT.2020 to BT.709 by matrix (ITU-R
BT.2087), then per channel the roll-off of ITU-R BT.2390 (section 5.4.1) from 1000 to 203 cd/m².
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from shotad.core import Image

if TYPE_CHECKING:
    from av import VideoFrame
    from av.filter.graph import Graph
    from av.video.reformatter import VideoReformatter

Light = Literal["sdr", "pq", "hlg", "wide"]
"""``wide`` is SDR light in the primaries of BT.2020."""

_PQ, _HLG, _BT2020, _UNKNOWN, _BT709, _BT601 = 16, 18, 9, 2, 1, 5
"""Code points of ITU-T H.273: transfers 16 and 18, primaries 9, unspecified 2, matrices 1 and 5."""

PEAK = 1000.0
"""cd/m² of the brightest light that is told apart; brighter is white."""

WHITE = 203.0
"""cd/m² of diffuse white in HDR, and of SDR's white here (ITU-R BT.2408)."""

_TO_BT709 = np.array(
    [[1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187]], np.float32
)


@dataclass(frozen=True, slots=True)
class Orientation:
    """How a decoded picture is brought upright: transposed first, then mirrored."""

    transpose: bool = False
    mirror_x: bool = False
    mirror_y: bool = False

    @property
    def degrees(self) -> int:
        """The clockwise turn in it, mirrors aside: 0, 90, 180 or 270."""
        if self.transpose:
            return 90 if self.mirror_x else 270
        return 180 if self.mirror_x and self.mirror_y else 0

    def apply(self, image: Image) -> Image:
        """``image`` upright, as a contiguous array; itself where there is nothing to do."""
        if self.transpose:
            image = image.transpose(1, 0, 2)
        if self.mirror_x:
            image = image[:, ::-1]
        if self.mirror_y:
            image = image[::-1]
        return np.ascontiguousarray(image)


def frame_orientation(frame: VideoFrame) -> Orientation:
    """The turn that a frame's display matrix asks for, to the nearest right angle.

    The matrix takes source ``(x, y)`` to ``(a x + c y, b x + d y)``, y downwards.
    """
    from av.sidedata.sidedata import Type

    try:
        side: Any = frame.side_data
    except ValueError:  # it holds a kind that PyAV does not know yet, and PyAV then tells of none
        return Orientation()
    data = side.get(Type.DISPLAYMATRIX)
    if data is None:
        return Orientation()
    matrix = np.frombuffer(bytes(data), "<i4")
    a, b, c, d = (int(matrix[i]) for i in (0, 1, 3, 4))
    if abs(a) >= abs(b):
        return Orientation(False, a < 0, d < 0)
    return Orientation(True, c < 0, b < 0)


def frame_light(frame: VideoFrame) -> Light:
    """Which kind of light a frame's tags claim."""
    if frame.color_trc == _PQ:
        return "pq"
    if frame.color_trc == _HLG:
        return "hlg"
    return "wide" if frame.color_primaries == _BT2020 else "sdr"


class Painter:
    """Makes pictures from decoded frames of one film; keeps its scalers and filters.

    ``size`` is the film's displayed ``(width, height)``.
    """

    def __init__(self, size: tuple[int, int], turn: Orientation, light: Light) -> None:
        self._size, self._turn, self._light = size, turn, light
        self._scalers: dict[tuple[int, int], VideoReformatter] = {}
        self._fields: Graph | None = None
        self._fields_of: tuple[int, int, str] | None = None

    def __call__(self, frame: VideoFrame, size: tuple[int, int] | None = None) -> Image:
        """``uint8[H, W, 3]`` RGB at ``(width, height)``, see `shotad.film.reader.Frame.rgb`."""
        width, height = size or self._size
        if self._turn.transpose:
            width, height = height, width
        if frame.interlaced_frame:
            frame = self._deinterlace(frame)
        if self._light == "sdr":
            image: Image = self._scale(frame, width, height, "rgb24")
        else:
            image = to_sdr(self._scale(frame, width, height, "rgb48le"), self._light)
        return self._turn.apply(image)

    def _scale(self, frame: VideoFrame, width: int, height: int, pixels: str) -> npt.NDArray[Any]:
        from av.video.reformatter import Interpolation, VideoReformatter

        smaller = width < frame.width or height < frame.height
        scaler = self._scalers.setdefault((width, height), VideoReformatter())
        small = scaler.reformat(
            frame,
            width,
            height,
            pixels,
            src_colorspace=frame_matrix(frame) if frame.colorspace == _UNKNOWN else None,
            # Area averaging: no alias in a small picture, and the cheapest that has none.
            interpolation=Interpolation.AREA if smaller else Interpolation.BICUBIC,
            threads=1,
        )
        return small.to_ndarray()

    def _deinterlace(self, frame: VideoFrame) -> VideoFrame:
        """The frame without combs, from its own first field.

        ``estdif`` looks at one frame alone, so a picture is the same whether the film was read
        through or sought; yadif and bwdif need neighbours. It answers one frame late, so each frame
        goes in twice.
        """
        import av

        key = (frame.width, frame.height, frame.format.name)
        if self._fields is None or self._fields_of != key:
            from av.filter import Graph

            graph = Graph()
            graph.threads = 1
            source = graph.add_buffer(
                width=frame.width,
                height=frame.height,
                format=frame.format,
                time_base=frame.time_base or Fraction(1, 90000),
            )
            middle = graph.add("estdif", "mode=frame:deint=interlaced")
            sink = graph.add("buffersink")
            source.link_to(middle)
            middle.link_to(sink)
            graph.configure()
            self._fields, self._fields_of = graph, key
        out = frame
        for _ in range(2):
            self._fields.push(frame)
            try:
                while True:
                    pulled = self._fields.pull()
                    out = pulled  # type: ignore[assignment]
            except (av.error.BlockingIOError, av.error.EOFError):
                pass
        return out


def frame_matrix(frame: VideoFrame) -> int:
    """A frame's matrix (H.273). Untagged is BT.709 in HD and BT.601 (5) else, as players take it."""
    if frame.colorspace != _UNKNOWN:
        return int(frame.colorspace)
    return _BT709 if frame.height >= 720 or frame.width >= 1280 else _BT601


def to_sdr(image: npt.NDArray[np.uint16], light: Light) -> Image:
    """``uint16[H, W, 3]`` of full-range R'G'B' in BT.2020 as SDR BT.709, ``uint8[H, W, 3]``."""
    import cv2

    linear = np.take(_linear_table(light), image >> 6)
    if light == "hlg":
        # HLG's system gamma of 1.2 for a display of 1000 cd/m² (ITU-R BT.2100), ``[H, W, 1]``.
        luminance = linear @ np.array([0.2627, 0.6780, 0.0593], np.float32)
        gain: npt.NDArray[np.float32] = (PEAK / WHITE) * np.maximum(luminance, 1e-6) ** np.float32(0.2)
        linear *= gain[..., None].astype(np.float32)
    narrow = cv2.transform(linear, _TO_BT709)
    table = _display_table(light)
    index = np.clip(np.sqrt(np.maximum(narrow, 0)) * _STEPS, 0, len(table) - 1).astype(np.uint16)
    shown: Image = np.take(table, index)
    return shown


_STEPS = 2048
"""Steps of the display table per unit of the square root of light."""


@lru_cache(maxsize=4)
def _linear_table(light: Light) -> npt.NDArray[np.float32]:
    """Linear light for each 10-bit code, 1 = diffuse white (for HLG: scene light, 1 = peak)."""
    code = np.arange(1024) / 1023
    if light == "pq":
        return (_from_pq(code) / WHITE).astype(np.float32)
    if light == "hlg":
        a, b, c = 0.17883277, 0.28466892, 0.55991073
        return np.where(code <= 0.5, code**2 / 3, (np.exp((code - c) / a) + b) / 12).astype(np.float32)
    return (code**2.4).astype(np.float32)


@lru_cache(maxsize=4)
def _display_table(light: Light) -> npt.NDArray[np.uint8]:
    """8-bit codes by the square root of light, times `_STEPS`; BT.1886's display gamma."""
    top = 1.0 if light == "wide" else PEAK / WHITE
    root = np.arange(round(_STEPS * top**0.5) + 1) / _STEPS
    shown = root**2
    if light != "wide":
        # BT.2390's curve from `PEAK` to `WHITE`: shadows and mid-tones stay, highlights bend.
        peak = _to_pq(np.array(PEAK))
        code = np.minimum(_to_pq(shown * WHITE) / peak, 1)
        end = float(_to_pq(np.array(WHITE)) / peak)
        knee = 1.5 * end - 0.5
        t = np.clip((code - knee) / (1 - knee), 0, 1)
        bent = (2 * t**3 - 3 * t**2 + 1) * knee + (t**3 - 2 * t**2 + t) * (1 - knee)
        bent += (-2 * t**3 + 3 * t**2) * end
        shown = _from_pq(np.where(code < knee, code, bent) * peak) / WHITE
    return np.round(255 * np.clip(shown, 0, 1) ** (1 / 2.4)).astype(np.uint8)


def _to_pq(nits: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    power = (nits / 10000) ** (2610 / 16384)
    return np.asarray(((3424 / 4096 + 2413 / 128 * power) / (1 + 2392 / 128 * power)) ** (2523 / 32))


def _from_pq(code: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    power = code ** (32 / 2523)
    ratio = np.maximum(power - 3424 / 4096, 0) / (2413 / 128 - 2392 / 128 * power)
    return np.asarray(10000 * ratio ** (16384 / 2610))
