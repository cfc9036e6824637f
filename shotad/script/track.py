"""The track: all lines of one film, and ``track.json``, the file that people edit.

Reading the file detects what a person changed in it. Each line has a stamp: hashes of its times, text and
status as the program wrote them, and the chosen candidate. A line that differs from its stamp was edited, one
without a stamp was added. The head lists the lines written: one that is listed and absent was deleted. Unlike
a stored copy of the text, a stamp survives a search-and-replace over the file. Because people edit the file,
it is read strictly (`Fields`): every error says file, place and value.

`find_lines` finds a line by its id, a time, or its number in SRT.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from shotad.core import Interval
from shotad.core.arguments import path_of
from shotad.core.errors import (
    ScriptError,
    UsageError,
    WorkFolderError,
    did_you_mean,
    quoted,
)
from shotad.core.files import read_file
from shotad.core.python_words import python_messages
from shotad.core.records import parse_json
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
    LineNote,
    Maker,
    Provenance,
    Recording,
    SpokenTake,
    Translation,
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
from shotad.script.reasons import in_english, reason_in
from shotad.script.track_texts import texts_in

BY_HAND = "track.json"
"""Source of edits made in the track file itself."""
EMPTIED = in_english("reason.emptied")
"""Reason of a line whose text a person deleted in the track file."""

_CUE_KEYS = (
    "id", "start", "end", "text", "kind", "language", "status", "reason", "edited", "slot", "spoken_length",
    "fit_steps", "chosen", "candidates", "machine", "provenance", "voiced", "accepted", "seen_from", "doubt",
    "translation", "voice", "pace", "recording", "note", "stamp",
)  # fmt: skip


def cue_json(cue: Cue) -> dict[str, Any]:
    """The line as JSON values, with the stamp by which a change of it is noticed in the file."""
    stamp_parts = [*_field_hashes(cue).values(), "x" if cue.chosen is None else str(cue.chosen)]
    return {**cue_values(cue), "stamp": "-".join(stamp_parts)}


def cue_values(cue: Cue) -> dict[str, Any]:
    """The line as JSON values, by the keys of the file: those that people read first come first.

    Keys with no value are left out where few lines have one (``seen_from``, ``doubt``, ``translation``,
    ``voiced``, ``voice``, ``pace``, ``recording``, ``accepted``, ``note``).
    """
    start, end = _rounded_seconds(cue.interval)
    edit, machine, take = cue.edited, cue.machine, cue.spoken
    machine_json = voiced_json = doubt_json = None
    if machine is not None:
        machine_start, machine_end = _rounded_seconds(machine.interval)
        machine_json = {
            "start": machine_start, "end": machine_end, "text": machine.text,
            "status": machine.status, "reason": machine.reason,
        }  # fmt: skip
    if take is not None:
        voiced_json = {
            "voice": take.voice, "text": take.text,
            "at": None if take.interval is None else list(_rounded_seconds(take.interval)),
            "speed": round(take.speed, 4), "steps": list(take.steps), "pause": round(take.pause, 3),
            "stamp": take.stamp,
        }  # fmt: skip
    if cue.stored_doubt is not None:
        doubt_json = {**asdict(cue.stored_doubt), "value": round(cue.stored_doubt.value, 2)}
    return {
        "id": cue.id,
        "start": start,
        "end": end,
        "text": cue.text,
        "kind": cue.kind,
        "language": cue.language,
        "status": cue.status,
        "reason": cue.reason,
        "edited": {"what": list(edit.fields), "source": edit.source} if edit else None,
        "slot": cue.slot_id,
        "spoken_length": None if cue.spoken_length is None else round(cue.spoken_length, 3),
        **({} if cue.seen_from is None else {"seen_from": round(cue.seen_from, 3)}),
        **({"doubt": doubt_json} if doubt_json else {}),
        "fit_steps": list(cue.fit_steps),
        "chosen": cue.chosen,
        "candidates": list(cue.candidates),
        "machine": machine_json,
        "provenance": asdict(cue.provenance) if cue.provenance else None,
        **({"translation": asdict(cue.translation)} if cue.translation else {}),
        **({"voiced": voiced_json} if voiced_json else {}),
        **({"voice": cue.voice} if cue.voice else {}),
        **({} if cue.pace == 1 else {"pace": round(cue.pace, 2)}),
        **({"recording": asdict(cue.stored_recording)} if cue.stored_recording else {}),
        **({"accepted": asdict(cue.review)} if cue.review else {}),
        **({"note": asdict(cue.note)} if cue.note else {}),
    }


def read_cue(fields: Fields, raw: Mapping[str, Any], place: str, language: str, taken_ids: set[str]) -> Cue:
    """The line of a JSON object, with what a person changed in it marked as an edit.

    ``place`` is where it stands in the file, ``language`` that of the track, ``taken_ids`` the ids in use.
    A line whose text a person deleted is dropped; one that the machine did not speak and that now has a new
    text is placed. Raises ScriptError.
    """
    fields.check_keys(raw, _CUE_KEYS, place)
    start, end = fields.number(raw, "start", place), fields.number(raw, "end", place)
    text = clean_text(fields.string(raw, "text", place))
    status = fields.convert(lambda: CueStatus(raw.get("status", "placed")), place)
    is_emptied = status.heard and not text
    # Within `convert`, which turns the ValueErrors of these types into a ScriptError.
    cue = fields.convert(
        lambda: Cue(
            id=fields.string(raw, "id", place) if "id" in raw else hand_id(start, taken_ids),
            slot_id=None if raw.get("slot") is None else fields.string(raw, "slot", place),
            interval=Interval(start, end),
            text=text,
            kind=CueKind(raw.get("kind", "action")),
            language=fields.string(raw, "language", place) if "language" in raw else language,
            status=CueStatus.DROPPED if is_emptied else status,
            reason=reason_in(EMPTIED, language)
            if is_emptied
            else fields.string({"reason": "", **raw}, "reason", place),
            candidates=fields.strings(raw, "candidates", place),
            chosen=fields.integer(raw, "chosen", place),
            spoken_length=fields.optional_number(raw, "spoken_length", place),
            fit_steps=fields.strings(raw, "fit_steps", place),
            provenance=_read_provenance(fields, raw, place),
            stored_take=_read_take(fields, raw, place),
            accepted=fields.build(Accepted, raw, "accepted", place, by=str, stamp=str),
            seen_from=fields.optional_number(raw, "seen_from", place),
            stored_doubt=fields.build(Doubt, raw, "doubt", place, value=float, reasons=list, stamp=str),
            translation=_read_translation(fields, raw, place),
            voice="" if raw.get("voice") is None else fields.string(raw, "voice", place),
            pace=1.0 if raw.get("pace") is None else fields.number(raw, "pace", place),
            stored_recording=fields.build(
                Recording, raw, "recording", place, file=str, stamp=str, seconds=float
            ),
            note=fields.build(LineNote, raw, "note", place, text=str, by=str),
        ),
        place,
    )
    return _with_edits(fields, cue, raw, place)


def read_maker(fields: Fields, raw: Any) -> Maker:
    """The engine of a JSON object; ``model`` and ``revision`` may be missing. Raises ScriptError."""
    with_defaults = {"model": "", "revision": "", **fields.object(raw, "maker")}
    return Maker(**fields.record(with_defaults, "maker", stage=str, engine=str, model=str, revision=str))


def _read_take(fields: Fields, raw: Mapping[str, Any], place: str) -> SpokenTake | None:
    """How the line was last spoken; None where the file does not say."""

    def make(at: Any, **values: Any) -> SpokenTake:
        times = None if at is None else fields.list({"at": at}, "at", f"{place}, voiced")
        return SpokenTake(**values, interval=None if times is None else Interval(*map(float, times)))

    return fields.build(
        make, raw, "voiced", place,
        voice=str, text=str, at=None, speed=float, steps=list, pause=float, stamp=str,
    )  # fmt: skip


def _milliseconds(interval: Interval) -> tuple[int, int]:
    return milliseconds(interval.start), milliseconds(interval.end)


def _rounded_seconds(interval: Interval) -> tuple[float, float]:
    """Start and end, rounded to 1 ms."""
    return milliseconds(interval.start) / 1000, milliseconds(interval.end) / 1000


def _field_hashes(cue: Cue) -> dict[EditField, str]:
    """The hashes by which a change of each field is detected."""
    times, _, text = line_stamp(cue.interval, cue.text).partition("-")
    return {EditField.TIME: times, EditField.TEXT: text, EditField.STATUS: short_hash(cue.status)}


def _with_edits(fields: Fields, cue: Cue, raw: Mapping[str, Any], place: str) -> Cue:
    """The line with the edits that the file lists, and those a person made since its stamp was written."""
    machine = fields.build(
        lambda start, end, status, **texts: Derived(Interval(start, end), status=CueStatus(status), **texts),
        raw, "machine", place, start=float, end=float, text=str, status=str, reason=str,
    )  # fmt: skip
    # The parameters have the names of the keys in the file.
    earlier_edit = fields.build(
        lambda what, source: Edit(tuple(map(EditField, what)), source, machine),
        raw, "edited", place, what=list, source=str,
    )  # fmt: skip
    stamp, current_hashes = raw.get("stamp"), _field_hashes(cue)
    stamp_parts = stamp.split("-") if isinstance(stamp, str) else []
    if len(stamp_parts) == len(current_hashes) + 1:
        *written_hashes, written_choice = stamp_parts
        changes = {}
        for field, written_hash in zip(current_hashes, written_hashes, strict=True):
            changes[field] = written_hash != current_hashes[field]
        if cue.chosen is not None and written_choice != str(cue.chosen) and not changes[EditField.TEXT]:
            # A person chose another candidate: its text becomes that of the line.
            cue = replace(cue, text=clean_text(cue.candidates[cue.chosen]))
            changes[EditField.TEXT] = True
    elif machine is None:
        changes = {EditField.ADDED: True}
    else:
        # The stamp is lost, but the machine's version is there to compare with.
        changes = {
            EditField.TEXT: one_line(cue.text) != one_line(machine.text),
            EditField.TIME: _milliseconds(cue.interval) != _milliseconds(machine.interval),
            EditField.STATUS: cue.status != machine.status,
        }
    changed_fields = tuple(field for field, is_different in changes.items() if is_different)
    if not changed_fields:
        return replace(cue, edited=earlier_edit)
    only_text_changed = EditField.TEXT in changed_fields and EditField.STATUS not in changed_fields
    has_new_text = only_text_changed and not cue.heard and bool(cue.text)
    # Who silenced a line before, and now words it differently, still wants it silent.
    was_silenced = earlier_edit and {EditField.STATUS, EditField.REMOVED} & set(earlier_edit.fields)
    if has_new_text and not was_silenced:
        cue = replace(cue, status=CueStatus.PLACED, reason="")
        changed_fields = (*changed_fields, EditField.STATUS)
    before = replace(cue, edited=earlier_edit or Edit(changed_fields, BY_HAND, machine))
    return mark_edit(cue, before, changed_fields, BY_HAND)


def _read_provenance(fields: Fields, raw: Mapping[str, Any], place: str) -> Provenance | None:
    """How the machine made the line; None where the file does not say."""

    def make(makers: Any, prompt_hash: str, seed: int | None) -> Provenance:
        # Read from ``raw`` once more, since a list may be missing, and must be a list if it is not.
        raw_makers = fields.list(raw["provenance"], "makers", f"{place}, provenance")
        return Provenance(tuple(read_maker(fields, maker) for maker in raw_makers), prompt_hash, seed or 0)

    return fields.build(make, raw, "provenance", place, makers=None, prompt_hash=str, seed=int)


def _read_translation(fields: Fields, raw: Mapping[str, Any], place: str) -> Translation | None:
    """The source line and its translation; None where the line is no translation."""

    def make(failures: int | None, **texts: str) -> Translation:
        return Translation(**texts, failures=failures or 0)

    return fields.build(make, raw, "translation", place, line=str, text=str, terms=str, failures=int)


T = TypeVar("T")


class Fields:
    """Reads values from parsed JSON, and checks their types.

    ``file_name`` is the name of the file in messages. In the methods ``raw`` is a parsed object and ``place``
    where it stands in the file, such as ``cue s00083120``. Every method raises ScriptError, with file, place
    and value, for a value of another type.
    """

    def __init__(self, file_name: str) -> None:
        self.file_name = file_name

    def parse(self, text: str) -> Any:
        """The JSON in ``text``."""
        try:
            return parse_json(text)
        except json.JSONDecodeError as error:
            message = f"{self.file_name}, line {error.lineno}, column {error.colno}: {error.msg}."
            raise ScriptError(message, "Correct the JSON there; a comma or a quote may be missing.") from None
        except ValueError as error:  # too deep, or a number of too many digits
            raise self.error(str(error)) from None

    def convert(self, make: Callable[[], T], place: str) -> T:
        """The result of ``make``; a ValueError that it raises becomes a ScriptError with file and place."""
        try:
            return make()
        except ValueError as error:
            raise self.error(f"{place}: {error}") from None

    def object(self, raw: Any, place: str) -> Mapping[str, Any]:
        """``raw``, which must be an object."""
        if not isinstance(raw, dict):
            raise self.error(f"{place} must be an object in braces, got {quoted(raw)}")
        return raw

    def check_keys(self, raw: Mapping[str, Any], allowed_keys: Iterable[str], place: str) -> None:
        """Raise ScriptError for a key that is not among ``allowed_keys``, and suggest a similar one."""
        allowed = tuple(allowed_keys)
        for key in raw:
            if key not in allowed:
                hint = did_you_mean(key, allowed).rstrip() or f"Known keys: {', '.join(allowed)}."
                raise ScriptError(f"{self.file_name}: {place} has an unknown key {quoted(key)}.", hint)

    def record(self, raw: Any, place: str, **kinds: type | None) -> dict[str, Any]:
        """The values of an object by key.

        It must have no other keys than ``kinds``, which gives the type of each value (None: not checked).
        """
        values = self.object(raw, place)
        self.check_keys(values, kinds, place)
        readers: Mapping[type | None, Callable[[Mapping[str, Any], str, str], Any]] = {
            str: self.string, float: self.number, int: self.integer, list: self.strings,
            None: lambda values, key, _: values.get(key),
        }  # fmt: skip
        return {key: readers[kind](values, key, place) for key, kind in kinds.items()}

    def build(
        self, make: Callable[..., T], raw: Mapping[str, Any], key: str, place: str, **kinds: type | None
    ) -> T | None:
        """``make``, called with the values of the `record` under ``key``; None where the key is missing."""
        if raw.get(key) is None:
            return None
        place = f"{place}, {key}"
        values = self.record(raw[key], place, **kinds)
        return self.convert(lambda: make(**values), place)

    def list(self, raw: Mapping[str, Any], key: str, place: str) -> list[Any]:
        """A list; empty where the key is missing."""
        values: list[Any] = self._typed(raw.get(key, []), list, f"{place}: {key} must be a list")
        return values

    def strings(self, raw: Mapping[str, Any], key: str, place: str) -> tuple[str, ...]:
        """A list of texts; empty where the key is missing."""
        values = self.list(raw, key, place)
        return tuple(self._typed(value, str, f"{place}: {key} must hold texts") for value in values)

    def string(self, raw: Mapping[str, Any], key: str, place: str) -> str:
        """A text."""
        return str(self._typed(raw.get(key), str, f"{place}: {key} must be a text in quotes"))

    def number(self, raw: Mapping[str, Any], key: str, place: str) -> float:
        """A number of seconds."""
        value = self._typed(raw.get(key), (int, float), f"{place}: {key} must be a number of seconds")
        try:
            return float(value)
        except OverflowError:
            raise self.error(f"{place}: {key} is too large a number of seconds") from None

    def optional_number(self, raw: Mapping[str, Any], key: str, place: str) -> float | None:
        """A number of seconds, or None."""
        return None if raw.get(key) is None else self.number(raw, key, place)

    def integer(self, raw: Mapping[str, Any], key: str, place: str) -> int | None:
        """A whole number, or None."""
        if raw.get(key) is None:
            return None
        return int(self._typed(raw[key], int, f"{place}: {key} must be a whole number"))

    def _typed(self, value: Any, kind: type | tuple[type, ...], requirement: str) -> Any:
        # In Python true and false are ints; in the file they are no numbers.
        if isinstance(value, bool) or not isinstance(value, kind):
            raise self.error(f"{requirement}, got {quoted(value)}")
        return value

    def error(self, message: str) -> ScriptError:
        """The error with this message, and the file's name before it."""
        return ScriptError(f"{self.file_name}: {message}.", "Correct the value in the file.")


