"""Fail where one package of shotad imports from a module of another that is not public.

    python tools/public_names.py

A package's ``__init__.pyi`` lists its public names (``from .reader import Film as Film``) and its public
modules (``from . import palette as palette``). Other packages import the names from the package and the rest
from its public modules. import-linter holds the layers; it does not know which modules are public.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "shotad"

NO_PUBLIC_NAMES = "cli"
"""The command line is on top of all; its Python interface is that of ``shotad`` itself."""

TOP_LEVEL = {"__init__.py", "__init__.pyi", "__main__.py", "py.typed"}
"""The files of ``shotad/`` itself; everything else stands in one of its packages."""


@functools.cache
def public_modules(package: str) -> frozenset[str]:
    """The names of a package's public modules, from its ``__init__.pyi``."""
    stub = PACKAGE / package / "__init__.pyi"
    if not stub.is_file():
        return frozenset()
    modules: set[str] = set()
    for node in ast.parse(stub.read_bytes()).body:
        if isinstance(node, ast.ImportFrom) and node.module is None:
            modules.update(name.name for name in node.names)
    return frozenset(modules)


def inner_imports(file: Path, package: str) -> Iterator[str]:
    """Yield the dotted names that ``file``, of ``package``, imports from other packages' inner modules."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        if not isinstance(node, ast.ImportFrom) or not node.module or node.level:
            continue
        parts = node.module.split(".")
        if parts[0] != "shotad" or len(parts) < 3 or parts[1] in (package, NO_PUBLIC_NAMES):
            continue
        if parts[2] not in public_modules(parts[1]):
            for name in node.names:
                yield f"{node.module}.{name.name}"


def main() -> int:
    """Print each fault; 1 where there is one."""
    faults: list[str] = []
    for file in sorted(PACKAGE.rglob("*.py")):
        path = file.relative_to(ROOT)
        package = file.relative_to(PACKAGE).parts[0]
        for name in inner_imports(file, package):
            faults.append(f"{path}: imports {name}, but that module is not public")
    for file in sorted(PACKAGE.iterdir()):
        if file.is_file() and file.name not in TOP_LEVEL:
            faults.append(f"{file.relative_to(ROOT)}: stands in no package")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
