"""Writing a described film: everything of the film copied, the AD coded and woven in on the way.

Audio description that a film has already, and what becomes of it beside the new one.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shotad.core import ContainerSettings, FilmInfo, NoProgress, Progress, SoundError
from shotad.film import Film, Media, legible
from shotad.sound.mux.assembly import Assembly, Recipe
from shotad.sound.mux.containers import CONTAINERS, MKV, Container, container_for, first_endings
from shotad.sound.mux.kinds import AdSound, AdText, Written
from shotad.sound.mux.language_codes import same_language
from shotad.sound.mux.tags import MADE_HERE
from shotad.sound.mux.tracks import plan_tracks, track_name
from shotad.sound.mux.voice_track import choose_coding


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


def write_film(
    film: Film,
    target: Path,
    *,
    sound: AdSound | None,
    text: AdText | None,
    settings: ContainerSettings,
    metadata: Mapping[str, str],
    progress: Progress | None = None,
) -> Written:
    """Write ``film`` to ``target`` with the AD as a track of sound, of text, or both.

    The container is that of the target's ending. The film's tracks are copied, never coded anew; times count
    from its start, so a film whose own clock starts late starts at zero. ``metadata`` is the file's own, over
    what the film has. The target appears when it is whole; one that is there already is replaced then.

    Raises SoundError for what the container cannot hold (before anything is written), for a target that is
    the film itself or cannot be written, and for a full disk; FilmError for a film that cannot be read.
    """
    media = _media(film, target)
    source = media.open()
    try:
        recipe = _recipe(film, target, source, sound, text, settings, metadata)
        with _draft(target) as draft:
            assembly = _assemble(media, source, draft, target, recipe, progress or NoProgress())
    finally:
        source.close()
    return Written(
        target,
        recipe.container.name,
        (*recipe.plan.warnings, *assembly.warnings),
        assembly.copied(),
        recipe.coding.codec if recipe.coding is not None else "",
        assembly.has_text,
        recipe.replaced,
    )


def check_container(
    film: Film, target: Path, *, sound: AdSound | None, text: AdText | None, settings: ContainerSettings
) -> tuple[str, ...]:
    """Raise what `write_film` would raise before it writes, without reading any of the film's packets.

    Costs a moment, so that nobody waits for voice and mix to be told that the film cannot be put into
    ``target``. Blocks of ``sound`` and cues of ``text`` are not looked at: empty ones serve, with the layout
    and the rate that the mix will have. A film that is to be described with pauses is another one in the end
    (its copy), so there is nothing to be checked here. Gives back the sentences for the user on what of the
    film is left out.
    """
    source = _media(film, target).open()
    try:
        return _recipe(film, target, source, sound, text, settings, {}).plan.warnings
    finally:
        source.close()


def _recipe(
    film: Film,
    target: Path,
    source: Any,
    sound: AdSound | None,
    text: AdText | None,
    settings: ContainerSettings,
    metadata: Mapping[str, str],
) -> Recipe:
    """What is to be written, if it can be. ``source`` is the film, open."""
    container = container_for(target)
    there = existing_description(source, film.info, sound, text, settings)
    plan = plan_tracks(source, film.info, container, there.replaced)
    plan = replace(plan, warnings=(*there.warnings, *plan.warnings))
    coding = None
    if sound is not None:
        coding = choose_coding(sound, container, film.info, settings.codec, settings.bit_rate)
    if sound is None and text is not None and container.text is None:
        raise SoundError(
            f"{container.name} holds no text track of descriptions.",
            f"Write {first_endings(other for other in CONTAINERS if other.text)} instead.",
        )
    recipe = Recipe(film.info, container, plan, sound, coding, text, settings, metadata, there.replaced)
    assert film.media is not None
    _check_room(target, film.media, recipe)
    return recipe


def _assemble(
    media: Media, source: Any, draft: Path, target: Path, recipe: Recipe, progress: Progress
) -> Assembly:
    """Write everything to ``draft`` and put it in the place of ``target``."""
    import av

    container = recipe.container
    options = {**dict(container.options), "fflags": "+bitexact"}
    try:
        output = av.open(f"file:{draft.absolute()}", "w", format=container.muxer, container_options=options)
        assembly = Assembly(media, source, output, recipe)
        try:
            assembly.add_tracks()
            assembly.run(progress)
        except BaseException:
            # What is written so far is thrown away; that its end cannot be written either is no news.
            with suppress(av.error.FFmpegError, OSError):
                output.close()
            raise
        output.close()
        assembly.finish(draft)
        os.replace(draft, target)
    except (av.error.FFmpegError, OSError) as error:
        raise _failure(target, container, error) from error
    return assembly


def _media(film: Film, target: Path) -> Media:
    """The film's file, which must not be the target."""
    if film.media is None:
        raise SoundError(
            f"{film.info.name} is a series of pictures, not a file with tracks that can be copied.",
            "Write the described sound alone, or make a film of the pictures first.",
        )
    path = film.media.path
    if path is not None and target.exists() and os.path.samefile(path, target):
        raise SoundError(f"{target} is the film itself.", "Give the described film another name.")
    if not target.absolute().parent.is_dir():
        raise SoundError(f"There is no folder {target.absolute().parent}.", "Make it first.")
    if target.is_dir():
        raise SoundError(f"{target} is a folder.", "Give the name of a file.")
    return film.media


def _check_room(target: Path, media: Media, recipe: Recipe) -> None:
    """Raise SoundError where the disk has surely not enough room."""
    coding, sound = recipe.coding, recipe.sound
    bits = 0.0
    if coding is not None and sound is not None:
        # Coders without a bit rate are lossless: about half of 16 bit samples.
        bits = coding.bit_rate or sound.rate * 16
    needed = media.size + round(bits / 8 * recipe.info.duration)
    free = shutil.disk_usage(target.absolute().parent).free
    if free < needed:
        raise SoundError(
            f"{target} needs about {needed >> 20} MiB, and the disk has {free >> 20} MiB free.",
            "Make room, or write it elsewhere.",
        )


@contextmanager
def _draft(target: Path) -> Iterator[Path]:
    """A name beside the target for the time of writing; nothing is left under it."""
    draft = target.with_name(f".{target.stem}.{os.getpid()}.part{target.suffix}")
    try:
        yield draft
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _failure(target: Path, container: Container, error: Exception) -> SoundError:
    number = getattr(error, "errno", None)
    if number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return SoundError(f"{target} could not be written: the disk is full.", "Make room, and try again.")
    if number in (errno.EACCES, errno.EPERM, errno.EROFS):
        return SoundError(f"{target} may not be written: no permission.", "Write it elsewhere.")
    reason = getattr(error, "strerror", None) or error
    hint = "Convert the film to a usual codec first." if container is MKV else "Try .mkv instead."
    return SoundError(f"{target} could not be written as {container.name}: {reason}.", hint)
