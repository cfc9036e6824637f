"""Opening film files safely with ffmpeg's libraries, and reading their metadata.

A playlist, whatever it is named, could make ffmpeg fetch other files or addresses. So every film is opened by
`Media.open`: only the ``file`` protocol is allowed, only containers that carry their own media are
(`CONTAINERS`), a path is always taken literally, and a container that asks for another file is refused.

`probe` makes the `FilmInfo` of a film file, from the container and from the first frame.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shotad.core import FilmInfo
from shotad.core.errors import FilmChanged, FilmError
from shotad.core.memory_errors import is_out_of_memory
from shotad.core.types import AudioTrack, default_track, file_fingerprint
from shotad.film.beside import is_commentary_title, is_description_title
from shotad.film.colour import Light, Orientation, frame_light, frame_orientation
from shotad.film.timeline import ClockTimeline, PacketMover, SectionFinder

if TYPE_CHECKING:
    from av import VideoFrame
    from av.codec.hwaccel import HWAccel
    from av.container import InputContainer
    from av.stream import Stream
    from av.video.stream import VideoStream

_FILE = "file:"

CONTAINERS = (
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mpegts,mpegtsraw,mpeg,avi,asf,flv,live_flv,ogg,nut,mxf,gxf,"
    "wtv,rm,dv,ivf,obu,h264,hevc,vvc,av1,m4v,mpegvideo,h263,vc1,cavsvideo,dirac,yuv4mpegpipe,swf,nsv,ivr,"
    "bink,smk,roq,film_cpk,gif,apng,mp3,wav,w64,flac,aac,ac3,eac3,dts,dtshd,truehd,aiff,caf,"
    "amr,au,ape,wv,tta,aa,aax,loas,ac4,tak,mpc,mpc8"
)
"""Demuxers that read one file and nothing else. Those of sound alone are here so that a film without
picture can be named as such."""


@dataclass(frozen=True)
class Media:
    """A film file that can be opened any number of times; ``size`` in bytes.

    It has to stay the same meanwhile: `open` raises FilmError where it was removed or replaced.
    """

    path: Path
    size: int
    state: FileState | None = field(default=None, compare=False)
    """The file's state when it was opened for the first time; None: changes are not looked for."""
    _fingerprints: dict[FileState, str] = field(default_factory=dict, compare=False, repr=False)
    """Fingerprints of the contents, by each state of the file so far."""

    @property
    def name(self) -> str:
        return self.path.name

    def open(self, hardware: HWAccel | None = None) -> InputContainer:
        """A fresh container at the start of the film; ``hardware`` decodes it. Raises FilmError."""
        import av

        self.check_same()
        options = {
            "protocol_whitelist": "file",
            "format_whitelist": CONTAINERS,
            # An index that is missing is no reason to guess: times come from packets.
            "fflags": "+genpts",
            # A broadcast that gives its tracks other numbers from some moment on still has the same tracks.
            "merge_pmt_versions": "1",
        }
        # Metadata need not be UTF-8. PyAV 19 reads it anyhow (`readable_metadata`), older versions with this
        # argument.
        major_version = int(av.__version__.partition(".")[0])
        lenient: Any = {} if major_version >= 19 else {"metadata_errors": "replace"}
        source = f"{_FILE}{os.path.abspath(self.path)}"
        try:
            container: InputContainer = av.open(
                source, "r", container_options=options, hwaccel=hardware, **lenient
            )
            return container
        except (av.error.FFmpegError, UnicodeError, ValueError) as error:
            head = self.read_at(0, 4096)
            # Without a byte order mark and blank lines
            if _is_text(head.lstrip(b"\xef\xbb\xbf \t\r\n")):
                raise FilmError(
                    f"{self.name} is a text file, not a film.",
                    "Give the film itself. A playlist can point to other files and addresses, and is not "
                    "opened.",
                ) from None
            reason = str(getattr(error, "strerror", None) or error).split(";")[0].strip()
            raise FilmError(
                f"{self.name} cannot be read as a film ({reason}).",
                "It may be damaged, incomplete, or of a kind that is not supported.",
            ) from None

    def read_at(self, offset: int, count: int) -> bytes:
        """Up to ``count`` bytes from ``offset``."""
        with self.path.open("rb") as file:
            file.seek(offset)
            return file.read(count)

    def fingerprint(self) -> str:
        """A digest of the content; see `shotad.core.types.file_fingerprint`."""
        fingerprint = file_fingerprint(self.size, self.read_at)
        if self.state is not None:
            self._fingerprints[self.state] = fingerprint
        return fingerprint

    def check_same(self, *, may_be_gone: bool = False) -> None:
        """Raise FilmError where the file was removed, FilmChanged where it was replaced or changed since it
        was first opened.

        A file that was only copied, moved or touched is the same. ``may_be_gone``: it is not needed any more,
        so a missing one is no error.
        """
        if self.state is None:
            return
        try:
            now = _state_of(self.path)
            # Without a fingerprint of the first state there is nothing to compare with.
            if now == self.state or self.state not in self._fingerprints:
                return
            if now not in self._fingerprints:
                self._fingerprints[now] = file_fingerprint(now.size, self.read_at)
        except OSError as error:
            if may_be_gone:
                return
            problem = f"The film {self.path} cannot be read any more: {error.strerror or error}."
            raise FilmError(problem, "Put it back and run again: what is done is kept.") from None
        if self._fingerprints[now] != self._fingerprints[self.state]:
            raise FilmChanged(
                f"The film {self.path} was replaced or changed while it was in use.",
                "Put it back as it was and run again, or describe the new one into another folder.",
            )


