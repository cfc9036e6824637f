"""Reading a cast from a cast file, a folder of photos, or a published character bank.

AutoAD-Zero and Shot-by-Shot publish their banks as ``{film: [{id, name, role}, …]}`` in JSON, with a folder
of profile pictures: ``id`` is the actor's and names the picture (``<id>.jpg``, or a folder ``<id>``),
``role`` is what the person is called in the film. ``{film: [role, …]}`` is read too. The JSON is read value
by value with its index in the text, so that errors have a line. The bank of MAD-Eval is a pickle
(`pickled_bank`).
"""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from shotad.core import Cast, Member
from shotad.core.errors import CastError, quoted
from shotad.core.records import parse_json
from shotad.sight.cast_entries import distinct_ids, error_at, id_of, is_id, read_text, tidy, warnings
from shotad.sight.castfile import (
    cast_path,
    members_of_folder,
    natural,
    photos_in,
    read_cast,
    unreadable_photos,
)
from shotad.sight.photos import how_to_read, is_photo, named_in
from shotad.sight.pickled_bank import PICKLED, read_pickled_bank

_KINDS = "a cast.yaml, a folder that holds one, a folder of photos, or a character bank (.json, .pkl)"
_BANKS = (".json", *PICKLED)


def load_cast(path: Path, *, key: str = "", photos: Path | None = None) -> Cast:
    """The cast in a ``cast.yaml``, in a folder with one, in a folder of photos, or in a character bank.

    ``key`` is the film's in a bank of several, ``photos`` the folder of profile pictures that goes with a
    bank. Photos are files that exist; whether they show a face is not checked. Raises CastError, with the
    line where a file holds the mistake.
    """
    try:
        if not path.exists():
            raise CastError(f"There is no cast {path}.", f"Name {_KINDS}.")
        if path.suffix.lower() in _BANKS and path.is_file():
            return read_bank(path, key, photos)
        if key or photos is not None:
            option = "A key" if key else "A folder of profile pictures"
            raise CastError(f"{option} was given, but {path} is no character bank.", "Leave it out.")
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


_WHITESPACE = re.compile(r"[ \t\r\n]*")
"""As JSON has it; Python's ``\\s`` is more."""
_DECODER = json.JSONDecoder()


def line_at(text: str, index: int) -> int:
    """The line of ``text`` that holds ``index``, from 1."""
    return text.count("\n", 0, index) + 1


def parts_of(text: str, index: int = 0) -> Iterator[tuple[str, Any, int]]:
    """Each part of the object or array at ``index``: key (empty in an array), value, index of the value.

    ``text`` must be valid JSON.
    """
    index = _skip(text, index)
    end = "}" if text[index] == "{" else "]"
    index = _skip(text, index + 1)
    while text[index] != end:
        key = ""
        if end == "}":
            key, index = _DECODER.raw_decode(text, index)
            colon = _skip(text, index)
            index = _skip(text, colon + 1)
        value, end_of_value = _DECODER.raw_decode(text, index)
        yield key, value, index
        index = _skip(text, end_of_value)
        if text[index] == ",":
            index = _skip(text, index + 1)


def _skip(text: str, index: int) -> int:
    """The index of the first character from ``index`` on that is no whitespace."""
    whitespace = _WHITESPACE.match(text, index)
    return whitespace.end() if whitespace else index


def read_bank(path: Path, key: str = "", photos: Path | None = None) -> Cast:
    """The cast of the film ``key`` in the bank ``path``, in the bank's order, each with the pictures in
    the folder ``photos``.

    ``key`` may be left out where the bank has one film. Two actors with the same role are two faces with one
    name. One actor with two roles cannot be told apart by the face, and so is not named. Raises CastError.
    """
    text = _json_of_bank(path)
    start = _film_index(text, key, path)
    if text[start] != "[":
        raise error_at(path, line_at(text, start), "a list of characters is expected here.")
    characters = [_character(value, line_at(text, index), path) for _, value, index in parts_of(text, start)]
    # The bank's own ids as they are, where files can be called so; for others one each, made of the role
    bank_ids = []
    for bank_id, _ in characters:
        bank_ids.append(bank_id if not bank_id or is_id(bank_id) else id_of(bank_id))
    roles_without_id = [role for bank_id, role in characters if not bank_id]
    new_ids = iter(distinct_ids(roles_without_id, filter(None, bank_ids)))
    ids = [bank_id or next(new_ids) for bank_id in bank_ids]
    members, notes = _members_of([role for _, role in characters], ids)
    if photos is not None:
        # Pictures are found by id or, where the bank has none, by name.
        picture_names = {id_: bank_id or role for (bank_id, role), id_ in zip(characters, ids, strict=True)}
        members = _with_pictures(members, picture_names, photos, path)
    return Cast(members, path, (*notes, *warnings(members)))


def _json_of_bank(path: Path) -> str:
    """The bank as JSON: the file's text, or what a pickle holds. Raises CastError."""
    if path.suffix.lower() in PICKLED:
        return json.dumps(read_pickled_bank(path), indent=1)
    return read_text(path)


