"""Audio description that a film has already, and what becomes of it beside the new one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from shotad.core.config.sound import ContainerSettings
from shotad.core.info import FilmInfo
from shotad.film.container import legible
from shotad.sound.mux.kinds import AdSound, AdText
from shotad.sound.mux.language_codes import same_language
from shotad.sound.mux.tags import MADE_HERE
from shotad.sound.mux.tracks import track_name


@dataclass(frozen=True, slots=True)
class Existing:
    """``replaced`` are the numbers of the tracks that the new AD takes the place of."""

    replaced: tuple[int, ...] = ()
    warnings: tuple[str, ...] = ()


def existing_description(
    source: Any, info: FilmInfo, sound: AdSound | None, text: AdText | None, settings: ContainerSettings
) -> Existing:
    """What becomes of the AD in an open film, by `ContainerSettings.existing`.

    Sound is replaced by sound and text by text, in the same language only; never the one sound that the film
    itself is listened to by. ``auto`` replaces what was made here, which is known by its remark
    (`MADE_HERE`), so that a described film which is rendered again has one AD and not two; a broadcaster's
    own stays, for people spoke it.
    """
    replaced, warnings = [], []
    for stream, language in _candidates(source, info, sound, text):
        own = _made_here(stream)
        name = f"{track_name(stream)} of the film is audio description already"
        where = " (made with shotad)" if own else ""
        matches = not _language(stream) or same_language(_language(stream), language)
        if matches and (settings.existing == "replace" or (settings.existing == "auto" and own)):
            replaced.append(stream.index)
            warnings.append(f"{name}{where}: the new one takes its place.")
        else:
            hint = " (container.existing: replace leaves it out)" if matches else ""
            warnings.append(f"{name}{where}: it stays beside the new one{hint}.")
    return Existing(tuple(replaced), tuple(warnings))


def _candidates(
    source: Any, info: FilmInfo, sound: AdSound | None, text: AdText | None
) -> Iterator[tuple[Any, str]]:
    """The film's tracks of AD of the kinds that are made anew, each with the new one's language."""
    from av.stream import Disposition

    if sound is not None:
        for track in info.audio:
            stream = source.streams.audio[track.number]
            if (track.descriptive or _made_here(stream)) and track != info.default_audio:
                yield stream, sound.language
    if text is not None:
        for stream in source.streams.subtitles:
            if stream.disposition & Disposition.descriptions or _made_here(stream):
                yield stream, text.language


def _language(stream: Any) -> str:
    language = legible(stream.metadata).get("language", "")
    return "" if language == "und" else language


def _made_here(stream: Any) -> bool:
    tags = {key.lower(): value for key, value in stream.metadata.items()}
    return bool(tags.get("comment") == MADE_HERE)
