"""A store in memory in whose requests a test may meddle: what others do meanwhile, and what goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import fsspec
from fsspec.implementations.memory import MemoryFileSystem

Meddle = Callable[[str], None]
"""Is given the path of an object, ``/bucket/name``; what it raises is what the store answers."""


def nothing(path: str) -> None:
    """Lets a request pass."""


class MeddledStore(MemoryFileSystem):
    """``memory://`` with what is called around its requests; a look asks what is known of an object."""

    before_look: ClassVar[Meddle]
    before_read: ClassVar[Meddle]
    before_write: ClassVar[Meddle]
    after_write: ClassVar[Meddle]

    @classmethod
    def let_all_pass(cls) -> None:
        cls.before_look = cls.before_read = cls.before_write = cls.after_write = staticmethod(nothing)

    def info(self, path: str, **options: Any) -> Any:
        type(self).before_look(path)
        return super().info(path, **options)

    def cat_file(self, path: str, *words: Any, **options: Any) -> Any:
        type(self).before_read(path)
        return super().cat_file(path, *words, **options)

    def pipe_file(self, path: str, value: bytes, **options: Any) -> None:
        type(self).before_write(path)
        super().pipe_file(path, value, **options)
        type(self).after_write(path)


@contextmanager
def meddled() -> Iterator[type[MeddledStore]]:
    """``memory://`` is the meddled store, and empty, for the time of the block."""
    MeddledStore.let_all_pass()
    fsspec.register_implementation("memory", MeddledStore, clobber=True)
    MeddledStore.store.clear()
    try:
        yield MeddledStore
    finally:
        MeddledStore.store.clear()
        fsspec.register_implementation("memory", MemoryFileSystem, clobber=True)
