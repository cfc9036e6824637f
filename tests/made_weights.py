"""A manifest of weights of one's own, in place of the program's: files that a test made, or that cannot be had."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest


def use_manifest(
    folder: Path, monkeypatch: pytest.MonkeyPatch, files: Mapping[str, tuple[str, Path | None]]
) -> dict[str, Path]:
    """Have the manifest list these weights alone: by name their role, and a file, or None for weights that are
    not here and have no source. Other data files stay those of the program.

    Gives the path of each file in the cache, which is a new one below ``folder``.
    """
    cache = folder / "cache"
    entries: dict[str, Any] = {}
    cached: dict[str, Path] = {}
    for name, (role, path) in files.items():
        entry: dict[str, Any] = {
            "role": role, "memory_mb": 1, "licence": "MIT", "credit": "made by a test", "sources": []
        }  # fmt: skip
        if path is None:
            entries[name] = {
                **entry,
                "file": name,
                "sha256": hashlib.sha256(name.encode()).hexdigest(),
                "bytes": 1,
            }
            continue
        content = path.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        entries[name] = {**entry, "file": path.name, "sha256": digest, "bytes": len(content)}
        cached[name] = cache / "weights" / digest[:16] / path.name
        cached[name].parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, cached[name])
    manifest = folder / "data" / "models" / "manifest.yaml"
    manifest.parent.mkdir(parents=True)
    manifest.write_text(json.dumps({"weights": entries}), encoding="utf-8")
    monkeypatch.setenv("SHOTAD_DATA", str(folder / "data"))
    monkeypatch.setenv("SHOTAD_CACHE", str(cache))
    return cached
