"""With what a report was made: versions of programs and libraries, and the state of the checkout."""

from __future__ import annotations

import importlib.metadata
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import shotad
from shotad import __version__
from shotad.evaluation.report.inputs import base_name

LIBRARIES = (
    "accelerate", "bert-score", "fastcoref", "jinja2", "matplotlib", "numpy", "openai", "pycocoevalcap",
    "pydantic", "safetensors", "scipy", "sentence-transformers", "spacy", "tokenizers", "torch",
    "transformers",
)  # fmt: skip
"""Those that a number may depend on."""

_JAVA_METRICS = ("meteor", "spice")
_SPACY_MODEL = re.compile(r"[a-z]{2,3}[-_](core|dep|ent|sent)[-_]\w+[-_](sm|md|lg|trf)")


def surroundings(metrics: Iterable[str]) -> dict[str, Any]:
    """Versions and git state as JSON. Imports no library; asks for Java only where a metric used it."""
    needs_java = any(base_name(metric) in _JAVA_METRICS for metric in metrics)
    return {
        "shotad": __version__,
        "git": _git(Path(shotad.__file__).resolve().parent.parent),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        **({"java": _java()} if needs_java else {}),
        "libraries": _versions(),
    }


def _versions() -> dict[str, str]:
    found = {}
    for distribution in importlib.metadata.distributions():
        name = (distribution.metadata["Name"] or "").lower()
        if name in LIBRARIES or _SPACY_MODEL.fullmatch(name):
            found[name.replace("_", "-")] = distribution.version
    return dict(sorted(found.items()))


def _git(root: Path) -> dict[str, Any] | None:
    """Commit of the checkout that shotad runs from; None where it is installed, or git is not there."""
    top = _said(["git", "-C", str(root), "rev-parse", "--show-toplevel"])
    commit = _said(["git", "-C", str(root), "rev-parse", "HEAD"])
    if top is None or commit is None or Path(top.strip()).resolve() != root:
        return None
    changed = _said(["git", "-C", str(root), "status", "--porcelain", "--untracked-files=no"])
    return {"commit": commit.strip(), "dirty": None if changed is None else bool(changed.strip())}


def _java() -> str | None:
    told = _said(["java", "-version"])
    return told.splitlines()[0].strip() if told and told.strip() else None


def _said(words: list[str]) -> str | None:
    """What a program says, on either channel; None where it is not there or fails."""
    program = shutil.which(words[0])
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, *words[1:]], capture_output=True, text=True, timeout=20, check=True, errors="replace"
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout + done.stderr
