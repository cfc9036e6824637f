"""Print how large each room of shotad is, and fail where one is above its budget.

    python tools/house.py

Budgets stand in pyproject.toml, [tool.shotad.house]: the most lines of Python (as `wc` counts them) and files
of each room, the most settings, and how many names tests take from within a room. Who makes a room larger
raises its budget in a commit of its own that says why. One room takes from another by its face alone.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from shotad.core import Config  # noqa: E402
from shotad.core.settings import setting_names  # noqa: E402


def size_of(folder: Path) -> tuple[int, int]:
    """Lines and files of the Python below a folder."""
    files = list(folder.rglob("*.py"))
    return sum(file.read_bytes().count(b"\n") for file in files), len(files)


def past_a_face(file: Path, room: str | None) -> Iterator[str]:
    """What ``file``, of ``room``, takes from within other rooms: ``shotad.film.reader.Reader``.

    The command line, on top of all, has no face: its Python interface is that of the package.
    """
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            parts = node.module.split(".")
            if parts[0] == "shotad" and len(parts) > 2 and parts[1] not in (room, "cli"):
                yield from (f"{node.module}.{name.name}" for name in node.names)


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
    for file in package.rglob("*.py"):
        room = file.relative_to(package).parts[0]
        above += [
            f"{file.relative_to(ROOT)} takes {name} past its room's face" for name in past_a_face(file, room)
        ]
    most = budget["inner_names_in_tests"]
    inner = len({name for file in (ROOT / "tests").rglob("*.py") for name in past_a_face(file, None)})
    print(f"names that tests take from within a room: {inner:,}, at most {most:,}")
    if inner > most:
        above.append(
            f"tests take {inner:,} names from within a room, at most {budget['inner_names_in_tests']:,}"
        )
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
