"""The house: cheap imports stay cheap, and nothing of a machine stands in the tree. Floors are held by lint-imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

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
