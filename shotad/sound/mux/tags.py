"""Metadata of tracks and files, by the keys that each container keeps, and chapters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from shotad.film import legible
from shotad.sound.mux.containers import Container
from shotad.sound.mux.language_codes import track_language

MADE_HERE = "Audio description made with shotad."
"""The remark on each track of AD that is made here. By it a later run knows its own (`existing`)."""

_GENERIC = ("handler_name", "vendor_id")
"""What MP4 and MOV say of each track, and what means nothing elsewhere."""

_TECHNICAL = frozenset({"major_brand", "minor_version", "compatible_brands", "encoder", "duration"})
"""Metadata that describes the file it stands in, not the film."""

_SAID = frozenset({"comment", "title", "language"})


def track_tags(source: Any, container: Container) -> dict[str, str]:
    """A track's metadata, less what belongs to the file it was in."""
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
        return _service(tags, name)
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


def _service(tags: Mapping[str, str], name: str) -> dict[str, str]:
    """MPEG-TS names a service and who provides it, and keeps nothing else: the remarks go to the second.

    Both names share a descriptor of 255 bytes (ETSI EN 300 468, service descriptor).
    """
    remarks = [
        tags.get("comment", ""),
        *(f"{k.replace('_', ' ')}: {v}" for k, v in tags.items() if k not in _SAID),
    ]
    told = {"service_name": tags.get("title") or name, "service_provider": "; ".join(r for r in remarks if r)}
    room = {"service_name": 80, "service_provider": 160}
    return {key: text.encode()[: room[key]].decode(errors="ignore") for key, text in told.items() if text}


def own_tags(language: str, title: str, container: Container) -> dict[str, str]:
    """Metadata of a track of AD that is made here."""
    tags = {"language": track_language(language, container), "title": title, "comment": MADE_HERE}
    return {**tags, "handler_name": title} if container.boxes else tags


def shifted_chapters(chapters: Iterable[Any], start: Fraction) -> list[Any]:
    """Chapters on film time; what lies before the film's start is left out or begins with it."""
    moved = []
    for chapter in chapters:
        shift = round(start / chapter["time_base"])
        begin, end = max(0, chapter["start"] - shift), chapter["end"] - shift
        if end > begin:
            moved.append({**chapter, "start": begin, "end": end})
    return moved
