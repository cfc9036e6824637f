"""A translation into a work folder: its source, its engine, its answers, and what people made of it.

What a person changed in the translation or its scripts stays through every later one, as it does in a track
that was described.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from shotad.core import (
    Config,
    Engine,
    Foreseeable,
    GivenCast,
    Interval,
    NoProgress,
    Preparing,
    Progress,
    Slot,
    WorkFolder,
    language_of,
    slots_of,
    weights_file,
)
from shotad.description.translating.translate import Translated, translate_track
from shotad.script import (
    TRACK,
    Derivation,
    Track,
    derive,
    is_translation,
    load_track,
    log_name,
    respeak,
    save_translation,
    times_of,
    track_lock,
    track_name,
    with_edited_scripts,
    with_translation_scripts,
)
from shotad.sight import load_cast


@dataclass(frozen=True, slots=True)
class Source:
    """What is translated: the track as people left it, its film's slots, the names of its people."""

    track: Track
    slots: tuple[Slot, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TranslationOutcome:
    """What a translation came to. ``kept`` are ids of lines that a person edited in it."""

    translated: Translated
    track: Track
    files: tuple[Path, ...]
    kept: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def read_source(path: Path, cast: GivenCast | None = None) -> Source:
    """The track in ``path``, with what stands beside it: slots, and edits in its scripts.

    Raises ScriptError for a track that cannot be read, CastError for a cast, EditConflict.
    """
    track, folder = load_track(path), WorkFolder(path.parent)
    slots = tuple(slots_of((folder.read_json("slots.json") or {}).get("slots", ())))
    if path.name == TRACK:
        track = with_edited_scripts(track, folder).track
    elif is_translation(path, track):
        track = with_translation_scripts(track, folder, *times_of(folder)).track
    return Source(track, slots, names_of(cast))


def names_of(cast: GivenCast | None) -> tuple[str, ...]:
    """The names that AD says of a cast; those without one are told by looks, which are translated."""
    if cast is None:
        return ()
    members = load_cast(cast.path, key=cast.key, photos=cast.photos)
    return tuple(dict.fromkeys(member.says for member in members if member.says))


def make_ready(engine: Engine, progress: Progress) -> None:
    """Refuse what cannot work and fetch what is wanted; the engine's identity is final afterwards."""
    if isinstance(engine, Preparing):
        engine.get_ready(progress)
    for name in engine.abilities.weights:
        weights_file(name, progress)


def ready_if_here(engine: Engine) -> None:
    """The same for an estimate, where nothing has to be fetched for it."""
    if isinstance(engine, Foreseeable):
        engine.ready_if_here()


def translate_into(
    folder: WorkFolder,
    source: Source,
    target: str,
    engine: Engine,
    config: Config,
    *,
    discard_edits: bool = False,
    progress: Progress | None = None,
) -> TranslationOutcome:
    """Translate a track into the language ``target``, and write the new one with its scripts into ``folder``.

    ``engine`` is ready. Raises as `translate_track`; EditConflict where the folder holds a person's edits of
    another film's track, or other words for one line in two files.
    """
    tag = language_of(target).tag
    pace = config.slots.seconds_per_word
    rooms = {slot.id: slot.interval for slot in source.slots}
    previous = _previous(folder, tag, rooms, pace, discard_edits=discard_edits)
    done = translate_track(
        source.track,
        tag,
        engine,
        config,
        folder.log_of_records(log_name(tag)),
        slots=source.slots,
        names=source.names,
        own=_own(previous),
        progress=progress or NoProgress(),
    )
    with track_lock(folder.path):
        # Whoever edited the translation while it was made keeps what they wrote.
        previous = _previous(folder, tag, rooms, pace, discard_edits=discard_edits)
        merged = derive(previous, done.track, discard_edits=discard_edits)
        track = respeak(merged.track, rooms, pace)
        files = save_translation(track, folder)
    return TranslationOutcome(done, track, files, merged.kept, tuple(_news(merged, previous, done.track)))


def _previous(
    folder: WorkFolder, tag: str, rooms: Mapping[str, Interval], pace: float, *, discard_edits: bool
) -> Track | None:
    """The translation that is there, with what people changed in its scripts; None where there is none."""
    path = folder.path / track_name(tag)
    if not path.exists():
        return None
    track = load_track(path)
    return track if discard_edits else with_translation_scripts(track, folder, rooms, pace).track


def _own(previous: Track | None) -> dict[str, str]:
    """A person's own translations, by the line's id."""
    cues = previous.cues if previous is not None else ()
    return {cue.id: " ".join(cue.text.split()) for cue in cues if cue.edited is not None and cue.heard}


def _news(merged: Derivation, previous: Track | None, fresh: Track) -> list[str]:
    """What the user should know of edits that met new translations."""
    before = {cue.id: cue for cue in (previous.cues if previous is not None else ())}
    now = {cue.id: cue.text for cue in fresh.cues}
    stale = [
        name
        for name in merged.kept
        if name in now and (old := before[name].machine) is not None and old.text != now[name]
    ]
    news = []
    if stale:
        word = "line" if len(stale) == 1 else "lines"
        news.append(
            f"{len(stale)} {word} that a person edited here now translate otherwise: {', '.join(stale)}. "
            "The edits stay; the new translations stand beside them, as machine."
        )
    if merged.yielded:
        news.append(f"{len(merged.yielded)} new lines left out, for a person's line has their time.")
    if merged.lapsed:
        news.append(f"Lines changed since the review by {', '.join(merged.lapsed)}: review again.")
    return news
