"""The house: floors hold, cheap imports stay cheap, public names stay."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "shotad"

FLOORS = {
    "errors": 1,
    "lazy": 1,
    "types": 2,
    "presence": 2,
    "facts": 2,
    "config": 2,
    "resources": 2,
    "settings": 2,
    "threadnames": 2,
    "progress": 2,
    "addresses": 2,
    "archives": 2,
    "printable": 2,
    "quiet": 2,
    "system": 2,
    "profiling": 2,
    "plan": 3,
    "script": 3,
    "pictures": 3,
    "workfolder": 3,
    "recordlog": 3,
    "records": 3,
    "recordshapes": 3,
    "wholefiles": 3,
    "weights": 3,
    "film": 4,
    "sight": 4,
    "engines": 4,
    "grammar": 4,
    "machine": 6,
    "compute": 4,
    "hub": 4,
    "language": 4,
    "describe": 5,
    "training": 5,
    "sound": 5,
    "cast": 5,
    "evaluation": 6,
    "framing": 6,
    "prepare": 6,
    "outcome": 6,
    "sheet": 6,
    "tracking": 6,
    "redo": 6,
    "casting": 6,
    "foreseeing": 6,
    "runsettings": 6,
    "writing": 6,
    "understand": 6,
    "recorded": 6,
    "rendering": 6,
    "scriptfiles": 6,
    "lint": 6,
    "translating": 6,
    "pipeline": 6,
    "api": 7,
    "catalogue": 7,
    "review": 7,
    "cli": 8,
}
"""Room → floor, as in the architecture notes; a room imports from its own floor and from those below."""

MODULES = sorted(PACKAGE.rglob("*.py"))


def room_of(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


def imported(path: Path) -> set[str]:
    """Names of the shotad modules that a file imports anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path} imports relatively"
            found |= {
                f"{node.module}.{a.name}" if node.module == "shotad" else node.module for a in node.names
            }
    return {name for name in found if name == "shotad" or name.startswith("shotad.")}


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("path", MODULES, ids=[dotted(p) for p in MODULES])
def test_a_room_imports_only_from_its_floor_and_below(path: Path) -> None:
    room = room_of(dotted(path))
    if room == "__init__":
        return
    assert room in FLOORS, f"{room} has no floor yet"
    for name in imported(path):
        other = room_of(name)
        if other not in ("__init__", "__version__"):
            assert FLOORS[other] <= FLOORS[room], f"{dotted(path)} (floor {FLOORS[room]}) imports {name}"


def test_no_module_imports_in_a_circle() -> None:
    modules = {dotted(p): p for p in MODULES}
    graph = {
        name: {n for n in imported_at_load(p) if n in modules and n != name} for name, p in modules.items()
    }
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, f"imports in a circle: {' → '.join((*path, name))}"
        if name not in done:
            for other in sorted(graph[name]):
                visit(other, (*path, name))
            done.add(name)

    for name in sorted(graph):
        visit(name, ())


def imported_at_load(path: Path) -> set[str]:
    """Modules imported when the file is loaded: not inside functions, not for type checkers only."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


HEAVY = (
    "torch",
    "cv2",
    "spacy",
    "scipy",
    "matplotlib",
    "av",
    "onnxruntime",
    "scenedetect",
    "lxml",
    "transformers",
    "jinja2",
    "ray",
    "fsspec",
    "pyarrow",
)


@pytest.mark.parametrize(
    "code",
    [
        "import shotad",
        "import shotad.cli.main as m; m.cli.main(['--help'], standalone_mode=False)",
        "import shotad.cli.main as m; m.cli.main(['describe', '--help'], standalone_mode=False)",
        "import shotad.cli.main as m; m.cli.main(['batch', '--help'], standalone_mode=False)",
        "import shotad.cli.main as m; m.cli.main(['render', '--help'], standalone_mode=False)",
        "import shotad.cli.main as m; m.cli.main(['lint', '--help'], standalone_mode=False)",
        "import shotad.cli.main as m; m.cli.main(['voices', '--help'], standalone_mode=False)",
        "import shotad.cli.main as m; m.cli.main(['translate', '--help'], standalone_mode=False)",
        "import shotad.cli.main as m; m.cli.main(['evaluate', 'threads', '--help'], standalone_mode=False)",
        "import shotad.cli.main as m; m.cli.main(['evaluate', 'ad', '--help'], standalone_mode=False)",
        "import shotad.cli.main as m; m.cli.main(['evaluate', 'assisted', '--help'], standalone_mode=False)",
        "import shotad.cli.main as m; m.cli.main(['evaluate', 'inter-rater', '--help'], standalone_mode=False)",
        "import shotad.cli.main as m; m.cli.main(['datasets', 'check', '--help'], standalone_mode=False)",
        "import shotad.cli.main as m; m.cli.main(['predict', '--help'], standalone_mode=False)",
        "import shotad.cli.main as m; m.cli.main(['train', 'scale', '--help'], standalone_mode=False)",
        "import shotad.cli.main as m; m.cli.main(['sheet', '--help'], standalone_mode=False)",
    ],
)
def test_cheap_things_load_nothing_heavy(code: str) -> None:
    check = f"import sys; {code}; print('HEAVY', [m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("HEAVY []"), done.stdout[-200:]


def test_nothing_of_this_workplace_stands_in_the_tree() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.suffix in {".py", ".md", ".toml", ".yaml", ".txt", ".json"} and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            for word in ("/" + "work/", "/" + "root/", "pypi." + "org", "registry.npm" + "js.org"):
                assert word not in text, f"{name} names {word}"
