"""The films that are measured on: made from the sample film, or the user's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import av
from bench_film import SAMPLE, bench_film, repeated

from table_parts.stage import FilmAt

LOOPS = {True: 6.0, False: 15.0}
"""Seconds of the sample from which films of other sizes are made, quick or not: one cut or three in each, and
one more where it repeats."""


def look(path: Path, label: str = "") -> FilmAt:
    """What a film is like."""
    with av.open(str(path)) as container:
        video = container.streams.video[0]
        seconds = float((container.duration or 0) / 1_000_000)
        rate = f", {(container.bit_rate or 0) / 1e6:.1f} Mbit/s"
        kind = f"{video.codec_context.name}, {video.width}x{video.height}{rate}, {seconds:.0f} s"
    return FilmAt(path, label or f"{path.name}", seconds, video.height, kind)


def maker(folder: Path, *, quick: bool) -> Callable[[int, float], FilmAt]:
    """Gives films of so many lines and about so many seconds, made once per folder."""

    def made(height: int, seconds: float) -> FilmAt:
        path = bench_film(folder, height, seconds, LOOPS[quick])
        return look(path, f"made film, {height}p")

    return made


def lengthener(folder: Path, own: Sequence[FilmAt]) -> Callable[[int, float], FilmAt]:
    """Gives films so many times as long as about ``base`` seconds: loops of the user's first film, else of
    the sample, the whole of it or its beginning."""

    def longer(times: int, base: float) -> FilmAt:
        reel = own[0].path if own else _beginning(folder, base)
        with av.open(str(reel)) as container:
            length = float((container.duration or 0) / 1_000_000)
        loops = max(1, round(base / length)) * times
        path = folder / f"{reel.stem}-{loops}{reel.suffix}"
        # A little less than whole loops, so that rounding never adds one.
        repeated(reel, path, (loops - 0.5) * length)
        return look(path, f"{reel.stem}, {loops * length:.0f} s")

    return longer


def _beginning(folder: Path, base: float) -> Path:
    """The sample, or its beginning up to a key frame near ``base`` seconds, not encoded anew."""
    if base >= 40:
        return SAMPLE
    path = folder / f"sample-{base:g}.mp4"
    if not path.exists():
        _cut(SAMPLE, path, base)
    return path


def _cut(source: Path, path: Path, seconds: float) -> None:
    """The packets up to the last key frame that is no later than ``seconds`` (the first after it, if there is
    none)."""
    with av.open(str(source)) as film:
        video = film.streams.video[0]
        base = video.time_base or 0
        keys = [float(p.pts * base) for p in film.demux(video) if p.is_keyframe and p.pts is not None]
    end = max([key for key in keys if 0 < key <= seconds] or [key for key in keys if key > seconds][:1])
    with av.open(str(source)) as film, av.open(str(path), "w") as out:
        streams = {
            s.index: out.add_stream_from_template(s) for s in film.streams if s.type in ("video", "audio")
        }
        for packet in film.demux([film.streams[index] for index in streams]):
            if packet.pts is None or packet.dts is None or float(packet.dts * packet.time_base) >= end:
                continue
            if packet.stream.type == "video" and float(packet.pts * packet.time_base) >= end:
                continue
            packet.stream = streams[packet.stream.index]
            out.mux(packet)
