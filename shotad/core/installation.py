"""How this program was installed, and what to do where a package, or a library of the system, is missing."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from shotad.core.errors import ShotadError

_PLAIN = re.compile(r"[\w.-]+")


def install_command(*requirements: str) -> str:
    """The command that installs ``requirements`` beside this program, such as ``shotad[openai]``.

    pipx and uv give each program an environment of its own, which plain pip does not reach. A file marks it:
    pipx_metadata.json (pipx.pypa.io, "How pipx works"), uv-receipt.toml (docs.astral.sh/uv, "Tools"). In each
    of the three, ``shotad[EXTRA]`` means the shotad that is installed: no index is asked for it.
    """
    # Brackets and stars are patterns to a shell.
    words = " ".join(name if _PLAIN.fullmatch(name) else f'"{name}"' for name in requirements)
    environment = Path(sys.prefix)
    if (environment / "pipx_metadata.json").is_file():
        # `pipx inject` would have `pipx reinstall` ask the index for shotad.
        return f"pipx runpip shotad install {words}"
    if (environment / "uv-receipt.toml").is_file():
        return f'uv pip install --python "{environment}" {words}'
    return f"pip install {words}"


_NOT_FOUND = re.compile(r"(?<![^\s:])(?P<library>[^\s:]++): cannot open shared object file")
"""How the loader of Linux says it (``dlopen``), in the message of an ImportError."""
_DEBIAN_PACKAGES = {"libGL.so.1": "libgl1", "libgthread-2.0.so.0": "libglib2.0-0"}
"""What opencv-python needs beside its wheel. Servers and containers often lack it."""


def missing_library_error(error: BaseException) -> ShotadError | None:
    """What to say where an import failed for want of a system library; None where ``error`` is another."""
    match = _NOT_FOUND.search(str(error)) if isinstance(error, ImportError) else None
    if match is None:
        return None
    library = match["library"]
    package = _DEBIAN_PACKAGES.get(library)
    hint = f"On Debian and Ubuntu: apt install {package}." if package else "Install its package."
    return ShotadError(f"The system library {library} is not installed.", hint)
