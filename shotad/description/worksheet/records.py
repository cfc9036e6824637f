"""The worksheet of a film, read from the records in its work folder (`Worksheet`).

It shows the describer what was measured: each slot with its shots, its people, the texts on its screen and
the dialogue around it. Records that are missing or broken are left out, and the worksheet says so. Of Stage
I's facts only texts and faces are read.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from shotad.core import (
    Config,
    FilmInfo,
    Interval,
    Shot,
    Utterance,
    WorkFolder,
)
from shotad.core.engine import (
    FacesFact,
    Facts,
    TextFact,
)
from shotad.core.errors import WorkFolderError
from shotad.core.files import read_file
from shotad.core.progress import printable
from shotad.core.records import (
    parse_record,
    shots_of,
    slots_of,
    utterances_of,
)
from shotad.core.types import Role
from shotad.core.workfolder import hash_key
from shotad.description.casting.discovery import MAX_PIXELS
from shotad.description.stage_answers import Stage1Answer
from shotad.description.worksheet.people import SeenFace, SeenPeople, seen_people
from shotad.script import (
    SheetEntry,
    Worksheet,
    load_track,
)
from shotad.script.pace import spoken_words
from shotad.script.track_texts import Texts, texts_in
from shotad.script.worksheet import (
    SheetDialogue,
    SheetFace,
    SheetPeople,
    SheetShot,
    SheetText,
    text_offer,
)

MATERIAL = "material.json"

_BEHIND_CUT = 0.2
"""Seconds behind a cut at which a picture is taken: at the cut itself a dissolve shows both shots."""
_SECONDS_OF_A_PICTURE, _MOST_PICTURES = 3.0, 4
"""Seconds of one shot after which it is shown again, for something may happen in it; how often at most."""
_LEAST_PART = 0.1
"""Seconds of a shot within a slot below which it has no picture of its own."""
_NEAR = 0.25
"""Seconds around a part of a shot within which a face counts as seen in it: looks are that far apart."""
_LINES_OF_DIALOGUE = 2
"""Lines of dialogue that are given before and after a slot."""

_BROKEN = (KeyError, ValueError, TypeError, AttributeError, IndexError)
"""What reading a record of the wrong form raises."""


@dataclass(frozen=True, slots=True)
class FilmRecords:
    """What the records of a work folder say of a film, as far as they are there."""

    shots: tuple[Shot, ...]
    speech: tuple[Utterance, ...] = ()
    """Dialogue with words, in order of time."""
    scales: Mapping[int, str] = field(default_factory=dict)
    """By index of the shot."""
    threads: Mapping[int, str] = field(default_factory=dict)
    """Letters of each shot's thread, for shots that are in one."""
    texts: Mapping[str, tuple[TextFact, ...]] = field(default_factory=dict)
    """By slot; ``shot`` is the index in the film here, as in ``faces``."""
    faces: Mapping[str, tuple[FacesFact, ...]] = field(default_factory=dict)
    people: SeenPeople = field(default_factory=SeenPeople)


