"""What a container says of itself, and what its first frame says: the FilmInfo of a film file."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from shotad.core import AudioTrack, FilmError, FilmInfo, SubtitleTrack
from shotad.film.colour import Light, Turn, light_of, turn_of
from shotad.film.container import Media, exact, exact_start, is_cover, legible, packets_of

if TYPE_CHECKING:
    from av import VideoFrame
    from av.container import InputContainer
    from av.video.stream import VideoStream

TEXT_SUBTITLES = frozenset(
    {"subrip", "srt", "ass", "ssa", "webvtt", "mov_text", "text", "ttml", "eia_608", "microdvd", "subviewer"}
    | {"subviewer1", "sami", "realtext", "jacosub", "mpl2", "vplayer", "pjs", "stl", "hdmv_text_subtitle"}
)
"""ffmpeg's names of subtitle codecs that carry text."""

_STILL_CODECS = frozenset({"mjpeg", "png", "bmp", "gif", "webp", "tiff"})


@dataclass(frozen=True, slots=True)
class Probed:
    """A film's info, and what its reader needs besides: which video stream, how to paint it.

    ``picture_end`` is the second at which the picture ends by the container's account, if it has one,
    ``container`` ffmpeg's name of the container's format, ``first_second`` that of the first frame.
    """

    info: FilmInfo
    stream: int
    turn: Turn
    light: Light
    picture_end: float | None
    container: str
    first_second: float


def probe(media: Media) -> Probed:
    """Open, look at the tracks, decode one frame. Raises FilmError."""
    container = media.open()
    try:
        number, stream = _picture(container, media.name)
        frame = _first_frame(container, stream, media.name)
        turn = turn_of(frame)
        info = _info(media, container, stream, frame, turn)
        base = frame.time_base or stream.time_base
        first = 0.0 if frame.pts is None or not base else float(frame.pts * base - info.start)
        return Probed(
            info,
            number,
            turn,
            light_of(frame),
            _picture_end(stream, info.start),
            container.format.name,
            first,
        )
    finally:
        container.close()


def _info(
    media: Media, container: InputContainer, stream: VideoStream, frame: VideoFrame, turn: Turn
) -> FilmInfo:
    start, aspect = exact_start(container), _pixel_aspect(stream)
    width, height = max(1, round(frame.width * aspect)), frame.height
    if turn.transpose:
        width, height = height, width
    return FilmInfo(
        name=media.name,
        path=media.path,
        fingerprint=media.fingerprint(),
        duration=_duration(media, container, start),
        width=width,
        height=height,
        frame_rate=exact(stream.average_rate) or exact(stream.guessed_rate),
        frame_count_hint=stream.frames or None,
        video_codec=stream.codec_context.name,
        start=start,
        rotation=turn.degrees,
        pixel_aspect=aspect,
        hdr=light_of(frame) in ("pq", "hlg"),
        interlaced=frame.interlaced_frame,
        audio=tuple(_audio(i, track) for i, track in enumerate(container.streams.audio)),
        subtitles=tuple(_subtitles(i, track) for i, track in enumerate(container.streams.subtitles)),
    )


def _pixel_aspect(stream: VideoStream) -> Fraction:
    """Width to height of a pixel; what is square but for a muxer's rounding counts as square."""
    aspect = exact(stream.sample_aspect_ratio) or Fraction(1)
    return aspect if abs(aspect - 1) > Fraction(1, 100) else Fraction(1)


def _picture(container: InputContainer, name: str) -> tuple[int, VideoStream]:
    """The film's picture: no cover, the container's default, the largest."""
    streams = [(i, s) for i, s in enumerate(container.streams.video) if not is_cover(s)]
    if streams and not (known := [(i, s) for i, s in streams if s.codec_context is not None]):
        raise FilmError(f"The picture of {name} is coded in a way that is not known here.", "Convert it.")
    streams = known if streams else []
    moving = [(i, s) for i, s in streams if s.codec_context.name not in _STILL_CODECS]
    if not streams:
        has = "only sound" if container.streams.audio else "neither picture nor sound"
        raise FilmError(f"{name} has no picture, {has}.", "Give the film with its picture.")
    from av.stream import Disposition

    return max(
        moving or streams,
        key=lambda item: (
            bool(item[1].disposition & Disposition.default),
            item[1].width * item[1].height,
            -item[0],
        ),
    )


