"""The work folder's records: their shapes, and our types to JSON and back, times to the microsecond.

The records are readable, so people edit them: whoever reads one back holds it against its shape. Only what
is read back has a shape; what else a record holds is for people. Of a ``.jsonl`` file it is that of a line.
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
    """The value in a JSON text. Raises ValueError, also where it is nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """A JSON value with each text in it changed; keys stay."""
    if isinstance(value, Mapping):
        return {key: with_texts(inner, change) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [with_texts(inner, change) for inner in value]
    return change(value) if isinstance(value, str) else value


def whole_record(name: str, line: bytes) -> Json | None:
    """The record in a line of the file ``name``; None where it is damaged: it can be made again."""
    try:
        return record_in(name, line)
    except ValueError:
        return None


def record_in(name: str, data: bytes) -> Json:
    """The object in ``data``. Raises ValueError where it has not the shape of a record called ``name``."""
    try:
        text = data.decode("utf-8-sig")
        value = parse_json(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start} is no UTF-8") from None
    if not isinstance(value, dict):
        raise ValueError(f"it must be an object in braces, got {_short(value)}")
    shape = shape_of(name)
    if shape is not None:
        try:
            shape.model_validate_json(text, strict=True)
        except ValidationError as error:
            raise ValueError(first_fault(error)) from None
    return value


def first_fault(error: ValidationError) -> str:
    """The first thing that is wrong: ``shots, entry 4, start: Input should be a valid number, got 'x'``."""
    first = error.errors(include_url=False)[0]
    parts = (f"entry {part + 1}" if isinstance(part, int) else str(part) for part in first["loc"])
    place, what = ", ".join(parts), first["msg"].removeprefix("Value error, ")
    got = "" if first["type"] in ("value_error", "missing") else f", got {_short(first['input'])}"
    return f"{place}: {what}{got}" if place else f"{what}{got}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def seconds(value: float) -> float:
    """Film time as it is written: to the microsecond, so that a record reads back as it was."""
    return round(float(value), 6)


def shot_rows(shots: Sequence[Shot], cuts: Sequence[int]) -> list[Json]:
    """One row for each shot; ``frame`` is the number of its first frame, ``unmixed`` stands where a dissolve
    or a fade is at one of its ends."""
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
    return tuple(
        Shot(row["index"], _interval(row), Interval(*row["unmixed"]) if row.get("unmixed") else None)
        for row in rows
    )


def _interval(row: Mapping[str, Any]) -> Interval:
    return Interval(row["start"], row["end"])


def utterance_rows(utterances: Iterable[Utterance]) -> list[Json]:
    """One row for each stretch of speech."""
    return [
        {
            "start": seconds(u.interval.start),
            "end": seconds(u.interval.end),
            "kind": u.kind.value,
            "text": u.text,
            **({"speaker": u.speaker} if u.speaker else {}),
        }
        for u in utterances
    ]


def utterances_of(rows: Iterable[Mapping[str, Any]]) -> tuple[Utterance, ...]:
    """The utterances that `utterance_rows` wrote."""
    return tuple(
        Utterance(_interval(row), row["text"], SpeechKind(row["kind"]), row.get("speaker", ""))
        for row in rows
    )


def slot_rows(slots: Iterable[Slot]) -> list[Json]:
    """One row for each slot."""
    return [
        {
            "id": slot.id,
            "start": seconds(slot.interval.start),
            "end": seconds(slot.interval.end),
            "max_words": slot.max_words,
            "credits": slot.credits,
            **({"label": slot.label} if slot.label else {}),
            **({"voice": slot.voice.value} if slot.voice else {}),
        }
        for slot in slots
    ]


def slots_of(rows: Iterable[Mapping[str, Any]]) -> tuple[Slot, ...]:
    """The slots that `slot_rows` wrote."""
    slots = []
    for row in rows:
        voice = SlotVoice(row["voice"]) if row.get("voice") else None
        label = row.get("label", "")
        slots.append(Slot(row["id"], _interval(row), row["max_words"], row["credits"], label, voice))
    return tuple(slots)


def interval_rows(intervals: Iterable[Interval]) -> list[list[float]]:
    """Start and end of each interval."""
    return [[seconds(i.start), seconds(i.end)] for i in intervals]


_LONGEST = 1e7
"""Seconds: no film is longer. Larger numbers break sums far from where they stand."""
_HALF = 2
"""Bytes of a number of an embedding; of a photo's twice as many."""

Second = Annotated[float, Field(allow_inf_nan=False, ge=-_LONGEST, le=_LONGEST)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=10**9)]
Pair = tuple[Second, Second]
Span = Annotated[Pair, AfterValidator(lambda pair: Interval(*pair) and pair)]
Letters = Annotated[str, Field(pattern="^[A-Z]+$", max_length=8)]