def read_worksheet(
    folder: Path, config: Config, info: FilmInfo | None = None, *, language: str = ""
) -> Worksheet:
    """The worksheet of the film of ``folder``, without pictures. ``info`` is None where the film is gone.

    ``language`` is that of the lines into which texts are taken in, where it is not the track's.
    Raises WorkFolderError without shots, ScriptError for a track that is damaged.
    """
    # Not opened: a sheet is read also while a run has the folder.
    work = WorkFolder(folder)
    missing: list[str] = []
    shots_record = work.read_json("shots.json")
    if shots_record is None:
        hint = "Run shotad describe on the film, or name its work folder."
        raise WorkFolderError(f"{work.path / 'shots.json'} is missing.", hint)
    track = load_track(folder / "track.json") if (folder / "track.json").exists() else None
    name = track.film.name if track is not None else str(shots_record.get("film", folder.stem))
    language = language or (track.language if track is not None else config.language)
    fingerprint = ""
    if info is not None:
        fingerprint = info.fingerprint
    elif track is not None:
        fingerprint = track.film.fingerprint

    texts_of_language = texts_in(language)
    speech = _read_part(work, "speech", missing, texts_of_language)
    grammar = _read_part(work, "grammar", missing, texts_of_language)
    planned_slots = _read_part(work, "slots", missing, texts_of_language)
    last_material = None
    with suppress(WorkFolderError):
        last_material = work.read_json(MATERIAL)
    picture_height = (last_material or {}).get("picture_height")
    people = seen_people(folder, config, fingerprint, info, picture_height)
    missing += people.missing
    texts, faces, broken = _facts_by_slot(folder)
    if broken:
        missing.append(texts_of_language.count("sheet.damaged_records", broken))
    # Of a shot that has several rows, the first counts.
    grammar_rows = {row["index"]: row for row in reversed(grammar["shots"])} if grammar else {}
    utterances = utterances_of(speech["speech"]) if speech else ()
    records = FilmRecords(
        shots=shots_of(shots_record["shots"]),
        speech=tuple(utterance for utterance in utterances if utterance.text.strip()),
        scales={index: row["scale"] for index, row in grammar_rows.items() if row["scale"]},
        threads={index: row["thread"] for index, row in grammar_rows.items() if row["thread"]},
        texts=texts,
        faces=faces,
        people=people,
    )

    entries: list[SheetEntry] = []
    for slot in slots_of(planned_slots["slots"]) if planned_slots else ():
        entry = SheetEntry(
            slot.id,
            slot.interval.start,
            slot.interval.end,
            slot.max_words,
            credits=slot.credits,
            voice=slot.voice,
        )
        entries.append(_with_material(entry, records, name, language))
    # Lines outside of all slots, such as those that a person added, have an entry too.
    slot_ids = {entry.id for entry in entries}
    for cue in track.heard if track is not None else ():
        if cue.id not in slot_ids and cue.slot_id not in slot_ids:
            entry = SheetEntry(cue.id, cue.interval.start, cue.interval.end)
            entries.append(_with_material(entry, records, name, language))
    entries.sort(key=lambda entry: (entry.start, entry.id))
    return Worksheet(
        film=printable(name),
        end=float(shots_record["end"]),
        entries=tuple(entries),
        faces=_letters_of(entries, people),
        missing=tuple(missing),
    )


def keep_material(folder: WorkFolder, sheet: Worksheet, info: FilmInfo | None) -> None:
    """Write ``material.json``, where it changes. Raises WorkFolderError."""
    record = sheet.to_json()
    if info is not None:
        # Which groups faces make depends on the size in which they were seen.
        record["picture_height"] = info.size_within(max_pixels=MAX_PIXELS)[1]
    record = {"key": hash_key("material/1", record), **record}
    last_record = None
    with suppress(WorkFolderError):
        last_record = folder.read_json(MATERIAL)
    if last_record is None or last_record.get("key") != record["key"]:
        folder.write_json(MATERIAL, record)


def _read_part(work: WorkFolder, name: str, missing: list[str], texts: Texts) -> dict[str, Any] | None:
    """The content of a record; where it is missing or damaged None, and a sentence with the consequence is
    added to ``missing``."""
    consequence = texts(f"sheet.without_{name}")
    try:
        record = work.read_json(f"{name}.json")
    except WorkFolderError as error:
        trouble = error.what.removeprefix(str(work.path)).lstrip("/\\")
        missing.append(texts("sheet.damaged", trouble=trouble.rstrip("."), consequence=consequence))
        return None
    if record is None:
        missing.append(texts("sheet.missing", file=f"{name}.json", consequence=consequence))
    return record


