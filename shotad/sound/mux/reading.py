"""Reading a film file back: its tracks as they show themselves, and all of their packets once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from shotad.film import find_media, legible, packets_of
from shotad.sound.decoded import DecodedMeter
from shotad.sound.mux.containers import Container
from shotad.sound.mux.payload import Payload
from shotad.sound.mux.timing import hides, unheard
from shotad.sound.mux.tracks import codec_of


@dataclass(frozen=True, slots=True)
class Track:
    """A track as a file shows it. ``marks`` are ffmpeg's names of its dispositions."""

    number: int
    kind: str
    codec: str
    language: str
    title: str
    handler: str
    marks: tuple[str, ...]

    def __str__(self) -> str:
        words = [self.kind, self.codec, self.language, self.title and repr(self.title), *self.marks]
        return f"{self.number}: {' '.join(word for word in words if word)}"


@dataclass(slots=True, eq=False)
class Read:
    """What one pass over a track found; seconds are on the file's own film time."""

    payload: Payload
    first: float | None = None
    end: float = 0.0
    longest: float = 0.0
    texts: list[tuple[float, float, bytes]] = field(default_factory=list)


def describe_tracks(path: Path) -> list[Track]:
    """All tracks of a film file, in order. Raises FilmError for what is none."""
    container = find_media(path).open()
    try:
        return [track_of(stream) for stream in container.streams]
    finally:
        container.close()


def first_seconds(container: Any, start: Fraction, copied_to: Container) -> dict[int, float]:
    """Film second at which each picture and sound begins, less what is left out of a copy, by track number.

    Closes the container.
    """
    wanted = {s.index for s in container.streams if s.type in ("video", "audio")}
    hidden = {s.index: hides(s, copied_to) for s in container.streams}
    found: dict[int, float] = {}
    try:
        for count, packet in enumerate(packets_of(container)):
            number = packet.stream.index
            if unheard(packet.stream, packet, start, hidden[number]):
                continue
            if packet.pts is not None and number in wanted:
                found.setdefault(number, float(packet.pts * packet.time_base - start))
            if wanted <= found.keys() or count > 20_000:
                break
    finally:
        container.close()
    return found


def read_tracks(
    container: Any,
    start: Fraction,
    copied_to: Container | None = None,
    texts: Collection[int] = (),
    meters: Mapping[int, DecodedMeter] | None = None,
) -> dict[int, Read]:
    """Every packet of an open file once, less what is left out of a copy; seconds count from ``start``.

    Words are kept of the tracks ``texts`` alone: pictures of subtitles in a long film are many. Tracks with
    ``meters`` are decoded on the way, and measured.
    """
    from av.error import FFmpegError

    read = {
        s.index: Read(Payload(codec_of(s), s.codec_context.extradata if s.codec_context else None))
        for s in container.streams
    }
    hidden = {s.index: copied_to is None or hides(s, copied_to) for s in container.streams}
    packets = packets_of(container)
    while True:
        try:
            packet = next(packets, None)
        except (FFmpegError, OSError):
            break
        if packet is None:
            break
        if meters and packet.stream.index in meters:
            meters[packet.stream.index].add(packet)
        if packet.size and not unheard(packet.stream, packet, start, hidden[packet.stream.index]):
            _note(read[packet.stream.index], packet, float(start), packet.stream.index in texts)
    return read


def _note(read: Read, packet: Any, start: float, is_text: bool) -> None:
    read.payload.add(memoryview(packet))
    if packet.pts is None:
        return
    base = packet.time_base
    begin = packet.pts * base.numerator / base.denominator - start
    end = begin + (packet.duration or 0) * base.numerator / base.denominator
    read.first = begin if read.first is None else min(read.first, begin)
    read.end = max(read.end, end)
    read.longest = max(read.longest, end - begin)
    if is_text and len(bytes(packet).strip(b"\0")):
        read.texts.append((begin, end, bytes(packet)))


def track_of(stream: Any) -> Track:
    """A track of an open file."""
    from av.stream import Disposition

    tags = {key.lower(): value for key, value in legible(stream.metadata).items()}
    marks = tuple(flag.name for flag in Disposition if stream.disposition & flag and flag.name)
    language = tags.get("language", "")
    return Track(
        number=stream.index,
        kind=stream.type,
        codec=codec_of(stream),
        language="" if language == "und" else language,
        # In MP4 and MOV the title is the track's name.
        title=tags.get("title") or tags.get("name") or "",
        handler=tags.get("handler_name", ""),
        marks=marks,
    )