class FileState(NamedTuple):
    """Where a file is, how large, and when it last changed: a file with the same state counts as unchanged.

    ``number`` is the inode, ``changed`` in ns.
    """

    device: int
    number: int
    size: int
    changed: int


def _state_of(path: Path) -> FileState:
    status = path.stat()
    return FileState(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def find_media(source: str | os.PathLike[str], noun: str = "film") -> Media:
    """The film file at a path, called ``noun`` in errors.

    Raises FilmError unless it exists, can be read and is not empty.
    """
    path = Path(source)
    try:
        # Opening a pipe would wait for ever.
        if path.exists() and not path.is_file():
            named = "film file" if noun == "film" else noun
            raise FilmError(f"{path} is not a {named}.", "Give a file, or copy the stream to one.")
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
        state = _state_of(path)
    except (FileNotFoundError, NotADirectoryError):
        raise FilmError(f"There is no {noun} {path}.", "Check the path.") from None
    except PermissionError:
        raise FilmError(
            f"The {noun} {path} may not be read: no permission.", "Change its permissions."
        ) from None
    except OSError as error:
        raise FilmError(
            f"The {noun} {path} cannot be read: {error.strerror or error}.", "Check the path."
        ) from None
    if size == 0:
        hint = "Give a film with at least one frame." if noun == "film" else "Give a file with sound."
        raise FilmError(f"{path.name} is empty.", hint)
    return Media(path, size, state)


def exact_start(container: InputContainer) -> Fraction:
    """The container's start time in seconds, exact: that of a stream where one agrees to the µs.

    ffmpeg gives it in whole µs, which puts the first frame of a 1001-based rate just before zero.
    """
    start = _start_by_header(container)
    timeline = timeline_of(container)
    # ffmpeg may have read past a jump of the clock when it looked for the start.
    if timeline is not None and not timeline.start <= start <= timeline.start + 1:
        return timeline.start
    return start


def _start_by_header(container: InputContainer) -> Fraction:
    starts = [
        stream.start_time * stream.time_base
        for stream in container.streams
        if stream.start_time is not None
        and stream.time_base
        and stream.type in ("video", "audio")
        and not (stream.type == "video" and is_cover(stream))
    ]
    if container.start_time is None:
        return min(starts, default=Fraction(0))
    rounded = Fraction(container.start_time, 1_000_000)
    close_starts = [start for start in starts if abs(start - rounded) <= Fraction(2, 1_000_000)]
    return min(close_starts, default=rounded)


def as_fraction(ratio: Any) -> Fraction | None:
    """A rate, a time base or an aspect of PyAV's as a Fraction; None where the film does not give it.

    PyAV 19 has its own number type for them, zero where it is not given; older versions have None.
    """
    return Fraction(ratio.numerator, ratio.denominator) if ratio else None


def readable_metadata(metadata: Mapping[str, str]) -> dict[str, str]:
    """Metadata of a film or a track without bytes that are not UTF-8: they become U+FFFD."""
    return {_replace_surrogates(key): _replace_surrogates(value) for key, value in metadata.items()}


def _replace_surrogates(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def skip_other_streams(container: InputContainer, stream: Stream) -> None:
    """Make the demuxer skip all streams but ``stream``."""
    from av.stream import Discard

    for other in container.streams:
        if other is not stream:
            other.discard = Discard.all


def packets_of(container: InputContainer, *streams: Stream) -> Iterator[Any]:
    """The packets of ``streams`` (none named: of all) from the container's position, in ``demux`` order.

    Where the film's clock jumps their times are moved to its one timeline. Packets of streams that a damaged
    film announces on its way are left out, for PyAV does not know them; so are empty ones before the end, by
    which Theora repeats the last picture.
    """
    timeline = timeline_of(container)
    mover = PacketMover(timeline) if timeline is not None else None
    for packet in _demuxed(container, *streams):
        if mover is not None:
            mover.move(packet)
        yield packet


def _demuxed(container: InputContainer, *streams: Stream) -> Iterator[Any]:
    while True:
        try:
            yield from (packet for packet in container.demux(*streams) if packet.size or packet.dts is None)
            return
        except IndexError:
            continue  # a packet of an unknown stream: go on with the next


def timeline_of(container: InputContainer) -> ClockTimeline | None:
    """The one timeline of an open film whose clock jumps; None where it does not jump.

    A film with a timeline can only be read from its beginning. The first call for a film reads all its
    packets, where its container is of a kind that can be joined.
    """
    if _JOINABLE.isdisjoint(container.format.name.split(",")):
        return None
    path = container.name.removeprefix(_FILE)
    try:
        status = os.stat(path)
    except OSError:
        return None
    return _timeline(path, status.st_size, status.st_mtime_ns)


_JOINABLE = frozenset({"mpegts", "mpeg", "ogg", "nut", "matroska"})
"""Containers that ffmpeg reads on where two films were joined in one file. Of MP4, ASF and FLV it reads the
first film alone, and AVI has no times but the numbers of its frames."""

_CLOCKED = frozenset({"mpegts", "mpeg"})
"""Containers with a clock of the sender: where it runs ahead in all tracks at once, it has jumped."""


@lru_cache(maxsize=64)
def _timeline(path: str, size: int, _modified: int) -> ClockTimeline | None:
    """`timeline_of` the file; ``_modified`` is only there so that a changed file is read again."""
    import av

    media = Media(Path(path), size)
    with media.open() as container:
        kinds = frozenset(container.format.name.split(","))
        is_clocked = jumps_ahead = not _CLOCKED.isdisjoint(kinds)
        if "matroska" in kinds:
            end = _segment_end(media)
            if end is not None and end >= size - len(_SEGMENT):
                return None  # a single film, as nearly all are
            jumps_ahead = jumps_ahead or end is not None
        timed = [s.index for s in container.streams if s.type in ("video", "audio") and not is_cover(s)]
        finder = SectionFinder(timed, jumps_ahead=jumps_ahead, has_decoding_times=is_clocked)
        try:
            for packet in _demuxed(container):
                finder.add(packet)
        except (av.error.FFmpegError, OSError):
            pass  # the packets before the damage are enough
    return finder.timeline()


_EBML = b"\x1a\x45\xdf\xa3"
_SEGMENT = b"\x18\x53\x80\x67"
_SIZES = 9
"""Bytes that are read for the size of an element; its longest form has 8 (RFC 8794)."""


def _segment_end(media: Media) -> int | None:
    """The offset at which the first segment of a Matroska file ends by its header; None: it does not say."""
    head = media.read_at(0, 4096)
    offset = head.find(_SEGMENT) + len(_SEGMENT)
    if offset < len(_SEGMENT) or offset >= len(head) - _SIZES or not head[offset]:
        return None
    size = _element_size(head[offset : offset + _SIZES])
    return None if size is None else offset + size


def _element_size(data: bytes) -> int | None:
    """Bytes of an element of Matroska after its name, from its size field, with which ``data`` begins.

    The field itself is included. None where the size is not known, as in live streams.
    """
    # The number of leading zero bits is the number of bytes that follow; all bits 1 mean "unknown".
    width = 9 - data[0].bit_length()
    unknown = (1 << 7 * width) - 1
    size = int.from_bytes(data[:width]) & unknown
    return None if size == unknown else width + size


def is_cover(stream: Any) -> bool:
    """True for a single picture that is stored as a video stream: a cover, a thumbnail."""
    from av.stream import Disposition

    return bool(stream.disposition & (Disposition.attached_pic | Disposition.timed_thumbnails))


def _is_text(head: bytes) -> bool:
    """Whether the first bytes of a file are text in UTF-8."""
    if not head:
        return False
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError as error:
        # ``head`` may end within a letter, of up to four bytes.
        if error.start < len(head) - 4:
            return False
        text = head[: error.start].decode("utf-8")
    return all(letter.isprintable() or letter in "\t\r\n\f" for letter in text)


TEXT_CODECS = frozenset({"subrip", "srt", "ass", "ssa", "mov_text", "webvtt", "text"})
"""ffmpeg's names of the codecs of subtitles in text that are read, and converted into each other."""

_STILL_CODECS = frozenset({"mjpeg", "png", "bmp", "gif", "webp", "tiff"})
"""Codecs of covers; a film's picture is only in one of them where there is no other stream."""


@dataclass(frozen=True, slots=True)
class ProbedFilm:
    """A film's info, and what else its reader needs: the number of its video stream, how to get RGB of it.

    ``picture_end`` is the second at which the picture ends by the container, if it has one, ``container``
    ffmpeg's name of the container's format, ``first_second`` that of the first frame. ``clock_jumps`` is how
    often the film's clock jumps.
    """

    info: FilmInfo
    stream: int
    turn: Orientation
    light: Light
    picture_end: float | None
    container: str
    first_second: float
    clock_jumps: int = 0


def probe(media: Media) -> ProbedFilm:
    """Read a film's metadata, and decode its first frame. Raises FilmError."""
    container = media.open()
    try:
        number, stream = _video_stream(container, media.name)
        frame = _first_frame(container, stream, media.name)
        turn, light, start = frame_orientation(frame), frame_light(frame), exact_start(container)
        aspect = as_fraction(stream.sample_aspect_ratio) or Fraction(1)
        # Pixels that are square but for a muxer's rounding count as square.
        if abs(aspect - 1) <= Fraction(1, 100):
            aspect = Fraction(1)
        width, height = max(1, round(frame.width * aspect)), frame.height
        timeline = timeline_of(container)
        info = FilmInfo(
            name=media.name,
            path=media.path,
            fingerprint=media.fingerprint(),
            duration=media_duration(media, container, start),
            width=height if turn.transpose else width,
            height=width if turn.transpose else height,
            frame_rate=as_fraction(stream.average_rate) or as_fraction(stream.guessed_rate),
            frame_count_hint=stream.frames or None,
            video_codec=stream.codec_context.name,
            start=start,
            rotation=turn.degrees,
            pixel_aspect=aspect,
            hdr=light in ("pq", "hlg"),
            interlaced=frame.interlaced_frame,
            audio=tuple(audio_track(i, track) for i, track in enumerate(container.streams.audio)),
        )
        picture_end = None
        if timeline is not None:
            picture_end = float(timeline.ends.get(stream.index, timeline.end) - start)
        elif stream.duration and stream.time_base:
            end_ticks = (stream.start_time or 0) + stream.duration
            picture_end = float(end_ticks * stream.time_base - start)
        time_base = frame.time_base or stream.time_base
        first_second = float(frame.pts * time_base - start) if frame.pts is not None and time_base else 0.0
        return ProbedFilm(
            info,
            number,
            turn,
            light,
            picture_end,
            container.format.name,
            first_second,
            timeline.jumps if timeline is not None else 0,
        )
    finally:
        container.close()


def _video_stream(container: InputContainer, name: str) -> tuple[int, VideoStream]:
    """The stream of the film's picture, with its number among video streams. Raises FilmError for none.

    No cover; of several the container's default, then the largest, then the first.
    """
    from av.stream import Disposition

    streams = [(i, s) for i, s in enumerate(container.streams.video) if not is_cover(s)]
    if not streams:
        contents = "only sound" if container.streams.audio else "neither picture nor sound"
        raise FilmError(f"{name} has no picture, {contents}.", "Give the film with its picture.")
    decodable = [(i, s) for i, s in streams if s.codec_context is not None]
    if not decodable:
        raise FilmError(f"The picture of {name} is coded in a way that is not known here.", "Convert it.")
    moving = [(i, s) for i, s in decodable if s.codec_context.name not in _STILL_CODECS]

    def preference(numbered: tuple[int, VideoStream]) -> tuple[bool, int, int]:
        number, stream = numbered
        is_default = bool(stream.disposition & Disposition.default)
        return is_default, stream.width * stream.height, -number

    return max(moving or decodable, key=preference)


def _first_frame(container: InputContainer, stream: VideoStream, name: str) -> VideoFrame:
    """The first frame that can be decoded. Raises FilmError where there is none."""
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
    except (av.error.FFmpegError, OSError) as error:
        if is_out_of_memory(error):
            raise
    raise FilmError(f"No frame of {name} can be decoded.", "The file is damaged or cut off.")


def media_duration(media: Media, container: InputContainer, start: Fraction) -> float:
    """Seconds from ``start`` to the film's end: by the container, else by the longest stream, else by reading
    every packet."""
    timeline = timeline_of(container)
    if timeline is not None:
        return float(timeline.end - start)
    if container.duration and container.duration > 0:
        declared = container.duration / 1_000_000
        # A Matroska header may or may not count from the first timestamp; the last packets show which.
        if start > 0 and "matroska" in container.format.name:
            return last_second(media, start, near=declared) or declared
        return declared
    ends = [
        float(((s.start_time or 0) + s.duration) * s.time_base - start)
        for s in container.streams
        if s.duration and s.time_base and s.type in ("video", "audio") and not is_cover(s)
    ]
    return max(ends) if ends else last_second(media, start)


_HEADS = {
    "flv": b"\x00\x00\x00\x09\x00\x00\x00\x00",
    "asf": b"\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c",
}
"""Bytes with which a film of each format begins, in FLV after its name, version and flags."""


def holds_another(media: Media, container: str) -> bool:
    """Whether after the end of a film another one begins in the same file that ffmpeg does not read.

    ``container`` is ffmpeg's name of its format. Of Matroska ffmpeg reads two films. Formats other than MP4,
    FLV and ASF are read on, or have no end.
    """
    kinds = container.split(",")
    if "matroska" in kinds:
        return _third_matroska(media)
    if "mp4" in kinds:
        return _second_mp4(media)
    head = next((head for kind, head in _HEADS.items() if kind in kinds), None)
    if head is None:
        return False
    with media.path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        # Not the head of the first film
        offset = content.find(head, len(head) + 16)
        while offset >= 0:
            if "flv" not in kinds or content[offset - 5 : offset - 1] == b"FLV\x01":
                return True
            offset = content.find(head, offset + 1)
    return False


def _second_mp4(media: Media) -> bool:
    """Whether a film in MP4 is followed by another. One in fragments is not looked at: ffmpeg reads on."""
    names: list[bytes] = []
    offset = 0
    # So many boxes at most: a damaged file could have one every 8 bytes.
    while offset + 8 <= media.size and len(names) < 10_000:
        head = media.read_at(offset, 16)
        size, name = int.from_bytes(head[:4]), head[4:8]
        if size == 1:
            size = int.from_bytes(head[8:16])
        if size < 8:
            break
        names.append(name)
        offset += size
    return names.count(b"ftyp") > 1 and names.count(b"moov") > 1 and b"moof" not in names


def _third_matroska(media: Media) -> bool:
    """Whether a Matroska file has more than two films. A live stream, of unknown size, ends the search."""
    segments = offset = 0
    while offset < media.size and segments < 3:
        head = media.read_at(offset, 4 + _SIZES)
        name = head[:4]
        if len(head) < 5 or not head[4] or name not in (_EBML, _SEGMENT):
            break
        size = _element_size(head[4:])
        if size is None:
            break
        if name == _SEGMENT:
            segments += 1
        offset += 4 + size
    return segments > 2


def last_second(media: Media, start: Fraction, near: float | None = None) -> float:
    """Second at which the last packet of picture or sound ends, by reading packets undecoded; 0 for none.

    ``near``: only packets from about 10 s before that second on are read.
    """
    import av

    end = 0.0
    container = media.open()
    try:
        if near is not None and timeline_of(container) is None:
            container.seek(max(0, round((near - 10) * 1_000_000)))
        streams = [s for s in container.streams if s.type in ("video", "audio") and not is_cover(s)]
        for count, packet in enumerate(packets_of(container, *streams), 1):
            rate = getattr(packet.stream, "guessed_rate", None)
            if packet.pts is not None and packet.time_base:
                end_ticks = packet.pts + (packet.duration or 0)
                end = max(end, float(end_ticks * packet.time_base - start))
            elif packet.size and rate:
                # A bare stream without times: a packet is a frame.
                end = max(end, float(count / rate))
    except (av.error.FFmpegError, OSError) as error:
        if is_out_of_memory(error):
            raise
    finally:
        container.close()
    return end


def spoken_language(path: Path) -> str | None:
    """The language of a film's sound as its container names it; None where it does not, or cannot be read."""
    if path.is_dir():
        return None
    try:
        with find_media(path).open() as container:
            tracks = [audio_track(number, stream) for number, stream in enumerate(container.streams.audio)]
    except FilmError:
        return None
    track = default_track(tracks)
    return None if track is None else track.language


def audio_track(number: int, stream: Any) -> AudioTrack:
    from av.stream import Disposition

    context, flags = stream.codec_context, stream.disposition
    language, title = _language_and_title(stream)
    is_commentary = bool(flags & Disposition.comment) or is_commentary_title(title or "")
    return AudioTrack(
        number=number,
        language=language,
        title=title,
        codec=context.name if context else "unknown",
        channels=context.layout.nb_channels if context else 0,
        layout=context.layout.name if context else "unknown",
        sample_rate=context.sample_rate if context else 0,
        default=bool(flags & Disposition.default),
        descriptive=bool(flags & (Disposition.visual_impaired | Disposition.descriptions))
        or is_description_title(title or ""),
        commentary=is_commentary,
    )


def _language_and_title(stream: Any) -> tuple[str | None, str | None]:
    """A track's language and title, each None where it has none."""
    metadata = readable_metadata(stream.metadata)
    language = metadata.get("language") or "und"
    return None if language == "und" else language, track_title(metadata) or None


def track_title(metadata: Mapping[str, str]) -> str:
    """The title of a track by its metadata; empty where it has none.

    MP4 and MOV call it "name". Some programs have only the name of the track's handler for it, which mostly
    is a program's own: it is a title where it tells of description or commentary.
    """
    title = metadata.get("title") or metadata.get("name") or ""
    handler = metadata.get("handler_name", "").strip()
    is_title = is_description_title(handler) or is_commentary_title(handler)
    return title or (handler if is_title else "")
