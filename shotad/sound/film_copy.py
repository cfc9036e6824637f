"""The described copy: the film with its pauses, picture and sound, before AD is mixed in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from fractions import Fraction
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shotad.core import AudioTrack, ExtendedSettings, NoProgress, Progress, SoundError, printable, reported
from shotad.film import (
    TEXT_CODECS,
    Film,
    Layout,
    Media,
    Samples,
    SoundBlock,
    choose_track,
    is_cover,
    packets_of,
    probe,
    sound_blocks,
)
from shotad.sound.ad_tracks import (
    MILLISECOND,
    AdSound,
    Coding,
    Converter,
    VoiceTrack,
    add_sound,
    alike,
    coding,
)
from shotad.sound.containers import Container, container_for
from shotad.sound.files import being_written
from shotad.sound.packets import write_woven
from shotad.sound.pauses import Pause, TimeMap
from shotad.sound.picture_copy import PictureCopy, PictureKept
from shotad.sound.tracks import codec_of, film_tags, track_tags

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

    The picture is re-encoded (H.264; VP9 in WebM), 8 bits in 4:2:0, each frame at its own moment; fields
    are made whole frames, turns are carried out. Through a pause the frame on the screen comes again at
    the film's rate. With ``settings.picture`` "copy" it is taken over undecoded instead, and the frame
    before a pause is shown for longer.

    Every track of sound is re-encoded, silent in the pauses (`sound_with_pauses`), in its own codec where
    the container and an encoder allow. Subtitles of kinds that the container takes, those in text as what it
    takes, chapters, covers, fonts, titles and languages come along with times moved; what cannot is named by
    ``progress.note``.

    Returns ``target``. Raises SoundError for a container that is not known, numbered frames, and HDR, which
    H.264 carries to hardly any player; FilmError for a film that cannot be read; WorkFolderError for a
    file that cannot be written.
    """
    progress = progress or NoProgress()
    container, media, times = container_for(target), film.media, TimeMap(tuple(pauses))
    if media is None:
        raise SoundError(f"{film.info.name} are numbered frames, which cannot pause.", "Give a film file.")
    if film.info.hdr and settings.picture == "encode":
        raise SoundError(
            f"{film.info.name} is HDR, which encoding the picture again would lose.",
            "Set extended.picture to copy, or give an SDR version.",
        )
    import av

    start, length = film.info.start, film.info.duration + times.total
    kind = PictureKept if settings.picture == "copy" else PictureCopy
    with (
        reported(progress, "Writing the film with pauses", length, "s") as task,
        being_written(target, "Try another container.") as part,
        media.open() as source,
        av.open(str(part), "w", format=container.muxer) as out,
        closing(kind(out, film, probe(media), times)) as picture,
    ):
        _dress(picture.stream, source.streams.video[probe(media).stream], container)
        packets = [picture.packets()]
        for track in film.info.audio:
            # What can be decoded.
            if track.channels and choose_track(film.info, track.number):
                sound = _sound(out, film, track, times, container)
                _dress(sound.stream, source.streams.audio[track.number], container)
                packets.append(sound.packets())
        packets += _others(source, out, media, times, start, container, progress)
        # Fonts and the like, which Matroska alone carries.
        for kept in source.streams.attachments if container.attachments else ():
            kind_of_file = kept.mimetype or "application/octet-stream"
            out.add_attachment(kept.name or "attachment", kind_of_file, kept.data)
        name = printable(film.info.name.rpartition(".")[0] or film.info.name)
        out.metadata.update(film_tags(source.metadata, {}, container, name))
        chapters: list[Any] = []
        for chapter in source.chapters() if container.chapters else ():
            base = chapter["time_base"] or MILLISECOND
            moments = (max(0.0, float(chapter[side] * base - start)) for side in ("start", "end"))
            first, last = (round(times.late(moment) * 1000) for moment in moments)
            chapters.append({**chapter, "time_base": MILLISECOND, "start": first, "end": max(first, last)})
        out.set_chapters(chapters)
        write_woven(out, packets, length, task)
    return target


