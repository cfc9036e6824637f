"""Makes a film's small copy for the browser, as a program of its own:
``python -m shotad.review.pictures.proxymaking``.

It runs in a process of its own, at low priority: the server stays quick, for coding holds Python's lock
at every frame, and a copy that is not wanted any more can be stopped at once. It is told what to do by
one JSON value as its argument, tells how far it is in lines of JSON, and ends when its standard input
does: it never outlives who started it.

The copy's clock is the film's: second 0 is the container's start, every frame keeps its own second (to
17 µs, never later), and the sound is laid out from second 0 on, late beginnings and gaps as silence. There
are no frames that refer to later ones, so that no edit list stands between its clock and the player's, and
every second a frame from which decoding can begin, so that seeking is quick.
"""

from __future__ import annotations

import json
import math
import os
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shotad.errors import ShotadError, WorkFolderError
from shotad.film.audio import Samples, choose_track, sound_blocks
from shotad.film.colour import Turn, light_of, matrix_of, turn_of
from shotad.film.reader import Film, Frame, Size, open_film
from shotad.workfolder import readable_json, replacing, sweep_beside, write_text

if TYPE_CHECKING:
    from av import VideoFrame
    from av.audio.stream import AudioStream
    from av.container import OutputContainer
    from av.video.stream import VideoStream

LINES = 480
"""Of the copy's picture, at most."""

QUALITY = 26
"""x264's constant rate factor."""

BETWEEN_KEYS = 1.0
"""Seconds from one frame at which decoding can begin to the next, at most (a frame's length aside)."""

CLOCK = Fraction(1, 90_000)
RATE, BITS = 48_000, 128_000
NICE = 15
"""What is added to the niceness of the process: anything else on the machine goes first."""

FORMAT = 1
"""To be raised whenever what is made here changes: older copies are then made anew."""

_BT709, _LIMITED, _FULL = 1, 1, 2
_EVERY = 0.5
"""Film seconds between two reports of progress, at least."""

Report = Callable[[float], None]
"""Told the share that is done, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be made. ``frame_rate`` is that of numbered frames, ``track`` the number of the audio track
    (None: the film's default)."""

    film: Path
    target: Path
    key: str
    reader: str = "pyav"
    frame_rate: Fraction | None = None
    track: int | None = None

    @property
    def key_file(self) -> Path:
        """The file that tells of which film and settings the copy is; written last."""
        return self.target.with_suffix(".json")

    def to_json(self) -> str:
        """For the command line; `from_json` reads it."""
        rate = None if self.frame_rate is None else str(self.frame_rate)
        return json.dumps(
            [str(self.film), str(self.target), self.key, self.reader, rate, self.track], ensure_ascii=True
        )

    @staticmethod
    def from_json(text: str) -> Order:
        """What `to_json` wrote."""
        film, target, key, reader, rate, track = json.loads(text)
        return Order(Path(film), Path(target), key, reader, None if rate is None else Fraction(rate), track)


def known_copy(order: Order) -> dict[str, Any] | None:
    """What is known of the copy that is there, if it is of this order and whole."""
    try:
        known = json.loads(order.key_file.read_text(encoding="utf-8"))
        there = order.target.stat().st_size
    except (OSError, ValueError):
        return None
    fits = isinstance(known, dict) and known.get("key") == order.key and known.get("size") == there
    return known if fits else None


def make_copy(order: Order, report: Report) -> dict[str, Any]:
    """Make the copy unless it is there; what `known_copy` then gives.

    One process makes it at a time; others wait and find it made. Raises FilmError for a film that cannot
    be read, WorkFolderError where the copy cannot be written.
    """
    from filelock import FileLock

    try:
        order.target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(order.target.with_name(f".{order.target.stem}.lock")):
            found = known_copy(order)
            if found is None:
                sweep_beside(order.target)
                order.key_file.unlink(missing_ok=True)
                found = _made(order, report)
            return found
    except OSError as error:
        raise _unwritable(order.target, error) from None


