"""A cast from whatever holds one, published character banks among them.

AutoAD-Zero and Shot-by-Shot publish theirs as ``{film: [{id, name, role}, …]}`` in JSON, with a folder of
profile pictures: ``id`` is the actor's and names the picture (``<id>.jpg``, or a folder ``<id>``),
``role`` is what the person is called in the film. ``{film: [role, …]}`` is read too. The place of each
part is known, for errors with a line."""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from shotad.core import Cast, CastError, Member, parse_json, quoted
from shotad.sight.cast_entries import distinct_ids, id_of, is_id, read_text, tidy, warnings, wrong
from shotad.sight.castfile import (
    cast_path,
    members_of_folder,
    natural,
    photos_in,
    read_cast,
    unread_in,
)
from shotad.sight.photos import how_to_read, is_photo, named_in

_KINDS = "a cast.yaml, a folder that holds one, a folder of photos, or a character bank in JSON"


def load_cast(path: Path, *, key: str = "", photos: Path | None = None) -> Cast:
    """The cast in a ``cast.yaml``, in a folder with one, in a folder of photos, or in a character bank.

    ``key`` is the film's in a bank of several, ``photos`` the folder of profile pictures that goes with a
    bank. Photos are files that are there; whether they show a face is not looked at. Raises CastError, with
    the line where a file holds the mistake.
    """
    try:
        if not path.exists():
            raise CastError(f"There is no cast {path}.", f"Name {_KINDS}.")
        if path.suffix.lower() == ".json" and path.is_file():
            return read_bank(path, key, photos)
        if key or photos is not None:
            what = "A key" if key else "A folder of profile pictures"
            raise CastError(f"{what} was given, but {path} is no character bank.", "Leave it out.")
        if path.is_dir():
            file = cast_path(path)
            if file.exists():
                return read_cast(file)
            members, notes = members_of_folder(path)
            return Cast(members, path, (*notes, *warnings(members)))
        if path.suffix.lower() in (".yaml", ".yml"):
            return read_cast(path)
    except OSError as error:
        raise CastError(f"The cast {path} cannot be read: {error.strerror}.", "Look at its rights.") from None
    hint = "Name the folder that it is in." if is_photo(path) else f"Name {_KINDS}."
    raise CastError(f"{path} is no cast.", hint)


_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def line_at(text: str, index: int) -> int:
    """The line of an index, from 1."""
    return text.count("\n", 0, index) + 1


def parts_of(text: str, index: int = 0) -> Iterator[tuple[str, Any, int]]:
    """Key (empty in an array), value and its place, of each part of the object or array at ``index``.

    The document must be sound JSON.
    """
    index = _skip(text, index)
    end = "}" if text[index] == "{" else "]"
    index = _skip(text, index + 1)
    while text[index] != end:
        key = ""
        if end == "}":
            key, index = _DECODER.raw_decode(text, index)
            index = _skip(text, _skip(text, index) + 1)
        value, behind = _DECODER.raw_decode(text, index)
        yield key, value, index
        index = _skip(text, behind)
        if text[index] == ",":
            index = _skip(text, index + 1)


def _skip(text: str, index: int) -> int:
    found = _SPACE.match(text, index)
    return found.end() if found else index


def read_bank(path: Path, key: str = "", photos: Path | None = None) -> Cast:
    """The cast of the film ``key``, in the bank's order, each with the pictures in ``photos``.

    ``key`` may be left out where the bank has one film. Two actors with the same role are two faces with one
    name. One actor with two roles cannot be told apart by the face, and so is not named. Raises CastError.
    """
    text = read_text(path)
    start = _place_of(text, key, path)
    if text[start] != "[":
        raise wrong(path, line_at(text, start), "a list of characters is expected here.")
    rows = [_row(value, line_at(text, index), path) for _, value, index in parts_of(text, start)]
    # The bank's own ids as they are, where files can be called so; for others one each, made of the role
    given = [(own if is_id(own) else id_of(own)) if own else "" for own, _ in rows]
    made = iter(distinct_ids((role for own, role in rows if not own), filter(None, given)))
    ids = tuple(one or next(made) for one in given)
    members, notes = _one_for_each([role for _, role in rows], ids)
    if photos is not None:
        # Pictures are found by id or, where the bank has none, by name.
        names = {one: own or role for (own, role), one in zip(rows, ids, strict=True)}
        members = _with_pictures(members, names, photos, path)
    return Cast(members, path, (*notes, *warnings(members)))


