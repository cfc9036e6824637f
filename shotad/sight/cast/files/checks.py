"""What must hold between the people of a cast, and what is worth a warning. Pure logic."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from shotad.core import NAME_TITLES, CastError, Member
from shotad.script import key_of
from shotad.sight.cast.files.entries import Entry

Wrong = Callable[[int, str, str], CastError]
"""Makes an error of a line, what is wrong, and what to do."""


def check_apart(entries: Sequence[Entry], wrong: Wrong) -> None:
    """Raises CastError where two people share an id or a name: nobody could tell who is meant."""
    ids: dict[str, Entry] = {}
    names: dict[str, tuple[Entry, str]] = {}
    for entry in entries:
        first = ids.setdefault(entry.member.id.casefold(), entry)
        if first is not entry:
            what = f"the id {entry.member.id!r} is that of another person too (line {first.line})."
            raise wrong(entry.lines.get("id", entry.line), what, "Give each an id of their own.")
        for key, name in _names(entry.member):
            other, _ = names.setdefault(name.casefold(), (entry, key))
            if other is not entry:
                what = f"two people are called {name!r} (the other stands in line {other.line})."
                raise wrong(entry.lines.get(key, entry.line), what, ONE_PERSON)


ONE_PERSON = "Give them different names or, if they are one person, join them with shotad cast merge."


def _names(member: Member) -> Iterable[tuple[str, str]]:
    """By key, those by which a person may be called; extras that nobody names share theirs freely."""
    if not member.nameless:
        aliases = ((f"aliases {alias}", alias) for alias in member.aliases)
        pairs = (("name", member.name), ("speak", member.spoken), *aliases)
        yield from ((key, name) for key, name in pairs if name)


def check_photos(photos: Sequence[tuple[Entry, str, Path]], wrong: Wrong) -> None:
    """Raises CastError where one picture is said to show two people. Given: whose, which key, which file."""
    owners: dict[Path, Entry] = {}
    for entry, key, path in photos:
        other = owners.setdefault(path.resolve(), entry)
        if other is not entry:
            what = f"the photo {path.name} is also that of {called(other.member)} (line {other.line})."
            raise wrong(entry.lines.get(key, entry.line), what, "A photo shows one person: leave it to one.")


def warnings(members: Sequence[Member]) -> tuple[str, ...]:
    """What lets a cast do less than it could."""
    if not members:
        return ("There is nobody in this cast.",)
    found = (_unnamed(members), _without_photos(members), *_descriptors(members), *_alike(members))
    return tuple(warning for warning in found if warning)


def _unnamed(members: Sequence[Member]) -> str:
    ids = [member.id for member in members if not member.says and not member.nameless]
    return f"Without a name yet, so never named: {_few(ids)}." if ids else ""


def _without_photos(members: Sequence[Member]) -> str:
    names = [called(member) for member in members if not member.photos]
    return f"Without photos, so never recognised: {_few(names)}." if names else ""


def _descriptors(members: Sequence[Member]) -> Iterable[str]:
    for member in members:
        late = any(reveal.seconds > 0 for reveal in member.reveals)
        names = (member.name, member.spoken, *member.aliases)
        if late and member.says and not member.descriptor:
            yield f"{called(member)} has a reveal_at but no descriptor, and is not spoken of until then."
        if late and any(name and _stands_in(name, member.descriptor) for name in names):
            yield f"The descriptor of {called(member)} gives the name away: {member.descriptor!r}."
        if member.descriptor.endswith((".", ",", ";")):
            yield f"A descriptor is put into sentences; {member.descriptor!r} ends with a mark of its own."


def _stands_in(name: str, text: str) -> bool:
    """Whether a text holds a name, or a word of it that is no title."""
    words = (word for word in name.split() if word[0].isupper() and key_of(word) not in NAME_TITLES)
    return any(re.search(rf"\b{re.escape(word)}\b", text) is not None for word in (name, *words))


def _alike(members: Sequence[Member]) -> Iterable[str]:
    seen: dict[str, Member] = {}
    for member in members:
        other = seen.setdefault(member.descriptor.casefold(), member)
        if member.descriptor and other is not member:
            yield f"{called(other)} and {called(member)} have the same descriptor: {other.descriptor!r}."


def called(member: Member) -> str:
    """For messages."""
    return member.name or member.id


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if names[8:] else "")