def _facts_by_slot(
    folder: Path,
) -> tuple[dict[str, tuple[TextFact, ...]], dict[str, tuple[FacesFact, ...]], int]:
    """Texts and faces in the current shots of each slot's clip, shots by their index in the film; and how
    many records are damaged."""
    texts: dict[str, tuple[TextFact, ...]] = {}
    faces: dict[str, tuple[FacesFact, ...]] = {}
    broken = 0
    path = folder / "stage1.jsonl"
    for line in read_file(path).splitlines() if path.exists() else ():
        try:
            answer = Stage1Answer.from_json(parse_record(path.name, line) or {})
            indices = {shot.number: shot.index for shot in answer.shots if shot.role is Role.CURRENT}
            facts = answer.facts or Facts(())
            texts[answer.slot_id] = tuple(
                replace(text, shot=indices[text.shot]) for text in facts.texts if text.shot in indices
            )
            faces[answer.slot_id] = tuple(
                replace(fact, shot=indices[fact.shot]) for fact in facts.faces if fact.shot in indices
            )
        except _BROKEN:
            broken += 1
    return texts, faces, broken


def _with_material(entry: SheetEntry, records: FilmRecords, film: str, language: str) -> SheetEntry:
    """The entry of a slot with its shots, people, texts and the dialogue around it."""
    indices = [shot.index for shot in records.shots]
    shots = tuple(
        replace(
            shot,
            scale=records.scales.get(shot.shot, ""),
            same_as=same_setup(shot.shot, indices, records.threads),
            new_place=may_be_new_place(shot.shot, indices, records.threads),
        )
        for shot in shots_in(entry.interval, records.shots)
    )
    # Dialogue before and after the middle: some may lie within a slot that a person gave.
    middle = entry.interval.middle
    following = bisect_left(records.speech, middle, key=lambda line: line.interval.start)
    before = records.speech[max(0, following - _LINES_OF_DIALOGUE) : following]
    after = records.speech[following : following + _LINES_OF_DIALOGUE]
    return replace(
        entry,
        shots=shots,
        people=_people_in(entry, shots, records, film),
        texts=_texts_in(records.texts.get(entry.id, ()), language, entry.max_words),
        before=tuple(map(_dialogue, before)),
        after=tuple(map(_dialogue, after)),
    )


def _dialogue(line: Utterance) -> SheetDialogue:
    return SheetDialogue(line.interval.start, line.interval.end, line.text, line.speaker)