def read_films_of_bank(path: Path) -> dict[str, list[Any]]:
    """The entries of each film of a bank, by the film's key, as they are: `read_bank` checks them.

    Raises CastError for a file that is no bank of films.
    """
    try:
        films = parse_json(_json_of_bank(path))
    except ValueError as error:
        raise CastError(f"The bank {path} is no JSON: {error}.", "Fetch it again.") from None
    if not isinstance(films, dict) or not all(isinstance(cast, list) for cast in films.values()):
        raise CastError(f"{path} is no bank of films.", 'Give a file with {"film": [{"id": …, "role": …}]}.')
    return films


def _film_index(text: str, key: str, path: Path) -> int:
    """The index in ``text`` at which the value of the film ``key`` begins.

    Raises CastError where the text is no JSON or no bank, and where the film is not in it.
    """
    try:
        value = parse_json(text)
    except json.JSONDecodeError as error:
        raise error_at(path, error.lineno, f"this is no JSON ({error.msg}).") from None
    except ValueError as error:
        raise error_at(path, 1, f"this is no JSON ({error}).") from None
    if not isinstance(value, dict) or not value:
        problem = "a bank of films and their characters is expected."
        raise error_at(path, 1, problem, 'Write {"film": [{"id": …, "name": …, "role": …}]}.')
    index_of_film: dict[str, int] = {}
    for film, _, index in parts_of(text):
        if film in index_of_film:
            problem = f"the film {quoted(film)} stands twice."
            raise error_at(path, line_at(text, index), problem, "Keep one of them.")
        index_of_film[film] = index
    if not key and len(index_of_film) == 1:
        return next(iter(index_of_film.values()))
    if key in index_of_film:
        return index_of_film[key]
    near = difflib.get_close_matches(key, index_of_film, n=3, cutoff=0.7) if key else []
    count = len(index_of_film)
    films = ", ".join(near or list(index_of_film)[:5]) + ("" if near or count <= 5 else ", …")
    if key:
        raise CastError(f"{path} has no film {quoted(key)}.", f"It has {count}: {films}.")
    raise CastError(f"{path} has the characters of {count} films.", f"Say which with --cast-key: {films}.")


def _character(value: Any, line: int, path: Path) -> tuple[str, str]:
    """The id, empty where there is none, and the role of a character. Raises CastError with the line."""
    if isinstance(value, str):
        return "", tidy(value)
    if not isinstance(value, dict):
        raise error_at(path, line, f"a character is a name, or has id, name and role, got {quoted(value)}.")
    for key in ("id", "role"):
        if not isinstance(value.get(key) or "", str):
            raise error_at(path, line, f"{quoted(key)} must be a text, got {quoted(value[key])}.")
    if "role" not in value:
        problem = f"the character has no 'role', only {', '.join(value) or 'nothing'}."
        raise error_at(path, line, problem, "A character is called by the role.")
    return value.get("id") or "", tidy(value["role"] or "")


def _members_of(roles: Sequence[str], ids: Sequence[str]) -> tuple[tuple[Member, ...], list[str]]:
    """One member for each of ``ids``, and notes on actors with several roles and roles with several actors.

    ``roles`` has one role for each id; an id may stand in ``ids`` more than once.
    """
    roles_of_id: dict[str, list[str]] = {}
    for role, id_ in zip(roles, ids, strict=True):
        roles_of_id.setdefault(id_, []).append(role)
    members, notes = [], []
    for id_, played in roles_of_id.items():
        names = list(dict.fromkeys(role for role in played if role))
        members.append(Member(id_, names[0] if len(names) == 1 else "", nameless=len(names) > 1))
        if len(names) > 1:
            notes.append(f"{id_} plays {' and '.join(names)}: faces cannot tell which, so neither is named.")
    counts = Counter(member.name for member in members if member.name)
    shared = [f"{name} ({count})" for name, count in counts.items() if count > 1]
    if shared:
        notes.append(
            f"Several people are called alike, and told apart by their faces only: {', '.join(shared)}."
        )
    return tuple(members), notes


def _with_pictures(
    members: Sequence[Member], picture_names: Mapping[str, str], folder: Path, bank: Path
) -> tuple[Member, ...]:
    """The members with their pictures in ``folder``, whose names ``picture_names`` has by member id.

    Raises CastError where the folder is missing, and where it has no picture of anybody.
    """
    if not folder.is_dir():
        raise CastError(f"{folder}, the folder of profile pictures, is not there.", "Look at --cast-photos.")
    files: dict[str, list[Path]] = {}
    for path in natural(folder.iterdir()):
        if path.is_dir():
            files.setdefault(path.name, []).extend(photos_in(path))
        elif is_photo(path):
            files.setdefault(path.stem, []).append(path)
    with_pictures = []
    for member in members:
        name = picture_names[member.id]
        photos = dict.fromkeys([*files.get(name, ()), *files.get(name.replace(" ", "_"), ())])
        with_pictures.append(replace(member, photos=tuple(photos)))
    if not any(member.photos for member in with_pictures):
        if unread := unreadable_photos(folder):
            problem = f"{folder} has photos, but none that can be read: {named_in(unread, folder)}."
            raise CastError(problem, how_to_read(unread))
        examples = ", ".join(f"{picture_names[member.id]}.jpg" for member in members[:3])
        raise CastError(f"{folder} has no picture of anybody in {bank.name}.", f"Looked for: {examples}, …")
    return tuple(with_pictures)
