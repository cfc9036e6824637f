"""Forgetting people: their photos in a cast folder, and what belongs to their faces in work folders.

The worksheet shows faces and names: it goes too, and ``shotad sheet`` draws it again without them.

In a work folder, ``faces.jsonl`` and ``discovered.jsonl`` hold the embeddings of all faces seen, a record for
each shot, ``cast-faces.json`` those of the cast's photos, and ``characters.json`` whose each face was. Of one
person records go in which they were recognised, or in which any face is a little like theirs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shotad.core import (
    Member,
    RecordLog,
    WorkFolder,
)
from shotad.core.errors import CastError, UsageError
from shotad.core.files import read_file, remove_file
from shotad.core.workfolder import work_folder_of
from shotad.description.casting.recognition import CHARACTERS, DISCOVERED, FACES, PHOTOS, reading_of
from shotad.description.worksheet.page import remove_worksheet
from shotad.sight.castfile import (
    names_of,
    photos_in,
    unreadable_photos,
)
from shotad.sight.castfolder import used_in
from shotad.sight.facetracks import track_from_json

LITTLE_ALIKE = 0.2
"""Cosine to a person's photos from which a face goes with them: half of that from which SFace names
somebody, so that looks that were not recognised go too. Most strangers stay below it."""


@dataclass(frozen=True, slots=True)
class RemovedFaces:
    """What was done to a work folder: files removed and changed, and how many records of shots went."""

    folder: Path
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    records: int = 0


def photos_to_forget(
    removed: Sequence[Member], remaining: Sequence[Member], folder: Path
) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """The photos to delete with the ``removed`` members, and photos of them that stay.

    Those stay that lie outside of the cast's ``folder`` or are of ``remaining`` members too.
    """
    cast_folder = folder.resolve()
    remaining_photos = {_location(photo) for member in remaining for photo in member.photos}
    to_delete: list[Path] = []
    to_keep: list[Path] = []
    for photo in dict.fromkeys(photo for member in removed for photo in member.photos):
        location = _location(photo)
        is_deleted = location.is_relative_to(cast_folder) and location not in remaining_photos
        (to_delete if is_deleted else to_keep).append(photo)
    # Pictures in formats that are not read go too, in folders of which all other pictures go.
    unread: dict[Path, None] = {}
    deleted_locations = {_location(photo) for photo in to_delete}
    for parent in dict.fromkeys(photo.parent for photo in to_delete):
        parent_location = parent.resolve()
        all_deleted = all(_location(photo) in deleted_locations for photo in photos_in(parent))
        is_shared = any(photo.is_relative_to(parent_location) for photo in remaining_photos)
        if all_deleted and parent_location != cast_folder and not is_shared:
            unread |= dict.fromkeys(unreadable_photos(parent))
    return (*to_delete, *unread), tuple(to_keep)


def delete_photos(photos: Sequence[Path], folder: Path) -> None:
    """Delete files, and folders of the cast that are left empty. Raises CastError where one cannot go."""
    for photo in photos:
        try:
            remove_file(photo)
        except OSError as error:
            raise CastError(f"{photo} cannot be deleted: {error.strerror}.", "Delete it by hand.") from None
    cast_folder = folder.resolve()
    deepest_first = sorted({photo.parent for photo in photos}, key=lambda parent: -len(parent.parts))
    for parent in deepest_first:
        while _is_below(parent, cast_folder) and not any(parent.iterdir()):
            parent.rmdir()
            parent = parent.parent  # noqa: PLW2901  up to the cast's folder


def _is_below(path: Path, folder: Path) -> bool:
    """Whether ``path`` lies in ``folder``, a resolved path, and is not that folder itself."""
    location = path.resolve()
    return location != folder and location.is_relative_to(folder)


def run_folder(path: Path) -> Path:
    """The work folder meant by a film or by the folder itself. Raises UsageError."""
    for folder in (path, work_folder_of(path)):
        if folder.is_dir() and (folder.suffix == ".shotad" or any(p.exists() for p in _face_files(folder))):
            return folder
    raise UsageError(
        f"{path} is no work folder, and no film with one.", "Name a folder such as movie.shotad."
    )


def folders_with_faces(cast: Path) -> tuple[Path, ...]:
    """The work folders that hold faces: those beside the cast's folder, and those that were made with it."""
    beside = [path for path in sorted(cast.absolute().parent.glob("*.shotad")) if path.is_dir()]
    by_location = {path.resolve(): path for path in (*beside, *used_in(cast))}
    return tuple(path for path in by_location.values() if any(file.exists() for file in _face_files(path)))


def clear_all(path: Path) -> RemovedFaces:
    """Remove all that a work folder, of whatever format, knows of faces.

    Raises WorkFolderError while it is in use.
    """
    with WorkFolder(path, force=True):
        files = [file for file in _face_files(path) if os.path.lexists(file)]
        for file in files:
            remove_file(file)
        removed = (*(file.name for file in files), *remove_worksheet(path))
        return RemovedFaces(path, removed)