def _dress(stream: Any, like: Any, container: Container) -> None:
    """What a stream of the film is called and said to be."""
    stream.metadata.update(track_tags(like, container))
    stream.disposition = like.disposition


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
        codec = codec_of(stream)
        cover = stream.type == "video" and is_cover(stream) and container.boxes
        if cover or (stream.type == "subtitle" and container.holds("subtitle", codec)):
            copy = out.add_stream_from_template(stream)
            _dress(copy, stream, container)
            found.append(_copied(media, stream.index, copy, times, start, cover))
        elif stream.type == "subtitle" and codec in TEXT_CODECS and container.text:
            converter = Converter(stream, container.text)
            _dress(converter.add(out), stream, container)
            moved = _copied(media, stream.index, stream, times, start, cover=False)
            found.append(chain.from_iterable(map(converter.convert, moved)))
        elif stream.type not in ("video", "audio", "attachment"):
            progress.note(f"The film with pauses goes without the {stream.type} track {codec}.")
    return found


def _copied(
    media: Media, index: int, copy: Any, times: TimeMap, start: Fraction, cover: bool
) -> Iterator[Packet[Any]]:
    """Packets of one stream, undecoded, at their new moments."""
    source = media.open()
    try:
        for packet in packets_of(source, source.streams[index]):
            if packet.pts is None or packet.size == 0:
                continue
            base = packet.time_base or MILLISECOND
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
    # Samples: the film stands before each of these numbers, which is that number of the copy. Rounded from
    # the whole time waited, so that roundings do not add up; one stop for each moment.
    waited = accumulate(pause.length for pause in pauses)
    pairs = zip(pauses, waited, strict=True)
    places = {round(pause.at * rate): round((pause.at + after) * rate) for pause, after in pairs}
    done, shift = 0, 0
    for block in sound_blocks(film, track, rate, layout):
        first = round(block.seconds * rate)
        samples = _faded(block.samples, first, places, rate)
        for at, end in places.items():
            if first <= at < first + len(samples):
                head = samples[: at - first]
                if len(head):
                    yield SoundBlock(done / rate, head)
                    done += len(head)
                for left in range(end - (at + shift), 0, -rate):
                    silence = np.zeros((min(left, rate), *samples.shape[1:]), np.float32)
                    yield SoundBlock(done / rate, silence)
                    done += len(silence)
                shift = end - at
                samples, first = samples[len(head) :], at
        if len(samples):
            yield SoundBlock(done / rate, samples)
            done += len(samples)


def _faded(samples: Samples, first: int, stops: Iterable[int], rate: int) -> Samples:
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
"""Codecs in which sound of that codec is re-encoded, by container."""

_NEAR = {"dts": "eac3", "vorbis": "opus", "alac": "flac", "truehd": "flac", "mlp": "flac"}
"""What others become in Matroska, which holds all of these; PCM becomes FLAC."""

_LAYOUTS = ("mono", "stereo", "3.0", "4.0", "quad", "5.0", "5.1", "6.1", "7.1")
"""What every player knows; anything else, and what an encoder does not take, becomes stereo."""

_AMPLE = 1.6
"""Times the bit rate of AD, for this is coded once more for the track with AD."""


def coding_of(track: AudioTrack, container: Container) -> Coding:
    """How a track of the film is re-encoded: in its own codec where that can be, else as AD is there."""
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


def _sound(
    out: OutputContainer, film: Film, track: AudioTrack, times: TimeMap, container: Container
) -> VoiceTrack:
    """One track of the film in the copy."""
    coding = coding_of(track, container)
    native, stereo = alike(track.layout) == coding.layout, coding.layout == "stereo"
    layout: Layout = "native" if native else "stereo" if stereo else "mono"
    blocks = sound_with_pauses(film, times.pauses, track.number, coding.rate, layout)
    sound = AdSound(blocks, coding.layout, coding.rate, "", "")
    length = film.info.duration + times.total
    return VoiceTrack(add_sound(out, coding), sound, coding, length, container.hides)
