"""Lines to the track: merged with what people edited, and written with its scripts."""

from __future__ import annotations

from collections.abc import Sequence

from shotad import __version__
from shotad.core import Interval, Slot, in_room
from shotad.description.preparing import Bench
from shotad.description.result import Outcome, long_silences
from shotad.film import Prepared, SlotChange, changes_since, why_few
from shotad.script import (
    Cue,
    CueStatus,
    Derivation,
    FilmId,
    Maker,
    Track,
    derive,
    present_track,
    respeak,
    save_track,
    track_lock,
)


@in_room("track")
def write_track(
    cues: Sequence[Cue],
    prepared: Prepared,
    bench: Bench,
    makers: tuple[Maker, ...],
    *,
    discard_edits: bool,
) -> Outcome:
    """Write ``track.json`` and the scripts; lines that a person edited stay as they are.

    A part of the film that this run did not describe keeps the lines it has. Slots that a person added or
    removed while it ran are so in the track too.
    """
    folder, given = bench.folder, bench.given
    film = FilmId(prepared.info.name, prepared.info.fingerprint, prepared.end)
    fresh = Track(film, bench.config.language, makers, __version__, ()).with_cues(cues)
    described = Interval(given.start, min(prepared.end, given.end or prepared.end))
    slots = {slot.id: slot.interval for slot in prepared.slots}
    with track_lock(folder.path):
        previous = present_track(folder, film, with_scripts=not discard_edits)
        merged = derive(previous, fresh, covered=described, discard_edits=discard_edits)
        late = changes_since(folder.path, prepared.hand, bench.config.slots)
        track = respeak(with_slots(merged.track, late), slots, bench.config.slots.seconds_per_word)
        files = save_track(track, folder.path, prepared.info.name)
    speech = [utterance.interval for utterance in prepared.speech]
    silences = long_silences(track, speech, described)
    few = (
        why_few(prepared.slots, prepared.gaps, described, bench.config.slots) if given.slots is None else None
    )
    warnings = (*prepared.warnings, *([few] if few else []), *_news(merged))
    return Outcome(track, files, described, silences, prepared.failed, warnings)


def _news(merged: Derivation) -> list[str]:
    """What the user should know of edits that met new lines."""
    news = []
    if merged.yielded:
        news.append(f"{len(merged.yielded)} new lines left out, for a person's line has their time.")
    if merged.lapsed:
        news.append(f"Lines changed since the review by {', '.join(merged.lapsed)}: review again.")
    return news


ADDED = "added by a person"
"""The reason of a line that nobody has written yet, in a slot that a person added."""


def empty_line(slot: Slot, language: str) -> Cue:
    """The line of a slot that a person added and that nobody has described yet."""
    return Cue(slot.id, slot.id, slot.interval, "", language=language, status=CueStatus.SILENT, reason=ADDED)


def with_slots(track: Track, change: SlotChange) -> Track:
    """The track with an empty line for each slot that came and has none, and without those of slots that
    went."""
    gone, known = {slot.id for slot in change.removed}, {cue.id for cue in track.cues}
    new = [empty_line(slot, track.language) for slot in change.added if slot.id not in known]
    return track.with_cues([*(cue for cue in track.cues if cue.slot_id not in gone), *new])
