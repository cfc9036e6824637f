"""Reading a described film back: rule A2, that everything is there, marked as it should be, and in time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from shotad.core import FilmError, Interval
from shotad.film import Film, exact_start, find_media, is_cover, last_second, legible, packets_of
from shotad.script import Finding, Level
from shotad.sound.ad_tracks import AdSound, AdText, coded_text
from shotad.sound.containers import (
    Container,
    Kept,
    codec_of,
    container_for,
    plan_tracks,
    same_language,
    track_name,
)
from shotad.sound.loudness import DecodedMeter
from shotad.sound.mux_film import Payload, Written

RULE = "A2"

TOLERANCE = 0.002
"""Seconds by which times may differ: Matroska's millisecond, twice."""


def check_film(
    target: Path,
    film: Film,
    written: Written,
    sound: AdSound | None,
    text: AdText | None,
    *,
    default: bool = False,
    meter: DecodedMeter | None = None,
) -> tuple[Finding, ...]:
    """What is wrong with a described film, by rule A2; nothing where it is as it should be.

    The film's own tracks must be there with the same codec, packets and payload, as far from each other in
    time as they were; the AD's with language, title, marks and words; the whole as long as the film, within
    one frame of sound. What a container cannot hold is no finding (`write_film` has warned of it).
    ``written`` is what `write_film` gave back, ``sound`` and ``text`` what it was given (the blocks of sound
    are not looked at), ``default``: players start with the AD. ``meter`` hears the AD's sound on the way.
    """
    try:
        return tuple(_Check(target, film, written, sound, text, default, meter).findings())
    except FilmError as error:
        return (_error(f"{target.name} cannot be read back: {error.what}"),)


