"""Reading a described film back: rule A2, that everything is there, marked as it should be, and in time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from shotad.core.errors import FilmError
from shotad.core.types import time_range
from shotad.film import Film, find_media
from shotad.film.container import (
    exact_start,
    is_cover,
    last_second,
    packets_of,
)
from shotad.script import Finding, Level
from shotad.sound.ad_tracks import AdText, coded_text
from shotad.sound.containers import (
    Container,
    KeptTrack,
    codec_of,
    container_for,
    plan_tracks,
    same_language,
    track_metadata,
    track_name,
    track_title,
)
from shotad.sound.layouts import AAC_CONFIGURATIONS, aac_configuration
from shotad.sound.loudness import DecodedMeter
from shotad.sound.mux_film import Assembly, Payload

RULE = "A2"

TOLERANCE = 0.002
"""Seconds by which times may differ: Matroska's millisecond, twice."""


def check_film(
    target: Path, film: Film, written: Assembly, meter: DecodedMeter | None = None
) -> tuple[Finding, ...]:
    """What is wrong with a described film, by rule A2; nothing where it is as it should be.

    The film's own tracks must be there with the same codec, packets and payload, as far from each other in
    time as they were; the AD's with language, title, marks and words; the whole as long as the film, within
    one frame of sound. What a container cannot hold is no finding (`write_film` has warned of it).
    ``written`` is what `write_film` gave back. ``meter`` hears the AD's sound on the way.
    """
    try:
        return tuple(_findings(target, film, written, meter))
    except FilmError as error:
        return (_error(f"{target.name} cannot be read back: {error.what}"),)


def _findings(path: Path, film: Film, written: Assembly, meter: DecodedMeter | None) -> Iterator[Finding]:
    assert film.media is not None, "numbered frames have no tracks"
    container, language = container_for(path), written.language
    with film.media.open() as source, find_media(path).open() as target:
        kept_tracks, _ = plan_tracks(source, container, written.replaced)
        copies, ad_streams, missing = _pair_tracks(kept_tracks, list(target.streams))
        if missing:
            yield _error(f"{missing} of the film's tracks are missing.")
            return
        voice = next((stream for stream in ad_streams if stream.type == "audio"), None)
        words = next((stream for stream in ad_streams if stream.type == "subtitle"), None)
        if written.sound is not None:
            has_sound = any(track.stream.type == "audio" for track in kept_tracks)
            starts = written.settings.default_track or not has_sound
            yield from _sound_mark_findings(voice, language, container, starts)
        if written.text is not None and container.text is not None:
            yield from _text_mark_findings(words, language, container)
        if container.muxer != "mpegts":
            started = [stream for stream in target.streams.audio if _has_flag(stream, "default")]
            if target.streams.audio and len(started) != 1:
                yield _error(f"players start with one sound, and {len(started)} are marked for it.")
        readings = read_tracks(
            target,
            exact_start(target),
            texts=[words.index] if words is not None else [],
            meters={voice.index: meter} if voice is not None and meter is not None else {},
        )
        if voice is not None:
            yield from _channel_findings(voice, readings[voice.index].head)
        yield from _copy_findings(copies, readings, written, container)
        shifts = list(_shifts(copies, readings, written))
        # Pictures and sounds must begin as far from each other as in the film.
        least_shift, greatest_shift = min(shifts, default=0.0), max(shifts, default=0.0)
        spread = greatest_shift - least_shift
        if spread > TOLERANCE:
            yield _error(f"the film's tracks have moved against each other by {1000 * spread:.0f} ms.")
        if greatest_shift > MAX_LATE:
            yield Finding(
                RULE, Level.WARNING, f"the film begins {greatest_shift:.3f} s later than in its own file."
            )
        yield from _length_findings(readings, film, target, voice)
        if words is not None and written.text is not None:
            yield from _text_findings(readings[words.index].texts, codec_of(words), written.text, least_shift)


def _sound_mark_findings(voice: Any, language: str, container: Container, starts: bool) -> Iterator[Finding]:
    if voice is None:
        yield _error("the track of audio description is missing.")
        return
    yield from _name_findings(voice, language, track_title(language), "the AD track", container)
    if container.flagged and not _has_flag(voice, "visual_impaired"):
        yield _error("the AD track is not marked for people who do not see.")
    if container.muxer != "mpegts" and _has_flag(voice, "default") != starts:
        wrong = "does not start by itself" if starts else "starts by itself, and should not"
        yield _error(f"the AD track {wrong}.")