SCHEMA_VERSION = 1
REMOVED = in_english("reason.removed")
"""Reason of a line that a person deleted from the track file."""

_HEAD_KEYS = (
    "schema_version", "statement", "film", "language", "translated_from", "made_by", "reviewed_by", "written",
    "cues",
)  # fmt: skip
_SPAN = re.compile(r"(?P<id>[sh]\d{8,}):(?P<start>\d+)-(?P<end>\d+)")
"""As `cue_span` writes it."""


@dataclass(frozen=True, slots=True)
class FilmId:
    """The film that a track belongs to. ``duration`` is in seconds."""

    name: str
    fingerprint: str
    duration: float

    def __post_init__(self) -> None:
        if not 0 < self.duration < float("inf"):
            raise ValueError(f"film duration must be positive and finite, got {self.duration}")
        # Files are opened and written by this name: a track from elsewhere must not lead to another folder.
        leads_away = self.name in (".", "..") or "/" in self.name or Path(self.name).name != self.name
        if leads_away or "\0" in self.name:
            raise ValueError(f"the film's name must be that of a file, without a folder, got {self.name!r}")


@dataclass(frozen=True, slots=True)
class Track:
    """The lines of one film. Raises ValueError for values that contradict each other.

    Attributes:
        film: Name, fingerprint and length (in seconds) of the film.
        language: Language tag, such as ``en``.
        makers: The engines that took part.
        version: Version of the program that made the track.
        cues: The lines, ascending by start, each id once.
        reviewed_by: Names of people who reviewed the whole track. Empty: nobody did.
        translated_from: For a translation, the language of its source; else empty.
    """

    film: FilmId
    language: str
    makers: tuple[Maker, ...]
    version: str
    cues: tuple[Cue, ...]
    reviewed_by: tuple[str, ...] = ()
    translated_from: str = ""

    def __post_init__(self) -> None:
        # Names of files and folders contain the language.
        if any(char in self.language for char in "/\\\0"):
            raise ValueError(f"language must be a language's tag, got {self.language!r}")
        if self.translated_from and not is_language(self.translated_from):
            raise ValueError(f"translated_from must be a language's tag, got {quoted(self.translated_from)}")
        cue_of_id: dict[str, Cue] = {}
        for cue in self.cues:
            if cue.id in cue_of_id:
                texts = f"{quoted(cue_of_id[cue.id].text)} and {quoted(cue.text)}"
                raise ValueError(f"two cues have the id {cue.id}: {texts}")
            cue_of_id[cue.id] = cue
        if list(self.cues) != sorted(self.cues, key=_time_order):
            raise ValueError(f"cues must ascend by start, got {[cue.id for cue in self.cues]}")

    def with_cues(self, cues: Iterable[Cue]) -> Track:
        """The same track with other lines, which are sorted."""
        return replace(self, cues=tuple(sorted(cues, key=_time_order)))

    @property
    def heard(self) -> tuple[Cue, ...]:
        """The lines that are spoken, in order."""
        return tuple(cue for cue in self.cues if cue.heard)

    @python_messages
    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the track to a file, in the format of its ending. A missing folder is made.

        Args:
            path: ``.json`` is the whole track, as `load_track` reads it. All others hold the spoken lines:
                ``.vtt``, ``.srt``, ``.dapt.xml``, ``.ttml``, ``.csv``, ``.frazier.csv``, ``.reaper.csv``,
                ``.docx``, ``.xlsx``, ``.edl``, ``.fcpxml``, ``.hls.m3u8``, ``.dash.xml``,
                ``.txt``.

        Returns:
            The path of the file.

        Raises:
            ScriptError: Another ending, or a text that the format cannot hold.
            WorkFolderError: The file cannot be written.
        """
        # Not at the top: that module imports this one.
        from shotad.script.formats import save_as

        return save_as(self, path_of("path", path))

    @property
    def maker_names(self) -> tuple[str, ...]:
        """The engines that took part, each once, and their stages in the language of the track."""
        texts = texts_in(self.language)
        names = (
            maker.name_with(texts.by_key.get(f"maker.{maker.stage}", maker.stage)) for maker in self.makers
        )
        return tuple(dict.fromkeys(names))

    @property
    def statement(self) -> str:
        """One line for every script: made by machine, by which engines, whether edited and reviewed.

        In the language of the track (`shotad.script.track_texts`).
        """
        texts = texts_in(self.language)
        engines = "; ".join(self.maker_names) or texts("statement.no_engine")
        sentences = [texts("statement.made", version=self.version, engines=engines)]
        if self.translated_from:
            language = texts.language(self.translated_from)
            sentences.append(texts("statement.translated", language=language))
        edit_sources = [cue.edited.source for cue in self.cues if cue.edited is not None and is_changed(cue)]
        redone = edit_sources.count(REDO)
        edited = len(edit_sources) - redone
        if edited:
            sentences.append(texts.count("statement.edited", edited))
        if redone:
            sentences.append(texts.count("statement.redone", redone))
        sentences.append(self.review)
        # Names of engines and people come from outside: one with line breaks must not make two lines of it.
        return clean_text(" ".join(sentences)).replace("\n", " ")

    @property
    def review(self) -> str:
        """Who accepted lines or reviewed the whole, as the end of the statement."""
        texts, cues = texts_in(self.language), self.heard
        acceptances = [cue.review for cue in cues if cue.review is not None]
        names = ", ".join(dict.fromkeys(acceptance.by for acceptance in acceptances if acceptance.by))
        sentences = []
        if acceptances:
            key = "statement.accepted_all" if len(acceptances) == len(cues) else "statement.accepted"
            key = f"{key}_by" if names else key
            sentences.append(texts(key, number=len(acceptances), total=len(cues), names=names))
        if self.reviewed_by:
            reviewers = ", ".join(dict.fromkeys(name for name in self.reviewed_by if name))
            key = "statement.reviewed_by" if reviewers else "statement.reviewed"
            sentences.append(texts(key, names=reviewers))
        return " ".join(sentences) or texts("statement.not_reviewed")

    @property
    def reviewers(self) -> tuple[str, ...]:
        """Names of all who reviewed the whole or accepted a line as it is; each once."""
        acceptances = [cue.review for cue in self.heard]
        names = [review.by for review in acceptances if review is not None and review.by]
        return tuple(dict.fromkeys((*self.reviewed_by, *names)))

    @property
    def stamp(self) -> str:
        """Hash of the spoken lines: scripts have it, so that an import knows which track they came from."""
        return track_stamp((cue.id, line_stamp(cue.interval, cue.text)) for cue in self.heard)


def cue_block(cue: Cue) -> str:
    """The JSON of a line as it stands in the file, each field on a line of its own."""
    fields = [f"      {_json_text(key)}: {_json_text(value)}" for key, value in cue_json(cue).items()]
    return "    {\n" + ",\n".join(fields) + "\n    }"


def cue_span(cue: Cue) -> str:
    """The entry of a line in the list of lines written: ``s00083120:83120-86120``."""
    return f"{cue.id}:{milliseconds(cue.interval.start)}-{milliseconds(cue.interval.end)}"


def to_json(
    track: Track, block: Callable[[Cue], str] = cue_block, span: Callable[[Cue], str] | None = None
) -> str:
    """The text of the track file: each field on a line of its own, keys in constant order, times to 1 ms.

    ``block`` returns the JSON of a line and ``span`` its entry in the list of lines written (None:
    `cue_span`). A caller that writes a track repeatedly may keep them.
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
    head_lines = [f"  {_json_text(key)}: {_json_text(value)}," for key, value in head.items()]
    blocks = ",\n".join(map(block, track.cues))
    body = f'  "cues": [\n{blocks}\n  ]' if blocks else '  "cues": []'
    return "{\n" + "\n".join(head_lines) + "\n" + body + "\n}\n"


