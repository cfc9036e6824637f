"""The described copy: the film with its pauses, before AD is mixed in."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shotad.core import ExtendedSettings, NoProgress, Progress, SoundError, Task, replacing, reported
from shotad.film import Film, Media, is_cover, legible, packets_of, probe
from shotad.sound.extended.kinds import Pause
from shotad.sound.extended.picturecopy import PictureCopy, PictureKept
from shotad.sound.extended.soundcopy import SoundCopy, tracks_of
from shotad.sound.extended.timemap import TimeMap
from shotad.sound.mux.containers import TEXT
from shotad.sound.mux.text_track import Converter

if TYPE_CHECKING:
    from av import Packet
    from av.container import InputContainer, OutputContainer

FORMATS = {
    ".mp4": "mp4",
    ".m4v": "mp4",
    ".mov": "mov",
    ".mkv": "matroska",
    ".webm": "webm",
    ".ts": "mpegts",
    ".m2ts": "mpegts",
    ".mts": "mpegts",
}
"""ffmpeg's name of the container that a file name asks for."""

_SUBTITLES = {
    "mp4": {"mov_text"},
    "mov": {"mov_text"},
    "webm": {"webvtt"},
    "matroska": {"subrip", "ass", "ssa", "webvtt", "hdmv_pgs_subtitle", "dvd_subtitle", "dvb_subtitle"},
    "mpegts": {"dvb_subtitle", "dvb_teletext", "hdmv_pgs_subtitle"},
}
"""Subtitles that are taken over as they are."""

_WORDS = {"mp4": "mov_text", "mov": "mov_text", "webm": "webvtt", "matroska": "subrip"}
"""What other subtitles in text become; all else is left out, with a word."""


def write_copy(
    film: Film,
    pauses: Sequence[Pause],
    target: Path,
    settings: ExtendedSettings,
    progress: Progress | None = None,
) -> Path:
    """The film with its pauses, to be described like any film: its time is `TimeMap(pauses)`.

    The picture is encoded anew (H.264; VP9 in WebM), 8 bits in 4:2:0, each frame at its own moment; fields
    are made whole frames, turns are carried out. Through a pause the frame on the screen comes again at
    the film's rate. With ``settings.picture`` "copy" it is taken over undecoded instead, and the frame
    before a pause is shown for longer.

    Every track of sound is encoded anew, silent in the pauses (`sound_with_pauses`), in its own codec where
    the container and an encoder allow. Subtitles of kinds that the container takes, those in text as what it
    takes, chapters, covers, fonts, titles and languages come along with times moved; what cannot is named by
    ``progress.note``.

    Returns ``target``. Raises SoundError for a container that is not known, numbered frames, and HDR, which
    H.264 carries to hardly any player; FilmError for a film that cannot be read; WorkFolderError for a
    file that cannot be written.
    """
    progress = progress or NoProgress()
    container, media = _format_of(target), _media_of(film, settings)
    times = TimeMap(tuple(pauses))
    with (
        reported(progress, "Writing the film with pauses", film.info.duration + times.total, "s") as task,
        replacing(target) as part,
    ):
        _write(film, media, times, part, container, settings, progress, task)
    return target


def _format_of(target: Path) -> str:
    if target.suffix.lower() not in FORMATS:
        raise SoundError(
            f"A film with pauses cannot be written as {target.suffix or target.name!r}.",
            f"Use one of {', '.join(FORMATS)}.",
        )
    return FORMATS[target.suffix.lower()]


def _media_of(film: Film, settings: ExtendedSettings) -> Media:
    if film.media is None:
        raise SoundError(f"{film.info.name} are numbered frames, which cannot pause.", "Give a film file.")
    if film.info.hdr and settings.picture == "encode":
        raise SoundError(
            f"{film.info.name} is HDR, which a picture encoded anew would lose.",
            "Set extended.picture to copy, or give an SDR version.",
        )
    return film.media


def _write(
    film: Film,
    media: Media,
    times: TimeMap,
    part: Path,
    container: str,
    settings: ExtendedSettings,
    progress: Progress,
    task: Task,
) -> None:
    import av

    source = media.open()
    picture: PictureCopy | PictureKept | None = None
    try:
        with av.open(str(part), "w", format=container) as out:
            picture = _picture(out, film, media, times, settings)
            sounds = [SoundCopy(out, film, track, times.pauses, container) for track in tracks_of(film)]
            video = source.streams.video[probe(media).stream]
            _dress(picture.stream, video)
            for sound, track in zip(sounds, tracks_of(film), strict=True):
                _dress(sound.stream, source.streams.audio[track.number])
            others = _others(source, out, media, times, film.info.start, container, progress)
            _attach(source, out)
            _describe(source, out, times, film.info.start)
            streams = [picture.packets(), *(sound.packets() for sound in sounds), *others]
            _mux(out, streams, task)
    except av.error.FFmpegError as error:
        if isinstance(error, OSError) and error.errno:
            raise OSError(error.errno, error.strerror) from None
        raise SoundError(f"The film with pauses cannot be written: {error.strerror or error}.") from None
    finally:
        source.close()
        if picture is not None:
            picture.close()


