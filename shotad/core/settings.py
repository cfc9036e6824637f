"""Load typed settings: files, ``KEY=VALUE`` assignments and flags into one checked record.

Precedence: default < files in order < a dataset's file < assignments < flags. Unknown keys are refused
with the nearest valid name.

A file may begin with two keys that are no settings: ``base``, the names or files that it builds on, and
``dataset``, the name of the dataset whose numbers it holds.

This module also finds prompts, configs, word lists and the weights manifest, for the whole library. It looks
in the folder named by ``SHOTAD_DATA``, then in the checkout that this file belongs to, or the installed
wheel.
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
from shotad.core.file_names import is_too_long
from shotad.core.text_files import read_text_file


class Settings(BaseModel):
    """Base of all groups of settings: frozen, without unknown keys.

    Numbers are finite, and every number has a lowest and a highest value (``ge`` and ``le``), so that a value
    that cannot work is refused before a film is opened. True and False are not numbers.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=(), allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_value_of_another_kind(cls, value: Any, info: ValidationInfo) -> Any:
        # Python takes True for 1, and so would pydantic: `slots.minimum=true` is a mistake.
        if isinstance(value, bool) and info.field_name and is_number(cls.model_fields[info.field_name]):
            raise ValueError("A number is needed")
        if isinstance(value, str) and "\0" in value:
            raise ValueError("It holds a NUL character")
        return value


def is_number(field: FieldInfo) -> bool:
    """Whether a setting takes numbers, whole or decimal, also beside other values."""
    types = {field.annotation, *get_args(field.annotation)}
    return not types.isdisjoint((int, float)) and bool not in types


def bounds_of(field: FieldInfo) -> tuple[float | None, float | None]:
    """The lowest and the highest value that a setting may have; None where there is no such bound."""
    lowest = highest = None
    for constraint in field.metadata:
        lowest = getattr(constraint, "ge", getattr(constraint, "gt", lowest))
        highest = getattr(constraint, "le", getattr(constraint, "lt", highest))
    return lowest, highest


def number_settings(model: type[BaseModel], prefix: str = "") -> dict[str, FieldInfo]:
    """The settings of ``model`` that are numbers, by dotted key; ``prefix`` stands before each key."""
    numbers: dict[str, FieldInfo] = {}
    for key, field in model.model_fields.items():
        group = _group_class(field)
        if group is not None:
            numbers |= number_settings(group, f"{prefix}{key}.")
        elif is_number(field):
            numbers[prefix + key] = field
    return numbers


def _group_class(field: FieldInfo) -> type[BaseModel] | None:
    """The class of a group of settings; None for a single value."""
    for annotation in (field.annotation, *get_args(field.annotation)):
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            return annotation
    return None


Group = TypeVar("Group", bound=Settings)

_BOOL_TAG = "tag:yaml.org,2002:bool"
_DATE_TAG = "tag:yaml.org,2002:timestamp"
_MERGE_TAG = "tag:yaml.org,2002:merge"


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
    # In each list the weakest first: a file after those it builds on. Those of a dataset are the strongest.
    common_sources: list[_Source] = []
    dataset_sources: list[_Source] = []
    named_sources = [_read_source(model, name) for name in files]
    for source in named_sources:
        sources = common_sources if source.dataset is None else dataset_sources
        folder = source.path.parent if source.name in confined else None
        _add_bases(model, source, sources, (source.path,), folder)
        sources.append(source)
    dataset_names = [source.name for source in named_sources if source.dataset is not None]
    if len(dataset_names) > 1:
        raise ConfigError(
            f"{' and '.join(dataset_names)} are the settings of different datasets.", "Name one of them."
        )
    for source in (*common_sources, *dataset_sources):
        _merge(tree, source.tree)
    tree = assigned(model, tree, assignments)
    for key, value in flags.items():
        if value is not None:
            _assign(tree, key.replace("__", "."), value)
    try:
        return build_settings(model, tree)
    except ConfigError as error:
        faulty = _source_at_fault(model, error, (*common_sources, *dataset_sources))
        if faulty is None:
            raise
        raise ConfigError(f"In {faulty.name}: {error.what}", error.hint) from None


def _source_at_fault(model: type[Settings], error: ConfigError, sources: Sequence[_Source]) -> _Source | None:
    """The strongest file that has the error by itself; None where it comes of something else."""
    for source in reversed(sources):
        try:
            build_settings(model, source.tree)
        except ConfigError as own:
            if own.what == error.what:
                return source
    return None


