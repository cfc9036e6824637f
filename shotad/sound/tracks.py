"""Which of a film's tracks go into the described film, and with which metadata, by the keys each
container keeps.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from shotad.core import SoundError
from shotad.film import TEXT_CODECS, is_cover, legible
from shotad.sound.containers import CONTAINERS, Container, first_endings, track_language

_REMADE = frozenset({"bin_data", "tmcd", "epg"})
"""Data that is no track of its own: chapters and time codes in MP4, rewritten; programme guides."""


How = Literal["copied", "converted", "attached"]


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """A track that goes along. ``stream`` is the film's, ``codec`` what it is in the described film."""

    stream: Any
    how: How
    codec: str


def plan_tracks(
    source: Any, container: Container, without: Collection[int] = ()
) -> tuple[tuple[Kept, ...], tuple[str, ...]]:
    """All tracks of an open film that go along, in its order, and sentences on what does not. Those of the
    numbers ``without`` stay behind.

    Picture and sound are copied or the film is refused (SoundError, with the track and the containers that
    hold it); subtitles in text are converted; other tracks that do not fit are left out with a warning.
    """
    kept, warnings = [], []
    for stream in source.streams:
        track = "" if stream.index in without else _planned(stream, container)
        if isinstance(track, Kept):
            kept.append(track)
            language = legible(stream.metadata).get("language", "und")
            if track.how == "converted" and codec_of(stream) in ("ass", "ssa"):
                warnings.append(
                    f"{track_name(stream)} becomes {track.codec}: its words stay, most of its looks do not."
                )
            if stream.type == "subtitle" and not container.named_subtitles and language != "und":
                warnings.append(
                    f"{track_name(stream)} is copied, but {container.name} does not say its language."
                )
        elif track:
            warnings.append(track)
    if not container.chapters and source.chapters():
        warnings.append(
            f"{container.name} holds no chapters: the film's {len(source.chapters())} are left out."
        )
    return tuple(kept), tuple(warnings)


def _planned(stream: Any, container: Container) -> Kept | str:
    """The track as it goes along, or why it does not (empty: nothing that anybody misses)."""
    codec = codec_of(stream)
    if stream.type == "attachment":
        fits = container.attachments
    elif stream.type == "video" and is_cover(stream):
        fits = container.covers and (container.holds("video", codec) or container.attachments)
    else:
        fits = codec in container.data if stream.type == "data" else container.holds(stream.type, codec)
    if fits:
        if container.attachments and stream.type == "video" and is_cover(stream):
            return Kept(stream, "attached", codec)
        return Kept(stream, "copied", codec)
    if stream.type == "subtitle":
        if codec in TEXT_CODECS and container.text is not None:
            return Kept(stream, "converted", container.text)
        where = first_endings(other for other in CONTAINERS if other.holds("subtitle", codec))
        can = f" ({where} can)" if where else ""
        return f"{track_name(stream)} is left out: {container.name} cannot hold it{can}."
    if stream.type in ("video", "audio") and not is_cover(stream):
        # Which track it is, and what holds all of them.
        tracks = [s for s in stream.container.streams if s.type in ("video", "audio") and not is_cover(s)]
        where = first_endings(c for c in CONTAINERS if all(c.holds(s.type, codec_of(s)) for s in tracks))
        raise SoundError(
            f"{container.name} cannot hold {track_name(stream)} of the film.",
            f"Write {where} instead."
            if where
            else "Convert the film first: no container here holds all of it.",
        )
    return "" if codec in _REMADE else f"{track_name(stream)} is left out: {container.name} cannot hold it."


def codec_of(stream: Any) -> str:
    context = stream.codec_context
    name = context.codec.canonical_name if context is not None else getattr(stream, "name", None)
    return str(name or "unknown")


def track_name(stream: Any) -> str:
    """A track for people: ``subtitle track 4 (eng, 'Signs', ass)``."""
    told = legible(stream.metadata)
    words = [told.get("language"), told.get("title"), codec_of(stream)]
    if stream.type == "video" and is_cover(stream):
        return f"cover picture {stream.index} ({codec_of(stream)})"
    return f"{stream.type} track {stream.index} ({', '.join(str(word) for word in words if word)})"


