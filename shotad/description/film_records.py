"""The records in the work folder of what is found in a film: speech, shots, end credits, slots.

Each value has a function that gives the content of its record, and one that reads it back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shotad.core import (
    FilmInfo,
    Interval,
    Shot,
    Slot,
    WorkFolder,
)
from shotad.core.records import (
    interval_rows,
    shot_rows,
    shots_of,
    slot_rows,
    slots_of,
    utterance_rows,
    utterances_of,
)
from shotad.film import (
    FilmSpeech,
    HandSlots,
    SoundSpeech,
    VoiceTimes,
)
from shotad.film.slot_records import (
    hand_in_both,
    hand_row,
    read_hand_slots,
)
from shotad.film.slots import FailedSlot
from shotad.film.transcript import Word, with_words

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FilmShots:
    """The shots of a film, in order, and what else the pass over its picture showed."""

    shots: tuple[Shot, ...]
    end: float
    """The second at which the picture ends."""
    damage: str | None = None
    """What of the film cannot be decoded, in a sentence."""
    holes: tuple[Interval, ...] = ()
    """Where the film has no picture."""
    cuts: tuple[int, ...] = ()
    """The numbers of the frames that begin a shot, but for the first; none of given shots."""
    frame_count: int | None = None
    """None where the shots were given, and no pass was made."""


@dataclass(frozen=True, slots=True)
class FilmSlots:
    """The slots of a film, given or planned, as a person has changed them."""

    slots: tuple[Slot, ...]
    failed: tuple[FailedSlot, ...] = ()
    """Given slots that cannot be described."""
    warnings: tuple[str, ...] = ()
    gaps: tuple[Interval, ...] | None = None
    """The times without speech in which they were planned; None where they were given."""


def speech_record(speech: FilmSpeech) -> dict[str, Any]:
    """The content of ``speech.json``."""
    return {
        "source": speech.source,
        "detail": speech.detail,
        "warnings": list(speech.notes),
        "misfit": speech.misfit,
        "speech": utterance_rows(speech.utterances),
        **_voice_rows(speech.voices),
    }


def speech_of(record: Json) -> FilmSpeech:
    """The speech that `speech_record` wrote."""
    return FilmSpeech(
        utterances=utterances_of(record["speech"]),
        source=record["source"],
        detail=record["detail"],
        notes=tuple(record["warnings"]),
        voices=_voices_of(record),
        misfit=record.get("misfit", ""),
    )


TRANSCRIPT = "transcript.json"
"""The words of a transcript, and what was listened to."""


def kept_words(folder: WorkFolder, fingerprint: str) -> list[Word] | None:
    """The words of an earlier transcript of this film; None where there is none. Raises WorkFolderError."""
    record = folder.read_json(TRANSCRIPT)
    if record is None or record["film"] != fingerprint:
        return None
    return [Word(row["text"], row["start"], row["end"]) for row in record["words"]]


def with_kept_words(speech: FilmSpeech, folder: WorkFolder, fingerprint: str) -> FilmSpeech:
    """The speech of a run, with the words of an earlier transcript where it has none of its own."""
    words = kept_words(folder, fingerprint)
    return speech if words is None else replace(speech, utterances=with_words(speech.utterances, words))


def sound_speech_record(speech: SoundSpeech | None) -> dict[str, Any]:
    """The content of ``heard.json``; ``speech`` is None where the film has no sound."""
    if speech is None:
        return {"heard": None, "notes": [], **_voice_rows(VoiceTimes())}
    return {
        "heard": interval_rows(speech.intervals),
        "notes": list(speech.notes),
        **_voice_rows(speech.voices),
    }


def sound_speech_of(record: Json) -> SoundSpeech | None:
    """What `sound_speech_record` wrote."""
    if record["heard"] is None:
        return None
    return SoundSpeech(_intervals_of(record["heard"]), tuple(record["notes"]), _voices_of(record))


def shots_record(film_shots: FilmShots, film: FilmInfo) -> dict[str, Any]:
    """The content of ``shots.json``."""
    record: dict[str, Any] = {"film": film.name}
    if film_shots.frame_count is None:
        # To the last digit: it decides whether a given slot overlaps a given shot or touches it.
        rows = [
            {"index": shot.index, "start": shot.interval.start, "end": shot.interval.end, "frame": None}
            for shot in film_shots.shots
        ]
    else:
        record |= {"frames": film_shots.frame_count, "source_start": str(film.start)}
        rows = shot_rows(film_shots.shots, film_shots.cuts)
    holes = interval_rows(film_shots.holes)
    return record | {"end": film_shots.end, "damage": film_shots.damage, "holes": holes, "shots": rows}


def film_shots_of(record: Json) -> FilmShots:
    """The shots that `shots_record` wrote."""
    frame_count = record.get("frames")
    return FilmShots(
        shots=shots_of(record["shots"]),
        end=float(record["end"]),
        damage=record["damage"],
        holes=_intervals_of(record["holes"]),
        cuts=() if frame_count is None else tuple(row["frame"] for row in record["shots"][1:]),
        frame_count=frame_count,
    )


def credits_record(roll: Interval | None) -> dict[str, Any]:
    """The content of ``credits.json``; ``roll`` is where the end credits roll, None where none do."""
    return {"credits": None if roll is None else interval_rows([roll])[0]}


def credits_of(record: Json) -> Interval | None:
    """The roll that `credits_record` wrote."""
    return Interval(*record["credits"]) if record["credits"] else None


def slots_record(film_slots: FilmSlots, hand: HandSlots, folder: Path) -> dict[str, Any]:
    """The content of ``slots.json``; ``hand`` is what a person had done to the slots before."""
    record: dict[str, Any] = {
        "failed": [{"id": slot.id, "reason": slot.reason} for slot in film_slots.failed],
        "warnings": list(film_slots.warnings),
    }
    if film_slots.gaps is not None:
        record["gaps"] = interval_rows(film_slots.gaps)
    # Of what a person does meanwhile, the review page notes here what it adds and takes out.
    lasting_changes = hand_in_both(hand, read_hand_slots(folder))
    if lasting_changes:
        record["hand"] = hand_row(lasting_changes)
    return record | {"slots": slot_rows(film_slots.slots)}


def film_slots_of(record: Json) -> FilmSlots:
    """The slots that `slots_record` wrote."""
    return FilmSlots(
        slots=slots_of(record["slots"]),
        failed=tuple(FailedSlot(row["id"], row["reason"]) for row in record["failed"]),
        warnings=tuple(record["warnings"]),
        gaps=_intervals_of(record["gaps"]) if "gaps" in record else None,
    )


def _intervals_of(rows: list[list[float]]) -> tuple[Interval, ...]:
    return tuple(Interval(*row) for row in rows)


def _voice_rows(voices: VoiceTimes) -> dict[str, Any]:
    return {"singing": interval_rows(voices.singing), "shouts": interval_rows(voices.shouts)}


def _voices_of(record: Json) -> VoiceTimes:
    return VoiceTimes(_intervals_of(record["singing"]), _intervals_of(record["shouts"]))
