"""What rooms say of their time: ``with span("decode")``, ``with waiting("stage1", "frames")``.

The marks go to the one `Recording` of the process, as log lines go to the one logging; while there is
none each of them is a test of a global and a shared object that does nothing.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import ParamSpec, TypeVar

from shotad.core.profiling.lane import Mark
from shotad.core.profiling.recorder import Recording


class _Nothing:
    """A mark while nothing records."""

    __slots__ = ()

    def __enter__(self) -> None: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...


class _Place:
    """Where the marks of the process go."""

    __slots__ = ("found", "lock")

    def __init__(self) -> None:
        self.found: Recording | None = None
        self.lock = threading.Lock()


_NOTHING = _Nothing()
_place = _Place()
_T = TypeVar("_T")
_R = TypeVar("_R")
_P = ParamSpec("_P")


def span(room: str) -> AbstractContextManager[None]:
    """This thread works for ``room`` as long as the block lasts.

    Spans nest: the time of the inner room is not the outer's. In a generator mark the drawing of an
    item, never a ``yield`` (`spanned`): the block would last as long as whoever has the item takes.
    """
    found = _place.found
    return _NOTHING if found is None else Mark(found.lane(), (room, None))


def waiting(room: str, what: str) -> AbstractContextManager[None]:
    """This thread stands idle for ``room`` and waits for ``what``: never counted as work.

    A span within it is work again, as where a room draws what it needs itself.
    """
    found = _place.found
    return _NOTHING if found is None else Mark(found.lane(), (room, what))


def counted(name: str, value: float) -> None:
    """``name`` stands at ``value`` now, such as the number of frames in a queue."""
    found = _place.found
    if found is not None:
        found.count(name, value)


def in_room(room: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Every call of the function that is decorated is work for ``room``. Not for generators (`spanned`)."""

    def marked(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(function)
        def working(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            with span(room):
                return function(*args, **kwargs)

        return working

    return marked


def spanned(room: str, items: Iterable[_T]) -> Iterator[_T]:
    """``items`` as they are; the time that it takes to draw each of them is ``room``'s."""
    source = iter(items)
    while True:
        with span(room):
            try:
                item = next(source)
            except StopIteration:
                return
        yield item


@contextmanager
def recording() -> Iterator[Recording]:
    """Record what all threads of the process say, from now to the end of the block.

    Raises RuntimeError where something records already: the marks can go to one place only.
    """
    found = Recording()
    with _place.lock:
        if _place.found is not None:
            raise RuntimeError("this process is recorded already, and the marks go to one recording only")
        _place.found = found
    try:
        yield found
    finally:
        _place.found = None
        found.end()