def from_json(text: str, file_name: str = BY_HAND) -> Track:
    """The track in ``text``, with what a person changed in it marked as edits.

    ``file_name`` names the file in messages. Raises ScriptError with file, line or cue, value and remedy;
    also for an unknown key, since a misspelt one would lose work, and for a newer schema.
    """
    fields = Fields(file_name)
    head = fields.object(fields.parse(text), "the file")
    version = head.get("schema_version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise fields.error(f"schema_version is {quoted(version)}, not a whole number from 1")
    if version > SCHEMA_VERSION:
        message = (
            f"{fields.file_name} has schema_version {version}; this shotad reads up to {SCHEMA_VERSION}."
        )
        raise ScriptError(message, "Use the newer shotad that wrote it.")
    fields.check_keys(head, _HEAD_KEYS, "the file")
    made_by = fields.object(head.get("made_by", {}), "made_by")
    fields.check_keys(made_by, ("shotad", "makers"), "made_by")
    language = fields.string(head, "language", "the file")
    cues = _read_cues(fields, head, language)
    return fields.convert(
        lambda: Track(
            film=FilmId(**fields.record(head.get("film"), "film", name=str, fingerprint=str, duration=float)),
            language=language,
            makers=tuple(read_maker(fields, maker) for maker in fields.list(made_by, "makers", "made_by")),
            version=fields.string(made_by, "shotad", "made_by"),
            cues=(),
            reviewed_by=fields.strings(head, "reviewed_by", "the file"),
            translated_from=fields.string({"translated_from": "", **head}, "translated_from", "the file"),
        ).with_cues(cues),
        "the file",
    )


def _read_cues(fields: Fields, head: Mapping[str, Any], language: str) -> list[Cue]:
    """The lines of the file, not sorted.

    Those not listed as written were added by a person; those listed, but absent, were removed by one.
    """
    items = fields.list(head, "cues", "the file")
    raw_cues = [fields.object(item, f"cue {number}") for number, item in enumerate(items, 1)]
    written: dict[str, Cue] = {}
    for entry in fields.strings(head, "written", "the file"):
        cue_if_removed = _removed_cue(fields, entry, language)
        written[cue_if_removed.id] = cue_if_removed
    taken_ids = {str(raw.get("id")) for raw in raw_cues} | set(written)
    cues: list[Cue] = []
    for number, raw in enumerate(raw_cues, 1):
        cue = read_cue(fields, raw, f"cue {raw.get('id', number)}", language, taken_ids)
        if "written" in head and cue.id not in written:
            cue = replace(cue, edited=Edit((EditField.ADDED,), BY_HAND, None))
        taken_ids.add(cue.id)
        cues.append(cue)
    present_ids = {cue.id for cue in cues}
    cues += [cue for cue_id, cue in written.items() if cue_id not in present_ids]
    return cues


def load_track(path: str | os.PathLike[str]) -> Track:
    """Read a track from a ``.json`` file, and mark what a person changed in it as edits.

    Args:
        path: The file: ``track.json`` of a work folder, or one that `Track.save` wrote.

    Returns:
        The track.

    Raises:
        ScriptError: The file cannot be read, or is not a valid track. The message names file, line and value.
    """
    try:
        text = read_file(path_of("path", path), follow=True).decode("utf-8-sig")
    except WorkFolderError as error:
        raise ScriptError(f"The track cannot be read: {error.what}", error.hint) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise ScriptError(
            f"The track {path} cannot be read: {reason}.", "Check the name of the file."
        ) from None
    except UnicodeDecodeError as error:
        raise ScriptError(f"The track {path} cannot be read: {error}.", "Save it as UTF-8.") from None
    return from_json(text, str(path))


def _time_order(cue: Cue) -> tuple[int, str]:
    return milliseconds(cue.interval.start), cue.id


def _json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _removed_cue(fields: Fields, entry: str, language: str) -> Cue:
    """The line of an entry in the list of lines written, as one that a person removed."""
    match = _SPAN.fullmatch(entry)
    if match is None:
        raise fields.error(f"written holds {quoted(entry)}, which is not ID:START-END in milliseconds")
    start, end = int(match["start"]) / 1000, int(match["end"]) / 1000
    slot_id = match["id"] if match["id"].startswith("s") else None
    edit = Edit((EditField.REMOVED,), BY_HAND, None)
    return fields.convert(
        lambda: Cue(
            match["id"], slot_id, Interval(start, end), "", language=language,
            status=CueStatus.DROPPED, reason=reason_in(REMOVED, language), edited=edit,
        ), match["id"],
    )  # fmt: skip


def find_lines(track: Track, names: Sequence[str]) -> tuple[Cue, ...]:
    """The lines called ``names``, each once, in the order of the film.

    ``s00083120`` is an id; ``1:23`` or ``83.5`` a time within a line, or the second in which it starts;
    ``12`` the twelfth spoken line. Raises UsageError, with the nearest line, where there is none.
    """
    ids = {_find_line(track, name.strip()).id for name in names}
    return tuple(cue for cue in track.cues if cue.id in ids)


def _find_line(track: Track, name: str) -> Cue:
    """The one line that ``name`` means; raises UsageError where there is none or more than one."""
    if re.fullmatch(r"[sh]\d+", name):
        for cue in track.cues:
            if cue.id == name:
                return cue
        # An id holds the milliseconds at which the line started first.
        raise UsageError(f"There is no line {name}.", _nearest_line_hint(track, int(name[1:]) / 1000))
    if re.fullmatch(r"\d+", name):
        if not 1 <= int(name) <= len(track.heard):
            message = f"There is no line {int(name)}: {len(track.heard)} lines are heard."
            raise UsageError(message, "Give a time as 1:23 or 83.0, or an id as s00083120.")
        return track.heard[int(name) - 1]
    try:
        second = parse_time(name)
    except ValueError:
        message = f"{quoted(name)} is neither an id nor a time nor a number of a line."
        raise UsageError(message, "Write s00083120, 1:23 or 12.") from None
    time = milliseconds(second)
    running: list[Cue] = []
    starting: list[Cue] = []
    for cue in track.cues:
        start, end = _milliseconds(cue.interval)
        if start <= time < end:
            running.append(cue)
        if time <= start < time + 1000:
            starting.append(cue)
    # A person reads times to the second: 1:23 also means a line from 1:23.4.
    matches = running or starting
    if not matches:
        raise UsageError(f"There is no line at {name}.", _nearest_line_hint(track, second))
    if len(matches) > 1:
        lines = " and ".join(f"{cue.id} ({timecode(cue.interval.start)})" for cue in matches)
        raise UsageError(f"At {name} there is more than one line: {lines}.", "Give the id of the one meant.")
    return matches[0]


def _nearest_line_hint(track: Track, second: float) -> str:
    """A hint that names the line that starts nearest to ``second``."""
    if not track.cues:
        return "The track has no lines."
    nearest = min(track.cues, key=lambda cue: (abs(cue.interval.start - second), cue.id))
    return f"The nearest is {nearest.id}, at {timecode(nearest.interval.start)}."
