"""The described copy: the film with its pauses, picture and sound, before AD is mixed in."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from fractions import Fraction
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from shotad.core import NoProgress, Progress
from shotad.core.config.sound import ExtendedSettings
from shotad.core.errors import SoundError
from shotad.core.progress import progress_task
from shotad.core.types import AudioTrack
from shotad.film import (
    Film,
    Samples,
    SoundBlock,
    probe,
    sound_blocks,
)
from shotad.film.audio import Layout, choose_track
from shotad.film.colour import frame_matrix
from shotad.film.container import (
    TEXT_CODECS,
    Media,
    ProbedFilm,
    as_fraction,
    is_cover,
    packets_of,
    skip_other_streams,
)
from shotad.film.decoder import Decoder
from shotad.film.reader import TOLERANCE
from shotad.sound.ad_tracks import (
    MILLISECOND,
    AdSound,
    Coding,
    Converter,
    add_sound,
    find_coding,
    sound_packets,
)
from shotad.sound.containers import (
    Container,
    codec_of,
    container_for,
    film_tags,
    is_remade,
    track_name,
    track_tags,
)
from shotad.sound.files import written_by_ffmpeg
from shotad.sound.kinds import Pause
from shotad.sound.layouts import common_layout
from shotad.sound.mux_film import attach_cover, write_interleaved
from shotad.sound.pauses import TimeMap

if TYPE_CHECKING:
    from av import Packet, VideoFrame
    from av.container import InputContainer, OutputContainer
    from av.filter.graph import Graph


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
    make = _copied_picture if settings.picture == "copy" else _encoded_picture
    with (
        progress_task(progress, "Writing the film with pauses", length, "s") as task,
        written_by_ffmpeg(target, "Try another container.") as part,
        media.open() as source,
        av.open(str(part), "w", format=container.muxer) as out,
        ExitStack() as reels,
    ):
        probed = probe(media)
        picture, first_packets = make(out, film, probed, times, reels)
        shown = source.streams.video[probed.stream]
        _copy_tags(picture, shown, container)
        packets = [first_packets]
        for track in film.info.audio:
            # What can be decoded.
            if track.channels and choose_track(film.info, track.number):
                coding = copy_coding(track, container)
                # Read as it is, or mixed down by ffmpeg where its channels are none that players know.
                read_layout, layout = coding.layout, cast(Layout, coding.layout)
                if read_layout not in ("mono", "stereo") or common_layout(track.layout) == read_layout:
                    read_layout, layout = common_layout(track.layout), "native"
                blocks = sound_with_pauses(film, times.pauses, track.number, coding.rate, layout)
                stream = add_sound(out, coding)
                _copy_tags(stream, source.streams.audio[track.number], container)
                sound = AdSound(blocks, read_layout, coding.rate)
                packets.append(sound_packets(stream, sound, coding, length, container.hides))
        packets += _other_packets(source, out, media, times, start, container, progress, shown.index)
        # Fonts and the like, which Matroska alone carries.
        for attachment in source.streams.attachments if container.attachments else ():
            kind_of_file = attachment.mimetype or "application/octet-stream"
            out.add_attachment(attachment.name or "attachment", kind_of_file, attachment.data)
        out.metadata.update(film_tags(source.metadata, {}, container, film.info.name))
        chapters: list[Any] = []
        for chapter in source.chapters() if container.chapters else ():
            base = chapter["time_base"] or MILLISECOND
            moments = (max(0.0, float(chapter[side] * base - start)) for side in ("start", "end"))
            first, last = (round(times.late(moment) * 1000) for moment in moments)
            chapters.append({**chapter, "time_base": MILLISECOND, "start": first, "end": max(first, last)})
        out.set_chapters(chapters)
        if not container.chapters and source.chapters():
            progress.note(f"The film with pauses goes without its {len(source.chapters())} chapters.")
        write_interleaved(out, packets, length, task)
    return target


def _copy_tags(stream: Any, source: Any, container: Container) -> None:
    """What a stream of the film is called and said to be."""
    stream.metadata.update(track_tags(source, container))
    stream.disposition = source.disposition


def _other_packets(
    source: InputContainer,
    out: OutputContainer,
    media: Media,
    times: TimeMap,
    start: Fraction,
    container: Container,
    progress: Progress,
    picture: int,
) -> list[Iterator[Packet[Any]]]:
    """Subtitles and covers; what has to stay behind is named. ``picture`` is the number of the film's own."""
    packet_streams = []
    for stream in source.streams:
        codec = codec_of(stream)
        is_picture_cover = stream.type == "video" and is_cover(stream)
        cover = is_picture_cover and container.boxes and container.covers
        if cover or (stream.type == "subtitle" and container.holds("subtitle", codec)):
            copy = out.add_stream_from_template(stream)
            _copy_tags(copy, stream, container)
            packet_streams.append(_moved_packets(media, stream.index, copy, times, start, cover))
        elif stream.type == "subtitle" and codec in TEXT_CODECS and container.text:
            converter = Converter(stream, container.text)
            _copy_tags(converter.add(out), stream, container)
            moved = _moved_packets(media, stream.index, stream, times, start, cover=False)
            packet_streams.append(chain.from_iterable(map(converter.convert, moved)))
        elif is_picture_cover and container.attachments:
            attach_cover(out, media, stream)
        elif stream.type == "attachment":
            if not container.attachments:
                progress.note(f"The film with pauses goes without the attachment {codec}.")
        elif stream.type == "audio":
            context: Any = stream.codec_context
            if context is None or not context.layout.nb_channels:
                name = f"{track_name(stream)}, which cannot be decoded"
                progress.note(f"The film with pauses goes without {name}.")
        elif stream.index != picture and not is_remade(stream, container):
            kind = "cover picture" if is_picture_cover else f"{stream.type} track"
            progress.note(f"The film with pauses goes without the {kind} {codec}.")
    return packet_streams


