"""Writing a described film: everything of the film copied, the AD coded and woven in on the way.

`write_film` reads like the story: what becomes of AD that the film has already, which tracks are written,
their packets in the order of time, and the marks for players once the file is closed.

Copied packets are put on film time and named by their payload. A copy of a track in another container has
the same name, for a container's way of packing a coded picture is no part of it: H.264 and its like stand in
MP4 and Matroska behind their lengths and in MPEG-TS behind start codes, with parameter sets and delimiters
that the others keep in a header; AAC has a header of its own there for each frame (ADTS).
"""

from __future__ import annotations

import hashlib
import heapq
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shotad.core import (
    FilmInfo,
    NoProgress,
    Progress,
    Task,
)
from shotad.core.config.sound import ContainerSettings
from shotad.core.errors import SoundError
from shotad.core.progress import progress_task
from shotad.film import Film
from shotad.film.container import (
    Media,
    as_fraction,
    is_cover,
    packets_of,
)
from shotad.sound.ad_tracks import (
    AdSound,
    AdText,
    Coding,
    Converter,
    add_sound,
    add_text,
    choose_coding,
    sound_packets,
    text_packets,
)
from shotad.sound.containers import (
    CONTAINERS,
    M2TS,
    MADE_HERE,
    MKV,
    MOV,
    Container,
    KeptTrack,
    ad_track_tags,
    add_track,
    codec_of,
    container_for,
    film_tags,
    first_endings,
    plan_tracks,
    same_language,
    track_language,
    track_metadata,
    track_name,
    track_tags,
    track_title,
)
from shotad.sound.files import written_by_ffmpeg
from shotad.sound.player_marks import TrackBoxes, mark_programme, mark_tracks

if TYPE_CHECKING:
    from av import Packet


def write_film(
    film: Film,
    target: Path,
    *,
    sound: AdSound | None,
    text: AdText | None,
    language: str,
    settings: ContainerSettings,
    metadata: Mapping[str, str],
    progress: Progress | None = None,
) -> Assembly:
    """Write ``film`` to ``target`` with the AD as a track of sound, of text, or both; what came of it.
    ``language`` is that of the AD, a BCP 47 tag.

    The container is that of the target's ending. The film's tracks are copied, never re-encoded; times count
    from its start, so a film whose own clock starts late starts at zero. ``metadata`` is the file's own, over
    what the film has. The target appears when it is whole; one that is there already is replaced then.

    Raises SoundError for what the container cannot hold (before anything is written), WorkFolderError for a
    target that cannot be written, FilmError for a film that cannot be read.
    """
    assert film.media is not None, "numbered frames have no tracks to copy"
    import av

    with film.media.open() as source:
        assembly = Assembly(film, target, source, sound, text, language, settings)
        container = assembly.container
        options = {**dict(container.options), "fflags": "+bitexact"}
        hint = "Convert the film to a usual codec first." if container is MKV else "Try .mkv instead."
        with written_by_ffmpeg(target, hint) as part:
            place = f"file:{part.absolute()}"
            with av.open(place, "w", format=container.muxer, container_options=options) as output:
                assembly.write(output, metadata, progress or NoProgress())
            assembly.finish(part)
    return assembly


