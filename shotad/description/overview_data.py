"""What an overview shows of a film, read from the records in its work folder.

The shots must be there; whatever else is missing or broken is left out, and said.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from shotad.core import (
    Facts,
    Interval,
    Role,
    ShotLabel,
    ShotScale,
    Slot,
    Utterance,
    WorkFolder,
    WorkFolderError,
    printable,
    read_file,
    shots_of,
    slots_of,
    thread_name,
    utterances_of,
    whole_record,
)
from shotad.film import subtract
from shotad.script import Cue, Limits, Track, load_track, silences


@dataclass(frozen=True, slots=True)
class SheetShot:
    """One shot of the film. ``middle`` is the second of the frame that stands for it.

    ``thread`` are the letters of its thread in the whole film, None where it is alone or was never
    compared; ``seen`` is in words what was measured in it, empty where nothing was.
    """

    index: int
    interval: Interval
    middle: float
    scale: ShotScale | None = None
    thread: str | None = None
    seen: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """One shot of a clip. ``number`` is what is painted, ``shot`` its index in the film.

    ``seconds`` are the different moments shown, ascending; ``frames`` counts repeated ones too.
    """

    number: int
    shot: int
    role: Role
    part: Interval
    seconds: tuple[float, ...]
    frames: int
    scale: ShotScale | None = None
    thread: str | None = None
    seen: str = ""


@dataclass(frozen=True, slots=True)
class SlotView:
    """What Stage I was shown for one slot, and what it said.

    ``model`` is that of the engine, which may have none. ``overlay`` is what was painted on the frames, None
    where the engine saw them raw; ``size`` their width and height. ``error`` says why no description is here.
    """

    pieces: tuple[Piece, ...]
    threads: tuple[tuple[int, ...], ...]
    effective_scale: float | None
    factors: tuple[str, ...]
    steps: tuple[tuple[str, str], ...]
    explanation: str
    engine: str
    model: str
    overlay: ShotLabel | None
    size: tuple[int, int] | None
    error: str | None = None
    people: tuple[tuple[str, str, bool], ...] = ()
    """Of the cast: what they were called, their mark (empty: none), whether in the current shots."""

    @property
    def current(self) -> tuple[int, ...]:
        """Painted numbers of the current shots."""
        return tuple(piece.number for piece in self.pieces if piece.role is Role.CURRENT)


@dataclass(frozen=True, slots=True)
class Subject:
    """Everything a sheet is drawn from. ``missing`` says in sentences what could not be read.

    ``scores`` maps a slot's id and two shot indices, the earlier first, to the matching score of the two; the
    id is empty where whole shots were compared. Above ``threshold`` two shots are joined.
    """

    name: str
    end: float
    shots: tuple[SheetShot, ...]
    speech: tuple[Utterance, ...] = ()
    speech_source: str = ""
    slots: tuple[Slot, ...] = ()
    looks: Mapping[str, SlotView] = field(default_factory=dict)
    """What Stage I was shown and said, by slot."""
    track: Track | None = None
    silences: tuple[Interval, ...] = ()
    scores: Mapping[tuple[str, int, int], float] = field(default_factory=dict)
    threshold: float | None = None
    features: str | None = None
    scale_method: str | None = None
    missing: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[Cue, ...]:
        return self.track.cues if self.track else ()

    def look(self, cue: Cue) -> SlotView | None:
        """What Stage I was shown for the slot of a line, and said of it."""
        return self.looks.get(cue.slot_id or "")

    @property
    def threads(self) -> dict[str, tuple[SheetShot, ...]]:
        """The shots of each thread, by its letters, in the order of their first shots."""
        found: dict[str, list[SheetShot]] = {}
        for shot in self.shots:
            if shot.thread is not None:
                found.setdefault(shot.thread, []).append(shot)
        return {letters: tuple(shots) for letters, shots in found.items()}

    def score(self, one: int, other: int, slot: str = "") -> float | None:
        """The matching score of two shots by index, as the clip of ``slot`` knows it; None: not measured."""
        pair = (min(one, other), max(one, other))
        return self.scores.get((slot, *pair), self.scores.get(("", *pair)))


Row = Mapping[str, Any]
_BROKEN = (KeyError, ValueError, TypeError, AttributeError, IndexError)
"""What reading a record of the wrong form raises."""

OVERLAYS: tuple[ShotLabel, ...] = get_args(ShotLabel)


_NO_GRAMMAR: Row = {"shots": (), "pairs": (), "threshold": None, "features": None, "scale_method": None}


def read_subject(folder: Path) -> Subject:
    """What the records in ``folder`` tell of its film. Raises WorkFolderError without shots, ScriptError."""
    missing: list[str] = []
    records = WorkFolder(folder)
    found = records.read_json("shots.json")
    if found is None:
        hint = "Run shotad describe on the film, or name its work folder."
        raise WorkFolderError(f"{records.path / 'shots.json'} is missing.", hint)
    without = "threads, shot scales and matching scores are left out"
    grammar = _part(records, "grammar", missing, without) or _NO_GRAMMAR
    known: Mapping[int, Row] = {row["index"]: row for row in reversed(grammar["shots"])}
    spoken = _part(records, "speech", missing, "the speech is left out")
    planned = _part(records, "slots", missing, "the slots are left out")
    slots = slots_of(planned["slots"]) if planned else ()
    track = load_track(folder / "track.json") if (folder / "track.json").exists() else None
    looks = _looks(folder, known, missing) if track else {}
    # What was measured in each shot, from the first clip that shows it as current, or at all
    words: dict[int, tuple[bool, str]] = {}
    for piece in (piece for look in looks.values() for piece in look.pieces if piece.seen):
        current = piece.role is Role.CURRENT
        if piece.shot not in words or (current and not words[piece.shot][0]):
            words[piece.shot] = (current, piece.seen)
    shots = []
    for shot in shots_of(found["shots"]):
        middle, seen = shot.interval.middle, words.get(shot.index, (False, ""))[1]
        if (row := known.get(shot.index)) is None:
            shots.append(SheetShot(shot.index, shot.interval, middle, seen=seen))
            continue
        middle = float(row["middle"]) if shot.interval.contains(float(row["middle"])) else middle
        scale = None if row["scale"] is None else ShotScale(row["scale"])
        shots.append(SheetShot(shot.index, shot.interval, middle, scale, row["thread"], seen))
    speech = utterances_of(spoken["speech"]) if spoken else ()
    # What else the record says of the speech are figures that the page has anyway.
    source = str(spoken.get("source", "")) if spoken else ""
    if spoken:
        source = "by listening" if source == "sound" else str(spoken.get("detail") or source)
    end = float(found["end"])
    return Subject(
        name=printable(track.film.name if track else str(found.get("film", folder.stem))),
        end=end,
        shots=tuple(shots),
        speech=speech,
        speech_source=source,
        slots=slots,
        looks=looks,
        track=track,
        silences=long_silences(track, [one.interval for one in speech], Interval(0.0, end))
        if track and spoken
        else (),
        scores={
            (slot[0] if slot else "", min(a, b), max(a, b)): float(score)
            for a, b, score, *slot in grammar["pairs"]
        },
        threshold=grammar["threshold"],
        features=grammar["features"],
        scale_method=grammar["scale_method"],
        missing=tuple(missing),
    )


def long_silences(track: Track, speech: Sequence[Interval], described: Interval) -> tuple[Interval, ...]:
    """Stretches of ``described`` with neither speech nor AD that are longer than rule T5 allows."""
    free = filter(None, (gap.clip(described) for gap in subtract(Interval(0.0, track.film.duration), speech)))
    return tuple(silences([cue.interval for cue in track.heard], free, Limits().stretch))


def _part(records: WorkFolder, name: str, missing: list[str], without: str) -> dict[str, Any] | None:
    try:
        found = records.read_json(f"{name}.json")
    except WorkFolderError as error:
        what = error.what.removeprefix(str(records.path)).lstrip("/\\")
        missing.append(f"{what.rstrip('.')}; so {without}.")
        return None
    if found is None:
        missing.append(f"{name}.json is missing, so {without}.")
    return found


def _looks(folder: Path, known: Mapping[int, Row], missing: list[str]) -> dict[str, SlotView]:
    """Stage I's records by slot."""
    looks: dict[str, SlotView] = {}
    broken = 0
    path = folder / "stage1.jsonl"
    if not path.exists():
        missing.append("stage1.jsonl is missing, so what the engine saw is left out.")
    for line in read_file(path).splitlines() if path.exists() else ():
        try:
            record = whole_record(path.name, line) or {}
            looks[record["slot"]] = _look(record, known)
        except _BROKEN:
            broken += 1
    if broken:
        few = "1 record in stage1.jsonl is" if broken == 1 else f"{broken} records in stage1.jsonl are"
        missing.append(f"{few} damaged and left out.")
    return looks