def _moved_packets(
    media: Media, index: int, copy: Any, times: TimeMap, start: Fraction, cover: bool
) -> Iterator[Packet[Any]]:
    """Packets of one stream, undecoded, at their new moments."""
    with media.open() as source:
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
    seconds_waited = accumulate(pause.length for pause in pauses)
    pairs = zip(pauses, seconds_waited, strict=True)
    stops = {
        round(pause.at * rate): round((pause.at + seconds_before) * rate) for pause, seconds_before in pairs
    }
    written, shift = 0, 0
    for block in sound_blocks(film, track, rate, layout):
        first = round(block.seconds * rate)
        samples = _faded_samples(block.samples, first, stops, rate)
        for stop, end in stops.items():
            if first <= stop < first + len(samples):
                head = samples[: stop - first]
                if len(head):
                    yield SoundBlock(written / rate, head)
                    written += len(head)
                for left in range(end - (stop + shift), 0, -rate):
                    silence = np.zeros((min(left, rate), *samples.shape[1:]), np.float32)
                    yield SoundBlock(written / rate, silence)
                    written += len(silence)
                shift = end - stop
                samples, first = samples[len(head) :], stop
        if len(samples):
            yield SoundBlock(written / rate, samples)
            written += len(samples)


def _faded_samples(samples: Samples, first: int, stops: Iterable[int], rate: int) -> Samples:
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


_KEPT_CODECS = {
    "mp4": ("aac", "ac3", "eac3"),
    "mov": ("aac", "ac3", "eac3"),
    "matroska": ("aac", "ac3", "eac3", "opus", "flac"),
    "mpegts": ("aac", "ac3", "eac3", "mp2"),
    "webm": ("opus",),
}
"""Codecs in which sound of that codec is re-encoded, by container."""

_MATROSKA_CODECS = {"dts": "eac3", "vorbis": "opus", "alac": "flac", "truehd": "flac", "mlp": "flac"}
"""What others become in Matroska, which holds all of these; PCM becomes FLAC."""

_PLAYED_LAYOUTS = ("mono", "stereo", "3.0", "4.0", "quad", "5.0", "5.1", "6.1", "7.1")
"""What every player knows; anything else, and what an encoder does not take, becomes stereo."""

_BIT_RATE_FACTOR = 1.6
"""Times the bit rate of AD, for this is coded once more for the track with AD."""


def copy_coding(track: AudioTrack, container: Container) -> Coding:
    """How a track of the film is re-encoded: in its own codec where that can be, else as AD is there."""
    codec = track.codec
    if container.muxer == "matroska":
        codec = "flac" if codec.startswith("pcm_") else _MATROSKA_CODECS.get(codec, codec)
    if codec not in _KEPT_CODECS[container.muxer]:
        codec = _KEPT_CODECS[container.muxer][0]
    plain = "mono" if track.channels == 1 else "stereo"
    name = common_layout(track.layout)
    layouts = (name, plain) if name in _PLAYED_LAYOUTS else (plain,)
    codings = (find_coding(codec, layout, track.sample_rate, _BIT_RATE_FACTOR) for layout in layouts)
    return next(coding for coding in codings if coding is not None)


