"""Films for the benchmarks, made from the sample film: larger, with grain, at a film's bit rate.

The sample is 640x360. Here it is enlarged, panned, given fine grain and encoded anew at the bit rate
of real film, so that decoding costs what it costs there; then its packets are repeated.
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


def bench_film(folder: Path, height: int, seconds: float) -> Path:
    """An H.264 and AAC film of ``height`` lines and at least ``seconds``; made once per folder."""
    reel = folder / f"reel-{height}.mp4"
    if not reel.exists():
        _encode(reel, height)
    with av.open(str(reel)) as container:
        times = -(-seconds // (container.streams.video[0].frames / RATE))
    path = folder / f"film-{height}-{int(seconds)}s.mp4"
    if not path.exists():
        _repeat(reel, path, int(times))
    return path


def _encode(path: Path, height: int) -> None:
    width = round(height * 16 / 9 / 2) * 2
    rng = np.random.default_rng(1)
    grain = [rng.normal(0, 3, (height, width)).astype(np.float32) for _ in range(5)]
    unfinished = path.with_suffix(".part.mp4")
    with av.open(str(SAMPLE)) as source, av.open(str(unfinished), "w") as sink:
        video: Any = sink.add_stream("libx264", rate=RATE)
        video.width, video.height, video.pix_fmt = width, height, "yuv420p"
        video.codec_context.time_base = Fraction(1, RATE)
        video.bit_rate = BIT_RATES.get(height, 3_000_000)
        video.options = {"preset": "faster", "threads": "2"}
        audio: Any = sink.add_stream("aac", rate=HERTZ, layout="stereo")
        audio.bit_rate = 160_000
        resampler = av.AudioResampler(format="fltp", layout="stereo", rate=HERTZ)
        count = 0
        for frame in source.decode(video=0, audio=0):
            if isinstance(frame, av.AudioFrame):
                for part in resampler.resample(frame):
                    sink.mux(audio.encode(part))
                continue
            assert isinstance(frame, av.VideoFrame)
            grown = _grown(frame.to_ndarray(format="rgb24"), width, height, count)
            image = np.clip(grown + grain[count % len(grain)][..., None], 0, 255).astype(np.uint8)
            out = av.VideoFrame.from_ndarray(image, format="rgb24").reformat(format="yuv420p")
            out.pts, out.time_base = count, Fraction(1, RATE)
            sink.mux(video.encode(out))
            count += 1
        sink.mux(video.encode())
        sink.mux(audio.encode())
    unfinished.rename(path)


def _grown(image: Any, width: int, height: int, number: int) -> Any:
    """The picture enlarged by a tenth more than asked, seen through a window that wanders."""
    x, y = 0.05 + 0.05 * np.sin(number / 90), 0.05 + 0.05 * np.cos(number / 70)
    scale = width / image.shape[1] * 1.1
    move = np.array([[scale, 0, -x * width], [0, scale, -y * height]])
    return cv2.warpAffine(image, move, (width, height), flags=cv2.INTER_CUBIC).astype(np.float32)


def _repeat(reel: Path, path: Path, times: int) -> None:
    """The packets of ``reel``, ``times`` over, with their timestamps moved on."""
    unfinished = path.with_suffix(".part.mp4")
    with av.open(str(unfinished), "w") as sink, av.open(str(reel)) as pattern:
        length = Fraction(pattern.streams.video[0].frames, RATE)
        streams: list[Any] = [sink.add_stream_from_template(stream) for stream in pattern.streams]
        for turn in range(times):
            with av.open(str(reel)) as source:
                for packet in source.demux():
                    if packet.dts is None or packet.pts is None or packet.duration is None:
                        continue
                    if packet.stream.type == "audio" and not _is_inside(packet, length):
                        continue
                    shift = round(turn * length / packet.time_base)
                    packet.pts += shift
                    packet.dts += shift
                    packet.stream = streams[packet.stream.index]
                    sink.mux(packet)
    unfinished.rename(path)


def _is_inside(packet: Any, length: Fraction) -> bool:
    """Not the encoder's delay before the beginning, nor what sounds beyond the end of the picture."""
    return bool(packet.pts >= 0 and (packet.pts + packet.duration) * packet.time_base <= length)
