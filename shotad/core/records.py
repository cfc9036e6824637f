"""The work folder's records: their shapes, and our types to JSON and back, times to the microsecond.

The records are readable, so people edit them: a record is checked against its shape when it is read. The
shape has only the fields that are read back; others are for people. The shape of a ``.jsonl`` file is that of
a line.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from shotad.core.types import (
    Box,
    Interval,
    Shot,
    ShotScale,
    Slot,
    SlotVoice,
    SpeechKind,
    Utterance,
)

Json = dict[str, Any]


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text. Raises ValueError, also for one that is nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """A copy of a JSON value with ``change`` applied to each text in it, but not to keys."""
    if isinstance(value, Mapping):
        return {key: map_texts(inner, change) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [map_texts(inner, change) for inner in value]
    return change(value) if isinstance(value, str) else value


def parse_record(name: str, line: bytes) -> Json | None:
    """The record in a line of the file ``name``; None where the line is damaged, for it can be made again."""
    try:
        return record_in(name, line)
    except ValueError:
        return None


def record_in(name: str, data: bytes) -> Json:
    """The JSON object in ``data``. Raises ValueError where it has not the shape of the file ``name``."""
    try:
        text = data.decode("utf-8-sig")
        value = parse_json(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start} is no UTF-8") from None
    if not isinstance(value, dict):
        raise ValueError(f"it must be an object in braces, got {_shortened(value)}")
    shape = shape_of(name)
    if shape is not None:
        try:
            shape.model_validate_json(text, strict=True)
        except ValidationError as error:
            raise ValueError(first_error_message(error)) from None
    return value


def first_error_message(error: ValidationError) -> str:
    """The message of the first error: ``shots, entry 4, start: Input should be a valid number, got 'x'``."""
    first = error.errors(include_url=False)[0]
    # A number in the location is an index; people count entries from 1.
    parts = [f"entry {part + 1}" if isinstance(part, int) else str(part) for part in first["loc"]]
    place = ", ".join(parts)
    message = first["msg"].removeprefix("Value error, ")
    # Our own messages name the value where it helps, and a missing field has none.
    if first["type"] not in ("value_error", "missing"):
        message = f"{message}, got {_shortened(first['input'])}"
    return f"{place}: {message}" if place else message


def _shortened(value: Any) -> str:
    """The value as Python writes it, in 60 characters at most."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def seconds(value: float) -> float:
    """Seconds of film time, rounded to the microsecond as records hold them."""
    return round(float(value), 6)


def shot_rows(shots: Sequence[Shot], cuts: Sequence[int]) -> list[Json]:
    """One row for each shot. ``cuts`` are the numbers of the first frames of all shots but the first.

    In a row ``frame`` is the number of the shot's first frame. ``unmixed`` is the part without the dissolve
    or fade at one of its ends; it is left out where there is none.
    """
    rows: list[Json] = []
    for shot, frame in zip(shots, (0, *cuts), strict=True):
        start, end = seconds(shot.interval.start), seconds(shot.interval.end)
        row: Json = {"index": shot.index, "start": start, "end": end, "frame": frame}
        if shot.unmixed:
            row["unmixed"] = [seconds(shot.unmixed.start), seconds(shot.unmixed.end)]
        rows.append(row)
    return rows


def shots_of(rows: Iterable[Mapping[str, Any]]) -> tuple[Shot, ...]:
    """The shots that `shot_rows` wrote."""
    shots = []
    for row in rows:
        unmixed = Interval(*row["unmixed"]) if row.get("unmixed") else None
        shots.append(Shot(row["index"], _interval_of(row), unmixed))
    return tuple(shots)


def _interval_of(row: Mapping[str, Any]) -> Interval:
    """The interval from ``start`` to ``end`` of a row."""
    return Interval(row["start"], row["end"])


