"""A disk that takes no more: one line that says so, exit code 1, nothing that was there is lost, and the same command goes
on afterwards."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from shotad.core.files import disk_error, is_disk_error
from tests.cli.program import FAKE
from tests.media import FilmSpec, make_film
from tests.python_path import python_path

resource = pytest.importorskip("resource", reason="files cannot be limited here")

# Python would keep what it compiles, cut off where the disk is full.
ENVIRONMENT = {"PYTHONPATH": python_path(), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def limited(words: Sequence[object], most: int) -> subprocess.CompletedProcess[str]:
    """A command, in a process of its own, whose files may have ``most`` bytes."""
    code = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, resource.RLIM_INFINITY)); from shotad.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, **ENVIRONMENT},
    )


def check(said: subprocess.CompletedProcess[str]) -> None:
    assert said.returncode == 1, said.stderr
    assert "Traceback" not in said.stderr
    assert "Exception ignored" not in said.stderr
    (error,) = [line for line in said.stderr.splitlines() if line.startswith("Error:")]
    assert re.search(
        r"cannot be (written|made).*: File too large\. Files may not become so large there", error
    )


def test_a_run_that_finds_no_room_goes_on_when_there_is_some(tmp_path: Path) -> None:
    film = make_film(FilmSpec(frames=300, cuts=(100, 200))).path
    out = tmp_path / "w"
    words = ["describe", film, *FAKE, "--out", out]
    limits = (100, 900, 2500, 4000, 5000)
    for most in limits:
        check(limited(words, most))
        assert not [path for path in out.glob(".tmp-*") if path.is_file()]
        assert not all((out / name).exists() for name in ("track.json", "worksheet.html"))
    assert limited(words, 10**8).returncode == 0
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file() and path.name != "log.txt"}
    check(limited([*words, "--force"], 3000))
    lasting = [path for path in before if ".ad." in path.name or path.name == "track.json"]
    assert {path: path.read_bytes() for path in lasting} == {path: before[path] for path in lasting}


def test_output_that_finds_no_room_is_one_line(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    with Path("/dev/full").open("w") as full:
        said = subprocess.run(
            [sys.executable, "-m", "shotad", "models", "list"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env={**os.environ, **ENVIRONMENT},
        )
    assert said.returncode == 1
    assert said.stderr.splitlines() == [
        "Error: The output cannot be written: No space left on device. The disk is full: free some space and run "
        "again; what is done is kept."
    ]


@pytest.mark.parametrize(
    ("name", "words", "again"),
    [
        ("ENOSPC", "disk is full", True),
        ("EDQUOT", "quota is used up", True),
        ("EFBIG", "ulimit", True),
        ("EIO", "cannot be read or written any more", True),
        ("EROFS", "is read-only: make it writable", False),
        ("EACCES", "no permission", False),
    ],
)
def test_what_the_system_says_is_said_with_what_to_do(name: str, words: str, again: bool) -> None:
    trouble = OSError(getattr(errno, name), os.strerror(getattr(errno, name)), "w/track.json")
    error = disk_error(trouble, "w/track.json cannot be written")
    assert words in error.hint
    assert error.again is again
    assert is_disk_error(trouble) is (name != "EACCES")
