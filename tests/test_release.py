"""``tools/release``: what it refuses, what it builds, and what a release writes."""

from __future__ import annotations

import email
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from email.message import Message
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

PARTS = ("shotad", "prompts", "configs", "models", "docs", "tools", "tests/conftest.py", "tests/sample")
FILES = ("pyproject.toml", "README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", ".gitignore")
Run = Callable[..., subprocess.CompletedProcess[str]]


def git(folder: Path, *words: str) -> str:
    """Standard output of a git command, by somebody with a name."""
    identity = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
    return subprocess.run(
        ["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


def change(path: Path, pattern: str, replacement: str) -> None:
    text, count = re.subn(pattern, replacement, path.read_text(encoding="utf-8"), count=1, flags=re.MULTILINE)
    assert count == 1, (path, pattern)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of this tree as it is, in which version 0.2.0 could be released."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *PARTS, *FILES], cwd=ROOT, capture_output=True, text=True, check=False)  # fmt: skip
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    folder = tmp_path / "checkout"
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
    change(
        folder / "pyproject.toml",
        r"^\[project.urls\]$",
        '[project.urls]\nRepository = "https://example.org/us/shotad"',
    )
    change(folder / "CHANGELOG.md", r"^## .*$", "## 0.2.0, unreleased")
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "As it is")
    git(folder, "tag", "v0.1.0")
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Somebody")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "somebody@example.org")
    return folder


@pytest.fixture
def release(checkout: Path) -> Run:
    """The command in that repository."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(checkout / "tools/release"), *words, "--no-install"]
        return subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)

    return run


@pytest.mark.parametrize(
    ("version", "spoil", "refusal"),
    [
        ("0.1.0", None, "Version 0.1.0 is released already; 0.1.0 must be higher"),
        ("0.0.9", None, "must be higher"),
        ("next", None, "next is no version"),
        ("v0.2.0", None, "v0.2.0 is not how a version is written: 0.2.0"),
        ("0.3.0", None, "CHANGELOG.md does not begin with '## 0.3.0, unreleased'"),
        ("0.2.0", ("README.md", r"\A", "changed "), "work tree differs from the last commit"),
        ("0.2.0", ("pyproject.toml", r"^Repository = .*$", ""), "names no Repository"),
    ],
)
def test_what_cannot_be_released_is_refused_before_anything_is_built(
    checkout: Path, release: Run, version: str, spoil: tuple[str, str, str] | None, refusal: str
) -> None:
    if spoil is not None:
        change(checkout / spoil[0], *spoil[1:])
    refused = release(version)
    assert refused.returncode == 1
    assert refused.stderr.startswith("Not ready: ")
    assert refusal in refused.stderr
    assert not (checkout / "dist").exists()
    assert git(checkout, "tag").split() == ["v0.1.0"]


def metadata_of(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name))


@pytest.mark.long
@pytest.mark.slow
def test_a_release_is_tried_and_made(checkout: Path, release: Run) -> None:
    tried = release("0.2.0", "--dry-run")
    if "Failed to fetch" in tried.stderr:
        pytest.skip("uv reaches no package index, of which it takes twine and check-wheel-contents")
    assert tried.returncode == 0, tried.stderr
    assert git(checkout, "tag").split() == ["v0.1.0"]
    assert git(checkout, "status", "--porcelain") == ""
    (wheel,) = (checkout / "dist").glob("*.whl")
    metadata = metadata_of(wheel)
    assert metadata["Version"] == "0.2.0"
    readme = str(metadata.get_payload())
    assert "(https://example.org/us/shotad/raw/v0.2.0/docs/sample/strip.png)" in readme
    assert "(https://example.org/us/shotad/blob/v0.2.0/docs/python.md)" in readme
    assert re.findall(r"\]\((?!https?://|#)[^)]*\)", readme) == []

    made = release("0.2.0")
    assert made.returncode == 0, made.stderr
    assert "git push --follow-tags" in made.stdout
    assert git(checkout, "tag").split() == ["v0.1.0", "v0.2.0"]
    assert git(checkout, "rev-parse", "v0.2.0^{commit}") == git(checkout, "rev-parse", "HEAD")
    assert git(checkout, "status", "--porcelain") == ""
    assert '__version__ = "0.2.0"' in (checkout / "shotad/__init__.py").read_text(encoding="utf-8")
    assert re.search(
        r"^## 0.2.0, \d{4}-\d\d-\d\d$", (checkout / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    cited = (checkout / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: 0.2.0\ndate-released: \d{4}-\d\d-\d\d$", cited, re.MULTILINE)


@pytest.mark.slow
def test_an_archive_that_lacks_something_is_refused(checkout: Path, release: Run) -> None:
    (checkout / "prompts/stage1.j2").unlink()
    git(checkout, "commit", "--quiet", "-am", "By mistake")
    refused = release()
    assert refused.returncode == 1
    assert "The archives lack shotad/_data/prompts/stage1.j2" in refused.stderr
