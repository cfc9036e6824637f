"""Single slots described anew: asked again under the settings of their run, with a seed of their own.

The new line is a person's choice (`shotad.script.edits`), so every later run keeps it. All that was asked
and answered is added to ``redo.jsonl``; the records of the run itself stay as they are.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from shotad.core import (
    Config,
    EditConflict,
    NoProgress,
    Progress,
    RunSettings,
    UsageError,
    WorkFolder,
    WorkFolderError,
)
from shotad.description.ask import slot_seed
from shotad.description.choice import CHOICE_TEMPLATES
from shotad.description.clip_builder import get_ready, understand
from shotad.description.preparing import Bench
from shotad.description.prompts import check_prompts
from shotad.description.redoing.rewriter import LOG, Ask, Result, SlotRewriter, rows_of
from shotad.description.repair import REPAIR_TEMPLATES
from shotad.description.sheet.writing import write_sheet
from shotad.description.story import STORY_TEMPLATES
from shotad.description.usage import Used, used
from shotad.description.verify import VERIFY_TEMPLATES
from shotad.description.writing import Engines
from shotad.description.writing.track import empty_line
from shotad.film import Film, Prepared, recorded
from shotad.script import (
    TRACK,
    Cue,
    FilmId,
    Track,
    find_lines,
    is_by_hand,
    load_track,
    present_track,
    redone,
    review_stamp,
    save_track,
    track_lock,
)

__all__ = ["Redone", "Result", "redo"]


@dataclass(frozen=True, slots=True)
class Redone:
    """What a redo came to: a result for each slot, the files written, and what the user should know."""

    results: tuple[Result, ...]
    files: tuple[Path, ...] = ()
    sheet: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = ()
    used: Used | None = None


def redo(
    film: Film,
    folder: WorkFolder,
    run: RunSettings,
    names: Sequence[str],
    *,
    config: Config | None = None,
    note: str = "",
    over_edits: bool = False,
    engines: Engines | None = None,
    progress: Progress | None = None,
    sheet: bool = True,
) -> Redone:
    """Describe the slots called ``names`` (see `find_lines`) anew; all else stays.

    ``config`` are the settings, where they are not those of the run; ``note`` is a hint for these slots.
    A slot whose new answer is silent, dropped or failed keeps its line. Raises UsageError for a line that is
    not there or has no slot, EditConflict for one that a person changed by hand, unless ``over_edits``.
    """
    config = noted(config or run.config, note)
    engines = engines or Engines.of(config)
    bench = Bench.of(film, folder, config, replace(run.given, start=0.0, end=None), progress or NoProgress())
    prepared = recorded(folder, film.info, config)
    own = FilmId(film.info.name, film.info.fingerprint, prepared.end)
    with track_lock(folder.path):
        track = _with_lines_of(names, _present(folder, own), prepared)
        if track != load_track(folder.path / TRACK):
            # Somebody changed a script beside it, which is written anew with the first result.
            save_track(track, folder.path, film.info.name)
    chosen = _allowed(track, find_lines(track, names), prepared, over_edits=over_edits)
    check_prompts(REPAIR_TEMPLATES, STORY_TEMPLATES, VERIFY_TEMPLATES, CHOICE_TEMPLATES)
    engines.get_ready(config, bench.progress)
    get_ready(bench)
    asks, warnings = _asks(chosen, prepared, bench, engines)
    desk = SlotRewriter(track, prepared, bench, engines)
    done = Redone((), warnings=warnings)
    for result in desk.work(asks):
        done = _with(done, result, folder, own)
    drawn: tuple[Path, ...] = ()
    if sheet and done.files:
        drawn = write_sheet(folder.path, bench.frames.pictures, config, bench.progress)
    spent = used(desk.seen, desk.lines, engines.terms(config), desk.other)
    return replace(done, sheet=drawn, used=spent)


def _present(folder: WorkFolder, film: FilmId) -> Track:
    """The track with all that people changed in it and in the scripts beside it."""
    track = present_track(folder, film)
    if track is None:
        raise WorkFolderError(f"{folder.path} has no track.", "Run shotad describe first.")
    return track


def _with_lines_of(names: Sequence[str], track: Track, prepared: Prepared) -> Track:
    """The track with an empty line for each slot among ``names`` that a person added and that has none: a
    run that was under way when they added it knows nothing of it."""
    known = {cue.id for cue in track.cues}
    bare = [slot for slot in prepared.added if slot.id in names and slot.id not in known]
    return track.with_cues((*track.cues, *(empty_line(slot, track.language) for slot in bare)))


def _with(done: Redone, result: Result, folder: WorkFolder, film: FilmId) -> Redone:
    """``done`` and one more result. A new line is in the track and its scripts before the next is asked."""
    if result.after is None:
        return replace(done, results=(*done.results, result))
    with track_lock(folder.path):
        track = _present(folder, film)
        now = next((cue for cue in track.cues if cue.id == result.after.id), None)
        if now is None or not _is_as_asked(now, result.before):
            return _left(done, result, track, now, folder, film)
        merged = redone(track, [result.after])
        files = save_track(merged.track, folder.path, film.name)
    lines = {cue.id: cue for cue in merged.track.cues}
    kept = replace(result, after=lines[result.after.id])
    news: tuple[str, ...] = ()
    if merged.lapsed:
        news = (f"Lines changed since the review by {', '.join(merged.lapsed)}: review again.",)
    return replace(done, results=(*done.results, kept), files=files, warnings=(*done.warnings, *news))


def _is_as_asked(now: Cue, before: Cue) -> bool:
    """Whether a line is still what was to be described anew: nobody wrote, moved or accepted it since."""
    return review_stamp(now) == review_stamp(before) and (now.review is None) == (before.review is None)


def _left(
    done: Redone, result: Result, track: Track, now: Cue | None, folder: WorkFolder, film: FilmId
) -> Redone:
    """A person changed the line meanwhile: theirs stays, the new one is among its candidates."""
    said = result.after.text if result.after is not None else ""
    files = done.files
    if now is not None and said and said not in now.candidates:
        offered = replace(now, candidates=(*now.candidates, said))
        cues = (offered if cue.id == now.id else cue for cue in track.cues)
        files = save_track(track.with_cues(cues), folder.path, film.name)
    reason = f"a person changed the line meanwhile; the new one is among its candidates: {said!r}"
    if now is None:
        reason = f"the line was removed meanwhile; the new one was {said!r}"
    return replace(done, results=(*done.results, Result(result.before, None, reason)), files=files)


def noted(config: Config, note: str) -> Config:
    """The settings with a hint put before the note on the film, of which no word is cut for it."""
    hint = " ".join(note.split())
    if not hint:
        return config
    prompt = config.prompt
    together = f"{hint}\n{prompt.note}".strip()
    words = prompt.note_words + len(hint.split())
    return config.model_copy(
        update={"prompt": prompt.model_copy(update={"note": together, "note_words": words})}
    )


def _allowed(track: Track, cues: Sequence[Cue], prepared: Prepared, *, over_edits: bool) -> tuple[Cue, ...]:
    """``cues``, if all of them may be described anew."""
    known = {slot.id for slot in prepared.slots}
    for cue in cues:
        if cue.slot_id not in known or cue.machine is None:
            raise UsageError(
                f"The line {cue.id} has no slot of its own: a person added it, or the slots changed since.",
                "Only lines of slots can be described anew.",
            )
        if is_by_hand(cue) and not over_edits:
            raise EditConflict(
                f"The line {cue.id} was changed by a person: {cue.text or cue.reason!r}.",
                "Give it up with --over-edits, or leave it out.",
            )
        half = next((o for o in track.heard if o.slot_id == cue.slot_id and o.id != cue.id), None)
        if half is not None:
            raise EditConflict(
                f"The line {cue.id} was split: {half.id} belongs to the same slot.",
                "Join the two first: a slot is described anew as a whole.",
            )
        owner = _owner(cue, track)
        if owner is not None:
            raise EditConflict(
                f"The time of {cue.id} belongs to {owner.id}, which a person edited: {owner.text!r}.",
                "Move or remove that line first.",
            )
    return tuple(cues)


def _owner(cue: Cue, track: Track) -> Cue | None:
    """A person's line that is heard in the time of another."""
    others = (other for other in track.heard if other.id != cue.id and is_by_hand(other))
    return next((other for other in others if cue.interval.clip(other.interval)), None)


