"""Strict reading of JSON that people edit: every value is checked, every error says file, place and value."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from shotad.core import ScriptError, parse_json

T = TypeVar("T")


class Fields:
    """Takes values out of parsed JSON. ``name`` is the file's; ``where`` in each call the place in it.

    Every method raises ScriptError where the value is not what it must be.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def parse(self, text: str) -> Any:
        """The JSON in ``text``."""
        try:
            return parse_json(text)
        except json.JSONDecodeError as error:
            what = f"{self.name}, line {error.lineno}, column {error.colno}: {error.msg}."
            raise ScriptError(what, "Correct the JSON there; a comma or a quote may be missing.") from None
        except ValueError as error:  # too deep, or a number of too many digits
            raise self.wrong(str(error)) from None

    def checked(self, make: Callable[[], T], where: str) -> T:
        """What ``make`` makes; its ValueError becomes a ScriptError that says where."""
        try:
            return make()
        except ValueError as error:
            raise self.wrong(f"{where}: {error}") from None

    def object(self, raw: Any, where: str) -> Mapping[str, Any]:
        """``raw``, which must be an object."""
        if not isinstance(raw, dict):
            raise self.wrong(f"{where} must be an object in braces, got {raw!r}")
        return raw

    def keys(self, raw: Mapping[str, Any], known: Iterable[str], where: str) -> None:
        """Refuse keys that are not known, with the nearest one that is."""
        known = tuple(known)
        for key in raw:
            if key not in known:
                near = difflib.get_close_matches(key, known, n=1)
                hint = f"Did you mean {near[0]}?" if near else f"Known keys: {', '.join(known)}."
                raise ScriptError(f"{self.name}: {where} has an unknown key {key!r}.", hint)

    def list(self, raw: Mapping[str, Any], key: str, where: str) -> list[Any]:
        """A list; absent is empty."""
        value = raw.get(key, [])
        if not isinstance(value, list):
            raise self.wrong(f"{where}: {key} must be a list, got {value!r}")
        return value

    def strings(self, raw: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
        """A list of texts; absent is empty."""
        values = self.list(raw, key, where)
        for value in values:
            if not isinstance(value, str):
                raise self.wrong(f"{where}: {key} must hold texts, got {value!r}")
        return tuple(values)

    def string(self, raw: Mapping[str, Any], key: str, where: str) -> str:
        """A text."""
        value = raw.get(key)
        if not isinstance(value, str):
            raise self.wrong(f"{where}: {key} must be a text in quotes, got {value!r}")
        return value

    def number(self, raw: Mapping[str, Any], key: str, where: str) -> float:
        """A number."""
        value = raw.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong(f"{where}: {key} must be a number of seconds, got {value!r}")
        try:
            return float(value)
        except OverflowError:
            raise self.wrong(f"{where}: {key} is too large a number of seconds") from None

    def whole(self, raw: Mapping[str, Any], key: str, where: str) -> int | None:
        """A whole number, or None."""
        value = raw.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise self.wrong(f"{where}: {key} must be a whole number, got {value!r}")
        return value

    def wrong(self, what: str) -> ScriptError:
        """The error for ``what``."""
        return ScriptError(f"{self.name}: {what}.", "Correct the value in the file.")
