"""What a run has left in its work folder: where its film is, and what its first act found."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shotad.core import (
    Config,
    FilmError,
    FilmInfo,
    Interval,
    RunSettings,
    Shot,
    Slot,
    Utterance,
    WorkFolder,
    WorkFolderError,
    shots_of,
    slots_of,
    utterances_of,
)
from shotad.film.gaps import free_time
from shotad.film.handslots import HandSlots, read_hand_slots

_AGAIN = "Run shotad describe on the film again; what is done is not asked for twice."


@dataclass(frozen=True, slots=True)
class Prepared:
    """What the first act found. ``slots`` are those of the whole film, which ends at second ``end``."""

    info: FilmInfo
    end: float
    shots: tuple[Shot, ...]
    speech: tuple[Utterance, ...]
    gaps: tuple[Interval, ...]
    slots: tuple[Slot, ...]
    failed: tuple[tuple[str, str], ...] = ()
    """Slots asked for that cannot be: id and reason."""
    warnings: tuple[str, ...] = field(default=())
    hand: HandSlots = field(default_factory=HandSlots)
    """What a person did to the slots."""

    @property
    def added(self) -> tuple[Slot, ...]:
        """The slots that a person added."""
        return tuple(slot for slot in self.slots if slot.id in self.hand.ids)


def film_of(folder: Path, run: RunSettings, name: str) -> Path:
    """The film of a work folder: where the run had it, else one called ``name`` beside the folder."""
    beside = folder.absolute().parent / name
    for path in (run.film, beside):
        if path is not None and path.exists():
            return path
    raise FilmError(
        f"The film of {folder} is neither at {run.film} nor at {beside}.", "Say where it is: --film FILM."
    )


def recorded(folder: WorkFolder, info: FilmInfo, config: Config, *, described: bool = True) -> Prepared:
    """What the run's first act found, as its records have it; nothing is looked for anew.

    A film that was not ``described`` needs no shots and no slots. Raises WorkFolderError where a record is
    missing or damaged.
    """
    spoken = _record(folder, "speech")
    bare = {} if described else {"end": info.duration, "shots": (), "slots": ()}
    found, planned = ({**bare, **_record(folder, name, described)} for name in ("shots", "slots"))
    speech, end = utterances_of(spoken["speech"]), float(found["end"])
    shots, slots = shots_of(found["shots"]), slots_of(planned["slots"])
    gaps = free_time(speech, end, config.speech)
    return Prepared(info, end, shots, speech, tuple(gaps), slots, hand=read_hand_slots(folder.path))


def _record(folder: WorkFolder, name: str, needed: bool = True) -> dict[str, Any]:
    found = folder.read_json(f"{name}.json")
    if found is None and not needed:
        return {}
    if found is None:
        raise WorkFolderError(f"{folder.path / name}.json is missing.", _AGAIN)
    return found