def _coded(width: int) -> Any:
    def check(text: str) -> str:
        if len(base64.b64decode(text, validate=True)) % width:
            raise ValueError("it is no list of numbers in base64")
        return text

    return AfterValidator(check)


class _Record(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class _Keyed(_Record):
    key: str = ""


class _Timed(_Record):
    start: Second
    end: Second

    @model_validator(mode="after")
    def _ascends(self) -> Self:
        Interval(self.start, self.end)
        return self


class _Shot(_Timed):
    index: Count
    unmixed: tuple[float, float] | None = None

    @model_validator(mode="after")
    def _unmixed_inside(self) -> Self:
        if self.unmixed and not self.start <= self.unmixed[0] < self.unmixed[1] <= self.end:
            raise ValueError(f"unmixed must lie between start and end, got {list(self.unmixed)}")
        return self


class _Shots(_Keyed):
    end: Annotated[float, Field(gt=0, le=_LONGEST)]
    film: str
    damage: str | None
    holes: list[Span]
    shots: Annotated[list[_Shot], Field(min_length=1)]

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        for place, shot in enumerate(self.shots):
            if shot.index != place:
                raise ValueError(f"the index of shots, entry {place + 1}, must be {place}, got {shot.index}")
            if place and shot.start < self.shots[place - 1].end:
                raise ValueError(f"shots, entry {place + 1}, begins before the shot before it ends")
        return self


class _Utterance(_Timed):
    kind: SpeechKind
    text: str
    speaker: str = ""


class _Speech(_Keyed):
    source: str
    detail: str | None
    warnings: list[str]
    speech: list[_Utterance]
    singing: list[Span]
    shouts: list[Span]


class _Heard(_Keyed):
    heard: list[Span] | None
    notes: list[str]
    singing: list[Span]
    shouts: list[Span]


class _Slot(_Timed):
    id: Annotated[str, Field(pattern=r"^s\d{8,}$", max_length=20)]
    max_words: Annotated[int, Field(ge=1, le=10**6)]
    credits: bool
    label: str = ""
    voice: SlotVoice | None = None


class _Failed(_Record):
    id: str
    reason: str


class _Hand(_Record):
    added: list[Span]
    removed: list[_Slot]


class _Slots(_Keyed):
    failed: list[_Failed]
    warnings: list[str]
    gaps: list[Span] = []
    hand: _Hand | None = None
    slots: list[_Slot]

    @model_validator(mode="after")
    def _unlike(self) -> Self:
        seen: set[str] = set()
        for place, slot in enumerate(self.slots, 1):
            if slot.id in seen:
                raise ValueError(f"slots, entry {place}: there is a slot {slot.id} already")
            seen.add(slot.id)
        return self


class _HandSlots(_Hand):
    schema_version: int


class _Credits(_Keyed):
    credits: Span | None


class _Look(_Record):
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


class _Grammar(_Keyed):
    features: str | None
    threshold: Number | None
    scale_method: str | None
    shots: list[_Look]
    pairs: list[tuple[Count, Count, Number] | tuple[Count, Count, Number, str]]

    @model_validator(mode="after")
    def _of_shots(self) -> Self:
        known = {(look.slot, look.index) for look in self.shots}
        for place, pair in enumerate(self.pairs, 1):
            slot = pair[3] if len(pair) == 4 else ""
            if any((slot, shot) not in known for shot in pair[:2]):
                raise ValueError(f"pairs, entry {place}: {list(pair)} is of a shot that shots does not have")
        return self


class _Recognised(_Record):
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
    tracks: list[_Recognised]


class _Photo(_Record):
    embedding: Annotated[str, _coded(2 * _HALF)] | None = None
    trouble: str | None = None


class _Photos(_Keyed):
    photos: dict[str, _Photo]


class _Scripts(_Record):
    scripts: dict[str, str]
    before: dict[str, list[str]] = {}


class _Render(_Record):
    voice: str | None = None
    sound: dict[str, Any] | None = None


class _FilmNamed(_Record):
    name: str | None
    path: str | None
    frame_rate: Annotated[str, Field(pattern=r"^\d{1,9}(/0*[1-9]\d{0,8})?$")] | None


class _CastGiven(_Record):
    path: str
    key: str | None
    photos: str | None


class _Given(_Record):
    subtitles: str | None
    slots: str | None
    shots: str | None
    start: Second
    end: Second | None
    cast: _CastGiven | None


class _Settings(_Record):
    schema_version: int
    film: _FilmNamed
    given: _Given
    configs: list[str]
    assignments: list[str]
    config: dict[str, Any]


class _Merged(_Record):
    before: str | None
    after: str


class _LineStep(_Record):
    id: str
    was: str | None
    now: str | None
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class _SlotStep(_Record):
    added: list[_Slot]
    removed: list[_Slot]


class _Step(_Record):
    step: str
    way: str = ""
    said: str = ""
    lines: list[_LineStep] = []
    slots: _SlotStep | None = None
    group: str = ""


class _Face(_Record):
    seconds: Second
    box: tuple[Number, Number, Number, Number]
    score: Number
    yaw: Number
    landmarks: list[tuple[Number, Number]]

    @model_validator(mode="after")
    def _inside(self) -> Self:
        Box(*self.box)
        return self


class _Track(_Record):
    shot: Count
    faces: Annotated[list[_Face], Field(min_length=1)]
    read: list[bool | Count]
    embeddings: Annotated[list[Annotated[str, _coded(_HALF)]], Field(min_length=1)]

    @model_validator(mode="after")
    def _alike(self) -> Self:
        if len({len(embedding) for embedding in self.embeddings}) > 1:
            raise ValueError("its embeddings have different lengths")
        return self


class _Faces(_Keyed):
    shot: Count
    models: str
    frames: list[Pair]
    tracks: list[_Track]


_SHAPES: Mapping[str, type[BaseModel]] = {
    "shots.json": _Shots,
    "speech.json": _Speech,
    "heard.json": _Heard,
    "slots.json": _Slots,
    "slots.hand.json": _HandSlots,
    "credits.json": _Credits,
    "grammar.json": _Grammar,
    "characters.json": _Characters,
    "cast-faces.json": _Photos,
    "scripts.json": _Scripts,
    "render.json": _Render,
    "settings.json": _Settings,
    "merged.json": _Merged,
    "faces.jsonl": _Faces,
    "discovered.jsonl": _Faces,
    "review.jsonl": _Step,
}


def shape_of(name: str) -> type[BaseModel] | None:
    """The shape of the record in the file ``name``; None where nothing is known of such a file.

    What lies aside, or is of one language, has the shape of the others: ``stage1.aside.jsonl``.
    """
    first, _, rest = name.partition(".")
    ending = "jsonl" if rest.endswith("jsonl") else "json"
    return _SHAPES.get(name) or _SHAPES.get(f"{first}.{ending}") or (_Keyed if ending == "jsonl" else None)
