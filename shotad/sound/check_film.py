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
    Kept,
    codec_of,
    container_for,
    plan_tracks,
    same_language,
    told_of,
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
        kept, _ = plan_tracks(source, container, written.replaced)
        copies, own, missing = _paired(kept, list(target.streams))
        if missing:
            yield _error(f"{missing} of the film's tracks are missing.")
            return
        voice = next((s for s in own if s.type == "audio"), None)
        words = next((s for s in own if s.type == "subtitle"), None)
        if written.sound is not None:
            has_sound = any(one.stream.type == "audio" for one in kept)
            starts = written.settings.default_track or not has_sound
            yield from _voice_marks(voice, language, container, starts)
        if written.text is not None and container.text is not None:
            yield from _text_marks(words, language, container)
        if container.muxer != "mpegts":
            started = [s for s in target.streams.audio if _marked(s, "default")]
            if target.streams.audio and len(started) != 1:
                yield _error(f"players start with one sound, and {len(started)} are marked for it.")
        read = read_tracks(
            target,
            exact_start(target),
            texts=[words.index] if words is not None else [],
            meters={voice.index: meter} if voice is not None and meter is not None else {},
        )
        if voice is not None:
            yield from _voice_channels(voice, read[voice.index].head)
        yield from _copied(copies, read, written, container)
        moves = list(_moves(copies, read, written))
        # Pictures and sounds must begin as far from each other as in the film.
        early, late = min(moves, default=0.0), max(moves, default=0.0)
        if late - early > TOLERANCE:
            yield _error(
                f"the film's tracks have moved against each other by {1000 * (late - early):.0f} ms."
            )
        if late > LATE:
            yield Finding(RULE, Level.WARNING, f"the film begins {late:.3f} s later than in its own file.")
        yield from _length(read, film, target, voice)
        if words is not None and written.text is not None:
            yield from _words(read[words.index].texts, codec_of(words), written.text, early)


def _voice_marks(voice: Any, language: str, container: Container, starts: bool) -> Iterator[Finding]:
    if voice is None:
        yield _error("the track of audio description is missing.")
        return
    yield from _told(voice, language, track_title(language), "the AD track", container)
    if container.flagged and not _marked(voice, "visual_impaired"):
        yield _error("the AD track is not marked for people who do not see.")
    if container.muxer != "mpegts" and _marked(voice, "default") != starts:
        wrong = "does not start by itself" if starts else "starts by itself, and should not"
        yield _error(f"the AD track {wrong}.")


def _voice_channels(voice: Any, head: bytes) -> Iterator[Finding]:
    """Whether players can know the channels of the AD track; ``head`` is the begin of its first packet."""
    if codec_of(voice) != "aac":
        return
    header = voice.codec_context.extradata
    configuration = aac_configuration(None if header is None else bytes(header), head)
    if configuration is None:
        yield _error("the AD track has no header that says how many channels it has.")
    elif configuration not in AAC_CONFIGURATIONS:
        what = f"the AD track has channels (AAC configuration {configuration}) that many players do not play"
        yield _error(f"{what}.")


def _text_marks(words: Any, language: str, container: Container) -> Iterator[Finding]:
    if words is None:
        yield _error("the text track of descriptions is missing.")
        return
    yield from _told(words, language, track_title(language, is_text=True), "the text track", container)
    if container.flagged_text and not _marked(words, "descriptions"):
        yield _error("the text track is not marked as descriptions.")


def _told(stream: Any, language: str, title: str, what: str, container: Container) -> Iterator[Finding]:
    said, called = language_and_title(stream)
    if not same_language(said, language):
        yield _error(f"{what} is in {said or 'no language'}, not {language}.")
    if container.titled and called != title:
        yield _error(f"{what} is called {called!r}, not {title!r}.")


def _copied(
    copies: Sequence[_Pair], read: Mapping[int, Read], written: Assembly, container: Container
) -> Iterator[Finding]:
    origin = written.copied
    for kept, copy in copies:
        name = track_name(kept.stream)
        if _family(codec_of(copy)) != _family(kept.codec):
            yield _error(f"{name} of the film has become {codec_of(copy)}.")
        elif kept.stream.index in origin:
            was, now = origin[kept.stream.index], read[copy.index].payload
            if was.packets != now.packets:
                yield _error(f"{name} has {now.packets} packets, in the film {was.packets}.")
            elif was.digest != now.digest:
                yield _error(f"{name} is not what it is in the film: its packets differ.")
        if kept.stream.type in ("audio", "subtitle"):
            # A copied sound or subtitle must be in its language and have its title.
            (spoken, called), (language, title) = map(language_and_title, (kept.stream, copy))
            named = kept.stream.type == "audio" or container.named_subtitles
            if named and not same_language(spoken, language):
                yield _error(f"{name} of the film is now in {language or 'no language'}.")
            if container.titled and called != title:
                yield _error(f"{name} of the film is now called {title!r}.")


def _moves(copies: Sequence[_Pair], read: Mapping[int, Read], written: Assembly) -> Iterator[float]:
    """By how many seconds each picture and sound begins later than in the film."""
    for kept, copy in copies:
        begin, was = read[copy.index].first, written.copied.get(kept.stream.index)
        if _lasts(kept.stream) and begin is not None and was is not None and was.begin is not None:
            yield begin - was.begin