def _channel_findings(voice: Any, head: bytes) -> Iterator[Finding]:
    """Whether players can know the channels of the AD track; ``head`` is the begin of its first packet."""
    if codec_of(voice) != "aac":
        return
    header = voice.codec_context.extradata
    configuration = aac_configuration(None if header is None else bytes(header), head)
    if configuration is None:
        yield _error("the AD track has no header that says how many channels it has.")
    elif configuration not in AAC_CONFIGURATIONS:
        problem = (
            f"the AD track has channels (AAC configuration {configuration}) that many players do not play"
        )
        yield _error(f"{problem}.")


def _text_mark_findings(words: Any, language: str, container: Container) -> Iterator[Finding]:
    if words is None:
        yield _error("the text track of descriptions is missing.")
        return
    yield from _name_findings(
        words, language, track_title(language, is_text=True), "the text track", container
    )
    if container.flagged_text and not _has_flag(words, "descriptions"):
        yield _error("the text track is not marked as descriptions.")


def _name_findings(
    stream: Any, language: str, title: str, track: str, container: Container
) -> Iterator[Finding]:
    stated_language, stated_title = language_and_title(stream)
    if not same_language(stated_language, language):
        yield _error(f"{track} is in {stated_language or 'no language'}, not {language}.")
    if container.titled and stated_title != title:
        yield _error(f"{track} is called {stated_title!r}, not {title!r}.")


def _copy_findings(
    copies: Sequence[_Pair], readings: Mapping[int, TrackReading], written: Assembly, container: Container
) -> Iterator[Finding]:
    originals = written.copied
    for original_track, copy in copies:
        name = track_name(original_track.stream)
        if _family(codec_of(copy)) != _family(original_track.codec):
            yield _error(f"{name} of the film has become {codec_of(copy)}.")
        elif original_track.stream.index in originals:
            original, copied = originals[original_track.stream.index], readings[copy.index].payload
            if original.packets != copied.packets:
                yield _error(f"{name} has {copied.packets} packets, in the film {original.packets}.")
            elif original.digest != copied.digest:
                yield _error(f"{name} is not what it is in the film: its packets differ.")
        if original_track.stream.type in ("audio", "subtitle"):
            # A copied sound or subtitle must be in its language and have its title.
            (original_language, original_title), (language, title) = map(
                language_and_title, (original_track.stream, copy)
            )
            has_language = original_track.stream.type == "audio" or container.named_subtitles
            if has_language and not same_language(original_language, language):
                yield _error(f"{name} of the film is now in {language or 'no language'}.")
            if container.titled and original_title != title:
                yield _error(f"{name} of the film is now called {title!r}.")


def _shifts(
    copies: Sequence[_Pair], readings: Mapping[int, TrackReading], written: Assembly
) -> Iterator[float]:
    """By how many seconds each picture and sound begins later than in the film."""
    for original_track, copy in copies:
        begin, original = readings[copy.index].first, written.copied.get(original_track.stream.index)
        if (
            _has_duration(original_track.stream)
            and begin is not None
            and original is not None
            and original.begin is not None
        ):
            yield begin - original.begin


def _length_findings(
    readings: Mapping[int, TrackReading], film: Film, target: Any, voice: Any
) -> Iterator[Finding]:
    frame = max((readings[s.index].longest for s in target.streams.audio), default=0.0) or 0.025
    film_length = film.info.duration
    longest_end = max((readings[s.index].end for s in target.streams if _has_duration(s)), default=0.0)
    # Where the film's last packet ends: in MPEG-TS its sound may outlast what its container tells.
    assert film.media is not None
    is_off = abs(film_length - longest_end) > frame + TOLERANCE
    if (
        is_off
        and abs(last_second(film.media, film.info.start, near=film_length) - longest_end) > frame + TOLERANCE
    ):
        yield _error(f"it lasts {longest_end:.3f} s, the film {film_length:.3f} s.")
    if voice is not None and abs(readings[voice.index].end - film_length) > frame + TOLERANCE:
        yield _error(
            f"the AD track ends at {readings[voice.index].end:.3f} s, the film at {film_length:.3f} s."
        )


def _has_duration(stream: Any) -> bool:
    """Whether a track is picture or sound, and no cover."""
    return stream.type in ("video", "audio") and not is_cover(stream)


_Pair = tuple[KeptTrack, Any]


