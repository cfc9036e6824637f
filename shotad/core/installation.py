"""How this program was installed, and the command that adds a package to it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

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