def existing_description(
    source: Any,
    info: FilmInfo,
    sound: AdSound | None,
    text: AdText | None,
    language: str,
    settings: ContainerSettings,
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """What becomes of the AD in an open film, by `ContainerSettings.existing`: the numbers of the tracks that
    the new AD takes the place of, and sentences for the user.

    Sound is replaced by sound and text by text, in the same language only; never the one sound that the film
    itself is listened to by. ``auto`` replaces what was made here, which is known by its remark
    (`MADE_HERE`), so that a described film which is rendered again has one AD and not two; a broadcaster's
    own stays, for people spoke it.
    """
    from av.stream import Disposition

    # The film's tracks of AD of the kinds that are made again.
    ad_streams: list[Any] = []
    if sound is not None:
        for track in info.audio:
            stream = source.streams.audio[track.number]
            if (track.descriptive or _made_here(stream)) and track != info.default_audio:
                ad_streams.append(stream)
    if text is not None:
        texts = source.streams.subtitles
        ad_streams += [s for s in texts if s.disposition & Disposition.descriptions or _made_here(s)]
    replaced, warnings = [], []
    for stream in ad_streams:
        is_own, stream_language = _made_here(stream), track_metadata(stream).get("language", "")
        name = f"{track_name(stream)} of the film is audio description already"
        origin = " (made with shotad)" if is_own else ""
        matches = stream_language in ("", "und") or same_language(stream_language, language)
        if matches and (settings.existing == "replace" or (settings.existing == "auto" and is_own)):
            replaced.append(stream.index)
            warnings.append(f"{name}{origin}: the new one takes its place.")
        else:
            hint = " (container.existing: replace leaves it out)" if matches else ""
            warnings.append(f"{name}{origin}: it stays beside the new one{hint}.")
    return tuple(replaced), tuple(warnings)


def _made_here(stream: Any) -> bool:
    return track_metadata(stream).get("comment") in MADE_HERE


class Assembly:
    """A described film in the making. ``source`` is the film, open; ``warnings`` are sentences for the user,
    ``coding`` is that of the AD's sound (None: there is none).

    Made alone it costs a moment, so that nobody waits for voice and mix to be told that the film cannot be
    put into ``target``: blocks of ``sound`` and cues of ``text`` are not looked at before `write`.
    """

    def __init__(
        self,
        film: Film,
        target: Path,
        source: Any,
        sound: AdSound | None,
        text: AdText | None,
        language: str,
        settings: ContainerSettings,
    ) -> None:
        """Raises SoundError for what the container cannot hold."""
        assert film.media is not None, "numbered frames have no tracks to copy"
        self._media, self._info, self._source = film.media, film.info, source
        self._output: Any = None
        self.path = target
        self.sound, self.text, self.language, self.settings = sound, text, language, settings
        self.container = container = container_for(target)
        self.replaced, notes = existing_description(source, film.info, sound, text, language, settings)
        """Numbers of the film's tracks that the AD takes the place of."""
        self._kept, warnings = plan_tracks(source, container, self.replaced)
        self.warnings = [*notes, *warnings]
        self.coding: Coding | None = None
        if sound is not None:
            self.coding = choose_coding(sound, container, film.info, settings.codec)
        elif text is not None and container.text is None:
            raise SoundError(
                f"{container.name} holds no text track of descriptions.",
                f"Write {first_endings(other for other in CONTAINERS if other.text)} instead.",
            )
        self.ways: dict[int, TrackCopier] = {}
        """Of the film's tracks, by their numbers there."""
        self._own: list[Iterator[Packet[Any]]] = []
        self._boxes: dict[int, TrackBoxes] = {}

    def write(self, output: Any, metadata: Mapping[str, str], progress: Progress) -> None:
        """Everything that stands before the first packet (tracks, metadata, chapters), then all packets, with
        the AD's own between them where their time comes."""
        self._output, info, container = output, self._info, self.container
        sounds = [kept_track.stream.index for kept_track in self._kept if kept_track.stream.type == "audio"]
        described = self.sound is not None and (self.settings.default_track or not sounds)
        # Of the film's sounds players start with one at most, with none where they start with the AD.
        chosen = None
        if not described and sounds and info.default_audio is not None:
            listened = self._source.streams.audio[info.default_audio.number].index
            chosen = listened if listened in sounds else sounds[0]
        defaults = {index: index == chosen for index in sounds}
        for kept_track in self._kept:
            self._add_copied(kept_track, defaults)
        if self.sound is not None and self.coding is not None:
            self._add_sound(self.sound, self.coding, described)
        if self.text is not None:
            self._add_text(self.text)
        output.metadata.update(film_tags(self._source.metadata, metadata, container, info.name))
        chapters = []
        for chapter in self._source.chapters() if container.chapters else ():
            shift = round(info.start / chapter["time_base"])
            # What lies before the film's start is left out or begins with it.
            begin, end = max(0, chapter["start"] - shift), chapter["end"] - shift
            if end > begin:
                chapters.append({**chapter, "start": begin, "end": end})
        if container.chapters:
            output.set_chapters(chapters)
        output.start_encoding()
        with progress_task(progress, f"Writing {container.name}", info.duration, "s") as task:
            write_interleaved(output, [self._film_packets(), *self._own], info.duration, task)

    def finish(self, path: Path) -> None:
        """What is left to do once the file is closed."""
        container = self.container
        if self._boxes:
            mark_tracks(path, self._boxes)
        if container.muxer == "mpegts" and self.sound is not None:
            language = track_language(self.language, container)
            mark_programme(path, language, self.settings.sound == "mix", container is M2TS)

    @property
    def copied(self) -> dict[int, Payload]:
        """What was copied of the film's tracks, by their numbers there."""
        return {index: way.payload for index, way in self.ways.items() if way.converter is None}

    def _film_packets(self) -> Iterator[Packet[Any]]:
        """The film's packets as they are written: on film time, belonging to their new tracks."""
        from av.error import FFmpegError
        from av.stream import Discard

        for stream in self._source.streams:
            if stream.index not in self.ways:
                stream.discard = Discard.all
        packets = packets_of(self._source, *[self._source.streams[index] for index in self.ways])
        try:
            for packet in packets:
                way = self.ways[packet.stream.index]
                is_empty = packet.pts is None and packet.dts is None and not packet.size
                if is_empty or is_before_start(packet, self._info.start, way.hidden):
                    continue
                for ready in way.clock.take(packet):
                    yield from way.send(ready)
        except (FFmpegError, OSError) as error:
            self.warnings.append(f"The film cannot be read to its end: {error.strerror or error}.")
        for way in self.ways.values():
            for ready in way.clock.rest():
                yield from way.send(ready)

    def _add_copied(self, kept_track: KeptTrack, defaults: Mapping[int, bool]) -> None:
        from av.stream import Disposition

        source = kept_track.stream
        if kept_track.how == "attached":
            attach_cover(self._output, self._media, source)
            return
        converter = Converter(source, kept_track.codec) if kept_track.how == "converted" else None
        if converter is None:
            stream = add_track(self._output, kept_track, self.container, defaults.get(source.index))
        else:
            stream = converter.add(self._output)
            stream.disposition = source.disposition
            stream.metadata.update(track_tags(source, self.container))
        if source.type == "attachment":
            return
        if not is_cover(source):
            shown = bool(source.disposition & Disposition.default) if source.type == "subtitle" else None
            self._reserve(stream, shown=shown)
        start = Fraction(0) if source.type == "video" and is_cover(source) else self._info.start
        rate = as_fraction(getattr(source, "average_rate", None))
        clock = PacketClock(start, as_fraction(source.time_base) or MICROSECOND, rate)
        extra = source.codec_context.extradata if source.codec_context is not None else None
        self.ways[source.index] = TrackCopier(
            stream,
            clock,
            Payload(kept_track.codec, extra),
            converter,
            hides_beginning(source, self.container),
        )

    def _reserve(
        self, stream: Any, describes: bool = False, role: bool = False, shown: bool | None = None
    ) -> None:
        """Remember what a track says of itself in boxes, and make room for it. Covers have no ``trak``."""
        if self.container.boxes:
            tags = track_metadata(stream)
            title = tags.get("title", "")
            boxes = TrackBoxes(
                title, describes, role, shown, tags.get("language", ""), tags.get("comment", "")
            )
            if title:
                stream.metadata["title"] = boxes.title_with_room
            self._boxes[len(self._boxes)] = boxes

    def _add_sound(self, sound: AdSound, coding: Coding, described: bool) -> None:
        from av.stream import Disposition

        container = self.container
        # AC-3 says in each frame whom it is for (``bsmod``, ATSC A/52), which some receivers look at alone.
        options = {"audio_service_type": "vi"} if coding.codec == "ac3" else {}
        stream = add_sound(self._output, coding, **options)
        if taken := [other.id for other in self._output.streams if other.id]:
            stream.id = max(taken) + 1
        stream.disposition = Disposition.visual_impaired | Disposition.descriptions
        if self.settings.sound != "mix":
            stream.disposition = stream.disposition | Disposition.dependent
        if described:
            stream.disposition = stream.disposition | Disposition.default
        stream.metadata.update(ad_track_tags(self.language, track_title(self.language), container))
        self._reserve(stream, describes=True, role=container is MOV)
        seconds = self._info.duration
        self._own.append(sound_packets(stream, sound, coding, seconds, container.hides))
        if not container.flagged:
            self.warnings.append(
                f"{container.name} has no mark for audio description: players find the track by its title."
            )

    def _add_text(self, text: AdText) -> None:
        from av.stream import Disposition

        container = self.container
        if container.text is None:
            self.warnings.append(f"{container.name} holds no text track of descriptions: it is left out.")
            return
        stream = add_text(self._output, container.text)
        stream.disposition = Disposition.descriptions
        title = track_title(self.language, is_text=True)
        stream.metadata.update(ad_track_tags(self.language, title, container))
        self._reserve(stream, role=container is MOV, shown=False)
        self._own.append(text_packets(stream, text, container.text))
        if not container.flagged_text:
            self.warnings.append(f"{container.name} has no mark for description text: the title says it.")


def attach_cover(output: Any, media: Media, source: Any) -> None:
    """Add a film's cover as Matroska has it: a file of that name (matroska.org, "Cover art")."""
    with media.open() as container:
        packets = packets_of(container, container.streams[source.index])
        picture = next((bytes(packet) for packet in packets if packet.size), None)
    if picture is not None:
        mime, ending = ("image/png", "png") if codec_of(source) == "png" else ("image/jpeg", "jpg")
        metadata = track_metadata(source)
        name = metadata.get("filename", f"cover.{ending}")
        output.add_attachment(name, metadata.get("mimetype", mime), picture)


MICROSECOND = Fraction(1, 1_000_000)


@dataclass(slots=True, eq=False)
class TrackCopier:
    """The way of one of the film's tracks into the described film."""

    stream: Any
    clock: PacketClock
    payload: Payload
    converter: Converter | None
    hidden: bool

    def send(self, packet: Packet[Any]) -> Iterator[Packet[Any]]:
        """What goes into the new track for a packet of the old one."""
        if self.converter is not None:
            yield from self.converter.convert(packet)
            return
        if is_blank_subtitle(self.payload.codec, memoryview(packet)):
            return
        self.payload.add(memoryview(packet))
        if packet.pts is not None and packet.time_base:
            second = packet.pts * packet.time_base.numerator / packet.time_base.denominator
            begin = self.payload.begin
            self.payload.begin = second if begin is None else min(begin, second)
        packet.stream = self.stream
        yield packet


def write_interleaved(
    output: Any, tracks: Iterable[Iterator[Packet[Any]]], duration: float, task: Task
) -> None:
    """Write the packets of several tracks in the order of their time, each taken when it is wanted; at one
    moment those of the first track go first. ``task`` counts the seconds up to ``duration``."""
    done = 0.0
    for packet in heapq.merge(*tracks, key=packet_second):
        moment = packet_second(packet)
        output.mux(packet)
        if done < moment <= duration:
            task.advance(moment - done)
            done = moment


def packet_second(packet: Packet[Any]) -> float:
    moment = packet.dts if packet.dts is not None else packet.pts
    base = packet.time_base or MICROSECOND
    return (moment or 0) * base.numerator / base.denominator


MAX_HELD = 64
"""Packets that are held at most until one says when it is decoded: four times as far as coders reorder."""


class PacketClock:
    """Puts one track's packets on film time, which is the container's less its ``start`` (exact seconds).

    Where packets do not say when to decode them (Matroska does not), that is worked out from those
    that do; a decoding time that does not ascend, which no muxer takes, is moved behind the one before.
    """

    def __init__(self, start: Fraction, time_base: Fraction, rate: Fraction | None) -> None:
        self._shift = round(start / time_base)
        self._step = max(1, round(1 / (rate * time_base))) if rate else 1
        self._held: deque[Packet[Any]] = deque()
        self._last: int | None = None

    def take(self, packet: Packet[Any]) -> Iterator[Packet[Any]]:
        """The packets that can be written after one more has come."""
        if packet.pts is not None:
            packet.pts -= self._shift
        if packet.dts is not None:
            packet.dts -= self._shift
        if self._last is None and packet.dts is None and len(self._held) < MAX_HELD:
            self._held.append(packet)
            return
        yield from self._released(packet.dts)
        yield self._mended(packet)

    def rest(self) -> Iterator[Packet[Any]]:
        yield from self._released(None)

    def _released(self, decode_time: int | None) -> Iterator[Packet[Any]]:
        """Held packets, decoded just before ``decode_time``; None: as late as their display lets."""
        held = list(self._held)
        self._held.clear()
        times: list[int | None] = [None] * len(held)
        shown = [packet.pts for packet in held if packet.pts is not None]
        if decode_time is not None:
            for number in reversed(range(len(held))):
                decode_time -= held[number].duration or self._step
                times[number] = decode_time
        elif len(shown) == len(held):
            ordered = sorted(shown)
            earliest = max(
                (decoded - displayed for decoded, displayed in zip(ordered, shown, strict=True)), default=0
            )
            times = [decoded - earliest for decoded in ordered]
        for packet, moment in zip(held, times, strict=True):
            packet.dts = moment
            yield self._mended(packet)

    def _mended(self, packet: Packet[Any]) -> Packet[Any]:
        if packet.dts is None and self._last is None:
            # A cover, which is outside of time.
            packet.dts = packet.pts or 0
        elif packet.dts is None and self._last is not None:
            after = self._last + (packet.duration or self._step)
            packet.dts = after if packet.pts is None else min(after, packet.pts)
        if self._last is not None and packet.dts is not None and packet.dts <= self._last:
            packet.dts = self._last + 1
        if packet.pts is None or (packet.dts is not None and packet.pts < packet.dts):
            packet.pts = packet.dts
        self._last = packet.dts
        return packet


def is_before_start(packet: Packet[Any], start: Fraction, hidden: bool) -> bool:
    """Whether a packet is one of sound that ends before the film starts and could only be heard by mistake.

    MP4 and MOV hide what coders need before the first sample, and what was cut away, by a list of edits.
    ``hidden``: the new container does so too. Elsewhere such packets would put all else later by their length
    (an AAC coder's 1024 or 2112 samples), so they are left out there; no player lets them be heard.
    """
    if hidden or packet.stream.type != "audio" or packet.pts is None or not packet.time_base:
        return False
    base, end = packet.time_base, packet.pts + (packet.duration or 0)
    return end * base.numerator * start.denominator <= start.numerator * base.denominator


def hides_beginning(stream: Any, container: Container) -> bool:
    """Whether a container can say of a copied track of sound that its beginning is not to be heard.

    Matroska can for as many samples as the coder needs, which the libraries know where the film says it.
    """
    has_delay = stream.codec_context is not None and stream.codec_context.delay > 0
    return container.boxes or (container.hides and has_delay)


_UNIT_TYPES: dict[str, Callable[[int], int]] = {
    "h264": lambda head: head & 0x1F,
    "hevc": lambda head: head >> 1 & 0x3F,
}
_SKIPPED_UNIT_TYPES = {"h264": frozenset({7, 8, 9, 12}), "hevc": frozenset({32, 33, 34, 35, 38})}
"""Parameter sets, access unit delimiters and filler: types of NAL units (ITU-T H.264, H.265: tables 7-1)."""

_START_CODE = b"\x00\x00\x01"


class Payload:
    """Counts and names the packets of a track. ``extra`` is the track's own header (extradata), ``begin``
    its first film second, where whoever reads the packets notes it."""

    def __init__(self, codec: str, extra: bytes | None) -> None:
        self.codec, self.packets = codec, 0
        self.begin: float | None = None
        self._sum = hashlib.blake2b(digest_size=16)
        # Bytes that a unit's length has by ``avcC`` or ``hvcC``; 0 where start codes are used.
        self._lengths, at = 0, 4 if codec == "h264" else 21
        if codec in _UNIT_TYPES and extra is not None and extra[:1] == b"\x01" and len(extra) > at:
            self._lengths = (extra[at] & 3) + 1
        self._whole = not codec.startswith("pcm_")

    def add(self, data: bytes | memoryview) -> None:
        """One more packet. The empty ones that MP4 has between subtitles are none, nor are those of PCM,
        which are cut again by each container."""
        if is_blank_subtitle(self.codec, data):
            return
        self.packets += 1 if self._whole else 0
        if self.codec in _UNIT_TYPES:
            for unit in self._units(bytes(data)):
                self._sum.update(unit)
            return
        if self.codec == "aac":
            data = bytes(data)
            if len(data) > 9 and data[0] == 0xFF and data[1] & 0xF6 == 0xF0:
                # Without its ADTS header, which is 7 bytes, or 9 with a checksum (ISO/IEC 13818-7).
                length = (data[3] & 3) << 11 | data[4] << 3 | data[5] >> 5
                data = data[7 if data[1] & 1 else 9 :] if length == len(data) else data
        self._sum.update(data)

    @property
    def digest(self) -> str:
        """The name of all packets so far, in their order: 32 hex digits."""
        return self._sum.hexdigest()

    def _units(self, data: bytes) -> Iterator[bytes]:
        units, at = data.split(_START_CODE)[1:], 0
        if self._lengths:
            units.clear()
            while at + self._lengths < len(data):
                first = at + self._lengths
                at = first + int.from_bytes(data[at:first])
                units.append(data[first:at])
        kind, skipped = _UNIT_TYPES[self.codec], _SKIPPED_UNIT_TYPES[self.codec]
        # Bytes after a unit that are all zero belong to no unit; start codes may follow them.
        for unit in (part.rstrip(b"\x00") for part in units):
            # The coder's remark on itself, which x265 puts into the header too; from there it comes again
            # with each key frame in MPEG-TS. (Prefix SEI, user data unregistered: H.265, annex D.)
            is_remark = self.codec == "hevc" and len(unit) > 2 and unit[0] >> 1 == 39 and unit[2] == 5
            if unit and kind(unit[0]) not in skipped and not is_remark:
                yield unit


def is_blank_subtitle(codec: str, data: bytes | memoryview) -> bool:
    """Whether a packet says that no subtitle is shown, as there must be one in MP4 between two subtitles."""
    return codec == "mov_text" and bytes(data[:2]) in (b"", b"\0\0")