def add_track(output: Any, kept: Kept, container: Container, default: bool | None) -> Any:
    """The track in the film that is written. ``default`` None: as it is in the film."""
    from av.stream import Disposition

    source = kept.stream
    stream = output.add_stream_from_template(source, opaque=True)
    if source.time_base:
        stream.time_base = source.time_base
    if source.type == "video" and source.codec_context is not None:
        context, origin = stream.codec_context, source.codec_context
        if source.sample_aspect_ratio:
            context.sample_aspect_ratio = source.sample_aspect_ratio
        if source.average_rate:
            context.framerate = source.average_rate
        # Apple's players take HEVC under this name alone; the others take both.
        if container.boxes and kept.codec == "hevc" and origin.codec_tag not in ("hev1", "dvhe"):
            context.codec_tag = "hvc1"
        elif container.boxes and kept.codec in ("prores", "dnxhd") and origin.codec_tag.isalnum():
            context.codec_tag = origin.codec_tag
    flags = Disposition(source.disposition)
    if default is not None:
        flags = flags | Disposition.default if default else flags & ~Disposition.default
    stream.disposition = flags
    stream.metadata.update(track_tags(source, container))
    if container.muxer == "mpegts" and source.container.format.name == "mpegts":
        stream.id = source.id
    return stream


MADE_HERE = "Audio description made with shotad."
"""The remark on each track of AD that is made here. By it a later run knows its own (`existing`)."""

_GENERIC = ("handler_name", "vendor_id")
"""What MP4 and MOV say of each track, and what means nothing elsewhere."""

_TECHNICAL = frozenset({"major_brand", "minor_version", "compatible_brands", "encoder", "duration"})
"""Metadata that describes the file it stands in, not the film."""

_SAID = frozenset({"comment", "title", "language"})


def track_tags(source: Any, container: Container) -> dict[str, str]:
    tags = {key: value for key, value in legible(source.metadata).items() if key.lower() not in _TECHNICAL}
    if tags.get("language"):
        tags["language"] = track_language(tags["language"], container)
    if tags.get("name") and "mov" in source.container.format.name:
        tags.setdefault("title", tags.pop("name"))
    if container.boxes:
        # Many players show this name in place of the title.
        if tags.get("title") and not tags.get("handler_name"):
            tags["handler_name"] = tags["title"]
        return tags
    return {key: value for key, value in tags.items() if key.lower() not in _GENERIC}


def film_tags(
    source: Mapping[str, str], given: Mapping[str, str], container: Container, name: str
) -> dict[str, str]:
    """The file's metadata: the film's own and over it ``given``, by the keys that the container keeps.

    What is given under other keys goes into the comment as ``key: value``, so that it is not lost. ``name``
    is that of the film's file.
    """
    tags = {key: value for key, value in legible(source).items() if key.lower() not in _TECHNICAL}
    by_lower = {key.lower(): key for key in tags}
    for key, value in given.items():
        tags.pop(by_lower.get(key.lower(), ""), None)
        tags[key] = value
    if container.tags is None:
        return tags
    if container.muxer == "mpegts":
        # It names a service and who provides it, and keeps nothing else: the remarks go to the second. Both
        # names share a descriptor of 255 bytes (ETSI EN 300 468, service descriptor).
        more = (f"{key.replace('_', ' ')}: {value}" for key, value in tags.items() if key not in _SAID)
        remarks = "; ".join(filter(None, [tags.get("comment", ""), *more]))
        service = {"service_name": (tags.get("title") or name, 80), "service_provider": (remarks, 160)}
        return {
            key: text.encode()[:room].decode(errors="ignore") for key, (text, room) in service.items() if text
        }
    kept = {key: value for key, value in tags.items() if key.lower() in (*container.tags, "creation_time")}
    homeless = [
        f"{key.replace('_', ' ')}: {value}"
        for key, value in given.items()
        if key.lower() not in container.tags and key.lower() != "encoder"
    ]
    if "comment" in container.tags and homeless:
        # A film that was described before has the same remarks there already.
        told = [remark.partition(": ")[0] for remark in homeless]
        said = [r for r in kept.get("comment", "").split("; ") if r and r.partition(": ")[0] not in told]
        kept["comment"] = "; ".join([*said, *homeless])
    if container.boxes:
        # FFmpeg before 6 takes a track's title for that of a film that has none.
        kept.setdefault("title", name)
    return kept


def own_tags(language: str, title: str, container: Container) -> dict[str, str]:
    """Metadata of a track of AD that is made here."""
    tags = {"language": track_language(language, container), "title": title, "comment": MADE_HERE}
    return {**tags, "handler_name": title} if container.boxes else tags
