"""The track: all lines of one film, and the file that people edit.

``track.json`` finds out by itself what a person changed in it: each line carries a stamp of its text,
time, status and choice as the program wrote them, and the head lists the lines written. A line that
no longer fits its stamp was edited; one that is listed and absent was deleted; one without a stamp
was added. A stamp also survives a search-and-replace over the whole file, which a stored copy of
the text would not.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from shotad.errors import ScriptError
from shotad.script.cue import (
    Cue,
    CueKind,
    CueStatus,
    Derived,
    Edit,
    EditField,
    Maker,
    Provenance,
    ScriptCue,
    clean_text,
    count_words,
    line_stamp,
    mark_edit,
    milliseconds,
    short_hash,
    spoken_interval,
)
from shotad.types import Interval

__all__ = [
    "SCHEMA_VERSION", "Cue", "CueKind", "CueStatus", "Derived", "Edit", "EditField", "FilmId", "Maker",
    "Provenance", "ScriptCue", "Track", "clean_text", "count_words", "from_json", "hand_id", "line_stamp",
    "load_track",
    "mark_edit", "milliseconds", "spoken_interval", "to_json",
]  # fmt: skip

SCHEMA_VERSION = 1
BY_HAND = "track.json"
"""Source of edits made in the track file itself."""
REMOVED = "removed by a person"

T = TypeVar("T")
_HEAD = ("schema_version", "statement", "film", "language", "made_by", "reviewed_by", "written", "cues")
_MAKER = ("stage", "engine", "model", "revision")
_CUE = (
    "id", "start", "end", "text", "kind", "language", "status", "reason", "edited", "slot", "spoken_length",
    "fit_steps", "chosen", "candidates", "machine", "provenance", "stamp",
)  # fmt: skip
_SPAN = re.compile(r"(?P<id>[sh]\d{8,}):(?P<start>\d+)-(?P<end>\d+)")


@dataclass(frozen=True, slots=True)
class FilmId:
    """Which film a track belongs to. ``duration`` is in seconds."""

    name: str
    fingerprint: str
    duration: float

    def __post_init__(self) -> None:
        if not 0 < self.duration < float("inf"):
            raise ValueError(f"film duration must be positive and finite, got {self.duration}")


@dataclass(frozen=True, slots=True)
class Track:
    """The lines of one film, ascending by start, each id once.

    ``version`` is that of the program; ``reviewed_by`` are people's names, empty while nobody has reviewed.
    """

    film: FilmId
    language: str
    makers: tuple[Maker, ...]
    version: str
    cues: tuple[Cue, ...]
    reviewed_by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        seen: dict[str, Cue] = {}
        for cue in self.cues:
            if cue.id in seen:
                raise ValueError(f"two cues have the id {cue.id}: {seen[cue.id].text!r} and {cue.text!r}")
            seen[cue.id] = cue
        if list(self.cues) != sorted(self.cues, key=_order):
            raise ValueError(f"cues must ascend by start, got {[cue.id for cue in self.cues]}")

    def with_cues(self, cues: Iterable[Cue]) -> Track:
        """The same track with other lines, put in order."""
        return replace(self, cues=tuple(sorted(cues, key=_order)))

    @property
    def heard(self) -> tuple[Cue, ...]:
        """The lines that are spoken, in order."""
        return tuple(cue for cue in self.cues if cue.heard)

    @property
    def statement(self) -> str:
        """One line for every script: made by machine, by which engines, edited and reviewed or not."""
        engines = "; ".join(str(maker) for maker in self.makers) or "no engine named"
        edits = sum(cue.edited is not None for cue in self.cues)
        edited = f" {edits} line{'s' if edits > 1 else ''} edited by a person." if edits else ""
        people = ", ".join(self.reviewed_by)
        review = f" Reviewed by {people}." if people else " Not reviewed by a person."
        return clean_text(
            f"Audio description made by machine: shotad {self.version} ({engines}).{edited}{review}"
        ).replace("\n", " ")

    @property
    def stamp(self) -> str:
        """Short name of all that is heard: scripts carry it, so that an import knows what it stands on."""
        return short_hash(" ".join(f"{cue.id} {line_stamp(cue.interval, cue.text)}" for cue in self.heard))


def hand_id(start: float, taken: Iterable[str] = ()) -> str:
    """An id for a line that a person added: ``83.12 → h00083120``, or the next number that is free."""
    used, number = set(taken), milliseconds(start)
    while (name := f"h{number:08d}") in used:
        number += 1
    return name


def to_json(track: Track) -> str:
    """The track as the file that people edit: one field a line, keys in constant order, times to 1 ms."""
    head = {
        "schema_version": SCHEMA_VERSION,
        "statement": track.statement,
        "film": _film_json(track.film),
        "language": track.language,
        "made_by": {"shotad": track.version, "makers": [_maker_json(m) for m in track.makers]},
        "reviewed_by": list(track.reviewed_by),
        "written": [_span(cue) for cue in track.cues],
    }
    lines = [f"  {_dump(key)}: {_dump(value)}," for key, value in head.items()]
    cues = ",\n".join(_cue_block(_cue_json(cue)) for cue in track.cues)
    body = f'  "cues": [\n{cues}\n  ]' if cues else '  "cues": []'
    return "{\n" + "\n".join(lines) + "\n" + body + "\n}\n"


def from_json(text: str, name: str = BY_HAND) -> Track:
    """The track in ``text``, with what a person changed in it marked as edits.

    Unknown keys are refused, since a misspelt one would lose work, and so is a newer schema.
    Raises ScriptError with file, line or cue, value and remedy.
    """
    return _Reader(name).track(text)


def load_track(path: Path) -> Track:
    """The track in a file. Raises ScriptError if it cannot be read or understood."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ScriptError(f"The track {path} cannot be read: {error}.") from None
    return from_json(text, str(path))


