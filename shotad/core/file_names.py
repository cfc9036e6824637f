"""Which names files can have, here and on Windows.

Source: learn.microsoft.com/windows/win32/fileio/naming-a-file.
"""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

_SIGNS = re.compile(r'[\x00-\x1f<>:"/\\|?*]|[. ]$')
"""What no name can hold, and what it cannot end with."""
_DEVICES = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?= *+(?:\.|$))", re.IGNORECASE
)
"""Names that mean a device in every folder, with any ending."""


def is_too_long(path: Path) -> bool:
    """Whether a path, or a name in it, is longer than this system takes, so that nothing can be there.

    To ask whether a file is there raises an error then, which no caller of ``is_file`` expects.
    """
    try:
        os.lstat(path)
    except OSError as error:
        return error.errno == errno.ENAMETOOLONG
    except ValueError:  # no name in this system's encoding
        return False
    return False


def fits_windows(name: str) -> bool:
    """Whether a file on Windows can have this name.

    >>> [fits_windows(name) for name in ("a.mp4", "a:b.mp4", "aux.mp4", "a.")]
    [True, False, False, False]
    """
    return _SIGNS.search(name) is None and _DEVICES.match(name) is None


def name_for_windows(name: str) -> str:
    """A name that comes from elsewhere as one that a file on Windows can have.

    >>> [name_for_windows(name) for name in ("a:b?.mp4", "aux.mp4", "auxiliary.mp4", "a.")]
    ['a_b_.mp4', 'aux_.mp4', 'auxiliary.mp4', 'a_']
    """
    plain = _SIGNS.sub("_", name)
    device = _DEVICES.match(plain)
    return plain if device is None else f"{plain[: device.end()]}_{plain[device.end() :]}"