def _made(order: Order, report: Report) -> dict[str, Any]:
    with open_film(order.film, reader=order.reader, frame_rate=order.frame_rate) as film:
        with replacing(order.target) as part:
            _Copying(film, order, report).write(part)
            size = part.stat().st_size
        info = film.info
        known = {"key": order.key, "film": info.name, "size": size, "damage": film.damage}
    write_text(order.key_file, readable_json(known))
    return known


class _Copying:
    """One film on its way into its copy."""

    def __init__(self, film: Film, order: Order, report: Report) -> None:
        self._film, self._order, self._report = film, order, report
        self._length = max(film.info.duration, 1e-3)

    def write(self, part: Path) -> None:
        import av

        with _written(self._order.target):
            output = av.open(str(part), "w", format="mp4", options={"movflags": "+faststart"})
            try:
                self._fill(output)
            finally:
                # Closing writes what is left; where the disk is full, that fails as well.
                output.close()

    def _fill(self, output: OutputContainer) -> None:
        frames = self._film.frames()
        first = next(frames)
        picture = _Picture(output, first, self._film)
        track = choose_track(self._film.info, self._order.track)
        sound = _Sound(output) if track is not None else None
        blocks = self._blocks() if sound is not None else iter(())
        told = 0.0
        for frame, until in _with_next(first, frames):
            picture.add(frame, until)
            if sound is not None:
                sound.up_to(frame.seconds, blocks)
            if frame.seconds - told >= _EVERY:
                told = frame.seconds
                self._report(min(0.99, told / self._length))
        picture.finish()
        if sound is not None:
            sound.up_to(math.inf, blocks)
            sound.finish()

    def _blocks(self) -> Iterator[Samples]:
        found = sound_blocks(self._film, self._order.track, RATE, "stereo")
        return (block.samples for block in found)


def _with_next(first: Frame, frames: Iterator[Frame]) -> Iterator[tuple[Frame, float | None]]:
    """Each frame and when the next comes up; None after the last."""
    before = first
    for frame in frames:
        yield before, frame.seconds
        before = frame
    yield before, None


class _Picture:
    """The picture of the copy."""

    def __init__(self, output: OutputContainer, first: Frame, film: Film) -> None:
        self._output, self._film = output, film
        self._size: Size = film.info.size_within(LINES)
        self._upright = first.raw is not None and turn_of(first.raw) == Turn()
        self._matrix = matrix_of(first.raw) if first.raw is not None and self._plain(first) else _BT709
        self._stream = self._coder(first)
        self._due, self._last = 0.0, -1
        self._shrink: Any = None

    def _coder(self, first: Frame) -> VideoStream:
        rate = self._film.info.frame_rate or Fraction(25)
        options = {"preset": "veryfast", "crf": str(QUALITY), "forced-idr": "1", "bf": "0"}
        stream: Any = self._output.add_stream("libx264", rate=rate, options=options)
        stream.width, stream.height = self._size
        stream.pix_fmt = "yuv420p"
        stream.time_base = CLOCK
        context = stream.codec_context
        context.time_base = CLOCK
        # Only forced ones: they are counted in seconds, and frames may be of any length.
        context.gop_size = 100_000
        context.colorspace, context.color_range = self._matrix, _LIMITED
        if self._plain(first) and first.raw is not None:
            context.color_primaries, context.color_trc = first.raw.color_primaries, first.raw.color_trc
        else:
            context.color_primaries = context.color_trc = _BT709
        coder: VideoStream = stream
        return coder

    def add(self, frame: Frame, until: float | None) -> None:
        """One frame. The first is shown from second 0 on; of two within one tick the first stays."""
        from av.video.frame import PictureType

        # Half a tick early: a player that is sent to the frame's own second rounds, perhaps past it.
        stamp = 0 if self._last < 0 else math.floor(frame.seconds / CLOCK - 0.5)
        if stamp <= self._last:
            return
        self._last = stamp
        small = self._small(frame)
        small.pts, small.time_base = stamp, CLOCK
        length = until - frame.seconds if until is not None else self._shown_for(frame)
        small.duration = max(1, round(length / CLOCK))
        small.pict_type = PictureType.NONE
        if frame.seconds >= self._due or stamp == 0:
            small.pict_type, self._due = PictureType.I, frame.seconds + BETWEEN_KEYS
        self._output.mux(self._stream.encode(small))

    def finish(self) -> None:
        self._output.mux(self._stream.encode(None))

    def _shown_for(self, frame: Frame) -> float:
        """Seconds that the last frame is shown."""
        raw = frame.raw
        if raw is not None and raw.duration and raw.time_base is not None:
            return float(raw.duration * raw.time_base)
        return float(1 / (self._film.info.frame_rate or 25))

    def _plain(self, frame: Frame) -> bool:
        """Whether the planes need nothing but shrinking: upright, SDR, 4:2:0 and the like, progressive."""
        raw = frame.raw
        if raw is None or not self._upright or raw.interlaced_frame or light_of(raw) != "sdr":
            return False
        return raw.format.name.startswith(("yuv", "nv12", "nv21")) and not raw.format.is_rgb

    def _small(self, frame: Frame) -> VideoFrame:
        from av import VideoFrame
        from av.video.reformatter import Interpolation, VideoReformatter

        self._shrink = self._shrink or VideoReformatter()
        scale = partial(self._shrink.reformat, format="yuv420p", dst_color_range=_LIMITED, threads=1)
        if frame.raw is not None and self._plain(frame):
            raw = frame.raw
            small: VideoFrame = scale(
                raw,
                *self._size,
                src_colorspace=matrix_of(raw),
                dst_colorspace=self._matrix,
                interpolation=Interpolation.AREA,
            )
            return small if small is not raw else VideoFrame.from_ndarray(raw.to_ndarray(), "yuv420p")
        painted = VideoFrame.from_ndarray(frame.rgb(self._size), "rgb24")
        turned: VideoFrame = scale(painted, dst_colorspace=self._matrix)
        return turned


