"""Where a run says its film and folder are: paths of this machine here, addresses in the store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from shotad.batch.storage.places import shown
from shotad.core import ShotadError, StorageError


@dataclass(frozen=True, slots=True)
class Addresses:
    """Paths of this machine with the addresses that they stand for."""

    by_path: Mapping[str, str]

    def out(self, data: bytes) -> bytes:
        """A JSON file for the store: addresses, without their keys, in place of paths."""
        return self._replaced(data, {path: shown(place) for path, place in self.by_path.items()})

    def back(self, data: bytes) -> bytes:
        """A JSON file from the store: paths of this machine in place of addresses."""
        return self._replaced(data, {shown(place): path for path, place in self.by_path.items()})

    @contextmanager
    def in_errors(self) -> Iterator[None]:
        """Errors of the block name addresses too: paths of the scratch disk are gone when they are read."""
        try:
            yield
        except StorageError:
            raise
        except ShotadError as error:
            error.what, error.hint = self._told(error.what), self._told(error.hint)
            error.args = (f"{error.what} {error.hint}".strip(),)
            raise

    def _told(self, text: str) -> str:
        for path, place in self.by_path.items():
            text = text.replace(path, shown(place))
        return text

    def _replaced(self, data: bytes, other: Mapping[str, str]) -> bytes:
        try:
            tree = json.loads(data)
        except ValueError:
            return data
        return (
            json.dumps(_walked(tree, lambda text: _with(text, other)), ensure_ascii=False, indent=1) + "\n"
        ).encode()


def _with(text: str, other: Mapping[str, str]) -> str:
    for before, after in other.items():
        if text == before or text.startswith(f"{before}/"):
            return after + text[len(before) :]
    return text


def _walked(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {key: _walked(inner, change) for key, inner in value.items()}
    if isinstance(value, list):
        return [_walked(inner, change) for inner in value]
    return change(value) if isinstance(value, str) else value