def _length(read: Mapping[int, Read], film: Film, target: Any, voice: Any) -> Iterator[Finding]:
    frame = max((read[s.index].longest for s in target.streams.audio), default=0.0) or 0.025
    want = film.info.duration
    have = max((read[s.index].end for s in target.streams if _lasts(s)), default=0.0)
    # Where the film's last packet ends: in MPEG-TS its sound may outlast what its container tells.
    assert film.media is not None
    off = abs(want - have) > frame + TOLERANCE
    if off and abs(last_second(film.media, film.info.start, near=want) - have) > frame + TOLERANCE:
        yield _error(f"it lasts {have:.3f} s, the film {want:.3f} s.")
    if voice is not None and abs(read[voice.index].end - want) > frame + TOLERANCE:
        yield _error(f"the AD track ends at {read[voice.index].end:.3f} s, the film at {want:.3f} s.")


def _lasts(stream: Any) -> bool:
    """Whether a track is picture or sound, and no cover."""
    return stream.type in ("video", "audio") and not is_cover(stream)


_Pair = tuple[Kept, Any]


def _paired(kept: Sequence[Kept], streams: Sequence[Any]) -> tuple[list[_Pair], list[Any], int]:
    """Tracks of the film with their copies, the other tracks, and how many copies are missing.

    Tracks stand in the order in which they were written; covers and attachments come after all others.
    """
    pairs: list[_Pair] = []
    rest: list[Any] = []
    missing = 0
    for aside in (False, True):
        wanted = [one for one in kept if _aside(one.stream) == aside]
        there = [stream for stream in streams if _aside(stream) == aside]
        pairs += zip(wanted, there, strict=False)
        rest += there[len(wanted) :]
        missing += max(0, len(wanted) - len(there))
    return pairs, rest, missing


def _aside(stream: Any) -> bool:
    return stream.type == "attachment" or is_cover(stream)


LATE = 0.1
"""Seconds of head start that are worth a word: a film that was cut without re-encoding it shows in MKV what
its edit list hides in MP4."""

_FAMILIES = {"srt": "subrip", "ssa": "ass", "mp1": "mpeg audio", "mp2": "mpeg audio", "mp3": "mpeg audio"}
"""Codecs that are one in some containers: MP4 does not tell the layers of MPEG audio apart."""


def _family(codec: str) -> str:
    return _FAMILIES.get(codec, codec)


def _words(
    texts: Sequence[tuple[float, float, bytes]],
    codec: str,
    cues: AdText,
    late: float,
) -> Iterator[Finding]:
    """``late``: seconds by which the whole film begins later in this container."""
    if len(texts) != len(cues):
        yield _error(f"the text track has {len(texts)} cues, the script {len(cues)}.")
        return
    for (start, end, data), (interval, words) in zip(texts, cues, strict=True):
        if data.rstrip(b"\n") != coded_text(words, codec).rstrip(b"\n"):
            yield _error(f"the text at {time_range(interval)} reads {data!r}, in the script {words!r}.")
        if max(abs(start - late - interval.start), abs(end - late - interval.end)) > TOLERANCE:
            yield _error(f"the text at {time_range(interval)} stands from {start:.3f} to {end:.3f} s.")


def _error(message: str) -> Finding:
    return Finding(RULE, Level.ERROR, message)


HEAD = 16
"""Bytes: more than the header of a frame of AAC."""


@dataclass(slots=True, eq=False)
class Read:
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
) -> dict[int, Read]:
    """Every packet of an open file once; seconds count from ``start``.

    Words are kept of the tracks ``texts`` alone: pictures of subtitles in a long film are many. Tracks with
    ``meters`` are decoded on the way, and measured.
    """
    from av.error import FFmpegError

    read = {
        s.index: Read(Payload(codec_of(s), s.codec_context.extradata if s.codec_context else None))
        for s in container.streams
    }
    # Up to where the file can no more be read.
    with suppress(FFmpegError, OSError):
        for packet in packets_of(container):
            index, found = packet.stream.index, read[packet.stream.index]
            if index in meters:
                meters[index].add(packet)
            if packet.size:
                found.head = found.head or bytes(memoryview(packet)[:HEAD])
                found.payload.add(memoryview(packet))
            if not packet.size or packet.pts is None:
                continue
            base = packet.time_base
            begin = packet.pts * base.numerator / base.denominator - float(start)
            end = begin + (packet.duration or 0) * base.numerator / base.denominator
            found.first = begin if found.first is None else min(found.first, begin)
            found.end = max(found.end, end)
            found.longest = max(found.longest, end - begin)
            if index in texts and bytes(packet).strip(b"\0"):
                found.texts.append((begin, end, bytes(packet)))
    return read


def language_and_title(stream: Any) -> tuple[str, str]:
    """Those of a track of an open file, empty where it has none."""
    told = told_of(stream)
    language = told.get("language", "")
    # In MP4 and MOV the title is the track's name.
    return "" if language == "und" else language, told.get("title") or told.get("name") or ""


def _marked(stream: Any, mark: str) -> bool:
    """Whether a track has a disposition of ffmpeg's."""
    from av.stream import Disposition

    return bool(stream.disposition & Disposition[mark])