class _Sound:
    """The sound of the copy, stereo."""

    def __init__(self, output: OutputContainer) -> None:
        self._output = output
        self._stream: AudioStream = output.add_stream("aac", rate=RATE, layout="stereo")
        self._stream.codec_context.bit_rate = BITS
        self._given = 0

    def up_to(self, second: float, blocks: Iterator[Samples]) -> None:
        """Write what sounds before ``second``, so that it stands beside its picture in the file."""
        while self._given / RATE <= second:
            samples = next(blocks, None)
            if samples is None:
                self._given = sys.maxsize
                return
            self._add(samples)

    def _add(self, samples: Samples) -> None:
        from av import AudioFrame
        from numpy import ascontiguousarray, clip

        planes = ascontiguousarray(clip(samples, -1, 1).T)
        frame = AudioFrame.from_ndarray(planes, format="fltp", layout="stereo")
        frame.sample_rate, frame.time_base, frame.pts = RATE, Fraction(1, RATE), self._given
        self._given += len(samples)
        self._output.mux(self._stream.encode(frame))

    def finish(self) -> None:
        self._output.mux(self._stream.encode(None))


class _written:  # noqa: N801  reads as a word where it is used
    """Turns ffmpeg's errors of writing into ours."""

    def __init__(self, target: Path) -> None:
        self._target = target

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, ShotadError):
            return
        from av.error import FFmpegError

        if isinstance(error, FFmpegError | OSError):
            raise _unwritable(self._target, error) from None


def _unwritable(target: Path, error: Exception) -> WorkFolderError:
    reason = getattr(error, "strerror", None) or str(error)
    return WorkFolderError(
        f"The copy of the film for the browser, {target}, cannot be written: {reason}.",
        "Free some space, or see to it that the folder may be written; then open the page again.",
    )


def main(argument: str) -> int:
    """Make the copy that the JSON ``argument`` orders, and tell of it on standard output."""
    threading.Thread(target=_end_with_caller, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(NICE)
    order = Order.from_json(argument)
    try:
        known = make_copy(order, lambda done: _tell({"done": round(done, 4)}))
    except ShotadError as error:
        _tell({"failed": [error.what, error.hint]})
        return 1
    _tell({"finished": known})
    return 0


def _tell(news: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(news) + "\n")
    sys.stdout.flush()


def _end_with_caller() -> None:
    """Wait until who started this process is gone or wants no more, and end."""
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
