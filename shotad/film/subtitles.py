"""Subtitles as utterances: from a file, or from the text tracks inside a film.

`read_subtitles` takes SRT, WebVTT, ASS and SSA files; `embedded_track` reads mov_text,
SubRip, ASS and WebVTT tracks and chooses the one to be trusted as a record of all that is said.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from shotad.core import FilmError, SubtitleError, Utterance, is_tar
from shotad.film.container import exact_start, find_media, legible, packets_of
from shotad.film.cues import HINT, ordered, parse_subtitles, read_subtitles, utterances_in

if TYPE_CHECKING:
    from av import Packet
    from av.container import InputContainer
    from av.stream import Stream
    from av.subtitles.stream import SubtitleStream

__all__ = [
    "EmbeddedTrack", "embedded_subtitles", "embedded_track", "ordered", "parse_subtitles", "read_subtitles",
]  # fmt: skip

Source = str | os.PathLike[str] | BinaryIO

TEXT_CODECS = ("subrip", "srt", "ass", "ssa", "mov_text", "webvtt", "text")
_PARTIAL_TITLE = re.compile(
    r"forced|signs|songs|comment|descri|karaoke|lyric|foreign parts|trivia", re.IGNORECASE
)  # fmt: skip
_WHOLE_TITLE = re.compile(r"\bfull\b|dialog|\bsdh\b|complete", re.IGNORECASE)
"""What makes of ``Dialogue, Signs & Songs`` a whole track again."""
_WHOLE_SHARE = 0.6
"""A track with this share of the cues of the fullest one counts as whole."""
_FEWEST_PER_MINUTE = 0.5
"""Cues a minute below which a track of a long film is a few foreign lines and signs, not its speech."""
_LONG_FILM = 600.0


@dataclass(frozen=True, slots=True)
class EmbeddedTrack:
    """A text track inside a film. ``number`` counts subtitle tracks from 0; ``reason``: why this one."""

    number: int
    codec: str
    language: str
    title: str
    utterances: tuple[Utterance, ...]
    reason: str


def embedded_subtitles(path: Source, number: int | None = None) -> tuple[Utterance, ...] | None:
    """The utterances of `embedded_track`, or None where no track can be trusted."""
    track = embedded_track(path, number)
    return None if track is None else track.utterances


def embedded_track(path: Source, number: int | None = None) -> EmbeddedTrack | None:
    """The text track ``number`` (from 0), or the one that best tells all speech; None if there is none.

    Times count from the container's start time. Forced tracks, signs, songs, commentary and
    descriptions are left out, then tracks with far fewer cues than the fullest; of the rest the
    language of the sound is preferred, then captions for deaf people (they mark songs and keep the
    short words that subtitles drop), then the default track, then the first. Picture tracks are not read.
    Raises SubtitleError for a ``number`` that is absent or a picture, FilmError for an unreadable film.
    """
    import av

    if _is_stills(path):
        return None
    try:
        with find_media(path).open() as container:
            streams = _text_streams(container, number)
            if not streams:
                return None
            heard = _read_tracks(container, streams)
            audio = container.streams.best("audio")
            language = legible(audio.metadata).get("language", "") if audio is not None else ""
            duration = (container.duration or 0) / 1_000_000
            pairs = zip(streams.items(), heard, strict=True)
            tracks = [_describe(stream, n, said) for (n, stream), said in pairs]
    except av.error.FFmpegError as error:
        raise FilmError(f"The subtitles inside {path} cannot be read: {error.strerror}.", HINT) from None
    return tracks[0].track if number is not None else _choose(tracks, language, duration)


def _is_stills(path: Source) -> bool:
    """True for a folder or tar of numbered frames, which can hold no subtitles."""
    if not isinstance(path, str | os.PathLike):
        return False
    return Path(path).is_dir() or (Path(path).is_file() and is_tar(Path(path)))


def _text_streams(container: InputContainer, number: int | None) -> dict[int, SubtitleStream]:
    streams = container.streams.subtitles
    if number is None:
        return {n: s for n, s in enumerate(streams) if s.codec_context.name in TEXT_CODECS}
    if number >= len(streams):
        raise SubtitleError(
            f"There is no subtitle track {number}; the film has {len(streams)}.", "Tracks count from 0."
        )
    if streams[number].codec_context.name not in TEXT_CODECS:
        codec = streams[number].codec_context.name
        raise SubtitleError(f"Subtitle track {number} holds pictures ({codec}), not text.", HINT)
    return {number: streams[number]}


def _read_tracks(
    container: InputContainer, streams: dict[int, SubtitleStream]
) -> list[tuple[Utterance, ...]]:
    """One pass over the film for all ``streams``; a packet that does not decode is passed over."""
    import av

    zero = float(exact_start(container))
    heard: dict[int, list[Utterance]] = {stream.index: [] for stream in streams.values()}
    for packet in packets_of(container, *streams.values()):
        if packet.pts is None or not packet.time_base:
            continue
        start = float(packet.pts * packet.time_base) - zero
        end = start + float((packet.duration or 0) * packet.time_base)
        try:
            lines = packet.decode()
        except av.error.InvalidDataError:
            continue
        for line in lines:
            event = bytes(getattr(line, "ass", b"")).decode("utf-8", "replace")
            _, _, style, actor, *_, text = event.split(",", 8)
            heard[packet.stream_index] += utterances_in(
                _voiced(packet) or text, start, end, style=style, actor=actor
            )
    return [ordered(utterances) for utterances in heard.values()]


def _voiced(packet: Packet[Stream]) -> str:
    """The WebVTT cue as it is written, where it has a voice tag: the decoder drops those."""
    text = bytes(packet).decode("utf-8", "replace")
    return text if packet.stream.codec_context.name == "webvtt" and "<v" in text else ""


@dataclass(frozen=True, slots=True)
class _Candidate:
    track: EmbeddedTrack
    partial: bool
    captions: bool
    default: bool


def _describe(stream: SubtitleStream, number: int, utterances: tuple[Utterance, ...]) -> _Candidate:
    from av.stream import Disposition

    told, flags = legible(stream.metadata), stream.disposition
    title = told.get("title", "")
    track = EmbeddedTrack(
        number,
        stream.codec_context.name,
        told.get("language", ""),
        title,
        utterances,
        "asked for",
    )
    partial = Disposition.forced | Disposition.comment | Disposition.lyrics | Disposition.karaoke
    partial |= Disposition.descriptions | Disposition.visual_impaired
    captions = bool(flags & (Disposition.hearing_impaired | Disposition.captions))
    return _Candidate(
        track,
        bool(flags & partial or (_PARTIAL_TITLE.search(title) and not _WHOLE_TITLE.search(title))),
        captions or bool(re.search(r"\b(?:sdh|cc|hoh|hearing)\b", title, re.IGNORECASE)),
        bool(flags & Disposition.default),
    )


def _choose(tracks: Sequence[_Candidate], language: str, duration: float) -> EmbeddedTrack | None:
    whole = [t for t in tracks if t.track.utterances and not t.partial]
    fullest = max((len(t.track.utterances) for t in whole), default=0)
    if fullest == 0 or (duration >= _LONG_FILM and fullest < _FEWEST_PER_MINUTE * duration / 60):
        return None
    whole = [t for t in whole if len(t.track.utterances) >= _WHOLE_SHARE * fullest]
    best = min(
        whole,
        key=lambda t: (t.track.language != language, not t.captions, not t.default, t.track.number),
    )
    return dataclasses.replace(best.track, reason=_reason(best, len(whole), len(tracks), language))


def _reason(best: _Candidate, whole: int, found: int, language: str) -> str:
    if found == 1:
        return "the only text track"
    marks = [
        f"language {language} of the sound" if language and best.track.language == language else "",
        "captions for deaf people" if best.captions else "",
        "default track" if best.default else "",
    ]
    why = ", ".join(filter(None, marks)) or "the first"
    return f"{whole} of {found} text tracks hold all speech; chosen: {why}"
