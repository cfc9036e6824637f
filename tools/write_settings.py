"""Writes what is said of the settings from their types and docstrings: ``python tools/write_settings.py``.

``configs/default.yaml`` lists every key with its default, ``docs/settings.md`` is the reference. A test holds
that both are what this writes.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from shotad.core import Config
from shotad.core.trust import UserOnly

ROOT = Path(__file__).resolve().parents[1]

UNITS = {
    "Seconds": "s", "Frames a second": "1/s", "Frames": "frames", "Pixels": "pixels", "Tokens": "tokens",
    "Words a minute": "words/min", "Words": "words", "Bits a second": "bit/s", "Samples a second": "Hz",
    "dBTP": "dBTP", "dB": "dB", "LU": "LU", "Share": "0 to 1", "Characters": "characters",
    "Lines": "lines", "Shots": "shots", "Times": "times",
}  # fmt: skip
"""How a docstring begins that tells of an amount, and its unit."""

_YAML_HEAD = """\
# Every setting with its default, written by tools/write_settings.py from shotad/core/config/. Copy what
# you change into a file of your own and name it: --config FILE. The same as a page: docs/settings.md.
"""
_PAGE_HEAD = """\
# Settings

This page lists every setting with its default. Set one with `--set slots.minimum=3`, or several in a YAML
file with `--config FILE`. `shotad files configs/default.yaml` copies the defaults in this form.

If several set the same key, the first of these wins: an option such as `--language`, `--set`, the file of a
dataset (`--config cmd-ad`), the last other `--config`.

A setting marked **yours** decides what is sent, run or read. A file that came with a film
[may not set it](batch.md#what-a-settings-file-beside-a-film-may-do).

`tools/write_settings.py` writes this page from `shotad/core/config/`.
"""
_COLUMNS = "\n| key | default | unit or values | what it does |\n|---|---|---|---|"


@dataclass(frozen=True, slots=True)
class Key:
    """A setting: its dotted key, its default, what may be given, and what it does."""

    name: str
    default: Any
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Group:
    """Keys that stand together, and what they are about."""

    name: str
    text: str
    keys: tuple[Key, ...]


def groups(model: BaseModel, name: str = "") -> Iterator[Group]:
    """The group ``model`` and those within it, in the order of the code."""
    told = told_of(type(model))
    plain, inner = [], []
    for key, info in type(model).model_fields.items():
        value = getattr(model, key)
        dotted = f"{name}.{key}" if name else key
        if isinstance(value, BaseModel):
            inner += groups(value, dotted)
        else:
            plain.append(Key(dotted, value, kind_of(info, told.get(key, "")), told.get(key, "")))
    yield Group(name, flat(inspect.getdoc(type(model)) or ""), tuple(plain))
    yield from inner


def told_of(model: type[BaseModel]) -> dict[str, str]:
    """What stands below each field in the code, on one line, by the field's name."""
    body = ast.parse(textwrap.dedent(inspect.getsource(model))).body[0].body  # type: ignore[attr-defined]
    return {
        field.target.id: flat(below.value.value)
        for field, below in pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr)
    }


def flat(text: str) -> str:
    """A docstring on one line, with the marks of Markdown and the values of YAML."""
    line = " ".join(text.split()).replace("``", "`")
    return line.replace("None", "null").replace("True", "true").replace("False", "false")


def kind_of(info: FieldInfo, text: str) -> str:
    """The values that may be given, or the unit of an amount; else what it is; and whether the setting is the
    user's alone."""
    yours = ", **yours**" if any(isinstance(mark, UserOnly) for mark in info.metadata) else ""
    outer, inner = get_origin(info.annotation), get_args(info.annotation)
    if outer is Literal:
        return ", ".join(f"`{value}`" for value in inner)
    kinds = {info.annotation, outer, *inner}
    if bool in kinds:
        return "`true`, `false`"
    unit = next((unit for start, unit in UNITS.items() if text.startswith(start)), None)
    return (unit or next(word for kind, word in _KINDS.items() if kind in kinds)) + yours


_KINDS = {tuple: "list", dict: "mapping", str: "text", int: "number", float: "number"}


def in_yaml(value: Any) -> str:
    """A default as YAML, on one line."""
    value = list(value) if isinstance(value, tuple) else value
    return yaml.safe_dump(value, default_flow_style=True, width=2**31).removesuffix("...\n").strip()


def default_yaml() -> str:
    """The text of ``configs/default.yaml``."""
    lines = [_YAML_HEAD.rstrip()]
    for group in groups(Config()):
        outer, _, last = group.name.rpartition(".")
        lead = "  " * group.name.count(".")
        if last and not outer:
            lines += ["", *comment(group.text, lead)]
        lines += [f"{lead}{last}:"] if last else [""]
        lead += "  " if last else ""
        for key in group.keys:
            lines += [
                *comment(key.text, lead),
                f"{lead}{key.name.rpartition('.')[2]}: {in_yaml(key.default)}",
            ]
    return "\n".join(lines) + "\n"


def comment(text: str, lead: str) -> list[str]:
    """A comment on as many lines as it takes, without the marks of Markdown."""
    mark = f"{lead}# "
    return textwrap.wrap(text.replace("`", ""), 110, initial_indent=mark, subsequent_indent=mark)


def settings_page() -> str:
    """The text of ``docs/settings.md``."""
    lines = [_PAGE_HEAD.rstrip()]
    for group in groups(Config()):
        if group.name and group.keys:
            lines += [f"\n## {group.name}\n\n{textwrap.fill(group.text, 120)}"]
        lines += [_COLUMNS] if group.keys else []
        for key in group.keys:
            cells = f"`{key.name}`", f"`{in_yaml(key.default)}`", key.kind, key.text
            lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (ROOT / "configs/default.yaml").write_text(default_yaml(), encoding="utf-8")
    (ROOT / "docs/settings.md").write_text(settings_page(), encoding="utf-8")