def _order(cue: Cue) -> tuple[int, str]:
    return milliseconds(cue.interval.start), cue.id


def _milliseconds(interval: Interval) -> tuple[int, int]:
    return milliseconds(interval.start), milliseconds(interval.end)


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _stamp(cue: Cue) -> dict[EditField, str]:
    times, _, text = line_stamp(cue.interval, cue.text).partition("-")
    return {EditField.TIME: times, EditField.TEXT: text, EditField.STATUS: short_hash(cue.status)}


def _stamp_json(cue: Cue) -> str:
    return "-".join([*_stamp(cue).values(), "x" if cue.chosen is None else str(cue.chosen)])


def _span(cue: Cue) -> str:
    start, end = _milliseconds(cue.interval)
    return f"{cue.id}:{start}-{end}"


def _film_json(film: FilmId) -> dict[str, Any]:
    return {"name": film.name, "fingerprint": film.fingerprint, "duration": round(film.duration, 3)}


def _maker_json(maker: Maker) -> dict[str, str]:
    return {"stage": maker.stage, "engine": maker.engine, "model": maker.model, "revision": maker.revision}


def _derived_json(derived: Derived) -> dict[str, Any]:
    start, end = _milliseconds(derived.interval)
    return {
        "start": start / 1000, "end": end / 1000, "text": derived.text,
        "status": derived.status, "reason": derived.reason,
    }  # fmt: skip


def _provenance_json(made: Provenance) -> dict[str, Any]:
    return {
        "makers": [_maker_json(m) for m in made.makers],
        "prompt_hash": made.prompt_hash,
        "seed": made.seed,
    }


def _cue_json(cue: Cue) -> dict[str, Any]:
    start, end = _milliseconds(cue.interval)
    edit = cue.edited
    return {
        "id": cue.id,
        "start": start / 1000,
        "end": end / 1000,
        "text": cue.text,
        "kind": cue.kind,
        "language": cue.language,
        "status": cue.status,
        "reason": cue.reason,
        "edited": {"what": list(edit.fields), "source": edit.source} if edit else None,
        "slot": cue.slot_id,
        "spoken_length": None if cue.spoken_length is None else round(cue.spoken_length, 3),
        "fit_steps": list(cue.fit_steps),
        "chosen": cue.chosen,
        "candidates": list(cue.candidates),
        "machine": _derived_json(cue.machine) if cue.machine else None,
        "provenance": _provenance_json(cue.provenance) if cue.provenance else None,
        "stamp": _stamp_json(cue),
    }


def _cue_block(values: Mapping[str, Any]) -> str:
    return "    {\n" + ",\n".join(f"      {_dump(k)}: {_dump(v)}" for k, v in values.items()) + "\n    }"