def _place_of(text: str, key: str, path: Path) -> int:
    """Where the list of the film begins."""
    try:
        value = parse_json(text)
    except json.JSONDecodeError as error:
        raise wrong(path, error.lineno, f"this is no JSON ({error.msg}).") from None
    except ValueError as error:
        raise wrong(path, 1, f"this is no JSON ({error}).") from None
    if not isinstance(value, dict) or not value:
        what = "a bank of films and their characters is expected."
        raise wrong(path, 1, what, 'Write {"film": [{"id": …, "name": …, "role": …}]}.')
    films: dict[str, int] = {}
    for name, _, start in parts_of(text):
        if name in films:
            raise wrong(
                path, line_at(text, start), f"the film {quoted(name)} stands twice.", "Keep one of them."
            )
        films[name] = start
    if not key and len(films) == 1:
        return next(iter(films.values()))
    if key in films:
        return films[key]
    near = difflib.get_close_matches(key, films, n=3, cutoff=0.7) if key else []
    some = ", ".join(near or list(films)[:5]) + ("" if near or len(films) <= 5 else ", …")
    if key:
        raise CastError(f"{path} has no film {quoted(key)}.", f"It has {len(films)}: {some}.")
    raise CastError(
        f"{path} has the characters of {len(films)} films.", f"Say which with --cast-key: {some}."
    )


def _row(value: Any, line: int, path: Path) -> tuple[str, str]:
    """The id, empty where there is none, and the role."""
    if isinstance(value, str):
        return "", tidy(value)
    if not isinstance(value, dict):
        raise wrong(path, line, f"a character is a name, or has id, name and role, got {quoted(value)}.")
    odd = next((k for k in ("id", "role") if not isinstance(value.get(k) or "", str)), None)
    if odd is not None:
        raise wrong(path, line, f"{quoted(odd)} must be a text, got {quoted(value[odd])}.")
    if "role" not in value:
        what = f"the character has no 'role', only {', '.join(value) or 'nothing'}."
        raise wrong(path, line, what, "A character is called by the role.")
    return value.get("id") or "", tidy(value["role"] or "")


def _one_for_each(parts: Sequence[str], ids: Sequence[str]) -> tuple[tuple[Member, ...], list[str]]:
    """One member for each face, and what was decided about those who share one or a name."""
    roles: dict[str, list[str]] = {}
    for part, one in zip(parts, ids, strict=True):
        roles.setdefault(one, []).append(part)
    members, notes = [], []
    for one, played in roles.items():
        several = list(dict.fromkeys(role for role in played if role))
        members.append(Member(one, several[0] if len(several) == 1 else "", nameless=len(several) > 1))
        if len(several) > 1:
            notes.append(
                f"{one} plays {' and '.join(several)}: faces cannot tell which, so neither is named."
            )
    often = Counter(member.name for member in members if member.name)
    shared = [f"{name} ({count})" for name, count in often.items() if count > 1]
    if shared:
        notes.append(
            f"Several people are called alike, and told apart by their faces only: {', '.join(shared)}."
        )
    return tuple(members), notes


def _with_pictures(
    members: Sequence[Member], names: Mapping[str, str], folder: Path, bank: Path
) -> tuple[Member, ...]:
    """The members with their pictures, found by what ``names`` says of each id."""
    if not folder.is_dir():
        raise CastError(f"{folder}, the folder of profile pictures, is not there.", "Look at --cast-photos.")
    files: dict[str, list[Path]] = {}
    for path in natural(folder.iterdir()):
        if path.is_dir():
            files.setdefault(path.name, []).extend(photos_in(path))
        elif is_photo(path):
            files.setdefault(path.stem, []).append(path)
    found = []
    for member in members:
        name = names[member.id]
        photos = dict.fromkeys([*files.get(name, ()), *files.get(name.replace(" ", "_"), ())])
        found.append(replace(member, photos=tuple(photos)))
    if not any(member.photos for member in found):
        if unread := unread_in(folder):
            what = f"{folder} has photos, but none that can be read: {named_in(unread, folder)}."
            raise CastError(what, how_to_read(unread))
        some = ", ".join(f"{names[m.id]}.jpg" for m in members[:3])
        raise CastError(f"{folder} has no picture of anybody in {bank.name}.", f"Looked for: {some}, …")
    return tuple(found)
