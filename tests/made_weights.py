"""A manifest of weights of one's own, in place of the program's: files that a test made, or that cannot be had."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zipfile
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


CONTENT = b"tiny weights" * 100
OTHER = b"other weights" * 100
PYPI_A = "kind: pypi, package: tinyweights==1.0, member: tinyweights/a.onnx"
PYPI_B = "kind: pypi, package: tinyweights==1.0, member: tinyweights/b.onnx"


def own_place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have data files and the cache of weights in ``folder``; pip finds packages in its ``index`` only, and no
    other program or setting of this machine has a say."""
    for name in ("models", "prompts", "configs", "index", "bin"):
        (folder / name).mkdir()
    for name in (
        "HF_ENDPOINT",
        "HF_HUB_OFFLINE",
        "PIP_EXTRA_INDEX_URL",
        "http_proxy",
        "https_proxy",
        "all_proxy",
    ):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("SHOTAD_DATA", str(folder))
    monkeypatch.setenv("SHOTAD_CACHE", str(folder / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder / "index"))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    return folder


def entry(content: bytes, file: str, *sources: str) -> str:
    lines = "\n".join(f"      - {{{source}}}" for source in sources)
    return f"""
    role: test
    file: {file}
    sha256: {hashlib.sha256(content).hexdigest()}
    bytes: {len(content)}
    memory_mb: 1
    licence: MIT
    credit: nobody
    sources:
{lines}
"""


def write_manifest(place: Path, **entries: str) -> None:
    body = "".join(f"  {name.replace('_', '-')}:{fields}" for name, fields in entries.items())
    (place / "models" / "manifest.yaml").write_text(f"schema: 1\nweights:\n{body}")


def make_wheel(folder: Path, tag: str = "py3-none-any", parts: tuple[str, ...] = ()) -> None:
    with zipfile.ZipFile(folder / f"tinyweights-1.0-{tag}.whl", "w") as wheel:
        for name, content in (("a.onnx", CONTENT), ("b.onnx", OTHER), *((part, part) for part in parts)):
            wheel.writestr(f"tinyweights/{name}", content)
        told = "Metadata-Version: 2.1\nName: tinyweights\nVersion: 1.0\n"
        wheel.writestr("tinyweights-1.0.dist-info/METADATA", told)
        wheel.writestr("tinyweights-1.0.dist-info/WHEEL", f"Wheel-Version: 1.0\nTag: {tag}\n")
        wheel.writestr("tinyweights-1.0.dist-info/RECORD", "")
