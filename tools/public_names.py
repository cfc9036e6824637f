"""Fail where one package of shotad takes a name from inside another, instead of the other's public names.

    python tools/public_names.py

What a package offers stands in its ``__init__.pyi``. import-linter holds the layers; it cannot tell
``from shotad.film import open_film`` from ``from shotad.film.reader import open_film``, which this can.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "shotad"

NO_PUBLIC_NAMES = "cli"
"""The command line is on top of all; its Python interface is that of ``shotad`` itself."""

TOP_LEVEL = {"__init__.py", "__init__.pyi", "__main__.py", "py.typed"}
"""The files of ``shotad/`` itself; everything else stands in one of its packages."""


def inner_imports(file: Path, package: str) -> Iterator[str]:
    """Yield the dotted names that ``file``, of ``package``, imports from inside other packages."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        if not isinstance(node, ast.ImportFrom) or not node.module or node.level:
            continue
        parts = node.module.split(".")
        from_inside = parts[0] == "shotad" and len(parts) > 2
        if from_inside and parts[1] not in (package, NO_PUBLIC_NAMES):
            for name in node.names:
                yield f"{node.module}.{name.name}"


def main() -> int:
    """Print each fault; 1 where there is one."""
    faults: list[str] = []
    for file in sorted(PACKAGE.rglob("*.py")):
        path = file.relative_to(ROOT)
        package = file.relative_to(PACKAGE).parts[0]
        for name in inner_imports(file, package):
            faults.append(f"{path}: imports {name}, which its package does not make public")
    for file in sorted(PACKAGE.iterdir()):
        if file.is_file() and file.name not in TOP_LEVEL:
            faults.append(f"{file.relative_to(ROOT)}: stands in no package")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