def _picture(
    out: OutputContainer, film: Film, media: Media, times: TimeMap, settings: ExtendedSettings
) -> PictureCopy | PictureKept:
    if settings.picture == "copy":
        return PictureKept(out, film, probe(media), times)
    return PictureCopy(out, film, probe(media), times, settings.crf)


def _mux(out: OutputContainer, streams: Sequence[Iterator[Packet[Any]]], task: Task) -> None:
    done = 0.0
    for packet in heapq.merge(*streams, key=_second):
        second = _second(packet)
        out.mux(packet)
        if second > done:
            task.advance(second - done)
            done = second


def _second(packet: Packet[Any]) -> float:
    stamp = packet.dts if packet.dts is not None else packet.pts
    return float((stamp or 0) * (packet.time_base or Fraction(1)))


def _dress(stream: Any, like: Any) -> None:
    """What a stream of the film is called and said to be."""
    told = legible(like.metadata)
    for key in ("language", "title", "handler_name", "comment", "COMMENT"):
        if key in told:
            stream.metadata[key] = told[key]
    stream.disposition = like.disposition


def _describe(source: InputContainer, out: OutputContainer, times: TimeMap, start: Fraction) -> None:
    """The film's own metadata, and its chapters where they now are."""
    skipped = {"major_brand", "minor_version", "compatible_brands", "encoder", "duration", "creation_time"}
    told = legible(source.metadata)
    out.metadata.update({key: value for key, value in told.items() if key.lower() not in skipped})
    chapters = []
    for chapter in source.chapters():
        base = chapter["time_base"] or Fraction(1, 1000)
        begin = times.late(max(0.0, float(chapter["start"] * base - start)))
        end = times.late(max(0.0, float(chapter["end"] * base - start)))
        moved = {**chapter, "time_base": Fraction(1, 1000), "start": round(begin * 1000)}
        chapters.append({**moved, "end": max(round(begin * 1000), round(end * 1000))})
    if chapters:
        out.set_chapters(chapters)  # type: ignore[arg-type]


def _others(
    source: InputContainer,
    out: OutputContainer,
    media: Media,
    times: TimeMap,
    start: Fraction,
    container: str,
    progress: Progress,
) -> list[Iterator[Packet[Any]]]:
    """Subtitles and covers; what has to stay behind is named."""
    found = []
    for stream in source.streams:
        context = getattr(stream, "codec_context", None)
        codec = context.codec.canonical_name if context else "of a kind that is not known"
        cover = stream.type == "video" and is_cover(stream) and container in ("mp4", "mov")
        if cover or (stream.type == "subtitle" and codec in _SUBTITLES[container]):
            copy = out.add_stream_from_template(stream)
            _dress(copy, stream)
            found.append(_copied(media, stream.index, copy, times, start, cover))
        elif stream.type == "subtitle" and codec in TEXT and container in _WORDS:
            converter = Converter(stream, _WORDS[container])
            _dress(converter.add(out), stream)
            moved = _copied(media, stream.index, stream, times, start, cover=False)
            found.append(_converted(moved, converter))
        elif stream.type not in ("video", "audio", "attachment"):
            progress.note(f"The film with pauses goes without the {stream.type} track {codec}.")
    return found


def _converted(packets: Iterator[Packet[Any]], converter: Converter) -> Iterator[Packet[Any]]:
    for packet in packets:
        yield from converter.convert(packet)


def _attach(source: InputContainer, out: OutputContainer) -> None:
    """Fonts and the like, which Matroska alone carries."""
    if out.format.name == "matroska":
        for kept in source.streams.attachments:
            out.add_attachment(
                kept.name or "attachment", kept.mimetype or "application/octet-stream", kept.data
            )


def _copied(
    media: Media, index: int, copy: Any, times: TimeMap, start: Fraction, cover: bool
) -> Iterator[Packet[Any]]:
    """Packets of one stream, undecoded, at their new moments."""
    source = media.open()
    try:
        for packet in packets_of(source, source.streams[index]):
            if packet.pts is None or packet.size == 0:
                continue
            base = packet.time_base or Fraction(1, 1000)
            if not cover:
                second = float(packet.pts * base - start)
                ends = second + float((packet.duration or 0) * base)
                begin = max(0.0, times.late(second))
                packet.pts = packet.dts = round(begin / base)
                if packet.duration:
                    packet.duration = max(1, round(times.early(ends) / base) - packet.pts)
            packet.stream = copy
            yield packet
    finally:
        source.close()
