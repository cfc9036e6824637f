"""The files that come with the program: sample film, documents, prompts, configs, the manifest of weights.

A name is the file's path below the folder of such files, with ``/``: ``prompts/stage1.j2``,
``sample/sample.mp4``. The same names hold for a checkout and for the installed package.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from shotad.core.errors import UsageError, WorkFolderError, did_you_mean
from shotad.core.files import replace_file
from shotad.core.settings import checkout_folder, data_file, program_root

SAMPLE_FILM = "sample/sample.mp4"
"""44.5 s, 640x360, CC0 1.0; ``sample/README.md`` names its sources."""
_SAMPLE = (SAMPLE_FILM, "sample/sample.en.vtt", "sample/README.md")
_ONLY_FOR_PEOPLE = ("docs/", "sample/")
"""How names begin of files that the program itself never reads."""
_FOLDERS = ("configs", "docs", "models", "prompts")
"""The folders of a checkout that come with the program whole."""


def shipped_files() -> list[str]:
    """The names of all files that come with the program, sorted."""
    root = program_root()
    names = [*_SAMPLE]
    for folder in _FOLDERS:
        paths = (path for path in (root / folder).rglob("*") if path.is_file())
        names += [path.relative_to(root).as_posix() for path in paths]
    return sorted(names)


def shipped_file(name: str) -> Path:
    """Where a file of `shipped_files` lies."""
    # In a checkout the sample stands beside the tests that it was made for.
    in_tests = name in _SAMPLE and checkout_folder() is not None
    return program_root() / "tests" / name if in_tests else program_root() / name


def replacement_of(name: str) -> Path | None:
    """The file of the folder in ``SHOTAD_DATA`` that is read in place of the program's; None without one."""
    if name.startswith(_ONLY_FOR_PEOPLE):
        return None
    path = data_file(name)
    return None if path == program_root() / name else path


def named_files(names: Sequence[str]) -> list[str]:
    """The files that ``names`` mean: files, or folders with all that is in them.

    Raises UsageError for a name of neither.
    """
    all_files = shipped_files()
    files: list[str] = []
    for name in names:
        place = PurePosixPath(name)
        files_of_name = [
            file for file in all_files if place == PurePosixPath(file) or place in PurePosixPath(file).parents
        ]
        if not files_of_name or str(place) == ".":
            hint = f"{did_you_mean(name, all_files)}shotad files lists them all."
            raise UsageError(f"No file {name!r} comes with shotad.", hint)
        files += files_of_name
    return list(dict.fromkeys(files))


def copy_shipped(targets: dict[str, Path]) -> None:
    """Copy each file that is named to its path. One that is there with the same content is left.

    Raises WorkFolderError where a file cannot be written, and, before anything is copied, where another file
    is in the way.
    """
    for name, target in targets.items():
        if target.exists() and not _is_copy(target, name):
            raise WorkFolderError(
                f"{target} is in the way: it differs from the file that comes with shotad.",
                "Move it away, or name another folder.",
            )
    for name, target in targets.items():
        if not target.exists():
            with replace_file(target) as part:
                shutil.copyfile(shipped_file(name), part)


def _is_copy(path: Path, name: str) -> bool:
    return path.is_file() and path.read_bytes() == shipped_file(name).read_bytes()
