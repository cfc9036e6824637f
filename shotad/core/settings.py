"""How typed settings are loaded: files, ``KEY=VALUE`` assignments and flags into one checked record.

Precedence: default < files in order < a dataset's file < assignments < flags. Unknown keys are refused
with the nearest valid name.

A file may begin with two keys that are no settings: ``base``, the names or files that it builds on, and
``dataset``, the name of the dataset whose numbers it holds.

Also where prompts, configs, words and the weights manifest are; nothing else in the library knows. They
are looked for in the folder named by ``SHOTAD_DATA``, the checkout this file is of, the installed wheel.
"""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo, field_validator
from pydantic.fields import FieldInfo

from shotad.core.errors import ConfigError, DatasetError, PromptError, ShotadError, did_you_mean, quoted
from shotad.core.text_files import read_text_file


class Settings(BaseModel):
    """Base of all groups of settings: frozen, and closed to unknown keys.

    Numbers are finite, and every field that is one has a lowest and a highest value (``ge`` and ``le``), so
    that a value which cannot work is refused before a film is opened. Truth values are no numbers.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=(), allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_value_of_another_kind(cls, given: Any, info: ValidationInfo) -> Any:
        # Python takes True for 1, and so would pydantic: `slots.minimum=true` is a mistake.
        if isinstance(given, bool) and info.field_name and is_number(cls.model_fields[info.field_name]):
            raise ValueError("A number is needed")
        if isinstance(given, str) and "\0" in given:
            raise ValueError("It holds a NUL character")
        return given


def is_number(field: FieldInfo) -> bool:
    """Whether a setting is a whole or a decimal number, or may be one."""
    kinds = {field.annotation, *get_args(field.annotation)}
    return not kinds.isdisjoint((int, float)) and bool not in kinds


def bounds_of(field: FieldInfo) -> tuple[float | None, float | None]:
    """The lowest and the highest value that a setting may have; None where there is no such bound."""
    lowest = highest = None
    for rule in field.metadata:
        lowest = getattr(rule, "ge", getattr(rule, "gt", lowest))
        highest = getattr(rule, "le", getattr(rule, "lt", highest))
    return lowest, highest


def number_settings(model: type[BaseModel], prefix: str = "") -> dict[str, FieldInfo]:
    """The settings that are numbers, by dotted key."""
    numbers: dict[str, FieldInfo] = {}
    for key, field in model.model_fields.items():
        group = _group_of(field)
        if group is not None:
            numbers |= number_settings(group, f"{prefix}{key}.")
        elif is_number(field):
            numbers[prefix + key] = field
    return numbers


def _group_of(field: FieldInfo) -> type[BaseModel] | None:
    kinds = (field.annotation, *get_args(field.annotation))
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)


Group = TypeVar("Group", bound=Settings)

_TRUTH = "tag:yaml.org,2002:bool"


def load_settings(
    model: type[Group],
    files: Iterable[str] = (),
    assignments: Iterable[str] = (),
    *,
    under: Group | None = None,
    confined: Collection[str] = (),
    **flags: Any,
) -> Group:
    """A checked ``model`` from named or given YAML files, assignments, and flags by dotted key.

    A later file wins, but a dataset's wins over all others wherever it is named. Dots of a flag's key are
    written as two underscores; a flag that is None is left out. ``under`` are the settings that hold where
    none of these says otherwise (None: the defaults). Of ``files``, those that are ``confined`` may build
    only on configs of shotad and on files of their own folder. Raises ConfigError for unknown names,
    unknown keys and values out of range.
    """
    tree: dict[str, Any] = {} if under is None else under.model_dump(mode="json")
    # From weakest to strongest: each file after those it builds on, a dataset's last
    plain: list[_Source] = []
    datasets: list[_Source] = []
    named = [_read(name) for name in files]
    for source in named:
        pile = plain if source.dataset is None else datasets
        folder = source.path.parent if source.name in confined else None
        _lay_bases(source, pile, (source.path,), folder)
        pile.append(source)
    if len(ours := [source.name for source in named if source.dataset is not None]) > 1:
        raise ConfigError(
            f"{' and '.join(ours)} are the settings of different datasets.", "Name one of them."
        )
    for source in (*plain, *datasets):
        _merge(tree, source.tree)
    tree = assigned(tree, assignments)
    for key, value in flags.items():
        if value is not None:
            _assign(tree, key.replace("__", "."), value)
    return build_settings(model, tree)


def assignments_of(settings: Mapping[str, Any] | Iterable[str] | None) -> tuple[str, ...]:
    """Settings by dotted key, or nested ones, as ``KEY=VALUE``; what is written so already stays.

    >>> assignments_of({"slots.minimum": 3, "stage2": {"candidates": 5}})
    ('slots.minimum=3', 'stage2.candidates=5')
    """
    if not isinstance(settings, Mapping):
        several = (settings,) if isinstance(settings, str) else (settings or ())
        if not isinstance(several, Iterable) or not all(isinstance(one, str) for one in several):
            what = f"settings = {quoted(settings)} cannot be used."
            raise ConfigError(what, 'Give a mapping, such as {"slots.minimum": 3}, or texts "KEY=VALUE".')
        return tuple(several)
    found: list[str] = []
    for key, value in settings.items():
        if isinstance(value, Mapping) and value:
            found += assignments_of({f"{key}.{inner}": one for inner, one in value.items()})
        else:
            try:
                written = json.dumps(value, ensure_ascii=False, default=str)
            except (ValueError, RecursionError) as error:  # a number of thousands of digits, a ring of lists
                raise ConfigError(f"{key} cannot be used: {error}.", "Correct the value.") from None
            found.append(f"{key}={written}")
    return tuple(found)


def assigned(tree: Mapping[str, Any], assignments: Iterable[str]) -> dict[str, Any]:
    """A copy of a nested mapping with each ``KEY=VALUE`` set in it. Raises ConfigError for what is none."""
    changed = copy.deepcopy(dict(tree))
    for assignment in assignments:
        key, sign, value = assignment.partition("=")
        if not sign or not key.strip():
            raise ConfigError(
                f"--set {quoted(assignment)} is not KEY=VALUE.", "Write, for example, slots.minimum=3."
            )
        try:
            _assign(changed, key.strip(), read_yaml(value, _Yaml))
        except yaml.YAMLError:
            _assign(changed, key.strip(), value)
    return changed


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
        group = _group_of(info)
        names += setting_names(group, f"{prefix}{key}.") if group else [prefix + key]
    return names


@dataclass(frozen=True, slots=True)
class _Source:
    """A file of settings: what it builds on, the dataset whose numbers it holds, and its settings."""

    name: str
    path: Path
    bases: tuple[str, ...]
    dataset: str | None
    tree: dict[str, Any]


def _lay_bases(
    source: _Source, pile: list[_Source], under: tuple[Path, ...], folder: Path | None = None
) -> None:
    """Put on ``pile`` what ``source`` builds on and what is not there yet; ``under`` are those above it.
    Where a ``folder`` is given, files are read from there alone."""
    for name in source.bases:
        if folder is not None:
            _check_base(source, name, folder)
        base = _read(name)
        if base.path in under:
            raise ConfigError(f"The config {source.name} builds on itself: base {name}.", "Take it out.")
        if all(base.path != other.path for other in pile):
            _lay_bases(base, pile, (*under, base.path), folder)
            pile.append(base)


def _check_base(source: _Source, name: str, folder: Path) -> None:
    """Raises ConfigError where a file that came with a film builds on one outside of ``folder`` that is no
    config of shotad. Nothing is read for it."""
    base = config_path(name).resolve()
    if not (base.is_relative_to(folder) or is_known_config(base)):
        raise ConfigError(
            f"The config {source.name} builds on {name}, which lies outside of its folder.",
            "Put that file beside it, or name it with --config.",
        )


def _read(name_or_file: str) -> _Source:
    # By name (``paper``) or by file (``./mine.yaml``)
    path = config_path(name_or_file)
    try:
        tree = read_yaml(read_text_file(path, "settings", ConfigError, encoding="utf-8").text, _Yaml)
    except yaml.YAMLError as error:
        raise ConfigError(
            f"The config {name_or_file} cannot be read: {error}.",
            "Look at the colons, the quotes, the brackets, and how the lines are indented.",
        ) from None
    if tree is None:
        tree = {}
    if not isinstance(tree, dict):
        raise ConfigError(f"The config {name_or_file} is not a mapping of keys to values.")
    base, dataset = tree.pop("base", ()), tree.pop("dataset", None)
    bases = [base] if isinstance(base, str) else base
    if not isinstance(bases, (list, tuple)) or not all(isinstance(name, str) for name in bases):
        raise ConfigError(f"The config {name_or_file} has base = {base!r}.", "Name a config, or several.")
    if not isinstance(dataset, str | None):
        raise ConfigError(f"The config {name_or_file} has dataset = {dataset!r}.", "Write its name.")
    # A base by its name, or as a file in relation to the file that names it
    places = tuple(str(path.parent / name) if _is_file_name(name) else name for name in bases)
    return _Source(name_or_file, path.resolve(), places, dataset, tree)


class _Yaml(yaml.SafeLoader):
    """YAML whose only truth values are true and false, as in YAML 1.2.

    Elsewhere `on` is a key of ours and a word among others; a setting that is yes or no takes them still.
    """

    yaml_implicit_resolvers = {  # noqa: RUF012  as its base class has it
        first: [(tag, pattern) for tag, pattern in known if tag != _TRUTH]
        for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


_Yaml.add_implicit_resolver(_TRUTH, re.compile("^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))


def read_yaml(text: str, loader: Any = yaml.SafeLoader) -> Any:
    """What a YAML text says. Raises YAMLError, also for one that is nested too deeply to be read, and for a
    number or a date that is none (``2026-99-99``, 5000 digits)."""
    try:
        return yaml.load(text, loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: "
        raise yaml.YAMLError(f"{place}{error.problem or error.context}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise yaml.YAMLError(f"line {line}: a character that cannot stand in YAML") from None
    except RecursionError:
        raise yaml.YAMLError("it is nested too deeply") from None
    except (ValueError, OverflowError) as error:
        raise yaml.YAMLError(str(error)) from None


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


def _explain(model: type[Settings], error: Mapping[str, Any]) -> tuple[str, str]:
    dotted = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        names, value = setting_names(model), error["input"]
        while isinstance(value, Mapping) and len(value) == 1:  # down to the value of an unknown group
            (key, value), = value.items()  # fmt: skip
            dotted = f"{dotted}.{key}"
        meant = did_you_mean(dotted, names, cutoff=0.4).rstrip()
        groups = dict.fromkeys(name.partition(".")[0] for name in names)
        listed = f"docs/settings.md lists all. They begin with {', '.join(groups)}."
        return f"There is no setting {dotted[:80]}.", meant or listed
    if error["type"] == "model_type":
        what = f"{dotted} = {quoted(error['input'])} cannot be used: it is a group of settings."
        return what, "Set one of its settings, as docs/settings.md lists them."
    plain = error["msg"].removeprefix("Value error, ").replace("Input should be", "it must be")
    reason = _REASONS.get(error["type"], plain)
    return f"{dotted} = {quoted(error['input'])} cannot be used: {reason}.", _remedy(model, error["loc"])


_REASONS = {
    "int_parsing": "it must be a whole number",
    "int_type": "it must be a whole number",
    "int_from_float": "it must be a whole number",
    "float_parsing": "it must be a number",
    "float_type": "it must be a number",
    "bool_parsing": "it must be true or false",
    "bool_type": "it must be true or false",
    "string_type": "it must be text",
    "dict_type": "it must be a mapping of keys to values",
}
"""What is wrong with a value, by pydantic's type of the error; pydantic's own words speak to programmers."""


def _remedy(model: type[Settings], place: Sequence[int | str]) -> str:
    """What to do about a value that is out of range, or of another kind."""
    field = number_settings(model).get(".".join(map(str, place)))
    lowest, highest = (None, None) if field is None else bounds_of(field)
    if lowest is None or highest is None:
        return "Correct the value."
    return f"Give a number from {lowest:g} to {highest:g}."


_PACKAGE = Path(__file__).resolve().parents[1]


def data_root() -> Path:
    """The folder that holds ``prompts/``, ``configs/`` and ``models/``."""
    override = os.environ.get("SHOTAD_DATA")
    return Path(override) if override else _own_root()


def data_file(place: str) -> Path:
    """A file of the data, such as ``prompts/stage1.j2``; where ``SHOTAD_DATA`` has none, the program's."""
    path = data_root() / place
    return path if path.is_file() else _own_root() / place


