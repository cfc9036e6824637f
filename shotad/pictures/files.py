"""Pictures and pages on disk: whole or not at all, and none left over from before."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from PIL import Image

from shotad.errors import WorkFolderError

_OURS = ("filmstrip*.png", "timeline.png", "line-*.png", "matrix-*.png", ".tmp-*")
"""Names in a sheet's folder that are this program's, and that it may delete."""


class SheetFiles:
    """The folder of a sheet's pictures."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.written: list[Path] = []

    def save(self, name: str, picture: Image.Image) -> None:
        """Write ``NAME.png``. The same picture gives the same bytes. Raises WorkFolderError."""
        out = io.BytesIO()
        picture.save(out, "PNG", compress_level=6)
        path = self._folder / f"{name}.png"
        replace_file(path, [out.getvalue()])
        self.written.append(path)

    def sweep(self) -> None:
        """Delete pictures of an earlier sheet that were not written again; other files stay."""
        for pattern in _OURS:
            for path in self._folder.glob(pattern):
                if path not in self.written:
                    path.unlink(missing_ok=True)


def replace_file(path: Path, parts: Iterable[bytes]) -> None:
    """Replace a file by a temporary one beside it and a rename, so that it is never half written.

    Raises WorkFolderError.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".tmp-", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as out:
                for part in parts:
                    out.write(part)
            os.chmod(name, 0o644)
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise WorkFolderError(
            f"{path} cannot be written: {error.strerror}.", "Free some space there, or name another folder."
        ) from None