def shots_in(interval: Interval, shots: Sequence[Shot]) -> tuple[SheetShot, ...]:
    """The parts of shots within an interval, each with the moments of its pictures."""
    # Shots stand in order, so that of a long film only the few around the interval are looked at.
    first_shot = max(0, bisect_right(shots, interval.start, key=lambda shot: shot.interval.start) - 1)
    parts = []
    for shot in shots[first_shot:]:
        if shot.interval.start >= interval.end:
            break
        part = shot.interval.clip(interval)
        if part is not None:
            # Frames of a dissolve or a fade show two shots, or nothing yet.
            clear = None if shot.unmixed is None else shot.unmixed.clip(part)
            begins = part.start if clear is None else clear.start
            first_picture = min(begins + _BEHIND_CUT, (begins + part.end) / 2)
            count = min(_MOST_PICTURES, 1 + int(part.duration // _SECONDS_OF_A_PICTURE))
            step = (part.end - first_picture) / count
            pictures = tuple(round(first_picture + step * number, 3) for number in range(count))
            parts.append(SheetShot(shot.index, part.start, part.end, pictures))
    long_parts = [part for part in parts if part.end - part.start >= _LEAST_PART]
    return tuple(long_parts or parts)


def same_setup(shot: int, shots: Sequence[int], threads: Mapping[int, str]) -> int | None:
    """The last shot before this one that shares its camera set-up, by index; None where none is known.

    ``shots`` are the indices of the film's shots in order, ``threads`` the letters of those that share a
    set-up with another.
    """
    thread = threads.get(shot)
    if thread is None:
        return None
    earlier = [index for index in shots[: bisect_left(shots, shot)] if threads.get(index) == thread]
    return earlier[-1] if earlier else None


def may_be_new_place(shot: int, shots: Sequence[int], threads: Mapping[int, str]) -> bool:
    """Whether one exchange of set-ups ends before this shot and another begins with it, and none from before
    comes back. Then the film may be in another place, which only the describer can see."""
    place = bisect_left(shots, shot)
    if place == 0 or threads.get(shot) is None:
        return False
    ended = threads.get(shots[place - 1])
    if ended is None or ended not in {threads.get(index) for index in shots[: place - 1]}:
        return False
    before = {threads.get(index) for index in shots[:place]} - {None}
    return before.isdisjoint({threads.get(index) for index in shots[place:]})


def _people_in(
    entry: SheetEntry, shots: Sequence[SheetShot], records: FilmRecords, film: str
) -> tuple[SheetPeople, ...]:
    """The people in each shot of a slot; shots without a face are left out."""
    people = []
    for shot in shots:
        first, last = shot.start - _NEAR, shot.end + _NEAR
        faces_of_shot = records.people.faces.get(shot.shot, ())
        faces = [face for face in faces_of_shot if face.first < last and face.last > first]
        names = [records.people.name_at(face, film, entry.start) for face in faces]
        # The same face may be in the records of the run and of discovery: the most at one moment counts.
        count = max((_faces_at(faces, face.first) for face in faces), default=0)
        for fact in records.faces.get(entry.id, ()):
            if fact.shot == shot.shot and fact.first < last and fact.last > first:
                count = max(count, fact.count)
                names += [name.called for name in fact.names]
        names_once = tuple(dict.fromkeys(filter(None, names)))
        unnamed = max(0, count - len(names_once))
        if names_once or unnamed:
            people.append(SheetPeople(shot.shot, names_once, unnamed))
    return tuple(people)


def _faces_at(faces: Iterable[SeenFace], second: float) -> int:
    """How many faces are on the screen at one moment; each member and each group of faces counts once."""
    present = [face for face in faces if face.first <= second <= face.last]
    identified = {(face.member, face.letter) for face in present if face.member or face.letter}
    unidentified = [face for face in present if not (face.member or face.letter)]
    return len(identified) + len(unidentified)


def _texts_in(texts: Iterable[TextFact], language: str, max_words: int | None) -> tuple[SheetText, ...]:
    """The texts on the screen of a slot, each once; burnt-in subtitles are no text to read out."""
    by_words: dict[str, SheetText] = {}
    for text in texts:
        words = " ".join(text.text.split())
        if text.kind == "subtitle" or not words:
            continue
        # A title that is read several times is one text that stays for longer.
        key = words.casefold()
        if key in by_words:
            by_words[key] = replace(by_words[key], last=max(by_words[key].last, text.last))
            continue
        fits = max_words is None or spoken_words(words, language) <= max_words
        offer = text_offer(words, text.kind, language) if fits else ""
        by_words[key] = SheetText(text.shot, words, text.kind, text.first, text.last, offer)
    return tuple(by_words.values())


def _letters_of(entries: Sequence[SheetEntry], people: SeenPeople) -> tuple[SheetFace, ...]:
    """The people who have a letter and are seen in a slot, each with the largest face that a slot shows."""
    sheet_faces = []
    for letter, faces in people.by_letter.items():
        called = f"person {letter}"
        slots = [entry for entry in entries if any(called in shown.known for shown in entry.people)]
        if not slots:
            continue
        faces_in_slots = [
            face for face in faces if any(slot.start <= face.seconds < slot.end for slot in slots)
        ]
        largest = max(faces_in_slots or faces, key=lambda face: face.box.height)
        box = largest.box
        edges = (round(box.left, 4), round(box.top, 4), round(box.right, 4), round(box.bottom, 4))
        cast_id = people.cast_ids.get(letter, "")
        sheet_faces.append(SheetFace(called, round(largest.seconds, 3), edges, len(slots), cast_id))
    return tuple(sheet_faces)
