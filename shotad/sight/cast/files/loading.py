"""A cast from whatever holds one."""

from __future__ import annotations

from pathlib import Path

from shotad.core import Cast, CastError
from shotad.sight.cast.files.castfile import cast_path, read_cast
from shotad.sight.cast.files.charbank import read_bank
from shotad.sight.cast.files.checks import warnings
from shotad.sight.cast.files.photofiles import is_photo, members_of_folder

_KINDS = "a cast.yaml, a folder that holds one, a folder of photos, or a character bank in JSON"


def load_cast(path: Path, *, key: str = "", photos: Path | None = None) -> Cast:
    """The cast in a ``cast.yaml``, in a folder with one, in a folder of photos, or in a character bank.

    ``key`` is the film's in a bank of several, ``photos`` the folder of profile pictures that goes with a
    bank. Photos are files that are there; whether they show a face is not looked at. Raises CastError, with
    the line where a file holds the mistake.
    """
    try:
        return _loaded(path, key, photos)
    except OSError as error:
        raise CastError(f"The cast {path} cannot be read: {error.strerror}.", "Look at its rights.") from None


def _loaded(path: Path, key: str, photos: Path | None) -> Cast:
    if not path.exists():
        raise CastError(f"There is no cast {path}.", f"Name {_KINDS}.")
    if path.suffix.lower() == ".json" and path.is_file():
        return read_bank(path, key, photos)
    if key or photos is not None:
        what = "A key" if key else "A folder of profile pictures"
        raise CastError(f"{what} was given, but {path} is no character bank.", "Leave it out.")
    if path.is_dir():
        file = cast_path(path)
        return read_cast(file) if file.exists() else _photographed(path)
    if path.suffix.lower() in (".yaml", ".yml"):
        return read_cast(path)
    hint = "Name the folder that it is in." if is_photo(path) else f"Name {_KINDS}."
    raise CastError(f"{path} is no cast.", hint)


def _photographed(folder: Path) -> Cast:
    members, notes = members_of_folder(folder)
    return Cast(members, folder, (*notes, *warnings(members)))