def clear_person(path: Path, member: Member, keys: Collection[str]) -> RemovedFaces:
    """Remove what a work folder knows of somebody's face; ``keys`` are those of their photos (`photo_key`).

    Where it is not known what they look like, the records of discovery go as a whole, and so do those of the
    faces if nothing says whose they are. Raises WorkFolderError while the folder is in use.
    """
    with WorkFolder(path) as folder:
        photos = folder.read_json(f"{PHOTOS}.json") or {}
        rows = photos.get("photos") or {}
        readings = [reading_of(row) for key, row in rows.items() if key in keys]
        # Of a photo that could not be read the record has the reason.
        embeddings = [reading for reading in readings if not isinstance(reading, str)]
        looks = np.stack(embeddings) if embeddings else None
        # The shots in which they were recognised; None where nothing says so
        characters, shots = folder.read_json(f"{CHARACTERS}.json"), None
        if characters is not None:
            faces, cast = characters.get("tracks", ()), characters.get("cast", ())
            shots = {row["shot"] for row in faces if member.id in (row["person"], row["named"])}
            for row in cast:
                if row["id"] == member.id:
                    shots |= set(row["shots"])
        record_count = _clear_records(path / f"{FACES}.jsonl", shots, looks)
        # Without photos nothing tells whose the discovered faces are.
        discovered_shots = () if looks is not None else None
        record_count += _clear_records(path / f"{DISCOVERED}.jsonl", discovered_shots, looks)
        changed = []
        if any(key in keys for key in rows):
            remaining_rows = {key: row for key, row in rows.items() if key not in keys}
            folder.write_json(f"{PHOTOS}.json", {**photos, "photos": remaining_rows})
            changed.append(f"{PHOTOS}.json")
        if characters is not None:
            without_person = _without_person(characters, member)
            if without_person != characters:
                folder.write_json(f"{CHARACTERS}.json", without_person)
                changed.append(f"{CHARACTERS}.json")
        return RemovedFaces(path, remove_worksheet(path), changed=tuple(changed), records=record_count)


def _face_files(folder: Path) -> list[Path]:
    """The files of a work folder that may hold faces, whether they exist or not."""
    names = (f"{stem}{middle}.jsonl" for stem in (FACES, DISCOVERED) for middle in ("", ".aside"))
    return [folder / name for name in (*names, f"{PHOTOS}.json", f"{CHARACTERS}.json")]


def _clear_records(path: Path, shots: Collection[int] | None, looks: npt.NDArray[np.float32] | None) -> int:
    """Remove records of these shots (None: all), with a face like ``looks`` (embeddings of photos, a row
    each), or damaged; how many went."""
    if not (path.exists() or path.with_suffix(".aside.jsonl").exists()):
        return 0

    def stays(record: Mapping[str, Any]) -> bool:
        # Doubt removes: a record that is damaged, or of which nothing is known, goes too.
        if shots is None or record.get("shot") in shots:
            return False
        if looks is None:
            return True
        try:
            tracks = [track_from_json(row) for row in record["tracks"]]
            return all(float((looks @ track.embeddings.T).max()) < LITTLE_ALIKE for track in tracks)
        except (KeyError, TypeError, ValueError):
            return False

    log = RecordLog(path)
    records = log.records()
    kept_keys = [record["key"] for record in records if stays(record)]
    log.keep(kept_keys)
    return len(records) - len(kept_keys)


def _without_person(record: Mapping[str, Any], member: Member) -> dict[str, Any]:
    """``characters.json`` without somebody's entry, faces, and what is said of others' likeness to them."""
    tracks, names = [], (member.id, *names_of(member))
    for row in record["tracks"]:
        if member.id not in (row["person"], row["named"]):
            is_compared = says_name(str(row.get("reason") or ""), names)
            tracks.append({**row, "likeness": None, "runner_up": None, "reason": ""} if is_compared else row)
    return {**record, "cast": [row for row in record["cast"] if row["id"] != member.id], "tracks": tracks}


def folders_still_naming(folder: Path, member: Member) -> tuple[str, ...]:
    """The files of a work folder, but for sound and pictures, that still say a name of somebody."""
    file_names = []
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in _TEXTS and path.is_file() and not path.is_symlink():
            text = read_file(path).decode("utf-8", "replace")
            if says_name(text, names_of(member)):
                file_names.append(path.name)
    return tuple(file_names)


def says_name(text: str, names: Iterable[str]) -> bool:
    """Whether one of ``names`` stands in a text as a word."""
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names if name)


_TEXTS = frozenset({".json", ".jsonl", ".vtt", ".srt", ".xml", ".csv", ".txt", ".html"})


def _location(photo: Path) -> Path:
    """Where a file lies; of a link, where the link does."""
    return photo.parent.resolve() / photo.name