def _look(record: Row, known: Mapping[int, Row]) -> SlotView:
    scales, threads = record["scales"], tuple(tuple(thread) for thread in record["threads"])
    # Painted numbers with the letters of their thread: the film's, else one of the clip's own order
    shots = {row["number"]: row["shot"] for row in record["shots"]}
    names: dict[int, str] = {}
    for place, thread in enumerate(threads):
        letters = {known[shots[n]]["thread"] if shots[n] in known else None for n in thread}
        (name,) = letters if len(letters) == 1 else (None,)
        names |= dict.fromkeys(thread, name or thread_name(place))
    seen: dict[int, str] = {}
    with suppress(*_BROKEN):  # an engine that measures nothing has no facts
        seen = in_words(Facts.from_json(record["notes"]))
    pieces = tuple(
        Piece(
            number=row["number"],
            shot=row["shot"],
            role=Role(row["role"]),
            part=Interval(row["start"], row["end"]),
            seconds=tuple(sorted({float(second) for second in row["seconds"]})),
            frames=len(row["seconds"]),
            scale=ShotScale(scales[str(row["number"])]) if str(row["number"]) in scales else None,
            thread=names.get(row["number"]),
            seen=seen.get(row["number"], ""),
        )
        for row in record["shots"]
    )
    overlay, size, maker = record.get("overlay"), record["frame_size"], record["maker"]
    return SlotView(
        pieces=pieces,
        threads=threads,
        effective_scale=record["effective_scale"],
        factors=tuple(record["factors"]),
        steps=tuple((str(head), str(text)) for head, text in record["steps"].items()),
        explanation=str(record["explanation"]),
        engine=str(maker["engine"]),
        model=str(maker["model"]),
        overlay=OVERLAYS[OVERLAYS.index(overlay)] if overlay is not None else None,
        size=(int(size[0]), int(size[1])) if size else None,
        error=record["error"],
        people=tuple(
            (str(row["called"]), str(row["mark"]), bool(row["current"]))
            for row in record.get("characters", ())
        ),
    )


_NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}
_FRAMINGS = {
    "face": "the face fills the picture",
    "head and shoulders": "head and shoulders",
    "upper body": "upper body",
    "full figure": "full figure",
    "distant": "far off",
}
_PLACES = {"left": "on the left", "centre": "in the middle", "right": "on the right"}
_LEVELS = {"black": "black", "dark": "dark", "bright": "bright", "white": "white"}
_CHANGES = {"fade-out": "fades to black", "fade-in": "fades in", "flash": "flashes"}


def in_words(facts: Facts) -> dict[int, str]:
    """What ``facts`` tell of each shot, by painted number; a shot of which they tell nothing is absent.

    ``{0: "one person, upper body, on the left; text: READY; dark"}``
    """
    told: dict[int, list[str]] = defaultdict(list)
    for person in facts.people:
        count = _NUMBERS.get(person.count, str(person.count))
        known = ", ".join(one.called for one in person.names)
        if person.count == 1:
            place, framing = _PLACES[person.place], _FRAMINGS.get(person.framing or "", "")
            told[person.shot].append(", ".join(filter(None, (known or f"{count} person", framing, place))))
        else:
            told[person.shot].append(f"{count} people" + (f" ({known})" if known else ""))
    for thing in facts.things:
        words = f"{thing.name}, {_NUMBERS.get(thing.count, str(thing.count))} times"
        if thing.count == 1:
            words = f"{'an' if thing.name[:1] in 'aeiou' else 'a'} {thing.name}, {_PLACES[thing.place]}"
        told[thing.shot].append(words)
    for figure in facts.figures:
        told[figure.shot].append(f"something moving, {_PLACES[figure.place]}")
    for text in facts.texts:
        told[text.shot].append(f"{'subtitle' if text.kind == 'subtitle' else 'text'}: {text.text}")
    for light in facts.light:
        parts = (_LEVELS.get(light.level, ""), _CHANGES.get(light.change or "", ""))
        if any(parts):
            told[light.shot].append(", ".join(filter(None, parts)))
    return {shot: "; ".join(dict.fromkeys(parts)) for shot, parts in told.items()}
