"""Where prompts, configs and the weights manifest are. Nothing else in the library knows.

Looked for in this order: the folder named by ``SHOTAD_DATA``, the checkout this file belongs to,
the installed wheel.
"""

from __future__ import annotations

import os
from pathlib import Path

from shotad.core.errors import ConfigError, DatasetError, PromptError

_PACKAGE = Path(__file__).resolve().parents[1]


def data_root() -> Path:
    """The folder that holds ``prompts/``, ``configs/`` and ``models/``."""
    override = os.environ.get("SHOTAD_DATA")
    return Path(override) if override else _own_root()


def _own_root() -> Path:
    """The folder of the program itself."""
    checkout = _PACKAGE.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / "prompts").is_dir():
        return checkout
    return _PACKAGE / "_data"


def config_path(name_or_file: str) -> Path:
    """Path of a config by name (``paper``) or by file (``./mine.yaml``)."""
    named = data_root() / "configs" / f"{name_or_file}.yaml"
    if "/" not in name_or_file and named.is_file():
        return named
    if Path(name_or_file).is_file():
        return Path(name_or_file)
    known = sorted(p.stem for p in (data_root() / "configs").glob("*.yaml"))
    raise ConfigError(
        f"There is no config {name_or_file!r}.",
        f"Name a YAML file or one of: {', '.join(known)}.",
        usage=not _is_file_name(name_or_file),
    )


def _is_file_name(text: str) -> bool:
    """Whether a name or file can only be meant as a file."""
    return "/" in text or text.endswith((".yaml", ".yml"))


def dataset_names() -> list[str]:
    """The datasets that have a description, in order of the alphabet."""
    return sorted(p.stem for p in (data_root() / "configs" / "datasets").glob("*.yaml"))


def dataset_path(name_or_file: str) -> Path:
    """Path of a dataset's description by name (``cmd-ad``) or by file (``./mine.yaml``)."""
    named = data_root() / "configs" / "datasets" / f"{name_or_file}.yaml"
    if "/" not in name_or_file and named.is_file():
        return named
    if Path(name_or_file).is_file():
        return Path(name_or_file)
    raise DatasetError(
        f"There is no dataset {name_or_file!r}.",
        f"Name the YAML file that describes it, or one of: {', '.join(dataset_names())}.",
        usage=not _is_file_name(name_or_file),
    )


def prompt_text(name: str) -> str:
    """Text of a prompt template by its path below ``prompts/``, such as ``stage1/base``."""
    path = data_root() / "prompts" / f"{name}.txt"
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise PromptError(f"The prompt {name} cannot be read: {error}.") from None


def word_files(language: str) -> list[Path]:
    """The word files of the lint rules for a language (``en``), in order of the alphabet; none for most.

    A folder named by ``SHOTAD_DATA`` that has no words leaves those of the program in force.
    """
    folders = [data_root() / "configs" / "words", _own_root() / "configs" / "words"]
    folder = next((folder for folder in folders if folder.is_dir()), folders[-1])
    return sorted((folder / language).glob("*.txt"))


def saying_text(language: str) -> str | None:
    """What a language says for signs and abbreviations, ``configs/saying/LANGUAGE.yaml``; None without one.

    A folder named by ``SHOTAD_DATA`` that has none leaves those of the program in force.
    """
    folders = [data_root() / "configs" / "saying", _own_root() / "configs" / "saying"]
    path = next((folder for folder in folders if folder.is_dir()), folders[-1]) / f"{language}.yaml"
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}.") from None


def manifest_path() -> Path:
    """The weights manifest, ``models/manifest.yaml``."""
    return data_root() / "models" / "manifest.yaml"