QUALITY = 18
"""x264's and libvpx's CRF, less is better: at 18 the copy is taken for the film (SSIM 0.99)."""
_MAX_CLOCK_RATE = 1_000_000

_MAX_FIRST_FRAME = 0.1
"""Seconds. A first frame that comes no later is shown from second 0: MP4 gives a late start in whole ms, by
which all others would be off."""

_BT709 = 1

_Picture = tuple[Any, Iterator["Packet[Any]"]]
"""The stream of the copy's picture, and its packets."""


def _encoded_picture(
    out: OutputContainer, film: Film, probed: ProbedFilm, times: TimeMap, reels: ExitStack
) -> _Picture:
    """Each frame at its own moment, the one on screen repeated through a pause; in decoding order.

    Upright and progressive, 8 bits in 4:2:0, with the film's size, pixel shape and colour tags.
    """
    assert film.media is not None
    reel = Decoder(film.media, probed.stream, film.info.start, film.info.frame_rate)
    reels.callback(reel.close)
    rate = film.info.frame_rate or Fraction(25)
    frames = _sized_frames(_upright_frames(reel, probed))
    second, first = next(frames)
    options = {"crf": str(QUALITY)}
    vp9 = out.format.name == "webm"
    if vp9:
        options |= {"b": "0", "deadline": "good", "cpu-used": "4", "row-mt": "1"}
    else:
        # At this quality as large as "fast" and as like the film (SSIM 0.989, 0.990), in half the time.
        options["preset"] = "veryfast"
    stream: Any = out.add_stream("libvpx-vp9" if vp9 else "libx264", rate=rate, options=options)
    stream.width, stream.height, stream.pix_fmt = first.width, first.height, first.format.name
    aspect = film.info.pixel_aspect
    context = stream.codec_context
    context.sample_aspect_ratio = 1 / aspect if probed.turn.transpose else aspect
    # The film's own clock, so that moments stay exact; 1/90000 where that is very coarse or very fine.
    with film.media.open() as container:
        base = as_fraction(container.streams.video[probed.stream].time_base)
    has_own_clock = base is not None and base.numerator == 1 and 1000 <= base.denominator <= _MAX_CLOCK_RATE
    context.time_base = base if has_own_clock and base is not None else Fraction(1, 90_000)
    context.gop_size = max(12, round(2 * rate))
    stream.colorspace, stream.color_range = first.colorspace, first.color_range
    stream.color_trc, stream.color_primaries = first.color_trc, first.color_primaries
    return stream, _encoded_packets(stream, chain([(second, first)], frames), reel, times, rate)


def _encoded_packets(
    stream: Any, frames: Iterator[tuple[float, VideoFrame]], reel: Decoder, times: TimeMap, rate: Fraction
) -> Iterator[Packet[Any]]:
    from av.video.frame import PictureType

    fresh, is_first = False, True
    ahead = next(frames, None)
    while ahead is not None:
        shown, frame = ahead
        ahead = next(frames, None)
        # Until the next one comes, or it ends by its own account.
        until = shown + reel.length(frame) if ahead is None else ahead[0]
        second = 0.0 if is_first and shown < _MAX_FIRST_FRAME else shown
        begin, end = _moved_second(times, second), _moved_second(times, until)
        waits = end - begin - (until - second) > TOLERANCE
        steps = max(1, round((end - begin) * float(rate))) if waits else 1
        length = (end - begin) / steps
        for step in range(steps):
            at = begin + (end - begin) * step / steps
            base = stream.codec_context.time_base
            frame.time_base, frame.pts = base, round(at / base)
            frame.duration = max(1, round((at + length) / base) - frame.pts)
            # The encoder decides what kind a frame is, but the film goes on with a key frame, to jump to.
            frame.pict_type = PictureType.I if fresh and step == 0 else PictureType.NONE
            yield from stream.encode(frame)
        fresh, is_first = waits, False
    yield from stream.encode(None)


