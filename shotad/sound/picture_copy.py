"""The film's picture with pauses, re-encoded."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

from shotad.core import SoundError
from shotad.film import TOLERANCE, Decoder, Film, Probed, exact, matrix_of, only, packets_of
from shotad.sound.pauses import TimeMap

if TYPE_CHECKING:
    from av import Packet, VideoFrame
    from av.container import OutputContainer
    from av.filter.graph import Graph
    from av.video.reformatter import VideoReformatter

QUALITY = 18
"""x264's and libvpx's CRF, less is better: at 18 the copy is taken for the film (SSIM 0.99)."""
_FINEST = 1_000_000

_AT_ONCE = 0.1
"""Seconds. A first frame that comes no later is shown from second 0: MP4 gives a late start in whole ms, by
which all others would be off."""

_BT709 = 1


class PictureCopy:
    """The picture of the copy: each frame at its own moment, the one on screen repeated through a pause.

    Upright and progressive, 8 bits in 4:2:0, with the film's size, pixel shape and colour tags.
    """

    def __init__(self, out: OutputContainer, film: Film, probed: Probed, times: TimeMap) -> None:
        assert film.media is not None
        self._times = times
        self._reel = Decoder(film.media, probed.stream, film.info.start, film.info.frame_rate)
        self._rate = film.info.frame_rate or Fraction(25)
        self._frames = _Upright(self._reel, probed)
        first = self._frames.first()
        rate = self._rate
        vp9 = out.format.name == "webm"
        options = {
            "crf": str(QUALITY),
            **({"b": "0", "deadline": "good", "cpu-used": "4", "row-mt": "1"} if vp9 else {}),
        }
        if not vp9:
            # At this quality as large as "fast" and as like the film (SSIM 0.989, 0.990), in half the time.
            options["preset"] = "veryfast"
        stream: Any = out.add_stream("libvpx-vp9" if vp9 else "libx264", rate=rate, options=options)
        stream.width, stream.height, stream.pix_fmt = first.width, first.height, first.format.name
        aspect = film.info.pixel_aspect
        context = stream.codec_context
        context.sample_aspect_ratio = 1 / aspect if probed.turn.transpose else aspect
        # The film's own clock, so that moments stay exact; 1/90000 where that is very coarse or very fine.
        assert film.media is not None
        container = film.media.open()
        try:
            base = exact(container.streams.video[probed.stream].time_base)
        finally:
            container.close()
        own = base is not None and base.numerator == 1 and 1000 <= base.denominator <= _FINEST
        context.time_base = base if own and base is not None else Fraction(1, 90_000)
        context.gop_size = max(12, round(2 * rate))
        stream.colorspace, stream.color_range = first.colorspace, first.color_range
        stream.color_trc, stream.color_primaries = first.color_trc, first.color_primaries
        self.stream = stream

    def close(self) -> None:
        self._reel.close()

    def packets(self) -> Iterator[Packet[Any]]:
        """Encoded, in decoding order."""
        for second, length, frame, fresh in self._timed():
            base = self.stream.codec_context.time_base
            frame.time_base = base
            frame.pts = round(second / base)
            frame.duration = max(1, round((second + length) / base) - frame.pts)
            # The encoder decides what kind a frame is, but the film goes on with a key frame, to jump to.
            from av.video.frame import PictureType

            frame.pict_type = PictureType.I if fresh else PictureType.NONE
            yield from self.stream.encode(frame)
        yield from self.stream.encode(None)

    def _timed(self) -> Iterator[tuple[float, float, VideoFrame, bool]]:
        """Second of the copy, length, frame, and whether it is the first one after a pause."""
        fresh, first = False, True
        for shown, until, frame in _with_ends(iter(self._frames), self._reel):
            second = 0.0 if first and shown < _AT_ONCE else shown
            first = False
            begin, end = _late(self._times, second), _late(self._times, until)
            waits = end - begin - (until - second) > TOLERANCE
            steps = max(1, round((end - begin) * float(self._rate))) if waits else 1
            for step in range(steps):
                at = begin + (end - begin) * step / steps
                yield at, (end - begin) / steps, frame, fresh and step == 0
            fresh = waits


class PictureKept:
    """The picture of the copy as it is, undecoded: what comes after a pause is shown later."""

    def __init__(self, out: OutputContainer, film: Film, probed: Probed, times: TimeMap) -> None:
        assert film.media is not None
        self._times, self._start, self._name = times, film.info.start, film.info.name
        self._source = film.media.open()
        self._video = self._source.streams.video[probed.stream]
        only(self._source, self._video)
        self.stream: Any = out.add_stream_from_template(self._video, opaque=True)

    def close(self) -> None:
        self._source.close()

    def packets(self) -> Iterator[Packet[Any]]:
        """As the film has them. Where a packet is decoded before a pause and shown after it, only the second
        is moved, so that the order of decoding stays.

        Raises SoundError for packets without times.
        """
        for packet in packets_of(self._source, self._video):
            if packet.size == 0:
                continue
            if packet.pts is None or not packet.time_base:
                raise SoundError(
                    f"The picture of {self._name} has no times to move.",
                    "Let it be encoded: picture = encode.",
                )
            base = packet.time_base
            shown = float(packet.pts * base - self._start)
            ends = shown + float((packet.duration or 0) * base)
            moved = _late(self._times, shown)
            if packet.duration:
                packet.duration = max(1, round((_late(self._times, ends) - moved) / base))
            if packet.dts is not None:
                packet.dts = round(_late(self._times, float(packet.dts * base - self._start)) / base)
            packet.pts = round(moved / base)
            packet.stream = self.stream
            yield packet


def _late(times: TimeMap, second: float) -> float:
    return times.late(second + TOLERANCE) - TOLERANCE


def _with_ends(
    frames: Iterator[tuple[float, VideoFrame]], reel: Decoder
) -> Iterator[tuple[float, float, VideoFrame]]:
    """Each frame with the second at which the next one comes, or it ends by its own account."""
    held: tuple[float, VideoFrame] | None = None
    for second, frame in frames:
        if held is not None:
            yield held[0], second, held[1]
        held = second, frame
    if held is not None:
        yield held[0], held[0] + reel.length(held[1]), held[1]


class _Upright:
    """The frames of a reel as they are encoded: ``(film second, frame)``."""

    def __init__(self, reel: Decoder, probed: Probed) -> None:
        self._reel, self._probed = reel, probed
        self._graph: Graph | None = None
        self._graph_of: tuple[int, int, str] | None = None
        self._seconds: deque[float] = deque()
        self._scaler: VideoReformatter | None = None
        self._size: tuple[int, int] | None = None
        self._ready: Iterator[tuple[float, VideoFrame]] = self._made()

    def first(self) -> VideoFrame:
        """The first frame, which comes again when it is iterated."""
        second, frame = next(self._ready)
        self._ready = chain([(second, frame)], self._ready)
        return frame

    def __iter__(self) -> Iterator[tuple[float, VideoFrame]]:
        return self._ready

    def _made(self) -> Iterator[tuple[float, VideoFrame]]:
        for second, frame in self._reel:
            kind = (frame.width, frame.height, frame.format.name)
            if self._graph is not None and kind != self._graph_of:
                yield from self._drained()
            turn = self._probed.turn
            odd = frame.width % 2 or frame.height % 2
            if self._graph is None and bool(
                frame.interlaced_frame or turn.transpose or turn.mirror_x or turn.mirror_y or odd
            ):
                self._graph, self._graph_of = _graph(frame, self._probed), kind
            if self._graph is None:
                yield second, self._planes(frame)
                continue
            self._seconds.append(second)
            self._graph.push(frame)
            yield from self._pulled()
        yield from self._drained()

    def _pulled(self) -> Iterator[tuple[float, VideoFrame]]:
        import av

        assert self._graph is not None
        try:
            while True:
                frame: Any = self._graph.pull()
                yield self._seconds.popleft(), self._planes(frame)
        except (av.error.BlockingIOError, av.error.EOFError):
            pass

    def _drained(self) -> Iterator[tuple[float, VideoFrame]]:
        if self._graph is not None:
            self._graph.push(None)
            yield from self._pulled()
        self._graph = None

    def _planes(self, frame: VideoFrame) -> VideoFrame:
        """8 bits in 4:2:0, of the size of the first frame; itself where it is so already."""
        from av.video.reformatter import VideoReformatter

        self._size = self._size or (frame.width, frame.height)
        plain = frame.format.name in ("yuv420p", "yuvj420p")
        if plain and (frame.width, frame.height) == self._size:
            return frame
        self._scaler = self._scaler or VideoReformatter()
        coded = matrix_of(frame) if not frame.format.is_rgb else None
        return self._scaler.reformat(
            frame,
            *self._size,
            "yuv420p",
            src_colorspace=coded,
            dst_colorspace=coded or _BT709,
            src_color_range=frame.color_range or None,
            dst_color_range=frame.color_range if coded else None,
        )


def _graph(frame: VideoFrame, probed: Probed) -> Graph:
    """Fields woven apart where frames have them, then upright, then even in size."""
    from av.filter import Graph

    turn = probed.turn
    graph = Graph()
    filters: list[Any] = [
        graph.add_buffer(
            width=frame.width,
            height=frame.height,
            format=frame.format,
            time_base=frame.time_base or Fraction(1, 90_000),
        ),
        graph.add("bwdif", "mode=send_frame:deint=interlaced"),
    ]
    # ffmpeg's 0 is the mirror at the diagonal, nothing but x and y exchanged.
    filters += [graph.add("transpose", "0")] if turn.transpose else []
    filters += [graph.add("hflip")] if turn.mirror_x else []
    filters += [graph.add("vflip")] if turn.mirror_y else []
    filters += [graph.add("crop", "trunc(iw/2)*2:trunc(ih/2)*2:0:0:exact=1"), graph.add("buffersink")]
    for before, after in pairwise(filters):
        before.link_to(after)
    graph.configure()
    return graph
