"""Two entries of a cast that are one person, and how the last merge is undone.

Beside the cast file ``merged.json`` keeps what it said before: a merge moves no picture, so that is all.
"""

from __future__ import annotations

import hashlib
from typing import Any

from shotad.core import CastError, Member, read_record, readable_json, write_text
from shotad.sight.cast.files.castfile import CastFile
from shotad.sight.cast.files.choosing import names_of

UNDO = "merged.json"
_ABOUT = "The cast file as it was before the last merge; shotad cast merge CAST --undo brings it back."


def keep_for_undo(file: CastFile) -> None:
    """Write down what the file said when it was opened, before changes of a merge are saved."""
    note = {"about": _ABOUT, "before": file.before, "after": _hash(file.text)}
    write_text(file.folder / UNDO, readable_json(note))


def undo(file: CastFile) -> None:
    """Take the last merge back. Raises CastError where there was none, or the file was changed since."""
    path = file.folder / UNDO
    note = read_record(path)
    if note is None:
        raise CastError(f"No merge of {file.path} can be undone.", f"There is no {path}.")
    if file.before is None or _hash(file.before) != note["after"]:
        raise CastError(
            f"{file.path} was changed since the merge, so that it cannot be undone as a whole.",
            f"What the file said before stands in {path}: bring back by hand what you need.",
        )
    if note["before"] is None:
        file.path.unlink()
    else:
        write_text(file.path.resolve(), note["before"])
    path.unlink()


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def merge(file: CastFile, person: Member, into: Member) -> Member:
    """Give all that is known of ``person`` to ``into``, and take ``person`` out; nothing is saved yet.

    Photos are joined. What both have stays as ``into`` has it; another name becomes an alias. Raises
    CastError where both are one entry already.
    """
    if person.id == into.id:
        raise CastError(f"{person.id!r} cannot be merged into itself.", "Name two people.")
    photos = dict.fromkeys([*file.photo_specs(into.id), *file.photo_specs(person.id)])
    values = {key: value for key, value in _joined(person, into).items() if value != getattr(into, key)}
    file.update(into.id, photos=tuple(photos))
    file.remove(person.id)
    file.update(into.id, **values)
    return file.member(into.id)


def _joined(person: Member, into: Member) -> dict[str, Any]:
    fields = ("name", "pronoun", "descriptor", "reveals")
    values = {field: getattr(into, field) or getattr(person, field) for field in fields}
    values["spoken"] = into.spoken or ("" if into.name else person.spoken)
    says = values["spoken"] or values["name"]
    values["say_as"] = into.say_as or (person.say_as if says == (person.spoken or person.name) else "")
    called = {values["name"], values["spoken"]}
    aliases = dict.fromkeys([*into.aliases, *names_of(person)])
    values["aliases"] = tuple(alias for alias in aliases if alias not in called)
    values["nameless"] = not values["name"] and (into.nameless or person.nameless)
    return values
