"""Java programs of the COCO tools: where they are, whether they can run, and talking with one."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from shotad.core import EvaluationError

_TURN = 64
"""Lines that are sent before answers are read: their answers fit in a pipe's buffer (64 KiB)."""
_PATIENCE = 10.0
"""Seconds for a program to end after its input has."""
_TOLD = 400
"""Characters of a program's complaint that an error repeats."""


def coco_file(path: str, wanted_by: str) -> Path:
    """A file of the package pycocoevalcap. Raises EvaluationError where there is none."""
    found = importlib.util.find_spec("pycocoevalcap")
    for folder in (found.submodule_search_locations or ()) if found else ():
        if (Path(folder) / path).is_file():
            return Path(folder) / path
    what = "the package pycocoevalcap, which is not installed" if found is None else f"pycocoevalcap's {path}"
    raise EvaluationError(
        f"{wanted_by} needs {what}.",
        'Install it with: pip install "shotad[coco]" (about 100 MB), or leave the metric out.',
    )


def java_program(wanted_by: str) -> Path:
    """Java, of JAVA_HOME or else of the PATH. Raises EvaluationError where there is none."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin")) if home else None
    found = found or shutil.which("java")
    if found is None:
        raise EvaluationError(
            f"{wanted_by} needs Java, and there is no java on the PATH (JAVA_HOME is {home or 'not set'}).",
            "Install a Java runtime, such as default-jre-headless or openjdk, or leave the metric out.",
        )
    return Path(found)


def java_version(program: Path, wanted_by: str) -> int:
    """Its main version: 8, 11, 17. Raises EvaluationError where it does not run."""
    try:
        run = subprocess.run(
            [program, "-version"], capture_output=True, text=True, check=True, timeout=60, errors="replace"
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise EvaluationError(
            f"{wanted_by} needs Java, and {program} does not run: {error}.",
            "Name another by JAVA_HOME, or leave the metric out.",
        ) from None
    found = re.search(r'version "(?:1\.)?(\d+)', run.stderr + run.stdout)
    return int(found[1]) if found else 0


def hash_of(path: Path) -> str:
    """16 hex digits of a file's SHA-256."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


class Conversation:
    """A program that answers each line with one line, for as long as the ``with`` block lasts."""

    def __init__(self, command: Sequence[str | Path], folder: Path, name: str) -> None:
        self._command = [str(part) for part in command]
        self._folder = folder
        self._name = name

    def __enter__(self) -> Self:
        self._complaints: IO[bytes] = tempfile.TemporaryFile()
        try:
            self._process = subprocess.Popen(
                self._command,
                cwd=self._folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._complaints,
                encoding="utf-8",
                errors="replace",
            )
        except OSError as error:
            self._complaints.close()
            raise EvaluationError(f"{self._name} cannot be started: {error}.") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        process = self._process
        try:
            if process.stdin is not None:
                process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            process.wait(_PATIENCE if kind is None else 0.1)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
        self._complaints.close()

    def ask(self, lines: Sequence[str]) -> Iterator[str]:
        """The answers, in order. Raises EvaluationError where the program ends before it has answered."""
        for first in range(0, len(lines), _TURN):
            turn = lines[first : first + _TURN]
            self._send(turn)
            for _ in turn:
                yield self._answer()

    def _send(self, lines: Sequence[str]) -> None:
        into = self._process.stdin
        assert into is not None
        try:
            into.writelines(f"{line}\n" for line in lines)
            into.flush()
        except BrokenPipeError:
            raise self._gone() from None

    def _answer(self) -> str:
        out = self._process.stdout
        assert out is not None
        line: str = out.readline()
        if not line:
            raise self._gone()
        return line.rstrip("\n")

    def _gone(self) -> EvaluationError:
        code = self._process.wait()
        self._complaints.seek(0)
        said = self._complaints.read().decode(errors="replace").strip()[:_TOLD]
        return EvaluationError(
            f"{self._name} ended with code {code} before it had answered: {said or 'it said nothing'}",
            "Is there enough memory (it takes 2 GB)? Does it run with this Java?",
        )