class _Check:
    def __init__(
        self,
        target: Path,
        film: Film,
        written: Written,
        sound: AdSound | None,
        text: AdText | None,
        default: bool,
        meter: DecodedMeter | None,
    ) -> None:
        self._target, self._film, self._written, self._meter = target, film, written, meter
        self._sound, self._text, self._default = sound, text, default
        self._container: Container = container_for(target)

    def findings(self) -> Iterator[Finding]:
        media = self._film.media
        if media is None:
            return
        with media.open() as source, find_media(self._target).open() as target:
            kept, _ = plan_tracks(source, self._container, self._written.replaced)
            copies, own, missing = _paired(kept, list(target.streams))
            if missing:
                yield _error(f"{missing} of the film's tracks are missing.")
                return
            voice = next((s for s in own if s.type == "audio"), None)
            text = next((s for s in own if s.type == "subtitle"), None)
            yield from self._marks(voice, text, target)
            read = read_tracks(
                target,
                exact_start(target),
                texts=[text.index] if text is not None else [],
                meters={voice.index: self._meter} if voice is not None and self._meter is not None else {},
            )
            yield from self._copies(copies, read)
            moves = self._moves(copies, read)
            # Pictures and sounds must begin as far from each other as in the film.
            late = max(moves, default=0.0)
            apart = late - min(moves, default=0.0)
            if apart > TOLERANCE:
                yield _error(f"the film's tracks have moved against each other by {1000 * apart:.0f} ms.")
            if late > LATE:
                yield Finding(
                    RULE, Level.WARNING, f"the film begins {late:.3f} s later than in its own file."
                )
            yield from self._length(read, target, voice)
            if text is not None and self._text is not None:
                first = min(moves, default=0.0)
                yield from _words(read[text.index].texts, codec_of(text), self._text.cues, first)

    def _marks(self, voice: Any, text: Any, target: Any) -> Iterator[Finding]:
        container = self._container
        if self._sound is not None and voice is None:
            yield _error("the track of audio description is missing.")
        elif self._sound is not None:
            track = track_of(voice)
            yield from self._told(track, self._sound, "the AD track")
            if container.flagged and "visual_impaired" not in track.marks:
                yield _error("the AD track is not marked for people who do not see.")
            starts = self._default or not self._film.info.audio
            if container.muxer != "mpegts" and ("default" in track.marks) != starts:
                wrong = "does not start by itself" if starts else "starts by itself, and should not"
                yield _error(f"the AD track {wrong}.")
        if self._text is not None and container.text is not None:
            if text is None:
                yield _error("the text track of descriptions is missing.")
            else:
                yield from self._told(track_of(text), self._text, "the text track")
                if container.flagged_text and "descriptions" not in track_of(text).marks:
                    yield _error("the text track is not marked as descriptions.")
        if container.muxer != "mpegts":
            started = [s for s in target.streams.audio if "default" in track_of(s).marks]
            if target.streams.audio and len(started) != 1:
                yield _error(f"players start with one sound, and {len(started)} are marked for it.")

    def _told(self, track: Track, given: AdSound | AdText, what: str) -> Iterator[Finding]:
        if not same_language(track.language, given.language):
            yield _error(f"{what} is in {track.language or 'no language'}, not {given.language}.")
        if self._container.titled and given.title and track.title != given.title:
            yield _error(f"{what} is called {track.title!r}, not {given.title!r}.")

    def _copies(self, copies: Sequence[_Pair], read: dict[int, Read]) -> Iterator[Finding]:
        origin = self._written.copied
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
                old, new = track_of(kept.stream), track_of(copy)
                named = kept.stream.type == "audio" or self._container.named_subtitles
                if named and not same_language(old.language, new.language):
                    yield _error(f"{name} of the film is now in {new.language or 'no language'}.")
                if self._container.titled and old.title != new.title:
                    yield _error(f"{name} of the film is now called {new.title!r}.")

    def _moves(self, copies: Sequence[_Pair], read: dict[int, Read]) -> list[float]:
        """By how many seconds each picture and sound begins later than in the film."""
        moves = []
        for kept, copy in copies:
            begin, was = read[copy.index].first, self._written.copied.get(kept.stream.index)
            timed = kept.stream.type in ("video", "audio") and not is_cover(kept.stream)
            if timed and begin is not None and was is not None and was.begin is not None:
                moves.append(begin - was.begin)
        return moves

    def _length(self, read: dict[int, Read], target: Any, voice: Any) -> Iterator[Finding]:
        ends = [read[s.index].end for s in target.streams if s.type in ("video", "audio") and not is_cover(s)]
        frame = max((read[s.index].longest for s in target.streams.audio), default=0.0) or 0.025
        media, info = self._film.media, self._film.info
        want, have = info.duration, max(ends, default=0.0)
        # Where the film's last packet ends: in MPEG-TS its sound may outlast what its container tells.
        if abs(want - have) > frame + TOLERANCE and (
            media is None or abs(last_second(media, info.start, near=want) - have) > frame + TOLERANCE
        ):
            yield _error(f"it lasts {have:.3f} s, the film {want:.3f} s.")
        if voice is not None and abs(read[voice.index].end - want) > frame + TOLERANCE:
            yield _error(f"the AD track ends at {read[voice.index].end:.3f} s, the film at {want:.3f} s.")


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
    cues: Sequence[tuple[Interval, str]],
    late: float,
) -> Iterator[Finding]:
    """``late``: seconds by which the whole film begins later in this container."""
    if len(texts) != len(cues):
        yield _error(f"the text track has {len(texts)} cues, the script {len(cues)}.")
        return
    for (start, end, data), (interval, words) in zip(texts, cues, strict=True):
        if data.rstrip(b"\n") != coded_text(words, codec).rstrip(b"\n"):
            yield _error(f"the text at {interval} reads {data!r}, in the script {words!r}.")
        if max(abs(start - late - interval.start), abs(end - late - interval.end)) > TOLERANCE:
            yield _error(f"the text at {interval} stands from {start:.3f} to {end:.3f} s.")


def _error(message: str) -> Finding:
    return Finding(RULE, Level.ERROR, message)


@dataclass(frozen=True, slots=True)
class Track:
    """A track as a file shows it. ``marks`` are ffmpeg's names of its dispositions."""

    language: str
    title: str
    marks: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Read:
    """What one pass over a track found; seconds are on the file's own film time."""

    payload: Payload
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


def track_of(stream: Any) -> Track:
    """A track of an open file."""
    from av.stream import Disposition

    tags = {key.lower(): value for key, value in legible(stream.metadata).items()}
    marks = tuple(flag.name for flag in Disposition if stream.disposition & flag and flag.name)
    language = tags.get("language", "")
    # In MP4 and MOV the title is the track's name.
    title = tags.get("title") or tags.get("name") or ""
    return Track("" if language == "und" else language, title, marks)
