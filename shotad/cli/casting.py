"""What the commands of ``shotad cast`` share: opening a cast folder, and saying who is in it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shotad.core import CastError

if TYPE_CHECKING:
    from shotad.core import Member, Reveal
    from shotad.sight import CastFile


def cast_file(path: Path) -> CastFile:
    """The cast file of a cast folder that is there. Raises CastError."""
    from shotad.sight import CastFile

    if path.suffix.lower() == ".json":
        raise CastError(f"{path} is a character bank, which is only read.", "Change it by hand.")
    if not path.exists():
        raise CastError(f"There is no cast {path}.", "Make one with shotad cast discover.")
    return CastFile.open(path)


def save_cast(file: CastFile, path: Path) -> None:
    """Write the cast file, and the overview of what was found anew where there is one."""
    file.save()
    renew(path)


def renew(path: Path) -> None:
    """Write the overview of what was found in a cast anew where there is one."""
    from shotad.sight import renew_overview

    renew_overview(path if path.is_dir() else path.parent)


def person_line(number: int, member: Member) -> str:
    """One person in words: number, id, name, and what else is known."""
    return f"{number}. {member.id}: " + " ".join(f"{part}." for part in _parts(member))


def _parts(member: Member) -> list[str]:
    named = member.name or "no name yet"
    parts = [f"extra, never named ({member.name})" if member.name else "extra, never named"]
    if not member.nameless:
        parts = [f"{named}, AD says {member.spoken}" if member.spoken else named]
    if member.say_as:
        parts.append(f"Said as {member.say_as}")
    if member.aliases:
        parts.append(f"Also {', '.join(member.aliases)}")
    if member.pronoun:
        parts.append(f"Pronoun {member.pronoun}")
    parts.append({0: "No photos", 1: "1 photo"}.get(len(member.photos), f"{len(member.photos)} photos"))
    parts += [_told(reveal) for reveal in member.reveals]
    if member.descriptor:
        parts.append(f"Without the name: {member.descriptor.rstrip('.')}")
    return parts


def _told(reveal: Reveal) -> str:
    from shotad.sight import time_text

    film = f" in {reveal.film}" if reveal.film else ""
    if math.isinf(reveal.seconds):
        return f"Never named{film}"
    return f"Named from {time_text(reveal.seconds)}{film}"


def person_row(number: int, member: Member) -> dict[str, Any]:
    """The same for programs; a reveal at ``null`` seconds never comes."""
    reveals = [
        {"film": r.film or None, "seconds": None if math.isinf(r.seconds) else r.seconds}
        for r in member.reveals
    ]
    return {
        "number": number,
        "id": member.id,
        "name": member.name,
        "says": member.says,
        "say_as": member.say_as,
        "aliases": list(member.aliases),
        "pronoun": member.pronoun,
        "descriptor": member.descriptor,
        "reveal_at": reveals,
        "photos": [str(photo) for photo in member.photos],
        "nameless": member.nameless,
    }