def assignments_of(settings: Mapping[str, Any] | Iterable[str] | None) -> tuple[str, ...]:
    """Settings as ``KEY=VALUE``, from a mapping by dotted key or a nested one; texts stay as they are.

    Raises ConfigError for other values.

    >>> assignments_of({"slots.minimum": 3, "stage2": {"candidates": 5}})
    ('slots.minimum=3', 'stage2.candidates=5')
    """
    if not isinstance(settings, Mapping):
        texts = (settings,) if isinstance(settings, str) else (settings or ())
        if not isinstance(texts, Iterable) or not all(isinstance(text, str) for text in texts):
            problem = f"settings = {quoted(settings)} cannot be used."
            raise ConfigError(problem, 'Give a mapping, such as {"slots.minimum": 3}, or texts "KEY=VALUE".')
        return tuple(texts)
    assignments: list[str] = []
    for key, value in settings.items():
        if isinstance(value, Mapping) and value:
            by_dotted_key = {f"{key}.{inner_key}": inner for inner_key, inner in value.items()}
            assignments += assignments_of(by_dotted_key)
        else:
            try:
                json_text = json.dumps(value, ensure_ascii=False, default=str)
            except (ValueError, RecursionError) as error:  # a number of thousands of digits, a ring of lists
                raise ConfigError(f"{key} cannot be used: {error}.", "Correct the value.") from None
            assignments.append(f"{key}={json_text}")
    return tuple(assignments)


def assigned(model: type[BaseModel], tree: Mapping[str, Any], assignments: Iterable[str]) -> dict[str, Any]:
    """A copy of the settings of ``model``, a nested mapping, with each ``KEY=VALUE`` set in it.

    Raises ConfigError for other texts.
    """
    changed = copy.deepcopy(dict(tree))
    for assignment in assignments:
        key, sign, value = assignment.partition("=")
        if not sign or not key.strip():
            raise ConfigError(
                f"The setting {quoted(assignment)} is not KEY=VALUE.", "Write, for example, slots.minimum=3."
            )
        key = key.strip()
        try:
            parsed = _read_values(value, model, key)
        except yaml.YAMLError:
            parsed = value  # a text such as "a: b: c" needs no quotes
        _assign(changed, key, parsed)
    return changed


def build_settings(model: type[Group], tree: Mapping[str, Any]) -> Group:
    """A checked ``model`` from a nested mapping. Raises ConfigError, naming key, value and remedy.

    Keys that the mapping leaves out keep their defaults, also within a group that it has in part.
    """
    # Not pydantic's own defaults of each class: a group may have other defaults in one place than in another
    # (the sampling of the two stages).
    complete = model().model_dump()
    _merge(complete, tree)
    try:
        return model.model_validate(complete)
    except ValidationError as error:
        raise ConfigError(*_what_and_hint(model, error.errors()[0])) from None


def setting_names(model: type[BaseModel], prefix: str = "") -> list[str]:
    """All dotted keys of ``model``, such as ``slots.minimum``; ``prefix`` stands before each."""
    names: list[str] = []
    for key, field in model.model_fields.items():
        group = _group_class(field)
        if group is not None:
            names += setting_names(group, f"{prefix}{key}.")
        else:
            names.append(prefix + key)
    return names


@dataclass(frozen=True, slots=True)
class _Source:
    """A file of settings: what it builds on, the dataset whose numbers it holds, and its settings."""

    name: str
    path: Path
    bases: tuple[str, ...]
    dataset: str | None
    tree: dict[str, Any]


def holds_settings(model: type[BaseModel], name_or_file: str) -> bool:
    """Whether a file has any setting of ``model``, or builds on another. Raises ConfigError."""
    source = _read_source(model, name_or_file)
    return bool(source.tree or source.bases)


def _add_bases(
    model: type[BaseModel],
    source: _Source,
    sources: list[_Source],
    dependents: tuple[Path, ...],
    folder: Path | None = None,
) -> None:
    """Append to ``sources`` the files that ``source`` builds on, each after its own bases, none twice.

    ``dependents`` are ``source`` and the files that led to it. ``folder``: the only folder from which files
    may be read, beside configs of shotad (None: any). Raises ConfigError for a file that builds on itself.
    """
    for name in source.bases:
        if folder is not None:
            _check_base(source, name, folder)
        base = _read_source(model, name)
        if base.path in dependents:
            raise ConfigError(f"The config {source.name} builds on itself: base {name}.", "Take it out.")
        if all(base.path != other.path for other in sources):
            _add_bases(model, base, sources, (*dependents, base.path), folder)
            sources.append(base)


