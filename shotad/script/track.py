"""The track: all lines of one film, and the file that people edit.

``track.json`` finds out by itself what a person changed in it: each line carries a stamp of its text,
time, status and choice as the program wrote them (`shotad.script.cue_json`), and the head lists the lines
written: one that is listed and absent was deleted.

People call a line by an id, a time, or the number that SRT gives it (`find_lines`).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from shotad.core import Interval, ScriptError, UsageError, name_of
from shotad.script.cue import (
    REDO,
    Cue,
    CueStatus,
    Edit,
    EditField,
    Maker,
    clean_text,
    is_changed,
    is_language,
    line_stamp,
    milliseconds,
    parse_time,
    short_hash,
    timecode,
)
from shotad.script.cue_json import BY_HAND, Fields, cue_json, read_cue, read_maker

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
        if self.translated_from and not is_language(self.translated_from):
            raise ValueError(f"translated_from must be a language's tag, got {self.translated_from!r}")
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
        return short_hash(" ".join(f"{cue.id} {line_stamp(cue.interval, cue.text)}" for cue in self.heard))


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
        raise fields.wrong(f"schema_version is {version!r}, not a whole number from 1")
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
        text = Path(path).read_text(encoding="utf-8-sig")
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
        raise fields.wrong(f"written holds {span!r}, which is not ID:START-END in milliseconds")
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
        what = f"{name!r} is neither an id nor a time nor a number of a line."
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