def is_known_config(path: Path) -> bool:
    """Whether a file lies in ``configs/`` of the program, or of ``SHOTAD_DATA``."""
    folders = (data_root() / "configs", _own_root() / "configs")
    return any(path.resolve().is_relative_to(folder.resolve()) for folder in folders)


def _own_root() -> Path:
    checkout = _PACKAGE.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / "prompts").is_dir():
        return checkout
    return _PACKAGE / "_data"


def dataset_path(name_or_file: str) -> Path:
    """Path of a dataset's description by name (``cmd-ad``) or by file (``./mine.yaml``)."""
    what = "the YAML file that describes it,"
    return _named_file("dataset", "configs/datasets", name_or_file, what, DatasetError)


def config_path(name_or_file: str) -> Path:
    """Path of a config by name (``paper``) or by file. Raises ConfigError where there is none."""
    return _named_file("config", "configs", name_or_file, "a YAML file", ConfigError)


def _named_file(kind: str, folder: str, given: str, what: str, error: type[ShotadError]) -> Path:
    own_file = data_file(f"{folder}/{given}.yaml")
    if "/" not in given and own_file.is_file():
        return own_file
    if Path(given).is_file():
        return Path(given)
    places = (data_root() / folder, _own_root() / folder)
    names = ", ".join(sorted({path.stem for place in places for path in place.glob("*.yaml")}))
    hint = f"Name {what} or one of: {names}."
    raise error(f"There is no {kind} {given!r}.", hint, usage=not _is_file_name(given))


