"""Two entries of a cast that are one person. Pure logic but for the file that is changed."""

from __future__ import annotations

from typing import Any

from shotad.cast.files.castfile import CastFile
from shotad.cast.files.choosing import names_of
from shotad.cast.members import Member
from shotad.errors import CastError


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
