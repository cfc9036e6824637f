"""Calls that wait for others, in threads that nobody has to wait for.

Those of `concurrent.futures` are joined when the program ends: after an interruption it would last until a
server has answered, or has kept silent for as long as it may.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from typing import Any, TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def begun(work: Callable[..., _Result], *given: Any, name: str = "asking") -> Future[_Result]:
    """``work(*given)``, begun in a thread of its own; the program's end does not wait for it."""
    future: Future[_Result] = Future()

    def run() -> None:
        try:
            result = work(*given)
        except BaseException as error:  # noqa: BLE001  handed over to who waits
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future


def in_order(
    work: Callable[[_Item], _Result], items: Sequence[_Item], number: int, *, name: str = "asking"
) -> list[_Result]:
    """The result of each item, in order; up to ``number`` are worked on at once.

    After an exception no further item is begun; it is raised when those under way have ended. After an
    interruption nothing is waited for.
    """
    left = iter(enumerate(items))
    taking, stopped = threading.Lock(), threading.Event()
    found: dict[int, _Result] = {}

    def take() -> tuple[int, _Item] | None:
        with taking:
            return None if stopped.is_set() else next(left, None)

    def work_through() -> None:
        try:
            while (one := take()) is not None:
                found[one[0]] = work(one[1])
        except BaseException:
            stopped.set()
            raise

    workers = [begun(work_through, name=name) for _ in range(min(number, len(items)))]
    try:
        wait(workers)
    finally:
        stopped.set()
    for worker in workers:
        worker.result()
    return [found[index] for index in range(len(items))]