def _is_file_name(text: str) -> bool:
    """Whether a name or file can only be meant as a file."""
    return "/" in text or text.endswith((".yaml", ".yml"))


def prompt_file(file: str) -> tuple[Path, str]:
    """Where a file of ``prompts/`` is, and its text; where ``SHOTAD_DATA`` has none, it is the program's."""
    path = data_file(f"prompts/{file}")
    try:
        return path, path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PromptError(f"The prompt {path} cannot be read: {error}.") from None


def shipped_prompts(start: str = "") -> dict[str, str]:
    """The templates that come with the program and whose names begin so, by name (``stage1``)."""
    files = sorted((_own_root() / "prompts").glob(f"{start}*.j2"))
    return {file.stem: file.read_text(encoding="utf-8") for file in files}


def _config_folder(name: str) -> Path:
    """A folder of ``configs/``; where ``SHOTAD_DATA`` has none, that of the program stays in force."""
    named = data_root() / "configs" / name
    return named if named.is_dir() else _own_root() / "configs" / name


def word_files(language: str) -> list[Path]:
    """The word files of the lint rules for a language (``en``), in order of the alphabet; none for most."""
    return sorted((_config_folder("words") / language).glob("*.txt"))


def saying_text(language: str) -> str | None:
    """What a language says for signs and abbreviations (``configs/saying/``); None where nothing is known."""
    path = _config_folder("saying") / f"{language}.yaml"
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}.") from None


def manifest_path() -> Path:
    """The weights manifest, ``models/manifest.yaml``."""
    return data_file("models/manifest.yaml")
