"""The track: all lines of one film, and the file that people edit.

``track.json`` finds out by itself what a person changed in it. Each line carries a stamp: short names of its
times, text and status as the program wrote them, and the choice among its candidates. A line that no longer
fits its stamp was edited, one without a stamp was added; the head lists the lines written: one that is listed
and absent was deleted. Unlike a stored copy of the text, a stamp survives a search-and-replace over the file.
People edit it, so it is read strictly (`Fields`): every error says file, place and value.

People call a line by an id, a time, or the number that SRT gives it (`find_lines`).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from shotad.core import (
    Interval,
    ScriptError,
    UsageError,
    WorkFolderError,
    did_you_mean,
    name_of,
    parse_json,
    quoted,
    read_file,
)
from shotad.script.cue import (
    REDO,
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
    Translation,
    Voiced,
    clean_text,
    hand_id,
    is_changed,
    is_language,
    line_stamp,
    mark_edit,
    milliseconds,
    one_line,
    parse_time,
    short_hash,
    timecode,
    track_stamp,
)

BY_HAND = "track.json"
"""Source of edits made in the track file itself."""
EMPTIED = "emptied by a person"

_KEYS = (
    "id", "start", "end", "text", "kind", "language", "status", "reason", "edited", "slot", "spoken_length",
    "fit_steps", "chosen", "candidates", "machine", "provenance", "voiced", "accepted", "seen_from", "doubt",
    "translation", "stamp",
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
        **({"translation": asdict(cue.translation)} if cue.translation else {}),
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
            translation=_translation(fields, raw, where),
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
            EditField.TEXT: one_line(cue.text) != one_line(machine.text),
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


def _translation(fields: Fields, raw: Mapping[str, Any], where: str) -> Translation | None:
    def make(failures: int | None, **texts: str) -> Translation:
        return Translation(**texts, failures=failures or 0)

    return fields.made(make, raw, "translation", where, line=str, text=str, terms=str, failures=int)


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
            raise self.wrong(f"{where} must be an object in braces, got {quoted(raw)}")
        return raw

    def keys(self, raw: Mapping[str, Any], known: Iterable[str], where: str) -> None:
        """Refuse keys that are not known, with the nearest one that is."""
        known = tuple(known)
        for key in raw:
            if key not in known:
                hint = did_you_mean(key, known).rstrip() or f"Known keys: {', '.join(known)}."
                raise ScriptError(f"{self.name}: {where} has an unknown key {quoted(key)}.", hint)

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
            raise self.wrong(f"{must}, got {quoted(value)}")
        return value

    def wrong(self, what: str) -> ScriptError:
        """The error for ``what``."""
        return ScriptError(f"{self.name}: {what}.", "Correct the value in the file.")


SCHEMA_VERSION = 1
REMOVED = "removed by a person"

_HEAD = (
    "schema_version", "statement", "film", "language", "translated_from", "made_by", "reviewed_by", "written",
    "cues",
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
        # Files are looked for, and called, by it: a track from elsewhere may not lead to another folder.
        if self.name in (".", "..") or "/" in self.name or "\0" in self.name:
            raise ValueError(f"the film's name must be that of a file, without a folder, got {self.name!r}")


@dataclass(frozen=True, slots=True)
class Track:
    """The lines of one film, ascending by start, each id once.

    ``version`` is that of the program; ``reviewed_by`` are people's names, empty while nobody has reviewed.
    ``translated_from`` is the language (a tag) of the track that this is a translation of; empty where the
    lines were written in their own language.
    """

    film: FilmId
    language: str
    makers: tuple[Maker, ...]
    version: str
    cues: tuple[Cue, ...]
    reviewed_by: tuple[str, ...] = ()
    translated_from: str = ""

    def __post_init__(self) -> None:
        if any(sign in self.language for sign in "/\\\0"):  # files and folders are called by it
            raise ValueError(f"language must be a language's tag, got {self.language!r}")
        if self.translated_from and not is_language(self.translated_from):
            raise ValueError(f"translated_from must be a language's tag, got {quoted(self.translated_from)}")
        seen: dict[str, Cue] = {}
        for cue in self.cues:
            if cue.id in seen:
                raise ValueError(
                    f"two cues have the id {cue.id}: {quoted(seen[cue.id].text)} and {quoted(cue.text)}"
                )
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

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the track to a file, in the format that its name ends in; the file's path.

        ``.json`` is the whole track, as `load_track` reads it. All others hold the heard lines: ``.vtt``,
        ``.srt``, ``.dapt.xml``, ``.ttml``, ``.csv``, ``.frazier.csv``, ``.reaper.csv``, ``.docx``, ``.xlsx``,
        ``.hls.m3u8``, ``.dash.xml``. Its folder is made where it is missing. Raises ScriptError for another
        ending, or where a library that the format needs is not installed; WorkFolderError.
        """
        from shotad.script.formats import save_as

        return save_as(self, Path(path))

    @property
    def statement(self) -> str:
        """One line for every script: made by machine, by which engines, edited and reviewed or not."""
        engines = "; ".join(dict.fromkeys(maker.name for maker in self.makers)) or "no engine named"
        sources = [cue.edited.source for cue in self.cues if cue.edited is not None and is_changed(cue)]
        anew = sources.count(REDO)
        counts = {"edited by a person": len(sources) - anew, "described again on request": anew}
        edited = "".join(f" {n} line{'s' if n > 1 else ''} {what}." for what, n in counts.items() if n)
        source = f" Translated from {name_of(self.translated_from)}." if self.translated_from else ""
        return clean_text(
            f"Audio description made by machine: shotad {self.version} ({engines}).{source}{edited}"
            f"{self.review}"
        ).replace("\n", " ")

    @property
    def review(self) -> str:
        """What people have read of the lines, as the end of the statement."""
        heard = self.heard
        reviews = [review for cue in heard if (review := cue.review) is not None]
        by = _by(review.by for review in reviews)
        lines = f" {len(reviews)} of {len(heard)} lines accepted{by}." if reviews else ""
        if reviews and len(reviews) == len(heard):
            lines = f" Reviewed line by line{by}."
        whole = f" Reviewed{_by(self.reviewed_by)}." if self.reviewed_by else ""
        return lines + whole or " Not reviewed by a person."

    @property
    def reviewers(self) -> tuple[str, ...]:
        """All who have read the whole, or accepted a line of it as it is; each once."""
        reviews = (cue.review for cue in self.heard)
        names = (review.by for review in reviews if review is not None and review.by)
        return tuple(dict.fromkeys((*self.reviewed_by, *names)))

    @property
    def stamp(self) -> str:
        """Short name of all that is heard: scripts carry it, so that an import knows what it stands on."""
        return track_stamp((cue.id, line_stamp(cue.interval, cue.text)) for cue in self.heard)