def utterance_rows(utterances: Iterable[Utterance]) -> list[Json]:
    """One row for each utterance; ``speaker`` is left out where it is not known."""
    rows: list[Json] = []
    for utterance in utterances:
        row: Json = {
            "start": seconds(utterance.interval.start),
            "end": seconds(utterance.interval.end),
            "kind": utterance.kind.value,
            "text": utterance.text,
        }
        if utterance.speaker:
            row["speaker"] = utterance.speaker
        rows.append(row)
    return rows


def utterances_of(rows: Iterable[Mapping[str, Any]]) -> tuple[Utterance, ...]:
    """The utterances that `utterance_rows` wrote."""
    utterances = []
    for row in rows:
        kind, speaker = SpeechKind(row["kind"]), row.get("speaker", "")
        utterances.append(Utterance(_interval_of(row), row["text"], kind, speaker))
    return tuple(utterances)


def slot_rows(slots: Iterable[Slot]) -> list[Json]:
    """One row for each slot; ``label`` and ``voice`` are left out where it has none."""
    rows: list[Json] = []
    for slot in slots:
        row: Json = {
            "id": slot.id,
            "start": seconds(slot.interval.start),
            "end": seconds(slot.interval.end),
            "max_words": slot.max_words,
            "credits": slot.credits,
        }
        if slot.label:
            row["label"] = slot.label
        if slot.voice:
            row["voice"] = slot.voice.value
        rows.append(row)
    return rows


def slots_of(rows: Iterable[Mapping[str, Any]]) -> tuple[Slot, ...]:
    """The slots that `slot_rows` wrote."""
    slots = []
    for row in rows:
        voice = SlotVoice(row["voice"]) if row.get("voice") else None
        label = row.get("label", "")
        slots.append(Slot(row["id"], _interval_of(row), row["max_words"], row["credits"], label, voice))
    return tuple(slots)


def interval_rows(intervals: Iterable[Interval]) -> list[list[float]]:
    """``[start, end]`` of each interval, in seconds."""
    return [[seconds(interval.start), seconds(interval.end)] for interval in intervals]


_MAX_SECONDS = 1e7
"""Seconds; no film is longer. Larger numbers would be found only by a wrong sum in a later step."""
_FLOAT16_BYTES = 2
"""Bytes of one number of a face's embedding; those of a photo have twice as many."""

Second = Annotated[float, Field(allow_inf_nan=False, ge=-_MAX_SECONDS, le=_MAX_SECONDS)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=10**9)]
Pair = tuple[Second, Second]
Span = Annotated[Pair, AfterValidator(lambda pair: Interval(*pair) and pair)]
Letters = Annotated[str, Field(pattern="^[A-Z]+$", max_length=8)]


def _base64_of(width: int) -> Any:
    """A validator of texts: base64 of numbers of ``width`` bytes each."""

    def check(text: str) -> str:
        if len(base64.b64decode(text, validate=True)) % width:
            raise ValueError("it is no list of numbers in base64")
        return text

    return AfterValidator(check)


