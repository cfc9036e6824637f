"""One line as JSON in the track file, and how a person's changes are found in it.

Each line carries a stamp: short names of its times, text and status as the program wrote them, and the
choice among its candidates. A line that no longer fits its stamp was edited, one without a stamp was added.
A stamp also survives a search-and-replace over the whole file, which a stored copy of the text would not.

People edit the file, so it is read strictly (`Fields`): every value is checked, every error says file, place
and value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any, TypeVar

from shotad.core import Interval, ScriptError, did_you_mean, parse_json
from shotad.script.cue import (
    Accepted,
    Cue,
    CueKind,
    CueStatus,
    Derived,
    Doubt,
    Edit,
    EditField,
    Maker,
    Provenance,
    Voiced,
    clean_text,
    hand_id,
    line_stamp,
    mark_edit,
    milliseconds,
    short_hash,
)

BY_HAND = "track.json"
"""Source of edits made in the track file itself."""
EMPTIED = "emptied by a person"

_KEYS = (
    "id", "start", "end", "text", "kind", "language", "status", "reason", "edited", "slot", "spoken_length",
    "fit_steps", "chosen", "candidates", "machine", "provenance", "voiced", "accepted", "seen_from", "doubt",
    "stamp",
)  # fmt: skip


def cue_json(cue: Cue) -> dict[str, Any]:
    """The line as JSON values, what people read first coming first."""
    start, end = _milliseconds(cue.interval)
    edit, machine, voiced = cue.edited, cue.machine, cue.spoken
    derived = spoken = None
    if machine is not None:
        times = [millisecond / 1000 for millisecond in _milliseconds(machine.interval)]
        derived = {
            "start": times[0], "end": times[1], "text": machine.text,
            "status": machine.status, "reason": machine.reason,
        }  # fmt: skip
    if voiced is not None:
        at = voiced.interval
        spoken = {
            "voice": voiced.voice, "text": voiced.text,
            "at": None if at is None else [millisecond / 1000 for millisecond in _milliseconds(at)],
            "speed": round(voiced.speed, 4), "steps": list(voiced.steps), "pause": round(voiced.pause, 3),
            "stamp": voiced.stamp,
        }  # fmt: skip
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
        **({} if cue.seen_from is None else {"seen_from": round(cue.seen_from, 3)}),
        **({"doubt": {**asdict(cue.doubted), "value": round(cue.doubted.value, 2)}} if cue.doubted else {}),
        "fit_steps": list(cue.fit_steps),
        "chosen": cue.chosen,
        "candidates": list(cue.candidates),
        "machine": derived,
        "provenance": asdict(cue.provenance) if cue.provenance else None,
        **({"voiced": spoken} if spoken else {}),
        **({"accepted": asdict(cue.review)} if cue.review else {}),
        "stamp": "-".join([*_stamp(cue).values(), "x" if cue.chosen is None else str(cue.chosen)]),
    }


def read_cue(fields: Fields, raw: Mapping[str, Any], where: str, language: str, taken: set[str]) -> Cue:
    """The line, with its edits marked. ``language`` is the track's, ``taken`` the ids that are in use.

    A line whose text was emptied is dropped; one that the machine left unspoken and that now has a text of
    its own is placed.
    """
    fields.keys(raw, _KEYS, where)
    start, end = fields.number(raw, "start", where), fields.number(raw, "end", where)
    text = clean_text(fields.string(raw, "text", where))
    status = fields.checked(lambda: CueStatus(raw.get("status", "placed")), where)
    emptied = status.heard and not text
    spoken = raw.get("spoken_length")
    cue = fields.checked(
        lambda: Cue(
            id=fields.string(raw, "id", where) if "id" in raw else hand_id(start, taken),
            slot_id=None if raw.get("slot") is None else fields.string(raw, "slot", where),
            interval=Interval(start, end),
            text=text,
            kind=CueKind(raw.get("kind", "action")),
            language=fields.string(raw, "language", where) if "language" in raw else language,
            status=CueStatus.DROPPED if emptied else status,
            reason=EMPTIED if emptied else fields.string(raw, "reason", where) if "reason" in raw else "",
            candidates=fields.strings(raw, "candidates", where),
            chosen=fields.whole(raw, "chosen", where),
            spoken_length=None if spoken is None else fields.number(raw, "spoken_length", where),
            fit_steps=fields.strings(raw, "fit_steps", where),
            provenance=_provenance(fields, raw, where),
            voiced=_voiced(fields, raw, where),
            accepted=fields.made(Accepted, raw, "accepted", where, by=str, stamp=str),
            seen_from=None if raw.get("seen_from") is None else fields.number(raw, "seen_from", where),
            doubted=fields.made(Doubt, raw, "doubt", where, value=float, reasons=list, stamp=str),
        ),
        where,
    )
    return _with_edits(fields, cue, raw, where)


def read_maker(fields: Fields, raw: Any) -> Maker:
    """An engine that took part."""
    told = {"model": "", "revision": "", **fields.object(raw, "maker")}
    return Maker(**fields.record(told, "maker", stage=str, engine=str, model=str, revision=str))


def _voiced(fields: Fields, raw: Mapping[str, Any], where: str) -> Voiced | None:
    def make(at: Any, **made: Any) -> Voiced:
        times = None if at is None else fields.list({"at": at}, "at", f"{where}, voiced")
        return Voiced(**made, interval=None if times is None else Interval(*map(float, times)))

    return fields.made(
        make, raw, "voiced", where,
        voice=str, text=str, at=None, speed=float, steps=list, pause=float, stamp=str,
    )  # fmt: skip


def _milliseconds(interval: Interval) -> tuple[int, int]:
    return milliseconds(interval.start), milliseconds(interval.end)


def _stamp(cue: Cue) -> dict[EditField, str]:
    times, _, text = line_stamp(cue.interval, cue.text).partition("-")
    return {EditField.TIME: times, EditField.TEXT: text, EditField.STATUS: short_hash(cue.status)}


def _with_edits(fields: Fields, cue: Cue, raw: Mapping[str, Any], where: str) -> Cue:
    """The line with what a person changed since its stamp was written."""
    machine = fields.made(
        lambda start, end, status, **said: Derived(Interval(start, end), status=CueStatus(status), **said),
        raw, "machine", where, start=float, end=float, text=str, status=str, reason=str,
    )  # fmt: skip
    held = fields.made(
        lambda what, source: Edit(tuple(map(EditField, what)), source, machine),
        raw, "edited", where, what=list, source=str,
    )  # fmt: skip
    stamp, now = raw.get("stamp"), _stamp(cue)
    parts = stamp.split("-") if isinstance(stamp, str) else []
    if len(parts) == len(now) + 1:
        differs = {field: part != own for part, (field, own) in zip(parts, now.items(), strict=False)}
        if cue.chosen is not None and parts[-1] != str(cue.chosen) and not differs[EditField.TEXT]:
            # Another choice brings its candidate's text.
            cue = replace(cue, text=clean_text(cue.candidates[cue.chosen]))
            differs[EditField.TEXT] = True
    elif machine is None:
        differs = {EditField.ADDED: True}
    else:
        differs = {
            EditField.TEXT: cue.text != machine.text,
            EditField.TIME: _milliseconds(cue.interval) != _milliseconds(machine.interval),
            EditField.STATUS: cue.status != machine.status,
        }
    found = tuple(field for field, is_so in differs.items() if is_so)
    if not found:
        return replace(cue, edited=held)
    told = EditField.TEXT in found and EditField.STATUS not in found and not cue.heard and bool(cue.text)
    if told and not (held and {EditField.STATUS, EditField.REMOVED} & set(held.fields)):
        cue, found = replace(cue, status=CueStatus.PLACED, reason=""), (*found, EditField.STATUS)
    before = replace(cue, edited=held or Edit(found, BY_HAND, machine))
    return mark_edit(cue, before, found, BY_HAND)


def _provenance(fields: Fields, raw: Mapping[str, Any], where: str) -> Provenance | None:
    def make(makers: Any, prompt_hash: str, seed: int | None) -> Provenance:
        given = fields.list(raw["provenance"], "makers", f"{where}, provenance")
        return Provenance(tuple(read_maker(fields, m) for m in given), prompt_hash, seed or 0)

    return fields.made(make, raw, "provenance", where, makers=None, prompt_hash=str, seed=int)


T = TypeVar("T")


class Fields:
    """Takes values out of parsed JSON. ``name`` is the file's; ``where`` in each call the place in it.

    Every method raises ScriptError where the value is not what it must be.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def parse(self, text: str) -> Any:
        """The JSON in ``text``."""
        try:
            return parse_json(text)
        except json.JSONDecodeError as error:
            what = f"{self.name}, line {error.lineno}, column {error.colno}: {error.msg}."
            raise ScriptError(what, "Correct the JSON there; a comma or a quote may be missing.") from None
        except ValueError as error:  # too deep, or a number of too many digits
            raise self.wrong(str(error)) from None

    def checked(self, make: Callable[[], T], where: str) -> T:
        """What ``make`` makes; its ValueError becomes a ScriptError that says where."""
        try:
            return make()
        except ValueError as error:
            raise self.wrong(f"{where}: {error}") from None

    def object(self, raw: Any, where: str) -> Mapping[str, Any]:
        """``raw``, which must be an object."""
        if not isinstance(raw, dict):
            raise self.wrong(f"{where} must be an object in braces, got {raw!r}")
        return raw

    def keys(self, raw: Mapping[str, Any], known: Iterable[str], where: str) -> None:
        """Refuse keys that are not known, with the nearest one that is."""
        known = tuple(known)
        for key in raw:
            if key not in known:
                hint = did_you_mean(key, known).rstrip() or f"Known keys: {', '.join(known)}."
                raise ScriptError(f"{self.name}: {where} has an unknown key {key!r}.", hint)

    def record(self, raw: Any, where: str, **kinds: type | None) -> dict[str, Any]:
        """The values of an object that has no other keys, each of its kind (None: as it is)."""
        given = self.object(raw, where)
        self.keys(given, kinds, where)
        takes: Mapping[type | None, Callable[[Mapping[str, Any], str, str], Any]] = {
            str: self.string, float: self.number, int: self.whole, list: self.strings,
            None: lambda values, key, _: values.get(key),
        }  # fmt: skip
        return {key: takes[kind](given, key, where) for key, kind in kinds.items()}

    def made(
        self, make: Callable[..., T], raw: Mapping[str, Any], key: str, where: str, **kinds: type | None
    ) -> T | None:
        """What ``make`` makes of the `record` under a key; None where there is none."""
        if raw.get(key) is None:
            return None
        where = f"{where}, {key}"
        values = self.record(raw[key], where, **kinds)
        return self.checked(lambda: make(**values), where)

    def list(self, raw: Mapping[str, Any], key: str, where: str) -> list[Any]:
        """A list; absent is empty."""
        found: list[Any] = self._of_kind(raw.get(key, []), list, f"{where}: {key} must be a list")
        return found

    def strings(self, raw: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
        """A list of texts; absent is empty."""
        values = self.list(raw, key, where)
        return tuple(self._of_kind(value, str, f"{where}: {key} must hold texts") for value in values)

    def string(self, raw: Mapping[str, Any], key: str, where: str) -> str:
        """A text."""
        return str(self._of_kind(raw.get(key), str, f"{where}: {key} must be a text in quotes"))

    def number(self, raw: Mapping[str, Any], key: str, where: str) -> float:
        """A number."""
        value = self._of_kind(raw.get(key), (int, float), f"{where}: {key} must be a number of seconds")
        try:
            return float(value)
        except OverflowError:
            raise self.wrong(f"{where}: {key} is too large a number of seconds") from None

    def whole(self, raw: Mapping[str, Any], key: str, where: str) -> int | None:
        """A whole number, or None."""
        if raw.get(key) is None:
            return None
        return int(self._of_kind(raw[key], int, f"{where}: {key} must be a whole number"))

    def _of_kind(self, value: Any, kind: type | tuple[type, ...], must: str) -> Any:
        if isinstance(value, bool) or not isinstance(value, kind):
            raise self.wrong(f"{must}, got {value!r}")
        return value

    def wrong(self, what: str) -> ScriptError:
        """The error for ``what``."""
        return ScriptError(f"{self.name}: {what}.", "Correct the value in the file.")
