"""Opening a film: a file, numbered frames in a folder or tar, or a binary file object."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO

from shotad.core import UsageError, is_tar, is_text, unnamed
from shotad.film.reader import Film

_TAR_NAMES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")


def open_film(
    source: str | os.PathLike[str] | BinaryIO,
    *,
    reader: str = "pyav",
    frame_rate: Fraction | None = None,
) -> Film:
    """Open a film file, a seekable binary file object, or numbered frames in a folder or tar.

    ``frame_rate`` is needed for numbered frames, and means nothing elsewhere. Raises FilmError for
    what cannot be read as a film, UsageError for an unknown reader.
    """
    if reader not in ("pyav", "decord"):
        raise UsageError(f"There is no film reader {reader!r}.", "Use pyav or decord.")
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if not is_text(str(path.absolute())):
            raise unnamed(str(path))
        if path.is_dir() or _is_tar(path):
            from shotad.film.stills import open_stills

            return open_stills(path, frame_rate)
    if reader == "decord":
        from shotad.film.decord_reader import open_decord

        return open_decord(source)
    from shotad.film.pyav_reader import open_pyav

    return open_pyav(source)


def _is_tar(path: Path) -> bool:
    """True for a tar archive by name, or by the mark that modern tar writes at byte 257."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            head = file.read(512)
    except OSError:
        return False
    named = path.name.lower().endswith(_TAR_NAMES)
    if not named and head[257:262] != b"ustar":
        return False
    return is_tar(path)
