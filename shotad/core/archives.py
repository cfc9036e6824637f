"""What is read out of archives: never more than a limit, whatever an archive says of its own sizes."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

_BLOCK = 1 << 16
"""Bytes that are unpacked at a time: zipfile unpacks all at once where it is asked for everything."""

_LARGEST_HEADER = 1 << 20
"""Bytes of one header of a tar archive, such as a long name, which tarfile reads whole."""


def read_limited(stream: IO[bytes], most: int) -> bytes:
    """The rest of a stream. Raises OSError as soon as it is over ``most`` bytes."""
    return b"".join(blocks(stream, most))


def blocks(stream: IO[bytes], most: int) -> Iterator[bytes]:
    """The same in pieces, for what is too large to hold."""
    left = most
    while block := stream.read(_BLOCK):
        left -= len(block)
        if left < 0:
            raise OSError(f"it holds more than {most} bytes")
        yield block


class Tar(tarfile.TarFile):
    """A tar archive that is read in small pieces only. Open it with ``Tar.open``."""

    def __init__(self, name: Any, mode: Any = "r", fileobj: IO[bytes] | None = None, **others: Any) -> None:
        stream = _InPieces(fileobj or Path(name).open("rb"))  # noqa: SIM115 - closed with the archive
        try:
            super().__init__(name, mode, cast(IO[bytes], stream), **others)
        except BaseException:
            if fileobj is None:
                stream.close()
            raise

    def close(self) -> None:
        """Close the archive and its file."""
        super().close()
        if self.fileobj is not None:
            self.fileobj.close()


class _InPieces:
    """A stream that refuses to be read by more than `_LARGEST_HEADER` bytes at once."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.seek, self.tell, self.close = stream.seek, stream.tell, stream.close

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= _LARGEST_HEADER:
            raise tarfile.ReadError(f"{size} bytes are to be read at once; at most {_LARGEST_HEADER} are")
        return self._stream.read(size)


def is_tar(path: Path) -> bool:
    """Whether a file is a tar archive, packed or not."""
    try:
        Tar.open(path).close()
    except (tarfile.TarError, OSError, EOFError):
        return False
    return True