def _copied_picture(
    out: OutputContainer, film: Film, probed: ProbedFilm, times: TimeMap, reels: ExitStack
) -> _Picture:
    """Undecoded: what comes after a pause is shown later. Where a packet is decoded before a pause and shown
    after it, only the second is moved, so that the order of decoding stays.

    The packets raise SoundError where they have no times.
    """
    assert film.media is not None
    source, start = reels.enter_context(film.media.open()), film.info.start
    video = source.streams.video[probed.stream]
    skip_other_streams(source, video)
    stream: Any = out.add_stream_from_template(video, opaque=True)

    def packets() -> Iterator[Packet[Any]]:
        for packet in packets_of(source, video):
            if packet.size == 0:
                continue
            if packet.pts is None or not packet.time_base:
                message = f"The picture of {film.info.name} has no times to move."
                raise SoundError(message, "Let it be encoded: picture = encode.")
            base = packet.time_base
            shown = float(packet.pts * base - start)
            ends = shown + float((packet.duration or 0) * base)
            moved = _moved_second(times, shown)
            if packet.duration:
                packet.duration = max(1, round((_moved_second(times, ends) - moved) / base))
            if packet.dts is not None:
                packet.dts = round(_moved_second(times, float(packet.dts * base - start)) / base)
            packet.pts = round(moved / base)
            packet.stream = stream
            yield packet

    return stream, packets()


def _moved_second(times: TimeMap, second: float) -> float:
    return times.late(second + TOLERANCE) - TOLERANCE


def _upright_frames(reel: Decoder, probed: ProbedFilm) -> Iterator[tuple[float, VideoFrame]]:
    """The frames of a reel with their film seconds, through a graph from the first on that needs one."""
    turn, graph, graph_of = probed.turn, None, None
    seconds: deque[float] = deque()
    for second, frame in reel:
        kind = (frame.width, frame.height, frame.format.name)
        if graph is not None and kind != graph_of:
            yield from _pulled_frames(graph, None, seconds)
            graph = None
        odd = frame.width % 2 or frame.height % 2
        turned = turn.transpose or turn.mirror_x or turn.mirror_y
        if graph is None and (frame.interlaced_frame or turned or odd):
            graph, graph_of = _filter_graph(frame, probed), kind
        if graph is None:
            yield second, frame
            continue
        seconds.append(second)
        yield from _pulled_frames(graph, frame, seconds)
    if graph is not None:
        yield from _pulled_frames(graph, None, seconds)


def _pulled_frames(
    graph: Graph, new_frame: VideoFrame | None, seconds: deque[float]
) -> Iterator[tuple[float, VideoFrame]]:
    import av

    graph.push(new_frame)
    with suppress(av.error.BlockingIOError, av.error.EOFError):
        while True:
            frame: Any = graph.pull()
            yield seconds.popleft(), frame


def _sized_frames(frames: Iterator[tuple[float, VideoFrame]]) -> Iterator[tuple[float, VideoFrame]]:
    """8 bits in 4:2:0, of the size of the first frame; what is so already stays itself."""
    from av.video.reformatter import VideoReformatter

    size, scaler = None, VideoReformatter()
    for second, frame in frames:
        size = size or (frame.width, frame.height)
        if frame.format.name in ("yuv420p", "yuvj420p") and (frame.width, frame.height) == size:
            yield second, frame
            continue
        coded = frame_matrix(frame) if not frame.format.is_rgb else None
        yield (
            second,
            scaler.reformat(
                frame,
                *size,
                "yuv420p",
                src_colorspace=coded,
                dst_colorspace=coded or _BT709,
                src_color_range=frame.color_range or None,
                dst_color_range=frame.color_range if coded else None,
            ),
        )


def _filter_graph(frame: VideoFrame, probed: ProbedFilm) -> Graph:
    """Fields woven apart where frames have them, then upright, then even in size."""
    from av.filter import Graph

    turn = probed.turn
    graph = Graph()
    filters: list[Any] = [
        graph.add_buffer(
            width=frame.width,
            height=frame.height,
            format=frame.format,
            time_base=frame.time_base or Fraction(1, 90_000),
        ),
        graph.add("bwdif", "mode=send_frame:deint=interlaced"),
    ]
    # ffmpeg's 0 is the mirror at the diagonal, nothing but x and y exchanged.
    filters += [graph.add("transpose", "0")] if turn.transpose else []
    filters += [graph.add("hflip")] if turn.mirror_x else []
    filters += [graph.add("vflip")] if turn.mirror_y else []
    filters += [graph.add("crop", "trunc(iw/2)*2:trunc(ih/2)*2:0:0:exact=1"), graph.add("buffersink")]
    for before, after in pairwise(filters):
        before.link_to(after)
    graph.configure()
    return graph
