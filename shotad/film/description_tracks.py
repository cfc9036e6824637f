"""Audio description that a film has already: its tracks inside the film, and sound beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from shotad.core import Interval
from shotad.core.config.languages import language_named
from shotad.core.errors import FilmError
from shotad.core.weight_store import is_tar
from shotad.film.beside import is_description_title
from shotad.film.container import (
    TEXT_CODECS,
    exact_start,
    find_media,
    packets_of,
    readable_metadata,
    track_title,
)
from shotad.film.subtitles import HINT, strip_tags

OWN_REMARK = "shotad"
"""Stands in the remarks of every track and file of sound that shotad makes."""


@dataclass(frozen=True, slots=True)
class DescriptionTrack:
    """A track of description inside a film. ``number`` counts sound or text tracks from 0, each of its own.

    ``language`` is a short code, empty where the track names none. ``is_readable``: it holds text, which can
    be read, and no pictures of text.
    """

    number: int
    is_text: bool
    language: str
    title: str
    is_readable: bool = False


@dataclass(frozen=True, slots=True)
class SoundFile:
    """A file of sound: its length in seconds (None: not stated), the short code of its language (empty: not
    stated), and whether shotad made it."""

    seconds: float | None
    language: str
    is_own: bool


def description_tracks(path: Path) -> tuple[DescriptionTrack, ...]:
    """The tracks of a film that are descriptions by their flags or titles, sound first.

    Commentary is none, nor are captions for deaf people. Raises FilmError for an unreadable film.
    """
    from av.stream import Disposition

    if path.is_dir() or (path.is_file() and is_tar(path)):
        return ()
    description_flags = Disposition.visual_impaired | Disposition.descriptions
    other_flags = Disposition.comment | Disposition.hearing_impaired | Disposition.captions
    tracks: list[DescriptionTrack] = []
    with find_media(path).open() as container:
        kinds = ((container.streams.audio, False), (container.streams.subtitles, True))
        for streams, is_text in kinds:
            for number, stream in enumerate(streams):
                metadata = readable_metadata(stream.metadata)
                title = track_title(metadata)
                is_marked = bool(stream.disposition & description_flags)
                if stream.disposition & other_flags and not is_marked:
                    continue
                if not is_marked and not is_description_title(title, is_text=is_text):
                    continue
                codec = stream.codec_context.name if stream.codec_context else ""
                language = language_named(metadata.get("language", ""))
                tracks.append(DescriptionTrack(number, is_text, language, title, codec in TEXT_CODECS))
    return tuple(tracks)


def description_cues(path: Path, number: int) -> tuple[tuple[Interval, str], ...]:
    """The cues of the text track ``number`` of a film, in film seconds, without formatting.

    Raises FilmError for a film or a track that cannot be read.
    """
    import av

    cues: list[tuple[Interval, str]] = []
    try:
        with find_media(path).open() as container:
            stream = container.streams.subtitles[number]
            film_start = float(exact_start(container))
            for packet in packets_of(container, stream):
                if packet.pts is None or not packet.time_base or not packet.duration:
                    continue
                start = float(packet.pts * packet.time_base) - film_start
                end = start + float(packet.duration * packet.time_base)
                for subtitle in packet.decode():
                    event = bytes(getattr(subtitle, "ass", b"")).decode("utf-8", "replace")
                    text = strip_tags(event.split(",", 8)[-1])
                    if text and end > max(start, 0.0):
                        cues.append((Interval(max(start, 0.0), end), text))
    except av.error.FFmpegError as error:
        raise FilmError(
            f"The text track {number} of {path} cannot be read: {error.strerror}.", HINT
        ) from None
    return tuple(cues)


def probe_sound(path: Path) -> SoundFile:
    """What a file of sound says of itself. Raises FilmError for one that cannot be read."""
    with find_media(path).open() as container:
        seconds = container.duration / 1_000_000 if container.duration else None
        metadata = readable_metadata(container.metadata)
        texts = [*metadata.values()]
        language = language_named(metadata.get("language", ""))
        for stream in container.streams.audio:
            stream_metadata = readable_metadata(stream.metadata)
            texts += stream_metadata.values()
            language = language_named(stream_metadata.get("language", "")) or language
    return SoundFile(seconds, language, any(OWN_REMARK in text for text in texts))