def _check_base(source: _Source, name: str, folder: Path) -> None:
    """Raise ConfigError where the base ``name`` of a file that came with a film is neither in ``folder`` nor
    a config of shotad. The base is not read."""
    base = config_path(name).resolve()
    if not (base.is_relative_to(folder) or is_known_config(base)):
        raise ConfigError(
            f"The config {source.name} builds on {name}, which lies outside of its folder.",
            "Put that file beside it, or name it yourself, as a config of its own.",
        )


def _read_source(model: type[BaseModel], name_or_file: str) -> _Source:
    """The file of settings of ``model`` by name (``paper``) or path (``./mine.yaml``). Raises ConfigError."""
    path = config_path(name_or_file)
    try:
        tree = read_settings_yaml(model, read_text_file(path, "settings", ConfigError, encoding="utf-8").text)
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
    # The path of a base is relative to the file that names it.
    bases = [str(path.parent / name) if _is_file_name(name) else name for name in bases]
    return _Source(name_or_file, path.resolve(), tuple(bases), dataset, tree)


class _StrictLoader(yaml.SafeLoader):
    """Loads YAML in which each key of a mapping stands once, as the standard wants it.

    PyYAML takes the last of several, so that a second ``slots:`` would undo the first in silence.
    """

    # Not where values are made: there the keys of a shared part stand beside those that replace them.
    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node: yaml.MappingNode = super().compose_mapping_node(anchor)
        keys: set[tuple[str, str]] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag == _MERGE_TAG:
                continue
            if (key.tag, key.value) in keys:
                raise yaml.composer.ComposerError(
                    None, None, f"{quoted(key.value)} stands here a second time", key.start_mark
                )
            keys.add((key.tag, key.value))
        return node


