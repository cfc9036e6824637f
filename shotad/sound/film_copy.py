"""The described copy: the film with its pauses, picture and sound, before AD is mixed in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shotad.core import (
    AudioTrack,
    ExtendedSettings,
    NoProgress,
    Progress,
    SoundError,
    Task,
    replacing,
    reported,
)
from shotad.film import (
    Film,
    Layout,
    Media,
    Samples,
    SoundBlock,
    choose_track,
    is_cover,
    legible,
    packets_of,
    probe,
    sound_blocks,
)
from shotad.sound.ad_tracks import Coding, Converter, alike, coding
from shotad.sound.containers import TEXT, Container, container_for
from shotad.sound.packets import write_woven
from shotad.sound.pauses import Pause
from shotad.sound.picture_copy import PictureCopy, PictureKept
from shotad.sound.time_map import TimeMap

if TYPE_CHECKING:
    from av import Packet
    from av.container import InputContainer, OutputContainer


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
    container, media = container_for(target), _media_of(film, settings)
    times = TimeMap(tuple(pauses))
    with (
        reported(progress, "Writing the film with pauses", film.info.duration + times.total, "s") as task,
        replacing(target) as part,
    ):
        _write(film, media, times, part, container, settings, progress, task)
    return target


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
    container: Container,
    settings: ExtendedSettings,
    progress: Progress,
    task: Task,
) -> None:
    import av

    source = media.open()
    picture: PictureCopy | PictureKept | None = None
    try:
        with av.open(str(part), "w", format=container.muxer) as out:
            picture = _picture(out, film, media, times, settings)
            sounds = [SoundCopy(out, film, track, times.pauses, container) for track in tracks_of(film)]
            video = source.streams.video[probe(media).stream]
            _dress(picture.stream, video)
            for sound, track in zip(sounds, tracks_of(film), strict=True):
                _dress(sound.stream, source.streams.audio[track.number])
            others = _others(source, out, media, times, film.info.start, container, progress)
            # Fonts and the like, which Matroska alone carries.
            if out.format.name == "matroska":
                for kept in source.streams.attachments:
                    out.add_attachment(
                        kept.name or "attachment", kept.mimetype or "application/octet-stream", kept.data
                    )
            _describe(source, out, times, film.info.start)
            streams = [picture.packets(), *(sound.packets() for sound in sounds), *others]
            write_woven(out, streams, film.info.duration + times.total, task)
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
    return PictureCopy(out, film, probe(media), times)


def _dress(stream: Any, like: Any) -> None:
    """What a stream of the film is called and said to be."""
    told = legible(like.metadata)
    for key in ("language", "title", "handler_name", "comment", "COMMENT"):
        if key in told:
            stream.metadata[key] = told[key]
    stream.disposition = like.disposition


def _describe(source: InputContainer, out: OutputContainer, times: TimeMap, start: Fraction) -> None:
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
    container: Container,
    progress: Progress,
) -> list[Iterator[Packet[Any]]]:
    """Subtitles and covers; what has to stay behind is named."""
    found = []
    for stream in source.streams:
        context = getattr(stream, "codec_context", None)
        codec = context.codec.canonical_name if context else "of a kind that is not known"
        cover = stream.type == "video" and is_cover(stream) and container.boxes
        if cover or (stream.type == "subtitle" and container.holds("subtitle", codec)):
            copy = out.add_stream_from_template(stream)
            _dress(copy, stream)
            found.append(_copied(media, stream.index, copy, times, start, cover))
        elif stream.type == "subtitle" and codec in TEXT and container.text:
            converter = Converter(stream, container.text)
            _dress(converter.add(out), stream)
            moved = _copied(media, stream.index, stream, times, start, cover=False)
            found.append(_converted(moved, converter))
        elif stream.type not in ("video", "audio", "attachment"):
            progress.note(f"The film with pauses goes without the {stream.type} track {codec}.")
    return found


def _converted(packets: Iterator[Packet[Any]], converter: Converter) -> Iterator[Packet[Any]]:
    for packet in packets:
        yield from converter.convert(packet)


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


FADE = 0.05
"""Seconds in which the sound goes before a pause and comes back after it, so that nothing clicks."""


def sound_with_pauses(
    film: Film,
    pauses: Sequence[Pause],
    track: int | None = None,
    rate: int = 48000,
    layout: Layout = "native",
) -> Iterator[SoundBlock]:
    """`sound_blocks` of the copy: silence in the pauses, faded at both edges, every other sample as it is.

    The sample at film second t stands at ``TimeMap(pauses).late(t)`` to the sample.
    """
    places = _joined(pauses, rate)
    done, shift = 0, 0
    for block in sound_blocks(film, track, rate, layout):
        first = round(block.seconds * rate)
        samples = _faded(block.samples, first, [place.at for place in places], rate)
        for place in places:
            if first <= place.at < first + len(samples):
                head = samples[: place.at - first]
                if len(head):
                    yield SoundBlock(done / rate, head)
                    done += len(head)
                for silence in _silence(place.end - (place.at + shift), samples, rate):
                    yield SoundBlock(done / rate, silence)
                    done += len(silence)
                shift = place.end - place.at
                samples, first = samples[len(head) :], place.at
        if len(samples):
            yield SoundBlock(done / rate, samples)
            done += len(samples)


@dataclass(frozen=True, slots=True)
class _Stop:
    """Samples: the film stands before number ``at``, which is number ``end`` of the copy."""

    at: int
    end: int


def _joined(pauses: Sequence[Pause], rate: int) -> list[_Stop]:
    """Rounded from the whole time waited, so that roundings do not add up; one stop for each moment."""
    stops: dict[int, _Stop] = {}
    waited = 0.0
    for pause in pauses:
        waited += pause.length
        at = round(pause.at * rate)
        stops[at] = _Stop(at, round((pause.at + waited) * rate))
    return list(stops.values())


def _silence(count: int, like: Samples, rate: int) -> Iterator[Samples]:
    while count > 0:
        yield np.zeros((min(count, rate), *like.shape[1:]), np.float32)
        count -= rate


def _faded(samples: Samples, first: int, stops: Sequence[int], rate: int) -> Samples:
    """A copy that is silent at each stop and reaches its own level `FADE` seconds from it."""
    width = round(FADE * rate)
    for stop in stops:
        low, high = max(0, stop - width - first), min(len(samples), stop + width - first)
        if low < high:
            away = np.abs(np.arange(low, high) + 0.5 + first - stop) / width
            gain = np.sin(np.minimum(away, 1) * np.pi / 2).astype(np.float32)
            samples = samples.copy()
            samples[low:high] *= gain if samples.ndim == 1 else gain[:, None]
    return samples


_KEPT = {
    "mp4": ("aac", "ac3", "eac3"),
    "mov": ("aac", "ac3", "eac3"),
    "matroska": ("aac", "ac3", "eac3", "opus", "flac"),
    "mpegts": ("aac", "ac3", "eac3", "mp2"),
    "webm": ("opus",),
}
"""Codecs in which sound of that codec is coded anew, by container."""

_NEAR = {"dts": "eac3", "vorbis": "opus", "alac": "flac", "truehd": "flac", "mlp": "flac"}
"""What others become in Matroska, which holds all of these; PCM becomes FLAC."""

_LAYOUTS = ("mono", "stereo", "3.0", "4.0", "quad", "5.0", "5.1", "6.1", "7.1")
"""What every player knows; anything else, and what an encoder does not take, becomes stereo."""

_AMPLE = 1.6
"""Times the bit rate of AD, for this is coded once more for the track with AD."""


def coding_of(track: AudioTrack, container: Container) -> Coding:
    """How a track of the film is coded anew: in its own codec where that can be, else as AD is there."""
    codec = track.codec
    if container.muxer == "matroska":
        codec = "flac" if codec.startswith("pcm_") else _NEAR.get(codec, codec)
    if codec not in _KEPT[container.muxer]:
        codec = _KEPT[container.muxer][0]
    plain = "mono" if track.channels == 1 else "stereo"
    name = alike(track.layout)
    layouts = (name, plain) if name in _LAYOUTS else (plain,)
    found = (coding(codec, layout, track.sample_rate, _AMPLE) for layout in layouts)
    return next(one for one in found if one is not None)


class SoundCopy:
    """One track of the film in the copy."""

    def __init__(
        self,
        out: OutputContainer,
        film: Film,
        track: AudioTrack,
        pauses: Sequence[Pause],
        container: Container,
    ) -> None:
        self._film, self._track, self._pauses = film, track, pauses
        self._coding = coding_of(track, container)
        self._native = alike(track.layout) == self._coding.layout
        self._signalled = container.hides
        self.stream: Any = out.add_stream(self._coding.encoder, rate=self._coding.rate)
        context: Any = self.stream.codec_context
        context.layout = self._coding.layout
        if self._coding.bit_rate:
            context.bit_rate = self._coding.bit_rate

    def packets(self) -> Iterator[Packet[Any]]:
        """Encoded, in order.

        Where the container does not say how long the encoder's run-in is (TS), packets that begin before
        second 0 are left out, so that time zero stays where it is.
        """
        for packet in self._encoded():
            if self._signalled or (packet.pts is not None and packet.pts >= 0):
                yield packet

    def _encoded(self) -> Iterator[Packet[Any]]:
        from av import AudioFrame

        rate, layout = self._coding.rate, self._coding.layout
        read: Layout = "native" if self._native else "stereo" if layout == "stereo" else "mono"
        for block in sound_with_pauses(self._film, self._pauses, self._track.number, rate, read):
            samples = np.ascontiguousarray(block.samples.reshape(1, -1))
            frame = AudioFrame.from_ndarray(samples, format="flt", layout=layout)
            frame.sample_rate = rate
            frame.time_base = Fraction(1, rate)
            frame.pts = round(block.seconds * rate)
            yield from self.stream.encode(frame)
        yield from self.stream.encode(None)


def tracks_of(film: Film) -> tuple[AudioTrack, ...]:
    """All tracks of sound that can be decoded."""
    return tuple(
        track for track in film.info.audio if track.channels and choose_track(film.info, track.number)
    )
