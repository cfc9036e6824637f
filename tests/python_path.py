"""Where programs that tests start find shotad and the tests."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def python_path(*folders: Path | str) -> str:
    """The value of PYTHONPATH: ``folders``, the checkout, and what is on it already."""
    known = os.environ.get("PYTHONPATH")
    return os.pathsep.join([*map(str, folders), str(ROOT), *([known] if known else [])])