class _Record(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class _KeyedRecord(_Record):
    key: str = ""


class _TimedRecord(_Record):
    start: Second
    end: Second

    @model_validator(mode="after")
    def _ascends(self) -> Self:
        Interval(self.start, self.end)
        return self


class _Shot(_TimedRecord):
    index: Count
    unmixed: tuple[float, float] | None = None

    @model_validator(mode="after")
    def _unmixed_inside(self) -> Self:
        if self.unmixed and not self.start <= self.unmixed[0] < self.unmixed[1] <= self.end:
            raise ValueError(f"unmixed must lie between start and end, got {list(self.unmixed)}")
        return self


class _Shots(_KeyedRecord):
    end: Annotated[float, Field(gt=0, le=_MAX_SECONDS)]
    film: str
    damage: str | None
    holes: list[Span]
    shots: Annotated[list[_Shot], Field(min_length=1)]

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        for index, shot in enumerate(self.shots):
            if shot.index != index:
                raise ValueError(f"the index of shots, entry {index + 1}, must be {index}, got {shot.index}")
            if index and shot.start < self.shots[index - 1].end:
                raise ValueError(f"shots, entry {index + 1}, begins before the shot before it ends")
        return self


class _Utterance(_TimedRecord):
    kind: SpeechKind
    text: str
    speaker: str = ""


class _Speech(_KeyedRecord):
    source: str
    detail: str | None
    warnings: list[str]
    speech: list[_Utterance]
    singing: list[Span]
    shouts: list[Span]
    misfit: str = ""


class _SoundSpeech(_KeyedRecord):
    heard: list[Span] | None
    notes: list[str]
    singing: list[Span]
    shouts: list[Span]


class _TranscribedWord(_TimedRecord):
    text: Annotated[str, Field(min_length=1)]


class _Transcript(_Record):
    film: str
    recogniser: str
    language: str
    listened: list[Span]
    words: list[_TranscribedWord]


class _Slot(_TimedRecord):
    id: Annotated[str, Field(pattern=r"^s\d{8,}$", max_length=20)]
    max_words: Annotated[int, Field(ge=1, le=10**6)]
    credits: bool
    label: str = ""
    voice: SlotVoice | None = None


class _FailedSlot(_Record):
    id: str
    reason: str


class _HandChanges(_Record):
    added: list[Span]
    removed: list[_Slot]


class _Slots(_KeyedRecord):
    failed: list[_FailedSlot]
    warnings: list[str]
    gaps: list[Span] = []
    hand: _HandChanges | None = None
    slots: list[_Slot]

    @model_validator(mode="after")
    def _ids_differ(self) -> Self:
        ids: set[str] = set()
        for entry, slot in enumerate(self.slots, 1):
            if slot.id in ids:
                raise ValueError(f"slots, entry {entry}: there is a slot {slot.id} already")
            ids.add(slot.id)
        return self


class _HandSlotsFile(_HandChanges):
    schema_version: int


class _Credits(_KeyedRecord):
    credits: Span | None


class _ShotFrames(_Record):
    index: Count
    slot: str = ""
    first: Second
    quarter: Second
    middle: Second
    three_quarters: Second
    last: Second
    thread: Letters | None
    scale: ShotScale | None
    probabilities: Annotated[list[Number], Field(min_length=5, max_length=5)] | None

    @model_validator(mode="after")
    def _ascends(self) -> Self:
        moments = [self.first, self.quarter, self.middle, self.three_quarters, self.last]
        if moments != sorted(moments):
            raise ValueError(f"first, quarter, middle, three_quarters and last must ascend, got {moments}")
        return self


class _Grammar(_KeyedRecord):
    features: str | None
    threshold: Number | None
    scale_method: str | None
    shots: list[_ShotFrames]
    pairs: list[tuple[Count, Count, Number] | tuple[Count, Count, Number, str]]

    @model_validator(mode="after")
    def _pairs_are_of_shots(self) -> Self:
        shots = {(shot.slot, shot.index) for shot in self.shots}
        for entry, pair in enumerate(self.pairs, 1):
            first, second = pair[:2]
            slot = pair[3] if len(pair) == 4 else ""
            if (slot, first) not in shots or (slot, second) not in shots:
                raise ValueError(f"pairs, entry {entry}: {list(pair)} is of a shot that shots does not have")
        return self


class _RecognisedTrack(_Record):
    shot: Count
    first: Second
    last: Second
    looks: Count
    person: str | None
    named: str | None


class _Member(_Record):
    id: str
    shots: list[Count]


class _Characters(_Record):
    cast: list[_Member]
    tracks: list[_RecognisedTrack]


class _Photo(_Record):
    embedding: Annotated[str, _base64_of(2 * _FLOAT16_BYTES)] | None = None
    trouble: str | None = None


class _PhotoEmbeddings(_KeyedRecord):
    photos: dict[str, _Photo]


class _Scripts(_Record):
    scripts: dict[str, str]
    before: dict[str, list[str]] = {}


class _RenderSettings(_Record):
    voice: str | None = None
    sound: dict[str, Any] | None = None


class _Film(_Record):
    name: str | None
    path: str | None
    frame_rate: Annotated[str, Field(pattern=r"^\d{1,9}(/0*[1-9]\d{0,8})?$")] | None


class _GivenCast(_Record):
    path: str
    key: str | None
    photos: str | None


class _GivenFiles(_Record):
    subtitles: str | None
    slots: str | None
    shots: str | None
    start: Second
    end: Second | None
    cast: _GivenCast | None


class _Settings(_Record):
    schema_version: int
    film: _Film
    given: _GivenFiles
    configs: list[str]
    assignments: list[str]
    config: dict[str, Any]


class _MergedTracks(_Record):
    before: str | None
    after: str


class _LineChange(_Record):
    id: str
    was: str | None
    now: str | None
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class _SlotChange(_Record):
    added: list[_Slot]
    removed: list[_Slot]


class _ReviewStep(_Record):
    step: str
    way: str = ""
    said: str = ""
    lines: list[_LineChange] = []
    slots: _SlotChange | None = None
    group: str = ""


class _FaceSighting(_Record):
    seconds: Second
    box: tuple[Number, Number, Number, Number]
    score: Number
    yaw: Number
    landmarks: list[tuple[Number, Number]]

    @model_validator(mode="after")
    def _has_a_box(self) -> Self:
        Box(*self.box)  # raises ValueError where its sides are out of order
        return self


class _FaceTrack(_Record):
    shot: Count
    faces: Annotated[list[_FaceSighting], Field(min_length=1)]
    read: list[bool | Count]
    embeddings: Annotated[list[Annotated[str, _base64_of(_FLOAT16_BYTES)]], Field(min_length=1)]

    @model_validator(mode="after")
    def _embeddings_are_alike(self) -> Self:
        if len({len(embedding) for embedding in self.embeddings}) > 1:
            raise ValueError("its embeddings have different lengths")
        return self


class _FacesOfShot(_KeyedRecord):
    shot: Count
    models: str
    frames: list[Pair]
    tracks: list[_FaceTrack]


class _AlignedPiece(_Record):
    film: Span
    recording: Span
    confidence: Annotated[float, Field(ge=0, le=1)]
    residual: Annotated[float, Field(ge=0, le=1)]


class _Alignment(_Record):
    film: str
    recording: str
    film_duration: Annotated[float, Field(gt=0, le=_MAX_SECONDS)]
    recording_duration: Annotated[float, Field(gt=0, le=_MAX_SECONDS)]
    pieces: Annotated[list[_AlignedPiece], Field(min_length=1)]


_SHAPES: Mapping[str, type[BaseModel]] = {
    "alignment.json": _Alignment,
    "shots.json": _Shots,
    "speech.json": _Speech,
    "heard.json": _SoundSpeech,
    "transcript.json": _Transcript,
    "slots.json": _Slots,
    "slots.hand.json": _HandSlotsFile,
    "credits.json": _Credits,
    "grammar.json": _Grammar,
    "characters.json": _Characters,
    "cast-faces.json": _PhotoEmbeddings,
    "scripts.json": _Scripts,
    "render.json": _RenderSettings,
    "settings.json": _Settings,
    "merged.json": _MergedTracks,
    "faces.jsonl": _FacesOfShot,
    "discovered.jsonl": _FacesOfShot,
    "review.jsonl": _ReviewStep,
}


def shape_of(name: str) -> type[BaseModel] | None:
    """The shape of the records in the file ``name``; None for files that are not ours, or have none.

    ``faces.aside.jsonl`` and files of one language have the shape of the file without that part of the name.
    Other ``.jsonl`` files have keys at least.
    """
    stem, _, rest = name.partition(".")
    ending = "jsonl" if rest.endswith("jsonl") else "json"
    shape = _SHAPES.get(name) or _SHAPES.get(f"{stem}.{ending}")
    if shape is None and ending == "jsonl":
        return _KeyedRecord
    return shape