def _first_frame(container: InputContainer, stream: VideoStream, name: str) -> VideoFrame:
    import av

    errors = 0
    try:
        for packet in packets_of(container, stream):
            try:
                frames = stream.decode(packet)
            except av.error.InvalidDataError:
                errors += 1
                if errors > 1000:
                    break
                continue
            if frames:
                return frames[0]
    except (av.error.FFmpegError, OSError):
        pass
    raise FilmError(f"No frame of {name} can be decoded.", "The file is damaged or cut off.")


def _duration(media: Media, container: InputContainer, start: Fraction) -> float:
    """By the container, else by the longest stream's account, else by reading every packet.

    A Matroska header may or may not count from the first timestamp; then the last packets tell.
    """
    if container.duration and container.duration > 0:
        declared = container.duration / 1_000_000
        if start > 0 and "matroska" in container.format.name:
            return last_second(media, start, near=declared) or declared
        return declared
    ends = [
        float(((s.start_time or 0) + s.duration) * s.time_base - start)
        for s in container.streams
        if s.duration and s.time_base and s.type in ("video", "audio") and not is_cover(s)
    ]
    return max(ends) if ends else last_second(media, start)


def last_second(media: Media, start: Fraction, near: float | None = None) -> float:
    """Second at which the last packet of picture or sound ends, by reading packets undecoded.

    ``near``: only what comes about 10 s before that moment (on either clock) and after it is read. 0
    where no packet is found.
    """
    import av

    end = 0.0
    container = media.open()
    try:
        if near is not None:
            container.seek(max(0, round((near - 10) * 1_000_000)))
        streams = [s for s in container.streams if s.type in ("video", "audio") and not is_cover(s)]
        for count, packet in enumerate(packets_of(container, *streams)):
            end = max(end, _end_of(packet, count, start))
    except (av.error.FFmpegError, OSError):
        pass
    finally:
        container.close()
    return end


def _end_of(packet: Any, count: int, start: Fraction) -> float:
    if packet.pts is not None and packet.time_base:
        return float((packet.pts + (packet.duration or 0)) * packet.time_base - start)
    rate = getattr(packet.stream, "guessed_rate", None)
    return float((count + 1) / rate) if packet.size and rate else 0.0


def _picture_end(stream: VideoStream, start: Fraction) -> float | None:
    if stream.duration and stream.time_base:
        return float(((stream.start_time or 0) + stream.duration) * stream.time_base - start)
    return None


def _audio(number: int, stream: Any) -> AudioTrack:
    from av.stream import Disposition

    context, flags = stream.codec_context, stream.disposition
    title = _title(stream)
    told = (title or "").lower()
    return AudioTrack(
        number=number,
        language=_language(stream),
        title=title,
        codec=context.name if context else "unknown",
        channels=context.layout.nb_channels if context else 0,
        layout=context.layout.name if context else "unknown",
        sample_rate=context.sample_rate if context else 0,
        default=bool(flags & Disposition.default),
        descriptive=bool(flags & (Disposition.visual_impaired | Disposition.descriptions))
        or "audio description" in told
        or "descriptive" in told,
        commentary=bool(flags & Disposition.comment) or "commentary" in told,
    )


def _subtitles(number: int, stream: Any) -> SubtitleTrack:
    from av.stream import Disposition

    codec = stream.codec_context.name if stream.codec_context else "unknown"
    flags = stream.disposition
    return SubtitleTrack(
        number=number,
        language=_language(stream),
        title=_title(stream),
        codec=codec,
        is_text=codec in TEXT_SUBTITLES,
        default=bool(flags & Disposition.default),
        forced=bool(flags & Disposition.forced),
        captions=bool(flags & (Disposition.captions | Disposition.hearing_impaired)),
    )


def _title(stream: Any) -> str | None:
    """A track's title, which MP4 and MOV call its name."""
    told = legible(stream.metadata)
    return told.get("title") or told.get("name") or None


def _language(stream: Any) -> str | None:
    language = legible(stream.metadata).get("language")
    return None if language in (None, "", "und") else language
