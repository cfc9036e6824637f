"""Print how large each room of shotad is, and fail where one is above its budget.

    python tools/house.py

Budgets stand in pyproject.toml, [tool.shotad.house]: the most lines of Python (as `wc` counts them) and files
of each room, and the most settings. Who makes a room larger raises its budget in a commit of its own that
says why.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from shotad.core.config import Config  # noqa: E402
from shotad.core.settings import setting_names  # noqa: E402


def size_of(folder: Path) -> tuple[int, int]:
    """Lines and files of the Python below a folder."""
    files = list(folder.rglob("*.py"))
    return sum(file.read_bytes().count(b"\n") for file in files), len(files)


def main() -> int:
    """Print the table; 1 where something is above its budget."""
    budget = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["shotad"]["house"]
    package = ROOT / "shotad"
    rooms = sorted(child.name for child in package.iterdir() if (child / "__init__.py").exists())
    above = [f"{room} has no budget" for room in rooms if room not in budget["rooms"]]
    print(f"{'room':<14}{'lines':>8}{'at most':>9}{'files':>8}{'at most':>9}")
    for room in rooms:
        sizes, most = size_of(package / room), budget["rooms"].get(room, [0, 0])
        print(f"{room:<14}{sizes[0]:>8,}{most[0]:>9,}{sizes[1]:>8,}{most[1]:>9,}")
        above += [
            f"{room} has {size:,} {what}, at most {top:,}"
            for what, size, top in zip(("lines", "files"), sizes, most, strict=True)
            if size > top
        ]
    lines, files = size_of(package)
    print(f"{'all':<14}{lines:>8,}{'':>9}{files:>8,}")
    settings = len(setting_names(Config))
    print(f"settings: {settings}, at most {budget['settings']}")
    if settings > budget["settings"]:
        above.append(f"there are {settings} settings, at most {budget['settings']}")
    others = sorted(
        child.name for child in package.iterdir() if child.is_file() and child.name not in budget["top"]
    )
    above += [f"{name} stands in no room" for name in others]
    for what in above:
        print(f"Above its budget: {what}.", file=sys.stderr)
    return 1 if above else 0


if __name__ == "__main__":
    raise SystemExit(main())
