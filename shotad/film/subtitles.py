"""Subtitles as utterances: from a file, or from the text tracks inside a film.

`read_subtitles` takes SRT, WebVTT, ASS and SSA (through pysubs2); `embedded_track` reads mov_text,
SubRip, ASS and WebVTT tracks and chooses the one to be trusted as a record of all that is said.
"""

from __future__ import annotations

import dataclasses
import os
import re
import tarfile
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from shotad.errors import FilmError, SubtitleError
from shotad.film.captions import Said, read_caption
from shotad.film.container import exact_start, find_media
from shotad.types import Interval, SpeechKind, Utterance

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.subtitles.stream import SubtitleStream

Source = str | os.PathLike[str] | BinaryIO

LARGEST_FILE = 16 << 20
"""Bytes; the subtitles of a long film have about 0.2 MB, so a larger file is something else."""
TEXT_CODECS = ("subrip", "srt", "ass", "ssa", "mov_text", "webvtt", "text")
_HINT = "Give an SRT, WebVTT, ASS or SSA file, or leave --subtitles out to listen to the sound."
_SIGN_STYLE = re.compile(r"sign|typeset|title|screen|note|logo|credit", re.IGNORECASE)
_SONG_STYLE = re.compile(r"\b(?:op|ed)\b|song|karaoke|lyric|romaji|kanji|insert", re.IGNORECASE)
_PARTIAL_TITLE = re.compile(
    r"forced|signs|songs|comment|descri|karaoke|lyric|foreign parts|trivia", re.IGNORECASE
)  # fmt: skip
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


def read_subtitles(path: str | Path) -> tuple[Utterance, ...]:
    """All that is spoken or sung according to a subtitle file, by start time; seconds of the film.

    Sound captions, tunes, on-screen signs and the subtitlers' own credits are no utterances. A cue
    that ends before it starts lasts as long as its words take. Raises SubtitleError.
    """
    path = Path(path)
    return parse_subtitles(_decode(_read_bytes(path), path), str(path))