def _asks(
    cues: Sequence[Cue], prepared: Prepared, bench: Bench, engines: Engines
) -> tuple[tuple[Ask, ...], tuple[str, ...]]:
    """The plans of the lines' slots, each with the settings of its next try; and what could not be done."""
    wanted = {cue.slot_id: cue for cue in cues}
    some = replace(prepared, slots=tuple(slot for slot in prepared.slots if slot.id in wanted))
    with _aside(bench.folder) as aside:
        density = engines.looks.abilities.frames_per_second
        understood = understand(some, replace(bench, folder=aside), density, run=bench.folder)
    tries = [row.get("slot") for row in rows_of(bench.folder, LOG)]
    asks = []
    for plan in understood.plans:
        number = tries.count(plan.slot.id) + 1
        seed = slot_seed(bench.config.seed, f"{plan.slot.id}/redo/{number}")
        own = bench.config.model_copy(update={"seed": seed})
        asks.append(Ask(wanted[plan.slot.id], plan, number, own))
    return tuple(asks), understood.warnings


@contextmanager
def _aside(folder: WorkFolder) -> Iterator[WorkFolder]:
    """A folder for a while in which film grammar is at hand and may be written without loss to the run's.

    It lies where the system keeps such things: what a killed redo leaves is no matter for the work folder.
    """
    with tempfile.TemporaryDirectory(prefix="shotad-") as place:
        if (folder.path / "grammar.json").is_file():
            shutil.copy(folder.path / "grammar.json", place)
        yield WorkFolder(Path(place))