def _by(names: Iterable[str]) -> str:
    """`` by Ann, Bob``; nothing where nobody gave a name."""
    known = ", ".join(dict.fromkeys(name for name in names if name))
    return f" by {known}" if known else ""


def cue_block(cue: Cue) -> str:
    """A line as it stands in the file, one field a line of text."""
    values = cue_json(cue)
    return "    {\n" + ",\n".join(f"      {_dump(k)}: {_dump(v)}" for k, v in values.items()) + "\n    }"


def cue_span(cue: Cue) -> str:
    """A line among those that were written: ``s00083120:83120-86120``."""
    return f"{cue.id}:{milliseconds(cue.interval.start)}-{milliseconds(cue.interval.end)}"


def to_json(
    track: Track, block: Callable[[Cue], str] = cue_block, span: Callable[[Cue], str] | None = None
) -> str:
    """The track as the file that people edit: one field a line, keys in constant order, times to 1 ms.

    ``block`` gives the text of a line and ``span`` its entry among those written (`cue_span`): who writes a
    track again and again may know them already.
    """
    film = track.film
    head = {
        "schema_version": SCHEMA_VERSION,
        "statement": track.statement,
        "film": {"name": film.name, "fingerprint": film.fingerprint, "duration": round(film.duration, 3)},
        "language": track.language,
        **({"translated_from": track.translated_from} if track.translated_from else {}),
        "made_by": {"shotad": track.version, "makers": list(map(asdict, track.makers))},
        "reviewed_by": list(track.reviewed_by),
        "written": list(map(span or cue_span, track.cues)),
    }
    lines = [f"  {_dump(key)}: {_dump(value)}," for key, value in head.items()]
    cues = ",\n".join(map(block, track.cues))
    body = f'  "cues": [\n{cues}\n  ]' if cues else '  "cues": []'
    return "{\n" + "\n".join(lines) + "\n" + body + "\n}\n"


