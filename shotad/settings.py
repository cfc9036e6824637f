"""How typed settings are loaded: files, ``KEY=VALUE`` assignments and flags into one checked record.

Precedence: default < file < assignments < flags. Unknown keys are refused with the nearest valid name.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from shotad.errors import ConfigError
from shotad.resources import config_path


class Settings(BaseModel):
    """Base of all groups of settings: frozen, and closed to unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


Group = TypeVar("Group", bound=Settings)


def load_settings(
    model: type[Group], files: Iterable[str] = (), assignments: Iterable[str] = (), **flags: Any
) -> Group:
    """A checked ``model`` from named or given YAML files, assignments, and flags by dotted key.

    Dots of a flag's key are written as two underscores; a flag that is None is left out. Raises
    ConfigError for unknown names, unknown keys and values out of range.
    """
    tree: dict[str, Any] = {}
    for name_or_file in files:
        _merge(tree, _read(name_or_file))
    for assignment in assignments:
        key, sign, value = assignment.partition("=")
        if not sign or not key.strip():
            raise ConfigError(
                f"--set {assignment!r} is not KEY=VALUE.", "Write, for example, slots.minimum=3."
            )
        _assign(tree, key.strip(), _parse(value))
    for key, value in flags.items():
        if value is not None:
            _assign(tree, key.replace("__", "."), value)
    return build_settings(model, tree)


def build_settings(model: type[Group], tree: Mapping[str, Any]) -> Group:
    """A checked ``model`` from a nested mapping. Raises ConfigError, naming key, value and remedy.

    What the mapping leaves out keeps its default, also beside a key that is given: a group may have
    other defaults in one place than in another (the sampling of the two stages).
    """
    complete = model().model_dump()
    _merge(complete, tree)
    try:
        return model.model_validate(complete)
    except ValidationError as error:
        raise ConfigError(*_explain(model, error.errors()[0])) from None


def setting_names(model: type[BaseModel], prefix: str = "") -> list[str]:
    """All dotted keys, such as ``slots.minimum``."""
    names: list[str] = []
    for key, info in model.model_fields.items():
        group = _group(info.annotation)
        names += setting_names(group, f"{prefix}{key}.") if group else [prefix + key]
    return names


def _group(annotation: Any) -> type[BaseModel] | None:
    candidates = (annotation, *get_args(annotation))
    return next((c for c in candidates if isinstance(c, type) and issubclass(c, BaseModel)), None)


def _read(name_or_file: str) -> dict[str, Any]:
    path = config_path(name_or_file)
    try:
        tree = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"The config {name_or_file} cannot be read: {error}.") from None
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise ConfigError(f"The config {name_or_file} is not a mapping of keys to values.")
    return tree


def _parse(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text


def _merge(base: dict[str, Any], extra: Mapping[str, Any]) -> None:
    for key, value in extra.items():
        if isinstance(value, Mapping) and isinstance(base.get(key), dict):
            _merge(base[key], value)
        else:
            base[key] = dict(value) if isinstance(value, Mapping) else value


def _assign(tree: dict[str, Any], dotted: str, value: Any) -> None:
    *groups, last = dotted.split(".")
    for group in groups:
        inner = tree.setdefault(group, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"{dotted} cannot be set: {group} is a single value.")
        tree = inner
    tree[last] = value


def _whole_key(dotted: str, value: Any) -> str:
    """The key down to its value, where a whole group is unknown: ``frame`` → ``frame.inside``."""
    while isinstance(value, Mapping) and len(value) == 1:
        (key, value), = value.items()  # fmt: skip
        dotted = f"{dotted}.{key}"
    return dotted


def _explain(model: type[Settings], error: Mapping[str, Any]) -> tuple[str, str]:
    dotted = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        dotted, names = _whole_key(dotted, error["input"]), setting_names(model)
        near = difflib.get_close_matches(dotted, names, n=1, cutoff=0.4)
        hint = f"Did you mean {near[0]}?" if near else f"Valid keys: {', '.join(names)}."
        return f"There is no setting {dotted}.", hint
    return f"{dotted} = {error['input']!r} cannot be used: {error['msg']}.", "Correct the value."