def _pair_tracks(
    kept_tracks: Sequence[KeptTrack], streams: Sequence[Any]
) -> tuple[list[_Pair], list[Any], int]:
    """Tracks of the film with their copies, the other tracks, and how many copies are missing.

    Tracks stand in the order in which they were written; covers and attachments come after all others.
    """
    pairs: list[_Pair] = []
    others: list[Any] = []
    missing = 0
    for is_aside in (False, True):
        expected = [track for track in kept_tracks if _is_cover_or_attachment(track.stream) == is_aside]
        present = [stream for stream in streams if _is_cover_or_attachment(stream) == is_aside]
        pairs += zip(expected, present, strict=False)
        others += present[len(expected) :]
        missing += max(0, len(expected) - len(present))
    return pairs, others, missing


def _is_cover_or_attachment(stream: Any) -> bool:
    return stream.type == "attachment" or is_cover(stream)


MAX_LATE = 0.1
"""Seconds of head start that are worth a word: a film that was cut without re-encoding it shows in MKV what
its edit list hides in MP4."""

_CODEC_FAMILIES = {
    "srt": "subrip",
    "ssa": "ass",
    "mp1": "mpeg audio",
    "mp2": "mpeg audio",
    "mp3": "mpeg audio",
}
"""Codecs that are one in some containers: MP4 does not tell the layers of MPEG audio apart."""


def _family(codec: str) -> str:
    return _CODEC_FAMILIES.get(codec, codec)


def _text_findings(
    texts: Sequence[tuple[float, float, bytes]],
    codec: str,
    cues: AdText,
    shift: float,
) -> Iterator[Finding]:
    """``shift``: seconds by which the whole film begins later in this container."""
    if len(texts) != len(cues):
        yield _error(f"the text track has {len(texts)} cues, the script {len(cues)}.")
        return
    for (start, end, data), (interval, words) in zip(texts, cues, strict=True):
        if data.rstrip(b"\n") != coded_text(words, codec).rstrip(b"\n"):
            yield _error(f"the text at {time_range(interval)} reads {data!r}, in the script {words!r}.")
        if max(abs(start - shift - interval.start), abs(end - shift - interval.end)) > TOLERANCE:
            yield _error(f"the text at {time_range(interval)} stands from {start:.3f} to {end:.3f} s.")


def _error(message: str) -> Finding:
    return Finding(RULE, Level.ERROR, message)


HEAD_SIZE = 16
"""Bytes: more than the header of a frame of AAC."""


@dataclass(slots=True, eq=False)
class TrackReading:
    """What one pass over a track found; seconds are on the file's own film time. ``head`` are the first bytes
    of its first packet."""

    payload: Payload
    head: bytes = b""
    first: float | None = None
    end: float = 0.0
    longest: float = 0.0
    texts: list[tuple[float, float, bytes]] = field(default_factory=list)


def read_tracks(
    container: Any,
    start: Fraction,
    texts: Collection[int],
    meters: Mapping[int, DecodedMeter],
) -> dict[int, TrackReading]:
    """Every packet of an open file once; seconds count from ``start``.

    Words are kept of the tracks ``texts`` alone: pictures of subtitles in a long film are many. Tracks with
    ``meters`` are decoded on the way, and measured.
    """
    from av.error import FFmpegError

    readings = {
        s.index: TrackReading(Payload(codec_of(s), s.codec_context.extradata if s.codec_context else None))
        for s in container.streams
    }
    # Up to where the file can no more be read.
    with suppress(FFmpegError, OSError):
        for packet in packets_of(container):
            index, reading = packet.stream.index, readings[packet.stream.index]
            if index in meters:
                meters[index].add(packet)
            if packet.size:
                reading.head = reading.head or bytes(memoryview(packet)[:HEAD_SIZE])
                reading.payload.add(memoryview(packet))
            if not packet.size or packet.pts is None:
                continue
            base = packet.time_base
            begin = packet.pts * base.numerator / base.denominator - float(start)
            end = begin + (packet.duration or 0) * base.numerator / base.denominator
            reading.first = begin if reading.first is None else min(reading.first, begin)
            reading.end = max(reading.end, end)
            reading.longest = max(reading.longest, end - begin)
            if index in texts and bytes(packet).strip(b"\0"):
                reading.texts.append((begin, end, bytes(packet)))
    return readings


def language_and_title(stream: Any) -> tuple[str, str]:
    """Those of a track of an open file, empty where it has none."""
    metadata = track_metadata(stream)
    language = metadata.get("language", "")
    # In MP4 and MOV the title is the track's name.
    return "" if language == "und" else language, metadata.get("title") or metadata.get("name") or ""


def _has_flag(stream: Any, mark: str) -> bool:
    """Whether a track has a disposition of ffmpeg's."""
    from av.stream import Disposition

    return bool(stream.disposition & Disposition[mark])