def from_json(text: str, name: str = BY_HAND) -> Track:
    """The track in ``text``, with what a person changed in it marked as edits.

    Unknown keys are refused, since a misspelt one would lose work, and so is a newer schema.
    Raises ScriptError with file, line or cue, value and remedy.
    """
    fields = Fields(name)
    head = fields.object(fields.parse(text), "the file")
    version = head.get("schema_version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise fields.wrong(f"schema_version is {quoted(version)}, not a whole number from 1")
    if version > SCHEMA_VERSION:
        what = f"{fields.name} has schema_version {version}; this shotad reads up to {SCHEMA_VERSION}."
        raise ScriptError(what, "Use the newer shotad that wrote it.")
    fields.keys(head, _HEAD, "the file")
    made = fields.object(head.get("made_by", {}), "made_by")
    fields.keys(made, ("shotad", "makers"), "made_by")
    language = fields.string(head, "language", "the file")
    # The lines of the file; those not listed as written are added by a person, those only listed removed.
    items = fields.list(head, "cues", "the file")
    raws = [fields.object(raw, f"cue {i}") for i, raw in enumerate(items, 1)]
    removed = (_removed(fields, one) for one in fields.strings(head, "written", "the file"))
    written = {gone.id: gone for gone in removed}
    taken = {str(raw.get("id")) for raw in raws} | set(written)
    cues: list[Cue] = []
    for i, raw in enumerate(raws, 1):
        cue = read_cue(fields, raw, f"cue {raw.get('id', i)}", language, taken)
        if "written" in head and cue.id not in written:
            cue = replace(cue, edited=Edit((EditField.ADDED,), BY_HAND, None))
        taken.add(cue.id)
        cues.append(cue)
    present = {cue.id for cue in cues}
    cues = [*cues, *(gone for gone in written.values() if gone.id not in present)]
    return fields.checked(
        lambda: Track(
            film=FilmId(**fields.record(head.get("film"), "film", name=str, fingerprint=str, duration=float)),
            language=language,
            makers=tuple(read_maker(fields, m) for m in fields.list(made, "makers", "made_by")),
            version=fields.string(made, "shotad", "made_by"),
            cues=(),
            reviewed_by=fields.strings(head, "reviewed_by", "the file"),
            translated_from=fields.string({"translated_from": "", **head}, "translated_from", "the file"),
        ).with_cues(cues),
        "the file",
    )


def load_track(path: str | os.PathLike[str]) -> Track:
    """The track in a file. Raises ScriptError if it cannot be read or understood."""
    try:
        text = read_file(Path(path), follow=True).decode("utf-8-sig")
    except WorkFolderError as error:
        raise ScriptError(f"The track cannot be read: {error.what}", error.hint) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ScriptError(f"The track {path} cannot be read: {error}.") from None
    return from_json(text, str(path))


def _order(cue: Cue) -> tuple[int, str]:
    return milliseconds(cue.interval.start), cue.id


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _removed(fields: Fields, span: str) -> Cue:
    """The line at ``span``, an entry of the list of lines written, as one that a person removed."""
    match = _SPAN.fullmatch(span)
    if match is None:
        raise fields.wrong(f"written holds {quoted(span)}, which is not ID:START-END in milliseconds")
    start, end = int(match["start"]) / 1000, int(match["end"]) / 1000
    slot = match["id"] if match["id"].startswith("s") else None
    edit = Edit((EditField.REMOVED,), BY_HAND, None)
    return fields.checked(
        lambda: Cue(
            match["id"], slot, Interval(start, end), "", status=CueStatus.DROPPED,
            reason=REMOVED, edited=edit,
        ), match["id"],
    )  # fmt: skip


def find_lines(track: Track, names: Sequence[str]) -> tuple[Cue, ...]:
    """The lines called ``names``, each once, in the order of the film.

    ``s00083120`` is an id; ``1:23`` or ``83.5`` a time within a line or the second in which it starts; ``12``
    the twelfth line that is heard. Raises UsageError for what is no line, with the nearest.
    """
    found = {_find_line(track, name.strip()).id for name in names}
    return tuple(cue for cue in track.cues if cue.id in found)


def _find_line(track: Track, name: str) -> Cue:
    if re.fullmatch(r"[sh]\d+", name):
        named = next((cue for cue in track.cues if cue.id == name), None)
        if named is None:
            raise UsageError(f"There is no line {name}.", _nearest(track, int(name[1:]) / 1000))
        return named
    if re.fullmatch(r"\d+", name):
        if not 1 <= int(name) <= len(track.heard):
            what = f"There is no line {int(name)}: {len(track.heard)} lines are heard."
            raise UsageError(what, "Give a time as 1:23 or 83.0, or an id as s00083120.")
        return track.heard[int(name) - 1]
    try:
        second = parse_time(name)
    except ValueError:
        what = f"{quoted(name)} is neither an id nor a time nor a number of a line."
        raise UsageError(what, "Write s00083120, 1:23 or 12.") from None
    now = milliseconds(second)
    within = [c for c in track.cues if milliseconds(c.interval.start) <= now < milliseconds(c.interval.end)]
    begun = [c for c in track.cues if now <= milliseconds(c.interval.start) < now + 1000]
    found = within or begun
    if not found:
        raise UsageError(f"There is no line at {name}.", _nearest(track, second))
    if len(found) > 1:
        told = " and ".join(f"{cue.id} ({timecode(cue.interval.start)})" for cue in found)
        raise UsageError(f"At {name} there is more than one line: {told}.", "Give the id of the one meant.")
    return found[0]


def _nearest(track: Track, second: float) -> str:
    if not track.cues:
        return "The track has no lines."
    near = min(track.cues, key=lambda cue: (abs(cue.interval.start - second), cue.id))
    return f"The nearest is {near.id}, at {timecode(near.interval.start)}."