class _SettingsLoader(_StrictLoader):
    """Loads YAML without dates, and with true and false as the only truth values, as in YAML 1.2.

    In YAML 1.1 `on`, `off`, `yes` and `no` are truth values too, but `on` is one of our keys. A setting that
    is true or false still takes those words: pydantic reads them. No setting is a date.
    """

    yaml_implicit_resolvers = {  # noqa: RUF012  as its base class has it
        letter: [(tag, pattern) for tag, pattern in resolvers if tag not in (_BOOL_TAG, _DATE_TAG)]
        for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


_SettingsLoader.add_implicit_resolver(
    _BOOL_TAG, re.compile("^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)


class _TextLoader(_StrictLoader):
    """Loads YAML with every single value as the text that stands there: ``1.10`` is not 1.1."""

    yaml_implicit_resolvers = {  # noqa: RUF012  as its base class has it
        letter: [(tag, pattern) for tag, pattern in resolvers if tag == _MERGE_TAG]
        for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def read_settings_yaml(model: type[BaseModel], text: str) -> Any:
    """The value of a YAML text that holds settings of ``model``. Raises YAMLError.

    A model may be named ``0`` and a revision ``1.10`` or ``true``: where a setting holds text, they are that
    text.
    """
    return _read_values(text, model)


def _read_values(text: str, model: type[BaseModel], key: str = "") -> Any:
    """The value of a YAML text for the setting or group at a dotted ``key``; without it, for ``model``."""
    place: type[BaseModel] | FieldInfo | None = model
    for part in key.split(".") if key else ():
        place = _within(place, part)
    return _with_text_as_written(place, read_yaml(text, _SettingsLoader), read_yaml(text, _TextLoader))


def _within(place: type[BaseModel] | FieldInfo | None, key: Any) -> FieldInfo | None:
    """The setting or group ``key`` within a group; None where there is none."""
    group = _group_class(place) if isinstance(place, FieldInfo) else place
    return None if group is None else group.model_fields.get(key)


def _with_text_as_written(place: type[BaseModel] | FieldInfo | None, value: Any, written: Any) -> Any:
    """``value``, with what is ``written`` for every setting that holds text and is not null.

    ``value`` and ``written`` are the same YAML, read with and without numbers, true, false and null.
    """
    if isinstance(place, FieldInfo) and _holds_text(place):
        return None if value is None else written
    if place is None or not isinstance(value, dict):
        return value
    return {
        key: _with_text_as_written(_within(place, key), inner, written.get(key))
        for key, inner in value.items()
    }


def _holds_text(field: FieldInfo) -> bool:
    """Whether a setting holds text and nothing else: one, none, or several."""
    parts = get_args(field.annotation)
    return field.annotation is str or (str in parts and set(parts) <= {str, type(None), Ellipsis})


def read_yaml(text: str, loader: Any = _StrictLoader) -> Any:
    """The value of a YAML text. Raises YAMLError, with line and column.

    It raises that also for a text that is nested too deeply, for a date that does not exist (``2026-99-99``)
    and for a number of too many digits.
    """
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
    """Set the values of ``extra`` in ``base``, group by group."""
    for key, value in extra.items():
        if isinstance(value, Mapping) and isinstance(base.get(key), dict):
            _merge(base[key], value)
        else:
            base[key] = dict(value) if isinstance(value, Mapping) else value


def _assign(tree: dict[str, Any], dotted: str, value: Any) -> None:
    """Set one value by its dotted key. Raises ConfigError where a single value stands for a group."""
    *groups, last = dotted.split(".")
    for group in groups:
        inner = tree.setdefault(group, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"{dotted} cannot be set: {group} is a single value.")
        tree = inner
    tree[last] = value


def _what_and_hint(model: type[Settings], error: Mapping[str, Any]) -> tuple[str, str]:
    """What is wrong by an error of pydantic, and what to do about it."""
    dotted = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        names = setting_names(model)
        value = error["input"]
        while isinstance(value, Mapping) and len(value) == 1:  # down to the value of an unknown group
            (key, value), = value.items()  # fmt: skip
            dotted = f"{dotted}.{key}"
        suggestion = did_you_mean(dotted, names, cutoff=0.4).rstrip()
        groups = dict.fromkeys(name.partition(".")[0] for name in names)
        list_of_groups = f"docs/settings.md lists all. They begin with {', '.join(groups)}."
        return f"There is no setting {dotted[:80]}.", suggestion or list_of_groups
    if error["type"] == "model_type":
        problem = f"{dotted} = {quoted(error['input'])} cannot be used: it is a group of settings."
        return problem, "Set one of its settings, as docs/settings.md lists them."
    message = error["msg"].removeprefix("Value error, ").replace("Input should be", "it must be")
    reason = _REASON_OF_ERROR_TYPE.get(error["type"], message)
    return f"{dotted} = {quoted(error['input'])} cannot be used: {reason}.", _remedy(model, error["loc"])


_REASON_OF_ERROR_TYPE = {
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
"""What is wrong with a value, by pydantic's type of the error: pydantic's own messages are for
programmers."""


def _remedy(model: type[Settings], location: Sequence[int | str]) -> str:
    """What to do about a value that is out of range, or of another kind."""
    dotted = ".".join(str(part) for part in location)
    field = number_settings(model).get(dotted)
    lowest, highest = (None, None) if field is None else bounds_of(field)
    if lowest is None or highest is None:
        return "Correct the value."
    return f"Give a number from {lowest:g} to {highest:g}."


_PACKAGE_FOLDER = Path(__file__).resolve().parents[1]


def data_root() -> Path:
    """The folder that holds ``prompts/``, ``configs/`` and ``models/``."""
    override = os.environ.get("SHOTAD_DATA")
    return Path(override) if override else program_root()


def data_file(place: str) -> Path:
    """The path of a data file, such as ``prompts/stage1.j2``; where ``SHOTAD_DATA`` has none, the
    program's."""
    path = data_root() / place
    return path if path.is_file() else program_root() / place


def is_known_config(path: Path) -> bool:
    """Whether a file lies in ``configs/`` of the program, or of ``SHOTAD_DATA``."""
    folders = (data_root() / "configs", program_root() / "configs")
    return any(path.resolve().is_relative_to(folder.resolve()) for folder in folders)


def program_root() -> Path:
    """The checkout that this file belongs to, else the data folder of the installed package."""
    return checkout_folder() or _PACKAGE_FOLDER / "_data"


def checkout_folder() -> Path | None:
    """The checkout that this file belongs to; None where the package is installed without one."""
    folder = _PACKAGE_FOLDER.parent
    return folder if (folder / "pyproject.toml").is_file() and (folder / "prompts").is_dir() else None


def dataset_path(name_or_file: str) -> Path:
    """Path of a dataset's description by name (``cmd-ad``) or by file (``./mine.yaml``)."""
    file_hint = "the YAML file that describes it,"
    return _file_of_name_or_path("dataset", "configs/datasets", name_or_file, file_hint, DatasetError)


def dataset_names() -> list[str]:
    """Names of the datasets that are described in ``configs/datasets``, sorted."""
    return sorted(path.stem for path in data_file("configs/datasets").glob("*.yaml"))


def named_configs() -> list[str]:
    """Names of the configs of shotad, and of those in ``SHOTAD_DATA``, sorted."""
    return _names_in("configs")


def _names_in(folder: str) -> list[str]:
    """The names of the YAML files in a ``folder`` of ours."""
    roots = (data_root(), program_root())
    return sorted({path.stem for root in roots for path in (root / folder).glob("*.yaml")})


def config_path(name_or_file: str) -> Path:
    """Path of a config by name (``paper``) or by file. Raises ConfigError where there is none."""
    return _file_of_name_or_path("config", "configs", name_or_file, "a YAML file", ConfigError)


def _file_of_name_or_path(
    kind: str, folder: str, name_or_file: str, file_hint: str, error: type[ShotadError]
) -> Path:
    """The file ``NAME.yaml`` in a ``folder`` of ours, else the file itself.

    Raises ``error`` where there is neither; ``kind`` and ``file_hint`` are words for its message.
    """
    if is_too_long(Path(f"{name_or_file}.yaml")):
        raise error(f"{quoted(name_or_file)} is too long for the name of a {kind}.", f"Name {file_hint}.")
    named_file = data_file(f"{folder}/{name_or_file}.yaml")
    if not _names_folder(name_or_file) and named_file.is_file():
        return named_file
    if Path(name_or_file).is_file():
        return Path(name_or_file)
    hint = f"Name {file_hint} or one of: {', '.join(_names_in(folder))}."
    raise error(f"There is no {kind} {name_or_file!r}.", hint, usage=not _is_file_name(name_or_file))


def _is_file_name(text: str) -> bool:
    """Whether the text can only be the path of a file, not a name."""
    return _names_folder(text) or text.endswith((".yaml", ".yml"))


def _names_folder(text: str) -> bool:
    """Whether the text says in which folder a file is."""
    return "/" in text or os.sep in text


def prompt_file(file: str) -> tuple[Path, str]:
    """Path and text of a file of ``prompts/``; where ``SHOTAD_DATA`` has none, the program's.

    Raises PromptError where it cannot be read.
    """
    path = data_file(f"prompts/{file}")
    try:
        return path, path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PromptError(f"The prompt {path} cannot be read: {error}.") from None


def shipped_prompts(start: str = "") -> dict[str, str]:
    """The texts of the program's own templates whose names begin with ``start``, by name (``stage1``)."""
    folder = program_root() / "prompts"
    return {
        name.removesuffix(".j2"): (folder / name).read_text(encoding="utf-8")
        for name in shipped_prompt_files(start)
    }


def shipped_prompt_files(start: str = "") -> list[str]:
    """The names of the files of the program's own templates that begin with ``start``, sorted."""
    return sorted(file.name for file in (program_root() / "prompts").glob(f"{start}*.j2"))


def _config_folder(name: str) -> Path:
    """A folder of ``configs/``; where ``SHOTAD_DATA`` has none, the program's."""
    folder = data_root() / "configs" / name
    return folder if folder.is_dir() else program_root() / "configs" / name


def word_files(language: str) -> list[Path]:
    """The word files of the lint rules for a language (``en``), sorted; most languages have none."""
    return sorted((_config_folder("words") / language).glob("*.txt"))


def spoken_signs_file(language: str) -> str | None:
    """The file that says how a language speaks signs and abbreviations (``configs/saying/``); None without
    one.

    Raises ConfigError where it cannot be read.
    """
    path = _config_folder("saying") / f"{language}.yaml"
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}.") from None


def manifest_path() -> Path:
    """The path of the weights manifest, ``models/manifest.yaml``."""
    return data_file("models/manifest.yaml")