def parse_subtitles(text: str, name: str = "subtitles") -> tuple[Utterance, ...]:
    """`read_subtitles` for text that is already in memory; ``name`` stands in errors."""
    import pysubs2

    text = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
    kind = _format_of(text, name)
    options = {"keep_html_tags": True} if kind in ("srt", "vtt") else {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            subs = pysubs2.SSAFile.from_string(
                _vtt_cues(text) if kind == "vtt" else text, format_=kind, **options
            )
    except (pysubs2.exceptions.Pysubs2Error, ValueError, KeyError, IndexError) as error:
        raise SubtitleError(f"{name} is damaged: {error}.", _HINT) from None
    if not subs.events and kind != "vtt":
        raise SubtitleError(f"{name} holds no subtitle.", _HINT)
    return ordered(filter(None, (_utterance(event) for event in subs.events)))


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
            language = audio.metadata.get("language", "") if audio is not None else ""
            duration = (container.duration or 0) / 1_000_000
    except av.error.FFmpegError as error:
        raise FilmError(f"The subtitles inside {path} cannot be read: {error.strerror}.", _HINT) from None
    tracks = [_describe(stream, n, said) for (n, stream), said in zip(streams.items(), heard, strict=True)]
    return tracks[0].track if number is not None else _choose(tracks, language, duration)


def ordered(utterances: Iterable[Utterance]) -> tuple[Utterance, ...]:
    """By start, each only once (typeset ASS repeats a line in several layers)."""
    return tuple(sorted(dict.fromkeys(utterances), key=lambda u: (u.interval, u.text)))


def _is_stills(path: Source) -> bool:
    """True for a folder or tar of numbered frames, which can hold no subtitles."""
    if not isinstance(path, str | os.PathLike):
        return False
    return Path(path).is_dir() or (Path(path).is_file() and tarfile.is_tarfile(path))


def _read_bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise SubtitleError(f"{path} has {path.stat().st_size} bytes, too many for subtitles.", _HINT)
        data = path.read_bytes()
    except OSError as error:
        raise SubtitleError(f"The subtitles {path} cannot be read: {error.strerror}.", _HINT) from None
    if not data.strip():
        raise SubtitleError(f"The subtitles {path} are empty.", _HINT)
    return data


def _decode(data: bytes, path: Path) -> str:
    for mark, encoding in (
        (b"\xef\xbb\xbf", "utf-8-sig"),
        (b"\xff\xfe\x00\x00", "utf-32"),
        (b"\x00\x00\xfe\xff", "utf-32"),
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
    ):
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    head = data[:4096]
    if head.count(0) > len(head) // 4:
        text = data.decode(
            "utf-16-le" if head[1::2].count(0) > head[::2].count(0) else "utf-16-be", "replace"
        )
        if "-->" in text or "Dialogue:" in text:
            return text
    if 0 in data:
        raise SubtitleError(f"{path} is no text.", _HINT)
    for encoding in ("utf-8", "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def _format_of(text: str, name: str) -> str:
    if text.lstrip().startswith("WEBVTT"):
        return "vtt"
    if re.search(r"^\s*\[(?:Script Info|V4\+? Styles|Events)\]", text, re.MULTILINE | re.IGNORECASE):
        return "ssa" if re.search(r"^\s*\[V4 Styles\]", text, re.MULTILINE | re.IGNORECASE) else "ass"
    if re.search(r"^\s*\d+:\d+:\d+[,.:]\d+\s*-->", text, re.MULTILINE):
        return "srt"
    raise SubtitleError(f"{name} is in no known subtitle format.", _HINT)


def _vtt_cues(text: str) -> str:
    """WebVTT with nothing but its cues: pysubs2 would read a note or a named cue id as words.

    Time tags go too, for two of them in one line look like the times of a cue.
    """
    cues = []
    for block in re.split(r"\n[ \t]*\n", text):
        lines = block.strip("\n").split("\n")
        at = next((i for i, line in enumerate(lines[:2]) if "-->" in line), None)
        if at is not None and not lines[0].startswith(("NOTE", "STYLE", "REGION")):
            payload = [re.sub(r"<[\d:.]+>", "", line) for line in lines[at + 1 :]]
            cues.append("\n".join([lines[at], *payload]))
    return "WEBVTT\n\n" + "\n\n".join(cues) + "\n"


def _utterance(event: object) -> Utterance | None:
    text, style = str(getattr(event, "text", "")), str(getattr(event, "style", ""))
    if getattr(event, "is_comment", False) or getattr(event, "is_drawing", False):
        return None
    said = _said(text, style)
    if said is None:
        return None
    start, end = getattr(event, "start", 0) / 1000, getattr(event, "end", 0) / 1000
    return Utterance(_interval(start, end, said.text), said.text, said.kind)


def _said(text: str, style: str) -> Said | None:
    """The words of an ASS event or cue; a style named for signs is text on screen, one for songs sung."""
    if re.search(r"\\p[1-9]", text) or (_SIGN_STYLE.search(style) and not _SONG_STYLE.search(style)):
        return None
    said = read_caption(text)
    if said is not None and _SONG_STYLE.search(style):
        return Said(said.text, SpeechKind.LYRICS)
    return said


def _interval(start: float, end: float, text: str) -> Interval:
    if end <= start:
        end = start + max(1.0, 0.4 * len(text.split()))
    return Interval(start, end)


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
        raise SubtitleError(f"Subtitle track {number} holds pictures ({codec}), not text.", _HINT)
    return {number: streams[number]}


def _read_tracks(
    container: InputContainer, streams: dict[int, SubtitleStream]
) -> list[tuple[Utterance, ...]]:
    """One pass over the film for all ``streams``; a packet that does not decode is passed over."""
    import av

    zero = float(exact_start(container))
    heard: dict[int, list[Utterance]] = {stream.index: [] for stream in streams.values()}
    for packet in container.demux(*streams.values()):
        if packet.pts is None or packet.time_base is None:
            continue
        start = float(packet.pts * packet.time_base) - zero
        end = start + float((packet.duration or 0) * packet.time_base)
        try:
            lines = packet.decode()
        except av.error.InvalidDataError:
            continue
        for line in lines:
            _, _, style, *_, text = bytes(getattr(line, "ass", b"")).decode("utf-8", "replace").split(",", 8)
            said = _said(text, style)
            if said is not None:
                heard[packet.stream_index].append(
                    Utterance(_interval(start, end, said.text), said.text, said.kind)
                )
    return [ordered(utterances) for utterances in heard.values()]


@dataclass(frozen=True, slots=True)
class _Candidate:
    track: EmbeddedTrack
    partial: bool
    captions: bool
    default: bool


def _describe(stream: SubtitleStream, number: int, utterances: tuple[Utterance, ...]) -> _Candidate:
    from av.stream import Disposition

    title, flags = stream.metadata.get("title", ""), stream.disposition
    track = EmbeddedTrack(
        number,
        stream.codec_context.name,
        stream.metadata.get("language", ""),
        title,
        utterances,
        "asked for",
    )
    partial = Disposition.forced | Disposition.comment | Disposition.lyrics | Disposition.karaoke
    partial |= Disposition.descriptions | Disposition.visual_impaired
    captions = bool(flags & (Disposition.hearing_impaired | Disposition.captions))
    return _Candidate(
        track,
        bool(flags & partial or _PARTIAL_TITLE.search(title)),
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
