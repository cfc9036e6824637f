"""Films for the benchmarks, made from the sample film or another: larger, with grain, at a film's bit rate.

The sample is 640x360. Here it is enlarged, panned, given fine grain and encoded anew at the bit rate
of real film, so that decoding costs what it costs there; then its packets are repeated. It has cuts,
speech, music, noise, a title and credits.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np

SAMPLE = Path(__file__).parents[1] / "tests" / "sample" / "sample.mp4"
BIT_RATES = {1080: 5_000_000, 720: 3_000_000, 480: 1_400_000}
"""Bits per second of the picture, by its height."""
RATE, HERTZ = 24, 48000
GRAINS = 5


def bench_film(
    folder: Path, height: int, seconds: float, loop: float | None = None, source: Path = SAMPLE
) -> Path:
    """An H.264 and AAC film of at least ``seconds``, as large as fits into 16:9 of ``height`` lines.

    Made once per folder. ``loop`` takes only so many seconds of the beginning of ``source``, to be repeated.
    """
    name = f"{height}" if loop is None else f"{height}-{loop:g}"
    name = name if source == SAMPLE else f"{source.stem}-{name}"
    reel = folder / f"reel-{name}.mp4"
    if not reel.exists():
        _encode(source, reel, height, loop or 1e9)
    return repeated(reel, folder / f"film-{name}-{seconds:g}s.mp4", seconds)


def _encode(film: Path, path: Path, lines: int, end: float) -> None:
    width = round(lines * 16 / 9 / 2) * 2
    with av.open(str(film)) as source:
        shape = source.streams.video[0]
        height = min(lines, round(width * shape.height / shape.width / 2) * 2)
    rng = np.random.default_rng(1)
    grain = [rng.normal(0, 3, (height, width, 1)).round().astype(np.int16) for _ in range(GRAINS)]
    grain = [np.repeat(one, 3, axis=2) for one in grain]
    unfinished = path.with_suffix(".part.mp4")
    with av.open(str(film)) as source, av.open(str(unfinished), "w") as sink:
        video: Any = sink.add_stream("libx264", rate=RATE)
        video.width, video.height, video.pix_fmt = width, height, "yuv420p"
        video.codec_context.time_base = Fraction(1, RATE)
        video.bit_rate = BIT_RATES.get(lines, 3_000_000)
        video.options = {"preset": "faster", "threads": "2"}
        audio: Any = sink.add_stream("aac", rate=HERTZ, layout="stereo")
        audio.bit_rate = 160_000
        resampler = av.AudioResampler(format="fltp", layout="stereo", rate=HERTZ)
        count = 0
        for frame in source.decode(video=0, audio=0):
            if frame.time is not None and frame.time >= round(end * RATE) / RATE:
                continue
            if isinstance(frame, av.AudioFrame):
                for part in resampler.resample(frame):
                    sink.mux(audio.encode(part))
                continue
            # Enlarged by a tenth more than asked, seen through a window that wanders
            picture = frame.to_ndarray(format="rgb24")
            x, y = 0.05 + 0.05 * np.sin(count / 90), 0.05 + 0.05 * np.cos(count / 70)
            scale = width / picture.shape[1] * 1.1
            move = np.array([[scale, 0, -x * width], [0, scale, -y * height]])
            grown = cv2.warpAffine(picture, move, (width, height), flags=cv2.INTER_CUBIC)
            image = cv2.add(grown, grain[count % GRAINS], dtype=cv2.CV_8U)
            out = av.VideoFrame.from_ndarray(image, format="rgb24").reformat(format="yuv420p")
            out.pts, out.time_base = count, Fraction(1, RATE)
            sink.mux(video.encode(out))
            count += 1
        sink.mux(video.encode())
        sink.mux(audio.encode())
    unfinished.rename(path)


def repeated(reel: Path, path: Path, seconds: float) -> Path:
    """The packets of ``reel`` as often as it takes for ``seconds``, at least once, one after the other; made
    where it is not there."""
    if path.exists():
        return path
    unfinished = path.with_suffix(f".part{path.suffix}")
    with av.open(str(unfinished), "w") as sink, av.open(str(reel)) as pattern:
        length, picture = Fraction(pattern.duration, 1_000_000), pattern.streams.video[0]
        if picture.frames and picture.average_rate:
            length = Fraction(picture.frames) / picture.average_rate
        kept = [stream for stream in pattern.streams if stream.type in ("video", "audio")]
        streams: dict[int, Any] = {one.index: sink.add_stream_from_template(one) for one in kept}
        for turn in range(max(1, -(-Fraction(seconds).limit_denominator(1000) // length))):
            with av.open(str(reel)) as source:
                for packet in source.demux([source.streams[index] for index in streams]):
                    if packet.dts is None or packet.pts is None or packet.duration is None:
                        continue
                    # Not the encoder's delay at the beginning, nor what sounds beyond the end
                    late = (packet.pts + packet.duration) * packet.time_base > length
                    if packet.stream.type == "audio" and (packet.pts < 0 or late):
                        continue
                    shift = round(turn * length / packet.time_base)
                    packet.pts, packet.dts = packet.pts + shift, packet.dts + shift
                    packet.stream = streams[packet.stream.index]
                    sink.mux(packet)
    unfinished.rename(path)
    return path