class _Reader:
    """Reads a track file strictly; ``name`` is the file's, for messages."""

    def __init__(self, name: str) -> None:
        self.name = name

    def track(self, text: str) -> Track:
        head = self.object(self.parse(text), "the file")
        self.schema(head)
        self.keys(head, _HEAD, "the file")
        made = self.object(head.get("made_by", {}), "made_by")
        self.keys(made, ("shotad", "makers"), "made_by")
        language = self.string(head, "language", "the file")
        cues = self.cues(head, language)
        try:
            track = Track(
                film=self.film(head.get("film")),
                language=language,
                makers=tuple(self.maker(m) for m in self.list(made, "makers", "made_by")),
                version=self.string(made, "shotad", "made_by"),
                cues=(),
                reviewed_by=self.strings(head, "reviewed_by", "the file"),
            )
            return track.with_cues(cues)
        except ValueError as error:
            raise self.wrong(f"{error}") from None

    def parse(self, text: str) -> Any:
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            what = f"{self.name}, line {error.lineno}, column {error.colno}: {error.msg}."
            raise ScriptError(what, "Correct the JSON there; a comma or a quote may be missing.") from None

    def schema(self, head: Mapping[str, Any]) -> None:
        version = head.get("schema_version")
        if not isinstance(version, int) or isinstance(version, bool) or version < 1:
            raise self.wrong(f"schema_version is {version!r}, not a whole number from 1")
        if version > SCHEMA_VERSION:
            what = f"{self.name} has schema_version {version}; this shotad reads up to {SCHEMA_VERSION}."
            raise ScriptError(what, "Use the newer shotad that wrote it.")

    def film(self, raw: Any) -> FilmId:
        film = self.object(raw, "film")
        self.keys(film, ("name", "fingerprint", "duration"), "film")
        return FilmId(
            self.string(film, "name", "film"),
            self.string(film, "fingerprint", "film"),
            self.number(film, "duration", "film"),
        )

    def maker(self, raw: Any) -> Maker:
        maker = self.object(raw, "maker")
        self.keys(maker, _MAKER, "maker")
        return Maker(**{key: self.string(maker, key, "maker") for key in _MAKER if key in maker})

    def cues(self, head: Mapping[str, Any], language: str) -> list[Cue]:
        items = self.list(head, "cues", "the file")
        raws = [self.object(raw, f"cue {i}") for i, raw in enumerate(items, 1)]
        taken = {str(raw.get("id")) for raw in raws}
        cues: list[Cue] = []
        for i, raw in enumerate(raws, 1):
            cue = self.cue(raw, f"cue {raw.get('id', i)}", language, taken)
            taken.add(cue.id)
            cues.append(cue)
        written = self.strings(head, "written", "the file")
        present = {cue.id for cue in cues}
        return cues + [gone for span in written if (gone := self.removed(span)).id not in present]

    def removed(self, span: str) -> Cue:
        match = _SPAN.fullmatch(span)
        if match is None:
            raise self.wrong(f"written holds {span!r}, which is not ID:START-END in milliseconds")
        start, end = int(match["start"]) / 1000, int(match["end"]) / 1000
        slot = match["id"] if match["id"].startswith("s") else None
        edit = Edit((EditField.REMOVED,), BY_HAND, None)
        return self.checked(
            lambda: Cue(
                match["id"], slot, Interval(start, end), "", status=CueStatus.DROPPED,
                reason=REMOVED, edited=edit,
            ), match["id"],
        )  # fmt: skip

    def cue(self, raw: Mapping[str, Any], where: str, language: str, taken: set[str]) -> Cue:
        self.keys(raw, _CUE, where)
        start, end = self.number(raw, "start", where), self.number(raw, "end", where)
        made = raw.get("provenance")
        spoken = raw.get("spoken_length")
        cue = self.checked(
            lambda: Cue(
                id=self.string(raw, "id", where) if "id" in raw else hand_id(start, taken),
                slot_id=None if raw.get("slot") is None else self.string(raw, "slot", where),
                interval=Interval(start, end),
                text=clean_text(self.string(raw, "text", where)),
                kind=CueKind(raw.get("kind", "action")),
                language=self.string(raw, "language", where) if "language" in raw else language,
                status=CueStatus(raw.get("status", "placed")),
                reason=self.string(raw, "reason", where) if "reason" in raw else "",
                candidates=self.strings(raw, "candidates", where),
                chosen=self.whole(raw, "chosen", where),
                spoken_length=None if spoken is None else self.number(raw, "spoken_length", where),
                fit_steps=self.strings(raw, "fit_steps", where),
                provenance=None if made is None else self.provenance(made, where),
            ),
            where,
        )
        return self.with_edits(cue, raw, where)

    def with_edits(self, cue: Cue, raw: Mapping[str, Any], where: str) -> Cue:
        machine = None if raw.get("machine") is None else self.derived(raw["machine"], where)
        held = None if raw.get("edited") is None else self.edit(raw["edited"], machine, where)
        cue, found = _differences(cue, raw.get("stamp"), machine)
        if not found:
            return replace(cue, edited=held)
        before = replace(cue, edited=held or Edit(found, BY_HAND, machine))
        return mark_edit(cue, before, found, BY_HAND)

    def edit(self, raw: Any, machine: Derived | None, where: str) -> Edit:
        edit = self.object(raw, f"{where}, edited")
        self.keys(edit, ("what", "source"), f"{where}, edited")
        what = self.strings(edit, "what", f"{where}, edited")
        source = self.string(edit, "source", f"{where}, edited")
        return self.checked(lambda: Edit(tuple(EditField(w) for w in what), source, machine), where)

    def derived(self, raw: Any, where: str) -> Derived:
        where = f"{where}, machine"
        derived = self.object(raw, where)
        self.keys(derived, ("start", "end", "text", "status", "reason"), where)
        return self.checked(
            lambda: Derived(
                Interval(self.number(derived, "start", where), self.number(derived, "end", where)),
                self.string(derived, "text", where),
                CueStatus(self.string(derived, "status", where)),
                self.string(derived, "reason", where),
            ),
            where,
        )

    def provenance(self, raw: Any, where: str) -> Provenance:
        made = self.object(raw, f"{where}, provenance")
        self.keys(made, ("makers", "prompt_hash", "seed"), f"{where}, provenance")
        makers = tuple(self.maker(m) for m in self.list(made, "makers", where))
        return Provenance(
            makers, self.string(made, "prompt_hash", where), self.whole(made, "seed", where) or 0
        )

    def checked(self, make: Callable[[], T], where: str) -> T:
        try:
            return make()
        except ValueError as error:
            raise self.wrong(f"{where}: {error}") from None

    def object(self, raw: Any, where: str) -> Mapping[str, Any]:
        if not isinstance(raw, dict):
            raise self.wrong(f"{where} must be an object in braces, got {raw!r}")
        return raw

    def keys(self, raw: Mapping[str, Any], known: Iterable[str], where: str) -> None:
        known = tuple(known)
        for key in raw:
            if key not in known:
                near = difflib.get_close_matches(key, known, n=1)
                hint = f"Did you mean {near[0]}?" if near else f"Known keys: {', '.join(known)}."
                raise ScriptError(f"{self.name}: {where} has an unknown key {key!r}.", hint)

    def list(self, raw: Mapping[str, Any], key: str, where: str) -> list[Any]:
        value = raw.get(key, [])
        if not isinstance(value, list):
            raise self.wrong(f"{where}: {key} must be a list, got {value!r}")
        return value

    def strings(self, raw: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
        values = self.list(raw, key, where)
        for value in values:
            if not isinstance(value, str):
                raise self.wrong(f"{where}: {key} must hold texts, got {value!r}")
        return tuple(values)

    def string(self, raw: Mapping[str, Any], key: str, where: str) -> str:
        value = raw.get(key)
        if not isinstance(value, str):
            raise self.wrong(f"{where}: {key} must be a text in quotes, got {value!r}")
        return value

    def number(self, raw: Mapping[str, Any], key: str, where: str) -> float:
        value = raw.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong(f"{where}: {key} must be a number of seconds, got {value!r}")
        return float(value)

    def whole(self, raw: Mapping[str, Any], key: str, where: str) -> int | None:
        value = raw.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise self.wrong(f"{where}: {key} must be a whole number, got {value!r}")
        return value

    def wrong(self, what: str) -> ScriptError:
        return ScriptError(f"{self.name}: {what}.", "Correct the value in the file.")


def _differences(cue: Cue, stamp: Any, machine: Derived | None) -> tuple[Cue, tuple[EditField, ...]]:
    """The cue and what a person changed since ``stamp``; another choice brings its candidate's text."""
    parts = stamp.split("-") if isinstance(stamp, str) else []
    if len(parts) != len(_stamp(cue)) + 1:
        return cue, _differences_by_value(cue, machine)
    found = tuple(
        field for part, (field, now) in zip(parts, _stamp(cue).items(), strict=False) if part != now
    )
    chosen_anew = cue.chosen is not None and parts[-1] != str(cue.chosen)
    if chosen_anew and EditField.TEXT not in found:
        text = clean_text(cue.candidates[cue.chosen or 0])
        return replace(cue, text=text), (EditField.TEXT, *found)
    return cue, found


def _differences_by_value(cue: Cue, machine: Derived | None) -> tuple[EditField, ...]:
    if machine is None:
        return (EditField.ADDED,)
    found = (
        (EditField.TEXT, cue.text != machine.text),
        (EditField.TIME, _milliseconds(cue.interval) != _milliseconds(machine.interval)),
        (EditField.STATUS, cue.status != machine.status),
    )
    return tuple(field for field, differs in found if differs)
